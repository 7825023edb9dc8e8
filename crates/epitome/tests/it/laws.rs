//! The laws of DESIGN.md §3, over generated transcripts.

use std::sync::Arc;

use epitome::archive::{Archive, ArchiveError, MemoryArchive, Original};
use epitome::count::{Tally, counter};
use epitome::engine::{Answer, Step};
use epitome::plan::Reached;
use epitome::request::Envelope;
use epitome::transcript::{ContentId, Marks, Part, PartKind};
use epitome::view::{Fate, PartEdit, Put, Reason};
use epitome::{CompactError, Compactor, Options, Outcome, Pin, Request, Tail, Target, Task, wire};
use proptest::prelude::*;
use testkit::{Case, Histogram, generate, oracle};

fn tails() -> impl Strategy<Value = Tail> {
    prop_oneof![
        4 => Just(Tail::Fitting),
        1 => (0usize..6).prop_map(Tail::Items),
        1 => (0usize..4).prop_map(Tail::Steps),
        1 => (0usize..3).prop_map(Tail::Turns),
        1 => (0u64..400).prop_map(Tail::Tokens),
    ]
}

fn compactor(case: &Case, tail: Tail, task: Task) -> Compactor {
    let options = Options {
        target: Target::Percent(case.target.clamp(1, 100)),
        tail,
        task,
        pins: case.pin.map(Pin::Entry).into_iter().collect(),
        preserved_tools: Vec::new(),
    };
    Compactor::new(options, counter("o200k").expect("a known name")).expect("in range")
}

