//! `compact` on real sessions.

use expect_test::expect;

use crate::bench::{Bench, RUN, SESSION, SHORT, TRAJECTORY};

#[test]
fn the_request_is_on_stdout_and_the_receipt_on_stderr() {
    let bench = Bench::new();
    bench.copy(SESSION, "session.jsonl");
    let ran = bench.run("compact session.jsonl");
    assert!(serde_json::from_str::<serde_json::Value>(&ran.out).is_ok());
    expect![[r#"
        exit #
        --- stderr
        # → # tokens −# % (estimated by claude, at most #)
        # kB → # kB, # → # messages
        target # (#% of the input, the default), floor #
         repeats # edits −#
         reasoning # edits −#
         failed # edit −#
         fold # edits −#
        checkpoint # tokens, quoting # of # human messages in full
        kept prefix # messages, # tokens: what a prompt cache can keep
        cost $# → $# a request, $# → $# from a warm cache (claude-sonnet-#-# prices of #-#-#)
        rewriting a warm cache costs $# once, earned by # further requests
    "#]]
    .assert_eq(&ran.err_shape());
}

#[test]
fn receipts_are_json_of_a_version() {
    let bench = Bench::new();
    bench.copy(SHORT, "in.jsonl");
    let to_stdout = bench.run("compact in.jsonl --target 40% --receipt receipt.json --json");
    let file = bench.json("receipt.json");
    let told: serde_json::Value = serde_json::from_str(&to_stdout.err).expect("JSON on stderr");
    assert_eq!(file, told);
    assert_eq!(file["version"], 1);
    assert!(file["after"]["tokens"].as_u64() <= file["target"].as_u64());
    let to_file = bench.run("compact in.jsonl --target 40% -o out.json --json");
    assert_eq!(to_file.json(), file, "stdout is free for it then");
    assert_eq!(bench.read("out.json"), to_stdout.out);
}

#[test]
fn targets_are_said_in_three_ways() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    let target = |flags: &str| {
        let ran = bench.run(&format!("plan run.json --json {flags}"));
        ran.json()["target"].as_u64().expect("a number")
    };
    let all = bench.run("count run.json --json").json()["tokens"].as_u64().expect("a number");
    assert_eq!(target(""), all * 30 / 100);
    assert_eq!(target("--target 50%"), all / 2);
    assert_eq!(target("--target 4k"), 4000);
}

#[test]
fn a_window_bounds_the_default_target() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    let ran = bench.run("plan run.json --window 4000");
    assert!(ran.out.contains("target 2,000 (half of the window of 4,000)"), "{}", ran.out);
    let ran = bench.run("plan run.json --window 200k");
    assert!(ran.out.contains("the default)"), "{}", ran.out);
    let ran = bench.run("plan run.json --window 200k --target 5k");
    assert!(ran.out.contains("target 5,000 (as asked)"), "{}", ran.out);
}

#[test]
fn what_must_stay_stays() {
    let bench = Bench::new();
    bench.copy(SESSION, "session.jsonl");
    let pin = "TODO is not acceptable";
    let words =
        ["compact", "session.jsonl", "--target", "5%", "--pin", pin, "--preserve-tool", "Skill"];
    let output = bench.command(&words).output().expect("the binary runs");
    let out = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(out.contains(pin) && out.contains("\"Skill\""), "{out}");
    let whole = bench.run("convert session.jsonl --to anthropic").out;
    let messages = |body: &str| -> Vec<serde_json::Value> {
        let body: serde_json::Value = serde_json::from_str(body).expect("a body");
        body["messages"].as_array().expect("messages").clone()
    };
    let all = messages(&whole);
    bench.write("whole.json", &whole);
    // Of the model and of a tool, in the middle.
    for at in [60, 61] {
        let out = bench.run(&format!("compact whole.json --target 10% --pin-message {at}")).out;
        assert!(messages(&out).contains(&all[at]), "{at}");
    }
    assert!(!messages(&bench.run("compact whole.json --target 10%").out).contains(&all[61]));
    let tail = bench.run("compact session.jsonl --target 10% --keep-recent 4items").out;
    let ends: Vec<&str> = whole.lines().rev().take(5).collect();
    let kept: Vec<&str> = tail.lines().rev().take(5).collect();
    assert_eq!(ends, kept);
}

