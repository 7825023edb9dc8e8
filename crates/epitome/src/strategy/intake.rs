//! A giant result is excerpted when it first arrives: before the model has seen it, so that no cache
//! and no signature is broken.
//!
//! A shortened entry stays so from then on: the excerpt depends only on the text and the cap.

use serde::{Deserialize, Serialize};

use super::excerpts::excerpted;
use super::{BadOption, Edit, LEAST_TEXT, Strategy, StrategyContext};
use crate::transcript::{PartKind, Role};
use crate::view::Reason;

/// What may be set of [`Intake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct IntakeOptions {
    /// Tokens that a result may have when it arrives; 48 or more.
    pub max_tokens: u64,
}

impl Default for IntakeOptions {
    fn default() -> Self {
        IntakeOptions { max_tokens: 10_000 }
    }
}

/// Excerpts results, and texts that no person wrote, that the model hasn't seen yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct Intake(IntakeOptions);

impl Intake {
    /// With these options.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn new(options: IntakeOptions) -> Result<Self, BadOption> {
        if options.max_tokens >= LEAST_TEXT {
            return Ok(Intake(options));
        }
        let given = options.max_tokens.to_string();
        Err(BadOption { option: "intake.max-tokens", given, expected: "48 or more" })
    }
}

impl Strategy for Intake {
    fn name(&self) -> &'static str {
        "intake"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let transcript = context.counts.transcript;
        let seen = transcript.entries().rposition(|entry| entry.role() == Role::Assistant);
        (seen.map_or(0, |at| at + 1)..transcript.len())
            .filter(|at| context.draft.is_shown(*at))
            .flat_map(|at| context.editable(transcript.entry(at)))
            .filter(|part| part.kind() == PartKind::Result || !part.is_human())
            .filter_map(|part| excerpted(context, &part, self.0.max_tokens, Reason::Arrived))
            .collect()
    }
}
