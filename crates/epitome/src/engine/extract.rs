//! What the checkpoint is made from, and the checkpoint.

use std::sync::Arc;

use super::planning::{Own, Planned};
use super::prepare::Prepared;
use super::render::Rendering;
use super::{Run, STEP_BYTES, State};
use crate::budget::Stop;
use crate::checkpoint::{self, Checkpoint, Gathered};
use crate::delegate::Compact;
use crate::guard::Pin;
use crate::plan::Plan;
use crate::summarize::{Summary, SummarySource};
use crate::working_view::CountContext;

/// Folded entries are read, a stretch at each step.
#[derive(Debug)]
pub(super) struct Extraction {
    extract: Extract,
    summary: SummaryFrom,
    /// The entry that is next.
    next: usize,
}

/// Where the checkpoint's summary comes from.
#[derive(Debug)]
pub(super) enum SummaryFrom {
    /// From an earlier checkpoint, if that has one.
    Nobody,
    /// From summarizers, which read the folded entries.
    Summarizers { folded: SummarySource },
    /// From a hook, which may mention the whole conversation; from summarizers, if that isn't admitted.
    Hook { all: SummarySource, folded: SummarySource },
    /// From whose plan it is.
    Compactor { by: Arc<dyn Compact>, at: usize, summary: Summary, folded: SummarySource },
}

/// A plan, and the material of the checkpoint for its folds.
#[derive(Debug)]
pub(super) struct Extract {
    pub(super) prepared: Box<Prepared>,
    pub(super) plan: Plan,
    pub(super) by: Planned,
    pub(super) gathered: Gathered,
}

impl SummaryFrom {
    pub(super) fn hook() -> Self {
        SummaryFrom::Hook { all: SummarySource::default(), folded: SummarySource::default() }
    }
}

impl Extraction {
    /// Begins to read the folds of one of the engine's own plans.
    pub(super) fn own(prepared: Box<Prepared>, plan: Plan, own: Own, run: &Run) -> State {
        let summary = match own {
            Own::Strategies | Own::Uninspected if prepared.given.is_some() => SummaryFrom::hook(),
            Own::Strategies if run.compactor.summaries().is_some() => {
                SummaryFrom::Summarizers { folded: SummarySource::default() }
            }
            // Nobody is paid twice.
            _ => SummaryFrom::Nobody,
        };
        Self::begin(prepared, plan, Planned::Here(own), summary, run)
    }

    pub(super) fn begin(
        prepared: Box<Prepared>,
        plan: Plan,
        by: Planned,
        summary: SummaryFrom,
        run: &Run,
    ) -> State {
        let base = &prepared.base;
        let numbering = checkpoint::numbering(&base.request.transcript).of_arrival(&base.came_from);
        let read_only: Arc<[String]> = run.compactor.options().read_only.as_slice().into();
        let channel = run.compactor.channel.clone();
        let gathered = Gathered::new(channel, &Arc::new(numbering), read_only);
        let extract = Extract { prepared, plan, by, gathered };
        State::Extraction(Box::new(Extraction { extract, summary, next: 0 }))
    }

    pub(super) fn next(mut self: Box<Self>, run: &mut Run) -> State {
        let Extraction { extract: Extract { prepared, plan, gathered, .. }, summary, next } =
            self.as_mut();
        let (transcript, units) = (&prepared.base.request.transcript, &prepared.units);
        let folds = plan.draft.folds();
        let mut done = 0;
        while *next < transcript.len() && done < STEP_BYTES {
            let entry = transcript.entry(*next);
            let is_folded = plan.draft.is_folded(*next);
            if is_folded {
                gathered.fold(transcript, units, entry);
            } else if folds {
                gathered.show(transcript, units, entry, &plan.draft);
            }
            if folds {
                done += entry.span().len();
            }
            match summary {
                SummaryFrom::Hook { all, folded } => {
                    all.add(transcript, units, entry);
                    if is_folded {
                        folded.add(transcript, units, entry);
                    }
                }
                SummaryFrom::Summarizers { folded } | SummaryFrom::Compactor { folded, .. } => {
                    if is_folded {
                        folded.add(transcript, units, entry);
                    }
                }
                SummaryFrom::Nobody => {}
            }
            *next += 1;
        }
        if *next < transcript.len() {
            return State::Extraction(self);
        }
        let Extraction { extract, summary, .. } = *self;
        if extract.gathered.is_empty() {
            return extract.rendering(None, run);
        }
        match summary {
            SummaryFrom::Nobody => extract.write(None, run),
            SummaryFrom::Summarizers { folded } => extract.summarize(folded, run),
            SummaryFrom::Hook { all, folded } => extract.with_hooks_summary(all, folded, run),
            SummaryFrom::Compactor { by, at, summary, folded } => {
                extract.with_compactors_summary((by, at), summary, folded, run)
            }
        }
    }
}

impl Extract {
    /// Writes the checkpoint in the room that the plan leaves for it.
    pub(super) fn write(self, summary: Option<&str>, run: &Run) -> State {
        let Extract { prepared, plan, gathered, .. } = &self;
        let transcript = &prepared.base.request.transcript;
        let counter = run.compactor.counter();
        let room = (plan.checkpoint.left, plan.checkpoint.above);
        let written = checkpoint::write(gathered, transcript, room, summary, counter);
        self.rendering(Some(written), run)
    }

    /// Gives unused room back to the entries that were cut for it.
    fn rendering(self, checkpoint: Option<Checkpoint>, run: &Run) -> State {
        let Extract { prepared, mut plan, by, .. } = self;
        let options = run.compactor.options();
        // Cuts of another compactor stay.
        if matches!(by, Planned::Here(_)) && options.stop == Stop::AtTarget {
            let own = checkpoint.as_ref().map_or(0, |checkpoint| checkpoint.tokens);
            let room = prepared.target.saturating_sub(plan.draft.total() + own);
            let pinned: Vec<&str> = options.pins.iter().filter_map(Pin::words).collect();
            let counts = CountContext {
                transcript: &prepared.base.request.transcript,
                tally: &prepared.tally,
                counter: run.compactor.counter(),
            };
            plan.draft.give_back(room, &counts, &pinned);
        }
        State::Rendering(Box::new(Rendering { prepared, plan, by, checkpoint }))
    }
}
