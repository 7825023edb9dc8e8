//! Whether a newer line surely takes an older one's place.
//!
//! A wrong replacement loses what somebody said; a missed one costs a line. Sessions say the same few words again
//! and again, so that what counts is to share words that are rare among the lines, not many.

use super::apart::is_case;
use super::subject::Subject;
use super::terms::{bit, digest};
use super::update::Newer;
use super::value::{Sort, Value};
use super::{Change, Kind, Ledger, Line, Speaker};

/// A sentence of more words says more than what changed.
const MAX_WORDS: usize = 14;
/// A word that so many lines have tells what one is about, whatever the session.
pub(super) const RARE: usize = 4;
/// A word that so few lines have tells it by itself.
const FEW: usize = 2;
/// In a long session one of so many lines may have it.
pub(super) const ONE_OF: usize = 100;

impl Ledger {
    /// Whether `new`, which seems to be about the same as `old`, may stand for it.
    pub(super) fn is_sure(&self, newer: &Newer<'_>, old: &Line) -> bool {
        let new = newer.line;
        // What announces something says it in the next line.
        if new.text.ends_with(':') || is_case(&new.text) {
            return false;
        }
        if new.contradicts(old) {
            // What is wanted by now may be wanted this once.
            return !old.forbids();
        }
        let pair = Pair::of(self, newer, old);
        // Nobody's words are struck out for what somebody says of something else, or only reports.
        let goes_on = old.kind.is_task() && pair.goes_on();
        if old.who >= Speaker::System && (new.spares(old) || !goes_on && pair.is_of_another()) {
            return false;
        }
        match old.kind {
            Kind::Question => pair.answers(),
            _ if goes_on => true,
            // A mark tells a task; words may tell a value.
            kind if kind.is_task() => (pair.differs || pair.names_it) && pair.changes(),
            _ => pair.changes(),
        }
    }

    /// Whether `new`, which doesn't stand for `old`, gives another value of the same: whoever reads both shall know
    /// which is newer.
    pub(super) fn may_differ(&self, newer: &Newer<'_>, old: &Line) -> bool {
        let new = newer.line;
        let pair = Pair::of(self, newer, old);
        let tells = |line: &Line| line.is_state() && !line.subject.is_field;
        let (own, theirs) = (&new.subject, &old.subject);
        tells(new)
            && tells(old)
            && (!own.has_topic || own.topic.shared(&theirs.bag) > 0)
            && new.who >= Speaker::Model
            && !new.is_said_with(old)
            && pair.differs
            && pair.rare > 0
            && pair.is_short()
            && pair.covers(60, 50)
    }

    /// Whether `new` says of something else what `old` says in the same words.
    pub(super) fn is_of_another(&self, newer: &Newer<'_>, old: &Line) -> bool {
        let pair = Pair::of(self, newer, old);
        pair.ends_what_it_doesnt_say() || pair.shared > 1 && pair.is_of_another()
    }

    /// How many words `new` shares with `old`, where it may change that one: it says another value, state or choice
    /// of what few lines speak of. Whoever reads the older one shall look at the newer. Only if there are more than
    /// `least`.
    pub(super) fn touches(&self, newer: &Newer<'_>, old: &Line, least: usize) -> Option<usize> {
        let new = newer.line;
        let (own, theirs) = (&new.subject, &old.subject);
        if new.is_said_with(old) || old.kind == Kind::Done {
            return None;
        }
        // Most share a single word, and give no value.
        let both = own.bag.shared(&theirs.bag);
        if both <= least || both == 1 && (own.values.is_empty() || theirs.values.is_empty()) {
            return None;
        }
        // Each names what tells it from others of the same shape: `staging`, `production`.
        let is_marked = || own.is_marked_beside(theirs) && theirs.is_marked_beside(own);
        if is_marked() || own.contrasts(theirs) {
            return None;
        }
        // Without a word of change each speaks of a thing of its own: `Taxi fares are 40 EUR`, `room rates are 90 EUR`.
        let are_tasks = new.kind.is_task() && old.kind.is_task();
        if !are_tasks && !new.says_so() && own.leaves_out(theirs) && own.adds_to(theirs) {
            return None;
        }
        let pair = Pair::of(self, newer, old);
        let moves = match old.kind {
            Kind::Question => new.kind != Kind::Question,
            kind if kind.is_task() => new.kind.is_task() && new.kind != kind,
            _ => pair.differs || pair.names_it || new.change >= Change::Said,
        } || new.contradicts(old);
        let is_told = pair.is_told && pair.differs && new.change >= Change::Said;
        let is_set = pair.differs && pair.is_of_one_topic();
        let is_near = pair.both() > 1 && pair.names(34, 20) || pair.alike || is_told || is_set;
        let is_more = pair.both() > least;
        (moves && is_more && pair.rare + pair.exact > 0 && is_near).then_some(pair.both())
    }
}

