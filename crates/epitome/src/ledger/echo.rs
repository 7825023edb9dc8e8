//! What a model says back to a person: `I've pinned Python 3.11` behind `Use Python 3.11`.
//!
//! Both are one thing said twice. A correction that words tie to the model's line is about the person's, and the model's
//! holds no longer than theirs; a deed that is done stays done.

use super::behind::JUST;
use super::update::{LOOK_BACK, Update, may_replace};
use super::{Kind, Ledger, Line, Speaker};

impl Ledger {
    /// The update with a person's line in the place of one that only says it back; with both, where they no longer hold.
    pub(super) fn with_echoes(&self, line: &Line, update: Update) -> Update {
        match update {
            Update::New => Update::New,
            Update::Touches(old) => Update::Touches(self.said_first(line, old)),
            Update::Differs(old) => Update::Differs(self.said_first(line, old)),
            Update::Corrects(old) => Update::Corrects(self.said_first(line, old)),
            Update::Replaces(olds) => {
                let firsts = olds.iter().map(|old| self.said_first(line, *old));
                let ended = firsts.flat_map(|old| self.ended(line, old));
                let mut olds: Vec<usize> = ended.chain(olds.iter().copied()).collect();
                olds.sort_unstable();
                olds.dedup();
                Update::Replaces(olds)
            }
        }
    }

    /// What a person said, if a person takes back a line that only says it back; or that line. What a model says anew is newer
    /// than theirs, and both stay.
    pub(super) fn said_first(&self, line: &Line, old: usize) -> usize {
        let echo = &self.lines[old];
        if line.who != Speaker::Human || echo.who != Speaker::Model {
            return old;
        }
        let before = self.lines[..old].iter().enumerate().rev().take(LOOK_BACK);
        let mut near = before.take_while(|(_, first)| echo.is_right_behind(first));
        let first = near.find(|(_, first)| echo.says_back(first));
        first.map_or(old, |(at, _)| at)
    }

    /// An older line in whose place `line` stands, and what says that back.
    pub(super) fn ended(&self, line: &Line, old: usize) -> Vec<usize> {
        let ends = |at: &usize| {
            let echo = &self.lines[*at];
            echo.kind != Kind::Done && may_replace(line, echo)
        };
        [old].into_iter().chain(self.echoes(line, old).filter(ends)).collect()
    }

    /// Notes that `line`, which comes next, is newer than an older one, and than what says that one back.
    pub(super) fn note_newer(&mut self, line: &Line, old: usize) {
        let own = self.lines.len();
        let echoes: Vec<usize> = self.echoes(line, old).collect();
        for at in echoes.into_iter().chain([old]) {
            self.lines[at].newer = Some(own);
        }
    }

    /// The lines of the model that say back what a person said, and nothing that `line` says, too.
    fn echoes<'a>(&'a self, line: &'a Line, old: usize) -> impl Iterator<Item = usize> + 'a {
        let first = &self.lines[old];
        let behind = self.lines.iter().enumerate().skip(old + 1).take(LOOK_BACK);
        let near = behind.take_while(|(_, echo)| echo.is_right_behind(first));
        let is_same = |echo: &Line| {
            echo.subject.values.iter().any(|value| line.subject.bag.has(value.digest))
        };
        near.filter(move |(_, echo)| echo.says_back(first) && !is_same(echo)).map(|(at, _)| at)
    }
}

impl Line {
    /// Whether it was said where an answer to what was said in `first` stands.
    fn is_right_behind(&self, first: &Self) -> bool {
        !self.carried && !first.carried && self.at.saturating_sub(first.at) <= JUST
    }

    /// Whether it gives all values of a person's line again, and most of its words; what they say besides holds on.
    fn says_back(&self, first: &Self) -> bool {
        let is_answer = self.who == Speaker::Model
            && first.who == Speaker::Human
            && self.at > first.at
            && self.replaced.or(first.replaced).is_none();
        let (own, theirs) = (&self.subject, &first.subject);
        let is_marked = || own.is_marked_beside(theirs) && theirs.is_marked_beside(own);
        if !is_answer || own.contrasts(theirs) || is_marked() {
            return false;
        }
        let again = own.bag.shared(&theirs.bag);
        let gives = || theirs.values.iter().all(|value| own.values.contains(value));
        let least =
            if theirs.values.is_empty() { theirs.bag.len() } else { theirs.bag.len() / 2 + 1 };
        again > 1 && again >= least && gives()
    }
}
