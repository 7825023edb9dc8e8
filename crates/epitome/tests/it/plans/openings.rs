//! What is left begins as its provider demands: with the user, and a turn in progress with thinking.

use epitome::strategy::{Edit, Head, HeadOptions, OldReasoning, Scene};
use epitome::transcript::PartKind;
use epitome::view::{PartEdit, Put, Reason};
use expect_test::expect;

use super::rungs::SESSION;
use super::*;

fn oldest() -> Vec<Arc<dyn Strategy>> {
    vec![Arc::new(Head::default())]
}

#[test]
fn without_a_checkpoint_the_user_speaks_first() {
    for (format, expected) in [
        (
            Format::Anthropic,
            expect![[r#"
            643 tokens
            1-37: above, 4 head; 38 shown, 0 left for it, floor 38
            38-265: lands, 4 head; 38 shown, 0 left for it, floor 38
            266-298: lands, 3 head; 266 shown, 0 left for it, floor 38
            299-626: lands, 2 head; 266 shown, 0 left for it, floor 38
            627-642: lands, 1 head; 266 shown, 0 left for it, floor 38
            643-644: nothing; 643 shown, 0 left for it, floor 38
        "#]],
        ),
        (
            Format::Gemini,
            expect![[r#"
            650 tokens
            1-44: above, 4 head; 45 shown, 0 left for it, floor 45
            45-272: lands, 4 head; 45 shown, 0 left for it, floor 45
            273-305: lands, 3 head; 273 shown, 0 left for it, floor 45
            306-633: lands, 2 head; 273 shown, 0 left for it, floor 45
            634-649: lands, 1 head; 273 shown, 0 left for it, floor 45
            650-651: nothing; 650 shown, 0 left for it, floor 45
        "#]],
        ),
        (
            Format::OpenaiChat,
            expect![[r#"
            646 tokens
            1-40: above, 4 head; 41 shown, 0 left for it, floor 41
            41-268: lands, 4 head; 41 shown, 0 left for it, floor 41
            269-301: lands, 3 head; 269 shown, 0 left for it, floor 41
            302-629: lands, 2 head; 302 shown, 0 left for it, floor 41
            630-645: lands, 1 head; 630 shown, 0 left for it, floor 41
            646-647: nothing; 646 shown, 0 left for it, floor 41
        "#]],
        ),
    ] {
        let case = Case {
            strategies: oldest(),
            task: Task::Fold,
            means: Means::Listed,
            ..Case::drawn(format, SESSION)
        };
        check(&case, &expected);
    }
}

/// What is drawn, with thinking that was enabled by hand.
fn by_hand(notation: &str) -> Case {
    let request = testkit::parse(Format::Anthropic, notation);
    let body = request.source().replacen('{', MANUAL, 1);
    Case::of(wire::parse(Format::Anthropic, body).expect("a body"))
}

/// A turn of steps with thinking that was enabled by hand.
fn manual(first: &str) -> Case {
    let step = |id: &str, thinks: &str, lines: usize| {
        format!(
            "asst {thinks}call {id} Read {{\"file_path\":\"{id}.rs\"}}\nres  {id} = {{lines {lines}}}\n"
        )
    };
    let notation = format!(
        "user Fix the build.\n{}user And the docs.\n{}{}{}{}",
        step("a", "think* first | ", 8),
        step("b", first, 12),
        step("c", "", 10),
        step("d", "think* on it | ", 8),
        step("e", "", 6),
    );
    by_hand(&notation)
}

#[test]
fn a_turn_in_progress_begins_with_thinking() {
    check(
        &manual("think* to begin with | "),
        &expect![[r#"
        575 tokens
        1-36: above, 5 head; 37 shown, 0 left for it, floor 37
        37-46: lands, 5 head; 37 shown, 0 left for it, floor 37
        47-64: lands, 1 excerpts, 5 head; 37 shown, 0 left for it, floor 37
        65-79: lands, 1 excerpts, 5 fold, checkpoint before 1; 37 shown, 28-42 left for it, floor 37
        80-112: lands, 2 excerpts, 5 fold, checkpoint before 1; 37 shown, 43-75 left for it, floor 37
        113-145: lands, 3 excerpts, 5 fold, checkpoint before 1; 37 shown, 76-108 left for it, floor 37
        146-182: lands, 3 outputs, 1 excerpts, 5 fold, checkpoint before 1; 37 shown, 109-145 left for it, floor 37
        183-221: lands, 1 repeats, 3 outputs, 1 excerpts, 5 fold, checkpoint before 1; 37 shown, 146-160 left for it, floor 37
        222-238: lands, 1 repeats, 3 outputs, 1 excerpts; 222 shown, 0 left for it, floor 37
        239-308: lands, 1 repeats, 3 outputs; 239 shown, 0 left for it, floor 37
        309-399: lands, 1 repeats, 2 outputs; 309 shown, 0 left for it, floor 37
        400-509: lands, 1 repeats, 1 outputs; 400 shown, 0 left for it, floor 37
        510-574: lands, 1 repeats; 510 shown, 0 left for it, floor 37
        575-576: nothing; 575 shown, 0 left for it, floor 37
    "#]],
    );
    let strategies = oldest();
    check(
        &Case { strategies, means: Means::Listed, ..manual("think* to begin with | ") },
        &expect![[r#"
        575 tokens
        1-36: above, 5 head; 37 shown, 0 left for it, floor 37
        37-113: lands, 5 head; 37 shown, 0 left for it, floor 37
        114-213: lands, 4 head; 37 shown, 0 left for it, floor 37
        214-332: lands, 3 head; 214 shown, 0 left for it, floor 37
        333-474: lands, 2 head; 214 shown, 0 left for it, floor 37
        475-574: lands, 1 head; 475 shown, 0 left for it, floor 37
        575-576: nothing; 575 shown, 0 left for it, floor 37
    "#]],
    );
}

#[test]
fn a_turn_that_came_without_thinking_is_left_so() {
    let strategies = oldest();
    check(
        &Case { strategies, means: Means::Listed, ..manual("") },
        &expect![[r#"
        571 tokens
        1-36: above, 5 head; 37 shown, 0 left for it, floor 37
        37-113: lands, 5 head; 37 shown, 0 left for it, floor 37
        114-213: lands, 4 head; 37 shown, 0 left for it, floor 37
        214-332: lands, 3 head; 214 shown, 0 left for it, floor 37
        333-470: lands, 2 head; 214 shown, 0 left for it, floor 37
        471-570: lands, 1 head; 214 shown, 0 left for it, floor 37
        571-572: nothing; 571 shown, 0 left for it, floor 37
    "#]],
    );
}

#[test]
fn a_person_who_is_first_now_stays() {
    let longer = format!("{SESSION}asst That is all.\nuser Thanks. What else is there to do?\n");
    let first = Head::new(HeadOptions { ..HeadOptions::default() });
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(first.expect("in range"))];
    let case = Case {
        strategies,
        task: Task::Fold,
        means: Means::Listed,
        ..Case::drawn(Format::Anthropic, &longer)
    };
    check(
        &case,
        &expect![[r#"
            661 tokens
            1-23: above, 6 head; 39 shown, 0 left for it, floor 39
            24-38: above, 5 head; 39 shown, 0 left for it, floor 39
            39-44: lands, 6 head; 39 shown, 0 left for it, floor 39
            45-272: lands, 5 head; 39 shown, 0 left for it, floor 39
            273-283: lands, 4 head; 39 shown, 0 left for it, floor 39
            284-316: lands, 3 head; 284 shown, 0 left for it, floor 39
            317-644: lands, 2 head; 284 shown, 0 left for it, floor 39
            645-660: lands, 1 head; 284 shown, 0 left for it, floor 39
            661-662: nothing; 661 shown, 0 left for it, floor 39
        "#]],
    );
}

#[test]
fn steps_whose_thinking_left_begin_no_turn() {
    let strategies: Vec<Arc<dyn Strategy>> =
        vec![Arc::new(OldReasoning::default()), Arc::new(Head::default())];
    check(
        &Case { strategies, means: Means::Listed, ..manual("think* to begin with | ") },
        &expect![[r#"
        575 tokens
        1-36: above, 5 head; 37 shown, 0 left for it, floor 37
        37-113: lands, 5 head; 37 shown, 0 left for it, floor 37
        114-213: lands, 4 head; 37 shown, 0 left for it, floor 37
        214-332: lands, 3 head; 214 shown, 0 left for it, floor 37
        333-474: lands, 2 head; 214 shown, 0 left for it, floor 37
        475-574: lands, 1 head; 475 shown, 0 left for it, floor 37
        575-576: nothing; 575 shown, 0 left for it, floor 37
    "#]],
    );
}

/// Leaves out all thinking, whatever the provider demands of it.
#[derive(Debug)]
struct Thoughtless;

impl Strategy for Thoughtless {
    fn name(&self) -> &'static str {
        "thoughtless"
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let parts = scene.matter.transcript.entries().flat_map(|entry| entry.parts());
        let thoughts = parts.filter(|part| part.kind() == PartKind::Reasoning);
        let (put, reason) = (Put::Nothing, Reason::OldReasoning);
        thoughts
            .map(|part| Edit::Put(PartEdit { at: part.slot, put: put.clone(), reason }))
            .collect()
    }
}

#[test]
fn a_thought_that_left_begins_no_turn() {
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(Thoughtless)];
    check(
        &Case { strategies, means: Means::Listed, ..manual("think* to begin with | ") },
        &expect![[r#"
            575 tokens
            1-36: above, 3 thoughtless, 3 thoughtless; 37 shown, 0 left for it, floor 37
            37-566: lands, 3 thoughtless, 3 thoughtless; 37 shown, 0 left for it, floor 37
            567-568: lands, 3 thoughtless; 37 shown, 0 left for it, floor 37
            569-572: lands, 2 thoughtless; 214 shown, 0 left for it, floor 37
            573-574: lands, 1 thoughtless; 475 shown, 0 left for it, floor 37
            575-576: nothing; 575 shown, 0 left for it, floor 37
        "#]],
    );
}

#[test]
fn words_between_steps_that_begin_no_turn_stay() {
    let notation = r#"
user Fix the build.
asst think* first | call a Read {"file_path":"a.rs"}
res  a = {lines 12}
asst call b Read {"file_path":"b.rs"}
res  b = ok
user And keep the port as it is.
asst call c Read {"file_path":"c.rs"}
res  c = ok
user Go on.
"#;
    let strategies = oldest();
    check(
        &Case { strategies, means: Means::Listed, ..by_hand(notation) },
        &expect![[r#"
            223 tokens
            1-34: above, 4 head; 35 shown, 0 left for it, floor 35
            35-53: lands, 4 head; 35 shown, 0 left for it, floor 35
            54-63: lands, 3 head; 35 shown, 0 left for it, floor 35
            64-82: lands, 2 head; 45 shown, 0 left for it, floor 35
            83-222: lands, 1 head; 45 shown, 0 left for it, floor 35
            223-224: nothing; 223 shown, 0 left for it, floor 35
        "#]],
    );
}

#[test]
fn a_turn_begins_behind_what_prompts_it() {
    let notation = r#"
user Fix the build.
asst Well, what of it?
user The docs come first, in any case.
sys  Be brief.
asst think* first | call a Read {"file_path":"a.rs"}
res  a = {lines 12}
asst call b Read {"file_path":"b.rs"}
res  b = {lines 3}
user Go on.
"#;
    let strategies = oldest();
    check(
        &Case { strategies, means: Means::Listed, ..by_hand(notation) },
        &expect![[r#"
        249 tokens
        1-47: above, 1 squeeze, 2 head; 107 shown, 0 left for it, floor 107
        48-82: lands, 3 head; 35 shown, 0 left for it, floor 35
        83-240: lands, 2 head; 35 shown, 0 left for it, floor 35
        241-248: lands, 1 head; 241 shown, 0 left for it, floor 35
        249-250: nothing; 249 shown, 0 left for it, floor 35
    "#]],
    );
}
