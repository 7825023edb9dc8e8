//! Reasoning that is bound to a prompt which isn't shown any more.

use epitome::wire;
use serde_json::{Value, json};

use super::*;

/// So many steps of a coding agent, each with its reasoning, then what a person says.
fn thought(model: &str, steps: usize) -> Request {
    let mut messages = vec![json!({"role": "user", "content": "Fix the build."})];
    for step in 0..steps {
        let id = format!("toolu_{step}");
        let log = format!("line {step} of a log that says little\n").repeat(60);
        messages.push(json!({"role": "assistant", "content": [
            {"type": "thinking", "thinking": format!("Thought {step}."), "signature": "c2ln"},
            {"type": "tool_use", "id": id, "name": "Read", "input": {"path": format!("src/f{step}.rs")}}]}));
        messages.push(json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": log}]}));
    }
    let body = json!({"model": model, "max_tokens": 100, "messages": messages});
    wire::parse(Format::Anthropic, body.to_string()).expect("a body")
}

/// The same with thinking that was enabled by hand.
fn by_hand(model: &str, steps: usize) -> Request {
    enabled_by_hand(thought(model, steps).source())
}

fn enabled_by_hand(body: &str) -> Request {
    let thinking = r#"{"thinking":{"type":"enabled","budget_tokens":1024},"#;
    let body = body.replacen('{', thinking, 1);
    let body = body.replace(r#""max_tokens":100"#, r#""max_tokens":2048"#);
    wire::parse(Format::Anthropic, body).expect("a body")
}

fn thoughts(request: &Request) -> Vec<String> {
    let body: Value = serde_json::from_str(request.source()).expect("JSON");
    let blocks = body["messages"].as_array().into_iter().flatten();
    let blocks = blocks.flat_map(|message| message["content"].as_array().into_iter().flatten());
    let words = blocks.filter_map(|block| block["thinking"].as_str());
    words.map(str::to_owned).collect()
}

#[test]
fn a_model_that_binds_it_is_not_shown_what_was_said_under_an_earlier_prompt() {
    let mut sessions = folding(When::Items(20));
    let free = sessions.settle("", &thought("claude-opus-4-5", 10), None, START);
    let view = free.view.expect("it was compacted");
    assert!(!thoughts(&view).is_empty(), "the newest steps keep their reasoning");
    let before = sessions.epoch(free.session).expect("known").number;
    // A step under the view, then another model.
    sessions.settle("", &thought("claude-opus-4-5", 11), None, START);
    let bound = sessions.show("", &thought("claude-opus-5-5", 12), None, START);
    let Outgoing::View(shown, _) = bound.send else {
        panic!("the view is in force: {:?}", bound.send)
    };
    // What was said under the view was bound to it, and what leaves stands before it.
    assert_eq!(thoughts(&shown), ["Thought 10.", "Thought 11."]);
    assert_eq!(wire::check(&shown), []);
    assert_eq!(sessions.epoch(bound.session).expect("known").number, before + 1);
    assert_eq!(sessions.len(), 1);
}

/// Its turn must start with reasoning, which is bound to a prompt that isn't shown any more.
#[test]
fn an_open_loop_that_must_start_with_it_leaves_as_a_whole() {
    let mut sessions = folding(When::Items(20));
    let free = sessions.settle("", &by_hand("claude-opus-4-5", 10), None, START);
    let view = free.view.expect("it was compacted");
    assert!(!thoughts(&view).is_empty() && wire::check(&view).is_empty());
    let before = sessions.epoch(free.session).expect("known").number;
    let bound = sessions.show("", &by_hand("claude-haiku-5-5", 11), None, START);
    let Outgoing::View(shown, _) = bound.send else { panic!("a view: {:?}", bound.send) };
    assert_eq!(wire::check(&shown), []);
    assert_eq!(thoughts(&shown), [""; 0]);
    assert!(shown.source().contains("Fix the build."));
    assert_eq!(sessions.epoch(bound.session).expect("known").number, before + 1);
    // It goes on from there: its own reasoning stays, and nothing before it changes.
    let next = sessions.show("", &by_hand("claude-haiku-5-5", 12), None, START);
    let Outgoing::View(grown, _) = next.send else { panic!("a view: {:?}", next.send) };
    assert_eq!(thoughts(&grown), ["Thought 11."]);
    assert_eq!(wire::check(&grown), []);
    assert_eq!(messages(&grown)[..messages(&shown).len()], messages(&shown)[..]);
}

#[test]
fn what_was_reported_of_an_earlier_view_counts_for_no_later_one() {
    let soft = Some(trigger(When::Tokens(4_000)));
    let options = SessionOptions { soft, ..options(When::Tokens(50_000), Target::Tokens(2_000)) };
    let mut sessions = sessions(options);
    let mut answer = sessions.observe("", &after(10), None, START);
    let whole = answer.stats.after.count.tokens;
    // The compaction is prepared while the provider answers, and ends first.
    let committed = adopt(&mut sessions, &mut answer, START);
    assert_eq!(committed, Committed::Adopted { epoch: 1 });
    sessions.reported(sent(answer), whole);
    let next = sessions.show("", &after(11), None, START);
    assert!(
        next.stats.after.count.tokens < whole / 2,
        "{} of {whole}",
        next.stats.after.count.tokens
    );
    let again = sessions.observe("", &after(11), None, START);
    assert!(again.begun.is_none(), "{}", again.stats.reason);
}

/// Thoughts of replies that came while a compaction was prepared were said under the prompt before it.
#[test]
fn what_was_said_while_a_compaction_was_prepared_leaves_with_it() {
    let steps = |steps| thought("claude-opus-5-5", steps);
    let mut machine = folding(When::Items(900));
    let recent = RecentOptions { keep: Tail::Steps(3) };
    let strategies = Pipeline::List(vec![Named::Recent(Setting::On(recent))]);
    let compactor = compactor(Options { strategies, stop: Stop::AtEnd, ..Options::default() });
    let options = SessionOptions {
        soft: Some(trigger(When::Items(20))),
        ..options(When::Items(900), Target::Percent(100))
    };
    assert!(machine.observe("", &steps(10), None, START).begun.is_none());
    machine = Sessions::new(options, compactor).expect("in range");
    let mut begun = machine.observe("", &steps(10), None, START);
    assert!(matches!(begun.send, Outgoing::AsItCame(_)));
    for more in [11, 12] {
        assert!(matches!(machine.show("", &steps(more), None, START).send, Outgoing::AsItCame(_)));
    }
    let committed = adopt(&mut machine, &mut begun, START);
    assert_eq!(committed, Committed::Adopted { epoch: 1 });
    let shown = |machine: &mut Sessions, more: usize| match machine
        .show("", &steps(more), None, START)
        .send
    {
        Outgoing::View(view, _) => thoughts(&view),
        other => panic!("no view: {other:?}"),
    };
    // What was asked before the view was there, too; what was asked under it may stay.
    assert_eq!(shown(&mut machine, 13), [""; 0]);
    assert_eq!(shown(&mut machine, 14), ["Thought 13."]);
}

/// Where nothing would have to leave for it, another model changes nothing.
#[test]
fn a_model_that_binds_it_changes_no_view_that_shows_all() {
    let mut sessions = folding(When::Items(900));
    let free = sessions.observe("", &thought("claude-opus-4-5", 5), None, START);
    assert!(matches!(free.send, Outgoing::AsItCame(_)));
    let bound = sessions.observe("", &thought("claude-opus-5-5", 6), None, START);
    assert!(matches!(bound.send, Outgoing::AsItCame(_)));
    assert_eq!(sessions.epoch(bound.session).expect("known").number, 0);
}

/// A turn that is over needs no thinking at its start: nothing but bound thoughts leaves.
#[test]
fn a_turn_that_is_over_keeps_its_steps() {
    let manual = |model: &str, steps: usize| {
        let over = r#",{"role":"assistant","content":"It is done."},{"role":"user","content":"Thanks."}],"model""#;
        enabled_by_hand(&thought(model, steps).source().replace(r#"],"model""#, over))
    };
    let mut sessions = folding(When::Items(20));
    let free = sessions.settle("", &manual("claude-opus-4-5", 10), None, START);
    let before = free.view.expect("it was compacted");
    let bound = sessions.show("", &manual("claude-haiku-5-5", 10), None, START);
    let Outgoing::View(shown, _) = bound.send else { panic!("a view: {:?}", bound.send) };
    assert_eq!(thoughts(&shown), [""; 0]);
    assert_eq!(shown.transcript.len(), before.transcript.len());
    assert_eq!(wire::check(&shown), []);
}

/// A compaction took its thoughts away, and now they are what the open loop must start with.
#[test]
fn thinking_that_is_enabled_by_hand_later_leaves_no_loop_without_it() {
    let manual = |steps| by_hand("claude-haiku-5-5", steps);
    let mut sessions = folding(When::Items(20));
    let first = sessions.settle("", &thought("claude-opus-5-5", 10), None, START);
    let view = first.view.expect("it was compacted");
    assert_eq!(thoughts(&view), [""; 0]);
    let epoch = |sessions: &Sessions| sessions.epoch(first.session).expect("known").number;
    let before = epoch(&sessions);
    for steps in [10, 11] {
        assert_eq!(wire::check(&manual(steps)), []);
        let answer = sessions.show("", &manual(steps), None, START);
        let Outgoing::View(shown, _) = answer.send else { panic!("a view: {:?}", answer.send) };
        assert_eq!(wire::check(&shown), []);
        assert!(epoch(&sessions) > before);
    }
}

/// So many steps of a turn that is over, then so many of the next one.
fn two_turns(model: &str, steps: usize, behind: usize) -> Request {
    let over = thought(model, steps);
    let all = thought(model, steps + behind);
    let messages = |request: &Request| -> Vec<Value> {
        let body: Value = serde_json::from_str(request.source()).expect("JSON");
        body["messages"].as_array().expect("a list").clone()
    };
    let mut said = messages(&over);
    let newer = messages(&all).split_off(said.len());
    said.push(json!({"role": "assistant", "content": "It is done."}));
    said.push(json!({"role": "user", "content": "And the docs."}));
    said.extend(newer);
    enabled_by_hand(&json!({"model": model, "max_tokens": 100, "messages": said}).to_string())
}

/// Where a loop has to leave, the checkpoint stands for it and for what is older (law 14).
#[test]
fn a_loop_that_leaves_takes_older_steps_along() {
    let mut sessions = folding(When::Items(20));
    let free = sessions.settle("", &two_turns("claude-opus-4-5", 9, 1), None, START);
    assert!(free.view.is_some_and(|view| view.source().contains("line 8 of a log")));
    let bound = sessions.show("", &two_turns("claude-haiku-5-5", 9, 1), None, START);
    let Outgoing::View(shown, _) = bound.send else { panic!("a view: {:?}", bound.send) };
    assert_eq!(wire::check(&shown), []);
    let source = shown.source();
    assert!(!source.contains("of a log"));
    assert!(source.contains("src/f8.rs · src/f9.rs"), "{source}");
}

/// Of a view that the provider takes nothing leaves but bound thoughts.
#[test]
fn a_legal_view_keeps_what_was_said_under_it() {
    let mut sessions = folding(When::Items(20));
    sessions.settle("", &by_hand("claude-opus-4-5", 10), None, START);
    let grown = sessions.show("", &by_hand("claude-opus-4-5", 14), None, START);
    let Outgoing::View(grown, _) = grown.send else { panic!("a view: {:?}", grown.send) };
    let over = r#",{"role":"assistant","content":"It is done."},{"role":"user","content":"Thanks."}],"model""#;
    let over = thought("claude-haiku-5-5", 14).source().replace(r#"],"model""#, over);
    let bound = sessions.show("", &enabled_by_hand(&over), None, START);
    let Outgoing::View(shown, _) = bound.send else { panic!("a view: {:?}", bound.send) };
    assert_eq!(shown.transcript.len(), grown.transcript.len() + 2);
    assert_eq!(wire::check(&shown), []);
    // What was said under it was bound to it.
    assert_eq!(thoughts(&shown), ["Thought 10.", "Thought 11.", "Thought 12.", "Thought 13."]);
}

/// What only its author could mend is no reason to take more away.
#[test]
fn what_was_broken_before_makes_no_view_worse() {
    let manual = |steps| {
        let over = r#",{"role":"assistant","content":"It is done."},{"role":"narrator","content":"Once."},{"role":"user","content":"Thanks."}],"model""#;
        thought("claude-haiku-5-5", steps).source().replace(r#"],"model""#, over)
    };
    let free = |steps| wire::parse(Format::Anthropic, manual(steps)).expect("a body");
    let mut sessions = folding(When::Items(20));
    let first = sessions.settle("", &free(10), None, START);
    assert!(first.view.is_some_and(|view| !wire::check(&view).is_empty()));
    let epoch = |sessions: &Sessions| sessions.epoch(first.session).expect("known").number;
    let before = epoch(&sessions);
    let answer = sessions.show("", &enabled_by_hand(&manual(10)), None, START);
    assert!(matches!(answer.send, Outgoing::View(..)));
    assert_eq!(epoch(&sessions), before);
}
