//! Views that are written into recordings: reading back gives the view, whatever was cut.

use std::collections::HashSet;
use std::sync::Arc;

use epitome::checkpoint::look_alikes;
use epitome::transcript::{Entry, PartKind, Role};
use epitome::view::Fate;
use epitome::wire::check;
use epitome::{Options as Settings, Outcome, Request, Tail};
use epitome_recordings::{Applied, ApplyError, Archived, applied, apply, reader};
use serde_json::{Value, json};

use crate::{LAST, WHOLE, detected, example, read_as, recording};
use epitome::word_list::words;

/// Noon of the day on which this was written.
const NOON: u64 = 1_795_348_800_000;

fn sessions() -> Vec<(String, &'static str, String)> {
    let shipped = words!(
        "claude-code/session-9eda1058.jsonl claude-code/session-3fe1b6bc.jsonl \
         claude-code/agent-a485154.jsonl claude-code/edge_cases.jsonl codex/rollout-b.jsonl \
         codex/codex-words.jsonl codex/turn-2.jsonl pi/large-session.jsonl pi/pi-words.jsonl"
    );
    let mut all: Vec<(String, String)> =
        shipped.map(|path| (path.to_owned(), example(path))).into();
    for capture in ["code-mode", "later", "tools"].map(|name| format!("codex/{name}")) {
        all.push(captured(&capture));
    }
    for capture in ["anthropic", "branches", "chat", "later", "responses"] {
        all.push(captured(&format!("pi/{capture}")));
    }
    let named = |(name, source): (String, String)| {
        let kind = detected(&source).unwrap_or_else(|| panic!("{name} is a recording"));
        (name, kind, source)
    };
    all.into_iter().map(named).collect()
}

fn captured(name: &str) -> (String, String) {
    let root = format!("{}/../../fixtures/captures", env!("CARGO_MANIFEST_DIR"));
    let path = format!("{root}/{name}/recording.jsonl");
    (name.to_owned(), std::fs::read_to_string(path).expect("captures are shipped"))
}

fn compacted(request: &Request, target: &str) -> Outcome {
    let settings = Settings {
        target: target.parse().expect("a target"),
        tail: if target == "20%" { Tail::Turns(1) } else { Settings::default().tail },
        ..Settings::default()
    };
    testkit::compactor(settings, "o200k").compact(request).expect("a compaction")
}

fn archived(view: u64) -> Archived {
    Archived { session: "3fe1b6bc2f10".to_owned(), view }
}

fn put_behind(
    kind: &str,
    source: &str,
    outcome: &Outcome,
    view: u64,
) -> Result<String, ApplyError> {
    let archived = archived(view);
    let applied = Applied { outcome, archived: &archived, at: NOON };
    apply(reader(kind).expect("a reader"), &Arc::new(source.to_owned()), &applied)
}

/// What a message says; ids of items, and whether a text stands in a list, are the agent's affair.
fn said(entry: &Entry<'_>) -> Value {
    let parts = entry.parts().filter(|part| !part.raw_body().starts_with('['));
    let parts = parts.map(|part| {
        let is_signed = part.kind() == PartKind::Reasoning;
        let raw = if is_signed { part.raw().to_owned() } else { part.text().into_owned() };
        let name = if part.kind() == PartKind::Call { part.name() } else { "".into() };
        serde_json::json!([format!("{:?}", part.kind()), part.id(), name, raw])
    });
    serde_json::json!([format!("{:?}", entry.role()), parts.collect::<Vec<_>>()])
}

/// What the agent is shown; pi says in a line before all else that there was a compaction.
fn shown<'a>(kind: &str, request: &'a Request) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = request.transcript.entries().collect();
    if kind == "pi" {
        let first = entries.iter().position(|entry| entry.role() != Role::System);
        let announcement = entries.remove(first.expect("a message"));
        assert!(
            announcement.raw().contains("What was kept of it follows"),
            "{}",
            announcement.raw()
        );
    }
    entries
}

