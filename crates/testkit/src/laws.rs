//! The laws of ARCHITECTURE.md, as checks of one compaction; property tests run them over generated
//! transcripts, and over real ones.

use epitome::archive::{Archive as _, MemoryArchive};
use epitome::count::Tally;
use epitome::engine::plan::Reached;
use epitome::engine::{Answer, Budget, Step, Stop, Tail};
use epitome::model::Binding;
use epitome::strategy::Pipeline;
use epitome::transcript::ContentId;
use epitome::view::{Fate, Reason};
use epitome::wire::Piece;
use epitome::{CompactError, Compactor, Options, Outcome, Pin, Request, Target, wire};

use crate::accepted::accepted;
use crate::archives::Full;
use crate::generate::is_full;

macro_rules! holds {
    ($holds:expr, $($why:tt)+) => {
        if !$holds {
            return Err(format!($($why)+));
        }
    };
    ($holds:expr) => {
        holds!($holds, "{}", stringify!($holds))
    };
}

macro_rules! same {
    ($left:expr, $right:expr $(, $why:literal)?) => {{
        let (left, right) = (&$left, &$right);
        if left != right {
            let (one, other) = (stringify!($left), stringify!($right));
            return Err(format!("{one} isn't {other}:\n{left:?}\n{right:?}"));
        }
    }};
}

mod deed;
mod deeds;
mod end;
mod fidelity;
pub mod log;
#[cfg(test)]
mod made;
mod memory;
mod mouth;
#[cfg(test)]
mod naive;
mod order;
mod pins;
mod room;
mod silence;
mod whole;

/// A law of what the agent is told, by what a compaction came to alone.
#[derive(Clone, Copy)]
pub struct Law {
    /// Its number in ARCHITECTURE.md.
    pub number: u8,
    /// Its name there.
    pub name: &'static str,
    check: fn(&Outcome, &Compactor) -> Result<(), String>,
}

impl Law {
    /// Whether it holds.
    ///
    /// # Errors
    /// How it is broken.
    pub fn holds(&self, outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
        (self.check)(outcome, compactor)
            .map_err(|why| format!("law {}, {}: {why}", self.number, self.name))
    }
}

/// The laws of what the agent is told.
pub const TOLD: [Law; 6] = [
    Law { number: 14, name: "time order", check: |outcome, _| order::check(outcome) },
    Law { number: 15, name: "same end", check: |outcome, _| end::check(outcome) },
    Law { number: 16, name: "deeds", check: deeds::check },
    Law { number: 17, name: "silence", check: |outcome, _| silence::check(outcome) },
    Law { number: 18, name: "whole strings", check: |outcome, _| whole::check(outcome) },
    Law { number: 19, name: "memory", check: remembers },
];

/// Checks every law of a compaction of `request`.
///
/// # Errors
/// The law that is broken, and how.
pub fn check_all(request: &Request, compactor: &Compactor) -> Result<(), String> {
    let outcome = compactor.compact(request).map_err(|e| e.to_string())?;
    coverage(&outcome)?;
    pairing(&outcome)?;
    fidelity::check(&outcome)?;
    descent(&outcome, compactor)?;
    TOLD.iter().try_for_each(|law| law.holds(&outcome, compactor))?;
    rest(&outcome, compactor)?;
    pins::check(&outcome, compactor)?;
    pins::fit(&outcome, compactor)?;
    prefix(&outcome, compactor)?;
    returns(request, compactor, &outcome)?;
    let steps = sameness(request, compactor, &outcome)?;
    all_or_nothing(request, compactor, steps)?;
    bounds(&outcome)?;
    tail(&outcome, compactor)?;
    let is_stuck = matches!(outcome.receipt.reached, Reached::Unreachable { .. } | Reached::Short);
    // What is pinned between turns of a model that binds by hand can leave no whole turn.
    let is_bound = Binding::of(&outcome.base) == Binding::PrefixManual;
    let fallbacks = &outcome.receipt.fallbacks;
    holds!(fallbacks.is_empty() || is_stuck || is_bound, "{fallbacks:?}");
    mouth::check(&outcome)?;
    read_back(&outcome)?;
    honest_counts(&outcome)
}

