//! What was read of histories, kept for the next compaction of what goes on from one.
//!
//! A ledger is made of all that was said, whatever is shown of it, and reading that is most of the work. Who says the
//! same as the one before, and more, has the same ledger up to there; what is folded is as good as it was as long as the
//! same entries are. Histories are held to each other part by part, so that one that was changed meets nobody else's.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Compaction, Compactor};
use crate::checkpoint::{Folded, Gathered};
use crate::count::{Said, Tally, TokenCounter};
use crate::guard::{Held, Overridden};
use crate::ledger::{Ledger, Made};
use crate::plan::Plan;
use crate::request::Request;
use crate::strategy::Found;
use crate::transcript::{Marks, Origin, Slot, Transcript};
use crate::wire::{self, Clean, Format, Repaired};

/// Each new history is held to all that are kept.
const MOST_KEPT: usize = 256;

/// What compactions read, kept for those of the same histories grown longer. What comes out is the same with it and without.
///
/// ```
/// # use std::sync::Arc;
/// use epitome::engine::Readings;
/// # use epitome::{Compactor, Format, Options, Target, count::BytesPer, wire};
/// # let options = Options { target: Target::Tokens(400), ..Options::default() };
/// # let counter = Arc::new(BytesPer::new(std::num::NonZeroU32::MIN));
/// # let compactor = Compactor::new(options, counter)?;
/// # let message = format!("{{\"role\":\"user\",\"content\":\"{}\"}}", "Port 5020 it is. ".repeat(300));
/// # let body = format!("{{\"messages\":[{message},{{\"role\":\"assistant\",\"content\":\"Done.\"}}]}}");
/// # let request = wire::parse(Format::OpenaiChat, body)?;
/// let keeping = compactor.clone().keeping(Arc::new(Readings::new(64 << 20)));
/// let first = keeping.compact(&request)?;
/// let second = keeping.compact(&request)?;
/// assert_eq!(first.rendered(), second.rendered());
/// assert_eq!(first.rendered(), compactor.compact(&request)?.rendered());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Readings {
    most: usize,
    /// The newest first, each with its bytes.
    kept: Mutex<VecDeque<(Arc<Reading>, usize)>>,
}

/// A history, and what is known of it.
pub(super) struct Reading {
    format: Format,
    transcript: Transcript,
    /// What it counts, by whom.
    said: Option<Arc<(Arc<dyn TokenCounter>, Said)>>,
    /// That it breaks no rule.
    clean: Option<Arc<Clean>>,
    found: Arc<Found>,
    heard: Heard,
    /// About so many bytes are held for it, beside what strategies found out.
    bytes: usize,
}

/// What was read of a history.
#[derive(Clone)]
struct Heard {
    /// Parts that are earlier checkpoints and were carried over.
    carried: Vec<Slot>,
    /// Changes of before that were made while it was read.
    made: Vec<Made>,
    ledger: Arc<Ledger>,
    folds: Option<Arc<Folds>>,
}

/// What was taken from folded entries.
pub(super) struct Folds {
    /// Of so many first entries; of the rest none was folded, and nothing left.
    upto: usize,
    entries: Vec<Range<usize>>,
    /// Those that left otherwise.
    dropped: Vec<Range<usize>>,
    /// Parts that left entries which are shown.
    gone: Vec<Slot>,
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

    /// Whether it may keep anything.
    pub(super) fn keeps(&self) -> bool {
        self.most > 0
    }

    fn kept(&self) -> MutexGuard<'_, VecDeque<(Arc<Reading>, usize)>> {
        // Whatever fell, each of them is whole.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of them: what they are held to takes longer than the lock should.
    fn all(&self) -> Vec<Arc<Reading>> {
        self.kept().iter().map(|(known, _)| Arc::clone(known)).collect()
    }

    /// The longest history that `request` goes on from.
    fn of(&self, request: &Request) -> Option<Arc<Reading>> {
        let known = self.all();
        let goes_on = |known: &&Arc<Reading>| {
            known.format == request.format && request.transcript.goes_on_from(&known.transcript)
        };
        known.iter().filter(goes_on).max_by_key(|known| known.transcript.len()).cloned()
    }

