//! Old tool outputs become one-line stubs: tool, arguments in short, size, outcome.
//!
//! Masking old observations halves cost at equal or better solve rate (DESIGN.md §1). The call stays, so that
//! the model doesn't invent its earlier actions.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{BadOption, Edit, LEAST_TEXT, Strategy, StrategyContext, Which};
use crate::text::{CallStatus, STUB, noted_stub};
use crate::transcript::{Marks, Part, PartKind};
use crate::view::{PartEdit, Put, Reason};
use crate::working_view::nested;

/// What may be set of [`OldOutputs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct OutputsOptions {
    /// The least tokens to gain: a rewrite costs the cache. 1 or more.
    pub min_gain: u64,
    /// Outputs of this many tokens or fewer stay; 0 spares none.
    pub max_tokens: u64,
}

impl Default for OutputsOptions {
    fn default() -> Self {
        OutputsOptions { min_gain: 200, max_tokens: LEAST_TEXT }
    }
}

/// Stubs the results of old calls.
#[derive(Clone, Copy, Debug)]
pub struct OldOutputs {
    options: OutputsOptions,
    which: Which,
}

impl Default for OldOutputs {
    fn default() -> Self {
        OldOutputs { options: OutputsOptions::default(), which: Which::Old }
    }
}

impl OldOutputs {
    /// With these options.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn new(options: OutputsOptions) -> Result<Self, BadOption> {
        BadOption::unless_positive("outputs.min-gain", options.min_gain)?;
        Ok(OldOutputs { options, ..OldOutputs::default() })
    }

    /// Every result that may be edited, for the smallest gain.
    pub fn last() -> Self {
        let options = OutputsOptions { min_gain: 1, ..OutputsOptions::default() };
        OldOutputs { options, which: Which::Last }
    }
}

impl Strategy for OldOutputs {
    fn name(&self) -> &'static str {
        "outputs"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let mut edits = Vec::new();
        let mut gain = 0;
        for part in self.which.parts(context) {
            let is_output = part.kind() == PartKind::Result && !part.is(Marks::SERVER);
            if !is_output || context.tokens(&part) <= self.options.max_tokens {
                continue;
            }
            if let Some((edit, saved)) = stubbed(context, &part, Reason::OldOutput) {
                gain += saved;
                edits.push(edit);
            }
        }
        if gain < self.options.min_gain { Vec::new() } else { edits }
    }
}

/// The most bytes that a stub has.
const MAX_STUB: usize = 1024;

/// Whether the result is a stub, from this compaction or an earlier one. A look-alike only gains that it stays as short
/// as it is.
pub(crate) fn is_stub(context: &StrategyContext<'_>, result: &Part<'_>) -> bool {
    context.draft.reason(result.slot).is_some_and(Reason::leaves_stub)
        || result.raw_body().len() < MAX_STUB && begins_as_stub(context, result)
}

fn begins_as_stub(context: &StrategyContext<'_>, result: &Part<'_>) -> bool {
    // Without escapes a literal begins as what it says.
    if result.is(Marks::LITERAL)
        && let Some(start) = result.raw_body().as_bytes().get(1..=STUB.len())
        && !start.contains(&b'\\')
    {
        return start == STUB.as_bytes();
    }
    context.counts.part_text(result).starts_with(STUB)
}

/// The stub for a result and its saving; `None` if it saves nothing.
pub(super) fn stubbed<'a>(
    context: &StrategyContext<'a>,
    result: &Part<'a>,
    reason: Reason,
) -> Option<(Edit, u64)> {
    let before = context.tokens(result);
    // A stub isn't stubbed again, and the newest unit stays (law 15): it may be excerpted.
    if is_stub(context, result) || context.is_newest(result) {
        return None;
    }
    let line: Arc<str> = stub_line(context, result, "").into();
    let after = context.counts.put_tokens(result, &line);
    let put = PartEdit { at: result.slot, put: Put::Text(line), reason };
    (after < before).then(|| (Edit::Put(put), before - after))
}

fn stub_line<'a>(context: &StrategyContext<'a>, result: &Part<'a>, note: &str) -> String {
    let call = context.call(result);
    let name = call.map_or_else(|| result.name().into_owned(), |call| call.name().into_owned());
    let arguments = call.map(|call| call.text().into_owned()).unwrap_or_default();
    let outcome = if result.is(Marks::ERROR) { CallStatus::Error } else { CallStatus::Unknown };
    let transcript = context.counts.transcript;
    let inner = nested(transcript, result.slot).map(|slot| transcript.part(slot));
    let media: BTreeSet<String> = inner
        .filter(|part| part.kind() == PartKind::Media && !part.name().is_empty())
        .map(|part| part.name().into_owned())
        .collect();
    let with = media.iter().map(|kind| format!("with {kind}"));
    let note: Vec<String> = with.chain((!note.is_empty()).then(|| note.to_owned())).collect();
    noted_stub(&name, &arguments, &context.counts.part_text(result), outcome, &note.join("; "))
}

/// Whether `text` is what the result leaves as a stub.
pub(crate) fn is_stub_for<'a>(
    text: &str,
    context: &StrategyContext<'a>,
    result: &Part<'a>,
) -> bool {
    let mut notes = std::iter::once("").chain(super::repeats::NOTES);
    text.starts_with(STUB) && notes.any(|note| stub_line(context, result, note) == text)
}
