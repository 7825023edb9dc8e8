//! Which older line a newer one stands for.
//!
//! A line is about its topic: the words before its verb, and behind `for`, `of`, `about`. One that takes
//! something back replaces the older lines that share its topic, unless each names something that
//! the other doesn't. Without a word of change only the same topic with another value of the same
//! sort does. `Actually, make that 40` has no topic; it means what was said just before.

use super::apart::is_case;
use super::behind::words;
use super::cues::Cues;
use super::language::Cue;
use super::subject::Subject;
use super::value::{Sort, Value};
use super::{Change, Kind, Ledger, Line, Speaker};

/// What a new line does to older ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Update {
    New,
    /// It speaks of the same as this one; whether it changes it nobody knows.
    Touches(usize),
    /// It may contradict this one.
    Differs(usize),
    /// It stands in the place of this one, which was said just before, and doesn't say what that is about.
    Corrects(usize),
    /// It stands in the place of these, oldest first.
    Replaces(Vec<usize>),
}

impl Update {
    /// The older lines that it is about, oldest first.
    pub(super) fn olds(&self) -> impl DoubleEndedIterator<Item = usize> {
        let (one, all) = match self {
            Self::New => (None, &[][..]),
            Self::Touches(old) | Self::Differs(old) | Self::Corrects(old) => (Some(*old), &[][..]),
            Self::Replaces(olds) => (None, olds.as_slice()),
        };
        one.into_iter().chain(all.iter().copied())
    }

    /// The newest of the older lines that it is about.
    pub(super) fn newest_old(&self) -> Option<usize> {
        self.olds().next_back()
    }
}

/// What a correction without a topic names of what it corrects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Naming {
    /// The value that holds no longer.
    Old,
    Nothing,
}

/// A sentence of more words that say something takes back by the subject alone.
const MAX_WORDS: usize = 14;
/// A sentence of so many words says little but what it corrects.
pub(super) const MOST_BRIEF: usize = 14;
/// Words besides its values that a sentence which only corrects one has at most.
const MOST_BESIDES: usize = 4;
/// Lines looked at for each term, the newest.
pub(super) const LOOK_BACK: usize = 32;
/// Entries within which `make that 40` is understood.
const NEARBY: u32 = 6;

/// Whether what was said in entry `old` was just said. Entries of earlier checkpoints were counted elsewhere.
pub(super) fn is_near(at: u32, old: u32) -> bool {
    at.checked_sub(old).is_some_and(|gap| gap <= NEARBY)
}

impl Ledger {
    /// Whether who speaks in entry `at` may mean what was said in entry `old` without naming it: a person means what was said
    /// since they last spoke, however much the model did meanwhile.
    pub(super) fn is_recent(&self, (at, who): (u32, Speaker), old: u32) -> bool {
        let is_since = || self.heard[0].is_some_and(|heard| (heard..at).contains(&old));
        is_near(at, old) || who == Speaker::Human && is_since()
    }

    /// What a line does to the older ones.
    pub(super) fn update(&self, line: &Line) -> Update {
        self.nearest(line, self.update_of(line))
    }

