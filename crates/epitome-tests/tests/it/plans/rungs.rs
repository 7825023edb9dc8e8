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
            1-189: above, squeeze, fold, checkpoint before 6; 114-121 shown
            190-205: lands, squeeze, fold, checkpoint before 6; 114-119 shown
            206-208: lands, squeeze, fold, excerpts, checkpoint before 6; 121-122 shown
            209-217: lands, squeeze, fold, checkpoint before 6; 124-132 shown
            218-220: lands, squeeze, fold, excerpts, checkpoint before 6; 122 shown
            221-228: lands, squeeze, fold, checkpoint before 6; 133-140 shown
            229-234: lands, squeeze, fold, excerpts, checkpoint before 6; 122 shown
            235-371: lands, squeeze, fold, checkpoint before 6; 152-230 shown
            372-382: lands, squeeze, fold, checkpoint before 4; 263 shown
            383: lands, squeeze, fold, checkpoint before 6; 242 shown
            384-468: lands, squeeze, fold, checkpoint before 4; 275-310 shown
            469-645: lands, fold, checkpoint before 4; 318 shown
            646-647: nothing; 646 shown
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
            1-189: above, squeeze, fold, checkpoint before 6; 114-121 shown
            190-371: lands, squeeze, fold, checkpoint before 6; 114-230 shown
            372-382: lands, squeeze, fold, checkpoint before 4; 263 shown
            383: lands, squeeze, fold, checkpoint before 6; 242 shown
            384-468: lands, squeeze, fold, checkpoint before 4; 275-310 shown
            469-645: lands, fold, checkpoint before 4; 318 shown
            646-647: nothing; 646 shown
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
            1-300: above, squeeze, fold, checkpoint before 3; 195-251 shown
            301-473: lands, squeeze, fold, checkpoint before 3; 250-412 shown
            474-535: lands, fold, checkpoint before 3; 423 shown
            536-537: nothing; 536 shown
        "#]],
    );
    let all = Case { means: Means::All, pins: vec![Pin::Entry(1)], ..listed };
    check(
        &all,
        &expect![[r#"
            536 tokens
            1-422: above, squeeze; 247-423 shown
            423-427: lands, squeeze; 423 shown
            428-430: above, squeeze; 431 shown
            431-435: lands, squeeze; 425-431 shown
            436-438: above, squeeze; 439 shown
            439-535: lands, squeeze; 429-514 shown
            536-537: nothing; 536 shown
        "#]],
    );
}

#[test]
fn nothing_folds_and_little_is_left_out() {
    let strategies: Vec<Arc<dyn Strategy>> =
        vec![Arc::new(OldReasoning::default()), Arc::new(OldOutputs::default())];
    let case = |means| Case {
        strategies: strategies.clone(),
        means,
        ..Case::drawn(Format::OpenaiChat, SESSION)
    };
    check(
        &case(Means::Listed),
        &expect![[r#"
        646 tokens
        1-186: above, squeeze, outputs; 180-187 shown
        187-468: lands, squeeze, outputs; 187-343 shown
        469-645: lands, outputs; 351 shown
        646-647: nothing; 646 shown
    "#]],
    );
    assert_eq!(case(Means::All).sheet(), case(Means::Listed).sheet());
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
            1-189: above, squeeze, head, checkpoint before 6; 114-121 shown
            190-292: lands, squeeze, head, checkpoint before 6; 114-191 shown
            293-296: lands, squeeze, head, checkpoint before 4; 224 shown
            297-300: lands, squeeze, head, checkpoint before 6; 199 shown
            301-468: lands, squeeze, head, checkpoint before 4; 231-310 shown
            469-645: lands, head, checkpoint before 4; 318 shown
            646-647: nothing; 646 shown
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
            1-189: above, recent, squeeze, checkpoint before 6; 114-121 shown
            190-366: lands, recent, squeeze, checkpoint before 6; 114-277 shown
            367-647: lands, recent, checkpoint before 6; 285 shown
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
            1-4: nothing; 3 shown
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
            1-189: above, squeeze, fold, checkpoint before 7; 114-121 shown
            190-205: lands, squeeze, fold, checkpoint before 7; 114-119 shown
            206-208: lands, squeeze, fold, excerpts, checkpoint before 7; 121-122 shown
            209-217: lands, squeeze, fold, checkpoint before 7; 124-132 shown
            218-220: lands, squeeze, fold, excerpts, checkpoint before 7; 122 shown
            221-228: lands, squeeze, fold, checkpoint before 7; 133-140 shown
            229-234: lands, squeeze, fold, excerpts, checkpoint before 7; 122 shown
            235-377: lands, squeeze, fold, checkpoint before 7; 152-230 shown
            378-382: lands, squeeze, fold, checkpoint before 5; 263 shown
            383-389: lands, squeeze, fold, checkpoint before 7; 242 shown
            390-468: lands, squeeze, fold, checkpoint before 5; 275-310 shown
            469-663: lands, fold, checkpoint before 5; 318 shown
            664-665: nothing; 664 shown
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
            1-111: above, fold, checkpoint before 7; 43 shown
            112-247: lands, fold, checkpoint before 7; 43 shown
            248-252: lands, repeats, fold, checkpoint before 7; 43 shown
            253-497: lands, repeats, reasoning, fold, checkpoint before 7; 43 shown
            498-524: lands, repeats, reasoning, fold, checkpoint before 5; 343 shown
            525-618: lands, repeats, reasoning; 525 shown
            619-809: lands, repeats; 619 shown
            810-811: nothing; 810 shown
        "#]],
    );
}
