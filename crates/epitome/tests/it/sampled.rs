//! Counting a large request by a sample.

use std::sync::Arc;

use epitome::count::{Basis, SAMPLED_BYTES, Tally, TokenCounter, counter};
use epitome::engine::Counting;
use epitome::plan::Reached;
use epitome::trigger::{Gauge, When};
use epitome::{Compactor, Format, Options, Request, wire};
use testkit::bulk::{Size, generate};

fn large(format: Format) -> Request {
    let entries = |entries| generate(5, Size::entries(format, entries));
    let source = (1..).map(|times| entries(7_000 * times)).find(|body| body.len() >= SAMPLED_BYTES);
    wire::parse(format, source.expect("one is large enough")).expect("sound")
}

fn o200k() -> Arc<dyn TokenCounter> {
    counter("o200k").expect("it is built in")
}

fn compactor(options: Options) -> Compactor {
    Compactor::new(options, o200k()).expect("in range")
}

#[test]
fn a_sample_is_near_and_says_how_near() {
    for format in Format::ALL {
        let request = large(format);
        let (exact, sampled) =
            (Tally::of(&request, &*o200k()).total(), Tally::sampled(&request, &*o200k()));
        let total = sampled.total();
        assert_eq!(total.basis, exact.basis.max(Basis::Sampled), "{format}");
        let least = total.tokens - (total.upper - total.tokens);
        assert!((least..=total.upper).contains(&exact.tokens), "{format} {exact:?} {total:?}");
        assert!(total.upper < exact.upper * 11 / 10, "{format} {exact:?} {total:?}");
        let parts = || request.transcript.entries().flat_map(|entry| entry.parts());
        let open = parts().filter(|part| sampled.is_sampled(part.slot)).count();
        let newest = request.transcript.entries().next_back().expect("the newest");
        assert!(open > 1_000, "{format} {open}");
        assert!(newest.parts().all(|part| !sampled.is_sampled(part.slot)), "{format}");
    }
}

#[test]
fn what_comes_out_of_a_sample_is_counted_in_full() {
    for format in Format::ALL {
        let request = large(format);
        let of = |counting| {
            let outcome = compactor(Options { counting, ..Options::default() }).compact(&request);
            let outcome = outcome.expect("nothing is in its way");
            let (before, after) = (outcome.receipt.before.count, outcome.receipt.after.count);
            let counted = Tally::of(&outcome.request, &*o200k()).total().tokens;
            assert_eq!(outcome.receipt.reached, Reached::Target, "{format} {counting:?}");
            assert!(counted <= outcome.receipt.target, "{format} {counting:?} {counted}");
            (before.basis, after.basis, after.tokens.abs_diff(counted))
        };
        let (whole, sampled) = (of(Counting::Whole), of(Counting::Sampled));
        assert_eq!((sampled.0, sampled.1), (whole.0.max(Basis::Sampled), whole.1), "{format}");
        // Both know as little of how a checkpoint reads in its place.
        assert!(sampled.2 <= whole.2 + 8, "{format} {whole:?} {sampled:?}");
    }
}

#[test]
fn it_is_due_when_all_of_it_would_be() {
    let request = large(Format::OpenaiChat);
    let exact = Tally::of(&request, &*o200k()).total().tokens;
    let about = Tally::sampled(&request, &*o200k()).total();
    // Far under, inside of what nobody knows, far above.
    for limit in [exact / 2, about.tokens, exact, exact + 1, about.upper + 1, exact * 2] {
        let due = |counting| {
            let trigger = Arc::new(When::Tokens(limit).build().expect("in range"));
            let compactor = compactor(Options { counting, ..Options::default() });
            let outcome = compactor.when(trigger, Gauge::default()).compact(&request);
            outcome.expect("nothing is in its way").receipt
        };
        let (sampled, whole) = (due(Counting::Sampled), due(Counting::Whole));
        assert_eq!(sampled.triggered, whole.triggered, "{limit}");
        if limit > about.upper {
            assert_eq!((sampled.before.count, sampled.after.count), (about, about));
        }
    }
}

#[test]
fn what_is_small_is_counted_whole() {
    let body = generate(5, Size::entries(Format::Anthropic, 300));
    let request = wire::parse(Format::Anthropic, body).expect("sound");
    let of = |counting| {
        let outcome = compactor(Options { counting, ..Options::default() }).compact(&request);
        let outcome = outcome.expect("nothing is in its way");
        (outcome.rendered().to_owned(), outcome.receipt.before.count)
    };
    assert_eq!(of(Counting::Sampled), of(Counting::Whole));
}
