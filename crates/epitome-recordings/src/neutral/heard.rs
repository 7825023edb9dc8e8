//! What a view's entries say: the parts that the core has read, whatever their format, as messages.

use std::borrow::Cow;
use std::collections::HashMap;

use epitome::transcript::{Entry, Marks, Part, PartKind, Role};
use epitome::wire::json::{Span, quote, unquote};
use epitome::wire::{Format, Request};

use super::gemini::UNSIGNED;
use super::message::{ATTACHED, Answer, Call, Media, Message, Piece, Raw, Reasoning, answer};
use super::openai_chat::taken_back;
use crate::object::Object;

/// What the entries of a request say: what [`write`](super::write) would write as these.
pub(crate) fn heard(request: &Request) -> Vec<Message<'_>> {
    let (format, source) = (request.format, request.source());
    let mut hearing = Hearing { format, source, calls: HashMap::new(), messages: Vec::new() };
    for entry in request.transcript.entries() {
        match entry.role() {
            Role::Assistant => hearing.reply(entry),
            Role::User | Role::Tool => hearing.told(entry),
            // It is the frame's.
            Role::System | Role::Developer | Role::Other => {}
        }
    }
    hearing.messages
}

struct Hearing<'a> {
    format: Format,
    source: &'a str,
    /// Calls by the ids that results have: the call's own id, which may say more, and its tool; literals.
    calls: HashMap<Cow<'a, str>, [Raw<'a>; 2]>,
    messages: Vec<Message<'a>>,
}

impl<'a> Hearing<'a> {
    fn reply(&mut self, entry: Entry<'a>) {
        let mut said = Vec::new();
        if self.format == Format::OpenaiChat {
            said.extend(taken_back(&Object::of(entry.raw())).map(Piece::Reasoning));
        }
        for part in entry.parts() {
            match part.kind() {
                PartKind::Call => said.extend(self.call(entry, &part).map(Piece::Call)),
                PartKind::Reasoning if is_seal(&part) => {
                    let signature = Some(part.raw()).filter(|signature| *signature != UNSIGNED);
                    if let Some(Piece::Call(call)) = said.last_mut() {
                        call.signature = signature.map(Raw::Borrowed);
                    }
                }
                PartKind::Reasoning => {
                    said.extend(self.reasoning(entry, &part).map(Piece::Reasoning));
                }
                _ => said.extend(self.shown(&part)),
            }
        }
        match self.messages.last_mut() {
            // Items of one reply follow each other.
            Some(Message::Model(before, _)) if self.format == Format::OpenaiResponses => {
                before.append(&mut said);
            }
            _ => self.messages.push(Message::Model(said, None)),
        }
    }

    fn reasoning(&self, entry: Entry<'a>, part: &Part<'a>) -> Option<Reasoning<'a>> {
        let block = match self.format {
            Format::OpenaiChat => return None,
            Format::OpenaiResponses => {
                let item = quote(&Object::of(entry.raw()).whole());
                let signature = Some(item.into());
                return Some(Reasoning { text: "\"\"".into(), signature, is_redacted: false });
            }
            _ => Object::of(part.raw()),
        };
        let literal = |names: [&str; 2]| names.into_iter().find_map(|name| block.literal(name));
        let is_redacted = block.says("type", "redacted_thinking");
        let signature = if is_redacted { ["data"; 2] } else { ["signature", "thoughtSignature"] };
        Some(Reasoning {
            text: literal(["thinking", "text"]).unwrap_or("\"\"").into(),
            signature: literal(signature).map(Raw::Borrowed),
            is_redacted,
        })
    }

    fn call(&mut self, entry: Entry<'a>, part: &Part<'a>) -> Option<Call<'a>> {
        let name: Raw<'a> = self.literal(part.row().name)?.into();
        let mut id: Raw<'a> = self.literal(part.row().id).unwrap_or("\"\"").into();
        if let Some(item) = entry.parts().find(|part| part.kind() == PartKind::Link) {
            id = quote(&format!("{}|{}", part.id(), item.text())).into();
        }
        self.calls.insert(part.id(), [id.clone(), name.clone()]);
        let arguments = Some(part.text()).filter(|text| !text.is_empty());
        Some(Call { id, name, arguments: arguments.unwrap_or("{}".into()), signature: None })
    }

    /// A message to the model: results, and what is said to it.
    fn told(&mut self, entry: Entry<'a>) {
        let (mut answers, mut said): (Vec<Answer<'a>>, Vec<Piece<'a>>) = (Vec::new(), Vec::new());
        for part in entry.parts() {
            if part.kind() == PartKind::Result && !part.is(Marks::SERVER) {
                answers.push(self.answer(&part));
                continue;
            }
            let Some(piece) = self.shown(&part) else { continue };
            // What a result of Gemini's shows stands behind it.
            let is_behind = self.format == Format::Gemini && matches!(piece, Piece::Media(_));
            match answers.last_mut() {
                Some(answer) if is_behind || part.is(Marks::NESTED) => answer.content.push(piece),
                _ => said.push(piece),
            }
        }
        let is_attached = self.format == Format::OpenaiChat
            && matches!(said.first(), Some(Piece::Text(text)) if unquote(text) == ATTACHED);
        for one in answers {
            answer(&mut self.messages, one);
        }
        if let (true, Some(Message::Results(before))) = (is_attached, self.messages.last_mut()) {
            let last = before.last_mut().expect("there are results");
            last.content.extend(said.drain(..).skip(1));
        }
        if !said.is_empty() {
            self.messages.push(Message::user(said, Some(entry.origin())));
        }
    }

    fn answer(&self, part: &Part<'a>) -> Answer<'a> {
        let own = |span| self.literal(span).unwrap_or("\"\"").into();
        let known = self.calls.get(&part.id()).cloned();
        let [id, name] = known.unwrap_or_else(|| [own(part.row().id), own(part.row().name)]);
        let text = part.is(Marks::LITERAL).then(|| Piece::Text(part.raw_body().into()));
        Answer { id, name, content: text.into_iter().collect(), is_error: part.is(Marks::ERROR) }
    }

    /// A text or a medium.
    fn shown(&self, part: &Part<'a>) -> Option<Piece<'a>> {
        match part.kind() {
            PartKind::Text => Some(Piece::Text(part.raw_body().into())),
            PartKind::Media => self.medium(part).map(Piece::Media),
            _ => None,
        }
    }

    fn medium(&self, part: &Part<'a>) -> Option<Media<'a>> {
        let holder = Object::of(part.raw_body());
        let address = ["url", "file_data"].into_iter().find_map(|name| holder.literal(name));
        Media::in_address(address.unwrap_or(part.raw_body())).or_else(|| {
            let media_type = self.literal(part.row().name).filter(|_| part.name().contains('/'))?;
            Some(Media {
                media_type: media_type.into(),
                data: self.literal(part.row().body)?.into(),
            })
        })
    }

    fn literal(&self, span: Span) -> Option<&'a str> {
        Some(span.of(self.source)).filter(|raw| raw.starts_with('"'))
    }
}

/// Whether it is Gemini's signature of what stands before it.
fn is_seal(part: &Part<'_>) -> bool {
    part.raw().starts_with('"') && part.is(Marks::SIGNED) && !part.is(Marks::LITERAL)
}
