//! What was ruled, decided, found and left open: lines quoted from a transcript, without a model.
//!
//! Each sentence is judged by the phrases in it, by who said it and by where it stands ([`Kind`]);
//! what counts becomes a line, an exact excerpt with its source. A later line about the same subject
//! replaces the older one ([`Line::replaced`]), by people's words over people's, never by a tool's
//! over a person's. Where that isn't sure both stay, and the newer says so.

mod cues;
mod entry;
mod judge;
mod lane;
mod language;
mod output;
mod subject;
mod terms;
mod update;
mod words;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use self::cues::Cues;
use self::judge::judge;
use self::language::{Cue, english};
use self::output::Standing;
use self::subject::Subject;
use self::update::Update;
use self::words::Words;
use crate::text::cut;
use crate::text::split::{Kind as Place, sentences};

pub use self::lane::{Entry, read};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Index of the entry it was said in.
    pub at: u32,
    /// Who said it.
    pub who: Speaker,
    /// What it is.
    pub kind: Kind,
    /// The sentence, verbatim but for white space and what a reader couldn't see.
    pub text: String,
    /// The older line in whose place it stands.
    pub replaces: Option<usize>,
    /// An older line that it may contradict: nobody can say by the words alone.
    pub differs: Option<usize>,
    /// The newer line that stands in its place.
    pub replaced: Option<usize>,
    /// What an earlier checkpoint said behind it.
    note: String,
    /// The words as they stand in the transcript.
    source: String,
    /// Whether the entry it was said in is still shown in full.
    shown: bool,
    weight: i32,
    subject: Subject,
    /// How surely it takes something back.
    change: Change,
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
    /// For each sentence that is a line, which one.
    said: HashMap<String, u32>,
    /// Lines of tools taken so far.
    of_tools: usize,
    /// What was noted last: its line, and where it was said.
    last: Option<(usize, u32)>,
    /// What was just said no longer holds, and what does is to follow.
    withdrawn: bool,
    /// For each form of a tool's line, its figures left out, how often it came.
    forms: HashMap<String, u32>,
}

/// Longer sentences are cut at their end.
const MAX_LINE: usize = 320;
/// Sentences longer than this are no statements but dumps.
const MAX_SENTENCE: usize = 1_200;
/// Longer lines before a list speak of more than its items.
const MAX_LEAD: usize = 60;
/// Bytes of one text that are read from either end.
const WINDOW: usize = 48 * 1024;
/// Lines taken from one output of a tool, the best first come.
const MAX_OF_OUTPUT: usize = 12;
/// Lines of tools that begin alike.
const MAX_ALIKE: u32 = 3;
/// Lines of tools in all: what comes later is found by search, not by reading.
const MAX_OF_TOOLS: usize = 4_000;

impl Ledger {
    /// Reads what `who` said at entry `at`; `shown` says whether the entry is shown in full, so that
    /// its lines needn't be listed. Entries come in the order they were said.
    pub fn observe(&mut self, at: u32, who: Speaker, shown: Shown, text: &str) {
        if text.len() <= 2 * WINDOW {
            return self.read(at, who, shown, text);
        }
        self.read(at, who, shown, cut::head(text, WINDOW));
        self.read(at, who, shown, cut::tail(text, WINDOW));
    }

    fn read(&mut self, at: u32, who: Speaker, shown: Shown, text: &str) {
        if who == Speaker::Tool {
            return self.read_output(at, shown, text);
        }
        let mut lead = Lead::default();
        let mut asked = None;
        for sentence in sentences(text) {
            let mut raw = &text[sentence.range.clone()];
            // `Who signs it? Answered: Dana.` is one.
            if let Some(question) = asked
                .take()
                .filter(|_| answers(raw) || raw.trim_end_matches('.').ends_with(" there"))
            {
                raw = &text[question..sentence.range.end];
            }
            asked = raw.ends_with('?').then_some(sentence.range.start);
            match sentence.kind {
                Place::Code | Place::Row => continue,
                Place::Heading => {
                    lead = if raw.len() < MAX_LEAD { Lead::of(raw) } else { Lead::default() };
                    continue;
                }
                Place::Prose if raw.ends_with(':') && raw.len() < MAX_LEAD => lead = Lead::of(raw),
                Place::Prose if !lead.is_heading => lead = Lead::default(),
                Place::Prose | Place::Item => {}
            }
            // What somebody else said.
            if raw.len() > MAX_SENTENCE || raw.len() < 10 || raw.starts_with('>') {
                continue;
            }
            self.note(at, who, shown, raw, Standing::Free, &lead);
        }
    }

