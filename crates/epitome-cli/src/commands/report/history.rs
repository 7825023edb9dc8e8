//! The context between compactions, as a recording tells it.

use std::ops::Range;
use std::sync::Arc;

use epitome::Request;
use epitome::count::{Tally, TokenCounter, Weights};
use epitome::transcript::unit::Units;
use epitome_recordings::{Options, Reach, Reported, Run, read, reader};

use super::Quoting;
use super::became::{self, Compaction};
use crate::args::ReadingArgs;
use crate::input::Opened;
use crate::progress::Progress;
use crate::survey::{Moment, timeline};

/// The context of a session over time: between compactions, and what those did.
#[derive(Debug)]
pub(in crate::commands) struct Lived {
    /// The oldest first; one at least.
    pub(in crate::commands) epochs: Vec<Epoch>,
    /// Each is what ended the epoch of the same place.
    pub(in crate::commands) compactions: Vec<Compaction>,
    /// Compactions that can't be found in the file, or are too long ago to be shown.
    pub(super) not_shown: usize,
    /// The newest compaction that is too long ago to be shown; 0 if none is.
    pub(super) too_old: usize,
    /// What was reported up to that one.
    pub(super) earlier: Vec<Reported>,
}

impl Lived {
    /// Reads it out of the bytes of a file that says `now` at its end.
    pub(in crate::commands) fn read(
        bytes: &[u8],
        now: &Opened,
        how: &ReadingArgs,
        counter: &dyn TokenCounter,
        quoting: Quoting,
        progress: &mut Progress,
    ) -> Self {
        let Epochs { mut read, numbers, not_shown, too_old, earlier } =
            epochs(bytes, now, how, || progress.tick("reading"));
        let mut compactions = Vec::new();
        for (at, number) in (1..).zip(&numbers) {
            progress.tick("comparing");
            let (before, after) = read.split_at_mut(at);
            let (before, after) = (&before[at - 1], &mut after[0]);
            compactions.push(became::compaction(*number, before, after, counter, quoting));
        }
        let epochs = read.into_iter().map(|epoch| epoch.weighed(counter)).collect();
        Lived { epochs, compactions, not_shown, too_old, earlier }
    }
}

/// The context from one compaction to the next, as it was at the end.
#[derive(Debug)]
pub(in crate::commands) struct Epoch {
    pub(in crate::commands) request: Request,
    pub(in crate::commands) tally: Tally,
    /// The messages that the compaction before it left, from the first on.
    pub(in crate::commands) carried: usize,
    /// Messages that were said before all of it.
    pub(in crate::commands) said_before: usize,
    /// What the provider reported.
    pub(in crate::commands) reported: Vec<Reported>,
    /// What stands around the messages.
    pub(in crate::commands) frame: Weights,
    pub(in crate::commands) moments: Vec<Moment>,
}

/// An epoch that wasn't counted yet.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) request: Request,
    /// The result of its compaction, as it was then; empty if there was none.
    pub(super) left: Option<Request>,
    /// Whether Epitome made that compaction.
    pub(super) is_ours: bool,
    reported: Vec<Reported>,
    pub(super) said_before: usize,
}

/// All epochs that can be told apart, the oldest first.
#[derive(Debug)]
struct Epochs {
    read: Vec<Read>,
    /// Behind each epoch but the newest, which of all compactions ended it, from 1.
    numbers: Vec<usize>,
    not_shown: usize,
    /// The newest compaction that is too long ago to be shown; 0 if none is.
    too_old: usize,
    /// What was reported up to that one.
    earlier: Vec<Reported>,
}

/// The most compactions that are looked at, the newest: each is read twice.
const MOST: usize = 60;

