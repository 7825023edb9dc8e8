//! A survey as one SVG: what fills the context, how it grew, which tools did it.

use std::fmt::Write as _;

use epitome::text::figure::counted;
use maud::{Markup, PreEscaped, html};

use super::chart::{self, Area, ticks};
use crate::receipt;
use crate::survey::{ContentKind, Survey, Tool};
use crate::terminal::{count, line, percent};

const WIDTH: f64 = 960.0;
const MARGIN: f64 = 28.0;
const INNER: f64 = WIDTH - 2.0 * MARGIN;
/// Between the columns of the legend.
const GAP: f64 = 40.0;
/// Width of one of its three.
const COLUMN: f64 = (INNER - 2.0 * GAP) / 3.0;
/// Height of the chart of growth.
const CHART: f64 = 190.0;
/// Height of a line of the legend, and of a tool.
const LINE: f64 = 24.0;
/// Tools that are drawn.
const MOST_TOOLS: usize = 8;

/// The picture as a file of its own.
pub(super) fn standalone(survey: &Survey) -> String {
    format!("{}\n", draw(survey).into_string())
}

/// The picture, to be put into a page.
pub(super) fn draw(survey: &Survey) -> Markup {
    let legend = survey.by_weight();
    let legend_rows = legend.len().div_ceil(3);
    let legend_top = 128.0;
    let chart_top = legend_top + legend_rows as f64 * LINE + 44.0;
    let tools: Vec<&Tool> = survey.tools.iter().take(MOST_TOOLS).collect();
    let tools_top = chart_top + CHART + 66.0;
    let height = if tools.is_empty() {
        chart_top + CHART + 40.0
    } else {
        tools_top + tools.len() as f64 * LINE + 18.0
    };
    let title =
        format!("{} tokens in {}", count(survey.total.tokens), counted(survey.entries, "message"));
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height:.0}")) role="img" aria-label=(title) class="ep" {
            style { (PreEscaped(style())) }
            rect class="ep-bg" width=(WIDTH) height=(format!("{height:.0}")) rx="10" {}
            text class="ep-title" x=(MARGIN) y="42" { (title) }
            text class="ep-faint" x=(MARGIN) y="64" { (subtitle(survey)) }
            (whole(survey, 80.0))
            @for (at, share) in legend.iter().enumerate() {
                @let x = MARGIN + (at % 3) as f64 * (COLUMN + GAP);
                @let y = legend_top + (at / 3) as f64 * LINE + 14.0;
                rect class=(class(share.kind)) x=(n(x)) y=(n(y - 10.0)) width="11" height="11" rx="2.5" {}
                text x=(n(x + 18.0)) y=(n(y)) { (share.kind.words()) }
                text class="ep-end" x=(n(x + COLUMN - 56.0)) y=(n(y)) { (count(share.weight.tokens)) }
                text class="ep-end ep-faint" x=(n(x + COLUMN)) y=(n(y)) { (percent(share.weight.tokens, survey.total.tokens)) }
            }
            (growth(survey, chart_top))
            @if !tools.is_empty() {
                text class="ep-head" x=(MARGIN) y=(n(tools_top - 14.0)) { "Tools" }
                text class="ep-faint" x=(n(MARGIN + 56.0)) y=(n(tools_top - 14.0)) { "tokens of their calls' arguments and results" }
                @let largest = tools[0].tokens();
                @let longest = tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0);
                @let names = (longest as f64 * 7.4 + 18.0).clamp(72.0, 196.0);
                @for (at, tool) in tools.iter().enumerate() {
                    (bar(tool, (largest, survey.total.tokens), names, tools_top + at as f64 * LINE))
                }
            }
        }
    }
}

fn subtitle(survey: &Survey) -> String {
    let model = survey.model.as_deref().map(|model| format!(" · {}", line(model, 48)));
    let how = receipt::basis(survey.total, &survey.counter);
    let format = survey.source.recording.as_deref().unwrap_or(survey.format);
    format!("{format}{} · {} steps · {how}", model.unwrap_or_default(), count(survey.steps))
}

/// One bar that is everything.
fn whole(survey: &Survey, y: f64) -> Markup {
    let mut x = MARGIN;
    let segments: Vec<(f64, f64, &crate::survey::Slice)> = survey
        .kinds
        .iter()
        .map(|share| {
            let width = share.share * INNER;
            x += width;
            (x - width, width, share)
        })
        .collect();
    html! {
        clipPath id="ep-round" { rect x=(MARGIN) y=(n(y)) width=(n(INNER)) height="30" rx="6" {} }
        g clip-path="url(#ep-round)" {
            rect class="ep-empty" x=(MARGIN) y=(n(y)) width=(n(INNER)) height="30" {}
            @for (x, width, share) in segments {
                rect class=(class(share.kind)) x=(n(x)) y=(n(y)) width=(n(width)) height="30" {
                    title { (share.kind.words()) ": " (count(share.weight.tokens)) " tokens, " (percent(share.weight.tokens, survey.total.tokens)) }
                }
            }
        }
    }
}

