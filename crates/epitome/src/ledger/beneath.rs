//! Older lines that a newer one may change, listed beneath it, in its line: whoever reads what was said first reads at once
//! what was said since, and whoever takes the two for different things has lost neither.

use std::collections::{HashMap, HashSet};

use super::lane::{Entry, Listing, OWN, note_of, said_by};
use super::{Kind, Ledger, Line, Speaker};
use crate::text::cut;

/// What stands before the older one; a bracket behind it.
pub(super) const BENEATH: &str = " (newer than: [";
/// By which it is told, wherever it stands.
pub(super) const MARK: &str = "(newer than: ";
/// So many older ones, the newest.
const MOST: usize = 2;

/// What is newer is quoted up to so many bytes, where it is pointed to; longer sentences from before their last value.
const MOST_QUOTED: usize = 120;
const BEFORE_VALUE: usize = 60;
/// Around a quote.
const QUOTE: &str = ": \"";
const UNQUOTE: char = '"';

/// What the older one is called where the newer one is of another kind.
const LABELS: [(Kind, &str); 10] = [
    (Kind::Constraint, "rule: "),
    (Kind::Decision, "decision: "),
    (Kind::Preference, "preference: "),
    (Kind::Fact, "fact: "),
    (Kind::Goal, "goal: "),
    (Kind::Blocked, "blocked: "),
    (Kind::Underway, "in progress: "),
    (Kind::Open, "open: "),
    (Kind::Done, "done: "),
    (Kind::Question, "question: "),
];
/// The same where nobody knows its kind.
const BESIDES: &str = "besides: ";

/// For each line those that are listed beneath it, oldest first.
pub(super) type Beneath = HashMap<usize, Vec<usize>>;

impl Ledger {
    /// Moves lines of `order` beneath newer ones, which are listed where the first of both was, though they be said
    /// elsewhere, too: an older line that stands alone would be taken for what holds.
    pub(super) fn beneath(
        &self,
        order: &mut Vec<usize>,
        is_besides: &mut HashSet<usize>,
    ) -> Beneath {
        let mut beneath = Beneath::new();
        let listed: HashSet<usize> = order.iter().copied().collect();
        let mut newest: Vec<usize> = order.clone();
        newest.retain(|at| self.lines[*at].newer.is_some());
        newest.sort_unstable_by(|a, b| b.cmp(a));
        let ends = self.ends();
        for old in newest {
            let Some(new) = self.lines[old].newer.map(|new| ends[new]) else { continue };
            let [newer, before] = [new, old].map(|at| &self.lines[at]);
            let olds = beneath.entry(new).or_default();
            let may = new > old && newer.replaced.is_none();
            if may && olds.len() < MOST && newer.is_plain() && before.is_plain() {
                olds.push(old);
            }
        }
        beneath.retain(|_, olds| !olds.is_empty());
        // What is listed beneath another one has none beneath itself.
        let under: HashSet<usize> = beneath.values().flatten().copied().collect();
        beneath.retain(|new, _| !under.contains(new));
        let under: HashMap<usize, usize> =
            beneath.iter().flat_map(|(new, olds)| olds.iter().map(|old| (*old, *new))).collect();
        let mut taken = HashSet::new();
        let moved: Vec<usize> = order.iter().map(|at| *under.get(at).unwrap_or(at)).collect();
        for (old, new) in &under {
            if !is_besides.contains(old) {
                is_besides.remove(new);
            } else if !listed.contains(new) && !self.lines[*new].is_sure {
                is_besides.insert(*new);
            }
        }
        order.clear();
        order.extend(moved.into_iter().filter(|at| taken.insert(*at)));
        for olds in beneath.values_mut() {
            olds.sort_unstable();
        }
        beneath
    }
}

