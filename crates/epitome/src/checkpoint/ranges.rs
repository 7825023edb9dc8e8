//! Which messages of the whole conversation a checkpoint stands for: `2–59`, `0–7 and 9–134`.

use std::fmt::Write as _;
use std::ops::Range;

/// Message numbers, as runs in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(usize, usize)>);

/// More runs than this are written as one from the first to the last.
const MOST: usize = 24;

impl Ranges {
    /// Adds a number.
    pub(crate) fn add(&mut self, number: usize) {
        self.add_run(number, number);
    }

    /// Adds a number, and those between if there are exactly `between` of them.
    pub(super) fn add_behind(&mut self, number: usize, between: usize) {
        let follows = self.last().is_some_and(|last| last + between + 1 == number);
        self.add_run(if follows { number - between } else { number }, number);
    }

    fn add_run(&mut self, from: usize, to: usize) {
        match self.0.last_mut() {
            Some(last) if from > last.1 + 1 => self.0.push((from, to)),
            Some(last) if from >= last.0 => last.1 = last.1.max(to),
            None => self.0.push((from, to)),
            Some(_) => {
                self.0.push((from, to));
                self.0.sort_unstable();
                let mut merged: Vec<(usize, usize)> = Vec::new();
                for (from, to) in self.0.drain(..) {
                    match merged.last_mut() {
                        Some(last) if from <= last.1 + 1 => last.1 = last.1.max(to),
                        _ => merged.push((from, to)),
                    }
                }
                self.0 = merged;
            }
        }
    }

    /// Adds all numbers of `other`.
    pub(crate) fn merge(&mut self, other: &Ranges) {
        for (from, to) in &other.0 {
            self.add_run(*from, *to);
        }
    }

    /// How many numbers there are.
    pub fn count(&self) -> usize {
        self.0.iter().map(|(from, to)| to - from + 1).sum()
    }

    /// How many runs they are.
    pub(super) fn runs(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The least number.
    pub(super) fn first(&self) -> Option<usize> {
        self.0.first().map(|(from, _)| *from)
    }

    /// The greatest number.
    pub fn last(&self) -> Option<usize> {
        self.0.last().map(|(_, to)| *to)
    }

    /// Whether `number` is one of them.
    pub fn contains(&self, number: usize) -> bool {
        self.0.iter().any(|(from, to)| (*from..=*to).contains(&number))
    }

    /// Whether any number of `other` is one of them.
    pub(super) fn meets(&self, other: Range<usize>) -> bool {
        self.0.iter().any(|(from, to)| *from < other.end && *to >= other.start)
    }

    /// The first number at or behind `number` that isn't one of them.
    pub(super) fn next_outside(&self, number: usize) -> usize {
        let over = self.0.iter().find(|(from, to)| (*from..=*to).contains(&number));
        over.map_or(number, |(_, to)| to + 1)
    }

    /// The written form.
    pub(super) fn text(&self) -> String {
        let collapsed;
        let runs = if self.0.len() > MOST {
            collapsed = [(self.0[0].0, self.last().unwrap_or_default())];
            &collapsed[..]
        } else {
            &self.0[..]
        };
        let mut out = String::new();
        for (index, (from, to)) in runs.iter().enumerate() {
            let gap = match index {
                0 => "",
                _ if index + 1 == runs.len() => " and ",
                _ => ", ",
            };
            let _ = if from == to {
                write!(out, "{gap}{from}")
            } else {
                write!(out, "{gap}{from}–{to}")
            };
        }
        out
    }

    /// Reads the written form; `None` for anything else.
    pub(super) fn read(text: &str) -> Option<Self> {
        let number = |text: &str| Some(text.parse::<u32>().ok()? as usize);
        let mut ranges = Ranges::default();
        for run in text.split(", ").flat_map(|run| run.split(" and ")) {
            let (from, to) = run.split_once('–').unwrap_or((run, run));
            let (from, to) = (number(from)?, number(to)?);
            if from > to || ranges.last().is_some_and(|last| from <= last) {
                return None;
            }
            ranges.add_run(from, to);
        }
        Some(ranges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for (numbers, text) in [
            (vec![2, 3, 4], "2–4"),
            (vec![7], "7"),
            (vec![0, 1, 9, 10, 5], "0–1, 5 and 9–10"),
            (vec![3, 1, 2], "1–3"),
        ] {
            let mut ranges = Ranges::default();
            for number in &numbers {
                ranges.add(*number);
            }
            assert_eq!(ranges.text(), text);
            assert_eq!(Ranges::read(text), Some(ranges.clone()));
            assert_eq!(ranges.count(), numbers.len());
        }
        for broken in ["", "x", "5–3", "1, 1", "1–99999999999"] {
            assert_eq!(Ranges::read(broken), None, "{broken}");
        }
        let mut many = Ranges::default();
        (0..60).step_by(2).for_each(|number| many.add(number));
        assert_eq!(many.text(), "0–58");
    }
}
