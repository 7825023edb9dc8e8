//! PROVIDERS.md B.4b and B.5 for Bedrock Converse.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::server::script::Broken;
use testkit::server::{Api, Fault, Incoming, Loop, Payload, Queue, Reply, Server};

use crate::{judged, schema, send, with};
use epitome::word_list::words;

const CLAUDE: &str = "us.anthropic.claude-opus-5-5-v1:0";

fn body(messages: Value) -> Value {
    let tool = json!({"toolSpec": {"name": "read", "inputSchema": {"json": schema()}}});
    json!({"messages": messages, "toolConfig": {"tools": [tool]}})
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn text(text: &str) -> Value {
    json!({"text": text})
}

fn message(model: &str, body: &Value) -> Option<String> {
    let refusal = judged(Api::Converse, Some(model), &[], body).err()?;
    assert_eq!((refusal.status, refusal.kind.as_str()), (400, "ValidationException"));
    Some(refusal.message)
}

fn refuses(body: &Value, text: &str) {
    let refused = message(CLAUDE, body).unwrap_or_default();
    assert!(refused.starts_with(text), "{refused}\nnot {text}");
}

#[test]
fn reasoning_is_bound_here_too() {
    let whole = |messages: &[Value]| {
        with(
            body(json!(messages)),
            &[("additionalModelRequestFields", json!({"thinking": {"type": "adaptive"}}))],
        )
    };
    let mut messages = vec![user(json!([text("Go.")]))];
    let mut server = Server::new(Loop { steps: 0, ..Loop::default() });
    let path = format!("/model/{CLAUDE}/converse");
    let (_, answer) = send(&mut server, &path, &whole(&messages));
    messages.push(answer["output"]["message"].clone());
    messages.push(user(json!([text("And?")])));
    assert_eq!(message(CLAUDE, &whole(&messages)), None);
    messages[0] = user(json!([text("Go, please.")]));
    refuses(
        &whole(&messages),
        "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation.",
    );
}

/// Name and data of each message of a binary stream.
fn events(payload: Payload) -> Vec<(String, Value)> {
    let Payload::Frames(frames) = payload else { panic!("it isn't a binary stream") };
    let event = |frame: Vec<u8>| {
        let number =
            |at: usize| u32::from_be_bytes(frame[at..at + 4].try_into().expect("four bytes"));
        let payload = 12 + number(4) as usize;
        assert_eq!(number(0) as usize, frame.len());
        // The first header: its name's length, its name, a 7, its value's length, its value.
        let value = 12 + 1 + usize::from(frame[12]) + 1;
        let name = &frame[value + 2..value + 2 + usize::from(frame[value + 1])];
        let data = serde_json::from_slice(&frame[payload..frame.len() - 4]).expect("JSON");
        (String::from_utf8_lossy(name).into_owned(), data)
    };
    frames.into_iter().map(event).collect()
}

#[test]
fn a_stream_says_what_the_whole_says() {
    let thinking = ("additionalModelRequestFields", json!({"thinking": {"type": "adaptive"}}));
    let asked = with(body(json!([user(json!([text("Go.")]))])), &[thinking]).to_string();
    let answer = |path: &str, script: Queue| {
        let path = format!("/model/{CLAUDE}/{path}");
        let incoming =
            Incoming { method: "POST", path: &path, headers: &[], body: asked.as_bytes() };
        Server::new(script).answer(&incoming, Duration::ZERO).0.payload
    };
    let said = || Reply::call("read", json!({"path": "a"})).thinking("Look first.");
    let Payload::Whole(whole) = answer("converse", Queue::new([said().into()])) else {
        panic!("asked for a whole answer")
    };
    let whole: Value = serde_json::from_str(&whole).expect("JSON");
    let blocks = &whole["output"]["message"]["content"];
    let events_of = |script| events(answer("converse-stream", script));
    let told = events_of(Queue::new([said().into()]));
    let mut order: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    order.dedup();
    assert_eq!(
        order,
        words!(
            "messageStart contentBlockDelta contentBlockStop contentBlockStart contentBlockDelta \
             contentBlockStop messageStop metadata"
        )
    );
    let gathered = |path: &str| -> String {
        told.iter().filter_map(|(_, data)| data.pointer(path)?.as_str()).collect()
    };
    assert_eq!(gathered("/delta/reasoningContent/text"), "Look first.");
    assert_eq!(
        json!(gathered("/delta/reasoningContent/signature")),
        blocks[0]["reasoningContent"]["reasoningText"]["signature"]
    );
    assert_eq!(gathered("/start/toolUse/name"), "read");
    assert_eq!(gathered("/delta/toolUse/input"), blocks[1]["toolUse"]["input"].to_string());
    assert_eq!(gathered("/stopReason"), "tool_use");

    let broken = Broken { after: 1, fault: Some(Fault::RateLimited { retry_after: None }) };
    let reply = Reply { broken: Some(broken), ..said() };
    let told = events_of(Queue::new([reply.into()]));
    assert_eq!(told.last().expect("an end").0, "throttlingException");
}
