//! What must stay, and what is cut of it where it doesn't fit.

use epitome::strategy::{Edit, Head, Recent, RecentOptions, StrategyContext};
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
            1-192: above, 1 squeeze, 1 fold, checkpoint before 4; 185 shown, 1-51 left for it, floor 236
            193-209: above, 1 squeeze, 1 fold, 1 squeeze, checkpoint before 4; 185 shown, 8-24 left for it, floor 236
            210-368: above, 1 fold, checkpoint before 4; 318 shown, 1-79 left for it, floor 369
            369-645: lands, 1 fold, checkpoint before 4; 318 shown, 51-327 left for it, floor 369
            646-647: nothing; 646 shown, 0 left for it, floor 369
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
            1-318: above, 2 squeeze, 2 fold, checkpoint before 5; 317 shown, 1-79 left for it, floor 368
            319-327: above, 2 squeeze, 2 fold, 1 squeeze, checkpoint before 5; 315-318 shown, 4-9 left for it, floor 366-369
            328-338: above, 2 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 5; 318-322 shown, 10-16 left for it, floor 369-373
            339-342: above, 2 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 322 shown, 17-20 left for it, floor 373
            343-344: above, 2 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 5; 322 shown, 21-22 left for it, floor 373
            345-399: above, 2 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 322-349 shown, 21-50 left for it, floor 373-400
            400-402: lands, 2 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 349 shown, 51-53 left for it, floor 400
            403: lands, 1 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 349 shown, 54 left for it, floor 400
            404: above, 1 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 354 shown, 50 left for it, floor 405
            405-435: lands, 1 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 354-364 shown, 51-71 left for it, floor 405-415
            436-439: lands, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 5; 379 shown, 57-60 left for it, floor 416
            440: lands, 1 squeeze, 1 repeats, 2 fold, 2 squeeze, checkpoint before 5; 376 shown, 64 left for it, floor 427
            441-444: lands, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 5; 386-390 shown, 51-58 left for it, floor 415-427
            445-498: lands, 1 repeats, 2 fold, 1 squeeze, checkpoint before 5; 378-405 shown, 58-94 left for it, floor 415-456
            499-555: lands, 1 repeats, 2 fold, checkpoint before 5; 448 shown, 51-107 left for it, floor 499
            556-567: lands, 1 repeats, 1 fold, checkpoint before 4; 499 shown, 57-68 left for it, floor 499
            568-671: lands, 1 repeats; 568 shown, 0 left for it, floor 499
            672-673: nothing; 672 shown, 0 left for it, floor 499
        "#]],
    );
}

