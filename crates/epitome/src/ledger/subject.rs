//! What a sentence is about, and the exact values that it gives.

use std::ops::Range;

use super::cues::Cues;
use super::language::{Cue, english};
use super::lists::List;
use super::stem::{Term, stem};
use super::terms::{Terms, digest};
use super::value::{Sort, Value, number};
use super::words::{Form, Word, Words};

/// What a line is about.
#[expect(clippy::struct_excessive_bools, reason = "each is seen in the words by itself")]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Subject {
    /// Every word and value that it says something with.
    pub(super) bag: Terms,
    /// Those before the verb or behind `for`, `of`, `about`; all if there are none.
    pub(super) topic: Terms,
    /// Whether a topic stands where one does, and whether the sentence begins with it.
    pub(super) has_topic: bool,
    pub(super) leads: bool,
    /// Names and identifiers in the topic.
    pub(super) names: Terms,
    /// Names that stand in code.
    pub(super) coded: Terms,
    /// Words in the topic that tell it from others of the same shape, names among them.
    pub(super) marks: Terms,
    /// What is said to hold no longer.
    pub(super) gone: Terms,
    /// Words that aren't values and don't only say what kind of thing it is.
    pub(super) specific: Terms,
    /// Each word, in the order they are said.
    pub(super) chain: Vec<Said>,
    /// Whether it takes a rule back, and the words that say so.
    pub(super) lifts: bool,
    pub(super) lifting: Terms,
    /// Whether it is a label and what stands behind it.
    pub(super) is_field: bool,
    /// Whether it tells what somebody says or thinks, or what would be.
    pub(super) is_hearsay: bool,
    /// Whether it says that it answers something.
    pub(super) settles: bool,
    /// Whether it speaks of what is so by now: `these days`, `as of Monday`, `the new one`.
    pub(super) is_recent: bool,
    /// Words that aren't values.
    pub(super) words: usize,
    pub(super) values: Vec<Value>,
    /// Whether a mark parts what would be its topic from what it says: `Close, but it's 20`.
    pub(super) is_aside: bool,
    /// Whether it begins with a word that takes up what was just said: `close, but`, `hm`.
    pub(super) takes_up: bool,
    /// Whether it says what must be, may be or is to be done, or that something isn't so.
    pub(super) rules: bool,
    /// What a number counts, as it stands at or behind it: `Hz`, `copies`.
    pub(super) units: Vec<(u64, u64)>,
}

/// A word where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) word: u64,
    /// The one that it belongs to: `staging` of `staging port`.
    of: Option<u64>,
    /// The one that stands behind it: `press` of `scrap rate of the press`.
    behind: Option<u64>,
    /// Whether it goes on with what the word before it says: `port of staging`; not `port, staging`, `port is staging`.
    pub(super) goes_on: bool,
    is_name: bool,
}

/// Pictures count nothing: what stands from here on in Unicode is mostly one, where it is no letter.
const PICTURES: char = '\u{2600}';

/// What says what may be done.
const RULES: [Cue; 6] =
    [Cue::Forbids, Cue::Demands, Cue::Negates, Cue::Ought, Cue::Commands, Cue::Allows];

