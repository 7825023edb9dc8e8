//! The ledger as a lane of a checkpoint, within a budget, and read back from one.
//!
//! One line each: `- [12 user] Never push to main.` under the heading of its kind. What replaced
//! something says where the older stands, not what it said; what may be newer than something has that beneath it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::beneath::{self, Beneath};
use super::subject::Subject;
use super::value::Value;
use super::worth::is_printed_code;
use super::{Change, Kind, Ledger, Line, Speaker};
use crate::text::cut;
use crate::transcript::Numbering;

/// Headings in their order, and which kinds stand under each.
const HEADINGS: [(&str, &[Kind]); 6] = [
    ("Constraints:", &[Kind::Constraint]),
    ("Decisions:", &[Kind::Decision]),
    ("Preferences:", &[Kind::Preference]),
    ("Facts:", &[Kind::Fact]),
    ("Goals and tasks:", &[Kind::Goal, Kind::Blocked, Kind::Underway, Kind::Open, Kind::Done]),
    ("Open questions:", &[Kind::Question]),
];

/// What is worth less isn't listed, whatever room there is.
pub(super) const LEAST: i32 = 20;
/// Facts that nobody but a tool or a client states: most are about the output that they stand in.
const LEAST_OF_OUTPUT: i32 = 28;

/// What says something and fits no heading is worth at least so much, to be kept behind all others.
pub(super) const LEAST_BESIDES: i32 = 4;
/// Points for each of its words that no other line has, and how many of them count.
const NOVELTY: i32 = 5;
const MOST_NOVEL: usize = 3;
/// Points for being recent, at most; and bytes of a line that cost a point once more: what is short leaves room for others.
const RECENT: usize = 10;
const BYTES: usize = 20;
/// The heading of that.
const BESIDES: &str = "Said besides (replaces nothing):";

/// Each line of an entry that is listed makes the next one worth so much less, up to so many.
const CROWD: i32 = 3;
const MOST_CROWDED: i32 = 10;

/// What a note says of an older line, in characters.
const MAX_NOTE: usize = 80;

/// Nobody knows what stands under the last heading.
const OTHERS: &[Kind] = &[Kind::Fact];

pub(super) const IN_PLACE: &str = " (in place of message ";
const NEWER: &str = " (newer than message ";
const OTHERWISE: &str = ", which says otherwise";
const OLDER: &str = " (see message ";
const IS_NEWER: &str = ", which is newer";
/// Behind words that end like a note, which is theirs then.
pub(super) const OWN: &str = " (in these words)";

/// Which lines a lane may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Breadth {
    /// Those that are surely something that a ledger holds.
    Sure,
    /// Behind them what only seems to say something.
    Any,
}

/// Lines that may be listed, to be rendered at any length.
#[derive(Debug)]
pub struct Listing<'a> {
    pub(super) ledger: &'a Ledger,
    /// The best first.
    order: Vec<usize>,
    pub(super) is_besides: HashSet<usize>,
    beneath: Beneath,
    pub(super) numbering: Numbering,
}

/// Lines that may be listed, by number, the best first.
struct Ranked {
    sure: Vec<usize>,
    besides: Vec<usize>,
}

/// A line as a checkpoint lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number of the message where it was said.
    pub at: u32,
    /// By whom.
    pub who: Speaker,
    /// What it is.
    pub kind: Kind,
    /// As [`Line::text`].
    pub text: String,
    /// What it stands for or differs from; empty for most.
    pub note: String,
    /// Whether it is surely of that kind.
    pub is_sure: bool,
    /// What it is newer than and may change, oldest first.
    pub older: Vec<Entry>,
}

impl Speaker {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Injected => "note",
            Self::Model => "model",
            Self::System => "system",
            Self::Human => "user",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [Self::Tool, Self::Injected, Self::Model, Self::System, Self::Human]
            .into_iter()
            .find(|who| who.name() == name)
    }
}

impl Line {
    /// What it must be worth to be listed at all.
    pub(super) fn least(&self) -> i32 {
        let is_output = self.who < Speaker::Model && matches!(self.kind, Kind::Fact | Kind::Done);
        if is_output { LEAST_OF_OUTPUT } else { LEAST }
    }

    /// Whether it doesn't hold by itself: there is something newer, or it differs from something.
    pub fn is_noted(&self) -> bool {
        self.newer.or(self.replaced).is_some() || !self.note.is_empty()
    }

    /// The words as they stand where they were said.
    pub fn source(&self) -> &str {
        &self.source
    }
}

impl Kind {
    /// The word for a task's state, which its heading doesn't say.
    fn state(self) -> &'static str {
        match self {
            Self::Blocked => "blocked: ",
            Self::Underway => "in progress: ",
            Self::Open => "open: ",
            Self::Done => "done: ",
            Self::Goal => "goal: ",
            _ => "",
        }
    }
}

