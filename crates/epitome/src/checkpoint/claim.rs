//! Whether a few words say again what a line of the ledger said and something newer stands for: the same value of the same
//! thing.

use std::collections::HashMap;

use crate::ledger::{Ledger, Line, Speaker};

/// What lines with a value said that no longer holds.
#[derive(Debug, Default)]
pub(super) struct Outdated<'a> {
    /// The lines by each of their values.
    gone: HashMap<&'a str, Vec<Claim<'a>>>,
    /// What persons say that holds.
    holding: Vec<Claim<'a>>,
}

/// Values and other words of a sentence.
#[derive(Debug)]
struct Claim<'a> {
    values: Vec<&'a str>,
    words: Vec<String>,
    at: u32,
}

/// So many words more than those of a line are around what only repeats it: `Noted: …`.
const MORE_WORDS: usize = 2;

/// Words that tell no subject, sorted.
const EMPTY: [&str; 24] = [
    "a", "also", "an", "and", "are", "as", "at", "be", "for", "in", "is", "it", "its", "now", "of",
    "on", "so", "that", "the", "then", "this", "to", "will", "with",
];

impl<'a> Outdated<'a> {
    pub(super) fn of(ledger: &'a Ledger) -> Self {
        let mut outdated = Self::default();
        let is_gone = |line: &Line| line.replaced.or(line.newer).is_some();
        for line in ledger.lines().iter().filter(|line| is_gone(line)) {
            let claim = || Claim::of(&line.text, line.at);
            for value in claim().values {
                outdated.gone.entry(value).or_default().push(claim());
            }
        }
        if !outdated.gone.is_empty() {
            let holds = |line: &&Line| line.who == Speaker::Human && !is_gone(line);
            let holding = ledger.lines().iter().filter(holds);
            outdated.holding = holding.map(|line| Claim::of(&line.text, line.at)).collect();
        }
        outdated
    }

    /// Whether a figure with the words around it is part of what no longer holds, and no later word of a person says it.
    pub(super) fn has_figure(&self, figure: &str) -> bool {
        self.has(figure, Claim::says)
    }

    /// Whether a sentence only repeats what no longer holds.
    pub(super) fn is_said_by(&self, sentence: &str) -> bool {
        let is_all = |line: &Claim<'a>, said: &Claim<'_>| {
            said.says(line)
                && line.values.len() == said.values.len()
                && said.words.len() <= line.words.len() + MORE_WORDS
        };
        self.has(sentence, is_all)
    }

    fn has(&self, text: &str, is_of: impl Fn(&Claim<'a>, &Claim<'_>) -> bool) -> bool {
        if self.gone.is_empty() || !text.bytes().any(|b| b.is_ascii_digit()) {
            return false;
        }
        let said = Claim::of(text, 0);
        let Some(lines) = said.values.first().and_then(|value| self.gone.get(value)) else {
            return false;
        };
        lines.iter().any(|line| {
            let is_said_again = |holding: &Claim<'a>| holding.at > line.at && is_of(holding, &said);
            is_of(line, &said) && !self.holding.iter().any(is_said_again)
        })
    }
}

impl<'a> Claim<'a> {
    fn of(text: &'a str, at: u32) -> Self {
        let (mut values, mut words) = (Vec::new(), Vec::new());
        for word in text.split_whitespace() {
            let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '$' && c != '%');
            if word.bytes().any(|b| b.is_ascii_digit()) {
                values.push(word);
                continue;
            }
            let low = word.to_lowercase();
            if !low.is_empty()
                && EMPTY.binary_search(&low.as_str()).is_err()
                && !words.contains(&low)
            {
                words.push(low);
            }
        }
        Self { values, words, at }
    }

    /// Whether this says all that `other` does: its values, and the words that tell what they are of, which are more than
    /// a unit.
    fn says(&self, other: &Claim<'_>) -> bool {
        other.words.len() > 1
            && other.values.iter().all(|value| self.values.contains(value))
            && other.words.iter().all(|word| self.words.contains(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outdated(
        gone: &'static [&'static str],
        holding: &'static [&'static str],
    ) -> Outdated<'static> {
        let mut outdated = Outdated::default();
        for line in gone {
            for value in Claim::of(line, 1).values {
                outdated.gone.entry(value).or_default().push(Claim::of(line, 1));
            }
        }
        outdated.holding = holding.iter().map(|line| Claim::of(line, 2)).collect();
        outdated
    }

    #[test]
    fn what_says_a_replaced_value_again_is_told() {
        let old = outdated(
            &["The request timeout is 30 seconds.", "The limit is 100 requests for free users."],
            &["The request timeout is 45 seconds now."],
        );
        for (text, figure, sentence) in [
            ("request timeout is 30 seconds", true, true),
            ("limit is 100 requests for free users", true, true),
            ("Noted: the request timeout is 30 seconds.", false, true),
            ("request timeout is 45 seconds", false, false),
            ("retry delay is 30 seconds", false, false),
            ("limit is 100 requests for paid users", false, false),
            ("takes 30 seconds", false, false),
            ("I changed the request timeout from 30 seconds to 45 seconds.", false, false),
            ("The request timeout is 30 seconds because the upstream proxy cuts it.", false, false),
        ] {
            assert_eq!((old.has_figure(text), old.is_said_by(text)), (figure, sentence), "{text}");
        }
        let again = outdated(
            &["The request timeout is 30 seconds."],
            &["So the request timeout is 30 seconds again."],
        );
        assert!(!again.has_figure("request timeout is 30 seconds"));
    }
}
