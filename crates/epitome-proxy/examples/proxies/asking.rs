//! A client, and what it says.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::Failed;

pub(crate) struct Client {
    sender: SendRequest<Full<Bytes>>,
    host: String,
}

impl Client {
    pub(crate) async fn connected(at: &str) -> Result<Self, Failed> {
        let stream = TcpStream::connect(at).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(connection);
        Ok(Self { sender, host: at.to_owned() })
    }

    pub(crate) async fn begun(&mut self, body: &Bytes) -> Result<Incoming, Failed> {
        let request = Request::post("/v1/chat/completions").header("host", &self.host);
        let request = request.header("authorization", "Bearer k");
        let request =
            request.header("content-type", "application/json").body(Full::new(body.clone()))?;
        self.sender.ready().await?;
        let reply = self.sender.send_request(request).await?;
        if !reply.status().is_success() {
            return Err(format!("{} answered {}", self.host, reply.status()).into());
        }
        Ok(reply.into_body())
    }

    /// How long the reply takes to begin.
    pub(crate) async fn asked(&mut self, body: &Bytes) -> Result<Duration, Failed> {
        let begun = Instant::now();
        let mut reply = self.begun(body).await?;
        let first = reply.frame().await;
        let took = begun.elapsed();
        first.transpose()?.ok_or("a reply without a body")?;
        reply.collect().await?;
        Ok(took)
    }
}

/// A chat of so many bytes and some small steps more; each name has its own.
pub(crate) fn conversation(name: &str, bytes: usize, steps: usize, stream: bool) -> Bytes {
    let line = "The build fails in src/store.rs, and the log says why. ".repeat(18);
    let asks = |nth: usize, line: &str| {
        format!(r#",{{"role":"user","content":"Look at {name} {nth}. {line}"}}"#)
    };
    let step = |nth: usize, line: &str| {
        format!(r#"{},{{"role":"assistant","content":"I did."}}"#, asks(nth, line))
    };
    let many = bytes / 1_100;
    let long: String = (0..many).map(|nth| step(nth, &line)).collect();
    let more: String = (many..many + steps).map(|nth| step(nth, "")).collect();
    let first = r#"{"role":"system","content":"You fix builds."}"#;
    // The next request goes on from it.
    let last = asks(many + steps, "");
    format!(r#"{{"model":"m","stream":{stream},"messages":[{first}{long}{more}{last}]}}"#).into()
}

/// One that is answered by so many events, one a second.
pub(crate) fn long(name: &str, events: u64) -> Bytes {
    format!(
        r#"{{"model":"m","stream":true,"user":"{events}","messages":[{{"role":"user","content":"Count for {name}."}}]}}"#
    )
    .into()
}