#[test]
fn reading_back_gives_the_view() {
    let mut checkpoints = 0;
    for (name, kind, source) in sessions() {
        let before = recording(kind, source.clone(), LAST);
        for target in ["60%", "20%", "5%"] {
            let outcome = compacted(&before.request, target);
            let whole = put_behind(kind, &source, &outcome, 1)
                .unwrap_or_else(|error| panic!("{name} at {target}: {error}"));
            assert!(whole.starts_with(&source), "{name}: what was recorded stays");
            let again = recording(kind, whole.clone(), LAST);
            assert_eq!(again.compactions, before.compactions + 1, "{name}");
            let view: Vec<Value> =
                outcome.request.transcript.entries().map(|entry| said(&entry)).collect();
            let read: Vec<Value> = shown(kind, &again.request).iter().map(said).collect();
            assert_eq!(read, view, "{name} at {target}");
            assert_eq!(again.request.model(), outcome.request.model(), "{name} at {target}");
            assert_eq!(again.request.system(), outcome.request.system(), "{name} at {target}");
            assert_eq!(again.request.tools(), outcome.request.tools(), "{name} at {target}");
            if kind != "pi" {
                let raw = |request: &Request| -> Vec<String> {
                    request.transcript.entries().map(|entry| entry.raw().to_owned()).collect()
                };
                assert_eq!(raw(&again.request), raw(&outcome.request), "{name} at {target}");
            }
            checkpoints += look_alikes(&again.request.transcript).count();
            // Who speaks is known still.
            let speakers = |request: &Request| -> HashSet<String> {
                let entries = request.transcript.entries().filter(Entry::is_human);
                entries.map(|entry| entry.human_text()).collect()
            };
            let people = speakers(&before.request);
            let fated = outcome.base.transcript.entries().zip(outcome.view.fates());
            let kept: HashSet<String> = fated
                .filter(|(entry, fate)| entry.is_human() && **fate == Fate::Keep)
                .map(|(entry, _)| entry.human_text())
                .collect();
            let read = speakers(&again.request);
            assert!(kept.is_subset(&read), "{name} at {target}");
            let strange = read.difference(&people).filter(|text| !text.contains('…')).count();
            assert_eq!(strange, 0, "{name} at {target}: {read:?}");
            assert_eq!(
                check(&again.request).len(),
                check(&outcome.request).len(),
                "{name} at {target}"
            );
            // Across compactions nothing is told twice.
            let all = recording(kind, source.clone(), WHOLE).request;
            let all_again = recording(kind, whole.clone(), WHOLE).request;
            let entries = |request: &Request| -> Vec<Value> {
                request.transcript.entries().map(|entry| said(&entry)).collect()
            };
            assert_eq!(entries(&all_again), entries(&all), "{name} at {target}, as a whole");
            if kind == "claude-code" {
                let summaries =
                    whole.lines().filter(|row| row.contains("\"isCompactSummary\":true"));
                let has_one = usize::from(outcome.receipt.checkpoint.is_some());
                assert_eq!(summaries.count(), has_one, "{name} at {target}");
            }
            let (found, end) = applied(&whole).expect("it is marked");
            assert_eq!((found, end), (archived(1), whole.trim_end().len()), "{name}");
        }
    }
    assert!(checkpoints > 20, "{checkpoints} checkpoints were read back");
}

#[test]
fn a_session_is_compacted_and_applied_again_and_again() {
    for (name, kind, source) in sessions() {
        let mut whole = source;
        for round in 1..=4 {
            let before = recording(kind, whole.clone(), LAST).request;
            let outcome = compacted(&before, "60%");
            whole = put_behind(kind, &whole, &outcome, round)
                .unwrap_or_else(|error| panic!("{name}, round {round}: {error}"));
            let again = recording(kind, whole.clone(), LAST).request;
            let is_one = |request: &Request| look_alikes(&request.transcript).count() <= 1;
            assert!(
                is_one(&again),
                "{name}, round {round}: one checkpoint stands for all before it"
            );
            assert_eq!(
                applied(&whole).map(|(archived, _)| archived),
                Some(archived(round)),
                "{name}"
            );
        }
    }
}

