//! Requests on their way to an upstream, and why there is no reply.

use http::StatusCode;
use http::request::Parts;
use tower_service::Service;
use tracing::Span;

use crate::exchange::{Inbound, Load, NoReply, Outbound};
use crate::flow::FlowError;
use crate::options::InternalErrors;
use crate::refusal::Refusal;

/// Sends a request, and says in the client's words why there is no reply.
pub(crate) async fn send<S>(client: &mut S, head: Parts, load: Load) -> Result<Inbound, Refusal>
where
    S: Service<Outbound, Response = Inbound, Error = NoReply>,
{
    let host = head.uri.authority().map(ToString::to_string).unwrap_or_default();
    client.call(Outbound { head, load }).await.map_err(|error| match &error {
        NoReply::Late(_) => {
            Refusal::new(StatusCode::GATEWAY_TIMEOUT, "timeout", format!("{host}: {error}"))
        }
        NoReply::Switched => {
            Refusal::new(StatusCode::BAD_GATEWAY, "upstream", format!("{host}: {error}"))
        }
        NoReply::Internal(what) => internal(what),
        NoReply::Broken(_) if error.of_request().is_some() => unfinished(error.of_request()),
        NoReply::Broken(broken) => {
            let what = match () {
                () if broken.is_connect() => "can't be reached",
                () if error.hung_up() => "closed the connection before it answered",
                () => "doesn't answer",
            };
            let what = format!("{host} {what}: {}", error.words());
            Refusal::new(StatusCode::BAD_GATEWAY, "upstream", what)
        }
    })
}

/// A request that its client doesn't finish.
pub(crate) fn unfinished(error: Option<&FlowError>) -> Refusal {
    match error {
        Some(error @ FlowError::Silent(_)) => {
            let what = format!("the request isn't finished: {error}");
            Refusal::new(StatusCode::REQUEST_TIMEOUT, "timeout", what)
        }
        _ => Refusal::new(StatusCode::BAD_REQUEST, "body", "the request ends too early"),
    }
}

/// A request that isn't sent as it came, because of an error inside the proxy.
pub(crate) fn internal(what: &str) -> Refusal {
    let what = format!("{what}; --fail-closed forbids forwarding it unchanged");
    Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", what)
}

/// What work on another thread gives. Where it panics that is nothing, or why the request isn't sent.
pub(crate) async fn aside<T: Send + 'static>(
    errors: InternalErrors,
    work: impl FnOnce() -> Option<T> + Send + 'static,
) -> Result<Option<T>, Refusal> {
    let span = Span::current();
    match tokio::task::spawn_blocking(move || span.in_scope(work)).await {
        Ok(done) => Ok(done),
        Err(_) if errors == InternalErrors::Forward => Ok(None),
        Err(error) => Err(internal(&format!("the request can't be examined: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_nothing_or_why_nothing_is_sent() {
        let fails = || -> Option<()> { panic!("a test") };
        assert!(matches!(aside(InternalErrors::Forward, fails).await, Ok(None)));
        let refusal = aside(InternalErrors::Refuse, fails).await.expect_err("it panics");
        assert_eq!(refusal.status, StatusCode::INTERNAL_SERVER_ERROR);
        assert!(matches!(aside(InternalErrors::Refuse, || Some(1)).await, Ok(Some(1))));
    }
}