    /// What is known of rules that a request doesn't break with which this one has so many first entries in common, in the
    /// same bytes.
    fn clean(&self, request: &Request) -> Option<(Clean, usize)> {
        let known = self.all();
        let shared = known.iter().filter(|known| known.format == request.format).map(|known| {
            let entries = known.transcript.shared_with(request.source());
            let is_same = request.transcript.begins_with(&known.transcript, entries);
            (if is_same { entries } else { 0 }, known.clean.as_ref())
        });
        let (entries, clean) = shared.max_by_key(|(entries, _)| *entries)?;
        Some((clean?.as_ref().clone(), entries))
    }

    /// Keeps what was read, in the place of what it went on from.
    fn keep(&self, reading: &Arc<Reading>, before: Option<&Arc<Reading>>) {
        // What strategies find out is locked while they do: nobody waits for that with the store in hand.
        let bytes = reading.bytes + reading.found.bytes();
        let mut kept = self.kept();
        kept.retain(|(known, _)| before.is_none_or(|before| !Arc::ptr_eq(known, before)));
        // What is too large by itself takes nobody's place.
        if bytes > self.most {
            return;
        }
        kept.push_front((Arc::clone(reading), bytes));
        let mut left = self.most;
        let fits = |(_, bytes): &(Arc<Reading>, usize)| {
            let rest = left.checked_sub(*bytes);
            left = rest.unwrap_or(0);
            rest.is_some()
        };
        let fitting = kept.iter().take(MOST_KEPT).map(fits).take_while(|fits| *fits).count();
        kept.truncate(fitting);
    }
}

impl Reading {
    /// What it counts by the counter of this compactor, where that is known.
    pub(super) fn said_by(&self, compactor: &Compactor) -> Option<&Said> {
        let (by, said) = self.said.as_deref()?;
        Arc::ptr_eq(by, &compactor.shared_counter()).then_some(said)
    }

    /// What was read, with these carried over and these changes made among others that come behind.
    fn heard(&self, carried: &[Slot], made: &[Made]) -> Option<&Heard> {
        let parts = self.transcript.part_count();
        let carried = carried.iter().take_while(|slot| (slot.0 as usize) < parts);
        let made = made_in(made, self.transcript.len());
        let is_same = self.heard.carried.iter().eq(carried) && self.heard.made.iter().eq(made);
        is_same.then_some(&self.heard)
    }

    fn weighed(self) -> Self {
        let folds = self.heard.folds.as_ref().map_or(0, |folds| folds.folded.bytes());
        let bytes = self.transcript.bytes()
            + self.said.as_ref().map_or(0, |said| said.1.bytes())
            + self.clean.as_ref().map_or(0, |clean| clean.bytes())
            + self.heard.ledger.bytes()
            + folds;
        Reading { bytes, ..self }
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
        let (entries, dropped) = hidden(plan, transcript.len());
        let gone = gone(plan, transcript.part_count());
        let end = |runs: &[Range<usize>]| runs.last().map_or(0, |run| run.end);
        let last = carried.last().max(gone.last());
        let last = last.map_or(0, |slot| transcript.entry_of(*slot) + 1);
        let upto = end(&entries).max(end(&dropped)).max(last);
        Folds { upto, entries, dropped, gone, pins: pins.to_vec(), folded }
    }

    /// Whether `plan` folds the same of the first entries, of which `pins` are pinned.
    fn hold(&self, plan: &Plan, transcript: &Transcript, pins: &[usize]) -> bool {
        let pins = pins.iter().filter(|at| **at < self.upto);
        let parts = match self.upto.checked_sub(1) {
            Some(last) => transcript.entry(last).slots().end as usize,
            None => 0,
        };
        let is_same = hidden(plan, self.upto) == (self.entries.clone(), self.dropped.clone());
        is_same && gone(plan, parts) == self.gone && self.pins.iter().eq(pins)
    }
}

impl Compaction {
    /// The request, mended; what is known to break no rule isn't checked again.
    pub(super) fn repaired(&mut self) -> Repaired {
        let Some(readings) = self.compactor.readings() else { return wire::repair(&self.request) };
        let found = match wire::check_on(&self.request, readings.clean(&self.request)) {
            Ok(clean) => {
                self.clean = Some(Arc::new(clean));
                Vec::new()
            }
            Err(found) => found,
        };
        wire::repair_found(&self.request, found)
    }

    /// Looks for what is known of the request, as it is now.
    pub(super) fn look_up(&mut self) {
        let readings = self.compactor.readings();
        self.reading = readings.and_then(|readings| readings.of(&self.request));
    }

