//! Law 6: what people said stays, and what was to stay.

use std::collections::BTreeSet;

use epitome::budget::Budget;
use epitome::checkpoint::{self, LEAST_TOKENS, Word};
use epitome::count::Tally;
use epitome::guard::{Guard, Held, Wishes};
use epitome::model::Binding;
use epitome::strategy::Pipeline;
use epitome::transcript::unit::Units;
use epitome::transcript::{Entry, Marks, Origin, PartKind, Transcript};
use epitome::view::Fate;
use epitome::{Compactor, Outcome};

use super::says;
use crate::gathered::gathered;

/// Law 6: what was to stay is an excerpt only where it doesn't fit beside nothing else.
pub(super) fn pins_fit(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    let receipt = &outcome.receipt;
    let is_ladder = matches!(compactor.options().strategies, Pipeline::Ladder(_));
    if receipt.excerpted.is_empty() || !is_ladder || !receipt.fallbacks.is_empty() {
        return Ok(());
    }
    let scene = Stage::of(outcome, compactor);
    let held = |at: &usize| scene.guard.held(*at).is_some();
    let is_soft = |at: usize| {
        let is_human = outcome.base.transcript.entry(at).is_human();
        let held = scene.guard.held(at);
        matches!(held, Some(Held::Companion | Held::Elsewhere))
            || held == Some(Held::Newest) && !is_human
    };
    let most = (receipt.target / 4).max(LEAST_TOKENS / 2);
    let least = |at: usize| {
        let tokens = scene.tally.entry(at);
        let parts = outcome.base.transcript.entry(at).parts().filter(|_| is_soft(at));
        let texts = parts.filter(|p| matches!(p.kind(), PartKind::Text | PartKind::Result));
        // What a server's tool gave goes back to its provider as it came, and so does what is signed.
        let texts = texts.filter(|p| !p.is(Marks::SERVER) && !p.is(Marks::FIXED));
        let over = texts.map(|p| scene.tally.part(p.slot).saturating_sub(most)).sum::<u64>();
        tokens - over
    };
    let whole: u64 = (0..outcome.view.len()).filter(held).map(least).sum();
    let whole = whole + scene.tally.frame.total().tokens;
    holds!(whole > receipt.target, "excerpts, though {whole} fit: {:?}", receipt.excerpted);
    Ok(())
}

/// Tokens by which one checkpoint of the same length may exceed another: what its fence is made of.
const NONCE: u64 = 16;

/// Law 6: what people said goes last. A human message that is neither shown nor quoted fits neither in what is free nor
/// in the place of what the model and tools said, but for what must stay and the newest, three tenths of the target.
pub(super) fn words(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    let receipt = &outcome.receipt;
    let is_ladder = matches!(compactor.options().strategies, Pipeline::Ladder(_));
    let placed = outcome.view.checkpoint();
    let contents = placed.and_then(|placed| checkpoint::read(&placed.text)).unwrap_or_default();
    let fates: Vec<_> = outcome.view.fates().collect();
    let humans = outcome.base.transcript.entries().filter(Entry::is_human);
    let transcript = &outcome.base.transcript;
    let numbering = checkpoint::numbering(transcript);
    let is_quoted = |at: usize| {
        let (said, number) = (transcript.entry(at).human_text(), numbering.of(at));
        contents.words.iter().any(|word| word.at == number && says(word, &said))
    };
    let is_said = |at: usize| fates[at].is_shown() || is_quoted(at);
    let missing: Vec<usize> = humans.map(|e| e.index).filter(|at| !is_said(*at)).collect();
    holds!(
        missing.len() <= receipt.human_messages.lost,
        "{missing:?} are gone, and nobody says so"
    );
    if missing.is_empty() || !is_ladder || !receipt.fallbacks.is_empty() {
        return Ok(());
    }
    let has_extracts = placed.is_some_and(|placed| placed.text.contains("\n## Telling lines"));
    let is_unquoted = missing.iter().any(|at| matches!(fates[*at], Fate::Fold(_)));
    let has_extracts = has_extracts || !contents.anchors.is_empty();
    holds!(!is_unquoted || !has_extracts, "extracts, but {missing:?} aren't quoted");
    let stage = Stage::of(outcome, compactor);
    let unit_of = |at: usize| &stage.units.all()[stage.units.index_of(at)];
    let is_plain = |at: usize| unit_of(at).is_turn && !unit_of(at).is_step;
    // The newest stays, and the newest step, however large.
    let mut protected = Budget::new(receipt.target).recent();
    let mut is_newest = true;
    let mut room = receipt.target.saturating_sub(receipt.after.count.tokens);
    for unit in stage.units.all().iter().rev() {
        let may_leave = unit.entries.clone().all(|at| stage.guard.may_leave(at));
        let size: u64 = unit.entries.clone().map(|at| stage.shown[at]).sum();
        if size == 0 || !may_leave || unit.is_turn {
            continue;
        }
        match protected.checked_sub(size) {
            Some(rest) => protected = rest,
            None if is_newest => protected = 0,
            None => {
                protected = 0;
                room += size;
            }
        }
        is_newest = false;
    }
    let missing: Vec<usize> = missing.into_iter().filter(|at| is_plain(*at)).collect();
    let taken_back =
        if missing.is_empty() { BTreeSet::new() } else { taken_back(outcome, &stage.units) };
    for at in missing.into_iter().filter(|at| !taken_back.contains(at)) {
        let tokens = stage.tally.entry(at);
        holds!(
            room < tokens + NONCE,
            "message {at} of {tokens} tokens is gone, with {room} for it"
        );
    }
    Ok(())
}

