//! Calls that the client answers: tools of its own, shells, patches, a screen, a program.

use expect_test::expect;
use serde_json::json;
use testkit::prose;

use super::{check, long};

#[test]
fn calls_and_their_outputs_leave_together() {
    check(
        &[
            (
                "a custom tool",
                vec![
                    json!({"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "apply_patch", "input": "*** Begin Patch\n*** End Patch"}),
                    json!({"type": "custom_tool_call_output", "call_id": "c", "output": long()}),
                ],
            ),
            (
                "a shell",
                vec![
                    json!({"type": "shell_call", "id": "sh_1", "call_id": "c", "action": {"commands": ["cargo build"], "timeout_ms": null}, "status": "completed"}),
                    json!({"type": "shell_call_output", "call_id": "c", "output": [{"stdout": long(), "stderr": "", "outcome": {"type": "exit", "exit_code": 0}}]}),
                ],
            ),
            (
                "the older shell",
                vec![
                    json!({"type": "local_shell_call", "id": "lsh_1", "call_id": "c", "status": "completed", "action": {"type": "exec", "command": ["bash", "-lc", "cargo build"], "env": {}}}),
                    json!({"type": "local_shell_call_output", "id": "c", "call_id": "c", "output": long()}),
                ],
            ),
            (
                "a patch",
                vec![
                    json!({"type": "apply_patch_call", "id": "apc_1", "call_id": "c", "status": "completed", "operation": {"type": "update_file", "path": "src/x.rs", "diff": "@@ -1 +1 @@"}}),
                    json!({"type": "apply_patch_call_output", "call_id": "c", "status": "completed", "output": long()}),
                ],
            ),
            (
                "a computer",
                vec![
                    json!({"type": "computer_call", "id": "cu_1", "call_id": "c", "status": "completed", "action": {"type": "screenshot"}, "pending_safety_checks": []}),
                    json!({"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "image_url": format!("data:image/png;base64,{}", prose::png(1200, 800))}}),
                ],
            ),
            (
                "a program",
                vec![
                    json!({"type": "program", "id": "prg_1", "call_id": "p", "code": "await tools.Read({})", "fingerprint": "f"}),
                    json!({"type": "function_call", "call_id": "c", "name": "Read", "arguments": "{}", "caller": {"type": "program", "caller_id": "p"}}),
                    json!({"type": "function_call_output", "call_id": "c", "output": long()}),
                    json!({"type": "program_output", "id": "pro_1", "call_id": "p", "result": "done", "status": "completed"}),
                ],
            ),
        ],
        &expect![[r#"
            == a custom tool
            fold custom_tool_call, custom_tool_call_output
            here checkpoint
            at 60 tokens:
            fold custom_tool_call, custom_tool_call_output
            == a shell
            fold shell_call, shell_call_output
            here checkpoint
            at 60 tokens:
            fold shell_call, shell_call_output
            == the older shell
            fold local_shell_call, local_shell_call_output
            here checkpoint
            at 60 tokens:
            fold local_shell_call, local_shell_call_output
            == a patch
            fold apply_patch_call, apply_patch_call_output
            here checkpoint
            at 60 tokens:
            fold apply_patch_call, apply_patch_call_output
            == a computer
            fold computer_call, computer_call_output
            here checkpoint
            at 60 tokens:
            fold computer_call, computer_call_output
            == a program
            fold program, function_call, function_call_output, program_output
            here checkpoint
            at 60 tokens:
            fold program, function_call, function_call_output, program_output
        "#]],
    );
}
