//! What reads like a statement and is none: notices that agents put into results, halves of sentences, offers, and
//! what a program says of its own run. What people say is never one.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::Speaker;
use super::language::english;
use super::lists::List;
use crate::text::begins_with_one;

/// Notices of agents, editors and package managers, in lower case: said to whoever runs them, about this moment.
const NOTICES: [&str; 20] = [
    "the user doesn't want to proceed with this tool use",
    "the tool use was rejected",
    "stop what you are doing and wait for the user",
    "please review the changes and make sure they are correct",
    "edit the file again if necessary",
    "do not re-run the same failed edit command",
    "your changes have not been applied",
    "file state is current in your context",
    "has been modified, either by the user or by a linter",
    "packages are looking for funding",
    "use this to build on the work that has already been done",
    "another language model started to solve this problem",
    "this is the gemini cli",
    "showing up to ",
    "result of calling the ",
    "the user opened the file ",
    "end of file - total ",
    "waiting for the debugger",
    "receiving all data: ",
    "opening connection to ",
];

/// What a checkpoint says of itself, in lower case. Whoever shows one doesn't say it.
const FRAMES: [&str; 14] = [
    "reference about earlier work, not a request",
    "what is described as finished is finished",
    "the user's words are verbatim and still count",
    "quotes of the model and of tools carry no authority",
    "look an exact value that is not here up again",
    " of before are not shown here",
    " of before is not shown here",
    " of the user's messages is not quoted here",
    " of the user's messages are not quoted here",
    " finds what is not shown, word for word",
    "the messages that follow are ",
    "standing instructions given in mid-conversation, still in force",
    "pinned, no longer shown where it was said",
    "what holds (quoted; a later line stands for an earlier one)",
];

static NOTICED: LazyLock<Vec<Finder<'static>>> =
    LazyLock::new(|| NOTICES.iter().chain(&FRAMES).map(Finder::new).collect());

/// What a build or a package manager says of each thing in turn.
const PROGRESS: [&str; 12] = [
    "compiling ",
    "checking ",
    "building ",
    "linking ",
    "collecting ",
    "fetching ",
    "downloading ",
    "downloaded ",
    "installing ",
    "unpacking ",
    "setting up ",
    "requirement already satisfied",
];
/// More words say something about it.
const MOST_OF_PROGRESS: usize = 5;

/// What makes `No X …ed` a rule instead of a report.
const RULES: [&str; 8] =
    ["allowed", "permitted", "accepted", "tolerated", "required", "needed", "unless", "without"];

/// Whether `text`, an item without its bullet, says nothing that is worth a line.
pub(super) fn is_noise(text: &str, who: Speaker) -> bool {
    if matches!(who, Speaker::Human | Speaker::System) {
        return false;
    }
    let low = text.to_lowercase();
    let is_tool = who != Speaker::Model;
    NOTICED.iter().any(|notice| notice.find(low.as_bytes()).is_some())
        || is_fragment(&low)
        || is_offer(&low)
        || is_guess(&low)
        || is_tool
            && (is_continuation(text)
                || is_declaration(text)
                || is_progress(&low)
                || reports_nothing(&low))
}

/// Whether a message says next to nothing: `yes`, `go on`.
pub(crate) fn is_terse(text: &str) -> bool {
    const MOST_WORDS: usize = 2;
    let mut words = text.split_whitespace();
    let is_one = |word: &str| {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        bare.is_empty() || english().has(List::Terse, &bare.to_lowercase())
    };
    words.by_ref().take(MOST_WORDS).all(is_one) && words.next().is_none()
}

/// `Compiling serde v1.0.228`.
fn is_progress(low: &str) -> bool {
    begins_with_one(low, &PROGRESS) && low.split_whitespace().count() <= MOST_OF_PROGRESS
}

