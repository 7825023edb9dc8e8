//! Lines that say the same few words in a row: `the matter number for the Hallam lease`.
//!
//! Whatever stands around them, two sentences that both say them speak of one thing, if hardly another line does: of a
//! task, a question, a rule or a value. Words in common that stand apart tell less.

use super::judge::asks;
use super::subject::{Said, Subject};
use super::sure::{ONE_OF, Pair, RARE, chosen};
use super::terms::Terms;
use super::update::{MOST_BRIEF, Newer};
use super::{Change, Kind, Ledger, Line, Speaker};

/// Words in a row that tell a value's name; and a deed, which is a verb and what it is done to.
const NAME: usize = 2;
const DEED: usize = 3;
/// Words of them that few lines have.
const LEAST_RARE: usize = 2;
/// Percent of a question's words.
const MOST_OF_ALL: usize = 60;
/// A person's sentence of no more words says little but the value.
const BRIEF: usize = 10;

/// The longest row of words that two lines share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Phrase {
    words: usize,
    /// Those of them that few lines have.
    rare: usize,
    /// Whether each goes on with another word: `port of staging`, `port of production`.
    parts: bool,
}

impl Ledger {
    /// The lines that say the same in a row as the newer one, which says how it is by now; oldest first.
    pub(super) fn said_anew(&self, newer: &Newer<'_>, candidates: &[usize]) -> Vec<usize> {
        let new = newer.line;
        if new.subject.chain.len() < NAME || new.text.ends_with(':') || asks(&new.text) {
            return Vec::new();
        }
        let rare = self.rare_of(newer);
        if rare.len() < LEAST_RARE {
            return Vec::new();
        }
        let mut found: Vec<(usize, usize)> = Vec::new();
        for at in candidates.iter().copied() {
            let old = &self.lines[at];
            if rare.shared(&old.subject.bag) < LEAST_RARE {
                continue;
            }
            let phrase = new.subject.phrase_in(&old.subject, &rare);
            let least = found.iter().map(|(_, words)| *words).max().unwrap_or(NAME);
            if phrase.rare >= LEAST_RARE
                && phrase.words >= least
                && self.is_anew(newer, old, phrase)
            {
                found.push((at, phrase.words));
            }
        }
        let most = found.iter().map(|(_, words)| *words).max().unwrap_or(0);
        found.retain(|(_, words)| *words == most);
        let olds: Vec<usize> = found.into_iter().map(|(at, _)| at).collect();
        // Of several values of one name nobody knows which is meant.
        let is_one = |a: &Line, b: &Line| a.subject.values == b.subject.values || !a.is_state();
        let first = olds.first().map(|at| &self.lines[*at]);
        let are_one = olds.iter().all(|at| first.is_some_and(|a| is_one(a, &self.lines[*at])));
        if are_one { olds } else { Vec::new() }
    }

    /// Whether the newer one says the same in a row as an older one that isn't in the ledger, and how it is by now.
    pub(super) fn says_anew(&self, newer: &Newer<'_>, old: &Line) -> bool {
        let phrase = newer.line.subject.phrase_in(&old.subject, &self.rare_of(newer));
        phrase.words >= NAME && phrase.rare >= LEAST_RARE && self.is_anew(newer, old, phrase)
    }

    /// Its words that few lines have.
    fn rare_of(&self, newer: &Newer<'_>) -> Terms {
        let most = RARE.max(self.lines.len() / ONE_OF);
        let mut rare = Terms::default();
        let counted = newer.line.subject.bag.iter().zip(&newer.counts);
        counted.filter(|(_, lines)| **lines <= most).for_each(|(word, _)| rare.push(word));
        rare
    }

