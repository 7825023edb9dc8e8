//! The model that is spoken to, and its format.

use epitome::wire::Format;
use epitome::wire::json::unquote;

use super::history::History;
use crate::object::Object;

/// The model that the conversation is with.
#[derive(Debug, Default)]
pub(super) struct Model<'a> {
    pub(super) provider: Option<&'a str>,
    pub(super) name: Option<&'a str>,
}

impl<'a> Model<'a> {
    /// That of the newest reply; before the first one, the one that was asked.
    pub(super) fn of(history: &History<'a>) -> Self {
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
    pub(super) fn is_of(&self, info: &Object<'a>) -> bool {
        (self.provider, self.name) == (info.literal("providerID"), info.literal("modelID"))
    }

    /// The format in which it is spoken to.
    pub(super) fn format(&self) -> Format {
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
