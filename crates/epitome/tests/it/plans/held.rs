//! What must stay, and what is cut of it where it doesn't fit.

use epitome::strategy::{Edit, Head, Recent, RecentOptions, Scene};
use epitome::transcript::{PartKind, Slot};
use epitome::view::{PartEdit, Put, Reason};
use expect_test::expect;

use super::rungs::SESSION;
use super::*;

/// A pinned call whose result an earlier compaction took away.
const STUBBED: &str = r#"
user Fix the build.
asst call a Bash {"command":"make"}
res  a = [elided: Bash {"command":"make --directory=a/place/that/is/far/away --keep-going --jobs=4 --output-sync=recurse all check install and whatever comes behind them"} → 812 lines, 41 kB, ok]
asst It is built. {lorem 30}
user And the docs?
"#;

/// Words of a person of some length, pinned, with words of others that must stay beside them.
const PINNED: &str = r#"
sys  You are terse.
user {lorem 60} The port is 8443. {lorem 40}
asst Well. {lorem 20} | call a Read {"file_path":"src/x.rs"}
res  a = {lines 12}
user {lorem 30}
asst {lorem 20} | call b Read {"file_path":"src/y.rs"} | call c Bash {"command":"ls"}
res  b = {lines 12}
res  c = x
user {lorem 40}
"#;

/// A pinned result, whose call is shorter than anything that could stand for it.
const WORDS_BESIDE: &str = r#"
user Fix the build.
asst call a Read {"n":1}
res  a = {lorem 60}
asst Well. {lorem 40}
user Go on.
"#;

