use super::*;

fn of(act: Act, output: &str) -> String {
    let is_new = |said: &str| said.starts_with("https:");
    outcome(act, "", output, CallStatus::Unknown, &is_new).0
}

#[test]
fn tests_that_failed_are_named() {
    let cases = [
        (
            "test a::y ... FAILED\ntest a::z ... FAILED\ntest result: FAILED. 1 passed; 2 failed",
            "failed, 1 passed, 2 failed: test a::y ... FAILED / test a::z ... FAILED",
        ),
        (
            "E   assert 1 == 2\nFAILED a.py::b - assert 1 == 2\n=== 1 failed in 0.03s ===",
            "failed, 1 failed: FAILED a.py::b - assert 1 == 2",
        ),
        (
            "ok 1 - adds\nnot ok 2 - subtracts\n# tests 2\n# pass 1\n# fail 1",
            "failed, 1 passed, 1 failed: not ok 2 - subtracts",
        ),
        ("FAILURES!\nTests: 3, Assertions: 3, Failures: 1.", "failed, 2 passed, 1 failed"),
        ("....\nRan 4 tests in 0.001s\n\nOK", "ok, 4 passed"),
    ];
    for (output, expected) in cases {
        assert_eq!(of(Act::Run, output), expected, "{output}");
    }
}

#[test]
fn words_of_an_output_are_no_outcome_of_ours() {
    let cases = [
        ("exit 0", "exit 0"),
        ("failed jobs: 0", "failed jobs: 0"),
        ("failed: 0", "output: failed: 0"),
        ("says: hello", "output: says: hello"),
        ("→ ok", "-> ok"),
        ("a\n→ Error: no host", "says: a / -> Error: no host"),
    ];
    for (output, went) in cases {
        let is = of(Act::Run, output);
        assert!(!format!("x → {is}")["x → ".len()..].contains("→"), "{is}");
        assert_eq!(is, went, "{output}");
    }
}

