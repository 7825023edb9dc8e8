//! pi sessions: rows in short, and the shipped session against an independent reading.
//!
//! A row is `id parent verb rest`; `-` is a null parent; `. .` is a row of the first version, which
//! has no tree.
//!
//! ```text
//! u1 -  human Fix it.             k1 r1 compaction u2 Earlier: …
//! a1 u1 text On it.               b1 a1 branch What was tried.
//! a2 a1 call c1                   x1 a1 custom Mind the time.
//! r1 a2 result c1 done            e1 r1 edit r1 shorter
//! w1 r1 ran ls                    s1 -  system You help. +read
//! ```

use std::collections::HashSet;

use epitome::transcript::{Entry, Marks, PartKind};
use epitome::wire::check;
use epitome::{Format, Request};
use serde_json::{Value, json};

use crate::notation::shown;
use crate::{LAST, WHOLE, example, recording};

const SESSION: &str = "pi/large-session.jsonl";

pub(crate) fn file(rows: &[&str]) -> String {
    rows.iter().map(|row| row_of(row).to_string() + "\n").collect()
}

fn row_of(short: &str) -> Value {
    let words: Vec<&str> = short.split_whitespace().collect();
    let [id, parent, verb, rest @ ..] = words.as_slice() else {
        panic!("a row is short of words: {short}")
    };
    let text = rest.join(" ");
    let (verb, model) = verb.split_once('@').unwrap_or((verb, "claude"));
    let message = |message: Value| json!({ "type": "message", "message": message });
    let reply = |content: Value, stop: &str| {
        let api = match model {
            "glm" => "openai-completions",
            "gpt" => "openai-responses",
            "gemini" => "google-generative-ai",
            _ => "anthropic-messages",
        };
        message(json!({
            "role": "assistant", "content": content, "api": api, "provider": "p", "model": model,
            "stopReason": stop, "usage": { "input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4 },
        }))
    };
    let said = json!([{ "type": "text", "text": text }]);
    let mut row = match (verb, rest) {
        ("human", _) => message(json!({ "role": "user", "content": said })),
        ("text", _) => reply(said, "stop"),
        ("aborted", _) => reply(said, "aborted"),
        ("thinking", _) => reply(
            json!([{ "type": "thinking", "thinking": text, "thinkingSignature": "sig" },
                   { "type": "text", "text": "So." }]),
            "stop",
        ),
        ("call", ids) => {
            let call = |id: &&str| json!({ "type": "toolCall", "id": id, "name": "run", "arguments": { "a": 1 } });
            reply(ids.iter().map(call).collect(), "toolUse")
        }
        ("lost", [id]) => reply(
            json!([{ "type": "toolCall", "id": id, "name": "run", "arguments": {} }]),
            "error",
        ),
        ("result", [id, ..]) => message(json!({
            "role": "toolResult", "toolCallId": id, "toolName": "run", "isError": false,
            "content": [{ "type": "text", "text": rest[1..].join(" ") }],
        })),
        ("ran", _) => message(json!({
            "role": "bashExecution", "command": text, "output": "a\nb", "exitCode": 2,
            "cancelled": false, "truncated": false,
        })),
        ("secret", _) => message(json!({
            "role": "bashExecution", "command": text, "output": "", "excludeFromContext": true,
        })),
        ("hook", _) => message(json!({ "role": "hookMessage", "content": text })),
        ("custom", _) => json!({ "type": "custom_message", "content": text, "customType": "x" }),
        ("state", _) => json!({ "type": "custom", "data": {}, "customType": "x" }),
        ("branch", _) => json!({ "type": "branch_summary", "fromId": "a9", "summary": text }),
        ("compaction", [kept, ..]) => {
            let mut row = json!({ "type": "compaction", "summary": rest[1..].join(" ") });
            match kept.parse::<usize>() {
                Ok(index) => row["firstKeptEntryIndex"] = json!(index),
                Err(_) => row["firstKeptEntryId"] = json!(kept),
            }
            row
        }
        ("edit", [target]) => {
            json!({ "type": "context_edit", "targetId": target, "replacement": null })
        }
        ("edit", [target, ..]) => json!({ "type": "context_edit", "targetId": target,
            "replacement": { "content": rest[1..].join(" ") } }),
        ("system", _) => {
            let (text, tools) = text.split_once(" +").unwrap_or((&text, ""));
            let tools =
                tools.split_terminator(' ').map(|name| json!({ "name": name, "parameters": {} }));
            message(json!({ "role": "system", "content": "", "sections": { "first": text },
                            "toolsAdded": tools.collect::<Vec<_>>() }))
        }
        ("session", _) => {
            json!({ "type": "session", "cwd": "/", "provider": "p", "modelId": "claude" })
        }
        _ => json!({ "type": verb }),
    };
    if *id != "." {
        row["id"] = json!(id);
        row["parentId"] = if *parent == "-" { Value::Null } else { json!(parent) };
    }
    row
}

#[test]
fn each_provider_is_told_in_its_own_format() {
    for (model, format) in [
        ("claude", Format::Anthropic),
        ("glm", Format::OpenaiChat),
        ("gpt", Format::OpenaiResponses),
        ("gemini", Format::Gemini),
    ] {
        let rows = [
            "s1 -  system You help. +read".to_owned(),
            "u1 s1 human Fix it.".to_owned(),
            format!("a1 u1 thinking@{model} Hm."),
            "u9 a1 human Go on.".to_owned(),
            format!("a2 u9 call@{model} c1|fc_1 c2|fc_2"),
            "r1 a2 result c1|fc_1 one".to_owned(),
            "r2 r1 result c2|fc_2 two".to_owned(),
            "w1 r2 ran ls".to_owned(),
            "u2 w1 human Thanks.".to_owned(),
        ];
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        let read = recording("pi", file(&rows), LAST);
        assert_eq!((read.request.format, check(&read.request)), (format, vec![]), "{model}");
        let said = shown(&read.request).join(" ");
        for words in
            ["human: Fix it.", "So.", "= one", "= two", "injected: Ran `ls`", "human: Thanks."]
        {
            assert!(said.contains(words), "{model}: {said}");
        }
        let source = read.request.source();
        for words in ["You help.", "\"read\""] {
            assert!(source.contains(words), "{model}: {source}");
        }
        assert_eq!(read.usage.len(), 2, "{model}");
    }
}

/// The oracle: the messages that the agent would send, in its own form.
fn sent(source: &str) -> Vec<Value> {
    let rows = source.lines().map(|line| serde_json::from_str::<Value>(line).expect("a row"));
    let messages = rows.filter(|row| row["type"] == "message").map(|row| row["message"].clone());
    messages.filter(|m| m["stopReason"] != "aborted" && m["stopReason"] != "error").collect()
}

fn blocks_of(request: &Request, kind: PartKind) -> Vec<String> {
    let entries = request.transcript.entries();
    let parts = entries.flat_map(|entry| {
        entry
            .parts()
            .filter(|part| part.kind() == kind && !part.is(Marks::NESTED))
            .collect::<Vec<_>>()
    });
    parts.map(|part| format!("{} {}", part.id(), part.text())).collect()
}

#[test]
fn the_shipped_session_says_what_its_rows_say() {
    let source = example(SESSION);
    let read = recording("pi", source.clone(), LAST);
    let request = &read.request;
    assert_eq!(request.format, Format::Anthropic);
    assert_eq!(request.model().as_deref(), Some("claude-sonnet-4-5"));
    assert_eq!(check(request), []);
    let sent = sent(&source);
    let of = |kind: &str| -> Vec<Value> {
        let blocks =
            sent.iter().flat_map(|message| message["content"].as_array().expect("blocks").clone());
        blocks.filter(|block| block["type"] == kind).collect()
    };
    let calls: Vec<String> = of("toolCall")
        .iter()
        .map(|call| format!("{} {}", call["id"].as_str().expect("an id"), call["arguments"]))
        .collect();
    let read_calls = blocks_of(request, PartKind::Call);
    let canonical = |call: &String| {
        let (id, arguments) = call.split_once(' ').expect("id and arguments");
        format!("{id} {}", serde_json::from_str::<Value>(arguments).expect("JSON"))
    };
    assert_eq!(read_calls.iter().map(canonical).collect::<Vec<_>>(), calls);
    let results: Vec<String> = sent
        .iter()
        .filter(|message| message["role"] == "toolResult")
        .map(|message| {
            let text = message["content"][0]["text"].as_str().expect("one text");
            format!("{} {text}", message["toolCallId"].as_str().expect("an id"))
        })
        .collect();
    assert_eq!(blocks_of(request, PartKind::Result), results);
    let humans = request.transcript.entries().filter(Entry::is_human).count();
    assert_eq!(humans, sent.iter().filter(|message| message["role"] == "user").count());
    // Arguments, texts and signatures keep their bytes.
    for entry in request.transcript.entries() {
        for part in entry.parts().filter(|part| !part.is(Marks::NESTED)) {
            assert!(source.contains(part.raw_body()), "{}", part.raw());
        }
    }
    // What was left out was broken off.
    let whys: HashSet<String> =
        read.skipped.iter().map(|skipped| skipped.why.to_string()).collect();
    assert_eq!((read.skipped.len(), whys.len()), (22, 1));
    assert_eq!(read.usage.len(), 431);
}

#[test]
fn the_recorded_session_is_what_was_sent() {
    let sent = crate::sent("pi");
    let source = example("pi/pi-words.jsonl");
    for (options, when) in [(LAST, "after it"), (WHOLE, "before the compaction")] {
        let read = recording("pi", source.clone(), options);
        assert_eq!((check(&read.request), read.compactions), (vec![], 1), "{when}");
        let body: Value = serde_json::from_str(read.request.source()).expect("a body");
        let messages = body["messages"].as_array().expect("messages");
        let mut want = sent[when].as_array().expect("messages").clone();
        for block in want.iter_mut().flat_map(|m| m["content"].as_array_mut().expect("blocks")) {
            // Said of every result, which changes nothing.
            if block["is_error"] == json!(false) {
                block.as_object_mut().expect("a block").remove("is_error");
            }
        }
        assert_eq!(messages[..want.len()], want, "{when}");
    }
}
