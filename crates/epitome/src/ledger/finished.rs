//! Whether words say that something is finished. A task that is struck off is lost, so that this has to be said plainly and
//! in English: what fails, is hoped for, comes later or is only asked settles nothing.

use super::cues::Cues;
use super::judge::{answers_itself, asks, judge};
use super::language::Cue;
use super::words::Words;
use super::{Kind, Speaker};

/// Words that say so by themselves.
const SAY: [&str; 42] = [
    "done",
    "finished",
    "complete",
    "completed",
    "merged",
    "shipped",
    "landed",
    "deployed",
    "fixed",
    "resolved",
    "solved",
    "closed",
    "implemented",
    "delivered",
    "released",
    "published",
    "migrated",
    "committed",
    "pushed",
    "applied",
    "added",
    "removed",
    "updated",
    "replaced",
    "renamed",
    "moved",
    "created",
    "installed",
    "verified",
    "pass",
    "passes",
    "passed",
    "passing",
    "works",
    "succeeds",
    "succeeded",
    "green",
    "[x]",
    "✅",
    "☑",
    "✔",
    "✓",
];

/// Words before what somebody did, or what was done.
const HELPS: [&str; 19] = [
    "is", "are", "was", "were", "been", "has", "have", "it's", "that's", "they're", "i've",
    "we've", "i", "we", "now", "already", "just", "fully", "got",
];

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

/// Words with which nothing is settled: it isn't so, not wholly, not surely, not yet, or only under a condition.
const DENY: [&str; 135] = [
    "not",
    "cannot",
    "never",
    "neither",
    "nor",
    "no",
    "none",
    "nobody",
    "nothing",
    "without",
    "yet",
    "unfinished",
    "incomplete",
    "undone",
    "unmerged",
    "unresolved",
    "unfixed",
    "untested",
    "unable",
    "hardly",
    "barely",
    "scarcely",
    "almost",
    "nearly",
    "partly",
    "partially",
    "half",
    "half-done",
    "halfway",
    "mostly",
    "incorrectly",
    "wrongly",
    "falsely",
    "prematurely",
    "fail",
    "fails",
    "failed",
    "failing",
    "failure",
    "failures",
    "error",
    "errors",
    "broken",
    "breaks",
    "broke",
    "crashes",
    "crashed",
    "wrong",
    "abandoned",
    "dropped",
    "cancelled",
    "canceled",
    "postponed",
    "deferred",
    "delayed",
    "skipped",
    "blocked",
    "stuck",
    "stopped",
    "reverted",
    "undid",
    "gave",
    "given",
    "refused",
    "rejected",
    "lost",
    "missing",
    "remains",
    "remaining",
    "pending",
    "except",
    "instead",
    "will",
    "shall",
    "would",
    "could",
    "should",
    "may",
    "might",
    "must",
    "ought",
    "can",
    "going",
    "want",
    "wants",
    "wanted",
    "wish",
    "wishes",
    "hope",
    "hopes",
    "hoped",
    "hopefully",
    "plan",
    "plans",
    "planned",
    "intend",
    "intends",
    "try",
    "tries",
    "tried",
    "trying",
    "need",
    "needs",
    "needed",
    "soon",
    "tomorrow",
    "later",
    "eventually",
    "being",
    "if",
    "unless",
    "until",
    "whether",
    "assuming",
    "provided",
    "suppose",
    "supposed",
    "supposedly",
    "imagine",
    "pretend",
    "allegedly",
    "claims",
    "claimed",
    "doubt",
    "doubts",
    "doubtful",
    "unsure",
    "unclear",
    "sure",
    "ensure",
    "maybe",
    "perhaps",
    "possibly",
    "probably",
    "likely",
];

/// Further ones, that say what somebody only thinks.
const THINK: [&str; 19] = [
    "unlikely",
    "seems",
    "seem",
    "seemed",
    "appears",
    "apparently",
    "think",
    "believe",
    "believes",
    "guess",
    "assume",
    "suspect",
    "wonder",
    "wondering",
    "expect",
    "expected",
    "let's",
    "lie",
    "joke",
];

/// What may be absent where something is finished: `no errors`, `0 failed`.
const FAULTS: [&str; 18] = [
    "error",
    "errors",
    "failure",
    "failures",
    "failed",
    "fail",
    "fails",
    "failing",
    "warnings",
    "problems",
    "issues",
    "regressions",
    "trouble",
    "longer",
    "broken",
    "missing",
    "remaining",
    "pending",
];
const ABSENT: [&str; 7] = ["no", "0", "zero", "without", "nothing", "none", "never"];

/// Words behind which it is said when something happens, not that it did.
const WHEN: [&str; 6] = ["when", "once", "after", "before", "while", "till"];

/// Small words of other languages, that English has not.
const FOREIGN: [&str; 40] = [
    "der", "das", "den", "dem", "ist", "sind", "und", "wird", "wurde", "wurden", "nicht", "noch",
    "kein", "keine", "ein", "eine", "le", "les", "est", "sont", "pas", "jamais", "et", "el", "las",
    "está", "están", "es", "y", "il", "è", "non", "het", "een", "niet", "não", "foi", "sin",
    "todavía", "aún",
];

/// Whether `text` says that something is finished; `task` is what it is to settle, if anything.
pub(super) fn is_finished(text: &str, who: Speaker, task: Option<&str>) -> bool {
    let words = Words::of(text);
    let is_english = text.chars().all(|c| c.is_ascii() || !c.is_alphabetic() || words_are_latin(c))
        && !words.iter().any(|(_, _, low)| FOREIGN.contains(&low));
    if !is_english || asks(text) || text.contains("? ") && !answers_itself(text) {
        return false;
    }
    if words.iter().any(|(at, _, _)| is_denied(&words, at)) {
        return false;
    }
    let when = words.iter().find(|(_, word, low)| !word.quoted && WHEN.contains(low));
    let said = when.map_or(text, |(_, word, _)| &text[..word.raw.start]);
    let words = Words::of(said);
    let cues = Cues::of(said, &words);
    let verb = |verb: &str| {
        task.is_some_and(|task| Words::of(task).iter().any(|(_, _, low)| is_same_verb(low, verb)))
    };
    let says = |at: usize| {
        let low = words.low(at);
        let is_mentioned = words.get(at).is_some_and(|word| word.quoted);
        let helped = at > 0 && (at.saturating_sub(3)..at).any(|at| HELPS.contains(&words.low(at)));
        !is_mentioned && (SAY.contains(&low) || (helped || at == 0) && past(low).is_some_and(verb))
    };
    // `Get the formatter merged`; not `Build is green`.
    let tells = HELPS.contains(&words.low(1)) || SAY.contains(&words.low(1));
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
    let before = at.checked_sub(1).map_or("", |before| words.low(before));
    let is_absent = FAULTS.contains(&low) && ABSENT.contains(&before);
    let lacks =
        ABSENT.contains(&low) && (FAULTS.contains(&next) || matches!(next, "left" | "more"));
    if is_absent || lacks {
        return false;
    }
    // `I'll`, `he'd`, `isn't`.
    low.ends_with("n't")
        || low.ends_with("'ll")
        || low.ends_with("'d")
        || DENY.contains(&low)
        || THINK.contains(&low)
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
