//! Requests on their way to an upstream, and why there is no reply.

use http::StatusCode;
use http::request::Parts;
use tower_service::Service;

use crate::exchange::{Inbound, Load, NoReply, Outbound};
use crate::flow::FlowError;
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
        NoReply::Broken(_) if error.of_request().is_some() => unfinished(error.of_request()),
        NoReply::Broken(_) => {
            let what = format!("{host} doesn't answer: {}", error.words());
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
        _ => Refusal::new(StatusCode::BAD_REQUEST, "body", "the request breaks off"),
    }
}
