//! The report as one self-contained page: no script, no network. The top shows what fills the context, when it was
//! compacted and what was lost; details follow.

use epitome::text::figure::counted;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::areas::{FRAMES, chart};
use super::became::{Compaction, Lost};
use super::style::style;
use super::words::{how, lost_at_a_glance, not_shown, size_now};
use super::{History, ToolUse};
use crate::survey::Slice;
use crate::terminal::{count, percent};
use epitome::count::ContentKind;

/// Compactions that are told of one by one, the newest; all are drawn.
const TOLD: usize = 24;
/// Tools that are listed.
const TOOLS: usize = 30;

/// The page.
pub(super) fn page(history: &History) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
                meta name="referrer" content="no-referrer";
                title { "Context of " (history.file) }
                style { (PreEscaped(style())) }
            }
            body { main {
                @match &history.title {
                    Some(title) => h1 { bdi { (title) } },
                    None => h1 { "Context of " bdi { (history.file) } },
                }
                p.faint {
                    bdi { (history.file) } " · " (history.kind)
                    @if let Some(model) = &history.model { " · " bdi { (model) } }
                    " · " (counted(history.said, "message")) " · " (history.basis)
                }
                (tiles(history))
                (advice(history))
                (over_time(history))
                (fills(history))
                (compactions(history))
                (at_risk(history))
                (tools(history))
                (costs(history))
            } }
        }
    };
    markup.into_string()
}

fn tile(what: &str, figure: &Markup, about: &Markup) -> Markup {
    html! { div.tile { span.what { (what) } b { (figure) } span.faint.small { (about) } } }
}

fn tiles(history: &History) -> Markup {
    let most = history.kinds.first();
    let cost = &history.cost;
    let (lost, about) = lost_at_a_glance(history);
    let is_lost = !history.compactions.iter().all(|it| it.human.lost.is_empty());
    html! {
        div.tiles {
            (tile("in the context", &html! { (count(history.tokens)) }, &html! { (size_now(history)) }))
            @if let Some(most) = most {
                (tile(
                    "filled most by",
                    &html! { (percent(most.weight.tokens, history.tokens)) },
                    &html! { (most.kind.words()) ", " (count(most.weight.tokens)) " tokens" },
                ))
            }
            (tile(
                "compacted",
                &html! { (times(history.compactions.len() + history.not_shown)) },
                &html! {
                    @match history.compactions.last() {
                        Some(newest) => { "last after message " (count(newest.at)) },
                        None if history.not_shown > 0 => "not to be found in the file",
                        None => "all is shown as it was said",
                    }
                },
            ))
            (tile("lost", &html! { span.warn[is_lost] { (lost) } }, &html! { (about) }))
            (tile(
                "cost",
                &html! { @match cost.all.cost { Some(cost) => (cost), None => "unknown" } },
                &html! {
                    @if cost.all.requests > 0 { (counted(cost.all.requests, "request")) ", " }
                    @if cost.all.cost.is_some() { (how(history)) } @else { "no price is known" }
                },
            ))
        }
    }
}

fn advice(history: &History) -> Markup {
    html! {
        @if let Some(advice) = &history.advice {
            p.card {
                b { "What to do: " } bdi { (advice.why) }
                @if let Some(command) = &advice.command { br; code { (command) } }
            }
        }
    }
}

/// Rules that the page names, the newest.
const RULES: usize = 12;

fn at_risk(history: &History) -> Markup {
    let all = &history.rules_at_risk;
    let first = all.len().saturating_sub(RULES);
    html! {
        @if !all.is_empty() {
            h2 { "Rules at risk" }
            p.faint { "What people told it to do or not to do, or what reads like that, and no pin protects from a compaction." }
            @if first > 0 { p.faint { "The newest " (RULES) " of " (count(all.len())) "." } }
            ul {
                @for rule in &all[first..] {
                    li { span.faint { "messages[" (rule.entry) "] " } bdi { (rule.text) } }
                }
            }
        }
    }
}

fn times(times: usize) -> String {
    match times {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        times => format!("{} times", count(times)),
    }
}

