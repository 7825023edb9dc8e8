//! Which older line a newer one may change. Where that isn't sure both stay, and whoever reads the older is told of the
//! newer.
//!
//! Two things tell it, whatever the words. Where it stands: right behind a statement ([`behind`](super::behind)). And what it
//! shares: later, a word that hardly another line has.

use super::judge::asks;
use super::lists::List;
use super::subject::Subject;
use super::sure::Pair;
use super::update::{MOST_BRIEF, Newer, Update};
use super::value::{Sort, Value};
use super::words::Words;
use super::{Change, Kind, Ledger, Line, Speaker};

/// A sentence of more words says more than what changed.
const MAX_WORDS: usize = 18;

impl Ledger {
    /// Which of `candidates` the line may change; or what was said just before it, which it may surely change.
    pub(super) fn may_change(&self, newer: &Newer<'_>, candidates: &[usize]) -> Option<Meant> {
        let behind = self.behind(newer.line);
        if behind.is_some_and(|meant| meant.is_sure) {
            return behind;
        }
        let noted = |at| Meant { at, is_sure: false };
        // The one that leads by what words and values are worth; or that shares most, of several the newest.
        if let Some(at) = self.linked(newer, candidates) {
            return Some(noted(at));
        }
        // What says that it takes back what was just said is about that.
        if newer.line.change == Change::OfLast && behind.is_some() {
            return behind;
        }
        let mut found = None;
        for at in candidates.iter().rev().copied() {
            let least = found.map_or(0, |(shared, _)| shared);
            let old = &self.lines[at];
            let touches = || self.touches(newer, old, least).filter(|_| newer.line.is_sure);
            let shared = self.shares(newer, old, least).or_else(touches);
            found = shared.map(|shared| (shared, at)).or(found);
        }
        let found = found.map(|(_, at)| noted(at)).or(behind);
        let framed = || self.framed(newer.line);
        found.or_else(|| framed().or_else(|| self.alone_of(newer, candidates)).map(noted))
    }

    /// The only one of `candidates` that speaks of all that the line is about, be it no more than what many things are
    /// called, and gives a value that the line's may stand for: `Tests live in test/`, `Tests were moved to spec/`.
    fn alone_of(&self, newer: &Newer<'_>, candidates: &[usize]) -> Option<usize> {
        let new = newer.line;
        let own = &new.subject;
        // Models and tools say much of things that are called so.
        let says = new.who == Speaker::Human
            && new.change >= Change::Said
            && new.kind != Kind::Constraint
            && own.words < MOST_BRIEF;
        if !says || asks(&new.text) {
            return None;
        }
        let is_name = |word: u64| own.is_value(word) || own.names.has(word);
        let topic: Vec<u64> = own.topic.iter().filter(|word| !is_name(*word)).collect();
        let is_of_it = |at: &usize| {
            let old = &self.lines[*at];
            let theirs = &old.subject;
            let gives_another = || own.stands_for(theirs) || own.gives_other_name(theirs);
            topic.iter().all(|word| theirs.bag.has(*word))
                && matches!(old.who, Speaker::Model | Speaker::Human)
                && theirs.words < MOST_BRIEF
                && !new.is_said_with(old)
                && !own.contrasts(theirs)
                && !theirs.is_hearsay
                && gives_another()
        };
        if topic.is_empty() {
            return None;
        }
        let mut of_it = candidates.iter().copied().filter(is_of_it);
        of_it.next().filter(|_| of_it.next().is_none())
    }

    /// What a line does of which nobody knows what it is.
    pub(super) fn update_besides(&self, line: &Line) -> Update {
        if line.subject.words > MAX_WORDS {
            return Update::New;
        }
        let (newer, candidates) = self.candidates(line);
        if line.who < Speaker::Human && !line.says_so() {
            // What is done or answered by now nobody needs to say so of.
            let is_open = |at: &usize| !self.lines[*at].is_state();
            let open: Vec<usize> = candidates.into_iter().filter(is_open).collect();
            return self.linked(&newer, &open).map_or(Update::New, Update::Touches);
        }
        let anew = self.said_anew(&newer, &candidates);
        if anew.is_empty() {
            return self.nearest(line, self.may_change(&newer, &candidates).into());
        }
        self.nearest(line, Update::Replaces(anew))
    }

    /// Whether `new`, said later, may change `old`: how many words they share, if more than `least`.
    fn shares(&self, newer: &Newer<'_>, old: &Line, least: usize) -> Option<usize> {
        let new = newer.line;
        let (own, theirs) = (&new.subject, &old.subject);
        let is_persons = new.who == Speaker::Human;
        if old.who > new.who || !is_persons && !new.says_so() {
            return None;
        }
        let both = own.bag.shared(&theirs.bag);
        if both <= least || new.is_said_with(old) || own.words > MAX_WORDS {
            return None;
        }
        if own.contrasts(theirs) {
            return None;
        }
        let is_asked = old.kind == Kind::Question && asks(&old.text);
        if asks(&new.text) || is_asked {
            return None;
        }
        let pair = Pair::of(self, newer, old);
        // It gives the old value and another one, and says of what; or it says most of the same again.
        let names = own.names_both(theirs) || own.names_value_of(theirs);
        let is_whole = !own.leaves_out(theirs) || !theirs.leaves_out(own);
        let again = is_persons && pair.shared > 2 && pair.rare > 1 && pair.covers(60, 34);
        if pair.rare > 0 && names || again && is_whole {
            return Some(both);
        }
        if !pair.is_told || old.who == Speaker::System {
            return None;
        }
        let chosen = || {
            let is_short = own.words < MOST_BRIEF && theirs.words < MOST_BRIEF;
            let says = new.change >= Change::Said || !new.kind.is_task() && new.says_so();
            // Values of which neither can stand for the other are of different things.
            let is_unfit = own.gives_any() && theirs.gives_any();
            says && is_short && old.is_state() && !is_unfit
        };
        let ends = is_persons || new.who == Speaker::Model && new.change >= Change::Said;
        let ends = ends && theirs.says_gone_of(own);
        (own.stands_for(theirs) || ends || is_persons && chosen()).then_some(both)
    }
}

