//! What providers report and refuse teaches all conversations with the same model.

use epitome::count::Basis;
use epitome::model::overflow::{LimitUnit, PromptOverflow};
use epitome::session::{Experience, Recipient, Retry};

use super::*;

fn full() -> SessionOptions {
    SessionOptions::new(trigger(When::Share(0.8)), ChainKey([1, 2, 3, 4]))
}

fn named(model: &str) -> Recipient {
    Recipient { model: Some(model.to_owned()), ..Recipient::default() }
}

#[test]
fn a_refusal_is_answered_by_something_strictly_smaller_exactly_once() {
    let mut sessions = sessions(full());
    let request = after(20);
    let before = sessions.observe("", &request, None, START);
    let tokens = before.stats.after.count.tokens;
    let told = PromptOverflow::of_tokens(Some(tokens), Some(tokens / 2));
    let retry = sessions.overflowed("", &request, sent(before), &told, START).expect("once");
    let Retry { session, begun, refused } = retry;
    let ticket = begun.ticket;
    let outcome = run(*begun).expect("a sound view");
    assert!(outcome.receipt.after.count.tokens <= tokens / 2 * 9 / 10);
    let committed = sessions.commit(session, ticket, Ok(&outcome), START);
    assert_eq!(committed, Committed::Adopted { epoch: 1 });
    let smaller = sessions.retry("", &request, refused, START).expect("it is smaller");
    assert!(smaller.stats.after.count.tokens < tokens);
    let again = sessions.overflowed("", &request, sent(smaller), &told, START);
    assert!(again.is_none(), "exactly one retry");
    let grown = after(21);
    let answer = sessions.show("", &grown, None, START);
    let another = sessions.overflowed("", &grown, sent(answer), &told, START);
    assert!(another.is_some(), "another request");
}

/// Whatever is refused again and again isn't too long alone: what a view loses for it is lost for nothing.
#[test]
fn retries_that_are_refused_as_well_leave_the_earlier_view_and_end() {
    let mut sessions = sessions(full());
    let told = PromptOverflow::of_tokens(Some(250_000), Some(200_000));
    let (mut tokens, mut tried) = (0, u64::MAX);
    for (steps, now, is_tried) in
        [(20, 0, true), (21, 1, true), (22, 2, false), (23, 30, false), (24, 31, true)]
    {
        let (request, now) = (after(steps), Duration::from_secs(now));
        let answer = sessions.show("t", &request, None, now);
        let before = answer.stats.after.count.tokens;
        assert!(before > tokens, "{steps}: it grows, {tokens} and {before}");
        let retry = sessions.overflowed("t", &request, sent(answer), &told, now);
        assert_eq!(retry.is_some(), is_tried, "{steps}");
        tokens = before;
        let Some(Retry { session, begun, refused }) = retry else { continue };
        let ticket = begun.ticket;
        let outcome = run(*begun);
        sessions.commit(session, ticket, outcome.as_deref(), now);
        let smaller = sessions.retry("t", &request, refused, now).expect("it is smaller");
        let is = smaller.stats.after.count.tokens;
        assert!(is < tried, "{steps}: each try is smaller, {is} and {tried}");
        tried = is;
        assert!(sessions.overflowed("t", &request, sent(smaller), &told, now).is_none());
    }
    let accepted = sessions.show("t", &after(25), None, Duration::from_secs(32));
    sessions.reported(sent(accepted), tokens);
    let answer = sessions.show("t", &after(26), None, Duration::from_secs(33));
    let now = Duration::from_secs(33);
    assert!(sessions.overflowed("t", &after(26), sent(answer), &told, now).is_some());
}

#[test]
fn what_did_not_become_smaller_is_not_sent_again() {
    let mut sessions = sessions(full());
    let request = after(20);
    let answer = sessions.observe("", &request, None, START);
    let told = PromptOverflow::of_tokens(None, None);
    let retry = sessions.overflowed("", &request, sent(answer), &told, START).expect("once");
    let failed = Err(&CompactError::Cancelled);
    let committed = sessions.commit(retry.session, retry.begun.ticket, failed, START);
    assert_eq!(committed, Committed::Failed);
    assert!(sessions.retry("", &request, retry.refused, START).is_none());
}

/// Two clients with one history: what the provider says of one's prompt isn't said of the other's.
#[test]
fn each_is_told_of_its_own_prompt() {
    let mut sessions = sessions(full());
    let early = sessions.observe("", &after(10), named("m"), START);
    let counted = early.stats.after.count.tokens;
    let late = sessions.observe("", &after(30), named("m"), START);
    let more = late.stats.after.count.tokens;
    assert_eq!(early.session, late.session);
    // The provider counts as we do; the earlier answer comes last.
    sessions.reported(sent(late), more);
    sessions.reported(sent(early), counted);
    let next = sessions.show("", &after(30), named("m"), START).stats.after.count;
    assert_eq!((next.tokens, next.basis), (more, Basis::Reported));
    let grown = sessions.show("", &after(31), named("m"), START).stats.after.count;
    assert!(grown.upper < more * 11 / 10, "{grown:?} after {more}");
}