impl Subject {
    pub(super) fn of(words: &Words, cues: &Cues) -> Self {
        let (lifts, is_field) = (cues.has(Cue::Lifts), cues.has(Cue::Labels));
        let settles = cues.has(Cue::Answers) || words.find("whether").is_some();
        let is_hearsay = cues.has(Cue::Hearsay);
        let mut subject = Self {
            lifts,
            is_field,
            is_hearsay,
            settles,
            is_recent: cues.has(Cue::Recent),
            takes_up: cues.has(Cue::AnewBriefly),
            rules: cues.any(&RULES),
            ..Self::default()
        };
        let terms = Meanings((0..words.len()).map(|at| words.term(at)).collect());
        let lifting = cues.lifts.iter().cloned().flatten().filter_map(|at| terms.at(at));
        lifting.for_each(|term| subject.lifting.push(term.digest));
        let place = Place::of(words, cues, &terms);
        let mut at = 0;
        // Inside `for the staging port`, up to a mark or the next verb.
        let mut naming = false;
        while let Some(word) = words.get(at) {
            naming = ![Some(place.link.start), place.given].contains(&Some(at))
                && Place::names(words, at, naming);
            let role = if cues.gone.as_ref().is_some_and(|gone| gone.contains(&at)) {
                Role::Gone
            } else if naming {
                Role::Named
            } else if place.topic.contains(&at) {
                Role::Topic
            } else {
                Role::Said
            };
            at = subject.take(words, &terms, at, word, role);
        }
        subject.has_topic = !subject.topic.is_empty();
        subject.leads = place.topic.start == 0 && !place.topic.is_empty();
        let mut topic = place.topic.filter_map(|at| words.get(at));
        subject.is_aside = topic.any(|word| matches!(word.after, ',' | ';'));
        if !subject.has_topic {
            subject.topic = subject.bag.clone();
        }
        subject.values.sort();
        subject.values.dedup();
        subject
    }

    /// Takes the word at `at`; where the next one stands.
    fn take(
        &mut self,
        words: &Words,
        terms: &Meanings,
        at: usize,
        word: &Word,
        role: Role,
    ) -> usize {
        let low = words.low(at);
        let next = at + 1;
        if word.form == Form::Number || words.is(at, List::Numbers) {
            let value = number(low, words.low(next), word.form != Form::Number);
            let before = stem(words.low(at.wrapping_sub(1)));
            let unit = low.trim_start_matches(|c: char| !c.is_alphabetic());
            let unit = if unit.is_empty() && word.after == ' ' { words.low(next) } else { unit };
            // No picture: `30 ✨`.
            let is_said = unit.contains(|c: char| c.is_alphabetic() || c < PICTURES);
            if is_said && !english().says_nothing(unit) && !words.is(next, List::Numbers) {
                self.units.push((value.digest, digest(stem(unit))));
            }
            match role {
                Role::Gone => self.gone.push(value.digest),
                // `phase 2`; not `8 µA`
                Role::Topic | Role::Named
                    if value.sort == Sort::Number("")
                        && Term::is_one(before)
                        && words.get(next).is_none_or(|unit| unit.form != Form::Name) =>
                {
                    self.mark(digest(&format!("{before}{}", value.text)));
                }
                _ => self.value(value),
            }
            let unit = english().unit(stem(words.low(next))).is_some();
            return next + usize::from(unit || word.after == ' ' && is_measure(words, next));
        }
        if word.form.is_value() {
            let (text, next) = name(words, at, word);
            let is_code = word.form == Form::Identifier && is_of_code(&text, word);
            if is_code {
                self.coded.push(digest(&text));
            }
            if role != Role::Gone {
                let word = digest(&text);
                let goes_on = goes_on(words, terms, at);
                // `the admin UI`; not `use Redis`.
                let is_topic = matches!(role, Role::Topic | Role::Named);
                let of = before(words, terms, at).filter(|_| is_topic);
                self.chain.push(Said { word, of, behind: None, goes_on, is_name: true });
            }
            match role {
                Role::Gone => self.gone_words(&text),
                Role::Topic | Role::Named if Term::is_one(&text) => {
                    self.names.push(digest(&text));
                    self.specific.push(digest(&text));
                    self.mark(digest(&text));
                }
                Role::Said if !english().says_nothing(&text) => {
                    let sort = if is_code { Sort::Code } else { Sort::Literal };
                    self.value(Value::new(text, sort));
                }
                _ => {}
            }
            return next;
        }
        let Some(term) = terms.at(at) else { return next };
        let word = term.digest;
        match role {
            Role::Gone => {
                self.gone.push(word);
                self.gone.push(digest(low));
                return next;
            }
            Role::Topic | Role::Named => self.topic.push(word),
            Role::Said => {}
        }
        if term.contrasts {
            self.marks.push(word);
        }
        let of = before(words, terms, at);
        let (behind, goes_on) = (behind(words, terms, at), goes_on(words, terms, at));
        self.chain.push(Said { word, of, behind, goes_on, is_name: false });
        if !term.is_generic {
            self.specific.push(word);
        }
        self.words += 1;
        self.bag.push(word);
        next
    }

