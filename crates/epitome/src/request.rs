//! One body on the wire: a frame around a transcript.

use std::sync::Arc;

use crate::json::{Span, unquote};
use crate::transcript::Transcript;
use crate::wire::Format;

/// How the entries are wrapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// A whole request body: an object with a list of entries in it.
    Body,
    /// A bare array of entries.
    Array,
    /// One entry after the other (JSON Lines, or any white space between).
    Lines,
}

/// Model, tools, system, parameters: everything around the transcript, as ranges.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// How the entries are wrapped.
    pub envelope: Envelope,
    /// The list of entries: the array, or the whole text for lines.
    pub list: Span,
    /// The model's name, as a JSON literal.
    pub model: Span,
    /// The system prompt beside the transcript (a string or a list of blocks).
    pub system: Span,
    /// The tool definitions.
    pub tools: Span,
    /// The reasoning mode (Anthropic `thinking`).
    pub thinking: Span,
}

impl Frame {
    /// A frame that holds nothing but the list.
    pub fn bare(envelope: Envelope, list: Span) -> Self {
        Frame {
            envelope,
            list,
            model: Span::NONE,
            system: Span::NONE,
            tools: Span::NONE,
            thinking: Span::NONE,
        }
    }
}

/// One body on the wire: a format, a frame and a transcript, as ranges of one buffer.
#[derive(Clone, Debug)]
pub struct Request {
    /// The wire format.
    pub format: Format,
    /// What stands around the transcript.
    pub frame: Frame,
    /// What was said.
    pub transcript: Transcript,
}

impl Request {
    /// The buffer that all spans point into.
    pub fn source(&self) -> &Arc<String> {
        self.transcript.source()
    }

    /// The model's name, if the request names one.
    pub fn model(&self) -> Option<String> {
        self.field(self.frame.model).map(|raw| unquote(raw).into_owned())
    }

    /// The system prompt beside the transcript, as JSON.
    pub fn system(&self) -> Option<&str> {
        self.field(self.frame.system)
    }

    /// The tool definitions, as JSON.
    pub fn tools(&self) -> Option<&str> {
        self.field(self.frame.tools)
    }

    /// The reasoning mode, as JSON.
    pub fn thinking(&self) -> Option<&str> {
        self.field(self.frame.thinking)
    }

    /// What stands before the first entry.
    pub(crate) fn head(&self) -> &str {
        let end = match self.transcript.entries().next() {
            Some(first) => first.span().start,
            None if self.frame.envelope == Envelope::Lines => self.frame.list.end,
            None => self.frame.list.start + 1,
        };
        &self.source()[..end as usize]
    }

    /// What stands after the last entry.
    pub(crate) fn tail(&self) -> &str {
        let start = match self.transcript.entries().next_back() {
            Some(last) => last.span().end as usize,
            None => self.head().len(),
        };
        &self.source()[start..]
    }

    /// What stands between entry `index - 1` and entry `index`.
    pub(crate) fn separator(&self, index: usize) -> &str {
        if index == 0 || index >= self.transcript.len() {
            return self.plain_separator();
        }
        let start = self.transcript.entry(index - 1).span().end as usize;
        let end = self.transcript.entry(index).span().start as usize;
        &self.source()[start..end]
    }

    /// A separator in the manner of this request, for entries that it doesn't have yet.
    pub(crate) fn plain_separator(&self) -> &str {
        match self.frame.envelope {
            _ if self.transcript.len() > 1 => self.separator(1),
            Envelope::Lines => "\n",
            Envelope::Body | Envelope::Array => ",",
        }
    }

    fn field(&self, span: Span) -> Option<&str> {
        (!span.is_empty()).then(|| span.of(self.source())).filter(|raw| *raw != "null")
    }
}
