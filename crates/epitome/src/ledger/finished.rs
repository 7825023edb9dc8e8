//! Whether words say that something is finished. A task that is struck off is lost, so that this has to be said plainly and
//! in English: what fails, is hoped for, comes later or is only asked settles nothing.

use super::cues::Cues;
use super::judge::{answers_itself, asks, judge};
use super::language::Cue;
use super::lists::List;
use super::words::{Form, Words};
use super::{Kind, Speaker};
use crate::text::telling::{Tell, tell};

/// What was done, where that isn't seen at the end of the word, and by which verb.
const IRREGULAR: [(&str, &str); 14] = [
    ("written", "write"),
    ("wrote", "write"),
    ("rewritten", "rewrite"),
    ("rewrote", "rewrite"),
    ("built", "build"),
    ("rebuilt", "rebuild"),
    ("made", "make"),
    ("sent", "send"),
    ("found", "find"),
    ("bound", "bind"),
    ("drawn", "draw"),
    ("split", "split"),
    ("set", "set"),
    ("cut", "cut"),
];

/// Whether `text` says that something is finished; `task` is what it is to settle, if anything.
pub(super) fn is_finished(text: &str, who: Speaker, task: Option<&str>) -> bool {
    let words = Words::of(text);
    let is_english = text.chars().all(|c| c.is_ascii() || !c.is_alphabetic() || words_are_latin(c))
        && !words.any(List::Foreign);
    if !is_english || asks(text) || text.contains("? ") && !answers_itself(text) {
        return false;
    }
    if words.iter().any(|(at, _, _)| is_denied(&words, at)) {
        return false;
    }
    let when = words.iter().find(|(at, word, _)| !word.quoted && words.is(*at, List::Happens));
    let said = when.map_or(text, |(_, word, _)| &text[..word.raw.start]);
    let words = Words::of(said);
    let cues = Cues::of(said, &words);
    let verb = |verb: &str| {
        task.is_some_and(|task| Words::of(task).iter().any(|(_, _, low)| is_same_verb(low, verb)))
    };
    let says = |at: usize| {
        let low = words.low(at);
        let is_mentioned = words.get(at).is_some_and(|word| word.quoted);
        let helped = at > 0 && (at.saturating_sub(3)..at).any(|at| words.is(at, List::Helps));
        !is_mentioned
            && (words.is(at, List::Finished) || (helped || at == 0) && past(low).is_some_and(verb))
    };
    // `Get the formatter merged`; not `Build is green`.
    let tells = words.is(1, List::Helps) || words.is(1, List::Finished);
    if cues.has(Cue::Commands) && !cues.has(Cue::Boxed) && !tells {
        return false;
    }
    let is_judged = judge(said, &words, &cues, who).is_some_and(|found| found.kind == Kind::Done);
    is_judged || (0..words.len()).any(says) || words.find("in place").is_some()
}

/// Accents alone don't make another language: names have them.
fn words_are_latin(c: char) -> bool {
    ('\u{c0}'..='\u{24f}').contains(&c)
}

/// Whether the word at `at` says that it isn't so.
fn is_denied(words: &Words, at: usize) -> bool {
    let (low, next) = (words.low(at), words.low(at + 1));
    let behind = at.checked_sub(1).is_some_and(|before| words.is(before, List::Absent));
    let is_absent = behind && words.is(at, List::Faults);
    let lacks = words.is(at, List::Absent)
        && (words.is(at + 1, List::Faults) || matches!(next, "left" | "more"));
    if is_absent || lacks {
        return false;
    }
    // `I'll`, `he'd`, `isn't`.
    low.ends_with("n't")
        || low.ends_with("'ll")
        || low.ends_with("'d")
        || words.is(at, List::Denies)
        || low == "still" && !matches!(next, "pass" | "passes" | "works" | "green" | "holds")
        || low == "far" && next == "from"
        || low == "about" && next == "to"
        || low == "to" && next == "be"
}

/// The verb of what was done: `port` of `ported`, without its last letters where these change.
fn past(low: &str) -> Option<&str> {
    let irregular = IRREGULAR.iter().find(|(past, _)| *past == low).map(|(_, verb)| *verb);
    irregular.or_else(|| low.strip_suffix("ed").filter(|verb| verb.len() > 1))
}

