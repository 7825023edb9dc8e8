//! All changes of one round, and the text that they make.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::ends::Ends;
use super::lists::{Lists, prepend};
use crate::json::{self, Span, quote};
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Slot};
use crate::view::{PartEdit, Put, Reason};
use crate::wire::layout::joined;
use crate::wire::rules::{Mend, NO_BEGINNING};
use crate::wire::splice::{Writer, splices};
use crate::wire::{Dialect, FOREIGN_CALL, Feature, Finding, MissingResult};

/// All changes of one round, by entry.
#[derive(Default)]
pub(super) struct Patch {
    dropped: BTreeSet<usize>,
    gone: BTreeMap<usize, Vec<Slot>>,
    /// The same parts, whosever they are.
    all_gone: HashSet<Slot>,
    rewritten: BTreeMap<usize, Vec<(Span, String)>>,
    /// Where members are put first into objects.
    opened: HashSet<Span>,
    /// Elements to put first in an entry's content.
    prepended: BTreeMap<usize, Vec<String>>,
    /// Messages to put before an entry, with the entry that they were.
    inserted: BTreeMap<usize, Vec<(String, Option<usize>)>>,
    /// Results to put behind those of an entry, or into a message of their own before it.
    gathered: BTreeMap<usize, Vec<String>>,
    /// Entries whose parts go behind those of an earlier one.
    joined: BTreeMap<usize, usize>,
    /// A member for the body.
    member: Option<String>,
    /// No entry before this one stays.
    first: usize,
    lists: Lists,
    /// Runs of what the model said, and of results.
    replies: OnceCell<Ends>,
    results: OnceCell<Ends>,
}

impl Patch {
    /// All that the findings ask for. What leaves comes first, for nothing may be put into a message that isn't there any more.
    pub(super) fn of(request: &Request, findings: &[Finding]) -> Self {
        let mut patch = Self::default();
        for finding in findings {
            patch.leave(request, finding);
        }
        patch.empty(request);
        for finding in findings {
            patch.add(request, finding);
        }
        patch
    }

    /// Parts that leave, and entries of which nothing else stays.
    pub(super) fn without(request: &Request, slots: &[Slot]) -> Self {
        let mut patch = Self::default();
        for slot in slots {
            patch.gone.entry(request.transcript.entry_of(*slot)).or_default().push(*slot);
            patch.all_gone.insert(*slot);
        }
        patch.empty(request);
        patch
    }

    /// The entries that leave.
    pub(super) fn dropped(&self) -> &BTreeSet<usize> {
        &self.dropped
    }

    fn leave(&mut self, request: &Request, finding: &Finding) {
        match &finding.mend {
            Mend::DropEntry => {
                self.dropped.insert(finding.entry);
            }
            Mend::DropPart(slot) | Mend::Lead(slot) | Mend::MoveResult { result: slot, .. } => {
                let at = request.transcript.entry_of(*slot);
                self.gone.entry(at).or_default().push(*slot);
                self.all_gone.insert(*slot);
            }
            _ => {}
        }
    }

