//! The provider's own tools: what each result is called, what it is made of (SDK types of anthropic 2.14), and whose it is.

use std::collections::{HashMap, HashSet};

use super::shapes::{DOCUMENT, MARKER, REFERENCE, TEXTS};
use crate::json;
use crate::request::Request;
use crate::transcript::{Marks, Part, PartKind, Role, Slot};
use crate::wire::rules::{self, Finding, Mend};
use crate::wire::shape::{Object, Others, Shape, Typed};

/// A kind of results, and the tools that give it.
struct Served {
    /// The names of a `server_tool_use`, as words; empty for the tools of the Model Context Protocol.
    names: &'static str,
    result: &'static str,
    object: Object,
}

static SERVED: [Served; 8] = [
    Served::of(
        "web_search",
        "web_search_tool_result",
        &[("content", Shape::ListOr(&Shape::Typed(&HITS), &Shape::Typed(&NO_HITS))), MARKER],
    ),
    Served::of(
        "web_fetch",
        "web_fetch_tool_result",
        &[("content", Shape::Typed(&FETCHED)), MARKER],
    ),
    Served::of(
        "code_execution",
        "code_execution_tool_result",
        &[("content", Shape::Typed(&EXECUTED)), MARKER],
    ),
    Served::of(
        "bash_code_execution",
        "bash_code_execution_tool_result",
        &[("content", Shape::Typed(&RUN)), MARKER],
    ),
    Served::of(
        "text_editor_code_execution",
        "text_editor_code_execution_tool_result",
        &[("content", Shape::Typed(&EDITED)), MARKER],
    ),
    Served::of(
        "tool_search_tool_regex tool_search_tool_bm25",
        "tool_search_tool_result",
        &[("content", Shape::Typed(&TOOLS_FOUND)), MARKER],
    ),
    Served::of("advisor", "advisor_tool_result", &[("content", Shape::Typed(&ADVICE)), MARKER]),
    Served {
        names: "",
        result: "mcp_tool_result",
        object: Object::of("type tool_use_id")
            .with(&[
                ("content", Shape::List(&Shape::Typed(&TEXTS))),
                ("is_error", Shape::Flag),
                MARKER,
            ])
            .needing("tool_use_id"),
    },
];

impl Served {
    const fn of(
        names: &'static str,
        result: &'static str,
        shaped: &'static [(&'static str, Shape)],
    ) -> Self {
        let object =
            Object::of("type tool_use_id caller").with(shaped).needing("tool_use_id content");
        Served { names, result, object }
    }
}

/// What a result of this type is made of.
pub(super) fn result(kind: &str) -> Option<&'static Object> {
    SERVED.iter().find(|served| served.result == kind).map(|served| &served.object)
}

/// Whether the provider has a tool of this name.
pub(super) fn is_name(name: &str) -> bool {
    result_of(name).is_some()
}

/// The type of the results of the tool with this name.
fn result_of(name: &str) -> Option<&'static str> {
    let gives = |served: &&Served| served.names.split_whitespace().any(|known| known == name);
    SERVED.iter().find(gives).map(|served| served.result)
}

/// Objects of these types and no others.
const fn one_of(of: fn(&str) -> Option<&'static Object>) -> Typed {
    Typed { of, untyped: None, others: Others::Refused }
}

const ERROR: Object = Object::of("type error_code error_message").needing("error_code");

const HITS: Typed = one_of(|kind| (kind == "web_search_result").then_some(&HIT));
const HIT: Object =
    Object::of("type url title encrypted_content page_age").needing("url title encrypted_content");
const NO_HITS: Typed = one_of(|kind| (kind == "web_search_tool_result_error").then_some(&ERROR));

const FETCHED: Typed = one_of(|kind| match kind {
    "web_fetch_result" => Some(&PAGE),
    "web_fetch_tool_result_error" => Some(&ERROR),
    _ => None,
});
const PAGE: Object = Object::of("type url retrieved_at")
    .with(&[("content", Shape::Typed(&DOCUMENTS))])
    .needing("url content");
const DOCUMENTS: Typed = one_of(|kind| (kind == "document").then_some(&DOCUMENT));

const EXECUTED: Typed = one_of(|kind| match kind {
    "code_execution_result" => Some(&OUTPUT),
    "encrypted_code_execution_result" => Some(&SECRET_OUTPUT),
    "code_execution_tool_result_error" => Some(&ERROR),
    _ => None,
});
const OUTPUT: Object = Object::of("type content return_code stderr stdout")
    .needing("content return_code stderr stdout");
const SECRET_OUTPUT: Object = Object::of("type content return_code stderr encrypted_stdout")
    .needing("content return_code stderr encrypted_stdout");

