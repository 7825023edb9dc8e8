//! Units: the smallest runs of entries that may leave together. Steps and turns count them.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use super::{Marks, Part, PartKind, Role, Slot, Transcript};
use crate::budget::Tail;
use crate::json;

/// One tool call with its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The call.
    pub call: Slot,
    /// Its result; `None` while the call is open.
    pub result: Option<Slot>,
}

/// A run of entries that leaves together: a batch, reasoning with what it belongs to, or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The entries.
    pub entries: Range<usize>,
    /// Whether it begins with the model, so that it is (at least) one step.
    pub is_step: bool,
    /// Whether a person speaks in it, so that it begins a turn.
    pub is_turn: bool,
}

/// The units of a transcript, in order, covering it; and its pairs.
///
/// Pairs are found by id, not by adjacency; without ids by name, in the newest batch. Units are the
/// finest division into contiguous runs that cuts no pair (the provider's own included) and no run of assistant entries:
/// providers merge those, and reasoning in one belongs to the calls in the next.
#[derive(Clone, Debug, Default)]
pub struct Units {
    all: Vec<Unit>,
    pairs: Vec<Pair>,
    /// For each slot, the call that it answers; [`NONE`] if it answers none.
    call_of: Vec<Slot>,
}

/// No slot: a transcript has fewer parts than bytes.
const NONE: Slot = Slot(u32::MAX);

/// Where a format lets system text stand in mid-conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// Anywhere.
    Anywhere,
    /// Only between a user entry and its reply, so that the three are one unit.
    BetweenUserAndReply,
}

impl Units {
    /// Finds units and pairs.
    pub fn of(transcript: &Transcript, instructions: Instructions) -> Self {
        let mut open = Open::default();
        let mut pairs: Vec<Pair> = Vec::new();
        let mut call_of = vec![NONE; transcript.part_count()];
        // For each entry the last entry that it is tied to.
        let mut reach: Vec<usize> = (0..transcript.len()).collect();
        let mut previous: Option<Role> = None;
        let mut first_approval: Option<usize> = None;
        // What the provider runs may ask for calls of the client's before it is done (PROVIDERS.md B.1.1, `caller`).
        let mut served: HashMap<Cow<'_, str>, usize> = HashMap::new();
        for entry in transcript.entries() {
            if entry.role() == Role::Assistant && previous == Some(Role::Assistant) {
                reach[entry.index - 1] = entry.index;
            } else if entry.role() == Role::Assistant {
                open.begin_batch();
            }
            let touches_instructions =
                previous.is_some_and(|previous| previous.instructs() || entry.role().instructs());
            if touches_instructions && instructions == Instructions::BetweenUserAndReply {
                reach[entry.index - 1] = entry.index;
            }
            previous = Some(entry.role());
            for part in entry.parts().filter(|p| p.is(Marks::SERVER) && !p.row().id.is_empty()) {
                match part.kind() {
                    PartKind::Call => drop(served.insert(part.id(), entry.index)),
                    PartKind::Result => {
                        let from = served.remove(&part.id()).unwrap_or(entry.index);
                        reach[from] = reach[from].max(entry.index);
                    }
                    _ => {}
                }
            }
            let mut answer = |pairs: &mut Vec<Pair>, at: usize, result: Slot| {
                let pair = &mut pairs[at];
                pair.result = Some(result);
                call_of[result.0 as usize] = pair.call;
                let from = transcript.entry_of(pair.call);
                reach[from] = reach[from].max(entry.index);
            };
            // A result without an id answers a call that the others leave, wherever it stands.
            let mut rest = Vec::new();
            for part in entry.parts().filter(|p| !p.is(Marks::SERVER)) {
                match part.kind() {
                    PartKind::Call => {
                        // Nothing answers what somebody unknown calls: no provider takes it.
                        if entry.role() != Role::Other {
                            open.call(&part, pairs.len());
                        }
                        pairs.push(Pair { call: part.slot, result: None });
                    }
                    PartKind::Result => match open.answered_by_id(&part, &pairs) {
                        Some(at) => answer(&mut pairs, at, part.slot),
                        None => rest.push(part),
                    },
                    PartKind::Opaque if part.is(Marks::STATEFUL) && is_approval(&part) => {
                        first_approval.get_or_insert(entry.index);
                    }
                    _ => {}
                }
            }
            for part in rest {
                if let Some(at) = open.answered_by_name(&part, &pairs) {
                    answer(&mut pairs, at, part.slot);
                }
            }
        }
        if let Some(first) = first_approval {
            tie_approvals(transcript, first, &mut reach);
        }
        Units { all: runs(transcript, &reach), pairs, call_of }
    }

