//! What was ruled, decided, found and left open: lines quoted from a transcript, without a model.
//!
//! Each sentence is judged by the phrases in it, by who said it and by where it stands ([`Kind`]);
//! what counts becomes a line, an exact excerpt with its source (of a record in a tool's output its fields). A later line about the same subject
//! replaces the older one ([`Line::replaced`]), by people's words over people's, never by a tool's
//! over a person's. Where that isn't sure both stay, and the newer says so.

mod again;
mod apart;
mod behind;
mod beneath;
mod cues;
mod delta;
mod echo;
mod entry;
mod finished;
mod judge;
mod just;
mod lane;
mod language;
mod linked;
mod lists;
mod made;
mod newer;
mod noise;
mod observe;
mod output;
mod past;
mod pasted;
mod phrase;
mod printed;
mod quote;
mod record;
mod resume;
mod slot;
mod spare;
mod stamp;
mod statement;
mod stem;
mod stretch;
mod subject;
mod sure;
mod terms;
mod update;
mod value;
mod whence;
mod words;
mod worth;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use self::again::Again;
use self::lane::LEAST_BESIDES;
use self::slot::Frames;
use self::subject::Subject;
use self::update::{Naming, Update};
use self::words::Words;
use crate::transcript::Slot;

pub use self::delta::{Delta, Op, Proposed, Refused, Rows, Unread};
pub(crate) use self::delta::{Spoken, split};
pub(crate) use self::entry::{masked_texts, spoken};
pub use self::lane::{Breadth, Entry, Listing, read};
pub use self::made::Made;
pub(crate) use self::made::placed;
pub(crate) use self::noise::is_terse;
pub(crate) use self::resume::texts;
pub(crate) use self::whence::Whence;

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Speaker {
    /// A tool, in its output.
    Tool,
    /// A note that a client put in: a reminder, a hook's output, rules from a file.
    Injected,
    /// The model.
    Model,
    /// System or developer text.
    System,
    /// A person.
    Human,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Something that must be, mustn't be, or may be again.
    Constraint,
    /// A choice that was made.
    Decision,
    /// How somebody likes it.
    Preference,
    /// Where it is to lead.
    Goal,
    /// What something is: a value, an owner, a place.
    Fact,
    /// A task that can't go on.
    Blocked,
    /// A task that was begun.
    Underway,
    /// A task that is asked for, or left.
    Open,
    /// What nobody has answered yet.
    Question,
    /// A task that is finished.
    Done,
}

impl Kind {
    fn is_task(self) -> bool {
        matches!(self, Self::Blocked | Self::Underway | Self::Open | Self::Done)
    }
}

/// A sentence that counts.
#[expect(clippy::struct_excessive_bools, reason = "each is known of it by itself")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Index of the entry it was said in; of one that an earlier checkpoint stands for, its number.
    pub at: u32,
    /// Who said it.
    pub who: Speaker,
    /// What it is.
    pub kind: Kind,
    /// The sentence, verbatim but for white space and what a reader couldn't see; of a tool's record its fields, `name: support
    /// line; value: 0800 22`, and of a field that a difference changes what it is and what it was.
    pub text: String,
    /// The older line in whose place it stands.
    pub replaces: Option<usize>,
    /// An older line that it may contradict: nobody can say by the words alone.
    pub differs: Option<usize>,
    /// A newer line that may change it.
    pub newer: Option<usize>,
    /// The newer line that stands in its place.
    pub replaced: Option<usize>,
    /// Whether an earlier checkpoint listed or quoted it: its entry was counted elsewhere.
    carried: bool,
    /// What an earlier checkpoint said behind it.
    note: String,
    /// The words as they stand in the transcript.
    source: String,
    /// Whether one of the parts that it was said in is still shown in full.
    shown: bool,
    /// Which of the parts that were read say it.
    said_in: Vec<u32>,
    /// More is worth more of the budget.
    pub weight: i32,
    subject: Subject,
    /// How surely it takes something back.
    change: Change,
    /// Whether it says something by itself, and not only of what it takes back.
    alone: bool,
    /// Whether it is surely of its kind; what isn't is listed behind all others.
    is_sure: bool,
}

/// How surely a sentence takes an older one back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// It doesn't say so.
    #[default]
    None,
    /// A word that may mean it: now, new, raise.
    Hinted,
    /// It says so.
    Said,
    /// It says so of what was just said.
    OfLast,
}

