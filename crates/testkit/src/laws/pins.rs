//! Law 6: instructions, pins, task and newest human message stay verbatim, unless one is larger than its share.

use epitome::checkpoint::least_tokens;
use epitome::count::Tally;
use epitome::model::Binding;
use epitome::strategy::Pipeline;
use epitome::strategy::guard::{Guard, GuardOptions, KeepReason};
use epitome::transcript::unit::Units;
use epitome::transcript::{Entry, Marks, PartKind};
use epitome::view::{Fate, PartEdit, Reason};
use epitome::{Compactor, Outcome, Pin, Request, Task};

use super::log::Log;

/// The task is shown; the newest human message is shown, or quoted by the checkpoint; pins are shown.
pub(super) fn check(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    let transcript = &outcome.base.transcript;
    let fates: Vec<_> = outcome.view.fates().collect();
    let tally = Tally::of(&outcome.base, compactor.counter());
    let share = outcome.receipt.target / 4;
    let excerpted = |fate: &Fate| match fate {
        Fate::Edit(edits) => {
            let is_words = |edit: &PartEdit| transcript.part(edit.at).is_human();
            edits.iter().any(|edit| edit.reason == Reason::TooLarge && is_words(edit))
        }
        _ => false,
    };
    let humans: Vec<usize> =
        transcript.entries().filter(Entry::is_human).map(|e| e.index).collect();
    let task = humans.first().filter(|_| compactor.options().task == Task::Keep);
    for at in task.into_iter().chain(humans.last()) {
        let entry = transcript.entry(*at);
        let is_large = tally.entry(*at) > share;
        if !fates[*at].is_shown() && task != Some(at) {
            let is_quoted = is_quoted(outcome, *at);
            holds!(is_quoted || is_large, "the newest human message is neither shown nor quoted");
            continue;
        }
        holds!(fates[*at].is_shown(), "a human message that must stay is gone");
        if excerpted(fates[*at]) {
            holds!(is_large, "excerpted, but within its share");
            continue;
        }
        if let Fate::Edit(edits) = fates[*at] {
            let human = |edit: &PartEdit| transcript.part(edit.at).is_human();
            holds!(!edits.iter().any(human), "human words were edited: {}", entry.raw());
        }
    }
    for pin in &compactor.options().pins {
        let original = match pin {
            Pin::Entry(original) => original,
            Pin::Text(words) => {
                pinned_words(outcome, words)?;
                continue;
            }
        };
        let Some(at) = outcome.came_from.iter().position(|from| *from == Some(*original)) else {
            continue;
        };
        // An entry of nothing but reasoning that is bound to the old prefix may leave.
        let is_bare = matches!(fates[at], Fate::Drop(Reason::Emptied | Reason::BoundReasoning));
        if is_bare {
            continue;
        }
        holds!(fates[at].is_shown(), "a pin is gone");
        let is_cut = match fates[at] {
            Fate::Edit(edits) => edits
                .iter()
                .all(|edit| matches!(edit.reason, Reason::TooLarge | Reason::BoundReasoning)),
            fate => *fate == Fate::Keep,
        };
        holds!(is_cut, "a pin was edited");
    }
    // What the receipt says of human messages is so.
    let is_said = |at: &&usize| fates[**at].is_shown() || is_quoted(outcome, **at);
    let missing = humans.len() - humans.iter().filter(is_said).count();
    let told = outcome.receipt.human_messages;
    holds!(missing <= told.lost + told.quoted_in_part, "{missing} are gone, and nobody says so");
    Ok(())
}

/// Whether the checkpoint quotes all that a person says in the entry.
fn is_quoted(outcome: &Outcome, at: usize) -> bool {
    let Some(placed) = outcome.view.checkpoint() else { return false };
    let said = outcome.base.transcript.entry(at).human_text();
    let is_in = |text: &str| text.contains(said.trim());
    is_in(&placed.text) || Log::of(&placed.text).words.iter().any(|word| is_in(word.text))
}

