//! The context over time, kind upon kind, with compactions marked.

use epitome::text::figure::counted;
use maud::{Markup, html};

use super::History;
use super::became::Compaction;
use super::history::Epoch;
use crate::commands::stats::chart::{areas, n, ticks};
use crate::terminal::count;
use epitome::count::{ContentKind, Weights};

/// Where a chart lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// For which screens it is.
    pub(super) class: &'static str,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// For wide screens, and for narrow ones.
pub(super) const FRAMES: [Frame; 2] = [
    Frame { class: "wide", width: 992.0, height: 340.0 },
    Frame { class: "narrow", width: 358.0, height: 260.0 },
];

/// Room for the labels of the axes, and for the numbers of compactions.
const LEFT: f64 = 46.0;
const BELOW: f64 = 24.0;
const ABOVE: f64 = 26.0;

/// Points of a curve; more can't be told apart.
const MOST_POINTS: usize = 320;

/// Numbers of compactions that lie closer than this aren't written.
const APART: f64 = 20.0;

/// An epoch, and what was in the context as it went.
struct Drawn<'a> {
    /// Messages that were said before it.
    before: usize,
    epoch: &'a Epoch,
    points: Vec<(usize, Weights)>,
}

/// What is drawn, in tokens and messages.
struct Plot<'a> {
    history: &'a History,
    frame: Frame,
    /// Messages that were said in all epochs.
    said: usize,
    most: u64,
}

impl Plot<'_> {
    fn x(&self, said: usize) -> f64 {
        LEFT + (self.frame.width - LEFT - 2.0) * said as f64 / self.said as f64
    }

    fn y(&self, tokens: u64) -> f64 {
        let height = self.frame.height - ABOVE - BELOW;
        ABOVE + height * (1.0 - tokens as f64 / self.most as f64)
    }
}

/// The chart.
pub(super) fn chart(history: &History, frame: Frame) -> Markup {
    let epochs: Vec<Drawn<'_>> = history
        .epochs
        .iter()
        .map(|epoch| Drawn { before: epoch.said_before, epoch, points: epoch.points() })
        .collect();
    let said = history.epochs.iter().map(Epoch::said).sum::<usize>();
    let totals = epochs.iter().flat_map(|drawn| &drawn.points);
    let tallest = totals.map(|(_, sums)| sums.total().tokens).max().unwrap_or(0);
    let reported = epochs.iter().flat_map(|drawn| prompts(drawn.epoch));
    let tallest = reported.map(|(_, tokens)| tokens).max().unwrap_or(0).max(tallest);
    // A window that is far away would flatten all of it.
    let window = history.window.filter(|window| *window <= tallest.saturating_mul(3) / 2);
    let most = tallest.max(window.unwrap_or(0)).max(1);
    let plot = Plot { history, frame, said: said.max(1), most: most.saturating_add(most / 40) };
    let Frame { class, width, height } = frame;
    let (right, bottom) = (width - 2.0, height - BELOW);
    let title =
        format!("The context over {}, at most {} tokens", counted(said, "message"), count(tallest));
    html! {
        svg class=(class) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label=(title) {
            @for (value, label) in ticks(most) {
                @let y = plot.y(value);
                line class="grid" x1=(n(LEFT)) x2=(n(right)) y1=(n(y)) y2=(n(y)) {}
                text class="end" x=(n(LEFT - 7.0)) y=(n(y + 4.0)) { (label) }
            }
            @for (kind, path) in paths(&plot, &epochs) {
                path class=(format!("k-{}", kind.name())) d=(path) { title { (kind.words()) } }
            }
            @for line in lines(&plot, &epochs) {
                polyline class="reported" points=(line) { title { "as the provider reported" } }
            }
            @if let Some(window) = window {
                @let y = plot.y(window);
                line class="window" x1=(n(LEFT)) x2=(n(right)) y1=(n(y)) y2=(n(y)) {}
                text x=(n(LEFT + 6.0)) y=(n(y + 14.0)) { "window " (count(window)) }
            }
            (marks(&plot, &epochs))
            line class="axis" x1=(n(LEFT)) x2=(n(right)) y1=(n(bottom)) y2=(n(bottom)) {}
            text x=(n(LEFT)) y=(n(height - 6.0)) { "first message" }
            text class="end" x=(n(right)) y=(n(height - 6.0)) { "message " (count(said)) }
        }
    }
}

