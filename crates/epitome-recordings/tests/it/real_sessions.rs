//! The shipped Claude Code sessions, against what an independent reading of the rows finds.

use std::collections::HashSet;

use epitome::transcript::{Entry, Marks, Origin, PartKind, Role};
use epitome::wire::{check, parse, render};
use epitome::{Format, Request, View};
use epitome_recordings::Recording;
use serde_json::Value;

use crate::notation::left_out;
use crate::{LAST, WHOLE, example, recording};

const SESSIONS: [&str; 3] = ["session-9eda1058", "session-3fe1b6bc", "agent-a485154"];

fn session(name: &str) -> (String, Recording) {
    let source = example(&format!("claude-code/{name}.jsonl"));
    (source.clone(), recording("claude-code", source, LAST))
}

/// The oracle: messages of the rows, none of which lies on another branch in these files.
fn rows(source: &str) -> Vec<Value> {
    let rows = source.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    rows.filter(|row| row["message"].is_object()).collect()
}

fn blocks(content: &Value) -> Vec<Value> {
    match content {
        Value::Array(blocks) => blocks.clone(),
        text => vec![text.clone()],
    }
}

fn sorted(mut values: Vec<Value>) -> Vec<String> {
    let mut words: Vec<String> = values.drain(..).map(|value| value.to_string()).collect();
    words.sort();
    words
}

fn entries(request: &Request) -> Vec<Value> {
    let entries = request.transcript.entries();
    entries.map(|entry| serde_json::from_str(entry.raw()).expect("an entry is JSON")).collect()
}

#[test]
fn every_block_comes_out_as_it_went_in() {
    for name in SESSIONS {
        let (source, recording) = session(name);
        let recorded: Vec<Value> =
            rows(&source).iter().flat_map(|row| blocks(&row["message"]["content"])).collect();
        let read: Vec<Value> = entries(&recording.request)
            .iter()
            .flat_map(|entry| blocks(&entry["content"]))
            .collect();
        // One person's words stand in the queue's rows only.
        let queued: Vec<Value> = match name {
            "session-3fe1b6bc" => {
                vec!["check 019b7f07-4a68-7d10-a8ef-8454269f439d and event_msg type".into()]
            }
            _ => Vec::new(),
        };
        assert_eq!(sorted(read), sorted([recorded, queued].concat()), "{name}");
        // Not only equal, but the same bytes.
        for entry in recording.request.transcript.entries() {
            for part in entry.parts().filter(|part| !part.is(Marks::NESTED)) {
                assert!(source.contains(part.raw()), "{name}: {}", part.raw());
            }
        }
    }
}

#[test]
fn assistant_entries_are_the_api_messages_in_order() {
    for name in SESSIONS {
        let (source, recording) = session(name);
        let mut order: Vec<(Value, Vec<Value>)> = Vec::new();
        for row in rows(&source).iter().filter(|row| row["type"] == "assistant") {
            let (id, content) = (&row["message"]["id"], blocks(&row["message"]["content"]));
            match order.iter_mut().find(|(known, _)| known == id) {
                Some((_, all)) => all.extend(content),
                None => order.push((id.clone(), content)),
            }
        }
        let read: Vec<Vec<Value>> = entries(&recording.request)
            .iter()
            .filter(|entry| entry["role"] == "assistant")
            .map(|entry| blocks(&entry["content"]))
            .collect();
        assert_eq!(read, order.into_iter().map(|(_, blocks)| blocks).collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn each_batch_is_answered_by_the_next_entry_in_its_order() {
    for (name, calls) in SESSIONS.into_iter().zip([3, 76, 20]) {
        let (_, recording) = session(name);
        let transcript = &recording.request.transcript;
        let mut found = 0;
        for entry in transcript.entries().filter(Entry::has_calls) {
            let ids = |index: usize, kind: PartKind| -> Vec<String> {
                let parts = transcript.entry(index).parts();
                parts
                    .filter(|part| part.kind() == kind)
                    .map(|part| part.id().into_owned())
                    .collect()
            };
            let made = ids(entry.index, PartKind::Call);
            assert_eq!(ids(entry.index + 1, PartKind::Result), made, "{name}");
            let unique: HashSet<&String> = made.iter().collect();
            assert_eq!(unique.len(), made.len());
            found += made.len();
        }
        assert_eq!(found, calls, "{name}");
    }
}

#[test]
fn real_sessions_are_valid_requests() {
    for (name, count) in SESSIONS.into_iter().zip([12, 140, 12]) {
        let (_, recording) = session(name);
        let request = &recording.request;
        assert_eq!(check(request), [], "{name}");
        assert_eq!(left_out(&recording.skipped), [], "{name}");
        assert_eq!(request.transcript.len(), count, "{name}");
        assert_eq!(request.format, Format::Anthropic);
        assert_eq!(request.model().as_deref(), Some("claude-sonnet-4-5-20250929"));
        assert_eq!((recording.sidechains.len(), recording.compactions), (0, 0));
        assert_eq!(
            render(request, &View::whole(request.transcript.len())),
            request.source().as_str()
        );
        // No compaction: there is nothing behind one.
        let whole = super::recording("claude-code", session(name).0, WHOLE);
        assert_eq!(whole.request.source(), request.source());
        let again = parse(Format::Anthropic, request.source().clone()).expect("valid JSON");
        assert_eq!(again.transcript.len(), count);
    }
}

#[test]
fn human_messages_are_recognised() {
    let (_, recording) = session("session-3fe1b6bc");
    let human: Vec<String> = recording
        .request
        .transcript
        .entries()
        .filter(Entry::is_human)
        .map(|entry| entry.human_text().chars().take(32).collect())
        .collect();
    assert_eq!(
        human,
        [
            "analyze existing codex folder fo",
            "proceed",
            "a - run codex exec command to ch",
            "check 019b7f07-4a68-7d10-a8ef-84",
            "doublecheck 019b7f04-0b04-7cd3-b",
            "p",
            "TODO is not acceptable, implemen",
            "d",
        ]
    );
    for entry in recording.request.transcript.entries() {
        let want = match entry.role() {
            Role::Assistant => Origin::Model,
            _ if entry.has_results() => Origin::Tool,
            _ if entry.is_human() => Origin::Human,
            _ => Origin::Injected,
        };
        assert_eq!(entry.origin(), want, "{}", entry.raw());
    }
}

#[test]
fn hand_made_edge_cases_say_what_is_wrong() {
    let (_, recording) = session("edge_cases");
    assert_eq!(
        left_out(&recording.skipped)
            .iter()
            .map(|(row, why)| format!("{row}: {why}"))
            .collect::<Vec<_>>(),
        [
            "10: a message without content",
            "11: no message in it",
            "13: not a row of this format",
            "14: not a row of this format",
            "15: not a row of this format",
            "16: not a row of this format",
            "18: content element 1 is not a block",
            "18: a message without content",
        ]
    );
    assert_eq!(recording.request.transcript.len(), 11);
    // Row 10 was to hold the result of this call.
    let findings: Vec<_> = check(&recording.request).into_iter().map(|f| f.detail).collect();
    assert_eq!(findings, ["`tool_edge_002`"]);
}
