//! What a brief sentence right behind a statement does to it.
//!
//! It says hardly more than another value, or that it is otherwise: `Make that 40`, `No, the old gym`. What it names besides
//! may be what some other line is about; then it means that one.

use std::collections::HashMap;

use super::judge::asks;
use super::language::english;
use super::lists::List;
use super::newer::Meant;
use super::subject::Subject;
use super::sure::{ONE_OF, RARE};
use super::update::{LOOK_BACK, MOST_BRIEF, Update, is_near, may_replace, says_when};
use super::value::{Sort, Value};
use super::worth::is_code;
use super::{Change, Kind, Ledger, Line, Speaker};
use crate::text::split::Sentence;

/// Entries between what was just said and what takes it up.
pub(super) const JUST: u32 = 2;
/// Words besides its values and the older one's that a sentence which only corrects one has at most.
const MOST_BESIDES: usize = 7;
/// Figures of a sentence of which one may be taken for what it says.
const MOST_FIGURES: usize = 2;
/// Words before what a brief sentence strikes: `lose X, take Y`.
const MOST_BEFORE: usize = 2;
/// Sentences at the end of a text of which one may ask for a value, and its first words, of which one says so.
const LAST: usize = 2;
const FIRST: usize = 4;

/// Words besides its values of one that says hardly more than another value; and all words of one that says nothing more.
const MOST_LIGHT: usize = 4;
const LEAST_WORDS: usize = 3;

/// How surely what takes back the last thing said means a line that doesn't have its words.
const WEAK: u32 = 1;

impl Ledger {
    /// What was just said, where a person gives another value of that, and of the line found farther off none: `Wen just
    /// changed it, so 5 MB` is no word about all that Wen did.
    pub(super) fn nearest(&self, line: &Line, update: Update) -> Update {
        let own = &line.subject;
        let fits = |at: usize| {
            let old = &self.lines[at];
            own.tells(&old.subject) || own.names_value_of(&old.subject) || !old.is_state()
        };
        if line.who < Speaker::Human || update == Update::New || update.olds().any(fits) {
            return update;
        }
        match self.behind(line) {
            Some(meant) if fits(meant.at) => Some(meant).into(),
            _ => update,
        }
    }

    /// What a brief sentence right behind it may correct.
    pub(super) fn behind(&self, line: &Line) -> Option<Meant> {
        let is_brief = line.text.split(' ').count() <= MOST_BRIEF && !says_when(&line.text);
        // Whoever isn't a person says what it was, or that it was otherwise.
        let says = match line.who {
            Speaker::Human => true,
            Speaker::Tool | Speaker::Injected => !line.subject.gone.is_empty(),
            _ => line.change > Change::None || line.subject.values.len() > 1,
        };
        // `Actually, would you mind making that 34 minutes?`; not `Is it 34 now?`
        let is_wish = line.who == Speaker::Human
            && line.change > Change::None
            && line.subject.gives_any()
            && (line.kind.is_task() || line.kind == Kind::Preference);
        if !says || !is_brief || line.text.ends_with(':') || asks(&line.text) && !is_wish {
            return None;
        }
        let near = self
            .said_here()
            .take_while(|(_, old)| is_near(line.at, old.at))
            .filter(|(_, old)| old.who >= line.who.min(Speaker::Model) && may_replace(line, old))
            .filter(|(_, old)| old.who != Speaker::System && !is_pasted(&old.text))
            .filter(|(_, old)| old.replaced.is_none() && !old.is_said_with(line))
            .filter(|(_, old)| old.kind != Kind::Question || !asks(&old.text))
            .take(LOOK_BACK);
        let found: Vec<(u32, usize)> =
            near.filter_map(|(at, old)| Some((self.means(line, old)?, at))).collect();
        // Of several nobody knows which.
        let is_sure = |at: usize| line.surely_means(&self.lines[at]);
        let sure = found.iter().filter(|(_, at)| is_sure(*at)).count();
        let (how, at) = found.iter().max().copied()?;
        let is_sure = how > WEAK && sure == 1 && is_sure(at) && !self.answers(line, at);
        Some(Meant { at, is_sure })
    }