    fn read_output(&mut self, at: u32, shown: Shown, text: &str) {
        let mut taken = 0;
        let mut lead = Lead::default();
        for (stretch, standing) in output::prose(text) {
            if standing == Standing::Lead {
                lead = Lead::of(stretch);
                continue;
            }
            for sentence in sentences(stretch) {
                if taken >= MAX_OF_OUTPUT || self.of_tools >= MAX_OF_TOOLS {
                    return;
                }
                taken += usize::from(self.note(
                    at,
                    Speaker::Tool,
                    shown,
                    &stretch[sentence.range],
                    standing,
                    &lead,
                ));
            }
        }
    }

    /// Takes over the lines of an earlier checkpoint, before anything that was said after it.
    pub fn carry(&mut self, entries: Vec<Entry>) {
        for entry in entries {
            let words = Words::of(&entry.text);
            let cues = Cues::of(&entry.text, &words);
            let weight =
                judge(&entry.text, &words, &cues, entry.who).map_or(0, |verdict| verdict.weight);
            let line = Line {
                at: entry.at,
                who: entry.who,
                kind: entry.kind,
                replaces: None,
                differs: None,
                replaced: None,
                source: entry.text.clone(),
                shown: false,
                // It was worth its place once.
                weight: weight.max(entry.kind.weight() + entry.who.weight()) + 4,
                subject: Subject::of(&words, &cues),
                change: if entry.note.is_empty() { Change::None } else { Change::Said },
                note: entry.note,
                text: entry.text,
            };
            self.push(line);
        }
    }

    /// Whether the sentence became a line.
    fn note(
        &mut self,
        at: u32,
        who: Speaker,
        shown: Shown,
        raw: &str,
        standing: Standing,
        lead: &Lead,
    ) -> bool {
        let mut words = Words::of(raw);
        if english().owning().iter().any(|verb| words.follows(1, verb).is_some())
            && !english().has("pronouns", words.low(0))
        {
            words.name_first();
        }
        let mut cues = Cues::of(raw, &words);
        cues.lead(&lead.cues);
        if self.belongs_to_last(at, raw, &words) {
            return true;
        }
        let subject = Subject::of(&words, &cues);
        let mut change = cues.change();
        if cues.is_brief_change(&words) && !subject.has_topic {
            change = Change::OfLast;
        }
        if self.withdrawn && change < Change::OfLast {
            change = Change::OfLast;
        }
        self.withdrawn = change == Change::OfLast && words.len() < 4 && !cues.has(Cue::Value);
        // `Sorry, I meant lower case.` is whatever was said before it.
        let verdict = judge(raw, &words, &cues, who).or_else(|| {
            let kind = self
                .last
                .filter(|(_, said)| change == Change::OfLast && at - said <= update::NEARBY)
                .map(|(line, _)| self.lines[line].kind)?;
            (words.len() > 1 && who >= Speaker::Model && words.len() < 16)
                .then(|| judge::Verdict::of(kind, who))
        });
        let known = verdict.is_some();
        if !known && (who < Speaker::Tool || !(change >= Change::Said || cues.has(Cue::Labels))) {
            return false;
        }
        let verdict = verdict.unwrap_or(judge::Verdict::of(Kind::Fact, who));
        // A comment's values are the code's.
        if standing == Standing::Comment
            && !matches!(verdict.kind, Kind::Constraint | Kind::Decision | Kind::Open)
        {
            return false;
        }
        let text = cut::one_line(raw, MAX_LINE);
        let line = Line {
            at,
            who,
            kind: verdict.kind,
            replaces: None,
            differs: None,
            replaced: None,
            note: String::new(),
            source: raw.to_owned(),
            shown: shown == Shown::InFull,
            weight: verdict.weight - if standing == Standing::Comment { 25 } else { 0 },
            change,
            subject,
            text,
        };
        // What says nothing by itself may still take something back, or answer it.
        if !known && !matches!(self.update(&line), Update::Replaces(_)) {
            return false;
        }
        if line.who == Speaker::Tool && self.is_boilerplate(&line.text) {
            return false;
        }
        self.push(line)
    }

