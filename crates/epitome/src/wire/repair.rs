//! Mending a request the least way: each breach by no more than its offending parts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::rules::{Mend, NO_BEGINNING};
use super::splice::{Writer, splices};
use super::{Dialect, Finding, Format, MissingResult, RuleId, check, parse};
use crate::json::{self, Span, quote};
use crate::request::{Envelope, Request};
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Slot};
use crate::view::{PartEdit, Put, Reason};

/// A breach that was mended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mended {
    /// The rule that was broken.
    pub rule: RuleId,
    /// Index of the offending entry, in the request as it came.
    pub entry: Option<usize>,
    /// What was found.
    pub detail: String,
    /// What was done.
    pub mend: &'static str,
}

/// A request without the breaches that can be mended.
#[derive(Clone, Debug)]
pub struct Repaired {
    /// The mended request; the very same if nothing was broken.
    pub request: Request,
    /// What was mended, in order.
    pub mended: Vec<Mended>,
    /// What only the author can mend.
    pub left: Vec<Finding>,
    /// For each entry of the mended request, the entry it was.
    pub came_from: Vec<Option<usize>>,
}

/// One mend can lay bare another breach (a dropped part empties its message); a chain is short.
const MOST_ROUNDS: usize = 16;

/// Mends what can be mended.
pub fn repair(request: &Request) -> Repaired {
    let mut current = request.clone();
    let mut came_from: Vec<Option<usize>> = (0..request.transcript.len()).map(Some).collect();
    let mut mended = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let findings = check(&current);
        let (open, left): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| finding.mend != Mend::Nothing);
        if open.is_empty() {
            return Repaired { request: current, mended, left, came_from };
        }
        let mut patch = Patch::default();
        for finding in &open {
            patch.add(&current, finding);
        }
        let (text, origins) = patch.apply(&current);
        if origins.is_empty() && current.frame.envelope == Envelope::Lines {
            // Lines of nothing are no request, so the last breach stays.
            let mut left: Vec<_> = open.into_iter().chain(left).collect();
            for finding in &mut left {
                finding.mend = Mend::Nothing;
            }
            return Repaired { request: current, mended, left, came_from };
        }
        for finding in open {
            mended.push(Mended {
                rule: finding.rule,
                entry: came_from[finding.entry],
                detail: finding.detail,
                mend: words(&finding.mend),
            });
        }
        came_from = origins.into_iter().map(|origin| origin.and_then(|at| came_from[at])).collect();
        let old = current;
        current = parse(old.format, text).expect("mended JSON is JSON of the same format");
        keep_origins(request, &mut current, &came_from);
    }
    let left = check(&current);
    Repaired { request: current, mended, left, came_from }
}

/// Entries whose speaker a recording knew keep their speaker.
fn keep_origins(from: &Request, to: &mut Request, came_from: &[Option<usize>]) {
    for (index, origin) in came_from.iter().enumerate() {
        let Some(old) = origin.map(|at| from.transcript.entry(at)) else { continue };
        let speaks = |p: &Part<'_>| {
            matches!(p.kind(), PartKind::Text | PartKind::Media) && !p.is(Marks::NESTED)
        };
        let was: Vec<_> = old.parts().filter(speaks).map(|p| (p.raw(), p.origin())).collect();
        let now: Vec<_> =
            to.transcript.entry(index).parts().filter(speaks).map(|p| p.slot).collect();
        // Parts may have left; what stays says the same.
        let mut was = was.into_iter();
        for slot in now {
            let raw = to.transcript.part(slot).raw();
            if let Some((_, origin)) = was.find(|(old, _)| *old == raw) {
                to.transcript.set_part_origin(slot, origin);
            }
        }
    }
}

fn words(mend: &Mend) -> &'static str {
    match mend {
        Mend::Nothing => "left as it is",
        Mend::DropPart(_) => "dropped the part",
        Mend::DropEntry => "dropped the message",
        Mend::Answer(_) => "added a result that says that there is none",
        Mend::MoveResult { .. } => "moved the result behind its call",
        Mend::Rename { .. } => "gave the call and its result a fresh id",
        Mend::CallTool { .. } => "gave the call's tool a name that is allowed",
        Mend::Rewrite { .. } => "rewrote the arguments in the form demanded",
        Mend::LeadIn => "put a note in the user's role first",
        Mend::SpeakAsUser => "changed the role to the user's",
    }
}

