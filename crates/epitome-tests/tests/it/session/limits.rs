//! Each limit of a decision, from both of its sides.

use epitome::model::overflow::PromptOverflow;
use epitome::session::{AtLimit, Recipient, StallReason};
use epitome::trigger::{Asker, Cause, Demand};

use super::*;

fn of_window(window: u64) -> Recipient {
    Recipient { window: Some(window), ..Recipient::default() }
}

/// Tokens of what a machine that does nothing shows of it.
fn tokens(request: &Request) -> u64 {
    let mut sessions = sessions(options(When::Items(10_000), Target::Percent(50)));
    sessions.observe("", request, None, START).stats.after.count.tokens
}

#[test]
fn what_is_as_large_as_the_window_fits() {
    let request = after(5);
    let tokens = tokens(&request);
    let look = |window: u64| {
        let mut sessions = sessions(options(When::Items(10_000), Target::Percent(50)));
        let answer = sessions.observe("", &request, of_window(window), START);
        (answer.stats.over_budget, answer.begun.map(|begun| begun.cause))
    };
    assert_eq!(look(tokens), (false, None));
    let limit = tokens - 1;
    let cause = Cause::Window { tokens, limit, window: limit };
    assert_eq!(look(limit), (true, Some(cause)));
}

#[test]
fn what_does_not_fit_lands_below_the_window_and_below_itself() {
    let request = after(20);
    let whole = tokens(&request);
    for window in [whole / 3, whole / 2, whole - 1] {
        // A target that wouldn't help.
        let mut sessions = sessions(options(When::Items(10_000), Target::Percent(95)));
        let mut answer = sessions.observe("", &request, of_window(window), START);
        let begun = answer.begun.take().expect("it doesn't fit");
        let outcome = run(*begun).expect("a sound view");
        assert_eq!(outcome.receipt.target, window / 10 * 9, "{window} of {whole}");
    }
    // Where it fits, it lands where it was asked to.
    let mut sessions = sessions(options(When::Items(20), Target::Percent(95)));
    let mut answer = sessions.observe("", &request, of_window(whole), START);
    let outcome = run(*answer.begun.take().expect("more than 20 items")).expect("a sound view");
    assert_eq!(outcome.receipt.target, whole * 95 / 100);
}

#[test]
fn a_refusal_lands_below_what_was_refused() {
    let request = after(20);
    let whole = tokens(&request);
    for (limit, target) in [
        (None, whole / 10 * 9),
        (Some(whole / 2), whole / 2 / 10 * 9),
        (Some(whole * 2), whole / 10 * 9),
    ] {
        let mut sessions = sessions(options(When::Items(10_000), Target::Percent(95)));
        let answer = sessions.observe("", &request, None, START);
        let told = PromptOverflow::of_tokens(None, limit);
        let retry = sessions.overflowed("", &request, sent(answer), &told, START).expect("once");
        let outcome = run(*retry.begun).expect("a sound view");
        assert_eq!(outcome.receipt.target, target, "{limit:?} of {whole}");
    }
}

#[test]
fn extractive_does_not_wait_for_summarizers() {
    let soft = Some(trigger(When::Items(15)));
    let options = SessionOptions {
        soft,
        at_limit: AtLimit::Extractive,
        ..options(When::Items(25), Target::Tokens(2_000))
    };
    let mut sessions = sessions(options);
    // Prepared in the background, and asked for once.
    let soft = sessions.observe("", &after(9), None, START);
    let prepared = soft.begun.as_ref().expect("20 items").ticket;
    assert!(matches!(soft.send, Outgoing::AsItCame(_)));
    let again = sessions.observe("", &after(9), None, START);
    assert!(again.begun.is_none() && matches!(again.send, Outgoing::AsItCame(_)));
    assert_eq!(again.stats.reason, "a compaction is under way");
    // At the limit it is compacted at once, without a summarizer; the next request waits for that.
    let hard = sessions.observe("", &after(13), None, START);
    let at_once = hard.begun.as_ref().expect("28 items").ticket;
    assert_ne!(at_once, prepared);
    assert!(matches!(hard.send, Outgoing::After(ticket) if ticket == at_once));
    let waiting = sessions.observe("", &after(13), None, START);
    assert!(waiting.begun.is_none());
    assert!(matches!(waiting.send, Outgoing::After(ticket) if ticket == at_once));
}

