//! What must survive: instructions, task, newest human message, pins, tail, preserved tools.

mod options;
mod reason;
mod turn;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::budget::Tail;
use crate::checkpoint::numbers_within;
use crate::count::Tally;
use crate::model::Binding;
use crate::request::{Keeper, Request};
use crate::text::STUB;
use crate::transcript::unit::{Instructions, Unit, Units};
use crate::transcript::{Entry, Marks, Origin, Part, PartKind, Role, Slot};
use crate::wire::{Feature, Opening, Thinking};

pub use options::{GuardOptions, OpenLoop, Pin, Predicate, Preserved, Task, Unheld};
use reason::Holds;
pub use reason::KeepReason;
pub(crate) use turn::open_turn;
use turn::{open_loop, reasoning_from, starts_with_reasoning, turn_start};

/// What must stay, entry by entry.
#[derive(Clone, Debug)]
pub struct Guard {
    held: Holds,
    reasoning_from: usize,
    bound_to: usize,
    excerptable: BTreeMap<usize, Vec<String>>,
    unmatched: Vec<String>,
    unheld: Vec<Unheld>,
    tail_from: Option<usize>,
    task: Option<usize>,
    came_later: Vec<Slot>,
    newest_unit: Range<usize>,
    thinking: Thinking,
}

