//! The context between compactions, as a recording tells it.

use std::sync::Arc;

use epitome::Request;
use epitome::count::{Tally, TokenCounter};
use epitome::transcript::unit::Units;
use epitome_recordings::{Kind, Options, Reported, Run, read};

use crate::args::ReadingArgs;
use crate::input::Opened;
use crate::survey::{Moment, Weights, timeline};

/// The context from one compaction to the next, as it was at the end.
#[derive(Debug)]
pub(super) struct Epoch {
    pub(super) request: Request,
    pub(super) tally: Tally,
    /// The messages that the compaction before it left, from the first on.
    pub(super) carried: usize,
    /// Messages that were said before all of it.
    pub(super) said_before: usize,
    /// What the provider reported.
    pub(super) reported: Vec<Reported>,
    /// What stands around the messages.
    pub(super) frame: Weights,
    pub(super) moments: Vec<Moment>,
}

/// An epoch that wasn't counted yet.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) request: Request,
    /// What its compaction left, as it was then; nothing where there was none.
    pub(super) left: Option<Request>,
    /// Whether Epitome made that compaction.
    pub(super) is_ours: bool,
    reported: Vec<Reported>,
    pub(super) said_before: usize,
}

/// All epochs that can be told apart, the oldest first.
#[derive(Debug)]
pub(super) struct Epochs {
    pub(super) epochs: Vec<Read>,
    pub(super) not_shown: usize,
}

/// The most compactions that are looked at, the newest: each is read twice.
const MOST: usize = 60;

/// Reads the recording as it was before and behind each compaction.
pub(super) fn epochs(
    bytes: &[u8],
    now: &Opened,
    how: &ReadingArgs,
    mut tick: impl FnMut(),
) -> Epochs {
    let options = Options { run: how.run.map_or(Run::Only, Run::Nth), ..Options::default() };
    let kind =
        Kind::ALL.into_iter().find(|kind| Some(kind.name()) == now.source.recording.as_deref());
    let text = std::str::from_utf8(bytes).ok().filter(|_| now.source.sidechain.is_none());
    let mut epochs = Vec::new();
    let mut left: Option<(Request, bool)> = None;
    let mut said_before = 0;
    let mut found = 0;
    if let (Some(kind), Some(text)) = (kind, text) {
        let at = |end: usize| read(kind, Arc::new(text[..end].to_owned()), options).ok();
        let marks = marks(kind, text);
        let skipped = marks.len().saturating_sub(MOST);
        for (start, end) in marks.into_iter().skip(skipped) {
            tick();
            let (Some(before), Some(after)) = (at(start), at(end)) else { continue };
            if after.compactions <= before.compactions {
                continue;
            }
            found += 1;
            let is_ours = text[start..end].contains(OURS);
            let new = before.request.transcript.len();
            let carried = left.as_ref().map_or(0, |(left, _)| left.transcript.len());
            let (came, was_ours) = left.replace((after.request, is_ours)).unzip();
            epochs.push(Read {
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
    let reported = kind
        .zip(text)
        .and_then(|(kind, text)| Some(read(kind, Arc::new(text.to_owned()), options).ok()?.usage));
    epochs.push(Read {
        request: now.request.clone(),
        left: came,
        is_ours: is_ours.unwrap_or(false),
        reported: reported.unwrap_or_default(),
        said_before,
    });
    Epochs { epochs, not_shown: now.source.compactions.saturating_sub(found) }
}

/// By which rows are known that Epitome wrote.
const OURS: &str = "\"epitome\":";

/// By which the first row of a compaction is known; in what is quoted the marks are escaped.
fn first(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::ClaudeCode => "\"compact_boundary\"",
        Kind::Codex => "\"compacted\"",
        Kind::Pi => "\"compaction\"",
        Kind::GeminiCli => "\"$set\"",
        // Others are one value, which can't be cut.
        _ => return None,
    })
}

/// By which others are.
const FURTHER: [&str; 2] = ["\"isCompactSummary\"", OURS];

/// Where rows that may belong to a compaction begin and end.
fn marks(kind: Kind, text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let Some(first) = first(kind) else { return found };
    let mut at = 0;
    for row in text.split_inclusive('\n') {
        let (start, end) = (at, at + row.len());
        at = end;
        let is_first = row.contains(first);
        if !is_first && !FURTHER.iter().any(|mark| row.contains(mark)) {
            continue;
        }
        match found.last_mut() {
            Some(last) if !is_first && last.1 == start => last.1 = end,
            _ => found.push((start, end)),
        }
    }
    found
}

impl Read {
    /// The same, counted.
    pub(super) fn weighed(self, counter: &dyn TokenCounter) -> Epoch {
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
    pub(super) fn said(&self) -> usize {
        self.request.transcript.len() - self.carried
    }

    /// How far it had come and what was in the context then: what was carried over first, then step by step.
    pub(super) fn points(&self) -> Vec<(usize, Weights)> {
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
