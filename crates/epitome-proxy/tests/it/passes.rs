//! What isn't compacted passes byte for byte, both ways.

use std::io::Write as _;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Version};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

use crate::noting::{piecewise, upstream, whole};
use crate::stage::{Stage, before};
use epitome::word_list::words;

/// What is of one connection, or says where the other side is.
const HOPS: [&str; 12] = words!(
    "connection content-length date expect host keep-alive proxy-authorization proxy-connection te \
     trailer transfer-encoding upgrade"
);

/// Headers besides those of connections, and besides those that say how a body is packed.
fn headers() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let name = "[a-z][a-z0-9-]{0,20}".prop_filter("of a connection", |name| {
        !HOPS.contains(&name.as_str()) && !["origin", "content-encoding"].contains(&name.as_str())
    });
    // Visible, with spaces inside, and beyond ASCII.
    let value = "[!-~]([ -~\u{80}-\u{ff}]{0,30}[!-~])?"
        .prop_map(|text| text.chars().map(|c| c as u8).collect());
    prop::collection::vec((name, value), 0..12)
}

fn map(headers: &[(String, Vec<u8>)]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let name: HeaderName = name.parse().expect("a name");
        map.append(name, HeaderValue::from_bytes(value).expect("a value"));
    }
    map
}

fn without_hops(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    for name in HOPS {
        headers.remove(name);
    }
    headers
}

fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let chat = "[ -~é]{0,60}".prop_map(|text| {
        let text = serde_json::Value::from(text);
        format!("{{ \"model\" : \"m\",\n\"messages\":[{{\"content\":{text}, \"role\":\"user\"}}], \"x\":1.0e2 }}").into_bytes()
    });
    prop_oneof![chat, prop::collection::vec(any::<u8>(), 0..2000), Just(Vec::new())]
}

const PATHS: [&str; 7] = words!(
    "/v1/messages /v1/messages/count_tokens?beta=true /v1/chat/completions /v1/responses \
     /v1beta/models/m:generateContent?key=k /v1/files?purpose=a%20b /anything/else"
);

/// What the upstream answers next.
type Answer = Arc<Mutex<(u16, HeaderMap, Vec<u8>)>>;

#[test]
fn bytes_and_headers_are_the_same_on_both_sides() {
    let runtime = Runtime::new().expect("threads");
    let next = Answer::default();
    let (stage, book) = runtime.block_on(async {
        let next = Arc::clone(&next);
        let answer = move |_: &http::request::Parts| {
            let (status, headers, body) = next.lock().expect("nobody panicked").clone();
            let mut reply = Response::new(whole(body));
            *reply.status_mut() = StatusCode::from_u16(status).expect("a status");
            *reply.headers_mut() = headers;
            std::future::ready(reply)
        };
        let (url, book) = upstream(answer).await;
        (Stage::new(&before(&url, Some(100_000))).await, book)
    });
    let statuses = prop::sample::select(vec![200_u16, 201, 301, 400, 401, 404, 413, 429, 500, 529]);
    let cases =
        (prop::sample::select(&PATHS[..]), headers(), bodies(), statuses, headers(), bodies());
    let mut runner = TestRunner::default();
    let tested = runner.run(&cases, |(path, sent, body, status, replied, reply)| {
        *next.lock().expect("nobody panicked") = (status, map(&replied), reply.clone());
        let mut request = Request::post(format!("{}{path}", stage.url));
        *request.headers_mut().expect("well-formed so far") = map(&sent);
        let request = request.body(Bytes::from(body.clone())).expect("a request");
        let got = runtime.block_on(stage.call(request));
        let (head, came) = book.lock().expect("nobody panicked").pop().expect("it was forwarded");
        prop_assert_eq!(&came[..], &body[..]);
        prop_assert_eq!(head.uri.path_and_query().map(ToString::to_string), Some(path.to_owned()));
        prop_assert_eq!(without_hops(&head.headers), map(&sent));
        prop_assert_eq!(got.status().as_u16(), status);
        prop_assert_eq!(without_hops(got.headers()), map(&replied));
        prop_assert_eq!(&got.body()[..], &reply[..]);
        Ok(())
    });
    tested.expect("every case passes");
}

