//! Refusals that come with status 200.

use std::io::Read as _;
use std::time::Duration;

use bytes::Bytes;
use epitome_proxy::{ManagementToken, ProxyMode, ProxyOptions};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Response};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::noting::{Book, Written, piecewise, upstream, whole};
use crate::passes::gzip;
use crate::stage::{Stage, before};

const WINDOW: u64 = 200_000;

/// A prompt of more bytes is refused.
const MOST: usize = 30_000;

/// A conversation of a few steps with long results.
fn chat(is_streaming: bool) -> Value {
    let step = |at: usize| {
        let id = format!("c{at}");
        let call =
            json!({"id": id, "type": "function", "function": {"name": "run", "arguments": "{}"}});
        let words: Vec<String> = (0..200).map(|nth| format!("w{at}{nth}")).collect();
        [
            json!({"role": "assistant", "content": null, "tool_calls": [call]}),
            json!({"role": "tool", "tool_call_id": id, "content": words.join(" ")}),
        ]
    };
    let task = json!({"role": "user", "content": "Build it."});
    let messages: Vec<Value> = [task].into_iter().chain((0..30).flat_map(step)).collect();
    let tool =
        json!({"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}});
    json!({"model": "m", "stream": is_streaming, "messages": messages, "tools": [tool]})
}

fn reply(kind: &'static str, body: Written) -> Response<Written> {
    let mut reply = Response::new(body);
    reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    reply
}

/// How an upstream answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Json,
    Gzip,
    Events,
}

const ANSWERS: [Answer; 3] = [Answer::Json, Answer::Gzip, Answer::Events];

/// An upstream that answers long prompts with this error, and status 200.
async fn refusing(error: Value, answer: Answer) -> (String, Book) {
    upstream(move |head| {
        let sent = head.headers[CONTENT_LENGTH].to_str().ok().and_then(|it| it.parse().ok());
        let is_long = sent.is_some_and(|bytes: usize| bytes > MOST);
        let fine =
            json!({"choices": [{"message": {"content": "fine"}, "delta": {"content": "fine"}}]});
        let said = if is_long { error.clone() } else { fine };
        std::future::ready(match answer {
            Answer::Json => reply("application/json", whole(said.to_string())),
            Answer::Events => reply("text/event-stream", whole(format!("data: {said}\n\n"))),
            Answer::Gzip => {
                let mut reply = reply("application/json", whole(gzip(said.to_string().as_bytes())));
                reply.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
                reply
            }
        })
    })
    .await
}

/// What a client is answered.
async fn answered(stage: &Stage, answer: Answer) -> String {
    let body = Bytes::from(chat(answer == Answer::Events).to_string());
    let request = stage.post("/v1/chat/completions").body(body).expect("a request");
    let reply = stage.call(request).await;
    let mut text = String::new();
    if reply.headers().contains_key(CONTENT_ENCODING) {
        let read = flate2::read::GzDecoder::new(&reply.body()[..]).read_to_string(&mut text);
        read.expect("it is packed");
        return text;
    }
    String::from_utf8_lossy(reply.body()).into_owned()
}

const TOLD: &str = "This model's maximum context length is 20096 tokens. However, your messages resulted in 50000 tokens.";

fn errors() -> [Value; 4] {
    let error = json!({"error": {"message": TOLD, "code": 400}, "user_id": "u"});
    [
        json!([error]),
        error,
        json!({"object": "error", "message": TOLD, "type": "BadRequestError", "code": 400}),
        json!({"detail": TOLD}),
    ]
}

#[tokio::test]
async fn a_refusal_with_status_200_is_one() {
    for (error, answer) in errors().iter().flat_map(|error| ANSWERS.map(|answer| (error, answer))) {
        let (url, book) = refusing(error.clone(), answer).await;
        let stage = Stage::new(&before(&url, Some(WINDOW))).await;
        let text = answered(&stage, answer).await;
        assert!(text.contains("fine"), "{error} {answer:?}: {text}");
        let sent: Vec<usize> =
            book.lock().expect("nobody panicked").iter().map(|(_, body)| body.len()).collect();
        let [first, second] = sent[..] else { panic!("{error} {answer:?}: {sent:?}") };
        assert!(first > MOST && second < MOST, "{sent:?}");
        assert_eq!(stage.meter("overflows", &[]).await, 1);
    }
}

#[tokio::test]
async fn where_agreement_is_needed_a_refusal_with_status_200_says_so() {
    for (error, answer) in errors().iter().flat_map(|error| ANSWERS.map(|answer| (error, answer))) {
        let (url, book) = refusing(error.clone(), answer).await;
        let management = Some(ManagementToken::new("sesame"));
        let options =
            ProxyOptions { mode: ProxyMode::Ask, management, ..before(&url, Some(WINDOW)) };
        let text = answered(&Stage::new(&options).await, answer).await;
        let is_told = text.contains(TOLD) && text.contains("Agree at /ui/");
        assert!(is_told, "{error} {answer:?}: {text}");
        assert_eq!(book.lock().expect("nobody panicked").len(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_is_one_json_list_is_not_held_back() {
    let (write, body) = piecewise();
    let body = std::sync::Mutex::new(Some(body));
    let body = std::sync::Arc::new(body);
    let (url, _) = upstream(move |_| {
        let body = body.lock().expect("nobody panicked").take().expect("one request");
        std::future::ready(reply("application/json", body))
    })
    .await;
    let stage = Stage::new(&before(&url, Some(WINDOW))).await;
    let body = json!({"contents": [{"role": "user", "parts": [{"text": "Go."}]}]});
    let request = stage.post("/v1beta/models/m:streamGenerateContent");
    let request = request.body(Bytes::from(body.to_string())).expect("a request");
    let first = Bytes::from_static(b"[{\"candidates\":[]}\n");
    write.send(first.clone()).await.expect("it is read");
    let hearing = async {
        let mut came = stage.send(request).await.into_body();
        came.frame().await.expect("a piece").expect("whole").into_data().expect("bytes")
    };
    let came = tokio::time::timeout(Duration::from_secs(5), hearing).await;
    assert_eq!(came.expect("before the stream ends"), first);
    drop(write);
}

#[tokio::test]
async fn whole_replies_keep_their_bytes() {
    for text in [r#" {"error":null, "x":1.10}"#, r#"{"detail":{"a":1},"b":2}"#, r#"{"error""#, "[]"]
    {
        let (url, _) =
            upstream(move |_| std::future::ready(reply("application/json", whole(text)))).await;
        let stage = Stage::new(&before(&url, Some(WINDOW))).await;
        let body = Bytes::from(chat(false).to_string());
        let request = stage.post("/v1/chat/completions").body(body).expect("a request");
        assert_eq!(stage.call(request).await.body(), text);
    }
}
