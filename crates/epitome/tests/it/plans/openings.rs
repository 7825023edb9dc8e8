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
fn where_the_oldest_leave_a_checkpoint_speaks() {
    for (format, expected) in [
        (
            Format::Anthropic,
            expect![[r#"
                643 tokens
                1-127: above, 1 squeeze, 3 head, checkpoint before 5; 95 shown, 47 left for it, floor 142
                128-141: above, 1 squeeze, 2 head, 1 head, checkpoint before 5; 95 shown, 47 left for it, floor 142
                142-159: lands, 1 squeeze, 2 head, 1 head, checkpoint before 5; 95 shown, 47-64 left for it, floor 142
                160-179: lands, 1 squeeze, 2 head, 1 squeeze, 1 head, checkpoint before 5; 95-100 shown, 65-79 left for it, floor 142-147
                180-212: lands, 1 squeeze, 2 head, 1 squeeze, checkpoint before 3; 133-141 shown, 47-71 left for it, floor 147-155
                213-221: lands, 1 squeeze, 2 head, checkpoint before 3; 166 shown, 47-55 left for it, floor 155-158
                222-223: lands, 1 squeeze, 2 head, 1 squeeze, checkpoint before 3; 144 shown, 78-79 left for it, floor 158
                224-465: lands, 1 squeeze, 2 head, checkpoint before 3; 177-291 shown, 47-184 left for it, floor 158-313
                466-626: lands, 2 head, checkpoint before 3; 299 shown, 167-327 left for it, floor 313
                627-642: lands, 1 head, 1 squeeze, checkpoint before 1; 572 shown, 47 left for it, floor 313
                643-644: nothing; 643 shown, 0 left for it, floor 313
            "#]],
        ),
        (
            Format::Gemini,
            expect![[r#"
                650 tokens
                1-134: above, 1 squeeze, 3 head, checkpoint before 5; 102 shown, 47 left for it, floor 149
                135-148: above, 1 squeeze, 2 head, 1 head, checkpoint before 5; 102 shown, 47 left for it, floor 149
                149-163: lands, 1 squeeze, 2 head, 1 head, checkpoint before 5; 102 shown, 47-61 left for it, floor 149
                164-166: lands, 1 squeeze, 2 head, 1 head, 1 squeeze, checkpoint before 5; 102 shown, 62-64 left for it, floor 149
                167-168: lands, 1 squeeze, 2 head, 1 head, checkpoint before 5; 104-105 shown, 63 left for it, floor 151-152
                169-188: lands, 1 squeeze, 2 head, 1 squeeze, 1 head, checkpoint before 5; 105-109 shown, 64-79 left for it, floor 152-156
                189-219: lands, 1 squeeze, 2 head, 1 squeeze, checkpoint before 3; 142-150 shown, 47-69 left for it, floor 156-164
                220-228: lands, 1 squeeze, 2 head, checkpoint before 3; 173 shown, 47-55 left for it, floor 165-167
                229-230: lands, 1 squeeze, 2 head, 1 squeeze, checkpoint before 3; 153 shown, 76-77 left for it, floor 167
                231-472: lands, 1 squeeze, 2 head, checkpoint before 3; 184-298 shown, 47-184 left for it, floor 167-320
                473-633: lands, 2 head, checkpoint before 3; 306 shown, 167-327 left for it, floor 320
                634-649: lands, 1 head, 1 squeeze, checkpoint before 1; 579 shown, 47 left for it, floor 320
                650-651: nothing; 650 shown, 0 left for it, floor 320
            "#]],
        ),
        (
            Format::OpenaiChat,
            expect![[r#"
                646 tokens
                1-130: above, 1 squeeze, 3 head, checkpoint before 6; 98 shown, 47 left for it, floor 145
                131-144: above, 1 squeeze, 2 head, 1 head, checkpoint before 6; 98 shown, 47 left for it, floor 145
                145-162: lands, 1 squeeze, 2 head, 1 head, checkpoint before 6; 98 shown, 47-64 left for it, floor 145
                163-182: lands, 1 squeeze, 2 head, 1 squeeze, 1 head, checkpoint before 6; 98-103 shown, 64-79 left for it, floor 145-150
                183: lands, 1 squeeze, 2 head, 1 squeeze, checkpoint before 4; 136 shown, 47 left for it, floor 150
                184: lands, 1 squeeze, 2 head, 1 squeeze, 1 head, checkpoint before 6; 105 shown, 79 left for it, floor 152
                185-215: lands, 1 squeeze, 2 head, 1 squeeze, checkpoint before 4; 138-144 shown, 47-71 left for it, floor 152-158
                216-224: lands, 1 squeeze, 2 head, checkpoint before 4; 169 shown, 47-55 left for it, floor 160-161
                225-226: lands, 1 squeeze, 2 head, 1 squeeze, checkpoint before 4; 147 shown, 78-79 left for it, floor 161
                227-468: lands, 1 squeeze, 2 head, checkpoint before 4; 180-294 shown, 47-184 left for it, floor 161-316
                469-629: lands, 2 head, checkpoint before 4; 302 shown, 167-327 left for it, floor 316
                630-645: lands, 1 head, 1 squeeze, checkpoint before 2; 575 shown, 47 left for it, floor 316
                646-647: nothing; 646 shown, 0 left for it, floor 316
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
            1-184: above, 2 squeeze, 3 fold, checkpoint before 8; 143-154 shown, 47 left for it, floor 190-201
            185-207: above, 2 squeeze, 1 repeats, 3 fold, checkpoint before 8; 154-164 shown, 47-51 left for it, floor 201-211
            208-213: lands, 2 squeeze, 1 repeats, 3 fold, 1 outputs, checkpoint before 8; 131 shown, 77-82 left for it, floor 178
            214-215: lands, 2 squeeze, 1 repeats, 3 fold, checkpoint before 8; 167 shown, 47-48 left for it, floor 214
            216-217: lands, 2 squeeze, 1 repeats, 3 fold, 1 outputs, checkpoint before 8; 133 shown, 83-84 left for it, floor 180
            218-247: lands, 2 squeeze, 1 repeats, 3 fold, checkpoint before 8; 171-180 shown, 47-67 left for it, floor 218-227
            248-331: lands, 1 squeeze, 1 repeats, 3 fold, checkpoint before 8; 186-209 shown, 58-122 left for it, floor 233-256
            332-412: lands, 1 repeats, 3 fold, checkpoint before 8; 214 shown, 118-198 left for it, floor 261
            413-509: lands, 1 repeats, 2 fold, checkpoint before 8; 214 shown, 199-295 left for it, floor 261
            510-574: lands, 1 repeats; 510 shown, 0 left for it, floor 261
            575-576: nothing; 575 shown, 0 left for it, floor 261
        "#]],
    );
    let strategies = oldest();
    check(
        &Case { strategies, means: Means::Listed, ..manual("think* to begin with | ") },
        &expect![[r#"
            575 tokens
            1-213: above, 2 squeeze, 3 head, checkpoint before 8; 143-167 shown, 47-53 left for it, floor 190-214
            214-215: lands, 2 squeeze, 3 head, checkpoint before 8; 167 shown, 47-48 left for it, floor 214
            216-217: above, 2 squeeze, 3 head, checkpoint before 8; 171 shown, 54 left for it, floor 218
            218-247: lands, 2 squeeze, 3 head, checkpoint before 8; 171-180 shown, 47-67 left for it, floor 218-227
            248-327: lands, 1 squeeze, 3 head, checkpoint before 8; 186-209 shown, 58-118 left for it, floor 233-256
            328-331: lands, 1 squeeze, 2 head, 1 head, checkpoint before 8; 209 shown, 119-122 left for it, floor 256
            332: lands, 3 head, checkpoint before 8; 214 shown, 118 left for it, floor 261
            333-379: lands, 2 head, 1 head, checkpoint before 8; 214 shown, 119-165 left for it, floor 261
            380-474: lands, 2 head, checkpoint before 8; 214 shown, 166-260 left for it, floor 261
            475-521: lands, 1 head, 1 head, checkpoint before 8; 214 shown, 261-307 left for it, floor 261
            522-574: lands, 1 head, checkpoint before 3; 475 shown, 47-99 left for it, floor 261
            575-576: nothing; 575 shown, 0 left for it, floor 261
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
            1-213: above, 2 squeeze, 3 head, checkpoint before 8; 143-167 shown, 47-53 left for it, floor 190-214
            214-215: lands, 2 squeeze, 3 head, checkpoint before 8; 167 shown, 47-48 left for it, floor 214
            216-217: above, 2 squeeze, 3 head, checkpoint before 8; 171 shown, 54 left for it, floor 218
            218-247: lands, 2 squeeze, 3 head, checkpoint before 8; 171-180 shown, 47-67 left for it, floor 218-227
            248-327: lands, 1 squeeze, 3 head, checkpoint before 8; 186-209 shown, 58-118 left for it, floor 233-256
            328-331: lands, 1 squeeze, 2 head, 1 head, checkpoint before 8; 209 shown, 119-122 left for it, floor 256
            332: lands, 3 head, checkpoint before 8; 214 shown, 118 left for it, floor 261
            333-379: lands, 2 head, 1 head, checkpoint before 8; 214 shown, 119-165 left for it, floor 261
            380-470: lands, 2 head, checkpoint before 8; 214 shown, 166-256 left for it, floor 261
            471-517: lands, 1 head, 1 head, checkpoint before 8; 214 shown, 257-303 left for it, floor 261
            518-570: lands, 1 head, checkpoint before 8; 214 shown, 304-356 left for it, floor 261
            571-572: nothing; 571 shown, 0 left for it, floor 261
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
            1-44: above, 6 head, checkpoint before 9; 39 shown, 47 left for it, floor 86
            45-85: above, 5 head, 1 head, checkpoint before 9; 39 shown, 47 left for it, floor 86
            86-91: lands, 5 head, 1 head, checkpoint before 9; 39 shown, 47-52 left for it, floor 86
            92-272: lands, 5 head, checkpoint before 8; 45 shown, 47-227 left for it, floor 86
            273-283: lands, 4 head, 1 head, checkpoint before 8; 45 shown, 228-238 left for it, floor 86
            284-316: lands, 3 head, 2 head, checkpoint before 8; 45 shown, 239-271 left for it, floor 86
            317-319: lands, 2 head, 3 head, checkpoint before 8; 45 shown, 272-274 left for it, floor 86
            320-330: lands, 2 head, 2 head, checkpoint before 6; 273 shown, 47-57 left for it, floor 86
            331-363: lands, 2 head, 1 head, checkpoint before 5; 284 shown, 47-79 left for it, floor 86
            364-644: lands, 2 head, checkpoint before 3; 317 shown, 47-327 left for it, floor 86
            645-660: lands, 1 head, 1 head, checkpoint before 3; 317 shown, 328-343 left for it, floor 86
            661-662: nothing; 661 shown, 0 left for it, floor 86
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
            1-213: above, 2 squeeze, 3 head, checkpoint before 8; 143-167 shown, 47-53 left for it, floor 190-214
            214-215: lands, 2 squeeze, 3 head, checkpoint before 8; 167 shown, 47-48 left for it, floor 214
            216-217: above, 2 squeeze, 3 head, checkpoint before 8; 171 shown, 54 left for it, floor 218
            218-247: lands, 2 squeeze, 3 head, checkpoint before 8; 171-180 shown, 47-67 left for it, floor 218-227
            248-327: lands, 1 squeeze, 3 head, checkpoint before 8; 186-209 shown, 58-118 left for it, floor 233-256
            328-331: lands, 1 squeeze, 2 head, 1 head, checkpoint before 8; 209 shown, 119-122 left for it, floor 256
            332: lands, 3 head, checkpoint before 8; 214 shown, 118 left for it, floor 261
            333-379: lands, 2 head, 1 head, checkpoint before 8; 214 shown, 119-165 left for it, floor 261
            380-474: lands, 2 head, checkpoint before 8; 214 shown, 166-260 left for it, floor 261
            475-521: lands, 1 head, 1 head, checkpoint before 8; 214 shown, 261-307 left for it, floor 261
            522-574: lands, 1 head, checkpoint before 3; 475 shown, 47-99 left for it, floor 261
            575-576: nothing; 575 shown, 0 left for it, floor 261
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
            1-211: above, 2 squeeze, 3 thoughtless, 3 thoughtless, checkpoint before 8; 141-165 shown, 47-52 left for it, floor 188-212
            212-247: lands, 2 squeeze, 3 thoughtless, 3 thoughtless, checkpoint before 8; 165-178 shown, 47-69 left for it, floor 212-225
            248-331: lands, 1 squeeze, 3 thoughtless, 3 thoughtless, checkpoint before 8; 184-207 shown, 60-124 left for it, floor 231-254
            332-566: lands, 3 thoughtless, 3 thoughtless, checkpoint before 8; 212 shown, 120-354 left for it, floor 259
            567-568: lands, 3 thoughtless, checkpoint before 8; 212 shown, 355-356 left for it, floor 259
            569-572: lands, 2 thoughtless, checkpoint before 8; 214 shown, 355-358 left for it, floor 261
            573-574: lands, 1 thoughtless, checkpoint before 3; 475 shown, 98-99 left for it, floor 261
            575-576: nothing; 575 shown, 0 left for it, floor 261
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
            1-53: above, 4 head, checkpoint before 8; 35 shown, 47 left for it, floor 82
            54-63: above, 3 head, 1 head, checkpoint before 8; 35 shown, 47 left for it, floor 82
            64-81: above, 2 head, 2 head, checkpoint before 8; 35 shown, 47 left for it, floor 82
            82: lands, 2 head, 2 head, checkpoint before 8; 35 shown, 47 left for it, floor 82
            83-100: lands, 1 head, 3 head, checkpoint before 8; 35 shown, 48-65 left for it, floor 82
            101-110: lands, 1 head, 2 head, checkpoint before 8; 35 shown, 66-75 left for it, floor 82
            111-129: lands, 1 head, 1 head, 1 fold, checkpoint before 8; 35 shown, 76-94 left for it, floor 82
            130-222: lands, 1 head, 1 fold, checkpoint before 8; 35 shown, 95-187 left for it, floor 82
            223-224: nothing; 223 shown, 0 left for it, floor 82
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
            1-47: above, 1 squeeze, 2 head, checkpoint before 8; 107 shown, 47 left for it, floor 154
            48-81: above, 3 head, checkpoint before 8; 35 shown, 47 left for it, floor 82
            82: lands, 3 head, checkpoint before 8; 35 shown, 47 left for it, floor 82
            83-129: lands, 2 head, 1 head, checkpoint before 8; 35 shown, 48-94 left for it, floor 82
            130-240: lands, 2 head, checkpoint before 8; 35 shown, 95-205 left for it, floor 82
            241-248: lands, 1 head, 1 head, checkpoint before 8; 35 shown, 206-213 left for it, floor 82
            249-250: nothing; 249 shown, 0 left for it, floor 82
        "#]],
    );
}
