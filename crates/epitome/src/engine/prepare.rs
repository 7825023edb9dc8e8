//! From a request as it came to one that is repaired, counted and guarded.

use std::sync::Arc;

use super::compactor::Due;
use super::hooks::{HookCall, HookSummary};
use super::{Compactor, Counting, Run, STEP_BYTES, State};
use crate::budget::{Budget, Stop};
use crate::checkpoint::{least_tokens, look_alikes};
use crate::count::Tally;
use crate::guard::{Guard, GuardOptions};
use crate::model::{self, Binding};
use crate::plan::{Means, Plan, PlanInput, Reached};
use crate::receipt::RequestSize;
use crate::request::Request;
use crate::strategy::HistoryFacts;
use crate::transcript::unit::Units;
use crate::transcript::{Origin, Slot};
use crate::wire::{self, Finding, Mended};

/// A request as it came.
#[derive(Debug)]
pub(super) struct Arrival(pub(super) Request);

/// A request that is counted for a trigger to look at.
#[derive(Debug)]
pub(super) struct Sizing {
    due: Due,
    request: Request,
    tally: Tally,
}

/// A request to repair, with its count if a trigger used it.
#[derive(Debug)]
pub(super) struct Mending {
    request: Request,
    tally: Option<Tally>,
}

/// A request that is counted to be compacted.
#[derive(Debug)]
pub(super) struct Tallying {
    base: Base,
    tally: Tally,
    /// The request as it came, if it was repaired and isn't counted yet.
    came: Option<(Request, Tally)>,
}

/// A request as it is compacted.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) request: Request,
    pub(super) came_from: Arc<[Option<usize>]>,
    pub(super) mended: Vec<Mended>,
    pub(super) left: Vec<Finding>,
    /// The size of the request as it came, if it was repaired.
    pub(super) came: Option<RequestSize>,
}

/// A request with everything that must be known before a change.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) base: Base,
    pub(super) tally: Tally,
    pub(super) target: u64,
    pub(super) units: Units,
    pub(super) guard: Guard,
    binding: Binding,
    found: HistoryFacts,
    /// Tokens of the least checkpoint.
    least: u64,
    /// A summary that a hook gave.
    pub(super) given: Option<HookSummary>,
}

impl Arrival {
    pub(super) fn next(self, run: &Run) -> State {
        let Arrival(mut request) = self;
        mark_origins(&mut request);
        let Some(due) = run.compactor.due.clone() else {
            return State::Mending(Mending { request, tally: None });
        };
        let counter = run.compactor.counter();
        let tally = match run.compactor.options().counting {
            Counting::Whole => Tally::begin(&request, counter),
            Counting::Sampled => Tally::sampled(&request, counter),
        };
        State::Sizing(Box::new(Sizing { due, request, tally }))
    }
}

impl Sizing {
    pub(super) fn next(mut self: Box<Self>, run: &mut Run) -> State {
        let counter = run.compactor.counter();
        if self.tally.extend(&self.request, counter, STEP_BYTES) {
            return State::Sizing(self);
        }
        let Sizing { due, request, tally } = *self;
        let sizes = due.around.around(&request, due.around.corrected(&tally));
        let Some(cause) = due.trigger.fires(&sizes) else {
            let came_from = (0..request.transcript.len()).map(Some).collect();
            let base =
                Base { request, came_from, mended: Vec::new(), left: Vec::new(), came: None };
            return Prepared::new(base, tally, run).pass(Reached::NotTriggered, run);
        };
        // A sample only shows that nothing is due; otherwise the request is counted in full.
        if tally.is_sampled() {
            let tally = Tally::begin(&request, counter);
            return State::Sizing(Box::new(Sizing { due, request, tally }));
        }
        let alone = due.trigger.fires_alone(&sizes);
        run.compactor = run.compactor.clone().with_cause(cause).with_cause_alone(alone);
        State::Mending(Mending { request, tally: Some(tally) })
    }
}

impl Mending {
    pub(super) fn next(self, run: &Run) -> State {
        let binding = run.compactor.binding(&self.request);
        let repaired = model::repair(&self.request, binding, &[]);
        let wire::Repaired { mut request, mended, left, came_from } = repaired;
        if !mended.is_empty() {
            mark_origins(&mut request);
        }
        let began = |request: &Request| Tally::begin(request, run.compactor.counter());
        let counted = self.tally.unwrap_or_else(|| began(&self.request));
        let (tally, came) = if mended.is_empty() {
            (counted, None)
        } else {
            (began(&request), Some((self.request, counted)))
        };
        let base = Base { request, came_from: came_from.into(), mended, left, came: None };
        State::Tallying(Box::new(Tallying { base, tally, came }))
    }
}

