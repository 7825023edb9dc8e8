//! Calls and outputs, paired by `call_id` wherever they stand (PROVIDERS.md B.2.2).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque, hash_map};

use super::head::{Group, Head};
use crate::json;
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Slot};
use crate::wire::clean::Past;
use crate::wire::rules::{self, Finding, Mend, RuleId, Taken, fresh_id};

/// In characters (PROVIDERS.md B.2.2).
const LONGEST_ID: usize = 64;
/// Of an id that is too long; what is put behind it is short.
const KEPT_OF_ID: usize = 48;

/// What pairs a call with its output.
type Key<'a> = (Group, Cow<'a, str>);

/// Follows the items and notes every broken pair.
pub(super) struct Pairs<'a> {
    past: &'a Past,
    /// The calls without an answer, or with one to repair, by their number.
    calls: BTreeMap<usize, Call<'a>>,
    /// Calls so far.
    count: usize,
    waiting: HashMap<Key<'a>, VecDeque<usize>>,
    strays: Vec<Stray<'a>>,
    /// Call ids so far, and of which groups an output came.
    used: HashMap<Cow<'a, str>, Answered>,
    /// The first and the last reference: what it refers to may be a call or an output.
    references: Option<(usize, usize)>,
    /// The newest entry that isn't the model's: an output, or what asks it to go on.
    last_asked: Option<usize>,
    findings: Vec<Finding>,
}

/// The groups of which an output came: one set of ids is less than two.
#[derive(Clone, Copy, Default)]
struct Answered(u8);

impl Answered {
    fn add(&mut self, group: Group) {
        self.0 |= 1 << group as u8;
    }

    fn has(self, group: Group) -> bool {
        self.0 & 1 << group as u8 != 0
    }
}

struct Call<'a> {
    key: Key<'a>,
    at: usize,
    slot: Slot,
    answer: Option<Slot>,
    /// The id was used before, is missing or too long.
    is_misnamed: bool,
    /// The id isn't a string, here or in the output.
    is_odd: bool,
    /// Its output may come whenever it likes.
    is_async: bool,
}

/// An output without an earlier call.
struct Stray<'a> {
    key: Key<'a>,
    at: usize,
    slot: Slot,
}

impl<'a> Pairs<'a> {
    /// None so far. Every call of the past is answered. There is room for `calls` of them.
    pub(super) fn behind(past: &'a Past, calls: usize) -> Self {
        Pairs {
            past,
            calls: BTreeMap::new(),
            count: 0,
            waiting: HashMap::new(),
            strays: Vec::new(),
            used: HashMap::with_capacity(calls),
            references: past.reference.map(|at| (at, at)),
            last_asked: None,
            findings: Vec::new(),
        }
    }

    /// The next item.
    pub(super) fn item(&mut self, entry: Entry<'a>, head: &Head<'_>) {
        let at = entry.index;
        if head.is_reference() {
            let first = self.references.map_or(at, |(first, _)| first);
            self.references = Some((first, at));
        }
        match entry.role() {
            Role::Assistant => {}
            _ if head.asks() || entry.role() != Role::Other => self.last_asked = Some(at),
            _ => {}
        }
        let Some(group) = head.group() else { return };
        for part in entry.parts().filter(|part| !part.is(Marks::SERVER)) {
            match part.kind() {
                PartKind::Call => self.call(at, group, &part, head),
                // The output of a tool that is named may come without a call (SDK types).
                PartKind::Result if part.id().is_empty() && !part.name().is_empty() => {}
                PartKind::Result => self.output(at, group, &part),
                _ => {}
            }
        }
    }

    fn call(&mut self, at: usize, group: Group, part: &Part<'a>, head: &Head<'_>) {
        let key = (group, part.id());
        let id = &key.1;
        let is_long = id.chars().count() > LONGEST_ID;
        let is_odd = part.has_odd_id();
        let is_used = self.past.calls.has(id)
            || match self.used.entry(id.clone()) {
                hash_map::Entry::Occupied(_) => true,
                hash_map::Entry::Vacant(free) => {
                    free.insert(Answered::default());
                    false
                }
            };
        let is_misnamed = id.is_empty() || is_long || is_used;
        self.waiting.entry(key.clone()).or_default().push_back(self.count);
        let (slot, is_async) = (part.slot, head.is_async());
        let call = Call { key, at, slot, answer: None, is_misnamed, is_odd, is_async };
        self.calls.insert(self.count, call);
        self.count += 1;
    }

