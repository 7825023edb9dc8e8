//! One conversation: its messages so far, as a chain, and the views under which it was shown.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::breaker::{Breaker, Circumstances};
use super::cache::LastSent;
use super::epoch::Epoch;
use super::experience::{Counted, Experience, PromptEstimate};
use super::identity::{Body, Chain, ChainKey, Hash, PrefixId};
use super::late_reply::Late;
use super::normalize::without_nonce;
use super::{Sent, SessionId, Ticket};
use crate::count::{Anchor, Count, FrameTally, TokenCounter, entry_count};
use crate::model::Binding;
use crate::request::Request;
use crate::transcript::{Role, canonical_json};
use crate::trigger::{Cause, Demand};
use crate::wire::{self, Thinking};

/// The state of one conversation.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) id: SessionId,
    pub(super) tenant: String,
    /// The id up to each link.
    pub(super) ids: Vec<PrefixId>,
    /// The same without bodies, as far as they are known since a crash.
    pub(super) outlines: Vec<PrefixId>,
    /// What each link had that a client may clear, and what it has.
    pub(super) bodies: Vec<(Body, Body)>,
    /// Whether the client cleared something since the view in force was counted.
    pub(super) is_cleared: bool,
    /// Tokens up to each link, frame apart, as they were said.
    pub(super) counted: Vec<Count>,
    /// The client's rewritten parts, hashed with the machine's key, and their counted tokens.
    restated: (u128, Count),
    /// The newest frame, hashed with the machine's key, and its tokens.
    frame: Option<(u128, Count)>,
    /// The model of the newest request, and the settings that a provider's cache depends on, hashed.
    settings: u128,
    /// All epochs, the newest last; never empty.
    pub(super) epochs: Vec<Epoch>,
    /// The number of the newest epoch that is kept beyond the process.
    pub(super) saved: u32,
    pub(super) flight: Option<Flight>,
    /// The newest compaction that came back.
    pub(super) back: Option<Ticket>,
    pub(super) breaker: Breaker,
    pub(super) demands: Vec<Demand>,
    /// The window that the newest request was for.
    pub(super) window: Option<u64>,
    /// The model that the newest report is of, and the report.
    pub(super) anchor: Option<(String, Anchor)>,
    /// Requests since the newest epoch began.
    pub(super) requests: u32,
    pub(super) seen: Duration,
    /// The newest things sent, by how much of the history was in them.
    pub(super) sends: Vec<SentPrompt>,
    /// The prompt that was sent last.
    pub(super) last: Option<LastSent>,
    /// Where the newest compaction landed, if the floor was above its target.
    pub(super) floor: Option<u64>,
    /// The smallest prompt, as counted, that was made for a refusal and refused as well, since one was accepted.
    pub(super) too_long: Option<u64>,
    /// Whether the open loop starts with reasoning that may be bound to another prompt.
    pub(super) is_unsure: bool,
    /// The reasoning setting of the newest request; `None` if unknown, as after loading or in a fork.
    pub(super) shown_for: Option<(Binding, Thinking)>,
}

/// How much a compaction must save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Urgency {
    /// As much as makes its rewrite worth while.
    Economy,
    /// Anything: it was asked for, or the request doesn't fit.
    Must,
}

/// Whom a compaction may ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// Hooks, summarizers and other compactors, as far as there are any.
    Others,
    /// No one, since no request waits for them.
    Nobody,
}

/// How a compaction is begun.
#[derive(Clone, Debug)]
pub(super) struct Manner {
    pub(super) urgency: Urgency,
    pub(super) asks: Asks,
    /// Why it is made here if no compactor answers that is asked on every call.
    pub(super) alone: Option<Cause>,
}

/// A compaction under way.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    pub(super) ticket: Ticket,
    pub(super) since: Duration,
    pub(super) urgency: Urgency,
    /// Who may be asked about it.
    pub(super) asks: Asks,
    /// The epoch that it follows.
    pub(super) epoch: u32,
    /// The prompt to make smaller.
    pub(super) is: Circumstances,
    /// What came in since.
    pub(super) late: Vec<Late>,
}

/// That something was sent: the reply to it is bound to the prompt of its epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SentPrompt {
    links: usize,
    epoch: u32,
}