#[expect(clippy::disallowed_methods, reason = "how hard to look is said from outside")]
fn cases() -> ProptestConfig {
    let cases = std::env::var("EPITOME_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    ProptestConfig { cases, max_shrink_iters: 2_000, ..ProptestConfig::default() }
}

#[test]
fn the_laws_hold() {
    let histogram = Histogram::default();
    let all =
        (generate::valid(), tails(), prop_oneof![3 => Just(Task::Keep), 1 => Just(Task::Fold)]);
    let mut runner = proptest::test_runner::TestRunner::new(cases());
    let result = runner.run(&all, |(case, tail, task)| {
        histogram.count(&case.features);
        let compactor = compactor(&case, tail, task);
        check_all(&case.request(), &compactor)
    });
    println!("{histogram}");
    if let Err(error) = result {
        panic!("{error}");
    }
    histogram.assert_each_over(1.0);
}

#[test]
fn the_laws_hold_for_broken_input() {
    let all = (generate::broken(), tails());
    let mut runner = proptest::test_runner::TestRunner::new(cases());
    let result = runner.run(&all, |(case, tail)| {
        let case = Case { pin: None, ..case };
        check_all(&case.request(), &compactor(&case, tail, Task::Keep))
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

fn check_all(request: &Request, compactor: &Compactor) -> Result<(), TestCaseError> {
    let outcome = compactor.compact(request).map_err(|e| TestCaseError::fail(e.to_string()))?;
    coverage(&outcome)?;
    pairing(&outcome)?;
    fidelity(&outcome)?;
    descent(&outcome, compactor)?;
    rest(&outcome, compactor)?;
    pins(&outcome, compactor)?;
    returns(request, compactor, &outcome)?;
    sameness(request, compactor, &outcome)?;
    all_or_nothing(request, compactor)?;
    nobodys_mouth(&outcome)?;
    honest_counts(&outcome)
}

/// Law 1: every entry has one fate; every edit names a slot of its entry.
fn coverage(outcome: &Outcome) -> Result<(), TestCaseError> {
    let transcript = &outcome.base.transcript;
    prop_assert_eq!(outcome.view.len(), transcript.len());
    for (entry, fate) in transcript.entries().zip(outcome.view.fates()) {
        if let Fate::Edit(edits) = fate {
            prop_assert!(!edits.is_empty());
            for edit in edits {
                prop_assert!(entry.slots().contains(&edit.at.0), "an edit outside of its entry");
            }
        }
    }
    Ok(())
}

/// Law 2: the provider accepts what comes out.
fn pairing(outcome: &Outcome) -> Result<(), TestCaseError> {
    let out = &outcome.request;
    let known: Vec<_> = outcome.receipt.left.iter().map(|finding| finding.rule).collect();
    let new: Vec<_> = wire::check(out).into_iter().filter(|f| !known.contains(&f.rule)).collect();
    prop_assert!(new.is_empty(), "{new:?}");
    if !known.is_empty() {
        return Ok(());
    }
    let text = out.source().trim_start_matches('\u{feff}');
    let body = match out.frame.envelope {
        Envelope::Body => text.to_owned(),
        Envelope::Array => format!(r#"{{"messages":{text}}}"#),
        Envelope::Lines => {
            let lines: Vec<_> = out.transcript.entries().map(|e| e.raw()).collect();
            format!(r#"{{"messages":[{}]}}"#, lines.join(","))
        }
    };
    let body = serde_json::from_str(&body).map_err(|e| TestCaseError::fail(e.to_string()))?;
    oracle::accepts(out.format, &body).map_err(TestCaseError::fail)
}

/// Law 3: kept entries keep their bytes, edited ones differ in edited slots only.
fn fidelity(outcome: &Outcome) -> Result<(), TestCaseError> {
    let mut shown = outcome.request.transcript.entries();
    let placed = outcome.view.checkpoint();
    for (entry, fate) in outcome.base.transcript.entries().zip(outcome.view.fates()) {
        if placed.is_some_and(|placed| placed.before == entry.index) {
            shown.next();
        }
        if !fate.is_shown() {
            continue;
        }
        let out = shown.next().expect("every shown entry is rendered");
        match fate {
            Fate::Edit(edits) => edited(entry.parts(), out.parts(), edits)?,
            _ => prop_assert_eq!(entry.raw(), out.raw()),
        }
    }
    if placed.is_some_and(|placed| placed.before == outcome.base.transcript.len()) {
        shown.next();
    }
    prop_assert!(shown.next().is_none(), "nothing is rendered that isn't shown");
    Ok(())
}

fn edited<'a>(
    before: impl Iterator<Item = Part<'a>>,
    after: impl Iterator<Item = Part<'a>>,
    edits: &[PartEdit],
) -> Result<(), TestCaseError> {
    let mut after = after.peekable();
    let mut in_replaced = false;
    for part in before {
        let edit = edits.iter().find(|edit| edit.at == part.slot);
        if part.is(Marks::NESTED) && in_replaced {
            continue;
        }
        if !part.is(Marks::NESTED) {
            in_replaced = edit.is_some() && part.kind() == PartKind::Result;
        }
        if edit.is_some_and(|edit| edit.put == Put::Nothing) {
            continue;
        }
        let out = after.next();
        prop_assert!(out.is_some(), "a part is missing");
        let out = out.expect("it was just looked at");
        match edit.map(|edit| &edit.put) {
            Some(Put::Text(text)) => prop_assert_eq!(out.text().into_owned(), text.to_string()),
            Some(_) => {}
            None if part.kind() == PartKind::Result => prop_assert_eq!(part.id(), out.id()),
            None => prop_assert_eq!(part.raw(), out.raw()),
        }
    }
    Ok(())
}

/// Law 4: never more than before; at or under the target, or the floor is above it.
fn descent(outcome: &Outcome, compactor: &Compactor) -> Result<(), TestCaseError> {
    let receipt = &outcome.receipt;
    let recount = Tally::of(&outcome.request, compactor.counter()).total().tokens;
    prop_assert_eq!(receipt.after.count.tokens, recount, "the receipt counts what is there");
    prop_assert!(recount <= receipt.before.count.tokens);
    if outcome.base.transcript.is_empty() {
        return Ok(());
    }
    match &receipt.reached {
        Reached::Unreachable { floor, held_by } => {
            prop_assert!(*floor > receipt.target, "unreachable, but the floor is under the target");
            prop_assert!(!held_by.is_empty());
        }
        _ => prop_assert!(recount <= receipt.target, "{} > {}", recount, receipt.target),
    }
    prop_assert!(!outcome.request.transcript.is_empty(), "an empty request");
    Ok(())
}

/// Law 5: again, without new entries, changes nothing.
fn rest(outcome: &Outcome, compactor: &Compactor) -> Result<(), TestCaseError> {
    let target = outcome.receipt.target;
    if target == 0 {
        return Ok(());
    }
    // Positions are those of the first transcript.
    let shown: Vec<usize> = (0..)
        .zip(outcome.view.fates())
        .filter(|(_, fate)| fate.is_shown())
        .map(|(at, _)| at)
        .collect();
    let place = |at: usize| {
        let before = outcome.view.checkpoint().filter(|placed| placed.before <= at).is_some();
        shown.iter().position(|index| *index == at).map(|shown| shown + usize::from(before))
    };
    let pins = compactor.options().pins.iter().filter_map(|pin| match pin {
        Pin::Entry(at) => place(*at).map(Pin::Entry),
        text => Some(text.clone()),
    });
    let options = Options {
        target: Target::Tokens(target),
        pins: pins.collect(),
        ..compactor.options().clone()
    };
    let again = Compactor::new(options, counter("o200k").expect("a known name"))
        .expect("in range")
        .knowing(outcome.receipt.checkpoint.as_ref().map(|checkpoint| checkpoint.id));
    let second = again.compact(&outcome.request).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let same = second.rendered() == outcome.rendered();
    let (first, second) = (&outcome.receipt, &second.receipt);
    prop_assert!(
        same,
        "again changed it: {:?}\n{:?}\nthen {:?}\n{:?}",
        first.steps,
        first.edits,
        second.steps,
        second.edits
    );
    Ok(())
}

/// Law 6: instructions, pins, task and newest human message stay verbatim, unless one is larger than
/// its share.
fn pins(outcome: &Outcome, compactor: &Compactor) -> Result<(), TestCaseError> {
    let transcript = &outcome.base.transcript;
    let fates: Vec<_> = outcome.view.fates().collect();
    let share = outcome.receipt.target / 4;
    let excerpted = |fate: &Fate| match fate {
        Fate::Edit(edits) => {
            let is_words = |edit: &PartEdit| transcript.part(edit.at).is_human();
            edits.iter().any(|edit| edit.reason == Reason::TooLarge && is_words(edit))
        }
        _ => false,
    };
    let humans: Vec<usize> =
        transcript.entries().filter(|e| e.is_human()).map(|e| e.index).collect();
    let task = humans.first().filter(|_| compactor.options().task == Task::Keep);
    for at in task.into_iter().chain(humans.last()) {
        let entry = transcript.entry(*at);
        let tally = Tally::of(&outcome.base, compactor.counter());
        prop_assert!(fates[*at].is_shown(), "a human message that must stay is gone");
        if excerpted(fates[*at]) {
            prop_assert!(tally.entry(*at) > share, "excerpted, but within its share");
            continue;
        }
        if let Fate::Edit(edits) = fates[*at] {
            let human = |edit: &PartEdit| transcript.part(edit.at).is_human();
            prop_assert!(!edits.iter().any(human), "human words were edited: {}", entry.raw());
        }
    }
    for pin in &compactor.options().pins {
        let Pin::Entry(original) = pin else { continue };
        let Some(at) = outcome.came_from.iter().position(|from| *from == Some(*original)) else {
            continue;
        };
        prop_assert!(fates[at].is_shown(), "a pin is gone");
        let is_cut = match fates[at] {
            Fate::Edit(edits) => edits.iter().all(|edit| edit.reason == Reason::TooLarge),
            fate => *fate == Fate::Keep,
        };
        prop_assert!(is_cut, "a pin was edited");
    }
    Ok(())
}

/// Law 8: what is hidden can be had back byte for byte, and is durable first.
fn returns(request: &Request, compactor: &Compactor, first: &Outcome) -> Result<(), TestCaseError> {
    let archive = MemoryArchive::default();
    let outcome = compactor
        .compact_into(request, &archive)
        .map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert_eq!(outcome.rendered(), first.rendered());
    for (entry, fate) in outcome.base.transcript.entries().zip(outcome.view.fates()) {
        if *fate != Fate::Keep {
            let kept = archive.get(ContentId::of_text(entry.raw()));
            prop_assert_eq!(kept.as_deref(), Some(entry.raw()));
        }
    }
    Ok(())
}

/// Law 9: the same input gives the same bytes.
fn sameness(
    request: &Request,
    compactor: &Compactor,
    first: &Outcome,
) -> Result<(), TestCaseError> {
    let second = compactor.compact(request).map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert_eq!(second.rendered(), first.rendered());
    prop_assert_eq!(&second.view, &first.view);
    Ok(())
}

#[derive(Debug)]
struct Full;

impl Archive for Full {
    fn put(&self, _: &[Original]) -> Result<(), ArchiveError> {
        Err(ArchiveError::Write { why: "no space left".to_owned() })
    }

    fn get(&self, _: ContentId) -> Option<String> {
        None
    }
}

/// Law 10: cancelled at any step, or without an archive, there is no view.
fn all_or_nothing(request: &Request, compactor: &Compactor) -> Result<(), TestCaseError> {
    for stop in 0.. {
        let mut compaction = compactor.begin(request);
        let mut done = false;
        for _ in 0..stop {
            done |= matches!(compaction.step(), Step::Done(_));
        }
        if done {
            break;
        }
        compaction.supply(Answer::Cancel);
        prop_assert!(matches!(
            compaction.step(),
            Step::Yield | Step::Done(Err(CompactError::Cancelled))
        ));
    }
    match compactor.compact_into(request, &Full) {
        Ok(outcome) => prop_assert!(outcome.view.is_whole(), "hidden, but kept nowhere"),
        Err(error) => prop_assert!(matches!(error, CompactError::Archive(_))),
    }
    Ok(())
}

/// Law 12: the checkpoint quotes human words as they were said, and closes its fence once.
fn nobodys_mouth(outcome: &Outcome) -> Result<(), TestCaseError> {
    let Some(placed) = outcome.view.checkpoint() else { return Ok(()) };
    let close = placed.text.lines().last().unwrap_or_default();
    prop_assert!(close.starts_with("</checkpoint "));
    prop_assert_eq!(placed.text.matches(close).count(), 1);
    let humans: Vec<String> = outcome.base.transcript.entries().map(|e| e.human_text()).collect();
    let mut rest = placed.text.as_ref();
    while let Some((_, tail)) = rest.split_once("\n[message ") {
        rest = tail;
        let Some((label, words)) = tail.split_once(" bytes]\n") else { continue };
        let Some((at, len)) = label.split_once(", ") else { continue };
        let (Ok(at), Ok(len)) = (at.parse::<usize>(), len.parse::<usize>()) else { continue };
        prop_assert_eq!(words.get(..len), humans.get(at).map(String::as_str));
        rest = &words[len..];
    }
    Ok(())
}

/// Law 13: every count has its basis, and its upper edge is an upper edge.
fn honest_counts(outcome: &Outcome) -> Result<(), TestCaseError> {
    for size in [outcome.receipt.before, outcome.receipt.after] {
        prop_assert!(size.count.upper >= size.count.tokens);
    }
    Ok(())
}

#[test]
fn counters_agree_that_counts_add_up() {
    let runner_cases = ProptestConfig { cases: 100, ..cases() };
    let names: Vec<Arc<str>> = epitome::count::NAMES.iter().map(|name| Arc::from(*name)).collect();
    proptest!(runner_cases, |(case in generate::valid(), name in proptest::sample::select(names))| {
        let counter = counter(&name).expect("a known name");
        let options = Options { target: Target::Percent(case.target.clamp(1, 100)), ..Options::default() };
        let compactor = Compactor::new(options, counter).expect("in range");
        let outcome = compactor.compact(&case.request()).map_err(|e| TestCaseError::fail(e.to_string()))?;
        descent(&outcome, &compactor)?;
    });
}