impl Guard {
    /// Finds what must stay.
    pub fn new(request: &Request, units: &Units, tally: &Tally, options: GuardOptions<'_>) -> Self {
        let transcript = &request.transcript;
        let mut open_loop = open_loop(request, units);
        if let Some(entries) = &mut open_loop
            && options.binding == Binding::PrefixManual
        {
            // The turn as the API sees it: text behind results doesn't end it.
            let turn = units.index_of(turn_start(request));
            let first = units.all()[turn..].iter().find(|unit| unit.is_step);
            let replies = |at: &usize| transcript.entry(*at).role() != Role::User;
            let start = first.and_then(|unit| unit.entries.clone().find(replies));
            entries.start = start.unwrap_or(entries.start);
        }
        let mut guard = Guard {
            held: Holds::none_of(transcript.len()),
            reasoning_from: reasoning_from(request, units, open_loop.as_ref()),
            bound_to: 0,
            excerptable: BTreeMap::new(),
            unmatched: Vec::new(),
            unheld: Vec::new(),
            tail_from: None,
            task: None,
            came_later: Vec::new(),
            newest_unit: 0..0,
            thinking: Thinking::of(request),
        };
        let newest = transcript.entries().rev().find(Entry::is_human).map(|e| e.index);
        let first = transcript.entries().find(Entry::is_human).map(|e| e.index).or_else(|| {
            transcript
                .entries()
                .filter(|e| e.origin() != Origin::Checkpoint)
                .find(|e| e.role() == Role::User && !e.has_results())
                .map(|e| e.index)
        });
        guard.tail(units, tally, options.tail, transcript.len());
        for entry in transcript.entries() {
            // A finished approval asks for nothing any more.
            if !(entry.is_stateful() && units.is_settled(transcript, entry.index)) {
                guard.state(request, entry, tally, options.target);
            }
            if let Some(held) = options.preserved.holds(&entry) {
                guard.hold(entry.index, held);
            }
            let is_preserved =
                |p: &Part<'_>| options.preserved.tools.iter().any(|name| *name == p.name());
            if entry.parts().any(|p| p.kind() == PartKind::Call && is_preserved(&p)) {
                for at in units.all()[units.index_of(entry.index)].entries.clone() {
                    guard.hold(at, KeepReason::Tool);
                    if tally.entry(at) > options.target {
                        guard.excerptable.entry(at).or_default();
                    }
                }
            }
        }
        for pin in options.pins {
            guard.pin(request, pin, &options);
        }
        if let Some(task) = first.filter(|_| options.task == Task::Keep) {
            guard.task = Some(task);
            guard.hold(task, KeepReason::Task);
            guard.excerptable.entry(task).or_default();
            guard.came_later = came_later(transcript.entry(task), newest == Some(task));
        }
        if let Some(newest) = newest {
            guard.hold(newest, KeepReason::Newest);
            guard.excerptable.entry(newest).or_default();
        }
        // The view ends as the input ends (law 15).
        let is_note =
            |e: &Entry<'_>| e.role().instructs() || e.role() == Role::Other && e.is_stateful();
        let said = transcript.entries().rev().find(|e| !is_note(e));
        if let Some(said) = &said {
            guard.newest_unit = units.all()[units.index_of(said.index)].entries.clone();
        }
        let newest_unit = said.into_iter().chain(transcript.entries().next_back());
        for last in newest_unit {
            for at in units.all()[units.index_of(last.index)].entries.clone() {
                guard.hold(at, KeepReason::Last);
                if !transcript.entry(at).role().instructs() {
                    guard.excerptable.entry(at).or_default();
                }
            }
        }
        guard.elsewhere(request, units);
        guard.companions(units);
        let is_closed = open_loop.is_none();
        let bound = open_loop.filter(|_| options.binding == Binding::PrefixManual);
        let bound = bound.filter(|entries| turn::signed_until(transcript, entries).is_some());
        let may_leave = options.open_loop == OpenLoop::MayLeave;
        let leaving = bound.clone().filter(|entries| may_leave && !guard.is_stateful(entries));
        let bound = bound.filter(|_| leaving.is_none());
        if let Some(entries) = &leaving {
            guard.release(entries);
        } else {
            guard.batches_stay_old(request, units);
            // Bound thinking leaves with the first edit, so that nothing stays for its sake.
            if !is_closed || options.binding != Binding::PrefixManual {
                guard.turn_starts_with_thinking(request, units);
            }
        }
        // Signed thinking of an open loop can neither be stripped (the turn must begin with it) nor follow an edited
        // prefix: it stays, and so does everything that it is bound to.
        if let Some(entries) = bound {
            guard.bound_to = turn::signed_until(transcript, &entries).unwrap_or(0);
            let until = turn::open_until(transcript, &entries, guard.bound_to);
            (0..until).for_each(|at| guard.hold(at, KeepReason::Provider));
        }
        guard.lead(request);
        guard.parted_models(request, units);
        guard.companions(units);
        if options.binding == Binding::PrefixManual {
            let stays = |at: usize| guard.held.has(at);
            let end = turn::end_of_bare_turn(request, units, stays);
            end.into_iter().flatten().for_each(|at| guard.hold(at, KeepReason::Companion));
        }
        guard.keep_tail_whole(tally, options.target);
        if let Some(entries) = &leaving {
            guard.held.retain(|at, _| !entries.contains(&at));
            guard.newest_unit = 0..0;
        }
        guard.excerptable.retain(|at, _| *at >= guard.bound_to);
        guard
    }

    /// The tail is verbatim, whatever else its entries are; but what alone exceeds the target is cut.
    fn keep_tail_whole(&mut self, tally: &Tally, target: u64) {
        let Some(from) = self.tail_from else { return };
        self.excerptable.retain(|at, _| *at < from || tally.entry(*at) > target);
    }

    /// Whether some of the entries is state, which can't be restated, so that it can't leave.
    fn is_stateful(&self, entries: &Range<usize>) -> bool {
        entries.clone().any(|at| self.held(at) == Some(KeepReason::State))
    }

    /// Releases these entries, and all that stay only as companions, which are found anew.
    fn release(&mut self, entries: &Range<usize>) {
        self.held.retain(|at, held| held != KeepReason::Companion && !entries.contains(&at));
    }

    /// Why the entry must stay; `None` if it may leave.
    pub fn held(&self, entry: usize) -> Option<KeepReason> {
        self.held.get(entry)
    }

    /// Whether the entry may leave (with its unit).
    pub fn may_leave(&self, entry: usize) -> bool {
        !self.held.has(entry)
    }

