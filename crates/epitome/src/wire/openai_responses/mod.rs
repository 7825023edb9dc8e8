//! OpenAI Responses (PROVIDERS.md B.2).
//!
//! Items are flat: a message, a thought, a call and its output are entries of their own, paired by `call_id`. Most also
//! have an id, by which the provider ties its own items together: if it may be left out it is a part of its own
//! (`PartKind::Link`).

mod breakpoints;
mod content;
mod conversion;
mod head;
mod inspected;
mod item;
mod pairs;
mod rules;
mod shapes;
mod terms;

use head::Head;
pub(super) use shapes::{DETAILS, IMAGES};

use super::clean::Past;
use super::shape::Shapes;
use super::{Dialect, Finding, MissingResult};
use crate::json::{self, JsonError, Scanner, Span, quote};
use crate::request::Request;
use crate::transcript::{Entry, Part, PartKind, PartRow, Role, Transcript};

pub(super) struct OpenaiResponses;

impl Dialect for OpenaiResponses {
    fn entry_keys(&self) -> &'static [&'static str] {
        // A reference may be nothing but an id.
        &["type", "role", "id"]
    }

    fn is_of_entry(&self, key: &str, value: &str) -> bool {
        key == "type" && value == "custom_tool_call"
    }

    fn read_entry(
        &self,
        scanner: &mut Scanner<'_>,
        parts: &mut Vec<PartRow>,
    ) -> Result<Role, JsonError> {
        item::read(scanner, parts)
    }

    fn forces_call(&self, request: &Request) -> bool {
        request.says_other(&["tool_choice"], &["auto", "none"])
    }

    fn demands_form(&self, request: &Request) -> bool {
        request.says_other(&["text", "format", "type"], &["text"])
    }

    fn id_key(&self, _kind: PartKind) -> &'static str {
        "call_id"
    }

    fn result_words(&self, result: &Part<'_>, text: &str) -> String {
        // A shell's output is a list of what it wrote, with what came of it.
        let body = result.raw_body();
        let pieces = json::elements(body, Span::new(0..body.len())).unwrap_or_default();
        let outcome = pieces.last().and_then(|piece| json::member(body, *piece, "outcome"));
        match outcome {
            Some(outcome) => shell_output(text, outcome.of(body)),
            None => quote(text),
        }
    }

    fn missing_result(&self, id: &str, _name: &str) -> MissingResult {
        MissingResult::Message(missing_output("function_call", id))
    }

    fn missing_answer(&self, entry: Entry<'_>, call: &Part<'_>) -> MissingResult {
        let head = Head::of(entry);
        MissingResult::Message(missing_output(head.kind(), &call.id()))
    }

    fn payload_key(&self, entry: Entry<'_>, part: &Part<'_>) -> &'static str {
        match part.kind() {
            PartKind::Call if Head::of(entry).kind() == "custom_tool_call" => "input",
            PartKind::Call => "arguments",
            _ => "output",
        }
    }

    fn check(&self, request: &Request, past: &Past) -> Vec<Finding> {
        rules::check(request, past)
    }

    fn shapes(&self, request: &Request) -> Option<&'static Shapes> {
        inspected::is_openais(request).then_some(&shapes::SHAPES)
    }

    fn inspect(&self, request: &Request) -> Vec<Finding> {
        inspected::check(request)
    }

    fn asked_of_frame(&self, request: &Request) -> String {
        rules::asked_of_frame(request)
    }

    fn remember(&self, transcript: &Transcript, past: &mut Past) {
        rules::remember(transcript, past);
    }
}

/// How a shell's call ended whose outcome nobody knows: in no time that was given to it.
const UNKNOWN_OUTCOME: &str = r#"{"type":"timeout"}"#;

/// A shell's output that says `text`.
fn shell_output(text: &str, outcome: &str) -> String {
    format!(r#"[{{"stdout":{},"stderr":"","outcome":{outcome}}}]"#, quote(text))
}

/// An output that says that a call of this type was never answered.
fn missing_output(kind: &str, id: &str) -> String {
    let (id, output) = (quote(id), quote(super::rules::NO_RESULT));
    let of = |kind: &str, rest: &str| format!(r#"{{"type":"{kind}","call_id":{id},{rest}}}"#);
    match kind {
        "custom_tool_call" => of("custom_tool_call_output", &format!(r#""output":{output}"#)),
        "local_shell_call" => of("local_shell_call_output", &format!(r#""output":{output}"#)),
        "shell_call" => {
            let output = shell_output(super::rules::NO_RESULT, UNKNOWN_OUTCOME);
            of("shell_call_output", &format!(r#""output":{output}"#))
        }
        "apply_patch_call" => {
            of("apply_patch_call_output", &format!(r#""status":"failed","output":{output}"#))
        }
        "tool_search_call" => {
            of("tool_search_output", r#""execution":"client","status":"completed","tools":[]"#)
        }
        _ => of("function_call_output", &format!(r#""output":{output}"#)),
    }
}
