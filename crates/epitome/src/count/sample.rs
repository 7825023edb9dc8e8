//! Counting a large request by a sample: what is kept is counted, what is folded mostly isn't.
//!
//! Every so many bytes of a kind of text a chunk is counted; the mean of their tokens per byte stands for the rest of that
//! kind, with four times its standard error above it.

use std::collections::BTreeSet;

use super::tally::{OVERHEAD, part_count};
use super::{Basis, Count, TokenCounter};
use crate::request::Request;
use crate::text::cut;
use crate::transcript::{Marks, Part, PartKind, Slot};

/// Requests of fewer bytes are counted whole.
pub const LEAST_BYTES: usize = 5_000_000;
/// The newest bytes are counted whole: what is kept is there, mostly.
const NEWEST: usize = 1 << 18;
/// Bytes of text that are counted at once, of each so many.
const CHUNK: usize = 1 << 12;
const EACH: usize = CHUNK << 4;
/// With fewer chunks nothing is said of a kind: it is counted whole.
const LEAST_CHUNKS: usize = 16;
/// Standard errors between the mean and the upper edge.
const ERRORS: f64 = 4.0;
/// What cutting a chunk adds at most, in tokens: one at each end.
const CUTS: f64 = 2.0;

/// What is only known by a sample.
#[derive(Clone, Debug)]
pub(super) struct Sampled {
    /// Which parts are.
    open: BTreeSet<Slot>,
    /// Their tokens.
    tokens: u64,
    /// By what share they may be more.
    share: f64,
}

impl Sampled {
    /// Their tokens, and the edge of the error.
    pub(super) fn count(&self) -> Count {
        if self.open.is_empty() {
            return Count::ZERO;
        }
        let spare = (self.tokens as f64 * self.share).ceil() as u64;
        let upper = self.tokens.saturating_add(spare);
        Count { tokens: self.tokens, upper, basis: Basis::Sampled }
    }

    pub(super) fn has(&self, part: Slot) -> bool {
        self.open.contains(&part)
    }

    /// Forgets a part that was taken for so many tokens.
    pub(super) fn take(&mut self, part: Slot, tokens: u64) {
        if self.open.remove(&part) {
            self.tokens -= tokens;
        }
    }
}

/// The kinds of text whose tokens per byte differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Text,
    Reasoning,
    Call,
    Result,
}

const SORTS: usize = 4;

/// What `part` is a text of, if its tokens are those of its words.
fn sort(part: &Part<'_>) -> Option<Sort> {
    match part.kind() {
        PartKind::Text => Some(Sort::Text),
        PartKind::Reasoning if !part.is(Marks::SIGNED) => Some(Sort::Reasoning),
        PartKind::Call => Some(Sort::Call),
        PartKind::Result if !part.raw_body().starts_with('[') => Some(Sort::Result),
        _ => None,
    }
}

/// What was counted of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Stratum {
    /// Bytes since the last chunk.
    passed: usize,
    chunks: usize,
    /// Sums of tokens per byte, and of their squares.
    sum: f64,
    squares: f64,
}

impl Stratum {
    /// Passes over a part, of which a chunk is counted where one is due.
    fn pass(&mut self, part: &Part<'_>, counter: &dyn TokenCounter) {
        let bytes = part.raw_body().len();
        self.passed += bytes;
        if self.passed < EACH || bytes == 0 {
            return;
        }
        let into = bytes - (self.passed - EACH).min(bytes);
        self.passed %= EACH;
        let text = part.text();
        let into = text.len() * into / bytes;
        let chunk = cut::head(cut::tail(&text, text.len() - into.min(text.len())), CHUNK);
        // Behind the last whole chunk there is less: then the last one.
        let chunk = if chunk.len() < CHUNK { cut::tail(&text, CHUNK) } else { chunk };
        if !chunk.is_empty() {
            let written = bytes as f64 / text.len() as f64;
            let tokens = counter.text(chunk).tokens as f64 / (chunk.len() as f64 * written);
            self.chunks += 1;
            self.sum += tokens;
            self.squares += tokens * tokens;
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.chunks as f64
    }

    /// By what share the mean may be less than the truth.
    fn share(&self) -> f64 {
        let (chunks, mean) = (self.chunks as f64, self.mean());
        let variance = (self.squares / chunks - mean * mean).max(0.0) * chunks / (chunks - 1.0);
        (ERRORS * (variance / chunks).sqrt() + CUTS / CHUNK as f64) / mean.max(f64::MIN_POSITIVE)
    }

    fn is_enough(&self) -> bool {
        self.chunks >= LEAST_CHUNKS
    }
}

/// The tokens of all parts, those of each entry, the sum of what was counted, and what wasn't.
pub(super) struct Counted {
    pub(super) parts: Vec<u64>,
    pub(super) entries: Vec<u64>,
    pub(super) sum: Count,
    pub(super) sampled: Sampled,
}

/// Counts `request` by a sample.
pub(super) fn counted(request: &Request, counter: &dyn TokenCounter) -> Counted {
    let transcript = &request.transcript;
    let bytes: usize = transcript.entries().map(|entry| entry.raw().len()).sum();
    let mut strata = [Stratum::default(); SORTS];
    let mut newest = transcript.len();
    let mut before = 0;
    for entry in transcript.entries() {
        if before + NEWEST >= bytes {
            newest = entry.index;
            break;
        }
        before += entry.raw().len();
        for part in entry.parts().filter(|_| !entry.is_human()) {
            if let Some(sort) = sort(&part) {
                strata[sort as usize].pass(&part, counter);
            }
        }
    }
    let guess = |part: &Part<'_>| {
        let stratum = &strata[sort(part)? as usize];
        let words = part.raw_body().len() as f64 * stratum.mean();
        let around = match part.kind() {
            PartKind::Call => OVERHEAD.pair_part + counter.text(&part.name()).tokens,
            PartKind::Result => OVERHEAD.pair_part,
            _ => 0,
        };
        stratum.is_enough().then(|| words.round() as u64 + around)
    };
    let (mut parts, mut entries) = (Vec::new(), Vec::with_capacity(transcript.len()));
    let (mut sum, mut tokens, mut open) = (Count::ZERO, 0, BTreeSet::new());
    for entry in transcript.entries() {
        // What persons say is shown or quoted, whatever else is folded.
        let is_known = entry.index >= newest || entry.is_human();
        let mut all = OVERHEAD.entry;
        sum += Count::exact(OVERHEAD.entry);
        for part in entry.parts() {
            let guessed = if is_known { None } else { guess(&part) };
            let own = if let Some(guessed) = guessed {
                open.insert(part.slot);
                tokens += guessed;
                guessed
            } else {
                let count = part_count(&part, request.format, counter);
                sum += count;
                count.tokens
            };
            parts.push(own);
            all += own;
        }
        entries.push(all);
    }
    let shares = strata.iter().filter(|stratum| stratum.is_enough()).map(Stratum::share);
    let sampled = Sampled { open, tokens, share: shares.fold(0.0, f64::max) };
    Counted { parts, entries, sum, sampled }
}