/// Lines of a transcript, in the order they were said.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    lines: Vec<Line>,
    /// For each term of a subject the lines about it, oldest first.
    about: HashMap<u64, Vec<u32>>,
    /// The same of lines that aren't sure.
    besides: HashMap<u64, Vec<u32>>,
    /// How lines begin and end.
    frames: Frames,
    /// For each sentence that is a line, which one.
    said: HashMap<String, u32>,
    /// Lines of tools taken so far, and those that aren't sure and that no person said.
    of_tools: usize,
    unsure: usize,
    /// What was noted last: its line, and where it was said.
    last: Option<(usize, u32)>,
    /// What was just said no longer holds, and what does is to follow.
    withdrawn: bool,
    /// Where the model asked for a value last.
    asked: Option<u32>,
    /// The last two messages of persons that were read.
    heard: [Option<u32>; 2],
    /// What an earlier checkpoint lists, while its quotes are read.
    listed: HashSet<String>,
    /// The first line of an earlier checkpoint, while that is read.
    resuming: Option<usize>,
    /// Lines of earlier checkpoints in which a person took something back.
    standing: Vec<usize>,
    /// How many lines there were when an earlier checkpoint had been read: none behind them is from one.
    listed_to: usize,
    /// Changes that were proposed and made.
    changes: Vec<Made>,
    /// Changes of before that couldn't be made again.
    lost: Vec<Proposed>,
    /// For each form of a tool's line, its figures left out, how often it came.
    forms: HashMap<String, u32>,
    /// The parts that were read, in order, and the one that is being read.
    parts: Vec<Slot>,
    reading: Option<u32>,
    /// The words of the sentence that was read last: their memory takes the next one.
    words: Words,
    /// What came to nothing.
    again: Again,
}

/// What replaces something is worth so much more.
const REPLACING: i32 = 6;
/// What a person says once more is worth so much more.
const AGAIN: i32 = 2;
impl Ledger {
    /// Notes that a line says the same again, if one does: the first source stays, the better speaker counts.
    fn is_said_again(&mut self, line: &Line) -> bool {
        let Some(at) = self.said.get(&line.text).map(|at| *at as usize) else { return false };
        let newer = self.lines[at].newer;
        let replaced = self.lines[at].replaced.map(|newer| self.lines[newer].who);
        let same = &mut self.lines[at];
        if let Some(newer) = replaced {
            // What a person took back holds no more for being repeated.
            let holds = line.who >= Speaker::System || !line.is_state() || newer < Speaker::Human;
            return !holds;
        }
        if line.is_sure && !same.is_sure {
            return false;
        }
        same.weight = same.weight.max(line.weight);
        if line.who == Speaker::Human {
            same.weight += AGAIN;
        }
        // What a person says is theirs, whoever said it before.
        if line.who > same.who {
            (same.at, same.who, same.carried) = (line.at, line.who, false);
            same.source.clone_from(&line.source);
            if line.is_sure {
                same.kind = line.kind;
            }
        }
        same.shown |= line.shown;
        same.said_in.extend(&line.said_in);
        if line.is_sure {
            self.last = Some((at, line.at));
        }
        // Nothing is newer than what is said now.
        if let Some(newer) = newer.filter(|newer| self.lines[*newer].who <= line.who) {
            self.lines[at].newer = None;
            self.lines[newer].differs.take_if(|old| *old == at);
        }
        true
    }

    fn push(&mut self, mut line: Line) -> bool {
        let own = self.lines.len();
        let restored = self.restored(&line);
        if let Some((same, _)) = &restored {
            line.weight = line.weight.max(self.lines[*same].weight) + AGAIN;
            self.lines[*same].replaced = Some(own);
        } else if self.is_said_again(&line) || self.took_back(&line).is_some() {
            return true;
        }
        let is_known = line.is_sure;
        let update = match restored {
            Some((_, update)) => update,
            None if is_known => match self.apart(&line, self.update(&line)) {
                update @ (Update::New | Update::Touches(_)) => {
                    self.named_as_past(&line).map_or(update, Update::Differs)
                }
                update => update,
            },
            None => self.apart(&line, self.update_besides(&line)),
        };
        let update = self.with_echoes(&line, update);
        if !is_known && update == Update::New && line.weight < LEAST_BESIDES {
            return false;
        }
        if let Some(old) = update.newest_old().filter(|_| !is_known) {
            line.stand_beside(&self.lines[old]);
        }
        match update {
            Update::New => {}
            Update::Touches(older) => self.note_newer(&line, older),
            Update::Corrects(older) => {
                line.kind = self.lines[older].kind;
                line.weight += REPLACING;
                return self.correct(line, older, Naming::Old);
            }
            Update::Differs(older) => {
                line.differs = Some(older);
                self.note_newer(&line, older);
            }
            Update::Replaces(olds) => {
                line.weight += if line.who >= Speaker::System { REPLACING } else { 2 };
                line.replaces = olds.last().copied();
                let forbids = line.forbids();
                for old in olds {
                    let old = &mut self.lines[old];
                    old.replaced = Some(own);
                    let answers = old.kind == Kind::Question;
                    let is_unknown = !is_known && old.kind.is_task();
                    let is_one = !line.kind.is_task() || old.kind == Kind::Goal;
                    if !answers && !is_unknown && !forbids && is_one {
                        line.kind = old.kind;
                    }
                    line.weight = line.weight.max(old.weight);
                }
            }
        }
        self.append(line);
        true
    }

