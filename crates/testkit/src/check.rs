//! One strategy, one transcript, and what becomes of it, as text.

use std::sync::Arc;

use epitome::count::counter;
use epitome::strategy::Strategy;
use epitome::wire::Format;
use epitome::{Compactor, Options};
use expect_test::Expect;

use crate::notation::{parse, show_view};

/// Compacts `before` (in the notation, as OpenAI chat) by one strategy and compares fates with
/// `after`; entries in a row that are kept are counted. Tokens are characters by four, so that they can be
/// told from the notation.
///
/// # Panics
/// If the view isn't the one expected.
pub fn check(strategy: impl Strategy + 'static, options: Options, before: &str, after: &Expect) {
    check_in(Format::OpenaiChat, vec![Arc::new(strategy)], options, before, after);
}

/// [`check`] in any format, by any strategies in turn.
///
/// # Panics
/// If the view isn't the one expected.
pub fn check_in(
    format: Format,
    strategies: Vec<Arc<dyn Strategy>>,
    options: Options,
    before: &str,
    after: &Expect,
) {
    let request = parse(format, before);
    let counter = counter("chars4").expect("a known name");
    let compactor =
        Compactor::new(options, counter).expect("options in range").with_strategies(strategies);
    let outcome = compactor.compact(&request).expect("a sound view");
    let target = outcome.receipt.target;
    let (from, to) = (outcome.receipt.before.count.tokens, outcome.receipt.after.count.tokens);
    let head = format!("{from} → {to} tokens, target {target}\n");
    after.assert_eq(&(head + &changes(&show_view(&outcome.base, &outcome.view))));
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
