//! A model server, and a summarizer that asks it.

use std::sync::Arc;
use std::time::Duration;

use epitome::Format;
use epitome::summarize::{SummarizeError, Summarizer as _, Summary, SummaryRequest, Tab};
use epitome_llm::{Endpoint, Limits, Model, Purse, Secret};
use testkit::server::Server;
use testkit::server::shell::{Running, start};

/// Each format with a model that is asked in it.
pub(crate) const MODELS: [(Format, &str); 4] = [
    (Format::OpenaiChat, "gpt-4o"),
    (Format::OpenaiResponses, "gpt-5-mini"),
    (Format::Anthropic, "claude-haiku-4-5"),
    (Format::Gemini, "gemini-3.5-flash"),
];

pub(crate) const KEY: &str = "sk-very-secret";

pub(crate) fn request() -> SummaryRequest {
    SummaryRequest {
        version: 1,
        instruction: "Sum it up.".to_owned(),
        transcript: "<transcript a>\n[0 user] Fix the build.\n</transcript a>".to_owned(),
        so_far: String::new(),
        max_tokens: 300,
        about: epitome::engine::delegate::JobContext::default(),
        reason: None,
        body: None,
        ahead: 0,
        tab: Tab::default(),
    }
}

/// Short enough for tests.
pub(crate) fn limits() -> Limits {
    Limits { pause: Duration::from_millis(1), ..Limits::default() }
}

pub(crate) fn endpoint(url: &str, format: Format, model: &str) -> Endpoint {
    let path = match format {
        Format::OpenaiChat | Format::OpenaiResponses => "/v1",
        _ => "",
    };
    Endpoint {
        format,
        base: format!("{url}{path}"),
        model: model.to_owned(),
        key: Some(Secret::new(KEY)),
    }
}

/// Asks `server` once.
pub(crate) async fn ask(
    server: Server,
    (format, model): (Format, &str),
    limits: Limits,
) -> (Result<Summary, SummarizeError>, Running) {
    let running = start(server).await.expect("a free port");
    let answer = ask_at(endpoint(&running.url, format, model), limits, None).await;
    (answer, running)
}

pub(crate) async fn ask_at(
    endpoint: Endpoint,
    limits: Limits,
    purse: Option<Arc<Purse>>,
) -> Result<Summary, SummarizeError> {
    let model = Model::new(endpoint, limits, purse).expect("a good endpoint");
    Arc::new(model).summarize(Arc::new(request())).await
}
