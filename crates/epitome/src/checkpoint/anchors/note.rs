//! What is known of an anchor beside its text, and how that is written and read back: ` (edited
//! ×3)`, ` → failed, exit code 2`.

use std::fmt::Write as _;

use super::entry::{read_plain, row_text};
use super::lane::Note;
use super::render::Section;
use super::tally::Tests;
use crate::json::quote;
use crate::text::Outcome;

/// What was done to a file, and how often.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Touches {
    pub(super) created: u32,
    pub(super) edited: u32,
    pub(super) deleted: u32,
    pub(super) read: u32,
    /// Named, listed or searched.
    pub(super) seen: u32,
}

/// How a command went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Runs {
    pub(super) times: u32,
    pub(super) last: Outcome,
    pub(super) code: Option<i32>,
    /// It failed before it went well.
    pub(super) recovered: bool,
    /// It only looked.
    pub(super) minor: bool,
    /// What it said of the tests that it ran last.
    pub(super) tests: Option<Tests>,
    /// The entry in which it failed last.
    pub(super) failed_at: Option<u32>,
}

/// How often an error line was seen, and whether the command that printed it went well later.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Slips {
    pub(super) times: u32,
    pub(super) fix: Fix,
    pub(super) command: Option<Box<str>>,
}

/// Whether what an error says is mended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Fix {
    #[default]
    Open,
    Done,
    /// Done, and nothing but this was between: `editing src/a.rs`.
    After(Box<str>),
}

/// The name under which an id was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Label(pub(super) Option<Box<str>>);

impl Note for Touches {
    fn absorb(&mut self, older: Self) {
        self.created += older.created;
        self.edited += older.edited;
        self.deleted += older.deleted;
        self.read += older.read;
        self.seen += older.seen;
    }
}

impl Note for Runs {
    fn absorb(&mut self, older: Self) {
        self.times += older.times;
        self.recovered |= self.last == Outcome::Ok && older.last == Outcome::Error;
    }

    fn bonus(&self) -> i32 {
        let telling = match self.last {
            Outcome::Error => 24,
            _ if self.recovered => 48,
            _ => 0,
        };
        if self.minor { telling - 72 } else { telling }
    }
}

impl Note for Slips {
    fn absorb(&mut self, older: Self) {
        self.times += older.times;
    }

    fn bonus(&self) -> i32 {
        if self.fix == Fix::Open { 0 } else { -48 }
    }
}

impl Note for Label {
    fn absorb(&mut self, older: Self) {
        self.0 = self.0.take().or(older.0);
    }

    fn bonus(&self) -> i32 {
        if self.0.is_some() { 16 } else { 0 }
    }
}

impl Touches {
    pub(super) fn is_changed(&self) -> bool {
        self.created + self.edited + self.deleted > 0
    }

    pub(super) fn is_only_read(&self) -> bool {
        !self.is_changed() && self.read > 0
    }

    pub(super) fn is_only_seen(&self) -> bool {
        !self.is_changed() && self.read == 0 && self.seen > 0
    }

    pub(super) fn changes(&self) -> String {
        noted(&[("created", self.created), ("edited", self.edited), ("deleted", self.deleted)])
    }

    pub(super) fn weight(self) -> u32 {
        let changes = self.created.saturating_add(self.edited).saturating_add(self.deleted);
        changes
            .saturating_mul(4)
            .saturating_add(self.read.saturating_mul(2))
            .saturating_add(self.seen)
    }

    pub(super) fn read(section: Section, note: &str) -> Option<Self> {
        let mut touches = Self::default();
        for (word, count) in parts(note) {
            match word {
                "created" => touches.created = count,
                "edited" => touches.edited = count,
                "deleted" => touches.deleted = count,
                "" if section == Section::Read => touches.read = count,
                "" if section == Section::Seen => touches.seen = count,
                _ => return None,
            }
        }
        match section {
            Section::Read => touches.read = touches.read.max(1),
            Section::Seen => touches.seen = touches.seen.max(1),
            _ if !touches.is_changed() => return None,
            _ => {}
        }
        Some(touches)
    }
}

impl Runs {
    pub(super) fn note(&self) -> String {
        let went = match (self.last, self.code) {
            (Outcome::Ok, _) if self.recovered => "ok, failed before".to_owned(),
            (Outcome::Ok, _) => "ok".to_owned(),
            (Outcome::Error, Some(code)) => format!("failed, exit code {code}"),
            (Outcome::Error, None) => "failed".to_owned(),
            (Outcome::Unknown, _) if self.times < 2 && self.tests.is_none() => {
                return String::new();
            }
            (Outcome::Unknown, _) => "ran".to_owned(),
        };
        let tests = self.tests.map(Tests::note).unwrap_or_default();
        format!(" → {went}{tests}{}", times(self.times))
    }

