//! A compaction that is written in another format lands there: what counts is what is sent.

use anyhow::Result;
use epitome::count::Tally;
use epitome::engine::plan::Reached;
use epitome::engine::receipt::RequestSize;
use epitome::{Request, Target};

use super::shape::{Done, Shape};
use crate::carried::{Bound, Carried};
use crate::input::Opened;
use crate::output::Report;
use crate::reader::Need;
use crate::values::Destination;

/// A compaction and what is to be written of it.
#[derive(Debug)]
pub(super) struct Landed {
    /// The compaction, of the input as it came.
    pub(super) done: Done,
    /// The result, converted if it was to be.
    pub(super) written: Request,
    /// What became of it where it was converted.
    pub(super) carried: Option<Carried>,
}

/// How often a compaction is tried again because its conversion is over the target.
const TRIES: u64 = 4;

/// Compacts so that the conversion is at the target, as far as that can be had.
///
/// Formats need more or fewer tokens for the same content. So a converted result is compacted further until it lands, and
/// percent mean those of the whole input in the target format. Summarizers and hooks are asked once, after the target is
/// known. The receipt stays that of the compaction; the landing of the conversion is reported beside it.
pub(super) fn land(
    shape: Shape,
    to: &Destination,
    opened: &Opened,
    report: Report,
) -> Result<Landed> {
    let is_converted = opened.request.format != to.format;
    let to = to.bound()?;
    let shape = if is_converted { shape.read_by(to.reader.clone()) } else { shape };
    let part = shape.share_of_input().filter(|_| is_converted);
    let part = part.map(|percent| percent_of(&shape, percent, &to, opened)).transpose()?;
    let (shape, words) = match part {
        Some((tokens, words)) => (shape.landing_at(tokens), Some(words)),
        None => (shape, None),
    };
    let (mut shape, helpers) = shape.without_help();
    // A whole compactor lands where it lands.
    let is_probed = helpers.compactors.chain.is_empty();
    if !is_probed {
        shape = shape.helped_by(helpers.clone());
    }
    let done = shape.attempt(opened, None, report)?;
    let wanted = done.outcome.receipt.target;
    let mut said = done.target.clone();
    if let Some(words) = words {
        said.words = words;
    }
    let mut best = convert(done, &to, wanted)?;
    best.done.target.clone_from(&said);
    let (mut lower, mut landing) = (wanted, wanted);
    for more in 1..=TRIES {
        let over = best.carried.as_ref().map_or(0, Carried::over);
        if over == 0 || !is_probed || !may_go_lower(&best.done) {
            break;
        }
        // A little more each time, since a plan may land where the one before did.
        lower = lower.saturating_sub(over + wanted * more / 256).max(1);
        shape = shape.landing_at(lower);
        let next = convert(shape.attempt(opened, None, report)?, &to, wanted)?;
        if next.carried.as_ref().map_or(0, Carried::over) < over {
            (best, landing) = (next, lower);
            best.done.target.words =
                format!("{}, less what {} adds", said.words, best.written.format);
        }
    }
    if is_probed && helpers.are_asked() {
        shape = shape.landing_at(landing).helped_by(helpers);
        let said = best.done.target;
        best = convert(shape.attempt(opened, None, report)?, &to, wanted)?;
        best.done.target = said;
    }
    if report == Report::Words {
        shape.warn(opened, &best.done);
    }
    Ok(best)
}

/// This many percent of the converted input, in tokens, and in words.
fn percent_of(
    shape: &Shape,
    percent: Target,
    to: &Bound<'_>,
    opened: &Opened,
) -> Result<(u64, String)> {
    let (whole, _) = to.reach(opened.request.clone())?;
    let reader = shape.reader(&whole, Need::Window)?;
    let all = Tally::of(&whole, reader.counter.as_ref()).total().tokens;
    Ok((percent.resolve(all).max(1), format!("{percent} of the input as {}", whole.format)))
}

/// Converts what was compacted, to be at `target`.
fn convert(done: Done, to: &Bound<'_>, target: u64) -> Result<Landed> {
    let (written, carried) = to.reach(done.outcome.request.clone())?;
    let carried = carried.map(|carried| {
        let count = Tally::of(&written, done.reader.counter.as_ref()).total();
        // What nothing asked to compact passes, whatever its size.
        let passes = done.outcome.receipt.reached == Reached::NotTriggered;
        carried.measured(RequestSize::of(&written, count), (!passes).then_some(target))
    });
    Ok(Landed { done, written, carried })
}

/// Whether a lower target may give less.
fn may_go_lower(done: &Done) -> bool {
    match done.outcome.receipt.reached {
        Reached::Target | Reached::NothingToDo => true,
        Reached::NotTriggered
        | Reached::Declined
        | Reached::Short
        | Reached::Unreachable { .. } => false,
    }
}
