//! The report in words.

use epitome::text::figure::counted;

use super::History;
use crate::terminal::{FAINT, STRONG, WARN, count, left, line, one, paint, percent, put, right};

/// How full it is.
pub(super) fn size_now(history: &History) -> String {
    let entries = counted(history.entries, "message");
    match history.window {
        Some(window) => {
            format!("{} of {}, {entries}", percent(history.tokens, window), count(window))
        }
        None => entries,
    }
}

/// What all compactions lost, as a figure and what it means.
pub(super) fn lost_at_a_glance(history: &History) -> (String, String) {
    let done = &history.compactions;
    if done.is_empty() {
        let what = if history.not_shown > 0 { "unknown" } else { "nothing" };
        return (what.to_owned(), "no compaction to look at".to_owned());
    }
    let lost: usize = done.iter().map(|it| it.human.lost.len()).sum();
    let was: u64 = done.iter().map(|it| it.gone.tokens + it.shortened.tokens).sum();
    let is: u64 = done.iter().map(|it| it.summary.tokens + it.shortened_to).sum();
    let figure = format!("{} of {}", count(lost), count(history.human_messages.max(lost)));
    (figure, format!("user messages; {} tokens became {}", count(was), count(is)))
}

/// That some compactions aren't told of.
pub(super) fn not_shown(history: &History) -> Option<String> {
    let lost = history.not_shown.saturating_sub(history.too_old);
    let lost =
        (lost > 0).then(|| format!("{} can't be found in the file", counted(lost, "compaction")));
    let old = (history.too_old > 0).then(|| {
        format!("{} before these, too long ago to be shown", counted(history.too_old, "compaction"))
    });
    let both: Vec<String> = old.into_iter().chain(lost).collect();
    (!both.is_empty()).then(|| both.join("; "))
}

/// Whose tokens are priced, and which aren't.
pub(super) fn how(history: &History) -> String {
    let cost = &history.cost;
    let how =
        if cost.reported { "tokens as the provider counted" } else { "prompts alone, reckoned" };
    match cost.all.unpriced {
        0 => how.to_owned(),
        some => format!("{how}; no price is known for {}", counted(some, "request")),
    }
}

/// Rules that are named, the newest, and the most columns of each.
const RULES: usize = 5;
const QUOTED: usize = 120;

/// All of it, for a terminal.
pub(super) fn words(history: &History) -> String {
    let mut out = String::new();
    let mut put = |line: String| put!(out, "{line}");
    if let Some(title) = &history.title {
        put(paint(STRONG, title));
    }
    put(paint(STRONG, format!("{} tokens in the context", count(history.tokens)))
        + &paint(FAINT, format!(" ({}; {})", size_now(history), history.basis)));
    for slice in history.kinds.iter().take(5) {
        put(format!(
            "  {} {} {}",
            left(slice.kind.words(), 18),
            right(&count(slice.weight.tokens), 10),
            right(&percent(slice.weight.tokens, history.tokens), 7)
        ));
    }
    put(String::new());
    if history.compactions.is_empty() && history.not_shown == 0 {
        put("never compacted: the model is shown all that was said".to_owned());
    }
    for done in &history.compactions {
        let lost = match done.human.lost.len() {
            0 => String::new(),
            lost => paint(WARN, format!("; {} of the user's lost", counted(lost, "message"))),
        };
        let instead = match done.summary.tokens {
            0 => "left out".to_owned(),
            tokens => format!("folded into {} tokens", count(tokens)),
        };
        put(format!(
            "{} after message {}: {} → {} tokens, {} kept, {} shortened, {} {instead}{lost}",
            paint(STRONG, format!("compaction {}", done.number)),
            count(done.at),
            count(done.before.tokens),
            count(done.after.tokens),
            counted(done.kept.entries, "message"),
            count(done.shortened.entries),
            count(done.gone.entries),
        ));
    }
    if let Some(why) = not_shown(history) {
        put(why);
    }
    if let Some(cost) = history.cost.all.cost {
        let how = how(history);
        put(String::new());
        put(format!(
            "{cost} for {} {}",
            counted(history.cost.all.requests, "request"),
            paint(FAINT, format!("({how})"))
        ));
    }
    if !history.rules_at_risk.is_empty() {
        put(String::new());
        let rules = counted(history.rules_at_risk.len(), "rule");
        put(format!("{rules} of the user's that no pin protects from a compaction:"));
        for rule in history.rules_at_risk.iter().rev().take(RULES) {
            put(format!("  [{}] {}", rule.entry, line(&rule.text, QUOTED)));
        }
    }
    if let Some(advice) = &history.advice {
        put(String::new());
        put(format!("{} {}", paint(STRONG, "what to do:"), one(&advice.why)));
        if let Some(command) = &advice.command {
            put(format!("  {command}"));
        }
    }
    put(paint(FAINT, "a page with all of it: --html -o report.html"));
    out
}