    /// The oldest call that waits for this.
    fn waits(&mut self, key: &Key<'a>) -> Option<usize> {
        let waiting = self.waiting.get_mut(key)?;
        let call = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(key);
        }
        call
    }

    fn output(&mut self, at: usize, group: Group, part: &Part<'a>) {
        let key = (group, part.id());
        let slot = part.slot;
        if let Some(number) = self.waits(&key) {
            let call = self.calls.get_mut(&number).expect("it waits");
            call.answer = Some(slot);
            call.is_odd |= part.has_odd_id();
            if !(call.is_odd || call.is_misnamed) {
                self.calls.remove(&number);
            }
            if let Some(answered) = self.used.get_mut(&key.1) {
                answered.add(group);
            }
        } else if self.used.get(&key.1).is_some_and(|answered| answered.has(group))
            || self.past.calls.has(&key.1)
        {
            let detail = format!("`{}` is already answered", key.1);
            self.find(rules::RESPONSES_DUPLICATE, at, slot, detail, Mend::DropPart(slot));
        } else {
            self.strays.push(Stray { key, at, slot });
        }
    }

    /// The items end here. Calls that nothing came after are open, which is normal.
    pub(super) fn end(mut self, request: &Request) -> Vec<Finding> {
        let mut elsewhere: HashSet<Cow<'a, str>> = HashSet::new();
        for Stray { key, at, slot } in std::mem::take(&mut self.strays) {
            if self.is_mistyped(request, &key, at, slot) {
                continue;
            }
            let may_be_referred_to = self.references.is_some_and(|(first, _)| first < at);
            if !(key.1.is_empty() || self.waiting.contains_key(&key))
                && (request.keeper().is_some() || may_be_referred_to)
            {
                // Its call may be elsewhere, but an id has one output.
                let is_answered = self.used.get(&key.1).is_some_and(|answered| answered.0 != 0);
                if is_answered || !elsewhere.insert(key.1.clone()) {
                    let detail = format!("`{}` is already answered", key.1);
                    self.find(rules::RESPONSES_DUPLICATE, at, slot, detail, Mend::DropPart(slot));
                }
                continue;
            }
            // A call that still waits can only have come later.
            if let Some(call) = self.waits(&key) {
                let call = self.calls.get_mut(&call).expect("it waits");
                call.answer = Some(slot);
                let mend = Mend::MoveResult { result: slot, call: call.slot };
                let detail = format!("`{}` comes before its call", key.1);
                self.find(rules::RESPONSES_PLACE, at, slot, detail, mend);
                continue;
            }
            let detail = format!("no call with call_id `{}`", key.1);
            self.find(rules::RESPONSES_ORPHAN, at, slot, detail, Mend::DropPart(slot));
        }
        let used = std::mem::take(&mut self.used);
        let all = || used.keys().map(|id| (id.clone().into_owned(), 2)).collect();
        let mut taken: Option<Taken> = None;
        for call in std::mem::take(&mut self.calls).into_values() {
            let Call { key: (group, id), at, slot, answer, is_misnamed, is_odd, is_async } = call;
            if is_misnamed || is_odd {
                let kept: String = id.chars().take(KEPT_OF_ID).collect();
                let to = fresh_id(&kept, taken.get_or_insert_with(all));
                let slots = std::iter::once(slot).chain(answer).collect();
                let (rule, detail) = match id.chars().count() {
                    0 => (rules::RESPONSES_REUSED_ID, "no call_id".to_owned()),
                    n if n > LONGEST_ID => (rules::RESPONSES_LONG_ID, format!("{n} characters")),
                    _ if is_odd => {
                        (rules::RESPONSES_REUSED_ID, format!("the call_id `{id}` isn't a string"))
                    }
                    _ => (rules::RESPONSES_REUSED_ID, format!("`{id}` again")),
                };
                self.find(rule, at, slot, detail, Mend::Rename { slots, to });
            } else if answer.is_none() && !is_async && self.is_over(at) {
                // A screenshot can't be made up.
                let mend = if group == Group::Computer {
                    Mend::DropPart(slot)
                } else {
                    Mend::Answer(slot)
                };
                self.find(rules::RESPONSES_ANSWERED, at, slot, format!("`{id}`"), mend);
            }
        }
        self.findings
    }

    /// Whether an output has the type of another kind's, and its call waits: what it says is the answer.
    fn is_mistyped(&mut self, request: &Request, key: &Key<'a>, at: usize, slot: Slot) -> bool {
        let (group, to) = match key.0 {
            Group::Function => (Group::Custom, "custom_tool_call_output"),
            Group::Custom => (Group::Function, "function_call_output"),
            _ => return false,
        };
        let other = (group, key.1.clone());
        let first = self.waiting.get(&other).and_then(|waiting| waiting.front());
        if first.is_none_or(|first| self.calls[first].at > at) {
            return false;
        }
        let span = request.transcript.entry(at).span();
        let Some(value) = json::member(request.source(), span, "type") else { return false };
        let number = self.waits(&other).expect("it was looked at");
        self.calls.get_mut(&number).expect("it waits").answer = Some(slot);
        let detail = format!("`{}` is answered by a {to}", key.1);
        let mend = Mend::Overwrite { value, json: json::quote(to) };
        self.find(rules::RESPONSES_ORPHAN, at, slot, detail, mend);
        true
    }

    /// Whether the call at `at` should have its output by now: somebody spoke since, or an output came. Who
    /// answers one call must answer all of them.
    fn is_over(&self, at: usize) -> bool {
        let may_be_referred_to = self.references.is_some_and(|(_, last)| last > at);
        !may_be_referred_to && self.last_asked.is_some_and(|asked| asked > at)
    }

    fn find(&mut self, rule: RuleId, entry: usize, slot: Slot, detail: String, mend: Mend) {
        self.findings.push(Finding::of_entry(rule, entry, Some(slot), detail, mend));
    }
}
