//! Which older line a newer one may change. Where that isn't sure both stay, and whoever reads the older is told of the
//! newer.
//!
//! Two things tell it, whatever the words. Where it stands: right behind a statement, a brief sentence that says nothing of
//! its own but another value of the same make. And what it shares: later, a word that hardly another line has.

use std::collections::HashMap;

use super::judge::asks;
use super::language::List;
use super::subject::Subject;
use super::sure::{ONE_OF, Pair, RARE};
use super::update::{LOOK_BACK, MOST_BRIEF, MOST_PASSED, Newer, Update, is_near, may_replace};
use super::value::{Sort, Value};
use super::words::Words;
use super::{Change, Kind, Ledger, Line, Speaker};

/// Entries between what was just said and what takes it up.
pub(super) const JUST: u32 = 2;
/// Words besides its values and the older one's that a sentence which only corrects one has at most.
const MOST_BESIDES: usize = 7;
/// A sentence of more words says more than what changed.
const MAX_WORDS: usize = 18;
/// Figures of a sentence of which one may be taken for what it says.
const MOST_FIGURES: usize = 2;
/// Words before what a brief sentence strikes: `lose X, take Y`.
const MOST_BEFORE: usize = 2;

/// Words besides its values of one that says hardly more than another value; and all words of one that says nothing more.
const MOST_LIGHT: usize = 4;
const MOST_REPLIED: usize = 8;
const LEAST_WORDS: usize = 3;

/// How surely what takes back the last thing said means a line that doesn't have its words.
const WEAK: u32 = 1;

/// What a sentence begins with that speaks of the one before it.
const POINTS: [&str; 10] =
    ["it", "it's", "its", "that", "that's", "this", "they", "they're", "these", "those"];

