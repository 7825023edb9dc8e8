//! What names and ids may be made of, and ids that are made of something else.

use std::collections::BTreeMap;

use super::clean::Past;
use super::rules::{Finding, Mend, RuleId, Taken, fresh_id};
use crate::transcript::{Marks, Part, PartKind, Slot, Transcript};

/// ASCII letters and digits, and some more characters.
#[derive(Clone, Copy)]
pub(super) struct Letters {
    /// What is allowed besides.
    pub(super) others: &'static str,
    /// How many there may be.
    pub(super) longest: usize,
}

/// Room for the number that makes an id unique.
const ROOM: usize = 12;

impl Letters {
    fn has(self, c: char) -> bool {
        c.is_ascii_alphanumeric() || self.others.contains(c)
    }

    /// Whether `text` is made of nothing else.
    pub(super) fn are_those_of(self, text: &str) -> bool {
        let is_one = |byte: u8| self.has(char::from(byte));
        // A byte of another letter is none of these.
        text.len() <= self.longest && text.bytes().all(|byte| byte.is_ascii() && is_one(byte))
    }

    /// `text` with `_` for what isn't allowed, cut to `longest`.
    pub(super) fn lawful(self, text: &str, longest: usize) -> String {
        text.chars().take(longest).map(|c| if self.has(c) { c } else { '_' }).collect()
    }
}

/// Ids of other letters, or too long: the call and its result get one that may stand.
pub(super) fn ids(
    transcript: &Transcript,
    letters: Letters,
    rule: RuleId,
    past: &Past,
) -> Vec<Finding> {
    let is_right = |id: &str| letters.are_those_of(id);
    let lawful = |id: &str| letters.lawful(id, letters.longest.saturating_sub(ROOM));
    renamed(transcript, is_right, |id, taken| unused(lawful(id), taken), rule, past)
}

/// Ids that are too long, whatever they are made of.
pub(super) fn longer(transcript: &Transcript, longest: usize, rule: RuleId) -> Vec<Finding> {
    let is_right = |id: &str| id.chars().count() <= longest;
    let cut = |id: &str| -> String { id.chars().take(longest.saturating_sub(ROOM)).collect() };
    renamed(transcript, is_right, |id, taken| unused(cut(id), taken), rule, &Past::default())
}

/// Ids of another length than this, or of more than letters and digits: they are numbered.
pub(super) fn others_than(transcript: &Transcript, length: usize, rule: RuleId) -> Vec<Finding> {
    let letters = Letters { others: "", longest: length };
    let is_right = |id: &str| id.len() == length && letters.are_those_of(id);
    let mut next = 1;
    let numbered = |_: &str, taken: &mut Taken| {
        let digits = length.saturating_sub("call".len());
        loop {
            let id = format!("call{next:0digits$}");
            next += 1;
            if !taken.contains_key(&id) {
                return id;
            }
        }
    };
    renamed(transcript, is_right, numbered, rule, &Past::default())
}

/// The id that is wished, or another if it is in use.
fn unused(wished: String, taken: &mut Taken) -> String {
    if taken.contains_key(&wished) { fresh_id(&wished, taken) } else { wished }
}

/// Ids that aren't right: the call and its result get one that is.
fn renamed(
    transcript: &Transcript,
    is_right: impl Fn(&str) -> bool,
    mut fresh: impl FnMut(&str, &mut Taken) -> String,
    rule: RuleId,
    past: &Past,
) -> Vec<Finding> {
    let mut bad: BTreeMap<Slot, String> = BTreeMap::new();
    let mut slots: BTreeMap<String, Vec<Slot>> = BTreeMap::new();
    let named = |part: &Part<'_>| {
        let is_paired = matches!(part.kind(), PartKind::Call | PartKind::Result);
        // What isn't a string is given another id where pairs are followed.
        is_paired && !part.is(Marks::SERVER) && !part.has_odd_id()
    };
    let parts = || past.rest(transcript).flat_map(|entry| entry.parts()).filter(named);
    for part in parts() {
        let id = part.id();
        if is_right(&id) {
            continue;
        }
        let same = slots.entry(id.into_owned()).or_default();
        if same.is_empty() {
            bad.insert(part.slot, part.id().into_owned());
        }
        same.push(part.slot);
    }
    if bad.is_empty() {
        return Vec::new();
    }
    let mut taken: Taken = Taken::new();
    for id in parts().map(|part| part.id()).filter(|id| is_right(id)) {
        taken.entry(id.into_owned()).or_insert(2);
    }
    let mut findings = Vec::new();
    for (first, id) in bad {
        let to = fresh(&id, &mut taken);
        taken.entry(to.clone()).or_insert(2);
        findings.push(Finding::of_entry(
            rule,
            transcript.entry_of(first),
            Some(first),
            format!("`{id}`"),
            Mend::Rename { slots: slots.remove(&id).unwrap_or_default(), to },
        ));
    }
    findings
}
