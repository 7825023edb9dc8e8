//! Exact repeats and stale re-reads: the later copy is enough.
//!
//! In order: a result that is repeated later becomes a pointer. A repeated question (the same file, the same command) keeps
//! only its newest answer. Reads of a file that was written or edited since are stale.

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::failed::deed_failed;
use super::outputs::is_stub;
use super::tool_effect::{Read, ToolEffect};
use super::{BadOption, Edit, LEAST_TEXT, Strategy, StrategyContext};
use crate::text::{CallStatus, noted_stub};
use crate::transcript::unit::Pair;
use crate::transcript::{Marks, Part};
use crate::view::{PartEdit, Put, Reason};

/// Which reads of files are stale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stale {
    /// Those that were read again.
    Reread,
    /// Also reads of files that were rewritten or deleted.
    Overwritten,
    /// Also reads of files that were edited in part.
    #[default]
    Edited,
}

/// What may be set of [`Repeats`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RepeatsOptions {
    /// Tokens below which a result isn't worth a pointer; 1 or more.
    pub min_tokens: u64,
    /// Which reads are stale.
    pub stale: Stale,
}

impl Default for RepeatsOptions {
    fn default() -> Self {
        RepeatsOptions { min_tokens: LEAST_TEXT, stale: Stale::default() }
    }
}

/// Replaces results that are repeated later, or that are stale, by one line.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repeats(RepeatsOptions);

impl Repeats {
    /// With these options.
    ///
    /// # Errors
    /// An option out of its range.
    pub fn new(options: RepeatsOptions) -> Result<Self, BadOption> {
        BadOption::unless_positive("repeats.min-tokens", options.min_tokens)?;
        Ok(Repeats(options))
    }
}

impl Strategy for Repeats {
    fn name(&self) -> &'static str {
        "repeats"
    }

    fn propose(&self, context: &StrategyContext<'_>) -> Vec<Edit> {
        let transcript = context.counts.transcript;
        let pairs = context.units.pairs();
        let mut found: Vec<(Why, Edit)> = Vec::new();
        for (pair, why) in pairs.iter().zip(needless(context)).rev() {
            let Some((why, result)) = why.zip(pair.result) else { continue };
            let (call, result) = (transcript.part(pair.call), transcript.part(result));
            found.extend(self.pointer(context, &call, &result, why).map(|edit| (why, edit)));
        }
        // What costs least first; among equals the oldest.
        found.reverse();
        found.sort_by_key(|(why, _)| *why);
        found.into_iter().map(|(_, edit)| edit).collect()
    }
}

/// For each pair why its result isn't needed, if it isn't: the same as long as the same results are there.
fn needless(context: &StrategyContext<'_>) -> Vec<Option<Why>> {
    let transcript = context.counts.transcript;
    let is_asked = |pair: &Pair| {
        pair.result.map(|result| transcript.part(result)).is_some_and(|result| {
            let is_shown = context.draft.is_shown(transcript.entry_of(result.slot));
            !result.is(Marks::SERVER) && is_shown && !is_stub(context, &result)
        })
    };
    let pairs = context.units.pairs();
    let asked: Vec<bool> = pairs.iter().map(is_asked).collect();
    let mut known = context.found.needless();
    if known.asked == asked {
        return known.why.clone();
    }
    let mut later = Later::default();
    let mut all: Vec<Option<Why>> = Vec::with_capacity(pairs.len());
    for (pair, is_asked) in pairs.iter().zip(&asked).rev() {
        let Some(result) = pair.result.filter(|_| *is_asked) else {
            all.push(None);
            continue;
        };
        let (call, result) = (transcript.part(pair.call), transcript.part(result));
        let deed = ToolEffect::of(&call.name(), &call.text());
        // Asked of few: it takes reading the result.
        let has_failed = LazyCell::new(|| deed_failed(context, &deed, &result));
        let is_said_again = !later.said.add(result.raw_body());
        all.push(later.why(&deed, is_said_again, || *has_failed));
        later.note(&deed, || *has_failed);
    }
    all.reverse();
    known.why.clone_from(&all);
    known.asked = asked;
    all
}

impl Repeats {
    fn pointer<'a>(
        &self,
        context: &StrategyContext<'a>,
        call: &Part<'a>,
        result: &Part<'a>,
        why: Why,
    ) -> Option<Edit> {
        let at = context.counts.transcript.entry_of(result.slot);
        let is_asked_for = why.stale().is_none_or(|stale| stale <= self.0.stale);
        let end =
            context.newest_from(if why.is_said_again() { 1 } else { context.budget.recent() });
        let before = context.tokens(result);
        let may_be = at < end && context.is_worthwhile(at) && context.may_edit(result);
        if !is_asked_for || !may_be || before < self.0.min_tokens {
            return None;
        }
        let put = |line| PartEdit { at: result.slot, put: Put::Text(line), reason: why.reason() };
        let outcome = if result.is(Marks::ERROR) { CallStatus::Error } else { CallStatus::Unknown };
        let text = context.counts.part_text(result);
        let line: Arc<str> =
            noted_stub(&call.name(), &call.text(), &text, outcome, why.note()).into();
        let saves = context.counts.put_tokens(result, &line) < before;
        saves.then(|| Edit::Put(put(line)))
    }
}

