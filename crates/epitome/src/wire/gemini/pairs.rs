//! Calls and responses: paired by id where both have one, else by name and order, within a turn.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::rules::lawful_name;
use crate::request::Request;
use crate::transcript::{Marks, Part, PartKind, Role, Slot, Transcript};
use crate::wire::rules::{self, Finding, Mend, RuleId};

/// A call or a response.
struct Side {
    at: usize,
    slot: Slot,
    id: String,
    name: String,
}

/// All breaches of pairing; `runs` are the runs of one role.
pub(super) fn check(request: &Request, runs: &[Range<usize>]) -> Vec<Finding> {
    let transcript = &request.transcript;
    let mut work = Work::default();
    let mut open: Option<Vec<Side>> = None;
    for run in runs {
        let role = transcript.entry(run.start).role();
        let mut results = sides(transcript, run, PartKind::Result);
        if role == Role::User {
            let calls = open.take().unwrap_or_default();
            if run.start == 0 && request.keeper().is_some() {
                // They answer what is in the cache.
                results.drain(..).for_each(|result| work.name(&result));
            }
            work.turn(calls, results, run.start);
            continue;
        }
        // Something else was said: what is open stays unanswered.
        work.dangling.extend(open.take().into_iter().flatten());
        work.strays.append(&mut results);
        let calls = match role {
            Role::Assistant => sides(transcript, run, PartKind::Call),
            _ => Vec::new(),
        };
        work.known.extend(calls.iter().map(|call| call.id.clone()));
        open = Some(calls).filter(|calls| !calls.is_empty());
    }
    // A turn that nothing came after is open, which is normal.
    work.end()
}

fn sides(transcript: &Transcript, run: &Range<usize>, kind: PartKind) -> Vec<Side> {
    let is_one = |p: &Part<'_>| p.kind() == kind && !p.is(Marks::SERVER) && !p.is(Marks::NESTED);
    run.clone()
        .flat_map(|at| transcript.entry(at).parts().filter(is_one).map(move |part| (at, part)))
        .map(|(at, part)| Side {
            at,
            slot: part.slot,
            id: part.id().into_owned(),
            name: part.name().into_owned(),
        })
        .collect()
}

#[derive(Default)]
struct Work {
    findings: Vec<Finding>,
    /// Calls without response, and responses without call.
    dangling: Vec<Side>,
    strays: Vec<Side>,
    /// Ids of all calls so far.
    known: HashSet<String>,
}

impl Work {
    /// `results` follow `calls` directly; those that answer them stand in the entry `place`.
    fn turn(&mut self, calls: Vec<Side>, results: Vec<Side>, place: usize) {
        let is_known = |id: &str| self.known.contains(id);
        let answers = matched(&calls, &results, is_known);
        let mut is_answered = vec![false; calls.len()];
        for (result, answer) in results.into_iter().zip(answers) {
            let Some(call) = answer.map(|at| (at, &calls[at])) else {
                self.strays.push(result);
                continue;
            };
            is_answered[call.0] = true;
            self.label(&result, call.1);
            if result.at != place {
                let mend = Mend::MoveResult { result: result.slot, call: call.1.slot };
                self.find(rules::GEMINI_PLACE, &result, "in another content", mend);
            }
        }
        let rest = calls.into_iter().zip(is_answered).filter(|(_, is_answered)| !is_answered);
        self.dangling.extend(rest.map(|(call, _)| call));
    }

    /// A response says whose it is.
    fn label(&mut self, result: &Side, call: &Side) {
        let name = lawful_name(&call.name).unwrap_or_else(|| call.name.clone());
        let has_id = !result.id.is_empty() && !call.id.is_empty();
        let id = Some(&call.id).filter(|id| has_id && **id != result.id).cloned();
        // An id says enough, whatever the name; but it must be one that may stand there.
        let is_named = lawful_name(&result.name).is_none() && (result.name == name || has_id);
        if is_named && id.is_none() {
            return;
        }
        let name = if is_named { result.name.clone() } else { name };
        let mend = Mend::Label { result: result.slot, name, id };
        self.find(rules::GEMINI_RESPONSE_NAME, result, "not its call's", mend);
    }

