//! Calls and results, in the manner that OpenAI Chat and Anthropic share: the newest batch of calls
//! is answered before anything else is said.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use super::clean::Past;
use super::rules::{Finding, Mend, RuleId, Taken, fresh_id};
use crate::transcript::{Part, Slot};

/// The format's names for the five ways to break pairing.
pub(super) struct PairRules {
    pub(super) answered: RuleId,
    pub(super) orphan: RuleId,
    pub(super) duplicate: RuleId,
    pub(super) place: RuleId,
    pub(super) reused: RuleId,
    pub(super) unique: Scope,
}

/// Where a call id must be unique.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Batch,
    Transcript,
}

/// Follows a transcript and notes every broken pair.
pub(super) struct Pairing<'a> {
    rules: PairRules,
    past: &'a Past,
    batch: Option<Batch<'a>>,
    /// Ids of calls so far, where each may be there once.
    used: HashSet<Cow<'a, str>>,
    /// The same for whom ids are made up; those that were met since somebody was are in `met`.
    taken: Taken,
    met: Vec<Cow<'a, str>>,
    /// Calls elsewhere that are answered here.
    elsewhere: HashSet<Cow<'a, str>>,
    dangling: Vec<Stray>,
    orphans: Vec<Stray>,
    findings: Vec<Finding>,
}

/// The newest calls, while their results may come.
struct Batch<'a> {
    at: usize,
    /// By their ids, those of one id in their order: mostly it is one call or two.
    calls: Vec<Made<'a>>,
    /// Something else was said since.
    is_over: bool,
}

/// A call of the newest batch.
struct Made<'a> {
    id: Cow<'a, str>,
    call: Slot,
    answer: Option<Slot>,
    /// An earlier batch used the id.
    is_reused: bool,
    /// The id isn't a string, here or in a result.
    is_odd: bool,
}

impl<'a> Batch<'a> {
    fn of_id(&mut self, id: &str) -> &mut [Made<'a>] {
        let first = self.calls.partition_point(|made| *made.id < *id);
        let same = self.calls[first..].partition_point(|made| *made.id == *id);
        &mut self.calls[first..first + same]
    }
}

/// Of calls of one id, which are answered in their order.
fn next_unanswered<'m, 'a>(calls: &'m mut [Made<'a>]) -> Option<&'m mut Made<'a>> {
    let answered = calls.partition_point(|made| made.answer.is_some());
    calls.get_mut(answered)
}

/// Parts before a result in its turn, other than results.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Spoken {
    Nothing,
    Something,
}

/// A call without result, or a result without call.
struct Stray {
    id: String,
    at: usize,
    slot: Slot,
}

impl<'a> Pairing<'a> {
    pub(super) fn new(rules: PairRules, past: &'a Past) -> Self {
        Pairing {
            rules,
            past,
            batch: None,
            used: HashSet::new(),
            taken: Taken::new(),
            met: Vec::new(),
            elsewhere: HashSet::new(),
            dangling: Vec::new(),
            orphans: Vec::new(),
            findings: Vec::new(),
        }
    }

    /// The model spoke in entry `at` and made these calls, perhaps none.
    pub(super) fn batch(&mut self, at: usize, made: impl IntoIterator<Item = Part<'a>>) {
        self.speak();
        self.close();
        let made = made.into_iter().map(|call| Made {
            id: call.id(),
            call: call.slot,
            answer: None,
            is_reused: false,
            is_odd: call.has_odd_id(),
        });
        let mut calls: Vec<Made<'a>> = made.collect();
        if calls.is_empty() {
            return;
        }
        calls.sort_by(|one, other| one.id.cmp(&other.id));
        for same in calls.chunk_by_mut(|one, other| one.id == other.id) {
            let id = &same[0].id;
            let is_reused = match self.rules.unique {
                Scope::Batch => false,
                Scope::Transcript => {
                    let is_new = self.used.insert(id.clone());
                    !is_new || self.taken.contains_key(&**id) || self.past.calls.has(id)
                }
            };
            self.met.push(id.clone());
            let is_odd = same.iter().any(|made| made.is_odd);
            for made in same {
                (made.is_reused, made.is_odd) = (is_reused, is_odd);
            }
        }
        self.batch = Some(Batch { at, calls, is_over: false });
    }

