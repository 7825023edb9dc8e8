//! The measurement: sessions × seeds × budgets × five compactions.

use std::sync::Arc;

use epitome::count::{Tally, TokenCounter};
use epitome::{Compactor, Options, Request, Target};
use serde::Serialize;

use super::ground::Ground;
use super::judge::RequestText;
use super::stream::{ROUNDS, Stream};
use crate::{Broken, Share};

/// The version of the figures' form.
pub const VERSION: u32 = 1;
/// A shorter session is repeated with other names until it has so many bytes, about 100,000 tokens or more.
pub const LONG: usize = 500_000;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Study {
    /// Sessions by name.
    pub sessions: Vec<(String, Request)>,
    /// Sizes to compact to, in percent of what is compacted first.
    pub budgets: Vec<u8>,
    /// The first seed.
    pub seed: u64,
    /// How often each session is planted, each time with the next seed.
    pub times: u64,
    /// What counts tokens.
    pub counter: Arc<dyn TokenCounter>,
}

/// What one run still says after a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Row {
    /// The session.
    pub session: String,
    /// The seed.
    pub seed: u64,
    /// The budget in percent.
    pub budget: u8,
    /// After which compaction, from 1.
    pub round: usize,
    /// The figures.
    #[serde(flatten)]
    pub kept: Kept,
}

/// What is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Rules without a label.
    pub bare_rules: Share,
    /// Rules with one.
    pub labelled_rules: Share,
    /// Values that weren't replaced so far, said first without a label.
    pub bare_values: Share,
    /// And with one.
    pub labelled_values: Share,
    /// Replaced values that are shown in order, or only with the new value.
    pub replaced: Share,
    /// Replaced values whose old value is shown last.
    pub old_last: Share,
    /// Tokens of the compacted request, of the budget.
    pub tokens: Share,
    /// Compactions that came out larger than the budget.
    pub over: u64,
}

impl Kept {
    /// Adds those of another run.
    pub fn add(&mut self, other: &Kept) {
        self.bare_rules += other.bare_rules;
        self.labelled_rules += other.labelled_rules;
        self.bare_values += other.bare_values;
        self.labelled_values += other.labelled_values;
        self.replaced += other.replaced;
        self.old_last += other.old_last;
        self.tokens += other.tokens;
        self.over += other.over;
    }
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
    /// The runs, after each compaction.
    pub rows: Vec<Row>,
    /// Sessions that couldn't be measured, and why.
    pub skipped: Vec<(String, String)>,
}

impl Figures {
    /// The sums over all runs.
    pub fn total(&self, budget: u8, round: usize) -> Kept {
        let own = self.rows.iter().filter(|row| row.budget == budget && row.round == round);
        let mut kept = Kept::default();
        own.for_each(|row| kept.add(&row.kept));
        kept
    }
}

/// Makes a smaller request of a request: at most so many tokens.
pub trait Compact {
    /// The smaller request.
    ///
    /// # Errors
    /// It can't be made.
    fn compact(&self, request: &Request, most: u64) -> Result<Request, Broken>;
}

impl<F: Fn(&Request, u64) -> Result<Request, Broken>> Compact for F {
    fn compact(&self, request: &Request, most: u64) -> Result<Request, Broken> {
        self(request, most)
    }
}

/// The library with default options; it knows nothing of earlier compactions.
#[derive(Clone, Debug)]
pub struct Library(pub Arc<dyn TokenCounter>);

impl Compact for Library {
    fn compact(&self, request: &Request, most: u64) -> Result<Request, Broken> {
        let options = Options { target: Target::Tokens(most), ..Options::default() };
        let compactor = Compactor::new(options, Arc::clone(&self.0))?;
        Ok(compactor.compact(request)?.request)
    }
}

/// Measures; `tick` is called now and then.
///
/// # Errors
/// A compaction that failed, or whose result is no request.
pub fn run(
    study: &Study,
    contender: &impl Compact,
    mut tick: impl FnMut(),
) -> Result<Figures, Broken> {
    let (mut rows, mut skipped) = (Vec::new(), Vec::new());
    for (name, session) in &study.sessions {
        let stream = Stream::long(session, LONG);
        for seed in study.seed..study.seed + study.times {
            tick();
            let ground = match Ground::of(&stream, seed) {
                Ok(ground) => ground,
                Err(Broken(why)) => {
                    skipped.push((name.clone(), why));
                    break;
                }
            };
            for budget in &study.budgets {
                for (round, kept) in measured(study, &ground, *budget, contender, &mut tick)? {
                    let session = name.clone();
                    rows.push(Row { session, seed, budget: *budget, round, kept });
                }
            }
        }
    }
    let (counter, budgets) = (study.counter.name().to_owned(), study.budgets.clone());
    Ok(Figures { version: VERSION, counter, budgets, rows, skipped })
}

/// What is kept after each of the compactions of a run.
fn measured(
    study: &Study,
    ground: &Ground<'_>,
    budget: u8,
    contender: &impl Compact,
    tick: &mut impl FnMut(),
) -> Result<Vec<(usize, Kept)>, Broken> {
    let mut entries: Vec<String> = Vec::new();
    let (mut most, mut rows) = (0, Vec::new());
    for round in 0..ROUNDS {
        tick();
        entries.extend(ground.segments[round].iter().cloned());
        let request = ground.stream.request(&entries)?;
        let count = |request: &Request| Tally::of(request, study.counter.as_ref()).total().tokens;
        if round == 0 {
            most = count(&request) * u64::from(budget) / 100;
        }
        let smaller = contender.compact(&request, most)?;
        let mut kept = ground.kept(&RequestText::by(&smaller), round + 1);
        let tokens = count(&smaller);
        kept.tokens = Share { of: tokens, all: most };
        kept.over = u64::from(tokens > most);
        rows.push((round + 1, kept));
        entries = smaller.transcript.entries().map(|entry| entry.raw().to_owned()).collect();
    }
    Ok(rows)
}