/// All changes of one round, by entry.
#[derive(Default)]
struct Patch {
    dropped: BTreeSet<usize>,
    gone: BTreeMap<usize, Vec<Slot>>,
    rewritten: BTreeMap<usize, Vec<(Span, String)>>,
    /// Elements to put first in an entry's content.
    prepended: BTreeMap<usize, Vec<String>>,
    /// Messages to put before an entry, with the entry that they were.
    inserted: BTreeMap<usize, Vec<(String, Option<usize>)>>,
}

impl Patch {
    fn add(&mut self, request: &Request, finding: &Finding) {
        let transcript = &request.transcript;
        match &finding.mend {
            Mend::Nothing => {}
            Mend::DropEntry => {
                self.dropped.insert(finding.entry);
            }
            Mend::DropPart(slot) => self.drop_part(request, *slot),
            Mend::Answer(call) => {
                let part = transcript.part(*call);
                let missing = request.format.dialect().missing_result(&part.id(), &part.name());
                self.put_result(request, *call, missing, None);
            }
            Mend::MoveResult { result, call } => {
                let from = transcript.entry_of(*result);
                let entry = transcript.entry(from);
                if entry.role() == Role::Tool {
                    self.dropped.insert(from);
                    let missing = MissingResult::Message(entry.raw().to_owned());
                    self.put_result(request, *call, missing, Some(from));
                } else {
                    let block = transcript.part(*result).raw().to_owned();
                    self.drop_part(request, *result);
                    self.put_result(request, *call, MissingResult::Block(block), None);
                }
            }
            Mend::Rename { slots, to } => {
                for slot in slots {
                    let id = transcript.part(*slot).row().id;
                    self.set(request, *slot, id, id_key(request, *slot), quote(to));
                }
            }
            Mend::CallTool { slot, name } => {
                let old = transcript.part(*slot).row().name;
                self.set(request, *slot, old, "name", quote(name));
            }
            Mend::Rewrite { slot, json } => {
                let body = transcript.part(*slot).row().body;
                self.set(request, *slot, body, "content", json.clone());
            }
            Mend::LeadIn => {
                let note = request.format.user_message(NO_BEGINNING);
                self.inserted.entry(finding.entry).or_default().push((note, None));
            }
            Mend::SpeakAsUser => self.speak_as_user(request, finding.entry),
        }
    }

    /// Instructions in the user's role are marked as what they are: nobody's mouth but their own.
    fn speak_as_user(&mut self, request: &Request, at: usize) {
        let entry = request.transcript.entry(at);
        let raw = entry.raw();
        let rewritten = self.rewritten.entry(at).or_default();
        if let Some(role) = json::member(raw, Span::new(0..raw.len()), "role") {
            rewritten.push((role.shifted_by(entry.span().start), "\"user\"".to_owned()));
        }
        for part in entry.parts().filter(|p| p.kind() == PartKind::Text) {
            let text = quote(&format!("<system-reminder>\n{}\n</system-reminder>", part.text()));
            rewritten.push((part.row().body, text));
        }
    }

    fn drop_part(&mut self, request: &Request, slot: Slot) {
        let at = request.transcript.entry_of(slot);
        self.gone.entry(at).or_default().push(slot);
        let gone = &self.gone[&at];
        let entry = request.transcript.entry(at);
        // A chat result is the whole message, whatever else is in it.
        let is_result = |slot: &Slot| request.transcript.part(*slot).kind() == PartKind::Result;
        if entry.role() == Role::Tool && gone.iter().any(is_result) {
            self.dropped.insert(at);
        }
        let stays = |p: &Part<'_>| !p.is(Marks::NESTED) && !gone.contains(&p.slot);
        if !entry.parts().any(|p| stays(&p)) {
            self.dropped.insert(at);
        }
    }

    /// Replaces the value at `span`, or adds the member `key` where there is none.
    fn set(&mut self, request: &Request, slot: Slot, span: Span, key: &str, json: String) {
        let transcript = &request.transcript;
        let at = transcript.entry_of(slot);
        let rewritten = self.rewritten.entry(at).or_default();
        if !span.is_empty() {
            return rewritten.push((span, json));
        }
        // A chat result's members are its message's.
        let entry = transcript.entry(at);
        let holder = if entry.role() == Role::Tool {
            entry.span()
        } else {
            transcript.part(slot).row().span
        };
        let start = holder.start + 1;
        let is_empty = json::members(request.source(), holder).is_ok_and(|all| all.is_empty());
        let comma = if is_empty { "" } else { "," };
        rewritten.push((Span { start, end: start }, format!("{}:{json}{comma}", quote(key))));
    }

