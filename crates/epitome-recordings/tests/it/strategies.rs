//! Every strategy on every shipped fixture, alone and in pairs, held to the laws.

use std::sync::{Arc, LazyLock};

use epitome::count::{CacheKey, Cached, TokenCounter, counter};
use epitome::engine::Stop;
use epitome::strategy::{NAMES, Named, Pipeline};
use epitome::{Compactor, Options, Request, Target, wire};
use epitome_recordings::{Reach, Run, open};
use testkit::captures::Capture;
use testkit::examples::{Example, examples};
use testkit::laws::check_all;

use crate::hold;

/// Bytes of a request up to which pairs are tried every time.
const SMALL: usize = 12_000;
/// Bytes of a request up to which each strategy is.
const MIDDLING: usize = 120_000;

/// Every shipped session, and the largest request of every client.
fn fixtures() -> Vec<(String, Request)> {
    let options = epitome_recordings::Options { reach: Reach::SinceLastCompaction, run: Run::Only };
    let session = |example: Example| {
        let input = open(example.bytes(), None, options).expect("a session");
        (example.name, input.request().clone())
    };
    let mut all: Vec<(String, Request)> = examples().into_iter().map(session).collect();
    for capture in Capture::all() {
        let Some(sent) = capture.largest() else { continue };
        let request = wire::parse(sent.format(), sent.sealed()).expect("it was sent");
        // The independent reading of the rules knows nothing of history that is elsewhere.
        if request.elsewhere().is_none() {
            all.push((capture.name, request));
        }
    }
    all
}

fn named(name: &str) -> Named {
    name.parse().expect("its own name")
}

/// Every fixture is counted again and again.
static COUNTER: LazyLock<Arc<dyn TokenCounter>> = LazyLock::new(|| {
    let counter = counter("o200k").expect("a known name");
    Arc::new(Cached::new(counter, 1 << 16, CacheKey([7; 4])))
});

/// What is broken by these strategies in turn, to `percent` of the request.
fn breach(request: &Request, list: &[&str], percent: u8, stop: Stop) -> Option<String> {
    let options = Options {
        target: Target::Percent(percent),
        strategies: Pipeline::List(list.iter().map(|name| named(name)).collect()),
        stop,
        ..Options::default()
    };
    let compactor = Compactor::new(options, Arc::clone(&COUNTER)).expect("in range");
    let why = check_all(request, &compactor).err()?;
    Some(format!("{list:?} to {percent} %, {stop:?}: {why}"))
}

fn pairs(fixtures: &[(String, Request)]) {
    let lists = || NAMES.iter().flat_map(|first| NAMES.iter().map(move |second| [*first, *second]));
    hold(fixtures, |request| {
        lists().filter_map(|list| breach(request, &list, 20, Stop::AtTarget)).collect()
    });
}

/// Each strategy alone on the fixtures of which the size is meant.
fn each_alone(is_meant: impl Fn(usize) -> bool) {
    let mut fixtures = fixtures();
    fixtures.retain(|(_, request)| is_meant(request.source().len()));
    assert!(fixtures.len() > 3, "{} fixtures", fixtures.len());
    // The longest first, so that no thread is left alone with one of them in the end.
    fixtures.sort_by_key(|(_, request)| std::cmp::Reverse(request.source().len()));
    hold(&fixtures, |request| {
        let ways = [(20, Stop::AtTarget), (60, Stop::AtEnd)];
        let each = |(percent, stop)| {
            NAMES.iter().filter_map(move |name| breach(request, &[name], percent, stop))
        };
        ways.into_iter().flat_map(each).collect()
    });
}

#[test]
fn alone() {
    each_alone(|size| size <= MIDDLING);
}

#[test]
#[ignore = "long: ./test full"]
fn alone_on_large_ones_too() {
    each_alone(|size| size > MIDDLING);
}

#[test]
fn in_pairs() {
    let mut small = fixtures();
    small.retain(|(_, request)| request.source().len() <= SMALL);
    assert!(small.len() > 5, "{} fixtures", small.len());
    pairs(&small);
}

#[test]
#[ignore = "long: ./test full"]
fn in_pairs_on_large_ones_too() {
    let mut large = fixtures();
    large.retain(|(_, request)| request.source().len() > SMALL);
    pairs(&large);
}