    /// Something that is no result was said.
    pub(super) fn speak(&mut self) {
        if let Some(batch) = &mut self.batch {
            batch.is_over = true;
        }
    }

    /// A result came in entry `at`.
    pub(super) fn result(&mut self, at: usize, result: &Part<'a>) {
        let (id, slot) = (result.id(), result.slot);
        let is_over = self.batch.as_ref().is_some_and(|batch| batch.is_over);
        let calls = self.batch.as_mut().map(|batch| batch.of_id(&id)).unwrap_or_default();
        if calls.is_empty() {
            return self.orphans.push(Stray { id: id.into_owned(), at, slot });
        }
        // The first one speaks for all of one id.
        calls[0].is_odd |= result.has_odd_id();
        let Some(Made { call, answer, .. }) = next_unanswered(calls) else {
            let detail = format!("`{id}` is already answered");
            let rule = self.rules.duplicate;
            return self.find(rule, at, slot, detail, Mend::DropPart(slot));
        };
        *answer = Some(slot);
        if is_over {
            let mend = Mend::MoveResult { result: slot, call: *call };
            let rule = self.rules.place;
            self.find(rule, at, slot, format!("`{id}` comes behind other content"), mend);
        }
    }

    /// A result came in entry `at` for a call of the history that the provider holds: whether there is one isn't known, but
    /// it is answered once, and before anything else is said.
    pub(super) fn result_elsewhere(&mut self, at: usize, result: &Part<'a>, spoken: Spoken) {
        let (id, slot) = (result.id(), result.slot);
        if id.is_empty() {
            let detail = "it names no call".to_owned();
            self.find(self.rules.orphan, at, slot, detail, Mend::DropPart(slot));
        } else if !self.elsewhere.insert(id.clone()) {
            let detail = format!("`{id}` is already answered");
            self.find(self.rules.duplicate, at, slot, detail, Mend::DropPart(slot));
        } else if spoken == Spoken::Something {
            let detail = format!("`{id}` comes behind other content");
            self.find(self.rules.place, at, slot, detail, Mend::Lead(slot));
        }
    }

    /// A result came in entry `at`, where no result may stand.
    pub(super) fn misplaced(&mut self, at: usize, result: &Part<'a>) {
        let (id, slot) = (result.id(), result.slot);
        let calls = self.batch.as_mut().map(|batch| batch.of_id(&id)).unwrap_or_default();
        let waits = next_unanswered(calls).filter(|made| made.call < slot);
        let Some(Made { call, answer, .. }) = waits else {
            return self.orphans.push(Stray { id: id.into_owned(), at, slot });
        };
        *answer = Some(slot);
        let mend = Mend::MoveResult { result: slot, call: *call };
        let rule = self.rules.place;
        self.find(rule, at, slot, format!("`{id}` comes on the model's side"), mend);
    }

    /// The transcript ends here. A batch of which nothing is answered and that nothing came after is
    /// open, which is normal.
    pub(super) fn end(mut self) -> Vec<Finding> {
        self.close();
        let dangling = std::mem::take(&mut self.dangling);
        let mut waiting: HashMap<&str, VecDeque<&Stray>> = HashMap::new();
        for call in &dangling {
            waiting.entry(&call.id).or_default().push_back(call);
        }
        let mut moved: HashSet<Slot> = HashSet::new();
        for orphan in std::mem::take(&mut self.orphans) {
            // Calls come in order, so only the oldest one can be before the result.
            let calls = waiting.get_mut(orphan.id.as_str());
            let call = calls.and_then(|calls| calls.pop_front_if(|call| call.slot < orphan.slot));
            moved.extend(call.map(|call| call.slot));
            let (rule, detail, mend) = match call {
                Some(call) => (
                    self.rules.place,
                    format!("`{}` comes behind other messages", orphan.id),
                    Mend::MoveResult { result: orphan.slot, call: call.slot },
                ),
                None => (
                    self.rules.orphan,
                    format!("no call with id `{}` in the assistant message before it", orphan.id),
                    Mend::DropPart(orphan.slot),
                ),
            };
            self.find(rule, orphan.at, orphan.slot, detail, mend);
        }
        for call in dangling.iter().filter(|call| !moved.contains(&call.slot)) {
            let rule = self.rules.answered;
            self.find(rule, call.at, call.slot, format!("`{}`", call.id), Mend::Answer(call.slot));
        }
        self.findings
    }

