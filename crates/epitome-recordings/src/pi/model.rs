//! The model that is spoken to, and its format.

use epitome::wire::Format;

use super::row::{Row, Rows, What};
use crate::object::Object;

/// The model that the conversation is with.
#[derive(Debug, Default)]
pub(super) struct Model<'a> {
    pub(super) provider: Option<&'a str>,
    pub(super) api: Option<&'a str>,
    pub(super) name: Option<&'a str>,
}

impl<'a> Model<'a> {
    /// The model of the newest reply, whole or not; before the first one, the model that was chosen.
    pub(super) fn of(rows: &Rows<'a>, way: &[usize]) -> Self {
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

    pub(super) fn in_message(message: &Object<'a>) -> Self {
        Model {
            provider: message.literal("provider"),
            api: message.literal("api"),
            name: message.literal("model"),
        }
    }

    pub(super) fn in_row(row: &Row<'a>) -> Self {
        Model {
            provider: row.fields.literal("provider"),
            api: None,
            name: row.fields.literal("modelId"),
        }
    }

    /// Whether a reply came from this model, so that its reasoning is of use to it.
    pub(super) fn is_of(&self, message: &Object<'a>) -> bool {
        let other = Model::in_message(message);
        (self.provider, self.api, self.name) == (other.provider, other.api, other.name)
    }

    /// The format in which it is spoken to.
    pub(super) fn format(&self) -> Format {
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
