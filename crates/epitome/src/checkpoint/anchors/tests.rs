//! What calls and their results become, as it is written.

use super::*;

/// The rendering of what shell commands and edits did, each with its output.
fn rendered(calls: &[(&str, &str)]) -> String {
    let mut anchors = Anchors::default();
    for ((what, output), at) in calls.iter().zip((0..).step_by(2)) {
        let (tool, arguments) = match what.strip_prefix("edit ") {
            Some(path) => ("Edit", serde_json::json!({ "file_path": path })),
            None => ("Bash", serde_json::json!({ "command": what })),
        };
        let arguments = arguments.to_string();
        anchors.observe_call(at, tool, &arguments);
        anchors.observe_result(at + 1, tool, &arguments, output, Outcome::Unknown);
    }
    let text = anchors.render(4_000);
    let read = Anchors::parse(&text).expect("a rendering");
    assert_eq!(read.render(4_000), text);
    text
}

#[track_caller]
fn check(calls: &[(&str, &str)], lines: &[&str]) {
    let text = rendered(calls);
    for line in lines {
        assert!(text.lines().any(|written| written == *line), "{line}\n{text}");
    }
}

#[test]
fn what_commands_change_is_listed() {
    check(&[("cat <<EOF > cfg/b.toml\na=1\nEOF", "")], &["Files changed: cfg/b.toml (created)"]);
    check(&[("git rm src/gone.rs", "rm 'src/gone.rs'")], &["Files changed: src/gone.rs (deleted)"]);
    check(&[("echo a >> notes.md", "")], &["Files changed: notes.md (edited)"]);
    check(&[("cat a.toml", "x"), ("echo a > a.toml", "")], &["Files changed: a.toml (edited)"]);
}

#[test]
fn how_tests_went_stands_with_their_command() {
    let failed =
        "test a ... ok\ntest b ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored";
    let passed = "test result: ok. 2 passed; 0 failed; 0 ignored";
    check(
        &[("cargo test", failed)],
        &["- cargo test → failed, 1 passed, 1 failed", "- test b ... FAILED"],
    );
    check(
        &[("npm test", "Tests: 1 failed, 41 passed, 42 total")],
        &["- npm test → failed, 41 passed, 1 failed"],
    );
    check(&[("pytest", "12 passed in 0.1s")], &["- pytest → ran, 12 passed"]);
    // Behind a pipe the command itself ends well.
    check(
        &[("cargo test | tail", &format!("{failed}\nexit code 0"))],
        &["- cargo test | tail → failed, 1 passed, 1 failed"],
    );
    check(
        &[("cargo test", failed), ("cargo test", passed)],
        &["- cargo test → ok, failed before, 2 passed (×2)"],
    );
    // What says nothing of tests tells no recovery of them.
    check(
        &[("cargo test", failed), ("cargo test", "   Compiling x")],
        &["- cargo test → ran (×2)"],
    );
}

#[test]
fn what_mended_an_error_is_named_where_it_is_certain() {
    let failure = "Error: cannot find module vite\nexit code 1";
    let (build, ok) = (("npm run dev", failure), ("npm run dev", "exit code 0"));
    let fixed = |between: &[(&str, &str)], note: &str| {
        let calls = [&[build][..], between, &[ok]].concat();
        check(&calls, &[&format!("- Error: cannot find module vite{note}")]);
    };
    let install = ("npm install vite", "added 1 package\nexit code 0");
    fixed(&[], " (fixed)");
    fixed(&[install], " (fixed after npm install vite)");
    fixed(&[install, ("npm test", "exit code 0")], " (fixed after npm install vite)");
    fixed(&[("edit src/a.rs", "ok")], " (fixed after editing src/a.rs)");
    fixed(&[("edit b.ts", "ok"), ("edit a.ts", "ok")], " (fixed after editing b.ts, a.ts)");
    fixed(&[("edit b.ts", "ok"), install], " (fixed)");
    fixed(&[("edit b.ts", "Error: no such file"), install], " (fixed after npm install vite)");
    fixed(
        &[("npm install vite", "exit code 1"), ("edit b.ts", "ok")],
        " (fixed after editing b.ts)",
    );
}

#[test]
fn files_that_were_only_read_give_way() {
    let reads: Vec<String> = (0..40).map(|file| format!("src/module_{file}.rs")).collect();
    let text = format!(
        "Files changed: src/b.rs (edited)\nFiles read: {}\nErrors:\n- error[E0425]: cannot find value (fixed)\nURLs: https://x.org/items\n",
        reads.join(", ")
    );
    let anchors = Anchors::parse(&text).expect("a rendering");
    let short = anchors.render(400);
    for kept in ["src/b.rs (edited)", "cannot find value", "https://x.org/items", "src/module_0.rs"]
    {
        assert!(short.contains(kept), "{kept}\n{short}");
    }
    // What has no room is counted.
    let less = anchors.render(95);
    assert!(less.ends_with("Errors:\n- +1 more\n"), "{less}");
    let without = anchors.without_figures(|_| true);
    assert!(matches!(without, Cow::Borrowed(_)));
}
