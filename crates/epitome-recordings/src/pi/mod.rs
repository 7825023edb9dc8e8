//! pi sessions: `~/.pi/agent/sessions/*/*.jsonl`.
//!
//! A row is an entry of a tree, and the conversation is the way from the newest entry to the root.
//! (The first version of the format had no tree: there the order of the rows is all.) The agent
//! keeps messages in a form of its own and writes them for the provider of the moment, so they are
//! read as that of the newest reply. As the agent does, replies
//! that were broken off are left out, calls that were never answered get a result that says so,
//! and reasoning of another model is dropped.

mod apply;
mod path;
mod prompt;
mod row;
mod say;

use std::sync::Arc;

use epitome::wire::Format;

use crate::apply::MARK;
use crate::body::moment;
use crate::neutral::{self, Frame};
use crate::notes::Notes;
use crate::object::Object;
use crate::{Kind, Options, Reach, ReadError, Recording};
use path::follow;
use row::{Row, Rows, What};
use say::Speech;

pub(crate) use apply::{announced, applied};

const KIND: Kind = Kind::Pi;

pub(crate) fn read(source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
    let mut rows = Rows::read(source);
    let mut skipped = std::mem::take(&mut rows.skipped);
    let mut notes = std::mem::take(&mut rows.notes);
    let path = follow(&rows, options.reach);
    skipped.extend(path.skipped);
    let model = Model::of(&rows, &path.way);
    // Of a session as a whole, what was applied says nothing that wasn't said.
    let is_again = |row: &Row<'_>| options.reach == Reach::Whole && row.fields.get(MARK).is_some();
    let mut speech = Speech::new(&rows, &model, &mut skipped, &mut notes);
    speech.edits(&path.context);
    for place in path.context.iter().filter(|place| !is_again(&rows.all[**place])) {
        speech.row(*place);
        speech.timed(moment(rows.all[*place].fields.get("timestamp")));
    }
    let (frame, messages) = speech.finish();
    if messages.is_empty() {
        return Err(ReadError::NoMessages { kind: KIND, found: rows.types.into_iter().collect() });
    }
    let frame = Frame { model: model.name.map(Into::into), ..frame };
    let (request, usage) = neutral::write(model.format(), KIND, &frame, &messages)?;
    skipped.sort_by_key(|skipped| skipped.row);
    Ok(Recording {
        kind: KIND,
        request,
        usage,
        sidechains: Vec::new(),
        skipped,
        notes: Notes::finish(notes),
        compactions: path.compactions.len(),
        compacted: path.compactions,
    })
}

/// The model that the conversation is with.
#[derive(Debug, Default)]
struct Model<'a> {
    provider: Option<&'a str>,
    api: Option<&'a str>,
    name: Option<&'a str>,
}

impl<'a> Model<'a> {
    /// The model of the newest reply, whole or not; before the first one, the model that was chosen.
    fn of(rows: &Rows<'a>, way: &[usize]) -> Self {
        let mut chosen = Model::default();
        for row in way.iter().rev().map(|place| &rows.all[*place]) {
            match row.what {
                What::Message => {
                    let message = row.fields.object("message");
                    if message.says("role", "assistant") {
                        return Model::in_message(&message);
                    }
                }
                What::ModelChange if chosen.name.is_none() => chosen = Model::in_row(row),
                _ => {}
            }
        }
        let header = rows.all.iter().find(|row| row.what == What::Header);
        match (chosen.name, header) {
            (None, Some(header)) => Model::in_row(header),
            _ => chosen,
        }
    }

    fn in_message(message: &Object<'a>) -> Self {
        Model {
            provider: message.literal("provider"),
            api: message.literal("api"),
            name: message.literal("model"),
        }
    }

    fn in_row(row: &Row<'a>) -> Self {
        Model {
            provider: row.fields.literal("provider"),
            api: None,
            name: row.fields.literal("modelId"),
        }
    }

    /// Whether a reply came from this model, so that its reasoning is of use to it.
    fn is_of(&self, message: &Object<'a>) -> bool {
        let other = Model::in_message(message);
        (self.provider, self.api, self.name) == (other.provider, other.api, other.name)
    }

    /// The format in which it is spoken to.
    fn format(&self) -> Format {
        let said = |literal: Option<&'a str>| literal.unwrap_or_default().trim_matches('"');
        match said(self.api) {
            "openai-completions" | "mistral-conversations" => Format::OpenaiChat,
            "openai-responses" | "azure-openai-responses" | "openai-codex-responses" => {
                Format::OpenaiResponses
            }
            "google-generative-ai" | "google-gemini-cli" | "google-vertex" => Format::Gemini,
            _ => Format::Anthropic,
        }
    }
}
