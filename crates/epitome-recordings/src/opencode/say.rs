//! Messages to what the provider is sent.

use epitome::transcript::Origin;
use epitome::wire::Format;
use epitome::wire::json::quote;

use super::history::Message as Recorded;
use super::model::Model;
use crate::body::moment;
use crate::neutral::{Answer, Call, Media, Message, Piece, Raw, Reasoning, Spoken};
use crate::notes::{About, Notes};
use crate::object::Object;
use crate::recording::Why;
use crate::usage::{Counted, Names, Usage};

/// What the agent says where a compaction took place.
const COMPACTED: &str = "What did we do so far?";
/// What it says before a command's own task.
const SUBTASK: &str = "The following tool was executed by the user";
/// What it says instead of a result that it cleared.
const CLEARED: &str = "[Old tool result content cleared]";
/// What it says of a call that was broken off.
const INTERRUPTED: &str = "[Tool execution was interrupted]";

/// What was said so far.
pub(super) struct Speech<'r, 'a> {
    model: &'r Model<'a>,
    notes: &'r mut Notes,
    messages: Vec<Message<'a>>,
    /// When each of them was said.
    times: Vec<Option<u64>>,
}

impl<'r, 'a> Speech<'r, 'a> {
    pub(super) fn new(model: &'r Model<'a>, notes: &'r mut Notes) -> Self {
        Speech { model, notes, messages: Vec::new(), times: Vec::new() }
    }

    pub(super) fn message(&mut self, message: &Recorded<'a>) {
        match message.info.text("role").unwrap_or_default().as_ref() {
            "user" => self.user(message),
            "assistant" => self.reply(message),
            role => self.notes.unknown(message.row, &format!("message of {role}")),
        }
        let time = moment(message.info.object("time").get("created"));
        self.times.resize(self.messages.len(), time);
    }

    fn user(&mut self, message: &Recorded<'a>) {
        let mut spoken = Vec::new();
        // Of a text, and of an agent that is called, it says the words beside.
        let is_worded =
            message.parts.iter().any(|part| part.says("type", "text") && part.holds("synthetic"));
        for part in &message.parts {
            let injected = |text: &str| Spoken {
                piece: Piece::Text(quote(text).into()),
                origin: Some(Origin::Injected),
            };
            match part.text("type").unwrap_or_default().as_ref() {
                "text" if part.holds("ignored") => {}
                "text" => spoken.extend(part.literal("text").map(|text| Spoken {
                    piece: Piece::Text(text.into()),
                    origin: Some(if part.holds("synthetic") {
                        Origin::Injected
                    } else {
                        Origin::Human
                    }),
                })),
                "file" if is_text(part) && is_worded => {}
                "file" => spoken.extend(self.file(message.row, part)),
                "agent" if !is_worded => {
                    self.notes.take(message.row, About::Unworded { kind: "agent".to_owned() });
                }
                "compaction" => spoken.push(injected(COMPACTED)),
                "subtask" => spoken.push(injected(SUBTASK)),
                kind => self.other(message.row, kind),
            }
        }
        if spoken.is_empty() {
            return self.notes.skip(message.row, Why::NoContent);
        }
        self.messages.push(Message::User(spoken));
    }