#[test]
fn results_share_an_entry_with_a_persons_words() {
    check(
        &Case::drawn(Format::Anthropic, PINNED),
        &expect![[r#"
            666 tokens
            1-179: above, 1 squeeze, 3 fold, checkpoint before 6; 173-174 shown, 1-51 left for it, floor 224-225
            180-224: above, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 6; 174 shown, 6-50 left for it, floor 225
            225-232: lands, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 6; 174 shown, 51-58 left for it, floor 225
            233-255: lands, 1 squeeze, 1 repeats, 3 fold, 1 squeeze, checkpoint before 6; 174 shown, 59-81 left for it, floor 225
            256-309: lands, 1 repeats, 3 fold, 1 squeeze, checkpoint before 6; 174 shown, 82-135 left for it, floor 225
            310-549: lands, 1 repeats, 3 fold, checkpoint before 6; 259 shown, 51-290 left for it, floor 310
            550-561: lands, 1 repeats, 1 fold, checkpoint before 3; 493 shown, 57-68 left for it, floor 310
            562-665: lands, 1 repeats; 562 shown, 0 left for it, floor 310
            666-667: nothing; 666 shown, 0 left for it, floor 310
        "#]],
    );
    let pins = vec![Pin::Text("The port is 8443.".to_owned())];
    check(
        &Case { pins, tail: Tail::Items(2), ..Case::drawn(Format::Anthropic, PINNED) },
        &expect![[r#"
            666 tokens
            1-129: above, 2 squeeze, 2 fold, checkpoint before 4; 300 shown, 51 left for it, floor 351
            130-331: above, 1 squeeze, 2 fold, checkpoint before 4; 354-356 shown, 51-82 left for it, floor 405-407
            332-371: above, 1 squeeze, 1 repeats, 2 fold, checkpoint before 4; 356-363 shown, 1-90 left for it, floor 407-414
            372-426: above, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 362-379 shown, 10-50 left for it, floor 413-430
            427-438: lands, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 373-380 shown, 51-65 left for it, floor 424-431
            439-492: lands, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 372-398 shown, 56-100 left for it, floor 423-449
            493-549: lands, 1 repeats, 2 fold, checkpoint before 4; 442 shown, 51-107 left for it, floor 493
            550-561: lands, 1 repeats, 1 fold, checkpoint before 3; 493 shown, 57-68 left for it, floor 493
            562-665: lands, 1 repeats; 562 shown, 0 left for it, floor 493
            666-667: nothing; 666 shown, 0 left for it, floor 493
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
            1-122: above, 3 squeeze, 1 fold, checkpoint before 5; 446 shown, 51 left for it, floor 497
            123-617: above, 1 squeeze, 1 fold, checkpoint before 5; 535-603 shown, 1-51 left for it, floor 586-654
            618-647: above, 1 fold, 1 squeeze, checkpoint before 5; 601-603 shown, 15-46 left for it, floor 652-654
            648-671: above; 672 shown, 0 left for it, floor 672
            672-673: nothing; 672 shown, 0 left for it, floor 672
        "#]],
    );
    let tools = vec!["Bash".to_owned()];
    check(
        &Case { tools, ..Case::drawn(Format::Anthropic, PINNED) },
        &expect![[r#"
            666 tokens
            1-126: above, 2 squeeze, 2 fold, checkpoint before 4; 301 shown, 51 left for it, floor 352
            127-339: above, 1 squeeze, 2 fold, checkpoint before 4; 356-357 shown, 51-84 left for it, floor 407-408
            340-370: above, 1 squeeze, 1 repeats, 2 fold, checkpoint before 4; 356-366 shown, 1-91 left for it, floor 407-417
            371-376: above, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 364-369 shown, 7-11 left for it, floor 415-420
            377: above, 1 squeeze, 1 repeats, 2 fold, checkpoint before 4; 367 shown, 10 left for it, floor 418
            378-379: above, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 369 shown, 9-10 left for it, floor 420
            380: above, 1 squeeze, 1 repeats, 2 fold, checkpoint before 4; 366 shown, 14 left for it, floor 417
            381-431: above, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 366-384 shown, 8-49 left for it, floor 417-435
            432-438: lands, 1 squeeze, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 374-378 shown, 54-64 left for it, floor 425-429
            439-492: lands, 1 repeats, 2 fold, 1 squeeze, checkpoint before 4; 374-393 shown, 59-105 left for it, floor 425-444
            493-549: lands, 1 repeats, 2 fold, checkpoint before 4; 442 shown, 51-107 left for it, floor 493
            550-561: lands, 1 repeats, 1 fold, checkpoint before 3; 493 shown, 57-68 left for it, floor 493
            562-665: lands, 1 repeats; 562 shown, 0 left for it, floor 493
            666-667: nothing; 666 shown, 0 left for it, floor 493
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
            1-152: above, 1 fold, checkpoint before 4; 102 shown, 1-51 left for it, floor 153
            153-156: lands, 1 fold, checkpoint before 4; 102 shown, 51-54 left for it, floor 153
            157-158: nothing; 157 shown, 0 left for it, floor 153
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
            1-109: above, 1 fold, 1 fold, checkpoint before 2; 59 shown, 1-51 left for it, floor 110
            110-112: lands, 1 fold, 1 fold, checkpoint before 2; 59 shown, 51-53 left for it, floor 110
            113-114: nothing; 113 shown, 0 left for it, floor 110
        "#]],
    );
    // Nothing folds, and it leaves as a last resort.
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(Head::default())];
    check(
        &Case { strategies, means: Means::Listed, ..Case::of(request) },
        &expect![[r#"
            113 tokens
            1-109: above, 1 fold, 1 head, checkpoint before 2; 59 shown, 1-51 left for it, floor 110
            110-112: lands, 1 fold, 1 head, checkpoint before 2; 59 shown, 51-53 left for it, floor 110
            113-114: nothing; 113 shown, 0 left for it, floor 110
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
            1-169: above, 1 squeeze, 3 fold, checkpoint before 6; 98-101 shown, 1-69 left for it, floor 167-170
            170-189: lands, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 6; 98-103 shown, 72-86 left for it, floor 167-172
            190-233: lands, 1 squeeze, 3 fold, checkpoint before 6; 105-150 shown, 82-93 left for it, floor 174-186
            234: lands, 1 squeeze, 3 fold, 1 squeeze, checkpoint before 6; 147 shown, 87 left for it, floor 186
            235-371: lands, 1 squeeze, 3 fold, checkpoint before 6; 147-214 shown, 87-157 left for it, floor 186-283
            372-382: lands, 1 squeeze, 2 fold, checkpoint before 4; 247 shown, 125-135 left for it, floor 316
            383: lands, 1 squeeze, 3 fold, checkpoint before 6; 226 shown, 157 left for it, floor 295
            384-468: lands, 1 squeeze, 2 fold, checkpoint before 4; 259-294 shown, 125-184 left for it, floor 328-338
            469-645: lands, 2 fold, checkpoint before 4; 302 shown, 167-343 left for it, floor 338
            646-647: nothing; 646 shown, 0 left for it, floor 338
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
            1-375: above, 2 squeeze, 2 fold, checkpoint before 6; 963-998 shown, 51-93 left for it, floor 1014-1049
            376-503: above, 1 squeeze, 2 fold, checkpoint before 6; 999-1028 shown, 94-125 left for it, floor 1050-1079
            504-1091: above, 2 fold, checkpoint before 6; 1041 shown, 1-193 left for it, floor 1092
            1092-1127: lands, 2 fold, checkpoint before 6; 1041 shown, 51-86 left for it, floor 1092
            1128-1233: lands, 1 fold, checkpoint before 4; 1076 shown, 52-157 left for it, floor 1092
            1234-1235: nothing; 1234 shown, 0 left for it, floor 1092
        "#]],
    );
    check(
        &Case { pins: pins(), tail: Tail::Steps(1), ..Case::drawn(Format::Anthropic, notation) },
        &expect![[r#"
            1231 tokens
            1-503: above, 1 squeeze, 2 fold, checkpoint before 4; 917-963 shown, 51-125 left for it, floor 968-1014
            504-1026: above, 2 fold, checkpoint before 4; 976 shown, 1-243 left for it, floor 1027
            1027-1124: lands, 2 fold, checkpoint before 4; 976 shown, 51-148 left for it, floor 1027
            1125-1230: lands, 1 fold, checkpoint before 3; 1073 shown, 52-157 left for it, floor 1027
            1231-1232: nothing; 1231 shown, 0 left for it, floor 1027
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
            1-399: above, 2 recent, 2 squeeze, checkpoint before 5; 317-349 shown, 1-74 left for it, floor 368-400
            400-403: lands, 2 recent, 2 squeeze, checkpoint before 5; 349 shown, 51-54 left for it, floor 400
            404: above, 2 recent, 2 squeeze, checkpoint before 5; 354 shown, 50 left for it, floor 405
            405-491: lands, 2 recent, 2 squeeze, checkpoint before 5; 354-390 shown, 51-74 left for it, floor 405-441
            492-498: lands, 2 recent, 1 squeeze, checkpoint before 5; 404-405 shown, 74 left for it, floor 455-456
            499-673: lands, 2 recent, checkpoint before 5; 448 shown, 51-74 left for it, floor 499
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

    fn propose(&self, scene: &StrategyContext<'_>) -> Vec<Edit> {
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
            1-175: above; 212 shown, 0 left for it, floor 212
            176-194: lands, 1 fold, 1 squeeze, checkpoint before 4; 125 shown, 51-68 left for it, floor 176
            195-211: lands, 1 fold, checkpoint before 4; 144 shown, 51-67 left for it, floor 195
            212-213: nothing; 212 shown, 0 left for it, floor 195
        "#]],
    );
    // Whoever lists strategies gets no more than these.
    check(
        &case(Means::Listed),
        &expect![[r#"
            212 tokens
            1-175: above; 212 shown, 0 left for it, floor 212
            176-211: short; 212 shown, 0 left for it, floor 176-195
            212-213: nothing; 212 shown, 0 left for it, floor 195
        "#]],
    );
}