    fn close(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        // Who answers one call of a batch must answer all of it.
        let is_begun = batch.calls.iter().any(|made| made.answer.is_some());
        for same in batch.calls.chunk_by(|one, other| one.id == other.id) {
            let Made { id, is_reused, is_odd, .. } = &same[0];
            let spare = usize::from(!(*is_reused || id.is_empty() || *is_odd));
            for (nth, Made { call, answer, .. }) in same.iter().enumerate() {
                if nth >= spare {
                    for met in self.met.drain(..) {
                        self.taken.entry(met.into_owned()).or_insert(2);
                    }
                    let to = fresh_id(id, &mut self.taken);
                    let slots = std::iter::once(*call).chain(*answer).collect();
                    let rule = self.rules.reused;
                    let detail = match () {
                        () if id.is_empty() => "no id".to_owned(),
                        () if *is_odd => format!("the id `{id}` isn't a string"),
                        () => format!("`{id}` again"),
                    };
                    self.find(rule, batch.at, *call, detail, Mend::Rename { slots, to });
                } else if answer.is_none() && (batch.is_over || is_begun) {
                    let id = id.clone().into_owned();
                    self.dangling.push(Stray { id, at: batch.at, slot: *call });
                }
            }
        }
    }

    fn find(&mut self, rule: RuleId, entry: usize, slot: Slot, detail: String, mend: Mend) {
        self.findings.push(Finding::of_entry(rule, entry, Some(slot), detail, mend));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Format, check, parse};

    const USE: &str = r#"{"type":"tool_use","id":"a","name":"f","input":{}}"#;
    const RESULT: &str = r#"{"type":"tool_result","tool_use_id":"a","content":"x"}"#;
    const TEXT: &str = r#"{"type":"text","text":"x"}"#;

    /// What is found of pairs in messages of the user's and the model's in turn, which have these blocks.
    fn found(messages: &[&[&str]]) -> Vec<(usize, String, Mend)> {
        let message = |(at, blocks): (usize, &&[&str])| {
            let role = ["user", "assistant"][at % 2];
            format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
        };
        let messages: Vec<String> = messages.iter().enumerate().map(message).collect();
        let body = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
        let request = parse(Format::Anthropic, body).expect("it is JSON");
        check(&request).into_iter().map(|found| (found.entry, found.detail, found.mend)).collect()
    }

    #[test]
    fn a_result_on_the_models_side_moves_only_behind_a_call_before_it() {
        let found_it = found(&[&[TEXT], &[USE, RESULT], &[TEXT]]);
        let [(1, detail, Mend::MoveResult { result, call })] = &found_it[..] else {
            panic!("{found_it:?}");
        };
        assert_eq!(detail, "`a` comes on the model's side");
        assert!(call < result);
        let found_it = found(&[&[TEXT], &[RESULT, USE], &[TEXT]]);
        assert!(
            matches!(&found_it[..], [(1, _, Mend::DropPart(_)), (1, _, Mend::Answer(_))]),
            "{found_it:?}"
        );
    }

    #[test]
    fn a_late_result_moves_and_an_early_one_leaves() {
        let found_it = found(&[&[TEXT], &[USE], &[TEXT], &[TEXT], &[RESULT]]);
        let [(4, detail, Mend::MoveResult { .. })] = &found_it[..] else {
            panic!("{found_it:?}");
        };
        assert_eq!(detail, "`a` comes behind other messages");
        let found_it = found(&[&[TEXT, RESULT], &[USE], &[TEXT]]);
        assert!(
            matches!(&found_it[..], [(0, _, Mend::DropPart(_)), (1, _, Mend::Answer(_))]),
            "{found_it:?}"
        );
    }

    #[test]
    fn why_an_id_is_replaced_is_said() {
        let with_id = |id: &str| USE.replace(r#""a""#, id);
        let (none, number) = (with_id(r#""""#), with_id("7"));
        let found = found(&[&[TEXT], &[&none, &number, USE, USE]]);
        let renamed = found.iter().filter(|(_, _, mend)| matches!(mend, Mend::Rename { .. }));
        let details: Vec<&str> = renamed.map(|(_, detail, _)| detail.as_str()).collect();
        assert_eq!(details, ["no id", "the id `7` isn't a string", "`a` again"]);
    }
}
