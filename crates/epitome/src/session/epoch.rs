//! The life of one view: inside it the prompt only ever grows at its end.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::identity::Chain;
use super::intake::Arrival;
use super::late_reply::Late;
use super::part_path::Spot;
use crate::count::{TokenCounter, entry_count};
use crate::model::Binding;
use crate::request::Request;
use crate::transcript::{ContentId, Entry};
use crate::view::{Fate, PartEdit, Placed, Put, Reason, View};

/// What becomes of a link: a fate that holds for every request that has it, wherever its slots are
/// there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Lot {
    Keep,
    Edit(Box<[LotEdit]>),
    Fold(Reason),
    Drop(Reason),
}

/// A part replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LotEdit {
    at: Spot,
    put: Put,
    reason: Reason,
}

/// A cut of a link on arrival.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Spare {
    link: usize,
    /// The tokens that it was spared.
    tokens: u64,
    /// A cut of something giant, which stays; none for reasoning that left.
    cut: Option<LotEdit>,
    /// The tokens that the cut spares of what came, whatever a compaction spared of that.
    #[serde(default)]
    whole: u64,
}

/// A view in force, over the links of its session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// Counted from 0, the epoch in which everything is shown.
    pub number: u32,
    /// Links that its compaction saw; the prompt grows behind them.
    pub compacted: usize,
    /// Tokens that it spares, by the counter that decides.
    pub spared: u64,
    /// The checkpoint's id, where there is one.
    pub checkpoint: Option<ContentId>,
    /// Whether reasoning is bound to the prompt.
    pub binding: Binding,
    placed: Option<Placed>,
    lots: Vec<(usize, Lot)>,
    /// Cuts of links on arrival.
    spares: Vec<Spare>,
    /// Links behind the compacted ones that come from the epoch before, whose reasoning stays as long as every model
    /// accepts it.
    strangers: Vec<usize>,
}

impl Epoch {
    /// The first epoch: everything is shown.
    pub fn whole() -> Self {
        Epoch {
            number: 0,
            compacted: 0,
            spared: 0,
            checkpoint: None,
            binding: Binding::Free,
            placed: None,
            lots: Vec::new(),
            spares: Vec::new(),
            strangers: Vec::new(),
        }
    }

    /// The epoch that a compaction begins: `view` is of `base`, whose links are `chain`.
    pub fn of(view: &View, base: &Request, chain: &Chain) -> Self {
        let mut epoch =
            Epoch { compacted: chain.len(), binding: Binding::of(base), ..Epoch::whole() };
        let fates: Vec<&Fate> = view.fates().collect();
        for at in chain.entries() {
            let entry = base.transcript.entry(*at);
            epoch.push(match fates[*at] {
                Fate::Keep => Lot::Keep,
                Fate::Fold(reason) => Lot::Fold(*reason),
                Fate::Drop(reason) => Lot::Drop(*reason),
                Fate::Edit(edits) => {
                    Lot::Edit(edits.iter().filter_map(|edit| relative(edit, entry)).collect())
                }
            });
        }
        epoch.placed = view.checkpoint().map(|placed| Placed {
            before: chain.entries().partition_point(|at| *at < placed.before),
            text: Arc::clone(&placed.text),
        });
        epoch
    }

    /// Whether it shows everything as it came.
    pub(super) fn shows_all(&self) -> bool {
        self.number == 0 && self.spares.is_empty()
    }

    /// Links that it has a say on; whatever comes behind is kept.
    pub(super) fn known(&self) -> usize {
        self.lots.iter().map(|(len, _)| *len).sum()
    }

    /// How many links a conversation must share with the epoch to use its view: all that its compaction saw. The last one
    /// may differ if it is shown verbatim: clients end requests with reminders that the next request doesn't have.
    pub(super) fn needed(&self) -> usize {
        let last = self.compacted.saturating_sub(1);
        let is_kept = matches!(self.lot(last), None | Some(Lot::Keep));
        let ends_behind = self.placed.as_ref().is_none_or(|placed| placed.before < last);
        if is_kept && ends_behind { last } else { self.compacted }
    }

