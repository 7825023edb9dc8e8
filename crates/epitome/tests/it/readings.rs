//! What was read is kept for what goes on from there, and nothing of what comes out tells.

use std::sync::Arc;

use epitome::count::{CharsPer, TokenCounter};
use epitome::engine::{Outcome, Readings};
use epitome::request::{Envelope, Request};
use epitome::wire::{self, Format};
use epitome::{Compactor, Options, Pin, Target};
use proptest::collection::vec;
use proptest::prelude::*;
use testkit::bulk::{self, Size};
use testkit::generate::{cases, valid};

/// How one compaction is asked for.
#[derive(Clone, Debug)]
struct Asked {
    /// Entries that are left out at the end.
    without: usize,
    /// Whether the newest checkpoint is known, and what it left goes on.
    goes_on: bool,
    target: u8,
    pin: Option<usize>,
    /// Which of its digits is another one.
    edited: Option<usize>,
}

fn asked() -> impl Strategy<Value = Asked> {
    let target = prop_oneof![Just(15_u8), Just(40), Just(70)];
    let pin = prop::option::weighted(0.3, 0..9_usize);
    let edited = prop::option::weighted(0.4, 0..2_000_usize);
    (0..6_usize, prop::bool::weighted(0.2), target, pin, edited).prop_map(
        |(without, goes_on, target, pin, edited)| Asked { without, goes_on, target, pin, edited },
    )
}

fn counter() -> Arc<dyn TokenCounter> {
    Arc::new(CharsPer::new(std::num::NonZeroU32::new(4).expect("not 0")))
}

/// All that can be told of an outcome.
fn told(outcome: &Outcome) -> (String, String) {
    let receipt = serde_json::to_string(&outcome.receipt).expect("a receipt");
    (outcome.rendered().to_owned(), receipt)
}

fn compactor(asked: &Asked, entries: usize, known: Option<&Outcome>) -> Compactor {
    let pins = asked.pin.filter(|at| *at < entries).map(Pin::Entry);
    let target = Target::Percent(asked.target);
    let options = Options { target, pins: pins.into_iter().collect(), ..Options::default() };
    let compactor = Compactor::new(options, counter()).expect("in range");
    let checkpoint = known.and_then(|outcome| outcome.receipt.checkpoint.as_ref());
    compactor.knowing(checkpoint.map(|checkpoint| checkpoint.id))
}

/// The request without its last entries, and with another digit.
fn other(request: &Request, asked: &Asked) -> Option<Request> {
    let entries = request.transcript.len().checked_sub(asked.without + 1)?;
    let last = request.transcript.entry(entries).span().end as usize;
    let mut body = request.source()[..last].to_owned();
    let digit = asked.edited.and_then(|nth| {
        body.bytes()
            .enumerate()
            .filter(|(_, byte)| byte.is_ascii_digit())
            .map(|(at, _)| at)
            .nth(nth)
    });
    if let Some(at) = digit {
        let other = if body[at..].starts_with('7') { "8" } else { "7" };
        body.replace_range(at..=at, other);
    }
    body += match request.frame.envelope {
        Envelope::Body => "]}",
        Envelope::Array => "]",
        Envelope::Lines => "",
    };
    wire::parse(request.format, body).ok()
}

/// Somebody's work, with a ledger of some size.
fn long() -> impl Strategy<Value = Request> {
    (0..40_u64, prop::sample::select(&Format::ALL[..]), 8..40_usize).prop_map(
        |(seed, format, entries)| {
            let body = bulk::generate(seed, Size::entries(format, entries));
            wire::parse(format, body).expect("it was generated")
        },
    )
}

fn histories() -> impl Strategy<Value = Request> {
    prop_oneof![1 => valid().prop_map(|case| case.request()), 2 => long()]
}

/// Compacts histories one after the other with one store, and each without it.
fn check(requests: &[(Request, Asked)], most: usize) -> Result<(), TestCaseError> {
    let readings = Arc::new(Readings::new(most));
    let mut last: Option<Outcome> = None;
    for (request, asked) in requests {
        let request = last.as_ref().filter(|_| asked.goes_on).map_or(request, |last| &last.request);
        let compactor = compactor(asked, request.transcript.len(), last.as_ref());
        let alone = compactor.compact(request).expect("nobody is asked");
        let keeping = compactor.keeping(Arc::clone(&readings));
        for _ in 0..2 {
            let kept = keeping.compact(request).expect("nobody is asked");
            prop_assert_eq!(told(&kept), told(&alone), "{}", request.source());
        }
        last = Some(alone);
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(300))]

    /// Histories that grow, shrink, fork and are compacted again, to whatever target and with whatever pins, beside those of
    /// others.
    #[test]
    fn what_was_read_before_changes_nothing(
        all in vec(histories(), 2),
        asks in vec((prop::bool::weighted(0.3), asked()), 1..6),
        most in prop_oneof![Just(0_usize), Just(20_000), Just(1 << 30)],
    ) {
        let asks = asks.into_iter().filter_map(|(which, asked)| {
            Some((other(&all[usize::from(which)], &asked)?, asked))
        });
        check(&asks.collect::<Vec<_>>(), most)?;
    }
}

#[test]
fn what_was_changed_is_read_anew() {
    let said = |port: u32, more: &str| {
        let steps = "I looked at it, and there is nothing to say about that. ".repeat(60);
        let list = [
            ("user", "Look at it.".to_owned()),
            ("assistant", format!("We decided that the port is {port}. {steps}")),
            ("user", "Go on.".to_owned()),
            ("assistant", steps),
            ("user", format!("Well.{more}")),
        ];
        let message = |(role, text)| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
        let body = list.map(message).join(",");
        wire::parse(Format::OpenaiChat, format!(r#"{{"messages":[{body}]}}"#)).expect("a request")
    };
    let asked = Asked { without: 0, goes_on: false, target: 20, pin: None, edited: None };
    let bodies = [said(5020, ""), said(6020, ""), said(6020, " The port is 7020 now.")];
    let [_, last, _] = bodies.each_ref().map(|request| {
        let outcome = compactor(&asked, 5, None).compact(request).expect("nobody is asked");
        outcome.rendered().to_owned()
    });
    assert!(last.contains("6020") && !last.contains("5020"), "{last}");
    check(&bodies.map(|request| (request, asked.clone())), 1 << 20).expect("the same bytes");
}
