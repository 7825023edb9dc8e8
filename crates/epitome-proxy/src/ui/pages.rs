//! The pages.

use epitome::count::ContentKind;
use maud::{DOCTYPE, Markup, html};

use super::chart::chart;
use super::figures::{ago, counted, dollars, tokens};
use crate::ledger::{Agreement, Conversation, Done, Reckoning, Stretch};
use crate::options::ProxyMode;

fn page(title: &str, body: &Markup) -> String {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                title { (title) }
                link rel="stylesheet" href="/ui/style.css";
            }
            body { main { (body) } }
        }
    };
    markup.into_string()
}

fn tile(what: &str, figure: &Markup, about: &str) -> Markup {
    html! { div.tile { span.what { (what) } b { (figure) } span.faint.small { (about) } } }
}

/// What compacting saved, with its sign.
fn net(money: &Reckoning) -> Markup {
    let net = money.net();
    let class = if net < 0.0 { "bad" } else { "good" };
    html! { @if money.measured == 0 { "–" } @else { span class=(class) { (dollars(net)) } } }
}

/// Tiles of money: what was measured, and what is an estimate.
fn of_money(money: &Reckoning) -> Markup {
    let writes = format!(
        "by the provider's counts of {}; of that {} cache writes",
        counted(money.measured, "prompt"),
        dollars(money.writes.dollars())
    );
    let without =
        format!("estimated; uncompacted they would be {}", dollars(money.without.dollars()));
    html! {
        @if money.measured == 0 {
            (tile("prompts cost", &html! { "–" }, "no provider has reported counts of a model with known prices"))
        } @else {
            (tile("prompts cost", &html! { (dollars(money.paid.dollars())) }, &writes))
            (tile("saved, net", &net(money), &without))
        }
    }
}

fn name(model: &str) -> Markup {
    html! { @if model.is_empty() { span.faint { "unnamed" } } @else { bdi { (model) } } }
}

/// How far it is with the next compaction of a conversation, where that waits for agreement.
fn agreement(id: &str, it: &Conversation) -> Markup {
    let button = html! {
        form method="post" action=(format!("/ui/{id}/compact")) { button { "Compact its next request" } }
    };
    html! {
        div.card {
            @match &it.agreement {
                Agreement::NotNeeded => {
                    p { "No compaction is due. When one is due, it waits until you agree." }
                    (button)
                }
                Agreement::Awaited(why) => {
                    p { b.bad { "A compaction waits for you: " } (why) ". Until you agree, requests pass unchanged." }
                    (button)
                }
                Agreement::Given => p { b { "You agreed." } " The next request of this conversation is compacted." },
            }
        }
    }
}

/// What the proxy does with conversations.
fn of_mode(mode: ProxyMode) -> &'static str {
    match mode {
        ProxyMode::Auto => "auto: conversations that get too large are compacted",
        ProxyMode::Ask => "ask: compactions wait until you agree",
        ProxyMode::Off => "off: everything passes unchanged",
    }
}

