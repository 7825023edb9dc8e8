//! A round that is too long for its model, made smaller by code.

use epitome::count::{Tally, counter};
use epitome::model::overflow::PromptOverflow;
use epitome::session::in_turns;
use epitome::{Compactor, Format, Options, Target, wire};

/// The body at half of the reported limit, if known; `None` if it can't get smaller. The newest recall stays, if shortened.
pub(super) fn smaller(format: Format, body: &str, told: &PromptOverflow) -> Option<String> {
    let name = if format == Format::Anthropic { "claude" } else { "o200k" };
    let counter = counter(name).expect("it is one of ours");
    let request = wire::parse(format, body.to_owned()).ok()?;
    let before = Tally::of(&request, &*counter).total().tokens;
    let fits = match (told.limit, told.used) {
        // In whatever the provider counts.
        (Some(limit), Some(used)) if limit < used => limit as f64 / used as f64,
        _ => 1.0,
    };
    let target = Target::Tokens(((before as f64 * fits / 2.0) as u64).max(1));
    let options = Options { target, ..Options::default() };
    let outcome = Compactor::new(options, counter).ok()?.compact(&request).ok()?;
    let after = outcome.receipt.after.count.tokens;
    (after < before).then(|| in_turns(&request, outcome.request))
}
