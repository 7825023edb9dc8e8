//! The turn in progress, as providers see it, and what they demand of its reasoning.

use std::ops::Range;

use crate::model::Registry;
use crate::request::Request;
use crate::transcript::unit::{Unit, Units};
use crate::transcript::{Marks, Part, PartKind, Role, Transcript};
use crate::wire::{Feature, ReasoningKept, Thinking};

/// The steps since the newest message that isn't a result, if the model has yet to answer the
/// newest results. Text behind these results doesn't close the loop: providers merge it with them.
pub(super) fn open_loop(request: &Request, units: &Units) -> Option<Range<usize>> {
    let transcript = &request.transcript;
    let newest_step = units.all().iter().rposition(|unit| unit.is_step)?;
    let step = &units.all()[newest_step];
    let is_open = step.entries.clone().any(|at| transcript.entry(at).has_calls())
        && (step.entries.end..transcript.len())
            .all(|at| transcript.entry(at).role() != Role::Assistant);
    if !is_open {
        return None;
    }
    let earlier =
        units.all()[..newest_step].iter().rev().take_while(|unit| unit.is_step && !unit.is_turn);
    let start = earlier.last().map_or(step.entries.start, |unit| unit.entries.start);
    Some(start..step.entries.end)
}

/// Where the entries end up to the last one of `open_loop` that has something signed.
pub(super) fn signed_until(transcript: &Transcript, open_loop: &Range<usize>) -> Option<usize> {
    let is_signed = |at: &usize| transcript.entry(*at).parts().any(|p| p.is(Marks::SIGNED));
    open_loop.clone().rev().find(is_signed).map(|at| at + 1)
}

/// Where what keeps `open_loop` open ends, of which the entries before `signed` stay: there, unless only a call behind it does.
/// Without that the loop would be closed, and its reasoning free to leave.
pub(super) fn open_until(
    transcript: &Transcript,
    open_loop: &Range<usize>,
    signed: usize,
) -> usize {
    let calls = |at: usize| transcript.entry(at).has_calls();
    if (open_loop.start..signed).any(calls) { signed } else { open_loop.end }
}

/// Anthropic demands the newest step's reasoning while its loop is open, and with thinking enabled
/// by hand the whole turn's (PROVIDERS.md B.1.3); OpenAI-compatible thinking models that of the open
/// turn, some of them that of every call (B.3); Gemini the signatures of the whole turn (B.4).
pub(super) fn reasoning_from(
    request: &Request,
    units: &Units,
    open_loop: Option<&Range<usize>>,
) -> usize {
    let transcript = &request.transcript;
    let len = transcript.len();
    let dialect = request.format.dialect();
    let kept = dialect.terms().reasoning_kept;
    if Thinking::of(request) == Thinking::Manual || kept == ReasoningKept::Turn {
        return turn_start(request);
    }
    if dialect.has(Feature::ReasoningContent) && demands_all(request) {
        return 0;
    }
    match open_loop {
        None => len,
        Some(open) if kept == ReasoningKept::Loop => open.start,
        Some(_) => {
            let newest = units.all().iter().rfind(|unit| unit.is_step);
            newest.map_or(len, |unit| unit.entries.start)
        }
    }
}

/// Vendors whose thinking models want `reasoning_content` back with their calls, however old these are
/// (PROVIDERS.md B.3).
const DEMANDING: [&str; 2] = ["deepseek", "moonshot"];

fn demands_all(request: &Request) -> bool {
    let name = request.model();
    let family = name.as_deref().and_then(|name| Registry::built_in().family(name));
    family.is_some_and(|family| DEMANDING.contains(&family.vendor.as_str()))
}

/// Whether the model's first part in the unit is reasoning. Parts before a compaction block are
/// dropped, so the unit begins behind it.
pub(super) fn starts_with_reasoning(transcript: &Transcript, unit: &Unit) -> bool {
    let entries = unit.entries.clone().map(|at| transcript.entry(at));
    let mut said = entries.filter(|e| e.role() == Role::Assistant).flat_map(|e| e.parts());
    let first = said.find(|part| part.name() != "compaction");
    first.is_some_and(|part| part.kind() == PartKind::Reasoning)
}

/// Where the turn in progress starts, as the API sees it: with the newest run of user entries that
/// holds no results.
pub(crate) fn turn_start(request: &Request) -> usize {
    let transcript = &request.transcript;
    let mut at = transcript.len();
    while at > 0 {
        let end = at;
        let is_user = |at: usize| transcript.entry(at).role() == Role::User;
        while at > 0 && is_user(at - 1) {
            at -= 1;
        }
        if at < end && (at..end).all(|at| !transcript.entry(at).has_results()) {
            return at;
        }
        at = at.saturating_sub(1);
        while at > 0 && !is_user(at - 1) {
            at -= 1;
        }
    }
    0
}

/// Behind the steps of a turn: the model's newest words, or a server's find for it, that end the turn which only the entries
/// of `stays` would leave open. Bound thinking leaves, and with thinking enabled by hand an open turn must begin with it.
pub(super) fn end_of_bare_turn(
    request: &Request,
    units: &Units,
    stays: impl Fn(usize) -> bool,
) -> Option<Range<usize>> {
    let transcript = &request.transcript;
    let turn = open_turn(request, &stays)?;
    // Calls of unknown role have no results.
    let is_of_loop = |at: &usize| {
        let entry = transcript.entry(*at);
        entry.role() != Role::Other && (entry.has_calls() || entry.has_results())
    };
    let last = (turn..transcript.len()).rev().filter(|at| stays(*at)).find(is_of_loop)?;
    // A find of a server's tool for the model ends it as words do.
    let answers = |part: Part<'_>| match part.kind() {
        PartKind::Text => !part.text().trim().is_empty(),
        PartKind::Result => part.is(Marks::SERVER),
        _ => false,
    };
    // So does an entry of unknown role, as it separates turns.
    let is_answer = |at: usize| {
        let entry = transcript.entry(at);
        let speaks = || entry.role() == Role::Assistant && entry.parts().any(answers);
        entry.role() == Role::Other || speaks()
    };
    let ends = |unit: &&Unit| {
        let mut entries = unit.entries.clone();
        !entries.clone().any(|at| is_of_loop(&at)) && entries.any(is_answer)
    };
    let behind = &units.all()[units.index_of(last) + 1..];
    behind.iter().rev().find(ends).map(|unit| unit.entries.clone())
}

/// Where the turn in progress starts in what is shown, as the API sees it; `None` if its tool loop is
/// closed.
pub(crate) fn open_turn(request: &Request, is_shown: impl Fn(usize) -> bool) -> Option<usize> {
    let transcript = &request.transcript;
    let mut shown = (0..transcript.len()).rev().filter(|at| is_shown(*at)).peekable();
    let mut start = transcript.len();
    let mut is_newest = true;
    while let Some(last) = shown.next() {
        // A run of one role, which the API reads as one message.
        let role = transcript.entry(last).role();
        let mut run = vec![last];
        while let Some(at) = shown.next_if(|at| transcript.entry(*at).role() == role) {
            run.push(at);
        }
        let answers = run.iter().any(|at| transcript.entry(*at).has_results());
        let calls = run.iter().any(|at| transcript.entry(*at).has_calls());
        if is_newest && !answers && !calls {
            return None;
        }
        is_newest = false;
        if role == Role::User && !answers {
            return Some(start);
        }
        start = run[run.len() - 1];
    }
    Some(0)
}