/// All conversations.
pub(super) fn all(
    conversations: &[(String, Conversation)],
    mode: ProxyMode,
    passed: u64,
) -> String {
    let mut money = Reckoning::default();
    let sum =
        |of: fn(&Conversation) -> u64| conversations.iter().map(|(_, it)| of(it)).sum::<u64>();
    for (_, it) in conversations {
        money.add_all(&it.money);
    }
    let given_up = format!("{} were given up", sum(|it| it.given_up));
    let body = html! {
        h1 { "Conversations" }
        p { "Mode " (of_mode(mode)) "." }
        @for (id, it) in conversations.iter().filter(|(_, it)| matches!(it.agreement, Agreement::Awaited(_))) {
            h2 { "Waiting: " a href=(format!("/ui/{id}")) { code { (id) } } " " (name(&it.model)) }
            (agreement(id, it))
        }
        p.faint { "Figures since the proxy began, of the " (counted(conversations.len() as u64, "conversation")) " asked last. Tokens are estimates unless they are said to be measured." }
        div.tiles {
            (tile("requests", &html! { (sum(|it| it.requests)) }, "that were examined"))
            (tile("passed", &html! { (passed) }, "forwarded without examination; /metrics says why"))
            (tile("compactions", &html! { (sum(|it| it.adopted)) }, &given_up))
            (tile("kept out", &html! { (tokens(sum(|it| it.kept_out))) }, "tokens, estimated, over all prompts"))
            (of_money(&money))
        }
        @if conversations.is_empty() {
            p { "None yet. Conversations appear after an agent's first request." }
        } @else {
            div.scroll { table.list {
                tr { th.w { "conversation" } th.w { "model" } th { "requests" } th { "prompt" } th { "sent" } th { "compacted" } th { "saved" } th { "asked" } }
                @for (id, it) in conversations {
                    @let last = it.points.last().map(|point| point.prompt).unwrap_or_default();
                    tr {
                        td.w { a href=(format!("/ui/{id}")) { code { (id) } } }
                        td.w.name { (name(&it.model)) span.faint.small { " " (it.api) " · " (it.owner) } }
                        td data-what="requests" { (it.requests) }
                        td data-what="prompt" { (tokens(last.before)) }
                        td data-what="sent" { (tokens(last.after)) }
                        td data-what="compacted" { (it.adopted) }
                        td data-what="saved" { (net(&it.money)) }
                        td data-what="asked" { (ago(it.last)) }
                    }
                }
            } }
        }
    };
    page("Epitome: conversations", &body)
}

/// One of them.
pub(super) fn one(id: &str, it: &Conversation, mode: ProxyMode) -> String {
    let last = it.points.last().map(|point| point.prompt).unwrap_or_default();
    let came = format!("tokens, estimated; it came with {}", tokens(last.before));
    let breaks = format!(
        "each a break of the cache; {} given up, {} too long for the provider",
        it.given_up, it.overflows
    );
    let billed = it.points.iter().rev().find_map(|point| point.billed);
    let body = html! {
        p.small { a href="/ui" { "All conversations" } }
        h1 { "Conversation " code { (id) } }
        p.faint { (name(&it.model)) " · " (it.api) " · credential " code { (it.owner) } " · " (counted(it.requests, "request")) ", the first " (ago(it.begun)) ", the last " (ago(it.last)) }
        div.tiles {
            (tile("newest prompt", &html! { (tokens(last.after)) }, &came))
            @if let Some(billed) = billed {
                @let about = format!("tokens, measured; {} of them read from the cache, {} written", tokens(billed.read), tokens(billed.written + billed.written_long));
                (tile("billed for it", &html! { (tokens(billed.prompt())) }, &about))
            }
            (tile("compactions", &html! { (it.adopted) }, &breaks))
            (of_money(&it.money))
        }
        @if mode == ProxyMode::Ask { (agreement(id, it)) }
        h2 { "Context over time" }
        (chart(&it.points))
        @if !it.compactions.is_empty() {
            h2 { "Compactions, the newest first" }
            div.cards { @for done in it.compactions.iter().rev() { (card(id, done)) } }
        }
    };
    page(&format!("Epitome: {id}"), &body)
}

/// What became of a compaction.
fn result(name: &str) -> &str {
    match name {
        "adopted" => "Applied",
        "refused" => "Not applied: it saved too little, or no longer fitted the conversation",
        "overtaken" => "Not applied: another compaction was ready first",
        "failed" => "Failed; nothing was changed",
        other => other,
    }
}

/// Why a compaction was made.
fn cause(name: &str) -> &str {
    match name {
        "window" => "the prompt nearly filled the model's window",
        "tokens" | "characters" | "bytes" | "items" | "steps" | "turns" => {
            "the prompt reached the limit that was set"
        }
        "switch" => "the new model has a smaller window",
        "overflow" => "the provider refused the prompt as too long",
        "idle" => "the conversation was idle",
        "asked" => "somebody asked for it",
        other => other,
    }
}

/// What a kind of content is.
fn content_words(kind: ContentKind) -> &'static str {
    match kind {
        ContentKind::System => "system prompt",
        ContentKind::ToolDefinitions => "tool definitions",
        ContentKind::Human => "people's words",
        ContentKind::Injected => "the agent's notes",
        ContentKind::Checkpoint => "checkpoint",
        ContentKind::ModelText => "the model's words",
        ContentKind::Reasoning => "the model's reasoning",
        ContentKind::CallArguments => "tool calls",
        ContentKind::ToolResults => "tool results",
        ContentKind::Media => "images, documents",
        ContentKind::Other => "unknown types",
        ContentKind::Wrapping => "ids and separators",
    }
}

