//! What `check` finds that a compaction carries, damaged rows of plain messages, and pages on a narrow screen.

use crate::bench::{Bench, SHORT, shipped};

const USER: &str = r#"{"role":"user","content":"Fix it."}"#;

#[test]
fn anthropics_blocks_are_found_in_chat() {
    let bench = Bench::new();
    let call =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    let result =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;
    let thought = r#"{"role":"assistant","content":[{"type":"thinking","thinking":"x"},{"type":"text","text":"y"}]}"#;
    bench.write(
        "in.json",
        format!(r#"{{"model":"gpt-4.1","messages":[{USER},{call},{result},{thought}]}}"#),
    );
    let found = bench.run("check in.json --from openai-chat --json").ends(3).json();
    let rules: Vec<_> = found["findings"].as_array().expect("a list").iter().collect();
    assert_eq!(rules.len(), 3, "{found}");
    assert!(rules.iter().all(|one| one["rule"] == "chat/foreign-block"), "{found}");
    bench.run("check in.json --from openai-chat --except chat/foreign-block").ends(0);
}

/// What a body's own model refuses is found, and left by a repair, without `--for`.
#[test]
fn a_body_is_checked_for_the_model_that_it_names() {
    let bench = Bench::new();
    let call = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
    let shown = r#"{"role":"tool","tool_call_id":"a","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}]}"#;
    let chat = |model: &str| format!(r#"{{"model":"{model}","messages":[{USER},{call},{shown}]}}"#);
    let claude = |model: &str, more: &str, said: &str| {
        format!(r#"{{"model":"{model}","max_tokens":9{more},"messages":[{USER}{said}]}}"#)
    };
    let begun = r#",{"role":"assistant","content":"The answer is"}"#;
    let tools =
        r#","tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"any"}"#;
    for (body, rule) in [
        (chat("gpt-4o"), "model/images"),
        (claude("claude-opus-5-5", tools, ""), "model/forced-tool"),
    ] {
        bench.write("in.json", &body);
        bench.run("check in.json").ends(3).says(&[rule, "doesn't suit"]);
        bench.run("check --repair in.json -o out.json").ends(3).complains(&[rule]);
        let found = bench.run("check in.json --json").ends(3).json();
        assert_eq!(found["for"]["misfits"][0]["rule"], rule, "{found}");
    }
    bench.write("in.json", claude("claude-sonnet-4-5", tools, begun));
    bench.run("check in.json").ends(0);
    // What ends so may go on yet.
    bench.write("in.json", claude("claude-opus-5", "", begun));
    bench.run("check in.json").ends(0).says(&["model/prefill", "(may be)"]);
    bench.write("in.json", chat("somebodys-vision-model"));
    bench.run("check in.json").ends(0);
}

#[test]
fn calls_that_wait_at_the_end_are_told() {
    let bench = Bench::new();
    let call =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    bench.write("in.json", format!(r#"{{"max_tokens":9,"messages":[{USER},{call}]}}"#));
    bench.run("check in.json").ends(0).says(&["open: 1 call", "`a`", "refused until"]);
    let found = bench.run("check in.json --json").ends(0).json();
    assert_eq!(found["open"], serde_json::json!(["a"]), "{found}");
}

#[test]
fn a_conversion_says_what_it_mended() {
    let bench = Bench::new();
    let orphan = r#"{"role":"tool","tool_call_id":"z","content":"x"}"#;
    bench.write("in.json", format!("[{USER},{orphan},{USER}]"));
    let said = bench.run("convert in.json --to anthropic:claude-opus-5 -o out.json").ends(0);
    said.complains(&["mended: 1 place", "chat/orphan at messages[1]"]);
}

#[test]
fn a_converse_body_is_for_the_model_that_is_named() {
    let bench = Bench::new();
    let ask = r#"{"role":"user","content":[{"text":"Go."}]}"#;
    let call =
        r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}"#;
    let mixed = r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"x"}]}},{"text":"And?"}]}"#;
    let tools = r#"{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]}"#;
    bench
        .write("in.json", format!(r#"{{"toolConfig":{tools},"messages":[{ask},{call},{mixed}]}}"#));
    bench.run("check in.json").ends(3).says(&["bedrock/mixed-turn", "--model"]);
    bench.run("check in.json --model claude-sonnet-4-6").ends(0);
    // The exit code is that of a check of what was written.
    bench.run("compact in.json --target 100% -o out.json").ends(3).complains(&["breaks 1 rule"]);
    bench.run("check out.json").ends(3);
    bench.run("compact in.json --target 100% --model claude-sonnet-4-6 -o out.json").ends(0);
    let said =
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
    let both = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"text","text":"And?"}]}"#;
    bench.write("claude.json", format!("[{USER},{said},{both}]"));
    bench.run("convert claude.json --to bedrock -o out.json").ends(3);
    bench.run("convert claude.json --to bedrock:claude-sonnet-4-6 -o out.json").ends(0);
}

#[test]
fn a_torn_row_of_plain_messages_costs_itself() {
    let bench = Bench::new();
    let said = r#"{"role":"assistant","content":"Done."}"#;
    for (torn, left) in [(&said[..34], 2), (&*format!("{}{USER}", &said[..34]), 3)] {
        bench.write("in.jsonl", format!("{USER}\n{torn}\n{said}\n"));
        for command in
            ["stats", "check", "compact --target 100%", "convert --to anthropic:claude-opus-5-5"]
        {
            bench.run(&format!("{command} in.jsonl")).ends(0);
        }
        let counted = bench.run("count in.jsonl --json").ends(0).json();
        assert_eq!((&counted["entries"], &counted["source"]["skipped"]), (&left.into(), &1.into()));
        let told = bench.run("stats in.jsonl").ends(0);
        assert!(
            told.err.contains("not JSON") || told.err.contains("can't be read"),
            "{}",
            told.err
        );
    }
}

#[test]
fn tables_of_pages_scroll_where_there_is_no_room() {
    let bench = Bench::new();
    bench.write("s.jsonl", std::fs::read(shipped(SHORT)).expect("a shipped session"));
    bench.run("stats s.jsonl --html stats.html").ends(0);
    bench.run("report s.jsonl --html -o report.html").ends(0);
    for page in ["stats.html", "report.html"] {
        let page = bench.read(page);
        let tables = page.matches("<table").count();
        assert!(tables > 0);
        assert_eq!(page.matches(r#"<div class="scroll"><table"#).count(), tables);
    }
}

#[test]
fn nothing_stays_of_ptc_runner_in_no_command() {
    let bench = Bench::new();
    bench.write("in.json", format!("[{USER}]"));
    for flag in ["--keep-recent 0turns", "--keep-recent 0steps", "--trigger 0turns"] {
        let ran = bench.run(&format!("compact in.json --preset ptc-runner {flag}"));
        assert_eq!(ran.code, 2, "{flag}: {}", ran.err);
        assert!(ran.err.contains("1 or more"), "{flag}: {}", ran.err);
    }
}
