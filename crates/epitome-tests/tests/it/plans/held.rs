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
            1-209: above, squeeze, fold, checkpoint before 4; 185 shown
            210-368: above, fold, checkpoint before 4; 318 shown
            369-645: lands, fold, checkpoint before 4; 318 shown
            646-647: nothing; 646 shown
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
            1-327: above, squeeze, fold, checkpoint before 5; 315-318 shown
            328-399: above, squeeze, repeats, fold, checkpoint before 5; 318-349 shown
            400-403: lands, squeeze, repeats, fold, checkpoint before 5; 349 shown
            404: above, squeeze, repeats, fold, checkpoint before 5; 354 shown
            405-444: lands, squeeze, repeats, fold, checkpoint before 5; 354-390 shown
            445-498: lands, repeats, fold, squeeze, checkpoint before 5; 378-405 shown
            499-555: lands, repeats, fold, checkpoint before 5; 448 shown
            556-567: lands, repeats, fold, checkpoint before 4; 499 shown
            568-671: lands, repeats; 568 shown
            672-673: nothing; 672 shown
        "#]],
    );
}

#[test]
fn results_share_an_entry_with_a_persons_words() {
    check(
        &Case::drawn(Format::Anthropic, PINNED),
        &expect![[r#"
            666 tokens
            1-224: above, squeeze, fold, checkpoint before 6; 173-174 shown
            225-232: lands, squeeze, fold, checkpoint before 6; 174 shown
            233-255: lands, squeeze, repeats, fold, checkpoint before 6; 174 shown
            256-309: lands, repeats, fold, squeeze, checkpoint before 6; 174 shown
            310-549: lands, repeats, fold, checkpoint before 6; 259 shown
            550-561: lands, repeats, fold, checkpoint before 3; 493 shown
            562-665: lands, repeats; 562 shown
            666-667: nothing; 666 shown
        "#]],
    );
    let pins = vec![Pin::Text("The port is 8443.".to_owned())];
    check(
        &Case { pins, tail: Tail::Items(2), ..Case::drawn(Format::Anthropic, PINNED) },
        &expect![[r#"
            666 tokens
            1-331: above, squeeze, fold, checkpoint before 4; 300-356 shown
            332-426: above, squeeze, repeats, fold, checkpoint before 4; 356-379 shown
            427-438: lands, squeeze, repeats, fold, checkpoint before 4; 373-380 shown
            439-492: lands, repeats, fold, squeeze, checkpoint before 4; 372-398 shown
            493-549: lands, repeats, fold, checkpoint before 4; 442 shown
            550-561: lands, repeats, fold, checkpoint before 3; 493 shown
            562-665: lands, repeats; 562 shown
            666-667: nothing; 666 shown
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
            1-617: above, squeeze, fold, checkpoint before 5; 446-603 shown
            618-647: above, fold, squeeze, checkpoint before 5; 601-603 shown
            648-671: above; 672 shown
            672-673: nothing; 672 shown
        "#]],
    );
    let tools = vec!["Bash".to_owned()];
    check(
        &Case { tools, ..Case::drawn(Format::Anthropic, PINNED) },
        &expect![[r#"
            666 tokens
            1-339: above, squeeze, fold, checkpoint before 4; 301-357 shown
            340-431: above, squeeze, repeats, fold, checkpoint before 4; 356-384 shown
            432-438: lands, squeeze, repeats, fold, checkpoint before 4; 374-378 shown
            439-492: lands, repeats, fold, squeeze, checkpoint before 4; 374-393 shown
            493-549: lands, repeats, fold, checkpoint before 4; 442 shown
            550-561: lands, repeats, fold, checkpoint before 3; 493 shown
            562-665: lands, repeats; 562 shown
            666-667: nothing; 666 shown
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
            1-152: above, fold, checkpoint before 4; 102 shown
            153-156: lands, fold, checkpoint before 4; 102 shown
            157-158: nothing; 157 shown
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
            1-109: above, fold, checkpoint before 2; 59 shown
            110-112: lands, fold, checkpoint before 2; 59 shown
            113-114: nothing; 113 shown
        "#]],
    );
    // Nothing folds, and it leaves as a last resort.
    let strategies: Vec<Arc<dyn Strategy>> = vec![Arc::new(Head::default())];
    check(
        &Case { strategies, means: Means::Listed, ..Case::of(request) },
        &expect![[r#"
            113 tokens
            1-109: above, fold, head, checkpoint before 2; 59 shown
            110-112: lands, fold, head, checkpoint before 2; 59 shown
            113-114: nothing; 113 shown
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
            1-169: above, squeeze, fold, checkpoint before 6; 98-101 shown
            170-371: lands, squeeze, fold, checkpoint before 6; 98-214 shown
            372-382: lands, squeeze, fold, checkpoint before 4; 247 shown
            383: lands, squeeze, fold, checkpoint before 6; 226 shown
            384-468: lands, squeeze, fold, checkpoint before 4; 259-294 shown
            469-645: lands, fold, checkpoint before 4; 302 shown
            646-647: nothing; 646 shown
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
            1-503: above, squeeze, fold, checkpoint before 6; 963-1028 shown
            504-1091: above, fold, checkpoint before 6; 1041 shown
            1092-1127: lands, fold, checkpoint before 6; 1041 shown
            1128-1233: lands, fold, checkpoint before 4; 1076 shown
            1234-1235: nothing; 1234 shown
        "#]],
    );
    check(
        &Case { pins: pins(), tail: Tail::Steps(1), ..Case::drawn(Format::Anthropic, notation) },
        &expect![[r#"
            1231 tokens
            1-503: above, squeeze, fold, checkpoint before 4; 917-963 shown
            504-1026: above, fold, checkpoint before 4; 976 shown
            1027-1124: lands, fold, checkpoint before 4; 976 shown
            1125-1230: lands, fold, checkpoint before 3; 1073 shown
            1231-1232: nothing; 1231 shown
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
            1-399: above, recent, squeeze, checkpoint before 5; 317-349 shown
            400-403: lands, recent, squeeze, checkpoint before 5; 349 shown
            404: above, recent, squeeze, checkpoint before 5; 354 shown
            405-498: lands, recent, squeeze, checkpoint before 5; 354-405 shown
            499-673: lands, recent, checkpoint before 5; 448 shown
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
            1-175: above; 212 shown
            176-194: lands, fold, squeeze, checkpoint before 4; 125 shown
            195-211: lands, fold, checkpoint before 4; 144 shown
            212-213: nothing; 212 shown
        "#]],
    );
    // Whoever lists strategies gets no more than these.
    check(
        &case(Means::Listed),
        &expect![[r#"
            212 tokens
            1-175: above; 212 shown
            176-211: short; 212 shown
            212-213: nothing; 212 shown
        "#]],
    );
}
