//! Inputs from public bug reports (`fixtures/cases`), and others of their kinds: what the binary does with each.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde_json::Value;

use crate::bench::Bench;

/// A command, with `FILE` for the input, and words by which its telling lines are known.
const COMMANDS: &[(&str, &[&str])] = &[
    (
        "check FILE",
        &["error: ", "hint: ", "left out", "not read", "warning: ", " breach", "nothing found"],
    ),
    ("count FILE", &["tokens  "]),
    (
        "convert FILE --to anthropic:claude-opus-5 -o out.json",
        &["error: ", "dropped: ", "changed: ", "mended: "],
    ),
    ("convert FILE --to openai-chat:gpt-4o -o out.json", &["error: ", "dropped: ", "changed: "]),
];

/// Commands for some cases besides.
const BESIDES: &[(&str, &str, &[&str])] = &[
    ("03b-", "check FILE --repair -o out.json", MENDED),
    ("06-", "check FILE --repair -o out.json", MENDED),
    ("08-", "check FILE --repair -o out.json", MENDED),
    ("110a-", "check FILE --repair -o out.json", MENDED),
    ("110e-", "check FILE --repair -o out.json", MENDED),
    ("112a-", "check FILE --for anthropic:claude-opus-5", SUITED),
    ("112a-", "check FILE --repair -o out.json", MENDED),
    ("113-", "check FILE --repair -o out.json", MENDED),
    ("118-", "check FILE --repair -o out.json", MENDED),
    ("141-", "check FILE --for anthropic:claude-opus-5", SUITED),
    ("12-", "compact FILE --target 50% -o out.json", COMPACTED),
    ("68-", "compact FILE --target 50% -o out.json", COMPACTED),
    ("73-", "compact FILE --target 15% -o out.json", COMPACTED),
    ("84c-", "compact FILE --target 30% -o out.json", COMPACTED),
];
const MENDED: &[&str] = &["error: ", "messages[", " mended, "];
const SUITED: &[&str] = &["error: ", "messages[", "suit"];
const COMPACTED: &[&str] = &["error: ", "warning: ", "tokens", "target", "nothing to do"];

