//! Input that isn't what it should be: the right exit code, where, and what next.

use std::fmt::Write as _;

use expect_test::expect;

use crate::bench::{Bench, RUN, SESSION, SHORT, shipped};

const COMMANDS: [&str; 7] =
    ["stats", "check", "check --repair", "count", "plan", "compact", "convert --to anthropic"];

fn utf16(text: &str) -> Vec<u8> {
    let mark = [0xff, 0xfe];
    mark.into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
}

/// Each kind of bad input, by the name of its file.
fn bad() -> Vec<(&'static str, Vec<u8>)> {
    let whole = std::fs::read_to_string(shipped(RUN)).expect("a shipped run");
    let session = std::fs::read_to_string(shipped(SHORT)).expect("a shipped session");
    vec![
        ("empty", Vec::new()),
        ("blank", b" \n\t\r\n".to_vec()),
        (
            "truncated",
            b"{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"us".to_vec(),
        ),
        ("nul", b"{\"messages\":[{\"role\":\"user\",\"content\":\"a\0b\"}]}".to_vec()),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0".to_vec()),
        ("utf-16", utf16(&whole)),
        ("latin-1", b"{\"messages\":[{\"role\":\"user\",\"content\":\"caf\xe9\"}]}".to_vec()),
        ("binary", (0..4000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()),
        ("deep", "[".repeat(200_000).into_bytes()),
        ("prose", b"Dear model, please fix the build.\n".to_vec()),
        ("number", b"42".to_vec()),
        ("other", b"{\"a\":1,\"b\":[2,3]}".to_vec()),
        ("mixed", format!("{whole}\n{session}").into_bytes()),
        ("codex", b"{\"type\":\"session_meta\",\"payload\":{\"id\":\"x\"}}\n".to_vec()),
    ]
}

#[test]
fn is_refused_by_every_command() {
    let bench = Bench::new();
    for (name, bytes) in bad() {
        bench.write(name, bytes);
        for command in COMMANDS {
            let ran = bench.run(&format!("{command} {name}")).ends(65);
            assert!(ran.out.is_empty(), "{command} {name}: {}", ran.out);
            assert!(ran.err.contains("\nhint: "), "{command} {name}: {}", ran.err);
            assert!(!ran.err.contains("panicked"), "{command} {name}: {}", ran.err);
        }
    }
}

#[test]
fn says_what_where_and_what_next() {
    let bench = Bench::new();
    let mut all = String::new();
    for (name, bytes) in bad() {
        bench.write(name, bytes);
        write!(all, "{}", bench.run(&format!("stats {name}")).err).expect("a string");
    }
    expect![[r#"
        error: empty: the input is empty
        hint: give it a request body, messages, or a recording: epitome stats --help
        error: blank: the input is empty
        hint: give it a request body, messages, or a recording: epitome stats --help
        error: truncated: not valid JSON: string without end (line 1, column 55)
        hint: see what is there: sed -n 1p truncated | cut -b 1-75
        error: nul: the input has a NUL byte at offset 40, so it is damaged or not text
        hint: see what is there: tail -c +25 nul | head -c 64 | od -c
        error: gzip: the input is gzip, not text; unpack it first
        hint: gzip -dc gzip | epitome stats
        error: utf-16: the input is UTF-16 (little-endian); convert it to UTF-8 first
        hint: iconv -f UTF-16 -t UTF-8 utf-16 | epitome stats
        error: latin-1: the input is not UTF-8: byte 42 (line 1) starts no character
        hint: see what is there: tail -c +27 latin-1 | head -c 64 | od -c
        error: binary: the input is not UTF-8: byte 1 (line 1) starts no character
        hint: see what is there: tail -c +1 binary | head -c 64 | od -c
        error: deep: the input is in no known format: not valid JSON: the text ends where a value should be (line 1, column 200001)
        hint: if you know the format, name it: epitome stats --from FORMAT deep
        error: prose: the input isn't a JSON object or list: it begins with "Dear model, please fix the build.\n"
        hint: give it a request body, messages, or an agent's recording: epitome --help
        error: number: the input isn't a JSON object or list: it begins with "42"
        hint: give it a request body, messages, or an agent's recording: epitome --help
        error: other: the input is in no known format: it begins with "{\"a\":1,\"b\":[2,3]}"
        hint: if you know the format, name it: epitome stats --from FORMAT other
        error: mixed: not a tau-bench recording: not valid JSON: unexpected text after the JSON value (line 2, column 1)
        hint: see what is there: sed -n 2p mixed | cut -b 1-21
        error: codex: no message in this codex recording, only 1 × session_meta
        hint: see how it begins: head -c 300 codex
    "#]].assert_eq(&all);
}

#[test]
fn is_refused_from_stdin_too() {
    let bench = Bench::new();
    for (name, bytes) in bad() {
        let ran = bench.pipe("compact", &bytes);
        assert_eq!(ran.code, 65, "{name}: {}", ran.err);
        assert!(ran.err.starts_with("error: stdin: "), "{name}: {}", ran.err);
    }
    assert!(bench.names().is_empty(), "nothing was written");
}

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
        .complains(&["breaks 1 rule of its format", "hint: epitome check r.json"]);
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
