//! What comes next is about another thing of the same shape, or may be: `server A has 16 GB`, `server B has 32 GB`.
//!
//! Of another thing nothing is said that this one said; of one that may be another both stay, and the older says which
//! one is newer.

use std::collections::HashSet;

use super::behind::words;
use super::language::english;
use super::lists::List;
use super::stem::Term;
use super::subject::Subject;
use super::terms::{Terms, digest};
use super::update::Update;
use super::value::{Sort, Value};
use super::{Change, Kind, Ledger, Line, Speaker};

/// Of so many things that only one of two deeds names nobody knows which stands for which.
const LEAST_OWN: usize = 2;

impl Ledger {
    /// An update without the lines that say the same of another thing, and that replaces none which may.
    pub(super) fn apart(&self, line: &Line, update: Update) -> Update {
        let own = &line.subject;
        // What was asked for behind it may be something else, unless it is named.
        let names =
            |old: &Subject| own.topic.iter().any(|word| !own.is_unit(word) && old.bag.has(word));
        let may_answer = |at: usize| !names(&self.lines[at].subject) && self.answers(line, at);
        // `No, 9021.` names nothing, and is of whatever was said.
        let is_figure = |word: u64| own.figures().any(|value| value.digest == word);
        if line.who == Speaker::Human && !own.bag.is_empty() && own.bag.iter().all(is_figure) {
            return match &update {
                Update::Replaces(olds) => match olds.iter().rfind(|at| may_answer(**at)) {
                    Some(old) => Update::Differs(*old),
                    None => update,
                },
                _ => update,
            };
        }
        let is_another = |at: &usize| {
            let old = &self.lines[*at];
            let goes_on = line.kind != old.kind && line.kind.is_task() && old.kind.is_task();
            line.is_of_another_than(old) || !goes_on && line.adds_to(old)
        };
        let may_be_another =
            |at: &usize| line.may_be_of_another_than(&self.lines[*at]) || may_answer(*at);
        match update {
            Update::Replaces(mut olds) => {
                olds.retain(|at| !is_another(at));
                match olds.iter().rfind(|at| may_be_another(at)) {
                    Some(old) => Update::Differs(*old),
                    None if olds.is_empty() => Update::New,
                    None => Update::Replaces(olds),
                }
            }
            Update::Corrects(old) if may_be_another(&old) => Update::Differs(old),
            Update::Touches(old) | Update::Differs(old) if line.forbids_more(&self.lines[old]) => {
                Update::New
            }
            update if update.olds().any(|at| is_another(&at)) => Update::New,
            update => update,
        }
    }
}

impl Line {
    /// Whether both say the same of two things: `server A has 16 GB`, `server B has 32 GB`. Each names its own, or they differ
    /// before the verb, by no word that only says when, and behind it.
    pub(super) fn is_of_another_than(&self, old: &Self) -> bool {
        if self.names_another_than(old) {
            return true;
        }
        let of = |text: &str| -> Vec<String> {
            words(text).filter(|word| !english().has(List::Fillers, word)).collect()
        };
        let (own, theirs) = (of(&self.text), of(&old.text));
        if own.len() != theirs.len() {
            return false;
        }
        let is_bare = |word: &str| english().has(List::Determiners, word);
        let is_same = |(a, b): &(&String, &String)| {
            a == b || meaning(a) == meaning(b) || is_bare(a) || is_bare(b)
        };
        let pairs = own.iter().zip(&theirs);
        let verb = pairs.clone().position(|(a, b)| a == b && english().has(List::Predicates, a));
        let Some(verb) = verb else { return false };
        // One word, and the rest is the same.
        let differ = pairs.clone().take(verb).filter(|pair| !is_same(pair)).count();
        let rest = pairs.skip(verb).filter(|pair| !is_same(pair));
        let is_figure = |word: &str| word.contains(|c: char| c.is_ascii_digit());
        let figures = rest.clone().filter(|(a, b)| is_figure(a) && is_figure(b)).count();
        differ == 1 && figures > 0 && rest.count() == figures
    }

