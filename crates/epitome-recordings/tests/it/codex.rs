//! Codex rollouts: rows in short, and the shipped ones against an independent reading.
//!
//! ```text
//! human Fix it.          call c1               compacted Earlier: … | human Well. | call c2
//! event Fix it.          result c1 done        rollback 1
//! context <env…          text On it.           used 100 40 7     (input, of it cached, output)
//! ```

use epitome::Request;
use epitome::transcript::{Entry, Marks};
use epitome::wire::check;
use serde_json::{Value, json};

use crate::notation::shown;
use crate::{LAST, WHOLE, detected, example, recording};

const SESSIONS: [&str; 2] = ["codex/rollout-b.jsonl", "codex/turn-2.jsonl"];

pub(crate) fn file(rows: &[&str]) -> String {
    rows.iter().map(|row| row_of(row).to_string() + "\n").collect()
}

fn row_of(short: &str) -> Value {
    let (verb, text) = short.split_once(' ').unwrap_or((short, ""));
    let words: Vec<&str> = text.split(' ').collect();
    let row =
        |kind: &str, payload: Value| json!({ "timestamp": "t", "type": kind, "payload": payload });
    let number = |at: usize| words[at].parse::<u64>().expect("a number");
    match verb {
        "event" => {
            row("event_msg", json!({ "type": "user_message", "message": format!("{text}\n") }))
        }
        "shown" => row("event_msg", json!({ "type": "agent_message", "message": text })),
        "tool" => row("event_msg", json!({ "type": text, "call_id": "c" })),
        "rollback" => {
            row("event_msg", json!({ "type": "thread_rolled_back", "num_turns": number(0) }))
        }
        "used" => row(
            "event_msg",
            json!({ "type": "token_count", "info": { "last_token_usage": {
                "input_tokens": number(0), "cached_input_tokens": number(1), "output_tokens": number(2),
            }}}),
        ),
        "compacted" => {
            let mut parts = text.split(" | ");
            let mut payload = json!({ "message": parts.next().expect("a summary") });
            let items: Vec<Value> = parts.map(item_of).collect();
            if !items.is_empty() {
                payload["replacement_history"] = json!(items);
            }
            row("compacted", payload)
        }
        "turn" => row("turn_context", json!({ "model": text, "cwd": "/" })),
        "meta" => row("session_meta", json!({ "id": "x", "base_instructions": { "text": text } })),
        "row" => row(text, json!({})),
        _ => row("response_item", item_of(short)),
    }
}

fn item_of(short: &str) -> Value {
    let (verb, text) = short.split_once(' ').unwrap_or((short, ""));
    let message = |role: &str, kind: &str| json!({ "type": "message", "role": role, "id": null, "content": [{ "type": kind, "text": text }] });
    match verb {
        "human" | "context" => message("user", "input_text"),
        "rule" => message("developer", "input_text"),
        "text" => message("assistant", "output_text"),
        "thought" => json!({ "type": "reasoning", "summary": [], "content": null,
                             "encrypted_content": text }),
        "call" => json!({ "type": "function_call", "name": "shell", "call_id": text,
                          "arguments": "{\"a\": 1}" }),
        "result" => {
            let (id, output) = text.split_once(' ').expect("an id and an output");
            json!({ "type": "function_call_output", "call_id": id, "output": output })
        }
        "ghost" => json!({ "type": "ghost_snapshot" }),
        _ => panic!("no such verb: {short}"),
    }
}

#[test]
fn newer_versions_tell_what_is_a_persons_with_the_item() {
    let mut human = row_of("human <environment_context> is my question");
    human["payload"]["internal_chat_message_metadata_passthrough"] =
        json!({ "content_item_kinds": ["user.text"] });
    let told = json!({ "type": "event_msg", "payload": { "type": "item_completed",
        "item": { "type": "UserMessage", "content": [{ "type": "text", "text": "Well." }] } } });
    let usage = json!({ "type": "token_usage_record", "payload": { "usage": {
        "input_tokens": 5, "cached_input_tokens": 1, "output_tokens": 2 } } });
    let rows = [human, row_of("text How?"), usage, told, row_of("text Good.")];
    let source: String = rows.iter().map(|row| row.to_string() + "\n").collect();
    let read = recording("codex", source, LAST);
    assert_eq!(
        shown(&read.request),
        [
            "human: <environment_context> is my question",
            "model: How?",
            "human: Well.",
            "model: Good."
        ]
    );
    assert!(!read.request.source().contains("passthrough"));
    assert_eq!((read.usage.len(), read.usage[0].reply.clone()), (1, 1..2));
}