/// Where each compaction was.
fn marks(plot: &Plot<'_>, epochs: &[Drawn<'_>]) -> Markup {
    let mut last = f64::NEG_INFINITY;
    // Every epoch but the first begins with a compaction.
    let drawn = epochs.iter().skip(1).zip(&plot.history.compactions);
    let places: Vec<(&Compaction, f64, bool)> = drawn
        .map(|(drawn, done)| {
            let x = plot.x(drawn.before);
            let is_apart = x - last >= APART;
            if is_apart {
                last = x;
            }
            (done, x, is_apart)
        })
        .collect();
    let bottom = plot.frame.height - BELOW;
    html! {
        @for (done, x, is_apart) in places {
            a href=(format!("#c{}", done.number)) {
                line class="cut" x1=(n(x)) x2=(n(x)) y1=(n(ABOVE - 6.0)) y2=(n(bottom)) {
                    title { "compaction " (done.number) ": " (count(done.before.tokens)) " → " (count(done.after.tokens)) " tokens" }
                }
                @if is_apart {
                    circle class="mark" cx=(n(x.min(plot.frame.width - 10.0))) cy=(n(ABOVE - 15.0)) r="9" {}
                    text class="number" x=(n(x.min(plot.frame.width - 10.0))) y=(n(ABOVE - 11.0)) { (done.number) }
                }
            }
        }
    }
}

/// For each kind the area that it takes, one piece an epoch.
fn paths(plot: &Plot<'_>, epochs: &[Drawn<'_>]) -> Vec<(ContentKind, String)> {
    let runs: Vec<_> = epochs.iter().map(|drawn| run(plot, drawn)).collect();
    areas(&runs, |tokens| plot.y(tokens))
}

/// The points of an epoch that are drawn.
fn run<'d>(plot: &Plot<'_>, drawn: &'d Drawn<'_>) -> Vec<(f64, &'d Weights)> {
    let each = step(plot, drawn.epoch, drawn.points.len());
    let last = drawn.points.len() - 1;
    let kept = drawn.points.iter().enumerate();
    let kept = kept.filter(|(at, _)| at % each == 0 || *at == last);
    kept.map(|(_, (said, sums))| (plot.x(drawn.before + said), sums)).collect()
}

/// Of so many points of an epoch one in how many is drawn.
fn step(plot: &Plot<'_>, epoch: &Epoch, points: usize) -> usize {
    points.div_ceil((MOST_POINTS * epoch.said() / plot.said).max(4)).max(1)
}

/// Messages said in an epoch, and the prompt that the provider counted then.
fn prompts(epoch: &Epoch) -> impl Iterator<Item = (usize, u64)> {
    let own = epoch.reported.iter().filter(|reported| reported.reply.start >= epoch.carried);
    own.map(|reported| (reported.reply.start - epoch.carried, reported.usage.prompt()))
        .filter(|(_, tokens)| *tokens > 0)
}

/// What the provider reported, a line an epoch.
fn lines(plot: &Plot<'_>, epochs: &[Drawn<'_>]) -> Vec<String> {
    let mut lines = Vec::new();
    for Drawn { before, epoch, .. } in epochs {
        let points: Vec<(usize, u64)> = prompts(epoch).collect();
        let drawn = points.iter().step_by(step(plot, epoch, points.len())).chain(points.last());
        let drawn = drawn
            .map(|(said, tokens)| format!("{:.1},{:.1}", plot.x(before + said), plot.y(*tokens)));
        let drawn: Vec<String> = drawn.collect();
        if !drawn.is_empty() {
            lines.push(drawn.join(" "));
        }
    }
    lines
}
