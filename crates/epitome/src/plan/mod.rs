//! The plan: which edits, what each saves, and where that lands, before anything is done.

mod work;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::{Budget, Stop};
use crate::checkpoint::LEAST_TOKENS;
use crate::count::{Tally, TokenCounter};
use crate::draft::{Draft, Matter, result_of};
use crate::guard::{Guard, Held};
use crate::model::Binding;
use crate::request::Request;
use crate::strategy::{Edit, Scene, Strategy, fit, level};
use crate::transcript::unit::Units;
use crate::transcript::{Marks, Origin, Part, PartKind};
use crate::trigger::Cause;
use crate::view::{PartEdit, Put, Reason};

use work::Work;

/// How a plan ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Reached {
    /// No trigger fired: it passes as it came.
    NotTriggered,
    /// It was small enough already.
    NothingToDo,
    /// At or under the target.
    Target,
    /// Above the target, though the floor isn't: the chosen strategies go no further.
    Short,
    /// The floor is above the target; the plan is the best that can be had.
    Unreachable {
        /// The least that can be reached; receipts say it for every outcome.
        #[serde(skip)]
        floor: u64,
        /// What holds the floor up, largest first, with its tokens.
        held_by: Vec<(Held, u64)>,
    },
}

/// The edits chosen, before anything is done.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The working view after all edits.
    pub draft: Draft,
    /// What was done, in order, by strategy.
    pub steps: Vec<PlanStep>,
    /// Where it lands.
    pub reached: Reached,
    /// The least that frame, pins and tail allow, in tokens.
    pub floor: u64,
    /// What is left for the checkpoint; 0 if there is none.
    pub checkpoint: u64,
    /// The entry before which a checkpoint stands.
    pub place: usize,
}

/// What one strategy contributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanStep {
    /// The strategy's name.
    pub strategy: String,
    /// How many edits of it were made.
    pub edits: usize,
    /// Tokens that they save, before the checkpoint.
    pub saved: u64,
}

/// What a plan is made from.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
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
    /// When enough is done.
    pub stop: Stop,
    /// Why it began, if that was said.
    pub cause: Option<&'a Cause>,
    /// The counter that decides.
    pub counter: &'a dyn TokenCounter,
    /// Whether reasoning is bound to the prefix.
    pub binding: Binding,
}

