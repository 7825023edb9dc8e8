//! Bombs, giants, clients that leave, upstreams that are down.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use epitome_proxy::{ProxyLimits, ProxyOptions};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderValue, Response};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use crate::noting::{piecewise, upstream, whole};
use crate::stage::{Stage, before};

fn limited(url: &str, limits: ProxyLimits) -> ProxyOptions {
    ProxyOptions { limits, ..before(url, Some(1_000)) }
}

#[tokio::test]
async fn bombs_and_giants_pass_untouched_and_are_counted() {
    let (url, book) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(&vec![b' '; 8 << 20]).expect("memory takes everything");
    let bomb = packer.finish().expect("memory takes everything");
    assert!(bomb.len() < 1 << 14);
    let giant = vec![b'a'; 2 << 20];
    let small = ProxyLimits { body: 1 << 20, ..ProxyLimits::default() };
    let full = ProxyLimits { held: 1 << 10, ..ProxyLimits::default() };
    for (limits, encoding, body, reason) in [
        (small, Some("gzip"), &bomb, "large"),
        (small, Some("lzma"), &bomb, "encoding"),
        (small, Some("zstd"), &bomb, "encoding"),
        (small, None, &giant, "large"),
        (full, None, &giant, "busy"),
    ] {
        let stage = Stage::new(&limited(&url, limits)).await;
        let mut request =
            stage.post("/v1/messages").body(Bytes::from(body.clone())).expect("a request");
        if let Some(encoding) = encoding {
            request.headers_mut().insert("content-encoding", HeaderValue::from_static(encoding));
        }
        assert_eq!(stage.call(request).await.status(), 200);
        let (head, came) = book.lock().expect("nobody panicked").pop().expect("it was forwarded");
        assert!(
            came == body && head.headers.get("content-encoding").is_some() == encoding.is_some()
        );
        assert_eq!(stage.meter("passed", &[&format!("reason=\"{reason}\"")]).await, 1, "{reason}");
    }
}

#[tokio::test]
async fn an_upstream_that_is_down_is_said_in_the_providers_words() {
    // A port that nobody listens on.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    drop(listener);
    let stage = Stage::new(&before(&url, None)).await;
    for (path, kind, at) in [
        ("/v1/messages", "api_error", "/error/type"),
        ("/v1/responses", "server_error", "/error/type"),
        ("/v1/embeddings", "upstream", "/error/code"),
        ("/v1beta/models/m:generateContent", "UNAVAILABLE", "/error/status"),
    ] {
        let request = stage.post(path).header("authorization", "Bearer secret-of-a-user");
        let reply = stage.call(request.body(Bytes::from_static(b"{}")).expect("a request")).await;
        assert_eq!(reply.status(), 502);
        let text = String::from_utf8_lossy(reply.body()).into_owned();
        let body: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(body.pointer(at).and_then(serde_json::Value::as_str), Some(kind), "{text}");
        assert!(text.contains("refused") && !text.contains("secret"), "{text}");
    }
    assert_eq!(stage.meter("requests", &["outcome=\"unreachable\""]).await, 4);
}

#[tokio::test]
async fn an_upstream_that_hangs_up_is_said_to_have_done_so() {
    // In the middle of the request, and once it has read all of it.
    for most in [100, usize::MAX] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (mut read, mut some) = (Vec::new(), [0; 1 << 14]);
                while read.len() < most && !read.ends_with(b"a\"}") {
                    let count = stream.read(&mut some).await.expect("it is sent");
                    read.extend_from_slice(&some[..count]);
                }
            }
        });
        let stage = Stage::new(&before(&url, None)).await;
        for path in ["/v1/messages", "/v1/embeddings"] {
            let body = format!(r#"{{"input":"{}"}}"#, "a".repeat(8 << 20));
            let request = stage.post(path).body(Bytes::from(body)).expect("a request");
            let reply = stage.call(request).await;
            let text = String::from_utf8_lossy(reply.body()).into_owned();
            assert_eq!(reply.status(), 502, "{text}");
            assert!(text.contains("closed the connection before it answered"), "{text}");
        }
    }
}

/// As llama.cpp does behind a stream: it says that it keeps the connection, and closes it while the next request is on its way.
#[tokio::test]
async fn a_kept_connection_that_is_closed_under_a_request_is_no_refusal() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let served = tokio::spawn(async move {
        for _ in 0..6 {
            let (mut stream, _) = listener.accept().await.expect("it connects");
            let (mut read, mut some) = (Vec::new(), [0; 1 << 14]);
            while !read.ends_with(b"a\"}") {
                let count = stream.read(&mut some).await.expect("it is sent");
                read.extend_from_slice(&some[..count]);
            }
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
            stream.write_all(answer).await.expect("it is read");
            // The next request has begun to arrive.
            stream.peek(&mut [0]).await.expect("it is sent");
        }
    });
    let stage = Stage::new(&before(&url, None)).await;
    for bytes in [9, 9, 8 << 20, 8 << 20, 9, 9] {
        let body = Bytes::from(format!(r#"{{"model":"m","messages":"{}"}}"#, "a".repeat(bytes)));
        let request = stage.post("/v1/messages").body(body).expect("a request");
        let reply = stage.call(request).await;
        assert_eq!(reply.status(), 200, "{:?}", reply.body());
    }
    assert!(!served.is_finished(), "the last connection is kept");
}

#[tokio::test]
async fn an_upstream_that_never_answers_is_given_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let patience = Duration::from_millis(50);
    let stage =
        Stage::new(&limited(&url, ProxyLimits { patience, ..ProxyLimits::default() })).await;
    let request = stage.post("/v1/messages").body(Bytes::from_static(b"{}")).expect("a request");
    assert_eq!(stage.call(request).await.status(), 504);
}

