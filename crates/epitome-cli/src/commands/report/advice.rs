//! The one thing to do about a context.

use epitome::text::figure::counted;
use serde::Serialize;

use super::History;
use crate::quoting::shell;
use crate::survey::Definitions;
use crate::terminal::{count, percent};

/// What to do, and why.
#[derive(Debug, Serialize)]
pub(super) struct Advice {
    pub(super) why: String,
    /// The command that does it, where there is one.
    pub(super) command: Option<String>,
}

/// From this share of a window on it is time to compact, in percent: the default of triggers.
const FULL: u64 = 80;
/// Below this share of a window there is room, in percent.
const HALF: u64 = 50;
/// From this share of the context on something is worth taking out, in percent.
const LARGE: u64 = 10;

/// The first that applies: lost rules, a coming overflow, unused tools, the largest tool. `file` is the input, as a
/// shell takes it.
pub(super) fn advice(history: &History, definitions: &Definitions, file: &str) -> Option<Advice> {
    let is_share = |part: u64, whole: u64, share: u64| part * 100 >= whole.saturating_mul(share);
    let newest = history.compactions.last();
    if let Some(lost) = newest.and_then(|done| done.rules_lost.last()) {
        let why = format!(
            "the newest compaction lost a rule of the user's: {:?}; say it again, and pin it",
            lost.says
        );
        let is_whole = !lost.says.ends_with('…');
        let command = is_whole.then(|| format!("epitome pin add {}", shell(&lost.says)));
        return Some(Advice { why, command });
    }
    if let Some(window) = history.window
        && is_share(history.tokens, window, FULL)
    {
        let why = format!("compact it: {} of the window is taken", percent(history.tokens, window));
        return Some(Advice { why, command: Some(format!("epitome compact {file}")) });
    }
    if is_share(definitions.unused_tokens, history.tokens, LARGE) && definitions.unused > 0 {
        let why = format!(
            "{} that nothing calls take {} tokens, {} of the context: switch them off",
            counted(definitions.unused, "tool"),
            count(definitions.unused_tokens),
            percent(definitions.unused_tokens, history.tokens)
        );
        return Some(Advice { why, command: None });
    }
    // While there is room, nothing has to be done about what is large.
    if history.window.is_some_and(|window| !is_share(history.tokens, window, HALF)) {
        return None;
    }
    let largest = history.tools.iter().max_by_key(|tool| tool.shown_tokens)?;
    if !is_share(largest.shown_tokens, history.tokens, LARGE) {
        return None;
    }
    let why = format!(
        "look at {}: its calls take {} of the context; this shows what a compaction leaves of them",
        largest.tool.name,
        percent(largest.shown_tokens, history.tokens)
    );
    Some(Advice { why, command: Some(format!("epitome diff {file}")) })
}
