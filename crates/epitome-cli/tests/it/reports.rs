//! What read-only commands say of real sessions.

use expect_test::expect_file;

use crate::bench::{Bench, EDGES, RUN, SESSION, SHORT, TRAJECTORY};

/// One breach of every common kind.
const BROKEN: &str = r#"{"model":"claude-sonnet-4-5","messages":[
 {"role":"assistant","content":"Hello"},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_9","content":"orphan"}]},
 {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]},
 {"role":"user","content":"never answered"}]}"#;

/// Tools of which one is never called.
const TOOLS: &str = r#"{"model":"gpt-4o","tools":[{"type":"function","function":{"name":"ls","parameters":{"type":"object"}}},{"type":"function","function":{"name":"rm","parameters":{"type":"object"}}}],"messages":[
        {"role":"system","content":"Be brief."},
        {"role":"user","content":"What is in the folder?"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\"path\":\".\"}"}}]},
        {"role":"tool","tool_call_id":"c1","content":"a.txt b.txt c.txt"},
        {"role":"assistant","content":"Three files."}]}"#;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.copy(SESSION, "session.jsonl");
    bench.copy(SHORT, "short.jsonl");
    bench.copy(EDGES, "edges.jsonl");
    bench.copy(RUN, "run.json");
    bench.copy(TRAJECTORY, "warmup.traj");
    bench.write("broken.json", BROKEN);
    bench.write("tools.json", TOOLS);
    bench.write("a.json", r#"[{"role":"user","content":"one"},{"role":"user","content":"two"}]"#);
    bench.write("b.json", r#"[{"role":"user","content":"two"},{"role":"user","content":"three"}]"#);
    bench
}

/// A case is a command; of a shape, figures are left out.
#[test]
fn reports_are_as_the_page_shows_them() {
    let bench = bench();
    testkit::page::check(&expect_file!["reports.txt"], |case| {
        let ran = bench.run(&case.name);
        if case.settings == "shape" { ran.shape() } else { ran.shown() }
    });
}

#[test]
fn check_finds_and_repairs() {
    let bench = bench();
    let repaired = bench.run("check broken.json --repair").ends(0);
    bench.pipe("check", repaired.out.as_bytes()).ends(0).says(&["nothing found in 4 messages"]);
    let found = bench.run("check broken.json --json").ends(3).json();
    assert_eq!(found["version"], 1);
    assert!(found["findings"][0]["error"].as_str().is_some_and(|text| !text.is_empty()));
    let mended = bench.run("check broken.json --repair -o mended.json --json").ends(0);
    assert_eq!(mended.json()["left"], serde_json::json!([]));
    assert_eq!(bench.read("mended.json"), repaired.out);
}

#[test]
fn check_of_sound_sessions_finds_nothing() {
    let bench = bench();
    for file in ["session.jsonl", "short.jsonl", "run.json"] {
        let ran = bench.run(&format!("check {file}"));
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{file}: {}", ran.out);
    }
}

#[test]
fn what_only_the_author_can_mend_is_left() {
    let bench = Bench::new();
    let body = r#"{"model":"claude-sonnet-4-5","thinking":{"type":"enabled","budget_tokens":1024},"messages":[
 {"role":"user","content":"go"},
 {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]},
 {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}]}"#;
    let ran = bench.pipe("check --repair", body.as_bytes()).ends(3);
    ran.complains(&["anthropic/thinking-first"]);
    assert_eq!(ran.out, body);
}

