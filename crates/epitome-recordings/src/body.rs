//! The text of a request, put together from messages as they stand in a recording.

use epitome::json::quote;
use epitome::request::Request;
use epitome::transcript::Origin;
use epitome::wire::{self, Format};

use crate::Kind;
use crate::error::ReadError;

/// A request body that grows message by message, one on each line.
pub(crate) struct Body {
    text: String,
    messages: usize,
    origins: Vec<(usize, Origin)>,
}

impl Body {
    /// A body for a model, where the recording names one (as a JSON literal).
    pub(crate) fn new(model: Option<&str>) -> Self {
        let model = model.map_or_else(String::new, |model| format!("\"model\":{model},"));
        Body { text: format!("{{{model}\"messages\":["), messages: 0, origins: Vec::new() }
    }

    /// Begins a message; what is pushed to the text next is the message.
    pub(crate) fn begin(&mut self) -> &mut String {
        self.text.push_str(if self.messages == 0 { "\n" } else { ",\n" });
        self.messages += 1;
        &mut self.text
    }

    /// Appends a message with a list of blocks as content.
    pub(crate) fn blocks<'a>(&mut self, role: &str, blocks: impl IntoIterator<Item = &'a str>) {
        let text = self.begin();
        text.push_str("{\"role\":\"");
        text.push_str(role);
        text.push_str("\",\"content\":[");
        for (index, block) in blocks.into_iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(block);
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
        self.origins.push((self.messages - 1, origin));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages == 0
    }

    pub(crate) fn finish(mut self, kind: Kind, format: Format) -> Result<Request, ReadError> {
        self.text.push_str("\n]}");
        let bytes = self.text.len();
        let mut request =
            wire::parse(format, self.text).map_err(|_| ReadError::TooLarge { kind, bytes })?;
        for (index, origin) in self.origins {
            request.transcript.set_origin(index, origin);
        }
        Ok(request)
    }
}

/// A text as a block, given as a JSON literal.
pub(crate) fn text_block(literal: &str) -> String {
    format!("{{\"type\":{},\"text\":{literal}}}", quote("text"))
}
