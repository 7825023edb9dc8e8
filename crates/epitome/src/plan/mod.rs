//! The plan: which edits, what each saves, and where that lands, before anything is done.

mod planner;
mod proposed;
mod shrink_pinned;
mod work;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::{Budget, Stop};
use crate::context::{JobContext, Metadata};
use crate::count::{Tally, TokenCounter};
use crate::guard::{Guard, KeepReason};
use crate::model::Binding;
use crate::request::Request;
use crate::strategy::{HistoryFacts, Pipeline, Strategy, StrategyContext};
use crate::transcript::PartKind;
use crate::transcript::unit::Units;
use crate::trigger::Cause;
use crate::working_view::{CountContext, Draft};

pub use planner::{PlanProgress, Planner};

/// How a plan ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Reached {
    /// No trigger fired: it passes unchanged.
    NotTriggered,
    /// It was small enough already.
    NothingToDo,
    /// A participant declined: a hook's veto, a compactor that skips, or no summary where none means no
    /// compaction. The request passes unchanged.
    Declined,
    /// At or under the target.
    Target,
    /// Above the target, though the floor isn't: the chosen strategies go no further.
    Short,
    /// The floor is above the target; the plan is what comes nearest.
    Unreachable {
        /// What holds the floor up, largest first, with its tokens.
        held_by: Vec<(KeepReason, u64)>,
    },
}

impl Reached {
    /// Whether anything is to be compacted.
    pub fn is_compacted(&self) -> bool {
        !matches!(self, Reached::NotTriggered | Reached::NothingToDo | Reached::Declined)
    }
}

/// The edits chosen, before anything is done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The working view after all edits.
    pub draft: Draft,
    /// The steps, in order, by strategy.
    pub steps: Vec<PlanStep>,
    /// Where it lands.
    pub reached: Reached,
    /// The least that frame, pins and tail allow, in tokens.
    pub floor: u64,
    /// Room for the checkpoint; none if there is none.
    pub checkpoint: CheckpointRoom,
    /// The entry before which a checkpoint stands.
    pub place: usize,
}

impl Plan {
    /// The entries that the checkpoint stands for, in order.
    pub fn folded(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.draft.folded()
    }
}

/// The most tokens that a checkpoint may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckpointRoom {
    /// Where the view reaches its target, if it can.
    pub left: u64,
    /// Where tools that changed something have no room in that, and the target isn't reached anyway.
    pub above: u64,
}

/// What one strategy contributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// The strategy's name.
    pub strategy: String,
    /// The number of edits.
    pub edits: usize,
    /// Tokens that they save, before the checkpoint.
    pub saved: u64,
    /// The strategy's metadata about them.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
}

/// How far a plan may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// Down to nothing but what must stay.
    All,
    /// As far as its strategies go, and what must stay allows.
    Listed,
}

impl From<&Pipeline> for Means {
    fn from(pipeline: &Pipeline) -> Self {
        match pipeline {
            Pipeline::Ladder(_) => Means::All,
            Pipeline::List(_) => Means::Listed,
        }
    }
}

/// The inputs of a plan.
#[derive(Clone, Copy, Debug)]
pub struct PlanInput<'a> {
    /// The request.
    pub request: &'a Request,
    /// Its units.
    pub units: &'a Units,
    /// Its tokens.
    pub tally: &'a Tally,
    /// What must stay.
    pub guard: &'a Guard,
    /// Where to land.
    pub budget: Budget,
    /// The least that a checkpoint takes, in tokens.
    pub least: u64,
    /// When enough is done.
    pub stop: Stop,
    /// How far it may go.
    pub means: Means,
    /// The reason for it, if one was given.
    pub cause: Option<&'a Cause>,
    /// The caller's context.
    pub about: &'a JobContext,
    /// The counter that decides.
    pub counter: &'a dyn TokenCounter,
    /// Whether reasoning is bound to the prefix.
    pub binding: Binding,
    /// What strategies found out so far, whatever is shown.
    pub found: &'a HistoryFacts,
}

