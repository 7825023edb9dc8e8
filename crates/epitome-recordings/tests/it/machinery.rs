//! What the agent does beside the conversation: commands, attachments, shortened results, counts.

use epitome_recordings::{Reported, Usage};

use crate::notation::{check, file, of_rows, shown};
use crate::{LAST, example, recording};

fn notes(rows: &[&str]) -> Vec<String> {
    of_rows(LAST, rows).notes.iter().map(ToString::to_string).collect()
}

fn command(name: &str, args: &str) -> String {
    format!(
        "<command-name>/{name}</command-name>\n            <command-message>{name}</command-message>\n            \
         <command-args>{args}</command-args>"
    )
}

#[test]
fn what_follows_a_command_is_a_persons_words() {
    let (fix, clear) = (command("fix", "the build"), command("clear", ""));
    check(
        LAST,
        &[
            "k1 -  command clear",
            "k2 k1 command fix the build",
            "m1 k2 meta Fix what the person names: the build",
            "a1 m1 text:m1 Done.",
        ],
        &[
            &format!("injected: {clear}"),
            &format!("human: {fix}"),
            "injected: Fix what the person names: the build",
            "model: Done.",
        ],
    );
}

#[test]
fn a_command_that_the_agent_ran_itself_was_not_said_to_the_model() {
    let (model, fix) = (command("model", "opus"), command("fix", "it"));
    let want = [
        "injected: <local-command-caveat>mind this</local-command-caveat>".to_owned(),
        format!("injected: {model}"),
        "injected: <local-command-stdout>Set model to opus</local-command-stdout>".to_owned(),
        format!("human: {fix}"),
        "model: Done.".to_owned(),
    ];
    let want: Vec<&str> = want.iter().map(String::as_str).collect();
    let rows = [
        "v1 -  caveat mind this",
        "k1 v1 command model opus",
        "p1 k1 printed Set model to opus",
        "k2 p1 command fix it",
        "a1 k2 text:m1 Done.",
    ];
    check(LAST, &rows, &want);
    // Either neighbour tells.
    check(LAST, &rows[1..], &want[1..]);
    let silent = [rows[0], rows[1], "k2 k1 command fix it"];
    check(LAST, &silent, &[want[0], want[1], want[3]]);
}

#[test]
fn attachments_are_noted_once_a_kind() {
    let rows = [
        "u1 -  human Fix it.",
        "w1 u1 attached todo_reminder",
        "w2 w1 attached edited_text_file",
        "w3 w2 attached todo_reminder",
        "a1 w3 text:m1 On it.",
        "x1 a1 other marble-run",
        "x2 x1 link",
    ];
    check(LAST, &rows, &["human: Fix it.", "model: On it."]);
    assert_eq!(
        notes(&rows),
        [
            "2 × \"todo_reminder\", recorded without its wording (first in row 2)",
            "1 × \"edited_text_file\", recorded without its wording (first in row 3)",
            "1 × rows of unknown type \"marble-run\" (first in row 6)",
        ]
    );
}

#[test]
fn results_that_were_shortened_are_as_the_model_saw_them() {
    let rows = [
        "u1 -  human Fix it.",
        "a1 u1 call:m1 c1",
        "a2 a1 call:m1 c2",
        "r1 a1 result c1 a long story",
        "r2 a2 result c2 short",
        ". .  shortened c1 older words",
        ". .  shortened c1 see the file",
        ". .  shortened c9 nowhere",
        "a3 r2 text:m2 Done.",
    ];
    check(
        LAST,
        &rows,
        &[
            "human: Fix it.",
            "model: call c1 | call c2",
            "tool: c1 = see the file | c2 = short",
            "model: Done.",
        ],
    );
    assert_eq!(notes(&rows), ["1 × results that the model saw shortened (first in row 4)"]);
    // In whatever order the block's members stand.
    let block =
        r#"{"content":[{"type":"text","text":"long"}],"type":"tool_result","tool_use_id":"c1"}"#;
    let row = format!(
        "{{\"type\":\"user\",\"uuid\":\"r1\",\"parentUuid\":\"a1\",\"message\":{{\"role\":\"user\",\"content\":[{block}]}}}}\n"
    );
    let source = file(&rows[..2]) + &row + &file(&rows[6..7]);
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
