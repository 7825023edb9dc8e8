//! Which older line a newer one most likely speaks of, where neither place, nor words in a row, nor the topic tells.
//!
//! Each word that both have counts by how few lines have it; so does a value that may stand in the other's place, and that
//! the newer says that something changed. What the newer names besides, and other lines have, speaks against it. The best one
//! must lead by a margin: of two that fit as well nobody knows which is meant. It is a note and strikes nothing; of an older line
//! that is surely something the newer one is listed as the same.

use super::cues::Cues;
use super::judge::asks;
use super::subject::Subject;
use super::sure::{ONE_OF, RARE};
use super::update::{LOOK_BACK, Newer};
use super::words::Words;
use super::{Change, Kind, Ledger, Line, Speaker};

/// A sentence of more words says more than what changed.
const MAX_WORDS: usize = 20;
/// What a word is worth that one, two, or a few lines have.
const SINGLE: usize = 6;
const PAIR: usize = 5;
const FEW: usize = 3;
/// What a value is worth that may stand for another; the old value named; and a word of change.
const FITS: usize = 4;
const NAMES: usize = 5;
const SAYS: usize = 2;
/// What the words must be worth by themselves, and all together.
const LEAST_SHARED: usize = 5;
const LEAST: usize = 9;
/// The same where neither a person says it nor anybody that something changed: tools and models say much in the same
/// words of other things.
const LEAST_UNSAID: usize = 13;
/// By how much the best one leads.
const MARGIN: usize = 2;
/// Rare words that tell by themselves what a person speaks of in a long session, and a model.
const TOLD: usize = 2;
const TOLD_BY_OTHERS: usize = 4;
/// Percent of a task's or a question's words that speak of the same one.
const MOST_OF_DEED: usize = 60;
const MOST_OF_QUESTION: usize = 40;

impl Ledger {
    /// The line that the newer one most likely speaks of.
    pub(super) fn linked(&self, newer: &Newer<'_>, candidates: &[usize]) -> Option<usize> {
        let new = newer.line;
        if new.subject.words > MAX_WORDS || new.text.ends_with(':') {
            return None;
        }
        let worth: Vec<(u64, usize, bool)> = self.worths(newer);
        if worth.iter().all(|(_, worth, _)| *worth < FEW) {
            return None;
        }
        // Among few lines most words are rare.
        let told = match new.who {
            Speaker::Human if self.lines.len() >= ONE_OF => TOLD,
            Speaker::Human => TOLD + 1,
            Speaker::Model | Speaker::System => TOLD_BY_OTHERS,
            Speaker::Tool | Speaker::Injected => usize::MAX,
        };
        let mut best: Option<(usize, usize)> = None;
        let mut second = 0;
        for at in candidates.iter().rev().copied() {
            let Some(score) = link(new, &self.lines[at], &worth, told) else { continue };
            match best {
                Some((most, _)) if score <= most => second = second.max(score),
                Some((most, _)) => (best, second) = (Some((score, at)), most),
                None => best = Some((score, at)),
            }
        }
        best.filter(|(score, _)| *score >= second + MARGIN).map(|(_, at)| at)
    }

    /// Whether a question was asked before in most of its words: what stands behind it answers it.
    pub(super) fn is_asked(&self, question: &str) -> bool {
        let words = Words::of(question);
        let bag = Subject::of(&words, &Cues::of(question, &words)).bag;
        let is_same = |at: &u32| {
            let old = &self.lines[*at as usize];
            let is_open = old.kind == Kind::Question && old.replaced.is_none();
            is_open && bag.len() > 1 && old.subject.bag.shared(&bag) * 4 >= bag.len() * 3
        };
        let about = bag.iter().flat_map(|word| [self.about.get(&word), self.besides.get(&word)]);
        about.flatten().any(|lines| lines.iter().rev().take(LOOK_BACK).any(is_same))
    }

    /// What each word of the newer one is worth where another line has it, and whether it is no mere value.
    fn worths(&self, newer: &Newer<'_>) -> Vec<(u64, usize, bool)> {
        let own = &newer.line.subject;
        let most = RARE.max(self.lines.len() / ONE_OF);
        let counted = own.bag.iter().zip(&newer.counts);
        counted
            .map(|(word, lines)| {
                let worth = match *lines {
                    0 => 0,
                    1 => SINGLE,
                    2 => PAIR,
                    lines if lines <= RARE => FEW,
                    lines if lines <= most => 2,
                    _ => 1,
                };
                let is_figure =
                    own.values.iter().any(|value| value.digest == word && !value.is_literal());
                let is_told =
                    own.specific.has(word) || own.values.iter().any(|value| value.digest == word);
                (word, if is_told { worth } else { worth / 2 }, !is_figure)
            })
            .collect()
    }
}

