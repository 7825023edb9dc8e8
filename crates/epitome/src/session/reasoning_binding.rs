//! A switch to a model that binds its reasoning to the prompt.

use super::epoch::{Epoch, notes_left_out};
use super::late_reply::Late;
use super::{Chain, SessionId, Sessions};
use crate::budget::Target;
use crate::model::Binding;
use crate::request::Request;
use crate::wire::{self, Thinking};

impl Sessions {
    /// Begins an epoch for such a model where the view in force was made for another.
    pub(super) fn bind(&mut self, session: SessionId, base: &Request, chain: &Chain) {
        let reasoning = (Binding::of(base), Thinking::of(base));
        let line = self.lines.get_mut(&session).expect("the caller found it");
        let is_as_before = line.shown_for.replace(reasoning) == Some(reasoning);
        // A model that doesn't bind takes reasoning that was bound elsewhere.
        let next = if reasoning.0 != Binding::Free && std::mem::take(&mut line.is_unsure) {
            self.without_loop(session, base, chain)
        } else {
            line.bound(reasoning.0, base, chain, self.compactor.counter())
        };
        // Reasoning that left for another model or mode, or from a turn closed at that time, may now have to start the
        // open loop.
        let is_same = is_as_before && next.is_none();
        let epoch = next.as_ref().unwrap_or_else(|| self.lines[&session].epoch());
        let is_free = reasoning.1 == Thinking::Other || epoch.is_whole();
        let next = if is_same || is_free || is_legal(epoch, base, chain) {
            next
        } else {
            let least = self.without_loop(session, base, chain);
            let least = least.filter(|least| is_legal(least, base, chain));
            let number = self.lines[&session].epoch().number + 1;
            let mut least = least.unwrap_or_else(Epoch::whole);
            least.number = number;
            Some(least)
        };
        if let Some(next) = next {
            self.lines.get_mut(&session).expect("it was found before").enter(next);
        }
    }

    /// An epoch without the open loop: the largest legal part of the shown request, else the smallest.
    fn without_loop(&mut self, session: SessionId, base: &Request, chain: &Chain) -> Option<Epoch> {
        let spared = self.lines[&session].epoch().spared;
        let whole = crate::count::Tally::of(base, self.compactor.counter()).total().tokens;
        // No more than is shown, so that something leaves: reasoning bound elsewhere leaves with it.
        let next =
            self.compacted_to(whole.saturating_sub(spared.max(1)).max(1), session, base, chain);
        match next {
            Some(next) if is_legal(&next, base, chain) => Some(next),
            _ => self.compacted_to(1, session, base, chain),
        }
    }

    /// An epoch that is compacted at once, as the view in force was; no summarizer is asked, because nobody waits.
    fn compacted_to(
        &mut self,
        target: u64,
        session: SessionId,
        base: &Request,
        chain: &Chain,
    ) -> Option<Epoch> {
        let before = self.lines[&session].epoch().clone();
        let counter = self.compactor.counter();
        let compactor =
            self.compactor.clone().with_last_resort().asking_nobody().with_loop_closed();
        let compactor = compactor.with_target(Target::Tokens(target)).ok()?;
        let outcome = compactor.compact(base).ok()?;
        let receipt = &outcome.receipt;
        let (came, left) = (receipt.before.count.tokens, receipt.after.count.tokens);
        // The reasoning that it left was said under the prompts of earlier epochs, which the compaction can't know.
        let entry = |link: usize| base.transcript.entry(chain.entries()[link]);
        let next = Epoch::of(&outcome.view, &outcome.base, chain);
        let mut next = next.bound(Binding::of(base), |link| Late::of(entry(link), base, counter));
        next.number = before.number + 1;
        let notes = notes_left_out(&outcome.view, &outcome.base, chain, counter);
        next.spared += came.saturating_sub(left).saturating_sub(notes);
        next.checkpoint = receipt.checkpoint.as_ref().map(|checkpoint| checkpoint.id);
        next.carry(&before, |text| counter.text(text).tokens);
        Some(next)
    }
}

/// Whether the provider takes what the epoch shows, or finds no more in it than in what came.
fn is_legal(epoch: &Epoch, base: &Request, chain: &Chain) -> bool {
    let shown = wire::render(base, &epoch.view(base, chain));
    let shown = wire::parse(base.format, shown).expect("spliced JSON is JSON of the same format");
    let found = wire::check(&shown);
    found.is_empty() || found.len() <= wire::check(base).len()
}
