//! Events to messages, in the words in which the agent sends them.

use epitome::transcript::Origin;
use epitome::wire::Format;
use epitome::wire::json::quote;

use super::event::{Events, What};
use super::view::Seen;
use crate::neutral::{
    Answer, Call, Frame, Media, Message, Piece, Raw, Reasoning, Spoken, Tool, answer,
};
use crate::notes::{About, Notes};
use crate::object::{Object, joined};
use crate::recording::Why;

/// What the agent says before a result that is an error.
const FAILED: &str = "[An error occurred during execution.]";

/// What was said so far.
pub(super) struct Speech<'r, 'a> {
    format: Format,
    notes: &'r mut Notes,
    frame: Frame<'a>,
    messages: Vec<Message<'a>>,
    /// The reply that the newest calls are from.
    reply: Option<&'a str>,
}

impl<'r, 'a> Speech<'r, 'a> {
    pub(super) fn new(format: Format, notes: &'r mut Notes) -> Self {
        let frame = Frame::default();
        Speech { format, notes, frame, messages: Vec::new(), reply: None }
    }

    pub(super) fn seen(&mut self, events: &Events<'a>, seen: Seen) {
        let place = match seen {
            Seen::Event(place) => place,
            Seen::Summary(place) => {
                let summary = events.all[place].fields.literal("summary");
                let piece = Piece::Text(summary.unwrap_or("\"\"").into());
                return self.user(vec![Spoken { piece, origin: Some(Origin::Injected) }]);
            }
        };
        let event = &events.all[place];
        let (row, fields) = (event.row, &event.fields);
        match event.what {
            What::System => self.system(row, fields),
            What::Message => self.message(row, fields),
            What::Action => self.action(row, fields),
            What::Observation => {
                let (content, is_error) = observed(&fields.object("observation"));
                let content = content.into_iter().chain(texts(fields, "extended_content"));
                self.answer(row, fields, content.collect(), is_error);
            }
            What::Rejection => {
                let reason = fields.literal("rejection_reason").unwrap_or("\"\"");
                let text = joined(["\"Action rejected: \"", reason]);
                self.answer(row, fields, vec![Piece::Text(text.into())], false);
            }
            What::Error => {
                let text = fields.literal("error").unwrap_or("\"\"");
                self.answer(row, fields, vec![Piece::Text(text.into())], true);
            }
            What::Condensation | What::Link => {}
        }
    }

    /// Sets the time of the last event.
    pub(super) fn timed(&mut self, time: Option<u64>) {
        self.frame.times.resize(self.messages.len(), time);
    }

    fn system(&mut self, row: usize, fields: &Object<'a>) {
        let prompt = fields.object("system_prompt").literal("text");
        let more = fields.object("dynamic_context").literal("text");
        self.frame.system = match (prompt, more) {
            (Some(prompt), Some(more)) => Some(joined([prompt, "\"\\n\"", more]).into()),
            (prompt, more) => prompt.or(more).map(Raw::Borrowed),
        };
        let tools = fields.list("tools").unwrap_or_default();
        self.frame.tools = tools.into_iter().filter_map(|raw| tool(&Object::of(raw))).collect();
        if self.frame.tools.iter().any(|tool| tool.parameters == NO_SCHEMA) {
            self.notes.take(row, About::Unworded { kind: "the tools' parameters".to_owned() });
        }
    }

    fn message(&mut self, row: usize, fields: &Object<'a>) {
        let message = fields.object("llm_message");
        let content = pieces(&message);
        if message.says("role", "assistant") {
            let mut said = self.reasoning(row, &message);
            said.extend(content);
            return self.model(said, None);
        }
        let speaker = if fields.says("source", "user") { Origin::Human } else { Origin::Injected };
        let spoken = content.into_iter().map(|piece| Spoken { piece, origin: Some(speaker) });
        let more = texts(fields, "extended_content").into_iter();
        let more = more.map(|piece| Spoken { piece, origin: Some(Origin::Injected) });
        let spoken: Vec<Spoken<'a>> = spoken.chain(more).collect();
        if spoken.is_empty() {
            return self.notes.skip(row, Why::NoContent);
        }
        self.user(spoken);
    }