/// Sends remembered: replies that may still be under way.
const MOST_SENDS: usize = 16;

impl Line {
    pub(super) fn new(id: SessionId, tenant: &str) -> Self {
        Line {
            id,
            tenant: tenant.to_owned(),
            ids: Vec::new(),
            outlines: Vec::new(),
            bodies: Vec::new(),
            is_cleared: false,
            counted: Vec::new(),
            restated: (0, Count::ZERO),
            frame: None,
            settings: 0,
            epochs: vec![Epoch::whole()],
            saved: 0,
            flight: None,
            back: None,
            breaker: Breaker::default(),
            demands: Vec::new(),
            window: None,
            anchor: None,
            requests: 0,
            seen: Duration::ZERO,
            sends: Vec::new(),
            last: None,
            floor: None,
            too_long: None,
            is_unsure: false,
            shown_for: None,
        }
    }

    /// A conversation that shares the first `links` links with this one and goes its own way since.
    pub(super) fn fork(&self, id: SessionId, links: usize) -> Self {
        let epochs: Vec<Epoch> =
            self.epochs.iter().map_while(|epoch| epoch.of_first(links)).collect();
        let is_compacted = epochs.len() == self.epochs.len();
        Line {
            id,
            ids: self.ids[..links].to_vec(),
            outlines: self.outlines[..links.min(self.outlines.len())].to_vec(),
            bodies: self.bodies[..links.min(self.bodies.len())].to_vec(),
            counted: self.counted[..links.min(self.counted.len())].to_vec(),
            // Facts learnt of a compaction hold where it does.
            floor: self.floor.filter(|_| is_compacted),
            // Under epochs that it doesn't have, more was sent.
            sends: self.sends.iter().filter(|send| send.links <= links).copied().collect(),
            anchor: self.anchor.clone().filter(|_| is_compacted),
            last: self.last.and_then(|last| last.of_first(links)),
            saved: self.saved.min(epochs.last().map_or(0, |epoch| epoch.number)),
            epochs,
            flight: None,
            breaker: Breaker::default(),
            demands: Vec::new(),
            requests: 0,
            shown_for: None,
            ..self.clone()
        }
    }

    pub(super) fn newest_epoch(&mut self) -> &mut Epoch {
        self.epochs.last_mut().expect("a line has an epoch from its first request")
    }

    /// Adds the report about a prompt.
    pub(super) fn learn(
        &mut self,
        experience: &mut Experience,
        counter: &str,
        sent: &Sent,
        reported: u64,
    ) {
        let known = self.anchor.as_ref().filter(|(model, _)| *model == sent.model);
        let known = known.map(|(_, anchor)| *anchor);
        let of = Counted { model: &sent.model, counter, anchor: known };
        let anchor = experience.reported(of, &sent.estimate, reported);
        // Reports about an earlier view say nothing about the beginning of this one, and an overtaken report says less
        // than the newer one.
        let is_shown = sent.epoch == self.epoch().number;
        let is_newest = known.is_none_or(|known| known.entries() <= sent.estimate.links);
        if is_shown && is_newest {
            self.anchor = anchor.map(|anchor| (sent.model.clone(), anchor));
        }
    }

    /// The newest epoch.
    pub(super) fn epoch(&self) -> &Epoch {
        self.epochs.last().expect("a line has an epoch from its first request")
    }