    /// Puts a result behind the entry with `call`, and behind the results that are there already.
    fn put_result(
        &mut self,
        request: &Request,
        call: Slot,
        result: MissingResult,
        was: Option<usize>,
    ) {
        let transcript = &request.transcript;
        let from = transcript.entry_of(call);
        let next = (from + 1..transcript.len()).find(|at| {
            let entry = transcript.entry(*at);
            entry.role() != Role::Assistant
                && (entry.role() != Role::Tool || self.dropped.contains(at))
        });
        match result {
            MissingResult::Message(message) => {
                let behind = (from + 1..transcript.len())
                    .find(|at| !answers_by_id(transcript.entry(*at)))
                    .unwrap_or(transcript.len());
                self.inserted.entry(behind).or_default().push((message, was));
            }
            MissingResult::Block(block) => {
                let user = next.filter(|at| transcript.entry(*at).role() == Role::User);
                let parted = (from + 1..user.unwrap_or(0))
                    .any(|at| transcript.entry(at).role() != Role::Assistant);
                if let Some(at) = user.filter(|at| !parted && !self.dropped.contains(at)) {
                    self.prepended.entry(at).or_default().push(block);
                    return;
                }
                let message = format!(r#"{{"role":"user","content":[{block}]}}"#);
                let end = (from + 1..transcript.len())
                    .find(|at| transcript.entry(*at).role() != Role::Assistant)
                    .unwrap_or(transcript.len());
                self.inserted.entry(end).or_default().push((message, None));
            }
        }
    }

    /// The mended text, and for each of its entries the entry it was.
    fn apply(&self, request: &Request) -> (String, Vec<Option<usize>>) {
        let dialect = request.format.dialect();
        let mut out = Writer::new(request);
        let mut origins = Vec::new();
        let none = Vec::new();
        for at in 0..=request.transcript.len() {
            for (message, was) in self.inserted.get(&at).unwrap_or(&none) {
                out.insert(message);
                origins.push(*was);
            }
            if at == request.transcript.len() || self.dropped.contains(&at) {
                continue;
            }
            let entry = request.transcript.entry(at);
            out.entry(at, &self.entry(dialect, entry));
            origins.push(Some(at));
        }
        (out.finish(), origins)
    }

    fn entry(&self, dialect: &dyn Dialect, entry: Entry<'_>) -> String {
        let gone = self.gone.get(&entry.index).into_iter().flatten();
        let edits: Vec<PartEdit> = gone
            .map(|slot| PartEdit { at: *slot, put: Put::Nothing, reason: Reason::Emptied })
            .collect();
        let mut splices = splices(dialect, entry, &edits);
        let origin = entry.span().start;
        for (span, json) in self.rewritten.get(&entry.index).into_iter().flatten() {
            splices.replace(span.relative_to(origin), json.clone());
        }
        if let Some(blocks) = self.prepended.get(&entry.index) {
            prepend(entry, blocks, &mut splices);
        }
        splices.apply(entry.raw())
    }
}

/// Whether a chat message is a result of a call with an id; the older form's results have none.
fn answers_by_id(entry: Entry<'_>) -> bool {
    entry.role() == Role::Tool && entry.parts().next().is_some_and(|part| !part.id().is_empty())
}

/// The member that holds a call's id, or names the call that a result answers.
fn id_key(request: &Request, slot: Slot) -> &'static str {
    match (request.transcript.part(slot).kind(), request.format) {
        (PartKind::Call, _) => "id",
        (_, Format::Anthropic) => "tool_use_id",
        (_, Format::OpenaiChat) => "tool_call_id",
    }
}

/// Puts `blocks` first in the entry's content.
fn prepend(entry: Entry<'_>, blocks: &[String], splices: &mut json::Splices) {
    let raw = entry.raw();
    let Some(content) = json::member(raw, Span::new(0..raw.len()), "content") else { return };
    let blocks = blocks.join(",");
    if raw[content.range()].starts_with('[') {
        let first = Span { start: content.start + 1, end: content.start + 1 };
        let is_empty = json::elements(raw, content).is_ok_and(|items| items.is_empty());
        splices.replace(first, if is_empty { blocks } else { blocks + "," });
    } else if let Some(text) = entry.parts().next().filter(|p| p.kind() == PartKind::Text) {
        let text = text.raw();
        splices.replace(content, format!(r#"[{blocks},{{"type":"text","text":{text}}}]"#));
    }
}
