//! What was read of histories, kept for the next compaction of what goes on from one.
//!
//! A ledger is made of all that was said, whatever is shown of it, and reading that is most of the work. Who says the
//! same as the one before, and more, has the same ledger up to there; what is folded is as good as it was as long as the
//! same entries are. Histories are held to each other part by part, so that one that was changed meets nobody else's.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::Compaction;
use crate::checkpoint::{Folded, Gathered};
use crate::guard::{Held, Overridden};
use crate::ledger::{Ledger, Made};
use crate::plan::Plan;
use crate::request::Request;
use crate::transcript::{Marks, Origin, Slot, Transcript};
use crate::wire::Format;

/// What compactions read, kept for those of the same histories grown longer. What comes out is the same with it and without.
///
/// ```
/// # use std::sync::Arc;
/// use epitome::engine::Readings;
/// # use epitome::{Compactor, Format, Options, Target, count::counter, wire};
/// # let options = Options { target: Target::Tokens(400), ..Options::default() };
/// # let compactor = Compactor::new(options, counter("chars").unwrap()).unwrap();
/// # let message = format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "Port 5020 it is. ".repeat(300));
/// # let body = format!("{{\"messages\":[{message},{{\"role\":\"assistant\",\"content\":\"Done.\"}}]}}");
/// # let request = wire::parse(Format::OpenaiChat, body).unwrap();
/// let keeping = compactor.clone().keeping(Arc::new(Readings::new(64 << 20)));
/// let first = keeping.compact(&request).unwrap();
/// let second = keeping.compact(&request).unwrap();
/// assert_eq!(first.rendered(), second.rendered());
/// assert_eq!(first.rendered(), compactor.compact(&request).unwrap().rendered());
/// ```
pub struct Readings {
    most: usize,
    /// The newest first.
    kept: Mutex<VecDeque<Arc<Reading>>>,
}

/// A history, and what was read of it.
pub(super) struct Reading {
    format: Format,
    transcript: Transcript,
    /// Parts that are earlier checkpoints and were carried over.
    carried: Vec<Slot>,
    /// Changes of before that were made while it was read.
    made: Vec<Made>,
    ledger: Arc<Ledger>,
    folds: Option<Arc<Folds>>,
    /// About so many bytes are held for it.
    bytes: usize,
}

/// What was taken from folded entries.
pub(super) struct Folds {
    /// Of so many first entries; of the rest none was folded.
    upto: usize,
    entries: Vec<Range<usize>>,
    /// Those that were pinned.
    pins: Vec<usize>,
    folded: Folded,
}