#[test]
fn without_a_replacement_peoples_words_are_kept_and_the_summary_follows() {
    let long = "x".repeat(50_000);
    let rows = [
        "human One.".to_owned(),
        "text So.".to_owned(),
        format!("human {long}"),
        format!("human y{long}"),
    ];
    let rows = [rows.each_ref().map(String::as_str).to_vec(), vec!["compacted Earlier."]].concat();
    let read = recording("codex", file(&rows), LAST);
    let sizes: Vec<_> = shown(&read.request).iter().map(String::len).collect();
    assert_eq!(sizes, [50_007, 50_008, 18]);
}

#[test]
fn bare_items_behind_a_header_are_an_older_rollout() {
    let items = ["human Fix it.", "call c1", "result c1 one", "text Done."].map(item_of);
    let header = json!({ "id": "x", "timestamp": "t", "instructions": null, "git": {} });
    let state = json!({ "record_type": "state" });
    let rows = [vec![header], items[..2].to_vec(), vec![state], items[2..].to_vec()].concat();
    let source: String = rows.iter().map(|row| row.to_string() + "\n").collect();
    assert_eq!(detected(&source), Some("codex"));
    let read = recording("codex", source, LAST);
    assert_eq!(
        shown(&read.request),
        ["human: Fix it.", "model: call c1", "tool: c1 = one", "model: Done."]
    );
    assert_eq!(read.skipped, []);
}

fn items(request: &Request) -> Vec<Value> {
    let body: Value = serde_json::from_str(request.source()).expect("a body is JSON");
    body["input"].as_array().expect("items").clone()
}

#[test]
fn the_shipped_rollouts_are_their_items() {
    for (name, humans) in SESSIONS.into_iter().zip([3, 2]) {
        let source = example(name);
        let read = recording("codex", source.clone(), LAST);
        let rows: Vec<Value> =
            source.lines().map(|line| serde_json::from_str(line).expect("a row")).collect();
        let recorded: Vec<Value> = rows
            .iter()
            .filter(|row| row["type"] == "response_item")
            .map(|row| row["payload"].clone())
            .collect();
        let all = items(&read.request);
        let of_rows: Vec<Value> = match name {
            // Its items in the user's role were taken out; the events are there.
            "codex/rollout-b.jsonl" => {
                all.iter().filter(|item| item["role"] != "user").cloned().collect()
            }
            _ => all,
        };
        assert_eq!(of_rows, recorded, "{name}");
        let said: Vec<String> = read
            .request
            .transcript
            .entries()
            .filter(Entry::is_human)
            .map(|entry| entry.human_text().trim().to_owned())
            .collect();
        let told: Vec<String> = rows
            .iter()
            .filter(|row| row["payload"]["type"] == "user_message")
            .map(|row| row["payload"]["message"].as_str().expect("words").trim().to_owned())
            .collect();
        assert_eq!((&said, said.len()), (&told, humans), "{name}");
        assert_eq!(check(&read.request), [], "{name}");
        assert_eq!(read.skipped, [], "{name}");
        for entry in read.request.transcript.entries() {
            for part in entry.parts().filter(|part| !part.is(Marks::NESTED)) {
                assert!(source.contains(part.raw_body()), "{name}: {}", part.raw());
            }
        }
    }
}

#[test]
fn the_recorded_session_is_what_was_sent() {
    let sent = crate::sent("codex");
    let source = example("codex/codex-words.jsonl");
    for (options, when) in [(LAST, "after it"), (WHOLE, "before the compaction")] {
        let read = recording("codex", source.clone(), options);
        assert_eq!(check(&read.request), [], "{when}");
        assert_eq!((read.compactions, read.notes.len(), read.skipped.len()), (2, 0, 0), "{when}");
        let (items, want) = (items(&read.request), sent[when].as_array().expect("items"));
        // The instructions come first; here they are in the frame.
        assert_eq!(items[..want.len() - 1], want[1..], "{when}");
    }
    let read = recording("codex", source, LAST);
    let human: Vec<String> =
        read.request.transcript.entries().filter(Entry::is_human).map(|e| e.human_text()).collect();
    assert_eq!(
        human,
        ["Read a.txt and b.txt and count their words.", "Now count them again.", "And once more."]
    );
    // Each reply has its counts: what was asked before the compaction is gone with its replies.
    assert_eq!(read.usage.len(), 3);
}
