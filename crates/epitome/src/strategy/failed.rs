//! Failed calls, once newer steps have followed.
//!
//! The call stays, and its result becomes a line that says how it failed, so that the agent doesn't try it again.

use serde::{Deserialize, Serialize};

use super::outputs::stubbed;
use super::tool_effect::ToolEffect;
use super::{BadOption, Edit, LEAST_TEXT, Strategy, StrategyContext};
use crate::text::CallStatus;
use crate::text::outcome::{judge, may_have_failed};
use crate::transcript::{Marks, Part};
use crate::view::Reason;

/// What may be set of [`Failed`]: nothing so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct FailedOptions {}

/// Replaces old failed results by a line that says how the call failed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Failed;

impl Failed {
    /// With these options.
    ///
    /// # Errors
    /// None so far: there is nothing to set.
    pub fn new(FailedOptions {}: FailedOptions) -> Result<Self, BadOption> {
        Ok(Failed)
    }
}

impl Strategy for Failed {
    fn name(&self) -> &'static str {
        "failed"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let end = context.newest_from(context.budget.recent());
        let transcript = context.counts.transcript;
        let mut edits = Vec::new();
        for pair in context.units.pairs() {
            let Some(result) = pair.result else { continue };
            let at = transcript.entry_of(result);
            if at >= end || !context.is_worthwhile(at) {
                continue;
            }
            let (call, result) = (transcript.part(pair.call), transcript.part(result));
            // An excerpt of what must stay is no stub yet, and would become one the next time.
            let is_long = context.tokens(&result) > LEAST_TEXT;
            if is_long && context.may_cut(&result) && has_failed(context, &call, &result) {
                edits.extend(stubbed(context, &result, Reason::FailedCall).map(|(edit, _)| edit));
            }
        }
        edits
    }
}

/// Whether the result reports a failure. Read content may well begin with the word error, so only a report counts
/// there.
fn has_failed(context: &StrategyContext<'_>, call: &Part<'_>, result: &Part<'_>) -> bool {
    // The output is cheaper to check than the effect of the call.
    let reports = || {
        reports_failure(context, result) && !ToolEffect::of(&call.name(), &call.text()).only_reads()
    };
    result.is(Marks::ERROR) || context.found.failed(result.slot, reports)
}

/// The same, of a call that is understood.
pub(super) fn deed_failed(
    context: &StrategyContext<'_>,
    deed: &ToolEffect,
    result: &Part<'_>,
) -> bool {
    result.is(Marks::ERROR) || !deed.only_reads() && reports_failure(context, result)
}

/// Whether the result says of itself that it is a failure.
fn reports_failure(context: &StrategyContext<'_>, result: &Part<'_>) -> bool {
    let text = || context.counts.part_text(result);
    let may_have = || !result.is(Marks::LITERAL) || may_have_failed(result.raw_body());
    let fails = || may_have() && judge(&text(), CallStatus::Unknown).outcome == CallStatus::Error;
    context.found.fails(result.slot, fails)
}
