//! What OpenAI Responses demand of items: outputs for calls, reasoning with what follows it, ids that are
//! the provider's own.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::breakpoints;
use super::head::{Group, Head};
use super::pairs::Pairs;
use memchr::memmem::Finder;
use serde_json::Value;

use crate::json::{self, Sought, Span, quote};
use crate::request::{Envelope, Keeper, Request};
use crate::transcript::{Entry, Marks, Part, PartKind, Role, Slot, Transcript};
use crate::wire::clean::Past;
use crate::wire::rules::{self, Finding, Mend, RuleId};
use crate::wire::untyped;

/// In characters (PROVIDERS.md B.2.2).
const LONGEST_ITEM_ID: usize = 64;
const LONGEST_NAME: usize = 128;
/// In tokens (PROVIDERS.md B.2.3).
const LEAST_THRESHOLD: u64 = 1_000;

pub(super) fn check(request: &Request, past: &Past) -> Vec<Finding> {
    let is_elsewhere = request.keeper().is_some() || request.value(&["prompt"]).is_some();
    let none = rules::nothing_said(request, rules::RESPONSES_NONE).filter(|_| !is_elsewhere);
    let findings = Vec::from_iter(none);
    let mut checks = Checks { request, past, findings, slim: OnceCell::new() };
    let items = request.transcript.len().saturating_sub(past.entries);
    let mut pairs = Pairs::behind(past, items / 2);
    // A table that grows is there twice meanwhile.
    let mut ids: HashSet<Cow<'_, str>> = HashSet::with_capacity(items / 2);
    for entry in past.rest(&request.transcript) {
        let head = Head::of(entry);
        pairs.item(entry, &head);
        checks.shape(entry, &head);
        checks.message(entry, &head);
        checks.payload(entry, &head);
        checks.ids(entry, &head, &mut ids);
        checks.stored(entry, &head);
    }
    checks.reasoning();
    checks.history();
    checks.threshold();
    let mut findings = checks.findings;
    findings.extend(pairs.end(request));
    findings.extend(breakpoints::check(request, past));
    findings
}

/// What the rules of entries ask the frame: who keeps what isn't here.
pub(super) fn asked_of_frame(request: &Request) -> String {
    let slim = request.slim();
    format!("{:?} {:?}", request.keeper(), member(request, &slim, "store"))
}

/// Notes where every call that must be answered is and no thought waits for what was made of it, ids and breakpoints.
pub(super) fn remember(transcript: &Transcript, past: &mut Past) {
    let mut waiting: HashSet<(Group, String)> = HashSet::new();
    let thinks = |entry: Entry<'_>| entry.parts().any(|p| p.kind() == PartKind::Reasoning);
    for at in past.entries..transcript.len() {
        if at > 0 && waiting.is_empty() && !thinks(transcript.entry(at - 1)) {
            past.seam(at);
        }
        let entry = transcript.entry(at);
        for part in entry.parts().filter(|part| !part.is(Marks::SERVER)) {
            match part.kind() {
                PartKind::Call => {
                    let head = Head::of(entry);
                    let Some(group) = head.group() else { continue };
                    past.calls.add(at, &part.id());
                    // Its output may come whenever it likes.
                    if !head.is_async() {
                        waiting.insert((group, part.id().into_owned()));
                    }
                }
                PartKind::Result => {
                    if let Some(group) = Head::of(entry).group().filter(|_| !waiting.is_empty()) {
                        waiting.remove(&(group, part.id().into_owned()));
                    }
                    // Its call may be at the provider.
                    past.calls.add(at, &part.id());
                }
                PartKind::Link => past.items.add(at, &part.text()),
                PartKind::Opaque if part.is(Marks::STATEFUL) && !part.row().id.is_empty() => {
                    past.reference.get_or_insert(at);
                    // It may be the output of any of them.
                    waiting.clear();
                }
                _ => {}
            }
        }
        if breakpoints::may_be_in(entry) {
            past.mark(at);
        }
    }
}