#[test]
fn what_the_frame_alone_is_over_is_not_tried() {
    let framed = |many: usize, bytes: usize| {
        let notation =
            steps(0..many).replace("You fix builds.", &"You fix builds. ".repeat(bytes / 16));
        testkit::parse(Format::Anthropic, &notation)
    };
    let stalls = |when: When, request: &Request, window: Option<u64>| {
        let mut sessions = sessions(options(when, Target::Tokens(500)));
        let to = Recipient { window, ..Recipient::default() };
        let answer = sessions.observe("", request, to, START);
        (answer.stall, answer.begun.is_some())
    };
    let (small, large) = (framed(6, 160), framed(6, 14_400));
    assert_eq!(stalls(When::Bytes(9_000), &small, None), (None, true));
    assert_eq!(stalls(When::Bytes(9_000), &large, None), (Some(StallReason::Overhead), false));
    assert_eq!(stalls(When::Share(0.1), &small, Some(30_000)), (None, true));
    assert_eq!(
        stalls(When::Share(0.1), &large, Some(30_000)),
        (Some(StallReason::Overhead), false)
    );
    // What the reply asks for is taken from the window: 4,096 tokens.
    let (small, large) = (framed(3, 160), framed(3, 14_400));
    let window = Some(tokens(&large));
    assert_eq!(stalls(When::Full, &small, window), (None, true));
    assert_eq!(stalls(When::Full, &large, window), (Some(StallReason::Overhead), false));
}

/// A long task with ten steps, and more behind them.
fn wordy(more: &str) -> Request {
    let task = "Fix the build, and say what was wrong with it. ".repeat(40);
    chat(&format!("{}{more}", steps(0..10).replace("Fix the build.", &task)))
}

/// Compacts a long task to far less than can be had, so that its floor is known.
fn floored() -> (Sessions, u64) {
    let mut sessions = sessions(options(When::Tokens(100), Target::Tokens(1)));
    let mut answer = sessions.observe("", &wordy(""), None, START);
    assert!(matches!(adopt(&mut sessions, &mut answer, START), Committed::Adopted { .. }));
    let floor = sessions.show("", &wordy(""), None, START).stats.after.count.tokens;
    (sessions, floor)
}

#[test]
fn what_landed_on_its_floor_is_tried_again_once_it_has_grown() {
    let mut met = [false; 2];
    for letters in 0..60 {
        let (mut sessions, floor) = floored();
        let more = wordy(&format!("asst Ok.\nuser {}\n", "word ".repeat(1 + letters)));
        let now = sessions.show("", &more, None, START).stats.after.count.tokens;
        let answer = sessions.observe("", &more, None, START);
        let is_grown = now > floor + floor / 8;
        let stall = if is_grown { None } else { Some(StallReason::Overhead) };
        assert_eq!((answer.stall, answer.begun.is_some()), (stall, is_grown), "{now} of {floor}");
        met[usize::from(is_grown)] = true;
    }
    assert_eq!(met, [true; 2]);
}

#[test]
fn compactions_with_requests_between_them_do_not_go_in_circles() {
    let mut sessions = folding(When::Items(12));
    let (mut epochs, mut steps) = (0, 0);
    while epochs < 6 {
        steps += 1;
        let mut answer = sessions.observe("", &after(steps), None, START);
        assert_eq!(answer.stall, None, "{steps}");
        if answer.begun.is_some() {
            adopt(&mut sessions, &mut answer, START);
            epochs += 1;
        }
    }
    assert!(steps > 12, "{steps}");
}

