//! What must survive: instructions, task, newest human message, pins, tail, preserved tools.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::budget::Tail;
use crate::count::Tally;
use crate::model::{Binding, Thinking};
use crate::request::Request;
use crate::transcript::unit::{Unit, Units};
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Transcript};
use crate::wire::Format;

/// Why an entry must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Held {
    /// The system prompt beside the transcript.
    SystemPrompt,
    /// The tool definitions.
    ToolDefinitions,
    /// System or developer text in the transcript.
    Instructions,
    /// Sets state for what follows.
    State,
    /// The first human message.
    Task,
    /// The newest human message.
    Newest,
    /// A pin.
    Pin,
    /// The tail that was asked for.
    Tail,
    /// A call of a tool that is to be preserved.
    Tool,
    /// Belongs to an entry that must stay.
    Companion,
}

impl Held {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Held::SystemPrompt => "system prompt",
            Held::ToolDefinitions => "tool definitions",
            Held::Instructions => "system messages",
            Held::State => "stateful messages",
            Held::Task => "the task (first human message)",
            Held::Newest => "the newest human message",
            Held::Pin => "pins",
            Held::Tail => "the tail to keep",
            Held::Tool => "preserved tools",
            Held::Companion => "results and calls that belong to those",
        }
    }
}

/// What is to be done with the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// The first human message stays verbatim.
    #[default]
    Keep,
    /// It may be folded like any other.
    Fold,
}

/// What must survive verbatim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pin {
    /// Human or system entries that say this; if none does, the newest entry that does.
    Text(String),
    /// The entry at this position.
    Entry(usize),
}

/// What a guard is made from.
#[derive(Clone, Copy, Debug)]
pub struct Wishes<'a> {
    /// Where to land, in tokens.
    pub target: u64,
    /// The first human message.
    pub task: Task,
    /// Pins.
    pub pins: &'a [Pin],
    /// The newest content to keep.
    pub tail: Tail,
    /// Tools whose calls and results stay.
    pub preserved_tools: &'a [String],
    /// Whether reasoning is bound to the prefix.
    pub binding: Binding,
}

/// What must stay, entry by entry.
#[derive(Clone, Debug)]
pub struct Guard {
    held: BTreeMap<usize, Held>,
    reasoning_from: usize,
    loop_leaves: Option<Range<usize>>,
    excerptable: BTreeMap<usize, Vec<String>>,
    unmatched: Vec<String>,
    task: Option<usize>,
    thinking: Thinking,
}

impl Guard {
    /// Finds what must stay.
    pub fn new(request: &Request, units: &Units, tally: &Tally, wishes: Wishes<'_>) -> Self {
        let transcript = &request.transcript;
        let mut open_loop = open_loop(request, units);
        if let Some(entries) = &mut open_loop
            && wishes.binding == Binding::PrefixManual
        {
            // The turn as the API sees it: text behind results doesn't end it.
            let turn = units.index_of(turn_start(request));
            let first = units.all()[turn..].iter().find(|unit| unit.is_step);
            entries.start = first.map_or(entries.start, |unit| unit.entries.start);
        }
        let mut guard = Guard {
            held: BTreeMap::new(),
            reasoning_from: reasoning_from(request, units, open_loop.as_ref()),
            loop_leaves: None,
            excerptable: BTreeMap::new(),
            unmatched: Vec::new(),
            task: None,
            thinking: Thinking::of(request),
        };
        let newest = transcript.entries().rev().find(Entry::is_human).map(|e| e.index);
        let first = transcript.entries().find(Entry::is_human).map(|e| e.index).or_else(|| {
            transcript
                .entries()
                .find(|e| e.role() == Role::User && !e.has_results())
                .map(|e| e.index)
        });
        guard.tail(units, tally, wishes.tail, transcript.len());
        // Signed thinking that may neither stay (its prefix changes) nor be stripped (the turn must
        // start with it): the open loop goes as a whole (DESIGN.md §8).
        if let Some(entries) = open_loop.filter(|_| wishes.binding == Binding::PrefixManual) {
            let is_signed = |at: usize| transcript.entry(at).parts().any(|p| p.is(Marks::SIGNED));
            if entries.clone().any(is_signed) {
                for at in entries.clone() {
                    guard.held.remove(&at);
                }
                guard.loop_leaves = Some(entries);
            }
        }
        for entry in transcript.entries() {
            guard.state(request, entry, tally, wishes.target);
            let is_preserved =
                |p: &Part<'_>| wishes.preserved_tools.iter().any(|name| *name == p.name());
            if entry.parts().any(|p| p.kind() == PartKind::Call && is_preserved(&p)) {
                for at in units.all()[units.index_of(entry.index)].entries.clone() {
                    guard.hold(at, Held::Tool);
                }
            }
        }
        for pin in wishes.pins {
            guard.pin(request, pin);
        }
        if let Some(task) = first.filter(|_| wishes.task == Task::Keep) {
            guard.task = Some(task);
            guard.hold(task, Held::Task);
            guard.excerptable.entry(task).or_default();
        }
        if let Some(newest) = newest {
            guard.hold(newest, Held::Newest);
            guard.excerptable.entry(newest).or_default();
        }
        if let Some(last) = transcript.entries().next_back() {
            // What answers the newest message shows that it is answered; what prompts the model must
            // not be gone (a request that ends with the model's side is a prefill); and where no
            // person ever spoke, the newest entry is all there is to go on.
            let is_loop = last.has_results() || last.has_calls();
            if !is_loop || newest.is_none() {
                guard.hold(last.index, Held::Newest);
                if !last.role().instructs() {
                    guard.excerptable.entry(last.index).or_default();
                }
            }
        }
        guard.companions(units);
        guard.turn_starts_with_thinking(request, units);
        guard.lead(request);
        guard.companions(units);
        guard
    }