/// Whether `low` is the verb whose past is formed of `stem`: `move` of `mov`, `copy` of `copi`, `plan` of `plann`.
fn is_same_verb(low: &str, stem: &str) -> bool {
    let low = low.strip_suffix("ing").filter(|verb| verb.len() > 2).unwrap_or(low);
    let doubled = stem.strip_suffix(|c: char| low.ends_with(c)).is_some_and(|short| short == low);
    low == stem
        || low.strip_suffix('e') == Some(stem)
        || low.strip_suffix('y').is_some_and(|begin| stem.strip_suffix('i') == Some(begin))
        || doubled
}

/// Whether a tool only says how its own run went, or that it found nothing: the anchors' to say.
pub(super) fn is_outcome(kind: Kind, text: &str, words: &Words, cues: &Cues) -> bool {
    match kind {
        Kind::Fact => tell(text) >= Tell::Total,
        Kind::Constraint => {
            let found_none = words.low(0) == "no" && words.any(List::FoundNone);
            found_none || tell(text) >= Tell::Failure && !cues.has(Cue::Social)
        }
        Kind::Done => {
            let reports = words.find("successfully").or(words.find("has been updated")).is_some();
            let counts = words.get(1).is_some_and(|word| word.form == Form::Number);
            // `✓ subtracts (1 ms)`
            let time = text.rsplit_once('(').map_or("", |(_, time)| time);
            let is_timed = time.ends_with("s)") && time.starts_with(|c: char| c.is_ascii_digit());
            let is_run = reports || counts || tell(text) >= Tell::Failure || is_timed;
            is_run && !cues.has(Cue::Social)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "Next, please port the formatter to Rust.";

    #[test]
    fn what_is_finished_is_said_plainly() {
        for text in [
            "The formatter is ported.",
            "The formatter has now been ported to Rust.",
            "I ported the formatter, and its tests pass.",
            "Ported the formatter to Rust.",
            "The formatter is done.",
            "Done: the formatter is in Rust, and all tests pass with no errors.",
            "The formatter was merged after the review.",
            "The formatter's tests pass: 12 passed, 0 failed.",
            "The formatter still passes all of its tests!",
            "- [x] Port the formatter",
            "The formatter is in place, and nothing more is left of the old one.",
            "Is the formatter ported? Yes, it is done.",
        ] {
            assert!(is_finished(text, Speaker::Model, Some(TASK)), "{text}");
        }
        let write = Some("Write the changelog.");
        assert!(is_finished("The changelog is written.", Speaker::Human, write));
        assert!(is_finished("I've copied the file.", Speaker::Human, Some("Copy the file.")));
    }

    #[test]
    fn what_is_not_so_not_sure_or_not_yet_settles_nothing() {
        for text in [
            "The formatter fails all of its tests so far.",
            "The formatter work starts tomorrow.",
            "The formatter isn’t ready.",
            "I was unable to port the formatter.",
            "I failed to port the formatter.",
            "Der Formatter ist noch nicht portiert.",
            "Der Formatter ist done.",
            "Nobody touched the formatter.",
            "The formatter is hard.",
            "Porting the formatter was given up.",
            "Should I port the formatter first?!",
            "Is the formatter ported?!",
            "He asked \"Is the formatter ported?\"",
            "(Is the formatter ported?)",
            "Is the formatter ported? I wonder.",
            "If the formatter were ported I would be glad.",
            "I doubt that the formatter is ported.",
            "I think the formatter is done.",
            "We ship once the formatter is ported.",
            "When the formatter is ported, the printer comes next.",
            "The formatter will be done on Friday.",
            "I'll get the formatter merged.",
            "The formatter is almost done.",
            "The formatter is being ported.",
            "The formatter was ported, but its tests fail.",
            "The formatter was merged, then reverted.",
            "Make sure that the formatter is done by Friday.",
            "Get the formatter merged.",
            "The issue title is \"formatter done\".",
            "форматтер done",
        ] {
            assert!(!is_finished(text, Speaker::Model, Some(TASK)), "{text}");
        }
    }
}
