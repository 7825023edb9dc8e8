//! What strategies find in a history, whatever the view shows: once for all plans of a compaction, and reused by the next
//! compaction of the conversation.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::repeats::Why;
use crate::transcript::{Slot, Transcript};

/// The findings about a history.
#[derive(Debug)]
pub struct HistoryFacts {
    /// Of each part whether it says of itself that it is a failure.
    failures: Vec<AtomicU8>,
    /// Of each result whether its call failed.
    failed: Vec<AtomicU8>,
    needless: Mutex<Needless>,
}

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

impl HistoryFacts {
    /// Nothing yet, about this history.
    pub fn of(transcript: &Transcript) -> Self {
        let unknown = || (0..transcript.part_count()).map(|_| AtomicU8::new(UNKNOWN)).collect();
        let (failures, failed) = (unknown(), unknown());
        HistoryFacts { failures, failed, needless: Mutex::default() }
    }

    /// Whether the part reports a failure; `looks` decides if nobody has looked yet.
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
}

/// The result, once somebody has looked.
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

/// A thread that panicked left whole values.
fn whole<T>(known: &Mutex<T>) -> MutexGuard<'_, T> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}
