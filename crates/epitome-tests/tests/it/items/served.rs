//! What the provider runs, thinks, seals or sets.

use expect_test::expect;
use serde_json::json;
use testkit::prose;

use super::{check, long, message};

#[test]
fn an_mcp_call() {
    check(
        &[
            json!({"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "wiki", "tools": [{"name": "read", "input_schema": {"type": "object"}, "description": long()}]}),
            json!({"type": "mcp_call", "id": "mcp_1", "server_label": "wiki", "name": "read", "arguments": "{\"page\":\"x\"}", "output": long()}),
        ],
        &expect![[r#"
            keep user message
            fold mcp_list_tools, mcp_call, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message
            fold mcp_approval_request, mcp_approval_response, mcp_call, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message
            fold web_search_call, assistant message, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message, tool_search_call, tool_search_output
            fold assistant message, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message
            fold file_search_call, code_interpreter_call, image_generation_call, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message
            drop reasoning
            fold function_call, assistant message, function_call_output
            here checkpoint
            keep assistant message, user message, function_call, function_call_output
            at 60 tokens:
            keep user message
            fold reasoning, function_call, assistant message, function_call_output, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message
            fold user message, assistant message
            here checkpoint
            keep compaction, assistant message, user message, function_call, function_call_output
            at 60 tokens:
            keep user message
            fold user message, assistant message
            keep compaction
            fold assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message, configuration_update, developer additional_tools
            fold assistant message, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
        "#]],
    );
}