impl Ledger {
    /// The best lines in at most `bytes`, in the order they were said, under their headings. Lines
    /// that are shown where they were said are left out, unless they replace something.
    pub fn render(&self, bytes: usize) -> String {
        self.listing(Breadth::Any, &|_| false).render(bytes)
    }

    /// What may be listed without what is said elsewhere, unless it replaces what isn't; to be rendered at any length.
    pub fn listing(&self, breadth: Breadth, is_said: &dyn Fn(&Line) -> bool) -> Listing<'_> {
        let Ranked { sure, besides } = self.order();
        let mut is_besides: HashSet<usize> = besides.iter().copied().collect();
        let besides = if breadth == Breadth::Any { besides } else { Vec::new() };
        let mut order: Vec<usize> = sure.into_iter().chain(besides).collect();
        order.retain(|at| {
            let line = &self.lines[*at];
            let stands_for = line.replaces.map(|old| &self.lines[old]);
            stands_for.is_some_and(|old| !is_said(old)) || !is_said(line)
        });
        let beneath = self.beneath(&mut order, &mut is_besides);
        Listing { ledger: self, order, is_besides, beneath, numbering: Numbering::default() }
    }

    /// The lines that are listed as what they are, the best first.
    pub fn ranked(&self) -> impl Iterator<Item = &Line> {
        self.order().sure.into_iter().map(|at| &self.lines[at])
    }

    fn order(&self) -> Ranked {
        let mut order: Vec<usize> =
            (0..self.lines.len()).filter(|&at| self.is_listed(at)).collect();
        let recent = |at: usize| i32::try_from(at * RECENT / self.lines.len()).unwrap_or(0);
        let many = |at: usize| {
            let line = &self.lines[at];
            if line.who < Speaker::System && self.is_one_of_many(line) { 12 } else { 0 }
        };
        let mut novelty = vec![0; self.lines.len()];
        for at in &order {
            novelty[*at] = self.novelty(*at);
        }
        // New words tell which line goes first, not whether it is surely something.
        let own = |at: usize| if self.lines[at].is_sure { 0 } else { novelty[at] };
        let score = |at: usize| self.lines[at].weight + recent(at) + own(at) - many(at);
        order.sort_by_cached_key(|&at| (Reverse(score(at)), Reverse(at)));
        // The more of one output or answer is listed, the less the next line of it tells.
        let mut listed: HashMap<u32, i32> = HashMap::new();
        let mut crowd = |at: &usize| {
            let line = &self.lines[*at];
            if line.who >= Speaker::System {
                return 0;
            }
            let before = listed.entry(line.at).or_default();
            *before += 1;
            CROWD * (*before - 1).min(MOST_CROWDED)
        };
        let mut scored: Vec<(i32, usize)> =
            order.iter().map(|at| (score(*at) - crowd(at), *at)).collect();
        scored.retain(|(score, _)| *score >= 0);
        let length =
            |at: usize| i32::try_from(self.lines[at].text.len() / BYTES).unwrap_or(i32::MAX / 2);
        scored.sort_by_cached_key(|(score, at)| {
            (Reverse(*score + novelty[*at] - own(*at) - length(*at)), Reverse(*at))
        });
        let is_sure = |(score, at): &(i32, usize)| {
            let line = &self.lines[*at];
            line.is_sure && *score >= line.least()
        };
        let (sure, mut besides): (Vec<_>, Vec<_>) = scored.into_iter().partition(is_sure);
        besides.retain(|(_, at)| {
            let line = &self.lines[*at];
            line.who > Speaker::Tool || !is_printed_code(&line.text)
        });
        let numbers = |scored: Vec<(i32, usize)>| scored.into_iter().map(|(_, at)| at).collect();
        Ranked { sure: numbers(sure), besides: numbers(besides) }
    }

    /// Points that a line has for words that no other line has, but for those that it speaks of: it can't be found
    /// anywhere else. What people say needs none to be listed as what it is.
    fn novelty(&self, at: usize) -> i32 {
        let line = &self.lines[at];
        if line.is_sure && line.who >= Speaker::System {
            return 0;
        }
        let of_it = usize::from(line.replaces.is_some())
            + usize::from(line.differs.is_some() || line.newer.is_some());
        let is_rare = |term: &u64| self.lines_about(*term) < 2 + of_it;
        let rare = line.subject.specific.iter().filter(is_rare).take(MOST_NOVEL).count();
        NOVELTY * i32::try_from(rare).unwrap_or(0)
    }

    fn is_listed(&self, at: usize) -> bool {
        let line = &self.lines[at];
        line.replaced.is_none() && (!line.shown || line.replaces.is_some())
    }

    /// What is said behind a line.
    pub(super) fn note_on(&self, line: &Line, numbering: &Numbering) -> String {
        let number = |line: &Line| line.whence().number(numbering);
        let marked = line.who >= Speaker::Model;
        if line.text.contains(beneath::MARK) {
            OWN.to_owned()
        } else if let Some(old) = line.replaces.filter(|_| marked).map(|old| &self.lines[old]) {
            format!("{IN_PLACE}{}{})", number(old), self.about(line, old))
        } else if let Some(new) = line.newer.map(|new| &self.lines[self.newest(new)]) {
            format!("{OLDER}{}{IS_NEWER}{})", number(new), new.quoted())
        } else if let Some(old) = line.differs.filter(|_| marked).map(|old| &self.lines[old]) {
            format!("{NEWER}{}{OTHERWISE}{})", number(old), self.about(line, old))
        } else if !line.note.is_empty() {
            line.note.clone()
        } else if note_of(&line.text).is_some() {
            OWN.to_owned()
        } else {
            String::new()
        }
    }
}

