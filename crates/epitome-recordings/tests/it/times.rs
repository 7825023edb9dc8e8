//! When each message was said, as its row tells.

use std::collections::HashSet;

use epitome::archive::Original;
use epitome::text::time::{millis, rfc3339};
use serde_json::json;

use crate::{WHOLE, example, recording};

#[test]
fn messages_of_agents_tell_their_times() {
    for (kind, file) in [
        ("claude-code", "claude-code/session-3fe1b6bc.jsonl"),
        ("claude-code", "claude-code/agent-a485154.jsonl"),
        ("codex", "codex/rollout-b.jsonl"),
        ("codex", "codex/codex-words.jsonl"),
        ("gemini-cli", "gemini-cli/gemini-cli-words.jsonl"),
        ("gemini-cli", "gemini-cli/session-2025-12-01T21-45-5b959dae.json"),
        ("opencode", "opencode/opencode-words.json"),
        ("openhands", "openhands/openhands-words.json"),
        ("pi", "pi/large-session.jsonl"),
        ("pi", "pi/pi-words.jsonl"),
    ] {
        let text = example(file);
        let request = recording(kind, text.clone(), WHOLE).request;
        // What OpenHands gives as instructions is no message of its own.
        let said = request.transcript.entries().filter(|entry| !entry.role().instructs());
        let times: Vec<Option<u64>> = said.map(|it| it.time()).collect();
        let known: Vec<u64> = times.iter().copied().flatten().collect();
        assert_eq!(known.len(), times.len(), "{file}: {times:?}");
        // As they stand in the file, but for digits behind the milliseconds; numbers are milliseconds themselves.
        let said: HashSet<&str> =
            text.split(|c: char| !c.is_ascii_digit() && !"-:T".contains(c)).collect();
        let is_said = |time: &u64| {
            said.contains(&rfc3339(*time)[..19]) || said.contains(time.to_string().as_str())
        };
        assert!(known.iter().all(is_said), "{file}");
        let back = known.windows(2).filter(|pair| pair[0] > pair[1]).count();
        assert!(back * 10 <= known.len(), "{file}: {back} of {} go back", known.len());
        let originals =
            Original::of(&request, |at| !request.transcript.entry(at).role().instructs());
        assert!(originals.iter().zip(&times).all(|(it, time)| it.about.at == *time), "{file}");
    }
    let run = recording("tau-bench", example("tau-bench/00_task2_trial1.json"), WHOLE).request;
    assert!(run.transcript.entries().all(|entry| entry.time().is_none()), "nobody wrote them down");
}

#[test]
fn a_reply_is_of_its_first_row_and_results_are_of_theirs() {
    let row = |kind: &str, second: u32, content: serde_json::Value| {
        let time = format!("2026-01-02T03:04:{second:02}Z");
        json!({"type": kind, "timestamp": time, "message": {"role": kind, "id": "m", "content": content}})
            .to_string()
    };
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let rows = [
        row("user", 1, json!("Go.")),
        row("assistant", 2, text("I run it.")),
        row("assistant", 3, json!([{"type": "tool_use", "id": "a", "name": "run", "input": {}}])),
        row("user", 9, json!([{"type": "tool_result", "tool_use_id": "a", "content": "done"}])),
        json!({"type": "user", "timestamp": "now", "message": {"role": "user", "content": "And?"}})
            .to_string(),
    ];
    let request = recording("claude-code", rows.join("\n"), WHOLE).request;
    let at = |second: u32| millis(&format!("2026-01-02T03:04:{second:02}Z"));
    let times: Vec<Option<u64>> = request.transcript.entries().map(|it| it.time()).collect();
    assert_eq!(times, [at(1), at(2), at(9), None]);
}
