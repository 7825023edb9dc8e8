//! What is left begins as its provider demands: with the user, and a turn in progress with thinking.

use epitome::strategy::{Edit, Head, HeadOptions, OldReasoning, StrategyContext};
use epitome::transcript::PartKind;
use epitome::view::{PartEdit, Put, Reason};
use expect_test::expect;

use super::rungs::SESSION;
use super::*;

fn oldest() -> Vec<Arc<dyn Strategy>> {
    vec![Arc::new(Head::default())]
}

#[test]
fn where_the_oldest_leave_a_checkpoint_speaks() {
    for (format, expected) in [
        (
            Format::Anthropic,
            expect![[r#"
                643 tokens
                1-165: above, squeeze, head, checkpoint before 5; 95-97 shown
                166-258: lands, squeeze, head, checkpoint before 5; 95-157 shown
                259-261: lands, squeeze, head, checkpoint before 3; 190 shown
                262-265: lands, squeeze, head, checkpoint before 5; 164 shown
                266-465: lands, squeeze, head, checkpoint before 3; 197-291 shown
                466-642: lands, head, checkpoint before 3; 299 shown
                643-644: nothing; 643 shown
            "#]],
        ),
        (
            Format::Gemini,
            expect![[r#"
                650 tokens
                1-174: above, squeeze, head, checkpoint before 5; 102-106 shown
                175-265: lands, squeeze, head, checkpoint before 5; 102-164 shown
                266-268: lands, squeeze, head, checkpoint before 3; 197 shown
                269-272: lands, squeeze, head, checkpoint before 5; 171 shown
                273-472: lands, squeeze, head, checkpoint before 3; 204-298 shown
                473-649: lands, head, checkpoint before 3; 306 shown
                650-651: nothing; 650 shown
            "#]],
        ),
        (
            Format::OpenaiChat,
            expect![[r#"
                646 tokens
                1-169: above, squeeze, head, checkpoint before 6; 98-101 shown
                170-261: lands, squeeze, head, checkpoint before 6; 98-160 shown
                262-264: lands, squeeze, head, checkpoint before 4; 193 shown
                265-268: lands, squeeze, head, checkpoint before 6; 167 shown
                269-468: lands, squeeze, head, checkpoint before 4; 200-294 shown
                469-645: lands, head, checkpoint before 4; 302 shown
                646-647: nothing; 646 shown
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
            1-184: above, squeeze, fold, checkpoint before 8; 143-154 shown
            185-207: above, squeeze, repeats, fold, checkpoint before 8; 154-164 shown
            208-222: lands, squeeze, repeats, fold, outputs, checkpoint before 8; 131-133 shown
            223-331: lands, squeeze, repeats, fold, checkpoint before 8; 172-209 shown
            332-509: lands, repeats, fold, checkpoint before 8; 214 shown
            510-574: lands, repeats; 510 shown
            575-576: nothing; 575 shown
        "#]],
    );
    let strategies = oldest();
    check(
        &Case { strategies, means: Means::Listed, ..manual("think* to begin with | ") },
        &expect![[r#"
            575 tokens
            1-222: above, squeeze, head, checkpoint before 8; 143-172 shown
            223-331: lands, squeeze, head, checkpoint before 8; 172-209 shown
            332-525: lands, head, checkpoint before 8; 214 shown
            526-574: lands, head, checkpoint before 3; 475 shown
            575-576: nothing; 575 shown
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
            1-222: above, squeeze, head, checkpoint before 8; 143-172 shown
            223-331: lands, squeeze, head, checkpoint before 8; 172-209 shown
            332-570: lands, head, checkpoint before 8; 214 shown
            571-572: nothing; 571 shown
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
            1-107: above, head, checkpoint before 9; 39 shown
            108-113: lands, head, checkpoint before 9; 39 shown
            114-341: lands, head, checkpoint before 8; 45 shown
            342-352: lands, head, checkpoint before 6; 273 shown
            353-385: lands, head, checkpoint before 5; 284 shown
            386-660: lands, head, checkpoint before 3; 317 shown
            661-662: nothing; 661 shown
        "#]],
    );
}

#[test]
fn steps_whose_thinking_left_begin_no_turn() {
    let with =
        |strategies| Case { strategies, means: Means::Listed, ..manual("think* to begin with | ") };
    let thoughts_first = [Arc::new(OldReasoning::default()) as Arc<dyn Strategy>];
    let thoughts_first = thoughts_first.into_iter().chain(oldest()).collect();
    assert_eq!(with(thoughts_first).sheet(), with(oldest()).sheet());
}

/// Leaves out all thinking, whatever the provider demands of it.
#[derive(Debug)]
struct Thoughtless;

impl Strategy for Thoughtless {
    fn name(&self) -> &'static str {
        "thoughtless"
    }

    fn propose(&self, scene: &StrategyContext<'_>) -> Vec<Edit> {
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
            1-220: above, squeeze, thoughtless, checkpoint before 8; 141-170 shown
            221-331: lands, squeeze, thoughtless, checkpoint before 8; 170-207 shown
            332-572: lands, thoughtless, checkpoint before 8; 212-214 shown
            573-574: lands, thoughtless, checkpoint before 3; 475 shown
            575-576: nothing; 575 shown
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
            1-85: above, head, checkpoint before 8; 35 shown
            86-114: lands, head, checkpoint before 8; 35 shown
            115-222: lands, head, fold, checkpoint before 8; 35 shown
            223-224: nothing; 223 shown
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
            1-47: above, squeeze, head, checkpoint before 8; 107 shown
            48-85: above, head, checkpoint before 8; 35 shown
            86-248: lands, head, checkpoint before 8; 35 shown
            249-250: nothing; 249 shown
        "#]],
    );
}