    /// Appends to the user's side; the agent sends its messages in a row as one.
    fn user(&mut self, spoken: Vec<Spoken<'a>>) {
        self.reply = None;
        match self.messages.last_mut() {
            Some(Message::User(before)) => before.extend(spoken),
            _ => self.messages.push(Message::User(spoken)),
        }
    }

    fn action(&mut self, row: usize, fields: &Object<'a>) {
        let call = fields.object("tool_call");
        let name = call.literal("name").or_else(|| fields.literal("tool_name"));
        let id = call.literal("id").or_else(|| fields.literal("tool_call_id"));
        let (Some(id), Some(name)) = (id, name) else {
            return self.notes.skip(row, Why::NoMessage);
        };
        let mut said = self.reasoning(row, fields);
        said.extend(texts(fields, "thought"));
        // Kept as the model wrote them, which may be no object where the format has them as text.
        let text = call.text("arguments").unwrap_or_default();
        let may_be_any = matches!(self.format, Format::OpenaiChat | Format::OpenaiResponses);
        let is_object = Object::read(&text).is_ok_and(|object| object.is_some());
        let arguments = if may_be_any || is_object { text } else { Raw::Borrowed("{}") };
        said.push(Piece::Call(Call {
            id: id.into(),
            name: name.into(),
            arguments,
            signature: None,
        }));
        self.model(said, fields.literal("llm_response_id"));
    }

    /// Appends to the model's side; calls of one reply are one message.
    fn model(&mut self, said: Vec<Piece<'a>>, reply: Option<&'a str>) {
        let is_same = reply.is_some() && self.reply == reply;
        self.reply = reply;
        match self.messages.last_mut() {
            Some(Message::Model(before, _)) if is_same => before.extend(said),
            _ => self.messages.push(Message::Model(said, None)),
        }
    }

    /// Reasoning as the format takes it back; what it doesn't take is noted.
    fn reasoning(&mut self, row: usize, fields: &Object<'a>) -> Vec<Piece<'a>> {
        let mut said = Vec::new();
        if self.format == Format::Anthropic {
            for raw in fields.list("thinking_blocks").unwrap_or_default() {
                let block = Object::of(raw);
                let is_redacted = block.get("data").is_some();
                let text = block.literal("thinking").unwrap_or("\"\"").into();
                let signature = block.literal(if is_redacted { "data" } else { "signature" });
                let signature = signature.map(Raw::Borrowed);
                said.push(Piece::Reasoning(Reasoning { text, signature, is_redacted }));
            }
        }
        if let (Format::OpenaiResponses, Some(item)) =
            (self.format, fields.get("responses_reasoning_item"))
        {
            let signature = item_of(&Object::of(item));
            let text = "\"\"".into();
            let signature = Some(quote(&signature).into());
            said.push(Piece::Reasoning(Reasoning { text, signature, is_redacted: false }));
        }
        let is_lost = fields.literal("reasoning_content").is_some_and(|text| text != "\"\"");
        if said.is_empty() && is_lost {
            self.notes.take(row, About::UnsentReasoning);
        }
        said
    }

    fn answer(&mut self, row: usize, fields: &Object<'a>, content: Vec<Piece<'a>>, is_error: bool) {
        let Some(id) = fields.literal("tool_call_id") else {
            return self.notes.skip(row, Why::NoMessage);
        };
        let name = fields.literal("tool_name").unwrap_or("\"\"").into();
        answer(&mut self.messages, Answer { id: id.into(), name, content, is_error });
    }

    pub(super) fn finish(self) -> (Format, Frame<'a>, Vec<Message<'a>>) {
        (self.format, self.frame, self.messages)
    }
}

/// The pieces of a message's content: texts, and images by their addresses.
fn pieces<'a>(message: &Object<'a>) -> Vec<Piece<'a>> {
    let Some(blocks) = message.list("content") else {
        return message
            .literal("content")
            .map(|text| Piece::Text(text.into()))
            .into_iter()
            .collect();
    };
    blocks.into_iter().flat_map(|raw| block(&Object::of(raw))).collect()
}

