//! What became of each message in a compaction.

use std::collections::BTreeSet;

use epitome::Request;
use epitome::checkpoint::looks_like_one;
use epitome::count::{ContentKind, Tally, TokenCounter, Weights};
use epitome::transcript::{Entry, Origin, Part, PartKind};
use serde::Serialize;

use super::history::Read;
use super::{QUOTED, Quoting};
use crate::align::{Row, align};
use crate::survey::{By, Rule};

/// Messages, and what they weigh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(in crate::commands) struct Sum {
    pub(in crate::commands) entries: usize,
    pub(in crate::commands) tokens: u64,
}

impl Sum {
    fn add(&mut self, tokens: u64) {
        self.entries += 1;
        self.tokens += tokens;
    }
}

/// One compaction.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct Compaction {
    /// Which of all compactions it is, from 1.
    pub(in crate::commands) number: usize,
    /// Messages that were said before it, in all.
    pub(in crate::commands) at: usize,
    /// Whether it is one of Epitome's; else the agent made it.
    pub(in crate::commands) by_epitome: bool,
    pub(in crate::commands) before: Sum,
    pub(in crate::commands) after: Sum,
    /// Messages that stayed as they were.
    pub(in crate::commands) kept: Sum,
    /// Messages that stayed shorter: what they were.
    pub(in crate::commands) shortened: Sum,
    /// And what they are.
    pub(in crate::commands) shortened_to: u64,
    /// Messages that aren't shown any more.
    pub(in crate::commands) gone: Sum,
    /// What stands for them.
    pub(in crate::commands) summary: Sum,
    pub(in crate::commands) human: Human,
    /// Rules that people gave, and that nothing says any more.
    pub(in crate::commands) rules_lost: Vec<Lost>,
    /// Messages of the context before it that aren't shown any more.
    #[serde(skip)]
    pub(in crate::commands) hidden: Vec<usize>,
    /// What filled the context before, and after.
    #[serde(skip)]
    pub(in crate::commands) weights: (Weights, Weights),
}

/// What became of human messages.
#[derive(Debug, Default, Serialize)]
pub(in crate::commands) struct Human {
    /// Messages before it.
    pub(in crate::commands) entries: usize,
    /// Of them, those that are shown still, verbatim.
    pub(in crate::commands) kept: usize,
    /// Those that the summary says word for word.
    pub(in crate::commands) quoted: usize,
    /// Those that nothing says word for word any more.
    pub(in crate::commands) lost: Vec<Lost>,
}

/// Something that was said.
#[derive(Debug, Serialize)]
pub(in crate::commands) struct Lost {
    /// The message, in the context as it was then.
    pub(in crate::commands) entry: usize,
    pub(in crate::commands) says: String,
}

/// Finds what a compaction did, and marks the messages after it that replace what it removed.
pub(super) fn compaction(
    number: usize,
    before: &Read,
    after: &mut Read,
    counter: &dyn TokenCounter,
    quoting: Quoting,
) -> Compaction {
    let left = after.left.clone().expect("a compaction left something");
    let (old, new) = (Tally::of(&before.request, counter), Tally::of(&left, counter));
    let is_same: Vec<Row> = align(&before.request.transcript, &left.transcript);
    let mut done = Compaction {
        number,
        at: before.said_before + before.said(),
        by_epitome: after.is_ours,
        before: Sum { entries: before.request.transcript.len(), tokens: old.total().tokens },
        after: Sum { entries: left.transcript.len(), tokens: new.total().tokens },
        kept: Sum::default(),
        shortened: Sum::default(),
        shortened_to: 0,
        gone: Sum::default(),
        summary: Sum::default(),
        human: Human::default(),
        rules_lost: Vec::new(),
        hidden: Vec::new(),
        weights: (Weights::default(), Weights::default()),
    };
    let said_now = plain(&left);
    let still = |text: &str| is_quoted(&said_now, text);
    let before_of = |at: &usize| before.request.transcript.entry(*at);
    let mut stand = Vec::new();
    let mut kept = BTreeSet::new();
    for row in &is_same {
        match row {
            Row::Kept(at, _) => {
                kept.insert(*at);
                done.kept.add(old.entry(*at));
            }
            // A checkpoint is alike to what it quotes, or to the one before it.
            Row::Edited(at, to)
                if before_of(at).origin() == Origin::Checkpoint
                    || is_checkpoint(&left.transcript.entry(*to)) =>
            {
                done.gone.add(old.entry(*at));
                done.hidden.push(*at);
                done.summary.add(new.entry(*to));
                stand.push(*to);
            }
            // It says the same in other bytes.
            Row::Edited(at, to) if words(&before_of(at)) == words(&left.transcript.entry(*to)) => {
                kept.insert(*at);
                done.kept.add(old.entry(*at));
            }
            Row::Edited(at, to) => {
                done.shortened.add(old.entry(*at));
                done.shortened_to += new.entry(*to);
            }
            Row::Gone(at) => {
                done.gone.add(old.entry(*at));
                done.hidden.push(*at);
            }
            Row::New(at) => {
                done.summary.add(new.entry(*at));
                stand.push(*at);
            }
        }
        let (Row::Kept(at, _) | Row::Edited(at, _) | Row::Gone(at)) = row else { continue };
        let entry = before_of(at);
        if !entry.is_human() {
            continue;
        }
        done.human.entries += 1;
        match row {
            Row::Kept(..) => done.human.kept += 1,
            _ if still(&spoken(&entry)) => done.human.quoted += 1,
            _ => {
                let says = quoting.line(&spoken(&entry), QUOTED);
                let says = if says.is_empty() { "(no text)".to_owned() } else { says };
                done.human.lost.push(Lost { entry: *at, says });
            }
        }
    }
    done.rules_lost = Rule::all(&before.request, By::PeopleAndFiles)
        .into_iter()
        // A rule with a masked secret stands unmasked in its message.
        .filter(|rule| !kept.contains(&(rule.entry as usize)) && !still(&rule.text))
        .map(|rule| Lost { entry: rule.entry as usize, says: quoting.line(&rule.text, QUOTED) })
        .collect();
    let mut left = left;
    for at in stand {
        marked(&mut left, at);
        marked(&mut after.request, at);
    }
    done.weights = (Weights::of(&before.request, &old), Weights::of(&left, &new));
    done
}

