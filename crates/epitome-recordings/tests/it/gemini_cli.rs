//! Gemini CLI sessions: records in short, and the shipped session against an independent reading.
//!
//! A record is `id verb rest`:
//!
//! ```text
//! u1 human Fix it.           m1 calls c1=one c2=two     . rewind m1
//! m1 text On it.             m1 modern c1=one           . anew u1 m1     (the messages that are left)
//! ```

use epitome::transcript::{Entry, Marks, PartKind, Role};
use epitome::wire::check;
use epitome::{Format, Request};
use epitome_recordings::{Options, ReadError, Recording, Usage};
use serde_json::{Value, json};

use crate::notation::{left_out, shown};
use crate::{LAST, detected, example, read_as, recording};

const SESSION: &str = "gemini-cli/session-2025-12-01T21-45-5b959dae.json";

fn header() -> Value {
    json!({ "sessionId": "s", "projectHash": "h", "startTime": "t", "lastUpdated": "t" })
}

/// Records as a log.
pub(crate) fn log(records: &[&str]) -> String {
    let mut rows = vec![header()];
    for record in records {
        rows.push(match record.split(' ').collect::<Vec<_>>().as_slice() {
            [_, "rewind", id] => json!({ "$rewindTo": id }),
            [_, "set"] => json!({ "$set": { "lastUpdated": "t" } }),
            [_, "anew", ids @ ..] => {
                // Written as they were, but for new ones.
                let find = |id: &&str| {
                    let known = records.iter().rfind(|r| r.split(' ').next() == Some(*id));
                    known.map_or_else(
                        || message(&format!("{id} human <state_snapshot> of {id}")),
                        |r| message(r),
                    )
                };
                json!({ "$set": { "messages": ids.iter().map(find).collect::<Vec<_>>() } })
            }
            _ => message(record),
        });
    }
    rows.iter().map(|row| row.to_string() + "\n").collect()
}

/// Records as one object.
fn whole(records: &[&str]) -> String {
    let mut session = header();
    session["messages"] = records.iter().map(|record| message(record)).collect();
    session.to_string()
}