/// Cut somewhere: a quotation isn't closed, or goes on in another one, or the last word asks for another word.
fn is_fragment(low: &str) -> bool {
    let mut words = low.rsplit(' ');
    let last = words.next().unwrap_or_default();
    let is_closed = matches!(last, "in" | "on")
        && words.next().is_some_and(|word| english().has(List::Closed, word));
    let is_open = |mark: char| low.matches(mark).count() % 2 == 1;
    is_open('`')
        || is_open('"')
        || low.contains("\",\"")
        || !is_closed && english().has(List::OpenEnds, last)
}

/// What the model only supposes, on its way.
fn is_guess(low: &str) -> bool {
    const STARTS: [&str; 6] =
        ["i bet ", "let me check", "maybe ", "perhaps ", "it looks like ", "hmm"];
    begins_with_one(low, &STARTS)
}

/// `If you can provide your user id, I can look it up.`
fn is_offer(low: &str) -> bool {
    let promises = ["i can ", "i'll ", "i will ", "let me know"];
    low.starts_with("if you") && promises.iter().any(|promise| low.contains(promise))
}

/// Wrapped by its printer: what the sentence is about stands a line above.
fn is_continuation(text: &str) -> bool {
    let first = text.split(' ').next().unwrap_or_default();
    english().has(List::Continues, first)
}

/// `export type Status = 'ok' | 'failed'`, `from stock import read, short`.
fn is_declaration(text: &str) -> bool {
    let declares = ["export type ", "type ", "export const "];
    let imports = text.strip_prefix("from ").and_then(|rest| rest.split_once(' '));
    begins_with_one(text, &declares) && text.contains(" = ")
        || imports.is_some_and(|(_, rest)| rest.starts_with("import "))
}

/// `No fixes applied.`, `No messages to branch from`: how a run went, not what may be done.
fn reports_nothing(low: &str) -> bool {
    let Some(rest) = low.strip_prefix("no ") else { return false };
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_rule = RULES.iter().any(|rule| rest.contains(rule));
    !is_rule && words.any(|word| word.len() > 4 && word.ends_with("ed") || word == "from")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_fragments_offers_and_reports_are_noise() {
        for (text, who) in [
            (
                "STOP what you are doing and wait for the user to tell you how to proceed.",
                Speaker::Tool,
            ),
            ("70 packages are looking for funding", Speaker::Tool),
            ("Done: `test_three", Speaker::Model),
            ("Profile renamed from", Speaker::Tool),
            ("If you can provide your user ID, I can look up your reservations.", Speaker::Model),
            ("its counts is under the largest of its lines.", Speaker::Tool),
            ("export type Status = 'ok' | 'noop' | 'failed'", Speaker::Tool),
            ("from stock.shelf import BadLine, read, short", Speaker::Tool),
            ("No fixes applied.", Speaker::Tool),
            ("Compiling read_config v0.21.0 (tests/test_upload.py)", Speaker::Tool),
            ("No OAuth providers logged in.", Speaker::Tool),
            ("I can implement this in 3 hours with 0 questions.\"", Speaker::Model),
            ("I bet the terminal is detected as light.", Speaker::Model),
            ("(End of file - total 58 lines)", Speaker::Tool),
        ] {
            assert!(is_noise(text, who), "{text}");
        }
    }

    #[test]
    fn statements_are_none() {
        for text in [
            "No force pushes are allowed.",
            "disabled until a purchase order is in",
            "No direct pushes to main.",
            "No deploys on Fridays.",
            "No migration may be merged unless Dana approved it.",
            "The rate limit is 120 requests a minute.",
            "Owner: Dana Whitfield",
            "If you change the schema, bump `SCHEMA`.",
            "We settled on SQLite because it needs no server.",
            "from now on the port is 8443",
        ] {
            assert!(!is_noise(text, Speaker::Tool), "{text}");
        }
        let persons = "No fixes applied so far, STOP what you are doing and wait for the user to";
        assert!(!is_noise(persons, Speaker::Human));
    }
}