/// Reads the recording as it was before and behind each compaction.
fn epochs(bytes: &[u8], now: &Opened, how: &ReadingArgs, mut tick: impl FnMut()) -> Epochs {
    let options = Options { run: how.run.map_or(Run::Only, Run::Nth), ..Options::default() };
    let reader = now.source.recording.as_deref().and_then(reader);
    let text = std::str::from_utf8(bytes).ok().filter(|_| now.source.sidechain.is_none());
    let mut told = Epochs {
        read: Vec::new(),
        numbers: Vec::new(),
        not_shown: 0,
        too_old: 0,
        earlier: Vec::new(),
    };
    let mut left: Option<(Request, bool)> = None;
    let mut said_before = 0;
    let mut newest = Vec::new();
    if let (Some(reader), Some(text)) = (reader, text) {
        let until =
            |end: usize, options| read(reader, Arc::new(text[..end].to_owned()), options).ok();
        let all = until(text.len(), options);
        let (lines, usage) = all.map(|all| (all.compacted, all.usage)).unwrap_or_default();
        newest = usage;
        let marks = marks(text, lines);
        told.too_old = marks.len().saturating_sub(MOST);
        let is_ours = |mark: &Range<usize>| text[mark.clone()].contains(OURS);
        if let Some(mark) = told.too_old.checked_sub(1).map(|at| &marks[at]) {
            let whole = Options { reach: Reach::Whole, ..options };
            if let Some(before) = until(mark.start, whole) {
                // The agents' summaries stand in it too, each once.
                let summaries = marks[..told.too_old - 1].iter().filter(|mark| !is_ours(mark));
                let said = before.request.transcript.len();
                said_before = said.saturating_sub(summaries.count());
                told.earlier = before.usage;
            }
            left = until(mark.end, options).map(|after| (after.request, is_ours(mark)));
        }
        for (at, mark) in marks.iter().enumerate().skip(told.too_old) {
            tick();
            let both = until(mark.start, options).zip(until(mark.end, options));
            let Some((before, after)) = both else { continue };
            if after.compactions <= before.compactions {
                continue;
            }
            let new = before.request.transcript.len();
            let carried = left.as_ref().map_or(0, |(left, _)| left.transcript.len());
            let (came, was_ours) = left.replace((after.request, is_ours(mark))).unzip();
            told.numbers.push(at + 1);
            told.read.push(Read {
                request: before.request,
                left: came,
                is_ours: was_ours.unwrap_or(false),
                reported: before.usage,
                said_before,
            });
            said_before += new.saturating_sub(carried);
        }
    }
    let (came, is_ours) = left.unzip();
    told.not_shown = now.source.compactions.saturating_sub(told.numbers.len());
    told.read.push(Read {
        request: now.request.clone(),
        left: came,
        is_ours: is_ours.unwrap_or(false),
        reported: newest,
        said_before,
    });
    told
}

/// By which rows are known that Epitome wrote; in what is quoted the marks are escaped.
const OURS: &str = "\"epitome\":";

/// By which rows are known that belong to the compaction right before them.
const FURTHER: [&str; 2] = ["\"isCompactSummary\"", OURS];

/// Where the rows of compactions begin and end, which stand on these lines.
fn marks(text: &str, mut lines: Vec<usize>) -> Vec<Range<usize>> {
    lines.sort_unstable();
    lines.dedup();
    let mut found: Vec<Range<usize>> = Vec::with_capacity(lines.len());
    let mut lines = lines.into_iter().peekable();
    let mut at = 0;
    for (line, row) in text.split_inclusive('\n').enumerate() {
        let (start, end) = (at, at + row.len());
        at = end;
        if lines.next_if_eq(&(line + 1)).is_some() {
            found.push(start..end);
            continue;
        }
        if let Some(last) = found.last_mut().filter(|last| last.end == start)
            && FURTHER.iter().any(|mark| row.contains(mark))
        {
            last.end = end;
        }
    }
    found
}

impl Read {
    /// The same, counted.
    fn weighed(self, counter: &dyn TokenCounter) -> Epoch {
        let Read { request, left, reported, said_before, .. } = self;
        let tally = Tally::of(&request, counter);
        let units = Units::of(&request.transcript, request.format.instructions());
        let carried = left.map_or(0, |left| left.transcript.len().min(request.transcript.len()));
        Epoch {
            frame: Weights::of_frame(&request, &tally),
            moments: timeline(&request, &units, &tally),
            carried,
            said_before,
            reported,
            tally,
            request,
        }
    }
}

impl Epoch {
    /// Messages that were said in it.
    pub(in crate::commands) fn said(&self) -> usize {
        self.request.transcript.len() - self.carried
    }

    /// How far it had come and what was in the context then: what was carried over first, then step by step.
    pub(in crate::commands) fn points(&self) -> Vec<(usize, Weights)> {
        let mut sums = self.frame.clone();
        let mut points = Vec::new();
        let (carried, said): (Vec<&Moment>, Vec<&Moment>) =
            self.moments.iter().partition(|moment| moment.to < self.carried);
        for moment in carried {
            sums.add_all(&moment.kinds);
        }
        points.push((0, sums.clone()));
        for moment in said {
            sums.add_all(&moment.kinds);
            points.push((moment.to + 1 - self.carried, sums.clone()));
        }
        points
    }
}
