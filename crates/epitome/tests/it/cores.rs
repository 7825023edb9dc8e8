//! What is done on two cores comes out as on one, byte for byte.

use std::sync::Arc;

use epitome::cores::Beside;
use epitome::count::{CacheKey, Cached, Tally, TokenCounter, counter};
use epitome::transcript::ContentId;
use epitome::{Compactor, Format, Options, Target, wire};
use testkit::bulk::{Size, generate};

fn cached() -> Arc<dyn TokenCounter> {
    let counter = counter("o200k").expect("a known name");
    Arc::new(Cached::new(counter, 1 << 16, CacheKey([1, 2, 3, 4])))
}

#[derive(Debug)]
struct Thread;

impl Beside for Thread {
    fn both(&self, first: &mut (dyn FnMut() + Send), second: &mut dyn FnMut()) {
        std::thread::scope(|scope| {
            scope.spawn(first);
            second();
        });
    }
}

fn compactor(target: Target, known: Option<ContentId>) -> Compactor {
    let options = Options { target, ..Options::default() };
    Compactor::new(options, cached()).expect("in range").knowing(known)
}

#[test]
fn counts_are_the_same() {
    for format in [Format::OpenaiChat, Format::Anthropic] {
        let source = generate(3, Size::entries(format, 300));
        let request = wire::parse(format, source).expect("a request");
        let one = Tally::of(&request, cached().as_ref());
        let counter = cached();
        let mut two = Tally::begin(&request, counter.as_ref());
        while two.extend(&request, counter.as_ref(), 100_000, Some(&Thread)) {}
        assert_eq!(two.total(), one.total());
        assert!((0..one.len()).all(|at| one.entry(at) == two.entry(at)));
        let parts = request.transcript.entries().flat_map(|entry| entry.parts());
        assert!(parts.into_iter().all(|part| one.part(part.slot) == two.part(part.slot)));
    }
}

/// A transcript, and what became of it with further messages: the checkpoint is gone on from.
#[test]
fn views_and_receipts_are_the_same() {
    for format in [Format::OpenaiChat, Format::Anthropic, Format::Gemini, Format::OpenaiResponses] {
        for (seed, percent) in [(1, 10), (2, 30)] {
            let source = generate(seed, Size::entries(format, 400));
            let mut request = wire::parse(format, source).expect("a request");
            let mut known = None;
            for percent in [percent, percent, 60] {
                let target = Target::Percent(percent);
                let alone = compactor(target, known);
                let beside = alone.clone().working(Arc::new(Thread));
                let [one, two] = [alone, beside].map(|by| by.compact(&request).expect("it lands"));
                assert_eq!(two.rendered(), one.rendered());
                assert_eq!(two.receipt, one.receipt);
                known = one.receipt.checkpoint.as_ref().map(|checkpoint| checkpoint.id);
                request = one.request;
            }
        }
    }
}