fn message(short: &str) -> Value {
    let (id, rest) = short.split_once(' ').expect("an id and a verb");
    let (verb, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let response = |id: &str, output: &str| json!({ "functionResponse": { "id": id, "name": "run", "response": { "output": output } } });
    let answered = |word: &str| -> Value {
        let (id, output) = word.split_once('=').unwrap_or((word, ""));
        let mut call = json!({ "id": id, "name": "run", "args": { "a": 1 }, "status": "success" });
        if word.contains('=') {
            call["result"] = json!([response(id, output)]);
        }
        call
    };
    let mut message = match verb {
        "human" => json!({ "type": "user", "content": text }),
        "parts" => json!({ "type": "user", "content": [{ "text": text }, "and so on"] }),
        "answers" => {
            let (id, output) = text.split_once('=').expect("an id and an output");
            json!({ "type": "user", "content": [response(id, output)] })
        }
        "text" => json!({ "type": "gemini", "content": text, "model": "gemini-2.5-pro",
            "tokens": { "input": 100, "cached": 40, "output": 7, "thoughts": 3, "total": 110 } }),
        "thought" => json!({ "type": "gemini", "content": "So.",
            "thoughts": [{ "subject": "Plan", "description": text }] }),
        "calls" => json!({ "type": "gemini", "content": "",
            "toolCalls": text.split(' ').map(answered).collect::<Vec<_>>() }),
        "modern" => {
            let calls: Vec<Value> = text.split(' ').map(answered).collect();
            let mut content =
                vec![json!({ "text": "Hm.", "thought": true, "thoughtSignature": "sig" })];
            content.extend(calls.iter().map(
                |call| json!({ "functionCall": { "id": call["id"], "name": "run", "args": {} } }),
            ));
            // The parts of the whole turn stand with each call.
            let all: Vec<Value> = calls.iter().map(|call| call["result"][0].clone()).collect();
            let calls: Vec<Value> = calls
                .into_iter()
                .map(|mut call| {
                    call["result"] = json!(all);
                    call
                })
                .collect();
            json!({ "type": "gemini", "content": content, "toolCalls": calls, "model": "gemini-3-pro" })
        }
        kind => json!({ "type": kind, "content": text }),
    };
    message["id"] = json!(id);
    message["timestamp"] = json!("t");
    message
}

fn of_log(options: Options, records: &[&str]) -> Recording {
    recording("gemini-cli", log(records), options)
}

#[test]
fn an_object_and_a_log_say_the_same() {
    let records = [
        "u1 human Fix it.",
        "i1 info Update available",
        "m1 thought the parts",
        "m2 calls c1=one c2=two",
        "u2 parts Well,",
        "m3 text Done.",
    ];
    let want = [
        "human: Fix it.",
        "model: So.",
        "model: call c1 | call c2",
        "tool: c1 = one | c2 = two",
        "human: Well, | and so on",
        "model: Done.",
    ];
    for source in [log(&records), whole(&records)] {
        assert_eq!(detected(&source), Some("gemini-cli"));
        let read = recording("gemini-cli", source, LAST);
        assert_eq!(shown(&read.request), want);
        assert_eq!((read.request.format, read.skipped.len()), (Format::Gemini, 0));
        let [reported] = &read.usage[..] else { panic!("one was reported") };
        let usage = Usage { input: 60, cache_read: 40, output: 10, ..Usage::default() };
        assert_eq!((reported.reply.clone(), reported.usage), (5..6, usage));
    }
}

#[test]
fn results_without_a_call_of_their_own_are_read_where_they_stand() {
    let call = json!({ "id": "c1", "name": "run", "args": {}, "result": "plain" });
    let reply = json!({ "id": "m1", "type": "gemini", "content": "", "toolCalls": [call] });
    let source = log(&["u1 human Fix it."]) + &reply.to_string();
    let read = recording("gemini-cli", source, LAST);
    assert_eq!(shown(&read.request)[2], "tool: c1 = plain");
}

#[test]
fn saved_histories_are_their_contents() {
    let contents = json!([
        { "role": "user", "parts": [{ "text": "Fix it." }] },
        { "role": "model", "parts": [{ "functionCall": { "name": "run", "args": {} } }] },
        { "role": "user", "parts": [{ "functionResponse": { "name": "run", "response": { "a": 1 } } }] },
    ]);
    for saved in [
        json!({ "history": contents, "authType": "oauth-personal" }),
        json!({ "history": [{ "type": "user", "text": "Fix it." }], "clientHistory": contents,
                "toolCall": { "name": "run" } }),
    ] {
        let source = serde_json::to_string_pretty(&saved).expect("JSON");
        assert_eq!(detected(&source), Some("gemini-cli"));
        let read = recording("gemini-cli", source, LAST);
        assert_eq!(parts(&read.request), contents.as_array().cloned().expect("a list"));
    }
}

#[test]
fn what_is_broken_is_left_out_or_told_where() {
    let mut source = log(&["u1 human Fix it.", "m1 text How?"]);
    source.push_str("{\"id\":\"m2\",\"type\":\"gem");
    let read = recording("gemini-cli", source, LAST);
    assert_eq!(read.request.transcript.len(), 2);
    assert_eq!(left_out(&read.skipped), [(4, "the file ends within this row".to_owned())]);
    let broken = "{\"sessionId\":\"s\",\n\"projectHash\":\"h\",\n\"messages\":[}";
    let error = read_error(broken);
    assert_eq!(
        error.to_string(),
        "not a gemini-cli recording: not valid JSON: expected a JSON value (line 3, column 13)"
    );
    let unknown = of_log(LAST, &["u1 human Hi.", "x1 novelty y"]);
    assert_eq!(unknown.notes.len(), 1);
}

fn read_error(source: &str) -> ReadError {
    read_as("gemini-cli", source.to_owned(), LAST).expect_err("a broken file")
}

fn parts(request: &Request) -> Vec<Value> {
    let body: Value = serde_json::from_str(request.source()).expect("a body is JSON");
    body["contents"].as_array().expect("contents").clone()
}

#[test]
fn the_shipped_session_says_what_its_messages_say() {
    let source = example(SESSION);
    let session: Value = serde_json::from_str(&source).expect("a session");
    let messages = session["messages"].as_array().expect("messages");
    let read = recording("gemini-cli", source.clone(), LAST);
    assert_eq!(read.request.model().as_deref(), Some("gemini-3-pro-image-preview"));
    assert_eq!((check(&read.request), left_out(&read.skipped)), (vec![], vec![]));
    let contents = parts(&read.request);
    let all: Vec<&Value> =
        contents.iter().flat_map(|c| c["parts"].as_array().expect("parts")).collect();
    let calls = || messages.iter().flat_map(|m| m["toolCalls"].as_array().into_iter().flatten());
    let of = |key: &str| -> Vec<Value> {
        all.iter().filter(|part| part[key].is_object()).map(|part| part[key].clone()).collect()
    };
    let recorded = calls().map(|c| json!({ "id": c["id"], "name": c["name"], "args": c["args"] }));
    assert_eq!(of("functionCall"), recorded.collect::<Vec<_>>());
    let recorded = calls().map(|call| call["result"][0]["functionResponse"].clone());
    assert_eq!(of("functionResponse"), recorded.collect::<Vec<_>>());
    let texts: Vec<&Value> = all
        .iter()
        .filter(|part| part["text"].is_string() && part["thought"].is_null())
        .map(|part| &part["text"])
        .collect();
    let recorded: Vec<&Value> =
        messages.iter().map(|m| &m["content"]).filter(|content| *content != "").collect();
    assert_eq!(texts, recorded);
    let transcript = &read.request.transcript;
    assert_eq!(transcript.entries().filter(Entry::is_human).count(), 3);
    assert_eq!(read.notes.len(), 1, "of the thoughts");
    let replies = transcript.entries().filter(|entry| entry.role() == Role::Assistant).count();
    assert_eq!((replies, read.usage.len()), (11, 11));
    let first = Usage { input: 2752, output: 55 + 156, ..Usage::default() };
    assert_eq!(read.usage[0].usage, first);
    // But for the stand-ins of signatures, all keeps its bytes.
    for entry in transcript.entries() {
        let parts = entry.parts().filter(|part| part.kind() != PartKind::Reasoning);
        for part in parts.filter(|part| !part.is(Marks::NESTED)) {
            assert!(source.contains(part.raw_body()), "{}", part.raw());
        }
    }
}

/// A content as parts: calls without signatures, ids without the tool's name, which the agent puts
/// before them in its records.
fn plain(content: &Value) -> Vec<Value> {
    let parts = content["parts"].as_array().expect("parts").iter().cloned();
    let parts = parts.map(|mut part| {
        part.as_object_mut().expect("a part").remove("thoughtSignature");
        for kind in ["functionCall", "functionResponse"] {
            if let Some(id) = part[kind]["id"].as_str() {
                let name = part[kind]["name"].as_str().expect("a name");
                part[kind]["id"] = json!(id.strip_prefix(&format!("{name}__")).unwrap_or(id));
            }
        }
        part
    });
    parts.collect()
}

#[test]
fn the_recorded_session_is_what_was_sent() {
    let sent = crate::sent("gemini-cli");
    let source = example("gemini-cli/gemini-cli-words.jsonl");
    let read = recording("gemini-cli", source, LAST);
    assert_eq!((check(&read.request), left_out(&read.skipped)), (vec![], vec![]));
    assert_eq!(read.compactions, 1);
    // The agent joins contents of one role, and had sent a result twice.
    let said: Vec<Value> = parts(&read.request).iter().flat_map(plain).collect();
    let mut want: Vec<Value> = Vec::new();
    for part in sent.as_array().expect("contents").iter().flat_map(plain) {
        if part["functionResponse"].is_null() || !want.contains(&part) {
            want.push(part);
        }
    }
    assert_eq!(said[..want.len()], want);
    assert_eq!(said.len(), want.len() + 1, "and the reply");
}