#[test]
fn a_pin_that_nothing_says_is_a_warning() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    bench.run("compact s.jsonl --pin zzzzqqqq --preserve-tool Bsah").ends(0).complains(&[
        "warning: no message matches the pin \"zzzzqqqq\"",
        "warning: no message calls the tool \"Bsah\"",
    ]);
}

#[test]
fn the_best_is_written_where_the_target_cant_be_reached() {
    let bench = Bench::new();
    bench.copy(TRAJECTORY, "t.traj");
    let ran = bench.run("compact t.traj --target 100 -o out.json").ends(3);
    expect![[r#"
        exit #
        --- stderr
        # → # tokens −# % (exact by o#k)
        # kB → # kB, # → # messages
        target # (as asked), floor #
         squeeze # edit −#
         fold # edits −#
        checkpoint # tokens
        warning: messages[#] (the task (first human message)) is larger than its share of the target: an excerpt, # → # tokens
        kept prefix # message, # tokens: what a prompt cache can keep
        warning: the target of # can't be reached; it came down to # (floor #)
        what must stay, and its tokens:
         # system messages
         # the task (first human message)
         # the newest messages
         # the least checkpoint, and what frames it all
    "#]]
    .assert_eq(&ran.err_shape());
    assert_eq!(bench.run("check out.json").code, 0);
}

#[test]
fn a_small_request_is_as_it_should_be() {
    let bench = Bench::new();
    let body = r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}"#;
    bench.write("in.json", body);
    bench
        .run("compact in.json -o out.json")
        .ends(0)
        .complains(&["nothing to do: all of it must stay"]);
    assert_eq!(bench.read("out.json"), body);
    bench.run("plan in.json").ends(0);
    assert_eq!(bench.run("diff in.json").ends(0).err, "");
    bench.run("compact in.json --to anthropic:claude-sonnet-4-5 -o out.json").ends(0);
    for target in ["7", "20k", "100%"] {
        bench.run(&format!("compact in.json --target {target} -o out.json")).ends(0);
    }
    // Somebody who asks for less is told that it can't be had.
    bench.run("compact in.json --target 30% -o out.json").ends(3);
    bench.run("compact in.json --target 1 -o out.json").ends(3);
}

#[test]
fn models_choose_the_counter() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    for (flags, counter) in [
        ("", "o200k"),
        ("--model gpt-4", "cl100k"),
        ("--model claude-opus-4-5", "claude"),
        ("--model gemini-3-pro", "gemini"),
        ("--model llama-4 --counter chars4", "chars4"),
    ] {
        let plan = bench.run(&format!("plan run.json --json {flags}")).json();
        assert_eq!(plan["counter"], counter, "{flags}");
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let bench = Bench::new();
    bench.copy(SESSION, "s.jsonl");
    for line in [
        "epitome compact s.jsonl --target 90% 2>/dev/null | head -c 10",
        "epitome stats s.jsonl | head -1",
        "epitome diff s.jsonl | true",
        "epitome convert s.jsonl --to anthropic | true",
        "epitome stats s.jsonl --json | head -1",
        "epitome completions zsh | true",
        "epitome --help | true",
        "epitome stats s.jsonl >&- 2>/dev/null || test $? = 1",
    ] {
        let ran = bench.shell(line).ends(0);
        assert!(!ran.err.contains("panicked"), "{line}: {}", ran.err);
    }
}

#[test]
fn stdin_is_read_where_no_file_is_named() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let named = bench.run("compact s.jsonl --target 40%");
    for line in
        ["epitome compact --target 40% < s.jsonl", "cat s.jsonl | epitome compact - --target 40%"]
    {
        let ran = bench.shell(line);
        assert_eq!((ran.code, ran.out.as_str()), (0, named.out.as_str()), "{line}");
    }
}

impl crate::bench::Ran {
    /// The shape of what was said on stderr.
    fn err_shape(&self) -> String {
        let mut ran = self.clone();
        ran.out.clear();
        ran.shape()
    }
}
