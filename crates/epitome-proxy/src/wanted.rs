//! What a request asks for, and whose interface it speaks.

use epitome::Format;
use epitome_tower::{Route, plain_path, route_of_plain};
use http::{HeaderMap, HeaderName};

use crate::paths::{CODEX, is_bare};
use crate::upstream::Provider;

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// An answer of a model.
    Answer(Route),
    /// The tokens of a prompt.
    Count(Route),
    /// A compaction of a prompt.
    Compact(Route),
    /// Anything else.
    Other,
}

impl Wanted {
    pub(crate) fn of(path: &str) -> Self {
        let is_served = |route: &Route| provider_of(route.format).is_some();
        let path = plain_path(path);
        if let Some(route) = route_of_plain(&path).filter(is_served) {
            return Wanted::Answer(route);
        }
        // The path that counts a prompt, beside the one that answers it.
        let path = path.trim_end_matches('/');
        if path.ends_with("/responses/compact") {
            return Wanted::Compact(Route { format: Format::OpenaiResponses, model: None });
        }
        let counts = path.strip_suffix("/publishers/anthropic/models/count-tokens:rawPredict");
        if counts.is_some() {
            return Wanted::Count(Route { format: Format::Anthropic, model: None });
        }
        let suffixes =
            [("/count_tokens", ""), ("/input_tokens", ""), (":countTokens", ":generateContent")];
        let answers = suffixes.iter().find_map(|(count, answer)| {
            route_of_plain(&format!("{}{answer}", path.strip_suffix(count)?)).filter(is_served)
        });
        let answers = answers.map(Wanted::Count);
        answers.or_else(|| Some(Wanted::Answer(invoked(path)?))).unwrap_or(Wanted::Other)
    }

    /// A short name of it, for meters.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Wanted::Answer(route) => api(route.format),
            Wanted::Count(_) => "count",
            Wanted::Compact(_) => "compact",
            Wanted::Other => "other",
        }
    }
}

/// A model at Amazon whose id may not say whose it is: profiles have ids of their own. Of a plain path.
fn invoked(path: &str) -> Option<Route> {
    let (before, last) = path.rsplit_once('/')?;
    let (rest, model) = before.rsplit_once('/')?;
    let is_one =
        matches!(last, "invoke" | "invoke-with-response-stream") && rest.ends_with("/model");
    is_one.then(|| Route::of_model(Format::Anthropic, model))
}

/// Whether a path tells whose shape its body has; if not, the body does.
pub(crate) fn is_known_by_path(path: &str) -> bool {
    let path = plain_path(path);
    route_of_plain(&path).is_some() || invoked(path.trim_end_matches('/')).is_none()
}

/// A short name of an API.
pub(crate) fn api(format: Format) -> &'static str {
    match format {
        Format::Anthropic => "messages",
        Format::OpenaiChat => "chat",
        Format::OpenaiResponses => "responses",
        Format::Gemini => "gemini",
        Format::GeminiInteractions => "interactions",
        _ => "other",
    }
}

/// Whose interface a format is of.
pub(crate) fn provider_of(format: Format) -> Option<Provider> {
    match format {
        Format::Anthropic => Some(Provider::Anthropic),
        Format::OpenaiChat | Format::OpenaiResponses => Some(Provider::OpenAi),
        Format::Gemini | Format::GeminiInteractions => Some(Provider::Gemini),
        _ => None,
    }
}

/// Whether a path is one of Google's or Amazon's clouds, whose hosts and credentials are their own: no public address of a
/// provider knows them.
fn is_of_a_cloud(path: &str) -> bool {
    let path = path.strip_prefix("/v1beta1").or(path.strip_prefix("/v1")).unwrap_or(path);
    path.starts_with("/projects/") || path.starts_with("/model/")
}

