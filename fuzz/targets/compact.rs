//! Valid and broken transcripts, compacted: every law.
#![no_main]

use epitome_fuzz::compactor;
use libfuzzer_sys::fuzz_target;
use testkit::generate::{broken_of_tape, valid_of_tape};
use testkit::laws;

fuzz_target!(|data: &[u8]| {
    let Some((pick, rest)) = data.split_first() else { return };
    let is_broken = pick % 4 == 0;
    let case = if is_broken { broken_of_tape(rest) } else { valid_of_tape(rest) };
    let pin = case.pin.filter(|_| !is_broken);
    let compactor = compactor(case.target, pin);
    if let Err(why) = laws::check_all(&case.request(), &compactor) {
        panic!("{why}\n{case:?}");
    }
});
