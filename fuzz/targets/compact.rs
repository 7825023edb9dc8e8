//! Valid and broken transcripts, compacted: every law.
#![no_main]

use epitome_fuzz::{compactor, drawn};
use libfuzzer_sys::fuzz_target;
use testkit::generate::{broken, valid};
use testkit::laws;

fuzz_target!(|data: &[u8]| {
    let Some((pick, rest)) = data.split_first() else { return };
    let case = if pick % 4 == 0 { drawn(&broken(), rest) } else { drawn(&valid(), rest) };
    let Some(case) = case else { return };
    let pin = if pick % 4 == 0 { None } else { case.pin };
    let compactor = compactor(case.target, pin);
    if let Err(why) = laws::check_all(&case.request(), &compactor) {
        panic!("{why}\n{case:?}");
    }
});