/// Checks every law of a view that is already there, whoever decided what becomes of each entry.
///
/// # Errors
/// The law that is broken, and how.
pub fn check_view(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    coverage(outcome)?;
    pairing(outcome)?;
    fidelity::check(outcome)?;
    descent(outcome, compactor)?;
    // What is carried on is the same whoever decided.
    let told = TOLD.iter().filter(|law| law.number != 19);
    told.into_iter().try_for_each(|law| law.holds(outcome, compactor))?;
    pins::check(outcome, compactor)?;
    prefix(outcome, compactor)?;
    bounds(outcome)?;
    tail(outcome, compactor)?;
    mouth::check(outcome)?;
    honest_counts(outcome)
}

/// Law 19, and what the agent is told once it was compacted again.
fn remembers(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    let Some(second) = memory::again(outcome, compactor)? else { return Ok(()) };
    memory::check(outcome, &second, compactor)?;
    let laws = TOLD.iter().filter(|law| matches!(law.number, 14 | 15 | 17));
    let mut broken = laws.filter_map(|law| law.holds(&second, compactor).err());
    broken.next().map_or(Ok(()), |why| Err(format!("compacted again: {why}")))
}

/// Law 1: every entry has one fate; every edit names a slot of its entry.
fn coverage(outcome: &Outcome) -> Result<(), String> {
    let transcript = &outcome.base.transcript;
    same!(outcome.view.len(), transcript.len());
    for (entry, fate) in transcript.entries().zip(outcome.view.fates()) {
        if let Fate::Edit(edits) = fate {
            holds!(!edits.is_empty());
            for edit in edits {
                holds!(entry.slots().contains(&edit.at.0), "an edit outside of its entry");
            }
        }
    }
    Ok(())
}

/// What a caller stores is read back as it was.
fn read_back(outcome: &Outcome) -> Result<(), String> {
    let receipt = serde_json::to_string(&outcome.receipt).map_err(|error| error.to_string())?;
    let read = serde_json::from_str(&receipt).map_err(|error| format!("{error}: {receipt}"))?;
    same!(outcome.receipt, read);
    let view = serde_json::to_string(&outcome.view).map_err(|error| error.to_string())?;
    let read = serde_json::from_str(&view).map_err(|error| format!("{error}: {view}"))?;
    same!(outcome.view, read);
    Ok(())
}

/// Law 2: the provider accepts what comes out.
fn pairing(outcome: &Outcome) -> Result<(), String> {
    let out = &outcome.request;
    let known: Vec<_> = wire::check(&outcome.base).into_iter().map(|found| found.rule).collect();
    let new: Vec<_> = wire::check(out).into_iter().filter(|f| !known.contains(&f.rule)).collect();
    holds!(new.is_empty(), "{new:?}");
    if outcome.receipt.reached != Reached::NotTriggered {
        same!(outcome.receipt.left, wire::inspect(out, &[]), "what is left is said");
    }
    if !known.is_empty() {
        return Ok(());
    }
    accepted(out)
}

/// Law 4: never more than before; at or under the target, or the floor is above it.
///
/// # Errors
/// How it is broken.
pub fn descent(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    let receipt = &outcome.receipt;
    let recount = Tally::of(&outcome.request, compactor.counter()).total().tokens;
    same!(receipt.after.count.tokens, recount, "the receipt counts what is there");
    let mended = Tally::of(&outcome.base, compactor.counter()).total().tokens;
    holds!(recount <= mended);
    let is_mended = !receipt.repaired.is_empty();
    holds!(is_mended || receipt.before.count.tokens == mended);
    let took = receipt.before.count.tokens.saturating_sub(mended);
    same!(receipt.mending_took, took, "what mending took is said");
    if outcome.base.transcript.is_empty() {
        return Ok(());
    }
    match &receipt.reached {
        Reached::Unreachable { held_by } => {
            holds!(
                receipt.floor > receipt.target,
                "unreachable, but the floor is under the target"
            );
            holds!(!held_by.is_empty());
        }
        Reached::Short => {
            let is_whole = matches!(compactor.options().strategies, Pipeline::Ladder(_));
            holds!(!is_whole, "short, with all that it takes");
            holds!(receipt.floor <= receipt.target && recount > receipt.target);
        }
        Reached::Declined => holds!(outcome.view.is_whole()),
        _ => holds!(recount <= receipt.target, "{} > {}", recount, receipt.target),
    }
    holds!(!outcome.request.transcript.is_empty(), "an empty request");
    Ok(())
}