/// A member of a body, of which `slim` is what is short in it.
fn member<'a>(request: &Request, slim: &'a str, name: &str) -> Option<&'a str> {
    let start = slim.find('{').filter(|_| request.frame.envelope == Envelope::Body)?;
    json::member(slim, Span::new(start..slim.len()), name).map(|span| span.of(slim))
}

struct Checks<'a> {
    request: &'a Request,
    past: &'a Past,
    findings: Vec<Finding>,
    /// What is short in the body; asked for only where it matters.
    slim: OnceCell<String>,
}

impl Checks<'_> {
    fn find(&mut self, rule: RuleId, at: usize, slot: Option<Slot>, detail: &str, mend: Mend) {
        let detail = detail.to_owned();
        self.findings.push(Finding::of_entry(rule, at, slot, detail, mend));
    }

    fn shape(&mut self, entry: Entry<'_>, head: &Head<'_>) {
        let at = entry.index;
        // Plain words may stand for the list, but not in it.
        let is_words = self.request.frame.list == entry.span();
        let is_object = entry.raw().starts_with('{');
        if !(is_object || is_words) {
            self.find(rules::RESPONSES_SHAPE, at, None, "not an object", Mend::DropEntry);
        } else if is_object && head.is_reference() && !head.has_id() {
            self.find(rules::RESPONSES_SHAPE, at, None, "no known type", Mend::DropEntry);
        } else if head.kind() == "message" && entry.role() == Role::Other {
            self.find(rules::RESPONSES_SHAPE, at, None, "no known role", rules::stranger(entry));
        } else if head.kind() == "compaction_trigger" && at + 1 < self.request.transcript.len() {
            let detail = "a trigger that isn't the last item";
            self.find(rules::RESPONSES_TRIGGER, at, None, detail, Mend::DropEntry);
        } else if head.kind() == "reasoning" && matches!(head.summary(), "" | "null") {
            let mend = no_summary(entry);
            self.find(rules::RESPONSES_MISSING, at, None, "no summary", mend);
        }
    }

    /// Content of the right kind for its side.
    fn message(&mut self, entry: Entry<'_>, head: &Head<'_>) {
        let is_message = head.kind() == "message" && entry.role() != Role::Other;
        let is_models = entry.role() == Role::Assistant;
        let text = if is_models { "output_text" } else { "input_text" };
        if is_message && !head.content().starts_with(['"', '[']) && entry.raw().starts_with('{') {
            let meant = untyped::content(head.content(), text, |_| true);
            let raw = entry.raw();
            let content = json::member(raw, Span::new(0..raw.len()), "content").zip(meant);
            let mend = content.map_or(Mend::DropEntry, |(value, json)| Mend::Overwrite {
                value: value.shifted_by(entry.span().start),
                json,
            });
            return self.find(rules::RESPONSES_EMPTY, entry.index, None, "no content", mend);
        }
        let holds_blocks =
            matches!(head.kind(), "message" | "function_call_output" | "custom_tool_call_output");
        let is_typed = |part: &Part<'_>| part.row().name.of(self.request.source()).starts_with('"');
        let is_odd = |part: &Part<'_>| part.kind() == PartKind::Opaque && !is_typed(part);
        for part in entry.parts().filter(|part| holds_blocks && is_odd(part)) {
            let mend = rules::replaced(part.slot, untyped::block(part.raw(), text));
            let rule = rules::RESPONSES_CONTENT;
            self.find(rule, entry.index, Some(part.slot), part.raw(), mend);
        }
        for part in entry.parts().filter(|part| part.kind() == PartKind::Text) {
            let kind = part.name();
            let to = match kind.as_ref() {
                "text" | "input_text" if is_models && is_message => "output_text",
                "text" | "output_text" if !is_models => "input_text",
                _ => continue,
            };
            // What a model says has members that no person's words have.
            let has = |name| json::member(self.request.source(), part.row().span, name).is_some();
            let is_bare = !has("annotations") && !has("logprobs");
            let mend = if is_models || is_bare {
                Mend::Retype { slot: part.slot, to: to.to_owned() }
            } else {
                let text = part.raw_body();
                Mend::Replace(part.slot, format!(r#"{{"type":"{to}","text":{text}}}"#))
            };
            self.find(rules::RESPONSES_CONTENT, entry.index, Some(part.slot), &kind, mend);
        }
    }

    /// Arguments are strings, outputs are strings or lists; tools have names that are allowed.
    fn payload(&mut self, entry: Entry<'_>, head: &Head<'_>) {
        let kind = head.kind();
        for part in entry.parts().filter(|part| !part.is(Marks::NESTED)) {
            let (rule, json) = match (kind, part.kind()) {
                ("function_call" | "custom_tool_call", PartKind::Call) => {
                    self.name(entry, head, &part);
                    (rules::RESPONSES_ARGUMENTS, arguments(&part, kind))
                }
                (_, PartKind::Result) => (rules::RESPONSES_OUTPUT, output(&part, kind)),
                _ => continue,
            };
            if let Some(json) = json {
                let mend = Mend::Rewrite { slot: part.slot, json };
                self.find(rule, entry.index, Some(part.slot), &part.id(), mend);
            }
        }
    }

    fn name(&mut self, entry: Entry<'_>, head: &Head<'_>, call: &Part<'_>) {
        let raw = call.row().name.of(self.request.source());
        // Without one, the item's type stands for it.
        let name = if head.name() == raw { call.name() } else { "".into() };
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_short = (1..=LONGEST_NAME).contains(&name.chars().count());
        if is_short && name.chars().all(is_allowed) {
            return;
        }
        let clean = |c: char| if is_allowed(c) { c } else { '_' };
        let clean: String = name.chars().map(clean).take(LONGEST_NAME).collect();
        let clean = if clean.is_empty() { "unknown".to_owned() } else { clean };
        let mend = Mend::CallTool { slot: call.slot, name: clean };
        self.find(rules::RESPONSES_NAME, entry.index, Some(call.slot), "", mend);
    }

    /// Ids are as the provider makes them, each of them there once.
    fn ids<'t>(&mut self, entry: Entry<'t>, head: &Head<'_>, ids: &mut HashSet<Cow<'t, str>>) {
        let Some(link) = entry.parts().find(|part| part.kind() == PartKind::Link) else { return };
        let (at, slot, id) = (entry.index, link.slot, link.text());
        let prefix = match head.kind() {
            "message" => "msg",
            "function_call" => "fc",
            "reasoning" => "rs",
            _ => "",
        };
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_well_made = id.starts_with(prefix)
            && (1..=LONGEST_ITEM_ID).contains(&id.chars().count())
            && id.chars().all(is_allowed);
        if !is_well_made && !link.is(Marks::FIXED) {
            let mend = Mend::DropPart(slot);
            return self.find(rules::RESPONSES_ITEM_ID, at, Some(slot), &id, mend);
        }
        if self.past.items.has(&id) || !ids.insert(id.clone()) {
            // A repeated thought or reference adds nothing; other repeated items do.
            let is_repeated = entry.role() == Role::Other || head.kind() == "reasoning";
            let mend = if is_repeated || link.is(Marks::FIXED) {
                Mend::DropEntry
            } else {
                Mend::DropPart(slot)
            };
            self.find(rules::RESPONSES_DUPLICATE_ITEM, at, Some(slot), &id, mend);
        }
    }

    /// What isn't stored can't be looked up by its id.
    fn stored(&mut self, entry: Entry<'_>, head: &Head<'_>) {
        let is_bare = match head.kind() {
            "item_reference" => head.has_id(),
            "reasoning" => {
                let in_clear = head.content().len() > 2 && head.content() != "null";
                let sealed = entry.parts().any(|part| part.is(Marks::SIGNED));
                head.has_id() && !sealed && !in_clear
            }
            _ => false,
        };
        if !is_bare || self.member("store") != Some("false") {
            return;
        }
        let is_reference = head.is_reference();
        let mend = if is_reference { Mend::Nothing } else { Mend::DropEntry };
        let detail = "only an id, and nothing is stored";
        self.find(rules::RESPONSES_STORED, entry.index, None, detail, mend);
    }

    /// A thought that is sent with its id is followed by what the model made of it.
    fn reasoning(&mut self) {
        // The rest may be where the history is.
        if self.request.keeper().is_some() {
            return;
        }
        let mut is_followed = false;
        for entry in self.past.rest(&self.request.transcript).rev() {
            let is_reasoning = entry.parts().any(|part| part.kind() == PartKind::Reasoning);
            if !is_reasoning {
                is_followed = match entry.role() {
                    Role::Assistant => true,
                    Role::Other => Head::of(entry).is_told(),
                    _ => false,
                };
                continue;
            }
            let has_id = entry.parts().any(|part| part.kind() == PartKind::Link);
            if has_id && !is_followed {
                let detail = "nothing of the model's follows";
                let mend = Mend::DropEntry;
                self.find(rules::RESPONSES_REASONING, entry.index, None, detail, mend);
            }
        }
    }

    /// History is in one place only.
    fn history(&mut self) {
        let Some(keeper) = self.request.keeper() else { return };
        let other = match keeper {
            Keeper::PreviousResponse => "conversation",
            _ => "previous_response_id",
        };
        if self.member(other).is_some_and(|value| value != "null") {
            let detail = "previous_response_id and conversation";
            self.findings.push(Finding::of_member(rules::RESPONSES_HISTORY, other, detail));
        }
    }

    /// The provider's own compaction doesn't begin too soon.
    fn threshold(&mut self) {
        static KEY: Sought = LazyLock::new(|| Finder::new("compact_threshold"));
        let slim = self.slim();
        if !json::may_mention(slim, &KEY) {
            return;
        }
        let body: Value = serde_json::from_str(slim).unwrap_or_default();
        let edits = body["context_management"].as_array();
        for (at, edit) in edits.into_iter().flatten().enumerate() {
            let tokens = edit["compact_threshold"].as_u64();
            if let Some(tokens) = tokens.filter(|tokens| *tokens < LEAST_THRESHOLD) {
                let member = format!("context_management[{at}].compact_threshold");
                let (rule, detail) = (rules::RESPONSES_THRESHOLD, format!("{tokens} tokens"));
                self.findings.push(Finding::of_member(rule, &member, detail));
            }
        }
    }

    /// A member of the body.
    fn member(&self, name: &str) -> Option<&str> {
        member(self.request, self.slim(), name)
    }

    fn slim(&self) -> &str {
        self.slim.get_or_init(|| self.request.slim())
    }
}