    fn update_of(&self, line: &Line) -> Update {
        let (newer, candidates) = self.candidates(line);
        let (mut sure, mut maybe, mut unsure) = (Vec::new(), Vec::new(), Vec::new());
        let mut best = 0;
        for at in candidates.iter().copied() {
            match relation(line, &self.lines[at]) {
                Relation::Apart => {}
                Relation::Same(_) if !self.is_sure(&newer, &self.lines[at]) => unsure.push(at),
                Relation::Same(share) => {
                    best = best.max(share);
                    sure.push((at, share));
                }
                Relation::Perhaps => maybe.push(at),
            }
        }
        // What fits worse than the best is about something else.
        let mut sure: Vec<usize> =
            sure.into_iter().filter(|(_, share)| *share + 10 > best).map(|(at, _)| at).collect();
        if !sure.is_empty() {
            // What a model or a tool said otherwise of one of them, which nobody was sure of, holds no longer either.
            let differs = |at: &usize| {
                let line = &self.lines[*at];
                line.who < Speaker::System && line.differs.is_some_and(|old| sure.contains(&old))
            };
            let with_it: Vec<usize> = unsure.into_iter().filter(differs).collect();
            sure.extend(with_it);
            sure.sort_unstable();
            return Update::Replaces(sure);
        }
        let anew = self.said_anew(&newer, &candidates);
        if !anew.is_empty() {
            return Update::Replaces(anew);
        }
        if let Some(update) = self.just_said(&newer) {
            return update;
        }
        // One that may fit is meant; of several nobody knows which.
        if maybe.len() == 1
            && line.change >= Change::Said
            && self.is_sure(&newer, &self.lines[maybe[0]])
        {
            return Update::Replaces(maybe);
        }
        unsure.extend(maybe);
        let differs = unsure.iter().rfind(|at| self.may_differ(&newer, &self.lines[**at]));
        if let Some(at) = differs {
            return Update::Differs(*at);
        }
        self.may_change(&newer, &candidates).into()
    }