/// Law 5: again, without new entries, changes nothing.
fn rest(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    let target = outcome.receipt.target;
    if target == 0 {
        return Ok(());
    }
    // Positions are those of the first transcript.
    let laid = wire::layout(&outcome.base, &outcome.view);
    let place = |at: usize| {
        laid.iter().find(|laid| laid.piece == Piece::Entry(at)).map(|laid| laid.message)
    };
    // A pin on nothing but reasoning that is bound to the old prefix has nothing to hold any more.
    let is_gone = |pin: &Pin| matches!(pin, Pin::Entry(at) if place(*at).is_none());
    if compactor.options().pins.iter().any(is_gone) {
        return Ok(());
    }
    let pins = compactor.options().pins.iter().filter_map(|pin| match pin {
        Pin::Entry(at) => place(*at).map(Pin::Entry),
        text @ Pin::Text(_) => Some(text.clone()),
    });
    let options = Options {
        target: Target::Tokens(target),
        pins: pins.collect(),
        ..compactor.options().clone()
    };
    let again = crate::compactor(options, &outcome.receipt.counter);
    let second = again.compact(&outcome.request).map_err(|e| e.to_string())?;
    // A list that goes to its end, or can't get where it should, may have more to do with what it left.
    let is_list = matches!(compactor.options().strategies, Pipeline::List(_));
    let is_short = matches!(outcome.receipt.reached, Reached::Short | Reached::Unreachable { .. });
    // What a message shares isn't told apart any more by why it had to stay.
    let is_shared = laid.windows(2).any(|pair| pair[0].message == pair[1].message);
    let goes_on = is_list && compactor.options().stop == Stop::AtEnd;
    if goes_on || is_short && (is_list || is_shared) {
        let (first, second) = (&outcome.receipt.after, &second.receipt.after);
        holds!(second.count.tokens <= first.count.tokens, "again made it larger");
        return Ok(());
    }
    // What only its author could mend may be mended once something else stands before it.
    if !wire::check(&outcome.base).is_empty() && !second.receipt.repaired.is_empty() {
        return Ok(());
    }
    let same = second.rendered() == outcome.rendered();
    let (first, second) = (&outcome.receipt, &second.receipt);
    holds!(
        same,
        "again changed it: {:?}\n{:?}\nthen {:?}\n{:?}",
        first.steps,
        first.edits,
        second.steps,
        second.edits
    );
    Ok(())
}

/// The tail that was asked for is verbatim, what alone exceeds the target apart; stripped reasoning
/// that is bound to the old prefix isn't counted as said.
fn tail(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    let Tail::Items(count) = compactor.options().tail else { return Ok(()) };
    let tally = Tally::of(&outcome.base, compactor.counter());
    let len = outcome.view.len();
    for (at, fate) in outcome.view.fates().enumerate().skip(len.saturating_sub(count)) {
        let is_cut = match fate {
            Fate::Keep => false,
            Fate::Edit(edits) => edits.iter().any(|edit| edit.reason != Reason::BoundReasoning),
            Fate::Fold(_) | Fate::Drop(_) => true,
        };
        let is_large = tally.entry(at) > outcome.receipt.target;
        let is_bare = matches!(fate, Fate::Drop(Reason::Emptied | Reason::BoundReasoning));
        holds!(!is_cut || is_large || is_bare, "the tail was cut at {at}: {fate:?}");
    }
    Ok(())
}

