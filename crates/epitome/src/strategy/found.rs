//! What strategies find out about a history, whatever is shown of it: once for all plans of a compaction, and for those of
//! the next one of what goes on from there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::repeats::Why;
use crate::transcript::{Slot, Transcript};

/// What was found out about a history.
#[derive(Debug)]
pub struct Found {
    /// Of each part whether it says of itself that it is a failure.
    failures: Vec<AtomicU8>,
    /// Of each result whether its call failed.
    failed: Vec<AtomicU8>,
    needless: Mutex<Needless>,
    /// Stubs of results, by what they note, where they are to outlive the compaction.
    stubs: Option<Mutex<Stubs>>,
}

type Stubs = BTreeMap<(Slot, &'static str), Arc<str>>;

/// Which results aren't needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needless {
    /// For each pair whether its result was looked at.
    pub(super) asked: Vec<bool>,
    /// For each pair why its result isn't needed, if it isn't.
    pub(super) why: Vec<Option<Why>>,
}

const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

impl Found {
    /// Nothing yet, about this history.
    pub fn of(transcript: &Transcript) -> Self {
        let unknown = || (0..transcript.part_count()).map(|_| AtomicU8::new(UNKNOWN)).collect();
        let (failures, failed) = (unknown(), unknown());
        Found { failures, failed, needless: Mutex::default(), stubs: None }
    }

    /// The same, to be kept for the next compaction.
    pub(crate) fn lasting(self) -> Self {
        Found { stubs: Some(Mutex::default()), ..self }
    }

    /// What holds still, now that the history has so many parts.
    pub(crate) fn grown(&self, parts: usize) -> Self {
        let longer = |known: &[AtomicU8]| {
            let known = known.iter().map(|known| AtomicU8::new(known.load(Ordering::Relaxed)));
            let mut known: Vec<AtomicU8> = known.collect();
            known.resize_with(parts, AtomicU8::default);
            known
        };
        let is_same = self.failures.len() == parts;
        let needless = if is_same { self.needless().clone() } else { Needless::default() };
        let stubs = self.stubs.as_ref().map(|stubs| Mutex::new(whole(stubs).clone()));
        let (failures, failed) = (longer(&self.failures), longer(&self.failed));
        Found { failures, failed, needless: Mutex::new(needless), stubs }
    }

    /// Whether the part says that it is a failure, as `looks` tells where nobody has looked yet.
    pub(super) fn fails(&self, part: Slot, looks: impl FnOnce() -> bool) -> bool {
        told(&self.failures[part.0 as usize], looks)
    }

    /// The same of the call that a result answers.
    pub(super) fn failed(&self, result: Slot, looks: impl FnOnce() -> bool) -> bool {
        told(&self.failed[result.0 as usize], looks)
    }

    pub(super) fn needless(&self) -> MutexGuard<'_, Needless> {
        whole(&self.needless)
    }

    /// The stub for a result with this note, as `write` has it where nobody has written it yet.
    pub(super) fn stub(
        &self,
        result: Slot,
        note: &'static str,
        write: impl FnOnce() -> String,
    ) -> Arc<str> {
        let Some(stubs) = &self.stubs else { return write().into() };
        Arc::clone(whole(stubs).entry((result, note)).or_insert_with(|| write().into()))
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let needless = self.needless().asked.len() * 2;
        let stub = size_of::<(Slot, &str, Arc<str>)>() + 2 * size_of::<usize>();
        let stubs = self
            .stubs
            .as_ref()
            .map_or(0, |stubs| whole(stubs).values().map(|text| stub + text.len()).sum());
        self.failures.len() + self.failed.len() + needless + stubs
    }
}

/// What is known, once somebody has looked.
fn told(known: &AtomicU8, looks: impl FnOnce() -> bool) -> bool {
    match known.load(Ordering::Relaxed) {
        UNKNOWN => {
            let is_so = looks();
            known.store(if is_so { YES } else { NO }, Ordering::Relaxed);
            is_so
        }
        known => known == YES,
    }
}

/// What one thread left is whole, whatever became of it.
fn whole<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}
