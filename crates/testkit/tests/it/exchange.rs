//! The server as a whole, without a socket: scripts, streams, faults.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use testkit::server::script::Broken;
use testkit::server::{
    Answer, Api, Fault, Incoming, Loop, Next, Payload, Queue, Reply, Say, Seen, Server,
};

use crate::{schema, with};
use epitome::word_list::words;

fn send(server: &mut Server, path: &str, body: &Value) -> Answer {
    let text = body.to_string();
    let incoming = Incoming { method: "POST", path, headers: &[], body: text.as_bytes() };
    server.answer(&incoming, Duration::from_secs(1_700_000_000)).0
}

fn whole(answer: &Answer) -> Value {
    let Payload::Whole(text) = &answer.payload else { panic!("it streams") };
    serde_json::from_str(text).expect("JSON")
}

/// The events of a stream: their names (or the kind of their data), and their data.
fn events(answer: &Answer) -> Vec<(String, Value)> {
    let Payload::Events(events) = &answer.payload else {
        panic!("it doesn't stream: {:?}", answer.payload)
    };
    let event = |text: &String| {
        let mut name = String::new();
        let mut data = Value::Null;
        for line in text.lines() {
            if let Some(given) = line.strip_prefix("event: ") {
                given.clone_into(&mut name);
            } else if let Some(given) = line.strip_prefix("data: ") {
                data = serde_json::from_str(given).unwrap_or_else(|_| json!(given));
            }
        }
        (name, data)
    };
    events.iter().map(event).collect()
}

/// Names of events, repeats once.
fn order(answer: &Answer) -> Vec<String> {
    let mut names: Vec<String> = events(answer).into_iter().map(|(name, _)| name).collect();
    names.dedup();
    names
}

struct Request {
    api: Api,
    path: &'static str,
    whole: Value,
    stream: Value,
    stream_path: &'static str,
}

/// The same question to each API that streams, with a tool.
fn requests() -> Vec<Request> {
    let anthropic = json!({
        "model": "claude-opus-5-5", "max_tokens": 500, "thinking": {"type": "adaptive"},
        "tools": [{"name": "read", "input_schema": schema()}], "messages": [{"role": "user", "content": "Go."}],
    });
    let responses = json!({
        "model": "gpt-6.1-sol", "input": "Go.", "reasoning": {"summary": "auto"},
        "tools": [{"type": "function", "name": "read", "parameters": schema()}],
    });
    let chat = json!({
        "model": "gpt-4o", "messages": [{"role": "user", "content": "Go."}],
        "tools": [{"type": "function", "function": {"name": "read", "parameters": schema()}}],
    });
    let gemini = json!({
        "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
        "tools": [{"functionDeclarations": [{"name": "read", "parameters": schema()}]}],
    });
    let streamed = |body: &Value| with(body.clone(), &[("stream", json!(true))]);
    vec![
        Request {
            api: Api::Anthropic,
            path: "/v1/messages",
            stream: streamed(&anthropic),
            whole: anthropic,
            stream_path: "/v1/messages?beta=true",
        },
        Request {
            api: Api::Responses,
            path: "/v1/responses",
            stream: streamed(&responses),
            whole: responses,
            stream_path: "/v1/responses",
        },
        Request {
            api: Api::Chat,
            path: "/v1/chat/completions",
            stream: with(streamed(&chat), &[("stream_options", json!({"include_usage": true}))]),
            whole: chat,
            stream_path: "/v1/chat/completions",
        },
        Request {
            api: Api::Gemini,
            path: "/v1beta/models/gemini-3.1-pro:generateContent",
            stream: gemini.clone(),
            whole: gemini,
            stream_path: "/v1beta/models/gemini-3.1-pro:streamGenerateContent?alt=sse",
        },
    ]
}

fn said() -> Reply {
    Reply { say: vec![Say::Text("I look at all of it.".to_owned())], ..Reply::default() }
        .and_call("read", json!({"path": "a"}))
        .and_call("read", json!({"path": "b"}))
        .thinking("Look first.")
}

