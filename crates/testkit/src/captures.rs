//! What real clients sent: the bodies in `fixtures/captures`, and what its manifest says of them.
//!
//! `scripts/captures/run` makes them anew.

use std::fs;
use std::path::{Path, PathBuf};

use epitome::Format;
use serde::Deserialize;
use serde_json::Value;

use crate::server::{Api, ApiError, Call, Endpoint, Judge, Route, Understood};

/// One run of one client: requests in the order in which they were sent.
#[derive(Clone, Debug, Deserialize)]
pub struct Capture {
    /// `CLIENT/WHAT`, and the folder it is in.
    #[serde(rename = "loop")]
    pub name: String,
    /// `REGISTRY:NAME`.
    pub package: String,
    /// The package's version.
    pub version: String,
    /// The package's licence, as it says itself.
    pub licence: String,
    /// What the client was made to do.
    pub does: String,
    /// What is not as it was sent, if something isn't.
    #[serde(default)]
    pub reduced: Option<String>,
    /// The file in the capture's folder in which the client wrote down the session, if it does and that is kept.
    #[serde(default)]
    pub recording: Option<String>,
    /// The requests.
    pub requests: Vec<Sent>,
}

/// One request.
#[derive(Clone, Debug, Deserialize)]
pub struct Sent {
    /// Name of the file in the capture's folder.
    pub file: String,
    /// Where it was sent.
    pub path: String,
    /// `anthropic-beta`, where it was given.
    #[serde(default)]
    pub betas: String,
    /// The provider's refusal, where the client got one.
    #[serde(default)]
    pub refused: Option<String>,
    /// The body, byte for byte.
    #[serde(skip)]
    pub body: String,
}

impl Capture {
    /// All captures.
    ///
    /// # Panics
    /// If the fixtures can't be read; they are part of the repository.
    pub fn all() -> Vec<Capture> {
        let folder = folder();
        let manifest = read(&folder.join("manifest.json"));
        let mut all: Vec<Capture> = serde_json::from_str(&manifest).expect("a manifest");
        for capture in &mut all {
            for sent in &mut capture.requests {
                sent.body = read(&folder.join(&capture.name).join(&sent.file));
            }
        }
        all
    }

    /// The session as the client wrote it down.
    pub fn recorded(&self) -> Option<String> {
        self.recording.as_ref().map(|file| read(&folder().join(&self.name).join(file)))
    }

    /// The largest request that asks for an answer, and gets one.
    pub fn largest(&self) -> Option<&Sent> {
        let asks = |sent: &&Sent| {
            sent.refused.is_none()
                && matches!(sent.route().endpoint, Endpoint::Generate | Endpoint::Stream)
        };
        self.requests.iter().filter(asks).max_by_key(|sent| sent.body.len())
    }
}

impl Sent {
    /// Where it went.
    ///
    /// # Panics
    /// If it didn't go to a model; such requests aren't kept.
    pub fn route(&self) -> Route {
        Route::of(&self.path).expect("only requests to models are kept")
    }

    /// What it is written in.
    pub fn format(&self) -> Format {
        match self.route().api {
            Api::Anthropic => Format::Anthropic,
            Api::Responses => Format::OpenaiResponses,
            Api::Chat => Format::OpenaiChat,
            Api::Gemini => Format::Gemini,
            Api::Converse => Format::Bedrock,
            Api::Interactions => Format::GeminiInteractions,
        }
    }

    /// The body, its reasoning signed as if it had been said by the scripted server as it is now: how that signs
    /// changes, and what was sent doesn't.
    ///
    /// # Panics
    /// If it isn't JSON, or its model isn't known.
    pub fn sealed(&self) -> String {
        let body: Value = serde_json::from_str(&self.body).expect("JSON");
        let route = self.route();
        let call = Call { model: route.model.as_deref(), ..Call::new(route.api, &body) };
        Judge::default().seal(&call).expect("a known model").to_string()
    }

    /// Whether the scripted server takes `body` where this was sent, as this was sent.
    ///
    /// # Errors
    /// The provider's refusal.
    ///
    /// # Panics
    /// If it isn't JSON.
    pub fn judge(&self, body: &str) -> Result<Understood, ApiError> {
        let body: Value = serde_json::from_str(body).expect("JSON");
        let route = self.route();
        let betas: Vec<String> = self.betas.split(',').map(|beta| beta.trim().to_owned()).collect();
        let call = Call {
            endpoint: route.endpoint,
            model: route.model.as_deref(),
            betas: &betas,
            ..Call::new(route.api, &body)
        };
        Judge::default().validate(&call)
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/captures")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
