//! What the provider runs, thinks, seals or sets.

use expect_test::expect;
use serde_json::json;
use testkit::prose;

use super::{check, long, message};

#[test]
fn what_the_provider_made_leaves_where_it_may() {
    check(
        &[
            (
                "an mcp call",
                vec![
                    json!({"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "wiki", "tools": [{"name": "read", "input_schema": {"type": "object"}, "description": long()}]}),
                    json!({"type": "mcp_call", "id": "mcp_1", "server_label": "wiki", "name": "read", "arguments": "{\"page\":\"x\"}", "output": long()}),
                ],
            ),
            (
                "an approval",
                vec![
                    json!({"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "wiki", "name": "delete", "arguments": "{}"}),
                    json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true}),
                    json!({"type": "mcp_call", "id": "mcp_1", "approval_request_id": "mcpr_1", "server_label": "wiki", "name": "delete", "arguments": "{}", "output": long()}),
                ],
            ),
            (
                "a web search",
                vec![
                    json!({"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "parser"}}),
                    message("assistant", &long()),
                ],
            ),
            (
                "a tool search",
                vec![
                    json!({"type": "tool_search_call", "id": "tsc_1", "call_id": "c", "execution": "client", "arguments": {"query": "deploy"}, "status": "completed"}),
                    json!({"type": "tool_search_output", "call_id": "c", "execution": "client", "status": "completed", "tools": [{"type": "function", "name": "deploy", "description": "ships it", "parameters": {"type": "object"}, "strict": false}]}),
                    message("assistant", &long()),
                ],
            ),
            (
                "what it serves with results",
                vec![
                    json!({"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["parser"], "results": [{"file_id": "f", "filename": "a.md", "score": 0.9, "text": long()}]}),
                    json!({"type": "code_interpreter_call", "id": "ci_1", "status": "completed", "container_id": "cntr", "code": "print(1)", "outputs": [{"type": "logs", "logs": long()}]}),
                    json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": prose::png(600, 400)}),
                ],
            ),
            (
                "a thought with ids",
                vec![
                    json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": prose::base64(long().as_bytes())}),
                    json!({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "Bash", "arguments": "{\"command\":\"cargo build\"}"}),
                    json!({"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "It runs.", "annotations": []}]}),
                    json!({"type": "function_call_output", "call_id": "c", "output": long()}),
                ],
            ),
            (
                "a compaction",
                vec![
                    message("user", &long()),
                    message("assistant", &long()),
                    json!({"type": "compaction", "id": "cmp_1", "encrypted_content": prose::base64(b"all of the above, sealed")}),
                ],
            ),
            (
                "settings and tools",
                vec![
                    json!({"type": "configuration_update", "reasoning": {"effort": "high"}}),
                    json!({"type": "additional_tools", "role": "developer", "tools": [{"type": "function", "name": "late"}]}),
                    message("assistant", &long()),
                ],
            ),
        ],
        &expect![[r#"
            == an mcp call
            fold mcp_list_tools, mcp_call
            == an approval
            fold mcp_approval_request, mcp_approval_response, mcp_call
            == a web search
            fold web_search_call, assistant message
            == a tool search
            keep tool_search_call, tool_search_output
            fold assistant message
            == what it serves with results
            fold file_search_call, code_interpreter_call, image_generation_call
            == a thought with ids
            drop reasoning
            fold function_call, assistant message, function_call_output
            here checkpoint
            at 60 tokens:
            fold reasoning, function_call, assistant message, function_call_output
            == a compaction
            fold user message, assistant message
            here checkpoint
            keep compaction
            at 60 tokens:
            fold user message, assistant message
            keep compaction
            == settings and tools
            keep configuration_update, developer additional_tools
            fold assistant message
        "#]],
    );
}
