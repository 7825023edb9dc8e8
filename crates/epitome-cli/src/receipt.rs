//! A receipt in words, of what was done or of what would be.

use epitome::Receipt;
use epitome::count::{Basis, Count};
use epitome::engine::plan::Reached;
use epitome::model::Cost;
use epitome::strategy::guard::Unheld;
use epitome::summarize::{Choice, PriceQuote, Shape, Spent, SummaryReceipt};
use epitome::text::figure::counted;
use epitome::trigger::Cause;
use epitome::wire::Mend;

use crate::failure::Exit;
use crate::terminal::{
    self, FAINT, GOOD, STRONG, WARN, count, left, line, paint, put, right, size,
};

/// A row: a label, and what is behind it as `format!` writes it.
macro_rules! row {
    ($out:expr, $label:expr, $($words:tt)+) => { put($out, $label, &format!($($words)+)) };
}

/// Whether it was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tense {
    /// It was.
    Done,
    /// It would be.
    Planned,
}

/// A target, as it was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SaidTarget {
    pub(crate) words: String,
    /// Nobody asked for it.
    pub(crate) is_default: bool,
}

impl SaidTarget {
    /// One that somebody asked for.
    pub(crate) fn asked(words: String) -> Self {
        SaidTarget { words, is_default: false }
    }

    /// One that holds where nobody asks for any.
    pub(crate) fn default(words: String) -> Self {
        SaidTarget { words, is_default: true }
    }

    /// Whether nothing could leave and nobody asked for less: a small request is as it should be.
    pub(crate) fn is_settled(&self, receipt: &Receipt) -> bool {
        let (before, after) = (&receipt.before, &receipt.after);
        self.is_default
            && before.bytes == after.bytes
            && before.count.tokens == after.count.tokens
            && before.entries == after.entries
    }

    /// 3 where it isn't reached.
    pub(crate) fn exit(&self, receipt: &Receipt) -> Exit {
        match receipt.reached {
            Reached::Unreachable { .. } | Reached::Short if self.is_settled(receipt) => Exit::Ok,
            Reached::Unreachable { .. } | Reached::Short | Reached::Declined => Exit::Found,
            Reached::NotTriggered | Reached::NothingToDo | Reached::Target => Exit::Ok,
        }
    }
}

/// How sure a count is, in words.
pub(crate) fn basis(of: Count, counter: &str) -> String {
    match of.basis {
        Basis::Exact => format!("exact by {counter}"),
        Basis::Reported => "reported by the provider".to_owned(),
        Basis::Calibrated => format!("calibrated {counter}, at most {}", count(of.upper)),
        Basis::Sampled => format!("sampled by {counter}, at most {}", count(of.upper)),
        Basis::Estimated => format!("estimated by {counter}, at most {}", count(of.upper)),
        Basis::Unbounded => {
            format!("estimated by {counter}; it may be any more: a length isn't known")
        }
    }
}

/// The receipt in words.
pub(crate) fn words(receipt: &Receipt, target: &SaidTarget, tense: Tense) -> String {
    let mut out = String::new();
    head(&mut out, receipt, &target.words);
    steps(&mut out, receipt);
    details(&mut out, receipt, tense);
    if receipt.reached.is_compacted() && target.is_settled(receipt) {
        put(&mut out, "nothing to do:", "all of it must stay");
    } else {
        floor(&mut out, receipt, tense);
    }
    out
}

fn head(out: &mut String, receipt: &Receipt, target: &str) {
    let (before, after) = (&receipt.before, &receipt.after);
    let share = match (before.count.tokens, after.count.tokens) {
        (before, after) if before > after => {
            let less = terminal::percent(before - after, before);
            paint(GOOD, format!("−{less}"))
        }
        (before, after) if before < after => {
            paint(WARN, format!("+{} by mending", terminal::percent(after - before, before)))
        }
        _ => paint(FAINT, "unchanged"),
    };
    let tokens = format!("{} → {} tokens", count(before.count.tokens), count(after.count.tokens));
    let how = paint(FAINT, format!("({})", basis(after.count, &receipt.counter)));
    row!(out, "", "{} {share} {how}", paint(STRONG, tokens));
    row!(
        out,
        "",
        "{} → {}, {} → {} messages",
        size(before.bytes),
        size(after.bytes),
        count(before.entries),
        count(after.entries)
    );
    // Who asks for a compaction knows that.
    let is_told = receipt.cause.as_ref().is_some_and(|cause| !matches!(cause, Cause::Asked(_)));
    if is_told && receipt.triggered {
        put(out, "because", &line(&receipt.reason, 120));
    }
    row!(out, "target", "{} ({target}), floor {}", count(receipt.target), count(receipt.floor));
}