impl Readings {
    /// Keeps histories and what was read of them, the newest, as long as they take no more than about `most` bytes together;
    /// a text that the host holds, too, counts as well.
    pub fn new(most: usize) -> Self {
        Readings { most, kept: Mutex::default() }
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, VecDeque<Arc<Reading>>> {
        // Whatever fell, each of them is whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The longest history that `transcript` goes on from, read with these carried over and these changes made.
    fn of(
        &self,
        format: Format,
        transcript: &Transcript,
        carried: &[Slot],
        made: &[Made],
    ) -> Option<Arc<Reading>> {
        let known: Vec<Arc<Reading>> = self.kept().iter().cloned().collect();
        let is_same = |known: &&Arc<Reading>| {
            let entries = known.transcript.len();
            let parts = known.transcript.part_count();
            let carried = carried.iter().take_while(|slot| (slot.0 as usize) < parts);
            known.format == format
                && entries <= transcript.len()
                && known.carried.iter().eq(carried)
                && known.made.iter().eq(made_in(made, entries))
                && transcript.goes_on_from(&known.transcript)
        };
        known.iter().filter(is_same).max_by_key(|known| known.transcript.len()).cloned()
    }

    /// Keeps what was read, in the place of what it went on from.
    fn keep(&self, reading: Reading, before: Option<&Arc<Reading>>) -> Arc<Reading> {
        let reading = Arc::new(reading);
        let mut kept = self.kept();
        kept.retain(|known| before.is_none_or(|before| !Arc::ptr_eq(known, before)));
        kept.push_front(Arc::clone(&reading));
        let mut left = self.most;
        let fits = |known: &Arc<Reading>| match left.checked_sub(known.bytes) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        let fitting = kept.iter().map(fits).take_while(|fits| *fits).count();
        kept.truncate(fitting);
        reading
    }
}

impl Reading {
    fn new(
        (format, transcript): (Format, Transcript),
        carried: Vec<Slot>,
        made: &[Made],
        ledger: Arc<Ledger>,
    ) -> Self {
        let made = made_in(made, transcript.len()).cloned().collect();
        let bytes = transcript.bytes() + ledger.bytes();
        Reading { format, transcript, carried, made, ledger, folds: None, bytes }
    }

    /// The same with what was folded of it.
    fn with(&self, folds: Option<Arc<Folds>>) -> Self {
        let bytes = |folds: &Option<Arc<Folds>>| folds.as_ref().map_or(0, |f| f.folded.bytes());
        let bytes = self.bytes - bytes(&self.folds) + bytes(&folds);
        Reading {
            format: self.format,
            transcript: self.transcript.clone(),
            carried: self.carried.clone(),
            made: self.made.clone(),
            ledger: Arc::clone(&self.ledger),
            folds,
            bytes,
        }
    }
}

impl Folds {
    /// What `plan` folded, of which `pins` were pinned; `carried` are parts of earlier checkpoints.
    fn of(
        plan: &Plan,
        (transcript, pins): (&Transcript, &[usize]),
        carried: &[Slot],
        folded: Folded,
    ) -> Self {
        let entries = runs((0..transcript.len()).filter(|at| plan.draft.is_folded(*at)));
        let last = carried.last().map_or(0, |slot| transcript.entry_of(*slot) + 1);
        let upto = entries.last().map_or(0, |run| run.end).max(last);
        Folds { upto, entries, pins: pins.to_vec(), folded }
    }

    /// Whether `plan` folds the same of the first entries, of which `pins` are pinned.
    fn hold(&self, plan: &Plan, pins: &[usize]) -> bool {
        let folded = (0..self.upto).filter(|at| plan.draft.is_folded(*at));
        let pins = pins.iter().filter(|at| **at < self.upto);
        runs(folded) == self.entries && self.pins.iter().eq(pins)
    }
}

impl Compaction {
    /// What `plan` goes on from: what was read and taken before, and of how many first entries it was taken.
    pub(super) fn going_on(&mut self, plan: &Plan, remembered: &[Made]) -> (Gathered, usize) {
        let channel = self.compactor.channel().cloned();
        let Request { format, transcript, .. } = &self.request;
        let gathered = if let Some(ledger) = self.heard.take() {
            Gathered::again(channel, ledger, usize::MAX)
        } else {
            self.reading = self.compactor.readings().and_then(|readings| {
                readings.of(*format, transcript, &carried(plan, transcript), remembered)
            });
            match &self.reading {
                Some(reading) => {
                    let ledger = reading.ledger.as_ref().clone();
                    Gathered::again(channel, ledger, reading.transcript.len())
                }
                None => Gathered::recalled_by(channel),
            }
        };
        let folds = self.reading.as_ref().and_then(|reading| reading.folds.as_ref());
        match folds.filter(|folds| folds.hold(plan, &self.pinned())) {
            Some(folds) => {
                let behind = plan.behind(transcript.len());
                let later = (behind + 1..folds.upto).filter(|at| plan.draft.is_folded(*at));
                (gathered.with_folded(&folds.folded, later.count()), folds.upto)
            }
            None => (gathered, 0),
        }
    }

    /// Keeps what was read of the request, and what was taken from what is folded: of the first `taken` entries it was taken
    /// before.
    pub(super) fn keep_reading(
        &mut self,
        gathered: &Gathered,
        plan: &Plan,
        remembered: &[Made],
        taken: usize,
    ) {
        let Some(readings) = self.compactor.readings() else { return };
        let transcript = &self.request.transcript;
        let carried = carried(plan, transcript);
        let is_taken = (taken..transcript.len()).all(|at| !plan.draft.is_folded(at));
        let folds = (!is_taken).then(|| {
            let of = (transcript, self.pinned());
            Folds::of(plan, (of.0, &of.1), &carried, gathered.folded().clone())
        });
        let before = self.reading.as_ref();
        let reading = match before {
            Some(before) if gathered.read_before() >= transcript.len() => match folds {
                Some(folds) => before.with(Some(Arc::new(folds))),
                None => return,
            },
            _ => {
                let of = (self.request.format, transcript.clone());
                let ledger = Arc::new(gathered.ledger().clone());
                let known = before.and_then(|before| before.folds.clone());
                Reading::new(of, carried, remembered, ledger).with(folds.map(Arc::new).or(known))
            }
        };
        self.reading = Some(readings.keep(reading, before));
    }

    /// The entries that were pinned and can't stay.
    fn pinned(&self) -> Vec<usize> {
        let pinned = self.overridden.iter().filter(|over| over.held == Held::Pin);
        pinned.map(|over| over.entry).collect()
    }

    /// Whether the entry was pinned and can't stay.
    pub(super) fn is_pinned(&self, entry: usize) -> bool {
        self.overridden.contains(&Overridden { entry, held: Held::Pin })
    }
}

/// Numbers in order as runs.
fn runs(all: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in all {
        match runs.last_mut() {
            Some(run) if run.end == at => run.end += 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// Changes that are made while the first `entries` entries are read.
fn made_in(made: &[Made], entries: usize) -> impl Iterator<Item = &Made> {
    let last = |made: &Made| made.delta.sources.iter().max().copied();
    made.iter().filter(move |made| last(made).is_some_and(|at| (at as usize) < entries))
}

/// The parts of earlier checkpoints that `plan` hides, so that they are carried over.
fn carried(plan: &Plan, transcript: &Transcript) -> Vec<Slot> {
    let is_carried = |slot: &Slot| {
        let part = transcript.part(*slot);
        part.origin() == Origin::Checkpoint
            && if plan.draft.is_folded(transcript.entry_of(*slot)) {
                !part.is(Marks::NESTED)
            } else {
                plan.draft.is_gone(*slot)
            }
    };
    (0..transcript.part_count() as u32).map(Slot).filter(is_carried).collect()
}

impl fmt::Debug for Readings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readings").field("most", &self.most).finish_non_exhaustive()
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading").field("entries", &self.transcript.len()).finish_non_exhaustive()
    }
}