/// What the model refuses is left, too, and counted where the exit code says so.
#[test]
fn what_the_model_refuses_is_counted_as_left() {
    let bench = Bench::new();
    let image = r#"{"type":"image_url","image_url":{"url":"https://e.x/a.png"}}"#;
    let body = format!(r#"{{"model":"gpt-4","messages":[{{"role":"user","content":[{image}]}}]}}"#);
    let ran = bench.pipe("check --repair", body.as_bytes()).ends(3);
    assert!(ran.err.contains("0 mended, 1 left"), "{}", ran.err);
}

#[test]
fn plan_says_what_compact_would_do() {
    let bench = bench();
    let planned = bench.run("plan session.jsonl --target 20% --json").json();
    bench.run("compact session.jsonl --target 20% -o out.json --receipt receipt.json");
    let receipt = bench.json("receipt.json");
    for key in ["before", "after", "target", "floor", "steps", "edits", "kept_prefix"] {
        assert_eq!(planned[key], receipt[key], "{key}");
    }
}

#[test]
fn plan_writes_nothing() {
    let bench = bench();
    let before = bench.names();
    bench.run("plan session.jsonl");
    assert_eq!(bench.names(), before);
}

#[test]
fn an_unreachable_target_is_3() {
    let bench = bench();
    for command in ["plan", "diff", "compact"] {
        let ran = bench.run(&format!("{command} short.jsonl --target 10 --keep-recent 100"));
        assert_eq!(ran.code, 3, "{command}");
        assert!(ran.err.contains("can't be reached") || ran.out.contains("can't be reached"));
    }
}

#[test]
fn diff_covers_every_entry() {
    let bench = bench();
    let fates = bench.run("diff session.jsonl --target 20% --json").json();
    let entries = fates["entries"].as_array().expect("a list");
    let before: Vec<_> = entries.iter().filter_map(|entry| entry["before"].as_u64()).collect();
    assert_eq!(before, (0..before.len() as u64).collect::<Vec<_>>());
    assert!(entries.iter().all(|e| e["fate"] != "edit" || e["reasons"][0].is_string()));

    bench.run("compact session.jsonl --target 20% -o out.json");
    let files = bench.run("diff session.jsonl out.json --json").json();
    let kept = |diff: &serde_json::Value| -> Vec<(u64, u64)> {
        let entries = diff["entries"].as_array().expect("a list").iter();
        let kept = entries.filter(|entry| entry["fate"] == "keep");
        kept.filter_map(|e| Some((e["before"].as_u64()?, e["after"].as_u64()?))).collect()
    };
    assert_eq!(kept(&files), kept(&fates), "two files tell what the compaction told");
    assert_eq!(files["tokens_after"], fates["tokens_after"]);
}

#[test]
fn every_report_has_a_version() {
    let bench = bench();
    for command in
        ["stats", "check", "count", "plan", "diff", "convert --to openai-chat -o out.json"]
    {
        let ran = bench.run(&format!("{command} run.json --json"));
        assert_eq!(ran.json()["version"], 1, "{command}: {}", ran.err);
    }
}

#[test]
fn kinds_add_up() {
    let bench = bench();
    for file in ["session.jsonl", "run.json", "warmup.traj", "edges.jsonl"] {
        let stats = bench.run(&format!("stats {file} --json")).json();
        let sum = |key: &str| -> u64 {
            let kinds = stats["kinds"].as_array().expect("a list");
            kinds.iter().filter_map(|kind| kind[key].as_u64()).sum()
        };
        assert_eq!(stats["tokens"].as_u64(), Some(sum("tokens")), "{file}");
        assert_eq!(stats["bytes"].as_u64(), Some(sum("bytes")), "{file}");
    }
}

#[test]
fn a_sub_agent_is_picked_by_its_id() {
    let bench = bench();
    let row = |line: &str, side: bool| {
        format!(
            r#"{{"type":"user","uuid":"{line}","parentUuid":null,"isSidechain":{side},"agentId":"{}","sessionId":"s","message":{{"role":"user","content":"{line}"}}}}"#,
            if side { "helper" } else { "" }
        )
    };
    bench.write("side.jsonl", format!("{}\n{}\n", row("main", false), row("aside", true)));
    let ids = bench.run("stats side.jsonl --json").json()["source"]["sidechains"].clone();
    let id = ids[0].as_str().expect("a sub-agent");
    let side = bench.run(&format!("convert side.jsonl --sidechain {id} --to anthropic"));
    assert!(side.out.contains("aside") && !side.out.contains("main"), "{}{}", side.out, side.err);
}

/// The picture in the README; `UPDATE_EXPECT=1` draws it anew, as does
/// `epitome stats examples/claude-code/session-3fe1b6bc.jsonl --svg docs/stats.svg`.
#[test]
fn the_shipped_picture_is_what_the_tool_draws() {
    let bench = bench();
    let ran = bench.run("stats session.jsonl --svg -");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect_file!["../../../../docs/stats.svg"].assert_eq(&ran.out);
}