/// Whose interface a request speaks: by its path, else by the headers that only this provider's clients send. A credential
/// goes to nobody by a guess.
pub(crate) fn provider(wanted: &Wanted, path: &str, headers: &HeaderMap) -> Option<Provider> {
    let path = &*plain_path(path);
    if is_of_a_cloud(path) {
        return None;
    }
    if let Wanted::Answer(route) | Wanted::Count(route) | Wanted::Compact(route) = wanted {
        // Gemini speaks as OpenAI does there, too.
        let is_gemini = path.contains("/v1beta/");
        return if is_gemini { Some(Provider::Gemini) } else { provider_of(route.format) };
    }
    if path.starts_with("/v1beta/") || path.starts_with("/upload/v1beta/") {
        return Some(Provider::Gemini);
    }
    let has =
        |prefix: &str| headers.keys().any(|name: &HeaderName| name.as_str().starts_with(prefix));
    if has("anthropic-") || has("x-api-key") {
        return Some(Provider::Anthropic);
    }
    if has("x-goog-") {
        return Some(Provider::Gemini);
    }
    let is_openai =
        path.starts_with("/v1/") || path.starts_with(CODEX) || is_bare(path) || has("openai-");
    is_openai.then_some(Provider::OpenAi)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn path_and_headers_choose_the_upstream() {
        let with = |name: &'static str| {
            HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static("x"))])
        };
        let (none, bearer) = (HeaderMap::new(), with("authorization"));
        for (path, headers, who) in [
            ("/v1/messages", &bearer, Some(Provider::Anthropic)),
            ("/v1/messages/count_tokens", &none, Some(Provider::Anthropic)),
            ("/chat/completions", &none, Some(Provider::OpenAi)),
            ("/v1/responses/input_tokens", &none, Some(Provider::OpenAi)),
            ("/responses/compact", &none, Some(Provider::OpenAi)),
            ("/v1beta/models/m:streamGenerateContent", &none, Some(Provider::Gemini)),
            ("/v1beta/models", &bearer, Some(Provider::Gemini)),
            ("/v1beta/openai/chat/completions", &bearer, Some(Provider::Gemini)),
            ("/api/v1beta/openai/chat/completions", &bearer, Some(Provider::Gemini)),
            ("/v1beta/openai/models", &bearer, Some(Provider::Gemini)),
            ("/v1/models", &bearer, Some(Provider::OpenAi)),
            ("/v1/models", &with("x-api-key"), Some(Provider::Anthropic)),
            ("/v1/models", &with("anthropic-version"), Some(Provider::Anthropic)),
            ("/api/event_logging", &with("anthropic-beta"), Some(Provider::Anthropic)),
            ("/model/m/converse", &bearer, None),
            ("/model/eu.anthropic.claude/invoke", &with("anthropic-version"), None),
            ("/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict", &bearer, None),
            (
                "/v1/projects/p/locations/l/publishers/google/models/m:generateContent",
                &bearer,
                None,
            ),
            ("/backend-api/codex/responses", &bearer, Some(Provider::OpenAi)),
            ("/backend-api/codex/models", &bearer, Some(Provider::OpenAi)),
            ("/model/arn%3Aaws%3Aprofile%2Fabc/invoke", &bearer, None),
            ("/v1beta/models/m%3AcountTokens", &none, Some(Provider::Gemini)),
            ("/v1b%65ta/models", &bearer, Some(Provider::Gemini)),
            ("/mod%65l/m/converse", &bearer, None),
            ("/anything", &bearer, None),
        ] {
            assert_eq!(provider(&Wanted::of(path), path, headers), who, "{path}");
        }
    }

    #[test]
    fn escapes_do_not_hide_what_is_wanted() {
        for (path, plain) in [
            ("/v1/m%65ssages", "/v1/messages"),
            ("/v1beta/models/m%3AgenerateContent", "/v1beta/models/m:generateContent"),
            ("/v1beta/models/m%3AcountTokens", "/v1beta/models/m:countTokens"),
            ("/v1/responses/c%6Fmpact/", "/v1/responses/compact"),
            ("/model/arn%3Aaws%3Ax/%69nvoke", "/model/arn:aws:x/invoke"),
        ] {
            assert_ne!(Wanted::of(plain), Wanted::Other, "{plain}");
            assert_eq!(Wanted::of(path), Wanted::of(plain), "{path}");
        }
        assert_eq!(Wanted::of("/v1%2Fmessages"), Wanted::Other);
    }
}
