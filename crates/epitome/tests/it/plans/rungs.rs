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
        1-56: above, 1 excerpts, 3 head; 57 shown, 0 left for it, floor 57
        57-80: lands, 1 excerpts, 3 head; 57 shown, 0 left for it, floor 57
        81-84: lands, 1 failed, 1 excerpts, 2 head; 57 shown, 0 left for it, floor 57
        85-120: lands, 1 failed, 1 excerpts, 2 fold, checkpoint before 2; 57 shown, 28-63 left for it, floor 57
        121-154: lands, 1 failed, 1 outputs, 1 excerpts, 2 fold, checkpoint before 2; 57 shown, 64-97 left for it, floor 57
        155-317: lands, 1 failed, 1 outputs, 1 excerpts; 155-173 shown, 0 left for it, floor 57
        318-612: lands, 1 failed, 1 outputs; 318 shown, 0 left for it, floor 57
        613-645: lands, 1 failed; 613 shown, 0 left for it, floor 57
        646-647: nothing; 646 shown, 0 left for it, floor 57
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
            1-56: above; 646 shown, 0 left for it, floor 57
            57-84: short; 646 shown, 0 left for it, floor 57
            85-645: lands, 3 fold, checkpoint before 2; 57-217 shown, 28-425 left for it, floor 57
            646-647: nothing; 646 shown, 0 left for it, floor 57
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
        1-98: above, 1 squeeze; 419 shown, 0 left for it, floor 99
        99-103: short, 1 squeeze; 419 shown, 0 left for it, floor 99
        104-126: short, 1 squeeze, 1 squeeze; 419 shown, 0 left for it, floor 99
        127-212: lands, 1 squeeze, 1 squeeze, 2 fold, checkpoint before 1; 99 shown, 28-113 left for it, floor 99
        213-243: lands, 1 squeeze, 2 fold, checkpoint before 1; 99 shown, 114-144 left for it, floor 99
        244-535: lands, 2 fold, checkpoint before 1; 216 shown, 28-319 left for it, floor 216
        536-537: nothing; 536 shown, 0 left for it, floor 216
    "#]],
    );
    let all = Case { means: Means::All, pins: vec![Pin::Entry(1)], ..listed };
    check(
        &all,
        &expect![[r#"
        536 tokens
        1-150: above, 2 squeeze; 358 shown, 0 left for it, floor 151
        151-162: lands, 1 fold, 2 squeeze, checkpoint before 3; 151-157 shown, 0-6 left for it, floor 151
        163-165: lands, 1 fold, 2 squeeze, 1 squeeze, checkpoint before 3; 151-153 shown, 11-12 left for it, floor 151-153
        166-170: lands, 1 fold, 2 squeeze, checkpoint before 3; 163-168 shown, 2-4 left for it, floor 153
        171-173: lands, 1 fold, 2 squeeze, 1 squeeze, checkpoint before 3; 153-155 shown, 17-18 left for it, floor 153-155
        174-177: lands, 1 fold, 2 squeeze, checkpoint before 3; 172-173 shown, 2-4 left for it, floor 155-156
        178: lands, 1 fold, 2 squeeze, 1 squeeze, checkpoint before 3; 156 shown, 22 left for it, floor 156
        179-185: lands, 1 fold, 2 squeeze, checkpoint before 3; 175-182 shown, 0-6 left for it, floor 156-158
        186-300: lands, 2 squeeze, 1 squeeze, 1 fold, checkpoint before 3; 158-181 shown, 28-119 left for it, floor 158-181
        301-343: lands, 1 squeeze, 1 squeeze, 1 fold, checkpoint before 3; 181-203 shown, 113-140 left for it, floor 181-203
        344-387: lands, 1 squeeze, 1 fold, checkpoint before 3; 316-321 shown, 28-66 left for it, floor 316-321
        388-535: lands, 1 fold, checkpoint before 3; 329 shown, 59-206 left for it, floor 329
        536-537: nothing; 536 shown, 0 left for it, floor 329
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
        1-3: above, 2 outputs; 159 shown, 0 left for it, floor 57
        4-56: above, 1 outputs; 351 shown, 0 left for it, floor 57
        57-350: short, 1 outputs; 351 shown, 0 left for it, floor 57
        351-645: lands, 1 outputs; 351 shown, 0 left for it, floor 57
        646-647: nothing; 646 shown, 0 left for it, floor 57
    "#]],
    );
    check(
        &Case { means: Means::All, ..listed },
        &expect![[r#"
        646 tokens
        1-3: above, 2 outputs; 159 shown, 0 left for it, floor 57
        4-56: above, 1 outputs; 351 shown, 0 left for it, floor 57
        57-350: short, 1 outputs; 351 shown, 0 left for it, floor 57
        351-645: lands, 1 outputs; 351 shown, 0 left for it, floor 57
        646-647: nothing; 646 shown, 0 left for it, floor 57
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
        1-56: above, 3 head; 57 shown, 0 left for it, floor 57
        57-284: lands, 3 head; 57 shown, 0 left for it, floor 57
        285-317: lands, 2 head; 285 shown, 0 left for it, floor 57
        318-645: lands, 1 head; 318 shown, 0 left for it, floor 57
        646-647: nothing; 646 shown, 0 left for it, floor 57
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
            1-56: above, 2 recent, checkpoint before 2; 285 shown, 0 left for it, floor 57
            57-284: lands, 3 fold, checkpoint before 2; 57 shown, 0-187 left for it, floor 57
            285-647: lands, 2 recent, checkpoint before 2; 285 shown, 0-361 left for it, floor 57
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
        1-56: above, 1 excerpts, 4 head; 57 shown, 0 left for it, floor 57
        57-80: lands, 1 excerpts, 4 head; 57 shown, 0 left for it, floor 57
        81-84: lands, 1 failed, 1 excerpts, 3 head; 57 shown, 0 left for it, floor 57
        85-120: lands, 1 failed, 1 excerpts, 3 fold, checkpoint before 3; 57 shown, 28-63 left for it, floor 57
        121-172: lands, 1 failed, 1 outputs, 1 excerpts, 3 fold, checkpoint before 3; 57 shown, 64-115 left for it, floor 57
        173-335: lands, 1 failed, 1 outputs, 1 excerpts; 173-191 shown, 0 left for it, floor 57
        336-630: lands, 1 failed, 1 outputs; 336 shown, 0 left for it, floor 57
        631-663: lands, 1 failed; 631 shown, 0 left for it, floor 57
        664-665: nothing; 664 shown, 0 left for it, floor 57
    "#]],
    );
}

#[test]
fn what_will_be_folded_is_not_edited_before() {
    let long = "call b Write {\"file_path\":\"src/y.rs\",\"content\":\"{LONG}\"}";
    let long = long.replace("{LONG}", &"let it = be; ".repeat(40));
    let notation = format!(
        "user Write it, and say what it does.\nasst call a Read | think {{lorem 60}}\nres  a = {{lines 20}}\nasst {long}\nres  b = ok\nasst opaque {{\"type\":\"future\",\"data\":\"{{data}}\"}} | call c Read\nres  c = {{lines 20}}\nuser Thanks. Now the next.\n"
    );
    let notation = notation.replace("{data}", &"d".repeat(300));
    check(
        &Case::drawn(Format::Anthropic, &notation),
        &expect![[r#"
            810 tokens
            1-39: above, 3 head; 43 shown, 0 left for it, floor 43
            40-42: above, 1 excerpts, 3 head; 43 shown, 0 left for it, floor 43
            43-52: lands, 3 head; 43 shown, 0 left for it, floor 43
            53-70: lands, 1 excerpts, 3 head; 43 shown, 0 left for it, floor 43
            71-247: lands, 1 excerpts, 3 fold, checkpoint before 1; 43 shown, 28-163 left for it, floor 43
            248-252: lands, 1 repeats, 1 excerpts, 3 fold, checkpoint before 1; 43 shown, 163-166 left for it, floor 43
            253-391: lands, 1 repeats, 1 reasoning, 1 excerpts, 3 fold, checkpoint before 1; 43 shown, 166-258 left for it, floor 43
            392-524: lands, 1 repeats, 1 reasoning, 1 excerpts; 392-416 shown, 0 left for it, floor 43
            525-618: lands, 1 repeats, 1 reasoning; 525 shown, 0 left for it, floor 43
            619-809: lands, 1 repeats; 619 shown, 0 left for it, floor 43
            810-811: nothing; 810 shown, 0 left for it, floor 43
        "#]],
    );
}