impl<'a> PlanInput<'a> {
    fn counts(&self) -> CountContext<'a> {
        CountContext {
            transcript: &self.request.transcript,
            tally: self.tally,
            counter: self.counter,
        }
    }

    fn context<'b>(&'b self, draft: &'b Draft, horizon: usize) -> StrategyContext<'b> {
        StrategyContext {
            counts: self.counts(),
            units: self.units,
            draft,
            guard: self.guard,
            budget: self.budget,
            least: self.least,
            cause: self.cause,
            about: self.about,
            horizon,
            found: self.found,
        }
    }

    /// The plan by `strategies`, in turn, until the target is reached: all steps of a [`Planner`].
    pub fn plan(&self, strategies: &[Arc<dyn Strategy>]) -> Plan {
        let mut progress = Planner::begin(self, strategies.into());
        loop {
            match progress {
                PlanProgress::Done(plan) => return *plan,
                PlanProgress::More(planner) => progress = planner.step(self),
            }
        }
    }

    /// The plan that changes nothing, if there is no other.
    pub fn leave(&self) -> Plan {
        let floor = self.tally.total().tokens;
        let reached = if floor <= self.budget.target {
            Reached::NothingToDo
        } else {
            Reached::Unreachable { held_by: vec![(KeepReason::Provider, floor)] }
        };
        self.whole(reached, floor)
    }

    /// The plan that changes nothing, because nothing is to be compacted.
    pub fn pass(&self, reached: Reached) -> Plan {
        self.whole(reached, self.floor().min(self.tally.total().tokens))
    }

    fn whole(&self, reached: Reached, floor: u64) -> Plan {
        let draft = Draft::new(&self.request.transcript, self.tally);
        Plan {
            draft,
            steps: Vec::new(),
            reached,
            floor,
            checkpoint: CheckpointRoom::default(),
            place: 0,
        }
    }

    /// The place of the checkpoint: behind everything that it stands for, so that what follows is newer (law 14).
    fn place(&self, draft: &Draft) -> usize {
        let all = self.request.transcript.len();
        (0..all).rev().find(|at| draft.is_folded(*at)).map_or(all, |last| last + 1)
    }

    /// The first entry that is likely to stay: the newest units that fit, each as small as edits could make it. Older
    /// ones get folded, so that editing them is lost work.
    fn horizon(&self, draft: &Draft) -> usize {
        const STUB: u64 = 24;
        const CALL: u64 = 80;
        let transcript = &self.request.transcript;
        let least = |at: usize| -> u64 {
            if !draft.is_shown(at) {
                return 0;
            }
            let parts = transcript.entry(at).parts();
            parts
                .map(|part| match part.kind() {
                    _ if !self.guard.may_edit(at, &part) => self.tally.part(part.slot),
                    PartKind::Reasoning => 0,
                    PartKind::Call => self.tally.part(part.slot).min(CALL),
                    PartKind::Opaque => self.tally.part(part.slot),
                    _ => self.tally.part(part.slot).min(STUB),
                })
                .sum()
        };
        let mut room = self.budget.target.saturating_sub(self.tally.frame.total().tokens);
        for at in (0..transcript.len()).rev() {
            let size = least(at);
            if size > room {
                return at + 1;
            }
            room -= size;
        }
        0
    }

    fn held_by(&self, draft: &Draft) -> Vec<(KeepReason, u64)> {
        let mut sums = std::collections::BTreeMap::new();
        let frame = &self.tally.frame;
        sums.insert(KeepReason::SystemPrompt, frame.system.tokens);
        sums.insert(KeepReason::ToolDefinitions, frame.tools.tokens);
        for at in 0..self.request.transcript.len() {
            if let Some(held) = self.guard.held(at) {
                *sums.entry(held).or_insert(0) += draft.entry_tokens(at);
            }
        }
        let mut sums: Vec<(KeepReason, u64)> =
            sums.into_iter().filter(|(_, tokens)| *tokens > 0).collect();
        sums.sort_by_key(|(held, tokens)| (std::cmp::Reverse(*tokens), *held));
        sums
    }
}