    /// Whether the part of `entry` may be edited. A person's words never are: they are shown or
    /// folded.
    pub fn may_edit(&self, entry: usize, part: &Part<'_>) -> bool {
        // A checkpoint holds a person's words: the next one takes them on, or it leaves as a whole.
        if part.is(Marks::FIXED) || part.origin() == Origin::Checkpoint {
            return false;
        }
        // A human part that a client marks as a thought counts as human text.
        let is_said = matches!(part.kind(), PartKind::Text | PartKind::Reasoning);
        let is_human_text = part.is_human() && is_said;
        // What stays keeps its reasoning: it may come to stand right before the newest message, as the
        // turn in progress, which providers want whole.
        if part.kind() == PartKind::Reasoning && !self.may_leave(entry) {
            return false;
        }
        match self.held(entry) {
            None => !is_human_text,
            // What the person's entry carries beside the words (results) isn't theirs.
            Some(KeepReason::Task | KeepReason::Newest | KeepReason::Last) => !part.is_human(),
            Some(KeepReason::Companion | KeepReason::Elsewhere) => !is_human_text,
            Some(_) => false,
        }
    }

    /// The first entry whose reasoning the provider demands back.
    pub fn reasoning_from(&self) -> usize {
        self.reasoning_from
    }

    /// Whether bound reasoning may be dropped, for the sake of an edit before it or of its own tokens.
    pub fn may_unbind(&self) -> bool {
        self.bound_to == 0
    }

    /// Held entries whose words may be excerpted when they exceed their share, with the words that
    /// must survive in the excerpt.
    pub fn excerptable(&self) -> &BTreeMap<usize, Vec<String>> {
        &self.excerptable
    }

    /// Held entries whose words were to stay as they were said, and why.
    pub fn firm(&self) -> BTreeMap<usize, KeepReason> {
        let is_firm = |(at, held): &(usize, KeepReason)| {
            self.excerptable.contains_key(at)
                && !matches!(held, KeepReason::Companion | KeepReason::Elsewhere)
        };
        self.held.all().filter(is_firm).collect()
    }

    /// Whether the entry is of the newest unit, by which the view ends as the input ends.
    pub fn is_newest(&self, entry: usize) -> bool {
        self.newest_unit.contains(&entry)
    }

    /// The task, where it stays.
    pub fn task(&self) -> Option<usize> {
        self.task
    }

    /// Newer human words in the task's message. They leave as other messages do, once a checkpoint stands for them.
    pub fn came_later(&self) -> &[Slot] {
        if self.task.and_then(|task| self.held(task)) == Some(KeepReason::Task) {
            &self.came_later
        } else {
            &[]
        }
    }

    /// Pins that nothing in the transcript says.
    pub fn unmatched(&self) -> &[String] {
        &self.unmatched
    }

    /// Pins whose text only the model and tools say, more than once: the occurrences that aren't held.
    pub fn unheld(&self) -> &[Unheld] {
        &self.unheld
    }

    fn hold(&mut self, entry: usize, why: KeepReason) {
        self.held.hold(entry, why);
    }

    fn tail(&mut self, units: &Units, tally: &Tally, tail: Tail, len: usize) {
        if tail == Tail::Fitting {
            return;
        }
        let from = units.tail(tail, |at| tally.entry(at));
        self.tail_from = Some(from);
        for at in from..len {
            self.hold(at, KeepReason::Tail);
            self.excerptable.entry(at).or_default();
        }
    }

    fn state(&mut self, request: &Request, entry: Entry<'_>, tally: &Tally, target: u64) {
        let mut stateful = entry.parts().filter(|p| p.is(Marks::STATEFUL)).peekable();
        if stateful.peek().is_some() {
            // Anthropic's own compaction hides everything before it, so the cut moves behind it.
            // Responses still reads what precedes it (PROVIDERS.md B.2.3).
            let hides = !request.format.dialect().has(Feature::VisibleCompactions)
                && stateful.any(|part| part.name() == "compaction");
            let from = if hides { 0 } else { entry.index };
            (from..=entry.index).for_each(|at| self.hold(at, KeepReason::State));
        } else if entry.role().instructs() {
            // Anthropic lets system text stand only before a reply; with its reply gone it is
            // restated in the checkpoint.
            let is_last = entry.index + 1 == request.transcript.len();
            let is_long = tally.entry(entry.index) > target / 8;
            let is_free = request.format.instructions() == Instructions::Anywhere;
            if is_free || is_last || is_long {
                self.hold(entry.index, KeepReason::Instructions);
            }
        }
    }

