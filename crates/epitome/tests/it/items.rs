//! OpenAI Responses: what becomes of each kind of item, and what is done where history is elsewhere.

use std::fmt::Write as _;

use epitome::count::counter;
use epitome::request::Keeper;
use epitome::transcript::Entry;
use epitome::view::Fate;
use epitome::wire::{self, Format};
use epitome::{Compactor, Options, Outcome, Request, Target};
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use testkit::laws::check_all;
use testkit::prose;
use testkit::server::{Api, validate};

fn body(items: &[Value]) -> Value {
    json!({"model": "gpt-5.4", "store": false, "input": items})
}

/// Something old of this kind, between a task and a newer question.
fn session(old: &[Value]) -> Value {
    let mut items = vec![message("user", "Fix the build of the parser crate.")];
    items.extend_from_slice(old);
    items.extend([
        message("assistant", "The parser builds again."),
        message("user", "And the docs?"),
        json!({"type": "function_call", "call_id": "late", "name": "Read", "arguments": "{\"path\":\"docs/a.md\"}"}),
        json!({"type": "function_call_output", "call_id": "late", "output": "# Docs\nAll is said."}),
    ]);
    body(&items)
}

fn message(role: &str, words: &str) -> Value {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": words}]})
}

fn long() -> String {
    prose::log(7, 60)
}

fn parsed(body: &Value) -> Request {
    wire::parse(Format::OpenaiResponses, body.to_string()).expect("a body")
}

fn compactor(target: Target) -> Compactor {
    let options = Options { target, ..Options::default() };
    Compactor::new(options, counter("o200k").expect("a known name")).expect("in range")
}

/// Holds every law, and what an independent server says, at each of these targets.
fn hold(body: &Value) {
    // The server can open no seal but its own.
    let is_sealed = |item: &Value| item["encrypted_content"].is_string();
    let is_judged = !body["input"].as_array().is_some_and(|items| items.iter().any(is_sealed));
    let judge = |body: &Value, when: &str| {
        if let Err(refusal) = validate(Api::Responses, body).map(drop)
            && is_judged
        {
            panic!("{when}: {}\n{body}", refusal.message);
        }
    };
    judge(body, "as it came");
    for percent in [90, 50, 20, 10, 2] {
        let compactor = compactor(Target::Percent(percent));
        check_all(&parsed(body), &compactor).unwrap_or_else(|why| panic!("{percent} %: {why}"));
        let outcome = compactor.compact(&parsed(body)).expect("a sound view");
        let out = serde_json::from_str(outcome.rendered()).expect("JSON");
        judge(&out, &format!("{percent} %"));
    }
}

/// Every entry with its fate; edited ones as they are shown.
fn shown(outcome: &Outcome) -> String {
    let mut out = String::new();
    let mut rendered = outcome.request.transcript.entries();
    let placed = outcome.view.checkpoint();
    for (entry, fate) in outcome.base.transcript.entries().zip(outcome.view.fates()) {
        if placed.is_some_and(|placed| placed.before == entry.index) {
            rendered.next();
            out += "here checkpoint\n";
        }
        let after = fate.is_shown().then(|| rendered.next().expect("it is shown"));
        let word = match fate {
            Fate::Keep => "keep",
            Fate::Edit(_) => "edit",
            Fate::Fold(..) => "fold",
            Fate::Drop(_) => "drop",
        };
        let _ = writeln!(out, "{word} {}", kind(entry));
        if let (Fate::Edit(_), Some(after)) = (fate, after) {
            let raw: String = after.raw().chars().take(230).collect();
            let _ = writeln!(out, "   > {raw}");
        }
    }
    out
}

fn kind(entry: Entry<'_>) -> String {
    let item: Value = serde_json::from_str(entry.raw()).expect("an entry is JSON");
    let kind = item["type"].as_str().unwrap_or("message").to_owned();
    match item["role"].as_str() {
        Some(role) => format!("{role} {kind}"),
        None => kind,
    }
}