    /// The units, oldest first.
    pub fn all(&self) -> &[Unit] {
        &self.all
    }

    /// The index of the unit that holds `entry`.
    pub fn index_of(&self, entry: usize) -> usize {
        self.all.partition_point(|unit| unit.entries.end <= entry)
    }

    /// All pairs, by the order of their calls.
    pub fn pairs(&self) -> &[Pair] {
        &self.pairs
    }

    /// The call that a result answers.
    pub fn call_of(&self, result: Slot) -> Option<Slot> {
        self.call_of.get(result.0 as usize).copied().filter(|call| *call != NONE)
    }

    /// Whether the entry asks for or gives an approval of a call that was made, so that it says nothing of what is to come.
    pub(crate) fn is_settled(&self, transcript: &Transcript, entry: usize) -> bool {
        let is_made = |at: usize| transcript.entry(at).parts().any(|part| is_served_call(&part));
        transcript.entry(entry).parts().any(|part| is_approval(&part))
            && self.all[self.index_of(entry)].entries.clone().any(is_made)
    }

    /// Index of the first unit of the newest `n` steps (`len` when `n` is 0).
    pub fn newest_steps(&self, n: usize) -> usize {
        self.newest(n, |unit| unit.is_step)
    }

    /// Index of the first unit of the newest `n` turns (`len` when `n` is 0).
    pub fn newest_turns(&self, n: usize) -> usize {
        self.newest(n, |unit| unit.is_turn)
    }

    /// The first entry of the newest so many (`len` entries if none), where each entry has `tokens`. [`Tail::Fitting`]
    /// isn't a number: it gives none.
    pub fn tail(&self, tail: Tail, tokens: impl Fn(usize) -> u64) -> usize {
        let len = self.all.last().map_or(0, |unit| unit.entries.end);
        let start_of = |unit: usize| self.all.get(unit).map_or(len, |u| u.entries.start);
        match tail {
            Tail::Fitting => len,
            Tail::Items(n) => len.saturating_sub(n),
            Tail::Units(n) => start_of(self.all.len().saturating_sub(n)),
            Tail::Steps(n) => start_of(self.newest_steps(n)),
            Tail::Turns(n) => start_of(self.newest_turns(n)),
            Tail::Tokens(most) => {
                let mut left = most;
                let fits = |unit: &&Unit| {
                    let size = unit.entries.clone().map(&tokens).sum();
                    let room = left.checked_sub(size);
                    left = room.unwrap_or(0);
                    room.is_some()
                };
                let kept = self.all.iter().rev().take_while(fits).count();
                start_of(self.all.len() - kept)
            }
        }
    }

    fn newest(&self, n: usize, counts: impl Fn(&Unit) -> bool) -> usize {
        if n == 0 {
            return self.all.len();
        }
        let mut starts = self.all.iter().enumerate().rev().filter(|(_, unit)| counts(unit));
        starts.nth(n - 1).map_or(0, |(index, _)| index)
    }
}

fn is_served_call(part: &Part<'_>) -> bool {
    part.kind() == PartKind::Call && part.is(Marks::SERVER)
}

fn is_approval(part: &Part<'_>) -> bool {
    matches!(part.name().as_ref(), "mcp_approval_request" | "mcp_approval_response")
}

