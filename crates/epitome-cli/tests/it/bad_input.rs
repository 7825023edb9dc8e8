//! Input that isn't what it should be: the right exit code, where, and what next.

use expect_test::expect;

use crate::bench::{Bench, SESSION, SHORT, shipped};

#[test]
fn leaves_an_existing_output_alone() {
    let bench = Bench::new();
    bench.write("bad", "not a transcript");
    bench.write("out.json", "precious");
    bench.run("compact bad -o out.json --receipt receipt.json").ends(65);
    assert_eq!(bench.read("out.json"), "precious");
    assert_eq!(bench.names(), ["bad", "out.json"]);
}

#[test]
fn a_recording_cut_off_in_a_row_is_read_up_to_there() {
    let bench = Bench::new();
    let whole = std::fs::read(shipped(SESSION)).expect("a shipped session");
    bench.write("cut.jsonl", &whole[..whole.len() * 2 / 3]);
    let ran = bench.run("count cut.jsonl").ends(0);
    assert!(ran.err.starts_with("warning: left out row "), "{}", ran.err);
}

#[test]
fn deep_nesting_that_is_json_is_carried() {
    let bench = Bench::new();
    let (open, close) = ("[".repeat(50_000), "]".repeat(50_000));
    let body = format!(r#"{{"messages":[{{"role":"user","content":{open}{close}}}]}}"#);
    bench.write("deep.json", &body);
    let ran = bench.run("convert deep.json --to openai-chat");
    // Nobody takes such a content.
    assert_eq!((ran.code, ran.out), (3, body));
    for command in ["stats", "count", "plan", "diff", "compact", "stats --json"] {
        let ran = bench.run(&format!("{command} deep.json"));
        assert!(matches!(ran.code, 0 | 3), "{command}: {} {}", ran.code, ran.err);
    }
}

#[test]
fn no_messages_are_a_finding() {
    let bench = Bench::new();
    for body in ["[]", r#"{"messages":[]}"#, r#"{"model":"gpt-4o","messages":[ ] }"#] {
        bench.pipe("convert --to openai-chat", body.as_bytes()).ends(65);
        for command in ["compact", "check --repair"] {
            let ran = bench.pipe(command, body.as_bytes());
            // It comes out as it is, but no provider takes it.
            assert_eq!((ran.code, ran.out.as_str()), (3, body), "{command}: {}", ran.err);
        }
        bench.pipe("check", body.as_bytes()).ends(3).says(&["no-messages"]);
        for command in ["stats", "count"] {
            assert_eq!(bench.pipe(command, body.as_bytes()).code, 0, "{command} {body}");
        }
    }
}

#[test]
fn a_file_that_is_not_there_is_a_failure() {
    let ran = Bench::new().run("stats sessions/yesterday.jsonl");
    expect![[r#"
        exit 1
        --- stderr
        error: sessions/yesterday.jsonl can't be read: No such file or directory (os error 2)
        hint: ls .
    "#]]
    .assert_eq(&ran.shown());
}

#[test]
fn a_request_without_messages_has_its_own_words() {
    let bench = Bench::new();
    let ran = bench.pipe("compact --target 1", b"[]");
    // No provider takes it.
    assert_eq!((ran.code, ran.out.as_str()), (3, "[]"));
    assert!(ran.err.contains("nothing to do: there are no messages"), "{}", ran.err);
    assert!(bench.pipe("check", b"[]").ends(3).out.contains("chat/no-messages"));

    let orphan = |id: &str| format!(r#"{{"role":"tool","tool_call_id":"{id}","content":"alone"}}"#);
    let orphans = format!("[{},{}]", orphan("a"), orphan("b"));
    let ran = bench.pipe("check", orphans.as_bytes()).ends(3);
    assert!(
        ran.out.contains("2 breaches in 2 messages by the rules of openai-chat"),
        "{}",
        ran.out
    );
    let ran = bench.pipe("compact --target 1", orphans.as_bytes()).ends(3);
    assert!(
        serde_json::from_str::<Vec<serde_json::Value>>(&ran.out).is_ok_and(|all| !all.is_empty())
    );
    for said in ["chat/orphan", "can't be reached", "what must stay, and its tokens:"] {
        assert!(ran.err.contains(said), "{said}: {}", ran.err);
    }

    let null = br#"[{"role":"user","content":null}]"#;
    let ran = bench.pipe("check", null).ends(3);
    ran.says(&["1 breach in 1 message by", "only its author can mend it"]);
    let ran = bench.pipe("compact --target 1", null);
    assert!(ran.code == 3 && ran.err.contains("chat/empty"), "{}", ran.err);
}

#[test]
fn an_unknown_role_alone_is_no_format_unless_one_is_named() {
    let bench = Bench::new();
    let told = r#"[{"role":"narrator","content":"Once."}]"#;
    bench.write("told.json", told);
    let ran = bench.run("compact told.json");
    assert_eq!((ran.code, ran.out.as_str()), (65, ""));
    assert!(
        ran.err.contains(
            "\nhint: if you know the format, name it: epitome stats --from openai-chat told.json"
        ),
        "{}",
        ran.err
    );
    let ran = bench.run("compact told.json --from openai-chat --target 100%");
    assert_eq!((ran.code, ran.out.as_str()), (3, told), "{}", ran.err);
    assert!(ran.err.contains("left chat/shape messages[0]: no known role"), "{}", ran.err);
    let ran = bench.run("check told.json --from openai-chat");
    assert!(ran.code == 3 && ran.out.contains("only its author can mend it"), "{}", ran.out);
}

#[test]
fn unrepairable_breaches_set_the_exit_code() {
    let bench = Bench::new();
    let long = "a line of output\n".repeat(400);
    let body = |edits: &str| {
        serde_json::json!({
            "model": "claude-sonnet-4-5", "max_tokens": 4096,
            "context_management": serde_json::from_str::<serde_json::Value>(edits).expect("JSON"),
            "messages": [
                {"role": "user", "content": "Fix it."},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Read", "input": {}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": long}]},
                {"role": "assistant", "content": "Done."},
                {"role": "user", "content": "Thanks."},
            ],
        })
        .to_string()
    };
    bench.write("r.json", body(r#"{"edits": []}"#));
    assert_eq!(bench.run("compact r.json -o out.json").code, 0);
    let clear =
        r#"{"edits": [{"type": "clear_tool_uses_20250919"}, {"type": "clear_thinking_20251015"}]}"#;
    bench.write("r.json", body(clear));
    bench.run("compact r.json -o out.json").ends(3).complains(&["anthropic/clear-thinking-first"]);
    assert_eq!(bench.run("check out.json").code, 3);
}

#[test]
fn a_run_of_a_request_is_an_error() {
    let bench = Bench::new();
    bench.write("r.json", r#"[{"role":"user","content":"Go."}]"#);
    for command in ["check", "stats", "compact"] {
        bench
            .run(&format!("{command} --run 5 r.json"))
            .ends(2)
            .complains(&["r.json is a request: it has one run only", "hint: leave --run out"]);
    }
}

#[test]
fn a_purpose_names_what_it_is_checked_for() {
    let bench = Bench::new();
    bench.write("r.json", r#"{"model":"o1","messages":[{"role":"user","content":"Go."}]}"#);
    for (purpose, why) in [
        ("anthropic:", "no model is named after `anthropic:`"),
        (":", "no model is named after `:`"),
        ("codex", "codex is an agent's format, not a provider's"),
        ("nonsense", "not FORMAT, FORMAT:MODEL or :MODEL"),
        ("openai-chat:o1:x", "o1:x"),
    ] {
        bench.run(&format!("check r.json --for {purpose}")).ends(2).complains(&[why]);
    }
    assert_eq!(bench.run("check r.json --for openai-chat:o1:free").code, 0);
}

#[test]
fn flags_that_could_do_nothing_are_errors() {
    let bench = Bench::new();
    bench.write("r.json", r#"[{"role":"user","content":"Go."}]"#);
    bench.write("s.json", r#"[{"role":"user","content":"Go on."}]"#);
    let refused = [
        ("compact --trigger window-300k --window 200k r.json", "would always fire"),
        ("compact --trigger 80%,window-200k --window 200k r.json", "would always fire"),
        ("diff r.json s.json --target 20%", "two files are compared without a compaction"),
        ("man pin-add", "there is no command"),
    ];
    for (command, says) in refused {
        bench.run(command).ends(2).complains(&[says, "hint: "]);
    }
    for name in ["codex/rollout-b.jsonl", "claude-code/edge_cases.jsonl"] {
        bench.copy(name, "recording.jsonl");
        let ran = bench.run("stats --run 2 recording.jsonl");
        assert_eq!(ran.code, 2, "{name}: {}", ran.err);
        assert!(ran.err.contains("it has one run only"), "{name}: {}", ran.err);
    }
}

#[test]
fn a_broken_request_that_passes_unchanged_is_reported() {
    let bench = Bench::new();
    let body =
        r#"[{"role":"user","content":"Go."},{"role":"tool","tool_call_id":"x","content":"lost"}]"#;
    bench.write("r.json", body);
    bench
        .run("compact r.json --trigger 80% --window 200k -o out.json")
        .ends(0)
        .complains(&["breaks 1 rule of its format", "hint: epitome check out.json"]);
    assert_eq!(bench.read("out.json"), body);
}

#[test]
fn an_unknown_target_model_is_reported() {
    let bench = Bench::new();
    bench.write("r.json", r#"[{"role":"user","content":"Go."}]"#);
    let ran = bench.run("convert --to gemini:gemenni-9 r.json -o out.json");
    assert!(ran.err.contains("gemenni-9"), "{}", ran.err);
}

#[test]
fn commands_of_commands_have_pages() {
    let page = Bench::new().command(&["man", "pin add"]).output().expect("it runs");
    let page = String::from_utf8_lossy(&page.stdout).into_owned();
    assert!(page.contains("epitome\\-pin\\-add"), "{page}");
}

#[cfg(target_os = "linux")]
#[test]
fn what_has_no_end_is_refused() {
    let bench = Bench::new();
    bench.copy(SHORT, "in");
    for (line, code, said) in [
        ("epitome count /dev/zero", 65, "NUL"),
        ("epitome count - < /dev/zero", 65, "NUL"),
        ("epitome stats /dev/urandom", 65, "UTF-8"),
        ("epitome stats in --config /dev/zero", 1, "larger than 4 MiB"),
        ("epitome stats in --models /dev/zero", 1, "larger than 4 MiB"),
    ] {
        let ran = bench.shell(&format!("ulimit -v 700000; {line}"));
        assert_eq!(ran.code, code, "{line}: {}", ran.err);
        assert!(ran.err.contains(said) && ran.err.contains("\nhint: "), "{line}: {}", ran.err);
    }
    // A row that a crash spoilt is as long as it is.
    let nul = "\0".repeat(10_000);
    bench.write("spoilt", format!("{nul}\n{}", bench.read("in")));
    assert_eq!(bench.run("count spoilt --counter bytes4").code, 0);
}
