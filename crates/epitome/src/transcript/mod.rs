//! What was said, in order: entries and their parts as byte ranges of one shared buffer.

mod id;
mod mark;
pub(crate) mod media;
mod numbering;
mod owner;
mod place;
pub(crate) mod reasoning_links;
mod shared;
pub mod unit;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use crate::json::Span;
use crate::json::{self, unquote};
pub use id::ContentId;
pub(crate) use id::canonical_json;
pub(crate) use mark::{COMMANDS, injected_mark, may_begin_mark};
pub use numbering::Numbering;
use owner::Owners;

/// The wire role of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Standing instructions.
    System,
    /// Standing instructions, under the newer name.
    Developer,
    /// The user's side: human words, injected text, and (Anthropic) tool results.
    User,
    /// The model's side.
    Assistant,
    /// A tool result in an entry of its own.
    Tool,
    /// Anything else; carried as it came.
    Other,
}

impl Role {
    /// Whether the entry gives standing instructions.
    pub fn instructs(self) -> bool {
        matches!(self, Role::System | Role::Developer)
    }
}

/// Who speaks. Read from the recording, or inferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// A person.
    Human,
    /// Reminders, hook output, environment notes, system text.
    Injected,
    /// The model.
    Model,
    /// A tool's result.
    Tool,
    /// A checkpoint of an earlier compaction whose content id is known.
    Checkpoint,
}

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartKind {
    /// Words.
    Text,
    /// The model's reasoning, in the clear, signed or encrypted.
    Reasoning,
    /// A tool call.
    Call,
    /// A tool call's result. Its content may be sub-parts that follow it.
    Result,
    /// An image, a document, audio.
    Media,
    /// What isn't known; comes out as it went in.
    Opaque,
    /// An entry's own id, by which its provider ties it to other entries. The model doesn't see it, and unless it is
    /// fixed it may be left out.
    Link,
}

/// What else is known of a part, as a small set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u16);

impl Marks {
    /// A sub-part of the nearest result before it.
    pub const NESTED: Marks = Marks(1);
    /// Reasoning with a signature, or encrypted: bound to the model, perhaps to the prefix.
    pub const SIGNED: Marks = Marks(1 << 1);
    /// A result that reports an error.
    pub const ERROR: Marks = Marks(1 << 2);
    /// A call or result of a tool that the provider runs; it is paired inside its own entry.
    pub const SERVER: Marks = Marks(1 << 3);
    /// Sets state for what follows; never folded silently.
    pub const STATEFUL: Marks = Marks(1 << 4);
    /// The body is a JSON string literal, so its words are the decoded string.
    pub const LITERAL: Marks = Marks(1 << 5);
    /// No words can stand in its place: it stays or leaves.
    pub const WORDLESS: Marks = Marks(1 << 6);
    /// It is shown as it is, or leaves with its entry.
    pub const FIXED: Marks = Marks(1 << 7);

    /// This set with `other` in it.
    #[must_use]
    pub const fn with(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    /// Whether `other` is in the set.
    pub const fn has(self, other: Marks) -> bool {
        self.0 & other.0 != 0
    }
}

/// A part as it is stored: ranges of the transcript's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartRow {
    /// The element or member value that the part is.
    pub span: Span,
    /// The payload: a text, a call's arguments, a result's content, the data of a medium.
    pub body: Span,
    /// The call id (calls and results), as a JSON literal.
    pub id: Span,
    /// The tool's name, the media type, or an opaque part's type, as a JSON literal.
    pub name: Span,
    /// What it is.
    pub kind: PartKind,
    /// Who speaks.
    pub origin: Origin,
    /// What else is known.
    pub marks: Marks,
}

impl PartRow {
    /// The same in a text of which the old one starts at `origin`.
    pub(crate) fn shifted_by(self, origin: u32) -> Self {
        let shifted = |span: Span| if span.is_empty() { span } else { span.shifted_by(origin) };
        PartRow {
            span: shifted(self.span),
            body: shifted(self.body),
            id: shifted(self.id),
            name: shifted(self.name),
            ..self
        }
    }
}