    fn is_anew(&self, newer: &Newer<'_>, old: &Line, phrase: Phrase) -> bool {
        let new = newer.line;
        let (own, theirs) = (&new.subject, &old.subject);
        if old.who == Speaker::System
            || old.kind == Kind::Done
            || new.is_said_with(old)
            || phrase.parts
            || own.contrasts(theirs)
            || own.is_of_others(theirs)
            || own.is_marked_beside(theirs) && theirs.is_marked_beside(own)
        {
            return false;
        }
        let is_deed = phrase.words >= DEED;
        let over = new.who == Speaker::Human && old.who < Speaker::System;
        if !new.is_sure {
            // Nobody knows what it is; that a person says it of the same deed counts more than a tool's or a model's word.
            let may_pass = matches!(old.kind, Kind::Constraint | Kind::Question);
            let is_brief = own.words < MOST_BRIEF && !own.is_hearsay;
            return over
                && old.is_sure
                && is_deed
                && is_brief
                && (may_pass || old.kind.is_task())
                && !own.names_other(theirs)
                && own.adds_to(theirs);
        }
        let is_later = new.who >= old.who || new.who == Speaker::Model;
        match old.kind {
            Kind::Question => {
                let is_most = phrase.words * 100 >= theirs.words * MOST_OF_ALL;
                let states = new.is_state() || new.kind == Kind::Done;
                (is_deed || is_most) && states && own.adds_to(theirs)
            }
            kind if kind.is_task() => {
                let reports = new.who >= old.who || new.kind == Kind::Done;
                is_deed
                    && new.kind.is_task()
                    && new.kind != kind
                    && new.alone
                    && reports
                    && !own.names_other(theirs)
            }
            _ if new.spares(old) => false,
            Kind::Constraint | Kind::Decision if own.lifts => is_deed && new.who >= old.who,
            // What a person rules or chooses of the same that only a model or a tool said.
            kind if is_deed && new.kind == kind && over && chosen(new) => true,
            _ => is_later && self.is_set_anew(newer, old),
        }
    }

    /// Whether it gives another value of what both name.
    fn is_set_anew(&self, newer: &Newer<'_>, old: &Line) -> bool {
        let new = newer.line;
        let pair = Pair::of(self, newer, old);
        let is_persons = new.who == Speaker::Human;
        let names = || is_persons && new.says_so() && new.subject.names_both(&old.subject);
        if (pair.names_it || names()) && (new.is_state() || new.kind == Kind::Done) {
            return true;
        }
        if !new.is_state() || pair.is_of_another() || !pair.is_short() || new.subject.is_field {
            return false;
        }
        let is_rule = is_persons && old.who == Speaker::Human && old.kind == Kind::Constraint;
        let says = if is_persons && !is_rule { new.says_so() } else { new.change >= Change::Said };
        let is_brief = is_persons && old.who < Speaker::System && new.subject.words < BRIEF;
        let is_chosen = || new.change >= Change::Said && chosen(old) && new.who >= old.who;
        pair.differs && (says || is_brief && new.alone) || is_chosen()
    }
}

impl Subject {
    /// The longest row of words of it that stands in the other one.
    fn phrase_in(&self, other: &Self, rare: &Terms) -> Phrase {
        let (own, theirs) = (&self.chain, &other.chain);
        let mut best = Phrase::default();
        for start in 0..own.len() {
            if own.len() - start <= best.words {
                break;
            }
            for at in (0..theirs.len()).filter(|at| theirs[*at].word == own[start].word) {
                let pairs = own[start..].iter().zip(&theirs[at..]);
                let words = pairs.take_while(|(a, b)| a.word == b.word).count();
                if words <= best.words {
                    continue;
                }
                let row = &own[start..start + words];
                let goes_on =
                    |chain: &[Said], next: usize| chain.get(next).is_some_and(|said| said.goes_on);
                best = Phrase {
                    words,
                    rare: row.iter().filter(|said| rare.has(said.word)).count(),
                    parts: goes_on(own, start + words) && goes_on(theirs, at + words),
                };
            }
        }
        best
    }

    /// Whether each gives names or numbers, and none of the other's.
    fn names_other(&self, other: &Self) -> bool {
        let named = |one: &Self| !one.names.is_empty() || !one.values.is_empty();
        let same = self.names.shared(&other.bag) > 0
            || other.names.shared(&self.bag) > 0
            || self.values.iter().any(|value| other.bag.has(value.digest));
        named(self) && named(other) && !same
    }
}