impl Tallying {
    pub(super) fn next(mut self: Box<Self>, run: &mut Run) -> State {
        let counter = run.compactor.counter();
        if let Some((request, mut tally)) = self.came.take() {
            if tally.extend(&request, counter, STEP_BYTES) {
                self.came = Some((request, tally));
            } else {
                self.base.came = Some(RequestSize::of(&request, tally.total()));
            }
            return State::Tallying(self);
        }
        if self.tally.extend(&self.base.request, counter, STEP_BYTES) {
            return State::Tallying(self);
        }
        Prepared::new(self.base, self.tally, run).begin(run)
    }
}

impl Prepared {
    fn new(base: Base, tally: Tally, run: &mut Run) -> Box<Self> {
        let compactor = &run.compactor;
        let tokens = base.came.map_or(tally.total().tokens, |came| came.count.tokens);
        let target = compactor.options().target.resolve(tokens);
        let units = Units::of(&base.request.transcript, base.request.format.instructions());
        let binding = compactor.binding(&base.request);
        let guard = guard(compactor, &base, (&units, &tally), (target, binding));
        let found = HistoryFacts::of(&base.request.transcript);
        run.log.considered(tokens, target, &run.compactor);
        let leaving =
            base.request.transcript.entries().filter(|entry| guard.may_leave(entry.index));
        let least = least_tokens(leaving, &compactor.options().read_only, compactor.counter());
        Box::new(Prepared { base, tally, target, units, guard, binding, found, least, given: None })
    }

    /// Hooks come first, then compactors, then a plan of one's own.
    fn begin(self: Box<Self>, run: &mut Run) -> State {
        if self.is_due(run) { HookCall::begin(self, None, 0, run) } else { self.compact(None, run) }
    }

    /// Computes the held entries again, because pins were added.
    pub(super) fn guard_again(&mut self, compactor: &Compactor) {
        let (units, tally) = (&self.units, &self.tally);
        self.guard = guard(compactor, &self.base, (units, tally), (self.target, self.binding));
    }

    /// Whether anything is to be done.
    pub(super) fn is_due(&self, run: &Run) -> bool {
        let is_due = !self.is_small() || run.compactor.options().stop == Stop::AtEnd;
        is_due && !self.base.request.transcript.is_empty()
    }

    pub(super) fn is_small(&self) -> bool {
        self.tally.total().tokens <= self.target
    }

    /// The inputs of a plan.
    pub(super) fn input<'a>(&'a self, run: &'a Run) -> PlanInput<'a> {
        let compactor = &run.compactor;
        let options = compactor.options();
        PlanInput {
            request: &self.base.request,
            units: &self.units,
            tally: &self.tally,
            guard: &self.guard,
            budget: Budget::new(self.target),
            least: self.least,
            stop: options.stop,
            means: Means::from(&options.strategies),
            cause: compactor.cause(),
            about: compactor.context(),
            counter: compactor.counter(),
            binding: self.binding,
            found: &self.found,
        }
    }

    /// Everything stays, because nothing is to be compacted.
    pub(super) fn pass(self: Box<Self>, reached: Reached, run: &mut Run) -> State {
        let plan = self.input(run).pass(reached);
        self.unchanged(plan, run)
    }

    /// Everything stays, because no view can be made.
    pub(super) fn leave(self: Box<Self>, run: &mut Run) -> State {
        let plan = self.input(run).leave();
        self.unchanged(plan, run)
    }

    /// The outcome of a plan that changes nothing.
    pub(super) fn unchanged(self: Box<Self>, plan: Plan, run: &mut Run) -> State {
        let view = plan.draft.view(&self.base.request.transcript);
        let request = self.base.request.clone();
        self.finished((plan, None), (view, request), None, run)
    }
}

fn guard(
    compactor: &Compactor,
    base: &Base,
    (units, tally): (&Units, &Tally),
    (target, binding): (u64, Binding),
) -> Guard {
    let options = compactor.options();
    let options = GuardOptions {
        target,
        task: options.task,
        pins: &options.pins,
        came_from: &base.came_from,
        tail: options.tail,
        preserved: compactor.preserved(),
        binding,
        open_loop: compactor.open_loop,
    };
    Guard::new(&base.request, units, tally, options)
}

/// Sets the origin of each look-alike of a checkpoint: a checkpoint to continue, or injected text.
fn mark_origins(request: &mut Request) {
    let checkpoints: Vec<(Slot, Origin)> = look_alikes(&request.transcript)
        // Text changed since wasn't written by a person either.
        .map(|part| match Compactor::continues(&part) {
            Some(_) => (part.slot, Origin::Checkpoint),
            None => (part.slot, Origin::Injected),
        })
        .collect();
    for (slot, origin) in checkpoints {
        request.transcript.set_part_origin(slot, origin);
    }
}