/// Why a result isn't needed, from the least loss to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Why {
    SaidAgain,
    AskedAgain,
    ReadAgain,
    Overwritten,
    Edited,
}

/// The words of a stub, in the order of [`Why`].
pub(super) const NOTES: [&str; 5] = [
    "said again later",
    "asked again later",
    "read again later",
    "overwritten since",
    "edited since",
];

impl Why {
    fn note(self) -> &'static str {
        NOTES[self as usize]
    }

    fn reason(self) -> Reason {
        match self {
            Why::SaidAgain => Reason::Repeated,
            _ => Reason::Superseded,
        }
    }

    /// Whether a later result stands for it, so that its age doesn't matter.
    fn is_said_again(self) -> bool {
        self <= Why::ReadAgain
    }

    fn stale(self) -> Option<Stale> {
        match self {
            Why::SaidAgain | Why::AskedAgain => None,
            Why::ReadAgain => Some(Stale::Reread),
            Why::Overwritten => Some(Stale::Overwritten),
            Why::Edited => Some(Stale::Edited),
        }
    }
}

/// The facts about everything behind a result.
#[derive(Debug, Default)]
struct Later<'a> {
    said: KnownBodies<'a>,
    asked: HashSet<String>,
    files: HashMap<String, Fate>,
}

/// Bodies, told apart by their length and ends first: hashing all of a long session costs more than
/// comparing the few that are alike.
#[derive(Debug, Default)]
struct KnownBodies<'a> {
    few: HashMap<Look<'a>, Vec<&'a str>>,
    /// Bodies beyond the few that are alike.
    many: HashSet<&'a str>,
}

/// A body's length and ends.
type Look<'a> = (usize, &'a [u8], &'a [u8]);

/// Bytes of either end.
const END: usize = 32;
/// Bodies with the same length and ends that are compared one by one.
const MOST_ALIKE: usize = 32;

impl<'a> KnownBodies<'a> {
    fn key(body: &'a str) -> Look<'a> {
        let bytes = body.as_bytes();
        let end = END.min(bytes.len());
        (bytes.len(), &bytes[..end], &bytes[bytes.len() - end..])
    }

    /// Takes a body; whether it is a new one.
    fn add(&mut self, body: &'a str) -> bool {
        let alike = self.few.entry(Self::key(body)).or_default();
        if alike.contains(&body) {
            false
        } else if alike.len() < MOST_ALIKE {
            alike.push(body);
            true
        } else {
            self.many.insert(body)
        }
    }
}

/// What became of a file.
#[derive(Debug, Default)]
struct Fate {
    reads: Vec<Read>,
    is_overwritten: bool,
    is_edited: bool,
}

/// Reads of one file that are remembered: of more the oldest are no longer compared.
const MOST_READS: usize = 32;

impl Later<'_> {
    fn why(
        &self,
        deed: &ToolEffect,
        is_said_again: bool,
        has_failed: impl Fn() -> bool,
    ) -> Option<Why> {
        if is_said_again {
            return Some(Why::SaidAgain);
        }
        if deed.can_be_repeated() && self.asked.contains(&deed.question) {
            return Some(Why::AskedAgain);
        }
        if deed.reads.is_empty() || has_failed() {
            return None;
        }
        let all = |is: fn(&Fate, &Read) -> bool| {
            deed.reads
                .iter()
                .all(|read| self.files.get(&read.path).is_some_and(|fate| is(fate, read)))
        };
        if all(|fate, read| fate.reads.iter().any(|newer| newer.covers(read))) {
            Some(Why::ReadAgain)
        } else if all(|fate, _| fate.is_overwritten) {
            Some(Why::Overwritten)
        } else if all(|fate, _| fate.is_overwritten || fate.is_edited) {
            Some(Why::Edited)
        } else {
            None
        }
    }

    fn note(&mut self, deed: &ToolEffect, has_failed: impl Fn() -> bool) {
        if deed.can_be_repeated() && (deed.tells_state() || !has_failed()) {
            self.asked.insert(deed.question.clone());
        }
        let touches = [&deed.overwrites, &deed.edits].iter().any(|paths| !paths.is_empty());
        if !touches && deed.reads.is_empty() || has_failed() {
            return;
        }
        for path in &deed.overwrites {
            self.files.entry(path.clone()).or_default().is_overwritten = true;
        }
        for path in &deed.edits {
            self.files.entry(path.clone()).or_default().is_edited = true;
        }
        for read in &deed.reads {
            let fate = self.files.entry(read.path.clone()).or_default();
            if fate.reads.len() < MOST_READS {
                fate.reads.push(read.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_similar_bodies_are_told_apart() {
        let end = "x".repeat(END);
        let bodies: Vec<String> = (100..200).map(|nth| format!("{end}{nth}{end}")).collect();
        let mut said = KnownBodies::default();
        for body in &bodies {
            assert!(said.add(body));
        }
        assert!(bodies.iter().all(|body| !said.add(body)));
        let another = format!("{end}200{end}");
        assert!(said.add(&another));
    }
}
