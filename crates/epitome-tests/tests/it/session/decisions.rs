//! Which conversation a request goes on with, and what is shown of it.

use super::*;
use epitome::model::overflow::PromptOverflow;
use epitome::session::{Awaited, Initiative};
use epitome::trigger::{Asker, Cause, Demand, When};

fn at_twenty() -> Sessions {
    folding(When::Items(20))
}

fn view(answer: &Handling) -> &Request {
    match &answer.send {
        Outgoing::View(view, _) => view,
        other => panic!("no view: {other:?}"),
    }
}

fn shown(answer: &Handling) -> &str {
    view(answer).source()
}

#[test]
fn it_begins_above_the_trigger_and_the_view_stays_for_its_epoch() {
    let mut sessions = at_twenty();
    // 2 + 18 messages: twenty are allowed.
    let mut at = sessions.observe("", &after(9), None, START);
    assert!(matches!(at.send, Outgoing::AsItCame(_)) && at.begun.is_none() && !at.stats.triggered);
    assert_eq!((at.stats.reason.as_str(), at.stats.kept_recent), ("below the trigger", 20));
    let mut above = sessions.observe("", &after(10), None, START);
    assert_eq!(above.session, at.session);
    assert!(matches!(above.send, Outgoing::After(_)) && above.stats.triggered);
    assert_eq!(above.stats.reason, "22 items, more than 20");
    let committed = adopt(&mut sessions, &mut above, START);
    assert_eq!(committed, Committed::Adopted { epoch: 1 });
    at = sessions.show("", &after(10), None, START);
    assert_eq!((at.stats.after.entries, at.stats.kept_recent, at.stats.kept_task), (9, 6, true));
    let first = messages(view(&at));
    let next = sessions.observe("", &after(11), None, START);
    assert!(next.begun.is_none() && next.stats.reason == "the view in force");
    assert!(
        messages(view(&next)).starts_with(&first),
        "inside an epoch the prompt grows at its end"
    );
}

#[test]
fn one_compaction_is_under_way_at_a_time() {
    let mut sessions = at_twenty();
    let mut first = sessions.observe("", &after(10), None, START);
    let second = sessions.observe("", &after(10), None, START);
    let (Outgoing::After(one), Outgoing::After(other)) = (&first.send, &second.send) else {
        panic!()
    };
    assert!(one == other && second.begun.is_none());
    let ticket = *one;
    assert_eq!(second.stats.reason, "a compaction is under way");
    assert!(matches!(sessions.show("", &after(10), None, START).send, Outgoing::AsItCame(_)));
    assert_eq!(adopt(&mut sessions, &mut first, START), Committed::Adopted { epoch: 1 });
    assert_eq!(sessions.awaited(first.session, ticket, START), Awaited::Back);
}

#[test]
fn waiting_requests_get_the_outcome() {
    let mut sessions = at_twenty();
    let first = sessions.observe("", &after(10), None, START);
    let (session, ticket) = (first.session, first.begun.as_ref().expect("22 items").ticket);
    let patience = Duration::from_mins(2);
    assert_eq!(sessions.awaited(session, ticket, START + patience), Awaited::UnderWay);
    let late = START + patience + Duration::from_millis(1);
    assert_eq!(sessions.awaited(session, ticket, late), Awaited::GivenUp);
    // Whoever ran it went away.
    sessions.commit(session, ticket, Err(&CompactError::Cancelled), START);
    assert_eq!(sessions.awaited(session, ticket, START), Awaited::GivenUp);
    let second = sessions.observe("", &after(10), None, START);
    let other = second.begun.expect("nothing is under way").ticket;
    assert_eq!(sessions.awaited(session, ticket, START), Awaited::GivenUp);
    assert_eq!(sessions.awaited(session, other, START), Awaited::UnderWay);
    // It failed, which is no reason for whoever waited to try it, too.
    let failed = CompactError::Panicked("a bug".to_owned());
    sessions.commit(session, other, Err(&failed), START);
    assert_eq!(sessions.awaited(session, other, START), Awaited::Back);
    // Nobody knows this conversation.
    let empty = at_twenty();
    assert_eq!(empty.awaited(session, other, START), Awaited::GivenUp);
}

