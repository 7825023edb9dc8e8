//! Transcripts with something wrong: what is repaired is valid, and repairing it again changes nothing.
#![no_main]

use epitome::wire;
use libfuzzer_sys::fuzz_target;
use testkit::generate::broken_of_tape;

fuzz_target!(|data: &[u8]| {
    let case = broken_of_tape(data);
    let request = case.request();
    let repaired = wire::repair(&request);
    let left: Vec<_> = repaired.left.iter().map(|finding| finding.rule).collect();
    let found: Vec<_> = wire::check(&repaired.request).iter().map(|found| found.rule).collect();
    assert!(found.iter().all(|rule| left.contains(rule)), "{found:?} of {left:?}\n{case:?}");
    let again = wire::repair(&repaired.request);
    assert_eq!(again.request.source(), repaired.request.source(), "{case:?}");
});