impl Read {
    /// Messages that were said in it.
    fn said(&self) -> usize {
        let carried = self.left.as_ref().map_or(0, |left| left.transcript.len());
        self.request.transcript.len().saturating_sub(carried)
    }
}

/// What a compaction put in is nobody's message.
fn marked(request: &mut Request, at: usize) {
    if at >= request.transcript.len() {
        return;
    }
    let entry = request.transcript.entry(at);
    let is_plain = !entry.role().instructs() && !entry.has_calls() && !entry.has_results();
    if is_plain && entry.origin() != Origin::Model {
        request.transcript.set_origin(at, Origin::Checkpoint);
    }
}

/// Whether all that it says is an intact checkpoint.
fn is_checkpoint(entry: &Entry<'_>) -> bool {
    let mut texts = entry.parts().filter(|part| part.kind() == PartKind::Text);
    texts.next().is_some_and(|part| looks_like_one(&part.text())) && texts.next().is_none()
}

/// What a person says in it, in words.
fn spoken(entry: &Entry<'_>) -> String {
    let is_said = |part: &Part<'_>| part.origin() == Origin::Human && part.kind() == PartKind::Text;
    let parts = entry.parts().filter(is_said);
    parts.map(|part| part.text().into_owned()).collect::<Vec<_>>().join("\n")
}

/// All that its parts say.
fn words(entry: &Entry<'_>) -> Vec<String> {
    entry.parts().map(|part| part.text().into_owned()).collect()
}

/// All lines that are said, in which white space doesn't count, one space between.
fn plain(request: &Request) -> Vec<String> {
    let parts = request.transcript.entries().flat_map(|entry| entry.parts().collect::<Vec<_>>());
    let parts = parts.filter(|part| part.kind() != PartKind::Media);
    parts
        .map(|part| {
            let text = part.text();
            text.lines()
                .map(squeezed)
                .filter(|line| !line.is_empty())
                .collect::<Vec<_>>()
                .join("\n")
        })
        .collect()
}

/// Words that say little enough to occur by chance.
const FEW: usize = 3;

/// Whether `text` is said in one of these: not as a part of other words, and, if it is short, not within a sentence.
fn is_quoted(said: &[String], text: &str) -> bool {
    let text = squeezed(text);
    if text.is_empty() {
        return false;
    }
    let is_short = text.split(' ').count() <= FEW;
    said.iter().any(|said| {
        let flat = said.replace('\n', " ");
        flat.match_indices(&text).any(|(at, _)| {
            // Of the same length, so that places are the same.
            let (before, after) = (&said[..at], &said[at + text.len()..]);
            if is_short { stands_alone(before, after) } else { is_apart(before, after) }
        })
    })
}

/// Whether what stands between these is no part of a word.
fn is_apart(before: &str, after: &str) -> bool {
    !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
}

/// Whether the text between these is a line, follows a label, or is in quotation marks.
fn stands_alone(before: &str, after: &str) -> bool {
    const QUOTES: [char; 7] = ['"', '\'', '`', '“', '”', '«', '»'];
    let ends = after.is_empty() || after.starts_with('\n');
    let begins = before.is_empty() || before.ends_with('\n');
    let is_labelled = [": ", "] ", "- ", "> ", "* "].iter().any(|label| before.ends_with(label));
    (begins || is_labelled) && ends || before.ends_with(QUOTES) && after.starts_with(QUOTES)
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Compaction {
    /// Tokens of a kind, before and after.
    pub(super) fn of(&self, kind: ContentKind) -> (u64, u64) {
        (self.weights.0.get(kind).tokens, self.weights.1.get(kind).tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, text: &str, want: bool) {
        assert_eq!(is_quoted(&[said.to_owned()], text), want, "{text:?} in {said:?}");
    }

    #[test]
    fn only_words_of_their_own_are_quotes() {
        check("Nothing is known.", "no", false);
        check("There is no port.", "no", false);
        check("Asked twice, the user said \"no\".", "no", true);
        check("- [3 user] no\n- [4 user] yes", "no", true);
        check("It was asked.\nno\nIt went on.", " no ", true);
        check("The user said: The port is 5433 now.", "The port is 5433", true);
        check("The report is 54330, the port is 54330.", "the port is 5433", false);
        check("the port\nis 5433 today", "the port is  5433", true);
        check("anything", "", false);
    }
}
