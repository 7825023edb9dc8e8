//! What a person said stays where what comes next is about something else, or doesn't say that anything is otherwise.
//!
//! Whoever strikes out a person's words has to be sure. Where one of these holds both lines stay, and the older says which
//! one is newer.

use super::behind::words;
use super::cues::Cues;
use super::judge::asks;
use super::language::english;
use super::lists::List;
use super::subject::Subject;
use super::terms::Terms;
use super::value::{Sort, Value};
use super::words::Words;
use super::{Change, Kind, Line, Speaker};

/// What parts a sentence that says several things.
const PARTS: [&str; 8] = [", ", "; ", ": ", " and ", " or ", " nor ", " but ", " – "];
/// Words behind one of these that it may be about.
const REACH: usize = 3;

impl Line {
    /// Whether `old`, which a person said, stays whatever this one says of it.
    pub(super) fn spares(&self, old: &Self) -> bool {
        if old.who < Speaker::Human || old.kind == Kind::Question || old.kind.is_task() {
            return false;
        }
        let (own, theirs) = (&self.subject, &old.subject);
        let is_asked = self.text.ends_with('?') || asks(&self.text);
        let is_open = own.is_hearsay || theirs.is_hearsay || is_asked;
        is_open
            || old.outlasts(&self.text, own)
            || old.is_rule() && self.lifts_another(old)
            || !old.is_rule() && (self.refuses(old) || self.is_beside(old))
            || self.is_of_its_own(old)
            || self.adds_to(old)
            || self.is_of_another_than(old)
            || self.leaves_part(old)
    }

    /// Whether somebody demands it, or would like it.
    pub(super) fn is_rule(&self) -> bool {
        matches!(self.kind, Kind::Constraint | Kind::Preference)
    }

    /// Whether it is a rule about what is done to a thing, and `text` is about that thing and not about what may be done to
    /// it: a value of the thing is no word about the rule.
    pub(super) fn outlasts(&self, text: &str, said: &Subject) -> bool {
        if !self.is_rule() || said.lifts {
            return false;
        }
        let (own, deeds) = (deeds(&self.text), deeds(text));
        if own.is_empty() || said.rules && !deeds.is_empty() {
            return false;
        }
        let is_value = |word: u64| said.values.iter().any(|value| value.digest == word);
        // `Actually, make that 40` is about whatever was said.
        let is_bare = !said.bag.iter().any(|word| !is_value(word) && self.subject.bag.has(word));
        let ends = !said.gone.is_empty() && said.names_value_of(&self.subject);
        !is_bare && !ends && own.without(&deeds).next().is_some()
    }

    /// Whether a rule is lifted for a part only, on a condition, or not what it forbids: `you don't need to`.
    fn lifts_another(&self, rule: &Self) -> bool {
        let own = &self.subject;
        if !own.lifts {
            return false;
        }
        let has =
            |line: &Self, list: List| words(&line.text).any(|word| english().has(list, &word));
        let is_said =
            |word: u64| rule.subject.bag.has(word) || own.gone.has(word) || own.lifting.has(word);
        let names = own.bag.iter().any(|word| !is_said(word) && !own.is_value(word));
        has(self, List::Conditions) || names || has(rule, List::Negations) && has(self, List::Needs)
    }

    /// Whether it says that something isn't to become otherwise: `don't change the port to 9090`.
    fn refuses(&self, old: &Self) -> bool {
        let all: Vec<String> = words(&self.text).collect();
        let (own, theirs) = (&self.subject, &old.subject);
        // `Don't use Postgres, use MySQL` is about what was chosen.
        let is_chosen = || own.values.iter().any(|value| theirs.values.contains(value));
        let is_change = |word: &String| {
            english().has(List::Turns, word)
                || english().deed(word).is_some()
                || word == "use" && own.gone.is_empty() && !is_chosen()
        };
        let is_refused = |at: usize| all.iter().skip(at + 1).take(REACH).any(is_change);
        all.iter()
            .enumerate()
            .any(|(at, word)| english().has(List::Negations, word) && is_refused(at))
    }

    /// Whether somebody says what he himself does, and nothing of the older one but a value of the same make: `sorry, I'm
    /// back in 10 minutes`.
    fn is_beside(&self, old: &Self) -> bool {
        let (own, theirs) = (&self.subject, &old.subject);
        let is_value = |word: u64| own.values.iter().any(|value| value.digest == word);
        let shares = own.bag.iter().any(|word| !is_value(word) && theirs.bag.has(word));
        if shares || !own.gone.is_empty() {
            return false;
        }
        let says = |list: List| words(&self.text).any(|word| english().has(list, &word));
        says(List::Persons) && !says(List::Setting)
    }

