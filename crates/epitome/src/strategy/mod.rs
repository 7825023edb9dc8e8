//! Strategies propose edits; they perform none. Each is one file, useful alone.
//!
//! A strategy sees a [`StrategyContext`] and answers with edits in the order in which they should be made:
//! the plan stops when the target is reached. It never looks at wire formats.

mod arguments;
mod context;
mod excerpts;
mod failed;
mod fold;
mod found;
mod head;
mod intake;
mod media;
mod outputs;
mod pipeline;
mod reasoning;
mod recent;
mod repeats;
mod setting;
mod tool_effect;

use std::fmt::Debug;
use std::sync::Arc;

use crate::context::Metadata;
use crate::transcript::Part;

pub use crate::working_view::*;
pub(crate) use arguments::shorter_call;
pub use arguments::{ArgumentsOptions, OldArguments};
pub use context::StrategyContext;
pub use excerpts::{Excerpts, ExcerptsOptions};
pub use failed::{Failed, FailedOptions};
pub use fold::{Fold, FoldOptions};
pub(crate) use fold::{QUOTE, level};
pub use found::HistoryFacts;
pub use head::{Head, HeadOptions, HeadRoom};
pub use intake::{Intake, IntakeOptions};
pub(crate) use media::media_note;
pub use media::{MediaOptions, OldMedia};
pub use outputs::{OldOutputs, OutputsOptions};
pub(crate) use outputs::{is_stub, is_stub_for};
pub use pipeline::{Ladder, NAMES, Named, Pipeline, UnknownStrategy, ladder};
pub use reasoning::{Emptied, OldReasoning, ReasoningOptions};
pub use recent::{Recent, RecentOptions};
pub use repeats::{Repeats, RepeatsOptions, Stale};
pub use setting::{BadOption, Setting};

/// What must survive: instructions, task, newest human message, pins, tail, preserved tools.
pub mod guard {
    pub use crate::guard::*;
}

/// Below this many tokens a text isn't worth an edit.
pub(crate) const LEAST_TEXT: u64 = 48;

/// Which parts a strategy looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those older than the newest three tenths of the target, as they were said.
    Old,
    /// Those as they were said, however new.
    New,
    /// All, also what earlier strategies left of them: nothing smaller will be tried.
    Last,
}

impl Which {
    /// The parts to look at.
    fn parts<'a>(self, context: &StrategyContext<'a>) -> Vec<Part<'a>> {
        let recent = if self == Which::Old { context.budget.recent() } else { 0 };
        let entries = context.old_entries(recent);
        match self {
            Which::Old | Which::New => entries.flat_map(|entry| context.editable(entry)).collect(),
            Which::Last => entries.flat_map(|entry| context.cuttable(entry)).collect(),
        }
    }
}

/// Proposes edits of the working view; performs none.
///
/// ```
/// use std::sync::Arc;
/// use epitome::strategy::{Edit, Strategy, StrategyContext};
/// use epitome::transcript::PartKind;
/// use epitome::view::{PartEdit, Put, Reason};
/// use epitome::{Compactor, Options, Target, count::counter, wire};
///
/// /// Removes old images.
/// #[derive(Debug)]
/// struct NoImages;
///
/// impl Strategy for NoImages {
///     fn name(&self) -> &'static str {
///         "no-images"
///     }
///
///     fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
///         let reason = Reason::Custom("no-images".parse().expect("a label"));
///         let old = context.old_entries(context.budget.recent());
///         let parts = old.flat_map(|entry| context.editable(entry));
///         let images = parts.filter(|part| part.kind() == PartKind::Media);
///         let note = || Put::Text("[image removed]".into());
///         images.map(|part| Edit::Put(PartEdit { at: part.slot, put: note(), reason })).collect()
///     }
/// }
///
/// let compactor = Compactor::new(Options::default(), counter("o200k")?)?;
/// assert_eq!(compactor.with_strategies(vec![Arc::new(NoImages)]).called(), "no-images");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Strategy: Debug + Send + Sync {
    /// Its name, as options and receipts spell it.
    fn name(&self) -> &'static str;

    /// Whether it takes whole units away, oldest first, so that editing these before is lost work.
    fn takes_oldest(&self) -> bool {
        false
    }

    /// Edits, in the order in which they should be made.
    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit>;

    /// Metadata about its edits, asked once they are proposed; the plan's step has it.
    fn metadata(&self, context: &StrategyContext<'_>) -> Metadata {
        let _ = context;
        Metadata::new()
    }
}

/// One after the other, on the same working view; an empty list is the identity.
impl Strategy for Vec<Arc<dyn Strategy>> {
    fn name(&self) -> &'static str {
        "in-turn"
    }

    fn takes_oldest(&self) -> bool {
        self.iter().any(|strategy| strategy.takes_oldest())
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let mut draft = context.draft.clone();
        let mut all = Vec::new();
        for strategy in self {
            let edits = strategy.propose(&StrategyContext { draft: &draft, ..*context });
            for edit in &edits {
                draft.apply(edit, &context.counts);
            }
            all.extend(edits);
        }
        all
    }
}
