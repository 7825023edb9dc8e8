//! The context over time, as it came and as it was sent.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::figures::tokens;
use crate::ledger::Point;

/// For wide screens, and for narrow ones.
const FRAMES: [(&str, f64, f64); 2] = [("wide", 992.0, 280.0), ("narrow", 358.0, 220.0)];

/// Room for the labels of the axes.
const LEFT: f64 = 44.0;
const BELOW: f64 = 22.0;
const ABOVE: f64 = 8.0;

/// What is drawn, in one size.
struct Plot<'a> {
    points: &'a [Point],
    width: f64,
    height: f64,
    first: u64,
    last: u64,
    most: u64,
}

impl Plot<'_> {
    fn x(&self, number: u64) -> f64 {
        let span = self.last.saturating_sub(self.first).max(1);
        LEFT + (self.width - LEFT - 4.0) * number.saturating_sub(self.first) as f64 / span as f64
    }

    fn y(&self, tokens: u64) -> f64 {
        ABOVE + (self.height - ABOVE - BELOW) * (1.0 - tokens as f64 / self.most as f64)
    }

    fn line(&self, of: impl Fn(&Point) -> u64) -> String {
        self.points.iter().fold(String::new(), |mut line, point| {
            let _all = write!(line, "{:.1},{:.1} ", self.x(point.number), self.y(of(point)));
            line
        })
    }
}

/// The chart; nothing for less than two points.
pub(super) fn chart(points: &[Point]) -> Markup {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return html! {} };
    let tallest = points.iter().map(|point| point.prompt.before.max(point.prompt.after)).max();
    let most = (tallest.unwrap_or(0) * 21 / 20).max(1);
    html! {
        @for (class, width, height) in FRAMES {
            @let plot = Plot { points, width, height, first: first.number, last: last.number, most };
            @let base = plot.y(0);
            @let area = format!(
                "{:.1},{base:.1} {}{:.1},{base:.1}",
                plot.x(plot.first), plot.line(|point| point.prompt.after), plot.x(plot.last)
            );
            svg class=(class) viewBox=(format!("0 0 {width} {height}")) role="img" aria-label="tokens of each prompt" {
                @for tick in ticks(most) {
                    line.grid x1=(LEFT) x2=(width) y1=(format!("{:.1}", plot.y(tick))) y2=(format!("{:.1}", plot.y(tick))) {}
                    text.end x=(LEFT - 6.0) y=(format!("{:.1}", plot.y(tick) + 4.0)) { (tokens(tick)) }
                }
                polygon.sent points=(area) {}
                polyline.came points=(plot.line(|point| point.prompt.before)) {}
                @for point in points.iter().filter(|point| point.prompt.is_break) {
                    @let x = format!("{:.1}", plot.x(point.number));
                    line.cut x1=(x) x2=(x) y1=(ABOVE) y2=(format!("{base:.1}")) {}
                }
                text x=(LEFT) y=(height - 5.0) { "request " (plot.first) }
                text.end x=(width - 4.0) y=(height - 5.0) { (plot.last) }
            }
        }
        ul.legend {
            li { svg viewBox="0 0 32 14" aria-hidden="true" { rect.sent x="0" y="2" width="32" height="12" {} } "as sent" }
            li { svg viewBox="0 0 32 14" aria-hidden="true" { polyline.came points="0,8 32,8" {} } "as it came" }
            li { svg viewBox="0 0 32 14" aria-hidden="true" { line.cut x1="16" x2="16" y1="0" y2="14" {} } "compacted, a break of the cache" }
        }
    }
}

/// Round figures from 0 to `most`: three to five of them, from 2 on.
fn ticks(most: u64) -> impl Iterator<Item = u64> {
    let least = (most / 5).max(1);
    let scale = 10_u64.pow(least.ilog10());
    let mut steps = [1, 2, 5, 10].into_iter().map(|by| by * scale);
    // Each is at most two and a half times the one before, which would make six figures or more.
    let step = steps.find(|step| most / step < 5).unwrap_or(least);
    (0..=most / step).map(move |nth| nth * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        for (most, last) in [(1, 1), (9, 6), (40, 40), (120_000, 100_000), (999_999, 500_000)] {
            let ticks: Vec<u64> = ticks(most).collect();
            assert!((2..6).contains(&ticks.len()), "{most}: {ticks:?}");
            assert!(ticks.last().is_some_and(|it| *it <= most && *it >= last / 2), "{ticks:?}");
        }
    }

    #[test]
    fn there_are_three_ticks_just_under_a_round_figure_too() {
        let near = |round: u64| (round * 9 / 10..=round * 11 / 10).step_by(round as usize / 200);
        let rounds = (3..8).flat_map(|power| [1, 2, 5].map(|by| by * 10_u64.pow(power)));
        for most in rounds.flat_map(near).chain(2..2_000) {
            let ticks: Vec<u64> = ticks(most).collect();
            assert!((3..6).contains(&ticks.len()), "{most}: {ticks:?}");
            assert!(ticks.last().is_some_and(|it| *it <= most && *it * 3 > most), "{ticks:?}");
        }
        assert!(ticks(99_750).eq([0, 20_000, 40_000, 60_000, 80_000]));
    }
}
