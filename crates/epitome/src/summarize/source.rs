//! The folded entries as a summarizer reads them: who said what, calls with their arguments, results, each
//! capped, in pieces that are whole units.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::specifics::Known;
use crate::count::TokenCounter;
use crate::text::cut;
use crate::transcript::unit::Units;
use crate::transcript::{Entry, Marks, Origin, Part, PartKind, Transcript};
use crate::working_view::part_text;

/// The maximum bytes of a person's or the model's text in one part: head and tail.
const SAID_BYTES: usize = 8 * 1024;
/// Of the arguments of a call.
const CALL_BYTES: usize = 1024;
/// So much of people's words tells their language.
const SPOKEN_BYTES: usize = 16 * 1024;
/// Of a result.
const RESULT_BYTES: usize = 2 * 1024;

/// Bytes of what says how much is left out.
const MARKER: usize = 40;
/// In fewer bytes there is no head and tail.
const LEAST_PIECE: usize = 64;

/// The text to summarize.
#[derive(Clone, Debug, Default)]
pub struct SummarySource {
    /// A unit each.
    pieces: Vec<(usize, String)>,
    /// What people say in this conversation, whether or not that is folded.
    human: String,
    /// Extracted and carried text.
    carried: String,
}

impl SummarySource {
    /// Whether there is nothing to summarise.
    pub fn is_empty(&self) -> bool {
        self.pieces.iter().all(|(_, text)| text.is_empty())
    }

    /// All of it.
    pub fn text(&self) -> String {
        self.pieces.iter().map(|(_, text)| text.as_str()).collect()
    }

    /// What people say in this conversation.
    pub fn human(&self) -> &str {
        &self.human
    }

    /// What else is known of the entries.
    pub fn carried(&self) -> &str {
        &self.carried
    }

    /// The same, with what else is known, and what people say in `transcript`.
    pub(crate) fn around(self, transcript: &Transcript, carried: String) -> Self {
        let mut human = String::new();
        for entry in transcript.entries().filter(Entry::is_human) {
            if human.len() >= SPOKEN_BYTES {
                break;
            }
            human.push_str(cut::head(&entry.human_text(), SPOKEN_BYTES));
            human.push('\n');
        }
        SummarySource { human, carried, ..self }
    }

    /// What can be looked up in it.
    pub(super) fn known(&self) -> Known {
        let pieces = self.pieces.iter().map(|(_, text)| text.as_str());
        Known::of(pieces.chain([self.carried.as_str(), self.human.as_str()]))
    }

    /// Adds a folded entry.
    pub(crate) fn add(&mut self, transcript: &Transcript, units: &Units, entry: Entry<'_>) {
        let unit = units.index_of(entry.index);
        if self.pieces.last().is_none_or(|(last, _)| *last != unit) {
            self.pieces.push((unit, String::new()));
        }
        let (_, out) = self.pieces.last_mut().expect("it was just pushed");
        for part in entry.parts().filter(|part| !part.is(Marks::NESTED)) {
            let (who, most) = match part.kind() {
                // Words in earlier checkpoints are carried by code, and their prose is dropped.
                PartKind::Text if part.origin() == Origin::Checkpoint => continue,
                PartKind::Text => (speaker(&part), SAID_BYTES),
                PartKind::Call => ("call", CALL_BYTES),
                PartKind::Result if part.is(Marks::ERROR) => ("failed result", RESULT_BYTES),
                PartKind::Result => ("result", RESULT_BYTES),
                PartKind::Reasoning | PartKind::Media | PartKind::Opaque | PartKind::Link => {
                    continue;
                }
            };
            let text = part_text(transcript, &part);
            let name = if part.kind() == PartKind::Call { part.name() } else { "".into() };
            let gap = if name.is_empty() { "" } else { " " };
            let _ = writeln!(out, "[{} {who}{gap}{name}] {}", entry.index, ends(&text, most));
        }
    }

    /// Its units in runs of at most `most` tokens each. A unit that alone is larger is cut in its middle.
    pub(super) fn runs(&self, most: u64, counter: &dyn TokenCounter) -> Vec<String> {
        let texts = self.pieces.iter().map(|(_, text)| text.as_str());
        runs(texts.filter(|text| !text.is_empty()), most, counter)
    }
}

/// `texts` in runs of at most `most` tokens.
pub(super) fn runs<'a>(
    texts: impl Iterator<Item = &'a str>,
    most: u64,
    counter: &dyn TokenCounter,
) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut room = 0;
    for text in texts {
        let mut tokens = counter.text(text).upper;
        let mut bytes = (text.len() as u64 * most / tokens.max(1)) as usize;
        let mut text = Cow::Borrowed(text);
        while tokens > most && bytes > LEAST_PIECE {
            text = ends(&text, bytes).into();
            tokens = counter.text(&text).upper;
            bytes = bytes * 9 / 10;
        }
        match out.last_mut() {
            Some(run) if tokens <= room => {
                run.push_str(&text);
                room -= tokens;
            }
            _ => {
                out.push(text.into_owned());
                room = most.saturating_sub(tokens);
            }
        }
    }
    out
}

fn speaker(part: &Part<'_>) -> &'static str {
    match part.origin() {
        Origin::Human => "user",
        Origin::Model => "model",
        Origin::Tool => "tool",
        Origin::Injected | Origin::Checkpoint => "note",
    }
}

/// `text` in at most about `most` bytes, its middle left out.
fn ends(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let most = most.saturating_sub(MARKER);
    let (head, tail) = (cut::head(text, most * 2 / 3), cut::tail(text, most / 3));
    let left_out = text.len() - head.len() - tail.len();
    format!("{head}\n[… {left_out} bytes left out …]\n{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::count::counter;

    #[test]
    fn runs_end_where_units_do() {
        let counter = counter("chars4").expect("a known name");
        let texts = ["a".repeat(80), "b".repeat(80), "c".repeat(2_000), "d".repeat(80)];
        let runs = runs(texts.iter().map(String::as_str), 100, counter.as_ref());
        let begins: Vec<char> = runs.iter().filter_map(|run| run.chars().next()).collect();
        assert_eq!(begins, ['a', 'c', 'd']);
        assert!(runs.iter().all(|run| counter.text(run).upper <= 100), "{runs:?}");
        assert!(runs[1].contains("bytes left out"));
    }
}
