//! Passages: the decoded texts of a request, part by part, with their speakers.

use std::ops::Range;

use epitome::Request;
use epitome::transcript::unit::Units;
use epitome::transcript::{Marks, Origin, Part, PartKind, Slot};
use epitome::word_list::words;
use serde_json::Value;

/// Who says a passage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// A person.
    Person,
    /// The model: text and calls.
    Model,
    /// A tool's output.
    Tool,
    /// What a client puts in, and earlier checkpoints.
    Client,
    /// The model's reasoning. It is neither a use nor a mention.
    Reasoning,
    /// Standing instructions, which every contender keeps.
    Standing,
}

impl Who {
    /// Whether a specific in it counts as said before the cut.
    pub fn counts(self) -> bool {
        !matches!(self, Who::Reasoning | Who::Standing)
    }
}

/// What one part says.
#[derive(Clone, Debug)]
pub struct Passage {
    /// The entry, and the unit that holds it.
    pub entry: usize,
    /// The unit.
    pub unit: usize,
    /// The part.
    pub slot: Slot,
    /// Who says it.
    pub who: Who,
    /// What the part is.
    pub kind: PartKind,
    /// The words. Of a call: its name and the values of its arguments.
    pub text: String,
    /// Of a call: where `text` holds bodies, such as the new content of a file.
    pub bodies: Vec<Range<usize>>,
}

impl Passage {
    /// Whether it is a call, and the byte at `at` is no part of a body.
    pub fn points_at(&self, at: usize) -> bool {
        self.kind == PartKind::Call && !self.bodies.iter().any(|body| body.contains(&at))
    }
}

/// Members of arguments that hold bodies.
const BODIES: [&str; 14] = words!(
    "content contents new_string old_string new_str old_str newText oldText patch diff file_text \
     body text input"
);

/// A value that is longer is a body, in bytes.
const LONG: usize = 200;

/// All that a request says.
pub fn passages(request: &Request) -> Vec<Passage> {
    let units = Units::of(&request.transcript, request.format.instructions());
    let mut passages = Vec::new();
    for entry in request.transcript.entries() {
        let unit = units.index_of(entry.index);
        for part in entry.parts().filter(Part::says_own_words) {
            let who = if entry.role().instructs() { Who::Standing } else { who(&part) };
            let (text, bodies) = words(&part);
            let (slot, kind) = (part.slot, part.kind());
            passages.push(Passage { entry: entry.index, unit, slot, who, kind, text, bodies });
        }
    }
    passages
}

fn who(part: &Part<'_>) -> Who {
    match (part.kind(), part.origin()) {
        (PartKind::Reasoning, _) => Who::Reasoning,
        (PartKind::Call, _) | (_, Origin::Model) => Who::Model,
        (PartKind::Result, _) | (_, Origin::Tool) => Who::Tool,
        (_, Origin::Human) => Who::Person,
        (_, Origin::Injected | Origin::Checkpoint) => Who::Client,
    }
}

/// The words of a part, and where the bodies in them are.
fn words(part: &Part<'_>) -> (String, Vec<Range<usize>>) {
    let text = part.text();
    match part.kind() {
        PartKind::Call => {
            let arguments = serde_json::from_str(&text);
            let value = arguments.unwrap_or_else(|_| Value::String(text.into_owned()));
            spoken(part.name().into_owned(), &value)
        }
        PartKind::Text | PartKind::Reasoning => (text.into_owned(), Vec::new()),
        _ if part.is(Marks::LITERAL) => (text.into_owned(), Vec::new()),
        _ => match serde_json::from_str(&text) {
            Ok(value) => (spoken(String::new(), &value).0, Vec::new()),
            Err(_) => (text.into_owned(), Vec::new()),
        },
    }
}

/// The strings and numbers of a JSON value, decoded.
pub fn decoded(json: &str) -> String {
    let value = serde_json::from_str(json);
    value.map_or_else(|_| json.to_owned(), |value| spoken(String::new(), &value).0)
}

/// A name and the values behind it: short ones in its line, bodies in lines of their own.
fn spoken(mut text: String, value: &Value) -> (String, Vec<Range<usize>>) {
    let mut found = Vec::new();
    leaves("", value, &mut found);
    let mut bodies = Vec::new();
    for (key, value) in found {
        let is_body = value.len() > LONG || value.contains('\n') || BODIES.contains(&key);
        if !text.is_empty() {
            text.push(if is_body { '\n' } else { ' ' });
        }
        let start = text.len();
        text.push_str(&value);
        if is_body {
            bodies.push(start..text.len());
            text.push('\n');
        }
    }
    (text, bodies)
}

fn leaves<'v>(key: &'v str, value: &'v Value, into: &mut Vec<(&'v str, String)>) {
    match value {
        Value::Null => {}
        Value::String(text) => into.push((key, text.clone())),
        Value::Bool(_) | Value::Number(_) => into.push((key, value.to_string())),
        Value::Array(all) => all.iter().for_each(|value| leaves(key, value, into)),
        Value::Object(all) => all.iter().for_each(|(key, value)| leaves(key, value, into)),
    }
}
