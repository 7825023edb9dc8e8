//! What the agent does beside the conversation: shortened results, counts.

use epitome_recordings::{Reported, Usage};

use crate::notation::{file, shown};
use crate::{LAST, example, recording};

/// In whatever order the block's members stand.
#[test]
fn results_that_were_shortened_are_as_the_model_saw_them() {
    let block =
        r#"{"content":[{"type":"text","text":"long"}],"type":"tool_result","tool_use_id":"c1"}"#;
    let row = format!(
        "{{\"type\":\"user\",\"uuid\":\"r1\",\"parentUuid\":\"a1\",\"message\":{{\"role\":\"user\",\"content\":[{block}]}}}}\n"
    );
    let source = file(&["u1 -  human Fix it.", "a1 u1 call:m1 c1"])
        + &row
        + &file(&[". .  shortened c1 see the file"]);
    let read = recording("claude-code", source, LAST);
    assert_eq!(shown(&read.request)[2], "tool: c1 = see the file");
}

#[test]
fn what_the_provider_reported_is_told_with_the_reply() {
    let read = recording("claude-code", example("claude-code/agent-a485154.jsonl"), LAST);
    let transcript = &read.request.transcript;
    let replies: Vec<usize> = transcript
        .entries()
        .filter(|entry| entry.role() == epitome::transcript::Role::Assistant)
        .map(|entry| entry.index)
        .collect();
    assert_eq!(read.usage.iter().map(|reported| reported.reply.start).collect::<Vec<_>>(), replies);
    let first = Usage { input: 3, cache_write: 17_159, output: 265, ..Usage::default() };
    let model = Some("claude-sonnet-4-5-20250929".to_owned());
    assert_eq!(read.usage[0], Reported { reply: 1..2, usage: first, model });
    // A session only grows.
    let prompts: Vec<u64> = read.usage.iter().map(|reported| reported.usage.prompt()).collect();
    assert!(prompts.is_sorted(), "{prompts:?}");
}
