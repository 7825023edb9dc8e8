//! Servers that make no sense, byte by byte.

use std::time::{Duration, Instant};

use epitome::Format;
use epitome::summarize::{FailureKind, SummarizeError, Summary};
use epitome_llm::Limits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::bench::{KEY, ask_at, endpoint, limits};

/// Answers each connection with the next of these, and tells what it was sent.
pub(crate) async fn canned(answers: Vec<Vec<u8>>) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let task = tokio::spawn(async move {
        let mut heard = Vec::new();
        for answer in answers {
            let (mut socket, _) = listener.accept().await.expect("a client");
            let mut request = Vec::new();
            // The body is the last thing, and ends as JSON does.
            while !request.ends_with(b"}") {
                let mut piece = [0; 4096];
                let size = socket.read(&mut piece).await.expect("a request");
                request.extend_from_slice(&piece[..size]);
            }
            heard.push(String::from_utf8_lossy(&request).into_owned());
            socket.write_all(&answer).await.expect("it listens");
        }
        heard
    });
    (url, task)
}

pub(crate) fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut out = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
    )
    .into_bytes();
    out.extend_from_slice(body);
    out
}

async fn told(answers: Vec<Vec<u8>>) -> (Result<Summary, SummarizeError>, Vec<String>) {
    let (url, task) = canned(answers).await;
    let answer = ask_at(endpoint(&url, Format::OpenaiChat, "home-made"), limits(), None).await;
    (answer, task.await.expect("the server ends"))
}

pub(crate) const EVENTS: &str = "content-type: text/event-stream\r\n";

#[tokio::test]
async fn a_page_instead_of_an_answer_is_no_answer() {
    let page = answer("200 OK", "content-type: text/html\r\n", b"<html>Welcome</html>");
    let error = told(vec![page]).await.0.expect_err("a page");
    assert_eq!(error.to_string(), "the answer can't be read: text/html, neither events nor JSON");
    let page = answer("502 Bad Gateway", "content-type: text/html\r\n", b"<html>Oops</html>");
    let error = told(vec![page; 3]).await.0.expect_err("a page");
    assert_eq!((error.kind, error.detail.as_str()), (FailureKind::Upstream, "502 Bad Gateway"));
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (elsewhere, _task) = canned(vec![answer("200 OK", EVENTS, b"")]).await;
    let away = answer("307 Temporary Redirect", &format!("location: {elsewhere}/v1\r\n"), b"");
    let (answered, heard) = told(vec![away]).await;
    let error = answered.expect_err("it leads away");
    assert_eq!(error.kind, FailureKind::Rejected);
    assert!(error.detail.contains("aren't followed"), "{error}");
    assert!(heard.len() == 1 && heard[0].contains(KEY), "only this one was told the key");
}

#[tokio::test]
async fn bytes_that_are_no_text_and_streams_that_end_early_are_told() {
    let choice =
        b"{\"choices\":[{\"delta\":{\"content\":\"a\xff\xfe\"},\"finish_reason\":\"stop\"}]}";
    let stream = [&b"data: "[..], choice, b"\n\ndata: [DONE]\n\n"].concat();
    let whole =
        [&b"{\"choices\":[{\"message\":{\"content\":\"\xc3\"},\"finish_reason\":\"stop\"}]}"[..]];
    for bad in [
        answer("200 OK", EVENTS, &stream),
        answer("200 OK", "content-type: application/json\r\n", &whole.concat()),
    ] {
        let error = told(vec![bad]).await.0.expect_err("no text");
        assert_eq!(error.kind, FailureKind::Malformed, "{error}");
    }
    let early =
        answer("200 OK", EVENTS, b"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n");
    let error = told(vec![early; 3]).await.0.expect_err("nobody said that this is all");
    assert_eq!(error.kind, FailureKind::CutShort);
    let empty = answer("200 OK", EVENTS, b"");
    assert_eq!(told(vec![empty; 3]).await.0.expect_err("nothing").kind, FailureKind::CutShort);
}

#[tokio::test]
async fn an_answer_that_is_not_streamed_is_accepted() {
    let json = br#"{"choices":[{"message":{"role":"assistant","content":"Well."},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
    let (answered, heard) =
        told(vec![answer("200 OK", "content-type: application/json\r\n", json)]).await;
    let summary = answered.expect("an answer");
    assert_eq!((summary.text.as_str(), summary.spent.input, summary.spent.output), ("Well.", 7, 2));
    assert!(heard[0].starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", heard[0]);
    let error = br#"{"error":{"message":"out of memory","type":"server_error"}}"#;
    let error = answer("200 OK", "content-type: application/json\r\n", error);
    let error = told(vec![error; 3]).await.0.expect_err("an error in a 200");
    assert_eq!((error.kind, error.detail.as_str()), (FailureKind::Upstream, "out of memory"));
}

#[tokio::test]
async fn it_waits_as_long_as_the_server_says() {
    let later = answer("429 Too Many Requests", "retry-after: 1\r\n", b"{}");
    let well = answer("200 OK", EVENTS, b"data: {\"choices\":[{\"delta\":{\"content\":\"Well.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    let begun = Instant::now();
    assert_eq!(told(vec![later, well]).await.0.expect("an answer").text, "Well.");
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_closed_port_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let limits = Limits { retries: 0, ..limits() };
    let error =
        ask_at(endpoint(&url, Format::OpenaiChat, "m"), limits, None).await.expect_err("nobody");
    assert_eq!(error.kind, FailureKind::Unreachable, "{error}");
}