impl Ledger {
    /// What the older line was about, its values left out, where the newer doesn't say.
    fn about(&self, line: &Line, old: &Line) -> String {
        let says = line.change < Change::OfLast && line.subject.topic.shared(&old.subject.bag) > 0;
        if says {
            return String::new();
        }
        // Of corrections in a row the first says what they are about.
        let mut first = old;
        while first.change == Change::OfLast
            && let Some(before) = first.replaces.or(first.differs)
        {
            first = &self.lines[before];
        }
        if let Some(subject) = first.noted_subject() {
            return format!(": {subject}");
        }
        format!(": {}", first.without_values(&line.subject))
    }
}

impl Line {
    /// What a note carried from an earlier checkpoint says that it is about.
    pub(super) fn noted_subject(&self) -> Option<&str> {
        let (before, subject) = self.note.split_once(": ")?;
        (!before.starts_with(OLDER)).then(|| subject.trim_end_matches(')'))
    }

    /// What it says, without the values in whose place `newer` gives others, or without any if there are none; in as many
    /// words as a note has.
    pub(super) fn without_values(&self, newer: &Subject) -> String {
        // Of a long sentence what stands before its value: that says of what.
        let figure = self
            .subject
            .values
            .iter()
            .filter(|value| value.text.contains(|c: char| c.is_ascii_digit()));
        let lower = self.text.to_lowercase();
        let at =
            figure.filter_map(|value| lower.find(&value.text)).max().filter(|at| *at >= MAX_NOTE);
        let from = at.map_or(0, |at| {
            let begin = cut::floor(&lower, at + MAX_NOTE / 8 - MAX_NOTE);
            lower[begin..at].find(' ').map_or(begin, |space| begin + space + 1)
        });
        let mut text = cut::one_line(&lower[from..], MAX_NOTE);
        for value in self.subject.given_anew_by(newer) {
            text = value.left_out_of(&text);
        }
        let text = text.replace(['(', ')'], "").replace("… …", "…");
        text.trim_end_matches('.').to_owned()
    }
}

impl Subject {
    /// Its values in whose place `newer` gives others, as surely as can be; all, if there are none.
    fn given_anew_by(&self, newer: &Self) -> Vec<&Value> {
        let fitting = |fits: fn(&Value, &Value) -> bool| -> Vec<&Value> {
            let is_given = |old: &&Value| newer.values.iter().any(|new| fits(new, old));
            self.values.iter().filter(is_given).collect()
        };
        let mut fitting = [Value::is_one_with, Value::is_like].into_iter().map(fitting);
        fitting.find(|found| !found.is_empty()).unwrap_or_else(|| self.values.iter().collect())
    }
}