    /// The epoch of a conversation that shares only the first `links` links; `None` if it doesn't hold for that.
    pub(super) fn of_first(&self, links: usize) -> Option<Epoch> {
        if self.needed() > links {
            return None;
        }
        let mut epoch = Epoch { compacted: self.compacted.min(links), ..self.clone() };
        let mut left = links;
        for (len, _) in &mut epoch.lots {
            *len = (*len).min(left);
            left -= *len;
        }
        epoch.lots.retain(|(len, _)| *len > 0);
        epoch.strangers.retain(|link| *link < links);
        let gone = epoch.spares.extract_if(.., |spare| spare.link >= links);
        let gone = gone.map(|spare| spare.tokens).sum();
        epoch.spared = epoch.spared.saturating_sub(gone);
        Some(epoch)
    }

    /// The first `links` links without those that it hides, in runs.
    pub(super) fn shown(&self, links: usize) -> impl Iterator<Item = Range<usize>> {
        let mut end = 0;
        let runs = self.lots.iter().filter_map(move |(len, lot)| {
            end += len;
            (!matches!(lot, Lot::Fold(_) | Lot::Drop(_))).then_some(end - len..end)
        });
        let all = runs.chain(std::iter::once(self.known()..links));
        all.map(move |run| run.start.min(links)..run.end.min(links))
    }

    /// Shows results as they are said by now in these links: an edit was made of what they were.
    pub(super) fn forget_edits(&mut self, links: &[usize]) {
        for link in links {
            let Some(Lot::Edit(edits)) = self.lot(*link) else { continue };
            let rest: Box<[LotEdit]> =
                edits.iter().filter(|edit| !edit.at.is_of_result()).cloned().collect();
            self.put(*link, &if rest.is_empty() { Lot::Keep } else { Lot::Edit(rest) });
        }
        let is_gone = |spare: &Spare| {
            links.contains(&spare.link)
                && spare.cut.as_ref().is_some_and(|cut| cut.at.is_of_result())
        };
        self.spares.retain(|spare| !is_gone(spare));
    }

    /// Whether everything is shown unchanged.
    pub fn is_whole(&self) -> bool {
        self.placed.is_none() && self.lots.iter().all(|(_, lot)| *lot == Lot::Keep)
    }

    /// The view of `request`, whose links are `chain`. Unknown links are kept; notes for one request stay behind the
    /// compacted links and leave before.
    pub fn view(&self, request: &Request, chain: &Chain) -> View {
        if self.is_whole() && self.compacted == 0 {
            return View::whole(request.transcript.len());
        }
        let mut view = View::default();
        let mut lots = self.lots.iter().flat_map(|(len, lot)| std::iter::repeat_n(lot, *len));
        let mut links = chain.entries().iter().enumerate().peekable();
        let mut before = self.placed.as_ref().map(|_| request.transcript.len());
        for entry in request.transcript.entries() {
            let next = links.peek().map(|(link, at)| (*link, **at));
            let is_link = next.is_some_and(|(_, at)| at == entry.index);
            let link = next.map_or(chain.len(), |(link, _)| link);
            if !is_link {
                let is_old = link < self.compacted;
                view.push(if is_old { Fate::Drop(Reason::OneRequest) } else { Fate::Keep });
                continue;
            }
            links.next();
            if self.placed.as_ref().is_some_and(|placed| placed.before == link) {
                before = Some(entry.index);
            }
            view.push(match lots.next() {
                None | Some(Lot::Keep) => Fate::Keep,
                Some(Lot::Fold(reason)) => Fate::Fold(*reason),
                Some(Lot::Drop(reason)) => Fate::Drop(*reason),
                Some(Lot::Edit(edits)) => edited(edits, entry),
            });
        }
        if let (Some(placed), Some(before)) = (&self.placed, before) {
            view.place(Placed { before, text: Arc::clone(&placed.text) });
        }
        view
    }

    /// Tokens that the first `links` links are spared, if it holds for them.
    pub(super) fn spared_in(&self, links: usize) -> Option<u64> {
        let later = self.spares.iter().filter(|spare| spare.link >= links);
        let later = later.map(|spare| spare.tokens).sum::<u64>();
        (links >= self.needed()).then(|| self.spared.saturating_sub(later))
    }

