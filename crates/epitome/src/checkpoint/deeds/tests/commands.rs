//! How commands went, by their outputs.

use super::*;

#[test]
fn the_last_lines_are_told_as_that() {
    let mut deeds = Deeds::default();
    let long = format!("{}\nnpm notice of a version\nGoodbye.\nGoodbye.", "lorem ".repeat(40));
    let failed = ["error: no such task\nGoodbye.", "npm error command failed\nnpm error path /srv"];
    let outputs = ["built\nGoodbye.", "v0.8.0", failed[0], &long, failed[1]];
    for (number, output) in (1..).zip(outputs) {
        let line = format!(r#"{{"command":"npm run task{number}"}}"#);
        deeds.call(number, number, "bash", &line, false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    let lines = deeds.lines(|_| true, Merging::Same);
    let ends = [
        " → 2 lines of output: built / Goodbye.",
        " → v0.8.0",
        " → says: error: no such task / Goodbye.",
        " → 4 lines of output, last: npm notice of a version / Goodbye.",
        " → says: npm error command failed / npm error path /srv",
    ];
    assert!(lines.iter().zip(ends).all(|(line, end)| line.ends_with(end)), "{lines:?}");
    let mut next = Deeds::default();
    next.carry(&lines.join("\n"));
    assert_eq!(next.lines(|_| true, Merging::Same), lines);
}

#[test]
fn a_failed_command_says_how_much_failed_and_what_ended_it() {
    let errors = "a.ts(1,2): error TS1: x\na.ts(3,4): error TS2: y\na.ts(3,4): error TS2: y";
    let outputs = [
        (errors.to_owned(), "failed: a.ts(1,2): error TS1: x / a.ts(3,4): error TS2: y"),
        (
            format!("Exit code 2\n{errors}"),
            "exit 2: a.ts(1,2): error TS1: x / a.ts(3,4): error TS2: y",
        ),
        (
            "Error in the loader\n(node:3) Warning: slow\n\nCommand aborted".to_owned(),
            "Error in the loader / (node:3) Warning: slow / Command aborted",
        ),
        (
            "Exit code 1\nOptions:\n  1. Use another model".to_owned(),
            "exit 1: Options: / 1. Use another model",
        ),
        ("Exit code 1\nno such host".to_owned(), "exit 1: no such host"),
    ];
    let mut deeds = Deeds::default();
    for (number, (output, _)) in (1..).zip(&outputs) {
        deeds.call(number, number, "bash", &format!(r#"{{"command":"make {number}"}}"#), false);
        deeds.told(number, output, CallStatus::Error);
    }
    let lines = deeds.lines(|_| true, Merging::Same);
    assert!(lines.iter().zip(&outputs).all(|(line, (_, end))| line.ends_with(end)), "{lines:#?}");
}

#[test]
fn commands_are_told_as_their_outputs_tell_them() {
    let cases = [
        (
            "test result: ok. 5 passed; 0 failed\n ! [rejected] main -> main\nerror: failed to push some refs",
            "says: ! [rejected] main -> main (behind 5 passed)",
        ),
        ("test result: ok. 5 passed; 0 failed\nDone.", "ok, 5 passed"),
        ("Exit code: 0\ntest result: ok. 5 passed; 0 failed\nwarning: old", "ok, 5 passed"),
        (
            "step lint: exit code 0\nstep unit: exit code 1",
            "2 lines of output: step lint: exit code 0 / step unit: exit code 1",
        ),
        (
            "The last run had exit code 1.\nThis run: success",
            "2 lines of output: The last run had exit code 1. / This run: success",
        ),
        (
            "[main 45ffe0a] Release\n 48 files changed",
            "2 lines of output: [main 45ffe0a] Release / 48 files changed",
        ),
        ("Failed: 0\nPassed: 17", "2 lines of output: Failed: 0 / Passed: 17"),
        ("fatal: no upstream\nbuild ok", "says: fatal: no upstream / build ok"),
        (
            "Process exited with code 0\nOutput:\nKeyError: a\nerror: retried\nok",
            "says: Output: / KeyError: a / error: retried / ok (exit 0)",
        ),
    ];
    let mut deeds = Deeds::default();
    for (number, (output, _)) in (1..).zip(cases) {
        deeds.call(number, number, "bash", &format!(r#"{{"command":"make {number}"}}"#), false);
        deeds.told(number, output, CallStatus::Unknown);
    }
    let lines = deeds.lines(|_| true, Merging::Same);
    for (line, (_, went)) in lines.iter().zip(cases) {
        assert_eq!(line.split_once(" → ").map(|(_, went)| went), Some(went));
    }
}

#[test]
fn a_file_is_the_same_behind_its_folder() {
    let mut deeds = Deeds::default();
    let edit = r#"{"file_path":"/home/mia/app/net.py","old_string":"a","new_string":"b"}"#;
    deeds.call(2, 2, "Edit", edit, false);
    deeds.told(2, "The file was updated.", CallStatus::Ok);
    for (name, since) in
        [("app/net.py", ", changed since"), ("./app/net.py", ", changed since"), ("p/net.py", "")]
    {
        assert_eq!(deeds.since(1, name), since, "{name}");
        assert_eq!(deeds.since(2, name), "", "{name}");
    }
}