/// Entries of which everything that a ledger holds was taken back in entries that aren't shown: behind a checkpoint that
/// says what holds it would read as newer than that.
fn taken_back(outcome: &Outcome, units: &Units) -> BTreeSet<usize> {
    let gathered = gathered(&outcome.base.transcript, units);
    let shown: Vec<bool> = outcome.view.fates().map(Fate::is_shown).collect();
    let lines = gathered.ledger().lines();
    let (mut gone, mut holds) = (BTreeSet::new(), BTreeSet::new());
    for line in lines {
        let newer = line.replaced.map(|newer| lines[newer].at as usize);
        let of = if newer.is_some_and(|at| !shown[at]) { &mut gone } else { &mut holds };
        of.insert(line.at as usize);
    }
    gone.difference(&holds).copied().collect()
}

/// Words that earlier checkpoints quote.
pub(super) fn carried(transcript: &Transcript) -> Vec<Word> {
    let earlier = transcript.entries().flat_map(|entry| entry.parts());
    let earlier = earlier.filter(|part| part.origin() == Origin::Checkpoint);
    earlier.filter_map(|part| checkpoint::read(&part.text())).flat_map(|read| read.words).collect()
}

/// What a compaction is planned from.
struct Stage {
    tally: Tally,
    units: Units,
    guard: Guard,
    /// Tokens of each entry as it is shown.
    shown: Vec<u64>,
}

impl Stage {
    fn of(outcome: &Outcome, compactor: &Compactor) -> Self {
        let base = &outcome.base;
        let options = compactor.options();
        let tally = Tally::of(base, compactor.counter());
        let units = Units::of(&base.transcript, base.format.instructions());
        let wishes = Wishes {
            target: outcome.receipt.target,
            task: options.task,
            pins: &options.pins,
            tail: options.tail,
            preserved: compactor.preserved(),
            binding: Binding::of(base),
        };
        let guard = Guard::new(base, &units, &tally, wishes);
        let after = Tally::of(&outcome.request, compactor.counter());
        let placed = outcome.view.checkpoint().map(|placed| placed.before);
        let mut out = 0;
        let shown = outcome.view.fates().enumerate().map(|(at, fate)| {
            out += usize::from(placed == Some(at));
            // Where messages are shared, what each takes isn't told apart.
            let is_told = fate.is_shown() && out < after.len();
            let tokens = if is_told { after.entry(out) } else { 0 };
            out += usize::from(fate.is_shown());
            tokens
        });
        let shown = shown.collect();
        Stage { tally, units, guard, shown }
    }
}