    fn mark(&mut self, word: u64) {
        self.marks.push(word);
        self.topic.push(word);
        self.bag.push(word);
    }

    fn value(&mut self, value: Value) {
        self.bag.push(value.digest);
        self.values.push(value);
    }

    fn gone_words(&mut self, text: &str) {
        self.gone.push(digest(text));
        text.split(' ').for_each(|word| self.gone.push(digest(word)));
    }

    /// Whether both speak of the same kind of thing and each says of another one: `staging port`, `production port`.
    pub(super) fn contrasts(&self, other: &Self) -> bool {
        self.chain.iter().any(|Said { word, of, .. }| {
            let Some(own) = of.filter(|own| !other.bag.has(*own)) else { return false };
            // Each of its words, and each name that something stands before, is in its bag.
            if !other.bag.has(*word) {
                return false;
            }
            let may_tell = |same: &Said| !same.is_name || same.of.is_some();
            let theirs = other.chain.iter().filter(|same| same.word == *word && may_tell(same));
            let mut theirs = theirs.peekable();
            // What it says holds no longer is the same thing's.
            let is_own = |of: u64| of == own || self.bag.has(of) || self.gone.has(of);
            let differs = |said: &Said| said.of.is_some_and(|of| !is_own(of));
            theirs.peek().is_some() && theirs.all(differs)
        })
    }

    /// Whether each says behind one word what the other doesn't say: `scrap rate of the press`, `scrap rate of the lathe`. In
    /// other words both may still be one thing.
    pub(super) fn is_of_others(&self, other: &Self) -> bool {
        let says = |one: &Self, word: u64| one.bag.has(word) || one.gone.has(word);
        self.chain.iter().any(|Said { word, behind, .. }| {
            let Some(own) = behind.filter(|own| !says(other, *own)) else { return false };
            let theirs = other.chain.iter().filter(|same| same.word == *word);
            let theirs: Vec<u64> = theirs.filter_map(|same| same.behind).collect();
            !theirs.is_empty() && theirs.iter().all(|of| *of != own && !says(self, *of))
        })
    }

    /// Whether something of its topic that tells it from others of the same shape isn't said by the other one.
    pub(super) fn is_marked_beside(&self, other: &Self) -> bool {
        // Few have any.
        self.marks.iter().any(|word| self.topic.has(word) && !other.bag.has(word))
    }

    /// Whether it gives the other's value and one more of its sort: `from 20 to 30`.
    pub(super) fn names_both(&self, other: &Self) -> bool {
        if self.values.len() < 2 {
            return false;
        }
        let of = |value: &Value| other.values.contains(value);
        let more = |value: &Value| {
            let alike = |old: &Value| match old.sort {
                Sort::Number(_) => old.is_like(value),
                _ => old.is_like(value) && self.values.len() < 4,
            };
            !of(value) && other.values.iter().any(|old| alike(old) && self.values.contains(old))
        };
        self.values.iter().any(of) && self.values.iter().any(more)
    }

    /// Whether it speaks of what `other` says holds no longer.
    pub(super) fn says_gone_of(&self, other: &Self) -> bool {
        // Hardly one says so of anything.
        if other.gone.is_empty() {
            return false;
        }
        let parts = self.values.iter().flat_map(|value| value.text.split(' ')).map(digest);
        other.gone.shared(&self.bag) > 0 || parts.into_iter().any(|part| other.gone.has(part))
    }