/// What is stubbed or dropped first, and what is left when hardly anything may be.
fn check(old: &[Value], tokens: u64, early: &Expect, late: &Expect) {
    let body = session(old);
    hold(&body);
    let early_view = compactor(Target::Tokens(tokens)).compact(&parsed(&body)).expect("sound");
    early.assert_eq(&shown(&early_view));
    let late_view = compactor(Target::Tokens(60)).compact(&parsed(&body)).expect("sound");
    late.assert_eq(&shown(&late_view));
}

#[test]
fn a_custom_tool() {
    check(
        &[
            json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "apply_patch", "input": "*** Begin Patch\n*** End Patch"}),
            json!({"type": "custom_tool_call_output", "call_id": "c", "output": long()}),
        ],
        500,
        &expect![[r#"
            keep user message
            keep custom_tool_call
            edit custom_tool_call_output
               > {"call_id":"c","output":"73d33b666a1e21da3fdabe86cbbeaa11 internal/cache/lru.go\n   Compiling max_retries v0.486.0 (docs/guide.md)\n   Compiling is_expired v0.391.0 (tests/test_upload.py)\n   Compiling read_config v0.128.0 (docs/g
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop custom_tool_call
            drop custom_tool_call_output
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
    );
}

#[test]
fn a_shell() {
    check(
        &[
            json!({"type": "shell_call", "id": "sh_1", "call_id": "c", "action": {"commands": ["cargo build"], "timeout_ms": null}, "status": "completed"}),
            json!({"type": "shell_call_output", "call_id": "c", "output": [{"stdout": long(), "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]}),
        ],
        500,
        &expect![[r#"
            keep user message
            keep shell_call
            edit shell_call_output
               > {"call_id":"c","output":[{"stdout":"73d33b666a1e21da3fdabe86cbbeaa11 internal/cache/lru.go\n   Compiling max_retries v0.486.0 (docs/guide.md)\n   Compiling is_expired v0.391.0 (tests/test_upload.py)\n   Compiling read_config v0.12
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop shell_call
            drop shell_call_output
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
    );
}

#[test]
fn the_older_shell() {
    check(
        &[
            json!({"type": "local_shell_call", "id": "lsh_1", "call_id": "c", "status": "completed", "action": {"type": "exec", "command": ["bash", "-lc", "cargo build"], "env": {}}}),
            json!({"type": "local_shell_call_output", "id": "c", "call_id": "c", "output": long()}),
        ],
        500,
        &expect![[r#"
            keep user message
            keep local_shell_call
            edit local_shell_call_output
               > {"call_id":"c","id":"c","output":"73d33b666a1e21da3fdabe86cbbeaa11 internal/cache/lru.go\n   Compiling max_retries v0.486.0 (docs/guide.md)\n   Compiling is_expired v0.391.0 (tests/test_upload.py)\n   Compiling read_config v0.128.
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop local_shell_call
            drop local_shell_call_output
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
    );
}

#[test]
fn a_patch() {
    check(
        &[
            json!({"type": "apply_patch_call", "id": "apc_1", "call_id": "c", "status": "completed", "operation": {"type": "update_file", "path": "src/x.rs", "diff": "@@ -1 +1 @@"}}),
            json!({"type": "apply_patch_call_output", "call_id": "c", "status": "completed", "output": long()}),
        ],
        500,
        &expect![[r#"
            keep user message
            keep apply_patch_call
            edit apply_patch_call_output
               > {"call_id":"c","output":"73d33b666a1e21da3fdabe86cbbeaa11 internal/cache/lru.go\n   Compiling max_retries v0.486.0 (docs/guide.md)\n   Compiling is_expired v0.391.0 (tests/test_upload.py)\n   Compiling read_config v0.128.0 (docs/g
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop apply_patch_call
            drop apply_patch_call_output
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
    );
}

#[test]
fn a_computer() {
    check(
        &[
            json!({"type": "computer_call", "id": "cu_1", "call_id": "c", "status": "completed", "action": {"type": "screenshot"}, "pending_safety_checks": []}),
            json!({"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "image_url": format!("data:image/png;base64,{}", prose::png(1200, 800))}}),
        ],
        500,
        &expect![[r#"
            keep user message
            here checkpoint
            fold computer_call
            fold computer_call_output
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop computer_call
            drop computer_call_output
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
    );
}

#[test]
fn an_mcp_call() {
    check(
        &[
            json!({"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "wiki", "tools": [{"name": "read", "input_schema": {"type": "object"}, "description": long()}]}),
            json!({"type": "mcp_call", "id": "mcp_1", "server_label": "wiki", "name": "read", "arguments": "{\"page\":\"x\"}", "output": long()}),
        ],
        500,
        &expect![[r#"
            keep user message
            here checkpoint
            fold mcp_list_tools
            fold mcp_call
            fold assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop mcp_list_tools
            drop mcp_call
            drop assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
    );
}

#[test]
fn an_approval() {
    check(
        &[
            json!({"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "wiki", "name": "delete", "arguments": "{}"}),
            json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true}),
            json!({"type": "mcp_call", "id": "mcp_1", "approval_request_id": "mcpr_1", "server_label": "wiki", "name": "delete", "arguments": "{}", "output": long()}),
        ],
        500,
        &expect![[r#"
            keep user message
            keep mcp_approval_request
            keep mcp_approval_response
            here checkpoint
            fold mcp_call
            fold assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            keep mcp_approval_request
            keep mcp_approval_response
            drop mcp_call
            drop assistant message
            keep user message
            drop function_call
            drop function_call_output
        "#]],
    );
}

#[test]
fn a_web_search() {
    check(
        &[
            json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "parser"}}),
            message("assistant", &long()),
        ],
        500,
        &expect![[r#"
            keep user message
            keep web_search_call
            edit assistant message
               > {"content":[{"text":"73d33b666a1e21da3fdabe86cbbeaa11 internal/cache/lru.go\n   Compiling max_retries v0.486.0 (docs/guide.md)\n   Compiling is_expired v0.391.0 (tests/test_upload.py)\n   Compiling read_config v0.128.0 (docs/guide
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop web_search_call
            drop assistant message
            drop assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
    );
}

#[test]
fn a_tool_search() {
    check(
        &[
            json!({"type": "tool_search_call", "id": "tsc_1", "call_id": "c", "execution": "client", "arguments": {"query": "deploy"}, "status": "completed"}),
            json!({"type": "tool_search_output", "call_id": "c", "execution": "client", "status": "completed", "tools": [{"type": "function", "name": "deploy", "description": "ships it", "parameters": {"type": "object"}, "strict": false}]}),
            message("assistant", &long()),
        ],
        500,
        &expect![[r#"
            keep user message
            keep tool_search_call
            keep tool_search_output
            edit assistant message
               > {"content":[{"text":"73d33b666a1e21da3fdabe86cbbeaa11 internal/cache/lru.go\n   Compiling max_retries v0.486.0 (docs/guide.md)\n   Compiling is_expired v0.391.0 (tests/test_upload.py)\n   Compiling read_config v0.128.0 (docs/guide
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            keep tool_search_call
            keep tool_search_output
            drop assistant message
            drop assistant message
            keep user message
            drop function_call
            drop function_call_output
        "#]],
    );
}

#[test]
fn a_program() {
    check(
        &[
            json!({"type": "program", "id": "prg_1", "call_id": "p", "code": "await tools.Read({})", "fingerprint": "f"}),
            json!({"type": "function_call", "call_id": "c", "name": "Read", "arguments": "{}", "caller": {"type": "program", "caller_id": "p"}}),
            json!({"type": "function_call_output", "call_id": "c", "output": long()}),
            json!({"type": "program_output", "id": "pro_1", "call_id": "p", "result": "done", "status": "completed"}),
        ],
        500,
        &expect![[r#"
            keep user message
            keep program
            keep function_call
            edit function_call_output
               > {"call_id":"c","output":"73d33b666a1e21da3fdabe86cbbeaa11 internal/cache/lru.go\n   Compiling max_retries v0.486.0 (docs/guide.md)\n   Compiling is_expired v0.391.0 (tests/test_upload.py)\n   Compiling read_config v0.128.0 (docs/g
            keep program_output
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop program
            drop function_call
            drop function_call_output
            drop program_output
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
    );
}

#[test]
fn what_it_serves_with_results() {
    check(
        &[
            json!({"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["parser"], "results": [{"file_id": "f", "filename": "a.md", "score": 0.9, "text": long()}]}),
            json!({"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "container_id": "cntr", "code": "print(1)", "outputs": [{"type": "logs", "logs": long()}]}),
            json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": prose::png(600, 400)}),
        ],
        500,
        &expect![[r#"
            keep user message
            here checkpoint
            fold file_search_call
            fold code_interpreter_call
            fold image_generation_call
            fold assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop file_search_call
            drop code_interpreter_call
            drop image_generation_call
            drop assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
    );
}

#[test]
fn a_thought_with_ids() {
    check(
        &[
            json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": prose::base64(long().as_bytes())}),
            json!({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "Bash", "arguments": "{\"command\":\"cargo build\"}"}),
            json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "It runs.", "annotations": []}]}),
            json!({"type": "function_call_output", "call_id": "c", "output": long()}),
        ],
        500,
        &expect![[r#"
            keep user message
            drop reasoning
            edit function_call
               > {"arguments":"{\"command\":\"cargo build\"}","call_id":"c","name":"Bash","type":"function_call"}
            edit assistant message
               > {"content":[{"annotations":[],"text":"It runs.","type":"output_text"}],"role":"assistant","type":"message"}
            edit function_call_output
               > {"call_id":"c","output":"73d33b666a1e21da3fdabe86cbbeaa11 internal/cache/lru.go\n   Compiling max_retries v0.486.0 (docs/guide.md)\n   Compiling is_expired v0.391.0 (tests/test_upload.py)\n   Compiling read_config v0.128.0 (docs/g
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop reasoning
            drop function_call
            drop assistant message
            drop function_call_output
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
    );
}

#[test]
fn a_compaction() {
    check(
        &[
            message("user", &long()),
            message("assistant", &long()),
            json!({"type": "compaction", "id": "cmp_1", "encrypted_content": prose::base64(b"all of the above, sealed")}),
        ],
        500,
        &expect![[r#"
            keep user message
            here checkpoint
            fold user message
            edit assistant message
               > {"content":[{"text":"73d33b666a1e21da3fdabe86cbbeaa11 internal/cache/lru.go\n   Compiling max_retries v0.486.0 (docs/guide.md)\n   Compiling is_expired v0.391.0 (tests/test_upload.py)\n   Compiling read_config v0.128.0 (docs/guide
            keep compaction
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            drop user message
            drop assistant message
            keep compaction
            drop assistant message
            keep user message
            drop function_call
            drop function_call_output
        "#]],
    );
}

#[test]
fn settings_and_tools() {
    check(
        &[
            json!({"type": "configuration_update", "reasoning": {"effort": "high"}}),
            json!({"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "late"}]}),
            message("assistant", &long()),
        ],
        500,
        &expect![[r#"
            keep user message
            keep configuration_update
            keep developer additional_tools
            edit assistant message
               > {"content":[{"text":"73d33b666a1e21da3fdabe86cbbeaa11 internal/cache/lru.go\n   Compiling max_retries v0.486.0 (docs/guide.md)\n   Compiling is_expired v0.391.0 (tests/test_upload.py)\n   Compiling read_config v0.128.0 (docs/guide
            keep assistant message
            keep user message
            keep function_call
            keep function_call_output
        "#]],
        &expect![[r#"
            keep user message
            keep configuration_update
            keep developer additional_tools
            drop assistant message
            drop assistant message
            keep user message
            drop function_call
            drop function_call_output
        "#]],
    );
}

/// Items that go on from a history which the provider keeps: new to the model, all of them.
fn going_on(keeper: &str, name: Value) -> Value {
    let mut body = body(&[
        json!({"type": "function_call_output", "call_id": "earlier", "output": long()}),
        message("user", "And now?"),
        json!({"type": "function_call", "call_id": "a", "name": "Bash", "arguments": "{\"command\":\"cargo build\"}"}),
        json!({"type": "function_call_output", "call_id": "a", "output": long()}),
    ]);
    body["store"] = json!(true);
    body[keeper] = name;
    body
}

#[test]
fn what_goes_on_from_elsewhere_stays() {
    for (key, name, keeper) in [
        ("previous_response_id", json!("resp_1"), Keeper::PreviousResponse),
        ("conversation", json!("conv_1"), Keeper::Conversation),
        ("conversation", json!({"id": "conv_1"}), Keeper::Conversation),
    ] {
        let request = parsed(&going_on(key, name));
        let elsewhere = request.elsewhere().expect("it is named");
        assert_eq!(elsewhere.keeper, keeper);
        // Its call is where the history is, so the first output is no orphan.
        assert_eq!(wire::check(&request), []);
        for percent in [50, 10] {
            let compactor = compactor(Target::Percent(percent));
            check_all(&request, &compactor).unwrap_or_else(|why| panic!("{key}: {why}"));
            let outcome = compactor.compact(&request).expect("a sound view");
            // No entry leaves, and the receipt names who has the rest.
            assert!(outcome.view.fates().all(Fate::is_shown), "{}", shown(&outcome));
            assert_eq!(outcome.receipt.elsewhere, Some(elsewhere.clone()));
            assert!(outcome.view.checkpoint().is_none());
        }
    }
    let mut neither = going_on("previous_response_id", json!(null));
    neither["conversation"] = json!(null);
    assert!(parsed(&neither).elsewhere().is_none());
    assert_eq!(wire::check(&parsed(&neither))[0].rule.0, "responses/orphan", "now it is an orphan");
}

#[test]
fn an_output_whose_call_is_only_referred_to_stays() {
    let items = [
        message("user", "Fix the build."),
        json!({"type": "item_reference", "id": "fc_1"}),
        json!({"type": "function_call_output", "call_id": "earlier", "output": long()}),
        message("assistant", &long()),
        message("user", "And the docs?"),
    ];
    let mut body = body(&items);
    body["store"] = json!(true);
    let request = parsed(&body);
    assert_eq!(wire::check(&request), []);
    let compactor = compactor(Target::Tokens(60));
    check_all(&request, &compactor).expect("all laws");
    expect![[r#"
        keep user message
        keep item_reference
        edit function_call_output
           > {"call_id":"earlier","output":"73d33b666a1e21da3fdabe86cbbeaa11 [… 3.2 kB elided …] (src/parser/token.rs)\n","type":"function_call_output"}
        drop assistant message
        keep user message
    "#]].assert_eq(&shown(&compactor.compact(&request).expect("a sound view")));
}

#[test]
fn a_trigger_stays_last() {
    let mut body = session(&[message("assistant", &long())]);
    let items = body["input"].as_array_mut().expect("a list");
    items.push(json!({"type": "compaction_trigger"}));
    let request = parsed(&body);
    let compactor = compactor(Target::Tokens(80));
    check_all(&request, &compactor).expect("all laws");
    let outcome = compactor.compact(&request).expect("a sound view");
    let out: Value = serde_json::from_str(outcome.rendered()).expect("JSON");
    let last = out["input"].as_array().and_then(|items| items.last());
    assert_eq!(last, Some(&json!({"type": "compaction_trigger"})));
    validate(Api::Responses, &out).expect("the server takes it");
    expect![[r#"
        keep user message
        here checkpoint
        fold assistant message
        fold assistant message
        keep user message
        fold function_call
        fold function_call_output
        keep compaction_trigger
    "#]]
    .assert_eq(&shown(&outcome));
}
