//! Making a plan, one strategy at each step.

use std::sync::Arc;

use super::extract::Extraction;
use super::hooks::HookCall;
use super::prepare::Prepared;
use super::{Run, State};
use crate::delegate::Compact;
use crate::plan::{Plan, PlanProgress, Planner, Reached};
use crate::strategy::{Head, Strategy};

/// A plan is being made.
#[derive(Debug)]
pub(super) struct Planning {
    prepared: Box<Prepared>,
    planner: Planner,
    purpose: Purpose,
}

/// The inputs of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// For the hook at this place in its chain to see. It is the plan of the compaction unless a hook adds pins.
    Hook(usize),
    /// To compact by this.
    Compaction(Own),
}

/// The engine's own ways to make a plan. A view that would break a provider's rule is never returned: the next way is
/// tried, in the end none, and the receipt says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// By the compactor's strategies.
    Strategies,
    /// By folding the oldest units.
    Oldest,
    /// By folding all that may leave.
    All,
    /// By the compactor's strategies once more. What only an inspection would find is taken: the reader may be a model that takes
    /// it.
    Uninspected,
}

impl Own {
    /// The way to try next.
    pub(super) fn next(self) -> Option<Self> {
        match self {
            Own::Strategies => Some(Own::Oldest),
            Own::Oldest => Some(Own::All),
            Own::All => Some(Own::Uninspected),
            Own::Uninspected => None,
        }
    }
}

/// Who made a plan.
#[derive(Clone, Debug)]
pub(super) enum Planned {
    /// This compactor, at this place in its chain.
    Elsewhere(Arc<dyn Compact>, usize),
    /// The engine.
    Here(Own),
}

impl Planning {
    pub(super) fn begin(prepared: Box<Prepared>, purpose: Purpose, run: &mut Run) -> State {
        let is_empty = prepared.base.request.transcript.is_empty();
        if matches!(purpose, Purpose::Compaction(_)) && !prepared.is_small() && !is_empty {
            run.log.started(&prepared.base.request, &run.compactor);
        }
        let strategies: Arc<[Arc<dyn Strategy>]> = match purpose {
            Purpose::Compaction(Own::Oldest) => Arc::new([Arc::new(Head::default())]),
            Purpose::Compaction(Own::All) => Arc::new([Arc::new(Head::folding_all())]),
            Purpose::Hook(_) | Purpose::Compaction(Own::Strategies | Own::Uninspected) => {
                Arc::clone(&run.compactor.strategies)
            }
        };
        let progress = Planner::begin(&prepared.input(run), strategies);
        Self::advanced(prepared, progress, purpose, run)
    }

    pub(super) fn next(self: Box<Self>, run: &mut Run) -> State {
        let Planning { prepared, planner, purpose } = *self;
        let progress = planner.step(&prepared.input(run));
        Self::advanced(prepared, progress, purpose, run)
    }

    fn advanced(
        prepared: Box<Prepared>,
        progress: PlanProgress,
        purpose: Purpose,
        run: &mut Run,
    ) -> State {
        match (progress, purpose) {
            (PlanProgress::More(planner), _) => {
                // What hooks are shown isn't done yet.
                if matches!(purpose, Purpose::Compaction(_)) {
                    run.log.applied(planner.steps(), &prepared.base.request, &run.compactor);
                }
                State::Planning(Box::new(Planning { prepared, planner, purpose }))
            }
            (PlanProgress::Done(plan), Purpose::Hook(at)) => {
                HookCall::begin(prepared, Some(*plan), at, run)
            }
            (PlanProgress::Done(plan), Purpose::Compaction(own)) => {
                prepared.accept(*plan, own, run)
            }
        }
    }
}

impl Prepared {
    /// Asks for the whole compaction, or makes it here: by the plan that hooks have seen, if that still holds.
    pub(super) fn compact(self: Box<Self>, seen: Option<Plan>, run: &mut Run) -> State {
        self.call_compactor(0, run).unwrap_or_else(|prepared| prepared.compact_alone(seen, run))
    }

    /// Makes the compaction here, if it is due without other compactors.
    pub(super) fn compact_alone(self: Box<Self>, seen: Option<Plan>, run: &mut Run) -> State {
        if !run.compactor.go_on_alone() {
            return self.pass(Reached::NotTriggered, run);
        }
        match seen {
            Some(plan) => self.accept(plan, Own::Strategies, run),
            None => Planning::begin(self, Purpose::Compaction(Own::Strategies), run),
        }
    }

    /// Goes on with one of the engine's own plans.
    pub(super) fn accept(self: Box<Self>, plan: Plan, own: Own, run: &mut Run) -> State {
        run.log.applied(&plan.steps, &self.base.request, &run.compactor);
        // Without messages there is nothing to compact, however large the frame is.
        if plan.reached == Reached::NothingToDo || self.base.request.transcript.is_empty() {
            return self.unchanged(plan, run);
        }
        run.log.started(&self.base.request, &run.compactor);
        Extraction::own(self, plan, own, run)
    }
}