    /// What goes on from history that isn't here: all of it is news to the model if the provider puts
    /// that history before it, and else the outputs whose calls are only referred to.
    fn elsewhere(&mut self, request: &Request, units: &Units) {
        if !request.format.dialect().has(Feature::KeptItems) {
            return;
        }
        let is_answer = |p: Part<'_>| {
            let is_result = p.kind() == PartKind::Result && !p.is(Marks::SERVER);
            is_result && !p.is(Marks::NESTED) && units.call_of(p.slot).is_none()
        };
        // A long old history may stand behind a cached beginning.
        let is_news = request.keeper().is_some_and(|keeper| keeper != Keeper::Cache);
        for entry in request.transcript.entries() {
            if is_news || entry.parts().any(is_answer) {
                self.hold(entry.index, KeepReason::Elsewhere);
            }
        }
    }

    fn pin(&mut self, request: &Request, pin: &Pin, options: &GuardOptions<'_>) {
        let (transcript, binding) = (&request.transcript, options.binding);
        match pin {
            Pin::Entry(at) => match options.came_from.iter().position(|from| *from == Some(*at)) {
                Some(here) => self.hold_pin(here, None),
                None => self.unmatched.push(format!("message {at}")),
            },
            Pin::Text(text) => {
                // Bound reasoning leaves with the first edit, and its words with it.
                let may_stay =
                    |p: &Part<'_>| binding == Binding::Free || p.kind() != PartKind::Reasoning;
                let says = |e: &Entry<'_>| e.parts().any(|p| may_stay(&p) && says(&p, text));
                // What a stub repeats of its call's arguments is said there, and a checkpoint's quotes are taken on by the next.
                let repeats = |p: &Part<'_>| begins_as_stub(p) || p.origin() == Origin::Checkpoint;
                let says_first = |e: &Entry<'_>| {
                    e.parts().any(|p| !repeats(&p) && may_stay(&p) && self::says(&p, text))
                };
                let mut found =
                    transcript.entries().filter(|e| e.is_human() || e.role().instructs());
                let mut any = request.system_says(text);
                for entry in found.by_ref().filter(says_first) {
                    self.hold_pin(entry.index, Some(text));
                    any = true;
                }
                if any {
                    return;
                }
                let newest_first = || transcript.entries().rev();
                let newest = newest_first().find(says_first).or_else(|| newest_first().find(says));
                let Some(newest) = newest else {
                    self.unmatched.push(text.clone());
                    return;
                };
                let is_other = |e: &Entry<'_>| e.index != newest.index;
                let others = newest_first().filter(is_other).filter(says_first);
                let mut others: Vec<usize> = others.map(|e| e.index).collect();
                if !others.is_empty() {
                    others.reverse();
                    let pin = text.clone();
                    self.unheld.push(Unheld { pin, held: newest.index, entries: others });
                }
                self.hold_pin(newest.index, Some(text));
            }
        }
    }

    fn hold_pin(&mut self, at: usize, words: Option<&String>) {
        self.hold(at, KeepReason::Pin);
        self.excerptable.entry(at).or_default().extend(words.cloned());
    }

    /// Where the user must speak first, somebody does even if everything else leaves.
    fn lead(&mut self, request: &Request) {
        let transcript = &request.transcript;
        let speaks = |at: usize| !transcript.entry(at).role().instructs();
        let Some(first) = self.held.all().map(|(at, _)| at).find(|at| speaks(*at)) else { return };
        let must = request.format.opening() == Opening::User;
        if !must || transcript.entry(first).role() != Role::Assistant {
            return;
        }
        let prompt = |at: &usize| {
            let entry = transcript.entry(*at);
            let is_users = entry.role() != Role::Assistant && !entry.role().instructs();
            is_users && !entry.has_results()
        };
        // An earlier checkpoint may stand right before it: the message that it found held stays so.
        let is_said = |at: &usize| transcript.entry(*at).origin() != Origin::Checkpoint;
        let prompts = || (0..first).rev().filter(prompt);
        if let Some(at) = prompts().find(is_said).or_else(|| prompts().next()) {
            self.hold(at, KeepReason::Companion);
            self.excerptable.entry(at).or_default();
        }
    }

    /// Gemini lets calls follow only the user's side. So an entry between a held model text and
    /// calls that may come to follow it stays with the text.
    fn parted_models(&mut self, request: &Request, units: &Units) {
        if !request.format.dialect().has(Feature::CallsFollowUser) {
            return;
        }
        let transcript = &request.transcript;
        for pair in units.all().windows(2) {
            let last = pair[0].entries.end - 1;
            if !self.may_leave(last) && transcript.entry(last).role() == Role::Assistant {
                pair[1].entries.clone().for_each(|at| self.hold(at, KeepReason::Companion));
            }
        }
    }

    /// What parts a batch without thinking from the newest message stays with it: with nothing between
    /// them the batch would become the turn in progress, which must start with thinking.
    fn batches_stay_old(&mut self, request: &Request, units: &Units) {
        if self.thinking != Thinking::Manual {
            return;
        }
        let transcript = &request.transcript;
        let mut is_bare = false;
        // An entry of unknown role belongs to nobody's turn, and separates two turns as the model's step does.
        let parts =
            |unit: &Unit| unit.entries.clone().any(|at| transcript.entry(at).role() == Role::Other);
        for unit in units.all().iter().filter(|unit| unit.is_step || parts(unit)) {
            if is_bare {
                unit.entries.clone().for_each(|at| self.hold(at, KeepReason::Companion));
            }
            let is_held = unit.entries.clone().any(|at| !self.may_leave(at));
            let calls = unit.entries.clone().any(|at| transcript.entry(at).has_calls());
            is_bare = is_held && calls && !starts_with_reasoning(transcript, unit);
        }
    }

    /// If the turn in progress must start with thinking, its held part is extended back to a step that does.
    fn turn_starts_with_thinking(&mut self, request: &Request, units: &Units) {
        if self.thinking != Thinking::Manual {
            return;
        }
        let transcript = &request.transcript;
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
                self.hold(at, KeepReason::Companion);
            }
        }
    }

    /// What shares a unit with a held entry stays with it.
    fn companions(&mut self, units: &Units) {
        let held: Vec<usize> = self.held.all().map(|(at, _)| at).collect();
        for at in held {
            for companion in units.all()[units.index_of(at)].entries.clone() {
                self.hold(companion, KeepReason::Companion);
            }
        }
    }
}

