//! A session as entries, long enough and divided, so that messages can be put between them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use epitome::text::specifics::{Class, specifics};
use epitome::transcript::{Entry, Marks, Part, PartKind, Role};
use epitome::wire::Envelope;
use epitome::wire::json::quote;
use epitome::{Format, Request, wire};
use serde_json::Value;

use crate::Broken;

/// Compactions of each run.
pub const ROUNDS: usize = 5;
/// The parts of a session of equal length, and how many of them are compacted first.
const PARTS: usize = 9;
const FIRST: usize = 5;

/// A request in pieces.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The wire format of all entries.
    pub format: Format,
    /// The entries as they are written.
    pub entries: Vec<String>,
    before: String,
    after: String,
    separator: &'static str,
}

impl Stream {
    /// The entries of a request.
    pub fn of(request: &Request) -> Self {
        let source = request.source();
        let list = request.frame.list;
        let (before, after, separator) = match request.frame.envelope {
            Envelope::Lines => (String::new(), String::new(), "\n"),
            Envelope::Body | Envelope::Array => (
                source[..=list.start as usize].to_owned(),
                source[list.end as usize - 1..].to_owned(),
                ",",
            ),
        };
        let entries = request.transcript.entries().map(|entry| entry.raw().to_owned()).collect();
        Stream { format: request.format, entries, before, after, separator }
    }

    /// The entries of a request, and again with other names until there are about `bytes`.
    pub fn long(request: &Request, bytes: usize) -> Self {
        let mut stream = Stream::of(request);
        let once: usize = stream.entries.iter().map(String::len).sum();
        for number in 1..bytes.div_ceil(once.max(1)) {
            let said = request.transcript.entries().filter(|entry| !entry.role().instructs());
            stream.entries.extend(said.map(|entry| renamed(entry, number)));
        }
        stream
    }

    /// The same around other entries.
    ///
    /// # Errors
    /// They are no entries of the format.
    pub fn request(&self, entries: &[String]) -> Result<Request, Broken> {
        let entries = entries.join(self.separator);
        Ok(wire::parse(self.format, format!("{}{entries}{}", self.before, self.after))?)
    }

    /// What is compacted first, and what is appended before each further compaction. Each begins where the model does.
    ///
    /// # Errors
    /// The model speaks too seldom.
    pub fn segments(&self) -> Result<[Range<usize>; ROUNDS], Broken> {
        let starts = starts(&self.request(&self.entries)?);
        let total: usize = self.entries.iter().map(String::len).sum();
        let cut = |part: usize| {
            let mut sum = 0;
            let before = |entry: &&String| {
                sum += entry.len();
                sum <= total * part / PARTS
            };
            let at = self.entries.iter().take_while(before).count();
            starts.iter().copied().find(|start| *start >= at).unwrap_or(self.entries.len())
        };
        let mut from = 0;
        let segments = std::array::from_fn(|round| {
            let is_last = round + 1 == ROUNDS;
            let to = if is_last { self.entries.len() } else { cut(FIRST + round) };
            std::mem::replace(&mut from, to)..to
        });
        if segments.iter().any(Range::is_empty) {
            return Err(Broken("the model speaks too seldom".to_owned()));
        }
        Ok(segments)
    }

    /// A user's message.
    pub fn message(&self, text: &str) -> String {
        self.format.user_message(text)
    }
}

/// The entries with which the model begins to speak, the first one apart. All calls before are answered, so that a person
/// may speak there.
pub fn starts(request: &Request) -> Vec<usize> {
    let roles: Vec<Role> = request.transcript.entries().map(|entry| entry.role()).collect();
    let is_models = |at: usize| roles.get(at) == Some(&Role::Assistant);
    (1..roles.len()).filter(|at| is_models(*at) && !is_models(at - 1)).collect()
}

/// The entry with other call ids, and other names in its texts.
fn renamed(entry: Entry<'_>, number: usize) -> String {
    let ids = entry.parts().flat_map(|part| {
        let own = if part.kind() == PartKind::Link { part.text() } else { "".into() };
        [part.id(), own]
    });
    let ids: BTreeSet<_> = ids.filter(|id| !id.is_empty()).collect();
    let bodies = entry.parts().filter_map(|part| Some((part.row().body, retold(&part, number)?)));
    let bodies: BTreeMap<u32, _> = bodies.map(|(span, text)| (span.start, (span, text))).collect();
    let (raw, start) = (entry.raw(), entry.span().start);
    let (mut out, mut at) = (String::new(), 0);
    for (span, text) in bodies.values() {
        let from = (span.start - start) as usize;
        if from < at {
            continue;
        }
        out.push_str(&raw[at..from]);
        out.push_str(text);
        at = (span.end - start) as usize;
    }
    out.push_str(&raw[at..]);
    ids.iter().fold(out, |raw, id| raw.replace(&format!("\"{id}\""), &format!("\"{id}_{number}\"")))
}

/// The body of a part with other names, as JSON.
fn retold(part: &Part<'_>, number: usize) -> Option<String> {
    let is_literal = part.is(Marks::LITERAL);
    match part.kind() {
        PartKind::Call if part.says_own_words() => {
            let mut value: Value = serde_json::from_str(&part.text()).ok()?;
            rename_all(&mut value, number);
            let text = value.to_string();
            Some(if is_literal { quote(&text) } else { text })
        }
        PartKind::Text | PartKind::Result if is_literal && part.says_own_words() => {
            Some(quote(&with_names(&part.text(), number)))
        }
        _ => None,
    }
}

fn rename_all(value: &mut Value, number: usize) {
    match value {
        Value::String(text) => *text = with_names(text, number),
        Value::Array(all) => all.iter_mut().for_each(|value| rename_all(value, number)),
        Value::Object(all) => all.values_mut().for_each(|value| rename_all(value, number)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A text with other paths, identifiers, ids and numbers, always the same for the same one.
fn with_names(text: &str, number: usize) -> String {
    let (mut out, mut at) = (String::with_capacity(text.len() + 64), 0);
    for found in specifics(text) {
        if !matches!(found.class, Class::Path | Class::Identifier | Class::Id | Class::Number) {
            continue;
        }
        out.push_str(&text[at..found.at]);
        out.push_str(&other(found.text, number));
        at = found.at + found.text.len();
    }
    out.push_str(&text[at..]);
    out
}

/// Another name of the same form: other digits, or a number behind the first word.
fn other(name: &str, number: usize) -> String {
    if name.bytes().any(|byte| byte.is_ascii_digit()) {
        let shifted = |c: char| match c.to_digit(10) {
            Some(digit) => char::from_digit((digit + number as u32) % 10, 10).unwrap_or(c),
            None => c,
        };
        return name.chars().map(shifted).collect();
    }
    let first = name.find(char::is_alphabetic).unwrap_or(0);
    let rest = &name[first..];
    let end = first + rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    format!("{}{number}{}", &name[..end], &name[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_others_and_always_the_same() {
        let text = "Open src/main.rs at 8442, then --dry-run parse_entry. All fine.";
        let once = with_names(text, 2);
        assert_eq!(once, "Open src2/main.rs at 0664, then --dry2-run parse2_entry. All fine.");
        assert_eq!(with_names(text, 2), once);
    }
}
