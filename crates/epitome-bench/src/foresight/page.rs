//! The figures as tables for people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use epitome::text::specifics::Class;

use super::contender::Contender;
use super::run::Figures;
use super::score::Score;
use crate::Share;

type Measure = (&'static str, fn(&Score) -> Share);

/// Measures, and which share of a score each is.
const MEASURES: [Measure; 8] = [
    ("needs said", |score| score.said),
    ("pointing needs said", |score| score.pointing),
    ("said with neighbours", |score| score.neighbours),
    ("people's words verbatim", |score| score.words),
    ("noise: bytes of lines whose specifics nobody needs", |score| score.noise),
    ("noise in the checkpoint", |score| score.checkpoint_noise),
    ("files read again whose content is shown", |score| score.rereads),
    ("room used", |score| score.tokens),
];

/// The budget whose needs are told by class, in percent.
const TYPICAL: u8 = 10;

/// The figures in tables.
pub fn tables(figures: &Figures) -> String {
    let mut out = String::new();
    write(&mut out, figures).expect("a string takes all");
    out
}

fn write(out: &mut String, figures: &Figures) -> std::fmt::Result {
    let sum = |of: fn(&super::run::CutRow) -> usize| figures.cuts.iter().map(of).sum::<usize>();
    let (needs, pointing) = (sum(|cut| cut.needs), sum(|cut| cut.pointing));
    let rereads = sum(|cut| cut.rereads);
    let mut sessions: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for cut in &figures.cuts {
        let (cuts, needs) = sessions.entry(&cut.session).or_default();
        *cuts += 1;
        *needs += cut.needs;
    }
    writeln!(
        out,
        "{} sessions, {} cuts, {needs} needs ({pointing} pointing), {rereads} avoidable re-reads; counter {}",
        sessions.len(),
        figures.cuts.len(),
        figures.counter,
    )?;
    for (title, of) in MEASURES {
        if figures.totals.iter().all(|row| of(&row.score).all == 0) {
            continue;
        }
        writeln!(out, "\n{title}, %")?;
        row(out, "", figures.budgets.iter().map(|budget| format!("{budget} %")))?;
        for contender in Contender::ALL {
            let scores = figures.budgets.iter().map(|budget| figures.total(contender, *budget));
            row(out, contender.name(), scores.map(|score| shown(score.map(of))))?;
        }
    }
    let budget = figures.budgets.iter().copied().find(|budget| *budget >= TYPICAL);
    if let Some(budget) = budget.or(figures.budgets.last().copied()) {
        writeln!(out, "\nneeds said by class at {budget} %, %")?;
        let classes = Class::ALL.map(Class::plural);
        row(out, "", classes.iter().map(|class| (*class).to_owned()))?;
        for contender in Contender::ALL {
            let score = figures.total(contender, budget);
            let of = |class: &&str| score.and_then(|score| score.classes.get(class)).copied();
            row(out, contender.name(), classes.iter().map(|class| shown(of(class))))?;
        }
        let score = figures.total(Contender::Oracle, budget);
        let all = |class: &&str| {
            let share = score.and_then(|score| score.classes.get(class));
            share.map_or(0, |share| share.all).to_string()
        };
        row(out, "(needs)", classes.iter().map(all))?;
    }
    for contender in Contender::ALL {
        for budget in &figures.budgets {
            let Some(score) = figures.total(contender, *budget) else { continue };
            if score.over + score.failed > 0 {
                let name = contender.name();
                let (over, failed) = (score.over, score.failed);
                writeln!(
                    out,
                    "\n{name} at {budget} %: {over} views over the room, {failed} failed"
                )?;
            }
        }
    }
    writeln!(out, "\nsessions: cuts, needs")?;
    for (name, (cuts, needs)) in sessions {
        writeln!(out, "{cuts:>4} {needs:>6}  {name}")?;
    }
    for name in &figures.skipped {
        writeln!(out, "   -      -  {name}: too few needs")?;
    }
    Ok(())
}

fn row(out: &mut String, name: &str, cells: impl Iterator<Item = String>) -> std::fmt::Result {
    write!(out, "{name:<16}")?;
    for cell in cells {
        write!(out, " {cell:>11}")?;
    }
    writeln!(out)
}

fn shown(share: Option<Share>) -> String {
    share.map_or_else(|| "-".to_owned(), Share::shown)
}