    /// Whether each gives a figure of another thing of one kind, however it puts it: of `server A` and `server B`, of staging
    /// and production.
    fn names_another_than(&self, old: &Self) -> bool {
        let gives = |line: &Self| line.subject.values.iter().any(|value| !value.is_literal());
        if !gives(self) || !gives(old) {
            return false;
        }
        let apart = |own: &[(String, String)], theirs: &[(String, String)]| {
            let is_new = |(kind, name): &&(String, String)| {
                let of_kind = || theirs.iter().filter(|(of, _)| of == kind);
                of_kind().next().is_some() && of_kind().all(|(_, other)| other != name)
            };
            own.iter().any(|one| is_new(&one))
        };
        let both = |own: &[_], theirs: &[_]| apart(own, theirs) && apart(theirs, own);
        // `Actually, room 8` may well be in the place of room 7.
        let are_numbered =
            || self.change < Change::Said && both(&numbered(&self.text), &numbered(&old.text));
        both(&lettered(&self.text), &lettered(&old.text))
            || both(&opposites(&self.text), &opposites(&old.text))
            || are_numbered()
    }

    /// Whether both forbid something, and it takes nothing of that back: both hold.
    fn forbids_more(&self, old: &Self) -> bool {
        let own = &self.subject;
        let changes = own.lifts || !own.gone.is_empty() || own.figures().next().is_some();
        !changes && self.forbids() && old.forbids()
    }

    /// Whether it begins with a word that forbids.
    pub(super) fn forbids(&self) -> bool {
        let first = words(&self.text).take(2);
        self.kind == Kind::Constraint
            && first.into_iter().any(|word| english().has(List::Negations, &word))
    }

    /// Whether one of both forbids what the other wants, in the same words: `use Redis`, `don't use Redis`.
    pub(super) fn contradicts(&self, old: &Self) -> bool {
        let (own, theirs) = (&self.subject.bag, &old.subject.bag);
        let wants =
            |line: &Self| line.is_rule() || line.kind.is_task() || line.kind == Kind::Decision;
        let changes = self.subject.lifts || !self.subject.gone.is_empty() || old.subject.lifts;
        !changes
            && own.len() == theirs.len()
            && own.shared(theirs) == own.len()
            && self.forbids() != old.forbids()
            && wants(self)
            && wants(old)
    }

    /// Whether it may be of something else, or comes from whom a person isn't overruled by.
    fn may_be_of_another_than(&self, old: &Self) -> bool {
        let is_overruled =
            old.who == Speaker::Human && self.who == Speaker::Model && old.is_state();
        is_overruled
            || is_case(&self.text)
            || self.names_its_own(old)
            || self.is_of_its_own_kind(old)
            || self.is_of_another_number(old)
            || self.shares_its_verb_alone(old)
    }

    /// Whether both ask for a deed that is the same by its verb alone: `send the contract to Anna`, `send the invoice to Ben
    /// instead`. `Send it to Ben instead` names one thing of its own, and is about the contract.
    fn shares_its_verb_alone(&self, old: &Self) -> bool {
        let (own, theirs) = (&self.subject.bag, &old.subject.bag);
        let shared = own.shared(theirs);
        let first = |line: &Self| words(&line.text).next().map(|word| meaning(&word));
        let is_verb = |word| first(self) == Some(word) && first(old) == Some(word);
        let is_alone = || own.iter().filter(|word| theirs.has(*word)).all(is_verb);
        let is_own = |of: &Terms| of.len() >= shared + LEAST_OWN;
        self.kind.is_task() && old.kind.is_task() && is_own(own) && is_own(theirs) && is_alone()
    }

    /// Whether each gives a figure of a thing that another number tells apart: `put oven 4 to 200 °C instead` of oven 3. A
    /// number by itself, as in `actually, room 8`, is what changes.
    fn is_of_another_number(&self, old: &Self) -> bool {
        let (own, theirs) = (numbered(&self.text), numbered(&old.text));
        let is_other = |(kind, number): &(String, String)| {
            theirs.iter().any(|(of, _)| of == kind)
                && !theirs.contains(&(kind.clone(), number.clone()))
        };
        let is_name_of_none =
            |value: &&Value| own.iter().chain(&theirs).all(|(_, number)| *number != value.text);
        let mut new = self.subject.figures().filter(is_name_of_none);
        let before = || old.subject.figures().filter(is_name_of_none);
        own.iter().any(is_other) && new.any(|new| before().any(|old| old.is_like(new)))
    }

