//! Mending a request the least way: each breach by no more than its offending parts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::rules::{Mend, NO_BEGINNING};
use super::splice::{Writer, splices};
use super::{Dialect, Finding, MissingResult, RuleId, check, parse};
use crate::json::{self, Span, quote};
use crate::request::Request;
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
        for finding in open {
            patch.add(&current, &finding);
            mended.push(Mended {
                rule: finding.rule,
                entry: came_from[finding.entry],
                detail: finding.detail,
                mend: words(&finding.mend),
            });
        }
        let (text, origins) = patch.apply(&current);
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
        let spoken = old.parts().find(|p| p.kind() == PartKind::Text && !p.is(Marks::NESTED));
        if let Some(part) = spoken {
            to.transcript.set_origin(index, part.origin());
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
                    self.rewrite(request, *slot, id, quote(to));
                }
            }
            Mend::Rewrite { slot, json } => {
                let body = transcript.part(*slot).row().body;
                self.rewrite(request, *slot, body, json.clone());
            }
            Mend::LeadIn => {
                let note = request.format.user_message(NO_BEGINNING);
                self.inserted.entry(finding.entry).or_default().push((note, None));
            }
            Mend::SpeakAsUser => {
                let entry = transcript.entry(finding.entry);
                let raw = entry.raw();
                if let Some(role) = json::member(raw, Span::new(0..raw.len()), "role") {
                    let span = role.shifted_by(entry.span().start);
                    self.rewritten
                        .entry(finding.entry)
                        .or_default()
                        .push((span, "\"user\"".to_owned()));
                }
            }
        }
    }

    fn drop_part(&mut self, request: &Request, slot: Slot) {
        let at = request.transcript.entry_of(slot);
        self.gone.entry(at).or_default().push(slot);
        let gone = &self.gone[&at];
        let stays = |p: &Part<'_>| !p.is(Marks::NESTED) && !gone.contains(&p.slot);
        if !request.transcript.entry(at).parts().any(|p| stays(&p)) {
            self.dropped.insert(at);
        }
    }

    /// Replaces a literal, unless there is none to replace.
    fn rewrite(&mut self, request: &Request, slot: Slot, span: Span, json: String) {
        if !span.is_empty() {
            self.rewritten.entry(request.transcript.entry_of(slot)).or_default().push((span, json));
        }
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
                && !(entry.role() == Role::Tool && !self.dropped.contains(at))
        });
        match result {
            MissingResult::Message(message) => {
                let behind = (from + 1..transcript.len())
                    .find(|at| transcript.entry(*at).role() != Role::Tool)
                    .unwrap_or(transcript.len());
                self.inserted.entry(behind).or_default().push((message, was));
            }
            MissingResult::Block(block) => {
                let user = next.filter(|at| transcript.entry(*at).role() == Role::User);
                let parted = (from + 1..user.unwrap_or(0))
                    .any(|at| transcript.entry(at).role() != Role::Assistant);
                match user.filter(|at| !parted && !self.dropped.contains(at)) {
                    Some(at) => self.prepended.entry(at).or_default().push(block),
                    None => {
                        let message = format!(r#"{{"role":"user","content":[{block}]}}"#);
                        let end = (from + 1..transcript.len())
                            .find(|at| transcript.entry(*at).role() != Role::Assistant)
                            .unwrap_or(transcript.len());
                        self.inserted.entry(end).or_default().push((message, None));
                    }
                }
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
            prepend(dialect, entry, blocks, &mut splices);
        }
        splices.apply(entry.raw())
    }
}

/// Puts `blocks` first in the entry's content.
fn prepend(
    dialect: &dyn Dialect,
    entry: Entry<'_>,
    blocks: &[String],
    splices: &mut json::Splices,
) {
    let raw = entry.raw();
    let Some(content) = json::member(raw, Span::new(0..raw.len()), "content") else { return };
    let blocks = blocks.join(",");
    if raw[content.range()].starts_with('[') {
        let first = Span { start: content.start + 1, end: content.start + 1 };
        let is_empty = json::elements(raw, content).is_ok_and(|items| items.is_empty());
        splices.replace(first, if is_empty { blocks } else { blocks + "," });
    } else if let Some(text) = entry.parts().next().filter(|p| p.kind() == PartKind::Text) {
        splices.replace(content, format!("[{blocks},{}]", dialect.text_block(&text.text())));
    }
}