    /// The line, and those that share a word with it and that it may change, oldest first.
    pub(super) fn candidates<'a>(&self, line: &'a Line) -> (Newer<'a>, Vec<usize>) {
        let mut candidates: Vec<usize> = Vec::new();
        let mut counts = Vec::with_capacity(line.subject.bag.len());
        for term in line.subject.bag.iter() {
            let about = [&self.about, &self.besides].map(|about| about.get(&term));
            // What nobody is sure of makes no word common, unless people said it.
            let [sure, unsure] = about;
            let is_persons = |at: &&u32| self.lines[**at as usize].who >= Speaker::System;
            let unsure = unsure.into_iter().flat_map(|lines| lines.iter().rev().take(LOOK_BACK));
            counts.push(sure.map_or(0, Vec::len) + unsure.filter(is_persons).count());
            for lines in about.into_iter().flatten() {
                candidates.extend(lines.iter().rev().take(LOOK_BACK).map(|at| *at as usize));
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        // A sentence that it begins with is said with it; and one that it holds whole is said once more.
        let is_begun = |old: &Line| {
            let begins = || old.is_said_with(line) && line.text.starts_with(&old.text);
            let (own, theirs) = (&line.subject.bag, &old.subject.bag);
            let repeats = || theirs.shared(own) == theirs.len() && holds(&line.text, &old.text);
            line.who == Speaker::Human && (begins() || repeats())
        };
        candidates.retain(|at| {
            let old = &self.lines[*at];
            old.replaced.is_none() && may_replace(line, old) && !is_begun(old)
        });
        (Newer { line, counts }, candidates)
    }

    /// What a brief sentence corrects that names nothing but another value of what was just said: `Not 20 Hz, 30 Hz.`,
    /// `Close, but it's 45 MB.`; and whether it surely does, since it names the old value.
    pub(super) fn corrected(
        &self,
        at: u32,
        who: Speaker,
        said: &str,
        subject: &Subject,
        cues: &Cues,
    ) -> Option<(usize, Naming)> {
        let is_value = |word| subject.values.iter().any(|value| value.digest == word);
        let rest: Vec<u64> = subject.bag.iter().filter(|word| !is_value(*word)).collect();
        let is_many = rest.len() > MOST_BESIDES;
        if is_many || subject.values.is_empty() || subject.is_field || is_case(said) {
            return None;
        }
        // A word that others have, too, may say what it is about.
        let about: Vec<u64> = rest.into_iter().filter(|word| self.lines_about(*word) > 0).collect();
        let may_mean = |old: &Line| {
            old.is_sure
                && old.replaced.is_none()
                && (old.carried || old.at != at || who == Speaker::Human)
                && !old.kind.is_task()
                && old.kind != Kind::Question
                && old.who != Speaker::System
                && (who >= Speaker::Model && old.who >= Speaker::Model || who == old.who)
                && !old.outlasts(said, subject)
                && may_take_back(who, Change::OfLast, old)
        };
        let near = self
            .said_here()
            .take_while(|(_, old)| self.is_recent((at, who), old.at))
            .filter(|(_, old)| may_mean(old))
            .take(LOOK_BACK);
        let fits = |old: &Line, own: &Value| {
            let may_stand_for =
                |old: &Value| old.sort != Sort::Code && old.is_like(own) && own.has_shape_of(old);
            !old.subject.values.contains(own) && old.subject.values.iter().any(may_stand_for)
        };
        let differing: Vec<(usize, &Line)> =
            near.filter(|(_, old)| subject.values.iter().any(|own| fits(old, own))).collect();
        // What names something else is about that.
        let is_of = |old: &Line| {
            let theirs = &old.subject;
            let is_its_topic = subject.topic.shared(&theirs.bag) == subject.topic.len();
            (!subject.has_topic || is_its_topic)
                && about.iter().all(|word| theirs.bag.has(*word))
                && !subject.contrasts(theirs)
        };
        let is_named = |old: &Line| subject.names_value_of(&old.subject) && is_of(old);
        let mut named = differing.iter().filter(|(_, old)| is_named(old)).map(|(at, _)| *at);
        if let Some(found) = named.next() {
            // Of several nobody knows which.
            let naming = if named.next().is_none() { Naming::Old } else { Naming::Nothing };
            return Some((found, naming));
        }
        // What an earlier checkpoint lists was said long ago: it is meant if nothing else is.
        let before = self.lines[..self.listed_to].iter().enumerate().rev();
        let carried = before.filter(|(_, old)| old.carried);
        let mut listed = carried.take(LOOK_BACK).filter(|(_, old)| {
            let differs = subject.values.iter().any(|own| fits(old, own));
            differs && may_mean(old) && is_named(old)
        });
        if let (Some((found, _)), None) = (listed.next(), listed.next()) {
            return Some((found, Naming::Old));
        }
        let is_bare =
            !subject.has_topic && about.is_empty() && !cues.has(Cue::Commands) && !says_when(said);
        let last = differing.first().filter(|_| who == Speaker::Human && is_bare);
        last.map(|(found, _)| (*found, Naming::Nothing))
    }
}

/// Whether it says after how long something will be: `back in 5 minutes`.
pub(super) fn says_when(said: &str) -> bool {
    let all: Vec<String> = words(said).collect();
    let is_number = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    all.windows(2).any(|pair| pair[0] == "in" && is_number(&pair[1]))
}

/// Whether a text says a whole sentence among others, and doesn't quote it.
fn holds(text: &str, sentence: &str) -> bool {
    if !sentence.ends_with(['.', '!', '?']) || sentence.len() >= text.len() {
        return false;
    }
    let Some(at) = text.find(sentence) else { return false };
    let is_apart = |next: Option<char>| next.is_none_or(char::is_whitespace);
    let (before, behind) = (&text[..at], &text[at + sentence.len()..]);
    is_apart(before.chars().next_back()) && is_apart(behind.chars().next())
}

/// Whether the speaker of `new` may change what `old` says.
pub(super) fn may_replace(new: &Line, old: &Line) -> bool {
    may_take_back(new.who, new.change, old)
}

/// Whether `who` may change what `old` says, who says so surely that it changed.
fn may_take_back(who: Speaker, change: Change, old: &Line) -> bool {
    let facts =
        |line: &Line| matches!(line.kind, Kind::Fact | Kind::Question) || line.kind.is_task();
    match (who, old.who) {
        (Speaker::Human, _)
        | (Speaker::System, Speaker::System | Speaker::Model | Speaker::Injected | Speaker::Tool) => {
            true
        }
        (Speaker::Model, Speaker::Human | Speaker::System) => {
            facts(old) || (old.kind == Kind::Decision && change >= Change::Said)
        }
        (Speaker::Model, _)
        | (Speaker::Injected, Speaker::Injected)
        | (Speaker::Tool, Speaker::Tool) => true,
        (Speaker::Tool | Speaker::Injected, Speaker::Model) => facts(old),
        _ => false,
    }
}

pub(super) enum Relation {
    Apart,
    /// The same topic; how much of it is shared, in percent.
    Same(usize),
    Perhaps,
}

/// A line that isn't in the ledger yet.
#[derive(Debug)]
pub(super) struct Newer<'a> {
    pub(super) line: &'a Line,
    /// In how many lines each word of its bag stands.
    pub(super) counts: Vec<usize>,
}