#[test]
fn a_stream_says_what_the_whole_says() {
    for request in requests() {
        let mut server = Server::new(|_: &Seen<'_>| Next::Reply(said()));
        let at_once = whole(&send(&mut server, request.path, &request.whole));
        let events = events(&send(&mut server, request.stream_path, &request.stream));
        let gathered = |pick: &dyn Fn(&Value) -> Option<String>| -> String {
            events.iter().filter_map(|(_, data)| pick(data)).collect()
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (words, arguments, expected) = match request.api {
            Api::Anthropic => (
                gathered(&|data| text(&data["delta"]["text"])),
                gathered(&|data| text(&data["delta"]["partial_json"])),
                at_once["content"][1]["text"].clone(),
            ),
            Api::Responses => (
                gathered(&|data| {
                    text(&data["delta"]).filter(|_| data["type"] == "response.output_text.delta")
                }),
                gathered(&|data| {
                    text(&data["delta"])
                        .filter(|_| data["type"] == "response.function_call_arguments.delta")
                }),
                at_once["output"][1]["content"][0]["text"].clone(),
            ),
            Api::Chat => (
                gathered(&|data| text(&data["choices"][0]["delta"]["content"])),
                gathered(&|data| {
                    text(&data["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"])
                }),
                at_once["choices"][0]["message"]["content"].clone(),
            ),
            _ => (
                gathered(&|data| text(&data["candidates"][0]["content"]["parts"][0]["text"])),
                gathered(&|data| {
                    let args =
                        &data["candidates"][0]["content"]["parts"][0]["functionCall"]["args"];
                    args.is_object().then(|| args.to_string())
                }),
                at_once["candidates"][0]["content"]["parts"][0]["text"].clone(),
            ),
        };
        assert_eq!(words, "I look at all of it.", "{}", request.api);
        assert_eq!(json!(words), expected, "{}", request.api);
        assert_eq!(arguments, r#"{"path":"a"}{"path":"b"}"#, "{}", request.api);
    }
}

#[test]
fn events_come_in_the_providers_order() {
    let stream = |api: Api| {
        let request =
            requests().into_iter().find(|request| request.api == api).expect("it is there");
        let mut reply = said();
        reply.say.remove(2);
        let mut server = Server::new(move |_: &Seen<'_>| Next::Reply(reply.clone()));
        send(&mut server, request.stream_path, &request.stream)
    };
    assert_eq!(
        order(&stream(Api::Anthropic)),
        words!(
            "message_start content_block_start ping content_block_delta content_block_stop \
             content_block_start content_block_delta content_block_stop content_block_start \
             content_block_delta content_block_stop message_delta message_stop"
        )
    );
    assert_eq!(
        order(&stream(Api::Responses)),
        words!(
            "response.created response.in_progress response.output_item.added \
             response.reasoning_summary_part.added response.reasoning_summary_text.delta \
             response.reasoning_summary_text.done response.reasoning_summary_part.done \
             response.output_item.done response.output_item.added response.content_part.added \
             response.output_text.delta response.output_text.done response.content_part.done \
             response.output_item.done response.output_item.added \
             response.function_call_arguments.delta response.function_call_arguments.done \
             response.output_item.done response.completed"
        )
    );
    let numbers: Vec<u64> = events(&stream(Api::Responses))
        .iter()
        .filter_map(|(_, data)| data["sequence_number"].as_u64())
        .collect();
    assert!(numbers.iter().zip(0..).all(|(number, at)| *number == at));
    let chat = events(&stream(Api::Chat));
    assert_eq!(chat[0].1["choices"][0]["delta"]["role"], "assistant");
    let end = &chat[chat.len() - 3..];
    assert_eq!(end[0].1["choices"][0]["finish_reason"], "tool_calls");
    assert!(end[1].1["usage"]["total_tokens"].is_u64() && end[1].1["choices"] == json!([]));
    assert_eq!(end[2].1, "[DONE]");
    let gemini = events(&stream(Api::Gemini));
    assert_eq!(gemini.last().expect("some").1["candidates"][0]["finishReason"], "STOP");
}

#[test]
fn a_loop_goes_on_for_its_steps_and_begins_again_with_a_person() {
    let mut server = Server::new(Loop { steps: 2, parallel: 3, ..Loop::default() });
    let mut messages = vec![json!({"role": "user", "content": "Go."})];
    let mut calls = Vec::new();
    for _ in 0..6 {
        let body = json!({"model": "claude-opus-5", "max_tokens": 500, "messages": messages,
            "tools": [{"name": "read", "input_schema": schema()}]});
        let content = whole(&send(&mut server, "/v1/messages", &body))["content"].clone();
        let results: Vec<Value> = content
            .as_array()
            .expect("blocks")
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(
                |block| json!({"type": "tool_result", "tool_use_id": block["id"], "content": "ok"}),
            )
            .collect();
        calls.push(results.len());
        messages.push(json!({"role": "assistant", "content": content}));
        messages.push(json!({"role": "user", "content": if results.is_empty() { json!("More.") } else { json!(results) }}));
    }
    assert_eq!(calls, [3, 3, 0, 3, 3, 0]);
}

#[test]
fn what_is_made_up_fits_the_schema() {
    let tool = json!([{"name": "draw", "input_schema": {"type": "object", "required": ["kind", "size", "points", "deep", "maybe"],
    "properties": {
        "kind": {"enum": ["line", "arc"]}, "size": {"type": "integer", "minimum": 3}, "points": {"type": "array", "items": {"type": "number"}},
        "deep": {"type": "object", "required": ["a"], "properties": {"a": {"type": "boolean"}}},
        "maybe": {"anyOf": [{"type": "null"}, {"type": "string"}]}, "left": {"type": "string"},
    }}}]);
    let body = json!({"model": "claude-opus-5", "max_tokens": 500, "tools": tool, "messages": [{"role": "user", "content": "Go."}]});
    let answer = whole(&send(&mut Server::default(), "/v1/messages", &body));
    assert_eq!(
        answer["content"][1]["input"],
        json!({"kind": "line", "size": 3, "points": [1], "deep": {"a": false}, "maybe": null})
    );
}

#[test]
fn a_queue_spares_what_is_asked_on_the_side() {
    let mut server = Server::new(Queue::new([
        Reply::call("read", json!({})).into(),
        Reply::text("Last.").into(),
    ]));
    let aside =
        json!({"model": "gpt-4o", "messages": [{"role": "user", "content": "A title, please."}]});
    let asked = with(
        aside.clone(),
        &[("tools", json!([{"type": "function", "function": {"name": "read"}}]))],
    );
    let finish = |answer: &Answer| whole(answer)["choices"][0]["finish_reason"].clone();
    assert_eq!(finish(&send(&mut server, "/v1/chat/completions", &aside)), "stop");
    assert_eq!(finish(&send(&mut server, "/v1/chat/completions", &asked)), "tool_calls");
    let last = whole(&send(&mut server, "/v1/chat/completions", &asked));
    assert_eq!(last["choices"][0]["message"]["content"], "Last.");
}

#[test]
fn faults_have_the_providers_words() {
    let faults = [
        Fault::RateLimited { retry_after: Some(7) },
        Fault::Overloaded,
        Fault::Internal,
        Fault::Overflow,
    ];
    let mut table = String::new();
    for request in requests() {
        for fault in &faults {
            let mut server = Server::new(Queue::new([fault.clone().into()]));
            let answer = send(&mut server, request.path, &request.whole);
            let error = whole(&answer)["error"].clone();
            let kind = error.get("type").or_else(|| error.get("status")).unwrap_or(&Value::Null);
            let retry = answer
                .headers
                .iter()
                .find(|(name, _)| *name == "retry-after")
                .map(|(_, value)| value.as_str());
            writeln!(
                table,
                "{} {} {kind} {} {} {}",
                request.api,
                answer.status,
                error["code"],
                retry.unwrap_or("-"),
                error["message"].as_str().unwrap_or_default()
            )
            .expect("a string takes everything");
        }
    }
    expect_test::expect![[r#"
        anthropic 429 "rate_limit_error" null 7 This request would exceed your account's rate limit. Please try again later.
        anthropic 529 "overloaded_error" null - Overloaded
        anthropic 500 "api_error" null - Internal server error
        anthropic 400 "invalid_request_error" null - prompt is too long: 1000001 tokens > 1000000 maximum
        responses 429 "requests" "rate_limit_exceeded" 7 Rate limit reached for requests. Please try again later.
        responses 503 "server_error" "server_is_overloaded" - The server is currently overloaded. Please try again later.
        responses 500 "server_error" "server_error" - The server had an error while processing your request. Sorry about that!
        responses 400 "invalid_request_error" "context_length_exceeded" - Your input exceeds the context window of this model. Please adjust your input and try again.
        chat 429 "requests" "rate_limit_exceeded" 7 Rate limit reached for requests. Please try again later.
        chat 503 "server_error" "server_is_overloaded" - The server is currently overloaded. Please try again later.
        chat 500 "server_error" "server_error" - The server had an error while processing your request. Sorry about that!
        chat 400 "invalid_request_error" "context_length_exceeded" - This model's maximum context length is 128000 tokens. However, your messages resulted in 128001 tokens. Please reduce the length of the messages.
        gemini 429 "RESOURCE_EXHAUSTED" 429 7 Resource has been exhausted (e.g. check quota).
        gemini 503 "UNAVAILABLE" 503 - The model is overloaded. Please try again later.
        gemini 500 "INTERNAL" 500 - An internal error has occurred. Please retry.
        gemini 400 "INVALID_ARGUMENT" 400 - The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).
    "#]]
    .assert_eq(&table);
}

#[test]
fn a_stream_may_end_badly() {
    for request in requests() {
        let broken = |fault| Reply {
            broken: Some(Broken { after: 2, fault }),
            ..Reply::text("Nobody hears all of this.")
        };
        let script = Queue::new([broken(Some(Fault::Overloaded)).into(), broken(None).into()]);
        let mut server = Server::new(script);
        let answer = send(&mut server, request.stream_path, &request.stream);
        assert_eq!((answer.status, answer.is_cut), (200, false));
        let last = events(&answer).pop().expect("some");
        match request.api {
            Api::Anthropic => assert_eq!(
                (last.0.as_str(), &last.1["error"]["type"]),
                ("error", &json!("overloaded_error"))
            ),
            Api::Responses => assert_eq!(
                (
                    last.0.as_str(),
                    &last.1["response"]["error"]["code"],
                    &last.1["response"]["usage"]
                ),
                ("response.failed", &json!("server_is_overloaded"), &Value::Null)
            ),
            _ => assert!(last.1["error"]["message"].is_string(), "{last:?}"),
        }
        let cut = send(&mut server, request.stream_path, &request.stream);
        assert!(cut.is_cut);
        assert_eq!(events(&cut).len(), 2);
    }
}

#[test]
fn gemini_without_sse_is_an_array() {
    let request = requests().pop().expect("gemini is last");
    let path = request.stream_path.split('?').next().expect("a path");
    let answer = send(&mut Server::default(), path, &request.stream);
    let Payload::Array(elements) = answer.payload else { panic!("{:?}", answer.payload) };
    assert!(elements.len() > 1);
}

#[test]
fn nonsense_is_refused_politely() {
    let mut server = Server::default();
    let mut ask = |method: &str, path: &str, body: &[u8]| {
        let incoming = Incoming { method, path, headers: &[], body };
        server.answer(&incoming, Duration::ZERO).0.status
    };
    for path in words!(
        "/v1/messages /v1/responses /v1/chat/completions \
         /v1beta/models/gemini-3.1-pro:generateContent /model/anthropic.claude-opus-5-5/converse"
    ) {
        for body in [&b""[..], b"{", b"\xff\xfe", b"null", b"[]", b"5", b"{}"] {
            assert_eq!(ask("POST", path, body), 400, "{path} {body:?}");
        }
    }
    assert_eq!(ask("POST", "/v1/embeddings", b"{}"), 404);
    assert_eq!(ask("GET", "/v1/messages", b""), 404);
    assert_eq!(ask("GET", "/v1/models", b""), 200);
    assert_eq!(ask("POST", "/model/anthropic.claude-opus-5-5/converse-stream", b"{}"), 400);
}

#[test]
fn the_same_requests_get_the_same_answers() {
    let run = || {
        let mut server = Server::default();
        requests()
            .iter()
            .map(|request| send(&mut server, request.path, &request.whole))
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}