    /// Why the entry must stay; `None` if it may leave.
    pub fn held(&self, entry: usize) -> Option<Held> {
        self.held.get(&entry).copied()
    }

    /// Whether the entry may leave (with its unit).
    pub fn may_leave(&self, entry: usize) -> bool {
        !self.held.contains_key(&entry)
    }

    /// Whether the part of `entry` may be edited. A person's words never are: they are shown or
    /// folded.
    pub fn may_edit(&self, entry: usize, part: &Part<'_>) -> bool {
        let is_human_text = part.is_human() && part.kind() == PartKind::Text;
        // What stays keeps its reasoning: it may come to stand right before the newest message, as the
        // turn in progress, which providers want whole.
        if part.kind() == PartKind::Reasoning && !self.may_leave(entry) {
            return false;
        }
        match self.held(entry) {
            None => !is_human_text,
            // What the person's entry carries beside the words (results) isn't theirs.
            Some(Held::Task | Held::Newest) => !part.is_human(),
            Some(Held::Companion) => !is_human_text,
            Some(_) => false,
        }
    }

    /// The first entry whose reasoning the provider demands back.
    pub fn reasoning_from(&self) -> usize {
        self.reasoning_from
    }

    /// Entries that must leave if anything changes: reasoning that can neither stay nor be stripped.
    pub fn loop_leaves(&self) -> Option<Range<usize>> {
        self.loop_leaves.clone()
    }

    /// Held entries whose words may be excerpted when they exceed their share, with the words that
    /// must survive in the excerpt.
    pub fn excerptable(&self) -> &BTreeMap<usize, Vec<String>> {
        &self.excerptable
    }

    /// The task, where it stays.
    pub fn task(&self) -> Option<usize> {
        self.task
    }

    /// Pins that nothing in the transcript says.
    pub fn unmatched(&self) -> &[String] {
        &self.unmatched
    }

    fn hold(&mut self, entry: usize, why: Held) {
        let held = self.held.entry(entry).or_insert(why);
        // The stricter reason wins: it decides what may be edited.
        if leniency(why) < leniency(*held) {
            *held = why;
        }
    }

    fn tail(&mut self, units: &Units, tally: &Tally, tail: Tail, len: usize) {
        let start_of = |unit: usize| units.all().get(unit).map_or(len, |u| u.entries.start);
        let from = match tail {
            Tail::Fitting => len,
            Tail::Items(n) => len.saturating_sub(n),
            Tail::Steps(n) => start_of(units.newest_steps(n)),
            Tail::Turns(n) => start_of(units.newest_turns(n)),
            Tail::Tokens(most) => {
                let mut left = most;
                let fits = |unit: &&Unit| {
                    let size = unit.entries.clone().map(|at| tally.entry(at)).sum();
                    let room = left.checked_sub(size);
                    left = room.unwrap_or(0);
                    room.is_some()
                };
                let kept = units.all().iter().rev().take_while(fits).count();
                start_of(units.all().len() - kept)
            }
        };
        for at in from..len {
            self.hold(at, Held::Tail);
            self.excerptable.entry(at).or_default();
        }
    }

    fn state(&mut self, request: &Request, entry: Entry<'_>, tally: &Tally, target: u64) {
        let mut stateful = entry.parts().filter(|p| p.is(Marks::STATEFUL)).peekable();
        if stateful.peek().is_some() {
            // A provider's own compaction hides what is before it: the cut moves behind.
            let hides = stateful.any(|part| part.name() == "compaction");
            let from = if hides { 0 } else { entry.index };
            (from..=entry.index).for_each(|at| self.hold(at, Held::State));
        } else if entry.role().instructs() {
            // Anthropic lets system text stand only before a reply; with its reply gone it is
            // restated in the checkpoint.
            let is_last = entry.index + 1 == request.transcript.len();
            let is_long = tally.entry(entry.index) > target / 8;
            if request.format != Format::Anthropic || is_last || is_long {
                self.hold(entry.index, Held::Instructions);
            }
        }
    }