    /// Takes in a link that came with something giant in it, cut.
    pub(super) fn take_in(&mut self, arrival: &Arrival, entry: Entry<'_>) {
        for (edit, tokens) in &arrival.cuts {
            if let Some(cut) = relative(edit, entry) {
                self.cut(arrival.link, cut, *tokens, *tokens);
            }
        }
    }

    /// Entries cut on arrival stay cut in this epoch, even if it would show more of them. `tokens` counts a text.
    pub(super) fn carry(&mut self, before: &Epoch, tokens: impl Fn(&str) -> u64) {
        for Spare { link, tokens: spared, cut, whole } in &before.spares {
            let Some(cut) = cut else { continue };
            // What was saved without it spared all of it.
            let whole = *whole.max(spared);
            let is_same = |edit: &&LotEdit| edit.at.is_beside(cut.at);
            let again = match self.lot(*link) {
                Some(Lot::Fold(_) | Lot::Drop(_)) => continue,
                Some(Lot::Edit(edits)) => edits.iter().find(is_same),
                None | Some(Lot::Keep) => None,
            };
            let Some(again) = again else {
                self.cut(*link, cut.clone(), whole, whole);
                continue;
            };
            // If the compaction left less of it, that applies.
            if let (Put::Text(now), Put::Text(then)) = (&again.put, &cut.put)
                && again.at == cut.at
                && tokens(now) >= tokens(then)
            {
                let spared = tokens(now) - tokens(then);
                self.cut(*link, cut.clone(), spared, whole);
            }
        }
    }

    fn cut(&mut self, link: usize, cut: LotEdit, tokens: u64, whole: u64) {
        let mut edits = match self.lot(link) {
            Some(Lot::Edit(edits)) => edits.to_vec(),
            _ => Vec::new(),
        };
        edits.retain(|edit| edit.at != cut.at);
        edits.push(cut.clone());
        edits.sort_by_key(|edit| edit.at);
        self.put(link, &Lot::Edit(edits.into()));
        self.spare(Spare { link, tokens, cut: Some(cut), whole });
    }

    fn spare(&mut self, spare: Spare) {
        self.spared += spare.tokens;
        self.spares.push(spare);
    }

    fn lot(&self, link: usize) -> Option<&Lot> {
        let mut end = 0;
        self.lots.iter().find_map(|(len, lot)| {
            end += len;
            (link < end).then_some(lot)
        })
    }

    /// Says what becomes of a link.
    fn put(&mut self, link: usize, lot: &Lot) {
        for _ in self.known()..=link {
            self.push(Lot::Keep);
        }
        let lots = std::mem::take(&mut self.lots);
        let mut at = 0;
        for (len, old) in lots {
            let is_here = (at..at + len).contains(&link);
            let before = if is_here { link - at } else { len };
            if before > 0 {
                self.lots.push((before, old.clone()));
            }
            if is_here {
                self.lots.push((1, lot.clone()));
                if before + 1 < len {
                    self.lots.push((len - before - 1, old));
                }
            }
            at += len;
        }
    }

    /// Adds link `at`, from the epoch before. If reasoning is bound, its own leaves.
    pub(super) fn take_late(&mut self, at: usize, late: &Late) {
        if self.binding == Binding::Free {
            self.strangers.push(at);
            return;
        }
        let (lot, tokens) = unbound(self.lot(at), late);
        if let Some(lot) = lot {
            self.put(at, &lot);
            self.spare(Spare { link: at, tokens, cut: None, whole: 0 });
        }
    }

