//! Where a compaction is to land.

use super::decide::Subject;
use super::{Intent, Landing, Sessions};
use crate::budget::Target;
use crate::transcript::{Entry, Part, PartKind, Role};
use crate::working_view::may_act;

impl Sessions {
    /// Where to land, by the counter that decides: the window is in the model's own tokens.
    pub(super) fn landing(&self, subject: &Subject<'_>, window: Option<u64>) -> Target {
        if subject.intent == Intent::Summary {
            // Nothing comes after it that needs room.
            return Target::Percent(100);
        }
        if let Landing::Turns(turns) = self.options.landing {
            let window = window.map(|window| subject.counts.counted(subject.model, window));
            return Target::Tokens(roomy(subject, turns, window));
        }
        match (self.options.landing, self.options.landing.target(window)) {
            (Landing::Window(_), Target::Tokens(target)) => {
                Target::Tokens(subject.counts.counted(subject.model, target).max(1))
            }
            (_, target) => target,
        }
    }
}

/// Bytes that a token of people's words has, about.
const BYTES: u64 = 4;
/// Of what stands before a quote.
const LABEL_BYTES: usize = 16;
/// The most bytes of a call and of its outcome.
const MOST_DEED: usize = 320;
const OUTCOME_BYTES: usize = 96;
/// Percent of a view that these may have: 60 of a checkpoint, which has 70 of the room.
const WORDS_SHARE: u64 = 42;

/// The target that leaves room for this many further turns of the conversation's mean growth, in the counter's tokens. At least a
/// quarter of the shown prompt and enough for human words and deeds beside what stays; at most half, because a rewrite must be worth its cost.
fn roomy(subject: &Subject<'_>, turns: u32, window: Option<u64>) -> u64 {
    let is_reply = |entry: &Entry<'_>| entry.role() == Role::Assistant;
    let replies = subject.base.transcript.entries().filter(is_reply).count().max(1) as u64;
    let said = subject.whole.saturating_sub(subject.frame);
    let grown = (said / replies).saturating_mul(u64::from(turns));
    // What doesn't fit has no more room than the window.
    let shown = window.map_or(subject.counted, |window| subject.counted.min(window));
    let entries = || subject.base.transcript.entries();
    let is_word = |part: &Part<'_>| part.is_human() && part.kind() == PartKind::Text;
    let words = entries().flat_map(|entry| entry.parts()).filter(is_word);
    let words = words.map(|part| part.raw_body().len() + LABEL_BYTES);
    let newest = entries().rev().take_while(|entry| !entry.is_human());
    let deeds = newest.flat_map(|entry| entry.parts()).filter(may_act);
    let deeds = deeds.map(|part| part.raw_body().len().min(MOST_DEED) + OUTCOME_BYTES);
    let bytes: usize = words.chain(deeds).sum();
    // The newest step stays.
    let step = entries().rev().take_while(|entry| !is_reply(entry)).map(|entry| entry.raw().len());
    let stays = subject.frame + step.sum::<usize>() as u64 / BYTES;
    let quoting = stays + bytes as u64 / BYTES * 100 / WORDS_SHARE;
    shown.saturating_sub(grown).max(quoting).clamp(shown / 4, shown / 2).max(1)
}

/// A target that fits in a window, and is strictly smaller than what is shown.
pub(super) fn within(subject: &Subject<'_>, window: u64, target: Target) -> Target {
    let window = subject.counts.counted(subject.model, window);
    let most = (subject.counted / 10 * 9).min(window / 10 * 9).max(1);
    Target::Tokens(target.resolve(subject.counted).clamp(1, most))
}