fn block<'a>(block: &Object<'a>) -> Vec<Piece<'a>> {
    if let Some(text) = block.literal("text") {
        return vec![Piece::Text(text.into())];
    }
    let addresses = block.list("image_urls").unwrap_or_default();
    addresses.into_iter().filter_map(Media::in_address).map(Piece::Media).collect()
}

/// The texts of a list of blocks.
fn texts<'a>(fields: &Object<'a>, name: &str) -> Vec<Piece<'a>> {
    let blocks = fields.list(name).unwrap_or_default();
    blocks.into_iter().flat_map(|raw| block(&Object::of(raw))).collect()
}

/// What a tool's observation tells the model, and whether it failed.
fn observed<'a>(observation: &Object<'a>) -> (Vec<Piece<'a>>, bool) {
    let mut content = pieces(observation);
    let metadata = observation.object("metadata");
    if let ([Piece::Text(output)], Some(_)) = (content.as_slice(), metadata.get("exit_code")) {
        let text = ended(output, &metadata);
        content = vec![Piece::Text(text.into())];
    }
    let is_error = observation.holds("is_error");
    if is_error {
        content.insert(0, Piece::Text(quote(FAILED).into()));
    }
    (content, is_error)
}

/// A command's output, with what the agent adds to it.
fn ended(output: &str, metadata: &Object<'_>) -> String {
    let part = |name: &str| metadata.literal(name).unwrap_or("\"\"");
    let mut pieces = vec![part("prefix"), output, part("suffix")];
    if let Some(folder) = metadata.literal("working_dir").filter(|folder| *folder != "\"\"") {
        pieces.extend(["\"\\n[Current working directory: \"", folder, "\"]\""]);
    }
    if let Some(python) = metadata.literal("py_interpreter_path").filter(|path| *path != "\"\"") {
        pieces.extend(["\"\\n[Python interpreter: \"", python, "\"]\""]);
    }
    let code;
    if let Some(exit) = metadata.get("exit_code").filter(|exit| *exit != "-1") {
        code = quote(&format!("\n[Command finished with exit code {exit}]"));
        pieces.push(&code);
    }
    joined(pieces)
}

/// What stands for a schema that isn't recorded.
const NO_SCHEMA: &str = "{\"type\":\"object\"}";

fn tool<'a>(fields: &Object<'a>) -> Option<Tool<'a>> {
    let function = fields.object("function");
    if !function.is_empty() {
        return Some(Tool {
            name: function.literal("name")?.into(),
            description: function.literal("description").map(Into::into),
            parameters: function.get("parameters").unwrap_or(NO_SCHEMA).into(),
        });
    }
    Some(Tool {
        name: fields.literal("title").or_else(|| fields.literal("name"))?.into(),
        description: fields.literal("description").map(Into::into),
        parameters: NO_SCHEMA.into(),
    })
}

/// The reasoning item as the provider takes it back.
fn item_of(item: &Object<'_>) -> String {
    let text = |list: &str, kind: &str| {
        let texts = item.list(list).unwrap_or_default();
        let texts: Vec<String> =
            texts.iter().map(|text| format!("{{\"type\":\"{kind}\",\"text\":{text}}}")).collect();
        texts.join(",")
    };
    let member = |name: &str| {
        item.literal(name).map_or_else(String::new, |value| format!(",\"{name}\":{value}"))
    };
    format!(
        "{{\"type\":\"reasoning\"{},\"summary\":[{}]{}}}",
        member("id"),
        text("summary", "summary_text"),
        member("encrypted_content")
    )
}