    /// Whether it is about something of what the older one is about: `the slides for the board meeting`.
    fn is_of_its_own(&self, old: &Self) -> bool {
        let (own, theirs) = (&self.subject, &old.subject);
        let is_known = |word: u64| {
            theirs.bag.has(word)
                || own.gone.has(word)
                || own.lifting.has(word)
                || own.values.iter().any(|value| value.digest == word)
        };
        let adds = || own.topic.iter().any(|word| own.specific.has(word) && !is_known(word));
        let is_all = theirs.topic.iter().all(|word| own.topic.has(word));
        own.has_topic && theirs.has_topic && is_all && adds() && !own.names_value_of(theirs)
    }

    /// Whether it says that something is so, too.
    pub(super) fn adds_to(&self, old: &Self) -> bool {
        let is_filler = |word: &String| english().has(List::Fillers, word);
        let says = |word: &str| match word {
            // `Too many` says nothing of another one; `too now` does.
            "too" | "either" => {
                words(&self.text).filter(|word| !is_filler(word)).last().as_deref() == Some(word)
            }
            "well" => self.text.trim_end_matches(['.', '!']).ends_with(" as well"),
            word => english().has(List::Besides, word),
        };
        let ends = !self.subject.gone.is_empty() && self.subject.names_value_of(&old.subject);
        // `Also, the port is 9090 now` says something besides what was said, and not besides what it was.
        let opens = words(&self.text).next().is_some_and(|word| says(&word))
            && self.text.split(' ').next().is_some_and(|word| word.ends_with(','));
        !ends && words(&self.text).skip(usize::from(opens)).any(|word| says(&word))
    }

    /// Whether the older one says something more, with a value or a rule of its own, that this one doesn't speak of.
    fn leaves_part(&self, old: &Self) -> bool {
        // `At 10:00 in room 5` gives two.
        let is_given = |old: &Value| {
            self.subject.values.iter().any(|own| own.sort == old.sort)
                || self.subject.gone.has(old.digest)
        };
        let has_figure = |of: &Subject| of.figures().next().is_some();
        if has_figure(&self.subject) && old.subject.figures().any(|value| !is_given(value)) {
            return true;
        }
        if self.change == Change::OfLast && !self.subject.has_topic {
            return false;
        }
        let parts = parted(&old.text);
        if parts.len() < 2 {
            return false;
        }
        let own = &self.subject;
        let said = |word: u64| own.bag.has(word) || own.gone.has(word);
        let read = |part: &&str| {
            let words = Words::of(part);
            let cues = Cues::of(part, &words);
            (Subject::of(&words, &cues), cues.rules())
        };
        let parts: Vec<(Subject, bool)> = parts.iter().map(read).collect();
        let gives = |of: &Subject| of.values.iter().any(|value| said(value.digest));
        let is_other = |of: &Subject| !of.values.is_empty() && !gives(of);
        let is_left = |(of, rules): &(Subject, bool)| {
            let rules = *rules && old.kind == Kind::Constraint;
            let is_figure = |value: &Value| matches!(value.sort, Sort::Number(_));
            let tells = rules || of.values.iter().any(|it| !is_figure(it) || of.words > 0);
            tells && of.bag.iter().all(|word| !said(word))
        };
        // What is about none of it is about something else, or says so in other words.
        let is_partial = parts.iter().any(is_left) && !parts.iter().all(is_left);
        // `Speak German with Mr Huber, English with Ms Lee`, of which one is named.
        let is_named = |(of, _): &(Subject, bool)| {
            of.values.iter().any(|it| it.is_literal() && said(it.digest))
        };
        // `Alice's limit is 10, Bob's limit is 20`, of which one is named.
        let shared = |of: &Subject| {
            let is_value = |word: u64| of.values.iter().any(|value| value.digest == word);
            of.bag.iter().filter(|word| !is_value(*word) && own.bag.has(*word)).count()
        };
        let most = parts.iter().map(|(of, _)| shared(of)).max().unwrap_or(0);
        let is_fewer = |of: &Subject| has_figure(of) && !gives(of) && shared(of) < most;
        if parts.iter().any(|(of, _)| is_fewer(of)) {
            return true;
        }
        is_partial || parts.iter().any(is_named) && parts.iter().any(|(of, _)| is_other(of))
    }
}

/// What a sentence says is done, of what rules speak of: `raise` of `never raise the limit`.
fn deeds(text: &str) -> Terms {
    let mut deeds = Terms::default();
    words(text).filter_map(|word| english().deed(&word)).for_each(|deed| deeds.push(deed));
    deeds
}

/// A sentence's parts.
fn parted(text: &str) -> Vec<&str> {
    let mut parts = vec![text];
    for mark in PARTS {
        parts = parts.into_iter().flat_map(|part| part.split(mark)).collect();
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}
