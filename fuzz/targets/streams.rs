//! Streams of replies, cut anywhere: the first bytes say into what pieces.
#![no_main]

use epitome_proxy::fuzzed;
use libfuzzer_sys::fuzz_target;

/// Bytes that say how long pieces are.
const SIZES: usize = 4;

fuzz_target!(|data: &[u8]| {
    let (sizes, stream) = data.split_at(data.len().min(SIZES));
    let sizes: Vec<usize> = sizes.iter().map(|size| usize::from(*size)).collect();
    fuzzed::stream(stream, &sizes);
});