fn over_time(history: &History) -> Markup {
    let is_there = |kind: &ContentKind| {
        let now = history.kinds.iter().any(|slice| slice.kind == *kind);
        now || history.compactions.iter().any(|done| done.of(*kind) != (0, 0))
    };
    let is_reported = history.cost.reported;
    html! {
        h2 { "Context over time" }
        @for frame in FRAMES { (chart(history, frame)) }
        ul.legend {
            @for kind in ContentKind::ALL.iter().filter(|kind| is_there(kind)) {
                li { i class=(format!("k-{}", kind.name())) {} (kind.words()) }
            }
            @if is_reported { li { i.dots {} "prompt, as the provider reported" } }
        }
        @if is_reported {
            p.faint.small {
                "What the provider reports holds system text and tools too, which a recording may lack."
            }
        }
        @if let Some(why) = not_shown(history) { p.faint.small { (why) "." } }
    }
}

/// Slices of a bar; numbers alone go into styles.
fn bar(class: &str, slices: &[(ContentKind, u64)], total: u64) -> Markup {
    let sum: u64 = slices.iter().map(|(_, tokens)| tokens).sum();
    let rest = total.saturating_sub(sum);
    html! {
        div class=(class) {
            @for (kind, tokens) in slices.iter().filter(|(_, tokens)| *tokens > 0) {
                i class=(format!("k-{}", kind.name())) style=(format!("flex:{tokens} 0 0"))
                    title=(format!("{}: {} tokens", kind.words(), count(*tokens))) {}
            }
            @if rest > 0 { i style=(format!("flex:{rest} 0 0")) {} }
        }
    }
}

fn fills(history: &History) -> Markup {
    let mut drawn: Vec<&Slice> = history.kinds.iter().collect();
    drawn.sort_by_key(|slice| slice.kind);
    let drawn: Vec<(ContentKind, u64)> =
        drawn.iter().map(|slice| (slice.kind, slice.weight.tokens)).collect();
    html! {
        h2 { "What fills it now" }
        (bar("bar", &drawn, 0))
        div.scroll { table {
            tr { th.w { "kind" } th { "tokens" } th { "share" } }
            @for slice in history.kinds.iter().filter(|slice| slice.weight.tokens > 0) {
                tr {
                    td.w { i class=(format!("k-{}", slice.kind.name())) {} (slice.kind.words()) }
                    td { (count(slice.weight.tokens)) }
                    td { (percent(slice.weight.tokens, history.tokens)) }
                }
            }
        } }
        @if !history.biggest.is_empty() {
            h3.next { "The largest" }
            div.scroll { table {
                tr { th { "messages" } th { "tokens" } th.w { "what" } }
                @for big in &history.biggest {
                    tr {
                        td { (big.from) @if big.to != big.from { "–" (big.to) } }
                        td { (count(big.tokens)) }
                        td.w { bdi { (big.does) } }
                    }
                }
            } }
        }
    }
}

fn compactions(history: &History) -> Markup {
    let all = history.compactions.len();
    let first = all.saturating_sub(TOLD);
    html! {
        h2 { "What each compaction did" }
        @if all == 0 {
            @if history.not_shown == 0 { p { "There was none: the model is shown all that was said." } }
        } @else {
            @if first > 0 { p.faint { "The newest " (TOLD) " of " (count(all)) "; " code { "--json" } " tells of all." } }
            div.cards {
                @for done in &history.compactions[first..] { (compaction(done, history)) }
            }
        }
    }
}

fn compaction(done: &Compaction, history: &History) -> Markup {
    let number = done.number;
    let by = if done.by_epitome { "Epitome" } else { history.kind.as_str() };
    let slices = |pick: fn((u64, u64)) -> u64| -> Vec<(ContentKind, u64)> {
        ContentKind::ALL.into_iter().map(|kind| (kind, pick(done.of(kind)))).collect()
    };
    let sum = |sum: &super::became::Sum| {
        format!("{}, {} tokens", counted(sum.entries, "message"), count(sum.tokens))
    };
    let human = &done.human;
    html! {
        section.card id=(format!("c{number}")) {
            h3 { (number) ". After message " (count(done.at)) span.faint { ", by " (by) } }
            div.pair {
                span.faint { "before" } (bar("bar thin", &slices(|it| it.0), done.before.tokens)) span { (count(done.before.tokens)) }
                span.faint { "after" } (bar("bar thin", &slices(|it| it.1), done.before.tokens)) span { (count(done.after.tokens)) }
            }
            dl {
                dt { "kept" } dd { (sum(&done.kept)) }
                @if done.shortened.entries > 0 {
                    dt { "shortened" } dd { (sum(&done.shortened)) " → " (count(done.shortened_to)) }
                }
                @if done.summary.entries > 0 {
                    dt { "folded" } dd { (sum(&done.gone)) " → " (count(done.summary.tokens)) " tokens that stand for them" }
                } @else {
                    dt { "left out" } dd { (sum(&done.gone)) }
                }
                @if human.entries > 0 {
                    dt { "user said" } dd {
                        (counted(human.entries, "message")) ": " (count(human.kept)) " kept, " (count(human.quoted))
                        " quoted word for word, " (count(human.lost.len())) " lost"
                    }
                }
            }
            (lost("The user's words that nothing says any more", &human.lost))
            (lost("Rules of the user's that nothing says any more", &done.rules_lost))
        }
    }
}