#[tokio::test]
async fn what_a_stream_opens_with_is_not_held_back_for_long() {
    let created = "data: {\"type\":\"response.created\"}\n\n";
    let (write, body) = piecewise();
    let body = Arc::new(std::sync::Mutex::new(Some(body)));
    let answer = move |_: &http::request::Parts| {
        let body = body.lock().expect("nobody panicked").take().expect("it is asked once");
        let mut reply = Response::new(body);
        reply.headers_mut().insert("content-type", HeaderValue::from_static("text/event-stream"));
        std::future::ready(reply)
    };
    let (url, _) = upstream(answer).await;
    let opening = Duration::from_millis(50);
    let stage = Stage::new(&limited(&url, ProxyLimits { opening, ..ProxyLimits::default() })).await;
    let body = Bytes::from_static(br#"{"model":"m","input":[{"role":"user","content":"Hi."}]}"#);
    write.send(Bytes::from(created)).await.expect("somebody reads");
    let reply = stage.send(stage.post("/v1/responses").body(body).expect("a request")).await;
    let mut reply = reply.into_body();
    let frame =
        http_body_util::BodyExt::frame(&mut reply).await.expect("a piece").expect("no error");
    assert_eq!(frame.into_data().expect("data"), created);
}

#[tokio::test]
async fn a_client_that_leaves_before_the_answer_cancels_it() {
    // Asked, and left alone with the answer.
    let (asked, left) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (begun, gone) = (Arc::clone(&asked), Arc::clone(&left));
    let answer = move |_: &http::request::Parts| {
        let (asked, left) = (Arc::clone(&begun), Arc::clone(&gone));
        async move {
            struct Leaving(Arc<Notify>);
            impl Drop for Leaving {
                fn drop(&mut self) {
                    self.0.notify_one();
                }
            }
            let _leaving = Leaving(left);
            asked.notify_one();
            std::future::pending::<()>().await;
            Response::new(whole(""))
        }
    };
    let (url, _) = upstream(answer).await;
    let stage = Stage::new(&before(&url, None)).await;
    let address = stage.url.trim_start_matches("http://").to_owned();
    let mut client = TcpStream::connect(&address).await.expect("it listens");
    let request = "POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}";
    client.write_all(request.as_bytes()).await.expect("it reads");
    asked.notified().await;
    drop(client);
    left.notified().await;
}

#[tokio::test]
async fn clients_that_are_slow_are_closed() {
    let (url, _) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let short = Duration::from_millis(50);
    let limits = ProxyLimits { head: short, silence: short, ..ProxyLimits::default() };
    let stage = Stage::new(&limited(&url, limits)).await;
    let address = stage.url.trim_start_matches("http://").to_owned();
    for (begin, answer) in [
        ("", ""),
        ("P", ""),
        ("PRI * HTTP/2.0\r\n", ""),
        ("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\n", ""),
        ("POST /v1/messages HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{", "408"),
    ] {
        let mut client = TcpStream::connect(&address).await.expect("it listens");
        client.write_all(begin.as_bytes()).await.expect("it reads");
        let mut got = String::new();
        client.read_to_string(&mut got).await.expect("it is closed");
        assert!(got.contains(answer), "{got}");
    }
}

#[tokio::test]
async fn what_is_under_way_is_finished_before_the_end() {
    let (write, body) = piecewise();
    let body = Arc::new(std::sync::Mutex::new(Some(body)));
    let answer = move |_: &http::request::Parts| {
        let body = body.lock().expect("nobody panicked").take().expect("it is asked once");
        std::future::ready(Response::new(body))
    };
    let (url, _) = upstream(answer).await;
    let mut stage = Stage::new(&before(&url, None)).await;
    let address = stage.url.trim_start_matches("http://").to_owned();
    let request = stage.post("/v1/messages").body(Bytes::from_static(b"{}")).expect("a request");
    let reply = stage.send(request).await;
    stage.end();
    // Nothing new is begun: where nobody listens, nobody is connected.
    while TcpStream::connect(&address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    write.send(Bytes::from_static(b"the end")).await.expect("somebody reads");
    drop(write);
    let body = http_body_util::BodyExt::collect(reply.into_body()).await.expect("a body");
    assert_eq!(body.to_bytes(), "the end");
    stage.ended().await;
}
