//! Text as such: cutting it, shortening it to its telling lines, splitting, ranking.
//!
//! Everything here works on plain `&str`s and knows nothing of wire formats or of transcripts. It
//! is pure, linear in its input, and the same input gives the same output. Sizes are in bytes
//! unless a name says otherwise; no function cuts inside a `char`.

pub mod arguments;
pub mod cut;
pub(crate) mod data_url;
pub mod excerpt;
pub mod figure;
pub(crate) mod framing;
pub(crate) mod keys;
pub(crate) mod kinds;
mod odd;
pub mod outcome;
mod outline;
pub mod rank;
pub mod salience;
pub mod secrets;
pub(crate) mod sentence;
pub(crate) mod shortened;
pub mod stub;
pub mod time;
pub mod words;

pub use arguments::{short_arguments, shorten_arguments, unmasked_arguments};
pub use excerpt::{Excerpt, ExcerptForm, excerpt};
pub use outcome::CallStatus;
pub(crate) use outcome::NO_RESULT;
pub use stub::stub;
pub(crate) use stub::{STUB, noted_stub};

/// Exact strings that an agent may need again: paths, identifiers, ids, numbers.
pub mod specifics {
    pub use crate::specifics::*;
}

/// Whether `text` begins with one of these. Few begin with its first byte: the others aren't compared.
pub(crate) fn begins_with_one(text: &str, starts: &[&str]) -> bool {
    let first = text.as_bytes().first();
    starts.iter().any(|start| start.as_bytes().first() == first && text.starts_with(start))
}