/// An entry as it is stored.
#[derive(Clone, Copy, Debug)]
pub struct EntryRow {
    /// The whole message.
    pub span: Span,
    /// Index of its first part; the next entry's first part ends it.
    pub first_part: u32,
    /// The wire role.
    pub role: Role,
}

/// Everything that was said, in order. Append-only; never edited. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Transcript {
    source: Arc<String>,
    entries: Arc<Vec<EntryRow>>,
    parts: Arc<Vec<PartRow>>,
    owners: Owners,
    /// Of the entries up to the last one of which it is known, milliseconds since 1970.
    times: Arc<Vec<Option<u64>>>,
    /// For the entries up to the last one with a set speaker: whether its speaker was set.
    told: Arc<Vec<bool>>,
}

impl Transcript {
    /// An empty transcript over `source`.
    pub fn new(source: Arc<String>) -> Self {
        Transcript {
            source,
            entries: Arc::default(),
            parts: Arc::default(),
            owners: Owners::default(),
            times: Arc::default(),
            told: Arc::default(),
        }
    }

    /// Appends an entry with its parts. Spans are into the transcript's source.
    pub fn push(&mut self, span: Span, role: Role, parts: &[PartRow]) {
        self.push_all(span, role, parts.iter().copied());
    }

    /// The same, of parts that stand nowhere yet.
    fn push_all(&mut self, span: Span, role: Role, parts: impl ExactSizeIterator<Item = PartRow>) {
        let row = EntryRow { span, first_part: self.parts.len() as u32, role };
        self.owners.push(self.entries.len(), self.parts.len()..self.parts.len() + parts.len());
        Arc::make_mut(&mut self.entries).push(row);
        Arc::make_mut(&mut self.parts).extend(parts);
    }

    /// Puts `text` into the source, behind the last entry.
    pub(crate) fn insert(&mut self, at: usize, text: &str) {
        Arc::make_mut(&mut self.source).insert_str(at, text);
    }

    /// Whether it is the very same: a clone of which nothing was changed.
    pub(crate) fn is(&self, other: &Transcript) -> bool {
        Arc::ptr_eq(&self.source, &other.source)
            && Arc::ptr_eq(&self.entries, &other.entries)
            && Arc::ptr_eq(&self.parts, &other.parts)
    }

    /// The buffer that all spans point into.
    pub fn source(&self) -> &Arc<String> {
        &self.source
    }

    pub(crate) fn into_source(self) -> Arc<String> {
        self.source
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Entry `index`.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn entry(&self, index: usize) -> Entry<'_> {
        Entry { transcript: self, index, row: &self.entries[index] }
    }

    /// All entries.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = Entry<'_>> + ExactSizeIterator {
        self.entries.iter().enumerate().map(|(index, row)| Entry { transcript: self, index, row })
    }

    /// The part in `slot`.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn part(&self, slot: Slot) -> Part<'_> {
        Part { source: &self.source, slot, row: &self.parts[slot.0 as usize] }
    }

    /// Number of parts, which is one more than the last slot.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// The entry that `slot` belongs to.
    pub fn entry_of(&self, slot: Slot) -> usize {
        self.owners.of(&self.entries, slot)
    }

    /// Says who speaks in the texts and media of entry `index`; a recording knows better than
    /// inference.
    pub fn set_origin(&mut self, index: usize, origin: Origin) {
        self.note_told(index);
        let range = self.part_range(index);
        for part in &mut Arc::make_mut(&mut self.parts)[range] {
            if matches!(part.kind, PartKind::Text | PartKind::Media)
                && !part.marks.has(Marks::NESTED)
            {
                part.origin = origin;
            }
        }
    }

    /// Says who speaks in one part, where an entry has several speakers.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn set_part_origin(&mut self, slot: Slot, origin: Origin) {
        self.note_told(self.entry_of(slot));
        Arc::make_mut(&mut self.parts)[slot.0 as usize].origin = origin;
    }

    /// Says when entry `index` was said, in milliseconds since 1970; only a recording knows.
    ///
    /// # Panics
    /// If there is no such entry.
    pub fn set_time(&mut self, index: usize, at: u64) {
        assert!(index < self.len(), "there is no entry {index}");
        let times = Arc::make_mut(&mut self.times);
        times.resize(times.len().max(index + 1), None);
        times[index] = Some(at);
    }

    fn note_told(&mut self, index: usize) {
        let told = Arc::make_mut(&mut self.told);
        told.resize(told.len().max(index + 1), false);
        told[index] = true;
    }

    fn part_range(&self, index: usize) -> Range<usize> {
        let end = self.entries.get(index + 1).map_or(self.parts.len(), |e| e.first_part as usize);
        self.entries[index].first_part as usize..end
    }
}

