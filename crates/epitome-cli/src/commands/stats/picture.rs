//! A survey as one SVG: what fills the context, how it grew, which tools did it.

use std::fmt::Write as _;

use epitome::text::figure::counted;
use maud::{Markup, PreEscaped, html};

use super::chart::{self, Area, n, ticks};
use crate::receipt;
use crate::survey::{Survey, Tool, hues};
use crate::terminal::{count, line, percent};
use epitome::count::ContentKind;

/// The screen that a picture is drawn for. Lengths are in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    class: &'static str,
    width: f64,
    margin: f64,
    /// Columns of the legend.
    columns: usize,
    /// Font size of the title.
    title: f64,
}

/// For desks.
pub(super) const WIDE: Screen =
    Screen { class: "wide", width: 960.0, margin: 28.0, columns: 3, title: 22.0 };
/// For phones: what is left of 390 pixels between the margins of a page.
pub(super) const NARROW: Screen =
    Screen { class: "narrow", width: 358.0, margin: 12.0, columns: 1, title: 18.0 };

impl Screen {
    /// What lies between the margins.
    fn inner(&self) -> f64 {
        self.width - 2.0 * self.margin
    }

    fn right(&self) -> f64 {
        self.width - self.margin
    }

    /// Width of a column of the legend.
    fn column(&self) -> f64 {
        (self.inner() - GAP * (self.columns - 1) as f64) / self.columns as f64
    }

    /// Whether a tool's bar stands below its name, for want of room beside it.
    fn stacks(&self) -> bool {
        self.columns == 1
    }

    /// Height of a tool.
    fn tool(&self) -> f64 {
        if self.stacks() { 40.0 } else { LINE }
    }
}

/// Between the columns of the legend.
const GAP: f64 = 40.0;
/// Height of the chart of growth.
const CHART: f64 = 190.0;
/// Height of a line of the legend.
const LINE: f64 = 24.0;
/// Tools that are drawn.
const MOST_TOOLS: usize = 8;
/// Where the bar of everything begins.
const WHOLE: f64 = 108.0;

/// The picture as a file of its own.
pub(super) fn standalone(survey: &Survey) -> String {
    format!("{}\n", draw(survey, WIDE).into_string())
}

/// The picture, to be put into a page.
pub(super) fn draw(survey: &Survey, screen: Screen) -> Markup {
    let Screen { class, width, margin, columns, .. } = screen;
    let legend = survey.by_weight();
    let legend_top = WHOLE + 48.0;
    let chart_top = legend_top + legend.len().div_ceil(columns) as f64 * LINE + 44.0;
    let tools: Vec<&Tool> = survey.tools.iter().take(MOST_TOOLS).collect();
    let tools_top = chart_top + CHART + 66.0;
    let height = if tools.is_empty() {
        chart_top + CHART + 40.0
    } else {
        tools_top + tools.len() as f64 * screen.tool() + 18.0
    };
    let title =
        format!("{} tokens in {}", count(survey.total.tokens), counted(survey.entries, "message"));
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {width} {height:.0}")) role="img" aria-label=(title) class=(format!("ep {class}")) {
            style { (PreEscaped(style())) }
            rect class="ep-bg" width=(width) height=(format!("{height:.0}")) rx="10" {}
            text class="ep-title" x=(margin) y="42" style=(format!("font-size:{}px", screen.title)) { (title) }
            text class="ep-faint" x=(margin) y="64" { (subtitle(survey, screen)) }
            (whole(survey, screen))
            @for (at, share) in legend.iter().enumerate() {
                @let x = margin + (at % columns) as f64 * (screen.column() + GAP);
                @let y = legend_top + (at / columns) as f64 * LINE + 14.0;
                @let right = x + screen.column();
                rect class=(shade(share.kind)) x=(n(x)) y=(n(y - 10.0)) width="11" height="11" rx="2.5" {}
                text x=(n(x + 18.0)) y=(n(y)) { (share.kind.words()) }
                text class="ep-end" x=(n(right - 56.0)) y=(n(y)) { (count(share.weight.tokens)) }
                text class="ep-end ep-faint" x=(n(right)) y=(n(y)) { (percent(share.weight.tokens, survey.total.tokens)) }
            }
            (growth(survey, screen, chart_top))
            @if !tools.is_empty() {
                text class="ep-head" x=(margin) y=(n(tools_top - 14.0)) { "Tools" }
                text class="ep-faint" x=(n(margin + 56.0)) y=(n(tools_top - 14.0)) { "tokens of their calls' arguments and results" }
                @let largest = tools[0].tokens();
                @let longest = tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0);
                @let names = (longest as f64 * 7.4 + 18.0).clamp(72.0, 196.0);
                @for (at, tool) in tools.iter().enumerate() {
                    (bar(tool, (largest, survey.total.tokens), (screen, names), tools_top + at as f64 * screen.tool()))
                }
            }
        }
    }
}