    fn add(&mut self, request: &Request, finding: &Finding) {
        let transcript = &request.transcript;
        match &finding.mend {
            Mend::Nothing | Mend::DropEntry | Mend::DropPart(_) => {}
            Mend::Answer(call) => {
                let entry = transcript.entry(transcript.entry_of(*call));
                let missing =
                    request.format.dialect().missing_answer(entry, &transcript.part(*call));
                self.put_result(request, *call, missing, None);
            }
            Mend::MoveResult { result, call } => {
                let from = transcript.entry_of(*result);
                let entry = transcript.entry(from);
                if entry.role() == Role::Tool {
                    let missing = MissingResult::Message(entry.raw().to_owned());
                    self.put_result(request, *call, missing, Some(from));
                } else {
                    let part = transcript.part(*result);
                    let block = self.lists.element(entry, &part).to_owned();
                    self.put_result(request, *call, MissingResult::Block(block), None);
                }
            }
            Mend::Lead(result) => {
                let from = transcript.entry_of(*result);
                let part = transcript.part(*result);
                let block = self.lists.element(transcript.entry(from), &part).to_owned();
                while self.first < from && self.dropped.contains(&self.first) {
                    self.first += 1;
                }
                // Where all messages of the turn leave, its own one stays for it.
                let first = self.first.min(from);
                if first == from {
                    self.dropped.remove(&from);
                    self.first = from;
                }
                self.prepended.entry(first).or_default().push(block);
            }
            Mend::Rename { slots, to } => {
                for slot in slots {
                    self.set_id(request, *slot, to);
                }
            }
            Mend::Claim { result, id } => self.set_id(request, *result, id),
            Mend::CallTool { slot, name } => {
                let old = transcript.part(*slot).row().name;
                self.set(request, *slot, old, "name", quote(name));
            }
            Mend::Retype { slot, to } => {
                let old = transcript.part(*slot).row().name;
                self.set(request, *slot, old, "type", quote(to));
            }
            Mend::Rewrite { slot, json } => {
                let part = transcript.part(*slot);
                let entry = transcript.entry(transcript.entry_of(*slot));
                let key = request.format.dialect().payload_key(entry, &part);
                self.set(request, *slot, part.row().body, key, json.clone());
            }
            Mend::Replace(slot, json) => {
                let at = transcript.entry_of(*slot);
                self.rewrite(at, transcript.part(*slot).row().span, json.clone());
            }
            Mend::Label { result, name, id } => self.label(request, *result, name, id.as_deref()),
            Mend::Sign(call) => self.sign(request, *call),
            Mend::Join { into } => {
                self.joined.insert(finding.entry, *into);
            }
            Mend::Unmark(hole) | Mend::LeaveOut(hole) => {
                self.rewrite(finding.entry, *hole, String::new());
            }
            Mend::Overwrite { value, json } => self.rewrite(finding.entry, *value, json.clone()),
            Mend::AddMember { holder, member } => {
                self.add_member(request, finding.entry, *holder, member);
            }
            Mend::Shorten(ttl) => self.rewrite(finding.entry, *ttl, "\"5m\"".to_owned()),
            Mend::DefineTools => self.member = request.format.dialect().called_tools(transcript),
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

    fn rewrite(&mut self, at: usize, span: Span, json: String) {
        self.rewritten.entry(at).or_default().push((span, json));
    }

    /// Writes the signature that stands for none into a call, in the place of one that isn't a signature.
    fn sign(&mut self, request: &Request, call: Slot) {
        let at = request.transcript.entry_of(call);
        let part = request.transcript.part(call);
        let element = self.lists.element_span(request.transcript.entry(at), &part);
        let (source, seal) = (request.source(), quote(FOREIGN_CALL));
        let is_seal = |key: Span| {
            ["thoughtSignature", "thought_signature"]
                .iter()
                .any(|name| json::key_is(source, key, name))
        };
        let members = json::members(source, element).unwrap_or_default();
        let mut seals = members.into_iter().filter(|(key, _)| is_seal(*key)).peekable();
        if seals.peek().is_none() {
            self.add_member(request, at, element, &format!(r#""thoughtSignature":{seal}"#));
        }
        for (_, value) in seals {
            self.rewrite(at, value, seal.clone());
        }
    }

    /// Writes name and id into a result that lacks them.
    fn label(&mut self, request: &Request, result: Slot, name: &str, id: Option<&str>) {
        let part = request.transcript.part(result);
        let at = request.transcript.entry_of(result);
        let row = part.row();
        let mut missing = Vec::new();
        for (key, span, value) in [("id", row.id, id), ("name", row.name, Some(name))] {
            match value {
                Some(value) if !span.is_empty() => self.rewrite(at, span, quote(value)),
                Some(value) => missing.push(quote(key) + ":" + &quote(value)),
                None => {}
            }
        }
        for member in missing {
            self.add_member(request, at, row.span, &member);
        }
    }

    /// Puts a member first into the object at `holder`, which other repairs may change too.
    fn add_member(&mut self, request: &Request, at: usize, holder: Span, member: &str) {
        let start = holder.start + 1;
        let span = Span { start, end: start };
        let is_empty = json::members(request.source(), holder).is_ok_and(|all| all.is_empty());
        let member = match (is_empty, self.opened.insert(span)) {
            (true, true) => member.to_owned(),
            (true, false) => format!(",{member}"),
            (false, _) => format!("{member},"),
        };
        self.rewrite(at, span, member);
    }

    /// A message leaves with the last of its parts.
    fn empty(&mut self, request: &Request) {
        for (at, gone) in &self.gone {
            let entry = request.transcript.entry(*at);
            // A chat result is the whole message, whatever else is in it.
            let is_result = |slot: &Slot| request.transcript.part(*slot).kind() == PartKind::Result;
            let is_message = entry.role() == Role::Tool && gone.iter().any(is_result);
            let stays = |p: &Part<'_>| {
                !p.is(Marks::NESTED)
                    && p.kind() != PartKind::Link
                    && !self.all_gone.contains(&p.slot)
            };
            if is_message || !entry.parts().any(|p| stays(&p)) {
                self.dropped.insert(*at);
            }
        }
    }

    /// Replaces the value at `span`, or adds the member `key` where there is none.
    fn set_id(&mut self, request: &Request, slot: Slot, to: &str) {
        let part = request.transcript.part(slot);
        let key = request.format.dialect().id_key(part.kind());
        self.set(request, slot, part.row().id, key, quote(to));
    }

    fn set(&mut self, request: &Request, slot: Slot, span: Span, key: &str, json: String) {
        let transcript = &request.transcript;
        let at = transcript.entry_of(slot);
        if !span.is_empty() {
            return self.rewrite(at, span, json);
        }
        // A chat result's members are its message's.
        let (entry, dialect) = (transcript.entry(at), request.format.dialect());
        let holder = if dialect.has(Feature::FlatEntries) || entry.role() == Role::Tool {
            entry.span()
        } else {
            transcript.part(slot).row().span
        };
        let source = request.source();
        // A chat call's name is its function's, but for the older form, which is no element of a list.
        let is_name = dialect.has(Feature::CallHoldsFunction) && key == "name";
        let is_element = source[..holder.start as usize].trim_end().ends_with(['[', ',']);
        if is_name && is_element && transcript.part(slot).kind() == PartKind::Call {
            let named = format!(r#"{{"name":{json},"arguments":"{{}}"}}"#);
            return match json::member(source, holder, "function") {
                None => {
                    self.add_member(request, at, holder, &format!(r#""function":{named}"#));
                }
                Some(function) if function.of(source).starts_with('{') => {
                    self.set_member(request, at, function, key, json);
                }
                // What is no object has no members, so another takes its place.
                Some(odd) => self.rewrite(at, odd, named),
            };
        }
        self.set_member(request, at, holder, key, json);
    }

    fn set_member(&mut self, request: &Request, at: usize, holder: Span, key: &str, json: String) {
        // A null that counts as not there is replaced.
        match json::member(request.source(), holder, key) {
            Some(null) => self.rewrite(at, null, json),
            None => self.add_member(request, at, holder, &format!("{}:{json}", quote(key))),
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
        match result {
            MissingResult::Message(message) => {
                let results = self.results.get_or_init(|| Ends::of(transcript, answers_by_id));
                let behind = results.behind(from);
                self.inserted.entry(behind).or_default().push((message, was));
            }
            MissingResult::Block(block) => {
                let is_reply = |entry: Entry<'_>| entry.role() == Role::Assistant;
                let replies = self.replies.get_or_init(|| Ends::of(transcript, is_reply));
                let behind = replies.behind(from);
                if request.format.dialect().has(Feature::GatheredResults) {
                    return self.gathered.entry(behind).or_default().push(block);
                }
                let is_users = behind < transcript.len()
                    && transcript.entry(behind).role() == Role::User
                    && !self.dropped.contains(&behind);
                if is_users {
                    return self.prepended.entry(behind).or_default().push(block);
                }
                let message = format!(r#"{{"role":"user","content":[{block}]}}"#);
                self.inserted.entry(behind).or_default().push((message, None));
            }
        }
    }

    /// The mended text, and for each of its entries the entry it was.
    pub(super) fn apply(&self, request: &Request) -> (String, Vec<Option<usize>>) {
        let dialect = request.format.dialect();
        let mut out = Writer::new(request);
        let mut origins = Vec::new();
        let none = Vec::new();
        let edited = |at: usize| self.entry(dialect, request.transcript.entry(at));
        let mut runs: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let stays = |at: usize| !self.dropped.contains(&at);
        for (at, into) in self.joined.iter().filter(|(at, into)| stays(**at) && stays(**into)) {
            runs.entry(*into).or_insert_with(|| vec![*into]).push(*at);
        }
        for at in 0..=request.transcript.len() {
            for (message, was) in self.inserted.get(&at).unwrap_or(&none) {
                out.insert(message);
                origins.push(*was);
            }
            if let Some(blocks) = self.gathered.get(&at).filter(|_| !self.takes(request, at)) {
                out.insert(&dialect.user_blocks(&blocks.join(",")));
                origins.push(None);
            }
            let is_joined = self.joined.get(&at).is_some_and(|into| stays(*into));
            if at == request.transcript.len() || !stays(at) || is_joined {
                continue;
            }
            match runs.get(&at) {
                Some(run) => {
                    let texts: Vec<String> = run.iter().map(|at| edited(*at)).collect();
                    out.entry(at, &joined(&texts, dialect.terms().content));
                }
                None => out.entry(at, &edited(at)),
            }
            origins.push(Some(at));
        }
        let mut text = out.finish();
        if let (Some(member), Some(at)) = (&self.member, text.find('{')) {
            text.insert_str(at + 1, &format!("{member},"));
        }
        (text, origins)
    }

    /// Whether the entry holds results that stay, so that gathered ones belong behind them.
    fn takes(&self, request: &Request, at: usize) -> bool {
        at < request.transcript.len() && self.last_result(request.transcript.entry(at)).is_some()
    }

    fn last_result<'a>(&self, entry: Entry<'a>) -> Option<Part<'a>> {
        if self.dropped.contains(&entry.index) || entry.role() != Role::User {
            return None;
        }
        // A result of the provider's own tool is no place for results: for their rule it is other content.
        let stays = |p: &Part<'_>| {
            p.kind() == PartKind::Result && !p.is(Marks::SERVER) && !self.all_gone.contains(&p.slot)
        };
        entry.parts().rev().find(stays)
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
        if let Some(blocks) = self.gathered.get(&entry.index)
            && let Some(last) = self.last_result(entry)
        {
            let end = Lists::default().element_span(entry, &last).relative_to(origin).end;
            splices.replace(Span { start: end, end }, format!(",{}", blocks.join(",")));
        }
        splices.apply(entry.raw())
    }
}

/// Whether a chat message is a result of a call with an id; the older form's results have none.
fn answers_by_id(entry: Entry<'_>) -> bool {
    let mut results = entry.parts().filter(|part| part.kind() == PartKind::Result);
    entry.role() == Role::Tool && results.next().is_some_and(|part| !part.id().is_empty())
}