impl<'a> Subject<'a> {
    fn matter(&self) -> Matter<'a> {
        Matter { transcript: &self.request.transcript, tally: self.tally, counter: self.counter }
    }

    fn scene<'b>(&'b self, draft: &'b Draft, horizon: usize) -> Scene<'b> {
        Scene {
            matter: self.matter(),
            units: self.units,
            draft,
            guard: self.guard,
            budget: self.budget,
            cause: self.cause,
            horizon,
        }
    }

    /// Plans a compaction by `strategies`, in turn, until the target is reached.
    pub fn plan(&self, strategies: &[Arc<dyn Strategy>]) -> Plan {
        let draft = Draft::new(&self.request.transcript, self.tally);
        let floor = self.floor();
        let target = self.budget.target;
        let mut work = Work { subject: self, draft, steps: Vec::new(), horizon: 0 };
        let is_small = work.draft.total() <= target;
        // Without entries there is nothing to compact, whatever the frame weighs.
        if is_small && self.stop == Stop::AtTarget || self.request.transcript.is_empty() {
            return Self::nothing(work.draft, floor);
        }
        if self.stop == Stop::AtTarget && self.held_tokens() + LEAST_TOKENS > target {
            // What must stay doesn't fit as it is: cut it first, so that something else may stay too.
            let edits = self.squeezes(&work.draft, self.level());
            work.make("squeeze", edits);
        }
        let must_reach = !is_small && strategies.iter().any(|strategy| strategy.takes_oldest());
        if must_reach {
            work.horizon = self.horizon(&work.draft);
        }
        work.run(strategies);
        // Bound reasoning may be all that is in the way.
        if must_reach && work.landing() > target && work.unbind_from(0) {
            work.run(strategies);
        }
        if work.landing() > target {
            work.take_up(Reason::LastResort);
        }
        if work.landing() > target {
            let edits = self.squeezes(&work.draft, self.share());
            work.make("squeeze", edits);
            // With that room a strategy may have more to do, and would have it the next time.
            if self.stop == Stop::AtEnd {
                work.run(strategies);
            }
        }
        if is_small && work.steps.is_empty() {
            return Self::nothing(work.draft, floor);
        }
        work.settle();
        let checkpoint = work.checkpoint();
        let landing = work.draft.total();
        let floor = floor.min(landing);
        let reached = if landing <= target {
            Reached::Target
        } else if floor <= target {
            Reached::Short
        } else {
            Reached::Unreachable { floor, held_by: self.held_by(&work.draft) }
        };
        let place = self.place(&work.draft);
        Plan { draft: work.draft, steps: work.steps, reached, floor, checkpoint, place }
    }

    fn nothing(draft: Draft, floor: u64) -> Plan {
        let reached = Reached::NothingToDo;
        Plan { draft, steps: Vec::new(), reached, floor, checkpoint: 0, place: 0 }
    }

    /// The plan that leaves everything as it is, where no other can be had.
    pub fn leave(&self) -> Plan {
        let draft = Draft::new(&self.request.transcript, self.tally);
        let floor = draft.total();
        let reached = if floor <= self.budget.target {
            Reached::NothingToDo
        } else {
            Reached::Unreachable { floor, held_by: vec![(Held::Provider, floor)] }
        };
        Plan { draft, steps: Vec::new(), reached, floor, checkpoint: 0, place: 0 }
    }

    /// Where a checkpoint stands: where the first folded entry was; behind the task, if that is the
    /// first thing shown and isn't the last. The newest message stays last.
    fn place(&self, draft: &Draft) -> usize {
        let transcript = &self.request.transcript;
        let first =
            (0..transcript.len()).find(|at| draft.is_folded(*at)).unwrap_or(transcript.len());
        let mut spoken = transcript
            .entries()
            .filter(|e| draft.is_shown(e.index) && !e.role().instructs())
            .map(|e| e.index);
        match (spoken.next(), spoken.next()) {
            (Some(task), Some(_)) if self.guard.task() == Some(task) && task >= first => task + 1,
            _ => first,
        }
    }

    /// The first entry that can be hoped to stay: the newest units, each as small as edits could
    /// make it, that fit. What is older gets folded, so that editing it is lost work.
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

    /// What must stay, as it was said.
    fn held_tokens(&self) -> u64 {
        let held = (0..self.request.transcript.len()).filter(|at| !self.guard.may_leave(*at));
        self.tally.frame.total().tokens + held.map(|at| self.tally.entry(at)).sum::<u64>()
    }

    /// What must stay, each as small as it may be made.
    fn floor(&self) -> u64 {
        let mut draft = Draft::new(&self.request.transcript, self.tally);
        for at in 0..self.request.transcript.len() {
            if self.guard.may_leave(at) {
                draft.apply(&Edit::Drop(at..at + 1, Reason::LastResort), &self.matter());
            }
        }
        if draft.total() > self.budget.target {
            for edit in self.checkpoints(&draft, Reason::LastResort) {
                draft.apply(&edit, &self.matter());
            }
        }
        if draft.total() > self.budget.target {
            for edit in self.squeezes(&draft, self.share()) {
                draft.apply(&edit, &self.matter());
            }
        }
        draft.total()
    }

    /// The most that one held entry may take, at the least.
    fn share(&self) -> u64 {
        self.budget.share().max(LEAST_TOKENS / 2)
    }

    /// The most that one held entry may take so that all of them fit beside a checkpoint; its share
    /// at the least.
    fn level(&self) -> u64 {
        let len = self.request.transcript.len();
        let held = (0..len).filter(|at| !self.guard.may_leave(*at));
        let (cuttable, fixed): (Vec<usize>, Vec<usize>) =
            held.partition(|at| self.guard.excerptable().contains_key(at));
        let tokens = |entries: &[usize]| {
            entries.iter().map(|at| self.tally.entry(*at)).collect::<Vec<u64>>()
        };
        let fixed = self.tally.frame.total().tokens + tokens(&fixed).iter().sum::<u64>();
        let all_stay = cuttable.len() == len;
        let reserve = if all_stay { 0 } else { self.budget.checkpoint().max(LEAST_TOKENS) };
        let room = self.budget.target.saturating_sub(fixed + reserve);
        level(&tokens(&cuttable), room).unwrap_or(0).max(self.share())
    }

    /// Earlier checkpoints leave the messages that they share with what must stay.
    fn checkpoints(&self, draft: &Draft, reason: Reason) -> Vec<Edit> {
        let held = self
            .request
            .transcript
            .entries()
            .filter(|entry| draft.is_shown(entry.index) && !self.guard.may_leave(entry.index));
        held.flat_map(|entry| entry.parts())
            .filter(|part| part.origin() == Origin::Checkpoint && !draft.is_edited(part.slot))
            .map(|part| Edit::Put(PartEdit { at: part.slot, put: Put::Nothing, reason }))
            .collect()
    }

    /// Cuts of held entries that are larger than their share: the one exception of the law of pins.
    fn squeezes(&self, draft: &Draft, share: u64) -> Vec<Edit> {
        let matter = self.matter();
        let transcript = &self.request.transcript;
        let mut edits = Vec::new();
        for entry in transcript
            .entries()
            .filter(|e| draft.is_shown(e.index) && !self.guard.may_leave(e.index))
            .filter(|e| !matches!(self.guard.held(e.index), Some(Held::State | Held::Instructions)))
        {
            let pinned = self.guard.excerptable().get(&entry.index);
            let held = self.guard.held(entry.index);
            let is_companion = matches!(held, Some(Held::Companion | Held::Elsewhere));
            if pinned.is_none() && !is_companion {
                continue;
            }
            if self.tally.entry(entry.index) <= share {
                continue;
            }
            for part in entry.parts().filter(|p| {
                matches!(p.kind(), PartKind::Text | PartKind::Result) && !p.is(Marks::SERVER)
            }) {
                let is_fixed = part.is(Marks::FIXED)
                    || part.raw_body().is_empty()
                    || part.origin() == Origin::Checkpoint
                    || self.is_preserved(&part);
                if is_fixed || matter.part_tokens(&part) <= share {
                    continue;
                }
                let text = match draft.stub(part.slot) {
                    Some(stub) => stub.into(),
                    None => matter.part_text(&part),
                };
                let words: Vec<&String> = pinned
                    .into_iter()
                    .flatten()
                    .filter(|words| text.contains(words.as_str()))
                    .collect();
                let tokens = |text: &str| matter.put_tokens(&part, text);
                let current = draft.part_tokens(&part, &matter);
                let short = excerpt_around(&text, &words, share, tokens);
                if let Some(short) = short.filter(|short| tokens(short) < current) {
                    let put = Put::Text(short.into());
                    edits.push(Edit::Put(PartEdit {
                        at: part.slot,
                        put,
                        reason: Reason::TooLarge,
                    }));
                }
            }
        }
        edits
    }

    /// Whether a result is one of a preserved tool, whoever else speaks in its message, and fits.
    fn is_preserved(&self, part: &Part<'_>) -> bool {
        let call = self.units.call_of(result_of(&self.request.transcript, part.slot));
        let transcript = &self.request.transcript;
        let is_tools =
            call.is_some_and(|call| self.guard.held(transcript.entry_of(call)) == Some(Held::Tool));
        let beside = || transcript.entry(transcript.entry_of(part.slot)).parts();
        let results = || beside().filter(|part| part.kind() == PartKind::Result);
        let tokens = || results().map(|part| self.matter().part_tokens(&part)).sum::<u64>();
        is_tools && tokens() <= self.budget.target
    }

    fn held_by(&self, draft: &Draft) -> Vec<(Held, u64)> {
        let mut sums = std::collections::BTreeMap::new();
        let frame = &self.tally.frame;
        sums.insert(Held::SystemPrompt, frame.system.tokens);
        sums.insert(Held::ToolDefinitions, frame.tools.tokens);
        for at in 0..self.request.transcript.len() {
            if let Some(held) = self.guard.held(at) {
                *sums.entry(held).or_insert(0) += draft.entry_tokens(at);
            }
        }
        let mut sums: Vec<(Held, u64)> =
            sums.into_iter().filter(|(_, tokens)| *tokens > 0).collect();
        sums.sort_by_key(|(held, tokens)| (std::cmp::Reverse(*tokens), *held));
        sums
    }
}

/// An excerpt that says the pinned words, whatever else it leaves out.
fn excerpt_around(
    text: &str,
    words: &[&String],
    most: u64,
    tokens: impl Fn(&str) -> u64,
) -> Option<String> {
    let short = fit(text, most, &tokens)?;
    let lost: Vec<&str> =
        words.iter().map(|w| w.as_str()).filter(|w| !short.contains(*w)).collect();
    if lost.is_empty() {
        return Some(short);
    }
    let lost = lost.join("\n[…]\n");
    let rest = most.saturating_sub(tokens(&lost) + 4);
    let around =
        fit(text, rest, &tokens).map_or(lost.clone(), |short| format!("{short}\n[…]\n{lost}"));
    Some(if tokens(&around) <= most { around } else { lost })
}