    pub(super) fn read(note: &str) -> Option<Self> {
        let mut runs = Self { times: 1, ..Self::default() };
        let Some(note) = note.strip_prefix(" → ") else { return note.is_empty().then_some(runs) };
        let (went, count) =
            note.split_once(" (×").map_or((note, None), |(went, count)| (went, Some(count)));
        if let Some(count) = count {
            runs.times = count.strip_suffix(')')?.parse().ok()?;
        }
        let (went, tests) = Tests::read(went);
        runs.tests = tests;
        runs.last = match went {
            "ok" => Outcome::Ok,
            "ok, failed before" => {
                runs.recovered = true;
                Outcome::Ok
            }
            "failed" => Outcome::Error,
            "ran" => Outcome::Unknown,
            _ => {
                runs.code = Some(went.strip_prefix("failed, exit code ")?.parse().ok()?);
                Outcome::Error
            }
        };
        (runs.note() == format!(" → {note}")).then_some(runs)
    }
}

/// Words before what was done in between.
const AFTER: &str = "fixed after ";

impl Slips {
    pub(super) fn note(&self) -> String {
        match &self.fix {
            Fix::Open => noted(&[("", self.times)]),
            Fix::Done => noted(&[("", self.times), ("fixed", 1)]),
            Fix::After(what) => noted(&[("", self.times), (&format!("{AFTER}{what}"), 1)]),
        }
    }

    pub(super) fn read(note: &str) -> Option<Self> {
        let mut slips = Self { times: 1, ..Self::default() };
        for (word, count) in parts(note) {
            match (word, word.strip_prefix(AFTER)) {
                ("", _) => slips.times = count,
                ("fixed", _) => slips.fix = Fix::Done,
                (_, Some(what)) => slips.fix = Fix::After(what.into()),
                _ => return None,
            }
        }
        Some(slips)
    }
}

impl Label {
    pub(super) fn written(&self, id: &str) -> String {
        match &self.0 {
            Some(label) => format!("{label}={}", row_text(id, "", &read_plain)),
            None if id.contains('=') => quote(id),
            None => row_text(id, "", &read_plain),
        }
    }

    pub(super) fn read(entry: &str) -> Option<(String, Self)> {
        if !entry.starts_with('"')
            && let Some((label, id)) = entry.split_once('=')
        {
            return Some((read_plain(id)?.0, Self(Some(label.into()))));
        }
        Some((read_plain(entry)?.0, Self(None)))
    }
}

/// Whether this is a note of ours, ` (edited ×3; fixed)`, and not the end of a value.
pub(super) fn is_note(text: &str) -> bool {
    let words = ["created", "edited", "deleted", "fixed"];
    let is_word = |word| words.contains(&word) || word.strip_prefix(AFTER).is_some_and(is_plain);
    parts(text).all(|(word, count)| is_word(word) || (word.is_empty() && count > 1))
}

/// Whether a text can stand in a note.
pub(super) fn is_plain(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || " ./_-@:+=,".contains(c);
    !text.is_empty() && text.trim() == text && text.chars().all(is_plain)
}

/// The parts of ` (created; edited ×3)`: words with their counts.
fn parts(note: &str) -> impl Iterator<Item = (&str, u32)> {
    let inner =
        note.strip_prefix(" (").and_then(|inner| inner.strip_suffix(')')).unwrap_or_default();
    inner.split("; ").filter(|part| !part.is_empty()).map(|part| match part.split_once('×') {
        Some((word, count)) => (word.trim_end(), count.parse().unwrap_or(0)),
        None => (part, 1),
    })
}

/// A note of the parts that there are.
fn noted(parts: &[(&str, u32)]) -> String {
    let mut out = String::new();
    for (word, count) in parts.iter().filter(|(word, count)| *count > u32::from(word.is_empty())) {
        out.push_str(if out.is_empty() { " (" } else { "; " });
        out.push_str(word);
        if *count > 1 {
            let space = if word.is_empty() { "" } else { " " };
            let _ = write!(out, "{space}×{count}");
        }
    }
    if !out.is_empty() {
        out.push(')');
    }
    out
}

pub(super) fn times(count: u32) -> String {
    noted(&[("", count)])
}
