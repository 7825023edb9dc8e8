//! What each provider accepts, from PROVIDERS.md alone, over `serde_json` values.
//!
//! Nothing of `epitome::wire` is used here: the two are held against each other in tests.

mod anthropic;
mod binding;
mod chat;
mod converse;
mod gemini;
mod interactions;
mod responses;

use serde_json::Value;

use super::chain::{Chain, Reader, Strangers};
use super::error::ApiError;
use super::models::{Model, Models};
use super::prompt::Understood;
use super::{Api, Endpoint};

/// Reasoning of one organisation isn't shown to another; here, there is one.
pub(crate) const ORGANIZATION: &str = "org-scripted";

/// One request as the rules see it.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// Whose interface.
    pub api: Api,
    /// What is asked of it.
    pub endpoint: Endpoint,
    /// The model, where the path names it.
    pub model: Option<&'a str>,
    /// Values of `anthropic-beta`.
    pub betas: &'a [String],
    /// The conversation that the body goes on with, where the server keeps it (Responses).
    pub history: &'a [Value],
    /// The body.
    pub body: &'a Value,
}

impl<'a> Call<'a> {
    /// An answer is asked for; nothing is known but the body.
    pub fn new(api: Api, body: &'a Value) -> Self {
        Self { api, endpoint: Endpoint::Generate, model: None, betas: &[], history: &[], body }
    }

    pub(crate) fn has_beta(&self, name: &str) -> bool {
        self.betas.iter().any(|beta| beta == name)
    }
}

/// The rules with what they depend on.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    /// The models there are.
    pub models: Models,
    /// What becomes of signatures that nobody here made.
    pub strangers: Strangers,
}

impl Judge {
    /// Whether the provider takes this, and what it reads in it.
    ///
    /// # Errors
    /// The provider's refusal.
    pub fn validate(&self, call: &Call<'_>) -> Result<Understood, ApiError> {
        match call.api {
            Api::Anthropic => anthropic::validate(self, call),
            Api::Responses => responses::validate(self, call),
            Api::Chat => chat::validate(self, call),
            Api::Gemini => gemini::validate(self, call),
            Api::Converse => converse::validate(self, call),
            Api::Interactions => interactions::validate(self, call),
        }
    }

    /// Whether what nobody here knows is let through.
    pub(crate) fn is_lenient(&self) -> bool {
        self.strangers == Strangers::Welcome
    }

    pub(crate) fn chain(&self, api: Api, model: &Model, frame: &[&Value]) -> Chain {
        let owner = format!("{ORGANIZATION} {api}");
        Chain::new(Reader { owner: &owner, rank: model.rank, strangers: self.strangers }, frame)
    }

    /// The model that a request names, or the provider's refusal of one that there isn't.
    pub(crate) fn model(&self, call: &Call<'_>) -> Result<Model, ApiError> {
        let api = call.api;
        let name = call.model.or_else(|| call.body["model"].as_str()).unwrap_or_default();
        if name.is_empty() {
            return Err(match api {
                Api::Anthropic => ApiError::invalid(api, "model: Field required"),
                _ => ApiError::invalid(api, "you must provide a model parameter"),
            });
        }
        self.models.get(name).ok_or_else(|| match api {
            Api::Anthropic => ApiError::new(api, 404, format!("model: {name}")),
            Api::Responses | Api::Chat => ApiError::new(
                api,
                404,
                format!("The model `{name}` does not exist or you do not have access to it."),
            )
            .code("model_not_found"),
            Api::Gemini | Api::Interactions => ApiError::new(
                api,
                404,
                format!(
                    "models/{name} is not found for API version v1beta, or is not supported for generateContent. \
                     Call ListModels to see the list of available models and their supported methods."
                ),
            ),
            Api::Converse => ApiError::invalid(api, "The provided model identifier is invalid."),
        })
    }
}

/// Whether the provider takes `body`, by default settings.
///
/// # Errors
/// The provider's refusal.
pub fn validate(api: Api, body: &Value) -> Result<Understood, ApiError> {
    Judge::default().validate(&Call::new(api, body))
}

/// The items of a list; none if it is none.
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// A text; empty if it is none.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// `value` without these keys.
pub(crate) fn without(value: &Value, keys: &[&str]) -> Value {
    let mut value = value.clone();
    if let Some(map) = value.as_object_mut() {
        for key in keys {
            map.remove(*key);
        }
    }
    value
}

pub(crate) use anthropic::bare as anthropic_block;
pub(crate) use anthropic::seal as seal_anthropic;
pub(crate) use anthropic::{BINDING_CONTROLS, INTERLEAVED};
pub(crate) use converse::client;
pub(crate) use converse::seal as seal_converse;
pub(crate) use gemini::{SENTINEL, field};
pub(crate) use responses::bare as responses_item;
pub(crate) use responses::seal as seal_responses;
