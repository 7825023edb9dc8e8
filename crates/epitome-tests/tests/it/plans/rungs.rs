//! The ladder, and lists of a few strategies.

use epitome::strategy::{Fold, Head, OldOutputs, OldReasoning, Recent, RecentOptions};
use expect_test::expect;

use super::*;

/// A task, two steps with results of some size, a word between, and an open step.
pub(super) const SESSION: &str = r#"
sys  You are terse.
user Fix the build of the parser, and say what was wrong.
asst Looking. | call a Read {"file_path":"src/x.rs"}
res  a = {lines 30}
asst call b Bash {"command":"cargo test --workspace --locked"}
res! b = error[E0308]: mismatched types
user Keep the public API as it is.
asst Now the docs. | call c Read {"file_path":"docs/a.md"}
res  c = {lines 20}
"#;

#[test]
fn the_ladder() {
    check(
        &Case::drawn(Format::OpenaiChat, SESSION),
        &expect![[r#"
            646 tokens
            1-189: above, 1 squeeze, 2 fold, checkpoint before 6; 114-121 shown, 1-69 left for it, floor 183-190
            190-205: lands, 1 squeeze, 2 fold, 1 squeeze, checkpoint before 6; 114-119 shown, 76-86 left for it, floor 183-188
            206: lands, 1 squeeze, 2 fold, 1 excerpts, 1 squeeze, checkpoint before 6; 121 shown, 85 left for it, floor 190
            207-208: lands, 1 squeeze, 2 fold, 1 excerpts, checkpoint before 6; 122 shown, 85-86 left for it, floor 191
            209-217: lands, 1 squeeze, 2 fold, 1 squeeze, checkpoint before 6; 124-132 shown, 85-86 left for it, floor 193-198
            218-220: lands, 1 squeeze, 2 fold, 1 excerpts, checkpoint before 6; 122 shown, 96-98 left for it, floor 191
            221-228: lands, 1 squeeze, 2 fold, 1 squeeze, checkpoint before 6; 133-140 shown, 82-88 left for it, floor 199-201
            229-234: lands, 1 squeeze, 2 fold, 1 excerpts, checkpoint before 6; 122 shown, 107-112 left for it, floor 191
            235-248: lands, 1 squeeze, 2 fold, 1 squeeze, checkpoint before 6; 152-166 shown, 82-92 left for it, floor 202-209
            249: lands, 1 squeeze, 2 fold, checkpoint before 6; 166 shown, 83 left for it, floor 209
            250-257: lands, 1 squeeze, 2 fold, 1 squeeze, checkpoint before 6; 163-173 shown, 82-91 left for it, floor 209
            258-371: lands, 1 squeeze, 2 fold, checkpoint before 6; 176-230 shown, 82-141 left for it, floor 209-299
            372-382: lands, 1 squeeze, 1 fold, checkpoint before 4; 263 shown, 109-119 left for it, floor 332
            383: lands, 1 squeeze, 2 fold, checkpoint before 6; 242 shown, 141 left for it, floor 311
            384-468: lands, 1 squeeze, 1 fold, checkpoint before 4; 275-310 shown, 109-168 left for it, floor 344-354
            469-645: lands, 1 fold, checkpoint before 4; 318 shown, 151-327 left for it, floor 354
            646-647: nothing; 646 shown, 0 left for it, floor 354
        "#]],
    );
}

#[test]
fn a_fold_alone() {
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(Fold)];
    let case =
        Case { strategies, means: Means::Listed, ..Case::drawn(Format::OpenaiChat, SESSION) };
    check(
        &case,
        &expect![[r#"
            646 tokens
            1-189: above, 1 squeeze, 2 fold, checkpoint before 6; 114-121 shown, 1-69 left for it, floor 183-190
            190-205: lands, 1 squeeze, 2 fold, 1 squeeze, checkpoint before 6; 114-119 shown, 76-86 left for it, floor 183-188
            206-208: lands, 1 squeeze, 2 fold, 1 squeeze, 1 squeeze, checkpoint before 6; 121-122 shown, 85-86 left for it, floor 190-191
            209-248: lands, 1 squeeze, 2 fold, 1 squeeze, checkpoint before 6; 124-166 shown, 82-101 left for it, floor 193-209
            249: lands, 1 squeeze, 2 fold, checkpoint before 6; 166 shown, 83 left for it, floor 209
            250-257: lands, 1 squeeze, 2 fold, 1 squeeze, checkpoint before 6; 163-173 shown, 82-91 left for it, floor 209
            258-371: lands, 1 squeeze, 2 fold, checkpoint before 6; 176-230 shown, 82-141 left for it, floor 209-299
            372-382: lands, 1 squeeze, 1 fold, checkpoint before 4; 263 shown, 109-119 left for it, floor 332
            383: lands, 1 squeeze, 2 fold, checkpoint before 6; 242 shown, 141 left for it, floor 311
            384-468: lands, 1 squeeze, 1 fold, checkpoint before 4; 275-310 shown, 109-168 left for it, floor 344-354
            469-645: lands, 1 fold, checkpoint before 4; 318 shown, 151-327 left for it, floor 354
            646-647: nothing; 646 shown, 0 left for it, floor 354
        "#]],
    );
}

/// A task that is longer than what follows, which a pinned result stays beside.
const LONG: &str = r#"
user {lorem 120}
asst call a Read {"file_path":"src/x.rs"}
res  a = {lines 9}
asst Well. {lorem 40}
asst call b Read {"file_path":"src/y.rs"}
res  b = {lines 12}
"#;

#[test]
fn what_must_stay_is_cut_once_more_so_that_something_may_fold() {
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(Fold)];
    let listed = Case { strategies, means: Means::Listed, ..Case::drawn(Format::OpenaiChat, LONG) };
    check(
        &listed,
        &expect![[r#"
            536 tokens
            1-230: above, 3 squeeze, 1 fold, checkpoint before 3; 195-225 shown, 1-55 left for it, floor 246-276
            231: above, 3 squeeze, 1 fold, 1 squeeze, checkpoint before 3; 225 shown, 6 left for it, floor 276
            232: above, 3 squeeze, 1 fold, checkpoint before 3; 225 shown, 7 left for it, floor 276
            233-259: above, 3 squeeze, 1 fold, 1 squeeze, checkpoint before 3; 225-239 shown, 5-20 left for it, floor 276-290
            260-300: above, 2 squeeze, 1 fold, 1 squeeze, checkpoint before 3; 243-251 shown, 17-50 left for it, floor 294-302
            301-390: lands, 2 squeeze, 1 fold, 1 squeeze, checkpoint before 3; 250-296 shown, 51-96 left for it, floor 301-347
            391-462: lands, 1 squeeze, 1 fold, 1 squeeze, checkpoint before 3; 294-331 shown, 91-113 left for it, floor 345-382
            463-473: lands, 1 squeeze, 1 fold, checkpoint before 3; 412 shown, 51-61 left for it, floor 378-390
            474-535: lands, 1 fold, checkpoint before 3; 423 shown, 51-112 left for it, floor 474
            536-537: nothing; 536 shown, 0 left for it, floor 474
        "#]],
    );
    let all = Case { means: Means::All, pins: vec![Pin::Entry(1)], ..listed };
    check(
        &all,
        &expect![[r#"
            536 tokens
            1-259: above, 4 squeeze; 247-309 shown, 0 left for it, floor 247-309
            260-387: above, 3 squeeze; 324-401 shown, 0 left for it, floor 324-401
            388-422: above, 2 squeeze; 407-423 shown, 0 left for it, floor 407-423
            423-427: lands, 2 squeeze; 423 shown, 0 left for it, floor 423
            428-430: above, 2 squeeze; 431 shown, 0 left for it, floor 431
            431-435: lands, 2 squeeze; 425-431 shown, 0 left for it, floor 425-431
            436: above, 2 squeeze; 439 shown, 0 left for it, floor 439
            437-438: above, 2 squeeze, 1 squeeze; 439 shown, 0 left for it, floor 439
            439-448: lands, 2 squeeze; 429-445 shown, 0 left for it, floor 429-444
            449-451: lands, 2 squeeze, 1 squeeze; 444 shown, 0 left for it, floor 444
            452-458: lands, 2 squeeze; 451-452 shown, 0 left for it, floor 441-442
            459-461: lands, 1 squeeze; 456-459 shown, 0 left for it, floor 442
            462: lands, 2 squeeze, 1 squeeze; 442 shown, 0 left for it, floor 442
            463-465: lands, 2 squeeze; 458-460 shown, 0 left for it, floor 440-442
            466: lands, 2 squeeze, 1 squeeze; 440 shown, 0 left for it, floor 440
            467-475: lands, 2 squeeze; 465-467 shown, 0 left for it, floor 440-452
            476-481: lands, 1 squeeze; 470-476 shown, 0 left for it, floor 445-453
            482-491: lands, 2 squeeze; 477-482 shown, 0 left for it, floor 452-453
            492: lands, 1 squeeze, 1 squeeze; 463 shown, 0 left for it, floor 463
            493-508: lands, 1 squeeze; 488-493 shown, 0 left for it, floor 462-463
            509-511: lands, 1 squeeze, 1 squeeze; 462 shown, 0 left for it, floor 462
            512-535: lands, 1 squeeze; 478-514 shown, 0 left for it, floor 456-478
            536-537: nothing; 536 shown, 0 left for it, floor 536
        "#]],
    );
}

#[test]
fn nothing_folds_and_little_is_left_out() {
    let strategies: Vec<Arc<dyn Strategy>> =
        vec![Arc::new(OldReasoning::default()), Arc::new(OldOutputs::default())];
    let listed =
        Case { strategies, means: Means::Listed, ..Case::drawn(Format::OpenaiChat, SESSION) };
    check(
        &listed,
        &expect![[r#"
            646 tokens
            1-186: above, 1 squeeze, 1 outputs; 180-187 shown, 0 left for it, floor 180-187
            187-468: lands, 1 squeeze, 1 outputs; 187-343 shown, 0 left for it, floor 187-343
            469-645: lands, 1 outputs; 351 shown, 0 left for it, floor 351
            646-647: nothing; 646 shown, 0 left for it, floor 354
        "#]],
    );
    check(
        &Case { means: Means::All, ..listed },
        &expect![[r#"
            646 tokens
            1-186: above, 1 squeeze, 1 outputs; 180-187 shown, 0 left for it, floor 180-187
            187-468: lands, 1 squeeze, 1 outputs; 187-343 shown, 0 left for it, floor 187-343
            469-645: lands, 1 outputs; 351 shown, 0 left for it, floor 351
            646-647: nothing; 646 shown, 0 left for it, floor 354
        "#]],
    );
}

#[test]
fn the_oldest_leave() {
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(Head::default())];
    let case =
        Case { strategies, means: Means::Listed, ..Case::drawn(Format::OpenaiChat, SESSION) };
    check(
        &case,
        &expect![[r#"
            646 tokens
            1-189: above, 1 squeeze, 2 head, checkpoint before 6; 114-121 shown, 1-69 left for it, floor 183-190
            190-205: lands, 1 squeeze, 2 head, 1 squeeze, checkpoint before 6; 114-119 shown, 76-86 left for it, floor 183-188
            206-208: lands, 1 squeeze, 2 head, 1 squeeze, 1 squeeze, checkpoint before 6; 121-122 shown, 85-86 left for it, floor 190-191
            209-248: lands, 1 squeeze, 2 head, 1 squeeze, checkpoint before 6; 124-166 shown, 82-101 left for it, floor 193-209
            249: lands, 1 squeeze, 2 head, checkpoint before 6; 166 shown, 83 left for it, floor 209
            250-257: lands, 1 squeeze, 2 head, 1 squeeze, checkpoint before 6; 163-173 shown, 82-91 left for it, floor 209
            258-292: lands, 1 squeeze, 2 head, checkpoint before 6; 176-191 shown, 82-101 left for it, floor 209
            293-296: lands, 1 squeeze, 1 head, checkpoint before 4; 224 shown, 69-72 left for it, floor 209-221
            297-300: lands, 1 squeeze, 2 head, checkpoint before 6; 199 shown, 98-101 left for it, floor 221
            301-468: lands, 1 squeeze, 1 head, checkpoint before 4; 231-310 shown, 69-168 left for it, floor 221-354
            469-645: lands, 1 head, checkpoint before 4; 318 shown, 151-327 left for it, floor 354
            646-647: nothing; 646 shown, 0 left for it, floor 354
        "#]],
    );
}

#[test]
fn to_its_end_whatever_the_target() {
    let recent = Recent::new(RecentOptions { keep: Tail::Steps(1) });
    let strategies: Vec<Arc<dyn Strategy>> =
        vec![Arc::new(recent.expect("in range")), Arc::new(OldOutputs::default())];
    let case = Case { strategies, stop: Stop::AtEnd, ..Case::drawn(Format::OpenaiChat, SESSION) };
    check(
        &case,
        &expect![[r#"
            646 tokens
            1-189: above, 2 recent, 1 squeeze, checkpoint before 6; 114-121 shown, 1-69 left for it, floor 183-190
            190-211: lands, 2 recent, 1 squeeze, 1 squeeze, checkpoint before 6; 114-126 shown, 76-86 left for it, floor 183-195
            212-366: lands, 2 recent, 1 squeeze, checkpoint before 6; 127-277 shown, 82-120 left for it, floor 196-346
            367-647: lands, 2 recent, checkpoint before 6; 285 shown, 82-120 left for it, floor 354
        "#]],
    );
}

#[test]
fn an_empty_transcript_is_left_alone() {
    let empty = wire::parse(Format::OpenaiChat, r#"{"model":"m","messages":[]}"#.to_owned());
    check(
        &Case::of(empty.expect("a body")),
        &expect![[r#"
        3 tokens
        1-4: nothing; 3 shown, 0 left for it, floor 3
    "#]],
    );
}

#[test]
fn a_checkpoint_stands_behind_the_task_whatever_came_before_it() {
    let greeted = SESSION.replacen(
        "user Fix",
        "asst Hello, and welcome. Tell me what there is to be done today.\nuser Fix",
        1,
    );
    check(
        &Case::drawn(Format::OpenaiChat, &greeted),
        &expect![[r#"
            664 tokens
            1-189: above, 1 squeeze, 3 fold, checkpoint before 7; 114-121 shown, 1-69 left for it, floor 183-190
            190-205: lands, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 7; 114-119 shown, 76-86 left for it, floor 183-188
            206: lands, 1 squeeze, 3 fold, 1 excerpts, 1 squeeze, checkpoint before 7; 121 shown, 85 left for it, floor 190
            207-208: lands, 1 squeeze, 3 fold, 1 excerpts, checkpoint before 7; 122 shown, 85-86 left for it, floor 191
            209-217: lands, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 7; 124-132 shown, 85-86 left for it, floor 193-198
            218-220: lands, 1 squeeze, 3 fold, 1 excerpts, checkpoint before 7; 122 shown, 96-98 left for it, floor 191
            221-228: lands, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 7; 133-140 shown, 82-88 left for it, floor 199-201
            229-234: lands, 1 squeeze, 3 fold, 1 excerpts, checkpoint before 7; 122 shown, 107-112 left for it, floor 191
            235-248: lands, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 7; 152-166 shown, 82-92 left for it, floor 202-209
            249: lands, 1 squeeze, 3 fold, checkpoint before 7; 166 shown, 83 left for it, floor 209
            250-257: lands, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 7; 163-173 shown, 82-91 left for it, floor 209
            258-377: lands, 1 squeeze, 3 fold, checkpoint before 7; 176-230 shown, 82-147 left for it, floor 209-299
            378-382: lands, 1 squeeze, 2 fold, checkpoint before 5; 263 shown, 115-119 left for it, floor 332
            383-389: lands, 1 squeeze, 3 fold, checkpoint before 7; 242 shown, 141-147 left for it, floor 311
            390-468: lands, 1 squeeze, 2 fold, checkpoint before 5; 275-310 shown, 115-168 left for it, floor 344-354
            469-663: lands, 2 fold, checkpoint before 5; 318 shown, 151-345 left for it, floor 354
            664-665: nothing; 664 shown, 0 left for it, floor 354
        "#]],
    );
}

#[test]
fn what_will_be_folded_is_not_edited_before() {
    let long = "call b Write {\"file_path\":\"src/y.rs\",\"content\":\"{LONG}\"}";
    let long = long.replace("{LONG}", &"let it = be; ".repeat(40));
    let notation = format!(
        "user Write it, and say what it does.\nasst call a Read | think* {{lorem 60}}\nres  a = {{lines 20}}\nasst {long}\nres  b = ok\nasst opaque {{\"type\":\"future\",\"data\":\"{{data}}\"}} | call c Read\nres  c = {{lines 20}}\nuser Thanks. Now the next.\n"
    );
    let notation = notation.replace("{data}", &"d".repeat(300));
    check(
        &Case::drawn(Format::Anthropic, &notation),
        &expect![[r#"
            810 tokens
            1-111: above, 3 fold, checkpoint before 7; 43 shown, 1-69 left for it, floor 112
            112-247: lands, 3 fold, checkpoint before 7; 43 shown, 69-204 left for it, floor 112
            248-252: lands, 1 repeats, 3 fold, checkpoint before 7; 43 shown, 205-209 left for it, floor 112
            253-497: lands, 1 repeats, 1 reasoning, 3 fold, checkpoint before 7; 43 shown, 210-454 left for it, floor 112
            498-524: lands, 1 repeats, 1 reasoning, 2 fold, checkpoint before 5; 343 shown, 155-181 left for it, floor 112
            525-618: lands, 1 repeats, 1 reasoning; 525 shown, 0 left for it, floor 112
            619-809: lands, 1 repeats; 619 shown, 0 left for it, floor 112
            810-811: nothing; 810 shown, 0 left for it, floor 112
        "#]],
    );
}
