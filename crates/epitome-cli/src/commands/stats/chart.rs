//! The geometry of the chart of growth.

use std::fmt::Write as _;

use crate::survey::Survey;
use epitome::count::{ContentKind, Weights};

/// Where a chart lies, and the tokens at its top.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) most: u64,
}

impl Area {
    /// The height of so many tokens.
    pub(super) fn y(&self, tokens: u64) -> f64 {
        self.top + self.height * (1.0 - tokens as f64 / self.most.max(1) as f64)
    }
}

/// Points of a curve; more can't be told apart.
const MOST_POINTS: usize = 300;

/// What each kind takes of a survey, as it grew.
pub(super) fn growth(survey: &Survey, area: &Area) -> Vec<(ContentKind, String)> {
    let points = points(survey);
    let last = points.last().map_or(1, |(entries, _)| *entries).max(1);
    let x = |entries: usize| area.left + area.width * entries as f64 / last as f64;
    let run = points.iter().map(|(entries, sums)| (x(*entries), sums)).collect();
    areas(&[run], |tokens| area.y(tokens))
}

/// For each kind the area between what lies below it and itself, as a path with one piece a run.
pub(in crate::commands) fn areas(
    runs: &[Vec<(f64, &Weights)>],
    y: impl Fn(u64) -> f64,
) -> Vec<(ContentKind, String)> {
    let mut paths = Vec::new();
    for (at, kind) in ContentKind::ALL.into_iter().enumerate() {
        let own = |sums: &Weights| sums.get(kind).tokens;
        let below = |sums: &Weights| -> u64 {
            ContentKind::ALL[..at].iter().map(|kind| sums.get(*kind).tokens).sum()
        };
        let mut path = String::new();
        for run in runs.iter().filter(|run| run.iter().any(|(_, sums)| own(sums) > 0)) {
            let above = run.iter().map(|(x, sums)| (x, below(sums) + own(sums)));
            let back = run.iter().rev().map(|(x, sums)| (x, below(sums)));
            for (at, (x, tokens)) in above.chain(back).enumerate() {
                let pen = if at == 0 { 'M' } else { 'L' };
                write!(path, "{pen}{x:.1} {:.1}", y(tokens)).expect("a string takes all");
            }
            path.push('Z');
        }
        if !path.is_empty() {
            paths.push((kind, path));
        }
    }
    paths
}

/// Entries so far and what they weigh together, from the frame alone to everything.
fn points(survey: &Survey) -> Vec<(usize, Weights)> {
    let mut sums = survey.frame.clone();
    let mut points = vec![(0, sums.clone())];
    let each = survey.timeline.len().div_ceil(MOST_POINTS).max(1);
    for moments in survey.timeline.chunks(each) {
        for moment in moments {
            sums.add_all(&moment.kinds);
        }
        points.extend(moments.last().map(|moment| (moment.to + 1, sums.clone())));
    }
    points
}

/// Round numbers up to `most`, with their labels.
pub(in crate::commands) fn ticks(most: u64) -> Vec<(u64, String)> {
    let mut step = 1_u64;
    while most / step > 5 {
        // 1, 2, 5, 10, 20, 50 …
        step = if step.to_string().starts_with('2') { step / 2 * 5 } else { step * 2 };
    }
    let label = |value: u64| match value {
        value if value >= 1_000_000 && value.is_multiple_of(100_000) => {
            format!("{}M", value as f64 / 1e6)
        }
        value if value >= 1000 && value.is_multiple_of(100) => format!("{}k", value as f64 / 1e3),
        value => value.to_string(),
    };
    (0..=most / step).map(|at| (at * step, label(at * step))).collect()
}

/// A coordinate, to a tenth.
pub(in crate::commands) fn n(number: f64) -> String {
    format!("{number:.1}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_few() {
        let labels = |most| ticks(most).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(118_934), ["0", "20k", "40k", "60k", "80k", "100k"]);
        assert_eq!(labels(48_000), ["0", "10k", "20k", "30k", "40k"]);
        assert_eq!(labels(3), ["0", "1", "2", "3"]);
        assert_eq!(labels(1_900_000), ["0", "500k", "1M", "1.5M"]);
        assert_eq!(labels(0), ["0"]);
    }
}
