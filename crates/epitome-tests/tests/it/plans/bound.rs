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
            1-90: above, 1 squeeze, 2 fold, checkpoint before 5; 89 shown, 1-51 left for it, floor 140
            91-123: above, 1 squeeze, 1 reasoning, 2 fold, checkpoint before 5; 89 shown, 2-34 left for it, floor 140
            124-139: above, 1 squeeze, 2 reasoning, 2 fold, checkpoint before 5; 89 shown, 35-50 left for it, floor 140
            140-205: lands, 1 squeeze, 2 reasoning, 2 fold, checkpoint before 5; 89-130 shown, 51-75 left for it, floor 140-181
            206-308: lands, 2 reasoning, 2 fold, checkpoint before 5; 135 shown, 71-173 left for it, floor 186
            309-416: lands, 2 reasoning, 1 fold, checkpoint before 3; 254 shown, 55-162 left for it, floor 186
            417-418: lands, 2 reasoning; 417 shown, 0 left for it, floor 186
            419-420: lands, 1 reasoning; 419 shown, 0 left for it, floor 186
            421-422: nothing; 421 shown, 0 left for it, floor 186
        "#]],
    );
}

#[test]
fn a_model_that_binds_it_loses_it_with_the_first_edit() {
    check(
        &bound("claude-opus-5-5", "{", ""),
        &expect![[r#"
            421 tokens
            1-137: above, 1 squeeze, 3 unbind, 2 fold, checkpoint before 5; 87 shown, 1-51 left for it, floor 138
            138-205: lands, 1 squeeze, 3 unbind, 2 fold, checkpoint before 5; 87-128 shown, 51-77 left for it, floor 138-179
            206-306: lands, 3 unbind, 2 fold, checkpoint before 5; 133 shown, 73-173 left for it, floor 184
            307-414: lands, 3 unbind, 1 fold, checkpoint before 3; 252 shown, 55-162 left for it, floor 186
            415-420: lands, 3 unbind; 415 shown, 0 left for it, floor 186
            421-422: nothing; 421 shown, 0 left for it, floor 186
        "#]],
    );
    check(
        &bound("claude-opus-5-5", "{", CLOSED),
        &expect![[r#"
            432 tokens
            1-90: above, 3 unbind, 4 fold, checkpoint before 8; 40 shown, 1-51 left for it, floor 91
            91-96: lands, 3 unbind, 4 fold, checkpoint before 8; 40 shown, 51-56 left for it, floor 91
            97-238: lands, 3 unbind, 3 fold, checkpoint before 7; 46 shown, 51-192 left for it, floor 91
            239-317: lands, 3 unbind, 2 fold, checkpoint before 5; 144 shown, 95-173 left for it, floor 91
            318-425: lands, 3 unbind, 1 fold, checkpoint before 3; 263 shown, 55-162 left for it, floor 91
            426-431: lands, 3 unbind; 426 shown, 0 left for it, floor 91
            432-433: nothing; 432 shown, 0 left for it, floor 91
        "#]],
    );
}

#[test]
fn an_open_loop_that_must_start_with_it_stays_as_a_whole() {
    check(
        &bound("claude-haiku-5-5", MANUAL, ""),
        &expect![[r#"
            421 tokens
            1-207: above, 1 squeeze; 375-385 shown, 0 left for it, floor 375-385
            208-331: above, 1 squeeze, 1 excerpts; 383 shown, 0 left for it, floor 383
            332-382: above, 1 excerpts, 1 excerpts; 383 shown, 0 left for it, floor 383
            383-414: lands, 1 excerpts, 1 excerpts; 383 shown, 0 left for it, floor 383
            415-420: lands, 1 excerpts; 383 shown, 0 left for it, floor 383
            421-422: nothing; 421 shown, 0 left for it, floor 421
        "#]],
    );
    let pins = vec![Pin::Entry(4)];
    check(
        &Case { pins, ..bound("claude-haiku-5-5", MANUAL, "") },
        &expect![[r#"
            421 tokens
            1-207: above, 1 squeeze; 375-385 shown, 0 left for it, floor 375-385
            208-331: above, 1 squeeze, 1 excerpts; 383 shown, 0 left for it, floor 383
            332-382: above, 1 excerpts, 1 excerpts; 383 shown, 0 left for it, floor 383
            383-414: lands, 1 excerpts, 1 excerpts; 383 shown, 0 left for it, floor 383
            415-420: lands, 1 excerpts; 383 shown, 0 left for it, floor 383
            421-422: nothing; 421 shown, 0 left for it, floor 421
        "#]],
    );
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
            1-79: above, 1 unbind, 4 fold, checkpoint before 8; 35 shown, 1-51 left for it, floor 86
            80-85: above, 1 repeats, 1 unbind, 4 fold, checkpoint before 8; 35 shown, 45-50 left for it, floor 86
            86-90: lands, 1 repeats, 1 unbind, 4 fold, checkpoint before 8; 35 shown, 51-55 left for it, floor 86
            91-190: lands, 1 repeats, 1 unbind, 3 fold, checkpoint before 7; 40 shown, 51-150 left for it, floor 86
            191-192: lands, 1 repeats, 1 unbind; 191 shown, 0 left for it, floor 86
            193-382: lands, 1 repeats; 193 shown, 0 left for it, floor 86
            383-384: nothing; 383 shown, 0 left for it, floor 86
        "#]],
    );
    let held = "user Fix the build.\nasst think* {lorem 40} | Well, it is so.\nuser And now?\n";
    check(
        &Case { tail: Tail::Items(3), ..of(held) },
        &expect![[r#"
        106 tokens
        1-41: above, 1 unbind; 42 shown, 0 left for it, floor 42
        42-105: lands, 1 unbind; 42 shown, 0 left for it, floor 42
        106-107: nothing; 106 shown, 0 left for it, floor 106
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
    let words = |case: Case| interrupted(case, "c");
    check(
        &words(bound("claude-haiku-5-5", MANUAL, "")),
        &expect![[r#"
            434 tokens
            1-207: above, 1 squeeze; 388-398 shown, 0 left for it, floor 388-398
            208-331: above, 1 squeeze, 1 excerpts; 396 shown, 0 left for it, floor 396
            332-395: above, 1 excerpts, 1 excerpts; 396 shown, 0 left for it, floor 396
            396-414: lands, 1 excerpts, 1 excerpts; 396 shown, 0 left for it, floor 396
            415-433: lands, 1 excerpts; 396 shown, 0 left for it, floor 396
            434-435: nothing; 434 shown, 0 left for it, floor 434
        "#]],
    );
    let pins = vec![Pin::Entry(0), Pin::Entry(2), Pin::Entry(4)];
    check(
        &Case { pins, ..words(bound("claude-haiku-5-5", MANUAL, "")) },
        &expect![[r#"
            434 tokens
            1-207: above, 1 squeeze; 388-398 shown, 0 left for it, floor 388-398
            208-331: above, 1 squeeze, 1 excerpts; 396 shown, 0 left for it, floor 396
            332-395: above, 1 excerpts, 1 excerpts; 396 shown, 0 left for it, floor 396
            396-414: lands, 1 excerpts, 1 excerpts; 396 shown, 0 left for it, floor 396
            415-433: lands, 1 excerpts; 396 shown, 0 left for it, floor 396
            434-435: nothing; 434 shown, 0 left for it, floor 434
        "#]],
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
    let expected = expect![[r#"
        501 tokens
        1-500: above; 501 shown, 0 left for it, floor 501
        501-502: nothing; 501 shown, 0 left for it, floor 501
    "#]];
    check(&case(Vec::new()), &expected);
    // A pin in the loop that stays changes nothing of it.
    check(&case(vec![Pin::Text("the port is 8443".to_owned())]), &expected);
}
