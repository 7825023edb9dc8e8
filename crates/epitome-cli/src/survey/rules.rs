//! The sentences in which people command or forbid.

use std::collections::HashSet;
use std::ops::Range;

use epitome::Request;
use epitome::checkpoint::{self, commands};
use epitome::text::cut;
use epitome::text::secrets::masked;
use epitome::transcript::{Entry, Origin, Part, PartKind};
use serde::Serialize;

/// A rule, as it was said, with secrets masked.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Rule {
    /// The message.
    pub(crate) entry: u32,
    pub(crate) text: String,
}

/// Whose rules are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// What people said themselves.
    People,
    /// That, and files with rules of theirs that the client put in.
    PeopleAndFiles,
}

/// Names of files with rules of the user's, which clients put into the conversation.
const FILES: [&str; 7] = [
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".cursorrules",
    "copilot-instructions.md",
    "CONVENTIONS.md",
    "<user_instructions>",
];
/// Bytes at the beginning of an injected text in which such a name has to stand.
const NAMED_WITHIN: usize = 800;

impl Rule {
    /// All of a transcript, the newest last. One that is said again stands where it was said last.
    pub(crate) fn all(request: &Request, by: By) -> Vec<Rule> {
        let mut rules: Vec<Rule> =
            request.transcript.entries().flat_map(|entry| of_entry(&entry, by)).collect();
        let mut seen = HashSet::new();
        rules.reverse();
        rules.retain(|rule| seen.insert(rule.text.clone()));
        rules.reverse();
        rules
    }

    /// Those that none of `pins` protects.
    pub(super) fn unpinned(request: &Request, pins: &[String]) -> Vec<Rule> {
        let pinned =
            |text: &str| pins.iter().any(|pin| text.contains(pin.as_str()) || pin.contains(text));
        let mut rules = Rule::all(request, By::PeopleAndFiles);
        rules.retain(|rule| !pinned(&rule.text));
        rules
    }
}

fn of_entry(entry: &Entry<'_>, by: By) -> Vec<Rule> {
    if entry.role().instructs() {
        return Vec::new();
    }
    let mut rules = Vec::new();
    for part in entry.parts().filter(|part| part.kind() == PartKind::Text) {
        for text in said(&part, by) {
            let text = masked(&text);
            let sentences = sentences(&text).map(|range| &text[range]);
            rules.extend(
                sentences
                    .filter(|sentence| commands(sentence))
                    .map(|sentence| Rule { entry: entry.index as u32, text: sentence.to_owned() }),
            );
        }
    }
    rules
}

/// What a part says in people's words. A checkpoint quotes some.
fn said(part: &Part<'_>, by: By) -> Vec<String> {
    let text = part.text();
    match part.origin() {
        Origin::Human => vec![text.into_owned()],
        Origin::Checkpoint => {
            let contents = checkpoint::read(&text).unwrap_or_default();
            contents.words.into_iter().map(|word| word.text).collect()
        }
        Origin::Injected if by == By::PeopleAndFiles => {
            let head = cut::head(&text, NAMED_WITHIN);
            let is_file = FILES.iter().any(|name| head.contains(name));
            if is_file { vec![text.into_owned()] } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// The sentences of a text by where they stand. Lines end sentences, too.
fn sentences(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + (text.len() - rest - text[rest..].trim_start().len());
        let said = &text[start..];
        let first = said.chars().next()?;
        let mut ends = said.char_indices().skip_while(move |(at, _)| *at < first.len_utf8());
        let end = ends.find_map(|(at, c)| {
            let behind = &said[at + c.len_utf8()..];
            match c {
                '\n' => Some(at),
                '。' | '！' | '？' => Some(at + c.len_utf8()),
                '.' | '!' | '?' if behind.starts_with([' ', '\t']) => {
                    let next = behind.trim_start_matches([' ', '\t']).chars().next()?;
                    (!next.is_ascii_lowercase()).then_some(at + 1)
                }
                _ => None,
            }
        });
        let end = end.unwrap_or(said.len());
        rest = start + end;
        Some(start..start + said[..end].trim_end().len())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_reader_says() {
        let text = "Use v1.2 of it. Don't push! See a.rs, e.g. this one.\n- One\n\n二つ。三つ";
        let found: Vec<&str> = sentences(text).map(|range| &text[range]).collect();
        let wanted = [
            "Use v1.2 of it.",
            "Don't push!",
            "See a.rs, e.g. this one.",
            "- One",
            "二つ。",
            "三つ",
        ];
        assert_eq!(found, wanted);
    }
}