    /// Whether the model asked for a value behind `old`, which `line` may be.
    pub(super) fn answers(&self, line: &Line, old: usize) -> bool {
        let is_between = |asked: u32| self.lines[old].at <= asked && asked < line.at;
        let may_be_one = line.change < Change::OfLast || line.is_set();
        may_be_one && line.subject.gives_any() && self.asked.is_some_and(is_between)
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
            || is_persons && strikes(&line.text, &old.text, line.change);
        // What was just said, and says how something is.
        let differs = || own.stands_for(theirs);
        // What was found or done gives a value, too.
        let gives = old.is_state() || old.kind == Kind::Goal || old.kind == Kind::Done && differs();
        let is_near = line.at - old.at <= JUST && gives;
        let is_last = is_near && old.who == line.who;
        let is_bare = || own.is_aside || !own.has_topic || !own.leaves_topic(theirs);
        // `For the record, that is now 70 dB`, `Update from Wen: 40`, `better 40`; not `update the lexer to 40`.
        let says_little = || {
            let points = || words(&line.text).any(|word| english().has(List::Pointers, &word));
            let is_all = || line.text.split(' ').count() <= LEAST_WORDS;
            let is_apart = || line.says_so() && line.text.contains([':', ',']);
            own.words <= MOST_LIGHT && (points() || is_all() || is_apart())
        };
        // In words, of what is given in words, or as a name.
        let is_figure = |one: &Subject| one.values.iter().any(|value| !value.is_literal());
        let is_choice = || {
            // `Change of heart: the old gym.`
            let is_task = line.kind.is_task() && !line.text.contains(':');
            let is_rule = line.kind == Kind::Constraint || is_task;
            line.says_so() && !is_rule && !is_figure(own) && !is_figure(theirs)
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
            () => return None,
        };
        // One that sets a value anew is elsewhere only where two of its words are, and the value fits.
        let is_set =
            is_persons && is_near && differs() && (line.change >= Change::Said || is_figure(own));
        let is_meant = |(at, words): (&u32, &usize)| {
            !is_set || *words > 1 && own.tells(&self.lines[*at as usize].subject)
        };
        let is_elsewhere =
            || self.named_besides(own, theirs).is_none_or(|lines| lines.iter().any(is_meant));
        if !named && is_elsewhere() {
            // What says so of the last is about that, if nothing that it names is found.
            return (is_persons && line.change == Change::OfLast && is_near).then_some(WEAK);
        }
        let shared = own.bag.shared(&theirs.bag).min(3) as u32;
        let is_alike =
            own.values.iter().any(|value| theirs.values.iter().any(|old| value.has_shape_of(old)));
        // What gives a value is rather meant than what goes on from there, and what was said last.
        let is_newest = old.is_state() && line.at - old.at < JUST;
        let tells = [old.is_sure, theirs.gives_any(), line.who == old.who];
        let tells: u32 = tells.into_iter().map(u32::from).sum();
        let place = u32::from(is_alike) + u32::from(is_newest);
        Some(sure + 4 * shared + 3 * place + 2 * tells)
    }

    /// The lines that have words of a sentence which are neither its values nor said by `theirs`, and how many; what many
    /// lines say names nothing. `None` if it says more than that.
    fn named_besides(&self, own: &Subject, theirs: &Subject) -> Option<HashMap<u32, usize>> {
        let rest = || own.bag.without(&theirs.bag).filter(|word| !own.is_value(*word));
        if rest().count() > MOST_BESIDES {
            return None;
        }
        let most = RARE.max(self.lines.len() / ONE_OF);
        let telling = rest().filter(|word| (1..=most).contains(&self.lines_about(*word)));
        let mut lines = HashMap::new();
        for word in telling {
            let of = [&self.about, &self.besides].map(|about| about.get(&word));
            for at in of.into_iter().flatten().flat_map(|of| of.iter().rev().take(LOOK_BACK)) {
                *lines.entry(*at).or_default() += 1;
            }
        }
        Some(lines)
    }
}

impl Line {
    /// Whether it begins as what gives a value does: `put 5 minutes`.
    fn is_set(&self) -> bool {
        words(&self.text).next().is_some_and(|word| english().has(List::Gives, &word))
    }

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
        // `It is 80 cm wide` is about something else than `30 cm deep`.
        let names_more = || own.bag.without(&theirs.bag).any(|word| !own.is_value(word));
        // `Wait 5 minutes` is a wish; `wait, 5 minutes` and `put 5 minutes` aren't.
        let is_wish = self.kind.is_task() && !own.takes_up && !self.is_set();
        let is_all = || own.is_aside || !is_wish && !names_more();
        let sets = || {
            let is_set = || !is_rule && own.sets_alike(theirs) && is_all();
            is_last && own.sets(theirs) && (says || is_set())
        };
        names || says && strikes(&self.text, &old.text, self.change) || sets()
    }
}

