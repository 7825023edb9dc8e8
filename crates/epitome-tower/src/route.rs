//! Which calls of an HTTP API are a model's, by their path.

use epitome::Format;

/// A call of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The format of its body.
    pub format: Format,
    /// The model, where the path names it and the body doesn't.
    pub model: Option<String>,
}

/// The model call that a path stands for, with any prefix (gateways add theirs). `None` for anything else, such as
/// lists of models or counts of tokens.
pub fn route(path: &str) -> Option<Route> {
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    let plain = |format| Some(Route { format, model: None });
    if path.ends_with("/chat/completions") {
        return plain(Format::OpenaiChat);
    }
    if path.ends_with("/messages") {
        return plain(Format::Anthropic);
    }
    if path.ends_with("/responses") {
        return plain(Format::OpenaiResponses);
    }
    if path.ends_with("/interactions") {
        return plain(Format::GeminiInteractions);
    }
    let (before, last) = path.rsplit_once('/')?;
    if let Some((model, "generateContent" | "streamGenerateContent")) = last.rsplit_once(':') {
        return Some(Route { format: Format::Gemini, model: Some(model.to_owned()) });
    }
    // Claude at Google: `…/publishers/anthropic/models/{id}:rawPredict`. One of the ids is a name for counting.
    if let Some((model, "rawPredict" | "streamRawPredict")) = last.rsplit_once(':')
        && before.ends_with("/publishers/anthropic/models")
        && model != "count-tokens"
    {
        return Some(Route { format: Format::Anthropic, model: Some(model.to_owned()) });
    }
    // Claude at Amazon: `/model/{id}/invoke`, where an id may be one of a region.
    if let ("invoke" | "invoke-with-response-stream", Some((rest, model))) =
        (last, before.rsplit_once('/'))
        && rest.ends_with("/model")
        && model.contains("anthropic.")
    {
        return Some(Route { format: Format::Anthropic, model: Some(model.to_owned()) });
    }
    // Bedrock: `/model/{id}/converse`; slashes in an id are escaped.
    if let ("converse" | "converse-stream", Some((rest, model))) = (last, before.rsplit_once('/'))
        && rest.ends_with("/model")
    {
        return Some(Route { format: Format::Bedrock, model: Some(model.to_owned()) });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_models_are_known_by_their_path() {
        for (path, format, model) in [
            ("/v1/chat/completions", Format::OpenaiChat, None),
            ("/openai/deployments/x/chat/completions?api-version=1", Format::OpenaiChat, None),
            ("/v1/messages", Format::Anthropic, None),
            ("/v1/messages?beta=true", Format::Anthropic, None),
            ("/gateway/v1/responses/", Format::OpenaiResponses, None),
            ("/v1beta/interactions", Format::GeminiInteractions, None),
            ("/v1beta/models/gemini-3-pro:generateContent", Format::Gemini, Some("gemini-3-pro")),
            (
                "/v1/projects/p/locations/l/publishers/google/models/g:streamGenerateContent?alt=sse",
                Format::Gemini,
                Some("g"),
            ),
            (
                "/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-5-5@1:streamRawPredict",
                Format::Anthropic,
                Some("claude-opus-5-5@1"),
            ),
            (
                "/model/eu.anthropic.claude-opus-5-5/invoke",
                Format::Anthropic,
                Some("eu.anthropic.claude-opus-5-5"),
            ),
            (
                "/model/anthropic.c/invoke-with-response-stream",
                Format::Anthropic,
                Some("anthropic.c"),
            ),
            ("/backend-api/codex/responses", Format::OpenaiResponses, None),
            ("/model/anthropic.claude/converse", Format::Bedrock, Some("anthropic.claude")),
            ("/model/anthropic.claude/converse-stream", Format::Bedrock, Some("anthropic.claude")),
        ] {
            let wanted = Route { format, model: model.map(str::to_owned) };
            assert_eq!(route(path), Some(wanted), "{path}");
        }
    }

    #[test]
    fn other_paths_are_no_model_calls() {
        for path in [
            "",
            "/",
            "/v1/models",
            "/v1/messages/count_tokens",
            "/v1/messages/batches",
            "/v1beta/models/gemini-3-pro:countTokens",
            "/v1/responses/resp_1",
            "/v1/embeddings",
            "/v1/projects/p/locations/l/publishers/anthropic/models/count-tokens:rawPredict",
            "/v1/projects/p/locations/l/publishers/meta/models/llama:rawPredict",
            "/model/meta.llama/invoke",
            "/converse",
        ] {
            assert_eq!(route(path), None, "{path}");
        }
    }
}