#[test]
fn the_newest_steps_stay() {
    let case = Case { tail: Tail::Steps(2), ..Case::drawn(Format::OpenaiChat, SESSION) };
    check(
        &case,
        &expect![[r#"
            646 tokens
            1-192: above, 1 squeeze, 1 fold, checkpoint before 4; 185 shown, 47-48 left for it, floor 232
            193-209: above, 1 squeeze, 1 fold, 1 squeeze, checkpoint before 4; 185 shown, 48-52 left for it, floor 232
            210-364: above, 1 fold, checkpoint before 4; 318 shown, 52-91 left for it, floor 365
            365-645: lands, 1 fold, checkpoint before 4; 318 shown, 47-327 left for it, floor 365
            646-647: nothing; 646 shown, 0 left for it, floor 365
        "#]],
    );
}

#[test]
fn pins_stay_with_what_belongs_to_them() {
    let pins = vec![Pin::Text("The port is 8443.".to_owned()), Pin::Entry(6)];
    check(
        &Case { pins, ..Case::drawn(Format::OpenaiChat, PINNED) },
        &expect![[r#"
            672 tokens
            1-318: above, 2 squeeze, 2 fold, checkpoint before 5; 317 shown, 47-79 left for it, floor 364
            319-327: above, 2 squeeze, 2 fold, 1 squeeze, checkpoint before 5; 315-318 shown, 79-81 left for it, floor 362-365
            328-338: above, 2 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 5; 318-322 shown, 82-84 left for it, floor 365-369
            339-342: above, 2 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 322 shown, 84-85 left for it, floor 369
            343-344: above, 2 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 5; 322 shown, 85-86 left for it, floor 369
            345-372: above, 2 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 322-334 shown, 86-93 left for it, floor 369-381
            373-375: lands, 2 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 326 shown, 47-49 left for it, floor 373
            376-395: above, 2 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 339-349 shown, 94-98 left for it, floor 386-396
            396-402: lands, 2 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 349 shown, 47-53 left for it, floor 396
            403-428: lands, 1 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 349-363 shown, 50-68 left for it, floor 396-410
            429-431: lands, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 5; 382 shown, 47-49 left for it, floor 407
            432: lands, 1 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 364 shown, 68 left for it, floor 411
            433-444: lands, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 5; 379-390 shown, 47-60 left for it, floor 411-423
            445-494: lands, 1 repeats, 2 fold, 1 squeeze, checkpoint before 5; 378-404 shown, 58-94 left for it, floor 411-451
            495-555: lands, 1 repeats, 2 fold, checkpoint before 5; 448 shown, 47-107 left for it, floor 495
            556-567: lands, 1 repeats, 1 fold, checkpoint before 4; 499 shown, 57-68 left for it, floor 495
            568-671: lands, 1 repeats; 568 shown, 0 left for it, floor 495
            672-673: nothing; 672 shown, 0 left for it, floor 495
        "#]],
    );
}

#[test]
fn results_share_an_entry_with_a_persons_words() {
    check(
        &Case::drawn(Format::Anthropic, PINNED),
        &expect![[r#"
            666 tokens
            1-179: above, 1 squeeze, 3 fold, checkpoint before 6; 173-174 shown, 47 left for it, floor 220-221
            180-220: above, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 6; 174 shown, 47-55 left for it, floor 221
            221-232: lands, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 6; 174 shown, 47-58 left for it, floor 221
            233-255: lands, 1 squeeze, 1 repeats, 3 fold, 1 squeeze, checkpoint before 6; 174 shown, 59-81 left for it, floor 221
            256-305: lands, 1 repeats, 3 fold, 1 squeeze, checkpoint before 6; 174 shown, 82-131 left for it, floor 221
            306-549: lands, 1 repeats, 3 fold, checkpoint before 6; 259 shown, 47-290 left for it, floor 306
            550-561: lands, 1 repeats, 1 fold, checkpoint before 3; 493 shown, 57-68 left for it, floor 306
            562-665: lands, 1 repeats; 562 shown, 0 left for it, floor 306
            666-667: nothing; 666 shown, 0 left for it, floor 306
        "#]],
    );
    let pins = vec![Pin::Text("The port is 8443.".to_owned())];
    check(
        &Case { pins, tail: Tail::Items(2), ..Case::drawn(Format::Anthropic, PINNED) },
        &expect![[r#"
            666 tokens
            1-129: above, 2 squeeze, 2 fold, checkpoint before 4; 300 shown, 47 left for it, floor 347
            130-331: above, 1 squeeze, 2 fold, checkpoint before 4; 354-356 shown, 47-82 left for it, floor 401-403
            332-371: above, 1 squeeze, 1 repeats, 2 fold, checkpoint before 4; 356-363 shown, 83-92 left for it, floor 403-410
            372-422: above, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 362-379 shown, 93-105 left for it, floor 409-426
            423-438: lands, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 373-380 shown, 47-65 left for it, floor 420-427
            439-488: lands, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 372-395 shown, 56-100 left for it, floor 419-442
            489-549: lands, 1 repeats, 2 fold, checkpoint before 4; 442 shown, 47-107 left for it, floor 489
            550-561: lands, 1 repeats, 1 fold, checkpoint before 3; 493 shown, 57-68 left for it, floor 489
            562-665: lands, 1 repeats; 562 shown, 0 left for it, floor 489
            666-667: nothing; 666 shown, 0 left for it, floor 489
        "#]],
    );
}

#[test]
fn what_preserved_tools_gave_stays_whole_where_it_fits() {
    let tools = vec!["Read".to_owned()];
    check(
        &Case { tools, ..Case::drawn(Format::OpenaiChat, PINNED) },
        &expect![[r#"
            672 tokens
            1-122: above, 3 squeeze, 1 fold, checkpoint before 5; 446 shown, 47 left for it, floor 493
            123-617: above, 1 squeeze, 1 fold, checkpoint before 5; 535-603 shown, 47-51 left for it, floor 582-650
            618-647: above, 1 fold, 1 squeeze, checkpoint before 5; 601-603 shown, 51 left for it, floor 648-650
            648-667: above, 1 fold, checkpoint before 5; 621 shown, 51 left for it, floor 668
            668-671: lands, 1 fold, checkpoint before 5; 621 shown, 47-50 left for it, floor 668
            672-673: nothing; 672 shown, 0 left for it, floor 668
        "#]],
    );
    let tools = vec!["Bash".to_owned()];
    check(
        &Case { tools, ..Case::drawn(Format::Anthropic, PINNED) },
        &expect![[r#"
            666 tokens
            1-126: above, 2 squeeze, 2 fold, checkpoint before 4; 301 shown, 47 left for it, floor 348
            127-339: above, 1 squeeze, 2 fold, checkpoint before 4; 356-357 shown, 47-84 left for it, floor 403-404
            340-370: above, 1 squeeze, 1 repeats, 2 fold, checkpoint before 4; 356-366 shown, 85-92 left for it, floor 403-413
            371-376: above, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 364-369 shown, 92-94 left for it, floor 411-416
            377: above, 1 squeeze, 1 repeats, 2 fold, checkpoint before 4; 367 shown, 94 left for it, floor 414
            378-379: above, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 369 shown, 94 left for it, floor 416
            380: above, 1 squeeze, 1 repeats, 2 fold, checkpoint before 4; 366 shown, 95 left for it, floor 413
            381-412: above, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 366-378 shown, 95-103 left for it, floor 413-425
            413-415: lands, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 366 shown, 47-49 left for it, floor 413
            416-430: above, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 378-384 shown, 104-107 left for it, floor 425-431
            431-438: lands, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 374-384 shown, 47-64 left for it, floor 421-431
            439-488: lands, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 374-393 shown, 59-102 left for it, floor 421-440
            489-549: lands, 1 repeats, 2 fold, checkpoint before 4; 442 shown, 47-107 left for it, floor 489
            550-561: lands, 1 repeats, 1 fold, checkpoint before 3; 493 shown, 57-68 left for it, floor 489
            562-665: lands, 1 repeats; 562 shown, 0 left for it, floor 489
            666-667: nothing; 666 shown, 0 left for it, floor 489
        "#]],
    );
}

#[test]
fn what_stands_for_a_result_is_as_short_as_it_gets() {
    let pins = vec![Pin::Entry(1)];
    check(
        &Case { pins, ..Case::drawn(Format::OpenaiChat, STUBBED) },
        &expect![[r#"
            157 tokens
            1-148: above, 1 fold, checkpoint before 4; 102 shown, 47 left for it, floor 149
            149-156: lands, 1 fold, checkpoint before 4; 102 shown, 47-54 left for it, floor 149
            157-158: nothing; 157 shown, 0 left for it, floor 149
        "#]],
    );
}

#[test]
fn a_checkpoint_that_shares_a_message_leaves_it() {
    let shared = r#"{"messages":[
        {"role":"user","content":[{"type":"text","text":"<checkpoint-1a2b3c4d5e6f>\nNot a request. Earlier work, in short.\nThe rest was left out to save room for what comes.\n</checkpoint-1a2b3c4d5e6f>"},{"type":"text","text":"Fix the build."}]},
        {"role":"assistant","content":"Looking at what there is of it, from the start, one by one."},
        {"role":"user","content":"And the docs."},
        {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Read","input":{"file_path":"a.md"}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1 Some text\n2 More text\n3 And yet more of the same\n4 To the end of it\n5 Or nearly\n6 Now it is\n"}]}]}"#;
    let request = wire::parse(Format::Anthropic, shared.to_owned()).expect("messages");
    let request = standing(request, 0);
    check(
        &Case::of(request.clone()),
        &expect![[r#"
            113 tokens
            1-105: above, 1 fold, 1 fold, checkpoint before 2; 59 shown, 47 left for it, floor 106
            106-112: lands, 1 fold, 1 fold, checkpoint before 2; 59 shown, 47-53 left for it, floor 106
            113-114: nothing; 113 shown, 0 left for it, floor 106
        "#]],
    );
    // Nothing folds, and it leaves as a last resort.
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(Head::default())];
    check(
        &Case { strategies, means: Means::Listed, ..Case::of(request) },
        &expect![[r#"
            113 tokens
            1-105: above, 1 fold, 1 head, checkpoint before 2; 59 shown, 47 left for it, floor 106
            106-112: lands, 1 fold, 1 head, checkpoint before 2; 59 shown, 47-53 left for it, floor 106
            113-114: nothing; 113 shown, 0 left for it, floor 106
        "#]],
    );
}

#[test]
fn without_a_task_the_first_words_may_leave() {
    let case = Case { task: Task::Fold, ..Case::drawn(Format::OpenaiChat, SESSION) };
    check(
        &case,
        &expect![[r#"
            646 tokens
            1-144: above, 1 squeeze, 3 fold, checkpoint before 6; 98 shown, 47 left for it, floor 145
            145-371: lands, 1 squeeze, 3 fold, checkpoint before 6; 98-214 shown, 47-157 left for it, floor 145-261
            372-382: lands, 1 squeeze, 2 fold, checkpoint before 4; 247 shown, 125-135 left for it, floor 294
            383: lands, 1 squeeze, 3 fold, checkpoint before 6; 226 shown, 157 left for it, floor 273
            384-468: lands, 1 squeeze, 2 fold, checkpoint before 4; 259-294 shown, 125-184 left for it, floor 306-316
            469-645: lands, 2 fold, checkpoint before 4; 302 shown, 167-343 left for it, floor 316
            646-647: nothing; 646 shown, 0 left for it, floor 316
        "#]],
    );
}

#[test]
fn images_and_instructions_are_never_cut() {
    let notation = "sys  {lorem 30} The port is 8443.\nuser {lorem 80} {img 640x480}\nasst Well. {lorem 30} | call a Read\nres  a = {lines 9}\nuser {lorem 60}\nasst {lorem 20}\nuser Go on, {lorem 30} {img 64x64}\n";
    let pins = || vec![Pin::Text("The port is 8443.".to_owned()), Pin::Entry(4)];
    check(
        &Case { pins: pins(), ..Case::drawn(Format::OpenaiChat, notation) },
        &expect![[r#"
            1234 tokens
            1-375: above, 2 squeeze, 2 fold, checkpoint before 6; 963-998 shown, 47-93 left for it, floor 1010-1045
            376-503: above, 1 squeeze, 2 fold, checkpoint before 6; 999-1028 shown, 94-125 left for it, floor 1046-1075
            504-1087: above, 2 fold, checkpoint before 6; 1041 shown, 126-193 left for it, floor 1088
            1088-1127: lands, 2 fold, checkpoint before 6; 1041 shown, 47-86 left for it, floor 1088
            1128-1233: lands, 1 fold, checkpoint before 4; 1076 shown, 52-157 left for it, floor 1088
            1234-1235: nothing; 1234 shown, 0 left for it, floor 1088
        "#]],
    );
    check(
        &Case { pins: pins(), tail: Tail::Steps(1), ..Case::drawn(Format::Anthropic, notation) },
        &expect![[r#"
            1231 tokens
            1-503: above, 1 squeeze, 2 fold, checkpoint before 4; 917-963 shown, 47-125 left for it, floor 964-1010
            504-1022: above, 2 fold, checkpoint before 4; 976 shown, 126-255 left for it, floor 1023
            1023-1124: lands, 2 fold, checkpoint before 4; 976 shown, 47-148 left for it, floor 1023
            1125-1230: lands, 1 fold, checkpoint before 3; 1073 shown, 52-157 left for it, floor 1023
            1231-1232: nothing; 1231 shown, 0 left for it, floor 1023
        "#]],
    );
}

#[test]
fn what_stays_beside_an_edit_is_cut_where_only_the_newest_is_kept() {
    let recent = Recent::new(RecentOptions { keep: Tail::Items(1) });
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(recent.expect("in range"))];
    let pins = vec![Pin::Text("The port is 8443.".to_owned()), Pin::Entry(6)];
    let case =
        Case { strategies, pins, stop: Stop::AtEnd, ..Case::drawn(Format::OpenaiChat, PINNED) };
    check(
        &case,
        &expect![[r#"
            672 tokens
            1-372: above, 2 recent, 2 squeeze, checkpoint before 5; 317-334 shown, 47-74 left for it, floor 364-381
            373-375: lands, 2 recent, 2 squeeze, checkpoint before 5; 326 shown, 47-49 left for it, floor 373
            376-395: above, 2 recent, 2 squeeze, checkpoint before 5; 339-349 shown, 74 left for it, floor 386-396
            396-491: lands, 2 recent, 2 squeeze, checkpoint before 5; 349-390 shown, 47-74 left for it, floor 396-437
            492-494: lands, 2 recent, 1 squeeze, checkpoint before 5; 404 shown, 74 left for it, floor 451
            495-673: lands, 2 recent, checkpoint before 5; 448 shown, 47-74 left for it, floor 495
        "#]],
    );
}

#[test]
fn instructions_in_a_tail_are_never_cut() {
    let said = "user Fix the build.\nasst Well.\nsys  {lorem 90}\nuser Go on.\n";
    let case = Case { tail: Tail::Items(2), ..Case::drawn(Format::OpenaiChat, said) };
    let slots = case.request.transcript.entry(2).slots();
    for target in 1..140 {
        let plan = case.plan(target).expect("a plan");
        let is_cut = slots.clone().any(|slot| plan.draft.is_edited(Slot(slot)));
        assert!(!is_cut && plan.draft.is_shown(2), "at {target}");
    }
}

/// Says more of a call than its arguments do.
#[derive(Debug)]
struct Wordy;

impl Strategy for Wordy {
    fn name(&self) -> &'static str {
        "wordy"
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let parts = scene.matter.transcript.entries().flat_map(|entry| entry.parts());
        let calls = parts.filter(|p| p.kind() == PartKind::Call && !scene.draft.is_edited(p.slot));
        let words = "what was asked for here, at greater length than it was asked".repeat(3);
        let put = Put::Arguments(format!(r#"{{"elided":"{words}"}}"#).into());
        let edit = |at| PartEdit { at, put: put.clone(), reason: Reason::LongArguments };
        calls.map(|call| Edit::Put(edit(call.slot))).collect()
    }
}

#[test]
fn what_strategies_make_longer_comes_back_where_only_the_least_fits() {
    let pins = vec![Pin::Entry(2)];
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(Wordy), Arc::new(Head::default())];
    let case = |means| Case {
        pins: pins.clone(),
        strategies: strategies.clone(),
        means,
        ..Case::drawn(Format::OpenaiChat, WORDS_BESIDE)
    };
    check(
        &case(Means::All),
        &expect![[r#"
            212 tokens
            1-171: above; 212 shown, 0 left for it, floor 212
            172-190: lands, 1 fold, 1 squeeze, checkpoint before 4; 125 shown, 47-65 left for it, floor 172
            191-211: lands, 1 fold, checkpoint before 4; 144 shown, 47-67 left for it, floor 191
            212-213: nothing; 212 shown, 0 left for it, floor 191
        "#]],
    );
    // Whoever lists strategies gets no more than these.
    check(
        &case(Means::Listed),
        &expect![[r#"
            212 tokens
            1-171: above; 212 shown, 0 left for it, floor 212
            172-211: short; 212 shown, 0 left for it, floor 172-191
            212-213: nothing; 212 shown, 0 left for it, floor 191
        "#]],
    );
}