fn card(id: &str, done: &Done) -> Markup {
    html! {
        div.card {
            h3 { (done.number) ". " (result(done.result)) span.faint.small { " · " (cause(done.cause)) " · " (ago(done.at)) @if let Some(number) = done.shown_by { " · first used by request " (number) } } }
            @match &done.told {
                Err(why) => p.bad { (why) },
                Ok(told) => {
                    p {
                        (tokens(told.before)) " → " (tokens(told.after)) " tokens, " (told.entries.0) " → " (counted(told.entries.1 as u64, "message"))
                        "; the first " (tokens(told.kept_prefix)) " tokens are unchanged; the checkpoint, which stands for earlier messages, has " (tokens(told.checkpoint)) ". "
                        (told.human.1) " of " (counted(told.human.0 as u64, "human message")) " shown or quoted in full"
                        @if told.human.2 > 0 { ", " span.bad { (told.human.2) " lost" } } "."
                    }
                    @if !told.steps.is_empty() {
                        ul.small { @for (strategy, edits, saved) in &told.steps { li { (strategy) ": " (counted(*edits as u64, "edit")) ", " (tokens(*saved)) " tokens" } } }
                    }
                    @if !told.fallbacks.is_empty() {
                        p.bad { "Fallbacks:" }
                        ul.small { @for why in &told.fallbacks { li { (why) } } }
                    }
                }
            }
            @if let Some(both) = &done.kinds {
                @let kinds = ContentKind::ALL.map(|kind| (kind, both[0].get(kind).tokens, both[1].get(kind).tokens));
                @let most = kinds.iter().map(|(_, before, after)| (*before).max(*after)).max().unwrap_or(1).max(1);
                div.scroll { table {
                    tr { th.w { "tokens of" } th { "before" } th { "after" } th {} }
                    @for (kind, before, after) in kinds.iter().filter(|(_, before, after)| before + after > 0) {
                        tr {
                            td.w { (content_words(*kind)) } td { (tokens(*before)) } td { (tokens(*after)) }
                            td.drawn { svg.bar viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" {
                                rect.before x="0" y="0" height="10" width=(format!("{:.1}", *before as f64 * 100.0 / most as f64)) {}
                                rect x="0" y="3" height="4" width=(format!("{:.1}", *after as f64 * 100.0 / most as f64)) {}
                            } }
                        }
                    }
                } }
                ul.legend {
                    li { svg.bar viewBox="0 0 32 14" aria-hidden="true" { rect.before x="0" y="0" width="32" height="14" {} } "before" }
                    li { svg.bar viewBox="0 0 32 14" aria-hidden="true" { rect x="0" y="4" width="32" height="6" {} } "after" }
                }
            }
            @if done.has_texts {
                p.small { a href=(format!("/ui/{id}/{}", done.number)) { "What it did, message by message" } " (shows the messages)" }
            }
        }
    }
}

/// What a compaction did, message by message.
pub(super) fn content(id: &str, number: u64, stretches: &[Stretch]) -> String {
    let count = |is: fn(&Stretch) -> bool| stretches.iter().filter(|it| is(it)).count() as u64;
    let gone = count(|it| matches!(it, Stretch::Gone(_)));
    let new = count(|it| matches!(it, Stretch::New(_)));
    let body = html! {
        p.small { a href=(format!("/ui/{id}")) { "Conversation " code { (id) } } }
        h1 { "Compaction " (number) }
        p.faint { (counted(gone, "message")) " removed or changed; in their place, " (counted(new, "message")) ". Secrets are masked, and long messages cut." }
        @for stretch in stretches {
            @match stretch {
                Stretch::Same(count) => p.same { (counted(*count as u64, "message")) " as before" },
                Stretch::Gone(said) => pre.gone { (said) },
                Stretch::New(said) => pre.new { (said) },
            }
        }
    };
    page(&format!("Epitome: compaction {number} of {id}"), &body)
}
