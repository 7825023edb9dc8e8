//! Which sentences of people command or forbid: by a closed list of words, and by labels such as `RULE:`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::tool::may_change;

/// What a sentence does to who hears it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cue {
    /// It commands or forbids, from now on.
    Commands,
    /// It asks for something, perhaps once: `Hold the release`, `Please undo that`.
    Asks,
}

/// How a cue word has to stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Anywhere,
    First,
}

/// What a word says, where it has to stand, and the word that has to follow, if one has to.
type Reading = (Cue, Place, Option<&'static str>);

/// The words of `data/cues.txt`.
struct Cues {
    words: HashMap<&'static str, Vec<Reading>>,
    /// Words of scripts that have no spaces.
    runs: Vec<(Cue, &'static str)>,
}

static CUES: LazyLock<Cues> = LazyLock::new(|| {
    let mut cues = Cues { words: HashMap::new(), runs: Vec::new() };
    let lines = include_str!("../../data/cues.txt").lines();
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with(['#', '['])) {
        let (cue, line) = match line.strip_prefix('?') {
            Some(line) => (Cue::Asks, line),
            None => (Cue::Commands, line),
        };
        if line.chars().any(is_spaceless) {
            cues.runs.push((cue, line));
            continue;
        }
        let (place, line) = match line.strip_prefix('^') {
            Some(line) => (Place::First, line),
            None => (Place::Anywhere, line),
        };
        let (word, next) = match line.split_once(' ') {
            Some((word, next)) => (word, Some(next)),
            None => (line, None),
        };
        cues.words.entry(word).or_default().push((cue, place, next));
    }
    cues
});

/// Whether the letter is of a script that parts no words: Chinese and Japanese.
fn is_spaceless(c: char) -> bool {
    matches!(u32::from(c), 0x3040..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff)
}

/// The longest label: `HARD RULE 12:`.
const LABEL: usize = 24;

/// Whether a sentence begins with a label in capitals: `RULE:`, `NOTE 3:`.
fn has_label(sentence: &str) -> bool {
    let sentence = sentence.trim_start_matches(['-', '*', '#', '>', ' ', '[', '(']);
    let Some(end) = sentence.bytes().take(LABEL).position(|b| b == b':') else { return false };
    let label = &sentence.as_bytes()[..end];
    let letters = label.iter().filter(|b| b.is_ascii_uppercase()).count();
    letters >= 3
        && label
            .iter()
            .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b" -_#])".contains(b))
}

/// Whether a sentence commands or forbids.
///
/// ```
/// use epitome::checkpoint::commands;
///
/// assert!(commands("Never push to main.") && commands("RULE: two reviewers") && commands("不要删除数据"));
/// assert!(!commands("The tests passed."));
/// ```
pub fn commands(sentence: &str) -> bool {
    cue(sentence) == Some(Cue::Commands)
}

/// What a sentence does, by the words of its clauses; the first or second one may be a verb that names a tool's deed: `yes, but
/// delete it`.
pub(super) fn cue(sentence: &str) -> Option<Cue> {
    if has_label(sentence) {
        return Some(Cue::Commands);
    }
    let clauses = sentence.split([',', ';']).filter_map(cue_of_clause);
    let is_run = !sentence.is_ascii() && sentence.chars().any(is_spaceless);
    let runs = CUES.runs.iter().filter(|(_, run)| is_run && sentence.contains(run));
    runs.map(|(cue, _)| *cue).chain(clauses).min()
}

fn cue_of_clause(clause: &str) -> Option<Cue> {
    let cues = &*CUES;
    let mut found: Option<Cue> = None;
    let mut words = words(clause).peekable();
    let mut lower = String::new();
    let mut at = 0;
    while let Some(word) = words.next() {
        lowered(word, &mut lower);
        let holds = |(_, place, next): &&(Cue, Place, Option<&str>)| {
            (*place == Place::Anywhere || at == 0)
                && next.is_none_or(|next| {
                    words.peek().is_some_and(|word| word.eq_ignore_ascii_case(next))
                })
        };
        let known = cues.words.get(lower.as_str()).into_iter().flatten();
        let here = known.filter(holds).map(|(cue, ..)| *cue).min();
        if here == Some(Cue::Commands) {
            return here;
        }
        found = found.or(here).or((at < 2 && may_change(&lower)).then_some(Cue::Asks));
        at += 1;
    }
    found
}

fn words(clause: &str) -> impl Iterator<Item = &str> {
    clause
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’' | '-')))
        .filter(|word| word.contains(char::is_alphanumeric))
}

fn lowered(word: &str, into: &mut String) {
    into.clear();
    if word.is_ascii() {
        into.push_str(word);
        into.make_ascii_lowercase();
    } else {
        into.extend(
            word.chars().flat_map(char::to_lowercase).map(|c| if c == '’' { '\'' } else { c }),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_language_has_more_than_sixty() {
        let mut counts: Vec<usize> = Vec::new();
        for line in include_str!("../../data/cues.txt").lines() {
            match line.bytes().next() {
                None | Some(b'#') => {}
                Some(b'[') => counts.push(0),
                Some(_) => *counts.last_mut().expect("a language comes first") += 1,
            }
        }
        assert!(counts.len() >= 6 && counts.iter().all(|count| *count <= 60), "{counts:?}");
    }

    #[test]
    fn commands_and_prohibitions_are_told() {
        for sentence in [
            "Never push to main.",
            "You must not delete it",
            "Please don’t touch the lock file",
            "Use tabs.",
            "Good, use tabs.",
            "- use spaces",
            "You may push now.",
            "- HARD RULE 3: no writes",
            "Bitte niemals direkt auf main pushen.",
            "Никогда не удаляй файлы.",
            "必ずテストを実行",
        ] {
            assert!(commands(sentence), "{sentence}");
        }
        for sentence in ["The port is 8080.", "It will use tabs", "Thanks!", "see Note: this"] {
            assert_eq!(cue(sentence), None, "{sentence}");
        }
        for sentence in [
            "Hold the release.",
            "- undo that",
            "yes, but delete it afterwards",
            "Please look again.",
            "请再看一遍",
        ] {
            assert_eq!(cue(sentence), Some(Cue::Asks), "{sentence}");
        }
    }
}
