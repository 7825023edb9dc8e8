//! The life of one view: inside it the prompt only ever grows at its end.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::chain::Chain;
use super::intake::Arrival;
use super::line::Late;
use crate::model::Binding;
use crate::request::Request;
use crate::transcript::{ContentId, Slot};
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

/// A slot replaced, counted from its entry's first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct LotEdit {
    part: u32,
    put: Put,
    reason: Reason,
}

/// Something that was taken of a link as it came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Spare {
    link: usize,
    /// The tokens that it was spared.
    tokens: u64,
    /// A cut of something giant, which stays; none for reasoning that left.
    cut: Option<LotEdit>,
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
    /// What was taken of links as they came.
    spares: Vec<Spare>,
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
        }
    }

    /// The epoch that a compaction begins: `view` is of `base`, whose links are `chain`.
    pub fn of(view: &View, base: &Request, chain: &Chain) -> Self {
        let mut epoch =
            Epoch { compacted: chain.len(), binding: Binding::of(base), ..Epoch::whole() };
        let fates: Vec<&Fate> = view.fates().collect();
        for at in chain.entries() {
            let start = base.transcript.entry(*at).slots().start;
            epoch.push(match fates[*at] {
                Fate::Keep => Lot::Keep,
                Fate::Fold(reason) => Lot::Fold(*reason),
                Fate::Drop(reason) => Lot::Drop(*reason),
                Fate::Edit(edits) => Lot::Edit(edits.iter().map(|e| relative(e, start)).collect()),
            });
        }
        epoch.placed = view.checkpoint().map(|placed| Placed {
            before: chain.entries().partition_point(|at| *at < placed.before),
            text: Arc::clone(&placed.text),
        });
        epoch
    }

    /// Links that it has a say on; whatever comes behind is kept.
    pub(super) fn known(&self) -> usize {
        self.lots.iter().map(|(len, _)| *len).sum()
    }

    /// The epoch of a conversation that shares only the first `links` links; `None` if what was
    /// compacted isn't all among them.
    pub(super) fn of_first(&self, links: usize) -> Option<Epoch> {
        if self.compacted > links {
            return None;
        }
        let mut epoch = self.clone();
        let mut left = links;
        for (len, _) in &mut epoch.lots {
            *len = (*len).min(left);
            left -= *len;
        }
        epoch.lots.retain(|(len, _)| *len > 0);
        let gone = epoch.spares.extract_if(.., |spare| spare.link >= links);
        epoch.spared -= gone.map(|spare| spare.tokens).sum::<u64>();
        Some(epoch)
    }

    /// Whether everything is shown as it was said.
    pub fn is_whole(&self) -> bool {
        self.placed.is_none() && self.lots.iter().all(|(_, lot)| *lot == Lot::Keep)
    }

    /// What the epoch shows of `request`, whose links are `chain`. Links that it doesn't know are
    /// kept; notes for one request stay behind what was compacted and leave before.
    pub fn view(&self, request: &Request, chain: &Chain) -> View {
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
                Some(Lot::Edit(edits)) => {
                    let start = entry.slots().start;
                    Fate::Edit(edits.iter().map(|edit| absolute(edit, start)).collect())
                }
            });
        }
        if let (Some(placed), Some(before)) = (&self.placed, before) {
            view.place(Placed { before, text: Arc::clone(&placed.text) });
        }
        view
    }

    /// Tokens that the first `links` links are spared, if all that was compacted is among them.
    pub(super) fn spared_in(&self, links: usize) -> Option<u64> {
        let later = self.spares.iter().filter(|spare| spare.link >= links);
        let later = later.map(|spare| spare.tokens).sum::<u64>();
        (links >= self.compacted).then(|| self.spared - later)
    }

    /// Takes in a link that came with something giant in it, cut.
    pub(super) fn take_in(&mut self, arrival: &Arrival, start: u32) {
        for (edit, tokens) in &arrival.cuts {
            self.cut(arrival.link, relative(edit, start), *tokens);
        }
    }

    /// What was cut as it arrived stays so in this epoch too, where it would show more of it. `top` is the
    /// part of a link's entry that a part of it belongs to, `tokens` counts a text.
    pub(super) fn carry(
        &mut self,
        before: &Epoch,
        top: impl Fn(usize, u32) -> u32,
        tokens: impl Fn(&str) -> u64,
    ) {
        for Spare { link, tokens: spared, cut } in &before.spares {
            let Some(cut) = cut else { continue };
            let is_same = |edit: &&LotEdit| top(*link, edit.part) == top(*link, cut.part);
            let again = match self.lot(*link) {
                Some(Lot::Fold(_) | Lot::Drop(_)) => continue,
                Some(Lot::Edit(edits)) => edits.iter().find(is_same),
                None | Some(Lot::Keep) => None,
            };
            let Some(again) = again else {
                self.cut(*link, cut.clone(), *spared);
                continue;
            };
            // Where the compaction left less of it, that holds.
            if let (Put::Text(now), Put::Text(then)) = (&again.put, &cut.put)
                && again.part == cut.part
                && tokens(now) >= tokens(then)
            {
                let spared = tokens(now) - tokens(then);
                self.cut(*link, cut.clone(), spared);
            }
        }
    }

    fn cut(&mut self, link: usize, cut: LotEdit, tokens: u64) {
        let mut edits = match self.lot(link) {
            Some(Lot::Edit(edits)) => edits.to_vec(),
            _ => Vec::new(),
        };
        edits.retain(|edit| edit.part != cut.part);
        edits.push(cut.clone());
        edits.sort_by_key(|edit| edit.part);
        self.put(link, &Lot::Edit(edits.into()));
        self.spare(Spare { link, tokens, cut: Some(cut) });
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

    /// Takes link `at`, which was said under the epoch before. Where reasoning is bound, its own
    /// leaves.
    pub(super) fn take_late(&mut self, at: usize, late: &Late) {
        if self.binding == Binding::Free {
            return;
        }
        let edit =
            |part: &u32| LotEdit { part: *part, put: Put::Nothing, reason: Reason::BoundReasoning };
        let lot = match () {
            () if late.is_bare() => Lot::Drop(Reason::Emptied),
            () if late.reasons() => Lot::Edit(late.reasoning.iter().map(edit).collect()),
            () => return,
        };
        self.put(at, &lot);
        self.spare(Spare { link: at, tokens: late.tokens, cut: None });
    }

    fn push(&mut self, lot: Lot) {
        match self.lots.last_mut() {
            Some((len, last)) if *last == lot && !matches!(lot, Lot::Edit(_)) => *len += 1,
            _ => self.lots.push((1, lot)),
        }
    }
}

fn relative(edit: &PartEdit, start: u32) -> LotEdit {
    LotEdit { part: edit.at.0 - start, put: edit.put.clone(), reason: edit.reason }
}

fn absolute(edit: &LotEdit, start: u32) -> PartEdit {
    PartEdit { at: Slot(start + edit.part), put: edit.put.clone(), reason: edit.reason }
}