fn steps(out: &mut String, receipt: &Receipt) {
    if matches!(receipt.reached, Reached::NotTriggered | Reached::Declined) {
        row!(out, "", "nothing done: {}", receipt.reason);
    }
    if receipt.reached == Reached::NothingToDo {
        let why = match receipt.before.entries {
            0 => "there are no messages",
            _ => "it is at or under the target",
        };
        row!(out, "", "nothing to do: {why}");
    }
    for step in &receipt.steps {
        let edits = if step.edits == 1 { "edit" } else { "edits" };
        let saved = right(&format!("−{}", count(step.saved)), 10);
        row!(
            out,
            "",
            "  {} {} {} {saved}",
            left(&step.strategy, 14),
            right(&count(step.edits), 6),
            left(edits, 5)
        );
    }
}

fn details(out: &mut String, receipt: &Receipt, tense: Tense) {
    if let Some(checkpoint) = &receipt.checkpoint {
        let of = match checkpoint.human_messages {
            0 => String::new(),
            all => format!(
                ", quoting {} of {all} human messages in full",
                checkpoint.human_messages_quoted
            ),
        };
        row!(out, "checkpoint", "{} tokens{of}", count(checkpoint.tokens));
    }
    if let Some(summary) = &receipt.summary {
        summed(out, summary);
    }
    let human = &receipt.human_messages;
    if human.lost > 0 {
        row!(
            out,
            "warning:",
            "{} of {} are neither shown nor quoted",
            count(human.lost),
            counted(human.all, "human message")
        );
    }
    for cut in &receipt.excerpted {
        row!(
            out,
            "warning:",
            "messages[{}] ({}) is larger than its share of the target: an excerpt, {} → {} tokens",
            cut.entry,
            cut.held.words(),
            count(cut.tokens),
            count(cut.left)
        );
    }
    let kept = &receipt.kept_prefix;
    if receipt.triggered {
        row!(
            out,
            "kept prefix",
            "{}, {} tokens: what a prompt cache can keep",
            counted(kept.entries, "message"),
            count(kept.tokens)
        );
    }
    if let Some(cost) = &receipt.cost {
        costs(out, cost);
        // What goes out as it came in is rewritten nowhere.
        if !receipt.edits.is_empty() {
            rewriting(out, cost, tense);
        }
    }
    if receipt.mending_took > 0 {
        let verb = if tense == Tense::Done { "lost" } else { "would lose" };
        row!(out, verb, "{} tokens with what is mended", count(receipt.mending_took));
    }
    for mended in &receipt.repaired {
        let at = mended.place().map_or_else(String::new, |place| format!(" {place}"));
        let verb = if tense == Tense::Done { "mended" } else { "would mend" };
        let detail = line(&mended.detail, 60);
        row!(out, verb, "{}{at}: {detail}: {}", mended.rule, mended.mend);
    }
    for left in &receipt.left {
        let detail = line(&left.detail, 60);
        let whose = match left.mend {
            Mend::Nothing => "only its author can mend it",
            _ => "it stays as it came",
        };
        row!(out, "left", "{} {}: {detail}: {whose}", left.rule, left.place());
    }
    for fallback in &receipt.fallbacks {
        put(out, "fallback", &line(fallback, 120));
    }
    for pin in &receipt.unmatched_pins {
        row!(out, "warning:", "no message matches the pin {:?}", line(pin, 60));
    }
    for pin in &receipt.unheld_pins {
        put(out, "warning:", &unheld(pin));
    }
}

/// What a pin doesn't hold.
pub(crate) fn unheld(pin: &Unheld) -> String {
    let more = counted(pin.entries.len(), "older message");
    format!(
        "no human message has the pinned {:?}: messages[{}] is kept for it, {more} with it may leave",
        line(&pin.pin, 60),
        pin.held,
    )
}

fn took(calls: &str, spent: &Spent) -> String {
    let cost = spent.cost.map(|cost| format!(", {cost}")).unwrap_or_default();
    match (spent.input, spent.output) {
        (0, 0) => format!("{calls}{cost}"),
        (read, written) => {
            format!("{calls}, {} tokens read, {} written{cost}", count(read), count(written))
        }
    }
}

