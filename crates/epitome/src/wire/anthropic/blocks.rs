//! What blocks are made of: the members and values that the official SDK's types have (PROVIDERS.md B.1.2).

use std::collections::HashSet;

use crate::json::{self, Span, quote, unquote};
use crate::request::Request;
use crate::text::cut;
use crate::text::data_url::{DataUrl, image_type};
use crate::transcript::{Marks, Part, PartKind, Role};
use crate::wire::clean::Past;
use crate::wire::rules::{self, Finding, Mend, RuleId};
use crate::wire::{members, tool_names, untyped};
use crate::word_list::words;

/// Members of a message.
const MESSAGE: &[&str] = &["role", "content", "output_config", "clear_at"];

/// Members of a block; `None` for a type that isn't known here.
fn known(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "text" => &["type", "text", "cache_control", "citations"],
        "image" => &["type", "source", "cache_control", "transformations"],
        "document" => &["type", "source", "cache_control", "citations", "context", "title"],
        "search_result" => &["type", "source", "title", "content", "cache_control", "citations"],
        "thinking" => &["type", "thinking", "signature"],
        "redacted_thinking" => &["type", "data"],
        "tool_use" => &["type", "id", "name", "input", "cache_control", "caller", "toolset_name"],
        "tool_result" => {
            &["type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"]
        }
        "server_tool_use" => &["type", "id", "name", "input", "cache_control", "caller"],
        "mcp_tool_use" => &["type", "id", "name", "input", "server_name", "cache_control"],
        "mcp_tool_result" => &["type", "tool_use_id", "content", "is_error", "cache_control"],
        kind if kind.ends_with("_tool_result") => {
            &["type", "tool_use_id", "content", "cache_control", "caller"]
        }
        "compaction" => {
            &["type", "content", "encrypted_content", "signature", "tool_changes", "cache_control"]
        }
        "container_upload" => &["type", "file_id", "cache_control"],
        "tool_reference" => &["type", "tool_name", "cache_control"],
        _ => return None,
    })
}

/// Types of blocks that are another format's, so that no version of this one has them.
const FOREIGN: &[&str] = &words!(
    "image_url input_text output_text input_image input_file input_audio refusal reasoning \
     function_call function_call_output resource resource_link audio file video_url tool-call \
     tool-result"
);

const IMAGES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// What the frame says that blocks are judged by.
pub(super) fn demands_signatures(request: &Request) -> bool {
    request.reader().is_some_and(|model| model.contains("claude"))
}

pub(super) fn check(request: &Request, past: &Past) -> Vec<Finding> {
    let (source, transcript) = (request.source(), &request.transcript);
    let demands_signatures = demands_signatures(request);
    let mut findings = Vec::new();
    let mut served: HashSet<String> = HashSet::new();
    for entry in past.rest(transcript) {
        if entry.role() == Role::Other {
            continue;
        }
        members::of_entry(source, entry, MESSAGE, rules::ANTHROPIC_MEMBER, &mut findings);
        let mut result: Option<Part<'_>> = None;
        for part in entry.parts().filter(|part| part.raw().starts_with('{')) {
            let kind = kind(&part);
            let mut find = |rule, detail: &str, mend| {
                let detail = detail.to_owned();
                let slot = Some(part.slot);
                findings.push(Finding::of_entry(rule, entry.index, slot, detail, mend));
            };
            if !part.is(Marks::NESTED) {
                result = Some(part);
            }
            let in_error = part.is(Marks::NESTED)
                && result.is_some_and(|result| result.is(Marks::ERROR))
                && part.kind() != PartKind::Text;
            match part.kind() {
                PartKind::Opaque if FOREIGN.contains(&kind.as_str()) => {
                    find(
                        rules::ANTHROPIC_BLOCK,
                        &kind,
                        Mend::Replace(part.slot, own(&part, &kind)),
                    );
                    continue;
                }
                _ if in_error => {
                    let note = note(&part.name(), "results of failed calls hold texts only");
                    find(rules::ANTHROPIC_ERROR_MEDIA, &kind, Mend::Replace(part.slot, note));
                    continue;
                }
                PartKind::Media => {
                    if let Some((rule, mend)) = medium(source, &part, &kind) {
                        find(rule, &part.name(), mend);
                    }
                }
                PartKind::Reasoning if demands_signatures && part.is_unsigned_reasoning() => {
                    let mend = Mend::DropPart(part.slot);
                    let detail = match kind.as_str() {
                        "redacted_thinking" => "redacted thinking without data",
                        _ => "thinking without a signature",
                    };
                    find(rules::ANTHROPIC_SIGNATURE, detail, mend);
                }
                PartKind::Result if !part.is(Marks::SERVER) && says_no_error(&part) => {
                    let json = quote(rules::EMPTY_RESULT);
                    let mend = Mend::Rewrite { slot: part.slot, json };
                    find(rules::ANTHROPIC_EMPTY_ERROR, &part.id(), mend);
                }
                PartKind::Result if !part.is(Marks::SERVER) => {
                    if let Some(json) = right_content(part.raw_body()) {
                        let mend = Mend::Rewrite { slot: part.slot, json };
                        find(rules::ANTHROPIC_RESULT_CONTENT, part.raw_body(), mend);
                    }
                }
                PartKind::Call if part.is(Marks::SERVER) => {
                    served.insert(part.id().into_owned());
                }
                PartKind::Result if part.is(Marks::SERVER) => {
                    let id = part.id();
                    let is_known = served.contains(id.as_ref()) || past.calls.has(&id);
                    if !is_known && request.keeper().is_none() {
                        find(rules::ANTHROPIC_SERVED, &id, Mend::DropPart(part.slot));
                    }
                }
                _ => {}
            }
            if let Some(known) = known(&kind) {
                let rule = rules::ANTHROPIC_MEMBER;
                members::of_part(source, entry, &part, known, rule, &mut findings);
            }
        }
    }
    findings
}

