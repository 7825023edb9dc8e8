//! A survey as one page that needs nothing else: no script, no network.

use epitome::text::figure::counted;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::{facts, picture};
use crate::receipt;
use crate::survey::{Moment, Survey};
use crate::terminal::{count, line, percent, size};

const STYLE: &str = "\
:root{color-scheme:light dark}\
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;max-width:60rem;margin:2rem auto;\
padding:0 1rem;background:#fff;color:#1f2937}\
h1{font-size:1.4rem;overflow-wrap:anywhere}h2{font-size:1.1rem;margin:2.2rem 0 .4rem}\
.scroll{overflow-x:auto}\
svg{display:block;box-sizing:border-box;width:100%;height:auto;border:1px solid #e5e7eb;border-radius:10px}\
svg.narrow{display:none}@media(max-width:40rem){svg.wide{display:none}svg.narrow{display:block}}\
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\
th,td{text-align:right;padding:.25rem .6rem;border-bottom:1px solid #e5e7eb;vertical-align:top}\
th{font-weight:600;color:#6b7280}\
td:not(.w){white-space:nowrap}td.w,th.w{text-align:left;overflow-wrap:anywhere;min-width:8rem}p.note{color:#6b7280}code{font-size:.92em}\
@media(prefers-color-scheme:dark){body{background:#0d1117;color:#e5e7eb}\
svg{border-color:#1f2937}th,td{border-color:#1f2937}th,p.note{color:#9ca3af}}";

/// Steps that are listed.
const LISTED: usize = 8;

/// The page.
pub(super) fn page(survey: &Survey) -> String {
    let name = match survey.source.file.as_str() {
        "-" => "a transcript".to_owned(),
        file => line(file.rsplit('/').next().unwrap_or(file), 120),
    };
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { "What fills " (name) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "What fills " (name) }
                (picture::draw(survey, picture::WIDE))
                (picture::draw(survey, picture::NARROW))
                (summary(survey))
                (kinds(survey))
                (tools(survey))
                (steps(survey))
                (findings(survey))
            }
        }
    };
    markup.into_string()
}

fn summary(survey: &Survey) -> Markup {
    let human = percent(
        (survey.human_share * survey.total.tokens as f64).round() as u64,
        survey.total.tokens,
    );
    html! {
        p {
            (count(survey.total.tokens)) " tokens (" (receipt::basis(survey.total, &survey.counter)) "), "
            (facts(survey)) ". A person wrote " (human) " of it, in " (counted(survey.human_messages, "message")) "."
        }
    }
}

fn kinds(survey: &Survey) -> Markup {
    html! {
        h2 { "By kind" }
        div.scroll { table {
            tr { th.w { "kind" } th { "tokens" } th { "share" } th { "bytes" } }
            @for share in survey.by_weight() {
                tr {
                    td.w { (share.kind.words()) }
                    td { (count(share.weight.tokens)) }
                    td { (percent(share.weight.tokens, survey.total.tokens)) }
                    td { (size(share.weight.bytes as usize)) }
                }
            }
        } }
    }
}

fn tools(survey: &Survey) -> Markup {
    let all = &survey.definitions;
    let failures = survey.tools.iter().any(|tool| tool.weight.errors > 0);
    html! {
        @if !survey.tools.is_empty() || all.tools > 0 {
            h2 { "By tool" }
            div.scroll { table {
                tr {
                    th.w { "tool" } th { "calls" }
                    @if failures { th { "failed" } }
                    th { "arguments" } th { "results" } th { "share" }
                    @if all.tools > 0 { th { "definition" } }
                }
                @for tool in &survey.tools {
                    tr {
                        td.w { (tool.name) }
                        td { (count(tool.weight.calls)) }
                        @if failures { td { @if tool.weight.errors > 0 { (count(tool.weight.errors)) } } }
                        td { (count(tool.weight.argument_tokens)) }
                        td { (count(tool.weight.result_tokens)) }
                        td { (percent(tool.tokens(), survey.total.tokens)) }
                        @if all.tools > 0 { td { (count(tool.definition_tokens)) } }
                    }
                }
            } }
            @if all.tools > 0 {
                p.note {
                    (counted(all.tools, "tool")) " defined: " (count(all.tokens)) " tokens, "
                    (percent(all.tokens, survey.total.tokens)) " of it all; " (count(all.unused))
                    " never called (" (count(all.unused_tokens)) " tokens)."
                }
            }
        }
    }
}

fn steps(survey: &Survey) -> Markup {
    let biggest: Vec<&Moment> =
        survey.biggest.iter().take(LISTED).map(|at| &survey.timeline[*at]).collect();
    html! {
        @if !biggest.is_empty() {
            h2 { "Biggest steps" }
            div.scroll { table {
                tr { th { "messages" } th { "tokens" } th { "share" } th.w { "what" } }
                @for moment in biggest {
                    tr {
                        td {
                            (moment.from)
                            @if moment.to != moment.from { "–" (moment.to) }
                        }
                        td { (count(moment.tokens)) }
                        td { (percent(moment.tokens, survey.total.tokens)) }
                        td.w { (moment.does) }
                    }
                }
            } }
        }
    }
}

fn findings(survey: &Survey) -> Markup {
    html! {
        h2 { "Check" }
        @if survey.findings.is_empty() {
            p { "Nothing found by the rules of " (survey.format) "." }
        } @else {
            div.scroll { table {
                tr { th.w { "rule" } th { "breaches" } }
                @for (rule, times) in &survey.findings {
                    tr { td.w { (rule) } td { (count(*times)) } }
                }
            } }
        }
    }
}
