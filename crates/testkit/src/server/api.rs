//! The APIs that the server speaks, and which one a path belongs to.

use std::fmt;

/// A provider's interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// `POST /v1/messages`.
    Anthropic,
    /// `POST /v1/responses`.
    Responses,
    /// `POST /v1/chat/completions`.
    Chat,
    /// `POST /v1beta/models/MODEL:generateContent`.
    Gemini,
    /// `POST /model/MODEL/converse`.
    Converse,
    /// `POST /v1beta/interactions`.
    Interactions,
}

impl Api {
    /// All of them.
    pub const ALL: [Api; 6] =
        [Api::Anthropic, Api::Responses, Api::Chat, Api::Gemini, Api::Converse, Api::Interactions];

    /// The member that holds what was said.
    pub fn list(self) -> &'static str {
        match self {
            Api::Responses | Api::Interactions => "input",
            Api::Gemini => "contents",
            _ => "messages",
        }
    }

    /// The member that names the kept answer that a request goes on from.
    pub(crate) fn goes_on_from(self) -> Option<&'static str> {
        match self {
            Api::Responses => Some("previous_response_id"),
            Api::Interactions => Some("previous_interaction_id"),
            _ => None,
        }
    }

    /// The API of a wire format of this project, by the format's name.
    pub fn of_format(name: &str) -> Option<Api> {
        Some(match name {
            "anthropic" => Api::Anthropic,
            "openai-responses" => Api::Responses,
            "openai-chat" => Api::Chat,
            "gemini" => Api::Gemini,
            "bedrock" => Api::Converse,
            "gemini-interactions" => Api::Interactions,
            _ => return None,
        })
    }

    /// A short name.
    pub fn name(self) -> &'static str {
        match self {
            Api::Anthropic => "anthropic",
            Api::Responses => "responses",
            Api::Chat => "chat",
            Api::Gemini => "gemini",
            Api::Converse => "converse",
            Api::Interactions => "interactions",
        }
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is asked of an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// An answer, whole.
    Generate,
    /// An answer, piece by piece (where the path says so; elsewhere the body does).
    Stream,
    /// How many tokens the prompt has.
    Count,
    /// OpenAI's `/responses/compact`.
    Compact,
}

/// Where a request goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Whose interface.
    pub api: Api,
    /// What is asked.
    pub endpoint: Endpoint,
    /// The model, where the path names it.
    pub model: Option<String>,
}

impl Route {
    /// The route of a path without its query; prefixes such as `/v1`, `/openai/v1` or
    /// `/v1beta/projects/…/publishers/google` may stand or be left out.
    pub fn of(path: &str) -> Option<Route> {
        use Endpoint::{Compact, Count, Generate, Stream};
        let path = path.trim_end_matches('/');
        let fixed = [
            ("/messages", Api::Anthropic, Generate),
            ("/messages/count_tokens", Api::Anthropic, Count),
            ("/responses", Api::Responses, Generate),
            ("/responses/input_tokens", Api::Responses, Count),
            ("/responses/compact", Api::Responses, Compact),
            ("/chat/completions", Api::Chat, Generate),
            ("/interactions", Api::Interactions, Generate),
        ];
        if let Some((_, api, endpoint)) = fixed.into_iter().find(|(end, ..)| path.ends_with(end)) {
            return Some(Route { api, endpoint, model: None });
        }
        if let Some((_, rest)) = path.rsplit_once("/models/") {
            let (model, method) = rest.rsplit_once(':')?;
            let endpoint = match method {
                "generateContent" => Generate,
                "streamGenerateContent" => Stream,
                "countTokens" => Count,
                _ => return None,
            };
            return Some(Route { api: Api::Gemini, endpoint, model: Some(model.to_owned()) });
        }
        let (_, rest) = path.rsplit_once("/model/")?;
        let (model, method) = rest.rsplit_once('/')?;
        let endpoint = match method {
            "converse" => Generate,
            "converse-stream" => Stream,
            "count-tokens" => Count,
            _ => return None,
        };
        let model = model.replace("%3A", ":").replace("%3a", ":");
        Some(Route { api: Api::Converse, endpoint, model: Some(model) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_their_api() {
        let at = |path| Route::of(path).map(|route| (route.api, route.endpoint, route.model));
        assert_eq!(at("/v1/messages"), Some((Api::Anthropic, Endpoint::Generate, None)));
        assert_eq!(at("/v1/messages/count_tokens"), Some((Api::Anthropic, Endpoint::Count, None)));
        assert_eq!(at("/responses"), Some((Api::Responses, Endpoint::Generate, None)));
        assert_eq!(
            at("/openai/v1/responses/compact/"),
            Some((Api::Responses, Endpoint::Compact, None))
        );
        assert_eq!(at("/v1/chat/completions"), Some((Api::Chat, Endpoint::Generate, None)));
        assert_eq!(at("/v1beta/interactions"), Some((Api::Interactions, Endpoint::Generate, None)));
        let gemini = Some("gemini-3.1-pro".to_owned());
        assert_eq!(
            at("/v1beta/models/gemini-3.1-pro:streamGenerateContent"),
            Some((Api::Gemini, Endpoint::Stream, gemini))
        );
        let bedrock = Some("anthropic.claude-opus-5-5-v1:0".to_owned());
        assert_eq!(
            at("/model/anthropic.claude-opus-5-5-v1%3A0/converse"),
            Some((Api::Converse, Endpoint::Generate, bedrock))
        );
        assert_eq!(at("/v1/embeddings"), None);
    }
}