    /// Takes the links that are new, and counts them.
    pub(super) fn extend(
        &mut self,
        request: &Request,
        chain: &Chain,
        counter: &dyn TokenCounter,
        key: ChainKey,
    ) {
        let restated = || chain.restated().iter().map(|at| request.transcript.entry(*at));
        let is = restated().fold(Hash::new(key), |hash, entry| hash.text(entry.raw())).number();
        if self.restated.0 != is {
            let tokens = restated().map(|entry| entry_count(entry, request.format, counter)).sum();
            if std::mem::replace(&mut self.restated, (is, tokens)).1 != tokens {
                self.counted.clear();
            }
        }
        // A client that rewinds makes a conversation of each request: as much again is not kept for what never comes.
        self.counted.reserve_exact(chain.len().saturating_sub(self.counted.len()));
        self.ids.reserve_exact(chain.len().saturating_sub(self.ids.len()));
        for body in &chain.bodies()[self.bodies.len()..] {
            self.bodies.push((*body, *body));
        }
        self.outlines.extend_from_slice(&chain.outlines()[self.outlines.len()..]);
        for link in self.counted.len()..chain.len() {
            let entry = request.transcript.entry(chain.entries()[link]);
            // First of all, since a counter of the host's may panic: half a link would be none.
            let tokens = entry_count(entry, request.format, counter);
            let before = self.counted.last().copied().unwrap_or(Count::ZERO);
            if link < self.ids.len() {
                // Known from before a crash, but not counted yet.
                self.counted.push(before + tokens);
                continue;
            }
            if let Some(flight) = &mut self.flight {
                flight.late.push(Late::of(entry, request, counter));
            }
            let is_reply = entry.role() == Role::Assistant;
            if is_reply && let Some(under) = self.under_way(chain, request, link) {
                let reply = Late::of(entry, request, counter);
                // The model may be another one than the epoch was made for.
                let is_manual = self.epoch().binding.is_manual_with(Binding::of(request));
                if !is_manual || !reply.reasons() {
                    self.newest_epoch().take_late(link, &reply);
                } else if self.was_asked_again(chain, request, link) {
                    // Its loop must start with its reasoning; if both were sent, nobody can say which prompt that is bound
                    // to.
                    self.is_unsure = true;
                } else {
                    self.return_to(under.number);
                }
            }
            self.counted.push(before + tokens);
            self.ids.push(chain.ids()[link]);
        }
    }

    /// The epoch under which a reply with this link was asked for, if that isn't the newest any more: its
    /// reasoning is bound to the earlier prompt.
    fn under_way(&self, chain: &Chain, request: &Request, link: usize) -> Option<Epoch> {
        let start = asked_at(chain, request, link);
        let now = self.epoch().number;
        let sent = self.sends.iter().rfind(|send| send.links == start && send.epoch != now)?;
        self.epochs.iter().find(|epoch| epoch.number == sent.epoch).cloned()
    }

    /// Whether the answered prompt was sent under the newest epoch, too.
    fn was_asked_again(&self, chain: &Chain, request: &Request, link: usize) -> bool {
        let start = asked_at(chain, request, link);
        let newest = self.sends.iter().rfind(|send| send.links == start);
        newest.is_some_and(|send| send.epoch == self.epoch().number)
    }

    /// Goes on as in an earlier epoch, in one of its own.
    pub(super) fn return_to(&mut self, epoch: u32) {
        let before = self.epochs.iter().find(|known| known.number == epoch);
        let Some(mut before) = before.cloned() else { return };
        before.number = self.epoch().number + 1;
        // What it spares was counted of what was said then.
        self.is_cleared = self.bodies.iter().any(|(first, is)| first != is);
        self.enter(before);
    }

    /// Begins an epoch.
    pub(super) fn enter(&mut self, epoch: Epoch) {
        // It was reported of a prompt that isn't shown any more.
        self.anchor = None;
        self.epochs.push(epoch);
    }

    /// The epoch for a model that binds reasoning to its prompt, if the newest one is for a model that doesn't and
    /// hides something.
    pub(super) fn bound(
        &self,
        binding: Binding,
        request: &Request,
        chain: &Chain,
        counter: &dyn TokenCounter,
    ) -> Option<Epoch> {
        let epoch = self.epoch();
        if binding == Binding::Free || epoch.binding != Binding::Free || epoch.is_whole() {
            return None;
        }
        let entry = |link: usize| request.transcript.entry(chain.entries()[link]);
        Some(epoch.bound(binding, |link| Late::of(entry(link), request, counter)))
    }

    /// Notes that so much of the history is sent, as the newest epoch shows it.
    pub(super) fn send(&mut self, links: usize) {
        let send = SentPrompt { links, epoch: self.epoch().number };
        if self.sends.last() != Some(&send) {
            self.sends.push(send);
        }
        if self.sends.len() > MOST_SENDS {
            self.sends.remove(0);
        }
    }