    fn pin(&mut self, request: &Request, pin: &Pin) {
        let transcript = &request.transcript;
        match pin {
            Pin::Entry(at) if *at < transcript.len() => self.hold_pin(*at, None),
            Pin::Entry(at) => self.unmatched.push(format!("message {at}")),
            Pin::Text(text) => {
                let says = |e: &Entry<'_>| e.parts().any(|p| p.text().contains(text.as_str()));
                let in_system = request.system().is_some_and(|raw| {
                    raw.contains(text.as_str()) || crate::json::unquote(raw).contains(text.as_str())
                });
                let mut found =
                    transcript.entries().filter(|e| e.is_human() || e.role().instructs());
                let mut any = in_system;
                for entry in found.by_ref().filter(says) {
                    self.hold_pin(entry.index, Some(text));
                    any = true;
                }
                if any {
                    return;
                }
                match transcript.entries().rev().find(says) {
                    Some(entry) => self.hold_pin(entry.index, Some(text)),
                    None => self.unmatched.push(text.clone()),
                }
            }
        }
    }

    fn hold_pin(&mut self, at: usize, words: Option<&String>) {
        self.hold(at, Held::Pin);
        self.excerptable.entry(at).or_default().extend(words.cloned());
    }

    /// Where the user must speak first, somebody does even if everything else leaves.
    fn lead(&mut self, request: &Request) {
        let transcript = &request.transcript;
        let speaks = |at: usize| !transcript.entry(at).role().instructs();
        let Some(first) = self.held.keys().copied().find(|at| speaks(*at)) else { return };
        if request.format != Format::Anthropic || transcript.entry(first).role() != Role::Assistant
        {
            return;
        }
        let prompt = |at: &usize| {
            let entry = transcript.entry(*at);
            entry.role() == Role::User && !entry.has_results()
        };
        if let Some(at) = (0..first).rev().find(prompt) {
            self.hold(at, Held::Companion);
            self.excerptable.entry(at).or_default();
        }
    }

    /// Where the turn in progress must start with thinking, what is held of it is held back to a step
    /// that does.
    fn turn_starts_with_thinking(&mut self, request: &Request, units: &Units) {
        if self.thinking != Thinking::Manual || request.format != Format::Anthropic {
            return;
        }
        let transcript = &request.transcript;
        // What parts an older batch from the newest message stays with it: with nothing between
        // them the batch would become the turn in progress.
        let mut is_bare = false;
        for unit in units.all().iter().filter(|unit| unit.is_step) {
            if is_bare {
                unit.entries.clone().for_each(|at| self.hold(at, Held::Companion));
            }
            let is_held = unit.entries.clone().any(|at| !self.may_leave(at));
            let calls = unit.entries.clone().any(|at| transcript.entry(at).has_calls());
            is_bare = is_held && calls && !starts_with_reasoning(transcript, unit);
        }
        let turn = units.index_of(turn_start(request));
        let is_held =
            |unit: &Unit| unit.is_step && unit.entries.clone().any(|at| !self.may_leave(at));
        let Some(first) = (turn..units.all().len()).find(|index| is_held(&units.all()[*index]))
        else {
            return;
        };
        let starts = |index: &usize| starts_with_reasoning(transcript, &units.all()[*index]);
        let Some(start) = (turn..=first).rev().find(starts) else { return };
        for index in start..first {
            for at in units.all()[index].entries.clone() {
                self.hold(at, Held::Companion);
            }
        }
    }

    /// What shares a unit with a held entry stays with it.
    fn companions(&mut self, units: &Units) {
        let held: Vec<usize> = self.held.keys().copied().collect();
        for at in held {
            for companion in units.all()[units.index_of(at)].entries.clone() {
                self.hold(companion, Held::Companion);
            }
        }
    }
}

fn leniency(held: Held) -> u8 {
    match held {
        Held::State | Held::Instructions => 0,
        Held::Companion => 3,
        Held::Task | Held::Newest => 2,
        _ => 1,
    }
}

/// The steps since the newest message that isn't a result, if the model has yet to answer the
/// newest results. Text behind these results doesn't close the loop: providers merge it with them.
fn open_loop(request: &Request, units: &Units) -> Option<Range<usize>> {
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

/// Anthropic demands the newest step's reasoning while its loop is open, and with thinking enabled
/// by hand the whole turn's (PROVIDERS.md B.1.3); OpenAI-compatible thinking models that of the open
/// turn (B.3).
fn reasoning_from(request: &Request, units: &Units, open_loop: Option<&Range<usize>>) -> usize {
    let transcript = &request.transcript;
    let len = transcript.len();
    if request.format == Format::Anthropic && Thinking::of(request) == Thinking::Manual {
        return turn_start(request);
    }
    match (open_loop, request.format) {
        (None, _) => len,
        (Some(open), Format::OpenaiChat) => open.start,
        (Some(_), Format::Anthropic) => {
            let newest = units.all().iter().rfind(|unit| unit.is_step);
            newest.map_or(len, |unit| unit.entries.start)
        }
    }
}

/// Whether the unit's first part is reasoning.
pub(crate) fn starts_with_reasoning(transcript: &Transcript, unit: &Unit) -> bool {
    let first = transcript.entry(unit.entries.start).parts().next();
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