impl Listing<'_> {
    /// The same, its messages counted in the whole conversation.
    #[must_use]
    pub fn numbered(self, numbering: &Numbering) -> Self {
        Self { numbering: numbering.clone(), ..self }
    }

    /// As [`Ledger::render`].
    pub fn render(&self, bytes: usize) -> String {
        let ledger = self.ledger;
        let mut left = bytes;
        let mut titles: HashSet<&str> = HashSet::new();
        let mut chosen: Vec<(usize, String)> = Vec::new();
        let mut choose = |at: usize, show: &dyn Fn(usize) -> String| {
            // Its text alone is longer.
            if ledger.lines[at].text.len() >= left {
                return false;
            }
            let shown = show(at);
            let title = self.title(at);
            let above = if titles.contains(title) { 0 } else { title.len() + 1 };
            let fits = above + shown.len() < left;
            if fits {
                left -= above + shown.len() + 1;
                titles.insert(title);
                chosen.push((at, shown));
            }
            fits
        };
        for at in self.order.iter().copied() {
            if choose(at, &|at| self.shown(at)) {
                continue;
            }
            // Where both have no room in one line, each may have some by itself.
            for old in self.beneath.get(&at).into_iter().flatten().chain([&at]).rev() {
                choose(*old, &|at| self.alone(at));
            }
        }
        chosen.sort_unstable();
        let mut out = String::new();
        for title in HEADINGS.iter().map(|(title, _)| *title).chain([BESIDES]) {
            let mut lines = chosen.iter().filter(|(at, _)| self.title(*at) == title).peekable();
            if lines.peek().is_some() {
                let _ = writeln!(out, "{title}");
                lines.for_each(|(_, shown)| {
                    let _ = writeln!(out, "{shown}");
                });
            }
        }
        out
    }

    /// A line with its source, and with what is beneath it.
    fn shown(&self, at: usize) -> String {
        let Some(olds) = self.beneath.get(&at) else { return self.alone(at) };
        let line = &self.ledger.lines[at];
        // What it differs from stands there already.
        let is_told = line.replaces.is_none() && line.note.is_empty();
        let mut out = if is_told { self.with(at, "") } else { self.alone(at) };
        for old in olds {
            out.push_str(&self.shown_beneath(*old, at));
        }
        out
    }

    /// A line without what is beneath it.
    fn alone(&self, at: usize) -> String {
        self.with(at, &self.ledger.note_on(&self.ledger.lines[at], &self.numbering))
    }

    fn with(&self, at: usize, note: &str) -> String {
        let line = &self.ledger.lines[at];
        let state = if self.is_besides.contains(&at) { "" } else { line.kind.state() };
        let number = line.whence().number(&self.numbering);
        format!("- [{number} {}] {state}{}{note}", line.who.name(), line.text)
    }

    /// The heading that a line stands under.
    fn title(&self, at: usize) -> &'static str {
        if self.is_besides.contains(&at) {
            return BESIDES;
        }
        let kind = self.ledger.lines[at].kind;
        let title = HEADINGS.iter().find(|(_, kinds)| kinds.contains(&kind));
        title.map_or(BESIDES, |(title, _)| title)
    }
}

/// The note behind a line, if there is one: in no other words than those that are written.
pub(super) fn note_of(line: &str) -> Option<&str> {
    let note = &line[line.rfind(" (")?..];
    if note == OWN {
        return Some(note);
    }
    let inner = note.strip_suffix(')').filter(|inner| !inner.contains(')'))?;
    let marks = [(IN_PLACE, ""), (NEWER, OTHERWISE), (OLDER, IS_NEWER)];
    let is_one = marks.iter().any(|(mark, says)| {
        let rest = inner.strip_prefix(mark).unwrap_or_default();
        let said = rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let subject = said.strip_prefix(says).filter(|_| said.len() < rest.len());
        subject.is_some_and(|it| match *mark {
            OLDER => it.is_empty() || beneath::is_quote(it),
            _ => it.is_empty() || it.starts_with(": "),
        })
    });
    is_one.then_some(note)
}

/// Reads a lane back; empty for anything else.
pub fn read(lane: &str) -> Vec<Entry> {
    let mut heading = &HEADINGS[0].1;
    let mut is_sure = true;
    let mut found = Vec::new();
    for line in lane.lines() {
        if line == BESIDES {
            (heading, is_sure) = (&OTHERS, false);
            continue;
        }
        if let Some((_, kinds)) = HEADINGS.iter().find(|(title, _)| *title == line) {
            heading = kinds;
            continue;
        }
        let (first, olds) = beneath::split(line);
        let entry = first.strip_prefix("- [").and_then(said_by).and_then(|(at, who, text)| {
            let kind = heading
                .iter()
                .find(|kind| !kind.state().is_empty() && text.starts_with(kind.state()));
            let kind = *kind.or(heading.first())?;
            let text = text.strip_prefix(kind.state()).unwrap_or(text);
            let (text, note) = text.split_at(text.len() - note_of(text).map_or(0, str::len));
            let older = olds.iter().filter_map(|old| beneath::read(old, kind)).collect();
            let (text, note) = (text.to_owned(), note.to_owned());
            Some(Entry { at, who, kind, text, note, is_sure, older })
        });
        found.extend(entry);
    }
    found
}

/// Where and by whom a line was said, and its text, behind its first bracket.
pub(super) fn said_by(line: &str) -> Option<(u32, Speaker, &str)> {
    let (source, text) = line.split_once("] ")?;
    let (at, who) = source.split_once(' ')?;
    Some((at.parse().ok()?, Speaker::of(who)?, text))
}