/// Later human words in the task's message, except the newest. Where roles take turns, a view's newest words share this message with
/// a checkpoint, and stay in it when the view is continued.
fn came_later(task: Entry<'_>, has_newest: bool) -> Vec<Slot> {
    let numbers = numbers_within(task);
    let (first, last) = (numbers.first().map(|it| it.1), numbers.last().map(|it| it.1));
    let stays = |number| Some(number) == first || has_newest && Some(number) == last;
    numbers.into_iter().filter(|(_, number)| !stays(*number)).map(|(slot, _)| slot).collect()
}

/// Whether it is what stands for a result, or looks like that.
fn begins_as_stub(part: &Part<'_>) -> bool {
    let is_output = part.kind() == PartKind::Result || part.is(Marks::NESTED);
    is_output && part.text().starts_with(STUB)
}

/// Whether the part says `words`; in a call's arguments as they mean, not as JSON escapes them. The JSON of a
/// list says nothing: its elements do.
fn says(part: &Part<'_>, words: &str) -> bool {
    if !part.says_own_words() {
        return false;
    }
    let text = part.text();
    if text.contains(words) {
        return true;
    }
    let is_escaped = part.kind() == PartKind::Call && text.contains('\\');
    is_escaped && crate::json::unquote(&format!("\"{text}\"")).contains(words)
}
