//! Clients that clear old results and reasoning: the conversation goes on, and so does its view.
//!
//! A view doesn't depend on what it hides, and shows the rest as the client says it now. So clearing never begins an epoch. The
//! checkpoint stays true: it says what the calls gave when they were made.

use super::conversation::Line;
use super::epoch::{Epoch, notes_left_out};
use super::{Chain, SessionId, Sessions};
use crate::count::Tally;
use crate::model::Binding;
use crate::request::Request;
use crate::transcript::Role;
use crate::wire;

impl Sessions {
    /// The conversation that a chain continues, and how many links of it. They may have been cleared.
    pub(super) fn continued(&self, base: &Request, chain: &Chain) -> Option<(SessionId, usize)> {
        let known = self.longest(chain, chain.ids());
        if known.is_some_and(|(id, links)| {
            self.lines.get(&id).is_some_and(|line| line.ids.len() == links)
        }) {
            return known;
        }
        let cleared = self.longest(chain, chain.outlines()).filter(|(id, links)| {
            let is_longer = known.is_none_or(|(_, known)| known < *links);
            let line = self.lines.get(id).filter(|_| is_longer);
            line.is_some_and(|line| line.may_be_cleared_to(base, chain, *links))
        });
        cleared.or(known)
    }

    /// Takes the first links of a conversation as they are said by now.
    pub(super) fn clear(&mut self, id: SessionId, chain: &Chain, links: usize) {
        let line = self.lines.get_mut(&id).expect("the caller found it");
        for (old, new) in line.ids.iter().zip(&chain.ids()[..links]).filter(|(old, new)| old != new)
        {
            if self.by_prefix.get(old) == Some(&id) {
                self.by_prefix.remove(old);
            }
            self.by_prefix.insert(*new, id);
        }
        line.clear(chain, links);
    }

    /// Counts anew what the view in force spares, after a client cleared something.
    pub(super) fn count_cleared(&mut self, id: SessionId, base: &Request, chain: &Chain) {
        let line = self.lines.get_mut(&id).expect("the caller found it");
        if !std::mem::take(&mut line.is_cleared) {
            return;
        }
        if line.epoch().is_whole() {
            line.newest_epoch().spared = 0;
            return;
        }
        let counter = self.compactor.counter();
        let view = line.epoch().view(base, chain);
        let shown = wire::shown(base, &view).expect("spliced JSON is JSON of the same format");
        let tokens = |request: &Request| Tally::of(request, counter).total().tokens;
        let spared = tokens(base).saturating_sub(tokens(&shown));
        let is_free = [line.epoch().binding, Binding::of(base)] == [Binding::Free; 2];
        if spared == 0 && is_free {
            // The client left less than the view has.
            let mut whole = Epoch::whole();
            whole.number = line.epoch().number + 1;
            line.enter(whole);
            return;
        }
        let notes = notes_left_out(&view, base, chain, counter);
        line.newest_epoch().spared = spared.saturating_sub(notes);
    }
}

impl Line {
    /// Whether the first `links` links of a request may be this whole conversation with results and reasoning cleared:
    /// the model has answered them, and nothing that a client would clear has grown. Other results of the same calls would be
    /// another conversation.
    fn may_be_cleared_to(&self, base: &Request, chain: &Chain, links: usize) -> bool {
        // A client may end a request with a reminder that the next one doesn't have.
        if links + 1 < self.ids.len() || links > self.bodies.len() {
            return false;
        }
        let is_reply = |at: &usize| base.transcript.entry(*at).role() == Role::Assistant;
        let answered = chain.entries().iter().rposition(is_reply).unwrap_or_default();
        let bodies = self.bodies.iter().zip(chain.bodies()).take(links).enumerate();
        bodies
            .filter(|(_, ((_, was), is))| was != *is)
            .all(|(link, ((first, _), is))| link <= answered && is.may_be_left_of(*first))
    }

    fn clear(&mut self, chain: &Chain, links: usize) {
        let mut changed = self.cleared_since(chain);
        changed.retain(|link| *link < links);
        self.ids[..links].copy_from_slice(&chain.ids()[..links]);
        for link in &changed {
            self.bodies[*link].1 = chain.bodies()[*link];
        }
        let Some(first) = changed.first() else { return };
        // From there on it is counted again, and what was kept of it is kept elsewhere.
        self.counted.truncate(*first);
        if *first < self.epoch().needed() {
            self.saved = 0;
        }
        if self.epoch().shown(links).any(|run| changed.iter().any(|link| run.contains(link))) {
            self.anchor = None;
        }
        for epoch in &mut self.epochs {
            epoch.forget_edits(&changed);
        }
        self.is_cleared = true;
    }

    /// The links of which something was cleared since they were those of `chain`.
    pub(super) fn cleared_since(&self, chain: &Chain) -> Vec<usize> {
        let pairs = self.bodies.iter().zip(chain.bodies()).enumerate();
        pairs.filter(|(_, ((_, is), was))| is != *was).map(|(link, _)| link).collect()
    }
}
