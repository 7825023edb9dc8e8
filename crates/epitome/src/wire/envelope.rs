//! The outermost layer: a request body, a bare array, or lines.

use std::sync::Arc;

use super::{Dialect, Format, WireError};
use crate::json::{self, JsonError, Scanner, Span, unquote};
use crate::request::{Envelope, Frame, Request};
use crate::transcript::{PartRow, Transcript};

pub(super) fn parse(format: Format, source: Arc<String>) -> Result<Request, WireError> {
    if u32::try_from(source.len()).is_err() {
        return Err(WireError::TooLarge { bytes: source.len() });
    }
    let text = Arc::clone(&source);
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() as u32 } else { 0 };
    let mut scanner = Scanner::starting_at(&text, start);
    let mut reader = Reader {
        dialect: format.dialect(),
        transcript: Transcript::new(source),
        parts: Vec::new(),
    };
    let frame = match scanner.peek() {
        None => return Err(WireError::Empty),
        Some(b'[') => reader.array(&mut scanner),
        Some(b'{') => match reader.body(&mut scanner) {
            // An object without the list may be a line of messages.
            Ok(None) => reader.lines(&mut Scanner::starting_at(&text, start)),
            Ok(Some(frame)) => Ok(frame),
            Err(error) => Err(error),
        },
        Some(_) => {
            return Err(WireError::NotMessages { format, what: "neither an object nor an array" });
        }
    };
    match frame {
        Ok(frame) => Ok(Request { format, frame, transcript: reader.transcript }),
        Err(Failure::Json(error)) => Err(WireError::json(&text, error)),
        Err(Failure::Shape(what)) => Err(WireError::NotMessages { format, what }),
    }
}

enum Failure {
    Json(JsonError),
    Shape(&'static str),
}

impl From<JsonError> for Failure {
    fn from(error: JsonError) -> Self {
        Failure::Json(error)
    }
}

struct Reader {
    dialect: &'static dyn Dialect,
    transcript: Transcript,
    parts: Vec<PartRow>,
}

impl Reader {
    fn array(&mut self, scanner: &mut Scanner<'_>) -> Result<Frame, Failure> {
        let list = self.entries(scanner)?;
        scanner.end()?;
        Ok(Frame::bare(Envelope::Array, list))
    }

    /// `None` if the object has no list of entries; the cursor is then behind it.
    fn body(&mut self, scanner: &mut Scanner<'_>) -> Result<Option<Frame>, Failure> {
        let mut frame = Frame::bare(Envelope::Body, Span::NONE);
        let text = scanner.text();
        let mut is_list = true;
        scanner.object(|scanner, key| {
            let name = unquote(key.of(text));
            if name == self.dialect.list_key() {
                // The last of duplicate keys wins.
                self.transcript = Transcript::new(Arc::clone(self.transcript.source()));
                is_list = scanner.peek() == Some(b'[');
                frame.list = if is_list { self.entries(scanner)? } else { scanner.value()? };
                return Ok::<_, JsonError>(());
            }
            let value = scanner.value()?;
            match name.as_ref() {
                "model" => frame.model = value,
                "system" => frame.system = value,
                "tools" => frame.tools = value,
                "thinking" => frame.thinking = value,
                _ => {}
            }
            Ok(())
        })?;
        if !is_list {
            return Err(Failure::Shape("the list of messages is not an array"));
        }
        if frame.list.is_empty() {
            return Ok(None);
        }
        scanner.end()?;
        Ok(Some(frame))
    }

    fn lines(&mut self, scanner: &mut Scanner<'_>) -> Result<Frame, Failure> {
        let start = scanner.position();
        while let Some(byte) = scanner.peek() {
            if byte != b'{' {
                return Err(Failure::Shape("a line that isn't an object"));
            }
            self.entry(scanner)?;
            let newest = self.transcript.entry(self.transcript.len() - 1).raw();
            if json::member(newest, Span::new(0..newest.len()), "role").is_none() {
                return Err(Failure::Shape("no list of messages, and no `role` in a line"));
            }
        }
        Ok(Frame::bare(Envelope::Lines, Span::new(start..scanner.text().len())))
    }

    fn entries(&mut self, scanner: &mut Scanner<'_>) -> Result<Span, JsonError> {
        scanner.array(|scanner| self.entry(scanner))
    }

    fn entry(&mut self, scanner: &mut Scanner<'_>) -> Result<(), JsonError> {
        scanner.peek();
        let start = scanner.position();
        self.parts.clear();
        let role = self.dialect.read_entry(scanner, &mut self.parts)?;
        self.transcript.push(Span::new(start..scanner.position()), role, &self.parts);
        Ok(())
    }
}
