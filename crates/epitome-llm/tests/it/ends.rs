//! Where an answer ends: what comes behind it doesn't matter, what ended too early isn't one.

use std::time::{Duration, Instant};

use epitome::Format;
use epitome::summarize::{FailureKind, SummarizeError, Summarizer as _, Summary, SummaryRequest};
use epitome_llm::{Limits, Model};
use std::sync::Arc;
use testkit::server::{Queue, Reply, Server};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::bench::{MODELS, ask, ask_at, endpoint, limits, request};
use crate::odd::{EVENTS, answer, canned};

/// All of an answer, `Well.`, for 7 tokens and 2.
pub(crate) fn stream(format: Format) -> String {
    let events: &[&str] = match format {
        Format::OpenaiResponses => &[
            r#"{"type":"response.output_text.delta","delta":"Well."}"#,
            r#"{"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":7,"output_tokens":2}}}"#,
        ],
        Format::Anthropic => &[
            r#"{"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}"#,
            r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"Well."}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}"#,
            r#"{"type":"message_stop"}"#,
        ],
        Format::Gemini => &[
            r#"{"candidates":[{"content":{"parts":[{"text":"Well."}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2}}"#,
        ],
        _ => &[
            r#"{"choices":[{"delta":{"content":"Well."},"finish_reason":"stop"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#,
            "[DONE]",
        ],
    };
    events.iter().flat_map(|event| ["data: ", event, "\n\n"]).collect()
}

/// An answer of which the connection doesn't say that it is all.
pub(crate) fn open_ended(kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\n{kind}transfer-encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n")
        .into_bytes()
}

async fn heard(socket: &mut TcpStream) {
    let mut request = Vec::new();
    while !request.ends_with(b"}") {
        let mut piece = [0; 4096];
        let size = socket.read(&mut piece).await.expect("a request");
        request.extend_from_slice(&piece[..size]);
    }
}

/// Answers one connection, and never closes it.
async fn held(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a client");
        heard(&mut socket).await;
        socket.write_all(&answer).await.expect("it listens");
        std::future::pending::<()>().await;
    });
    url
}

fn is_well(name: &str, answer: Result<Summary, SummarizeError>) {
    let summary = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
    let spent = summary.spent;
    assert_eq!((summary.text.as_str(), spent.requests), ("Well.", 1), "{name}");
    assert_eq!((spent.input, spent.output), (7, 2), "{name}");
}

#[tokio::test]
async fn an_answer_that_is_all_there_is_taken_whatever_its_connection_does() {
    for (format, model) in MODELS {
        let answer = open_ended(EVENTS, &stream(format));
        let (url, _task) = canned(vec![answer.clone()]).await;
        let cut = ask_at(endpoint(&url, format, model), limits(), None).await;
        is_well(&format!("{format} cut"), cut);
        let begun = Instant::now();
        let url = held(answer).await;
        let open = ask_at(endpoint(&url, format, model), limits(), None).await;
        is_well(&format!("{format} open"), open);
        assert!(begun.elapsed() < limits().silence / 2, "{format}");
    }
    let whole = r#"{"choices":[{"message":{"content":"Well."},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}"#;
    // No `[DONE]` behind it, and no event at all.
    let unsaid = stream(Format::OpenaiChat).replace("data: [DONE]\n\n", "");
    for (name, answer) in [
        ("whole", open_ended("content-type: application/json\r\n", whole)),
        ("unsaid", open_ended(EVENTS, &unsaid)),
    ] {
        let (url, _task) = canned(vec![answer.clone()]).await;
        let here = endpoint(&url, Format::OpenaiChat, "gpt-4o");
        is_well(name, ask_at(here, limits(), None).await);
        let begun = Instant::now();
        let here = endpoint(&held(answer).await, Format::OpenaiChat, "gpt-4o");
        // Less than it may be silent in the middle.
        let short = Limits { total: Duration::from_secs(3), ..limits() };
        is_well(name, ask_at(here, short, None).await);
        assert!(begun.elapsed() < short.total, "{name}");
    }
}

#[tokio::test]
async fn what_reached_its_limit_is_no_summary_and_not_asked_for_again() {
    let stops = ["length", "max_output_tokens", "max_tokens", "MAX_TOKENS"];
    for ((format, model), stop) in MODELS.into_iter().zip(stops) {
        let reply = Reply { stop: Some(stop.to_owned()), ..Reply::text("## Goal\nTo mend the") };
        let server = Server::new(Queue::new([reply.into(), Reply::text("Well.").into()]));
        let (answer, running) = ask(server, (format, model), limits()).await;
        let error = answer.expect_err("it isn't all");
        assert_eq!(error.kind, FailureKind::CutShort, "{format}: {error}");
        assert!(error.detail.contains("its token limit"), "{format}: {error}");
        assert_eq!(running.recorded().len(), 1, "{format}");
    }
    let stop = Some("content_filter".to_owned());
    let filtered = Reply { stop, ..Reply::text("## Goal\nTo") };
    let (answer, _) = ask(Server::new(Queue::new([filtered.into()])), MODELS[1], limits()).await;
    assert_eq!(answer.expect_err("it is filtered").kind, FailureKind::Refusal);
}

