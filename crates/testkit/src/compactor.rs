//! Compactors and long requests, as tests want them.

use std::ops::Range;

use epitome::count::counter;
use epitome::{Compactor, Options, Target};

/// Lands at so many tokens.
#[must_use]
pub fn to(tokens: u64) -> Options {
    Options { target: Target::Tokens(tokens), ..Options::default() }
}

/// Lands at so many percent of what there is.
#[must_use]
pub fn to_percent(percent: u8) -> Options {
    Options { target: Target::Percent(percent), ..Options::default() }
}

/// Counts by the built-in counter of this name.
///
/// # Panics
/// If there is none, or the options are out of range.
#[must_use]
pub fn compactor(options: Options, name: &str) -> Compactor {
    Compactor::new(options, counter(name).expect("a known name")).expect("in range")
}

/// Steps in the notation, each a line or more: `#` stands for its number, `##` and `###` for that in so many digits.
#[must_use]
pub fn steps(all: Range<usize>, step: &str) -> String {
    let drawn = |at: usize| {
        let step = step.replace("###", &format!("{at:03}")).replace("##", &format!("{at:02}"));
        step.replace('#', &at.to_string()) + "\n"
    };
    all.map(drawn).collect()
}
