//! opencode sessions, as `opencode export` writes them (or as its server lists their messages).
//!
//! A message has parts; the model's hold its calls with their results, and of older versions several
//! steps. The provider isn't told by its format, but by its name and the model's, and so the format
//! is chosen. As the agent does: a compaction's summary (and the tail that it kept) stands for all
//! before it, results that were cleared say so, and a call that was broken off has an error as result.

mod history;
mod say;

use std::sync::Arc;

use epitome::json::{Scanner, unquote};
use epitome::wire::Format;

use crate::neutral::{self, Frame};
use crate::notes::Notes;
use crate::object::{Object, elements};
use crate::{Kind, Options, ReadError, Recording};
use history::History;
use say::Speech;

const KIND: Kind = Kind::Opencode;

pub(crate) fn read(source: &Arc<String>, options: Options) -> Result<Recording, ReadError> {
    let text = source.strip_prefix('\u{feff}').unwrap_or(source);
    let mut scanner = Scanner::new(text);
    let whole = scanner.value().and_then(|value| scanner.end().map(|()| value));
    let whole = whole.map_err(|error| ReadError::json(KIND, text, error))?.of(text);
    let session = Object::of(whole);
    let messages = match elements(whole) {
        Some(list) => Some(list),
        None => session.list("messages"),
    };
    let messages =
        messages.ok_or(ReadError::Shape { kind: KIND, what: "no list called `messages`" })?;
    let mut skipped = Vec::new();
    let mut notes = Notes::default();
    let revert = session.object("info").object("revert");
    let history = History::of(&messages, &revert, options.reach, &mut skipped);
    let model = Model::of(&history);
    let mut speech = Speech::new(&model, &mut skipped, &mut notes);
    for message in &history.shown {
        speech.message(message);
    }
    let (said, times) = speech.finish();
    if said.is_empty() {
        return Err(ReadError::NoMessages {
            kind: KIND,
            found: vec![("messages".to_owned(), messages.len())],
        });
    }
    let frame = Frame { model: model.name.map(Into::into), times, ..Frame::default() };
    let (request, usage) = neutral::write(model.format(), KIND, &frame, &said)?;
    skipped.sort_by_key(|skipped| skipped.row);
    Ok(Recording {
        kind: KIND,
        request,
        usage,
        sidechains: Vec::new(),
        skipped,
        notes: notes.finish(),
        compactions: history.compactions,
        compacted: Vec::new(),
    })
}

/// The model that the conversation is with.
#[derive(Debug, Default)]
struct Model<'a> {
    provider: Option<&'a str>,
    name: Option<&'a str>,
}

impl<'a> Model<'a> {
    /// That of the newest reply; before the first one, the one that was asked.
    fn of(history: &History<'a>) -> Self {
        let infos = || history.shown.iter().rev().map(|message| &message.info);
        let reply = infos().find(|info| info.says("role", "assistant") && !info.holds("summary"));
        if let Some(info) = reply {
            return Model { provider: info.literal("providerID"), name: info.literal("modelID") };
        }
        let asked = infos().map(|info| info.object("model")).find(|model| !model.is_empty());
        asked.map_or_else(Model::default, |model| Model {
            provider: model.literal("providerID"),
            name: model.literal("modelID"),
        })
    }

    /// Whether a reply came from this model, so that its reasoning is of use to it.
    fn is_of(&self, info: &Object<'a>) -> bool {
        (self.provider, self.name) == (info.literal("providerID"), info.literal("modelID"))
    }

    /// The format in which it is spoken to.
    fn format(&self) -> Format {
        let provider = self.provider.map(unquote).unwrap_or_default();
        let name = self.name.map(unquote).unwrap_or_default();
        let named = |part: &str| name.contains(part);
        match provider.as_ref() {
            "openai" | "azure" => Format::OpenaiResponses,
            "google" => Format::Gemini,
            "" | "anthropic" | "google-vertex-anthropic" => Format::Anthropic,
            // Sellers of many models, each in the form of its maker.
            "opencode" | "amazon-bedrock" | "google-vertex" => match () {
                () if named("claude") => Format::Anthropic,
                () if named("gpt") => Format::OpenaiResponses,
                () if named("gemini") => Format::Gemini,
                () => Format::OpenaiChat,
            },
            _ => Format::OpenaiChat,
        }
    }
}