fn most(heard: &str) -> u64 {
    let (_, body) = heard.split_once("\r\n\r\n").expect("a body");
    let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
    body["max_tokens"].as_u64().expect("a limit")
}

/// A server of one's own, whose model turns out to reason.
#[tokio::test]
async fn reasoning_that_took_all_is_given_room_once() {
    let end = |delta: &str, why: &str| {
        let event = format!(r#"{{"choices":[{{"delta":{delta},"finish_reason":"{why}"}}]}}"#);
        answer("200 OK", EVENTS, format!("data: {event}\n\ndata: [DONE]\n\n").as_bytes())
    };
    let well = || end(r#"{"content":"Well."}"#, "stop");
    for thought in [
        r#"{"reasoning_content":"Hm."}"#,
        r#"{"reasoning":"Hm.","content":""}"#,
        r#"{"content":"<think>Hm."}"#,
    ] {
        let (url, task) = canned(vec![end(thought, "length"), well()]).await;
        let here = endpoint(&url, Format::OpenaiChat, "home-made");
        let summary = ask_at(here, limits(), None).await.expect("there is room now");
        assert_eq!((summary.text.as_str(), summary.spent.requests), ("Well.", 2), "{thought}");
        let heard = task.await.expect("the server ends");
        assert_eq!([most(&heard[0]), most(&heard[1])], [600, 16_600], "{thought}");
    }
    // Twice is enough, and words that aren't reasoning don't get more room.
    let (url, _task) = canned(vec![end(r#"{"reasoning":"Hm."}"#, "length"); 2]).await;
    let here = endpoint(&url, Format::OpenaiChat, "home-made");
    let error = ask_at(here, limits(), None).await.expect_err("it only reasons");
    assert_eq!((error.kind, error.spent.requests), (FailureKind::CutShort, 2));
    assert!(error.detail.ends_with("of which reasoning took all"), "{error}");
    let (url, _task) = canned(vec![end(r#"{"content":"To","reasoning":"Hm."}"#, "length")]).await;
    let here = endpoint(&url, Format::OpenaiChat, "home-made");
    let error = ask_at(here, limits(), None).await.expect_err("it isn't all");
    assert_eq!((error.kind, error.spent.requests), (FailureKind::CutShort, 1));
    // The window holds both: what is read, and what comes out.
    let (url, task) = canned(vec![end(r#"{"reasoning":"Hm."}"#, "length"), well()]).await;
    let here = endpoint(&url, Format::OpenaiChat, "home-made");
    let model = Arc::new(Model::new(here, limits(), None).expect("a good endpoint"));
    let long = SummaryRequest { transcript: "a word or two ".repeat(3_000), ..request() };
    model.summarize(Arc::new(long)).await.expect("there is room now");
    let heard = task.await.expect("the server ends");
    assert!(most(&heard[1]) > 600 && most(&heard[1]) < 16_600, "{}", most(&heard[1]));
}

#[tokio::test]
async fn a_complaint_is_read_as_far_as_it_may_be_long() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a client");
        heard(&mut socket).await;
        let head = b"HTTP/1.1 400 Bad Request\r\ntransfer-encoding: chunked\r\n\r\n";
        socket.write_all(head).await.expect("it listens");
        let chunk = [&b"10000\r\n"[..], &vec![b'x'; 0x10000], b"\r\n"].concat();
        let mut sent = 0_usize;
        while socket.write_all(&chunk).await.is_ok() {
            sent += chunk.len();
        }
        sent
    });
    let here = endpoint(&url, Format::OpenaiChat, "gpt-4o");
    let error = ask_at(here, limits(), None).await.expect_err("it is refused");
    assert_eq!((error.kind, error.detail.as_str()), (FailureKind::Rejected, "400 Bad Request"));
    // What is on the way is in the system's buffers.
    let sent = server.await.expect("nobody listens any more");
    assert!(sent < 64 << 20, "{sent}");
}

#[tokio::test]
async fn a_retry_after_the_deadline_is_given_up_at_once() {
    let date = "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let until = format!("{date}retry-after: Sun, 06 Nov 1994 09:49:37 GMT\r\n");
    for headers in ["retry-after: 3600\r\n", &until] {
        let later = answer("429 Too Many Requests", headers, br#"{"error":"slowly"}"#);
        let (url, _task) = canned(vec![later]).await;
        let begun = Instant::now();
        let here = endpoint(&url, Format::OpenaiChat, "gpt-4o");
        let error = ask_at(here, limits(), None).await.expect_err("it is too late then");
        assert!(begun.elapsed() < limits().total / 2);
        let told = "429 Too Many Requests: slowly; not before 3600 s from now";
        assert_eq!((error.kind, error.detail.as_str()), (FailureKind::RateLimited, told));
        assert_eq!(error.spent.requests, 1);
    }
    // A date that is past is now.
    let past = format!("{date}retry-after: Sun, 06 Nov 1994 08:00:00 GMT\r\n");
    let later = answer("429 Too Many Requests", &past, b"{}");
    let well = answer("200 OK", EVENTS, stream(Format::OpenaiChat).as_bytes());
    let (url, _task) = canned(vec![later, well]).await;
    let here = endpoint(&url, Format::OpenaiChat, "gpt-4o");
    assert_eq!(ask_at(here, limits(), None).await.expect("an answer").spent.requests, 2);
}
