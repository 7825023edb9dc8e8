//! Bulky arguments of old calls.

use std::sync::Arc;

use epitome::count::counter;
use epitome::strategy::{ArgumentsOptions, OldArguments};
use epitome::transcript::PartKind;
use epitome::{Compactor, Format, Options, Pin};
use expect_test::expect;
use testkit::{check, check_in};

use super::to;

const WRITES: &str = r#"
user Write it down.
asst call a Write {"file_path":"src/x.rs","content":"{BULK}","mode":420}
res  a = ok
asst call b Edit {"file_path":"src/x.rs","edits":[{"old":"{BULK}","new":"short"},{"old":"q","new":"{BULK}"}]}
res  b = ok
asst call c Note {"text":"a few words stay as they are"}
res  c = ok
asst call d Write {"file_path":"src/y.rs","content":"{BULK}"}
res  d = ok
user Go on.
asst call e Write {"file_path":"src/z.rs","content":"{BULK}"}
"#;

fn writes() -> String {
    WRITES.replace("{BULK}", &"let one = two + three;\\n".repeat(60))
}

#[test]
fn keys_stay_and_long_strings_are_cut() {
    check(
        OldArguments::default(),
        to(500),
        &writes(),
        &expect![[r#"
            1963 → 734 tokens, target 500
            keep user Write it down.
            edit asst call a Write {"file_path":"src/x.rs","content":"let one = two + three;\nlet one = two + three;\nlet one = two + three;\nlet one = two … et one = two + three;\nlet one = two + three;\n","mode":420} (1488 bytes)
               > call a = {"file_path":"src/x.rs","content":"let one = two + three;\\nlet one = two + three;\\nlet one = two + three;\\nlet one = two …  one = two + three;\\nlet [… 1,148 bytes elided]","mode":420} (364 bytes)  # bulky arguments of an old call, shortened
            keep res  a = ok
            edit asst call b Edit {"file_path":"src/x.rs","edits":[{"old":"let one = two + three;\nlet one = two + three;\nlet one = two + three;\nlet one … three;\nlet one = two + three;\nlet one = two + three;\n"}]} (2960 bytes)
               > call b = {"file_path":"src/x.rs","edits":[{"old":"let one = two + three;\\nlet one = two + three;\\nlet one = two + three;\\nlet one … hree;\\nlet one = two + three;\\nlet[… 1,341 bytes elided]"}]} (326 bytes)  # bulky arguments of an old call, shortened
            keep 3 entries
            edit asst call d Write {"file_path":"src/y.rs","content":"let one = two + three;\nlet one = two + three;\nlet one = two + three;\nlet one = two … + three;\nlet one = two + three;\nlet one = two + three;\n"} (1477 bytes)
               > call d = {"file_path":"src/y.rs","content":"let one = two + three;\\nlet one = two + three;\\nlet one = two + three;\\nlet one = two … o + three;\\nlet one = two + three;\\n[… 1,176 bytes elided]"} (325 bytes)  # bulky arguments of an old call, shortened
            keep 3 entries
        "#]],
    );
}

#[test]
fn what_is_left_is_the_same_object() {
    let request = testkit::parse(Format::Anthropic, &writes());
    let compactor = Compactor::new(to(500), counter("chars4").expect("a known name"))
        .expect("in range")
        .with_strategies(vec![Arc::new(OldArguments::default())]);
    let outcome = compactor.compact(&request).expect("a view");
    let calls = |request: &epitome::Request| -> Vec<serde_json::Value> {
        let parts = request.transcript.entries().flat_map(|entry| entry.parts());
        let calls = parts.filter(|part| part.kind() == PartKind::Call);
        calls.map(|call| serde_json::from_str(&call.text()).expect("an object")).collect()
    };
    let (before, after) = (calls(&request), calls(&outcome.request));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        let keys = |value: &serde_json::Value| {
            value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(keys(before), keys(after));
        assert_eq!(before["file_path"], after["file_path"]);
        assert_eq!(before["mode"], after["mode"]);
    }
    let of = |values: &[serde_json::Value]| values[1]["edits"][0]["old"].to_string().len();
    assert!(of(&after) < of(&before) / 4);
}

#[test]
fn pins_and_a_small_gain_are_left_alone() {
    let options = ArgumentsOptions { min_gain: 10_000, ..ArgumentsOptions::default() };
    check(
        OldArguments::new(options).expect("in range"),
        to(500),
        &writes(),
        &expect![[r#"
            1963 → 1963 tokens, target 500
            keep 11 entries
        "#]],
    );
    let pinned = Options { pins: vec![Pin::Entry(1), Pin::Entry(3)], ..to(1_700) };
    check(
        OldArguments::default(),
        pinned,
        &writes(),
        &expect![[r#"
            1963 → 1674 tokens, target 1700
            keep 7 entries
            edit asst call d Write {"file_path":"src/y.rs","content":"let one = two + three;\nlet one = two + three;\nlet one = two + three;\nlet one = two … + three;\nlet one = two + three;\nlet one = two + three;\n"} (1477 bytes)
               > call d = {"file_path":"src/y.rs","content":"let one = two + three;\\nlet one = two + three;\\nlet one = two + three;\\nlet one = two … o + three;\\nlet one = two + three;\\n[… 1,176 bytes elided]"} (325 bytes)  # bulky arguments of an old call, shortened
            keep 3 entries
        "#]],
    );
}

#[test]
fn what_is_signed_stays_as_it_was_signed() {
    let before = r#"
user Write it down.
asst call a Write {"file_path":"src/x.rs","content":"{BULK}"} | sig
res  a = ok
asst call b Write {"file_path":"src/y.rs","content":"{BULK}"}
res  b = ok
user Go on.
asst Fine.
"#;
    let before = before.replace("{BULK}", &"let one = two;\\n".repeat(60));
    check_in(
        Format::Gemini,
        vec![Arc::new(OldArguments::default())],
        to(100),
        &before,
        &expect![[r#"
            581 → 412 tokens, target 100
            keep 3 entries
            edit asst call b Write {"file_path":"src/y.rs","content":"let one = two;\nlet one = two;\nlet one = two;\nlet one = two;\nlet one = two;\nlet o … e = two;\nlet one = two;\nlet one = two;\nlet one = two;\n"} (997 bytes)
               > call b = {"file_path":"src/y.rs","content":"let one = two;\\nlet one = two;\\nlet one = two;\\nlet one = two;\\nlet one = two;\\nlet o … one = two;\\nlet one = two;\\nlet one = [… 694 bytes elided]"} (325 bytes)  # bulky arguments of an old call, shortened
            keep 3 entries
        "#]],
    );
}