/// Whether a result is an error of which nothing is said.
fn says_no_error(result: &Part<'_>) -> bool {
    result.is(Marks::ERROR) && matches!(result.raw_body(), "" | "null" | "\"\"" | "[]")
}

/// Content of a result that is neither words nor a list, made valid: a single block becomes a list, another value its JSON
/// as words.
fn right_content(said: &str) -> Option<String> {
    if matches!(said, "" | "null") || said.starts_with(['"', '[']) {
        return None;
    }
    let is_block = |kind: &str| matches!(kind, "text" | "image" | "document" | "search_result");
    untyped::content(said, "text", is_block).or_else(|| Some(quote(said)))
}

/// The block's type, as it says it.
fn kind(part: &Part<'_>) -> String {
    match part.kind() {
        PartKind::Text => "text".to_owned(),
        PartKind::Call if !part.is(Marks::SERVER) => "tool_use".to_owned(),
        PartKind::Result if !part.is(Marks::SERVER) => "tool_result".to_owned(),
        PartKind::Opaque => part.name().into_owned(),
        _ => json::text_member(part.raw(), "type").unwrap_or_default(),
    }
}

/// As much of a file in base64 as tells its type.
fn beginning_of(part: &Part<'_>) -> String {
    let raw = cut::head(part.raw_body(), 64);
    unquote(&format!("{}\"", raw.trim_end_matches(['"', '\\']))).into_owned()
}

/// What is wrong with the data of a medium.
fn medium(source: &str, part: &Part<'_>, kind: &str) -> Option<(RuleId, Mend)> {
    let holder = json::member(source, part.row().span, "source")?;
    let how = json::text_member(holder.of(source), "type").unwrap_or_default();
    let said = part.name();
    let media = rules::ANTHROPIC_MEDIA;
    match how.as_str() {
        "base64" if kind == "image" && !IMAGES.contains(&said.as_ref()) => {
            let right = match said.to_ascii_lowercase().as_str() {
                "image/jpg" => Some("image/jpeg"),
                other => IMAGES.into_iter().find(|image| *image == other),
            };
            let mend = match right {
                Some(right) => Mend::Retype { slot: part.slot, to: right.to_owned() },
                None => Mend::Replace(part.slot, note(&said, "no type that images may have")),
            };
            Some((media, mend))
        }
        "base64"
            if kind == "image" && image_type(&beginning_of(part)).is_some_and(|it| it != said) =>
        {
            let right = image_type(&beginning_of(part))?;
            Some((media, Mend::Retype { slot: part.slot, to: right.to_owned() }))
        }
        "base64" if kind == "document" && said != "application/pdf" => {
            Some((media, Mend::Replace(part.slot, note(&said, "no type that documents may have"))))
        }
        "base64" if part.raw_body().starts_with("\"data:") => {
            let data = part.text();
            let (_, data) = data.split_once(',')?;
            Some((media, Mend::Rewrite { slot: part.slot, json: quote(data) }))
        }
        _ => None,
    }
}

/// Another format's block as one of this, where it is a text or an image; else a note.
fn own(part: &Part<'_>, kind: &str) -> String {
    let raw = part.raw();
    let whole = Span::new(0..raw.len());
    let inner = |name: &str| json::member(raw, whole, name).map(|value| value.of(raw));
    let resource = inner("resource").filter(|resource| resource.starts_with('{'));
    let text =
        |holder: &str| json::text_member(holder, "text").filter(|text| !text.trim().is_empty());
    if let Some(text) = text(raw).or_else(|| resource.and_then(text)) {
        return block(&text);
    }
    let url = match inner("image_url") {
        Some(holder) if holder.starts_with('{') => json::text_member(holder, "url"),
        Some(_) => json::text_member(raw, "image_url"),
        None => None,
    };
    url.and_then(|url| image(&url)).unwrap_or_else(|| note(kind, "no block of this format"))
}

fn image(url: &str) -> Option<String> {
    let Some(DataUrl { kind: said, data }) = DataUrl::read(url) else {
        let source = format!(r#"{{"type":"url","url":{}}}"#, quote(url));
        return url
            .starts_with("https://")
            .then(|| format!(r#"{{"type":"image","source":{source}}}"#));
    };
    IMAGES.contains(&said).then(|| {
        let source =
            format!(r#"{{"type":"base64","media_type":{},"data":{}}}"#, quote(said), quote(data));
        format!(r#"{{"type":"image","source":{source}}}"#)
    })
}

fn note(what: &str, why: &str) -> String {
    block(&format!("[{what} left out: {why}]"))
}

fn block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quote(text))
}

/// Names of tools that are there twice, and blocks of the system prompt that say nothing.
pub(super) fn frame(request: &Request) -> Vec<Finding> {
    let source = request.source();
    let mut findings = tool_names::repeated(request, &["tools", ""], rules::ANTHROPIC_TOOL_NAMES);
    let system = request.frame.system;
    let is_list = system.of(source).starts_with('[');
    let blocks = is_list.then(|| json::elements(source, system)).and_then(Result::ok);
    for (at, block) in blocks.into_iter().flatten().enumerate() {
        if !block.of(source).starts_with('{') {
            continue;
        }
        let text = json::text_member(block.of(source), "text");
        if text.is_some_and(|text| text.trim().is_empty()) {
            let (rule, member) = (rules::ANTHROPIC_SYSTEM_TEXT, format!("system[{at}].text"));
            findings.push(Finding::of_member(rule, &member, "a block without words"));
        }
    }
    findings
}