/// The refused prompt is compacted by itself: what another client said since isn't its business.
#[test]
fn a_refusal_that_comes_after_another_client_went_on_compacts_what_was_refused() {
    let mut sessions = sessions(full());
    let (short, long) = (after(20), after(30));
    let early = sessions.observe("", &short, None, START);
    let tokens = early.stats.after.count.tokens;
    let late = sessions.observe("", &long, None, START);
    let told = PromptOverflow::of_tokens(Some(tokens), Some(tokens / 2));
    let retry = sessions.overflowed("", &short, sent(early), &told, START).expect("once");
    assert_ne!(retry.session, late.session, "they go different ways from here");
    let ticket = retry.begun.ticket;
    let outcome = run(*retry.begun);
    sessions.commit(retry.session, ticket, outcome.as_deref(), START);
    let smaller = sessions.retry("", &short, retry.refused, START).expect("it is smaller");
    assert!(smaller.stats.after.count.tokens <= tokens / 2);
    assert_eq!(sessions.epoch(late.session).expect("known").number, 0);
}

/// Nobody but the provider knows how large a file is.
#[test]
fn what_cannot_be_counted_teaches_no_window() {
    let mut sessions = sessions(full());
    let file =
        r#"[{"type":"text","text":"Fix the build."},{"type":"file","file":{"file_id":"f"}}]"#;
    let source = after(20).source().replace("\"Fix the build.\"", file);
    assert!(source.contains("file_id"));
    let request = epitome::wire::parse(Format::OpenaiChat, source).expect("a request");
    let answer = sessions.observe("", &request, named("m"), START);
    let told = PromptOverflow::of_tokens(None, None);
    let retry = sessions.overflowed("", &request, sent(answer), &told, START).expect("once");
    let ticket = retry.begun.ticket;
    let outcome = run(*retry.begun);
    sessions.commit(retry.session, ticket, outcome.as_deref(), START);
    let smaller = sessions.retry("", &request, retry.refused, START).expect("it is smaller");
    assert!(sessions.overflowed("", &request, sent(smaller), &told, START).is_none());
    let other = after(30);
    assert!(sessions.observe("", &other, named("m"), START).begun.is_none());
}

#[test]
fn a_window_is_learnt_for_the_model_by_all_conversations() {
    let mut sessions = sessions(full());
    let (one, other) = (after(20), chat(&steps(0..20).replace("Fix the build.", "Fix it.")));
    let answer = sessions.observe("", &one, named("m"), START);
    let tokens = answer.stats.after.count.tokens;
    let told = PromptOverflow::of_tokens(Some(tokens), Some(tokens - 1));
    sessions.overflowed("", &one, sent(answer), &told, START).expect("once");
    assert!(sessions.observe("", &other, named("n"), START).begun.is_none(), "another model");
    assert!(sessions.observe("", &other, named("m"), START).begun.is_some());
    // Bytes say nothing of tokens.
    let bytes = PromptOverflow { unit: LimitUnit::Bytes, ..told };
    let unknown = sessions.observe("", &after(3), named("o"), START);
    sessions.overflowed("", &after(3), sent(unknown), &bytes, START);
    assert_eq!(sessions.experience().learnt.models.keys().collect::<Vec<_>>(), ["m"]);

    let kept = serde_json::to_string(&sessions.experience()).expect("data");
    let kept: Experience = serde_json::from_str(&kept).expect("its own form");
    let mut next = super::sessions(full()).experienced(kept);
    assert!(next.observe("", &one, named("m"), START).begun.is_some());
    let large = Recipient { window: Some(10_000_000), ..named("m") };
    assert!(next.observe("", &other, large, START).begun.is_some(), "what was told goes first");
}

#[test]
fn reports_correct_the_counts_of_their_model() {
    let mut sessions = sessions(full());
    let first = sessions.observe("", &after(10), named("m"), START);
    let counted = first.stats.after.count;
    assert_eq!(counted.basis, Basis::Exact);
    sessions.reported(sent(first), counted.tokens * 2);
    // The newest report is the anchor of its conversation.
    let again = sessions.observe("", &after(10), named("m"), START).stats.after.count;
    assert_eq!((again.tokens, again.basis), (counted.tokens * 2, Basis::Reported));
    let grown = sessions.observe("", &after(11), named("m"), START).stats.after.count;
    assert!(grown.tokens > again.tokens && grown.basis == Basis::Calibrated);
    let other = chat(&steps(0..10).replace("Fix the build.", "Fix it all."));
    let there = sessions.observe("", &other, named("m"), START).stats.after.count;
    assert!(there.tokens.abs_diff(counted.tokens * 2) < 20, "{there:?}");
    let elsewhere = sessions.observe("", &other, named("n"), START).stats.after.count;
    assert_eq!(elsewhere.basis, Basis::Exact);
    // What can't be a report of this prompt is none.
    let last = sessions.observe("", &after(11), named("m"), START);
    sessions.reported(sent(last), 3);
    let still = sessions.observe("", &after(11), named("m"), START).stats.after.count;
    assert_eq!(still, grown);
}

#[test]
fn a_target_that_says_a_share_of_the_window_is_in_the_models_tokens() {
    let mut sessions = sessions(full());
    let first = sessions.observe("", &after(20), named("m"), START);
    let counted = first.stats.after.count.tokens;
    sessions.reported(sent(first), counted * 2);
    let to = Recipient { window: Some(counted), ..named("m") };
    let mut answer = sessions.observe("", &after(20), to.clone(), START);
    assert!(matches!(answer.send, Outgoing::After(_)));
    adopt(&mut sessions, &mut answer, START);
    let landed = sessions.show("", &after(20), to, START).stats.after.count.tokens;
    assert!(landed <= counted * 3 / 10, "{landed} of {counted}");
}
