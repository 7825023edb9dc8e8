//! What fuzz targets share.

use epitome::count::counter;
use epitome::wire::Format;
use epitome::{Compactor, Options, Pin, Target};

/// The format that a byte chooses, and the rest.
pub fn format(bytes: &[u8]) -> Option<(Format, &[u8])> {
    let (pick, rest) = bytes.split_first()?;
    Some((Format::ALL[usize::from(*pick) % Format::ALL.len()], rest))
}

/// A compactor to so many percent.
///
/// # Panics
/// Never: all that is asked for is in range.
pub fn compactor(percent: u8, pin: Option<usize>) -> Compactor {
    let options = Options {
        target: Target::Percent(percent.clamp(1, 100)),
        pins: pin.map(Pin::Entry).into_iter().collect(),
        ..Options::default()
    };
    Compactor::new(options, counter("o200k").expect("a known name")).expect("in range")
}