/// How the context grew, kind upon kind.
fn growth(survey: &Survey, top: f64) -> Markup {
    let left = MARGIN + 44.0;
    let width = INNER - 44.0;
    let frame = Area { left, top, width, height: CHART, most: survey.total.tokens };
    let ticks = ticks(survey.total.tokens);
    html! {
        text class="ep-head" x=(MARGIN) y=(n(top - 18.0)) { "Growth" }
        text class="ep-faint" x=(n(MARGIN + 70.0)) y=(n(top - 18.0)) { "tokens in the context, message by message" }
        @for (value, label) in &ticks {
            @let y = frame.y(*value);
            line class="ep-grid" x1=(n(left)) x2=(n(left + width)) y1=(n(y)) y2=(n(y)) {}
            text class="ep-end ep-faint" x=(n(left - 8.0)) y=(n(y + 4.0)) { (label) }
        }
        @for (kind, path) in chart::growth(survey, &frame) {
            path class=(class(kind)) d=(path) { title { (kind.words()) } }
        }
        line class="ep-axis" x1=(n(left)) x2=(n(left + width)) y1=(n(top + CHART)) y2=(n(top + CHART)) {}
        text class="ep-faint" x=(n(left)) y=(n(top + CHART + 18.0)) { "first message" }
        text class="ep-end ep-faint" x=(n(left + width)) y=(n(top + CHART + 18.0)) { "message " (count(survey.entries)) }
    }
}

/// The bar of a tool, behind `names` for the longest name.
fn bar(tool: &Tool, (largest, total): (u64, u64), names: f64, y: f64) -> Markup {
    let left = MARGIN + names;
    let room = INNER - names - 240.0;
    let scale = |tokens: u64| tokens as f64 / largest.max(1) as f64 * room;
    let arguments = scale(tool.argument_tokens);
    let calls = match tool.calls {
        1 => "1 call".to_owned(),
        calls => format!("{} calls", count(calls)),
    };
    html! {
        text x=(MARGIN) y=(n(y + 13.0)) { (line(&tool.name, 24)) }
        rect class=(class(ContentKind::CallArguments)) x=(n(left)) y=(n(y)) width=(n(arguments)) height="16" {
            title { "arguments: " (count(tool.argument_tokens)) " tokens" }
        }
        rect class=(class(ContentKind::ToolResults)) x=(n(left + arguments)) y=(n(y)) width=(n(scale(tool.result_tokens).max(1.0))) height="16" {
            title { "results: " (count(tool.result_tokens)) " tokens" }
        }
        text class="ep-end ep-faint" x=(n(WIDTH - MARGIN - 150.0)) y=(n(y + 13.0)) { (calls) }
        text class="ep-end" x=(n(WIDTH - MARGIN - 66.0)) y=(n(y + 13.0)) { (count(tool.tokens())) }
        text class="ep-end ep-faint" x=(n(WIDTH - MARGIN)) y=(n(y + 13.0)) { (percent(tool.tokens(), total)) }
    }
}

/// A coordinate, to a tenth.
pub(super) fn n(number: f64) -> String {
    format!("{number:.1}")
}

fn class(kind: ContentKind) -> String {
    format!("ep-{}", kind.name())
}

/// Colours for white and for black, as the reader prefers.
fn style() -> String {
    let mut light = String::new();
    let mut dark = String::new();
    for kind in ContentKind::ALL {
        let (on_white, on_black) = kind.hues();
        write!(light, ".{}{{fill:{on_white}}}", class(kind)).expect("a string takes all");
        write!(dark, ".{}{{fill:{on_black}}}", class(kind)).expect("a string takes all");
    }
    format!(
        ".ep{{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif;\
         font-variant-numeric:tabular-nums}}\
         .ep text{{fill:#1f2937}}.ep .ep-faint{{fill:#6b7280}}.ep-end{{text-anchor:end}}\
         .ep-title{{font-size:22px;font-weight:650}}.ep-head{{font-size:15px;font-weight:650}}\
         .ep-bg{{fill:#fff}}.ep-empty{{fill:#e5e7eb}}.ep-grid{{stroke:#e5e7eb}}.ep-axis{{stroke:#9ca3af}}\
         {light}\
         @media(prefers-color-scheme:dark){{.ep text{{fill:#e5e7eb}}.ep .ep-faint{{fill:#9ca3af}}\
         .ep-bg{{fill:#0d1117}}.ep-empty{{fill:#1f2937}}.ep-grid{{stroke:#1f2937}}.ep-axis{{stroke:#6b7280}}\
         {dark}}}"
    )
}