/// The address of a part (or sub-part) in its transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot(pub u32);

/// One API message or item.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    transcript: &'a Transcript,
    /// Position in the transcript.
    pub index: usize,
    row: &'a EntryRow,
}

impl<'a> Entry<'a> {
    /// The wire role.
    pub fn role(&self) -> Role {
        self.row.role
    }

    /// Where it stands in the source.
    pub fn span(&self) -> Span {
        self.row.span
    }

    /// When it was said, in milliseconds since 1970, where that was recorded.
    pub fn time(&self) -> Option<u64> {
        self.transcript.times.get(self.index).copied().flatten()
    }

    /// Its bytes as they came.
    pub fn raw(&self) -> &'a str {
        self.row.span.of(&self.transcript.source)
    }

    /// Its parts; a result's sub-parts follow it.
    pub fn parts(&self) -> impl DoubleEndedIterator<Item = Part<'a>> + ExactSizeIterator + use<'a> {
        let range = self.transcript.part_range(self.index);
        let first = range.start;
        let source = self.transcript.source.as_str();
        self.transcript.parts[range].iter().enumerate().map(move |(offset, row)| Part {
            source,
            slot: Slot((first + offset) as u32),
            row,
        })
    }

    /// The speaker: human if any part is, else that of the first part (ids don't count).
    pub fn origin(&self) -> Origin {
        if self.parts().any(|p| p.is_human()) {
            return Origin::Human;
        }
        let mut parts = self.parts().filter(|p| p.kind() != PartKind::Link);
        parts.next().map_or(Origin::Injected, |p| p.origin())
    }

    /// Whether a person speaks in it.
    pub fn is_human(&self) -> bool {
        self.origin() == Origin::Human
    }

    /// The person's words, decoded, joined by blank lines; with what a client marks as a thought, without signatures.
    pub fn human_text(&self) -> String {
        let is_thought = |p: &Part<'_>| p.kind() == PartKind::Reasoning && p.is(Marks::LITERAL);
        let texts: Vec<_> = self
            .parts()
            .filter(|p| p.is_human() && (p.kind() == PartKind::Text || is_thought(p)))
            .map(|p| p.text())
            .collect();
        texts.join("\n\n")
    }

    /// Whether it holds client tool calls.
    pub fn has_calls(&self) -> bool {
        self.parts().any(|p| p.kind() == PartKind::Call && !p.is(Marks::SERVER))
    }

    /// Whether it holds client tool results.
    pub fn has_results(&self) -> bool {
        self.parts().any(|p| p.kind() == PartKind::Result && !p.is(Marks::SERVER))
    }

    /// Whether it sets state for what follows (instructions, or a part that says so).
    pub fn is_stateful(&self) -> bool {
        self.row.role.instructs() || self.parts().any(|p| p.is(Marks::STATEFUL))
    }

    /// The id of its canonical content.
    pub fn content_id(&self) -> ContentId {
        ContentId::of_entry(self.raw())
    }
}

/// A piece of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    source: &'a str,
    /// Its address.
    pub slot: Slot,
    row: &'a PartRow,
}

impl<'a> Part<'a> {
    /// What it is.
    pub fn kind(&self) -> PartKind {
        self.row.kind
    }

    /// Who speaks.
    pub fn origin(&self) -> Origin {
        self.row.origin
    }

    /// Whether a mark is set.
    pub fn is(&self, mark: Marks) -> bool {
        self.row.marks.has(mark)
    }

    /// Whether it is reasoning that its provider didn't sign.
    pub(crate) fn is_unsigned_reasoning(&self) -> bool {
        self.kind() == PartKind::Reasoning && !self.is(Marks::SIGNED)
    }

    /// Whether a person says it.
    pub fn is_human(&self) -> bool {
        self.row.origin == Origin::Human
    }