/// Ties a question for approval to its answer, and both to the call that was approved (PROVIDERS.md B.2.1): a question
/// whose call is gone reads as one that waits.
fn tie_approvals(transcript: &Transcript, first: usize, reach: &mut [usize]) {
    let mut asked: HashMap<String, usize> = HashMap::new();
    for entry in transcript.entries().skip(first) {
        let asks = entry.parts().any(|part| part.name() == "mcp_approval_request");
        let follows = entry.parts().any(|part| part.is(Marks::SERVER) || is_approval(&part));
        let key = match (asks, follows) {
            (true, _) => "id",
            (false, true) => "approval_request_id",
            (false, false) => continue,
        };
        let Some(id) = json::text_member(entry.raw(), key) else { continue };
        let from = *asked.entry(id).or_insert(entry.index);
        reach[from] = reach[from].max(entry.index);
    }
}

/// Calls that wait for their results, as positions in the list of pairs.
#[derive(Default)]
struct Open<'a> {
    /// Those that have waited for longer than the newest few.
    by_id: Waiting<'a>,
    /// The newest few: mostly all are answered before others are made, and a look at each of them takes less time than
    /// to hash an id.
    newest: Vec<(Cow<'a, str>, usize)>,
    /// The newest batch: in some formats ids are the client's choice, and without them name and order tell.
    batch: Vec<(Part<'a>, usize)>,
    /// The same by tool, as far as a result without an id asked for it.
    named: Waiting<'a>,
    nameless: Waiting<'a>,
}

/// So many are looked at one by one.
const FEW: usize = 8;

type Waiting<'a> = HashMap<Cow<'a, str>, Queue>;

/// The calls that wait under one key; mostly it is one.
#[derive(Default)]
struct Queue {
    first: Option<usize>,
    more: VecDeque<usize>,
}

impl Queue {
    fn push(&mut self, at: usize) {
        if self.is_empty() {
            self.first = Some(at);
        } else {
            self.more.push_back(at);
        }
    }

    fn pop_if(&mut self, leaves: impl Fn(usize) -> bool) -> Option<usize> {
        match self.first {
            Some(_) => self.first.take_if(|at| leaves(*at)),
            None => self.more.pop_front_if(|at| leaves(*at)),
        }
    }

    fn is_empty(&self) -> bool {
        self.first.is_none() && self.more.is_empty()
    }
}

impl<'a> Open<'a> {
    fn begin_batch(&mut self) {
        self.batch.clear();
        self.named.clear();
        self.nameless.clear();
    }

    fn call(&mut self, call: &Part<'a>, at: usize) {
        let id = call.id();
        if id.is_empty() {
            return self.nameless.entry(call.name()).or_default().push(at);
        }
        if self.newest.len() == FEW {
            for (id, at) in self.newest.drain(..) {
                self.by_id.entry(id).or_default().push(at);
            }
        }
        self.newest.push((id, at));
        self.batch.push((*call, at));
    }

    fn answered_by_id(&mut self, result: &Part<'_>, pairs: &[Pair]) -> Option<usize> {
        let id = result.id();
        if id.is_empty() {
            return None;
        }
        let older =
            if self.by_id.is_empty() { None } else { oldest(&mut self.by_id, &id, result, pairs) };
        older.or_else(|| {
            let waits = |(of, at): &(Cow<'_, str>, usize)| *of == id && pairs[*at].result.is_none();
            let first = self.newest.iter().position(waits)?;
            Some(self.newest.remove(first).1)
        })
    }

    fn answered_by_name(&mut self, result: &Part<'_>, pairs: &[Pair]) -> Option<usize> {
        let (id, tool) = (result.id(), result.name());
        if tool.is_empty() {
            return None;
        }
        let nameless = oldest(&mut self.nameless, &tool, result, pairs);
        if nameless.is_some() || !id.is_empty() {
            return nameless;
        }
        for (call, at) in self.batch.drain(..) {
            self.named.entry(call.name()).or_default().push(at);
        }
        oldest(&mut self.named, &tool, result, pairs)
    }
}

/// Of the calls before the result that wait under `key` the oldest.
fn oldest(calls: &mut Waiting<'_>, key: &str, result: &Part<'_>, pairs: &[Pair]) -> Option<usize> {
    let waiting = calls.get_mut(key)?;
    let mut before = || waiting.pop_if(|at| pairs[at].call < result.slot);
    let found = std::iter::from_fn(&mut before).find(|at| pairs[*at].result.is_none());
    // An id is rarely used again.
    if waiting.is_empty() {
        calls.remove(key);
    }
    found
}

fn runs(transcript: &Transcript, reach: &[usize]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut start = 0;
    while start < reach.len() {
        let mut last = reach[start];
        let mut at = start;
        while at < last {
            at += 1;
            last = last.max(reach[at]);
        }
        let entries = start..last + 1;
        units.push(Unit {
            is_step: entries.clone().any(|i| transcript.entry(i).role() == Role::Assistant),
            is_turn: entries.clone().any(|i| transcript.entry(i).is_human()),
            entries,
        });
        start = last + 1;
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;
    use crate::wire::{Format, parse};

    fn read(format: Format, body: &str) -> Request {
        parse(format, body.to_owned()).expect("it is JSON")
    }

    fn runs_of(units: &Units) -> Vec<Range<usize>> {
        units.all().iter().map(|unit| unit.entries.clone()).collect()
    }

    #[test]
    fn system_text_between_user_and_reply_ties_the_three() {
        let said = ["user", "assistant", "user", "system", "assistant", "user"];
        let said = said.map(|role| format!(r#"{{"role":"{role}","content":"x"}}"#)).join(",");
        let request = read(Format::Anthropic, &format!(r#"{{"messages":[{said}]}}"#));
        let units = Units::of(&request.transcript, Instructions::BetweenUserAndReply);
        assert_eq!(runs_of(&units), [0..1, 1..2, 2..5, 5..6]);
        let units = Units::of(&request.transcript, Instructions::Anywhere);
        assert_eq!(runs_of(&units), [0..1, 1..2, 2..3, 3..4, 4..5, 5..6]);
    }

    #[test]
    fn what_the_provider_runs_is_one_unit_with_the_calls_that_it_makes() {
        let user = r#"{"role":"user","content":"x"}"#;
        let calls = r#"{"role":"assistant","content":[{"type":"server_tool_use","id":"s","name":"code_execution","input":{}},{"type":"tool_use","id":"a","name":"f","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s"}}]}"#;
        let result =
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;
        let done = r#"{"role":"assistant","content":[{"type":"code_execution_tool_result","tool_use_id":"s","content":{}}]}"#;
        let body = [user, calls, result, done, user].join(",");
        let request = read(Format::Anthropic, &format!(r#"{{"messages":[{body}]}}"#));
        let units = Units::of(&request.transcript, Instructions::Anywhere);
        assert_eq!(runs_of(&units), [0..1, 1..4, 4..5]);
    }

    /// As the provider's rules pair them: a result without an id answers a call that the others leave.
    #[test]
    fn a_result_with_an_id_has_its_call_before_one_without() {
        let call =
            |id: &str| format!(r#"{{"functionCall":{{"id":"{id}","name":"f","args":{{}}}}}}"#);
        let calls = format!(r#"{{"role":"model","parts":[{},{}]}}"#, call("a"), call("b"));
        let results = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},{"functionResponse":{"id":"a","name":"f","response":{}}}]}"#;
        let human = r#"{"role":"user","parts":[{"text":"Go on."}]}"#;
        let body = format!(r#"{{"contents":[{human},{calls},{results}]}}"#);
        let request = read(Format::Gemini, &body);
        assert!(crate::wire::check(&request).is_empty());
        let units = Units::of(&request.transcript, Instructions::Anywhere);
        let slots: Vec<Slot> = request.transcript.entry(2).parts().map(|part| part.slot).collect();
        let results: Vec<Option<Slot>> = units.pairs().iter().map(|pair| pair.result).collect();
        assert_eq!(results, [Some(slots[1]), Some(slots[0])]);
    }

    #[test]
    fn an_approved_call_is_one_unit_with_what_asked_for_it() {
        let request = r#"{"type":"mcp_approval_request","id":"r","server_label":"s","name":"f","arguments":"{}"}"#;
        let response =
            r#"{"type":"mcp_approval_response","approval_request_id":"r","approve":true}"#;
        let call = r#"{"type":"mcp_call","id":"c","approval_request_id":"r","server_label":"s","name":"f","arguments":"{}","output":"x"}"#;
        let human = r#"{"role":"user","content":"Go on."}"#;
        let body = format!(r#"{{"input":[{human},{request},{human},{response},{call},{human}]}}"#);
        let request = read(Format::OpenaiResponses, &body);
        let units = Units::of(&request.transcript, Instructions::Anywhere);
        assert_eq!(runs_of(&units), [0..1, 1..5, 5..6]);
    }

    /// However many wait, and wherever their ids were used before.
    #[test]
    fn a_result_answers_the_oldest_call_of_its_id_that_waits() {
        let call =
            |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}"#);
        let result = |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}"}}"#);
        let said = |role: &str, blocks: Vec<String>| {
            format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
        };
        let ids: Vec<String> = (0..3 * FEW).map(|n| (n % (FEW + 3)).to_string()).collect();
        let calls = || ids.iter().map(|id| call(id)).collect();
        let results: Vec<String> = ids.iter().rev().take(2 * FEW).map(|id| result(id)).collect();
        let messages =
            [said("assistant", calls()), said("user", results), said("assistant", calls())];
        let last = said("user", ids.iter().map(|id| result(id)).collect());
        let body = format!(r#"{{"messages":[{},{last}]}}"#, messages.join(","));
        let transcript = read(Format::Anthropic, &body).transcript;
        let units = Units::of(&transcript, Instructions::Anywhere);
        let parts = || transcript.entries().flat_map(|entry| entry.parts());
        let mut waiting: Vec<Part<'_>> = Vec::new();
        let mut answered = vec![None; transcript.part_count()];
        for part in parts() {
            if part.kind() == PartKind::Call {
                waiting.push(part);
            } else if let Some(at) = waiting.iter().position(|call| call.id() == part.id()) {
                answered[waiting.remove(at).slot.0 as usize] = Some(part.slot);
            }
        }
        assert!(waiting.len() < ids.len() && units.pairs().len() == 2 * ids.len());
        for pair in units.pairs() {
            assert_eq!(pair.result, answered[pair.call.0 as usize]);
        }
    }

    /// A message in a role that no provider has: what its calls are called like may be called again by the model.
    #[test]
    fn what_somebody_unknown_calls_is_answered_by_nothing() {
        let call = |role: &str| {
            format!(
                r#"{{"role":"{role}","content":[{{"toolUse":{{"toolUseId":"c","name":"f","input":{{}}}}}}]}}"#
            )
        };
        let result = r#"{"role":"user","content":[{"toolResult":{"toolUseId":"c","content":[{"text":"ok"}]}}]}"#;
        let body =
            format!(r#"{{"messages":[{},{},{result}]}}"#, call("developer"), call("assistant"));
        let request = read(Format::Bedrock, &body);
        let units = Units::of(&request.transcript, Instructions::Anywhere);
        let answered: Vec<bool> = units.pairs().iter().map(|pair| pair.result.is_some()).collect();
        assert_eq!(answered, [false, true]);
        assert_eq!(runs_of(&units), [0..1, 1..3]);
    }

    /// Two calls of one tool, far from each other, and one result that names the tool alone.
    #[test]
    fn without_an_id_a_result_answers_the_newest_batch() {
        let call = r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}"#;
        let human = r#"{"role":"user","parts":[{"text":"Go on."}]}"#;
        let result = r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}"#;
        let body = format!(r#"{{"contents":[{human},{call},{human},{call},{result}]}}"#);
        let request = read(Format::Gemini, &body);
        let units = Units::of(&request.transcript, Instructions::Anywhere);
        let answered: Vec<bool> = units.pairs().iter().map(|pair| pair.result.is_some()).collect();
        assert_eq!(answered, [false, true]);
        assert_eq!(runs_of(&units), [0..1, 1..2, 2..3, 3..5]);
    }
}
