//! Rows to messages, in the words in which the agent sends them.

use std::collections::{HashMap, HashSet};

use epitome::transcript::Origin;
use epitome::wire::json::quote;

use super::model::Model;
use super::prompt::Prompt;
use super::row::{Rows, What};
use crate::neutral::{Answer, Call, Frame, Media, Message, Piece, Raw, Reasoning, answer};
use crate::notes::{About, Notes};
use crate::object::{Object, elements, joined};
use crate::recording::Why;
use crate::usage::{Names, Usage};

/// How the agent announces what a compaction left.
pub(super) const COMPACTED: [&str; 2] = [
    "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
    "\n</summary>",
];
/// How it announces what was done on a branch that was left.
const BRANCH: [&str; 2] = [
    "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
    "</summary>",
];
/// What it says of a call that was never answered.
const UNANSWERED: &str = "No result provided";

/// What was said so far.
pub(super) struct Speech<'r, 'a> {
    rows: &'r Rows<'a>,
    model: &'r Model<'a>,
    notes: &'r mut Notes,
    prompt: Prompt<'a>,
    messages: Vec<Message<'a>>,
    /// When each of them was said.
    times: Vec<Option<u64>>,
    /// Calls of the newest reply that have no result yet, and their tools, as literals.
    open: Vec<(&'a str, &'a str)>,
    /// Calls that were left out with their reply.
    gone: HashSet<&'a str>,
    /// For a row, the newest edit of it.
    edits: HashMap<&'a str, Option<&'a str>>,
}

impl<'r, 'a> Speech<'r, 'a> {
    pub(super) fn new(rows: &'r Rows<'a>, model: &'r Model<'a>, notes: &'r mut Notes) -> Self {
        Speech {
            rows,
            model,
            notes,
            prompt: Prompt::default(),
            messages: Vec::new(),
            times: Vec::new(),
            open: Vec::new(),
            gone: HashSet::new(),
            edits: HashMap::new(),
        }
    }

    /// Learns of edits; they may stand behind what they change.
    pub(super) fn edits(&mut self, context: &[usize]) {
        for row in context.iter().map(|place| &self.rows.all[*place]) {
            if let (What::ContextEdit, Some(target)) = (row.what, row.fields.literal("targetId")) {
                self.edits.insert(target, row.fields.object("replacement").get("content"));
            }
        }
    }

    pub(super) fn row(&mut self, place: usize) {
        let row = &self.rows.all[place];
        let edit = row.id.and_then(|id| self.edits.get(id)).copied();
        if edit == Some(None) {
            return;
        }
        let content = edit.flatten();
        let fields = &row.fields;
        match row.what {
            What::Message => self.message(row.line, &fields.object("message"), content),
            What::CustomMessage => self.put_in(row.line, content.or_else(|| fields.get("content"))),
            What::Compaction => {
                let prompt = fields.object("systemMessage");
                if !prompt.is_empty() {
                    self.prompt.restart(&prompt);
                }
                self.summary(COMPACTED, fields);
            }
            What::BranchSummary => self.summary(BRANCH, fields),
            What::Header | What::ContextEdit | What::ModelChange | What::Link => {}
        }
    }

    /// Sets the time of the newest row.
    pub(super) fn timed(&mut self, time: Option<u64>) {
        self.times.resize(self.messages.len(), time);
    }

    fn message(&mut self, line: usize, message: &Object<'a>, edit: Option<&'a str>) {
        if message.is_empty() {
            return;
        }
        let content = edit.or_else(|| message.get("content"));
        match message.text("role").unwrap_or_default().as_ref() {
            "system" => self.prompt.change(message),
            "user" => {
                let pieces = self.pieces(line, content);
                self.user(line, pieces, None);
            }
            "assistant" => self.reply(line, message, content),
            "toolResult" => self.result(line, message, content),
            "bashExecution" if message.holds("excludeFromContext") => {}
            "bashExecution" => {
                let said = Piece::Text(execution(message).into());
                self.user(line, vec![said], Some(Origin::Injected));
            }
            "custom" | "hookMessage" => self.put_in(line, content),
            "branchSummary" => self.summary(BRANCH, message),
            "compactionSummary" => self.summary(COMPACTED, message),
            role => self.notes.unknown(line, &format!("message of {role}")),
        }
    }

    fn user(&mut self, line: usize, pieces: Vec<Piece<'a>>, origin: Option<Origin>) {
        self.close();
        if pieces.is_empty() {
            return self.notes.skip(line, Why::NoContent);
        }
        self.messages.push(Message::user(pieces, origin));
    }

    fn put_in(&mut self, line: usize, content: Option<&'a str>) {
        let pieces = self.pieces(line, content);
        self.user(line, pieces, Some(Origin::Injected));
    }

    fn summary(&mut self, [before, after]: [&str; 2], fields: &Object<'a>) {
        let Some(summary) = fields.literal("summary").filter(|summary| *summary != "\"\"") else {
            return;
        };
        self.close();
        let text = joined([quote(before).as_str(), summary, quote(after).as_str()]);
        let piece = Piece::Text(text.into());
        self.messages.push(Message::user([piece], Some(Origin::Injected)));
    }