/// What was spent on a compaction that failed, behind the words that say so.
pub(crate) fn paid(spent: &Spent) -> String {
    if *spent == Spent::default() {
        return String::new();
    }
    format!("; asking took {}", took(&counted(spent.requests as usize, "request"), spent))
}

fn summed(out: &mut String, summary: &SummaryReceipt) {
    let took = took(&counted(summary.calls.len(), "call"), &summary.spent);
    let what = match &summary.by {
        Some(by) => format!("{} tokens by {} ({took})", count(summary.tokens), line(by, 60)),
        None => format!("none that can be used ({took})"),
    };
    put(out, "summary", &what);
    for Choice { by, shape, why, extension, fenced } in &summary.shapes {
        let shape = match shape {
            Shape::Extension => "behind the agent's own prompt",
            Shape::Fenced => "with a transcript of its own",
        };
        let costs = |quote: &Option<PriceQuote>, what: &str| {
            quote.map(|quote| {
                format!(
                    "; {what}: {} tokens, {} of them cached, {}",
                    count(quote.prompt),
                    count(quote.cached),
                    quote.cost
                )
            })
        };
        let costs: String = [costs(extension, "behind it"), costs(fenced, "by itself")]
            .into_iter()
            .flatten()
            .collect();
        row!(out, "asked", "{} {shape}: {why}{costs}", line(by, 60));
    }
}

fn costs(out: &mut String, cost: &Cost) {
    let (before, after) = (&cost.before, &cost.after);
    let day = cost.date.as_deref().map(|date| format!(", prices of {date}")).unwrap_or_default();
    let by = paint(FAINT, format!("({}{day})", line(&cost.model, 60)));
    if before.warm == before.cold {
        row!(out, "cost", "{} → {} a request {by}", before.cold, after.cold);
        return;
    }
    let warm = format!("{} → {} from a warm cache", before.warm, after.warm);
    row!(out, "cost", "{} → {} a request, {warm} {by}", before.cold, after.cold);
}

/// What the first request after it costs, where prompts are cached, and when that is earned.
fn rewriting(out: &mut String, cost: &Cost, tense: Tense) {
    if cost.before.warm == cost.before.cold {
        return;
    }
    let earned = match cost.break_even {
        Some(requests) if requests <= 1.0 => "earned by the first request after it".to_owned(),
        Some(requests) => format!("earned by {} further requests", count(requests.ceil() as usize)),
        None => "never earned while the cache is warm".to_owned(),
    };
    let once = cost.rewrite + cost.summary;
    let costs = if tense == Tense::Done { "costs" } else { "would cost" };
    let cliff = cost
        .cliff
        .map(|tokens| format!("; under the {} tokens above which all is dearer", count(tokens)));
    let cliff = cliff.unwrap_or_default();
    row!(out, "", "rewriting a warm cache {costs} {once} once, {earned}{cliff}");
}

fn floor(out: &mut String, receipt: &Receipt, tense: Tense) {
    if receipt.reached == Reached::Short {
        let (target, floor) = (count(receipt.target), count(receipt.floor));
        row!(
            out,
            "warning:",
            "these strategies don't reach the target of {target} (floor {floor})"
        );
    }
    let Reached::Unreachable { held_by } = &receipt.reached else { return };
    let best = if tense == Tense::Done { "it came down to" } else { "it would come down to" };
    row!(
        out,
        "warning:",
        "the target of {} can't be reached; {best} {} (floor {})",
        count(receipt.target),
        count(receipt.after.count.tokens),
        count(receipt.floor)
    );
    put(out, "", "what must stay, and its tokens:");
    for (held, tokens) in held_by {
        row!(out, "", "  {} {}", right(&count(*tokens), 9), held.words());
    }
    let listed = held_by.iter().map(|(_, tokens)| tokens).sum();
    let rest = receipt.floor.saturating_sub(listed);
    if rest > 0 && receipt.checkpoint.is_some() {
        row!(out, "", "  {} the least checkpoint, and what frames it all", right(&count(rest), 9));
    }
}

fn put(out: &mut String, label: &str, text: &str) {
    let style = if label == "warning:" { WARN } else { FAINT };
    let gap = if label.is_empty() { "" } else { " " };
    let label = if label.is_empty() { String::new() } else { paint(style, label) };
    put!(out, "{label}{gap}{text}");
}