/// Law 7, as far as one compaction goes: the prefix that the receipt claims is kept.
fn prefix(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    let kept = outcome.receipt.kept_prefix;
    let before = outcome.base.source().get(..kept.bytes);
    same!(before, outcome.rendered().get(..kept.bytes), "the kept prefix keeps its bytes");
    let same = outcome.base.transcript.entries().zip(outcome.request.transcript.entries());
    let len = same.take_while(|(before, after)| before.raw() == after.raw()).count();
    holds!(kept.entries <= len, "{} entries claimed, {len} kept", kept.entries);
    let tally = Tally::of(&outcome.base, compactor.counter());
    let tokens = (0..kept.entries).map(|at| tally.entry(at)).sum::<u64>();
    same!(kept.tokens, tally.frame.total().tokens + tokens);
    Ok(())
}

/// Law 8: what is hidden can be had back byte for byte, and is durable first.
fn returns(request: &Request, compactor: &Compactor, first: &Outcome) -> Result<(), String> {
    let archive = MemoryArchive::default();
    let outcome = compactor.compact_into(request, &archive).map_err(|e| e.to_string())?;
    same!(outcome.rendered(), first.rendered());
    for (entry, fate) in outcome.base.transcript.entries().zip(outcome.view.fates()) {
        if *fate != Fate::Keep {
            let kept = archive.get(ContentId::of_text(entry.raw())).map_err(|e| e.to_string())?;
            same!(kept.as_deref(), Some(entry.raw()));
        }
    }
    Ok(())
}

/// Law 9: the same input gives the same bytes. In how many steps it did.
fn sameness(request: &Request, compactor: &Compactor, first: &Outcome) -> Result<usize, String> {
    let mut compaction = compactor.begin(request);
    let mut steps = 1;
    let second = loop {
        match compaction.step() {
            Step::Done(done) => break done.map_err(|e| e.to_string())?,
            _ => steps += 1,
        }
    };
    same!(second.rendered(), first.rendered());
    same!(&second.view, &first.view);
    Ok(steps)
}

/// Law 10: cancelled at any of so many steps, or without an archive, there is no view. Each is tried where many cases are asked
/// for; else the request's length says at which, because to try each takes several times as long as all other laws.
fn all_or_nothing(request: &Request, compactor: &Compactor, steps: usize) -> Result<(), String> {
    let one = request.source().len() % steps;
    for stop in if is_full() { 0..steps } else { one..one + 1 } {
        let mut compaction = compactor.begin(request);
        for _ in 0..stop {
            holds!(!matches!(compaction.step(), Step::Done(_)), "it ends sooner than before");
        }
        compaction.supply(Answer::Cancel);
        holds!(matches!(compaction.step(), Step::Yield | Step::Done(Err(CompactError::Cancelled))));
    }
    match compactor.compact_into(request, &Full) {
        Ok(outcome) => holds!(outcome.view.is_whole(), "hidden, but kept nowhere"),
        Err(error) => holds!(matches!(error, CompactError::Archive(_))),
    }
    Ok(())
}

/// Law 11, as far as one compaction tells: nothing written is larger than its cap.
fn bounds(outcome: &Outcome) -> Result<(), String> {
    let budget = Budget::new(outcome.receipt.target);
    if let Some(checkpoint) = &outcome.receipt.checkpoint {
        let cap = budget.checkpoint();
        holds!(checkpoint.tokens <= cap, "a checkpoint of {} over {cap}", checkpoint.tokens);
    }
    Ok(())
}

/// Law 13: every count has its basis, and its upper edge is an upper edge.
fn honest_counts(outcome: &Outcome) -> Result<(), String> {
    for size in [outcome.receipt.before, outcome.receipt.after] {
        holds!(size.count.upper >= size.count.tokens);
    }
    Ok(())
}
