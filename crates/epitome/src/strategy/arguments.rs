//! Bulky arguments of old calls: written file contents, the texts of old edits.
//!
//! A sixth to a third of the bytes of real coding sessions (DESIGN.md §1). The object stays with all its
//! keys; long strings are cut to their beginnings and say how much is gone.

use serde::{Deserialize, Serialize};

use super::{BadOption, Edit, LEAST_TEXT, Strategy, StrategyContext};
use crate::text::shorten_arguments;
use crate::transcript::{Marks, Part, PartKind};
use crate::view::{PartEdit, Put, Reason};
use crate::working_view::CountContext;

/// What may be set of [`OldArguments`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ArgumentsOptions {
    /// Tokens that the arguments of an old call may have; 48 or more. Keys, numbers and short values
    /// stay even where they alone are more.
    pub max_tokens: u64,
    /// Calls with a smaller gain stay as they are; 1 or more.
    pub min_gain: u64,
}

impl Default for ArgumentsOptions {
    fn default() -> Self {
        ArgumentsOptions { max_tokens: 96, min_gain: 64 }
    }
}

/// Shortens the arguments of old calls that have been answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct OldArguments(ArgumentsOptions);

impl OldArguments {
    /// With these options.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn new(options: ArgumentsOptions) -> Result<Self, BadOption> {
        BadOption::unless_positive("arguments.min-gain", options.min_gain)?;
        if options.max_tokens >= LEAST_TEXT {
            return Ok(OldArguments(options));
        }
        let given = options.max_tokens.to_string();
        Err(BadOption { option: "arguments.max-tokens", given, expected: "48 or more" })
    }
}

impl Strategy for OldArguments {
    fn name(&self) -> &'static str {
        "arguments"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let end = context.newest_from(context.budget.recent());
        let transcript = context.counts.transcript;
        let answered = context.units.pairs().iter().filter(|pair| pair.result.is_some());
        answered
            .map(|pair| transcript.part(pair.call))
            .filter(|call| {
                let at = transcript.entry_of(call.slot);
                at < end && context.is_worthwhile(at) && context.may_edit(call)
            })
            .filter_map(|call| shortened(context, &call, self.0))
            .collect()
    }
}

/// The call with arguments of about as many tokens as it may have; `None` where too little is gained.
fn shortened(
    context: &StrategyContext<'_>,
    call: &Part<'_>,
    options: ArgumentsOptions,
) -> Option<Edit> {
    let most = context.tokens(call).checked_sub(options.min_gain)?;
    let short = shorter_call(&context.counts, call, options.max_tokens);
    let (_, short) = short.filter(|(tokens, _)| *tokens <= most)?;
    let put = Put::Arguments(short.into());
    Some(Edit::Put(PartEdit { at: call.slot, put, reason: Reason::LongArguments }))
}

/// Arguments of about `cap` tokens for a call that has more, and the call's tokens with them; `None` where they must come back as they
/// were.
pub(crate) fn shorter_call(
    counts: &CountContext<'_>,
    call: &Part<'_>,
    cap: u64,
) -> Option<(u64, String)> {
    // Parts signed together with their call must come back unchanged.
    let is_fixed = call.is(Marks::SERVER) || call.is(Marks::SIGNED) || call.raw_body().is_empty();
    let before = counts.part_tokens(call);
    if call.kind() != PartKind::Call || is_fixed || before <= cap {
        return None;
    }
    let arguments = call.text();
    let mut bytes = arguments.len() as u64 * cap / before;
    let mut best: Option<(u64, String)> = None;
    for _ in 0..4 {
        let short = shorten_arguments(&arguments, bytes as usize);
        let after = counts.put_tokens(call, &short);
        if best.as_ref().is_none_or(|(least, _)| after < *least) {
            best = Some((after, short));
        }
        if after <= cap {
            break;
        }
        bytes = bytes * cap / after.max(1) * 9 / 10;
    }
    best
}