pub(super) fn relation(new: &Line, old: &Line) -> Relation {
    let (own, theirs) = (&new.subject, &old.subject);
    // Standing instructions say how things are done, not how far they are.
    let standing = new.who == Speaker::System || old.who == Speaker::System;
    let taken_back = own.lifts || theirs.says_gone_of(own);
    if standing && (new.kind.is_task() || old.kind.is_task() || !taken_back) {
        return Relation::Apart;
    }
    if new.kind.is_task() && old.kind.is_task() && new.kind != old.kind && is_same_deed(own, theirs)
    {
        return Relation::Same(100);
    }
    if new.contradicts(old) {
        return Relation::Same(100);
    }
    let shared = own.topic.shared(&theirs.bag);
    if shared == 0 {
        return Relation::Apart;
    }
    let own_mark = own.is_marked_beside(theirs);
    let their_mark = theirs.is_marked_beside(own);
    if own_mark && their_mark {
        return Relation::Apart;
    }
    // Whatever either seems to be: it says what it was.
    if new.change >= Change::Said && own.names_value_of(theirs) && !own.contrasts(theirs) {
        return Relation::Same(shared * 100 / own.topic.len());
    }
    let missing = own.topic.len() - shared;
    let back = theirs.topic.shared(&own.bag);
    let foreign = theirs.topic.len() - back;
    let share = shared * 100 / own.topic.len();
    let back = back * 100 / theirs.topic.len().max(1);
    let said = theirs.bag.shared(&own.bag);
    let all = theirs.bag.len();
    // An answered question, a task that goes on.
    if old.kind == Kind::Question {
        let most = said * 10 >= all * 6 || (said > 2 && said * 10 >= all * 4);
        let answered = new.kind != Kind::Question && said > 1 && most && !own.contrasts(theirs);
        return if answered { Relation::Same(said * 100 / all) } else { Relation::Apart };
    }
    if new.kind.is_task() && old.kind.is_task() {
        let same = new.kind != old.kind && !own_mark && !their_mark;
        let close = (share >= 70 && back >= 50) || (back >= 80 && share >= 40);
        return if same && close { Relation::Same(share) } else { Relation::Apart };
    }
    if new.kind == Kind::Question || old.kind == Kind::Done {
        return Relation::Apart;
    }
    // A rule that is taken back says the same words.
    let literal = |value: &Value| value.is_literal() && own.bag.has(value.digest);
    let exact = theirs.names.shared(&own.bag) > 0 || theirs.values.iter().any(literal);
    let rules = old.kind == Kind::Constraint && new.kind == Kind::Constraint;
    let mostly = said > 1 && said * 10 >= own.bag.len() * 6;
    if rules && own.lifts && mostly && !own_mark && !own.contrasts(theirs) {
        return Relation::Same(said * 100 / all);
    }
    if rules && new.change >= Change::Said && said * 2 >= all && (said > 1 || exact) && !own_mark {
        return Relation::Same(said * 100 / all);
    }
    if !says_otherwise(own, theirs) {
        return Relation::Apart;
    }
    if own.contrasts(theirs) {
        return Relation::Apart;
    }
    let gone = theirs.says_gone_of(own) || own.names_both(theirs);
    let like = own.differs_in_value(theirs) || own.names_both(theirs);
    if let Some(share) = in_other_words(new, old, gone, like) {
        return Relation::Same(share);
    }
    let apart = missing > 0 && foreign > 0;
    let distinct = own.names.shared(&theirs.bag) > 0;
    match new.change {
        _ if own_mark && !gone => Relation::Apart,
        Change::Said | Change::OfLast if gone && share >= 34 => Relation::Same(share),
        // Each speaks of something that the other doesn't: other words for it, at best.
        Change::Said | Change::OfLast if apart => {
            let same = share >= 34 && distinct && like && !their_mark;
            if same { Relation::Same(share) } else { Relation::Apart }
        }
        Change::Said | Change::OfLast if share < 50 => Relation::Apart,
        Change::Said | Change::OfLast if their_mark => Relation::Perhaps,
        Change::Said | Change::OfLast => Relation::Same(share),
        _ if their_mark || own_mark => Relation::Apart,
        Change::Hinted if gone && share >= 50 => Relation::Same(share),
        Change::Hinted if missing == 0 && back >= 60 && like => Relation::Same(share),
        Change::Hinted if missing == 0 && back >= 30 && like => Relation::Perhaps,
        Change::None if share == 100 && like && !own.differs_both_ways(theirs) => {
            let one = own.values.len() == 1 && theirs.values.len() == 1;
            match back {
                100 if one => Relation::Same(share),
                75.. => Relation::Perhaps,
                _ => Relation::Apart,
            }
        }
        _ => Relation::Apart,
    }
}