fn subtitle(survey: &Survey, screen: Screen) -> String {
    let how = receipt::basis(survey.total, &survey.counter);
    let steps = count(survey.steps);
    if screen.stacks() {
        return format!("{steps} steps · {how}");
    }
    let format = survey.source.recording.as_deref().unwrap_or(survey.format);
    let model = survey.model.as_deref().map(|model| format!(" · {}", line(model, 48)));
    format!("{format}{} · {steps} steps · {how}", model.unwrap_or_default())
}

/// One bar that is everything, and over it which part of that a person wrote: as a rule too little to be seen.
fn whole(survey: &Survey, screen: Screen) -> Markup {
    let Screen { class, margin, .. } = screen;
    let mut x = margin;
    let segments: Vec<(f64, f64, &crate::survey::Slice)> = survey
        .kinds
        .iter()
        .map(|share| {
            let width = share.share * screen.inner();
            x += width;
            (x - width, width, share)
        })
        .collect();
    let clip = format!("ep-round-{class}");
    let human = segments.iter().find(|(.., share)| share.kind == ContentKind::Human);
    html! {
        @if let Some((x, width, share)) = human {
            @let x = x + width / 2.0;
            @let is_left = x < screen.width / 2.0;
            @let said = format!("a person wrote {}", percent(share.weight.tokens, survey.total.tokens));
            path class=(shade(ContentKind::Human)) d=(format!("M{} {}l-5 -8h10z", n(x), n(WHOLE - 2.0))) {}
            text class=(if is_left { "ep-said" } else { "ep-said ep-end" }) x=(n(if is_left { x + 9.0 } else { x - 9.0 })) y=(n(WHOLE - 6.0)) { (said) }
        }
        clipPath id=(clip) { rect x=(margin) y=(n(WHOLE)) width=(n(screen.inner())) height="30" rx="6" {} }
        g clip-path=(format!("url(#{clip})")) {
            rect class="ep-empty" x=(margin) y=(n(WHOLE)) width=(n(screen.inner())) height="30" {}
            @for (x, width, share) in &segments {
                rect class=(shade(share.kind)) x=(n(*x)) y=(n(WHOLE)) width=(n(*width)) height="30" {
                    title { (share.kind.words()) ": " (count(share.weight.tokens)) " tokens, " (percent(share.weight.tokens, survey.total.tokens)) }
                }
            }
        }
    }
}

/// How the context grew, kind upon kind.
fn growth(survey: &Survey, screen: Screen, top: f64) -> Markup {
    let margin = screen.margin;
    let left = margin + 44.0;
    let width = screen.inner() - 44.0;
    let frame = Area { left, top, width, height: CHART, most: survey.total.tokens };
    let ticks = ticks(survey.total.tokens);
    html! {
        text class="ep-head" x=(margin) y=(n(top - 18.0)) { "Growth" }
        text class="ep-faint" x=(n(margin + 70.0)) y=(n(top - 18.0)) { "tokens, message by message" }
        @for (value, label) in &ticks {
            @let y = frame.y(*value);
            line class="ep-grid" x1=(n(left)) x2=(n(left + width)) y1=(n(y)) y2=(n(y)) {}
            text class="ep-end ep-faint" x=(n(left - 8.0)) y=(n(y + 4.0)) { (label) }
        }
        @for (kind, path) in chart::growth(survey, &frame) {
            path class=(shade(kind)) d=(path) { title { (kind.words()) } }
        }
        line class="ep-axis" x1=(n(left)) x2=(n(left + width)) y1=(n(top + CHART)) y2=(n(top + CHART)) {}
        text class="ep-faint" x=(n(left)) y=(n(top + CHART + 18.0)) { "first message" }
        text class="ep-end ep-faint" x=(n(left + width)) y=(n(top + CHART + 18.0)) { "message " (count(survey.entries)) }
    }
}

