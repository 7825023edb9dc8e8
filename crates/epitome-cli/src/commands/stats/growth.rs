//! How the context grew, in a few rows of a terminal.

use crate::survey::{Moment, Survey, shade};
use crate::terminal::{FAINT, colour, count, paint, right};
use epitome::count::{ContentKind, Weights};

/// Rows of the chart.
const ROWS: u64 = 7;
/// Columns left of the chart.
const LABEL: usize = 10;
/// Columns that one moment may take.
const WIDEST: usize = 4;

const EIGHTHS: [&str; 9] = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];

/// The whole context after each moment, kind upon kind, and below it what each added.
pub(super) fn rows(survey: &Survey, width: usize) -> Vec<String> {
    let timeline = &survey.timeline;
    let columns = width.saturating_sub(LABEL).clamp(10, 10.max(timeline.len() * WIDEST));
    let heights = heights(survey, columns);
    let tallest = survey.total.tokens.max(1);
    let mut rows = Vec::new();
    for row in (0..ROWS).rev() {
        let label = match row {
            row if row == ROWS - 1 => count(tallest),
            0 => "0".to_owned(),
            _ => String::new(),
        };
        let drawn: String = heights.iter().map(|sums| cell(sums, tallest, row)).collect();
        rows.push(format!("{} {drawn}", paint(FAINT, right(&label, LABEL - 1))));
    }
    let added: Vec<u64> = (0..columns)
        .map(|column| moments(timeline, column, columns).iter().map(|m| m.tokens).sum())
        .collect();
    let most = added.iter().max().copied().unwrap_or(0).max(1);
    let sizes = added.iter().map(|tokens| EIGHTHS[(tokens * 8).div_ceil(most) as usize]);
    let sizes = paint(FAINT, sizes.collect::<String>());
    rows.push(format!("{} {sizes}", paint(FAINT, right("added", LABEL - 1))));
    rows
}

/// The moments of a column; where there are more columns than moments, neighbours share one.
fn moments(timeline: &[Moment], column: usize, columns: usize) -> &[Moment] {
    let from = column * timeline.len() / columns;
    let to = ((column + 1) * timeline.len() / columns).max(from + 1);
    &timeline[from..to]
}

fn heights(survey: &Survey, columns: usize) -> Vec<Weights> {
    let mut sums = survey.frame.clone();
    let mut counted = 0;
    let mut heights = Vec::with_capacity(columns);
    for column in 0..columns {
        let last = moments(&survey.timeline, column, columns).last().expect("at least one");
        for moment in &survey.timeline[counted..] {
            if moment.from > last.from {
                break;
            }
            sums.add_all(&moment.kinds);
            counted += 1;
        }
        heights.push(sums.clone());
    }
    heights
}

/// The part of a column that lies in a row, in the colour of the kind that takes most of it.
fn cell(sums: &Weights, tallest: u64, row: u64) -> String {
    let height = sums.total().tokens * ROWS * 8 / tallest;
    let filled = height.saturating_sub(row * 8).min(8);
    if filled == 0 {
        return " ".to_owned();
    }
    let (low, high) = (row * tallest / ROWS, (row + 1) * tallest / ROWS);
    let mut below = 0;
    let within = sums.kinds().map(|(kind, weight)| {
        let (from, to) = (below, below + weight.tokens);
        below = to;
        (to.min(high).saturating_sub(from.max(low)), kind)
    });
    let kind =
        within.max_by_key(|(tokens, _)| *tokens).map_or(ContentKind::Wrapping, |(_, kind)| kind);
    paint(colour(shade(kind)), EIGHTHS[filled as usize])
}