    /// A file that a person put beside the words.
    fn file(&mut self, row: usize, part: &Object<'a>) -> Option<Spoken<'a>> {
        let media = part.literal("url").and_then(Media::in_address);
        let Some(media) = media.filter(|_| !is_text(part)) else {
            self.notes.take(row, About::Unworded { kind: "a file beside the words".to_owned() });
            return None;
        };
        Some(Spoken { piece: Piece::Media(media), origin: Some(Origin::Human) })
    }

    fn reply(&mut self, message: &Recorded<'a>) {
        let error = message.info.object("error");
        let says =
            |part: &Object<'a>| !part.says("type", "step-start") && !part.says("type", "reasoning");
        let was_aborted = error.says("name", "MessageAbortedError");
        let says_something = was_aborted && message.parts.iter().any(says);
        if !error.is_empty() && !says_something {
            let why = if was_aborted { Why::BrokenOff } else { Why::ApiError };
            return self.notes.skip(message.row, why);
        }
        let is_own = self.model.is_of(&message.info);
        let last_step = message.parts.iter().rposition(|part| part.says("type", "step-finish"));
        let model = message.info.literal("modelID");
        let usage = |raw: &str| usage(raw).map(|usage| usage.by(model));
        let mut step = Step::default();
        for (at, part) in message.parts.iter().enumerate() {
            match part.text("type").unwrap_or_default().as_ref() {
                "step-start" => self.end(&mut step),
                "text" => {
                    step.pieces.extend(part.literal("text").map(|text| Piece::Text(text.into())));
                }
                "reasoning" => self.reasoning(message.row, part, is_own, &mut step),
                "tool" => self.tool(message.row, part, is_own, &mut step),
                "step-finish" => {
                    let tokens = part.get("tokens").or_else(|| message.info.get("tokens"));
                    step.usage = tokens.and_then(usage);
                    if Some(at) != last_step {
                        self.end(&mut step);
                    }
                }
                kind => self.other(message.row, kind),
            }
        }
        step.usage = step.usage.or_else(|| message.info.get("tokens").and_then(usage));
        self.end(&mut step);
    }

    fn reasoning(&mut self, row: usize, part: &Object<'a>, is_own: bool, step: &mut Step<'a>) {
        let Some(text) = part.literal("text") else { return };
        if !is_own {
            return self.notes.take(row, About::ForeignReasoning);
        }
        let metadata = part.object("metadata");
        let literal = |maker, name| metadata.object(maker).literal(name).map(Raw::Borrowed);
        let mut is_redacted = false;
        let signature = match self.model.format() {
            Format::OpenaiResponses => item(text, &metadata.object("openai")),
            Format::Gemini => literal("google", "thoughtSignature"),
            Format::Anthropic => {
                let redacted = literal("anthropic", "redactedData");
                is_redacted = redacted.is_some();
                redacted.or_else(|| literal("anthropic", "signature"))
            }
            _ => None,
        };
        if signature.is_none() && self.model.format() == Format::Anthropic {
            // The client doesn't send it without one.
            return self.notes.take(row, About::UnsentReasoning);
        }
        step.pieces.push(Piece::Reasoning(Reasoning { text: text.into(), signature, is_redacted }));
    }

    fn tool(&mut self, row: usize, part: &Object<'a>, is_own: bool, step: &mut Step<'a>) {
        let (Some(id), Some(name)) = (part.literal("callID"), part.literal("tool")) else {
            return self.notes.skip(row, Why::NoMessage);
        };
        let state = part.object("state");
        let arguments = state.get("input").filter(|input| input.starts_with('{')).unwrap_or("{}");
        let signature = part.object("metadata").object("google").literal("thoughtSignature");
        step.pieces.push(Piece::Call(Call {
            id: id.into(),
            name: name.into(),
            arguments: tight(arguments).into(),
            signature: signature.filter(|_| is_own).map(Raw::Borrowed),
        }));
        let (content, is_error) = self.outcome(row, &state);
        step.answers.push(Answer { id: id.into(), name: name.into(), content, is_error });
    }

    /// What a call brought.
    fn outcome(&mut self, row: usize, state: &Object<'a>) -> (Vec<Piece<'a>>, bool) {
        let text = |literal: Option<&'a str>| vec![Piece::Text(literal.unwrap_or("\"\"").into())];
        let made_up = |words: &str| vec![Piece::Text(quote(words).into())];
        match state.text("status").unwrap_or_default().as_ref() {
            "completed" if state.object("time").get("compacted").is_some() => {
                self.notes.take(row, About::ShortenedResult);
                (made_up(CLEARED), false)
            }
            "completed" => {
                let mut content = text(state.literal("output"));
                for raw in state.list("attachments").unwrap_or_default() {
                    let file = Object::of(raw);
                    let media = file.literal("url").and_then(Media::in_address);
                    content.extend(media.map(Piece::Media));
                }
                (content, false)
            }
            "error" => {
                let metadata = state.object("metadata");
                match metadata.literal("output").filter(|_| metadata.holds("interrupted")) {
                    Some(output) => (text(Some(output)), false),
                    None => (text(state.literal("error")), true),
                }
            }
            _ => (made_up(INTERRUPTED), true),
        }
    }

    /// Ends a step: the model's words, and the results of its calls.
    fn end(&mut self, step: &mut Step<'a>) {
        let Step { pieces, answers, usage } = std::mem::take(step);
        if !pieces.is_empty() {
            self.messages.push(Message::Model(pieces, usage));
        }
        if !answers.is_empty() {
            self.messages.push(Message::Results(answers));
        }
    }

    /// Parts that the model sees nothing of, and those that aren't known.
    fn other(&mut self, row: usize, kind: &str) {
        if !["snapshot", "patch", "agent", "retry", "step-start", "step-finish"].contains(&kind) {
            self.notes.unknown(row, kind);
        }
    }

    pub(super) fn finish(self) -> (Vec<Message<'a>>, Vec<Option<u64>>) {
        (self.messages, self.times)
    }
}

/// Whether a file beside the words is one that the agent reads itself.
fn is_text(file: &Object<'_>) -> bool {
    file.says("mime", "text/plain") || file.says("mime", "application/x-directory")
}

/// One call of the model's, with what its own calls brought.
#[derive(Default)]
struct Step<'a> {
    pieces: Vec<Piece<'a>>,
    answers: Vec<Answer<'a>>,
    usage: Option<Counted<'a>>,
}