/// An older line that a newer one may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meant {
    pub(super) at: usize,
    /// Whether place and shape make it sure.
    pub(super) is_sure: bool,
}

impl From<Option<Meant>> for Update {
    fn from(meant: Option<Meant>) -> Self {
        match meant {
            Some(Meant { at, is_sure: true }) => Update::Corrects(at),
            Some(Meant { at, .. }) => Update::Touches(at),
            None => Update::New,
        }
    }
}

impl Line {
    /// Whether it says how something is, not what is to be done or asked.
    pub(super) fn is_state(&self) -> bool {
        !self.kind.is_task() && self.kind != Kind::Question
    }

    /// Whether it says in any word that something changed, or is so by now.
    pub(super) fn says_so(&self) -> bool {
        self.change > Change::None || self.subject.is_recent
    }
}

/// What a sentence gives: what it is about, a value, or neither alone.
pub(super) enum Gives {
    Subject,
    Value,
    Both,
}

/// What a sentence of a brief message gives.
pub(super) fn gives(sentence: &str) -> Gives {
    let words = Words::of(sentence);
    let is_value = |at: usize| {
        words.get(at).is_some_and(|word| word.form.is_value()) || words.is(at, List::Numbers)
    };
    let values = (0..words.len()).filter(|at| is_value(*at)).count();
    let says = (0..words.len()).filter(|at| !is_value(*at) && words.term(*at).is_some()).count();
    let most = usize::from(words.is(0, List::Pointers));
    match (values, says) {
        (0, 1..) => Gives::Subject,
        (1.., says) if says <= most => Gives::Value,
        _ => Gives::Both,
    }
}

impl Subject {
    /// Whether it gives a value other than a day.
    pub(super) fn gives_any(&self) -> bool {
        self.values.iter().any(|value| value.sort != Sort::Day)
    }

    /// Whether it gives a value that may stand for one of the other's.
    pub(super) fn stands_for(&self, other: &Self) -> bool {
        self.values.iter().any(|own| self.has_for(own, other))
    }

    /// Whether each gives a name that the other doesn't say, and neither a figure.
    fn gives_other_name(&self, other: &Self) -> bool {
        let other_name = |one: &Self, two: &Self| {
            let values = one.values.iter().filter(|value| value.is_literal());
            let names = one.names.iter().chain(values.map(|value| value.digest));
            names.into_iter().any(|name| !two.bag.has(name))
        };
        let has_figure = |of: &Self| of.figures().next().is_some();
        !has_figure(self)
            && !has_figure(other)
            && other_name(self, other)
            && other_name(other, self)
    }

    /// Whether its value `own` may stand for one of the other's, of the same unit or made alike, which it doesn't give.
    pub(super) fn has_for(&self, own: &Value, other: &Self) -> bool {
        let is_one = |old: &Value| {
            let is_of_one = || own.sort == old.sort && own.sort != Sort::Number("");
            own.is_one_with(old)
                && (own.is_literal() || is_of_one() || self.unit(own) == other.unit(old))
        };
        !other.values.contains(own) && other.values.iter().any(is_one)
    }

    /// Whether a number of it counts that.
    pub(super) fn is_unit(&self, word: u64) -> bool {
        self.units.iter().any(|(_, unit)| *unit == word)
    }

    /// What a number of it counts.
    pub(super) fn unit(&self, value: &Value) -> Option<u64> {
        self.units.iter().find(|(of, _)| *of == value.digest).map(|(_, unit)| *unit)
    }
}

impl Value {
    /// Whether both are of one make: two addresses, two codes, two numbers of one measure and much the same length.
    pub(super) fn is_one_with(&self, other: &Self) -> bool {
        match (self.sort, other.sort) {
            (Sort::Code, Sort::Code) => false,
            // A person needs no backticks for what the model put into some; what is only a word in code is its name.
            (Sort::Code, Sort::Literal) | (Sort::Literal, Sort::Code) => {
                let make = Make::of(&self.text);
                make == Make::of(&other.text) && !matches!(make, Make::Name | Make::Path)
            }
            (Sort::Literal, Sort::Literal) => Make::of(&self.text) == Make::of(&other.text),
            (Sort::Number(""), Sort::Number("")) => self.text.len().abs_diff(other.text.len()) < 2,
            (Sort::Number("t" | "d"), Sort::Number("t" | "d")) => true,
            (a, b) => a == b,
        }
    }
}

/// What a name is made like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Make {
    Address,
    Mail,
    Path,
    Code,
    Name,
}

impl Make {
    fn of(text: &str) -> Self {
        if text.contains("://") {
            Self::Address
        } else if text.contains('@') {
            Self::Mail
        } else if text.contains('/') {
            Self::Path
        } else if text.contains(|c: char| c.is_ascii_digit()) {
            Self::Code
        } else {
            Self::Name
        }
    }
}
