//! A view as rows of a session: a compaction that keeps nothing before it, and behind it the messages.
//!
//! The agent shows a compaction's summary before all else and in words of its own, so that the checkpoint,
//! which has its place behind the task, is a message that was put in, and the summary a line that says so.

use std::sync::Arc;

use epitome::transcript::Origin;
use epitome::wire::json::quote;

use super::model::Model;
use super::path::follow;
use super::prompt::Prompt;
use super::row::{Rows, What};
use super::say::COMPACTED;
use super::{NAME, Pi};
use crate::append::{MARK, Shown, Stamp};
use crate::error::ApplyError;
use crate::error::ReadError;
use crate::neutral::{Message, Piece, heard};
use crate::object::object;
use crate::reader::Writer;
use crate::recording::Reach;

const SUMMARY: &str = "What was kept of it follows: messages as they were said, some of them shortened, and \
                       notes that stand for the others.";

const NOTHING_USED: &str = "{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":0,\
                            \"cost\":{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0}}";

impl Writer for Pi {
    fn rows(
        &self,
        source: &Arc<String>,
        shown: &Shown,
        stamp: &Stamp,
    ) -> Result<String, ApplyError> {
        let mut rows = Rows::read(source);
        let mut notes = std::mem::take(&mut rows.notes);
        let path = follow(&rows, Reach::SinceLastCompaction, &mut notes);
        let Some(newest) = path.way.last() else {
            return Err(ReadError::no_messages(NAME, notes).into());
        };
        let model = Model::of(&rows, &path.way);
        // The first version of the format had no ids; the agent gives all rows some when it reads them.
        let parent = rows.all[*newest].id.map(ToOwned::to_owned);
        let mut compaction =
            vec![("summary", quote(SUMMARY)), ("tokensBefore", shown.before.to_string())];
        // Nothing before it is kept.
        compaction.extend(parent.as_ref().map(|_| ("firstKeptEntryId", quote(&stamp.hex(0, 8)))));
        let mut pen = Pen { stamp, model, rows: 0, out: String::new(), parent };
        let prompt = prompt(&rows, &path.context).system_message(stamp.millis);
        compaction.extend(prompt.map(|prompt| ("systemMessage", prompt)));
        let mark = stamp.mark.clone();
        pen.row("compaction", compaction, &mark);
        for message in heard(&shown.view) {
            pen.heard(&message);
        }
        Ok(pen.out)
    }

    fn announced(&self) -> Option<String> {
        let [head, tail] = COMPACTED;
        Some(format!("{head}{SUMMARY}{tail}"))
    }
}

/// What the model is told before all messages.
fn prompt<'a>(rows: &Rows<'a>, context: &[usize]) -> Prompt<'a> {
    let mut prompt = Prompt::default();
    for row in context.iter().map(|place| &rows.all[*place]) {
        let message = row.fields.object("message");
        let system = row.fields.object("systemMessage");
        match row.what {
            What::Message if message.says("role", "system") => prompt.change(&message),
            What::Compaction if !system.is_empty() => prompt.restart(&system),
            _ => {}
        }
    }
    prompt
}

struct Pen<'a> {
    stamp: &'a Stamp,
    model: Model<'a>,
    rows: usize,
    out: String,
    /// The newest row's id, a literal; none where rows have none.
    parent: Option<String>,
}

impl Pen<'_> {
    fn row(&mut self, kind: &str, members: Vec<(&str, String)>, mark: &str) {
        let id = quote(&self.stamp.hex(self.rows, 8));
        self.rows += 1;
        let mut all = vec![("type", quote(kind))];
        if let Some(parent) = &mut self.parent {
            all.push(("id", id.clone()));
            all.push(("parentId", std::mem::replace(parent, id)));
        }
        all.push(("timestamp", quote(&self.stamp.time)));
        all.extend(members);
        all.push((MARK, mark.to_owned()));
        self.out.push_str(&object(all));
        self.out.push('\n');
    }

    fn message(&mut self, members: Vec<(&str, String)>) {
        let mut members = members;
        members.push(("timestamp", self.stamp.millis.to_string()));
        self.row("message", vec![("message", object(members))], "\"shown\"");
    }

    fn heard(&mut self, message: &Message<'_>) {
        match message {
            Message::User(spoken) => {
                let content = blocks(spoken.iter().map(|spoken| &spoken.piece));
                if spoken.iter().any(|one| one.origin == Some(Origin::Human)) {
                    self.message(vec![("role", quote("user")), ("content", content)]);
                } else {
                    let members = vec![
                        ("customType", quote("epitome")),
                        ("content", content),
                        ("display", "true".to_owned()),
                    ];
                    self.row("custom_message", members, "\"shown\"");
                }
            }
            Message::Model(pieces, _) => {
                let has_calls = pieces.iter().any(|piece| matches!(piece, Piece::Call(_)));
                let stop = if has_calls { "toolUse" } else { "stop" };
                let mut members = vec![("role", quote("assistant")), ("content", blocks(pieces))];
                let Model { api, provider, name } = &self.model;
                let model = [("api", api), ("provider", provider), ("model", name)];
                let model = model.into_iter().filter_map(|(name, value)| Some((name, (*value)?)));
                members.extend(model.map(|(name, value)| (name, value.to_owned())));
                members.push(("usage", NOTHING_USED.to_owned()));
                members.push(("stopReason", quote(stop)));
                self.message(members);
            }
            Message::Results(answers) => {
                for answer in answers {
                    self.message(vec![
                        ("role", quote("toolResult")),
                        ("toolCallId", answer.id.clone().into_owned()),
                        ("toolName", answer.name.clone().into_owned()),
                        ("content", blocks(&answer.content)),
                        ("isError", answer.is_error.to_string()),
                    ]);
                }
            }
        }
    }
}

/// Pieces as the agent keeps them.
fn blocks<'p, 'a: 'p>(pieces: impl IntoIterator<Item = &'p Piece<'a>>) -> String {
    let block = |piece: &Piece<'_>| match piece {
        Piece::Text(text) => object([("type", quote("text")), ("text", text.to_string())]),
        Piece::Reasoning(reasoning) => {
            let signature =
                reasoning.signature.as_ref().map(|s| ("thinkingSignature", s.to_string()));
            let redacted = reasoning.is_redacted.then(|| ("redacted", "true".to_owned()));
            let members = [("type", quote("thinking")), ("thinking", reasoning.text.to_string())];
            object(members.into_iter().chain(signature).chain(redacted))
        }
        Piece::Call(call) => {
            let signature = call.signature.as_ref().map(|s| ("thoughtSignature", s.to_string()));
            let members = [
                ("type", quote("toolCall")),
                ("id", call.id.to_string()),
                ("name", call.name.to_string()),
                ("arguments", call.arguments.to_string()),
            ];
            object(members.into_iter().chain(signature))
        }
        Piece::Media(media) => object([
            ("type", quote("image")),
            ("data", media.data.to_string()),
            ("mimeType", media.media_type.to_string()),
        ]),
    };
    format!("[{}]", pieces.into_iter().map(block).collect::<Vec<_>>().join(","))
}