/// Gives a thought a summary that says nothing.
fn no_summary(entry: Entry<'_>) -> Mend {
    let raw = entry.raw();
    match json::member(raw, Span::new(0..raw.len()), "summary") {
        Some(null) => {
            let value = null.shifted_by(entry.span().start);
            Mend::Overwrite { value, json: "[]".to_owned() }
        }
        None => Mend::AddMember { holder: entry.span(), member: r#""summary":[]"#.to_owned() },
    }
}

/// Arguments that aren't a string, as one.
fn arguments(call: &Part<'_>, kind: &str) -> Option<String> {
    match call.raw_body() {
        "" if kind == "function_call" => Some(quote("{}")),
        "" => Some(quote("")),
        _ if call.is(Marks::LITERAL) => None,
        body => Some(quote(body)),
    }
}

/// An output that is neither a string nor a list, or not what its type has, as one.
fn output(result: &Part<'_>, kind: &str) -> Option<String> {
    let body = result.raw_body();
    let may_be_list = matches!(kind, "function_call_output" | "custom_tool_call_output");
    match (kind, body) {
        ("function_call_output" | "custom_tool_call_output" | "local_shell_call_output", "") => {
            Some(quote(""))
        }
        ("shell_call_output", body) if !body.starts_with('[') => {
            Some(super::shell_output(&result.text(), super::UNKNOWN_OUTCOME))
        }
        (
            "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "apply_patch_call_output",
            body,
        ) => {
            let is_right =
                body.is_empty() || body.starts_with('"') || may_be_list && body.starts_with('[');
            let is_block = |kind: &str| matches!(kind, "input_text" | "input_image" | "input_file");
            let meant = || untyped::content(body, "input_text", is_block).filter(|_| may_be_list);
            (!is_right).then(|| meant().unwrap_or_else(|| quote(body)))
        }
        _ => None,
    }
}