/// What a reply begins with that takes nothing back.
const ASSENTS: [&str; 22] = [
    "yes", "yep", "yeah", "sure", "ok", "okay", "thanks", "thank", "great", "good", "perfect",
    "fine", "alright", "cool", "nice", "please", "however", "right", "correct", "exactly",
    "agreed", "also",
];

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
        found.map(|(_, at)| noted(at)).or(behind)
    }

    /// What was just said, where a person gives another value of that, and of the line found farther off none: `Wen just
    /// changed it, so 5 MB` is no word about all that Wen did.
    pub(super) fn nearest(&self, line: &Line, update: Update) -> Update {
        let Some(far) = update.newest_old().filter(|_| line.who == Speaker::Human) else {
            return update;
        };
        let own = &line.subject;
        let fits = |at: usize| {
            let old = &self.lines[at].subject;
            own.tells(old) || own.names_value_of(old)
        };
        match self.behind(line) {
            Some(meant) if meant.at != far && fits(meant.at) && !fits(far) => Some(meant).into(),
            _ => update,
        }
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
            return self.may_change(&newer, &candidates).into();
        }
        Update::Replaces(anew)
    }

    /// What a brief sentence right behind it may correct.
    fn behind(&self, line: &Line) -> Option<Meant> {
        let is_brief = line.text.split(' ').count() <= MOST_BRIEF;
        // Whoever isn't a person says what it was, or that it was otherwise.
        let says = match line.who {
            Speaker::Human => true,
            Speaker::Tool | Speaker::Injected => !line.subject.gone.is_empty(),
            _ => line.change > Change::None || line.subject.values.len() > 1,
        };
        // `Actually, would you mind making that 34 minutes?`
        let is_wish =
            line.who == Speaker::Human && line.change > Change::None && line.subject.gives_any();
        if !says || !is_brief || line.text.ends_with(':') || asks(&line.text) && !is_wish {
            return None;
        }
        let near = self.lines.iter().enumerate().skip(self.since).rev().take(MOST_PASSED);
        let near = near
            .take_while(|(_, old)| is_near(line.at, old.at))
            // Its number is one of another transcript.
            .filter(|(_, old)| !old.carried)
            .filter(|(_, old)| old.who >= line.who.min(Speaker::Model) && may_replace(line, old))
            .filter(|(_, old)| old.who != Speaker::System)
            .filter(|(_, old)| old.replaced.is_none() && !old.is_said_with(line))
            .filter(|(_, old)| old.kind != Kind::Question || !asks(&old.text))
            .take(LOOK_BACK);
        let found: Vec<(u32, usize)> =
            near.filter_map(|(at, old)| Some((self.means(line, old)?, at))).collect();
        // Of several nobody knows which.
        let is_sure = |at: usize| line.surely_means(&self.lines[at]);
        let sure = found.iter().filter(|(_, at)| is_sure(*at)).count();
        let (how, at) = found.iter().max().copied()?;
        Some(Meant { at, is_sure: how > WEAK && sure == 1 && is_sure(at) })
    }

    /// How surely a brief sentence means the line just before it.
    fn means(&self, line: &Line, old: &Line) -> Option<u32> {
        let (own, theirs) = (&line.subject, &old.subject);
        if own.contrasts(theirs) {
            return None;
        }
        let (is_persons, says) = (line.who == Speaker::Human, line.change > Change::None);
        let named = own.names_both(theirs)
            || says && own.names_value_of(theirs)
            || says && own.gone.shared(&theirs.bag) > usize::from(!is_persons)
            || is_persons && strikes(&line.text, &old.text);
        // What was just said, and says how something is.
        let differs = || own.stands_for(theirs);
        // What was found or done gives a value, too.
        let gives = old.is_state() || old.kind == Kind::Done && differs();
        let is_near = line.at - old.at <= JUST && gives;
        let is_last = is_near && old.who == line.who;
        let is_bare = || own.is_aside || !own.has_topic || !own.leaves_topic(theirs);
        // `For the record, that is now 70 dB`, `Update from Wen: 40`, `better 40`; not `update the lexer to 40`.
        let says_little = || {
            let points = || words(&line.text).any(|word| POINTS.contains(&word.as_str()));
            let is_all = || line.text.split(' ').count() <= LEAST_WORDS;
            let is_apart = || line.says_so() && line.text.contains([':', ',']);
            own.words <= MOST_LIGHT && (points() || is_all() || is_apart())
        };
        // In words, of what is given in words, or as a name.
        let is_figure = |one: &Subject| one.values.iter().any(|value| !value.is_literal());
        let is_worded = || {
            // `Change of heart: the old gym.`
            let is_task = line.kind.is_task() && !line.text.contains(':');
            let is_rule = line.kind == Kind::Constraint || is_task;
            !is_rule && !is_figure(own) && !is_figure(theirs)
        };
        let is_choice = || line.says_so() && is_worded();
        // `Almost! The old gym.`
        let is_reply = || {
            let is_brief = line.text.split(' ').count() <= MOST_REPLIED;
            let assents =
                || words(&line.text).next().is_some_and(|w| ASSENTS.contains(&w.as_str()));
            let is_light = (1..=MOST_LIGHT).contains(&own.words) && !own.has_topic;
            let is_goal = line.kind == Kind::Goal;
            is_brief
                && is_light
                && !is_goal
                && is_worded()
                && theirs.words < MOST_BRIEF
                && !assents()
        };
        let takes_up = || is_persons && own.takes_up && own.words < MOST_BESIDES;
        let sure = match () {
            () if named => 40,
            () if line.change >= Change::Said && differs() => 30,
            () if is_persons && is_bare() && differs() => 20,
            () if is_persons && is_near && says_little() && differs() => 15,
            () if line.change == Change::OfLast && (is_persons && is_near || is_last) => 10,
            () if is_last && takes_up() => 10,
            () if is_persons && is_near && says_little() && is_choice() => 10,
            () if is_persons && is_near && is_reply() => 5,
            () => return None,
        };
        let is_value = |word| own.values.iter().any(|value| value.digest == word);
        let rest = || own.bag.iter().filter(|word| !is_value(*word) && !theirs.bag.has(*word));
        // What names something else is about that, if it may change that; what many lines say names nothing.
        let most = RARE.max(self.lines.len() / ONE_OF);
        let is_set =
            is_persons && is_near && differs() && (line.change >= Change::Said || is_figure(own));
        let mut shared_with: HashMap<u32, usize> = HashMap::new();
        let least = 1 + usize::from(is_set);
        let mut tells = |word| {
            let lines =
                self.about.get(&word).filter(|_| (1..=most).contains(&self.lines_about(word)));
            lines.into_iter().flatten().any(|at| {
                let words = shared_with.entry(*at).or_default();
                *words += 1;
                *words >= least && (!is_set || own.tells(&self.lines[*at as usize].subject))
            })
        };
        let mut is_elsewhere = || rest().count() > MOST_BESIDES || rest().any(&mut tells);
        if !named && is_elsewhere() {
            // What says so of the last is about that, if nothing that it names is found.
            return (is_persons && line.change == Change::OfLast && is_near).then_some(WEAK);
        }
        let shared = own.bag.shared(&theirs.bag).min(3) as u32;
        Some(sure + 4 * shared + 2 * u32::from(line.who == old.who))
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
    /// Whether a brief sentence surely means a line just before it: it names that one's value, or says nothing of its
    /// own but another one of the same make.
    fn surely_means(&self, old: &Self) -> bool {
        let (own, theirs) = (&self.subject, &old.subject);
        let may = old.is_sure && old.is_state() && old.who >= Speaker::Model;
        if !may || self.spares(old) || self.kind == Kind::Question || own.is_field {
            return false;
        }
        let says = self.change >= Change::Said || !own.gone.is_empty();
        // It names nothing else; and `change the port to 9090` isn't done yet.
        let is_bare = own.is_aside || !own.has_topic;
        if !is_bare && (self.kind.is_task() || own.leaves_topic(theirs)) {
            return false;
        }
        // Of many figures that both give each may be the same by chance.
        let is_plain = || theirs.figures().count() <= MOST_FIGURES;
        let names = says && own.names_value_of(theirs) && (!own.gone.is_empty() || is_plain());
        if self.who != Speaker::Human {
            return self.who == old.who && says && names;
        }
        let is_rule = old.who == Speaker::Human && old.kind == Kind::Constraint;
        let is_last = self.at - old.at <= JUST;
        let sets = || is_last && own.sets(theirs) && (says || !is_rule);
        names || says && strikes(&self.text, &old.text) || sets()
    }

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
    let most = usize::from(POINTS.contains(&words.low(0)));
    match (values, says) {
        (0, 1..) => Gives::Subject,
        (1.., says) if says <= most => Gives::Value,
        _ => Gives::Both,
    }
}

