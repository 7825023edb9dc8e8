//! What an entry says, in a few words.

use epitome::text::{cut, short_arguments};
use epitome::transcript::{Entry, Marks, Part, PartKind};

use crate::terminal::line;

/// Text looked at for its first words; the rest can't be seen anyway.
const GLIMPSE: usize = 4096;

/// The first words of an entry: its text, its calls, or what its results begin with. One harmless
/// line of at most `width` columns.
pub(crate) fn says(entry: &Entry<'_>, width: usize) -> String {
    let mut said = String::new();
    // That the model thought is worth a word only where it did nothing else.
    let is_thought = |part: &Part<'_>| part.kind() == PartKind::Reasoning;
    let is_link = |part: &Part<'_>| part.kind() == PartKind::Link;
    let only_thought = entry.parts().all(|part| is_thought(&part) || is_link(&part));
    for part in entry.parts().filter(|part| only_thought || !is_thought(part)) {
        let words = words(&part, width);
        if words.is_empty() {
            continue;
        }
        if !said.is_empty() {
            said.push_str(" · ");
        }
        said.push_str(&words);
        if said.len() > width * 4 {
            break;
        }
    }
    line(&said, width)
}

/// The calls of entries, in a few words; what they say where they call nothing.
pub(crate) fn does<'a>(entries: impl Iterator<Item = Entry<'a>>, width: usize) -> String {
    let mut calls = Vec::new();
    let mut first = String::new();
    for entry in entries {
        if first.is_empty() {
            first = says(&entry, width);
        }
        calls.extend(
            entry
                .parts()
                .filter(|part| part.kind() == PartKind::Call)
                .map(|part| short_arguments(&part.name(), &part.text(), width.min(80))),
        );
    }
    if calls.is_empty() { first } else { line(&calls.join(" · "), width) }
}

/// Who speaks, as a word for a column.
pub(crate) fn speaker(entry: &Entry<'_>) -> &'static str {
    use epitome::transcript::{Origin, Role};
    if entry.role().instructs() {
        return "system";
    }
    if entry.has_results() {
        return "result";
    }
    match (entry.origin(), entry.role()) {
        (Origin::Human, _) => "human",
        (Origin::Checkpoint, _) => "checkpoint",
        (_, Role::Assistant) if entry.has_calls() => "call",
        (_, Role::Assistant) => "model",
        (Origin::Tool, _) => "result",
        (_, Role::Other) => "other",
        _ => "injected",
    }
}

fn words(part: &Part<'_>, width: usize) -> String {
    match part.kind() {
        PartKind::Call => short_arguments(&part.name(), &part.text(), width),
        PartKind::Reasoning if part.is(Marks::NESTED) => String::new(),
        PartKind::Link => String::new(),
        PartKind::Reasoning => "(reasoning)".to_owned(),
        PartKind::Media => format!("({})", line(&part.name(), 24)),
        PartKind::Opaque => format!("({})", line(&part.name(), 24)),
        // A list's elements are parts of their own.
        PartKind::Result if !part.is(Marks::LITERAL) => String::new(),
        PartKind::Result | PartKind::Text => line(cut::head(&part.text(), GLIMPSE), width),
    }
}