/// The item that OpenAI's Responses take back, if its members are there.
fn item<'a>(text: &str, openai: &Object<'a>) -> Option<Raw<'a>> {
    openai.get("reasoningEncryptedContent").or(openai.get("itemId"))?;
    let member = |name: &str, from: &str| {
        openai.literal(from).map_or_else(String::new, |value| format!(",\"{name}\":{value}"))
    };
    let summary = match text {
        "\"\"" => String::new(),
        text => format!("{{\"type\":\"summary_text\",\"text\":{text}}}"),
    };
    let (id, sealed) =
        (member("id", "itemId"), member("encrypted_content", "reasoningEncryptedContent"));
    let item = format!("{{\"type\":\"reasoning\"{id},\"summary\":[{summary}]{sealed}}}");
    Some(Raw::Owned(quote(&item)))
}

/// The counts, with those of the cache apart.
fn usage(raw: &str) -> Option<Usage> {
    let cache =
        Object::of(raw).get("cache").and_then(|raw| Usage::read(raw, Names::OPENCODE_CACHE));
    let usage = Usage::read(raw, Names::OPENCODE);
    let Usage { cache_read, cache_write, .. } = cache.unwrap_or_default();
    let all = Usage { cache_read, cache_write, ..usage.unwrap_or_default() };
    (all != Usage::default()).then_some(all)
}

/// JSON without blanks between its tokens: an export has indents that weren't sent.
fn tight(json: &str) -> String {
    let mut tight = String::with_capacity(json.len());
    let (mut is_text, mut is_escaped) = (false, false);
    for c in json.chars() {
        if is_text || !c.is_ascii_whitespace() {
            tight.push(c);
        }
        is_text ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
    }
    tight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_the_cache_stand_apart() {
        let raw = r#"{"total":10,"input":1,"output":2,"reasoning":3,"cache":{"write":4,"read":5}}"#;
        let all = Usage { input: 1, cache_read: 5, cache_write: 4, output: 5, ..Usage::default() };
        assert_eq!(usage(raw), Some(all));
        assert_eq!(usage(r#"{"input":0,"output":0,"cache":{"read":0}}"#), None);
    }
}