#[test]
fn demand_ignores_least_gain() {
    let demand =
        |by: Asker| Demand { by, ..serde_json::from_str(r#"{"by":"host"}"#).expect("one") };
    for (when, is_made) in [
        (When::AskedByHost, true),
        (When::Any(vec![When::AskedByHost, When::Items(10)]), true),
        (When::All(vec![When::AskedByHost, When::Items(10)]), true),
        (When::Items(10), true),
        (When::Items(10), false),
    ] {
        let mut sessions = sessions(options(when, Target::Percent(95)));
        let first = sessions.observe("", &after(2), None, START);
        if is_made {
            assert!(sessions.demand(first.session, demand(Asker::Host)));
        }
        let mut answer = sessions.observe("", &after(6), None, START);
        let committed = adopt(&mut sessions, &mut answer, START);
        // Five percent are too little for what nobody asked for.
        assert_eq!(matches!(committed, Committed::Adopted { .. }), is_made, "{committed:?}");
    }
}

#[test]
fn a_cache_that_is_about_to_forget_is_used_once_more() {
    let to = || Recipient { cache_ttl: Some(Duration::from_mins(5)), ..Recipient::default() };
    let begins = |idle: u64, to: Recipient| {
        let mut sessions = sessions(options(When::Idle(30), Target::Tokens(1_500)));
        assert!(sessions.observe("", &after(10), to.clone(), START).begun.is_none(), "the first");
        sessions.observe("", &after(10), to, START + Duration::from_secs(idle)).begun.is_some()
    };
    let all = [269, 270, 299, 300].map(|idle| begins(idle, to()));
    assert_eq!(all, [false, true, true, false]);
    assert!(!begins(280, Recipient::default()), "nobody says how long it remembers");
    // A fork sends its first request.
    let mut sessions = sessions(options(When::Idle(30), Target::Tokens(1_500)));
    sessions.observe("", &after(10), to(), START);
    let fork = chat(&format!("{}user Otherwise.\n{}", steps(0..5), steps(6..10)));
    let later = START + Duration::from_secs(280);
    assert!(sessions.observe("", &fork, to(), later).begun.is_none());
}

#[test]
fn conversations_that_were_not_heard_of_longest_are_forgotten() {
    let options =
        SessionOptions { most_sessions: 2, ..options(When::Items(900), Target::Percent(50)) };
    let mut sessions = sessions(options);
    assert_eq!((sessions.is_empty(), sessions.len()), (true, 0));
    let of =
        |words: &str| chat(&format!("sys  Be short.\nuser {words}\nasst Well.\nuser Go on.\n"));
    let at = |seconds: u64| START + Duration::from_secs(seconds);
    let one = sessions.observe("", &of("one"), None, at(0)).session;
    assert!(!sessions.is_empty() && sessions.len() == 1);
    let two = sessions.observe("", &of("two"), None, at(1)).session;
    assert_eq!(sessions.observe("", &of("one"), None, at(2)).session, one);
    assert_eq!((sessions.len(), sessions.epoch(two).is_some()), (2, true));
    let three = sessions.observe("", &of("three"), None, at(3)).session;
    assert_eq!((sessions.len(), sessions.epoch(two).is_some()), (2, false), "the oldest left");
    assert_eq!(sessions.observe("", &of("one"), None, at(4)).session, one);
    // Who is forgotten begins anew, and takes the place of who was heard of before the others.
    let again = sessions.observe("", &of("two"), None, at(5)).session;
    assert_ne!(again, two);
    assert!(sessions.epoch(three).is_none() && sessions.epoch(one).is_some());
    assert_eq!(sessions.len(), 2);
}

/// Both began alike, and only what the older one said alone is forgotten with it.
#[test]
fn a_fork_outlives_its_forgotten_original() {
    let options =
        SessionOptions { most_sessions: 2, ..options(When::Items(900), Target::Percent(50)) };
    let mut sessions = sessions(options);
    let at = |seconds: u64| START + Duration::from_secs(seconds);
    let begun = "sys  Be short.\nuser One.\n";
    let further = chat(&format!("{begun}asst Well.\nuser Go on.\n"));
    let one = sessions.observe("", &further, None, at(0)).session;
    let fork = sessions.observe("", &chat(begun), None, at(1)).session;
    sessions.observe("", &chat("sys  Be short.\nuser Two.\n"), None, at(2));
    assert!(sessions.epoch(one).is_none() && sessions.epoch(fork).is_some());
    assert_eq!(sessions.observe("", &chat(begun), None, at(3)).session, fork);
}

#[test]
fn instructions_alone_make_no_conversation() {
    let mut sessions = folding(When::Items(20));
    sessions.observe("", &chat("sys  Be short.\n"), None, START);
    let one = chat("sys  Be short.\nuser One.\n");
    let other = chat("sys  Be short.\nuser Two.\n");
    let (one, other) =
        [one, other].map(|request| sessions.observe("", &request, None, START).session).into();
    assert_ne!(one, other);
    assert_eq!(sessions.len(), 3);
    // Each that is loaded is one of its own, too.
    let saved = || sessions.save(one).expect("it is known");
    let (again, once_more) = (saved(), saved());
    let (first, second) = (sessions.load(again), sessions.load(once_more));
    assert!(first != second && sessions.len() == 5);
}

#[test]
fn settings_out_of_range_are_refused() {
    use epitome::session::Landing;
    let build = |landing: Landing| {
        let options = SessionOptions { landing, ..options(When::Items(20), Target::Percent(50)) };
        Sessions::new(options, compactor(Options::default())).is_ok()
    };
    for (share, is_fine) in [
        (0.3, true),
        (0.01, true),
        (1.0, true),
        (0.009, false),
        (0.0, false),
        (1.1, false),
        (-0.1, false),
        (f64::NAN, false),
    ] {
        assert_eq!(build(Landing::Window(share)), is_fine, "{share}");
    }
    assert!(
        !build(Landing::Target(Target::Tokens(0))) && !build(Landing::Target(Target::Percent(101)))
    );
}

/// What is read and appended as the machine does it is decided as what is read anew.
#[test]
fn what_goes_on_is_the_same_conversation_however_it_is_written() {
    let (mut knowing, mut anew) = (folding(When::Items(14)), folding(When::Items(14)));
    for round in 0..60_usize {
        let steps_now = 1 + round % 17;
        let mut request = after(steps_now);
        if round % 3 == 1 {
            let text = request.source().replace("\"role\"", " \"role\"");
            request = epitome::wire::parse(Format::OpenaiChat, text).expect("messages");
        }
        let body = request.source().to_string();
        let read = knowing.read("t", Some(Format::OpenaiChat), body).expect("messages");
        let one = knowing.settle("t", &read, None, START);
        let other = anew.settle("t", &request, None, START);
        assert_eq!((one.session, &one.stats), (other.session, &other.stats), "{round}");
        let shown = one.view.as_deref().unwrap_or(&read).source().as_str();
        assert_eq!((one.rendered(&read), other.rendered(&request)), (shown, shown), "{round}");
    }
}

#[test]
fn what_cannot_fit_is_not_tried_again() {
    let more = wordy(&"asst Ok.\nuser So be it.\n".repeat(8));
    let (_, floor) = floored();
    for window in floor - 2..floor + 20 {
        let (mut sessions, _) = floored();
        let now = sessions.show("", &more, None, START).stats.after.count.tokens;
        assert!(now > window, "it doesn't fit");
        let answer = sessions.observe("", &more, of_window(window), START);
        assert_eq!(answer.begun.is_some(), window >= floor, "{window}, floor {floor}");
    }
    for limit in floor - 2..floor + 2 {
        let (mut sessions, _) = floored();
        let answer = sessions.show("", &more, None, START);
        let told = PromptOverflow::of_tokens(None, Some(limit));
        let retry = sessions.overflowed("", &more, sent(answer), &told, START);
        assert_eq!(retry.is_some(), limit >= floor, "{limit}, floor {floor}");
    }
}

#[test]
fn a_retry_has_fewer_tokens_and_fewer_bytes() {
    let body = |words: &str, spaces: usize| {
        let text = after(12).source().replace("Fix the build.", words);
        let text = text.replacen('{', &format!("{{{}", " ".repeat(spaces)), 1);
        epitome::wire::parse(Format::OpenaiChat, text).expect("messages")
    };
    let again = |before: &Request, after: &Request| {
        let mut sessions = sessions(options(When::Items(10_000), Target::Percent(50)));
        let answer = sessions.observe("", before, None, START);
        let told = PromptOverflow::of_tokens(None, None);
        let retry = sessions.overflowed("", before, sent(answer), &told, START).expect("once");
        sessions.retry("", after, retry.refused, START).is_some()
    };
    let (long, short) = ("Fix the build, and then the docs.", "Fix it.");
    assert!(again(&body(long, 9), &body(short, 0)));
    assert!(!again(&body(long, 9), &body(long, 0)), "as many tokens");
    let spaces = long.len() - short.len();
    assert!(!again(&body(long, 0), &body(short, spaces)), "as many bytes");
    assert!(!again(&body(long, 0), &body(short, spaces + 5)));
    assert!(!again(&body(short, 0), &body(long, 0)));
}

#[test]
fn a_refusal_is_settled_in_one_go() {
    let mut sessions = sessions(options(When::Items(10_000), Target::Percent(50)));
    let request = after(12);
    let settled = sessions.settle("", &request, None, START);
    assert_eq!(
        (settled.rendered(&request), settled.stats.triggered),
        (request.source().as_str(), false)
    );
    assert_eq!(settled.stats.reason, "below the trigger");
    let tokens = settled.stats.after.count.tokens;
    let told = PromptOverflow::of_tokens(Some(tokens), Some(tokens / 2));
    let again = sessions.resettle("", &request, settled.sent, &told, START).expect("it can");
    assert!(again.stats.after.count.tokens < tokens / 2 && again.stats.triggered);
    assert!(again.stats.reason.contains("refused"), "{}", again.stats.reason);
    assert!(sessions.resettle("", &request, again.sent, &told, START).is_none(), "once");
}

#[test]
fn what_is_broken_is_looked_at_as_it_is_mended() {
    let mut sessions = folding(When::Items(20));
    let request = chat("user Go.\nasst call a Read\nuser And now?\n");
    let answer = sessions.observe("", &request, None, START);
    assert_eq!((request.transcript.len(), answer.stats.before.entries), (3, 4));
    let sound = chat("user Go.\nasst call a Read\nres  a = x\nuser And now?\n");
    assert_eq!(sessions.observe("", &sound, None, START).stats.before.entries, 4);
}

#[test]
fn a_clients_note_counts_as_long_as_it_is_shown() {
    let noted = chat(&format!("{}user <total_tokens>12345 left</total_tokens>\n", steps(0..20)));
    let whole = tokens(&noted);
    assert!(whole > tokens(&after(20)) + 5);
    let mut sessions = sessions(options(When::Items(10_000), Target::Percent(50)));
    let mut answer = sessions.observe("", &noted, of_window(whole - 1), START);
    let outcome = run(*answer.begun.take().expect("it doesn't fit")).expect("a sound view");
    assert_eq!(outcome.receipt.target, whole * 50 / 100);
}

#[test]
fn room_is_left_for_turns_as_large_as_those_so_far() {
    use epitome::session::Landing;
    let shown = |turns: u32| {
        let options = SessionOptions {
            landing: Landing::Turns(turns),
            ..options(When::Tokens(8_000), Target::Percent(50))
        };
        let mut sessions = sessions(options);
        let (mut steps, mut settled) = (0, None);
        while settled.is_none() {
            steps += 1;
            let answer = sessions.settle("", &after(steps), None, START);
            settled = answer.stats.triggered.then_some((answer.stats.before, answer.stats.after));
        }
        let (before, after) = settled.expect("it was compacted");
        (before.count.tokens, after.count.tokens, before.count.tokens / steps as u64)
    };
    let [(before, few, turn), (_, some, _), (_, many, _)] = [1, 8, 100].map(shown);
    // No more than half, however few are to have room; no less than a quarter.
    assert!(few <= before / 2 && few > before / 5 * 2, "{few} of {before}");
    assert!(some <= before - 7 * turn && some > before - 10 * turn, "{some} of {before}, {turn}");
    assert!(many < some && some < few, "{many} {some} {few}");
    assert!(many <= before / 4 && many > before / 8, "{many} of {before}");
}

#[test]
fn room_is_left_for_what_people_said() {
    use epitome::session::Landing;
    let target = |words: &str| {
        let options = SessionOptions {
            landing: Landing::Turns(1_000),
            ..options(When::Items(30), Target::Percent(50))
        };
        let said = "I looked at it, and it is as it was before.".repeat(6);
        let turn = |at: usize| format!("user {words} {at}.\nasst {said}\n");
        let talk: String = (0..20).map(turn).collect();
        let request = chat(&talk);
        let whole = tokens(&request);
        let mut answer = sessions(options).observe("", &request, None, START);
        let outcome = run(*answer.begun.take().expect("40 items")).expect("a sound view");
        (outcome.receipt.target * 100 / whole, outcome.receipt)
    };
    let (few, _) = target("Go");
    let (more, receipt) = target("Look at the build of the docs once more, please, number");
    assert!((24..=25).contains(&few), "{few}");
    assert!((40..=50).contains(&more), "{more}");
    let checkpoint = receipt.checkpoint.expect("something is folded");
    assert_eq!(checkpoint.human_messages_quoted, checkpoint.human_messages, "{checkpoint:?}");
}
