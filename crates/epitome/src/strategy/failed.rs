//! Failed calls: what was tried and didn't work, once newer steps have gone on from it.
//!
//! A call whose entry also narrates it isn't dropped but stubbed: a claim without its call makes
//! models invent (DESIGN.md §1). A single pair leaves a batch only where nothing else of its entry is
//! bound to it.

use serde::{Deserialize, Serialize};

use super::deed::Deed;
use super::outputs::stubbed;
use super::{BadOption, Edit, Scene, Strategy};
use crate::text::Outcome;
use crate::text::outcome::{judge, may_have_failed};
use crate::transcript::unit::{Pair, Unit};
use crate::transcript::{Marks, Part, PartKind};
use crate::view::{PartEdit, Put, Reason};

/// What becomes of a failed call that nothing narrates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailedCalls {
    /// It leaves with its result.
    #[default]
    Drop,
    /// It stays; its result becomes a stub that says how it failed.
    Stub,
}

/// What may be set of [`Failed`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FailedOptions {
    /// What becomes of calls that nothing narrates.
    pub calls: FailedCalls,
}

/// Drops old failed results with their calls, or stubs them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failed(FailedOptions);

impl Failed {
    /// With these options.
    ///
    /// # Errors
    /// None so far: every value of every option is in its range.
    pub fn new(options: FailedOptions) -> Result<Self, BadOption> {
        Ok(Failed(options))
    }
}

impl Strategy for Failed {
    fn name(&self) -> &'static str {
        "failed"
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let end = scene.newest_from(scene.budget.recent());
        let mut pairs = scene.units.pairs().iter().peekable();
        let mut edits = Vec::new();
        for unit in scene.units.all() {
            let transcript = scene.matter.transcript;
            let mut batch = Vec::new();
            while let Some(pair) =
                pairs.next_if(|pair| transcript.entry_of(pair.call) < unit.entries.end)
            {
                batch.push(*pair);
            }
            // Its first entry may have left alone: bound reasoning in an entry of its own.
            let is_worthwhile = unit.entries.clone().any(|at| scene.is_worthwhile(at));
            if unit.entries.end <= end && is_worthwhile {
                self.batch(scene, unit, &batch, &mut edits);
            }
        }
        edits
    }
}

impl Failed {
    fn batch(self, scene: &Scene<'_>, unit: &Unit, batch: &[Pair], edits: &mut Vec<Edit>) {
        let transcript = scene.matter.transcript;
        let failed: Vec<(Part<'_>, Part<'_>)> = batch
            .iter()
            .filter_map(|pair| Some((transcript.part(pair.call), transcript.part(pair.result?))))
            .filter(|(call, result)| has_failed(scene, call, result))
            .collect();
        if failed.is_empty() {
            return;
        }
        let drops = self.0.calls == FailedCalls::Drop && !is_narrated(scene, unit);
        let may_leave = unit.entries.clone().all(|at| scene.guard.may_leave(at));
        if drops && may_leave && failed.len() == batch.len() && is_bare(scene, unit) {
            edits.push(Edit::Drop(unit.entries.clone(), Reason::FailedCall));
            return;
        }
        let parts_freely =
            drops && may_leave && failed.len() < batch.len() && !is_bound(scene, unit);
        for (call, result) in failed {
            if parts_freely {
                let gone = |part: Part<'_>| PartEdit {
                    at: part.slot,
                    put: Put::Nothing,
                    reason: Reason::FailedCall,
                };
                edits.push(Edit::Together(vec![gone(call), gone(result)]));
            } else if scene.may_cut(&result) {
                // An excerpt of what must stay is no stub yet, and would become one the next time.
                edits.extend(stubbed(scene, &result, Reason::FailedCall).map(|(edit, _)| edit));
            }
        }
    }
}

/// Whether the result reports a failure. What was read may well begin with the word error, so that
/// only a report counts there.
fn has_failed(scene: &Scene<'_>, call: &Part<'_>, result: &Part<'_>) -> bool {
    // What it says is sooner known than what the call did.
    let reports =
        || reports_failure(scene, result) && !Deed::of(&call.name(), &call.text()).only_reads();
    result.is(Marks::ERROR) || scene.found.failed(result.slot, reports)
}

/// The same, of a call that is understood.
pub(super) fn deed_failed(scene: &Scene<'_>, deed: &Deed, result: &Part<'_>) -> bool {
    result.is(Marks::ERROR) || !deed.only_reads() && reports_failure(scene, result)
}

/// Whether the result says of itself that it is a failure.
fn reports_failure(scene: &Scene<'_>, result: &Part<'_>) -> bool {
    let text = || scene.matter.part_text(result);
    let may_have = || !result.is(Marks::LITERAL) || may_have_failed(result.raw_body());
    let fails = || may_have() && judge(&text(), Outcome::Unknown).outcome == Outcome::Error;
    scene.found.fails(result.slot, fails)
}

/// Whether the model says something beside its calls.
fn is_narrated(scene: &Scene<'_>, unit: &Unit) -> bool {
    parts(scene, unit).any(|part| {
        part.kind() == PartKind::Text && !part.is(Marks::NESTED) && !part.text().trim().is_empty()
    })
}

/// Whether it holds nothing but calls, results and reasoning of them.
fn is_bare(scene: &Scene<'_>, unit: &Unit) -> bool {
    parts(scene, unit).all(|part| {
        part.is(Marks::NESTED)
            || !part.is(Marks::SERVER)
                && matches!(
                    part.kind(),
                    PartKind::Call | PartKind::Result | PartKind::Reasoning | PartKind::Link
                )
    })
}

/// Whether anything in it is bound to what stands beside it: reasoning, signatures, ids.
fn is_bound(scene: &Scene<'_>, unit: &Unit) -> bool {
    parts(scene, unit).any(|part| {
        matches!(part.kind(), PartKind::Reasoning | PartKind::Link) || part.is(Marks::SIGNED)
    })
}

fn parts<'a>(scene: &Scene<'a>, unit: &Unit) -> impl Iterator<Item = Part<'a>> {
    let transcript = scene.matter.transcript;
    unit.entries.clone().flat_map(move |at| transcript.entry(at).parts())
}
