//! OpenHands conversations: the shipped one against what the agent sent, and events in short.
//!
//! ```text
//! u1 human Fix it.      a1 call r1 c1 (of reply r1)   k1 condense 2 a1,o1 Earlier: …
//! m1 said On it.        o1 result c1 done             e1 error c1 no such tool
//! ```

use epitome::Format;
use epitome::wire::check;
use epitome_recordings::ReadError;
use serde_json::{Value, json};

use crate::notation::{left_out, shown};
use crate::{LAST, WHOLE, detected, example, read_as, recording, sent};

fn event(short: &str) -> Value {
    let words: Vec<&str> = short.split(' ').collect();
    let [id, verb, rest @ ..] = words.as_slice() else { panic!("short of words: {short}") };
    let text = rest.join(" ");
    let block = |text: &str| json!({ "type": "text", "text": text, "cache_prompt": false });
    let behind = |count: usize| rest.get(count..).unwrap_or_default().join(" ");
    let message = |source: &str, role: &str| {
        json!({ "kind": "MessageEvent", "source": source,
                "llm_message": { "role": role, "content": [block(&text)], "thinking_blocks": [] } })
    };
    let mut event = match *verb {
        "human" => message("user", "user"),
        "hook" => message("environment", "user"),
        "said" => message("agent", "assistant"),
        "call" => json!({ "kind": "ActionEvent", "source": "agent", "llm_response_id": rest[0],
            "thought": if rest.len() > 2 { vec![block(&behind(2))] } else { vec![] },
            "reasoning_content": null, "tool_name": "run", "tool_call_id": rest[1],
            "tool_call": { "id": rest[1], "name": "run", "arguments": "{\"a\": 1}" } }),
        "result" => {
            json!({ "kind": "ObservationEvent", "source": "environment", "tool_name": "run",
            "tool_call_id": rest[0],
            "observation": { "content": [block(&behind(1))], "is_error": false } })
        }
        "rejected" => json!({ "kind": "UserRejectObservation", "tool_name": "run",
            "tool_call_id": rest[0], "rejection_reason": behind(1) }),
        "error" => json!({ "kind": "AgentErrorEvent", "tool_name": "run", "tool_call_id": rest[0],
            "error": behind(1) }),
        "condense" => json!({ "kind": "Condensation", "summary": behind(2),
            "summary_offset": rest[0].parse::<usize>().expect("a place"),
            "forgotten_event_ids": rest[1].split(',').collect::<Vec<_>>() }),
        kind => json!({ "kind": kind }),
    };
    event["id"] = json!(id);
    event["source"] = json!(event["source"].as_str().unwrap_or("environment"));
    event
}

pub(crate) fn file(events: &[&str]) -> String {
    json!(events.iter().map(|short| event(short)).collect::<Vec<_>>()).to_string()
}

const CALLS: [&str; 7] = [
    "u1 human Fix it.",
    "a1 call r1 c1 On it.",
    "a2 call r1 c2",
    "o2 result c2 two",
    "o1 result c1 one",
    "a3 call r2 c3",
    "e3 error c3 no such tool",
];

#[test]
fn the_chain_to_the_newest_event_counts() {
    let mut events: Vec<Value> =
        ["u1 human Fix it.", "m1 said How?", "u2 human Badly.", "u3 human Well."]
            .map(event)
            .to_vec();
    for (at, parent) in [(1, 0), (2, 1), (3, 1)] {
        events[at]["parent_id"] = events[parent]["id"].clone();
    }
    let read = recording("openhands", json!(events).to_string(), LAST);
    assert_eq!(shown(&read.request), ["human: Fix it.", "model: How?", "human: Well."]);
    assert_eq!(left_out(&read.skipped), [(3, "on a branch that was left".to_owned())]);
}

#[test]
fn events_are_read_however_they_are_put_together() {
    let events: Vec<Value> = CALLS.map(event).to_vec();
    let rows = |end: &str| events.iter().map(|event| event.to_string() + end).collect::<String>();
    let want = shown(&recording("openhands", file(&CALLS), LAST).request);
    for source in [
        json!({ "history": events, "instance_id": "x" }).to_string(),
        json!({ "items": events, "next_page_id": null }).to_string(),
        rows("\n"),
        rows(""),
        serde_json::to_string_pretty(&events).expect("JSON"),
    ] {
        assert_eq!(detected(&source), Some("openhands"), "{source}");
        assert_eq!(shown(&recording("openhands", source, LAST).request), want);
    }
}

#[test]
fn thinking_blocks_make_it_anthropics() {
    let mut events: Vec<Value> = CALLS.map(event).to_vec();
    events[1]["thinking_blocks"] =
        json!([{ "type": "thinking", "thinking": "Hm.", "signature": "sig" }]);
    let read = recording("openhands", json!(events).to_string(), LAST);
    assert_eq!(shown(&read.request)[1], "model: Hm. | On it. | call c1 | call c2");
    assert_eq!((read.request.format, check(&read.request)), (Format::Anthropic, vec![]));
    events[1]["thinking_blocks"] = json!([]);
    events[1]["responses_reasoning_item"] =
        json!({ "id": "rs_1", "summary": ["Hm."], "encrypted_content": "sealed" });
    let read = recording("openhands", json!(events).to_string(), LAST);
    assert_eq!((read.request.format, check(&read.request)), (Format::OpenaiResponses, vec![]));
    assert!(read.request.source().contains("sealed"));
}

#[test]
fn what_is_broken_is_told_where() {
    let error = read_as("openhands", "[\n{\"kind\":}]".to_owned(), LAST).expect_err("broken");
    assert!(matches!(error, ReadError::Json { line: 2, .. }), "{error}");
}

/// A message's content as texts, whichever way it is written.
fn texts(content: &Value) -> Vec<String> {
    match content {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text.clone()],
        blocks => {
            let blocks = blocks.as_array().expect("blocks").iter();
            blocks.map(|block| block["text"].as_str().expect("a text").to_owned()).collect()
        }
    }
}

#[test]
fn the_shipped_conversation_is_what_was_sent() {
    let sent = sent("openhands");
    let source = example("openhands/openhands-words.json");
    for (options, when) in [(LAST, "after it"), (WHOLE, "before the condensation")] {
        let read = recording("openhands", source.clone(), options);
        assert_eq!(check(&read.request), [], "{when}");
        let body: Value = serde_json::from_str(read.request.source()).expect("a body");
        let messages = body["messages"].as_array().expect("messages");
        let want = sent[when].as_array().expect("messages");
        for (got, want) in messages.iter().zip(want).skip(1) {
            assert_eq!(got["role"], want["role"], "{when}");
            assert_eq!(got["tool_calls"], want["tool_calls"], "{when}");
            assert_eq!(got["tool_call_id"], want["tool_call_id"], "{when}");
            // A failed result is two texts, which are one here.
            let (got, want) = (texts(&got["content"]), texts(&want["content"]));
            assert_eq!(got.concat(), want.concat(), "{when}");
        }
        assert!(messages.len() > want.len(), "{when}: and the reply");
    }
}
