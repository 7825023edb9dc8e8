//! The figures as tables for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::run::{Figures, Kept};
use super::stream::ROUNDS;
use crate::Share;

type Measure = (&'static str, fn(&Kept) -> Share);

/// Measures, and which share of what is kept each is.
const MEASURES: [Measure; 7] = [
    ("rules, bare", |kept| kept.bare_rules),
    ("rules, labelled", |kept| kept.labelled_rules),
    ("values, bare", |kept| kept.bare_values),
    ("values, labelled", |kept| kept.labelled_values),
    ("replaced values: the new one last", |kept| kept.replaced),
    ("replaced values: the old one last", |kept| kept.old_last),
    ("budget used", |kept| kept.tokens),
];

/// The figures in tables.
pub fn tables(figures: &Figures) -> String {
    let mut out = String::new();
    write(&mut out, figures).expect("a string takes all");
    out
}

fn write(out: &mut String, figures: &Figures) -> std::fmt::Result {
    let sessions: BTreeSet<&str> = figures.rows.iter().map(|row| row.session.as_str()).collect();
    let runs: BTreeSet<(&str, u64)> =
        figures.rows.iter().map(|row| (row.session.as_str(), row.seed)).collect();
    let counter = &figures.counter;
    writeln!(out, "{} sessions, {} runs; counter {counter}", sessions.len(), runs.len())?;
    for budget in &figures.budgets {
        write!(out, "\n{:<36}", format!("kept at {budget} %, % after round"))?;
        for round in 1..=ROUNDS {
            write!(out, " {round:>7}")?;
        }
        writeln!(out)?;
        let totals: Vec<Kept> = (1..=ROUNDS).map(|round| figures.total(*budget, round)).collect();
        for (name, of) in MEASURES {
            write!(out, "{name:<36}")?;
            for kept in &totals {
                write!(out, " {:>7}", of(kept).shown())?;
            }
            writeln!(out)?;
        }
        let over: u64 = totals.iter().map(|kept| kept.over).sum();
        if over > 0 {
            writeln!(out, "{over} compactions came out larger than the budget")?;
        }
    }
    for (name, why) in &figures.skipped {
        writeln!(out, "\n{name} was left out: {why}")?;
    }
    Ok(())
}