/// How surely a line that takes something back means one about the same subject, however both put it: they share
/// words that aren't said of everything, and it names the old value, or another one of its sort.
fn in_other_words(new: &Line, old: &Line, gone: bool, like: bool) -> Option<usize> {
    let (own, theirs) = (&new.subject, &old.subject);
    if old.who == Speaker::System && !gone {
        return None;
    }
    let is_long = own.words > MAX_WORDS || theirs.words > MAX_WORDS;
    if new.who < old.who || new.change == Change::None || new.kind == Kind::Done || is_long {
        return None;
    }
    let common = own.specific.shared(&theirs.specific);
    let least = own.specific.len().min(theirs.specific.len()).max(1);
    let share = common * 100 / least;
    let said = new.change >= Change::Said;
    let fits = match (gone, like) {
        (true, _) => share >= 30 && (said || common > 1),
        (_, true) => share >= if said { 34 } else { 60 } && (said || common > 1),
        // Words against words: a choice of the same thing.
        _ => {
            let chosen = |line: &Line| {
                matches!(
                    line.kind,
                    Kind::Decision | Kind::Preference | Kind::Goal | Kind::Constraint | Kind::Fact
                )
            };
            let covered = theirs.topic.shared(&own.bag) * 2 >= theirs.topic.len();
            let is_short = own.words < MAX_WORDS / 2;
            said && is_short
                && chosen(new)
                && chosen(old)
                && theirs.has_topic
                && covered
                && share >= 50
        }
    };
    (common > 0 && fits).then(|| (40 + 10 * common + share / 5).min(100))
}

/// Whether two tasks share most words of the shorter one, whoever does them and whatever they wait for.
fn is_same_deed(new: &Subject, old: &Subject) -> bool {
    let contrasts = |one: &Subject, other: &Subject| {
        one.bag.without(&other.bag).any(|word| one.marks.has(word) && !one.names.has(word))
    };
    let both = new.bag.shared(&old.bag);
    let least = new.bag.len().min(old.bag.len());
    let longer = new.bag.len().max(old.bag.len());
    let most = both > 2 && both * 100 >= least * if least < 8 { 55 } else { 70 }
        || both == 2 && least == 2;
    let most = most && both * 100 >= longer * 30;
    most && !(contrasts(new, old) && contrasts(old, new))
}

/// Whether the newer says something that the older doesn't, besides what both are about.
fn says_otherwise(new: &Subject, old: &Subject) -> bool {
    let mut rest = new.bag.without(&new.topic).peekable();
    let is_other = |own: &Value| old.values.iter().any(|value| own.is_other_size_of(value));
    rest.peek().is_none() || rest.any(|word| !old.bag.has(word)) || new.values.iter().any(is_other)
}
