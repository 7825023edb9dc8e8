//! Going on from an earlier checkpoint.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::cues::Cues;
use super::lane::{Entry, IN_PLACE};
use super::record::worded;
use super::subject::Subject;
use super::update::{Newer, Relation, Update, relation};
use super::words::Words;
use super::worth::worth;
use super::{Change, Ledger, Line, REPLACING, Shown, Speaker};

/// What these lines say.
pub(crate) fn texts(entries: &[Entry]) -> HashSet<String> {
    let all = entries.iter().flat_map(|entry| entry.older.iter().chain([entry]));
    all.map(|entry| entry.text.clone()).collect()
}

/// A line that an earlier checkpoint listed is worth so much more: it was the better of many.
const CARRIED: i32 = 5;

impl Ledger {
    /// Takes over an earlier checkpoint: what people said that it quotes, with the index of its entry each, and
    /// the lines that it listed. Entries were counted elsewhere then.
    pub fn resume<'a>(&mut self, words: impl Iterator<Item = (u32, &'a str)>, entries: Vec<Entry>) {
        let listed = texts(&entries);
        self.resume_some(words, entries, &listed);
    }

    /// The same of some of it, where all of it lists these texts.
    pub(crate) fn resume_some<'a>(
        &mut self,
        words: impl Iterator<Item = (u32, &'a str)>,
        entries: Vec<Entry>,
        listed: &HashSet<String>,
    ) {
        let since = self.lines.len();
        self.resuming = Some(since);
        // What is listed was understood where it was said.
        self.listed.clone_from(listed);
        for (at, text) in words {
            self.observe(at, Speaker::Human, Shown::Elsewhere, text);
        }
        self.listed.clear();
        let listed = self.lines.len();
        for mut entry in entries {
            let older = std::mem::take(&mut entry.older);
            let olds: Vec<usize> = older.into_iter().map(|old| self.carry(old, listed)).collect();
            let new = self.carry(entry, listed);
            self.join(&olds, new);
        }
        for line in &mut self.lines[since..] {
            line.carried = true;
        }
        self.listed_to = self.lines.len();
        (self.resuming, self.last) = (None, None);
    }

    /// Says again that `new` is newer than what was listed beneath it.
    fn join(&mut self, olds: &[usize], new: usize) {
        for old in olds.iter().copied().filter(|old| *old != new) {
            if self.lines[old].replaced.is_none() && self.lines[new].replaced.is_none() {
                self.lines[old].newer = Some(new);
                self.lines[new].differs = Some(old);
            }
        }
    }

    /// The line of an earlier checkpoint that stood in the place of what a model or a tool says here: where that is still
    /// shown it is read after what took it back.
    pub(super) fn took_back(&self, old: &Line) -> Option<usize> {
        if old.who >= Speaker::System || !old.is_state() || self.standing.is_empty() {
            return None;
        }
        let lower = OnceCell::new();
        self.standing.iter().copied().find(|at| {
            let line = &self.lines[*at];
            // It gives what that one says; not `swap 20 Hz for 30 Hz`, which gives the last.
            let current = line.subject.values.iter();
            let mut current = current.filter(|value| !line.subject.gone.has(value.digest));
            if current.next_back().is_some_and(|value| old.subject.values.contains(value)) {
                return false;
            }
            if let Some(subject) = line.noted_subject() {
                // Hardly one begins so.
                let first = subject.split(' ').find(|word| !word.contains('…')).unwrap_or_default();
                let lower = lower.get_or_init(|| old.text.to_lowercase());
                return lower.contains(first) && subject == old.without_values(&line.subject);
            }
            let counts = line.subject.bag.iter().map(|word| self.lines_about(word)).collect();
            let newer = Newer { line, counts };
            let is_same = matches!(relation(line, old), Relation::Same(_));
            is_same && self.is_sure(&newer, old) || self.says_anew(&newer, old)
        })
    }

    /// Takes over a line, and says where it is. It stood beside the others that were listed, so that it takes the place of none of
    /// them; of what is quoted, if it did so then.
    fn carry(&mut self, entry: Entry, listed: usize) -> usize {
        let record = if entry.who == Speaker::Tool { worded(&entry.text) } else { None };
        let bare = record.as_deref().unwrap_or(&entry.text);
        let words = Words::of(bare);
        let cues = Cues::of(bare, &words);
        let replaces = entry.is_sure && entry.note.starts_with(IN_PLACE);
        let weight = worth(bare, &words, &cues, entry.kind, entry.who)
            + CARRIED
            + if replaces { REPLACING } else { 0 };
        let (source, subject) = (entry.text.clone(), Subject::of(&words, &cues));
        let line = Line {
            kind: entry.kind,
            weight,
            change: if replaces { Change::Said } else { Change::None },
            is_sure: entry.is_sure,
            note: entry.note,
            ..Line::said(entry.at, entry.who, source, entry.text, subject)
        };
        let same = self.said.get(&line.text).map(|at| *at as usize);
        if let Some(at) = same.filter(|at| self.lines[*at].is_sure || !line.is_sure) {
            let same = &mut self.lines[at];
            same.weight = same.weight.max(line.weight);
            if same.replaces.is_none() {
                same.note = line.note;
            }
            return at;
        }
        let own = self.lines.len();
        if replaces && let Update::Replaces(olds) = self.update(&line) {
            for old in olds.into_iter().filter(|old| *old < listed) {
                self.lines[old].replaced = Some(own);
            }
        }
        if replaces && line.who == Speaker::Human {
            self.standing.push(own);
        }
        self.append(line);
        own
    }
}