/// How likely `new` speaks of `old`, if it may at all.
///
/// With `told` rare words in common it does, however it is put.
fn link(new: &Line, old: &Line, worth: &[(u64, usize, bool)], told: usize) -> Option<usize> {
    let (own, theirs) = (&new.subject, &old.subject);
    if old.who == Speaker::System || new.is_said_with(old) {
        return None;
    }
    let (mut shared, mut about, mut words, mut rare, mut against) = (0, 0, 0, 0, 0);
    for (word, worth, _) in worth.iter().filter(|(_, _, is_word)| *is_word) {
        if theirs.bag.has(*word) {
            shared += worth;
            words += 1;
            rare += usize::from(*worth >= FEW);
            // What both say of something else tells less than what both are about.
            let is_topic = |one: &Subject| !one.has_topic || one.topic.has(*word);
            about += if is_topic(own) && is_topic(theirs) { *worth } else { worth / 2 };
        } else {
            against += worth / 2;
        }
    }
    // A choice or a value ends no rule, and what a model or a tool states moves no task.
    let (ends_rule, is_report) = (new.kind == Kind::Constraint || own.lifts, new.kind.is_task());
    let is_another = match old.kind {
        Kind::Constraint => new.is_sure && !ends_rule,
        kind if kind.is_task() => new.is_sure && new.who < Speaker::Human && !is_report,
        _ => false,
    };
    if is_another || shared < FEW || own.contrasts(theirs) {
        return None;
    }
    if own.is_marked_beside(theirs) && theirs.is_marked_beside(own) {
        return None;
    }
    let says = new.says_so();
    let names = own.names_both(theirs) || own.names_value_of(theirs);
    let fits = own.stands_for(theirs);
    // Each gives a value, and neither can stand for the other.
    let is_unfit = own.gives_any() && theirs.gives_any() && !fits && !names;
    let figures = |one: &Subject| one.values.iter().any(|value| !value.is_literal());
    let fewer = own.specific.len().min(theirs.specific.len());
    let is_most = words > 1 && words * 100 >= fewer * MOST_OF_DEED;
    // What is called a task need not be one.
    let is_task = old.kind.is_task() && is_most && !(names || fits);
    match old.kind {
        Kind::Done => return None,
        Kind::Question => {
            let is_most = words * 100 >= theirs.specific.len() * MOST_OF_QUESTION;
            let is_again = asks(&new.text) && words * 100 < own.specific.len() * MOST_OF_DEED;
            if words < 2 || !is_most || is_again {
                return None;
            }
        }
        _ if asks(&new.text) => return None,
        // Whatever its state is called, what was said last of a deed is how far it is.
        _ if is_task => {
            let is_other = figures(own) && figures(theirs);
            let moves = new.kind != old.kind || own.adds_to(theirs);
            if is_other || !moves {
                return None;
            }
        }
        _ if old.who > new.who => return None,
        kind => {
            if about < if names || fits { FEW } else { LEAST_SHARED } {
                return None;
            }
            shared = about;
            let is_one = !own.leaves_out(theirs) || !own.adds_to(theirs);
            let is_chosen = new.who == Speaker::Human && says || new.change >= Change::Said;
            let is_lifted = kind == Kind::Constraint && is_most && says;
            // Who says so much of what hardly anything else is about says how it is by now, in whatever words.
            let asks_for = matches!(new.kind, Kind::Constraint | Kind::Open) && !says;
            let is_rule = kind == Kind::Constraint && !says;
            let is_told = rare >= told && !asks_for && !is_rule;
            if !(names
                || is_told
                || fits && (says || is_one && new.who == Speaker::Human)
                || is_chosen
                || is_lifted)
            {
                return None;
            }
            if !(new.is_state() && old.is_state() || names || fits || is_told) {
                return None;
            }
            // Words for words: more of them must be the same.
            if !(names || fits || is_lifted) && (is_unfit || shared < LEAST) {
                return None;
            }
        }
    }
    let is_over = new.who == Speaker::Human;
    let score = shared
        + if fits { FITS } else { 0 }
        + if names { NAMES } else { 0 }
        + if says { SAYS } else { 0 }
        + usize::from(is_over);
    let score = score.saturating_sub(against.min(LEAST));
    (score >= if is_over || says { LEAST } else { LEAST_UNSAID }).then_some(score)
}