    /// The ranges behind it.
    pub fn row(&self) -> &'a PartRow {
        self.row
    }

    /// Its bytes as they came.
    pub fn raw(&self) -> &'a str {
        self.row.span.of(self.source)
    }

    /// The payload's bytes as they came.
    pub fn raw_body(&self) -> &'a str {
        self.row.body.of(self.source)
    }

    /// The payload's words: a literal decoded, anything else as JSON text.
    pub fn text(&self) -> Cow<'a, str> {
        if self.is(Marks::LITERAL) {
            unquote(self.raw_body())
        } else {
            Cow::Borrowed(self.raw_body())
        }
    }

    /// How many characters its words have.
    pub fn characters(&self) -> usize {
        let body = self.raw_body();
        if self.is(Marks::LITERAL) { json::characters(body) } else { body.chars().count() }
    }

    /// Whether its payload is words, and its own: a list's elements are parts themselves, and media
    /// and ids aren't read as words.
    pub fn says_own_words(&self) -> bool {
        let is_list = self.kind() == PartKind::Result
            && self.raw_body().starts_with('[')
            && !self.is(Marks::SERVER);
        !is_list && !matches!(self.kind(), PartKind::Media | PartKind::Link)
    }

    /// The call id; empty if there is none.
    pub fn id(&self) -> Cow<'a, str> {
        unquote(self.row.id.of(self.source))
    }

    /// Whether there is a call id that isn't a string.
    pub fn has_odd_id(&self) -> bool {
        let raw = self.row.id.of(self.source);
        !raw.is_empty() && !raw.starts_with('"')
    }

    /// The tool's name, media type or opaque type; empty if there is none.
    pub fn name(&self) -> Cow<'a, str> {
        unquote(self.row.name.of(self.source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Format, parse};

    fn read(messages: &str) -> Transcript {
        let body = format!(r#"{{"messages":[{messages}]}}"#);
        parse(Format::Anthropic, body).expect("it is JSON").transcript
    }

    #[test]
    fn what_a_recording_knows_of_speakers_and_times_is_kept() {
        let said = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"x"}]},{"type":"text","text":"y"}]}"#;
        let mut transcript = read(&[said, said].join(","));
        transcript.set_origin(1, Origin::Injected);
        let origins: Vec<_> =
            transcript.entries().flat_map(|e| e.parts()).map(|p| p.origin()).collect();
        let [result, nested, text] = origins[..3] else { panic!("{origins:?}") };
        assert_ne!(text, Origin::Injected);
        assert_eq!(origins[3..], [result, nested, Origin::Injected]);
        transcript.set_time(1, 7);
        transcript.set_time(0, 5);
        let times: Vec<_> = transcript.entries().map(|entry| entry.time()).collect();
        assert_eq!(times, [Some(5), Some(7)]);
        assert_eq!(read(said).entry(0).time(), None);
    }

    #[test]
    fn a_transcript_without_entries_is_empty() {
        assert!(read("").is_empty());
        let transcript = read(r#"{"role":"user","content":"x"},{"role":"system","content":"y"}"#);
        assert!(!transcript.is_empty());
        assert_eq!(transcript.part_count(), 2);
        let stateful: Vec<bool> = transcript.entries().map(|entry| entry.is_stateful()).collect();
        assert_eq!(stateful, [false, true]);
    }

    #[test]
    fn a_transcript_is_another_once_anything_of_it_was_changed() {
        let one = read(r#"{"role":"user","content":"x"}"#);
        let mut other = one.clone();
        assert!(one.is(&other));
        other.set_origin(0, Origin::Injected);
        assert!(!one.is(&other));
    }

    #[test]
    fn a_persons_words_are_neither_media_nor_what_was_put_in() {
        let text = |words: &str| format!(r#"{{"type":"text","text":"{words}"}}"#);
        let image = r#"{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}"#;
        let note = text("<system-reminder>Go.</system-reminder>");
        let all = [text("one"), image.to_owned(), note, text("two")].join(",");
        let transcript = read(&format!(r#"{{"role":"user","content":[{all}]}}"#));
        assert_eq!(transcript.entry(0).human_text(), "one\n\ntwo");
    }
}
