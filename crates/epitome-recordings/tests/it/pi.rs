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

use epitome::transcript::{Entry, Marks, Origin, PartKind};
use epitome::wire::check;
use epitome::{Format, Request};
use epitome_recordings::{Options, Recording, Usage};
use serde_json::{Value, json};

use crate::notation::{left_out, shown};
use crate::{LAST, WHOLE, example, recording};

const SESSION: &str = "pi/large-session.jsonl";

fn file(rows: &[&str]) -> String {
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

fn of_rows(options: Options, rows: &[&str]) -> Recording {
    recording("pi", file(rows), options)
}

fn check_rows(options: Options, rows: &[&str], want: &[&str]) -> Recording {
    let read = of_rows(options, rows);
    assert_eq!(shown(&read.request), want, "{rows:#?}");
    read
}

const BRANCHES: [&str; 7] = [
    "u1 -  human Fix it.",
    "a1 u1 text How?",
    "u2 a1 human Badly.",
    "a2 u2 text So be it.",
    "b1 a1 branch It was bad.",
    "u3 b1 human Well.",
    "a3 u3 text Good.",
];

#[test]
fn the_way_to_the_newest_row_counts() {
    let summary = "injected: The following is a summary of a branch that this conversation came back \
                   from:\n\n<summary>\nIt was bad.</summary>";
    let want = ["human: Fix it.", "model: How?", summary, "human: Well.", "model: Good."];
    let read = check_rows(LAST, &BRANCHES, &want);
    let left = "on a branch that was left".to_owned();
    assert_eq!(left_out(&read.skipped), [(3, left.clone()), (4, left)]);
    // A row that says nothing is a place in the tree, too.
    let mut rows = BRANCHES.to_vec();
    rows.push("l1 a2 label");
    check_rows(
        LAST,
        &rows,
        &["human: Fix it.", "model: How?", "human: Badly.", "model: So be it."],
    );
}

#[test]
fn without_a_tree_the_order_of_the_file_counts() {
    let rows =
        [". . session", ". . human Fix it.", ". . call c1", ". . result c1 one", ". . text Done."];
    let read = check_rows(
        LAST,
        &rows,
        &["human: Fix it.", "model: call c1", "tool: c1 = one", "model: Done."],
    );
    assert_eq!(read.request.model().as_deref(), Some("claude"));
    assert_eq!(
        (read.usage.len(), read.usage[1].reply.start, read.usage[1].usage),
        (2, 3, Usage { input: 1, output: 2, cache_read: 3, cache_write: 4, ..Usage::default() })
    );
    assert_eq!(read.usage[1].usage.prompt(), 8);
}

#[test]
fn a_lost_row_does_not_lose_what_is_before_it() {
    let mut rows = BRANCHES.to_vec();
    rows.remove(4);
    check_rows(
        LAST,
        &rows,
        &[
            "human: Fix it.",
            "model: How?",
            "human: Badly.",
            "model: So be it.",
            "human: Well.",
            "model: Good.",
        ],
    );
}

#[test]
fn cycles_end() {
    check_rows(
        LAST,
        &["u1 a1 human Fix it.", "a1 u1 text How?"],
        &["human: Fix it.", "model: How?"],
    );
    check_rows(LAST, &["u1 u1 human Fix it."], &["human: Fix it."]);
}

#[test]
fn the_model_saw_the_summary_what_was_kept_and_what_follows() {
    let rows = [
        "s1 -  system Old words. +read",
        "u1 s1 human Fix it.",
        "a1 u1 text How?",
        "k0 a1 compaction a1 The first of all.",
        "u2 k0 human Well.",
        "a2 u2 call c1",
        "r2 a2 result c1 one",
        "k1 r2 compaction a2 Earlier: it was fixed.",
        "u3 k1 human More.",
    ];
    let summary = "injected: The conversation history before this point was compacted into the \
                   following summary:\n\n<summary>\nEarlier: it was fixed.\n</summary>";
    let seen = [summary, "model: call c1", "tool: c1 = one", "human: More."];
    let read = check_rows(LAST, &rows, &seen);
    assert_eq!(read.compactions, 2);
    assert_eq!(left_out(&read.skipped), []);
    let whole = of_rows(WHOLE, &rows);
    let origins: Vec<_> = whole.request.transcript.entries().map(|entry| entry.origin()).collect();
    let (human, injected) = (Origin::Human, Origin::Injected);
    assert_eq!(
        origins,
        [human, Origin::Model, injected, human, Origin::Model, Origin::Tool, injected, human]
    );
    assert_eq!(whole.compactions, 2);
    // The first version counted rows.
    let old: Vec<String> = rows
        .iter()
        .map(|row| {
            let said = row.split_whitespace().skip(2).collect::<Vec<_>>().join(" ");
            format!(". . {}", said.replace("compaction a2", "compaction 5"))
        })
        .collect();
    let old: Vec<&str> = old.iter().map(String::as_str).collect();
    check_rows(LAST, &old, &seen);
}

#[test]
fn nothing_may_be_kept_and_a_kept_row_may_be_lost() {
    for kept in ["k1", "gone"] {
        let compaction = format!("k1 a1 compaction {kept} Earlier.");
        let rows = ["u1 - human Fix it.", "a1 u1 text How?", &compaction, "u2 k1 human More."];
        assert_eq!(of_rows(LAST, &rows).request.transcript.len(), 2);
    }
}

#[test]
fn edits_change_what_the_model_sees() {
    let mut rows = vec![
        "u1 -  human Fix it.",
        "a1 u1 call c1",
        "r1 a1 result c1 a long story",
        "x1 r1 custom Mind the time.",
        "e1 x1 edit r1 cut",
        "e2 e1 edit r1 see the file",
        "e3 e2 edit x1",
        "a2 e3 text Done.",
    ];
    let edited = ["human: Fix it.", "model: call c1", "tool: c1 = see the file", "model: Done."];
    check_rows(LAST, &rows, &edited);
    // On another branch there was no edit.
    rows[7] = "a2 x1 text Done.";
    check_rows(
        LAST,
        &rows,
        &[
            "human: Fix it.",
            "model: call c1",
            "tool: c1 = a long story",
            "injected: Mind the time.",
            "model: Done.",
        ],
    );
}

#[test]
fn replies_that_were_broken_off_are_not_sent_again() {
    let read = check_rows(
        LAST,
        &[
            "u1 -  human Fix it.",
            "a1 u1 aborted Well, I",
            "u2 a1 human Go on.",
            "a2 u2 lost c1",
            "r2 a2 result c1 never",
            "u3 r2 human Again.",
        ],
        &["human: Fix it.", "human: Go on.", "human: Again."],
    );
    let off = "part of a reply that was broken off, not sent again".to_owned();
    assert_eq!(left_out(&read.skipped), [(2, off.clone()), (4, off.clone()), (5, off)]);
}

#[test]
fn calls_that_were_never_answered_are_answered_as_the_agent_does() {
    let rows =
        ["u1 -  human Fix it.", "a1 u1 call c1 c2", "r1 a1 result c1 one", "u2 r1 human Stop."];
    let want = [
        "human: Fix it.",
        "model: call c1 | call c2",
        "tool: c1 = one | c2 = No result provided",
        "human: Stop.",
    ];
    let read = check_rows(LAST, &rows, &want);
    assert_eq!(check(&read.request), []);
    // At the end they are still open.
    check_rows(LAST, &rows[..3], &["human: Fix it.", "model: call c1 | call c2", "tool: c1 = one"]);
}

#[test]
fn what_nobody_said_is_injected() {
    check_rows(
        LAST,
        &[
            "u1 -  human Fix it.",
            "w1 u1 ran ls",
            "w2 w1 secret env",
            "h1 w2 hook Mind the time.",
            "t1 h1 state",
            "a1 t1 text Done.",
        ],
        &[
            "human: Fix it.",
            "injected: Ran `ls`\n```\na\nb\n```\n\nCommand exited with code 2",
            "injected: Mind the time.",
            "model: Done.",
        ],
    );
}

#[test]
fn system_prompt_and_tools_are_as_the_rows_left_them() {
    let read = of_rows(
        LAST,
        &[
            "s1 -  system You help. +read write",
            "u1 s1 human Fix it.",
            "s2 u1 system You fix. +find",
            "a1 s2 text Done.",
        ],
    );
    let body: Value = serde_json::from_str(read.request.source()).expect("a body");
    assert_eq!(body["system"], "You fix.");
    let names: Vec<_> =
        body["tools"].as_array().expect("tools").iter().map(|t| &t["name"]).collect();
    assert_eq!(names, ["read", "write", "find"]);
    assert_eq!(shown(&read.request), ["human: Fix it.", "model: Done."]);
}

#[test]
fn another_models_reasoning_is_dropped_and_its_format_is_the_newest_replys() {
    let rows =
        ["u1 - human Fix it.", "a1 u1 thinking Hm.", "a2 a1 call@glm c1", "r1 a2 result c1 one"];
    let read = check_rows(
        LAST,
        &rows,
        &["human: Fix it.", "model: So.", "model: call c1", "tool: c1 = one"],
    );
    assert_eq!(read.request.format, Format::OpenaiChat);
    let notes: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["1 × reasoning of another model, not sent on (first in row 2)"]);
    assert_eq!(check(&read.request), []);
    let own = check_rows(LAST, &rows[..2], &["human: Fix it.", "model: Hm. | So."]);
    assert_eq!((own.request.format, own.notes.len()), (Format::Anthropic, 0));
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
        let read = of_rows(LAST, &rows);
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

#[test]
fn unknown_rows_are_counted() {
    let read = of_rows(
        LAST,
        &["u1 - human Fix it.", "n1 u1 novelty", "n2 n1 novelty", "a1 n2 text Done."],
    );
    let notes: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["2 × rows of unknown type \"novelty\" (first in row 2)"]);
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