#[test]
fn a_late_compaction_adopts_the_winners_view() {
    let mut sessions = at_twenty();
    let mut slow = sessions.observe("", &after(10), None, START);
    let patience = Duration::from_mins(2);
    let waiting = sessions.observe("", &after(10), None, START + patience);
    assert!(waiting.begun.is_none(), "it is waited for");
    let late = START + patience + Duration::from_millis(1);
    let mut fast = sessions.observe("", &after(10), None, late);
    assert_eq!(adopt(&mut sessions, &mut fast, late), Committed::Adopted { epoch: 1 });
    let winner = sessions.show("", &after(10), None, late);
    assert_eq!(adopt(&mut sessions, &mut slow, late), Committed::Overtaken);
    let again = sessions.show("", &after(10), None, late);
    assert_eq!(shown(&again), shown(&winner));
    assert_eq!(sessions.epoch(winner.session).map(|epoch| epoch.number), Some(1));
}

#[test]
fn forks_share_the_view_and_go_their_own_ways() {
    let mut sessions = at_twenty();
    let mut answer = sessions.observe("", &after(10), None, START);
    adopt(&mut sessions, &mut answer, START);
    let one = chat(&format!("{}user Now the tests.\n", steps(0..10)));
    let other = chat(&format!("{}user Now the docs.\n", steps(0..10)));
    let (one, other) =
        (sessions.observe("", &one, None, START), sessions.observe("", &other, None, START));
    assert_eq!(one.session, answer.session);
    assert_ne!(other.session, one.session);
    assert_eq!(sessions.epoch(other.session).map(|epoch| epoch.number), Some(1));
    assert_eq!(
        shown(&one).replace("Now the tests.", ""),
        shown(&other).replace("Now the docs.", "")
    );
}

#[test]
fn a_reminder_behind_each_request_takes_no_view_away() {
    let mut sessions = at_twenty();
    let reminded =
        |many: usize| chat(&format!("{}user Reminder {many}: be short.\n", steps(0..many)));
    let mut answer = sessions.observe("", &reminded(10), None, START);
    adopt(&mut sessions, &mut answer, START);
    let first = sessions.show("", &reminded(10), None, START);
    let before = shown(&first);
    let next = sessions.observe("", &reminded(11), None, START);
    assert!(next.begun.is_none(), "{:?}", next.stats);
    assert_ne!(next.session, answer.session);
    assert_eq!(sessions.epoch(next.session).map(|epoch| epoch.number), Some(1));
    let same = before.split("Reminder").next().expect("it has one");
    let same = same.rsplit_once("},{").expect("messages").0;
    assert!(shown(&next).starts_with(same), "{before}\n{}", shown(&next));
}

#[test]
fn rewound_behind_the_compaction_everything_is_shown_again() {
    let mut sessions = at_twenty();
    let mut answer = sessions.observe("", &after(10), None, START);
    adopt(&mut sessions, &mut answer, START);
    let back = sessions.observe("", &after(4), None, START);
    assert_ne!(back.session, answer.session);
    assert!(matches!(back.send, Outgoing::AsItCame(_)));
    // Who goes on from there compacts for himself.
    let more = chat(&format!("{}user Otherwise.\n{}", steps(0..4), steps(5..12)));
    let other = sessions.observe("", &more, None, START);
    assert_eq!(other.session, back.session);
    assert!(other.begun.is_some(), "{:?}", other.stats);
}

#[test]
fn an_edited_history_is_another_conversation() {
    let mut sessions = at_twenty();
    let mut answer = sessions.observe("", &after(10), None, START);
    adopt(&mut sessions, &mut answer, START);
    let edited = chat(&steps(0..10).replace("Step 0.", "Step zero."));
    let other = sessions.observe("", &edited, None, START);
    assert_ne!(other.session, answer.session);
    assert!(other.begun.is_some(), "nothing is known of what it says");
    // Instructions are the client's to change.
    let instructed = chat(&steps(0..10).replace("You fix builds.", "You fix builds. It is May."));
    assert_eq!(sessions.observe("", &instructed, None, START).session, answer.session);
}

