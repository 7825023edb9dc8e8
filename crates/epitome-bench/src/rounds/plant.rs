//! What is planted: rules and values that a person says, and where.

use super::words::{Words, one, value};
use crate::dice::Dice;

/// Rules, values, and values that change, in each run.
pub const RULES: usize = 10;
/// Values that stay as they are.
pub const VALUES: usize = 6;
/// Values that a later message replaces.
pub const CHANGES: usize = 4;

/// How a plant is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// In a message of its own.
    Alone,
    /// Between other sentences.
    Within,
}

/// A sentence that a person says somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saying {
    /// The sentence without its label.
    pub sentence: String,
    /// The label, if it has one.
    pub label: Option<String>,
    /// How it is said.
    pub manner: Manner,
    /// In which segment of the session: 0 is compacted first, 1 is appended after the first compaction.
    pub segment: usize,
    /// Where in its segment, in thousandths.
    pub place: usize,
}

impl Saying {
    /// The sentence with its label.
    pub fn text(&self) -> String {
        match &self.label {
            Some(label) => format!("{label}: {}", self.sentence),
            None => self.sentence.clone(),
        }
    }
}

/// What is planted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plant {
    /// A rule.
    Rule(Saying),
    /// The value of a subject.
    Value {
        /// What it is the value of.
        subject: String,
        /// The value.
        value: String,
        /// Where it is said.
        saying: Saying,
        /// The later value, and where that is said.
        change: Option<(String, Saying)>,
    },
}

impl Plant {
    /// All that is said of it.
    pub fn sayings(&self) -> impl Iterator<Item = &Saying> {
        let (first, second) = match self {
            Plant::Rule(saying) => (saying, None),
            Plant::Value { saying, change, .. } => {
                (saying, change.as_ref().map(|(_, saying)| saying))
            }
        };
        std::iter::once(first).chain(second)
    }

    /// Whether it has a label when it is said first.
    pub fn is_labelled(&self) -> bool {
        self.sayings().next().is_some_and(|saying| saying.label.is_some())
    }
}

/// Draws the plants of a run; `is_said` tells what the session says anyway.
pub fn plants(words: &Words, dice: &mut Dice, is_said: impl Fn(&str) -> bool) -> Vec<Plant> {
    let saying =
        |sentence: String, is_labelled: bool, at: (usize, usize, usize), dice: &mut Dice| {
            let (segment, from, to) = at;
            let label = is_labelled.then(|| one(&words.labels, dice).to_owned());
            let manner = if dice.one_in(2) { Manner::Alone } else { Manner::Within };
            Saying { sentence, label, manner, segment, place: from + dice.below(to - from) }
        };
    let mut found = Vec::new();
    let mut templates: Vec<&String> = words.rules.iter().collect();
    shuffle(&mut templates, dice);
    for at in 0..RULES {
        let template = templates[at % templates.len()];
        let sentence = fresh(&is_said, || words.filled(template, &[], dice));
        found.push(Plant::Rule(saying(sentence, at % 2 == 1, (0, 0, 1_000), dice)));
    }
    let mut subjects: Vec<_> = words.subjects.iter().collect();
    shuffle(&mut subjects, dice);
    for (at, (subject, shape)) in subjects.into_iter().take(VALUES + CHANGES).enumerate() {
        let old = fresh(&is_said, || value(*shape, dice));
        let changes = at >= VALUES;
        let given = [("subject", subject.as_str()), ("value", old.as_str())];
        let sentence = words.filled(one(&words.values, dice), &given, dice);
        let until = if changes { 500 } else { 1_000 };
        let first = saying(sentence, at % 2 == 1, (0, 0, until), dice);
        let change = changes.then(|| {
            let new = fresh(|new| new == old || is_said(new), || value(*shape, dice));
            let given = [("subject", subject.as_str()), ("value", new.as_str())];
            let sentence = words.filled(one(&words.changes, dice), &given, dice);
            // Every other change is said after the first compaction, or after the second.
            let segment = [0, 1, 0, 2][at % 4];
            let from = if segment == 0 { 600 } else { 0 };
            let second = saying(sentence, at / 2 % 2 == 1, (segment, from, 1_000), dice);
            (new, second)
        });
        let (subject, value) = (subject.clone(), old);
        found.push(Plant::Value { subject, value, saying: first, change });
    }
    found
}

/// The first of several draws that nobody has said, if there is one.
fn fresh(is_said: impl Fn(&str) -> bool, mut draw: impl FnMut() -> String) -> String {
    const TRIES: usize = 20;
    let mut drawn = draw();
    for _ in 0..TRIES {
        if !is_said(&drawn) {
            break;
        }
        drawn = draw();
    }
    drawn
}

fn shuffle<T>(list: &mut [T], dice: &mut Dice) {
    for at in (1..list.len()).rev() {
        list.swap(at, dice.below(at + 1));
    }
}
