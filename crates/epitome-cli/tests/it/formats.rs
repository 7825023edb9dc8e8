//! What was written is read again, as what it is.

use serde_json::{Value, json};
use testkit::is_full;

use crate::bench::{Bench, EDGES, RUN, SESSION, SHORT, TRAJECTORY};

const BIG: &str = "a line of words in path/to/file.rs\n";

/// Steps with a call each, in Chat's form or in Anthropic's, so that dropping them leaves nothing that
/// only one of the formats has.
fn steps(format: &str) -> Vec<Value> {
    let step = |at: usize| {
        let id = format!("call_{at}");
        let (call, result) = if format == "anthropic" {
            (
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "run", "input": {"a": 1}}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": BIG.repeat(99)}]}),
            )
        } else {
            (
                json!({"role": "assistant", "content": null, "tool_calls": [
                    {"id": id, "type": "function", "function": {"name": "run", "arguments": "{\"a\":1}"}}]}),
                json!({"role": "tool", "tool_call_id": id, "content": BIG.repeat(99)}),
            )
        };
        let asked = json!({"role": "user", "content": format!("do thing {at}")});
        [asked, call, result, json!({"role": "assistant", "content": "Done."})]
    };
    (0..6).flat_map(step).chain([json!({"role": "user", "content": "And now?"})]).collect()
}

#[test]
fn an_output_passes_the_check_whatever_is_left_of_it() {
    let bench = Bench::new();
    let with_system = |mut steps: Vec<Value>| {
        steps.insert(0, json!({"role": "system", "content": "You help."}));
        steps
    };
    let body = |model: &str, messages: Vec<Value>| {
        json!({"model": model, "max_tokens": 99, "messages": messages}).to_string()
    };
    let lines = |messages: Vec<Value>| {
        messages.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let mut hints = 0;
    for (name, text) in [
        ("chat", body("gpt-4o", with_system(steps("chat")))),
        ("gateway", body("anthropic/claude-x", with_system(steps("chat")))),
        ("gateway-2", body("anthropic/claude-x", steps("chat"))),
        ("chat-list", json!(steps("chat")).to_string()),
        ("chat-lines", lines(steps("chat"))),
        ("anthropic", body("claude-x", steps("anthropic"))),
        ("unnamed", body("my-model", steps("anthropic"))),
        ("anthropic-list", json!(steps("anthropic")).to_string()),
        ("anthropic-lines", lines(steps("anthropic"))),
    ] {
        bench.write(name, &text);
        let targets = ["20%", "1", "60%", "5%"];
        for target in &targets[..if is_full() { 4 } else { 2 }] {
            let ran = bench.run(&format!("compact {name} --target {target} -o out"));
            assert!(matches!(ran.code, 0 | 3), "{name} {target}: {}", ran.err);
            let checked = bench.run("check out");
            assert_eq!(checked.code, 0, "{name} {target}: {}", checked.out);

            let format =
                |file: &str| bench.run(&format!("count {file} --json")).json()["format"].clone();
            let (was, is) = (format(name), format("out"));
            let hint = format!("read it with --from {}", was.as_str().expect("a name"));
            assert_eq!(was != is, ran.err.contains(&hint), "{name} {target}: {}", ran.err);
            hints += usize::from(was != is);
            let told =
                bench.run(&format!("count out --json --from {}", was.as_str().expect("a name")));
            assert_eq!(told.json()["format"], was, "{name} {target}");
        }
    }
    assert!(hints > 0, "some don't show what they are");
}

#[test]
fn sessions_are_read_again_as_what_they_were() {
    let bench = Bench::new();
    for example in [SESSION, SHORT, EDGES, RUN, TRAJECTORY] {
        bench.copy(example, "in");
        let before = bench.run("count in --json").json()["format"].clone();
        let targets = ["50%", "1%", "10%"];
        for target in &targets[..if is_full() { 3 } else { 2 }] {
            bench.run(&format!("compact in --target {target} -o out"));
            let after = bench.run("count out --json").json()["format"].clone();
            assert_eq!(before, after, "{example} {target}");
            assert_eq!(bench.run("check out").code, 0, "{example} {target}");
        }
    }
}
