//! Memory stays linear: texts that were made to take much, the whole way from bytes to bytes.

use std::sync::Arc;

use epitome::{Format, wire};
use peak_alloc::PeakAlloc;
use testkit::hostile::{PLACES, filled, request, texts};
use testkit::to_percent;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes of each text.
const SIZE: usize = 256 * 1024;

/// The most bytes in use at once for each byte of a request.
const MOST: usize = 40;

/// Bytes in use at once for each byte of the request, at most.
fn peak(source: String) -> usize {
    let bytes = source.len();
    let source = Arc::new(source);
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let request = wire::parse(Format::OpenaiChat, source).expect("a request");
    let compactor = testkit::compactor(to_percent(30), "o200k");
    let outcome = compactor.compact(&request).expect("a view");
    let rendered = outcome.rendered().len();
    assert!(rendered < bytes);
    (MEMORY.peak_usage() - before) / bytes
}

/// In one test, because all share one allocator. The worst are full stops, at 33.
#[test]
fn awkward_texts_take_a_small_multiple_of_their_size() {
    for (what, text) in texts() {
        for (place, at) in PLACES.iter().enumerate() {
            let peak = peak(request(place, &filled(&text, SIZE)));
            assert!(peak <= MOST, "{what} in a {at}: {peak} bytes for each byte");
        }
    }
}
