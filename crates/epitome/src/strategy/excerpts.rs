//! Long texts are cut to head, tail and telling lines; JSON stays JSON-like.

use serde::{Deserialize, Serialize};

use super::outputs::is_stub;
use super::{BadOption, Edit, LEAST_TEXT, Strategy, StrategyContext, Which};
use crate::transcript::{Marks, Origin, Part, PartKind};
use crate::view::{PartEdit, Put, Reason};
use crate::working_view::fit_part;

/// What may be set of [`Excerpts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExcerptsOptions {
    /// An old text stays whole up to the target divided by this; 1 or more.
    pub old_divisor: u64,
    /// Any text, however new, stays whole up to the target divided by this; 1 or more. A result larger
    /// than the whole budget is cut, not looped over.
    pub any_divisor: u64,
    /// Tokens that an old text may have at the most, whatever the target; 48 or more.
    pub max_tokens: Option<u64>,
}

impl Default for ExcerptsOptions {
    fn default() -> Self {
        ExcerptsOptions { old_divisor: 24, any_divisor: 5, max_tokens: None }
    }
}

/// Excerpts tool results and texts that are longer than a share of the target.
#[derive(Clone, Copy, Debug, Default)]
pub struct Excerpts(Cuts);

#[derive(Clone, Copy, Debug)]
enum Cuts {
    Asked(ExcerptsOptions),
    /// Every text, cut to a 60th of the target: held entries leave no room for anything else.
    Last,
}

impl Default for Cuts {
    fn default() -> Self {
        Cuts::Asked(ExcerptsOptions::default())
    }
}

impl Excerpts {
    /// With these options.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn new(options: ExcerptsOptions) -> Result<Self, BadOption> {
        BadOption::unless_positive("excerpts.old-divisor", options.old_divisor)?;
        BadOption::unless_positive("excerpts.any-divisor", options.any_divisor)?;
        match options.max_tokens {
            Some(most @ ..LEAST_TEXT) => Err(BadOption {
                option: "excerpts.max-tokens",
                given: most.to_string(),
                expected: "48 or more",
            }),
            _ => Ok(Excerpts(Cuts::Asked(options))),
        }
    }

    /// Every text, cut to a 60th of the target.
    pub fn last() -> Self {
        Excerpts(Cuts::Last)
    }
}

impl Strategy for Excerpts {
    fn name(&self) -> &'static str {
        "excerpts"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let share = |divisor: u64| (context.budget.target / divisor).max(LEAST_TEXT);
        let cuts = |which: Which, cap: u64, reason: Reason| -> Vec<Edit> {
            let parts = which.parts(context);
            parts.iter().filter_map(|part| excerpted(context, part, cap, reason)).collect()
        };
        match self.0 {
            Cuts::Last => cuts(Which::Last, share(60), Reason::TooLarge),
            Cuts::Asked(options) => {
                let cap = share(options.old_divisor);
                let cap = options.max_tokens.map_or(cap, |most| most.min(cap));
                let mut edits = cuts(Which::Old, cap, Reason::LongText);
                // In the order of the transcript.
                let old: Vec<_> = edits.iter().filter_map(Edit::slot).collect();
                let any = cuts(Which::New, share(options.any_divisor), Reason::TooLarge);
                let is_new =
                    |edit: &Edit| edit.slot().is_none_or(|slot| old.binary_search(&slot).is_err());
                edits.extend(any.into_iter().filter(is_new));
                edits
            }
        }
    }
}

/// A cut of the part to at most `cap` tokens; `None` if it is short enough or can't be cut.
pub(super) fn excerpted<'a>(
    context: &StrategyContext<'a>,
    part: &Part<'a>,
    cap: u64,
    reason: Reason,
) -> Option<Edit> {
    let is_cuttable = match part.kind() {
        PartKind::Text => part.origin() != Origin::Checkpoint,
        PartKind::Result => !part.is(Marks::SERVER) && !part.raw_body().is_empty(),
        _ => false,
    };
    if !is_cuttable || context.tokens(part) <= cap || is_stub(context, part) {
        return None;
    }
    let text = context.counts.part_text(part);
    let (short, _) = fit_part(part, &text, context.draft.question(), cap, |short| {
        context.counts.put_tokens(part, short)
    })?;
    Some(Edit::Put(PartEdit { at: part.slot, put: Put::Text(short.into()), reason }))
}
