//! The outermost layer: a request body, a bare array, or lines.

use std::sync::Arc;

use super::splice::Stands;
use super::terms::Feature;
use super::{Dialect, Field, Format, WireError};
use crate::json::{self, JsonError, Scanner, Span, unquote};
use crate::request::{Envelope, Frame, Keeper, Request};
use crate::transcript::{PartRow, Role, Transcript};

pub(super) fn parse(format: Format, source: Arc<String>) -> Result<Request, WireError> {
    parse_on(format, source, None)
}

/// The same, where some entries are known from another request.
pub(super) fn parse_on(
    format: Format,
    source: Arc<String>,
    known: Option<Known<'_>>,
) -> Result<Request, WireError> {
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
        known,
    };
    if let Some(Known::Anywhere(known, kept)) = &reader.known {
        reader.transcript.reserve_for(known, kept.len());
    }
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
        Ok(frame) => Ok(Request { format, frame, transcript: reader.transcript, addressed: None }),
        Err(Failure::Json(error)) => Err(WireError::json(&text, error)),
        Err(Failure::Shape(what)) => Err(WireError::NotMessages { format, what }),
    }
}

/// Puts one more message at the end of a request, so that it is what [`parse`] would read. Nothing is copied where nobody
/// else holds it; where the message is refused nothing is changed.
pub(super) fn append(request: &mut Request, message: &str) -> Result<(), WireError> {
    let (format, dialect) = (request.format, request.format.dialect());
    let refused = |what| WireError::NotMessages { format, what };
    let message = message.trim_matches(|c: char| matches!(c, ' ' | '\n' | '\r' | '\t'));
    let mut scanner = Scanner::new(message);
    let mut parts = Vec::new();
    let read = dialect.read_entry(&mut scanner, &mut parts);
    let read = read.and_then(|role| scanner.end().map(|()| role));
    let role = read.map_err(|error| WireError::json(message, error))?;
    if request.frame.envelope == Envelope::Lines {
        let whole = Span::new(0..message.len());
        let has = |key: &&str| json::member(message, whole, key).is_some();
        if !message.starts_with('{') || !dialect.entry_keys().iter().any(has) {
            return Err(refused("a line without what every message has"));
        }
    } else if !request.frame.list.of(request.source()).starts_with('[') {
        return Err(refused("one message where the list of messages would be"));
    }
    let between = match request.transcript.entries().next_back() {
        Some(_) => request.plain_separator().to_owned(),
        None => String::new(),
    };
    let at = request.source().len() - request.tail().len();
    let inserted = between.len() + message.len();
    if u32::try_from(request.source().len() + inserted).is_err() {
        return Err(WireError::TooLarge { bytes: request.source().len() + inserted });
    }
    let start = (at + between.len()) as u32;
    request.frame.make_room(at as u32, inserted as u32);
    request.transcript.insert(at, &(between + message));
    for part in &mut parts {
        *part = part.shifted_by(start);
    }
    let span = Span { start, end: start + message.len() as u32 };
    request.transcript.push(span, role, &parts);
    Ok(())
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

struct Reader<'a> {
    dialect: &'static dyn Dialect,
    transcript: Transcript,
    parts: Vec<PartRow>,
    known: Option<Known<'a>>,
}

