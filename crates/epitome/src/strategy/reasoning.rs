//! Reasoning that the model no longer needs.
//!
//! Providers allow reasoning of earlier steps to be left out, oldest first (PROVIDERS.md B.1.3). What
//! they demand back, the guard holds: the newest step's, or the open turn's.

use serde::{Deserialize, Serialize};

use super::{BadOption, Edit, Strategy, StrategyContext};
use crate::transcript::reasoning_links::is_thought;
use crate::transcript::{Entry, Part, PartKind, Role};
use crate::view::{PartEdit, Put, Reason};

/// What becomes of an entry that holds nothing but old reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Emptied {
    /// It stays: it separates the texts around it.
    #[default]
    Leave,
    /// It leaves, where it is a unit of its own that may.
    Drop,
}

/// What may be set of [`OldReasoning`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReasoningOptions {
    /// What becomes of entries that would be empty.
    pub emptied: Emptied,
}

/// Drops reasoning older than what the provider demands back.
#[derive(Clone, Copy, Debug, Default)]
pub struct OldReasoning(ReasoningOptions);

impl OldReasoning {
    /// With these options.
    ///
    /// # Errors
    /// None so far: every value of every option is in its range.
    pub fn new(options: ReasoningOptions) -> Result<Self, BadOption> {
        Ok(OldReasoning(options))
    }
}

impl Strategy for OldReasoning {
    fn name(&self) -> &'static str {
        "reasoning"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let transcript = context.counts.transcript;
        let is_followed = |entry: Entry<'_>| {
            let next = entry.index + 1;
            next < transcript.len() && transcript.entry(next).role() == Role::Assistant
        };
        let mut edits = Vec::new();
        for entry in context.worthwhile(context.guard.reasoning_from()) {
            // An entry of reasoning alone may separate the entries around it. Unless more model text follows, it leaves
            // only with its unit.
            if is_thought(entry) && !is_followed(entry) {
                edits.extend(self.emptied(context, entry));
                continue;
            }
            let parts = context.editable(entry).filter(|part| part.kind() == PartKind::Reasoning);
            edits.extend(parts.map(|part| {
                Edit::Put(PartEdit {
                    at: part.slot,
                    put: Put::Nothing,
                    reason: Reason::OldReasoning,
                })
            }));
        }
        edits
    }
}

impl OldReasoning {
    fn emptied(self, context: &StrategyContext<'_>, entry: Entry<'_>) -> Option<Edit> {
        let unit = &context.units.all()[context.units.index_of(entry.index)];
        let leaves = self.0.emptied == Emptied::Drop
            && unit.entries.len() == 1
            && context.guard.may_leave(entry.index);
        let gone = |part: Part<'_>| PartEdit {
            at: part.slot,
            put: Put::Nothing,
            reason: Reason::OldReasoning,
        };
        leaves.then(|| {
            Edit::Together(
                entry.parts().filter(|part| part.kind() == PartKind::Reasoning).map(gone).collect(),
            )
        })
    }
}
