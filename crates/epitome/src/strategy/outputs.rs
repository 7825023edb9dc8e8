//! Old tool outputs become one-line stubs: tool, arguments in short, size, outcome.
//!
//! Masking old observations halves cost at equal or better solve rate (DESIGN.md §1). The call stays,
//! so the model doesn't invent what it did.

use super::{Edit, LEAST_TEXT, Scene, Strategy, Which};
use crate::text::{Outcome, stub};
use crate::transcript::{Marks, Part, PartKind};
use crate::view::{PartEdit, Put, Reason};

/// Stubs the results of old calls.
#[derive(Clone, Copy, Debug)]
pub struct OldOutputs {
    /// Which results.
    pub which: Which,
    /// Act only if at least so many tokens are gained: a rewrite costs the cache.
    pub min_gain: u64,
}

impl Default for OldOutputs {
    fn default() -> Self {
        OldOutputs { which: Which::Old, min_gain: 200 }
    }
}

impl OldOutputs {
    /// Every result that may be edited, for the smallest gain.
    pub fn last() -> Self {
        OldOutputs { which: Which::Last, min_gain: 1 }
    }
}

impl Strategy for OldOutputs {
    fn name(&self) -> &'static str {
        "old-outputs"
    }

    fn propose(&self, scene: &Scene<'_>) -> Vec<Edit> {
        let mut edits = Vec::new();
        let mut gain = 0;
        for part in self.which.parts(scene) {
            let is_output = part.kind() == PartKind::Result && !part.is(Marks::SERVER);
            if let Some((edit, saved)) = is_output.then(|| stubbed(scene, &part)).flatten() {
                gain += saved;
                edits.push(edit);
            }
        }
        if gain < self.min_gain { Vec::new() } else { edits }
    }
}

/// How a stub begins, and the most bytes it has.
const MARK: &str = "[elided: ";
const MAX_STUB: usize = 1024;

/// Whether the result is a stub, from this compaction or an earlier one. A look-alike gains nothing
/// but to stay as short as it is.
pub(super) fn is_stub(scene: &Scene<'_>, result: &Part<'_>) -> bool {
    let now = scene.draft.reason(result.slot) == Some(Reason::OldOutput);
    now || result.raw_body().len() < MAX_STUB && result.text().starts_with(MARK)
}

/// The stub for a result and what it saves; `None` where it saves nothing.
pub(super) fn stubbed<'a>(scene: &Scene<'a>, result: &Part<'a>) -> Option<(Edit, u64)> {
    let before = scene.tokens(result);
    // What is short is worth keeping, and a stub isn't stubbed again.
    if before <= LEAST_TEXT || is_stub(scene, result) {
        return None;
    }
    let line = stub_line(scene, result);
    let after = scene.matter.put_tokens(result, &line);
    let put = PartEdit { at: result.slot, put: Put::Text(line.into()), reason: Reason::OldOutput };
    (after < before).then(|| (Edit::Put(put), before - after))
}

fn stub_line<'a>(scene: &Scene<'a>, result: &Part<'a>) -> String {
    let call = scene.call(result);
    let name = call.map_or_else(|| result.name().into_owned(), |call| call.name().into_owned());
    let arguments = call.map(|call| call.text().into_owned()).unwrap_or_default();
    let outcome = if result.is(Marks::ERROR) { Outcome::Error } else { Outcome::Unknown };
    stub(&name, &arguments, &scene.matter.part_text(result), outcome)
}