    /// What strategies found out, and will.
    pub(super) fn found(&mut self) -> Arc<Found> {
        let parts = self.request.transcript.part_count();
        let is_kept = self.compactor.readings().is_some();
        let found = self.found.get_or_insert_with(|| match &self.reading {
            Some(known) if known.transcript.part_count() == parts => Arc::clone(&known.found),
            Some(known) => Arc::new(known.found.grown(parts)),
            None if is_kept => Arc::new(Found::of(&self.request.transcript).lasting()),
            None => Arc::new(Found::of(&self.request.transcript)),
        });
        Arc::clone(found)
    }

    /// What `plan` goes on from: what was read and taken before, and of how many first entries it was taken.
    pub(super) fn going_on(&mut self, plan: &Plan, remembered: &[Made]) -> (Gathered, usize) {
        let channel = self.compactor.channel().cloned();
        let transcript = &self.request.transcript;
        let again = self.heard.take();
        let known = self.reading.as_ref().and_then(|known| {
            let heard = known.heard(&carried(plan, transcript), remembered)?;
            Some((heard, known.transcript.len()))
        });
        let gathered = match (again, known) {
            (Some(ledger), _) => Gathered::again(channel, ledger, usize::MAX),
            (None, Some((heard, entries))) => {
                Gathered::again(channel, heard.ledger.as_ref().clone(), entries)
            }
            (None, None) => Gathered::recalled_by(channel),
        };
        let gathered = gathered.numbered(&self.numbering);
        let folds = known.and_then(|(heard, _)| heard.folds.as_ref());
        match folds.filter(|folds| folds.hold(plan, transcript, &self.pinned())) {
            Some(folds) => (gathered.with_folded(&folds.folded), folds.upto),
            None => (gathered, 0),
        }
    }

    /// Keeps what was read of the request, and what was taken from what is folded: of the first `taken` entries it was taken
    /// before.
    pub(super) fn keep_reading(
        &mut self,
        tally: &Tally,
        gathered: &Gathered,
        (plan, remembered): (&Plan, &[Made]),
        taken: usize,
    ) {
        let Some(readings) = self.compactor.readings() else { return };
        let transcript = &self.request.transcript;
        let carried = carried(plan, transcript);
        let before = self.reading.take();
        let known = before.as_ref().filter(|known| known.transcript.len() == transcript.len());
        let is_taken = (taken..transcript.len()).all(|at| !plan.draft.is_folded(at));
        let folds = (!is_taken).then(|| {
            let of = (transcript, &self.pinned()[..]);
            Arc::new(Folds::of(plan, of, &carried, gathered.folded().clone()))
        });
        let read = gathered.read_before();
        let heard_before = before.as_ref().map(|known| &known.heard).filter(|_| read > 0);
        let heard = match (heard_before, read >= transcript.len()) {
            (Some(heard), true) => Heard { folds: folds.or(heard.folds.clone()), ..heard.clone() },
            (heard, _) => Heard {
                made: made_in(remembered, transcript.len()).cloned().collect(),
                ledger: Arc::new(gathered.ledger().clone()),
                folds: folds.or(heard.and_then(|heard| heard.folds.clone())),
                carried,
            },
        };
        let said = known.filter(|known| known.said_by(&self.compactor).is_some());
        let said = match said {
            Some(known) => known.said.clone(),
            None => tally.said().map(|said| Arc::new((self.compactor.shared_counter(), said))),
        };
        let reading = Reading {
            format: self.request.format,
            transcript: transcript.clone(),
            said,
            clean: self.clean.clone().filter(|_| self.mended.is_empty()),
            found: self.found.clone().expect("a plan was drawn up"),
            heard,
            bytes: 0,
        };
        let reading = Arc::new(reading.weighed());
        readings.keep(&reading, before.as_ref());
        self.reading = Some(reading);
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

/// Of so many first entries those that `plan` folds, and those that leave otherwise.
fn hidden(plan: &Plan, entries: usize) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let folded = runs((0..entries).filter(|at| plan.draft.is_folded(*at)));
    let leaves = |at: &usize| !plan.draft.is_folded(*at) && !plan.draft.is_shown(*at);
    (folded, runs((0..entries).filter(leaves)))
}

/// Of so many first parts those that `plan` takes away.
fn gone(plan: &Plan, parts: usize) -> Vec<Slot> {
    (0..parts as u32).map(Slot).filter(|slot| plan.draft.is_gone(*slot)).collect()
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
