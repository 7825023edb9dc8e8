//! `sessions`, and `epitome` alone: what is on this machine.

use expect_test::expect;
use serde_json::{Value, json};

use crate::bench::{Bench, Ran, SESSION, SHORT};
use crate::mcp::asked;

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
    assert_eq!((&one["id"], &one["window"]), (&Value::from("one"), &Value::from(200_000)));
    assert_eq!(one["model"], "claude-sonnet-4-5");
    let title = one["title"].as_str().expect("somebody said something");
    assert!(title.starts_with("analyze existing codex folder"), "{title}");
    // What it cost is what `report` adds up.
    let report = bench.run("report one --json").json();
    let cost = report["cost"]["all"]["cost"].as_f64().expect("prices are known");
    assert!(cost > 0.0 && one["cost"].as_f64() == Some(cost), "{cost}: {}", one["cost"]);
}

/// A session of two messages whose words are `said`.
fn rows(said: &str) -> String {
    let user = json!({ "type": "user", "uuid": "u", "parentUuid": null, "sessionId": "s",
        "message": { "role": "user", "content": said } });
    let usage = json!({ "input_tokens": 150_000, "output_tokens": 50 });
    let reply = json!({ "type": "assistant", "uuid": "a", "parentUuid": "u", "sessionId": "s",
        "message": { "id": "m", "role": "assistant", "model": "claude-sonnet-4-5", "usage": usage,
            "content": [{ "type": "text", "text": "Done." }] } });
    format!("{user}\n{reply}\n")
}

const FOLDER: &str = ".claude/projects/-src-app";
const FIRST: &str = "3fe1b6bc-dbd0-4320-b980-4f147befa187";
const SECOND: &str = "3fe1b6bc-1111-4320-b980-4f147befa187";

#[test]
fn a_session_is_told_by_its_title_and_what_it_holds() {
    let bench = Bench::new();
    bench.write(&format!("{FOLDER}/{FIRST}.jsonl"), rows("Fix the\nparser, please."));
    let ran = bench.run("").ends(0);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ran.out);
    let words =
        ["3fe1b6bc ", " claude-code ", " claude-sonnet-4-5 ", " 150,050 ", " 75.0 % ", " $0.45 "];
    for word in words {
        assert!(lines[1].contains(word), "{word}: {}", lines[1]);
    }
    assert!(lines[1].ends_with(" Fix the parser, please."), "{}", lines[1]);
    assert!(ran.err.contains("epitome stats 3fe1b6bc-dbd0"), "{}", ran.err);
    // A command to the agent says little.
    bench.write(&format!("{FOLDER}/{FIRST}.jsonl"), rows("/init"));
    assert_eq!(bench.run("sessions --json").json()["sessions"][0]["title"], "/init");
}

