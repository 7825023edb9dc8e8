//! What the proxy adds to a request of a conversation that it knows, below the trigger.
//!
//! `cargo run --release -p epitome-proxy --example latency` prints, for three sizes, whole and streamed, the time until the
//! reply begins: asked directly, and through the proxy, in turn, so that both meet the same machine. Each request says one
//! step more than the one before. All sockets are of this machine, and the upstream reads a body and answers at once.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use bytes::Bytes;
use epitome_proxy::{Proxy, ProxyOptions, Upstreams};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};

/// Requests of a conversation.
const REQUESTS: usize = 300;

/// A reply as short as can be, whole and as a stream.
const WHOLE: &str = r#"{"id":"c","choices":[{"index":0,"message":{"role":"assistant","content":"Yes."}}],"usage":{"prompt_tokens":9}}"#;
const EVENTS: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes.\"}}]}\n\ndata: [DONE]\n\n";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let there = upstream().await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let here = listener.local_addr()?.to_string();
    let upstreams = Upstreams::of([format!("http://{there}")])?;
    let options = ProxyOptions { upstreams, window: Some(10_000_000), ..ProxyOptions::default() };
    tokio::spawn(Proxy::new(&options)?.serve(listener, std::future::pending()));

    println!("| body | reply | direct p50 | p99 | proxy p50 | p99 | added p50 | p99 |");
    println!("|--:|---|--:|--:|--:|--:|--:|--:|");
    for bytes in [20_000, 200_000, 2_000_000] {
        for (reply, stream) in [("whole", false), ("streamed", true)] {
            let (mut direct, mut through) = (connected(&there).await?, connected(&here).await?);
            let (mut apart, mut passed) = (Vec::new(), Vec::new());
            for nth in 0..REQUESTS {
                let body = conversation(bytes, nth, stream);
                let alone = asked(&mut direct, &there, &body).await?;
                let proxied = asked(&mut through, &here, &body).await?;
                // The first one isn't known yet.
                if nth > 0 {
                    apart.push(alone);
                    passed.push(proxied);
                }
            }
            apart.sort_unstable();
            passed.sort_unstable();
            let at = |times: &[Duration], share: usize| times[(times.len() - 1) * share / 100];
            let all = [at(&apart, 50), at(&apart, 99), at(&passed, 50), at(&passed, 99)];
            let added = [all[2].saturating_sub(all[0]), all[3].saturating_sub(all[1])];
            let cells = all.iter().chain(&added).map(|time| format!("{} µs", time.as_micros()));
            let cells: Vec<String> = cells.collect();
            println!("| {bytes} | {reply} | {} |", cells.join(" | "));
        }
    }
    Ok(())
}

/// A chat of so many bytes and some steps more, different for each size.
fn conversation(bytes: usize, steps: usize, stream: bool) -> Bytes {
    let line = "The build fails in src/store.rs, and the log says why. ".repeat(18);
    let step = |nth: usize| {
        format!(
            r#",{{"role":"user","content":"Look at {bytes} {stream} {nth}. {line}"}},{{"role":"assistant","content":"I did."}}"#
        )
    };
    let steps: String = (0..bytes / 1_100 + steps).map(step).collect();
    let first = r#"{"role":"system","content":"You fix builds."}"#;
    let last = r#",{"role":"user","content":"Go on."}"#;
    format!(r#"{{"model":"m","stream":{stream},"messages":[{first}{steps}{last}]}}"#).into()
}

async fn connected(address: &str) -> Result<SendRequest<Full<Bytes>>, Box<dyn std::error::Error>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// How long the reply takes to begin.
async fn asked(
    sender: &mut SendRequest<Full<Bytes>>,
    host: &str,
    body: &Bytes,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let request = Request::post("/v1/chat/completions").header("host", host);
    let request =
        request.header("content-type", "application/json").body(Full::new(body.clone()))?;
    sender.ready().await?;
    let begun = Instant::now();
    let mut reply = sender.send_request(request).await?.into_body();
    let first = reply.frame().await;
    let took = begun.elapsed();
    first.transpose()?.ok_or("a reply without a body")?;
    reply.collect().await?;
    Ok(took)
}

async fn upstream() -> std::io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?.to_string();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(stream.set_nodelay(true));
            let service = service_fn(|request: Request<Incoming>| async {
                let body =
                    request.into_body().collect().await.map(http_body_util::Collected::to_bytes);
                let is_streamed = body.is_ok_and(|body| {
                    memchr::memmem::find(&body[..40], b"\"stream\":true").is_some()
                });
                let (kind, text) = if is_streamed {
                    ("text/event-stream", EVENTS)
                } else {
                    ("application/json", WHOLE)
                };
                let reply = Response::builder().header("content-type", kind);
                Ok::<_, Infallible>(
                    reply.body(Full::new(Bytes::from_static(text.as_bytes()))).expect("a reply"),
                )
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    Ok(address)
}
