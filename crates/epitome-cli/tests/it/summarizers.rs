//! Summaries by commands: what they are told, what they answer, and every way in which they fail.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::asked::{self, receipt};
use crate::bench::{Bench, Ran, SESSION};
#[cfg(target_os = "linux")]
use crate::interrupted::{runs, soon};

/// Sections as they are wanted, and next to nothing in them.
const EMPTY: &str = "## Goal\\nTo go on.\\n## Constraints\\nnone\\n## Decisions\\nnone\\n## State\\nnone\\n\
                     ## Next step\\nnone\\n## Files\\nnone\\n## Errors and fixes\\nnone\\n## Facts\\nnone";

/// A folder with the session and a script that runs `lines`.
pub(crate) fn bench(lines: &str) -> Bench {
    let bench = Bench::new();
    bench.copy(SESSION, "in.jsonl");
    bench.write("script", lines);
    bench
}

pub(crate) fn good() -> String {
    format!("cat > asked\nprintf '%s' '{{\"version\":1,\"summary\":\"{EMPTY}\"}}'\n")
}

fn compact(bench: &Bench, flags: &[&str]) -> Ran {
    asked::compact(bench, &[&["--summarizer", "cmd:sh script"], flags].concat(), &[])
}

#[test]
fn a_command_is_given_json_and_its_summary_is_shown() {
    let bench = bench(&good());
    bench.write("prompt", "Sum it up in three lines.\n");
    let ran = compact(&bench, &["--focus", "the workflow"]).ends(0);
    let asked = bench.json("asked");
    assert_eq!(asked["version"], 1);
    let instruction = asked["instruction"].as_str().expect("text");
    assert!(
        instruction.contains("Look most at this: the workflow")
            && instruction.contains("## Next step")
    );
    assert!(asked["transcript"].as_str().expect("text").contains(" call "));
    assert!(asked["so_far"] == "" && asked["max_tokens"].as_u64() > Some(100));
    assert!(bench.read("out").contains(r"\n\nSummary\n"));
    assert_eq!(receipt(&bench)["summary"]["by"], "sh script");
    assert!(ran.err.contains("tokens by sh script (1 call)"), "{}", ran.err);
    assert_eq!(bench.run("check out").code, 0);

    compact(&bench, &["--prompt", "prompt"]).ends(0);
    let asked = bench.json("asked");
    let instruction = asked["instruction"].as_str().expect("text");
    assert!(
        instruction.starts_with("Sum it up in three lines.") && !instruction.contains("## Goal")
    );
}