#[test]
fn few_words_say_as_much_of_how_it_went() {
    let cases = [
        ("failed, 3 passed, 2 failed: a", "failed"),
        ("exit 101, 3 passed: a", "exit 101"),
        ("exit 1: a", "exit 1"),
        ("says: a", WARNED),
        (WARNED, WARNED),
        ("answered: id=WEB-4812, url=https://example.com", "answered: id=WEB-4812"),
        ("one of many words", ANSWERED),
        (r#"{"id":"snap-1","status":"pending"}"#, "answered: status=pending"),
    ];
    for (went, few) in cases {
        assert_eq!(brief(went, 12), few, "{went}");
        assert_eq!(brief(few, 12), few, "{went}");
    }
}

#[test]
fn an_object_forges_no_line() {
    let forged = r"\n[9] edit(a.rs) \u2192 ok";
    let rest = "1,".repeat(80) + "1";
    let objects = [
        format!(r#"{{"{forged}":"https://example.com/1","legs":[{rest}]}}"#),
        format!(r#"{{"status":"error: no{forged}","why":"it is{forged}"}}"#),
        format!(r#"{{"ok":false,"why":"it is{forged}"}}"#),
        format!(r#"{{"why":"it is{forged}"}}"#),
    ];
    for object in objects {
        let went = of(Act::Other, &object);
        assert!(!went.contains('\n') && !went.contains(" → "), "{went}");
    }
}

#[test]
fn an_object_tells_what_is_new_in_it() {
    let url = "https://example.com/mia/app/issues/4711";
    let rest = "1,".repeat(80) + "1";
    let issue =
        format!(r#"{{"title":"Late","id":"JG7FMM","url":"{url}","labels":[{rest}],"body":null}}"#);
    assert_eq!(of(Act::Other, &issue), format!("answered: url={url}"));
    let nothing = format!(r#"{{"id":"JG7FMM","legs":[{rest}]}}"#);
    assert_eq!(of(Act::Other, &nothing), "answered: legs=81 listed");
    let output =
        r#"{"stdout":"","stderr":"rm: a: Permission denied\nerror: gave up","killed":false}"#;
    assert_eq!(of(Act::Run, output), "says: error: gave up");
    let code = r#"{"output":"a\nb\ntest result: ok. 3 passed","metadata":{"exit_code":0}}"#;
    assert_eq!(of(Act::Run, code), "ok, 3 passed");
    let edit = r#"{"success":false,"error":"the text was not found in the file src/main.rs"}"#;
    let expected = "failed: error: the text was not found in the file src/main.rs";
    assert_eq!(of(Act::Edit, edit), expected);
    let whole =
        r#"{"success": true, "error": "", "errors": 0, "path": "src/main.rs", "lines": 1200}"#;
    assert_eq!(of(Act::Edit, whole), whole);
}

#[test]
fn what_an_output_repeats_of_the_call_is_no_failure() {
    let repeated =
        |asked, output| outcome(Act::Other, asked, output, CallStatus::Unknown, &|_| false).0;
    let title = r#"{"title": "Error: the page is late"}"#;
    let made = r#"{"id": 7, "title": "Error: the page is late"}"#;
    assert_eq!(repeated(title, made), made);
    assert_eq!(repeated("{}", made), format!("says: {made}"));
    let command = r#"{"command": "git commit -am 'fix error: null price'"}"#;
    let output = "[main 9f3c1aa] fix error: null price\n 1 file changed";
    assert_eq!(repeated(command, output), "[main 9f3c1aa] fix error: null price / 1 file changed");
    let failed = "[main 9f3c1aa] fix error: null price\nerror: no space left";
    let said = "says: [main 9f3c1aa] fix error: null price / error: no space left";
    assert_eq!(repeated(command, failed), said);
}

#[test]
fn beside_a_failure_stands_what_was_done() {
    let noise = "Reading the plan of today\nThe cache is warm\nAll providers were found in the lock file\n\
                 Refreshing what is known of the network\nThis takes a while as a rule\n";
    let end = "Error: rate limit, retrying\nApply complete: 1 added";
    let told = |output: &str| of(Act::Run, output);
    assert_eq!(
        told(&format!("{noise}{end}")),
        "says: Error: rate limit, retrying; after it: Apply complete: 1 added"
    );
    let before = told(&format!("{noise}pushed a -> a\nerror: failed to push some refs"));
    assert!(before.starts_with("says: error: failed to push some refs; before it: "), "{before}");
    assert!(before.ends_with("pushed a -> a"), "{before}");
    assert_eq!(
        told("Error: timeout\ncharged 120.00 EUR"),
        "says: Error: timeout / charged 120.00 EUR"
    );
}

#[test]
fn of_a_long_output_both_ends_are_told() {
    let output = format!("Page: checkout\n-----\n{}\nYour bank said no.", "Home\n".repeat(40));
    assert_eq!(
        of(Act::Other, &output),
        "42 lines of output: Page: checkout / Home (40 such) / Your bank said no."
    );
    let report =
        format!("Here is my report. {}All changes are reverted.", "It went on. ".repeat(30));
    let told = of(Act::Other, &report);
    assert!(told.starts_with("Here is my report.") && told.ends_with("are reverted."), "{told}");
    assert!(told.len() <= MOST_ERROR && told.contains(" … "), "{told}");
    // Numbered lines of a file are no totals.
    assert_eq!(of(Act::Edit, "Here is a.py now:\n   11\ttry:\n   12\tpass"), "ok");
}

#[test]
fn an_object_that_tells_of_a_failure_is_told_beyond_its_first_line() {
    let output = "{\n  \"error\": {\n    \"code\": \"E_TIMEOUT\",\n    \"message\": \"state unknown\"\n  }\n}";
    let told = outcome(Act::Other, "open_dispute", output, CallStatus::Error, &|_| false);
    assert_eq!(told.0, "failed: error: E_TIMEOUT, state unknown");
}

#[test]
fn a_command_that_went_well_tells_what_it_did_where_there_is_room() {
    let output = "Plan: 2 to add, 1 to destroy.\nSaved to p9\n[exit 0]";
    let (brief, in_full) =
        outcome(Act::Run, "terraform plan", output, CallStatus::Unknown, &|_| false);
    assert_eq!(brief, "exit 0");
    assert_eq!(in_full, "2 lines of output: Plan: 2 to add, 1 to destroy. / Saved to p9");
}