#[test]
fn two_clients_with_one_history_share_it_and_tenants_do_not() {
    let mut sessions = at_twenty();
    let mut one = sessions.observe("a", &after(10), None, START);
    let other = sessions.observe("a", &after(10), None, START);
    assert!(one.session == other.session && other.begun.is_none());
    adopt(&mut sessions, &mut one, START);
    let views = [0, 1].map(|_| sessions.show("a", &after(10), None, START));
    assert_eq!(shown(&views[0]), shown(&views[1]));
    let stranger = sessions.observe("b", &after(10), None, START);
    assert!(stranger.session != one.session && stranger.begun.is_some());
}

#[test]
fn what_is_prepared_in_the_background_is_swapped_in_when_it_is_ready() {
    let soft = SessionOptions {
        soft: Some(trigger(When::Items(20))),
        ..options(When::Items(100), Target::Tokens(500))
    };
    let mut sessions = sessions(soft);
    let mut answer = sessions.observe("", &after(10), None, START);
    assert!(matches!(answer.send, Outgoing::AsItCame(_)), "nobody waits");
    let meanwhile = sessions.observe("", &after(12), None, START);
    assert!(matches!(meanwhile.send, Outgoing::AsItCame(_)) && meanwhile.begun.is_none());
    assert_eq!(adopt(&mut sessions, &mut answer, START), Committed::Adopted { epoch: 1 });
    let next = sessions.observe("", &after(13), None, START);
    assert!(shown(&next).contains("Step 12."), "what came meanwhile is there");
    assert!(next.stats.after.entries < next.stats.before.entries);
    // Where the prefix doesn't hold any more, nothing of it is shown.
    let back = sessions.observe("", &after(5), None, START);
    assert!(matches!(back.send, Outgoing::AsItCame(_)));
}

#[test]
fn a_smaller_model_is_compacted_for_before_the_switch() {
    let mut sessions = sessions(options(When::ModelSwitch(0.8), Target::Tokens(1_000)));
    let mut at = |window: u64| sessions.observe("", &after(10), Some(window), START);
    let tokens = at(100_000).stats.after.count.upper;
    assert!(at(100_000).begun.is_none(), "the same model");
    assert!(at(200_000).begun.is_none(), "a larger one");
    let enough = tokens * 10 / 8 + 2;
    assert!(at(enough).begun.is_none(), "a smaller one that is large enough");
    assert!(at(200_000).begun.is_none());
    let begun = at(tokens * 10 / 8 - 2).begun.expect("just too small");
    assert!(matches!(begun.cause, Cause::Switch { from: 200_000, .. }), "{:?}", begun.cause);
}

#[test]
fn what_is_asked_for_waits_for_a_safe_point_and_brings_its_wishes() {
    let mut sessions = sessions(options(When::Asked, Target::Tokens(2_000)));
    let session = sessions.observe("", &after(6), None, START).session;
    let target = Some(Target::Tokens(1_200));
    sessions.demand(session, Demand { target, ..Demand::new(Asker::Model, "new task") });
    let open = chat(&format!("{}asst call open Read {{\"file_path\":\"x\"}}\n", steps(0..6)));
    assert!(sessions.observe("", &open, None, START).begun.is_none(), "a call is open");
    let closed = chat(&format!(
        "{}asst call open Read {{\"file_path\":\"x\"}}\nres  open = ok\n",
        steps(0..6)
    ));
    let answer = sessions.observe("", &closed, None, START);
    let begun = *answer.begun.expect("every call has its result");
    let receipt = run(begun).expect("a sound view").receipt;
    assert_eq!((receipt.target, receipt.cause.as_ref().map(Cause::name)), (1_200, Some("asked")));
}