/// Whether a line in a person's message is a program's: `[File: a.py (5 lines)]`, `.text:00400621 c3 RET`, `6:end`.
fn is_pasted(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.starts_with(['[', '.', ';', '<', '{'])
        || digits > 0
            && text[digits..]
                .strip_prefix(':')
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        || is_code(text)
}

/// Whether the sentences of a text end with one that a value answers: `And the width?`, `Please give me the width`, `choose
/// 60 or 80 cm`; not `Is 30 cm right?`, `Anything else?` or `let me know if 30 cm is wrong`.
pub(super) fn wants_value(text: &str, sentences: &[Sentence]) -> bool {
    let mut last = sentences.iter().rev().take(LAST).map(|sentence| &text[sentence.range.clone()]);
    last.any(|said| {
        let is = |list: List| move |word: String| english().has(list, &word);
        let gives = || said.contains(|c: char| c.is_ascii_digit());
        if asks(said) {
            return !gives() && words(said).take(FIRST).any(is(List::Wants));
        }
        let requests = || !gives() && words(said).take(FIRST).any(is(List::Requests));
        (requests() || words(said).any(is(List::Offers))) && !words(said).any(is(List::Conditions))
    })
}

/// Whether a brief sentence begins with words of the older one, says no more of them and goes on with others:
/// `Not X, Y`, `not X. Y`, `lose X, take Y`; where it says that something changed, `swap X for Y`, too.
fn strikes(new: &str, old: &str, change: Change) -> bool {
    let marks = [",", ";", ". ", "! ", " and ", " with ", " for "];
    let marks = if change > Change::None { &marks[..] } else { &marks[..4] };
    let mut parts = marks.iter().filter_map(|mark| new.split_once(mark)).peekable();
    // Most have none of them.
    if parts.peek().is_none() {
        return false;
    }
    let old: Vec<String> = words(old).collect();
    parts.any(|(struck, rest)| is_struck(struck, rest, &old))
}

fn is_struck(struck: &str, rest: &str, old: &[String]) -> bool {
    let all = |text: &str| -> Vec<String> { words(text).collect() };
    let (struck, rest) = (all(struck), all(rest));
    let holds = |run: &[String]| !run.is_empty() && old.windows(run.len()).any(|of| of == run);
    let at = (0..=MOST_BEFORE).find(|at| struck.get(*at..).is_some_and(holds));
    let is_said = |at: usize| {
        struck[at..].iter().any(|word| word.len() > 3 && !english().has(List::Pointers, word))
    };
    let is_apart = rest.iter().all(|word| word.len() < 4 || !old.contains(word));
    at.is_some_and(is_said) && is_apart && !rest.is_empty()
}

/// The words of a text in lower case, without what stands around them.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
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

    /// Whether its figure, where that is a name, is written as one of the other's: `db-9` for `db-7`, not `eu-west1`.
    fn sets_alike(&self, other: &Self) -> bool {
        let is_alike =
            |new: &Value| !new.is_literal() || other.figures().any(|old| new.has_shape_of(old));
        self.figures().all(is_alike)
    }

    /// Its values that have digits.
    pub(super) fn figures(&self) -> impl Iterator<Item = &Value> {
        let is_figure = |value: &&Value| {
            value.sort != Sort::Code && value.text.contains(|c: char| c.is_ascii_digit())
        };
        self.values.iter().filter(is_figure)
    }

    pub(super) fn is_value(&self, word: u64) -> bool {
        self.values.iter().any(|value| value.digest == word)
    }

    /// Whether what it tells may stand for what the other one tells: a name beside a figure says who said so.
    fn tells(&self, other: &Self) -> bool {
        let has_figure = self.values.iter().any(|value| !value.is_literal());
        let mut told = self.values.iter().filter(|value| !has_figure || !value.is_literal());
        told.any(|own| self.has_for(own, other))
    }

    /// Whether it is about something that the other one doesn't say.
    fn leaves_topic(&self, other: &Self) -> bool {
        self.topic.without(&other.bag).next().is_some()
    }
}