    /// The same for an epoch whose model binds reasoning to the prompt, while this one's didn't: reasoning from under
    /// earlier prompts leaves. Reasoning from under this prompt may stay, because everything that leaves stands before
    /// it.
    pub(super) fn bound(&self, binding: Binding, late: impl Fn(usize) -> Late) -> Epoch {
        let mut next = Epoch {
            number: self.number + 1,
            binding,
            lots: Vec::new(),
            strangers: Vec::new(),
            ..self.clone()
        };
        let own = self.lots.iter().flat_map(|(len, lot)| std::iter::repeat_n(lot, *len));
        let mut own = own.map(Some).chain(std::iter::repeat(None));
        let strangers = self.strangers.iter().map(|link| link + 1);
        let end = strangers.chain([self.compacted, self.known()]).max().unwrap_or_default();
        for link in 0..end {
            let lot = own.next().flatten();
            let is_bound = link < self.compacted || self.strangers.contains(&link);
            let (stripped, tokens) = if is_bound { unbound(lot, &late(link)) } else { (None, 0) };
            next.push(stripped.or_else(|| lot.cloned()).unwrap_or(Lot::Keep));
            next.spared += tokens;
            if link >= self.compacted && tokens > 0 {
                next.spares.push(Spare { link, tokens, cut: None, whole: 0 });
            }
        }
        next
    }

    fn push(&mut self, lot: Lot) {
        match self.lots.last_mut() {
            Some((len, last)) if *last == lot && !matches!(lot, Lot::Edit(_)) => *len += 1,
            _ => self.lots.push((1, lot)),
        }
    }
}

/// Tokens of entries for one request only that are no links and aren't shown.
pub(super) fn notes_left_out(
    view: &View,
    base: &Request,
    chain: &Chain,
    counter: &dyn TokenCounter,
) -> u64 {
    if chain.len() == base.transcript.len() {
        return 0;
    }
    let entries = base.transcript.entries().zip(view.fates());
    let hidden = entries.filter(|(_, fate)| !fate.is_shown()).map(|(entry, _)| entry);
    let notes = hidden.filter(|entry| chain.entries().binary_search(&entry.index).is_err());
    notes.map(|entry| entry_count(entry, base.format, counter).tokens).sum()
}

fn relative(edit: &PartEdit, entry: Entry<'_>) -> Option<LotEdit> {
    let at = Spot::of(entry, edit.at)?;
    Some(LotEdit { at, put: edit.put.clone(), reason: edit.reason })
}

/// What becomes of a link without the reasoning in it, and the tokens that this spares; none if nothing changes.
fn unbound(lot: Option<&Lot>, late: &Late) -> (Option<Lot>, u64) {
    let before = match lot {
        Some(Lot::Fold(_) | Lot::Drop(_)) => return (None, 0),
        Some(Lot::Edit(edits)) => edits.to_vec(),
        Some(Lot::Keep) | None => Vec::new(),
    };
    let is_gone = |at: Spot| before.iter().any(|edit| edit.at == at && edit.put == Put::Nothing);
    let leaving: Vec<(Spot, u64)> = late.leaving().filter(|(at, _)| !is_gone(*at)).collect();
    let tokens = leaving.iter().map(|(_, tokens)| tokens).sum();
    if leaving.is_empty() {
        return (None, 0);
    }
    if late.is_bare {
        return (Some(Lot::Drop(Reason::BoundReasoning)), tokens);
    }
    let leaves = |at: Spot| leaving.iter().any(|(leaving, _)| *leaving == at);
    let gone = |at: Spot| LotEdit { at, put: Put::Nothing, reason: Reason::BoundReasoning };
    let mut edits: Vec<LotEdit> = before.iter().filter(|edit| !leaves(edit.at)).cloned().collect();
    edits.extend(leaving.iter().map(|(at, _)| gone(*at)));
    edits.sort_by_key(|edit| edit.at);
    (Some(Lot::Edit(edits.into())), tokens)
}

/// The edits of an entry, where it has these parts.
fn edited(edits: &[LotEdit], entry: Entry<'_>) -> Fate {
    let absolute = |edit: &LotEdit| {
        let at = edit.at.slot(entry)?;
        Some(PartEdit { at, put: edit.put.clone(), reason: edit.reason })
    };
    let mut edits: Vec<PartEdit> = edits.iter().filter_map(absolute).collect();
    edits.sort_by_key(|edit| edit.at);
    if edits.is_empty() { Fate::Keep } else { Fate::Edit(edits.into()) }
}

#[cfg(test)]
mod tests;