impl Listing<'_> {
    /// What is said behind `new` of an older line.
    pub(super) fn shown_beneath(&self, old: usize, new: usize) -> String {
        let is_besides = self.is_besides.contains(&old);
        let [old, new] = [old, new].map(|at| &self.ledger.lines[at]);
        let label = match LABELS.iter().find(|(kind, _)| *kind == old.kind) {
            _ if is_besides => BESIDES,
            Some((kind, label)) if *kind != new.kind => label,
            _ => "",
        };
        // That it is newer is said by that.
        let note = match old.replaces {
            Some(_) => self.ledger.note_on(old, &self.numbering),
            None => old.note.clone(),
        };
        let number = old.whence().number(&self.numbering);
        format!("{BENEATH}{number} {}] {label}{}{note})", old.who.name(), old.text)
    }
}

impl Line {
    /// What it says, for the note of an older line that points to it; nothing if it can't be told from the note's end, nor of
    /// what a tool printed: much of that is called newer that isn't.
    pub(super) fn quoted(&self) -> String {
        let text = self.text.as_str();
        if self.who < Speaker::Model {
            return String::new();
        }
        let from = if text.len() <= MOST_QUOTED { 0 } else { self.before_last_value() };
        let rest = cut::head(&text[from..], MOST_QUOTED);
        if rest.contains([')', '\n']) {
            return String::new();
        }
        let lead = if from == 0 { "" } else { "…" };
        let tail = if from + rest.len() == text.len() { "" } else { "…" };
        format!("{QUOTE}{lead}{rest}{tail}{UNQUOTE}")
    }

    /// Where the words begin that lead to its last value.
    fn before_last_value(&self) -> usize {
        let (text, lower) = (self.text.as_str(), self.text.to_lowercase());
        let values = self.subject.values.iter();
        let value = values.filter_map(|value| lower.rfind(&value.text)).max().unwrap_or(0);
        // Few letters are longer in the other case; then it begins some bytes off.
        let from = cut::floor(text, value.min(text.len()).saturating_sub(BEFORE_VALUE));
        let gap = text[from..].find(' ').filter(|_| from > 0);
        gap.map_or(0, |gap| from + gap + 1)
    }

    /// Whether its words can't be taken for a note of ours, nor for a kind that we say.
    fn is_plain(&self) -> bool {
        let names_kind = || LABELS.iter().any(|(_, label)| self.text.starts_with(label));
        !self.text.contains(MARK)
            && !self.text.contains(OWN.trim_matches([' ', ')']))
            && note_of(&self.text).is_none()
            && !names_kind()
            && !self.text.starts_with(BESIDES)
    }
}

/// Whether a note ends in a quote of what is newer.
pub(super) fn is_quote(said: &str) -> bool {
    said.strip_prefix(QUOTE).is_some_and(|said| said.ends_with(UNQUOTE))
}

/// A line without what is beneath it, and that.
pub(super) fn split(line: &str) -> (&str, Vec<&str>) {
    let whole = || (line, Vec::new());
    if line.ends_with(OWN) {
        return whole();
    }
    let mut parts = line.split(BENEATH);
    let Some(first) = parts.next() else { return whole() };
    let olds: Option<Vec<&str>> = parts.map(|part| part.strip_suffix(')')).collect();
    olds.map_or_else(whole, |olds| (first, olds))
}

/// Reads what is beneath a line of kind `kind`.
pub(super) fn read(part: &str, kind: Kind) -> Option<Entry> {
    let (at, who, text) = said_by(part)?;
    let label = LABELS.iter().find(|(_, label)| text.starts_with(label));
    let (kind, is_sure, text) = match (text.strip_prefix(BESIDES), label) {
        (Some(text), _) => (Kind::Fact, false, text),
        (None, Some((other, label))) if *other != kind => (*other, true, &text[label.len()..]),
        _ => (kind, true, text),
    };
    let (text, note) = text.split_at(text.len() - note_of(text).map_or(0, str::len));
    Some(Entry {
        at,
        who,
        kind,
        text: text.to_owned(),
        note: note.to_owned(),
        is_sure,
        older: Vec::new(),
    })
}
