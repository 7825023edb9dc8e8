//! The text of a request, put together from messages as they stand in a recording.

use epitome::text::time::millis;
use epitome::transcript::{Origin, Slot};
use epitome::wire::json::{quote, unquote};
use epitome::wire::{self, Format, Request};

use crate::error::ReadError;
use crate::usage::{Counted, Reported};

/// How messages with a list of blocks begin, for [`Body::listed`].
pub(crate) const USER: &str = r#"{"role":"user","content":["#;
pub(crate) const ASSISTANT: &str = r#"{"role":"assistant","content":["#;

/// A request body that grows message by message, one on each line.
pub(crate) struct Body {
    text: String,
    messages: usize,
    origins: Vec<Spoken>,
    usage: Vec<Reported>,
    /// When the messages that are begun now were said.
    now: Option<u64>,
    times: Vec<Option<u64>>,
}

/// Who speaks in a message, or in one part of it.
struct Spoken {
    message: usize,
    part: Option<usize>,
    origin: Origin,
}

impl Body {
    /// A body for a model, where the recording names one (as a JSON literal).
    pub(crate) fn new(model: Option<&str>) -> Self {
        Body::framed(&[("model", model)], "messages")
    }

    /// A body with the members of `frame` that are there, and its entries in the list called `list`.
    pub(crate) fn framed(frame: &[(&str, Option<&str>)], list: &str) -> Self {
        let mut text = String::from("{");
        for (name, value) in frame {
            if let Some(value) = value {
                text.extend(["\"", name, "\":", value, ","]);
            }
        }
        text.extend(["\"", list, "\":["]);
        Body {
            text,
            messages: 0,
            origins: Vec::new(),
            usage: Vec::new(),
            now: None,
            times: Vec::new(),
        }
    }

    /// Says when the messages were said that are begun from here on, in milliseconds since 1970.
    pub(crate) fn now(&mut self, now: Option<u64>) {
        self.now = now;
    }

    /// Begins a message; what is pushed to the text next is the message.
    pub(crate) fn begin(&mut self) -> &mut String {
        self.text.push_str(if self.messages == 0 { "\n" } else { ",\n" });
        self.messages += 1;
        self.times.push(self.now);
        &mut self.text
    }

    /// Appends a message that begins with `opening` and ends with the list of `elements`.
    pub(crate) fn listed(&mut self, opening: &str, elements: &[impl AsRef<str>]) {
        let text = self.begin();
        text.push_str(opening);
        for (index, element) in elements.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(element.as_ref());
        }
        text.push_str("]}");
    }

    /// Appends a message whose content is a string, given as a JSON literal.
    pub(crate) fn literal(&mut self, role: &str, literal: &str) {
        let text = self.begin();
        text.push_str("{\"role\":\"");
        text.push_str(role);
        text.push_str("\",\"content\":");
        text.push_str(literal);
        text.push('}');
    }

    /// Says who speaks in the newest message.
    pub(crate) fn spoken_by(&mut self, origin: Origin) {
        self.origins.push(Spoken { message: self.messages - 1, part: None, origin });
    }

    /// Says who speaks in one part of the newest message; no part before it has parts of its own.
    pub(crate) fn part_spoken_by(&mut self, part: usize, origin: Origin) {
        self.origins.push(Spoken { message: self.messages - 1, part: Some(part), origin });
    }

    /// Says what was reported with the newest messages, which are a reply together.
    pub(crate) fn reported(&mut self, messages: usize, counted: Option<Counted<'_>>) {
        let reply = self.messages - messages..self.messages;
        self.usage.extend(counted.map(|Counted { usage, model }| {
            let model = model.map(|model| unquote(model).into_owned());
            Reported { reply, usage, model }
        }));
    }

    pub(crate) fn len(&self) -> usize {
        self.messages
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// The request, and what was reported of its entries.
    pub(crate) fn finish(
        mut self,
        reader: &'static str,
        format: Format,
    ) -> Result<(Request, Vec<Reported>), ReadError> {
        self.text.push_str("\n]}");
        let bytes = self.text.len();
        let mut request =
            wire::parse(format, self.text).map_err(|_| ReadError::TooLarge { reader, bytes })?;
        for Spoken { message, part, origin } in self.origins {
            let transcript = &mut request.transcript;
            let slot = part.and_then(|part| transcript.entry(message).slots().nth(part));
            match (part, slot) {
                (None, _) => transcript.set_origin(message, origin),
                (_, Some(slot)) => transcript.set_part_origin(Slot(slot), origin),
                _ => {}
            }
        }
        for (message, time) in self.times.into_iter().enumerate() {
            if let Some(time) = time {
                request.transcript.set_time(message, time);
            }
        }
        Ok((request, self.usage))
    }
}

/// A moment as a row has it: a literal, or milliseconds since 1970.
pub(crate) fn moment(value: Option<&str>) -> Option<u64> {
    let value = value?;
    if value.starts_with('"') { millis(&unquote(value)) } else { value.parse().ok() }
}

/// A text as a block, given as a JSON literal.
pub(crate) fn text_block(literal: &str) -> String {
    format!("{{\"type\":{},\"text\":{literal}}}", quote("text"))
}
