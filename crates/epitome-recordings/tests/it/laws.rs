//! Every shipped session in every format, held to the laws.

use std::thread;

use epitome::{Compactor, Format, Request, wire};
use epitome_recordings::open;
use testkit::conversion::converted;
use testkit::laws::check_all;
use testkit::to_percent;

use crate::opening::shipped;
use crate::{LAST, example};

/// What a compaction of each session to each of these parts of it breaks, half of the sessions at a time.
fn broken(percents: &[u8]) -> Vec<String> {
    let files: Vec<String> = shipped().into_iter().map(|(file, _)| file).collect();
    thread::scope(|scope| {
        let halves = files.chunks(files.len().div_ceil(2));
        let halves: Vec<_> = halves.map(|half| scope.spawn(|| broken_in(half, percents))).collect();
        halves.into_iter().flat_map(|half| half.join().expect("it reports")).collect()
    })
}

fn broken_in(files: &[String], percents: &[u8]) -> Vec<String> {
    let compactor = |percent: &u8| testkit::compactor(to_percent(*percent), "o200k");
    let compactors: Vec<Compactor> = percents.iter().map(compactor).collect();
    let mut broken = Vec::new();
    let mut hold = |file: &str, request: &Request| {
        for (compactor, percent) in compactors.iter().zip(percents) {
            if let Err(why) = check_all(request, compactor) {
                broken.push(format!("{file} as {} at {percent} %: {why}", request.format));
            }
        }
    };
    for file in files {
        let input = open(example(file).into_bytes(), None, LAST).expect(file);
        hold(file, input.request());
        let request = wire::repair(input.request()).request;
        for to in Format::ALL.into_iter().filter(|to| *to != request.format) {
            let (_, written) = converted(&request, to).expect(file);
            hold(file, &written);
        }
    }
    broken
}

#[test]
fn every_session_keeps_the_laws_in_every_format() {
    assert_eq!(broken(&[5]), [""; 0]);
}

#[test]
#[ignore = "takes minutes; `./test full` runs it"]
fn every_session_keeps_them_at_any_size() {
    let percents: Vec<u8> = (1..=100).collect();
    assert_eq!(broken(&percents), [""; 0]);
}
