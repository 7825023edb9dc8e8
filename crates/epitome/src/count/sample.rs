//! Counting a large request by a sample, to know whether it is due.
//!
//! For each kind of text, a chunk is counted at regular distances. The mean tokens per byte stand for the rest, with four
//! times the standard error above.

use super::tally::{OVERHEAD, part_count};
use super::{Basis, Count, TokenCounter};
use crate::request::Request;
use crate::text::cut;
use crate::transcript::{Marks, Part, PartKind};

/// Requests of fewer bytes are counted whole.
pub const LEAST_BYTES: usize = 5_000_000;
/// The newest bytes are counted whole: what would be kept is there, mostly.
const NEWEST: usize = 1 << 18;
/// Bytes of text that are counted at once, and their distance.
const CHUNK: usize = 1 << 12;
const EACH: usize = CHUNK << 4;
/// With fewer chunks, a kind is counted whole.
const LEAST_CHUNKS: usize = 16;
/// Standard errors between the mean and the upper edge.
const ERRORS: f64 = 4.0;
/// What cutting a chunk changes at most, in tokens: one at each end.
const CUTS: f64 = 2.0;

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
        PartKind::Result if part.is(Marks::LITERAL) || !part.raw_body().starts_with('[') => {
            Some(Sort::Result)
        }
        _ => None,
    }
}

/// The counts of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Stratum {
    /// Bytes of it, and of those since the last chunk.
    bytes: usize,
    passed: usize,
    chunks: f64,
    /// Sums of tokens per byte, of their squares, and of the upper edges.
    sum: f64,
    squares: f64,
    upper: f64,
    /// What rounding left of the parts so far.
    left: f64,
}

impl Stratum {
    /// Passes over a part; a chunk is counted wherever one is due.
    fn pass(&mut self, part: &Part<'_>, counter: &dyn TokenCounter) {
        let bytes = part.row().body.len();
        let first = EACH - self.passed;
        self.bytes += bytes;
        self.passed = (self.passed + bytes) % EACH;
        if bytes < first {
            return;
        }
        let text = part.text();
        for at in (first..=bytes).step_by(EACH) {
            let at = text.len() * at / bytes;
            // Behind the last whole chunk there is less: then the last one.
            let rest = &text[cut::floor(&text, at)..];
            let rest = if rest.len() < CHUNK { cut::tail(&text, CHUNK) } else { rest };
            let chunk = cut::head(rest, CHUNK);
            let written = bytes as f64 * chunk.len() as f64 / text.len().max(1) as f64;
            let Count { tokens, upper, .. } = counter.text(chunk);
            let each = |tokens: u64| tokens as f64 / written.max(1.0);
            self.chunks += 1.0;
            self.sum += each(tokens);
            self.squares += each(tokens) * each(tokens);
            self.upper += each(upper);
        }
    }

    fn is_enough(&self) -> bool {
        self.chunks >= LEAST_CHUNKS as f64
    }

    fn mean(&self) -> f64 {
        self.sum / self.chunks
    }

    /// Tokens of this many bytes, so that those of all parts together match the mean.
    fn tokens(&mut self, bytes: usize) -> u64 {
        let exact = bytes as f64 * self.mean() + self.left;
        let whole = exact.floor().max(0.0);
        self.left = exact - whole;
        whole as u64
    }

    /// The possible excess over the estimate, in tokens.
    fn spare(&self) -> u64 {
        let mean = self.mean();
        let variance = (self.squares / self.chunks - mean * mean).max(0.0);
        let error = ERRORS * (variance / (self.chunks - 1.0)).sqrt() + CUTS / CHUNK as f64;
        ((self.upper / self.chunks - mean + error) * self.bytes as f64).ceil() as u64
    }
}

/// The tokens of all parts, those of each entry, and their sum.
pub(super) struct Counted {
    pub(super) parts: Vec<u64>,
    pub(super) entries: Vec<u64>,
    pub(super) sum: Count,
}

/// Counts `request` by a sample.
pub(super) fn counted(request: &Request, counter: &dyn TokenCounter) -> Counted {
    let transcript = &request.transcript;
    let bytes: usize = transcript.entries().map(|entry| entry.span().len()).sum();
    let mut strata = [Stratum::default(); SORTS];
    let mut newest = transcript.len();
    let mut before = 0;
    for entry in transcript.entries() {
        if before + NEWEST >= bytes {
            newest = entry.index;
            break;
        }
        before += entry.span().len();
        for part in entry.parts() {
            if let Some(sort) = sort(&part) {
                strata[sort as usize].pass(&part, counter);
            }
        }
    }
    let (mut parts, mut entries) = (Vec::new(), Vec::with_capacity(transcript.len()));
    let (mut sum, mut guessed) = (Count::ZERO, 0);
    for entry in transcript.entries() {
        let mut all = OVERHEAD.entry;
        sum += Count::exact(OVERHEAD.entry);
        for part in entry.parts() {
            let stratum = sort(&part).map(|sort| &mut strata[sort as usize]);
            let stratum = stratum.filter(|known| entry.index < newest && known.is_enough());
            let own = if let Some(stratum) = stratum {
                let words = stratum.tokens(part.row().body.len());
                let around = match part.kind() {
                    PartKind::Call => OVERHEAD.pair_part + counter.text(&part.name()).tokens,
                    PartKind::Result => OVERHEAD.pair_part,
                    _ => 0,
                };
                guessed += words + around;
                words + around
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
    let enough = strata.iter().filter(|stratum| stratum.is_enough());
    let spare: u64 = enough.map(Stratum::spare).sum();
    let basis = counter.text("").basis.max(Basis::Sampled);
    sum += Count { tokens: guessed, upper: guessed.saturating_add(spare), basis };
    Counted { parts, entries, sum }
}
