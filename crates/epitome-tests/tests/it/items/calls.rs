//! Calls that the client answers: tools of its own, shells, patches, a screen, a program.

use expect_test::expect;
use serde_json::json;
use testkit::prose;

use super::{check, long};

#[test]
fn a_custom_tool() {
    check(
        &[
            json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "apply_patch", "input": "*** Begin Patch\n*** End Patch"}),
            json!({"type": "custom_tool_call_output", "call_id": "c", "output": long()}),
        ],
        &expect![[r#"
            keep user message
            fold custom_tool_call, custom_tool_call_output
            here checkpoint
            keep assistant message, user message, function_call, function_call_output
            at 60 tokens:
            keep user message
            fold custom_tool_call, custom_tool_call_output, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message
            fold shell_call, shell_call_output
            here checkpoint
            keep assistant message, user message, function_call, function_call_output
            at 60 tokens:
            keep user message
            fold shell_call, shell_call_output, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message
            fold local_shell_call, local_shell_call_output
            here checkpoint
            keep assistant message, user message, function_call, function_call_output
            at 60 tokens:
            keep user message
            fold local_shell_call, local_shell_call_output, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message
            fold apply_patch_call, apply_patch_call_output
            here checkpoint
            keep assistant message, user message, function_call, function_call_output
            at 60 tokens:
            keep user message
            fold apply_patch_call, apply_patch_call_output, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message
            fold computer_call, computer_call_output
            here checkpoint
            keep assistant message, user message, function_call, function_call_output
            at 60 tokens:
            keep user message
            fold computer_call, computer_call_output, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
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
        &expect![[r#"
            keep user message
            fold program, function_call, function_call_output, program_output
            here checkpoint
            keep assistant message, user message, function_call, function_call_output
            at 60 tokens:
            keep user message
            fold program, function_call, function_call_output, program_output, assistant message
            here checkpoint
            keep user message, function_call, function_call_output
        "#]],
    );
}
