//! Every shipped session in every format, held to the laws.

use epitome::{Compactor, Format, Request, wire};
use epitome_recordings::open;
use testkit::conversion::converted;
use testkit::laws::check_all;
use testkit::to_percent;

use crate::opening::shipped;
use crate::{LAST, example, hold};

/// Holds a compaction of each session to each of these parts of it to the laws.
fn keep(percents: &[u8]) {
    let compactor = |percent: &u8| (*percent, testkit::compactor(to_percent(*percent), "o200k"));
    let compactors: Vec<(u8, Compactor)> = percents.iter().map(compactor).collect();
    let broken = |request: &Request| {
        let why = |(percent, compactor): &(u8, Compactor)| {
            let why = check_all(request, compactor).err()?;
            Some(format!("as {} at {percent} %: {why}", request.format))
        };
        compactors.iter().filter_map(why).collect::<Vec<String>>()
    };
    let session = |(file, _): (String, _)| {
        let input = open(example(&file).into_bytes(), None, LAST).expect(&file);
        (file, input.request().clone())
    };
    let sessions: Vec<(String, Request)> = shipped().into_iter().map(session).collect();
    hold(&sessions, |session| {
        let mut found = broken(session);
        let request = wire::repair(session).request;
        for to in Format::ALL.into_iter().filter(|to| *to != request.format) {
            let (_, written) = converted(&request, to).expect("it is written");
            found.extend(broken(&written));
        }
        found
    });
}

#[test]
fn every_session_keeps_the_laws_in_every_format() {
    keep(&[5]);
}

#[test]
#[ignore = "takes minutes; `./test full` runs it"]
fn every_session_keeps_them_at_any_size() {
    keep(&(1..=100).collect::<Vec<u8>>());
}
