//! The plan: which edits, what each saves, and where that lands, before anything is done.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::Budget;
use crate::checkpoint::LEAST_TOKENS;
use crate::count::{Tally, TokenCounter};
use crate::draft::{Draft, Matter};
use crate::guard::{Guard, Held, starts_with_reasoning};
use crate::model::{Binding, Thinking};
use crate::request::Request;
use crate::strategy::{Edit, Scene, Strategy, fit, level};
use crate::transcript::unit::Units;
use crate::transcript::{PartKind, Role, Slot};
use crate::view::{PartEdit, Put, Reason};
use crate::wire::Format;

/// How a plan ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "outcome")]
pub enum Reached {
    /// It was small enough already.
    NothingToDo,
    /// At or under the target.
    Target,
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
            horizon,
        }
    }

    /// Plans a compaction by `strategies`, in turn, until the target is reached.
    pub fn plan(&self, strategies: &[Arc<dyn Strategy>]) -> Plan {
        let draft = Draft::new(&self.request.transcript, self.tally);
        let floor = self.floor();
        let target = self.budget.target;
        let mut work = Work { subject: self, draft, steps: Vec::new(), horizon: 0 };
        // Without entries there is nothing to compact, whatever the frame weighs.
        if work.draft.total() <= target || self.request.transcript.is_empty() {
            let reached = Reached::NothingToDo;
            return Plan {
                draft: work.draft,
                steps: work.steps,
                reached,
                floor,
                checkpoint: 0,
                place: 0,
            };
        }
        work.unbind();
        if self.held_tokens() + LEAST_TOKENS > target {
            // What must stay doesn't fit as it is: cut it first, so that something else may stay too.
            let edits = self.squeezes(&work.draft, self.level());
            work.make("squeeze", edits);
        }
        if strategies.iter().any(|strategy| strategy.takes_oldest()) {
            work.horizon = self.horizon(&work.draft);
        }
        for strategy in strategies {
            if work.landing() <= target {
                break;
            }
            let edits = strategy.propose(&self.scene(&work.draft, work.horizon));
            work.make(strategy.name(), edits);
        }
        if work.landing() > target {
            let edits = self.squeezes(&work.draft, self.share());
            work.make("squeeze", edits);
        }
        work.settle();
        let checkpoint = work.checkpoint();
        let landing = work.draft.total();
        let floor = floor.min(landing);
        let reached = if landing <= target {
            Reached::Target
        } else {
            Reached::Unreachable { floor, held_by: self.held_by(&work.draft) }
        };
        let place = self.place(&work.draft);
        Plan { draft: work.draft, steps: work.steps, reached, floor, checkpoint, place }
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
                    PartKind::Call | PartKind::Opaque => self.tally.part(part.slot),
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
            let is_companion = self.guard.held(entry.index) == Some(Held::Companion);
            if pinned.is_none() && !is_companion {
                continue;
            }
            if self.tally.entry(entry.index) <= share {
                continue;
            }
            for part in
                entry.parts().filter(|p| matches!(p.kind(), PartKind::Text | PartKind::Result))
            {
                if part.raw_body().is_empty() || matter.part_tokens(&part) <= share {
                    continue;
                }
                let text = matter.part_text(&part);
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

struct Work<'a, 's> {
    subject: &'s Subject<'a>,
    draft: Draft,
    steps: Vec<PlanStep>,
    horizon: usize,
}

impl Work<'_, '_> {
    /// Where the view would land with the least checkpoint that it needs.
    fn landing(&self) -> u64 {
        self.draft.total() + if self.draft.folds() { LEAST_TOKENS } else { 0 }
    }

    fn checkpoint(&self) -> u64 {
        if !self.draft.folds() {
            return 0;
        }
        let free = self.subject.budget.target.saturating_sub(self.draft.total());
        free.min(self.subject.budget.checkpoint().max(LEAST_TOKENS))
    }

    /// What is left must begin as its provider demands: with the user, where no checkpoint speaks
    /// first; and a turn in progress with thinking, where that was enabled by hand. Units that don't
    /// leave until one does.
    fn settle(&mut self) {
        let subject = self.subject;
        if subject.request.format != Format::Anthropic {
            return;
        }
        if !self.draft.folds() {
            while let Some(at) = self.leads_with_model() {
                if !self.take(at) {
                    break;
                }
            }
        }
        if Thinking::of(subject.request) == Thinking::Manual {
            while let Some(at) = self.turn_lacks_thinking() {
                if !self.take(at) {
                    break;
                }
            }
        }
    }

    /// The first entry shown, if it is the model's and wasn't first when it came in.
    fn leads_with_model(&self) -> Option<usize> {
        let transcript = &self.subject.request.transcript;
        let speaking = || transcript.entries().filter(|e| !e.role().instructs());
        let came_first = speaking().next()?;
        let first = speaking().find(|e| self.draft.is_shown(e.index))?;
        let leads = first.role() == Role::Assistant && came_first.role() != Role::Assistant;
        leads.then_some(first.index)
    }

    /// The first step of the turn in progress, if it doesn't start with thinking while a later one
    /// calls tools.
    fn turn_lacks_thinking(&self) -> Option<usize> {
        let subject = self.subject;
        let transcript = &subject.request.transcript;
        let start = crate::guard::turn_start(subject.request);
        let units = &subject.units.all()[subject.units.index_of(start)..];
        let mut steps = units.iter().filter(|unit| unit.is_step).enumerate();
        let (nth, first) =
            steps.find(|(_, unit)| unit.entries.clone().any(|at| self.draft.is_shown(at)))?;
        // A turn that came in without thinking isn't ours to mend.
        let had = units.iter().find(|unit| unit.is_step);
        let had = had.is_some_and(|unit| starts_with_reasoning(transcript, unit));
        let lacks = had && nth > 0 && !starts_with_reasoning(transcript, first);
        lacks.then_some(first.entries.start)
    }

    /// Takes the unit of `entry` away, in the manner of what was taken before; whether it might leave.
    fn take(&mut self, entry: usize) -> bool {
        let subject = self.subject;
        let entries = subject.units.all()[subject.units.index_of(entry)].entries.clone();
        if !entries.clone().all(|at| subject.guard.may_leave(at)) {
            return false;
        }
        let edit = if self.draft.folds() {
            Edit::Fold(entries, Reason::OlderStep)
        } else {
            Edit::Drop(entries, Reason::LastResort)
        };
        self.draft.apply(&edit, &subject.matter());
        true
    }

    /// Makes edits in order until the target is reached.
    fn make(&mut self, strategy: &str, edits: Vec<Edit>) {
        let before = self.draft.total();
        let mut made = 0;
        // Folds are chosen together: half of a fold is another cut.
        let whole = edits.iter().any(|edit| matches!(edit, Edit::Fold(..)));
        for edit in edits {
            if !whole && self.landing() <= self.subject.budget.target {
                break;
            }
            self.draft.apply(&edit, &self.subject.matter());
            made += 1;
        }
        if made > 0 {
            let saved = before.saturating_sub(self.draft.total());
            self.steps.push(PlanStep { strategy: strategy.to_owned(), edits: made, saved });
        }
    }

    /// Bound reasoning can't follow an edit: all of it leaves (DESIGN.md §8).
    fn unbind(&mut self) {
        let subject = self.subject;
        if subject.binding == Binding::Free {
            return;
        }
        let transcript = &subject.request.transcript;
        let mut edits = Vec::new();
        if let Some(entries) = subject.guard.loop_leaves() {
            edits.push(Edit::Fold(entries, Reason::BoundReasoning));
        }
        let slots = (0..transcript.part_count()).map(|slot| Slot(slot as u32));
        edits.extend(
            slots.filter(|slot| transcript.part(*slot).kind() == PartKind::Reasoning).map(|at| {
                Edit::Put(PartEdit { at, put: Put::Nothing, reason: Reason::BoundReasoning })
            }),
        );
        let before = self.draft.total();
        for edit in &edits {
            self.draft.apply(edit, &subject.matter());
        }
        if !edits.is_empty() {
            let saved = before.saturating_sub(self.draft.total());
            self.steps.push(PlanStep { strategy: "unbind".to_owned(), edits: edits.len(), saved });
        }
    }
}
