//! What no longer holds: what people took back, what something newer may change, and what was replaced.

use std::collections::HashSet;

use super::update::{LOOK_BACK, Update, may_replace};
use super::value::Value;
use super::{Change, Ledger, Line, Speaker, Whence};

impl Line {
    /// Whether a person says for sure what is so or to be so, and nothing newer may be otherwise; or that something is
    /// otherwise by now.
    pub(crate) fn holds_by_a_person(&self) -> bool {
        if self.who != Speaker::Human || self.replaced.is_some() {
            return false;
        }
        let holds = self.is_sure && self.is_state() && self.newer.is_none();
        holds || self.change >= Change::Said || self.differs.is_some()
    }
}

impl Ledger {
    /// What persons said and took back later: the entry, the words as they stand there, and the entry
    /// that says what holds.
    pub fn superseded(&self) -> impl Iterator<Item = (u32, &str, u32)> {
        self.taken_back().map(|(line, newest)| (line.at, line.source.as_str(), newest.at))
    }

    /// What persons said and took back later, and what holds.
    pub(crate) fn taken_back(&self) -> impl Iterator<Item = (&Line, &Line)> {
        let ends = self.ends();
        let said = self.lines.iter().filter(|line| line.who == Speaker::Human);
        said.filter_map(move |line| {
            let next = &self.lines[line.replaced?];
            let newest = &self.lines[ends[line.replaced?]];
            let is_persons = next.who == Speaker::Human && newest.who == Speaker::Human;
            let sure = is_persons
                && line.text != next.text
                && !newest.is_said_with(line)
                && line.is_taken_back_by(next);
            sure.then_some((line, newest))
        })
    }

    /// What persons said and a person's newer message may change, where that isn't sure, and what is newer.
    pub(crate) fn overtaken(&self) -> impl Iterator<Item = (&Line, &Line)> {
        let struck = self.taken_back().map(|(line, _)| (line.whence(), line.source.as_str()));
        let struck: HashSet<(Whence, &str)> = struck.collect();
        let ends = self.ends();
        let said = self.lines.iter().filter(|line| line.who == Speaker::Human);
        said.filter_map(move |line| {
            let newest = &self.lines[ends[line.replaced.or(line.newer)?]];
            let may = newest.who == Speaker::Human
                && newest.text != line.text
                && !newest.is_said_with(line)
                && !struck.contains(&(line.whence(), line.source.as_str()));
            may.then_some((line, newest))
        })
    }

    /// What was said, on one line each, and was replaced since, or may have been: the ledger lists it beneath what is newer.
    pub fn outdated(&self) -> impl Iterator<Item = &str> {
        let holds = |line: &Line| {
            let last = self.said.get(&line.text).map(|at| &self.lines[*at as usize]);
            last.is_some_and(|last| last.replaced.or(last.newer).is_none())
        };
        let gone = self.lines.iter().filter(|line| line.replaced.or(line.newer).is_some());
        let gone = gone.filter(move |line| !holds(line));
        gone.map(|line| line.text.as_str())
    }

    /// The line that a person says once more, word for word, though he took it back or may have, and what that does to
    /// what is newer: `never push`, `you may push`, `never push`.
    pub(super) fn restored(&self, line: &Line) -> Option<(usize, Update)> {
        let at = *self.said.get(&line.text)? as usize;
        let same = &self.lines[at];
        let newest = self.newest(same.replaced.or(same.newer)?);
        let are_persons = same.who == Speaker::Human && line.who == Speaker::Human;
        let is_again = are_persons && same.is_sure == line.is_sure && line.is_state();
        let is_other = self.lines[newest].text != line.text && !same.is_said_with(line);
        let update = match same.replaced {
            Some(_) => Update::Replaces(vec![newest]),
            None => Update::Touches(newest),
        };
        (is_again && is_other).then_some((at, update))
    }

    /// The only line with a value that this one names as past, and gives another one for: `9090 instead of 8080`. It may be of
    /// something else, so that nothing is replaced.
    pub(super) fn named_as_past(&self, line: &Line) -> Option<usize> {
        let own = &line.subject;
        if own.gone.is_empty() || line.who < Speaker::Model {
            return None;
        }
        let is_past = |old: &Line| {
            let gives = |value: &Value| {
                own.gone.has(value.digest)
                    && own.values.iter().any(|it| it != value && it.is_like(value))
            };
            old.subject.values.iter().any(gives)
        };
        let lines = own.gone.iter().flat_map(|word| {
            let about = [&self.about, &self.besides].map(|about| about.get(&word));
            about.into_iter().flatten().flat_map(|of| of.iter().rev().take(LOOK_BACK))
        });
        let holds = |at: &usize| {
            let old = &self.lines[*at];
            let holds = old.replaced.is_none() && old.is_state() && old.who >= Speaker::Model;
            holds && !old.is_said_with(line) && is_past(old)
        };
        let mut found: Vec<usize> = lines.map(|at| *at as usize).filter(holds).collect();
        found.sort_unstable();
        found.dedup();
        let [at] = found[..] else { return None };
        may_replace(line, &self.lines[at]).then_some(at)
    }

    /// The line that stands at the end of a row of replacements.
    pub(super) fn newest(&self, mut at: usize) -> usize {
        while let Some(next) = self.lines[at].replaced {
            at = next;
        }
        at
    }

    /// The same of each line, in one pass: a line is replaced by a later one.
    pub(super) fn ends(&self) -> Vec<usize> {
        let mut ends: Vec<usize> = (0..self.lines.len()).collect();
        for at in (0..ends.len()).rev() {
            if let Some(next) = self.lines[at].replaced {
                ends[at] = ends[next];
            }
        }
        ends
    }
}
