//! The part of a conversation that must outlive a crash: a view must be shown the same way again.
//!
//! A model's replies under a view are bound to it, so a machine that forgot its views can't continue these
//! conversations. A host saves a session before it sends a request under an epoch, or in a session, that it hasn't
//! saved yet, and loads it before its next request. Epochs begin with commits, and with a switch to a model that binds
//! its reasoning to the prompt; a fork brings the epoch along.
//!
//! Machines that share saved sessions (with one [`ChainKey`](super::ChainKey)) take turns in a conversation: each asks for
//! [`news`](Sessions::news) of a request before it decides, [catches up](Sessions::catch_up), and keeps the
//! [unsaved](Sessions::unsaved) sessions before it sends. The second of two [gives way](Sessions::give_way).

use std::sync::atomic::Ordering;

use serde::{Deserialize, Serialize};

use super::conversation::{Line, SentPrompt};
use super::epoch::Epoch;
use super::identity::PrefixId;
use super::{Arrived, SessionId, Sessions};

/// A session as it is saved: the conversation as ids, and its view. It has no words except those of edits and the
/// checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Saved {
    tenant: String,
    ids: Vec<PrefixId>,
    epochs: Vec<Epoch>,
    sends: Vec<SentPrompt>,
}

/// The possible places of a conversation that a request continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptPlace {
    /// All messages up to the end of the newest compaction's input.
    pub id: PrefixId,
    /// The number of its newest known epoch; a kept one with a larger number is news.
    pub known: Option<u32>,
}

impl Saved {
    /// Where to save it, and the number of its newest epoch; `None` without a compaction, because then nothing has to be
    /// restored.
    pub fn place(&self) -> Option<(PrefixId, u32)> {
        let (links, number) = reached(&self.epochs, self.ids.len())?;
        Some((*self.ids.get(links.checked_sub(1)?)?, number))
    }
}

/// How many links a conversation must share for the epochs that it has which shares the first `links` links, and the number of
/// the newest of them; `None` where nothing is compacted.
fn reached(epochs: &[Epoch], links: usize) -> Option<(usize, u32)> {
    let epochs = epochs.iter().take_while(|epoch| epoch.needed() <= links);
    let most = epochs.clone().map(Epoch::needed).max().filter(|links| *links > 0)?;
    Some((most, epochs.last()?.number))
}

impl Sessions {
    /// A conversation, to be kept.
    pub fn save(&self, session: SessionId) -> Option<Saved> {
        let line = self.lines.get(&session)?;
        Some(Saved {
            tenant: line.tenant.clone(),
            ids: line.ids.clone(),
            epochs: line.epochs.clone(),
            sends: line.sends.clone(),
        })
    }

    /// Knows a kept conversation again, under a new number.
    pub fn load(&mut self, saved: Saved) -> SessionId {
        let id = SessionId(self.number());
        for prefix in &saved.ids {
            self.by_prefix.insert(*prefix, id);
        }
        let mut line = Line::new(id, &saved.tenant);
        line.ids = saved.ids;
        line.sends = saved.sends;
        if !saved.epochs.is_empty() {
            line.epochs = saved.epochs;
        }
        line.saved = line.epoch().number;
        self.insert(line);
        self.forget_some(id);
        id
    }

    /// A conversation, if it was compacted and its newest epoch isn't kept yet.
    pub fn unsaved(&self, session: SessionId) -> Option<Saved> {
        let line = self.lines.get(&session).filter(|line| line.saved < line.epoch().number)?;
        reached(&line.epochs, line.ids.len()).and_then(|_| self.save(line.id))
    }

    /// An epoch of a conversation is kept.
    pub fn kept(&mut self, session: SessionId, epoch: u32) {
        if let Some(line) = self.lines.get_mut(&session) {
            line.saved = line.saved.max(epoch);
        }
    }

    /// Where others may have kept news of the conversation that a request continues, from its beginning to its end: the
    /// state at the last place counts.
    pub fn news(&self, arrived: &Arrived) -> Vec<KeptPlace> {
        let ids = arrived.chain.ids();
        let (known, reached) = self.known_of(arrived).unwrap_or_default();
        let own = reached.map(|(links, number)| (ids[links - 1], Some(number)));
        // Others may have compacted the newest messages.
        let from = known.saturating_sub(1).max(arrived.chain.instructions());
        let from = from.max(reached.map_or(0, |(links, _)| links)).min(ids.len());
        let new = ids[from..].iter().map(|id| (*id, None));
        own.into_iter().chain(new).map(|(id, known)| KeptPlace { id, known }).collect()
    }

    /// Continues a saved conversation, if it compacted more of the request than this machine did; returns whether it did.
    pub fn catch_up(&mut self, arrived: &Arrived, saved: Saved) -> bool {
        let ids = arrived.chain.ids();
        let common = saved.ids.iter().zip(ids).take_while(|(one, other)| one == other).count();
        let known = self.known_of(arrived).and_then(|(_, reached)| reached);
        if saved.tenant != arrived.tenant || reached(&saved.epochs, common) <= known {
            return false;
        }
        self.take_over(ids, saved);
        true
    }

    /// Continues another machine's saved conversation instead of this one's.
    pub fn give_way(&mut self, session: SessionId, saved: Saved) {
        if let Some(line) = self.lines.remove(&session) {
            self.all.fetch_sub(1, Ordering::Relaxed);
            self.take_over(&line.ids, saved);
        }
    }

    /// The links that are known of a request's conversation, and what of them is compacted.
    fn known_of(&self, arrived: &Arrived) -> Option<(usize, Option<(usize, u32)>)> {
        let (id, links) = self.continued(&arrived.base, &arrived.chain)?;
        Some((links, reached(&self.lines.get(&id)?.epochs, links)))
    }

    /// Lets `ids` continue a saved conversation.
    fn take_over(&mut self, ids: &[PrefixId], saved: Saved) {
        let common = saved.ids.iter().zip(ids).take_while(|(one, other)| one == other).count();
        self.load(saved);
        for later in &ids[common..] {
            self.by_prefix.remove(later);
        }
    }
}
