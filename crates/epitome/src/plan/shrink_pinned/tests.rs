//! Levels by plain search: the largest share of each such that all fit.

use std::num::NonZeroU32;

use super::*;
use crate::budget::{Budget, Stop, Tail};
use crate::context::JobContext;
use crate::count::{CharsPer, Tally};
use crate::guard::{Guard, GuardOptions, OpenLoop, Pin, Preserved, Task};
use crate::model::Binding;
use crate::plan::Means;
use crate::request::Request;
use crate::strategy::HistoryFacts;
use crate::transcript::unit::Units;
use crate::wire::{Format, parse};

const FUTURE: &str = r#"{"type":"future","data":"what nobody knows how to cut"}"#;

fn text(letters: usize) -> String {
    format!(r#"{{"type":"text","text":"{}"}}"#, "w".repeat(letters))
}

fn said(role: &str, blocks: &[String]) -> String {
    format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
}

/// A task with unknown parts, a pinned call with human words beside its results, another pinned call, words that may leave, and
/// the newest words.
fn request() -> Request {
    let call = |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}"#);
    let result = |id: &str, letters: usize| {
        let words = "r".repeat(letters);
        format!(r#"{{"type":"tool_result","tool_use_id":"{id}","content":"{words}"}}"#)
    };
    let messages = [
        said("user", &[text(90), FUTURE.to_owned()]),
        said("assistant", &[text(50), call("a")]),
        said("user", &[result("a", 130), text(1_100), FUTURE.to_owned()]),
        said("assistant", &[call("b")]),
        said("user", &[result("b", 1_700)]),
        said("assistant", &[call("c")]),
        said("user", &[result("c", 60), text(70)]),
        said("assistant", &[text(40)]),
        said("user", &[text(75)]),
        said("assistant", &[text(20)]),
        said("user", &[text(1_300), FUTURE.to_owned()]),
        said("assistant", &[text(150), FUTURE.to_owned()]),
    ];
    let body = format!(r#"{{"system":"Be short.","messages":[{}]}}"#, messages.join(","));
    parse(Format::Anthropic, body).expect("messages")
}

fn with<T>(pins: &[Pin], target: u64, what: impl FnOnce(&PlanInput<'_>) -> T) -> T {
    let request = request();
    let counter = CharsPer::new(NonZeroU32::MIN);
    let units = Units::of(&request.transcript, request.format.instructions());
    let tally = Tally::of(&request, &counter);
    let came_from: Vec<_> = (0..request.transcript.len()).map(Some).collect();
    let options = GuardOptions {
        target,
        task: Task::Keep,
        pins,
        came_from: &came_from,
        tail: Tail::Fitting,
        preserved: Preserved::default(),
        binding: Binding::Free,
        open_loop: OpenLoop::Stays,
    };
    let guard = Guard::new(&request, &units, &tally, options);
    what(&PlanInput {
        request: &request,
        units: &units,
        tally: &tally,
        guard: &guard,
        budget: Budget::new(target),
        least: 90,
        stop: Stop::AtTarget,
        means: Means::All,
        cause: None,
        about: &JobContext::default(),
        counter: &counter,
        binding: Binding::Free,
        found: &HistoryFacts::of(&request.transcript),
    })
}

/// What of each entry can be cut, by who speaks there and why it stays; and the tokens of all that can't.
#[derive(Default)]
struct Sizes {
    fixed: u64,
    firm: Vec<u64>,
    spoken: Vec<u64>,
    soft: Vec<u64>,
    /// The room for quotes of folded messages; none if none are folded.
    quotes: Option<u64>,
}

impl Sizes {
    fn of(subject: &PlanInput<'_>) -> Self {
        let mut sizes = Sizes { fixed: subject.tally.frame.total().tokens, ..Sizes::default() };
        for entry in subject.request.transcript.entries() {
            let whole = subject.tally.entry(entry.index);
            let words =
                entry.parts().filter(|p| matches!(p.kind(), PartKind::Text | PartKind::Result));
            let words: u64 = words.map(|part| subject.tally.part(part.slot)).sum();
            let Some(held) = subject.guard.held(entry.index) else {
                let quote = if entry.is_human() { whole.min(128) } else { 0 };
                sizes.quotes = Some(sizes.quotes.unwrap_or_default() + quote);
                continue;
            };
            // What stands around the parts is small, and goes with the words.
            let parts: u64 = entry.parts().map(|part| subject.tally.part(part.slot)).sum();
            let rigid = parts - words;
            sizes.fixed += rigid;
            // Tool output beside human words stays only for their sake.
            let results = entry.parts().filter(|p| p.kind() == PartKind::Result);
            let beside: u64 = results.map(|part| subject.tally.part(part.slot)).sum();
            let beside = if entry.is_human() && held != KeepReason::Pin { beside } else { 0 };
            sizes.soft.extend((beside > 0).then_some(beside));
            let rigid = rigid + beside;
            match (held, entry.is_human()) {
                (KeepReason::Companion, true) => sizes.spoken.push(whole - rigid),
                (KeepReason::Companion | KeepReason::Last, false) => {
                    sizes.soft.push(whole - rigid);
                }
                _ => sizes.firm.push(whole - rigid),
            }
        }
        sizes
    }
}

/// The largest of these levels that leaves all of them within `room`; 0 where none does.
fn most(sizes: &[u64], room: u64) -> u64 {
    let takes = |level: u64| sizes.iter().map(|size| (*size).min(level)).sum::<u64>();
    let largest = sizes.iter().copied().max().unwrap_or_default();
    (0..=largest).rev().find(|level| takes(*level) <= room).unwrap_or_default()
}

#[test]
fn what_was_to_stay_is_cut_last_and_no_more_than_it_must() {
    let pins = [Pin::Entry(1), Pin::Entry(3)];
    // With these nothing leaves, so that no checkpoint needs room.
    let all = [1, 3, 5, 7, 8, 9].map(Pin::Entry);
    let mut met = [0; 3];
    for (pins, target) in
        [&pins[..], &[], &all].into_iter().flat_map(|pins| (1..6_000).map(move |at| (pins, at)))
    {
        with(pins, target, |subject| {
            let Sizes { fixed, firm, spoken, soft, quotes } = Sizes::of(subject);
            let sum = |sizes: &[u64]| sizes.iter().sum::<u64>();
            let all = fixed + sum(&firm) + sum(&spoken) + sum(&soft);
            let line = quotes.map_or(0, |quotes| quotes + 90);
            // Where hardly anything else fits, the checkpoint's share is left.
            let share = (target / 4).max((target / 2).min(90));
            let is_tight = quotes.is_some() && all + 90 > target;
            let left = target.saturating_sub(if is_tight { line.max(share) } else { line });
            let quarter = target / 4;
            let levels = subject.levels();

            let room = left.saturating_sub(fixed + sum(&firm) + sum(&spoken));
            // A fold has half of what is left beside the uncuttable parts.
            let half = quotes.map_or(u64::MAX, |_| target.saturating_sub(fixed) / 2);
            assert_eq!(levels.soft, most(&soft, room.min(half)).max(quarter.max(40)), "{target}");
            let cut: u64 = soft.iter().map(|size| (*size).min(levels.soft)).sum();
            let room = target.saturating_sub(fixed + cut + sum(&firm));
            let wanted = if sum(&spoken) <= room { u64::MAX } else { most(&spoken, room) };
            assert_eq!(levels.spoken, wanted.max(quarter.max(80)), "{target}");
            let cut = cut + spoken.iter().map(|size| (*size).min(levels.spoken)).sum::<u64>();
            let room = target.saturating_sub(fixed + cut);
            let wanted = if sum(&firm) <= room { u64::MAX } else { most(&firm, room) };
            assert_eq!(levels.firm, wanted.max(quarter.max(80)), "{target}");
            for (met, level) in met.iter_mut().zip([levels.soft, levels.spoken, levels.firm]) {
                *met += usize::from(level > quarter.max(80) && level < u64::MAX);
            }
        });
    }
    assert!(
        met.iter().all(|met| *met > 20),
        "{met:?}: each is cut somewhere by more than its share"
    );
}

#[test]
fn the_floor_is_what_is_left_when_nothing_else_is() {
    let pins = [Pin::Entry(1)];
    for target in (1..2_000).step_by(7) {
        with(&pins, target, |subject| {
            let (transcript, tally) = (&subject.request.transcript, subject.tally);
            let held =
                || transcript.entries().filter(|entry| !subject.guard.may_leave(entry.index));
            let whole: u64 = held().map(|entry| tally.entry(entry.index)).sum();
            let whole = tally.frame.total().tokens + whole;
            let floor = subject.floor();
            assert!(
                floor <= whole && (whole > target || floor == whole),
                "{target}: {floor} of {whole}"
            );
            assert!(target > 300 || floor < whole, "{target}: {floor}");
            // Nothing is cut to less than its share.
            let share = (target / 4).max(80);
            let least: u64 = held().map(|entry| tally.entry(entry.index).min(share / 2)).sum();
            assert!(floor >= least, "{target}: {floor} under {least}");
        });
    }
}

#[test]
fn an_excerpt_says_what_was_pinned() {
    with(&[], 1_000, |subject| {
        let words: Vec<String> =
            (0..30).map(|nth| format!("Sentence number {nth} says this.")).collect();
        let text = words.join(" ");
        let entry = subject.request.transcript.entry(8);
        let part = entry.parts().next().expect("a text");
        let tokens = |text: &str| subject.counter.text(text).tokens;
        let pinned = "Sentence number 17 says this.".to_owned();
        let around =
            |most: u64| excerpt_around(&part, &text, "", &[&pinned], most, tokens).expect("one");
        // As little as it may be, it is the words themselves; with more room there is something around them.
        assert_eq!(around(40), pinned);
        for most in 60..400 {
            let short = around(most);
            assert!(short.contains(&pinned), "{most}: {short}");
            assert!(tokens(&short) <= most, "{most}: {short}");
        }
        assert!(around(300).len() > 200 && around(300).ends_with(&pinned));
        let nothing = excerpt_around(&part, &text, "", &[], 200, tokens).expect("one");
        assert!(!nothing.contains(&pinned) && tokens(&nothing) <= 200);
    });
}
