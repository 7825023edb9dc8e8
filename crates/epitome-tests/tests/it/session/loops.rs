//! Compactions in circles: each cause is told once, and tried again when something changes.

use epitome::archive::ArchiveError;
use epitome::session::{Refusal, StallReason};

use super::*;

#[test]
fn overhead_above_the_trigger() {
    let heavy = steps(0..3).replace("You fix builds.", "{lorem 3000}");
    let mut sessions = sessions(options(When::Tokens(2_000), Target::Tokens(1_000)));
    let mut at = |window: Option<u64>| {
        let answer =
            sessions.observe("", &testkit::parse(Format::Anthropic, &heavy), window, START);
        assert!(answer.begun.is_none() && matches!(answer.send, Outgoing::AsItCame(_)));
        assert_eq!(answer.stats.reason, StallReason::Overhead.words());
        answer.stall
    };
    assert_eq!(at(None), Some(StallReason::Overhead));
    assert_eq!(at(None), None, "told once");
    assert_eq!(at(Some(500_000)), Some(StallReason::Overhead), "another window is another matter");
    assert_eq!(at(Some(500_000)), None);
}

#[test]
fn no_gain() {
    let mut sessions = sessions(options(When::Items(20), Target::Percent(95)));
    let mut answer = sessions.observe("", &after(10), None, START);
    let refused = Committed::Refused { cause: Refusal::NoGain };
    assert_eq!(adopt(&mut sessions, &mut answer, START), refused);
    let again = sessions.observe("", &after(10), None, START);
    assert_eq!((again.stall, again.begun.is_none()), (Some(StallReason::NoGain), true));
    let grown = sessions.observe("", &after(11), None, START);
    assert_eq!((grown.stall, grown.begun.is_none()), (None, true), "by less than an eighth");
    assert!(sessions.observe("", &after(12), None, START).begun.is_some(), "by more");
}

#[test]
fn refilled_at_once() {
    let mut sessions = sessions(options(When::Tokens(2_800), Target::Tokens(1_800)));
    for round in 1..=3 {
        let mut answer = sessions.observe("", &after(round * 5), None, START);
        let committed = adopt(&mut sessions, &mut answer, START);
        assert_eq!(committed, Committed::Adopted { epoch: round as u32 });
    }
    let fourth = sessions.observe("", &after(20), None, START);
    assert_eq!((fourth.stall, fourth.begun.is_none()), (Some(StallReason::Refilled), true));
    let again = sessions.observe("", &after(20), None, START);
    assert_eq!((again.stall, again.begun.is_none()), (None, true));
    assert!(sessions.observe("", &after(25), None, START).begun.is_some(), "it has grown");
}

#[test]
fn the_same_failure_again() {
    let mut sessions = sessions(options(When::Items(20), Target::Tokens(2_000)));
    let cooldown = Duration::from_secs(30);
    let why = "the disk is full".to_owned();
    let error = CompactError::Archive(ArchiveError::Write { why });
    let mut fail = |now: Duration| {
        let answer = sessions.observe("", &after(10), None, now);
        let Some(begun) = answer.begun else { return (false, answer.stall) };
        let committed = sessions.commit(answer.session, begun.ticket, Err(&error), now);
        assert_eq!(committed, Committed::Failed);
        (true, answer.stall)
    };
    assert_eq!(fail(START), (true, None));
    assert_eq!(fail(START + cooldown / 2), (false, None), "it cools down");
    let second = START + cooldown;
    assert_eq!(fail(second), (true, None));
    assert_eq!(
        fail(second + cooldown),
        (false, Some(StallReason::Failing)),
        "twice as long, and told"
    );
    assert_eq!(fail(second + cooldown), (false, None), "once");
    assert_eq!(fail(second + cooldown * 2), (true, None));
}

#[test]
fn what_does_not_fit_is_not_held_back() {
    // Each step refills the window: the breaker would wait.
    let mut sessions = sessions(options(When::Share(0.8), Target::Tokens(1_800)));
    for round in 1..=9 {
        let answer = sessions.settle("", &after(round * 5), Some(3_000), START);
        assert!(answer.stats.after.count.tokens <= 3_000, "{round}: {:?}", answer.stats);
        assert!(!answer.stats.over_budget);
    }
}