#[test]
fn the_summary_so_far_is_given_apart() {
    let bench = bench(&good());
    assert_eq!(compact(&bench, &[]).code, 0);
    let mut view: Value = bench.json("out");
    let messages = view["messages"].as_array_mut().expect("messages");
    for step in 0..40 {
        let said = format!("Step {step}. {}", "It went as planned. ".repeat(60));
        messages.push(json!({"role": "assistant", "content": said}));
        messages.push(json!({"role": "user", "content": format!("Go on with step {step}.")}));
    }
    bench.write("view.json", view.to_string());
    let words = ["compact", "view.json", "--target", "30%", "-o", "twice", "--summarizer"];
    let words = [&words[..], &["cmd:sh script"]].concat();
    let output = bench.command(&words).output().expect("the binary runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let asked = bench.json("asked");
    assert!(asked["so_far"].as_str().expect("text").contains("## Goal\nTo go on."), "{asked}");
    assert!(!asked["transcript"].as_str().expect("text").contains("To go on."), "{asked}");
}

#[test]
fn each_failure_of_a_command_is_named_and_changes_nothing() {
    let plain = Bench::new();
    plain.copy(SESSION, "in.jsonl");
    assert_eq!(plain.run("compact in.jsonl --target 10% -o out").code, 0);
    for (lines, words) in [
        ("echo oops >&2\nexit 3\n", "the command failed: exit status: 3: oops"),
        ("kill -9 $$\n", "the command failed: signal: 9"),
        ("echo nonsense\n", "the answer can't be read: stdout isn't {\"version\":1"),
        ("true\n", "the answer can't be read: stdout isn't"),
        ("echo '{\"version\":2,\"summary\":\"x\"}'\n", "version 2, not 1"),
        ("printf '{\"version\":1,\"summary\":\"\\377\"}'\n", "the answer can't be read"),
        ("cat > /dev/null\necho '{\"version\":1,\"summary\":\" \"}'\n", "it is empty"),
        (
            "echo '{\"version\":1,\"summary\":\"Sure, I will go on.\"}'\n",
            "it answers the transcript",
        ),
    ] {
        let bench = bench(lines);
        let ran = compact(&bench, &[]);
        assert_eq!(ran.code, 0, "{lines}: {}", ran.err);
        let told = receipt(&bench);
        let fallback = told["fallbacks"][0].as_str().expect("a reason");
        assert!(
            fallback.starts_with("sh script: ") && fallback.contains(words),
            "{lines}: {fallback}"
        );
        assert!(ran.err.contains("fallback sh script: "), "{}", ran.err);
        assert_eq!(bench.read("out"), plain.read("out"), "{lines}");
    }
}

#[test]
fn an_answer_counts_though_what_it_started_holds_its_output() {
    let bench = bench(&format!("(sleep 300) &\n{}", good()));
    let begun = Instant::now();
    compact(&bench, &["--timeout", "100"]).ends(0);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert!(bench.read("out").contains(r"\n\nSummary\n"));
}

#[test]
fn a_summarizer_that_writes_without_end_is_stopped() {
    let bench = bench("yes\n");
    let begun = Instant::now();
    compact(&bench, &["--timeout", "100"]).ends(0);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let told = receipt(&bench);
    assert_eq!(
        told["fallbacks"][0],
        "sh script: the answer can't be read: more than 4194304 bytes"
    );
}

#[test]
fn complaints_tell_no_secrets() {
    let key = format!("sk-ant-api03-{}", "a1B2c3D4".repeat(12));
    let bench = bench(&format!("echo \"{} can't use {key}\" >&2\nexit 7\n", "word ".repeat(30)));
    let ran = compact(&bench, &[]).ends(0);
    for told in [ran.err, bench.read("receipt")] {
        assert!(told.contains("exit status: 7: word"), "{told}");
        assert!(!told.contains("a1B2c3D4"), "{told}");
    }
}

#[test]
fn what_nobody_sees_is_not_in_a_summary() {
    let unseen = EMPTY.replace("To go on.", "To \\u001b[31mgo\\u001b[0m \\u202eon\\u0000.");
    let bench = bench(&good().replace(EMPTY, &unseen));
    let ran = compact(&bench, &[]).ends(0);
    let out = bench.json("out");
    let out = out.to_string();
    assert!(out.contains("To go on."), "{}", ran.err);
    assert!(!out.contains("u001b[31mgo") && !out.contains('\u{202e}'), "{}", ran.err);
}

#[test]
fn a_slow_summarizer_is_killed() {
    let bench = bench("exec sleep 30\n");
    let begun = Instant::now();
    compact(&bench, &["--timeout", "0.2"]).ends(0);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(receipt(&bench)["fallbacks"][0], "sh script: no answer in time: 0.2 s");
}

#[cfg(target_os = "linux")]
#[test]
fn a_slow_summarizer_is_killed_with_its_children() {
    let bench = bench("sleep 300 &\necho $! > child\n(exec sleep 300) &\nwait\n");
    compact(&bench, &["--timeout", "0.5"]).ends(0);
    let child = bench.read("child");
    soon("it is killed", || !runs(&child));
}

#[test]
fn the_next_is_asked_and_the_policy_holds() {
    let bench = bench("exit 1\n");
    bench.write("other", good());
    compact(&bench, &["--then", "cmd:/nowhere/at-all", "--then", "cmd:sh other"]).ends(0);
    let told = receipt(&bench);
    assert_eq!(told["summary"]["by"], "sh other");
    let fallbacks: Vec<&str> =
        told["fallbacks"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
    assert_eq!(fallbacks.len(), 2);
    assert!(fallbacks[1].starts_with("/nowhere/at-all: the command failed"), "{fallbacks:?}");

    compact(&bench, &["--on-failure", "skip"]).ends(3);
    assert_eq!(receipt(&bench)["edits"], serde_json::json!([]));

    std::fs::remove_file(bench.path("out")).expect("it was written");
    compact(&bench, &["--on-failure", "error"]).ends(69).complains(&[
        "there is no summary: sh script: the command failed",
        "hint: --on-failure extractive",
    ]);
    assert!(!bench.path("out").exists());
}

#[test]
fn what_makes_no_sense_is_refused() {
    let bench = bench("");
    bench.write("blank", " \n");
    for (flags, code, words) in [
        (vec!["--timeout", "0"], 2, "not a positive number of seconds"),
        (vec!["--timeout", "x"], 2, "not a positive number of seconds"),
        (vec!["--on-failure", "panic"], 2, "not `extractive`, `skip` or `error`"),
        (vec!["--then", "magic"], 2, "cmd:PROG"),
        (vec!["--prompt", "nowhere"], 1, "ls -l nowhere"),
        (vec!["--prompt", "blank"], 65, "is empty"),
    ] {
        let ran = compact(&bench, &flags);
        assert_eq!(ran.code, code, "{flags:?}: {}", ran.err);
        assert!(ran.err.contains(words), "{flags:?}: {}", ran.err);
    }
    let ran = bench.run("compact in.jsonl --focus x");
    assert_eq!(ran.code, 2, "a focus without a summarizer: {}", ran.err);
}

/// Once, although what is converted is compacted until it lands.
#[test]
fn what_is_converted_is_summed_up_once_and_lands_by_its_own_count() {
    let bench = bench(&format!("echo asked >> log\n{}", good()));
    let ran = compact(&bench, &["--to", "gemini"]).ends(0);
    assert_eq!(bench.read("log").lines().count(), 1);
    assert!(bench.read("out").contains(r"\n\nSummary\n"), "{}", ran.err);
    assert!(ran.err.contains("10% of the input as gemini"), "{}", ran.err);
    let told = receipt(&bench);
    assert_eq!(told["summary"]["by"], "sh script");
    bench.run("convert in.jsonl --to gemini -o whole").ends(0);
    let count = |file: &str| {
        let counted = bench.run(&format!("count {file} --counter gemini --json")).json();
        counted["tokens"].as_u64().expect("a count")
    };
    assert!(count("out") <= count("whole") / 10, "{} {}", count("out"), count("whole"));
}

#[test]
fn a_summary_has_as_many_tokens_as_are_said() {
    let bench = bench(&good());
    compact(&bench, &["--summary-tokens", "150"]).ends(0);
    assert_eq!(bench.json("asked")["max_tokens"], 150);
    bench.write("settings.toml", "summary-tokens = 140\n");
    compact(&bench, &["--config", "settings.toml"]).ends(0);
    assert_eq!(bench.json("asked")["max_tokens"], 140);
    compact(&bench, &["--summary-tokens", "0"]).ends(2).complains(&["--summary-tokens"]);
    bench.write("settings.toml", "summary-tokens = 0\n");
    compact(&bench, &["--config", "settings.toml"]).ends(2);
}
