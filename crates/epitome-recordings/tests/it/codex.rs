//! Codex rollouts: rows in short, and the shipped ones against an independent reading.
//!
//! ```text
//! human Fix it.          call c1               compacted Earlier: … | human Well. | call c2
//! event Fix it.          result c1 done        rollback 1
//! context <env…          text On it.           used 100 40 7     (input, of it cached, output)
//! ```

use epitome::transcript::{Entry, Marks};
use epitome::wire::check;
use epitome::{Format, Request};
use epitome_recordings::{Options, Recording, Usage};
use serde_json::{Value, json};

use crate::notation::{left_out, shown};
use crate::{LAST, WHOLE, detected, example, recording};

const SESSIONS: [&str; 2] = ["codex/rollout-b.jsonl", "codex/turn-2.jsonl"];

fn file(rows: &[&str]) -> String {
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

fn of_rows(options: Options, rows: &[&str]) -> Recording {
    recording("codex", file(rows), options)
}

fn check_rows(options: Options, rows: &[&str], want: &[&str]) -> Recording {
    let read = of_rows(options, rows);
    assert_eq!(shown(&read.request), want, "{rows:#?}");
    read
}

const TURN: [&str; 9] = [
    "context <environment_context>here</environment_context>",
    "human Fix it.",
    "event Fix it.",
    "thought sealed",
    "call c1",
    "used 100 40 7",
    "result c1 one",
    "text Done.",
    "used 120 100 5",
];

const SEEN: [&str; 6] = [
    "injected: <environment_context>here</environment_context>",
    "human: Fix it.",
    "model: sealed",
    "model: call c1",
    "tool: c1 = one",
    "model: Done.",
];

#[test]
fn items_are_the_history_and_events_tell_who_speaks() {
    let read = check_rows(LAST, &TURN, &SEEN);
    assert_eq!((read.request.format, read.compactions), (Format::OpenaiResponses, 0));
    assert_eq!(read.skipped, []);
    let usage: Vec<_> =
        read.usage.iter().map(|reported| (reported.reply.clone(), reported.usage)).collect();
    let used = |input, cache_read, output| Usage { input, cache_read, output, ..Usage::default() };
    assert_eq!(usage, [(2..4, used(60, 40, 7)), (5..6, used(20, 100, 5))]);
    // What was said by a person stays so, whatever it looks like.
    let odd = "<environment_context> is my question";
    let rows = [format!("human {odd}"), format!("event {odd}")];
    check_rows(LAST, &rows.each_ref().map(String::as_str), &[&format!("human: {odd}")]);
}

#[test]
fn words_that_only_an_event_tells_are_put_in() {
    check_rows(
        LAST,
        &[
            "event Fix it.",
            "text How?",
            "human Fix it.",
            "event Fix it.",
            "event Well.",
            "text Done.",
        ],
        // The first is of another turn; one item is one message.
        &["human: Fix it.\n", "model: How?", "human: Fix it.", "human: Well.\n", "model: Done."],
    );
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
fn model_and_instructions_are_in_the_frame() {
    let read =
        of_rows(LAST, &["meta You code.", "turn o4-mini", "human Hi.", "turn gpt-6", "ghost"]);
    let body: Value = serde_json::from_str(read.request.source()).expect("a body");
    assert_eq!((&body["model"], &body["instructions"]), (&json!("gpt-6"), &json!("You code.")));
    assert_eq!(body["input"].as_array().expect("items").len(), 1);
}

#[test]
fn a_compaction_replaces_the_history() {
    let rows = [
        &TURN[..],
        &[
            "compacted Earlier: it was fixed. | context <environment_context>x | human Fix it. | human Earlier: it was fixed.",
            "human Well.",
            "event Well.",
        ],
    ]
    .concat();
    let read = check_rows(
        LAST,
        &rows,
        &[
            "injected: <environment_context>x",
            "human: Fix it.",
            "injected: Earlier: it was fixed.",
            "human: Well.",
        ],
    );
    assert_eq!((read.compactions, read.usage.len()), (1, 0));
    let whole = [&SEEN[..], &["injected: Earlier: it was fixed.", "human: Well."]].concat();
    assert_eq!(check_rows(WHOLE, &rows, &whole).compactions, 1);
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
    let read = of_rows(LAST, &rows);
    let sizes: Vec<_> = shown(&read.request).iter().map(String::len).collect();
    assert_eq!(sizes, [50_007, 50_008, 18]);
}

#[test]
fn a_rollback_takes_turns_off() {
    let rows = [
        &TURN[..],
        &["human Well.", "event Well.", "text Gladly.", "rollback 1", "human More.", "event More."],
    ]
    .concat();
    let read = check_rows(LAST, &rows, &[&SEEN[..], &["human: More."]].concat());
    let left = "on a branch that was left".to_owned();
    assert_eq!(left_out(&read.skipped), [(10, left.clone()), (12, left)]);
    // More turns than there are: all of them.
    let rows = [&TURN[..], &["rollback 7", "human More."]].concat();
    check_rows(LAST, &rows, &[SEEN[0], "human: More."]);
    check_rows(LAST, &[&TURN[..], &["rollback 0"]].concat(), &SEEN);
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

#[test]
fn unknown_rows_are_counted_and_what_has_no_words_is_noted() {
    let read = of_rows(
        LAST,
        &["human Hi.", "row novelty", "row inter_agent_communication", "row world_state"],
    );
    let notes: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        [
            "1 × rows of unknown type \"novelty\" (first in row 2)",
            "1 × \"a message from another agent or file\", recorded without its wording (first in row 3)",
        ]
    );
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

#[test]
fn replies_that_only_an_event_tells_of_are_noted() {
    let rows =
        ["human Fix it.", "text On it.", "shown On it.", "shown All is mended.", "text Done."];
    let read = of_rows(LAST, &rows);
    let notes: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["1 × replies that were shown, but aren't in what is sent (first in row 4)"]);
}
