//! Whether a view had room for one more line.

use epitome::{Compactor, Outcome};

use super::log::{Lane, Log};

/// Tokens that a line takes besides its own: counts of texts side by side may differ a little.
const BESIDE: u64 = 4;

/// Lines that a checkpoint says of itself, at most; what else stands in no lane gives way like notes.
const HEAD: usize = 3;

/// Whether the checkpoint could say one more line: it has notes or names, which give way, or the view leaves that many tokens
/// of its target, and more than a twentieth of it.
pub(super) fn has_room(outcome: &Outcome, compactor: &Compactor, line: &str) -> bool {
    let receipt = &outcome.receipt;
    let log = outcome.view.checkpoint().map(|placed| Log::of(&placed.text)).unwrap_or_default();
    let has_lane = [Lane::Notes, Lane::Names].iter().any(|lane| log.lane(*lane).is_some());
    let gives_way = has_lane || log.head.lines().count() > HEAD;
    let left = receipt.target.saturating_sub(receipt.after.count.tokens);
    let needed = compactor.counter().text(line).tokens + BESIDE;
    gives_way || left >= needed && left * 20 > receipt.target
}