    /// Whether it is said as if of the last, and each speaks of a thing that the other doesn't name:
    /// `keep backups for 30 days`, `actually, keep audit logs for 365 days`.
    fn is_of_its_own_kind(&self, old: &Self) -> bool {
        let (own, theirs) = (&self.subject, &old.subject);
        let is_of_last = self.who == Speaker::Human && self.change == Change::OfLast;
        let names_it = own.names_value_of(theirs) || own.gone.shared(&theirs.bag) > 0;
        if !is_of_last || names_it || own.lifts || own.is_aside || !own.has_topic {
            return false;
        }
        // Words of one of them, its values apart, that the other one doesn't say.
        let says_more = |words: &Terms, of: &Subject, other: &Subject| {
            let is_said =
                |word: u64| other.bag.has(word) || own.gone.has(word) || of.is_value(word);
            words.iter().any(|word| !is_said(word))
        };
        says_more(&own.specific, own, theirs) && says_more(&theirs.bag, theirs, own)
    }

    /// Whether it gives a figure in the place of one, and names somebody or something of its own: `make Bob 45 seconds`,
    /// `make the export one 9090`. It may be of that, or only told by it.
    fn names_its_own(&self, old: &Self) -> bool {
        let (own, theirs) = (&self.subject, &old.subject);
        let gives = |of: &Subject| of.figures().any(|value| value.sort != Sort::Literal);
        if !gives(own) || !gives(theirs) {
            return false;
        }
        let said: HashSet<u64> = words(&old.text).map(|word| meaning(&word)).collect();
        let is_new = |word: &str| !said.contains(&meaning(word)) && !own.gone.has(digest(word));
        let is_name =
            |value: &Value| value.sort == Sort::Literal && value.text.split(' ').all(is_new);
        let all: Vec<String> = words(&self.text).collect();
        let is_one = |three: &[String]| three[0] == "the" && three[2] == "one" && is_new(&three[1]);
        own.values.iter().any(is_name) || all.windows(3).any(is_one)
    }
}

/// Whether a sentence says what would be so in a case: `If 8080 is taken, the port is 9090 instead.`
pub(super) fn is_case(text: &str) -> bool {
    words(text).next().is_some_and(|word| english().has(List::Conditions, &word))
}

/// What a word means, whatever its form.
pub(super) fn meaning(word: &str) -> u64 {
    let word = word.strip_suffix("'s").unwrap_or(word);
    Term::of(word, english().id(word)).map_or_else(|| digest(word), |term| term.digest)
}

/// Things that a letter tells apart, each with its kind: `server A`.
fn lettered(text: &str) -> Vec<(String, String)> {
    let bare = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.strip_suffix("'s").unwrap_or(word).to_owned()
    };
    let all: Vec<String> = text.split_whitespace().map(bare).collect();
    let is_letter = |word: &str| matches!(word.as_bytes(), [b'A'..=b'H' | b'J'..=b'Z']);
    let pairs = all.windows(2).filter(|pair| is_letter(&pair[1]) && !is_letter(&pair[0]));
    pairs.map(|pair| (pair[0].to_lowercase(), pair[1].clone())).collect()
}

/// Things that a number tells apart, each with its kind: `room 7`.
fn numbered(text: &str) -> Vec<(String, String)> {
    let all: Vec<String> = words(text).collect();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let pairs = all
        .windows(2)
        .filter(|pair| is_number(&pair[1]) && english().has(List::Numbered, &pair[0]));
    pairs.map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

/// Things of one kind that it names, each with the first of that kind.
fn opposites(text: &str) -> Vec<(String, String)> {
    let known = words(text).filter_map(|word| {
        let known = english().known(english().id(word.strip_suffix("'s").unwrap_or(&word)));
        let name = known.alike().map_or(word, str::to_owned);
        let kind = english().known(english().id(&name)).opposite()?;
        Some((kind.to_owned(), name))
    });
    known.collect()
}
