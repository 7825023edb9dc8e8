//! Connections and streams that break, and heads that nobody can read.

use std::io::{Read as _, Write as _};
use std::sync::mpsc;
use std::time::Duration;

use bytes::Bytes;
use epitome_proxy::{ProxyLimits, ProxyOptions};
use http::Response;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::noting::{upstream, whole};
use crate::stage::{Stage, before};

/// An upstream that answers each connection once, as it is told, and closes it; then it tells so.
fn closing(answer: &'static str) -> (String, mpsc::Receiver<()>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let (tell, closed) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            let mut seen = [0; 1 << 12];
            let _some = socket.read(&mut seen);
            let _gone = socket.write_all(answer.as_bytes());
            drop(socket);
            let _nobody = tell.send(());
        }
    });
    (url, closed)
}

#[tokio::test]
async fn a_kept_connection_that_was_closed_is_replaced() {
    let (url, closed) = closing("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
    let stage = Stage::new(&before(&url, None)).await;
    for path in ["/v1/messages", "/v1/models"].repeat(40) {
        let request = match path {
            "/v1/models" => stage.post(path).method("GET").body(Bytes::new()),
            _ => stage.post(path).body(Bytes::from_static(b"{}")),
        };
        assert_eq!(stage.call(request.expect("a request")).await.status(), 200, "{path}");
        // A call that was sent before might have been read.
        closed.recv().expect("it is closed");
    }
}

#[tokio::test]
async fn an_upstream_that_switches_protocols_unasked_is_not_followed() {
    let (url, _) =
        closing("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n");
    let stage = Stage::new(&before(&url, None)).await;
    for path in ["/v1/messages", "/v1/files"] {
        let request = stage.post(path).body(Bytes::from_static(b"{}")).expect("a request");
        let reply = stage.call(request).await;
        let text = String::from_utf8_lossy(reply.body()).into_owned();
        assert!(reply.status() == 502 && text.contains("protocol switch"), "{text}");
    }
}

/// What is answered to these bytes until the connection is closed.
async fn answered(stage: &Stage, bytes: &[u8]) -> String {
    let address = stage.url.trim_start_matches("http://").to_owned();
    let mut client = TcpStream::connect(&address).await.expect("it listens");
    client.write_all(bytes).await.expect("it reads");
    let mut got = Vec::new();
    // Closed, or reset where there was more to read.
    let _end = client.read_to_end(&mut got).await;
    String::from_utf8_lossy(&got).into_owned()
}

#[tokio::test]
async fn a_head_that_nobody_can_read_is_answered_in_words() {
    let (url, _) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let stage = Stage::new(&before(&url, None)).await;
    let many =
        format!("GET /v1/models HTTP/1.1\r\nhost: localhost\r\n{}\r\n", "a: b\r\n".repeat(1_001));
    for (head, status) in [("GET / HTTP/1.1\r\nhost\r\n\r\n", 400), (&many, 431)] {
        let got = answered(&stage, head.as_bytes()).await;
        let (head, body) = got.split_once("\r\n\r\n").expect("an answer");
        let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
        assert_eq!(body["error"]["code"], "head");
    }
}

#[tokio::test]
async fn a_client_that_is_silent_in_a_body_is_told_so_on_every_path() {
    let (url, _) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let limits = ProxyLimits { silence: Duration::from_millis(50), ..ProxyLimits::default() };
    let stage = Stage::new(&ProxyOptions { limits, ..before(&url, None) }).await;
    for path in ["/v1/messages", "/v1/files"] {
        let head =
            format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{{");
        let got = answered(&stage, head.as_bytes()).await;
        assert!(got.starts_with("HTTP/1.1 408 "), "{path}: {got}");
    }
}

#[tokio::test]
async fn half_heads_keep_nobody_out() {
    let (url, _) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let head = Duration::from_millis(200);
    let limits = ProxyLimits { connections: 4, ..ProxyLimits::default() };
    let stage = Stage::new(&ProxyOptions { limits, ..before(&url, None) }).await;
    let address = stage.url.trim_start_matches("http://").to_owned();
    let mut halves = Vec::new();
    for _ in 0..12 {
        let mut client = TcpStream::connect(&address).await.expect("it listens");
        client.write_all(b"POST /v1/messages HTTP/1.1\r\nhost: lo").await.expect("it reads");
        halves.push(client);
    }
    let asked = tokio::time::timeout(Duration::from_secs(5), stage.get("/livez"));
    assert_eq!(asked.await.expect("in time").status(), 200);
    drop(halves);

    let limits = ProxyLimits { head, ..ProxyLimits::default() };
    let stage = Stage::new(&ProxyOptions { limits, ..before(&url, None) }).await;
    let half = answered(&stage, b"POST /v1/messages HTTP/1.1\r\nhost: lo");
    let got = tokio::time::timeout(Duration::from_secs(5), half).await.expect("it is closed");
    assert_eq!(got, "");
}

#[tokio::test]
async fn half_a_head_does_not_hold_the_end() {
    let (url, _) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let hour = Duration::from_hours(1);
    let limits =
        ProxyLimits { head: hour, drain: Duration::from_millis(10), ..ProxyLimits::default() };
    let stage = Stage::new(&ProxyOptions { limits, ..before(&url, None) }).await;
    let address = stage.url.trim_start_matches("http://").to_owned();
    let mut client = TcpStream::connect(&address).await.expect("it listens");
    client.write_all(b"POST /v1/messages HTTP/1.1\r\nhost: lo").await.expect("it reads");
    // It is served, or it would be refused at the end.
    assert_eq!(stage.get("/livez").await.status(), 200);
    stage.ended().await;
}