/// Two lines, and what they share.
#[expect(clippy::struct_excessive_bools, reason = "each is asked for by itself")]
pub(super) struct Pair<'a> {
    new: &'a Line,
    old: &'a Line,
    /// Words that both have, values apart.
    pub(super) shared: usize,
    /// Those of them that few lines have.
    pub(super) rare: usize,
    /// Names and the like that both give.
    exact: usize,
    /// Words of the one that has fewer, and of the other.
    fewer: usize,
    more: usize,
    /// The newer names a value of the older as one that holds no longer, or as what it was.
    pub(super) names_it: bool,
    /// Each gives a value of one sort, and not the same.
    pub(super) differs: bool,
    /// Both share a word that hardly another line has.
    pub(super) is_told: bool,
    /// So they do, and their values are of one shape.
    alike: bool,
}

impl<'a> Pair<'a> {
    pub(super) fn of(ledger: &Ledger, newer: &Newer<'a>, old: &'a Line) -> Self {
        let new = newer.line;
        let (own, theirs) = (&new.subject, &old.subject);
        let values = || own.values.iter().chain(&theirs.values);
        // Most words are told from values by a bit.
        let bits = values().fold(0, |bits, value| bits | bit(value.digest));
        let is_value =
            |word: u64| bits & bit(word) != 0 && values().any(|value| value.digest == word);
        let most = RARE.max(ledger.lines.len() / ONE_OF);
        let (mut one, mut shared, mut rare, mut is_told) = (0, 0, 0, false);
        for (word, lines) in own.bag.iter().zip(&newer.counts) {
            if is_value(word) {
                continue;
            }
            one += 1;
            if theirs.bag.has(word) {
                shared += 1;
                rare += usize::from(*lines <= most);
                is_told |= *lines <= FEW && theirs.specific.has(word);
            }
        }
        let other = theirs.bag.iter().filter(|word| !is_value(*word)).count();
        let least = if new.who >= Speaker::System { Change::Hinted } else { Change::Said };
        Pair {
            new,
            old,
            shared,
            exact: theirs
                .values
                .iter()
                .filter(|old| old.is_literal())
                .filter(|old| own.values.contains(old) || own.names.has(old.digest))
                .count(),
            rare,
            fewer: one.min(other),
            more: one.max(other),
            names_it: new.change >= least && own.names_value_of(theirs),
            differs: has_other(own, theirs, |_, _| true) && !has_same_figure(own, theirs),
            is_told,
            alike: is_told && has_other(own, theirs, Value::has_shape_of),
        }
    }

    /// Whether the words that both have are so many percent of the shorter and of the longer one's.
    pub(super) fn covers(&self, shorter: usize, longer: usize) -> bool {
        self.shared * 100 >= self.fewer * shorter && self.shared * 100 >= self.more * longer
    }

    /// Words and names that both have.
    fn both(&self) -> usize {
        self.shared + self.exact
    }

    /// The same as [`Pair::covers`], names among the words.
    fn names(&self, shorter: usize, longer: usize) -> bool {
        self.both() * 100 >= (self.fewer + self.exact) * shorter
            && self.both() * 100 >= (self.more + self.exact) * longer
    }

    pub(super) fn is_short(&self) -> bool {
        self.new.subject.words <= MAX_WORDS && self.old.subject.words <= MAX_WORDS
    }

    /// Whether each says all of the other's topic.
    fn is_of_one_topic(&self) -> bool {
        let (own, theirs) = (&self.new.subject, &self.old.subject);
        let within =
            |one: &Subject, other: &Subject| one.topic.shared(&other.bag) == one.topic.len();
        own.has_topic && theirs.has_topic && within(own, theirs) && within(theirs, own)
    }

    /// Whether what the newer says to be past isn't what the older is about.
    fn ends_another(&self) -> bool {
        !self.alike && self.ends_what_it_doesnt_say()
    }

