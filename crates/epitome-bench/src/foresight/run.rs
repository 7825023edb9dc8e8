//! The measurement: sessions × cuts × contenders × budgets.

use std::sync::Arc;

use epitome::Request;
use epitome::count::TokenCounter;
use serde::Serialize;

use super::contender::{Contender, Shown, Stand};
use super::cut::cuts;
use super::scene::Scene;
use super::score::{Score, score};
use crate::Broken;
use crate::passage::passages;

/// The version of the figures' form.
pub const VERSION: u32 = 1;
/// A cut with fewer needs is skipped.
pub const FEWEST: usize = 5;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Study {
    /// Sessions by name.
    pub sessions: Vec<(String, Request)>,
    /// Shares of the prefix that contenders may use, in percent.
    pub budgets: Vec<u8>,
    /// Cuts of each session.
    pub cuts: usize,
    /// What counts tokens.
    pub counter: Arc<dyn TokenCounter>,
}

/// A cut that was measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CutRow {
    /// The session.
    pub session: String,
    /// The share of the units before the cut, in percent.
    pub at: usize,
    /// Entries before it.
    pub entries: usize,
    /// Their tokens but for what every contender keeps.
    pub tokens: u64,
    /// Needs.
    pub needs: usize,
    /// Of these, needs that point.
    pub pointing: usize,
    /// Files that are read again.
    pub rereads: usize,
    /// What each contender said, by the budget.
    pub scores: Vec<Row>,
}

/// What a contender said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Its name.
    pub contender: &'static str,
    /// The budget in percent.
    pub budget: u8,
    /// The figures.
    #[serde(flatten)]
    pub score: Score,
}

/// All figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// The version of this form.
    pub version: u32,
    /// The counter's name.
    pub counter: String,
    /// Budgets in percent.
    pub budgets: Vec<u8>,
    /// Sums over all cuts, by contender and budget.
    pub totals: Vec<Row>,
    /// The cuts.
    pub cuts: Vec<CutRow>,
    /// Sessions without a cut that has enough needs.
    pub skipped: Vec<String>,
}

impl Figures {
    /// The sums of a contender at a budget.
    pub fn total(&self, contender: Contender, budget: u8) -> Option<&Score> {
        let is_it = |row: &&Row| row.contender == contender.name() && row.budget == budget;
        self.totals.iter().find(is_it).map(|row| &row.score)
    }
}

/// Measures; `tick` is called now and then.
///
/// # Errors
/// A session that can't be cut.
pub fn run(study: &Study, mut tick: impl FnMut()) -> Result<Figures, Broken> {
    let mut found = Vec::new();
    let mut skipped = Vec::new();
    for (name, session) in &study.sessions {
        let all = passages(session);
        let before = found.len();
        for (at, entry) in cuts(session, study.cuts) {
            tick();
            let scene = Scene::new(session, &all, entry, &study.counter)?;
            if scene.needs.len() < FEWEST {
                continue;
            }
            let stand = Stand::new(&scene);
            let mut scores = Vec::new();
            for contender in Contender::ALL {
                for budget in &study.budgets {
                    tick();
                    let room = scene.room(*budget);
                    let view = stand.view(contender, room);
                    let failed = u64::from(view.is_err());
                    let shown = view.unwrap_or_else(|_| Shown::default());
                    let score = Score { failed, ..score(&scene, &shown, room) };
                    scores.push(Row { contender: contender.name(), budget: *budget, score });
                }
            }
            found.push(CutRow {
                session: name.clone(),
                at,
                entries: entry,
                tokens: scene.tokens(),
                needs: scene.needs.len(),
                pointing: scene.needs.iter().filter(|need| need.points).count(),
                rereads: scene.rereads.len(),
                scores,
            });
        }
        if found.len() == before {
            skipped.push(name.clone());
        }
    }
    let counter = study.counter.name().to_owned();
    let totals = totals(&study.budgets, &found);
    let budgets = study.budgets.clone();
    Ok(Figures { version: VERSION, counter, budgets, totals, cuts: found, skipped })
}

fn totals(budgets: &[u8], cuts: &[CutRow]) -> Vec<Row> {
    let pairs = Contender::ALL
        .into_iter()
        .flat_map(|contender| budgets.iter().map(move |budget| (contender.name(), *budget)));
    let sum = |(contender, budget): (&'static str, u8)| {
        let all = cuts.iter().flat_map(|cut| &cut.scores);
        let own = all.filter(|row| row.contender == contender && row.budget == budget);
        let mut score = Score::default();
        own.for_each(|row| score += &row.score);
        Row { contender, budget, score }
    };
    pairs.map(sum).collect()
}