    /// Adds a line that corrects `old` without saying what it is about.
    fn correct(&mut self, mut line: Line, old: usize, naming: Naming) -> bool {
        let own = self.lines.len();
        line.weight = line.weight.max(self.lines[old].weight);
        match naming {
            Naming::Old => {
                line.replaces = Some(old);
                line.change = Change::OfLast;
                for at in self.ended(&line, old) {
                    self.lines[at].replaced = Some(own);
                }
            }
            Naming::Nothing => {
                line.differs = Some(old);
                self.note_newer(&line, old);
            }
        }
        self.append(line);
        true
    }

    fn append(&mut self, mut line: Line) {
        let own = self.lines.len();
        // What begins with the sentence before it says that one, too.
        let begun = self.last.filter(|(_, at)| line.who == Speaker::Human && *at == line.at);
        let begun = begun.map(|(last, _)| last);
        if let Some(last) = begun.filter(|last| line.text.starts_with(&self.lines[*last].text)) {
            self.lines[last].replaced = Some(own);
        }
        if line.is_sure {
            self.last = Some((own, line.at));
            self.of_tools += usize::from(line.who == Speaker::Tool);
            self.take_over(&mut line, own);
        } else {
            self.unsure += usize::from(line.who < Speaker::Human);
        }
        let about = if line.is_sure { &mut self.about } else { &mut self.besides };
        for term in line.subject.bag.iter() {
            about.entry(term).or_default().push(own as u32);
        }
        self.frames.take(&line, own);
        self.said.insert(line.text.clone(), own as u32);
        self.lines.push(line);
    }

    /// Lets `line` stand for what was said in the same words when nobody knew what it was.
    fn take_over(&mut self, line: &mut Line, own: usize) {
        let same = self.said.get(&line.text).map(|at| &mut self.lines[*at as usize]);
        if let Some(same) = same.filter(|same| !same.is_sure && same.replaced.is_none()) {
            same.replaced = Some(own);
            line.weight = line.weight.max(same.weight);
            line.shown |= same.shown;
            line.said_in.extend(&same.said_in);
        }
    }

    /// In how many lines `term` stands.
    fn lines_about(&self, term: u64) -> usize {
        [&self.about, &self.besides].iter().map(|about| about.get(&term).map_or(0, Vec::len)).sum()
    }

    /// Tells anew what is shown: the entries that were read, in another view.
    pub fn show(&mut self, shown: impl Fn(Slot) -> Shown) {
        let is_shown = |part: &u32| shown(self.parts[*part as usize]) == Shown::InFull;
        for line in &mut self.lines {
            line.shown = line.said_in.iter().any(is_shown);
        }
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        // With its subject, and where that is found; and with how it begins.
        const SUBJECT: usize = 768;
        const FORM: usize = 96;
        let texts = |line: &Line| 2 * line.text.len() + line.source.len() + line.note.len();
        let lines: usize = self.lines.iter().map(|line| texts(line) + SUBJECT).sum();
        lines
            + self.lines.len() * size_of::<Line>()
            + self.forms.len() * FORM
            + self.parts.len() * size_of::<Slot>()
            + self.again.bytes()
    }

    /// All lines, also those that were replaced.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }
}

impl Line {
    /// What `who` said at entry `at`, which takes the place of nothing and is surely a fact until somebody says otherwise.
    fn said(at: u32, who: Speaker, source: String, text: String, subject: Subject) -> Self {
        Line {
            at,
            who,
            kind: Kind::Fact,
            text,
            replaces: None,
            differs: None,
            newer: None,
            replaced: None,
            carried: false,
            note: String::new(),
            source,
            shown: false,
            said_in: Vec::new(),
            weight: 0,
            subject,
            change: Change::None,
            alone: true,
            is_sure: true,
        }
    }

    /// Takes what it may change for its measure: it is surely worth listing then.
    fn stand_beside(&mut self, old: &Self) {
        if old.is_sure && self.who >= old.who {
            self.kind = if old.is_state() { old.kind } else { Kind::Fact };
            self.weight = self.weight.max(old.weight);
            self.is_sure = true;
        }
    }

    /// Where it was said.
    pub(crate) fn whence(&self) -> Whence {
        if self.carried { Whence::Before(self.at) } else { Whence::Here(self.at) }
    }

    /// Whether both were said in one entry.
    fn is_said_with(&self, other: &Self) -> bool {
        self.whence() == other.whence()
    }

    /// Whether `next` says that this holds no longer, so surely that somebody's words may be struck out for it.
    fn is_taken_back_by(&self, next: &Line) -> bool {
        let topic = &self.subject.topic;
        let shared = topic.shared(&next.subject.bag);
        let differs = next.subject.differs_in_value(&self.subject);
        match self.kind {
            Kind::Question => next.subject.settles && shared > 0,
            kind if kind.is_task() => shared > 0 && (next.kind.is_task() || differs),
            kind => match next.change {
                Change::None | Change::Hinted => shared == topic.len() && differs,
                Change::Said => shared > 0 && (differs || kind == Kind::Constraint),
                Change::OfLast => true,
            },
        }
    }
}

/// How much of an entry is still shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// All of it.
    InFull,
    /// Not all of it: what counts in it is to be listed.
    Elsewhere,
}
