//! Strategies of a caller's own, and what is marked in a request.

use epitome::strategy::{Edit, Head, StrategyContext};
use epitome::transcript::{PartKind, Slot};
use epitome::view::{PartEdit, Put, Reason};
use expect_test::expect;

use super::*;

/// A pinned result, whose call is shorter than anything that could stand for it.
const WORDS_BESIDE: &str = r#"
user Fix the build.
asst call a Read {"n":1}
res  a = {lorem 60}
asst Well. {lorem 40}
user Go on.
"#;

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

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let parts = context.counts.transcript.entries().flat_map(|entry| entry.parts());
        let calls =
            parts.filter(|p| p.kind() == PartKind::Call && !context.draft.is_edited(p.slot));
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

/// Steps of an open turn that began with thinking.
const THINKING: &str = r#"
user Fix the build.
asst think* first | call a Read {"file_path":"a.rs"}
res  a = {lines 8}
user And the docs.
asst think* to begin with | call b Read {"file_path":"b.rs"}
res  b = {lines 12}
asst call c Read {"file_path":"c.rs"}
res  c = {lines 10}
asst think* on it | call d Read {"file_path":"d.rs"}
res  d = {lines 8}
asst call e Read {"file_path":"e.rs"}
res  e = {lines 6}
"#;

/// Leaves out all thinking, whatever the provider demands of it.
#[derive(Debug)]
struct Thoughtless;

impl Strategy for Thoughtless {
    fn name(&self) -> &'static str {
        "thoughtless"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let parts = context.counts.transcript.entries().flat_map(|entry| entry.parts());
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
    let body = testkit::parse(Format::Anthropic, THINKING).source().replacen('{', MANUAL, 1);
    let request = wire::parse(Format::Anthropic, body).expect("a body");
    check(
        &Case { strategies, means: Means::Listed, ..Case::of(request) },
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