#[tokio::test]
async fn many_header_fields_pass_both_ways() {
    let many = || (0..900).map(|nth| format!("x-field-{nth}"));
    let answer = move |_: &http::request::Parts| {
        let mut reply = Response::new(whole("{}"));
        let fields = many().map(|name| name.parse::<HeaderName>().expect("a name"));
        reply.headers_mut().extend(fields.map(|name| (name, HeaderValue::from_static("1"))));
        std::future::ready(reply)
    };
    let (url, book) = upstream(answer).await;
    let stage = Stage::new(&before(&url, None)).await;
    for path in words!("/v1/messages /v1/files") {
        let request = many().fold(stage.post(path), |request, name| request.header(name, "1"));
        let reply = stage.call(request.body(Bytes::from_static(b"{}")).expect("a request")).await;
        let (head, _) = book.lock().expect("nobody panicked").pop().expect("it was forwarded");
        assert_eq!(reply.status(), 200, "{path}");
        assert!(many().all(|name| head.headers.contains_key(&name)), "{path}");
        assert!(many().all(|name| reply.headers().contains_key(&name)), "{path}");
    }
}

pub(crate) fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::default());
    packer.write_all(plain).expect("memory takes everything");
    packer.finish().expect("memory takes everything")
}

fn long() -> Vec<u8> {
    let said = |n| {
        format!(
            r#"{{"role":"user","content":"Look at file {n}. {}"}},{{"role":"assistant","content":"I did."}}"#,
            "It is long. ".repeat(40)
        )
    };
    let said: Vec<String> = (0..40).map(said).collect();
    format!(
        r#"{{"model":"m","messages":[{},{{"role":"user","content":"Go on."}}]}}"#,
        said.join(",")
    )
    .into_bytes()
}

#[tokio::test]
async fn packed_bodies_are_read_and_stay_packed_while_nothing_is_compacted() {
    let (url, book) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    for (encoding, body) in
        [("gzip", gzip(&long())), ("zstd", zstd::encode_all(&long()[..], 3).expect("packed"))]
    {
        for (window, is_compacted) in [(1_000_000, false), (4_000, true)] {
            let stage = Stage::new(&before(&url, Some(window))).await;
            let request = stage.post("/v1/chat/completions").header("content-encoding", encoding);
            stage.call(request.body(Bytes::from(body.clone())).expect("a request")).await;
            let (head, came) =
                book.lock().expect("nobody panicked").pop().expect("it was forwarded");
            assert_eq!(came != body, is_compacted, "{encoding}");
            assert_eq!(head.headers.contains_key("content-encoding"), !is_compacted);
            if is_compacted {
                assert_eq!(head.headers["content-length"], came.len().to_string());
                assert!(
                    serde_json::from_slice::<serde_json::Value>(&came).is_ok()
                        && came.len() < long().len()
                );
            }
        }
    }
}