/// Others of the kinds that are refused or read with a word, by a name and what is in them.
const OTHERS: &[(&str, &str)] = &[
    (
        "messages without a word of it",
        r#"{"messages":[{"role":"user","content":"Go."},{"role":"assistant","text":"Done."}]}"#,
    ),
    (
        "results without ids",
        r#"[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","result_of":"a","content":"x"}]}]"#,
    ),
    (
        "items of no kind",
        "{\"type\":\"reasoning\",\"summary\":[]}\n{\"type\":\"shown\",\"content\":\"x\"}\n",
    ),
    (
        "Semantic Kernel",
        r#"[{"role":{"Label":"user"},"items":[{"$type":"TextContent","text":"Go."}]}]"#,
    ),
    ("AutoGen", r#"[{"source":"user","models_usage":null,"content":"Go.","type":"TextMessage"}]"#),
    ("Haystack", r#"[{"role":"user","meta":{},"name":null,"content":[{"text":"Go."}]}]"#),
    (
        "Strands",
        r#"{"message":{"role":"user","content":[{"text":"Go."}]},"message_id":0,"redact_message":null}"#,
    ),
    (
        "Amazon Q",
        r#"{"conversation_id":"c","history":[{"user":{},"assistant":{}}],"next_message":null}"#,
    ),
    (
        "Droid",
        "{\"type\":\"session_start\",\"id\":\"s\",\"title\":\"t\"}\n{\"type\":\"message\",\"id\":\"m\",\"message\":{\"role\":\"user\",\"content\":[]}}\n",
    ),
    (
        "codex exec",
        "{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"x\"}}\n",
    ),
    (
        "gemini stream-json",
        "{\"type\":\"init\",\"session_id\":\"s\",\"model\":\"m\"}\n{\"type\":\"message\",\"role\":\"user\",\"content\":\"x\"}\n",
    ),
    ("Cline's", r#"[{"role":"user","content":[{"type":"text","text":"Go."}],"ts":1700000000000}]"#),
    (
        "a reply",
        r#"{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"x"}}]}"#,
    ),
    (
        "rows glued in a row",
        "{\"type\":\"user\",\"uuid\":\"a\",\"parentUuid\":null,\"message\":{\"content\":\"Go.\"}}\n{\"type\":\"assistant\",\"uuid\":\"b\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"I go{\"type\":\"assistant\",\"uuid\":\"c\",\"parentUuid\":\"a\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"text\",\"text\":\"Gone.\"}]}}{\"type\":\"user\",\"uuid\":\"d\",\"parentUuid\":\"c\",\"message\":{\"content\":\"Thanks.\"}}\0\0\n{\"type\":\"assis",
    ),
    (
        "a refusal",
        r#"{"model":"gpt-4o","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"refusal","refusal":"No."}]},{"role":"user","content":"Why?"}]}"#,
    ),
];

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cases");
    let files = folder.read_dir().expect("the folder of cases");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind != "md"));
    files.sort();
    files
}

#[test]
fn each_case_is_read_or_refused_by_name() {
    let mut page = String::from("# What the binary does with each case\n");
    let bench = Bench::new();
    let files = cases().into_iter().map(|file| {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        (name, fs::read(&file).expect("a case"))
    });
    let others = OTHERS.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
    for (name, bytes) in files.chain(others) {
        bench.write("case", bytes);
        let _ = writeln!(page, "\n## {name}\n");
        let besides = BESIDES.iter().filter(|(case, ..)| name.starts_with(case));
        let besides = besides.map(|(_, command, telling)| (command, telling));
        for (command, telling) in COMMANDS.iter().map(|(a, b)| (a, b)).chain(besides) {
            let ran = bench.run(&command.replace("FILE", "case"));
            let lines = ran.out.lines().chain(ran.err.lines());
            let told: Vec<String> = lines
                .filter(|line| telling.iter().any(|word| line.contains(word)))
                .map(|line| format!("    {line}\n"))
                .collect();
            let _ = write!(page, "{command}: {}\n{}", ran.code, told.concat());
            if ran.code == 0 && command.starts_with("convert") {
                let written = bench.json("out.json");
                let messages = written["messages"].as_array().map_or(0, Vec::len);
                assert!(messages > 0, "{name}: an empty request");
            }
        }
    }
    expect_file!["./cases.md"].assert_eq(&page);
}

/// What became of a case, compacted.
fn compacted(name: &str, target: &str) -> Value {
    let bench = Bench::new();
    let case = cases().into_iter().find(|file| file.ends_with(name)).expect("the case");
    bench.write("case", fs::read(case).expect("a case"));
    assert_eq!(bench.run(&format!("compact case --target {target} -o out.json")).code, 0);
    bench.json("out.json")
}

#[test]
fn an_approved_call_leaves_with_what_asked_for_it() {
    let body = compacted("84c-mcp-approved-call.json", "30%");
    let items = body["input"].as_array().expect("items").iter();
    let shown = items.filter(|item| {
        let kind = item["type"].as_str().unwrap_or_default();
        kind.starts_with("mcp_approval") || kind == "mcp_call"
    });
    assert!(matches!(shown.count(), 0 | 3));
}

#[test]
fn the_newest_step_of_an_open_loop_stays() {
    let body = compacted("73-cliff-open-loop.json", "15%");
    let messages = body["messages"].as_array().expect("messages");
    let [.., call, result] = messages.as_slice() else { panic!("a step") };
    assert_eq!(call["tool_calls"][0]["id"], result["tool_call_id"]);
}

#[test]
fn what_grows_by_mending_says_so() {
    let bench = Bench::new();
    let call = r#"{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}"#;
    let ask = r#"{"role":"user","content":"Go on."}"#;
    let body = format!(
        r#"{{"model":"gpt-4o","messages":[{ask},{{"role":"assistant","content":null,"tool_calls":[{call}]}},{ask}]}}"#
    );
    bench.write("in", body);
    let ran = bench.run("compact in --target 100000 -o out.json").ends(0);
    assert!(ran.err.contains("by mending") && !ran.err.contains("unchanged"), "{}", ran.shown());
}

/// As many write it: only ASCII.
fn ascii(json: &str) -> String {
    let escaped = |c: char| format!("\\u{:04x}", u32::from(c));
    json.chars().map(|c| if c.is_ascii() { c.to_string() } else { escaped(c) }).collect()
}

#[test]
fn how_the_json_is_written_is_not_counted() {
    let bench = Bench::new();
    let body = r#"{"model":"gpt-4o","tools":[{"type":"function","function":{"name":"f","description":"日本語, Größe","parameters":{"type":"object","properties":{"a b":{"type":"string"}}}}}],"messages":[{"role":"user","content":"Go  on."},{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\"a b\": 1}"}}]},{"role":"tool","tool_call_id":"a","content":"ok"}]}"#;
    let claude = r#"{"model":"claude-opus-5","max_tokens":9,"system":[{"type":"text","text":"x y"}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{"a":{"type":"string"}}}}],"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"a":"x  y","b":[1,2,{"c":null}]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ok"}]}]}"#;
    for body in [body, claude] {
        let value: Value = serde_json::from_str(body).expect("JSON");
        let pretty = serde_json::to_string_pretty(&value).expect("JSON");
        let tokens: Vec<String> =
            [value.to_string(), pretty.clone(), pretty.replace('\n', "\r\n\t "), ascii(&pretty)]
                .iter()
                .map(|text| {
                    let ran = bench.pipe("count", text.as_bytes());
                    ran.out.lines().next().expect("a count").to_owned()
                })
                .collect();
        assert!(tokens.windows(2).all(|pair| pair[0] == pair[1]), "{tokens:?}");
    }
}