/// What was pinned by its words is said, somewhere.
fn pinned_words(outcome: &Outcome, words: &str) -> Result<(), String> {
    let says = |request: &Request| {
        request.transcript.entries().any(|e| e.parts().any(|p| p.text().contains(words)))
    };
    let system = outcome.base.system().map(serde_json::from_str::<serde_json::Value>);
    let in_system = system.is_some_and(|system| system.is_ok_and(|system| tells(&system, words)));
    holds!(
        !says(&outcome.base) || says(&outcome.request) || in_system,
        "the pinned words are gone: {words:?}"
    );
    Ok(())
}

/// Whether a system prompt tells `words`: as a text, in a list of texts, or in its parts.
fn tells(prompt: &serde_json::Value, words: &str) -> bool {
    use serde_json::Value;
    match prompt {
        Value::String(text) => text.contains(words),
        Value::Array(texts) => texts.iter().any(|text| tells(text, words)),
        Value::Object(_) => ["text", "parts"].iter().any(|name| tells(&prompt[*name], words)),
        _ => false,
    }
}

/// What was to stay is an excerpt only where it doesn't fit beside nothing else.
pub(super) fn fit(outcome: &Outcome, compactor: &Compactor) -> Result<(), String> {
    let receipt = &outcome.receipt;
    let is_ladder = matches!(compactor.options().strategies, Pipeline::Ladder(_));
    if receipt.excerpted.is_empty() || !is_ladder || !receipt.fallbacks.is_empty() {
        return Ok(());
    }
    let base = &outcome.base;
    let tally = Tally::of(base, compactor.counter());
    let guard = guard(outcome, compactor, &tally);
    let held = |at: &usize| guard.held(*at).is_some();
    let is_soft = |at: usize| {
        let is_human = base.transcript.entry(at).is_human();
        let held = guard.held(at);
        matches!(held, Some(KeepReason::Companion | KeepReason::Elsewhere))
            || held == Some(KeepReason::Last) && !is_human
    };
    let most = (receipt.target / 4).max(80);
    let least = |at: usize| {
        let tokens = tally.entry(at);
        let parts = base.transcript.entry(at).parts().filter(|_| is_soft(at));
        let texts = parts.filter(|p| matches!(p.kind(), PartKind::Text | PartKind::Result));
        // What a server's tool gave goes back to its provider as it came, and so does what is signed.
        let texts = texts.filter(|p| !p.is(Marks::SERVER) && !p.is(Marks::FIXED));
        let over = texts.map(|p| tally.part(p.slot).saturating_sub(most)).sum::<u64>();
        tokens - over
    };
    let whole: u64 = (0..outcome.view.len()).filter(held).map(least).sum();
    // Beside the lines that say what is hidden and what was done (laws 16 and 17).
    let leaving = base.transcript.entries().filter(|entry| guard.may_leave(entry.index));
    let least = || least_tokens(leaving, &compactor.options().read_only, compactor.counter());
    let line = outcome.view.checkpoint().map_or(0, |_| least());
    let whole = whole + tally.frame.total().tokens + line;
    holds!(whole > receipt.target, "excerpts, though {whole} fit: {:?}", receipt.excerpted);
    Ok(())
}

/// What must stay, as a compaction is planned with.
fn guard(outcome: &Outcome, compactor: &Compactor, tally: &Tally) -> Guard {
    let base = &outcome.base;
    let options = compactor.options();
    let units = Units::of(&base.transcript, base.format.instructions());
    let options = GuardOptions {
        target: outcome.receipt.target,
        task: options.task,
        pins: &options.pins,
        came_from: &outcome.came_from,
        tail: options.tail,
        preserved: compactor.preserved(),
        binding: Binding::of(base),
        open_loop: epitome::strategy::guard::OpenLoop::Stays,
    };
    Guard::new(base, &units, tally, options)
}
