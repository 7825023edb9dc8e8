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
                1-165: above, 1 squeeze, 3 head, checkpoint before 5; 95-97 shown, 1-69 left for it, floor 164-166
                166-186: lands, 1 squeeze, 3 head, 1 squeeze, checkpoint before 5; 95-100 shown, 71-86 left for it, floor 164-169
                187-230: lands, 1 squeeze, 3 head, checkpoint before 5; 102-147 shown, 82-93 left for it, floor 171-182
                231: lands, 1 squeeze, 3 head, 1 squeeze, checkpoint before 5; 144 shown, 87 left for it, floor 182
                232-258: lands, 1 squeeze, 3 head, checkpoint before 5; 144-157 shown, 87-101 left for it, floor 183-190
                259-261: lands, 1 squeeze, 2 head, checkpoint before 3; 190 shown, 69-71 left for it, floor 190
                262-265: lands, 1 squeeze, 3 head, checkpoint before 5; 164 shown, 98-101 left for it, floor 190
                266-465: lands, 1 squeeze, 2 head, checkpoint before 3; 197-291 shown, 69-184 left for it, floor 190-335
                466-642: lands, 2 head, checkpoint before 3; 299 shown, 167-343 left for it, floor 335
                643-644: nothing; 643 shown, 0 left for it, floor 335
            "#]],
        ),
        (
            Format::Gemini,
            expect![[r#"
                650 tokens
                1-174: above, 1 squeeze, 3 head, checkpoint before 5; 102-106 shown, 1-69 left for it, floor 171-175
                175-194: lands, 1 squeeze, 3 head, 1 squeeze, checkpoint before 5; 102-109 shown, 73-86 left for it, floor 171-178
                195: lands, 1 squeeze, 3 head, checkpoint before 5; 110 shown, 85 left for it, floor 179
                196: lands, 1 squeeze, 3 head, 1 squeeze, checkpoint before 5; 110 shown, 86 left for it, floor 179
                197-237: lands, 1 squeeze, 3 head, checkpoint before 5; 112-154 shown, 82-93 left for it, floor 181-190
                238: lands, 1 squeeze, 3 head, 1 squeeze, checkpoint before 5; 151 shown, 87 left for it, floor 190
                239-265: lands, 1 squeeze, 3 head, checkpoint before 5; 151-164 shown, 87-101 left for it, floor 190-197
                266-268: lands, 1 squeeze, 2 head, checkpoint before 3; 197 shown, 69-71 left for it, floor 197
                269-272: lands, 1 squeeze, 3 head, checkpoint before 5; 171 shown, 98-101 left for it, floor 197
                273-472: lands, 1 squeeze, 2 head, checkpoint before 3; 204-298 shown, 69-184 left for it, floor 197-342
                473-649: lands, 2 head, checkpoint before 3; 306 shown, 167-343 left for it, floor 342
                650-651: nothing; 650 shown, 0 left for it, floor 342
            "#]],
        ),
        (
            Format::OpenaiChat,
            expect![[r#"
                646 tokens
                1-169: above, 1 squeeze, 3 head, checkpoint before 6; 98-101 shown, 1-69 left for it, floor 167-170
                170-189: lands, 1 squeeze, 3 head, 1 squeeze, checkpoint before 6; 98-103 shown, 72-86 left for it, floor 167-172
                190-233: lands, 1 squeeze, 3 head, checkpoint before 6; 105-150 shown, 82-93 left for it, floor 174-186
                234: lands, 1 squeeze, 3 head, 1 squeeze, checkpoint before 6; 147 shown, 87 left for it, floor 186
                235-261: lands, 1 squeeze, 3 head, checkpoint before 6; 147-160 shown, 87-101 left for it, floor 186-193
                262-264: lands, 1 squeeze, 2 head, checkpoint before 4; 193 shown, 69-71 left for it, floor 193
                265-268: lands, 1 squeeze, 3 head, checkpoint before 6; 167 shown, 98-101 left for it, floor 193
                269-468: lands, 1 squeeze, 2 head, checkpoint before 4; 200-294 shown, 69-184 left for it, floor 193-338
                469-645: lands, 2 head, checkpoint before 4; 302 shown, 167-343 left for it, floor 338
                646-647: nothing; 646 shown, 0 left for it, floor 338
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
            1-184: above, 2 squeeze, 3 fold, checkpoint before 8; 143-154 shown, 1-51 left for it, floor 194-205
            185-207: above, 2 squeeze, 1 repeats, 3 fold, checkpoint before 8; 154-164 shown, 31-43 left for it, floor 205-215
            208-222: lands, 2 squeeze, 1 repeats, 3 fold, 1 outputs, checkpoint before 8; 131-133 shown, 77-89 left for it, floor 182-184
            223-247: lands, 2 squeeze, 1 repeats, 3 fold, checkpoint before 8; 172-180 shown, 51-67 left for it, floor 223-231
            248-331: lands, 1 squeeze, 1 repeats, 3 fold, checkpoint before 8; 186-209 shown, 58-122 left for it, floor 237-260
            332-412: lands, 1 repeats, 3 fold, checkpoint before 8; 214 shown, 118-198 left for it, floor 265
            413-509: lands, 1 repeats, 2 fold, checkpoint before 8; 214 shown, 199-295 left for it, floor 265
            510-574: lands, 1 repeats; 510 shown, 0 left for it, floor 265
            575-576: nothing; 575 shown, 0 left for it, floor 265
        "#]],
    );
    let strategies = oldest();
    check(
        &Case { strategies, means: Means::Listed, ..manual("think* to begin with | ") },
        &expect![[r#"
            575 tokens
            1-222: above, 2 squeeze, 3 head, checkpoint before 8; 143-172 shown, 1-51 left for it, floor 194-223
            223-247: lands, 2 squeeze, 3 head, checkpoint before 8; 172-180 shown, 51-67 left for it, floor 223-231
            248-331: lands, 1 squeeze, 3 head, checkpoint before 8; 186-209 shown, 58-122 left for it, floor 237-260
            332-383: lands, 3 head, checkpoint before 8; 214 shown, 118-169 left for it, floor 265
            384-525: lands, 2 head, checkpoint before 8; 214 shown, 170-311 left for it, floor 265
            526-574: lands, 1 head, checkpoint before 3; 475 shown, 51-99 left for it, floor 265
            575-576: nothing; 575 shown, 0 left for it, floor 265
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
            1-222: above, 2 squeeze, 3 head, checkpoint before 8; 143-172 shown, 1-51 left for it, floor 194-223
            223-247: lands, 2 squeeze, 3 head, checkpoint before 8; 172-180 shown, 51-67 left for it, floor 223-231
            248-331: lands, 1 squeeze, 3 head, checkpoint before 8; 186-209 shown, 58-122 left for it, floor 237-260
            332-383: lands, 3 head, checkpoint before 8; 214 shown, 118-169 left for it, floor 265
            384-521: lands, 2 head, checkpoint before 8; 214 shown, 170-307 left for it, floor 265
            522-570: lands, 1 head, checkpoint before 8; 214 shown, 308-356 left for it, floor 265
            571-572: nothing; 571 shown, 0 left for it, floor 265
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
            1-107: above, 6 head, checkpoint before 9; 39 shown, 1-69 left for it, floor 108
            108-113: lands, 6 head, checkpoint before 9; 39 shown, 69-74 left for it, floor 108
            114-341: lands, 5 head, checkpoint before 8; 45 shown, 69-296 left for it, floor 108
            342-352: lands, 4 head, checkpoint before 6; 273 shown, 69-79 left for it, floor 108
            353-385: lands, 3 head, checkpoint before 5; 284 shown, 69-101 left for it, floor 108
            386-660: lands, 2 head, checkpoint before 3; 317 shown, 69-343 left for it, floor 108
            661-662: nothing; 661 shown, 0 left for it, floor 108
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
            1-222: above, 2 squeeze, 3 head, checkpoint before 8; 143-172 shown, 1-51 left for it, floor 194-223
            223-247: lands, 2 squeeze, 3 head, checkpoint before 8; 172-180 shown, 51-67 left for it, floor 223-231
            248-331: lands, 1 squeeze, 3 head, checkpoint before 8; 186-209 shown, 58-122 left for it, floor 237-260
            332-383: lands, 3 head, checkpoint before 8; 214 shown, 118-169 left for it, floor 265
            384-525: lands, 2 head, checkpoint before 8; 214 shown, 170-311 left for it, floor 265
            526-574: lands, 1 head, checkpoint before 3; 475 shown, 51-99 left for it, floor 265
            575-576: nothing; 575 shown, 0 left for it, floor 265
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
            1-220: above, 2 squeeze, 3 thoughtless, checkpoint before 8; 141-170 shown, 1-51 left for it, floor 192-221
            221-247: lands, 2 squeeze, 3 thoughtless, checkpoint before 8; 170-178 shown, 51-69 left for it, floor 221-229
            248-331: lands, 1 squeeze, 3 thoughtless, checkpoint before 8; 184-207 shown, 60-124 left for it, floor 235-258
            332-568: lands, 3 thoughtless, checkpoint before 8; 212 shown, 120-356 left for it, floor 263
            569-572: lands, 2 thoughtless, checkpoint before 8; 214 shown, 355-358 left for it, floor 265
            573-574: lands, 1 thoughtless, checkpoint before 3; 475 shown, 98-99 left for it, floor 265
            575-576: nothing; 575 shown, 0 left for it, floor 265
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
            1-85: above, 4 head, checkpoint before 8; 35 shown, 1-51 left for it, floor 86
            86-104: lands, 4 head, checkpoint before 8; 35 shown, 51-69 left for it, floor 86
            105-114: lands, 3 head, checkpoint before 8; 35 shown, 70-79 left for it, floor 86
            115-133: lands, 2 head, 1 fold, checkpoint before 8; 35 shown, 80-98 left for it, floor 86
            134-222: lands, 1 head, 1 fold, checkpoint before 8; 35 shown, 99-187 left for it, floor 86
            223-224: nothing; 223 shown, 0 left for it, floor 86
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
            1-47: above, 1 squeeze, 2 head, checkpoint before 8; 107 shown, 51 left for it, floor 158
            48-85: above, 3 head, checkpoint before 8; 35 shown, 13-50 left for it, floor 86
            86-133: lands, 3 head, checkpoint before 8; 35 shown, 51-98 left for it, floor 86
            134-248: lands, 2 head, checkpoint before 8; 35 shown, 99-213 left for it, floor 86
            249-250: nothing; 249 shown, 0 left for it, floor 86
        "#]],
    );
}