    /// Whether both give a value of one sort, and not the same.
    pub(super) fn differs_in_value(&self, old: &Self) -> bool {
        let (new, old) = (&self.values, &old.values);
        let same = |value: &Value| old.contains(value) && !value.is_literal();
        let other =
            |value: &Value| !old.contains(value) && old.iter().any(|old| old.is_like(value));
        !new.iter().any(same) && new.iter().any(other)
    }
}

/// What each word of a sentence says of its subject.
struct Meanings(Vec<Option<Term>>);

impl Meanings {
    fn at(&self, at: usize) -> Option<Term> {
        self.0.get(at).copied().flatten()
    }
}

/// What a word does in its sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Before the verb.
    Topic,
    /// Behind `for`, `of`, `about`.
    Named,
    /// Anything else.
    Said,
    /// What holds no longer.
    Gone,
}

/// Where the topic stands.
struct Place {
    link: Range<usize>,
    topic: Range<usize>,
    /// Where a value stands that a preposition before it would make a topic.
    given: Option<usize>,
}

impl Place {
    fn at(link: &Range<usize>, topic: Range<usize>) -> Self {
        Self { link: link.clone(), topic, given: None }
    }

    fn of(words: &Words, cues: &Cues, terms: &Meanings) -> Self {
        let says = |from: usize, to: usize| {
            (from..to).any(|at| {
                let plain = words.get(at).is_some_and(|word| word.form == Form::Plain);
                plain && terms.at(at).is_some()
            })
        };
        let end = words.len();
        // `9021 is better` is about whatever was said before it.
        if let Some(link) = cues.links.first().filter(|link| is_praise(words, link.end)) {
            return Self::at(link, end..end);
        }
        if let Some(set) = set_to(words) {
            if says(set.topic.start, set.topic.end) {
                return set;
            }
            // `Put it in settings.toml`
            if set.given.is_some() {
                return Self { topic: end..end, ..set };
            }
        }
        // The first verb with something to speak of before it.
        if let Some(link) = cues.links.iter().find(|link| link.start > 0 && says(0, link.start)) {
            // Its own clause, if that names something.
            let ends = |at: usize| {
                words.get(at).is_some_and(|word| matches!(word.after, ',' | ';' | ':'))
                    || words.low(at) == "that"
            };
            let begin = (0..link.start).rev().find(|at| ends(*at)).map_or(0, |at| at + 1);
            let begin = if says(begin, link.start) { begin } else { 0 };
            return Self::at(link, begin..link.start);
        }
        let named = |to: usize| (0..to).any(|at| words.get(at).is_some_and(|w| w.form.is_value()));
        match cues.links.first() {
            // `Dana owns billing`
            Some(link) if named(link.start) => Self::at(link, link.end..end),
            Some(link) => Self::at(link, end..end),
            None => Self::at(&(end..end), end..end),
        }
    }

    /// Whether the word at `at` stands behind `for` and the like, where the one before did as said.
    fn names(words: &Words, at: usize, naming: bool) -> bool {
        let Some(before) = at.checked_sub(1) else { return false };
        let goes_on = words.get(before).is_none_or(|before| before.after == ' ');
        let of = words.low(before) == "of" && before > 0 && words.low(before - 1) == "as";
        (naming && goes_on && !words.is(at, List::NameEnds))
            || (words.is(before, List::About) && !of)
    }
}

/// The word that says something right before the one at `at`.
fn before(words: &Words, terms: &Meanings, at: usize) -> Option<u64> {
    let before = at.checked_sub(1)?;
    // `3.2 arcsec`, `4.7 arcsec`: a number tells no two things apart.
    words.get(before).filter(|word| word.after == ' ' && word.form != Form::Number)?;
    terms.at(before).map(|term| term.digest)
}