    /// How many leading messages of a request, `shown` of which are shown, were sent before under the newest epoch.
    pub(super) fn sent(&self, request: &Request, chain: &Chain, shown: usize) -> usize {
        let newest = self.sends.last().filter(|send| send.epoch == self.epoch().number);
        let last = newest.and_then(|send| chain.entries().get(send.links.checked_sub(1)?));
        last.map_or(0, |last| shown.saturating_sub(request.transcript.len() - last - 1))
    }

    /// Counts a request as it came.
    pub(super) fn weigh(
        &mut self,
        request: &Request,
        chain: &Chain,
        counter: &dyn TokenCounter,
        key: ChainKey,
    ) -> Weight {
        let system = without_nonce(request.system().unwrap_or_default());
        let system = Hash::new(key).text(&system);
        let is = wire::definitions(request).fold(system, Hash::text).number();
        let known = self.frame.filter(|(known, _)| *known == is).map(|(_, tokens)| tokens);
        let frame = known.unwrap_or_else(|| FrameTally::of(request, counter).total());
        self.frame = Some((is, frame));
        let mut links = chain.entries().iter().peekable();
        let is_note = |at: &usize| links.next_if_eq(&at).is_none();
        let len = request.transcript.len();
        // Where all are links there is none to be found.
        let all = if chain.len() == len { 0..0 } else { 0..len };
        let last = self.epoch().compacted.checked_sub(1).and_then(|last| chain.entries().get(last));
        let (mut notes, mut left_out) = (Count::ZERO, Count::ZERO);
        for at in all.filter(is_note) {
            let tokens = entry_count(request.transcript.entry(at), request.format, counter);
            // Compacted entries are not shown.
            *if last.is_some_and(|last| at < *last) { &mut left_out } else { &mut notes } += tokens;
        }
        let said = self.counted.last().copied().unwrap_or(Count::ZERO);
        Weight { frame, said, notes, left_out }
    }

    /// Notes the model and the settings of a request.
    pub(super) fn set_for(&mut self, model: &str, request: &Request, key: ChainKey) {
        let settings = wire::cache_settings(request)
            .fold(Hash::new(key).text(model), |hash, raw| {
                hash.text(&raw.map(canonical_json).unwrap_or_default())
            });
        self.settings = settings.number();
    }

    /// The newest frame, with model and settings, and what the client writes anew, hashed.
    pub(super) fn hashes(&self) -> (Option<u128>, u128) {
        (self.frame.map(|(hash, _)| hash ^ self.settings), self.restated.0)
    }

    /// Tokens of a link's original.
    pub(super) fn link_tokens(&self, link: usize) -> u64 {
        let up_to = |links: usize| links.checked_sub(1).map_or(0, |at| self.counted[at].tokens);
        up_to(link + 1) - up_to(link)
    }

    /// What the newest epoch shows of a request, notes apart.
    pub(super) fn estimate(&self, weight: &Weight, anchor: Option<&Anchor>) -> PromptEstimate {
        let (epoch, links) = (self.epoch(), self.counted.len());
        let first = |links: usize| {
            let said = links.checked_sub(1).map_or(0, |at| self.counted[at].tokens);
            Some((weight.frame.tokens + said).saturating_sub(epoch.spared_in(links)?))
        };
        let known = anchor.map(Anchor::entries).filter(|known| *known <= links);
        let whole = weight.frame + weight.said;
        PromptEstimate {
            links,
            total: whole.in_kind(whole.tokens.saturating_sub(epoch.spared)),
            known: known.and_then(|known| Some((known, first(known)?))),
        }
    }
}

/// How many links were sent when the reply was asked for that has this one.
fn asked_at(chain: &Chain, request: &Request, link: usize) -> usize {
    let is_reply =
        |link: &usize| request.transcript.entry(chain.entries()[*link]).role() == Role::Assistant;
    (0..link).rev().take_while(is_reply).last().unwrap_or(link)
}

/// The tokens of a request as it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weight {
    pub(super) frame: Count,
    /// The links.
    pub(super) said: Count,
    /// Entries for one request only that are shown.
    pub(super) notes: Count,
    /// Compacted entries that were for one request only.
    left_out: Count,
}

impl Weight {
    pub(super) fn total(&self) -> Count {
        self.frame + self.said + self.notes + self.left_out
    }
}

#[cfg(test)]
mod tests;
