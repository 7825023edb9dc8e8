//! `sessions`, and `epitome` alone: what is on this machine.

use expect_test::expect;
use serde_json::Value;

use crate::bench::{Bench, Ran, SESSION, SHORT};

/// A bench whose home holds recordings of four agents, and what else lies about there.
fn home() -> Bench {
    let bench = Bench::new();
    for (folder, example, name) in [
        (".claude/projects/-src-app", SESSION, "one.jsonl"),
        (".claude/projects/-src-app", SHORT, "two.jsonl"),
        (".claude/projects/-src-app", SHORT, "agent-1.jsonl"),
        (".codex/sessions/2026/11/20", "codex/rollout-b.jsonl", "rollout-a.jsonl"),
        (".gemini/tmp/abc/chats", "gemini-cli/session-2025-12-01T21-45-5b959dae.json", "chat.json"),
        (".pi/agent/sessions/app", "pi/pi-words.jsonl", "pi.jsonl"),
    ] {
        std::fs::create_dir_all(bench.path(folder)).expect("a folder");
        bench.copy(example, &format!("{folder}/{name}"));
    }
    bench.write(".claude/projects/-src-app/settings.json", "{}");
    bench.write(".gemini/tmp/abc/logs.json", "[]");
    bench.write(".pi/agent/sessions/broken.jsonl", "\0");
    bench
}

fn files(ran: &Value) -> Vec<&str> {
    let sessions = ran["sessions"].as_array().expect("a list").iter();
    let files = sessions.map(|session| session["file"].as_str().expect("a path"));
    let mut files: Vec<&str> = files.map(|file| file.rsplit('/').next().expect("a name")).collect();
    files.sort_unstable();
    files
}

#[test]
fn recordings_are_found_and_nothing_else() {
    let bench = home();
    let ran = bench.run("sessions --json");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let ran = ran.json();
    assert_eq!(files(&ran), ["chat.json", "one.jsonl", "pi.jsonl", "rollout-a.jsonl", "two.jsonl"]);
    let one = ran["sessions"].as_array().expect("a list").iter();
    let one =
        one.into_iter().find(|s| s["file"].as_str().is_some_and(|f| f.ends_with("one.jsonl")));
    let one = one.expect("listed");
    let counted = bench.run("count .claude/projects/-src-app/one.jsonl --json").json();
    assert_eq!(one["agent"], "claude-code");
    assert_eq!(one["entries"], 140);
    assert!(one["tokens"].as_u64() > Some(0) && counted["tokens"].as_u64() > Some(0));
    assert_eq!(one["compactions"], 0);
    assert!(one["age"].as_u64() < Some(3600));
}

#[test]
fn alone_it_lists_the_sessions() {
    let bench = home();
    let (alone, named) = (bench.run(""), bench.run("sessions"));
    assert_eq!((alone.code, &alone.out), (0, &named.out));
    assert!(alone.out.contains("claude-code") && alone.out.contains("one.jsonl"), "{}", alone.out);
    let nothing = Bench::new().run("");
    expect![[r#"
        no recordings of Claude Code, Codex, Gemini CLI or pi are on this machine
    "#]]
    .assert_eq(&nothing.out);
    assert!(nothing.err.contains("epitome --help"));
}

#[test]
fn the_newest_come_first_and_variables_move_folders() {
    let bench = home();
    assert_eq!(files(&bench.run("sessions --json --limit 1").json()).len(), 1);
    let mut command = bench.command(&["sessions", "--json"]);
    command.env("CLAUDE_CONFIG_DIR", bench.path("nowhere"));
    let moved = Ran::of(&command.output().expect("the binary runs")).json();
    assert!(!files(&moved).contains(&"one.jsonl"));
    std::fs::rename(bench.path(".claude"), bench.path("elsewhere")).expect("moved");
    let mut command = bench.command(&["sessions", "--json"]);
    command.env("CLAUDE_CONFIG_DIR", bench.path("elsewhere"));
    let moved = Ran::of(&command.output().expect("the binary runs")).json();
    assert!(files(&moved).contains(&"one.jsonl"));
}

#[test]
fn archives_are_listed_too() {
    let bench = Bench::new();
    bench.copy(SESSION, "in.jsonl");
    bench.run("compact in.jsonl --target 10% --archive store -o out.json");
    let ran = bench.run("sessions --archive store --json").json();
    let session = &ran["sessions"][0];
    assert_eq!((&session["views"], &session["head"]), (&Value::from(1), &Value::from(1)));
    assert_eq!(
        (&session["entries"], &session["source"]),
        (&Value::from(140), &Value::from("in.jsonl"))
    );
    assert!(ran["stored"]["packed"].as_u64() < ran["stored"]["bytes"].as_u64());
    let words = bench.run("sessions --archive store");
    assert!(words.out.contains("1 view (1 in force)"), "{}", words.out);
}
