//! Reasoning that is bound to the prompt leaves before anything is edited, and an open loop with it.

use expect_test::expect;

use super::*;

const CLOSED: &str = "asst It is done.\nuser Thanks.\n";

/// Steps with signed thinking for a model that binds it.
fn bound(model: &str, thinking: &str, behind: &str) -> Case {
    let mut notation = String::from("user Fix the build, and keep port 8443.\n");
    for (id, lines) in [("a", 14), ("b", 10), ("c", 8)] {
        let _ = write!(
            notation,
            "asst think* about {id} | call {id} Read {{\"file_path\":\"{id}.rs\"}}\nres  {id} = {{lines {lines}}}\n"
        );
    }
    notation += behind;
    let request = testkit::parse(Format::Anthropic, &notation);
    let body = request.source().replace("claude-opus-4-8", model).replacen('{', thinking, 1);
    Case::of(wire::parse(Format::Anthropic, body).expect("a body"))
}

#[test]
fn a_model_that_binds_nothing_keeps_it() {
    check(
        &bound("claude-opus-4-5", "{", ""),
        &expect![[r#"
            421 tokens
            1-90: above, squeeze, fold, checkpoint before 5; 89 shown
            91-139: above, squeeze, reasoning, fold, checkpoint before 5; 89 shown
            140-205: lands, squeeze, reasoning, fold, checkpoint before 5; 89-130 shown
            206-308: lands, reasoning, fold, checkpoint before 5; 135 shown
            309-416: lands, reasoning, fold, checkpoint before 3; 254 shown
            417-420: lands, reasoning; 417-419 shown
            421-422: nothing; 421 shown
        "#]],
    );
}

#[test]
fn a_model_that_binds_it_loses_it_with_the_first_edit() {
    check(
        &bound("claude-opus-5-5", "{", ""),
        &expect![[r#"
            421 tokens
            1-137: above, squeeze, unbind, fold, checkpoint before 5; 87 shown
            138-205: lands, squeeze, unbind, fold, checkpoint before 5; 87-128 shown
            206-306: lands, unbind, fold, checkpoint before 5; 133 shown
            307-414: lands, unbind, fold, checkpoint before 3; 252 shown
            415-420: lands, unbind; 415 shown
            421-422: nothing; 421 shown
        "#]],
    );
    check(
        &bound("claude-opus-5-5", "{", CLOSED),
        &expect![[r#"
            432 tokens
            1-90: above, unbind, fold, checkpoint before 8; 40 shown
            91-96: lands, unbind, fold, checkpoint before 8; 40 shown
            97-238: lands, unbind, fold, checkpoint before 7; 46 shown
            239-317: lands, unbind, fold, checkpoint before 5; 144 shown
            318-425: lands, unbind, fold, checkpoint before 3; 263 shown
            426-431: lands, unbind; 426 shown
            432-433: nothing; 432 shown
        "#]],
    );
}

#[test]
fn an_open_loop_that_must_start_with_it_stays_as_a_whole() {
    let open = || bound("claude-haiku-5-5", MANUAL, "");
    check(
        &open(),
        &expect![[r#"
        421 tokens
        1-207: above, squeeze; 375-385 shown
        208-331: above, squeeze, excerpts; 383 shown
        332-382: above, excerpts; 383 shown
        383-420: lands, excerpts; 383 shown
        421-422: nothing; 421 shown
    "#]],
    );
    assert_eq!(Case { pins: vec![Pin::Entry(4)], ..open() }.sheet(), open().sheet());
}

#[test]
fn it_stays_before_what_is_edited_and_leaves_where_nothing_else_may() {
    let edited = "user Fix the build.\nasst think* about a | call a Read\nres  a = ok\nasst call b Read\nres  b = {lines 20}\nasst call c Read\nres  c = {lines 9}\nasst Done.\nuser Thanks.\n";
    let of = |notation: &str| {
        let request = testkit::parse(Format::Anthropic, notation);
        let body = request.source().replace("claude-opus-4-8", "claude-opus-5-5");
        Case::of(wire::parse(Format::Anthropic, body).expect("a body"))
    };
    check(
        &of(edited),
        &expect![[r#"
            383 tokens
            1-79: above, unbind, fold, checkpoint before 8; 35 shown
            80-85: above, repeats, unbind, fold, checkpoint before 8; 35 shown
            86-90: lands, repeats, unbind, fold, checkpoint before 8; 35 shown
            91-190: lands, repeats, unbind, fold, checkpoint before 7; 40 shown
            191-192: lands, repeats, unbind; 191 shown
            193-382: lands, repeats; 193 shown
            383-384: nothing; 383 shown
        "#]],
    );
    let held = "user Fix the build.\nasst think* {lorem 40} | Well, it is so.\nuser And now?\n";
    check(
        &Case { tail: Tail::Items(3), ..of(held) },
        &expect![[r#"
            106 tokens
            1-41: above, unbind; 42 shown
            42-105: lands, unbind; 42 shown
            106-107: nothing; 106 shown
        "#]],
    );
}

/// Words of a person in the message before the step with thinking about `id`.
fn interrupted(case: Case, id: &str) -> Case {
    let said = r#"{"type":"text","text":"And keep the port as it is, whatever they say of it."}"#;
    let body = case.request.source();
    let step =
        format!(r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"about {id}""#);
    let (before, behind) = body.split_at(body.find(&step).expect("that step"));
    let before = before.strip_suffix("]},").expect("results before it");
    let body = format!("{before},{said}]}},{behind}");
    Case { request: wire::parse(Format::Anthropic, body).expect("a body"), ..case }
}

#[test]
fn what_people_said_in_a_loop_that_stays_stays_with_it() {
    let open = || interrupted(bound("claude-haiku-5-5", MANUAL, ""), "c");
    check(
        &open(),
        &expect![[r#"
        434 tokens
        1-207: above, squeeze; 388-398 shown
        208-331: above, squeeze, excerpts; 396 shown
        332-395: above, excerpts; 396 shown
        396-433: lands, excerpts; 396 shown
        434-435: nothing; 434 shown
    "#]],
    );
    assert_eq!(
        Case { pins: vec![Pin::Entry(0), Pin::Entry(2), Pin::Entry(4)], ..open() }.sheet(),
        open().sheet()
    );
}

#[test]
fn nothing_before_a_loop_that_stays_is_edited() {
    let open = "asst It is done.\nuser Now the docs.\nasst think* about d | call d Read\nres  d = ok\nasst think* about e | call e Read\nres  e = the port is 8443\nasst think* about f | call f Read\nres  f = ok\n";
    let case = |pins: Vec<Pin>| Case {
        pins,
        tail: Tail::Steps(2),
        ..interrupted(bound("claude-haiku-5-5", MANUAL, open), "f")
    };
    check(
        &case(Vec::new()),
        &expect![[r#"
            501 tokens
            1-500: above; 501 shown
            501-502: nothing; 501 shown
        "#]],
    );
    // A pin in the loop that stays changes nothing of it.
    let pins = vec![Pin::Text("the port is 8443".to_owned())];
    assert_eq!(case(pins).sheet(), case(Vec::new()).sheet());
}