/// The bar of a tool, behind `names` for the longest name or, where there is no room, below it.
fn bar(
    tool: &Tool,
    (largest, total): (u64, u64),
    (screen, names): (Screen, f64),
    y: f64,
) -> Markup {
    let stacks = screen.stacks();
    let (left, room, down, height) = if stacks {
        (screen.margin, screen.inner(), 19.0, 9)
    } else {
        (screen.margin + names, screen.inner() - names - 240.0, 0.0, 16)
    };
    let scale = |tokens: u64| tokens as f64 / largest.max(1) as f64 * room;
    let arguments = scale(tool.weight.argument_tokens);
    let calls = match tool.weight.calls {
        1 => "1 call".to_owned(),
        calls => format!("{} calls", count(calls)),
    };
    let name = line(&tool.name, if stacks { 18 } else { 24 });
    let right = screen.right();
    let bar = n(y + down);
    let text = n(y + 13.0);
    html! {
        text x=(screen.margin) y=(text) { (name) }
        rect class=(shade(ContentKind::CallArguments)) x=(n(left)) y=(bar) width=(n(arguments)) height=(height) {
            title { "arguments: " (count(tool.weight.argument_tokens)) " tokens" }
        }
        rect class=(shade(ContentKind::ToolResults)) x=(n(left + arguments)) y=(bar) width=(n(scale(tool.weight.result_tokens).max(1.0))) height=(height) {
            title { "results: " (count(tool.weight.result_tokens)) " tokens" }
        }
        text class="ep-end ep-faint" x=(n(right - if stacks { 116.0 } else { 150.0 })) y=(text) { (calls) }
        text class="ep-end" x=(n(right - if stacks { 52.0 } else { 66.0 })) y=(text) { (count(tool.tokens())) }
        text class="ep-end ep-faint" x=(n(right)) y=(text) { (percent(tool.tokens(), total)) }
    }
}

fn shade(kind: ContentKind) -> String {
    format!("ep-{}", kind.name())
}

/// Colours for white and for black, as the reader prefers.
fn style() -> String {
    let mut light = String::new();
    let mut dark = String::new();
    for kind in ContentKind::ALL {
        let (on_white, on_black) = hues(kind);
        write!(light, ".{}{{fill:{on_white}}}", shade(kind)).expect("a string takes all");
        write!(dark, ".{}{{fill:{on_black}}}", shade(kind)).expect("a string takes all");
    }
    format!(
        ".ep{{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',sans-serif;\
         font-variant-numeric:tabular-nums}}\
         .ep text{{fill:#1f2937}}.ep .ep-faint{{fill:#6b7280}}.ep-end{{text-anchor:end}}\
         .ep-title{{font-weight:650}}.ep-said{{font-weight:650}}.ep-head{{font-size:15px;font-weight:650}}\
         .ep-bg{{fill:#fff}}.ep-empty{{fill:#e5e7eb}}.ep-grid{{stroke:#e5e7eb}}.ep-axis{{stroke:#9ca3af}}\
         {light}\
         @media(prefers-color-scheme:dark){{.ep text{{fill:#e5e7eb}}.ep .ep-faint{{fill:#9ca3af}}\
         .ep-bg{{fill:#0d1117}}.ep-empty{{fill:#1f2937}}.ep-grid{{stroke:#1f2937}}.ep-axis{{stroke:#6b7280}}\
         {dark}}}"
    )
}