/// Whether a brief sentence begins with words of the older one, says no more of them and goes on with others:
/// `Not X, Y`, `lose X, take Y`, `swap X for Y`.
fn strikes(new: &str, old: &str) -> bool {
    let parts = [",", ";", " and ", " with ", " for "].map(|part| new.split_once(part));
    parts.into_iter().flatten().any(|(struck, rest)| is_struck(struck, rest, old))
}

fn is_struck(struck: &str, rest: &str, old: &str) -> bool {
    let all = |text: &str| -> Vec<String> { words(text).collect() };
    let (struck, rest, old) = (all(struck), all(rest), all(old));
    let holds = |run: &[String]| !run.is_empty() && old.windows(run.len()).any(|of| of == run);
    let at = (0..=MOST_BEFORE).find(|at| struck.get(*at..).is_some_and(holds));
    let is_said = |at: usize| {
        struck[at..].iter().any(|word| word.len() > 3 && !POINTS.contains(&word.as_str()))
    };
    let is_apart = rest.iter().all(|word| word.len() < 4 || !old.contains(word));
    at.is_some_and(is_said) && is_apart && !rest.is_empty()
}

/// The words of a text in lower case, without what stands around them.
fn words(text: &str) -> impl Iterator<Item = String> {
    let bare = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    bare.filter(|word| !word.is_empty())
}

impl Subject {
    /// Whether it gives one figure in place of the only one of its make that the other gives.
    fn sets(&self, other: &Self) -> bool {
        let mut own = self.figures();
        let (Some(new), None) = (own.next(), own.next()) else { return false };
        other.figures().count() <= MOST_FIGURES
            && other.figures().filter(|old| new.is_one_with(old)).count() == 1
            && self.has_for(new, other)
    }

    /// Whether it gives a value other than a day.
    pub(super) fn gives_any(&self) -> bool {
        self.values.iter().any(|value| value.sort != Sort::Day)
    }

    /// Its values that have digits.
    fn figures(&self) -> impl Iterator<Item = &Value> {
        let is_figure = |value: &&Value| {
            value.sort != Sort::Code && value.text.contains(|c: char| c.is_ascii_digit())
        };
        self.values.iter().filter(is_figure)
    }

    /// Whether it gives a value that may stand for one of the other's.
    pub(super) fn stands_for(&self, other: &Self) -> bool {
        self.values.iter().any(|own| self.has_for(own, other))
    }

    /// Whether what it tells may stand for what the other one tells: a name beside a figure says who said so.
    fn tells(&self, other: &Self) -> bool {
        let has_figure = self.values.iter().any(|value| !value.is_literal());
        let mut told = self.values.iter().filter(|value| !has_figure || !value.is_literal());
        told.any(|own| self.has_for(own, other))
    }

    /// Whether its value `own` may stand for one of the other's, of the same unit or made alike, which it doesn't give.
    fn has_for(&self, own: &Value, other: &Self) -> bool {
        let is_one = |old: &Value| {
            let is_of_one = || own.sort == old.sort && own.sort != Sort::Number("");
            own.is_one_with(old)
                && (own.is_literal() || is_of_one() || self.unit(own) == other.unit(old))
        };
        !other.values.contains(own) && other.values.iter().any(is_one)
    }

    /// Whether it is about something that the other one doesn't say.
    fn leaves_topic(&self, other: &Self) -> bool {
        self.topic.without(&other.bag).next().is_some()
    }

    /// What a number of it counts.
    fn unit(&self, value: &Value) -> Option<u64> {
        self.units.iter().find(|(of, _)| *of == value.digest).map(|(_, unit)| *unit)
    }
}

impl Value {
    /// Whether both are of one make: two addresses, two codes, two numbers of one measure and much the same length.
    pub(super) fn is_one_with(&self, other: &Self) -> bool {
        match (self.sort, other.sort) {
            (Sort::Code, _) | (_, Sort::Code) => false,
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