/// The word that says something behind the one at `at` and a preposition.
fn behind(words: &Words, terms: &Meanings, at: usize) -> Option<u64> {
    let is_joined = |at: usize| words.get(at).is_some_and(|word| word.after == ' ');
    if !is_joined(at) || !is_joined(at + 1) || !words.is(at + 1, List::About) {
        return None;
    }
    let at = at + 2 + usize::from(words.is(at + 2, List::Articles) && is_joined(at + 2));
    let word = words.get(at)?;
    match terms.at(at) {
        Some(term) => Some(term.digest),
        None if word.form.is_value() && word.form != Form::Number => {
            Some(digest(&name(words, at, word).0))
        }
        None => None,
    }
}

/// Whether the word at `at` stands right behind another one that says something, or `of` and the like are between.
fn goes_on(words: &Words, terms: &Meanings, at: usize) -> bool {
    let is_joined = |at: &usize| words.get(*at).is_some_and(|word| word.after == ' ');
    let before = |at: usize| at.checked_sub(1).filter(is_joined);
    let Some(mut last) = before(at) else { return false };
    if words.is(last, List::Articles) {
        let Some(further) = before(last) else { return false };
        last = further;
    }
    let says = |at: usize| {
        terms.at(at).is_some() || words.get(at).is_some_and(|word| word.form.is_value())
    };
    says(last) || words.is(last, List::About) && before(last).is_some_and(says)
}

/// `Set the retry limit to 5`, `put the cache in /var/tmp`: what stands between the two is what it is about.
fn set_to(words: &Words) -> Option<Place> {
    let begin = (0..words.len()).find(|at| {
        let leads =
            [List::Polite, List::Notices, List::Fillers].iter().any(|list| words.is(*at, *list));
        let is_verb = words.is(*at, List::SetsTo) || words.is(*at, List::PutsIn);
        is_verb || !leads && words.low(*at) != "let's"
    })?;
    let is_link = |at: usize| match words.low(at) {
        "to" => words.is(begin, List::SetsTo),
        "in" | "into" | "under" | "on" => words.is(begin, List::PutsIn),
        _ => false,
    };
    let link = (begin + 2..words.len()).rev().find(|at| is_link(*at))?;
    let is_value = |at: usize| words.get(at).is_some_and(|word| word.form.is_value());
    let given = (link + 1..words.len().min(link + 4)).find(|at| is_value(*at))?;
    let given = words.is(begin, List::PutsIn).then_some(given);
    Some(Place { link: link..link + 1, topic: begin + 1..link, given })
}

/// Whether nothing follows but that it is better so.
fn is_praise(words: &Words, at: usize) -> bool {
    at + 1 == words.len() && matches!(words.low(at), "better" | "best" | "right" | "correct")
}

/// Whether the word behind a number is written as measures are: `dB`, `keV`, `mg/kg`.
fn is_measure(words: &Words, at: usize) -> bool {
    let (Some(word), low) = (words.get(at), words.low(at)) else { return false };
    let (one, per) = low.split_once('/').unwrap_or((low, ""));
    let is_short = |part: &str| part.chars().count() < 4 && part.chars().all(char::is_alphabetic);
    let is_apart = !words.is(at, List::Numbers) && !words.is(at, List::Months);
    word.form.is_value() && !word.quoted && is_short(one) && is_short(per) && is_apart
}

/// Whether a name stands in code, and isn't one as `GraphQL`.
fn is_of_code(text: &str, word: &Word) -> bool {
    word.quoted || text.contains(['_', '(', ':', '-'])
}

/// A name of one or several words, and where the next word stands.
fn name(words: &Words, at: usize, word: &Word) -> (String, usize) {
    let mut text = words.low(at).trim_end_matches("'s").to_owned();
    let mut next = at + 1;
    let goes_on = |at: usize| words.get(at - 1).is_some_and(|word| word.after == ' ');
    while word.form == Form::Name
        && goes_on(next)
        && words.get(next).is_some_and(|next| next.form == Form::Name)
    {
        text.push(' ');
        text.push_str(words.low(next));
        next += 1;
    }
    (text, next)
}
