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
        1-34: above, 3 head; 35 shown, 0 left for it, floor 35
        35-46: lands, 3 head; 35 shown, 0 left for it, floor 35
        47-62: lands, 1 excerpts, 3 head; 35 shown, 0 left for it, floor 35
        63-79: lands, 1 excerpts, 3 fold, checkpoint before 1; 35 shown, 28-44 left for it, floor 35
        80-88: lands, 2 excerpts, 3 fold, checkpoint before 1; 35 shown, 45-53 left for it, floor 35
        89-112: lands, 1 reasoning, 2 excerpts, 3 fold, checkpoint before 1; 35 shown, 54-77 left for it, floor 35
        113-121: lands, 1 reasoning, 2 outputs, 1 excerpts, 3 fold, checkpoint before 1; 35 shown, 78-86 left for it, floor 35
        122-152: lands, 2 reasoning, 2 outputs, 1 excerpts, 3 fold, checkpoint before 1; 35 shown, 87-117 left for it, floor 35
        153-190: lands, 2 reasoning, 2 outputs, 1 excerpts; 153 shown, 0 left for it, floor 35
        191-281: lands, 2 reasoning, 2 outputs; 191 shown, 0 left for it, floor 35
        282-416: lands, 2 reasoning, 1 outputs; 282 shown, 0 left for it, floor 35
        417-418: lands, 2 reasoning; 417 shown, 0 left for it, floor 35
        419-420: lands, 1 reasoning; 419 shown, 0 left for it, floor 35
        421-422: nothing; 421 shown, 0 left for it, floor 35
    "#]],
    );
}

