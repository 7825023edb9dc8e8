//! Commands before and after a compaction.

use serde_json::Value;

use crate::asked::{self, receipt};
use crate::bench::{Bench, Ran, SESSION};
use crate::summarizers::good;

fn bench(before: &str) -> Bench {
    let bench = Bench::new();
    bench.copy(SESSION, "in.jsonl");
    bench.write("before", before);
    bench.write("summarize", good());
    bench
}

fn compact(bench: &Bench, flags: &[&str]) -> Ran {
    asked::compact(bench, flags, &[])
}

const BEFORE: [&str; 2] = ["--hook-before", "sh before"];

#[test]
fn a_hook_is_told_what_is_planned_and_may_forbid_it() {
    let bench = bench("cat > asked\necho '{\"version\":1,\"veto\":\"it deploys\"}'\n");
    compact(&bench, &BEFORE).ends(3).complains(&["nothing done: sh before vetoed: it deploys"]);
    let asked = bench.json("asked");
    assert_eq!((&asked["version"], &asked["event"]), (&1.into(), &"before".into()));
    assert!(asked["tokens"].as_u64() > asked["target"].as_u64());
    let messages = asked["request"]["messages"].as_array().expect("a body");
    let folds = asked["folds"].as_array().expect("a list");
    assert!(!folds.is_empty() && folds.len() < messages.len());
    let told = receipt(&bench);
    assert_eq!((&told["outcome"], &told["triggered"]), (&"declined".into(), &false.into()));
    assert_eq!(told["edits"], serde_json::json!([]));
}

#[test]
fn a_hook_may_add_pins_and_instructions_and_write_the_summary() {
    let wishes = "{\"version\":1,\"instructions\":[\"Name every port.\"],\"pins\":[9]}";
    let all = bench(&format!("echo '{wishes}'\n"));
    let with = [BEFORE.as_slice(), &["--summarizer", "cmd:sh summarize"]].concat();
    let ran = compact(&all, &with).ends(0);
    let asked = all.json("asked");
    let instruction = asked["instruction"].as_str().expect("text");
    assert!(instruction.contains("Name every port."), "{instruction}");
    let edited = |told: &Value, at: u64| {
        let edits = told["edits"].as_array().expect("a list").clone();
        edits.iter().any(|run| run["from"].as_u64() <= Some(at) && run["to"].as_u64() >= Some(at))
    };
    assert!(!edited(&receipt(&all), 9));
    assert!(ran.err.contains("tokens by sh summarize (1 call)"), "{}", ran.err);

    let own = bench(
        "echo '{\"version\":1,\"summary\":\"The work went on, and is not finished yet.\"}'\n",
    );
    compact(&own, &with).ends(0);
    assert!(edited(&receipt(&own), 9));
    assert!(own.read("out").contains("The work went on, and is not finished yet."));
    assert!(!own.path("asked").exists(), "the summarizer was asked");
}

#[test]
fn a_wish_that_cant_be_read_costs_no_other() {
    let wishes = "{\"version\":1,\"instructions\":[7,\"Name every port.\"],\"pins\":[-1,1.5,{},9]}";
    let bench = bench(&format!("echo '{wishes}'\n"));
    let with = [BEFORE.as_slice(), &["--summarizer", "cmd:sh summarize"]].concat();
    compact(&bench, &with).ends(0);
    assert!(bench.read("asked").contains("Name every port."));
    let told = receipt(&bench);
    let edits = told["edits"].as_array().expect("a list");
    let is_9 = |run: &Value| run["from"].as_u64() <= Some(9) && run["to"].as_u64() >= Some(9);
    assert!(!edits.iter().any(is_9), "it was pinned");
    let fallbacks: Vec<&str> =
        told["fallbacks"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    let unread = |what: &str| format!("sh before: one of its {what}");
    let expected = [
        unread("instructions can't be read: 7"),
        unread("pins can't be read: -1"),
        unread("pins can't be read: 1.5"),
        unread("pins can't be read: {}"),
    ];
    assert_eq!(fallbacks, expected);
}

#[test]
fn a_hook_that_fails_is_named_and_changes_nothing() {
    let plain = bench("");
    assert_eq!(compact(&plain, &[]).code, 0);
    for (script, words) in [
        ("echo oops >&2\nexit 7\n", "the command failed: exit status: 7: oops"),
        ("true\n", "stdout isn't {\"version\":1}"),
        ("echo '{\"version\":3}'\n", "version 3, not 1"),
        ("echo '{\"version\":1,\"vote\":\"no\"}'\n", "unknown field `vote`"),
        ("sleep 300\n", "no answer in time: 1 s"),
    ] {
        let bench = bench(script);
        let ran = compact(&bench, &[&BEFORE[..], &["--timeout", "1"]].concat());
        assert_eq!(ran.code, 0, "{script}: {}", ran.err);
        let told = receipt(&bench);
        let fallback = told["fallbacks"][0].as_str().expect("a reason");
        assert!(
            fallback.starts_with("sh before wasn't heeded: ") && fallback.contains(words),
            "{fallback}"
        );
        assert_eq!(bench.read("out"), plain.read("out"), "{script}");
    }
}

#[test]
fn hook_after_gets_the_receipt() {
    let bench = bench("");
    bench.write("after", "cat > told\n");
    let ran = compact(&bench, &["--hook-after", "sh after", "--hook-after", "sh missing"]).ends(0);
    let told = bench.json("told");
    assert_eq!((&told["version"], &told["event"]), (&1.into(), &"after".into()));
    let mut written = receipt(&bench);
    let source = written.as_object_mut().and_then(|written| written.remove("source"));
    assert_eq!((&told["receipt"], source.is_some()), (&written, true));
    assert!(ran.err.contains("--hook-after sh missing: the command failed"), "{}", ran.err);

    // Below the target nothing is told.
    std::fs::remove_file(bench.path("told")).expect("it was told");
    let words =
        ["compact", "in.jsonl", "--target", "100%", "-o", "out", "--hook-after", "sh after"];
    assert!(bench.command(&words).output().expect("the binary runs").status.success());
    assert!(!bench.path("told").exists());
}

#[test]
fn hooks_are_no_settings_of_a_project() {
    let bench = bench("");
    bench.write("epitome.toml", "hook-before = [\"sh before\"]\n");
    let ran = compact(&bench, &[]).ends(2);
    let words = ["`hook-before` in ", "epitome.toml isn't allowed in a project's own file"];
    assert!(words.iter().all(|words| ran.err.contains(words)), "{}", ran.err);
    bench.write("before", "echo '{\"version\":1,\"veto\":\"no\"}'\n");
    let words = ["compact", "in.jsonl", "--target", "10%", "-o", "out", "--config", "epitome.toml"];
    let output = bench.command(&words).output().expect("the binary runs");
    assert_eq!(output.status.code(), Some(3));
}