const RUN: Typed = one_of(|kind| match kind {
    "bash_code_execution_result" => Some(&OUTPUT),
    "bash_code_execution_tool_result_error" => Some(&ERROR),
    _ => None,
});

const EDITED: Typed = one_of(|kind| match kind {
    "text_editor_code_execution_view_result" => Some(&VIEW),
    "text_editor_code_execution_create_result" => Some(&CREATED),
    "text_editor_code_execution_str_replace_result" => Some(&REPLACED),
    "text_editor_code_execution_tool_result_error" => Some(&ERROR),
    _ => None,
});
const VIEW: Object = Object::of("type content file_type num_lines start_line total_lines")
    .needing("content file_type");
const CREATED: Object = Object::of("type is_file_update").needing("is_file_update");
const REPLACED: Object = Object::of("type lines new_lines new_start old_lines old_start");

const TOOLS_FOUND: Typed = one_of(|kind| match kind {
    "tool_search_tool_search_result" => Some(&FOUND),
    "tool_search_tool_result_error" => Some(&ERROR),
    _ => None,
});
const FOUND: Object = Object::of("type")
    .with(&[("tool_references", Shape::List(&Shape::Typed(&REFERENCES)))])
    .needing("tool_references");
const REFERENCES: Typed = one_of(|kind| (kind == "tool_reference").then_some(&REFERENCE));

const ADVICE: Typed = one_of(|kind| match kind {
    "advisor_result" => Some(&ADVISED),
    "advisor_redacted_result" => Some(&REDACTED_ADVICE),
    "advisor_tool_result_error" => Some(&ERROR),
    _ => None,
});
const ADVISED: Object = Object::of("type text stop_reason").needing("text");
const REDACTED_ADVICE: Object =
    Object::of("type encrypted_content stop_reason").needing("encrypted_content");

/// What a tool was asked.
struct Asked {
    entry: usize,
    slot: Slot,
    /// What its result must be, where the tool is known.
    result: Option<&'static str>,
    is_answered: bool,
}

/// What the provider's own tools were asked has an id of its own, and one result, of the tool's kind, before a person speaks
/// again.
///
/// Messages of one role that follow each other are one. A result may also stand behind those of the tools that a program called.
pub(super) fn check(request: &Request) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut asked: HashMap<String, Asked> = HashMap::new();
    let mut open: HashSet<String> = HashSet::new();
    for entry in request.transcript.entries() {
        let at = entry.index;
        for part in entry.parts().filter(|part| part.is(Marks::SERVER)) {
            let (id, kind) = (part.id().into_owned(), kind(&part));
            match (part.kind(), asked.get_mut(&id)) {
                (PartKind::Call, earlier) => {
                    if earlier.is_some() {
                        let rule = rules::ANTHROPIC_REUSED_SERVED_ID;
                        findings.push(Finding::of_part(rule, at, part.slot, &id));
                    }
                    let result = match kind.as_str() {
                        "mcp_tool_use" => Some("mcp_tool_result"),
                        _ => result_of(&part.name()),
                    };
                    open.insert(id.clone());
                    let call = Asked { entry: at, slot: part.slot, result, is_answered: false };
                    asked.insert(id, call);
                }
                (PartKind::Result, Some(call)) => {
                    let rule = rules::ANTHROPIC_SERVED_PAIR;
                    if call.is_answered {
                        let (detail, mend) = ("a second result", Mend::DropPart(part.slot));
                        let detail = format!("{id}: {detail}");
                        findings.push(Finding::of_entry(rule, at, Some(part.slot), detail, mend));
                    } else if let Some(right) = call.result.filter(|right| *right != kind) {
                        let detail = format!("{id}: {kind}, not {right}");
                        findings.push(Finding::of_part(rule, at, part.slot, detail));
                    }
                    call.is_answered = true;
                    open.remove(&id);
                }
                _ => {}
            }
        }
        let speaks = |part: Part<'_>| part.kind() == PartKind::Text && !part.is(Marks::NESTED);
        // A program goes on when the tools that it called were answered; a pause, when the reply is sent back.
        if entry.role() == Role::User && !entry.has_results() && entry.parts().any(speaks) {
            for id in open.drain() {
                let Asked { entry, slot, .. } = asked[&id];
                let rule = rules::ANTHROPIC_UNSERVED;
                findings.push(Finding::of_part(rule, entry, slot, &id));
            }
        }
    }
    findings.sort_by_key(|finding| finding.slot);
    findings
}

fn kind(part: &Part<'_>) -> String {
    json::text_member(part.raw(), "type").unwrap_or_default()
}
