//! What becomes of a transcript, as text.

use std::sync::Arc;

use epitome::strategy::Strategy;
use epitome::wire::{Format, Request};
use epitome::{Compactor, Options};
use expect_test::Expect;

use crate::compactor::compactor;
use crate::notation::{parse, show_view};

/// Compacts `before` (in the notation, as OpenAI chat) by one strategy and compares what becomes of it with `after`.
/// Tokens are characters by four, so that they can be told from the notation.
///
/// # Panics
/// If the view isn't the one expected.
pub fn check(strategy: impl Strategy + 'static, options: Options, before: &str, after: &Expect) {
    let compactor = compactor(options, "chars4").with_strategies(vec![Arc::new(strategy)]);
    after.assert_eq(&drawn(&compactor, &parse(Format::OpenaiChat, before)));
}

/// The fates of a request's entries; those in a row that are kept are counted.
///
/// # Panics
/// If there is no sound view.
#[must_use]
pub fn drawn(compactor: &Compactor, request: &Request) -> String {
    let outcome = compactor.compact(request).expect("a sound view");
    let target = outcome.receipt.target;
    let (from, to) = (outcome.receipt.before.count.tokens, outcome.receipt.after.count.tokens);
    let head = format!("{from} → {to} tokens, target {target}\n");
    head + &changes(&show_view(&outcome.base, &outcome.view))
}

/// A drawn view with a line for each run of kept entries.
fn changes(drawn: &str) -> String {
    let lines: Vec<&str> = drawn.lines().collect();
    let is_kept = |line: &str| line.starts_with("keep ");
    let runs = lines.chunk_by(|one, next| is_kept(one) && is_kept(next));
    let told = runs.map(|run| match run {
        [one] => format!("{one}\n"),
        kept => format!("keep {} entries\n", kept.len()),
    });
    told.collect()
}
