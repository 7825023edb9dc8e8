//! Giant results are cut as they arrive, and nothing that the model was told changes.

use epitome::session::{Saved, Settled};
use epitome::strategy::{IntakeOptions, Ladder, Pipeline, Setting};

use super::*;

const MOST: u64 = 1_000;

fn taking_in(when: When) -> Sessions {
    let intake = Setting::On(IntakeOptions { max_tokens: MOST });
    let strategies = Pipeline::Ladder(Ladder { intake, ..Ladder::default() });
    let compactor = compactor(Options { strategies, ..Options::default() });
    Sessions::new(options(when, Target::Tokens(2_500)), compactor).expect("in range")
}

/// A history whose third call brings a giant.
fn giant(steps_behind: usize) -> String {
    let call = "asst call big Bash {\"command\":\"make\"}\nres  big = {log 900}\n";
    format!("{}{call}{}", steps(0..2), steps(2..2 + steps_behind))
}

/// The messages that are sent.
fn sent(settled: &Settled, request: &Request) -> Vec<String> {
    messages(settled.view.as_deref().unwrap_or(request))
}

#[test]
fn a_giant_is_cut_on_arrival_and_stays_so() {
    for format in [Format::OpenaiChat, Format::Anthropic, Format::OpenaiResponses, Format::Gemini] {
        let mut sessions = taking_in(When::Items(900));
        let history = |steps| testkit::parse(format, &giant(steps));
        let first = sessions.settle("", &history(0), None, START);
        assert_eq!(first.taken_in, 1, "{format}");
        let (before, after) = (first.stats.before.count.tokens, first.stats.after.count.tokens);
        assert!(before > after + 100, "{format}: {before} {after}");
        let next = sessions.settle("", &history(1), None, START);
        assert_eq!(next.taken_in, 0);
        assert!(sent(&next, &history(1)).starts_with(&sent(&first, &history(0))), "{format}");
        // What is counted of it is what is sent of it.
        let counted = epitome::count::Tally::of(
            next.view.as_deref().expect("it isn't whole"),
            counter("o200k").expect("known").as_ref(),
        );
        assert_eq!(next.stats.after.count.tokens, counted.total().tokens, "{format}");
    }
}

#[test]
fn what_the_model_has_seen_is_not_touched() {
    let mut sessions = taking_in(When::Items(900));
    let seen = sessions.settle("", &chat(&giant(1)), None, START);
    assert_eq!((seen.taken_in, seen.view.is_none()), (0, true), "another process showed it whole");
    let mut plain = super::sessions(options(When::Items(900), Target::Tokens(2_500)));
    let whole = plain.settle("", &chat(&giant(0)), None, START);
    assert_eq!((whole.taken_in, whole.view.is_none()), (0, true), "nobody asked for it");
}

#[test]
fn forks_crashes_and_compactions_keep_the_cut() {
    let mut sessions = taking_in(When::Items(14));
    let first = sessions.settle("", &chat(&giant(0)), None, START);
    let start = sent(&first, &chat(&giant(0)));
    let fork = chat(&format!("{}user Otherwise.\n", giant(0)));
    let one = sessions.settle("", &chat(&giant(1)), None, START);
    let other = sessions.settle("", &fork, None, START);
    assert_ne!(one.session, other.session);
    assert!(sent(&other, &fork).starts_with(&start));

    let saved = serde_json::to_string(&sessions.save(one.session).expect("known")).expect("data");
    let saved: Saved = serde_json::from_str(&saved).expect("its own form");
    let mut restarted = taking_in(When::Items(14));
    restarted.load(saved);
    let again = restarted.settle("", &chat(&giant(2)), None, START);
    assert!(sent(&again, &chat(&giant(2))).starts_with(&start));

    let whole = chat(&giant(5));
    let compacted = sessions.settle("", &whole, None, START);
    assert!(compacted.stats.triggered, "{:?}", compacted.stats);
    let next = sessions.show("", &chat(&giant(6)), None, START);
    let Outgoing::View(view, _) = next.send else { panic!("a view is in force") };
    let giant = view.transcript.entries().flat_map(|entry| entry.parts());
    let longest = giant.map(|part| part.text().len()).max().expect("parts");
    assert!(longest < 3 * MOST as usize * 4, "{longest}");
}
