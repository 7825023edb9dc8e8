//! Which messages stand behind the checkpoint.

use super::Compaction;
use crate::checkpoint::Following;
use crate::draft::Hidden;
use crate::plan::Plan;
use crate::view::Placed;
use crate::wire::{self, Laid, Piece};

impl Compaction {
    /// Which messages stand behind the checkpoint that stands for so many, where their places don't tell.
    pub(super) fn following(&self, plan: &Plan, messages: usize) -> Option<Following> {
        let entries = self.request.transcript.len();
        let (own, behind, next) = if self.request.format.alternates() {
            let (own, behind) = self.laid_behind(plan)?;
            (own, behind, self.numbering.of(entries))
        } else {
            // What stands behind all that left goes on by itself.
            let goes_on = |at: usize| {
                let is_next = self.numbering.of(at) + 1 == self.numbering.of(at + 1);
                plan.draft.is_shown(at) && is_next && self.numbering.shared(at).is_none()
            };
            let mut from = entries;
            while from > plan.place && goes_on(from - 1) {
                from -= 1;
            }
            let shown = |at: &usize| plan.draft.is_shown(*at);
            let own = (0..plan.place).filter(shown).count();
            let behind = (plan.place..from).filter(shown).map(|at| self.numbers(at)).collect();
            (own, behind, self.numbering.of(from))
        };
        let following = Following::of(behind, next);
        (!following.goes_on_from(own + messages)).then_some(following)
    }

    /// The index of the message that the checkpoint is in, and what those behind it are made of, where several may become
    /// one.
    fn laid_behind(&self, plan: &Plan) -> Option<(usize, Vec<Vec<usize>>)> {
        let mut view = plan.draft.view(&self.request.transcript, Hidden::Folded);
        view.place(Placed { before: plan.place, text: "".into() });
        let laid = wire::layout(&self.request, &view);
        let at = laid.iter().position(|laid| laid.piece == Piece::Checkpoint)?;
        let mut behind: Vec<(usize, Vec<usize>)> = Vec::new();
        for Laid { piece, message } in &laid[at + 1..] {
            let Piece::Entry(entry) = piece else { continue };
            let numbers = self.numbers(*entry);
            match behind.last_mut() {
                Some((last, all)) if last == message => all.extend(numbers),
                _ => behind.push((*message, numbers)),
            }
        }
        Some((laid[at].message, behind.into_iter().map(|(_, numbers)| numbers).collect()))
    }

    /// The messages that an entry is made of.
    fn numbers(&self, entry: usize) -> Vec<usize> {
        let shared = self.numbering.shared(entry).map(<[usize]>::to_vec);
        shared.unwrap_or_else(|| vec![self.numbering.of(entry)])
    }
}
