//! Streams that come in two pieces, and streams that end too early, at every byte.

use std::io::{Error, ErrorKind};

use bytes::Bytes;
use epitome_proxy::{ProxyOptions, RecallSource};
use futures_util::{StreamExt as _, stream};
use http::request::Parts;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use testkit::agent::Agent;

use crate::noting::{Written, upstream};
use crate::stage::{Stage, before};
use crate::works::{APIS, provider, request};

/// A cut lasts a moment, in which others are made.
const AT_ONCE: usize = 200;

/// Where a stream is cut: `./test full` takes each byte, which lasts, and others those around a line's end and some between.
fn places(sent: &[u8]) -> impl Iterator<Item = usize> {
    let is_full = std::env::var_os("EPITOME_REQUESTS").is_some();
    (0..sent.len()).filter(move |at| {
        is_full || at % 29 == 0 || sent[at.saturating_sub(1)..=*at].contains(&b'\n')
    })
}

/// What the upstream sends: two pieces, or one and then nothing more, which is no end.
#[derive(Clone, Copy, Debug)]
enum Sent {
    Split(usize),
    Cut(usize),
}

fn body(text: &Bytes, sent: Sent) -> Written {
    let (Sent::Split(at) | Sent::Cut(at)) = sent;
    let rest = match sent {
        Sent::Split(_) => Ok(Frame::data(text.slice(at..))),
        Sent::Cut(_) => Err(Error::from(ErrorKind::ConnectionReset)),
    };
    // Else both are sent at once.
    let rest = stream::once(async {
        tokio::task::yield_now().await;
        rest
    });
    let frames = stream::iter([Ok(Frame::data(text.slice(..at)))]).chain(rest);
    StreamBody::new(frames).boxed_unsync()
}

impl Sent {
    /// As a client tells it to the upstream.
    fn header(self) -> String {
        match self {
            Sent::Split(at) => format!("split {at}"),
            Sent::Cut(at) => format!("cut {at}"),
        }
    }

    fn told(head: &Parts) -> Option<Self> {
        let (kind, at) = head.headers.get("x-sent")?.to_str().ok()?.split_once(' ')?;
        let at = at.parse().ok()?;
        Some(if kind == "cut" { Sent::Cut(at) } else { Sent::Split(at) })
    }
}

/// What reaches a client, and whether it ends as a body does.
async fn came(stage: &Stage, agent: &Agent, sent: Sent) -> (StatusCode, Vec<u8>, bool) {
    let mut request = request(stage, agent);
    request.headers_mut().insert("x-sent", sent.header().parse().expect("plain words"));
    let reply = stage.send(request).await;
    let status = reply.status();
    let (mut body, mut came) = (reply.into_body(), Vec::new());
    loop {
        match body.frame().await {
            Some(Ok(frame)) => came.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Some(Err(_)) => return (status, came, false),
            None => return (status, came, true),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_cut_anywhere_is_as_long_as_it_came_and_has_no_end() {
    for api in APIS {
        let agent = &Agent::new(api, true);
        let running = provider(12_000).await;
        let direct = Stage::new(&before(&running.url, None)).await;
        let text = direct.call(request(&direct, agent)).await.into_body();
        let sent = text.clone();
        let (url, _) = upstream(move |head| {
            let sent = Sent::told(head).expect("each request says it");
            let mut reply = Response::new(body(&text, sent));
            let kind = HeaderValue::from_static("text/event-stream");
            reply.headers_mut().insert("content-type", kind);
            std::future::ready(reply)
        })
        .await;
        for recall in [RecallSource::None, RecallSource::Offered] {
            // Recall cuts a stream at events, of which it rewrites some.
            let is_offered = matches!(recall, RecallSource::Offered);
            let stage = &Stage::new(&ProxyOptions { recall, ..before(&url, None) }).await;
            let (_, whole, _) = came(stage, agent, Sent::Split(sent.len())).await;
            assert!(is_offered || whole == sent, "{api}");
            let (whole, sent) = (&whole, &sent);
            let all = places(sent).flat_map(|at| [Sent::Split(at), Sent::Cut(at)]);
            let trying = all.map(|one| async move {
                let (status, came, is_whole) = came(stage, agent, one).await;
                let is_right = match one {
                    Sent::Split(_) => is_whole && came == *whole,
                    // Nothing came: an answer of the proxy's says so.
                    Sent::Cut(_) if !status.is_success() => {
                        is_whole && memchr::memmem::find(&came, b"error").is_some()
                    }
                    Sent::Cut(_) if is_offered => !is_whole && whole.starts_with(&came),
                    Sent::Cut(at) => !is_whole && came == sent[..at],
                };
                let came = String::from_utf8_lossy(&came);
                assert!(is_right, "{api} {one:?} {is_offered}: {status} {is_whole} {came}");
            });
            stream::iter(trying).for_each_concurrent(AT_ONCE, |one| one).await;
        }
    }
}