/// Entries of another transcript that stand here in the same bytes.
pub(super) enum Known<'a> {
    /// So many first ones, at the same place.
    First(&'a Transcript, usize),
    /// These, in order.
    Anywhere(&'a Transcript, std::vec::IntoIter<Stands>),
}

impl Reader<'_> {
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
        let mut lists = 0;
        let mut is_entry = false;
        scanner.object(|scanner, key| {
            let name = unquote(key.of(text));
            if name == self.dialect.terms().list {
                // The last of duplicate keys wins.
                self.transcript = Transcript::new(Arc::clone(self.transcript.source()));
                let first = scanner.peek();
                // Plain words may stand for a list of one message, and a content by itself does at Interactions.
                let is_alone = match first {
                    Some(b'"') => name == "input",
                    Some(b'{') => self.dialect.has(Feature::TypedSteps),
                    _ => false,
                };
                is_list = first == Some(b'[');
                let start = scanner.position();
                if is_alone {
                    self.entry(scanner)?;
                    frame.list = Span::new(start..scanner.position());
                    is_list = self.transcript.entry(0).role() == Role::User;
                } else {
                    frame.list = if is_list { self.entries(scanner)? } else { scanner.value()? };
                }
                lists += usize::from(is_list);
                return Ok::<_, JsonError>(());
            }
            let value = scanner.value()?;
            is_entry |= self.dialect.is_of_entry(&name, &unquote(value.of(text)));
            let mut fields = self.dialect.terms().fields.iter();
            match fields.find(|(key, _)| *key == name).map(|(_, field)| *field) {
                Some(Field::Model) => frame.model = value,
                Some(Field::System) => frame.system = value,
                Some(Field::Tools) => frame.tools = value,
                Some(Field::Thinking) => frame.thinking = value,
                Some(Field::Elsewhere(keeper)) => {
                    let name = kept_by(keeper, text, value).map(|name| (keeper, name));
                    frame.elsewhere = name.or(frame.elsewhere);
                }
                None => {}
            }
            Ok(())
        })?;
        if is_entry {
            self.transcript = Transcript::new(Arc::clone(self.transcript.source()));
            return Ok(None);
        }
        // Which of them is meant, nobody knows, and the other would be lost.
        if lists > 1 {
            return Err(Failure::Shape("the list of messages is there twice"));
        }
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
            let has = |key| json::member(newest, Span::new(0..newest.len()), key).is_some();
            if !self.dialect.entry_keys().iter().any(|key| has(key)) {
                return Err(Failure::Shape(match self.dialect.terms().list {
                    "contents" => "no list of contents, and no `parts` in a line",
                    "input" => "no `input`, and no `type` or `role` in a line",
                    _ => "no list of messages, and no `role` in a line",
                }));
            }
        }
        Ok(Frame::bare(Envelope::Lines, Span::new(start..scanner.text().len())))
    }

    fn entries(&mut self, scanner: &mut Scanner<'_>) -> Result<Span, JsonError> {
        scanner.array(|scanner| {
            let here = scanner.position() as u32;
            match &mut self.known {
                Some(Known::First(known, entries))
                    if *entries > 0
                        && self.transcript.is_empty()
                        && known.entry(0).span().start == here =>
                {
                    self.transcript.begin_with(known, *entries);
                    scanner.go_on_at(known.entry(*entries - 1).span().end);
                    Ok(())
                }
                Some(Known::Anywhere(known, kept))
                    if kept.as_slice().first().is_some_and(|kept| kept.start == here) =>
                {
                    let entry = kept.next().expect("it is the first of them").entry as usize;
                    match self.transcript.take_over(known, entry, here) {
                        Some(end) => scanner.go_on_at(end),
                        None => self.entry(scanner)?,
                    }
                    Ok(())
                }
                _ => self.entry(scanner),
            }
        })
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

/// The id of the earlier history at its keeper; `None` if there is none.
fn kept_by(keeper: Keeper, text: &str, value: Span) -> Option<Span> {
    match keeper {
        // A thread that is only created has none yet.
        Keeper::Thread => json::member(text, value, "previous_message_id"),
        _ => (value.of(text) != "null").then_some(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lists_of_messages_are_refused() {
        let said = r#"{"role":"user","content":"x"}"#;
        let body = format!(r#"{{"messages":[{said}],"model":"m","messages":[{said}]}}"#);
        let refused = parse(Format::OpenaiChat, Arc::new(body)).expect_err("two lists");
        assert_eq!(
            refused.to_string(),
            "not openai-chat messages: the list of messages is there twice"
        );
        let body = format!(r#"{{"messages":null,"messages":[{said}]}}"#);
        assert!(parse(Format::OpenaiChat, Arc::new(body)).is_ok(), "null is none");
    }
}
