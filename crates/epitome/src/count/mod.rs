//! Counting tokens: exactly where the tokenizer is public, as an estimate with an error band where
//! it isn't.
//!
//! ```
//! use epitome::count::{Basis, TokenCounter, counter};
//!
//! let exact = counter("o200k")?.text("Hello, world");
//! assert_eq!((exact.tokens, exact.upper, exact.basis), (3, 3, Basis::Exact));
//!
//! let estimate = counter("claude")?.text("Hello, world");
//! assert!(estimate.tokens <= estimate.upper && estimate.basis == Basis::Estimated);
//! # Ok::<(), epitome::count::UnknownCounter>(())
//! ```

#[cfg(any(feature = "o200k", feature = "cl100k"))]
mod bpe;
mod cache;
mod calibrate;
mod content;
mod estimate;
pub mod media;
#[cfg(any(feature = "o200k", feature = "cl100k"))]
mod merge;
mod named;
#[cfg(any(feature = "o200k", feature = "cl100k"))]
mod pretokenize;
#[cfg(any(feature = "o200k", feature = "cl100k"))]
mod probe;
mod sample;
mod sealed;
mod tally;
#[cfg(any(feature = "o200k", feature = "cl100k"))]
mod vocabulary;

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

#[cfg(any(feature = "o200k", feature = "cl100k"))]
pub use bpe::Bpe;
pub(crate) use cache::ByHash;
pub use cache::{CacheKey, Cached, CountCache};
pub use calibrate::{Anchor, Calibration, Sums, Usage};
pub use content::{ContentKind, ToolWeight, Weight, Weights, tool_weights};
pub use estimate::{BytesPer, CharsPer};
#[cfg(feature = "o200k")]
pub use estimate::{Claude, Gemini, Kin};
pub use named::{NAMES, UnknownCounter, counter};
pub use sample::LEAST_BYTES as SAMPLED_BYTES;
pub use sealed::sealed;
pub(crate) use tally::AROUND_MESSAGE;
pub(crate) use tally::part_count;
pub(crate) use tally::part_put_tokens;
pub use tally::{FrameTally, Tally, entry_count, impossible_images, message_tokens, put_tokens};

/// Where a count comes from, the most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The model's own tokenizer.
    Exact,
    /// The provider's `usage` or its counting endpoint.
    Reported,
    /// An estimate corrected by what the provider reported before.
    Calibrated,
    /// The model's own tokenizer, on a part of the text.
    Sampled,
    /// A rule.
    Estimated,
    /// A rule, for a film or a sound of unknown length: it may be any more.
    Unbounded,
}

/// A number of tokens and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Count {
    /// Tokens, as well as they are known.
    pub tokens: u64,
    /// Upper edge of the error band, never below `tokens`; for [`Basis::Unbounded`] only the known part.
    pub upper: u64,
    /// Where the count comes from.
    pub basis: Basis,
}

impl Count {
    /// Nothing, exactly.
    pub const ZERO: Self = Self::exact(0);

    /// A count without error.
    pub const fn exact(tokens: u64) -> Self {
        Self { tokens, upper: tokens, basis: Basis::Exact }
    }

    /// A count of `tokens` of what this is the count of: with its basis and its share of error.
    #[must_use]
    pub fn in_kind(self, tokens: u64) -> Self {
        let spare = u128::from(self.upper.saturating_sub(self.tokens));
        let spare = (spare * u128::from(tokens)).div_ceil(u128::from(self.tokens.max(1)));
        let spare = u64::try_from(spare).unwrap_or(u64::MAX);
        Self { tokens, upper: tokens.saturating_add(spare), basis: self.basis }
    }

    /// A count by a rule whose result is at most `upper` in truth.
    pub fn estimated(tokens: u64, upper: u64) -> Self {
        Self { tokens, upper: upper.max(tokens), basis: Basis::Estimated }
    }

    /// The same, with an unknown upper edge.
    #[must_use]
    pub fn unbounded(self) -> Self {
        Self { basis: Basis::Unbounded, ..self }
    }

    /// The upper edge, if there is one.
    pub fn most(self) -> Option<u64> {
        (self.basis != Basis::Unbounded).then_some(self.upper)
    }
}

impl Add for Count {
    type Output = Self;

    /// Adds tokens and bands; the sum is as sure as its less sure part.
    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            upper: self.upper.saturating_add(other.upper),
            basis: self.basis.max(other.basis),
        }
    }
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::ZERO, Add::add)
    }
}

/// Counts the tokens of contents, for one tokenizer.
///
/// The same input gives the same count every time.
///
/// ```
/// use epitome::count::{Count, TokenCounter};
///
/// /// A token for four bytes, at most for two.
/// #[derive(Debug)]
/// struct FourBytes;
///
/// impl TokenCounter for FourBytes {
///     fn name(&self) -> &str {
///         "four-bytes"
///     }
///
///     fn text(&self, text: &str) -> Count {
///         let bytes = text.len() as u64;
///         Count::estimated(bytes.div_ceil(4), bytes.div_ceil(2))
///     }
/// }
///
/// assert_eq!(FourBytes.text("twelve bytes").tokens, 3);
/// ```
pub trait TokenCounter: Debug + Send + Sync {
    /// The name that [`counter`] knows it by, if it does.
    fn name(&self) -> &str;

    /// Tokens of a text by itself.
    fn text(&self, text: &str) -> Count;

    /// The rule that says what images and documents cost.
    fn media_rule(&self) -> media::MediaRule {
        media::MediaRule::Unknown
    }

    /// Tokens of an image.
    fn media(&self, image: &media::Image) -> Count {
        self.media_rule().image(image)
    }

    /// Tokens of a PDF document.
    fn document(&self, document: &media::Document) -> Count {
        self.media_rule().document(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_as_sure_as_its_least_sure_part() {
        let sum: Count = [Count::exact(3), Count::estimated(10, 15)].into_iter().sum();
        assert_eq!(sum, Count { tokens: 13, upper: 18, basis: Basis::Estimated });
        assert_eq!([Count::exact(3), Count::exact(4)].into_iter().sum::<Count>(), Count::exact(7));
    }

    #[test]
    fn an_upper_edge_is_never_below_the_count() {
        assert_eq!(Count::estimated(10, 5).upper, 10);
    }
}