    /// Whether the older is about something in code that the newer doesn't name.
    fn is_of_another_name(&self) -> bool {
        let (own, theirs) = (&self.new.subject, &self.old.subject);
        let mut about = theirs.coded.iter().filter(|name| theirs.topic.has(*name)).peekable();
        about.peek().is_some() && !about.any(|name| own.bag.has(name))
    }

    /// Whether each speaks of something that the other doesn't, values and what holds no longer apart. A rule is
    /// about all that it says.
    pub(super) fn is_of_another(&self) -> bool {
        let (own, theirs) = (&self.new.subject, &self.old.subject);
        let is_rule = self.old.kind == Kind::Constraint && own.lifts;
        let names = |one: &Subject, other: &Subject| {
            let values = || own.values.iter().chain(&theirs.values);
            let is_said = |word: u64| {
                other.bag.has(word)
                    || own.gone.has(word)
                    || values().any(|value| value.digest == word)
            };
            // `Pushing to release is allowed again` is about what it begins with.
            let is_whole = is_rule && !(one.lifts && one.leads);
            let about = if is_whole { &one.bag } else { &one.topic };
            let says = |word| is_whole || one.has_topic || one.specific.has(word);
            about.iter().any(|word| !is_said(word) && says(word))
        };
        let is_another = own.contrasts(theirs)
            || own.is_of_others(theirs)
            || own.names_another(theirs)
            || names(own, theirs) && names(theirs, own);
        self.ends_what_it_doesnt_say() || !self.names_it && is_another
    }

    /// Whether what the newer says to be past stands nowhere in the older.
    fn ends_what_it_doesnt_say(&self) -> bool {
        let (own, theirs) = (&self.new.subject, &self.old.subject);
        !self.names_it && !own.gone.is_empty() && own.gone.shared(&theirs.bag) == 0
    }

    /// Whether most words of both are the same, of which several are rare, and the newer says more.
    fn says_most(&self) -> bool {
        let (own, theirs) = (&self.new.subject, &self.old.subject);
        let adds = own.bag.without(&theirs.bag).next().is_some();
        adds && self.shared > 1 && self.rare > 1 && self.covers(60, 40)
    }

    fn answers(&self) -> bool {
        let states = matches!(self.new.kind, Kind::Fact | Kind::Decision | Kind::Done);
        states && self.new.alone && self.shared > 1 && self.rare > 0 && self.covers(60, 40)
    }

    /// Whether a task is in another state by now.
    fn goes_on(&self) -> bool {
        let (new, old) = (self.new, self.old);
        let moves = new.kind.is_task() && new.kind != old.kind && old.kind != Kind::Done;
        if !moves || !new.alone || new.is_said_with(old) || self.both() < 2 || self.rare == 0 {
            return false;
        }
        // Of two steps with a number or a name each it is another one.
        let (own, theirs) = (&new.subject, &old.subject);
        if own.contrasts(theirs) {
            return false;
        }
        let named = |subject: &Subject| subject.names.len() + subject.values.len() > 0;
        let same = own.names.shared(&theirs.bag) > 0
            || own.values.iter().any(|value| theirs.bag.has(value.digest));
        if named(own) && named(theirs) && !same || self.ends_another() {
            return false;
        }
        if new.who == Speaker::Tool { self.names(80, 60) } else { self.names(60, 45) }
    }