#[tokio::test]
async fn a_stream_passes_piece_by_piece_and_its_cut_is_a_cut() {
    let (write, body) = piecewise();
    let body = Arc::new(Mutex::new(Some(body)));
    let answer = move |_: &http::request::Parts| {
        let body = body.lock().expect("nobody panicked").take().expect("it is asked once");
        let mut reply = Response::new(body);
        reply.headers_mut().insert("content-type", HeaderValue::from_static("text/event-stream"));
        std::future::ready(reply)
    };
    let (url, _) = upstream(answer).await;
    let stage = Stage::new(&before(&url, None)).await;
    let request =
        stage.post("/v1/messages").body(Bytes::from_static(br#"{"model":"m","messages":[]}"#));
    let mut pieces = ["event: ping\ndata: {}\n\n", "event: pi", ": half a lin"].into_iter();
    // The head goes on with the first event, which may say that the prompt is too long.
    let mut expected = pieces.next().expect("there are three");
    write.send(Bytes::from(expected)).await.expect("somebody reads");
    let mut reply = stage.send(request.expect("a request")).await.into_body();
    loop {
        let frame = reply.frame().await.expect("a piece").expect("no error");
        assert_eq!(frame.into_data().expect("data"), expected);
        // The next is written only when this one has arrived.
        let Some(next) = pieces.next() else { break };
        expected = next;
        write.send(Bytes::from(expected)).await.expect("somebody reads");
    }
    drop(reply);
    // The client is gone, and so is whoever reads the upstream.
    write.closed().await;
}

#[tokio::test]
async fn a_reply_that_breaks_off_breaks_off_for_the_client_too() {
    use testkit::server::{Fault, Next, Queue, Reply, Server, script::Broken, shell};
    for after in 0..6 {
        let broken = |fault| {
            let reply =
                Reply { broken: Some(Broken { after, fault }), ..Reply::text("Some words.") };
            Next::Reply(reply)
        };
        // What closes a kept connection before it answers is asked again, once for each that is kept.
        let last = [(); 4].map(|()| broken(None));
        let first = [broken(None), broken(Some(Fault::Overloaded))];
        let script = Queue::new(first.into_iter().chain(last));
        let running = shell::start(Server::new(script)).await.expect("a free port");
        let stage = Stage::new(&before(&running.url, None)).await;
        let request = |stream| {
            let body = format!(
                r#"{{"model":"claude-opus-5-5","max_tokens":9,"stream":{stream},"messages":[{{"role":"user","content":"Go."}}]}}"#
            );
            let request = stage.post("/v1/messages").header("anthropic-version", "2023-06-01");
            request.body(Bytes::from(body)).expect("a request")
        };
        // Cut so early that the upstream's head never left it, or in the middle; never at a proper end.
        let cut = stage.send(request(true)).await;
        let status = cut.status();
        let is_whole = cut.into_body().collect().await.is_ok();
        assert!(status == 502 || status == 200 && !is_whole, "{after}: {status} {is_whole}");
        let told = stage.call(request(true)).await;
        assert!(String::from_utf8_lossy(told.body()).contains("overloaded_error"));
        let half = stage.send(request(false)).await;
        let status = half.status();
        let is_whole = half.into_body().collect().await.is_ok();
        assert!(status == 502 || status == 200 && !is_whole, "{after}: {status} {is_whole}");
    }
}

#[tokio::test]
async fn clients_may_speak_http_2() {
    let (url, book) = upstream(|_| std::future::ready(Response::new(whole("an answer")))).await;
    let stage = Stage::new(&before(&url, None)).await;
    let client = Client::builder(TokioExecutor::new()).http2_only(true).build_http();
    for path in PATHS {
        let request = stage.post(path).header("x-own", "1").body(Full::new(Bytes::from("{}")));
        let reply = client.request(request.expect("a request")).await.expect("an answer");
        assert_eq!(reply.into_body().collect().await.expect("a body").to_bytes(), "an answer");
        let (head, body) = book.lock().expect("nobody panicked").pop().expect("it was forwarded");
        let host = head.headers["host"].to_str().expect("a name").to_owned();
        assert_eq!((head.version, format!("http://{host}")), (Version::HTTP_11, url.clone()));
        assert_eq!((&body[..], head.headers["x-own"].as_bytes()), (&b"{}"[..], &b"1"[..]));
    }
}

/// An upstream that answers all with these bytes, and closes.
async fn answering(bytes: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut seen = vec![0; 1 << 16];
            let _some = socket.read(&mut seen).await.expect("a request");
            socket.write_all(bytes.as_bytes()).await.expect("it is read");
        }
    });
    url
}

#[tokio::test]
async fn what_came_before_a_break_arrives() {
    for (bytes, status) in [
        ("HTTP/1.1 429 Slow\r\nretry-after: 7\r\ncontent-length: 50\r\n\r\n{\"error\":", 429),
        (
            "HTTP/1.1 200 OK\r\nretry-after: 7\r\ncontent-type: text/event-stream\r\ncontent-length: 50\r\n\r\n: go\n",
            200,
        ),
    ] {
        let stage = Stage::new(&before(&answering(bytes).await, None)).await;
        let body = Bytes::from_static(br#"{"model":"m","messages":[]}"#);
        let request = stage.post("/v1/messages").body(body).expect("a request");
        let reply = stage.send(request).await;
        assert_eq!(reply.status(), status);
        assert_eq!(reply.headers()["retry-after"], "7");
        assert!(reply.into_body().collect().await.is_err(), "it breaks off");
    }
}

#[tokio::test]
async fn chunks_override_a_content_length() {
    let bytes = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n9\r\n{\"a\":\"b\"}\r\n0\r\n\r\n";
    let stage = Stage::new(&before(&answering(bytes).await, None)).await;
    let request = stage.post("/v1/files").body(Bytes::from_static(b"{}")).expect("a request");
    assert_eq!(stage.call(request).await.body(), &Bytes::from_static(br#"{"a":"b"}"#));
}
