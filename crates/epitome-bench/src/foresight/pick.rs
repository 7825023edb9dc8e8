//! Picking lines and names for a budget: greedy coverage of weighted strings (Khuller, Moss & Naor 1999).

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap, HashSet};

use epitome::count::TokenCounter;
use epitome::text::specifics::specifics;

use super::activation::Weighted;
use crate::needle::says;
use crate::passage::Passage;

/// A longer line is divided between words, in bytes.
const LONG: usize = 300;

/// The lines of passages that say something of weight.
#[derive(Debug)]
pub struct Lines<'p> {
    lines: Vec<Line<'p>>,
    weights: Vec<f64>,
}

#[derive(Debug)]
struct Line<'p> {
    text: &'p str,
    tokens: u64,
    /// What it says, as places among the weights.
    says: Vec<usize>,
}

impl<'p> Lines<'p> {
    /// The lines of `passages`; of lines that are the same the newest.
    pub fn of(
        passages: impl DoubleEndedIterator<Item = &'p Passage>,
        weighted: &[Weighted],
        counter: &dyn TokenCounter,
    ) -> Self {
        let places: HashMap<&str, usize> =
            weighted.iter().enumerate().map(|(at, found)| (found.text.as_str(), at)).collect();
        let mut seen = HashSet::new();
        let mut lines = Vec::new();
        for passage in passages.rev() {
            let pieces: Vec<&str> = passage.text.lines().flat_map(pieces).collect();
            for text in pieces.into_iter().rev().map(str::trim) {
                if text.is_empty() || !seen.insert(text) {
                    continue;
                }
                let found = specifics(text).filter_map(|found| places.get(found.text).copied());
                let mut says: Vec<usize> = found.collect();
                says.sort_unstable();
                says.dedup();
                if !says.is_empty() {
                    lines.push(Line { text, tokens: counter.text(text).tokens + 1, says });
                }
            }
        }
        lines.reverse();
        Lines { lines, weights: weighted.iter().map(|found| found.weight).collect() }
    }

    /// The lines that say most for their tokens and fit in `room` together, in order.
    pub fn picked(&self, room: u64) -> Vec<&'p str> {
        let mut said = vec![false; self.weights.len()];
        let gain = |line: &Line<'_>, said: &[bool]| -> f64 {
            let unsaid = line.says.iter().filter(|at| !said[**at]);
            unsaid.map(|at| self.weights[*at]).sum::<f64>() / line.tokens as f64
        };
        let mut heap: BinaryHeap<Candidate> = self
            .lines
            .iter()
            .enumerate()
            .map(|(at, line)| Candidate { gain: gain(line, &said), at })
            .collect();
        let (mut left, mut chosen) = (room, Vec::new());
        while let Some(best) = heap.pop() {
            let line = &self.lines[best.at];
            if line.tokens > left {
                continue;
            }
            let now = gain(line, &said);
            if now <= 0.0 {
                continue;
            }
            let candidate = Candidate { gain: now, at: best.at };
            if heap.peek().is_some_and(|next| *next > candidate) {
                heap.push(candidate);
                continue;
            }
            left -= line.tokens;
            line.says.iter().for_each(|at| said[*at] = true);
            chosen.push(best.at);
        }
        chosen.sort_unstable();
        chosen.into_iter().map(|at| self.lines[at].text).collect()
    }
}

/// Lines by what they gain; of those that gain the same the newest.
#[derive(Debug)]
struct Candidate {
    gain: f64,
    at: usize,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(self.at.cmp(&other.at))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

/// The first of `strings` that `text` doesn't say and that fit in `room` together, each a line.
pub fn names<'s>(
    strings: impl Iterator<Item = &'s str>,
    text: &str,
    room: u64,
    counter: &dyn TokenCounter,
) -> Vec<&'s str> {
    let (mut left, mut chosen) = (room, Vec::new());
    let mut said = text.to_owned();
    for string in strings {
        if left == 0 {
            break;
        }
        if says(&said, string) {
            continue;
        }
        let tokens = counter.text(string).tokens + 1;
        if tokens <= left {
            left -= tokens;
            chosen.push(string);
            said.push('\n');
            said.push_str(string);
        }
    }
    chosen
}

/// A line in pieces of at most [`LONG`] bytes, divided at white space where there is some.
fn pieces(line: &str) -> Vec<&str> {
    let (mut rest, mut found) = (line, Vec::new());
    while rest.len() > LONG {
        let mut end = LONG;
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let end = match rest[..end].rfind(char::is_whitespace) {
            Some(space) if space > 0 => space,
            // One long word stays whole.
            _ => rest[end..].find(char::is_whitespace).map_or(rest.len(), |more| end + more),
        };
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    found.push(rest);
    found
}