    /// Whether a value, a choice or a rule is another one by now.
    fn changes(&self) -> bool {
        let (new, old) = (self.new, self.old);
        let (said, lifts) = (new.change >= Change::Said, new.subject.lifts);
        // Items of one list are told apart by their values alone.
        let is_listed =
            new.is_said_with(old) && !(new.who == Speaker::Human && self.names_it && said);
        if self.rare == 0 || is_listed || self.ends_another() || self.is_of_another_name() {
            return false;
        }
        if self.names_it {
            let names = |value: &Value| value.is_literal() && value.text.len() > 2;
            let is_exact = old.subject.values.iter().any(names);
            return self.alike || self.covers(if is_exact { 20 } else { 34 }, 0);
        }
        let is_rule = old.kind == Kind::Constraint && lifts;
        // `Never deploy on Fridays` says when, too.
        let figures = old.subject.values.iter().filter(|value| !value.is_literal());
        let figures = figures.filter(|value| new.subject.values.contains(value)).count();
        if is_rule && self.shared + self.exact + figures > 1 && self.covers(60, 50) {
            return true;
        }
        // Whoever may say less says what it was.
        let is_bold = new.who < old.who || new.who == Speaker::Tool;
        let differs = self.differs && (said || !is_bold);
        let is_clear =
            new.alone || said && (differs && new.who == Speaker::Human || self.says_most());
        if !is_clear || old.who == Speaker::System || is_bold && !differs || !self.is_short() {
            return false;
        }
        match new.change {
            Change::None => {
                let is_said = new.who >= Speaker::Model && !new.subject.is_field;
                is_said && new.who == old.who && differs && self.covers(100, 100)
            }
            Change::Hinted => {
                // `The owner is now Bob.`
                let is_all = || self.is_of_one_topic() && self.covers(100, 100);
                let is_same = self.shared > 1 && self.covers(60, 50) || is_all();
                differs && !new.kind.is_task() && is_same
            }
            _ if differs => self.alike || self.covers(50, 34),
            _ if self.says_most() => true,
            _ if new.kind.is_task() => false,
            _ => {
                let chosen = self.shared > 1 && chosen(new) && chosen(old) && self.covers(50, 34);
                chosen || self.is_of_one_topic()
            }
        }
    }
}

/// Whether each gives a value that the other doesn't, of one sort, and no mere name in code.
fn has_other(own: &Subject, theirs: &Subject, fits: impl Fn(&Value, &Value) -> bool) -> bool {
    own.values.iter().filter(|value| value.sort != Sort::Code).any(|value| {
        let is_other =
            |old: &Value| old.sort != Sort::Code && old.is_like(value) && fits(value, old);
        !theirs.values.contains(value) && theirs.values.iter().any(is_other)
    })
}

/// Whether both give the same figure.
fn has_same_figure(own: &Subject, theirs: &Subject) -> bool {
    let is_figure =
        |value: &&Value| !value.is_literal() && value.text.contains(|c: char| c.is_ascii_digit());
    own.values.iter().filter(is_figure).any(|value| theirs.values.contains(value))
}

/// Whether it is somebody's choice, which may be said in words.
pub(super) fn chosen(line: &Line) -> bool {
    matches!(line.kind, Kind::Decision | Kind::Preference | Kind::Goal | Kind::Constraint)
}

impl Subject {
    /// Whether it has words that the other hasn't, values apart.
    pub(super) fn adds_to(&self, other: &Self) -> bool {
        let is_value = |word: u64| self.values.iter().any(|value| value.digest == word);
        self.bag.without(&other.bag).any(|word| !is_value(word))
    }

    /// Whether it doesn't say all that the other one is about, values apart.
    pub(super) fn leaves_out(&self, other: &Self) -> bool {
        let is_value = |word: u64| other.values.iter().any(|value| value.digest == word);
        other.topic.without(&self.bag).any(|word| !is_value(word))
    }

    /// Whether each has words that the other hasn't, values apart.
    pub(super) fn differs_both_ways(&self, other: &Self) -> bool {
        self.adds_to(other) && other.adds_to(self)
    }

    /// Whether each gives another name and another figure: `Flight LH400 leaves at 10:20`.
    pub(super) fn names_another(&self, other: &Self) -> bool {
        let has =
            |one: &Self, is_name: bool| one.values.iter().any(|it| it.is_literal() == is_name);
        let both = |is_name| has(self, is_name) && has(other, is_name);
        both(true) && both(false) && !self.values.iter().any(|value| other.values.contains(value))
    }

    /// Whether it says that a value of the other one is past: `from 20 to 30`, `8 instead of 9`.
    pub(super) fn names_value_of(&self, other: &Self) -> bool {
        if self.gone.is_empty() {
            return self.names_both(other);
        }
        let gone = other.values.iter().any(|value| {
            let mut parts = value.text.split(' ').map(digest);
            self.gone.has(value.digest)
                || value.is_literal() && parts.all(|part| self.gone.has(part))
        });
        // `one table a day` is a value too, in words.
        let past = |word| self.gone.has(word) && !self.bag.has(word);
        let in_words = other.bag.shared(&self.gone) > 1 && other.bag.iter().any(past);
        gone || in_words || self.gone.shared(&other.names) > 0 || self.names_both(other)
    }
}