/// Also where no trigger listens, or another one fires on every call; its own wishes hold in any case.
#[test]
fn what_is_asked_for_is_done_whatever_the_trigger_is() {
    let never = || options(When::Items(usize::MAX), Target::Tokens(2_000));
    let soft = SessionOptions { soft: Some(trigger(When::Items(4))), ..never() };
    let of = |when| options(when, Target::Tokens(2_000));
    for (nth, options) in [
        never(),
        soft,
        of(When::Remote),
        of(When::AskedByModel),
        of(When::Items(10)),
        of(When::All(vec![When::AskedByHost, When::Items(900)])),
    ]
    .into_iter()
    .enumerate()
    {
        let mut sessions = sessions(options);
        let first = sessions.observe("", &after(1), None, START);
        let session = first.session;
        if let Some(begun) = first.begun {
            sessions.commit(session, begun.ticket, Err(&CompactError::Cancelled), START);
        }
        let target = Some(Target::Tokens(1_200));
        let pins = vec![epitome::Pin::Text("Step 3.".to_owned())];
        let host = Demand { target, pins, ..Demand::new(Asker::Host, "a pause") };
        assert!(sessions.demand(session, host));
        let answer = sessions.observe("", &after(8), None, START);
        assert!(matches!(answer.send, Outgoing::After(_)), "{nth}: it waits for it");
        let outcome = run(*answer.begun.expect("it was asked for")).expect("a sound view");
        let receipt = &outcome.receipt;
        assert_eq!(receipt.cause.as_ref().map(Cause::name), Some("asked"), "{nth}");
        assert!(receipt.triggered && receipt.target == 1_200, "{nth}: {receipt:?}");
        assert!(outcome.rendered().contains("Step 3."), "{nth}");
    }
    let mut sessions = sessions(never());
    let session = sessions.observe("", &after(1), None, START).session;
    let mut others = super::sessions(never());
    assert!(!others.demand(session, Demand::new(Asker::Host, "")), "nobody knows it");
}

/// Somebody who asks for a compaction of what fills a tenth of the window wants it smaller.
#[test]
fn what_is_asked_for_below_the_landing_lands_at_the_same_share_of_what_is_there() {
    let options = SessionOptions::new(trigger(When::default()), ChainKey([1, 2, 3, 4]));
    let mut sessions = sessions(options);
    let first = sessions.observe("", &after(10), Some(100_000), START);
    let tokens = first.stats.before.count.tokens;
    sessions.demand(first.session, Demand::new(Asker::Host, ""));
    let begun = sessions.observe("", &after(10), Some(100_000), START).begun.expect("asked for");
    let receipt = run(*begun).expect("a sound view").receipt;
    assert_eq!(receipt.target, tokens * 30 / 100);
    assert!(receipt.triggered && receipt.after.count.tokens <= receipt.target, "{receipt:?}");
}

/// Whoever is asked first decides by themselves, also where the prompt doesn't fit or was refused.
#[test]
fn where_only_demands_begin_compactions_what_is_due_is_told() {
    let usual = options(When::Items(10), Target::Tokens(1_000));
    let soft = Some(trigger(When::Items(4)));
    let options = SessionOptions { initiative: Initiative::OnDemand, soft, ..usual };
    let mut sessions = sessions(options);
    let below = sessions.observe("", &after(3), Some(100_000), START);
    assert!(below.begun.is_none() && below.due.is_none(), "{below:?}");
    let due = sessions.observe("", &after(8), Some(100_000), START);
    assert!(due.begun.is_none(), "{due:?}");
    assert_eq!(due.due.as_ref().map(Cause::name), Some("items"));
    // More than the window takes isn't compacted unasked either, nor what is refused.
    let over = sessions.observe("", &after(8), Some(1_200), START);
    assert!(over.begun.is_none() && over.due.is_some(), "{over:?}");
    let Outgoing::AsItCame(sent) = over.send else { panic!("it goes out as it came") };
    let told = PromptOverflow::of_window(1_200);
    assert!(sessions.overflowed("", &after(8), sent, &told, START).is_none());
    sessions.demand(due.session, Demand::new(Asker::Host, "agreed"));
    let asked = sessions.observe("", &after(9), Some(100_000), START);
    assert!(matches!(asked.send, Outgoing::After(_)) && asked.due.is_none(), "it waits for it");
    let begun = *asked.begun.expect("it was asked for");
    // Another request of the conversation waits for the same one.
    let second = sessions.observe("", &after(9), Some(100_000), START);
    assert!(matches!(second.send, Outgoing::After(ticket) if ticket == begun.ticket));
    let (session, ticket) = (asked.session, begun.ticket);
    let outcome = run(begun).expect("a sound view");
    sessions.commit(session, ticket, Ok(&outcome), START);
    // The view stays in force, and the next compaction is asked for again.
    let shown = sessions.observe("", &after(10), Some(100_000), START);
    assert!(matches!(shown.send, Outgoing::View(..)) && shown.begun.is_none(), "{shown:?}");
    let again = sessions.observe("", &after(40), Some(100_000), START);
    assert!(again.begun.is_none() && again.due.is_some(), "{again:?}");
}