#[test]
fn what_is_said_afterwards_follows_the_view() {
    let source = example("claude-code/session-9eda1058.jsonl");
    let before = recording("claude-code", source.clone(), LAST).request;
    let outcome = compacted(&before, "20%");
    let whole = put_behind("claude-code", &source, &outcome, 1).expect("it is applied");
    let last: Value = serde_json::from_str(whole.lines().last().expect("rows")).expect("JSON");
    let more = format!(
        "{{\"parentUuid\":{},\"type\":\"user\",\"uuid\":\"b1a4b6a8-0000-4000-8000-000000000001\",\
         \"message\":{{\"role\":\"user\",\"content\":\"Go on.\"}}}}\n",
        last["uuid"]
    );
    let on = recording("claude-code", format!("{whole}{more}"), LAST).request;
    assert_eq!(on.transcript.len(), outcome.request.transcript.len() + 1);
    assert_eq!(on.transcript.entries().next_back().expect("a message").human_text(), "Go on.");
    let (_, end) = applied(&format!("{whole}{more}")).expect("it is marked");
    assert_eq!(end, whole.trim_end().len());
}

#[test]
fn the_same_is_written_twice() {
    let source = example("pi/pi-words.jsonl");
    let before = recording("pi", source.clone(), LAST).request;
    let outcome = compacted(&before, "50%");
    let one = put_behind("pi", &source, &outcome, 1).expect("it is applied");
    assert_eq!(put_behind("pi", &source, &outcome, 1), Ok(one));
}

#[test]
fn other_recordings_are_refused() {
    let source = example("swe-agent/marshmallow-1867-function-calling.traj");
    let before = recording("swe-agent", source.clone(), LAST).request;
    let outcome = compacted(&before, "50%");
    let refused = put_behind("swe-agent", &source, &outcome, 1);
    assert_eq!(refused, Err(ApplyError::Unsupported { reader: "swe-agent" }));
    assert!(applied(&source).is_none());
    assert!(read_as("swe-agent", source, LAST).is_ok());
}

/// Signatures, ids with an item's, failures, and images, wherever a format puts them.
#[test]
fn rows_say_again_what_was_said_in_every_format() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let image = json!({ "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png" });
    let item = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
    for (api, model, thought, signature, ids) in [
        ("anthropic-messages", "claude", "Hm.", "c2ln", ["toolu_1", "toolu_2"]),
        ("openai-completions", "glm", "Hm.", "reasoning", ["call_1", "call_2"]),
        ("openai-responses", "gpt", "", item, ["call_1|fc_1", "call_2|fc_2"]),
        ("google-generative-ai", "gemini-3", "Hm.", "c2ln", ["call_1", "call_2"]),
    ] {
        let is_gemini = api == "google-generative-ai";
        let can_fail = is_gemini || api == "anthropic-messages";
        let call = |id: &str| json!({ "type": "toolCall", "id": id, "name": "look", "arguments": { "at": 1 } });
        let mut first = call(ids[0]);
        if is_gemini {
            first["thoughtSignature"] = json!("dGhv");
        }
        let thinking =
            json!({ "type": "thinking", "thinking": thought, "thinkingSignature": signature });
        let result = |id: &str, failed: bool, content: &[&Value]| {
            json!({ "role": "toolResult", "toolCallId": id, "toolName": "look",
                    "isError": failed, "content": content })
        };
        let reply = |content: &[&Value]| json!({ "role": "assistant", "content": content, "api": api, "provider": "p", "model": model });
        let messages = [
            json!({ "role": "user", "content": [text("Look."), image] }),
            reply(&[&thinking, &text("I look."), &first, &call(ids[1])]),
            result(ids[0], can_fail, &[&text("no")]),
            result(ids[1], false, &[&text("a map"), &image]),
            reply(&[&text("A map.")]),
            json!({ "role": "user", "content": [text("Go on.")] }),
        ];
        let mut source =
            String::from("{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"cwd\":\"/\"}\n");
        let mut parent = Value::Null;
        for (nth, message) in messages.iter().enumerate() {
            let id = json!(format!("{nth:08}"));
            let row =
                json!({ "type": "message", "id": id, "parentId": parent, "message": message });
            source += &(row.to_string() + "\n");
            parent = id;
        }
        let outcome = compacted(&recording("pi", source.clone(), LAST).request, "100%");
        let whole = put_behind("pi", &source, &outcome, 1).expect(api);
        let rows =
            whole[source.len()..].lines().map(|row| serde_json::from_str(row).expect("JSON"));
        let said = |message: &Value| {
            ["role", "content", "toolCallId", "toolName", "isError"].map(|key| message[key].clone())
        };
        let again: Vec<_> = rows.skip(1).map(|row: Value| said(&row["message"])).collect();
        assert_eq!(again, messages.each_ref().map(said), "{api}");
    }
}
