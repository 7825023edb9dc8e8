//! Which calls of an HTTP API are a model's, by their path.

use std::borrow::Cow;

use epitome::Format;

/// A call of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The format of its body.
    pub format: Format,
    /// The model, where the path names it and the body doesn't.
    pub model: Option<String>,
}

impl Route {
    /// Of a model that a segment of a [`plain_path`] names.
    pub fn of_model(format: Format, segment: &str) -> Self {
        Route { format, model: Some(segment.replace("%2F", "/").replace("%2f", "/")) }
    }
}

/// The model call that a path stands for, with any prefix (gateways add theirs). `None` for anything else, such as
/// lists of models or counts of tokens.
pub fn route(path: &str) -> Option<Route> {
    route_of_plain(&plain_path(path))
}

/// A path as calls are told apart by it: without its query, and with each escape read once. That of a slash stays, since
/// a slash would part a name in two (RFC 3986, 2.2).
pub fn plain_path(path: &str) -> Cow<'_, str> {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    if !path.contains('%') {
        return Cow::Borrowed(path);
    }
    let mut plain = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, behind)) = rest.split_first() {
        let read = escaped(rest).filter(|byte| *byte != b'/');
        plain.push(read.unwrap_or(first));
        rest = if read.is_some() { &rest[3..] } else { behind };
    }
    String::from_utf8(plain).map_or(Cow::Borrowed(path), Cow::Owned)
}

/// The byte that an escape stands for, where one begins there.
fn escaped(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()
}

/// The same of a path that [`plain_path`] gave.
pub fn route_of_plain(path: &str) -> Option<Route> {
    let path = path.trim_end_matches('/');
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
        return Some(Route::of_model(Format::Gemini, model));
    }
    // Claude at Google: `…/publishers/anthropic/models/{id}:rawPredict`. One of the ids is a name for counting.
    if let Some((model, "rawPredict" | "streamRawPredict")) = last.rsplit_once(':')
        && before.ends_with("/publishers/anthropic/models")
        && model != "count-tokens"
    {
        return Some(Route::of_model(Format::Anthropic, model));
    }
    // Claude at Amazon: `/model/{id}/invoke`, where an id may be one of a region.
    if let ("invoke" | "invoke-with-response-stream", Some((rest, model))) =
        (last, before.rsplit_once('/'))
        && rest.ends_with("/model")
        && model.contains("anthropic.")
    {
        return Some(Route::of_model(Format::Anthropic, model));
    }
    // Bedrock: `/model/{id}/converse`; slashes in an id are escaped.
    if let ("converse" | "converse-stream", Some((rest, model))) = (last, before.rsplit_once('/'))
        && rest.ends_with("/model")
    {
        return Some(Route::of_model(Format::Bedrock, model));
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
            ("/v1/m%65ssages", Format::Anthropic, None),
            ("/v1beta/models/g%3AgenerateContent", Format::Gemini, Some("g")),
            ("/v1beta/models/g%3astreamGenerateContent?alt=sse", Format::Gemini, Some("g")),
            ("/model/anthropic.c%3A0/invoke", Format::Anthropic, Some("anthropic.c:0")),
            (
                "/model/arn%3Aaws%3Aanthropic.c%2Fabc/invoke",
                Format::Anthropic,
                Some("arn:aws:anthropic.c/abc"),
            ),
        ] {
            let wanted = Route { format, model: model.map(str::to_owned) };
            assert_eq!(route(path), Some(wanted), "{path}");
        }
    }

    #[test]
    fn escapes_are_read_once_but_those_of_slashes() {
        for (path, plain) in [
            ("/a?b=%41", "/a"),
            ("/%41%2F%2f%25%341%", "/A%2F%2f%41%"),
            ("/%c3%a9/%zz%4", "/é/%zz%4"),
            ("/%ff%41", "/%ff%41"),
        ] {
            assert_eq!(plain_path(path), plain, "{path}");
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
            // A slash in a name, and an escape of an escape.
            "/v1%2Fmessages",
            "/v1/%256dessages",
            "/v1/messages%3F/x",
            "/%ff/v1/m%65ssages",
            "/converse",
        ] {
            assert_eq!(route(path), None, "{path}");
        }
    }
}