/// Lost ones that are quoted.
const QUOTES: usize = 40;

fn lost(what: &str, all: &[Lost]) -> Markup {
    html! {
        @if !all.is_empty() {
            details {
                summary { (what) " (" (all.len()) ")" }
                ul.small {
                    @for lost in all.iter().take(QUOTES) {
                        li { span.faint { "messages[" (lost.entry) "] " } bdi { (lost.says) } }
                    }
                    @if all.len() > QUOTES { li.faint { "and " (all.len() - QUOTES) " more" } }
                }
            }
        }
    }
}

fn tools(history: &History) -> Markup {
    let failures = history.tools.iter().any(|it| it.tool.weight.errors > 0);
    let all: u64 = history.tools.iter().map(|it| it.tool.tokens()).sum();
    let listed: Vec<&ToolUse> = history.tools.iter().take(TOOLS).collect();
    html! {
        @if !listed.is_empty() {
            h2 { "Tools" }
            div.scroll { table {
                tr {
                    th.w { "tool" } th { "calls" }
                    @if failures { th { "failed" } }
                    th { "arguments" } th { "results" } th { "share" } th { "in the context now" }
                }
                @for it in &listed {
                    tr {
                        td.w { bdi { (it.tool.name) } }
                        td { (count(it.tool.weight.calls)) }
                        @if failures { td { @if it.tool.weight.errors > 0 { (count(it.tool.weight.errors)) } } }
                        td { (count(it.tool.weight.argument_tokens)) }
                        td { (count(it.tool.weight.result_tokens)) }
                        td { (percent(it.tool.tokens(), all)) }
                        td { (count(it.shown_tokens)) }
                    }
                }
            } }
            @if history.tools.len() > TOOLS {
                p.faint.small { "and " (history.tools.len() - TOOLS) " more tools" }
            }
        }
    }
}

fn costs(history: &History) -> Markup {
    let cost = &history.cost;
    let is_priced = cost.all.cost.is_some();
    let row = |name: &str, sum: &super::cost::Sum| {
        html! {
            td.w { (name) }
            td { (count(sum.requests)) }
            td { (count(sum.billed.fresh)) }
            td { (count(sum.billed.read)) }
            td { (count(sum.billed.written + sum.billed.written_long)) }
            @if cost.reported { td { (count(sum.billed.output)) } }
            @if is_priced { td { @if let Some(cost) = sum.cost { (cost) } } }
        }
    };
    html! {
        @if cost.all.requests > 0 {
            h2 { "Cost" }
            div.scroll { table {
                tr {
                    th.w { "" } th { "requests" } th { "fresh" } th { "from cache" } th { "to cache" }
                    @if cost.reported { th { "replies" } }
                    @if is_priced { th { "dollars" } }
                }
                @if let Some(sum) = &cost.earlier {
                    tr { (row(&format!("to compaction {}", history.too_old), sum)) }
                }
                @if cost.epochs.len() > 1 {
                    @for (at, sum) in cost.epochs.iter().enumerate() {
                        @let before = at.checked_sub(1).map_or(history.too_old, |at| history.compactions[at].number);
                        @let name = if before == 0 { "to the first compaction".to_owned() } else { format!("behind compaction {before}") };
                        tr { (row(&name, sum)) }
                    }
                }
                tr.sum { (row("all", &cost.all)) }
            } }
            p.faint.small {
                @if cost.reported { "Tokens as the provider reported them with its replies." }
                @else { "The recording doesn't tell what the provider counted: reckoned from our counts, prompts alone, with a cache that is kept warm." }
                @for (at, priced) in cost.models.iter().enumerate() {
                    @if at == 0 { " Prices of " } @else { "; " }
                    (priced.model) @if let Some(day) = &priced.date { ", of " (day) }
                }
                @if !cost.models.is_empty() { "." }
                @if cost.all.unpriced > 0 && cost.all.cost.is_some() {
                    " Not in the dollars: " (counted(cost.all.unpriced, "request")) " to models whose price isn't known."
                }
            }
        }
    }
}