    /// Whether the sentence only says why the one before it was decided, or answers it; it is said with
    /// that one then.
    fn belongs_to_last(&mut self, at: u32, raw: &str, words: &Words) -> bool {
        let Some(line) = self.last.filter(|(_, said)| *said == at).map(|(line, _)| line) else {
            return false;
        };
        let starts = |phrases: &[&str]| {
            phrases.iter().any(|start| words.matches(0, start).is_some()) && words.len() > 2
        };
        let answers = self.lines[line].kind == Kind::Question
            && starts(&["answered", "answer", "resolved", "the answer", "yes", "no"]);
        let decided =
            matches!(self.lines[line].kind, Kind::Decision | Kind::Constraint | Kind::Preference);
        let reasons = decided
            && starts(&[
                "because",
                "reason",
                "rationale",
                "why",
                "that's because",
                "this is because",
                "the reason",
                "that is because",
            ]);
        let line = &mut self.lines[line];
        let text = format!("{} {}", line.text, cut::one_line(raw, MAX_LINE));
        if !(answers || reasons) || text.len() > 2 * MAX_LINE {
            return false;
        }
        line.text = text;
        line.at = at;
        if answers {
            line.kind = Kind::Fact;
        }
        true
    }

    /// Whether tools say this again and again, with other figures at most: nobody meant it. The first
    /// ones stay.
    fn is_boilerplate(&mut self, text: &str) -> bool {
        let form = text.replace(|c: char| c.is_ascii_digit(), "");
        let times = self.forms.entry(cut::head(&form, 24).to_owned()).or_default();
        *times += 1;
        *times > MAX_ALIKE
    }

    fn push(&mut self, mut line: Line) -> bool {
        if let Some(&same) = self.said.get(&line.text) {
            let same = &mut self.lines[same as usize];
            if same.replaced.is_none() {
                // Said again: the first source stays, the better speaker counts.
                same.weight = same.weight.max(line.weight) + 2;
                same.shown |= line.shown;
                self.last = Some((self.said[&line.text] as usize, line.at));
                return true;
            }
        }
        let own = self.lines.len();
        match self.update(&line) {
            Update::New => {}
            Update::Differs(older) => line.differs = Some(older),
            Update::Replaces(olds) => {
                line.weight += 12;
                line.replaces = olds.last().copied();
                for old in olds {
                    let old = &mut self.lines[old];
                    old.replaced = Some(own);
                    let answers = old.kind == Kind::Question;
                    if !answers && (!line.kind.is_task() || old.kind == Kind::Goal) {
                        line.kind = old.kind;
                    }
                    line.weight = line.weight.max(old.weight);
                }
            }
        }
        self.last = Some((own, line.at));
        for term in line.subject.bag.iter() {
            self.about.entry(term).or_default().push(own as u32);
        }
        self.said.insert(line.text.clone(), own as u32);
        self.of_tools += usize::from(line.who == Speaker::Tool);
        self.lines.push(line);
        true
    }

    /// All lines, also those that were replaced.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// What persons said and took back later: the entry, the words as they stand there, and the entry
    /// that says what holds.
    pub fn superseded(&self) -> impl Iterator<Item = (u32, &str, u32)> {
        let said = self.lines.iter().filter(|line| line.who == Speaker::Human);
        said.filter_map(|line| {
            let newest = &self.lines[self.newest(line.replaced?)];
            let sure = newest.who == Speaker::Human && newest.change > Change::None;
            sure.then_some((line.at, line.source.as_str(), newest.at))
        })
    }

    /// Whether a sentence, on one line, says what was replaced since.
    pub fn is_outdated(&self, sentence: &str) -> bool {
        self.said.get(sentence).is_some_and(|at| self.lines[*at as usize].replaced.is_some())
    }

    /// The line that stands at the end of a row of replacements.
    fn newest(&self, mut at: usize) -> usize {
        while let Some(next) = self.lines[at].replaced {
            at = next;
        }
        at
    }
}

fn answers(sentence: &str) -> bool {
    let start = cut::head(sentence, 12).to_ascii_lowercase();
    ["answered", "answer:", "answer is", "a:"].iter().any(|mark| start.starts_with(mark))
}

/// What stands before a list, or above it.
#[derive(Default)]
struct Lead {
    cues: Cues,
    is_heading: bool,
}

impl Lead {
    fn of(text: &str) -> Self {
        let bare = text.trim_start_matches('#');
        Self { cues: Cues::of(bare, &Words::of(bare)), is_heading: bare.len() < text.len() }
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