#[test]
fn a_command_takes_an_id_where_it_takes_a_file() {
    let bench = Bench::new();
    bench.write(&format!("{FOLDER}/{FIRST}.jsonl"), rows("Fix the parser."));
    for line in [
        "stats 3fe1",
        "check 3fe1b6bc",
        "count 3fe1b6bc-dbd0",
        "plan 3fe1b6bc",
        "compact 3fe1b6bc -o out.json",
        "compact 3fe1b6bc --target 20k --archive store -o out.json",
        "diff 3fe1b6bc",
        "diff 3fe1b6bc out.json",
        "report 3fe1b6bc",
        "simulate 3fe1b6bc --window 200k",
        "convert 3fe1b6bc --to gemini -o out.json",
        "restore 3fe1b6bc --archive store",
        "sessions 3fe1b6bc --archive store",
        "forget 3fe1b6bc --archive store",
    ] {
        bench.run(line).ends(0);
    }
    assert_eq!(asked(&bench, "mcp 3fe1b6bc", &[]).len(), 0);
    // No archive has it: what is known of the recording.
    bench.run("sessions 3fe1b6bc").ends(0).says(&["Fix the parser."]);
    bench.run("sessions nonsense").ends(2).complains(&["there is no session \"nonsense\""]);
    bench.run("mcp 3fe1b6bc --project .").ends(2);
    // Several begin so, and which is meant isn't guessed; a whole id is no beginning.
    bench.write(&format!("{FOLDER}/{SECOND}.jsonl"), rows("Write the docs."));
    let ran = bench.run("stats 3fe1b6bc").ends(2);
    ran.complains(&["2 sessions begin like that", FIRST, SECOND]);
    bench.run(&format!("stats {FIRST}")).ends(0);
    let ran = bench.run("undo 3fe1b6bc --archive store").ends(2);
    ran.complains(&["2 sessions begin like that", FIRST, SECOND]);
    // A session of the archive goes before.
    bench.copy(SESSION, "in.jsonl");
    bench
        .run("compact in.jsonl --target 10% --archive store -o out.json --receipt receipt")
        .ends(0);
    let name = bench.json("receipt")["archived"]["session"].as_str().expect("a name").to_owned();
    for other in ["1111-4320-b980-4f147befa187", "2222-4320-b980-4f147befa187"] {
        bench.write(&format!("{FOLDER}/{name}-{other}.jsonl"), rows("Another."));
    }
    bench.run(&format!("undo {name} --archive store -o now.json")).ends(0);
    // The list says what is enough.
    let listed = bench.run("").out;
    assert!(listed.contains(" 3fe1b6bc-d ") && listed.contains(" 3fe1b6bc-1 "), "{listed}");
    // A file of that name goes before; what is short or has a folder is a file's name.
    bench.write("3fe1b6bc", r#"{"messages":[{"role":"user","content":"a file"}]}"#);
    assert!(bench.run("stats 3fe1b6bc --json").out.contains("openai-chat"));
    bench.run("stats 3fe").ends(1);
    bench.run("stats ./3fe1b6bc-d").ends(1);
    bench.run("stats nonsense").ends(1).complains(&["epitome sessions"]);
}

#[test]
fn a_long_recording_is_read_at_its_ends() {
    let bench = Bench::new();
    let whole = rows("Fix the parser.");
    let (first, last) = whole.split_once('\n').expect("two rows");
    let filler = |at: usize, first: &str| {
        let parent = at.checked_sub(1).map_or(first.to_owned(), |at| format!("f{at}"));
        let row = json!({ "type": "user", "uuid": format!("f{at}"), "parentUuid": parent, "sessionId": "s",
            "message": { "role": "user", "content": "x".repeat(1 << 20) } });
        format!("{row}\n")
    };
    let middle = |first: &str| (0..20).map(|at| filler(at, first)).collect::<String>();
    let file = format!("{FOLDER}/{FIRST}.jsonl");
    bench.write(&file, format!("{first}\n{}{last}", middle("u")));
    let session = bench.run("sessions --json").json()["sessions"][0].clone();
    assert_eq!(session["title"], "Fix the parser.");
    assert_eq!((&session["tokens"], &session["window"]), (&json!(150_050), &json!(200_000)));
    assert_eq!((&session["cost"], &session["entries"]), (&Value::Null, &Value::Null));
    // Where the end reports nothing, all of it is read.
    bench.write(&file, format!("{first}\n{last}{}", middle("a")));
    let session = bench.run("sessions --json").json()["sessions"][0].clone();
    assert_eq!(session["title"], "Fix the parser.");
    assert!(session["tokens"].as_u64() > Some(150_050) && session["cost"].is_number(), "{session}");
}

#[test]
fn alone_it_lists_the_sessions() {
    let bench = home();
    let (alone, named) = (bench.run(""), bench.run("sessions"));
    assert_eq!((alone.code, &alone.out), (0, &named.out));
    assert!(alone.out.contains("claude-code") && alone.out.contains(" one "), "{}", alone.out);
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
