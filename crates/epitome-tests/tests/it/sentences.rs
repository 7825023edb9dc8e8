//! What people read of causes, reasons, holders, refusals and faults: one line for each kind, and no two alike.

use std::collections::HashSet;
use std::fmt::{Display, Write as _};

use epitome::model::capability::MisfitKind;
use epitome::session::StallReason;
use epitome::strategy::guard::KeepReason;
use epitome::summarize::{FailureKind, Fault, ShapeReason};
use epitome::trigger::{Asker, Cause, Demand};
use epitome::view::Reason;
use expect_test::{Expect, expect};

/// Holds sentences against `expected`: none is empty, and none is said of two kinds.
fn check<T: Display>(said: impl IntoIterator<Item = T>, expected: &Expect) {
    let mut all = String::new();
    let mut seen = HashSet::new();
    for said in said {
        let said = said.to_string();
        assert!(!said.trim().is_empty());
        writeln!(all, "{said}").expect("a string takes all");
        assert!(seen.insert(said.clone()), "{said:?} is said twice");
    }
    expected.assert_eq(&all);
}

#[test]
fn a_cause_says_what_was_measured_against_what() {
    let asked = |by, reason: &str| Demand::new(by, reason);
    let causes = [
        Cause::Items { items: 9, most: 8 },
        Cause::Steps { steps: 9, most: 8 },
        Cause::Turns { turns: 9, most: 8 },
        Cause::Tokens { tokens: 9, limit: 8 },
        Cause::Characters { characters: 9, limit: 8 },
        Cause::Bytes { bytes: 9, limit: 8 },
        Cause::Window { tokens: 9, limit: 8, window: 10 },
        Cause::Switch { tokens: 9, from: 10, to: 8 },
        Cause::Overflow { window: Some(8) },
        Cause::Overflow { window: None },
        Cause::Idle { idle: 250, left: 50 },
        Cause::Asked(vec![asked(Asker::Host, " "), asked(Asker::Model, "a new topic")]),
        Cause::Remote,
        Cause::Custom("it is Monday".to_owned()),
        Cause::All(vec![Cause::Remote, Cause::Items { items: 9, most: 8 }]),
    ];
    check(
        causes.iter().map(|cause| format!("{}: {cause}", cause.name())),
        &expect![[r#"
            items: 9 items, more than 8
            steps: 9 steps, more than 8
            turns: 9 human turns, more than 8
            tokens: 9 tokens, limit 8
            characters: 9 characters, limit 8
            bytes: 9 bytes, limit 8
            window: 9 tokens, limit 8 of a window of 10
            switch: 9 tokens before a window of 8 instead of 10
            overflow: the provider refused it: its window is 8
            overflow: the provider refused it as too large
            idle: idle for 250 s, 50 s before the cache forgets
            asked: the host asked for it; the model asked for it: a new topic
            remote: the compactor is asked on every call
            custom: it is Monday
            all: the compactor is asked on every call and 9 items, more than 8
        "#]],
    );
    let demands: Vec<usize> = causes.iter().map(|cause| cause.demands().len()).collect();
    assert_eq!(demands, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]);
    let remote: Vec<bool> = causes.iter().map(Cause::is_remote).collect();
    let is_remote = |at: &usize| remote[*at];
    assert_eq!((0..causes.len()).filter(is_remote).collect::<Vec<_>>(), [12, 14]);
}

#[test]
fn a_reason_says_what_was_done() {
    let reasons = [
        Reason::Arrived,
        Reason::Repeated,
        Reason::Superseded,
        Reason::FailedCall,
        Reason::OldOutput,
        Reason::LongArguments,
        Reason::OldReasoning,
        Reason::BoundReasoning,
        Reason::LongText,
        Reason::OldMedia,
        Reason::TooLarge,
        Reason::OlderStep,
        Reason::NotRecent,
        Reason::LastResort,
        Reason::Emptied,
        Reason::OneRequest,
        Reason::Delegated,
        Reason::Custom("same-lines".parse().expect("a label")),
    ];
    check(
        reasons.each_ref().map(Reason::words),
        &expect![[r#"
            giant when it arrived, excerpted
            said again later, replaced by a pointer
            superseded by what came later
            failed call, stubbed
            old tool output, stubbed
            bulky arguments of an old call, shortened
            old reasoning, dropped
            reasoning bound to the old prefix, dropped
            long text, cut to its telling lines
            old image or document, replaced by a note
            larger than its share of the target, excerpted
            folded into the checkpoint
            older than what is kept, folded
            folded as a last resort
            empty once its parts were gone
            a client's note for one request
            as another compactor decided
            same-lines
        "#]],
    );
}

#[test]
fn a_holder_says_what_it_holds() {
    let holders = [
        KeepReason::SystemPrompt,
        KeepReason::ToolDefinitions,
        KeepReason::Instructions,
        KeepReason::State,
        KeepReason::Task,
        KeepReason::Newest,
        KeepReason::Last,
        KeepReason::Pin,
        KeepReason::Tail,
        KeepReason::Tool,
        KeepReason::Kind,
        KeepReason::Chosen,
        KeepReason::Elsewhere,
        KeepReason::Companion,
        KeepReason::Provider,
    ];
    check(
        holders.map(KeepReason::words),
        &expect![[r#"
        system prompt
        tool definitions
        system messages
        stateful messages
        the task (first human message)
        the newest human message
        the newest messages
        pins
        the tail to keep
        preserved tools
        preserved kinds
        what the caller preserves
        what goes on from history elsewhere
        results and calls that belong to those
        the provider's rules
    "#]],
    );
}

#[test]
fn what_a_model_does_not_take_has_a_name_and_a_sentence() {
    check(
        MisfitKind::ALL.map(|subject| format!("{}: {}", subject.name(), subject.words())),
        &expect![[r#"
            model/window: a prompt that is longer than the model takes
            model/reply: a reply asked for that is longer than the model's longest
            model/room: prompt and reply that are together longer than the window
            model/images: images, for a model that sees none
            model/documents: documents, for a model that reads none
            model/thinking: reasoning asked for in a way that the model doesn't know
            model/foreign-reasoning: another model's reasoning, which is dropped
            model/forced-tool: a forced tool call, where the model refuses one
            model/mid-system: system text in mid-conversation, where the model takes none
            model/prefill: an end in the assistant's words, where the model goes on from none
            model/unsigned-thinking: thinking without the signature that the model wants
            model/reasoning-back: calls without their reasoning, which the model wants back beside them
            model/tools-here: tools, for a model that takes them in another format only
        "#]],
    );
}

#[test]
fn stalls_say_what_to_do() {
    let stall =
        [StallReason::Overhead, StallReason::NoGain, StallReason::Refilled, StallReason::Failing];
    check(
        stall.map(StallReason::words),
        &expect![[r#"
        system prompt, tools, pins and tail alone are over the trigger: raise it, offer fewer tools, or pin less
        the last compaction saved next to nothing: nothing is tried before the conversation has grown
        the window filled up again right after each of three compactions: cap tool outputs, or raise the trigger
        compactions fail again and again: see the error; tried again later
    "#]],
    );
}

#[test]
fn a_summary_is_refused_and_its_shape_chosen_with_a_reason() {
    let missing = || vec!["Task".to_owned(), "State".to_owned()];
    let faults = [
        Fault::Empty,
        Fault::Longer { tokens: 9, replaced: 8 },
        Fault::TooLong { tokens: 9, most: 4 },
        Fault::Reply,
        Fault::Refusal,
        Fault::ToolCall,
        Fault::Sections(missing()),
        Fault::Invented(missing()),
        Fault::Language,
        Fault::Repeats,
    ];
    check(
        faults.iter().map(|fault| format!("{}: {fault}", fault.name())),
        &expect![[r#"
        empty: it is empty
        longer: its 9 tokens are no fewer than the 8 that it would replace
        too-long: it has 9 tokens, and there is room for 4
        reply: it answers the transcript instead of summarising it
        refusal: it refuses instead of summarising
        tool-call: it calls a tool
        sections: it lacks the sections Task, State
        invented: it states what the transcript doesn't: Task, State
        language: it isn't in the language of the conversation
        repeats: it repeats itself
    "#]],
    );
    let whys = [
        ShapeReason::Cheaper,
        ShapeReason::AnotherModel,
        ShapeReason::NoPrice,
        ShapeReason::Window,
        ShapeReason::ForcesTool,
        ShapeReason::Structured,
        ShapeReason::Elsewhere,
        ShapeReason::Broken,
        ShapeReason::NotUsed,
    ];
    check(
        whys,
        &expect![[r#"
        it costs less
        the agent runs with another model
        no price is known
        the agent's prompt leaves no room for an answer
        the agent's request forces a tool
        the agent's request demands an answer of a certain form
        the agent's request names history that isn't in it
        no message can stand behind the agent's request
        what going on from the agent's prompt gave can't be used
    "#]],
    );
}

#[test]
fn what_failed_outside_is_named() {
    let failures = [
        FailureKind::Timeout,
        FailureKind::Unreachable,
        FailureKind::RateLimited,
        FailureKind::Upstream,
        FailureKind::Rejected,
        FailureKind::Unauthorized,
        FailureKind::Malformed,
        FailureKind::CutShort,
        FailureKind::ToolCall,
        FailureKind::Refusal,
        FailureKind::SpendCap,
        FailureKind::Unbooked,
        FailureKind::Resting,
        FailureKind::Unattended,
        FailureKind::Command,
    ];
    check(
        failures,
        &expect![[r#"
        no answer in time
        can't be reached
        asked too often
        the server failed
        the request was refused
        the key isn't taken
        the answer can't be read
        the answer broke off
        it called a tool
        it refused
        the spend cap is reached
        it isn't known what was spent
        it failed too often and isn't asked for now
        nobody waits for its answer
        the command failed
    "#]],
    );
}
