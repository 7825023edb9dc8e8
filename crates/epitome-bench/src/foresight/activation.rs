//! Activation: which exact strings of a session are likely to be needed, by how often, how lately and by whom they were said.

use std::collections::{HashMap, HashSet};

use epitome::text::specifics::specifics;

use crate::passage::{Passage, Who};

/// What a mention by a person, by the model and by anybody else counts.
const PERSON: f64 = 2.0;
const MODEL: f64 = 1.0;
const OTHERS: f64 = 1.0 / 3.0;

/// An exact string and its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Weighted {
    /// The string.
    pub text: String,
    /// The sum over its mentions, one for each part, of what a mention counts by the root of its age. Age is the number of
    /// units from the newest, which is 1 (base-level activation, Anderson & Schooler 1991).
    pub weight: f64,
}

/// The exact strings of `passages`, of which there are `units`, the heaviest first.
pub fn weighted(passages: &[Passage], units: usize) -> Vec<Weighted> {
    let mut weights: HashMap<&str, f64> = HashMap::new();
    for passage in passages.iter().filter(|passage| passage.who.counts()) {
        let mention = match passage.who {
            Who::Person => PERSON,
            Who::Model => MODEL,
            _ => OTHERS,
        };
        let age = units.saturating_sub(passage.unit).max(1);
        let weight = mention / (age as f64).sqrt();
        let distinct: HashSet<&str> = specifics(&passage.text).map(|found| found.text).collect();
        for text in distinct {
            *weights.entry(text).or_default() += weight;
        }
    }
    let all = weights.into_iter();
    let mut all: Vec<Weighted> =
        all.map(|(text, weight)| Weighted { text: text.to_owned(), weight }).collect();
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.text.cmp(&b.text)));
    all
}