    /// A response to a call that isn't here has a name, whichever.
    fn name(&mut self, result: &Side) {
        if let Some(name) = lawful_name(&result.name) {
            let mend = Mend::Label { result: result.slot, name, id: None };
            self.find(rules::GEMINI_RESPONSE_NAME, result, "no name", mend);
        }
    }

    fn end(mut self) -> Vec<Finding> {
        let dangling = std::mem::take(&mut self.dangling);
        let mut waiting: HashMap<&str, VecDeque<&Side>> = HashMap::new();
        for call in dangling.iter().filter(|call| !call.id.is_empty()) {
            waiting.entry(&call.id).or_default().push_back(call);
        }
        let mut moved: HashSet<Slot> = HashSet::new();
        for stray in std::mem::take(&mut self.strays) {
            // Calls come in order, so only the oldest one can be before the result.
            let calls = waiting.get_mut(stray.id.as_str());
            let call = calls.and_then(|calls| calls.pop_front_if(|call| call.slot < stray.slot));
            let (rule, mend) = match call {
                Some(call) => {
                    moved.insert(call.slot);
                    let mend = Mend::MoveResult { result: stray.slot, call: call.slot };
                    (rules::GEMINI_PLACE, mend)
                }
                None => (rules::GEMINI_ORPHAN, Mend::DropPart(stray.slot)),
            };
            self.find(rule, &stray, "no such call right before it", mend);
        }
        for call in dangling.iter().filter(|call| !moved.contains(&call.slot)) {
            self.find(rules::GEMINI_ANSWERED, call, "unanswered", Mend::Answer(call.slot));
        }
        self.findings
    }

    fn find(&mut self, rule: RuleId, side: &Side, what: &str, mend: Mend) {
        let who = if side.id.is_empty() { &side.name } else { &side.id };
        let detail = format!("`{who}`: {what}");
        self.findings.push(Finding::of_entry(rule, side.at, Some(side.slot), detail, mend));
    }
}

/// For each result, the call that it answers: by id; by name if one of them has no id or the id is unknown; by order if
/// it has neither.
fn matched(
    calls: &[Side],
    results: &[Side],
    is_known: impl Fn(&str) -> bool,
) -> Vec<Option<usize>> {
    let mut by_id: HashMap<&str, VecDeque<usize>> = HashMap::new();
    let mut by_name: HashMap<(&str, bool), VecDeque<usize>> = HashMap::new();
    let mut in_order: VecDeque<usize> = (0..calls.len()).collect();
    for (at, call) in calls.iter().enumerate() {
        by_id.entry(&call.id).or_default().push_back(at);
        by_name.entry((&call.name, call.id.is_empty())).or_default().push_back(at);
    }
    let mut taken = vec![false; calls.len()];
    let mut answers = vec![None; results.len()];
    let mut take = |queue: Option<&mut VecDeque<usize>>, answer: &mut Option<usize>| {
        let Some(queue) = queue.filter(|_| answer.is_none()) else { return };
        while let Some(at) = queue.pop_front() {
            if !std::mem::replace(&mut taken[at], true) {
                *answer = Some(at);
                return;
            }
        }
    };
    for (result, answer) in results.iter().zip(&mut answers) {
        if !result.id.is_empty() {
            take(by_id.get_mut(result.id.as_str()), answer);
        }
    }
    for (result, answer) in results.iter().zip(&mut answers) {
        take(by_name.get_mut(&(result.name.as_str(), true)), answer);
        if result.id.is_empty() {
            take(by_name.get_mut(&(result.name.as_str(), false)), answer);
        }
    }
    for (result, answer) in results.iter().zip(&mut answers) {
        let is_nobodys = !is_known(&result.id);
        if is_nobodys && !result.name.is_empty() {
            take(by_name.get_mut(&(result.name.as_str(), false)), answer);
        } else if result.name.is_empty() && result.id.is_empty() {
            take(Some(&mut in_order), answer);
        }
    }
    answers
}
