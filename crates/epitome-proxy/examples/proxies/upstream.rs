//! A provider that answers at once, or by one event a second.

use std::convert::Infallible;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use http::{Request, Response};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use memchr::memmem::find;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// A reply as short as can be, whole and as a stream.
const WHOLE: &str = r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Yes."}}],"usage":{"prompt_tokens":9}}"#;
const EVENTS: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes.\"}}]}\n\ndata: [DONE]\n\n";

type Frames = Pin<Box<dyn Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>;

/// Serves from now on.
pub(crate) async fn serve(at: &str) -> std::io::Result<()> {
    let listener = TcpListener::bind(at).await?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(stream.set_nodelay(true));
            let connection =
                http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answered));
            tokio::spawn(connection);
        }
    });
    Ok(())
}

async fn answered(request: Request<Incoming>) -> Result<Response<StreamBody<Frames>>, Infallible> {
    let body = request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
    let body = body.unwrap_or_default();
    let head = &body[..body.len().min(60)];
    let (kind, frames) = match events(head) {
        Some(events) => ("text/event-stream", counted(events)),
        None if find(head, b"\"stream\":true").is_some() => ("text/event-stream", once(EVENTS)),
        None => ("application/json", once(WHOLE)),
    };
    let reply = Response::builder().header("content-type", kind).body(StreamBody::new(frames));
    Ok(reply.expect("a reply"))
}

/// How many events it wants.
fn events(head: &[u8]) -> Option<u64> {
    let head = std::str::from_utf8(head).ok()?;
    head.split_once("\"user\":\"")?.1.split_once('"')?.0.parse().ok()
}

fn once(text: &'static str) -> Frames {
    stream::iter([Ok(Frame::data(Bytes::from_static(text.as_bytes())))]).boxed()
}

fn counted(events: u64) -> Frames {
    let event = |nth: u64| async move {
        sleep(Duration::from_secs(u64::from(nth > 0))).await;
        let text = format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{nth} \"}}}}]}}\n\n"
        );
        Ok(Frame::data(Bytes::from(text)))
    };
    let end = stream::iter([Ok(Frame::data(Bytes::from_static(b"data: [DONE]\n\n")))]);
    stream::iter(0..events).then(event).chain(end).boxed()
}