#[test]
fn a_model_that_binds_it_loses_it_with_the_first_edit() {
    check(
        &bound("claude-opus-5-5", "{", ""),
        &expect![[r#"
        421 tokens
        1-34: above, 3 unbind, 3 head; 35 shown, 0 left for it, floor 35
        35-46: lands, 3 unbind, 3 head; 35 shown, 0 left for it, floor 35
        47-62: lands, 1 excerpts, 3 unbind, 3 head; 35 shown, 0 left for it, floor 35
        63-79: lands, 1 excerpts, 3 unbind, 3 fold, checkpoint before 1; 35 shown, 28-44 left for it, floor 35
        80-112: lands, 3 unbind, 2 excerpts, 3 fold, checkpoint before 1; 35 shown, 45-77 left for it, floor 35
        113-150: lands, 3 unbind, 2 outputs, 1 excerpts, 3 fold, checkpoint before 1; 35 shown, 78-115 left for it, floor 35
        151-188: lands, 3 unbind, 2 outputs, 1 excerpts; 151 shown, 0 left for it, floor 35
        189-279: lands, 3 unbind, 2 outputs; 189 shown, 0 left for it, floor 35
        280-414: lands, 3 unbind, 1 outputs; 280 shown, 0 left for it, floor 35
        415-420: lands, 3 unbind; 415 shown, 0 left for it, floor 35
        421-422: nothing; 421 shown, 0 left for it, floor 35
    "#]],
    );
    check(
        &bound("claude-opus-5-5", "{", CLOSED),
        &expect![[r#"
        432 tokens
        1-23: above, 3 unbind, 4 head; 40 shown, 0 left for it, floor 40
        24-39: above, 3 unbind, 3 head; 46 shown, 0 left for it, floor 40
        40-45: lands, 3 unbind, 4 head; 40 shown, 0 left for it, floor 40
        46-51: lands, 3 unbind, 3 head; 46 shown, 0 left for it, floor 40
        52-60: lands, 1 excerpts, 3 unbind, 3 head; 46 shown, 0 left for it, floor 40
        61-67: lands, 3 unbind, 1 excerpts, 3 head; 46 shown, 0 left for it, floor 40
        68-73: lands, 3 unbind, 1 excerpts, 4 fold, checkpoint before 1; 40 shown, 28-33 left for it, floor 40
        74-84: lands, 3 unbind, 1 excerpts, 3 fold, checkpoint before 1; 46 shown, 28-38 left for it, floor 40
        85-117: lands, 3 unbind, 2 excerpts, 3 fold, checkpoint before 1; 46 shown, 39-71 left for it, floor 40
        118-129: lands, 3 unbind, 3 outputs, 2 fold, checkpoint before 1; 74 shown, 44-55 left for it, floor 40
        130-199: lands, 3 unbind, 3 outputs; 130 shown, 0 left for it, floor 40
        200-290: lands, 3 unbind, 2 outputs; 200 shown, 0 left for it, floor 40
        291-425: lands, 3 unbind, 1 outputs; 291 shown, 0 left for it, floor 40
        426-431: lands, 3 unbind; 426 shown, 0 left for it, floor 40
        432-433: nothing; 432 shown, 0 left for it, floor 40
    "#]],
    );
}

#[test]
fn an_open_loop_that_must_start_with_it_leaves_as_a_whole() {
    check(
        &bound("claude-haiku-5-5", MANUAL, ""),
        &expect![[r#"
            421 tokens
            1-34: above, 4 unbind, checkpoint before 1; 35 shown, 0-8 left for it, floor 35
            35-46: lands, 4 unbind, checkpoint before 1; 35 shown, 0-11 left for it, floor 35
            47-79: lands, 1 excerpts, 4 unbind, checkpoint before 1; 35 shown, 12-44 left for it, floor 35
            80-420: lands, 4 unbind, checkpoint before 1; 35 shown, 45-277 left for it, floor 35
            421-422: nothing; 421 shown, 0 left for it, floor 35
        "#]],
    );
    let pins = vec![Pin::Entry(4)];
    check(
        &Case { pins, ..bound("claude-haiku-5-5", MANUAL, "") },
        &expect![[r#"
            421 tokens
            1-34: above, 4 unbind, checkpoint before 1; 35 shown, 0-8 left for it, floor 35
            35-46: lands, 4 unbind, checkpoint before 1; 35 shown, 0-11 left for it, floor 35
            47-192: lands, 1 excerpts, 4 unbind, checkpoint before 1; 35 shown, 12-157 left for it, floor 35
            193-420: lands, 4 unbind, checkpoint before 1; 35 shown, 158-277 left for it, floor 35
            421-422: nothing; 421 shown, 0 left for it, floor 35
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
        1-19: above, 1 unbind, 4 head; 35 shown, 0 left for it, floor 35
        20-34: above, 1 unbind, 3 head; 40 shown, 0 left for it, floor 35
        35-39: lands, 1 unbind, 4 head; 35 shown, 0 left for it, floor 35
        40-50: lands, 1 unbind, 3 head; 40 shown, 0 left for it, floor 35
        51-62: lands, 1 excerpts, 1 unbind, 3 head; 40 shown, 0 left for it, floor 35
        63-67: lands, 1 excerpts, 1 unbind, 4 fold, checkpoint before 1; 35 shown, 28-32 left for it, floor 35
        68-79: lands, 1 excerpts, 1 unbind, 3 fold, checkpoint before 1; 40 shown, 28-39 left for it, floor 35
        80-93: lands, 1 repeats, 1 excerpts, 1 unbind, 3 fold, checkpoint before 1; 40 shown, 40-53 left for it, floor 35
        94-137: lands, 1 repeats, 1 unbind, 1 excerpts, 3 fold, checkpoint before 1; 40 shown, 54-97 left for it, floor 35
        138-190: lands, 1 repeats, 1 unbind, 1 excerpts; 138 shown, 0 left for it, floor 35
        191-192: lands, 1 repeats, 1 unbind; 191 shown, 0 left for it, floor 35
        193-382: lands, 1 repeats; 193 shown, 0 left for it, floor 35
        383-384: nothing; 383 shown, 0 left for it, floor 35
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
fn a_loop_that_leaves_owes_what_people_said_in_it() {
    let words = |case: Case| interrupted(case, "c");
    check(
        &words(bound("claude-haiku-5-5", MANUAL, "")),
        &expect![[r#"
            434 tokens
            1-34: above, 4 unbind, checkpoint before 1; 35 shown, 0-8 left for it, floor 35
            35-46: lands, 4 unbind, checkpoint before 1; 35 shown, 0-11 left for it, floor 35
            47-92: lands, 1 excerpts, 4 unbind, checkpoint before 1; 35 shown, 12-57 left for it, floor 35
            93-433: lands, 4 unbind, checkpoint before 1; 35 shown, 58-285 left for it, floor 35
            434-435: nothing; 434 shown, 0 left for it, floor 35
        "#]],
    );
    let pins = vec![Pin::Entry(0), Pin::Entry(2), Pin::Entry(4)];
    check(
        &Case { pins, ..words(bound("claude-haiku-5-5", MANUAL, "")) },
        &expect![[r#"
            434 tokens
            1-34: above, 4 unbind, checkpoint before 1; 35 shown, 0-8 left for it, floor 35
            35-46: lands, 4 unbind, checkpoint before 1; 35 shown, 0-11 left for it, floor 35
            47-414: lands, 1 excerpts, 4 unbind, checkpoint before 1; 35 shown, 12-273 left for it, floor 35
            415-433: lands, 4 unbind, checkpoint before 1; 35 shown, 273-285 left for it, floor 35
            434-435: nothing; 434 shown, 0 left for it, floor 35
        "#]],
    );
}

#[test]
fn what_a_loop_owes_takes_the_place_of_older_steps() {
    let open = "asst It is done.\nuser Now the docs.\nasst think* about d | call d Read\nres  d = ok\nasst think* about e | call e Read\nres  e = the port is 8443\nasst think* about f | call f Read\nres  f = ok\n";
    let case = |pins: Vec<Pin>| Case {
        pins,
        tail: Tail::Steps(2),
        ..interrupted(bound("claude-haiku-5-5", MANUAL, open), "f")
    };
    let expected = expect![[r#"
        501 tokens
        1-34: above, 7 unbind, 5 head, checkpoint before 9; 35 shown, 0-8 left for it, floor 35
        35-62: lands, 7 unbind, 5 head, checkpoint before 9; 35 shown, 0-27 left for it, floor 35
        63-100: lands, 7 unbind, 5 fold, checkpoint before 1; 35 shown, 28-65 left for it, floor 35
        101-109: lands, 7 unbind, 1 excerpts, 5 fold, checkpoint before 1; 35 shown, 66-74 left for it, floor 35
        110-115: lands, 7 unbind, 1 excerpts, 4 fold, checkpoint before 1; 42 shown, 68-73 left for it, floor 35
        116-133: lands, 7 unbind, 1 excerpts, 3 fold, checkpoint before 1; 48 shown, 68-85 left for it, floor 35
        134-166: lands, 7 unbind, 2 excerpts, 3 fold, checkpoint before 1; 48 shown, 86-118 left for it, floor 35
        167-199: lands, 7 unbind, 3 outputs, 2 fold, checkpoint before 1; 76 shown, 91-123 left for it, floor 35
        200-269: lands, 7 unbind, 3 outputs, checkpoint before 9; 132 shown, 68-137 left for it, floor 35
        270-360: lands, 7 unbind, 2 outputs, checkpoint before 9; 202 shown, 68-158 left for it, floor 35
        361-495: lands, 7 unbind, 1 outputs, checkpoint before 9; 293 shown, 68-202 left for it, floor 35
        496-500: lands, 7 unbind, checkpoint before 9; 428 shown, 68-72 left for it, floor 35
        501-502: nothing; 501 shown, 0 left for it, floor 35
    "#]];
    check(&case(Vec::new()), &expected);
    // A pin in the loop that stays changes nothing of it.
    check(&case(vec![Pin::Text("the port is 8443".to_owned())]), &expected);
}