    fn reply(&mut self, line: usize, message: &Object<'a>, content: Option<&'a str>) {
        self.close();
        let pieces = self.pieces(line, content);
        let calls = pieces.iter().filter_map(|piece| match piece {
            Piece::Call(Call { id: Raw::Borrowed(id), name: Raw::Borrowed(name), .. }) => {
                Some((*id, *name))
            }
            _ => None,
        });
        let calls: Vec<(&'a str, &'a str)> = calls.collect();
        if message.says("stopReason", "aborted") || message.says("stopReason", "error") {
            self.gone.extend(calls.into_iter().map(|(id, _)| id));
            return self.notes.skip(line, Why::BrokenOff);
        }
        let is_own = self.model.is_of(message);
        let mut kept = Vec::with_capacity(pieces.len());
        for piece in pieces {
            match piece {
                Piece::Reasoning(_) if !is_own => self.notes.take(line, About::ForeignReasoning),
                Piece::Call(call) if !is_own => {
                    kept.push(Piece::Call(Call { signature: None, ..call }));
                }
                piece => kept.push(piece),
            }
        }
        self.open = calls;
        let usage = message.get("usage").and_then(|usage| Usage::read(usage, Names::PI));
        let model = message.literal("model");
        self.messages.push(Message::Model(kept, usage.map(|usage| usage.by(model))));
    }

    fn result(&mut self, line: usize, message: &Object<'a>, content: Option<&'a str>) {
        let Some(id) = message.literal("toolCallId") else {
            return self.notes.skip(line, Why::NoMessage);
        };
        if self.gone.contains(id) {
            return self.notes.skip(line, Why::BrokenOff);
        }
        self.open.retain(|(open, _)| *open != id);
        let content = self.pieces(line, content);
        let is_error = message.holds("isError");
        let name = message.literal("toolName").unwrap_or("\"\"").into();
        answer(&mut self.messages, Answer { id: id.into(), name, content, is_error });
    }

    /// Answers the calls that nothing has answered, since something else is said now.
    fn close(&mut self) {
        for (id, name) in std::mem::take(&mut self.open) {
            let content = vec![Piece::Text(quote(UNANSWERED).into())];
            let (id, name) = (id.into(), name.into());
            answer(&mut self.messages, Answer { id, name, content, is_error: true });
        }
    }

    /// The pieces of a content: a string, or blocks.
    fn pieces(&mut self, line: usize, content: Option<&'a str>) -> Vec<Piece<'a>> {
        let Some(content) = content else { return Vec::new() };
        if content.starts_with('"') {
            return vec![Piece::Text(content.into())];
        }
        let mut pieces = Vec::new();
        for (index, block) in elements(content).unwrap_or_default().into_iter().enumerate() {
            match piece(&Object::of(block)) {
                Some(piece) => pieces.push(piece),
                None => self.notes.skip(line, Why::NotABlock { position: index + 1 }),
            }
        }
        pieces
    }

    pub(super) fn finish(self) -> (Frame<'a>, Vec<Message<'a>>) {
        (Frame { times: self.times, ..self.prompt.frame() }, self.messages)
    }
}

fn piece<'a>(block: &Object<'a>) -> Option<Piece<'a>> {
    let literal = |name| block.literal(name).map(Raw::Borrowed);
    Some(match block.text("type")?.as_ref() {
        "text" => Piece::Text(literal("text")?),
        "thinking" => Piece::Reasoning(Reasoning {
            text: literal("thinking").unwrap_or(Raw::Borrowed("\"\"")),
            signature: literal("thinkingSignature").filter(|signature| signature != "\"\""),
            is_redacted: block.holds("redacted"),
        }),
        "toolCall" => Piece::Call(Call {
            id: literal("id")?,
            name: literal("name")?,
            arguments: block.get("arguments").filter(|a| a.starts_with('{')).unwrap_or("{}").into(),
            signature: literal("thoughtSignature"),
        }),
        "image" => Piece::Media(Media { media_type: literal("mimeType")?, data: literal("data")? }),
        _ => return None,
    })
}

/// What is said of a command that a person ran.
fn execution(message: &Object<'_>) -> String {
    let part = |name: &str| message.literal(name).unwrap_or("\"\"");
    let mut pieces = vec!["\"Ran `\"", part("command"), "\"`\\n\""];
    if part("output") == "\"\"" {
        pieces.push("\"(no output)\"");
    } else {
        pieces.extend(["\"```\\n\"", part("output"), "\"\\n```\""]);
    }
    let code;
    if message.holds("cancelled") {
        pieces.push("\"\\n\\n(command cancelled)\"");
    } else if let Some(exit) = message.get("exitCode").filter(|exit| *exit != "0") {
        code = quote(&format!("\n\nCommand exited with code {exit}"));
        pieces.push(&code);
    }
    if let (true, Some(path)) = (message.holds("truncated"), message.literal("fullOutputPath")) {
        pieces.extend(["\"\\n\\n[Output truncated. Full output: \"", path, "\"]\""]);
    }
    joined(pieces)
}
