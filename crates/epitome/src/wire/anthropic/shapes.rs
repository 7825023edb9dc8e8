//! What a body is made of (SDK types of anthropic 2.14).

use super::served;
use crate::wire::rules;
use crate::wire::shape::{
    Names, Object, Others, Shape, Shapes, Typed, is_any, is_tool_name, says_something,
};

pub(super) const SHAPES: Shapes = Shapes {
    entry: Shape::Object(&MESSAGE),
    body: Shape::Object(&BODY),
    names: Names::Exact,
    kind: rules::ANTHROPIC_KIND,
    member: rules::ANTHROPIC_MEMBER,
    value: rules::ANTHROPIC_VALUE,
    missing: rules::ANTHROPIC_MISSING,
};

pub(super) const MARKER: (&str, Shape) = (
    "cache_control",
    Shape::Object(
        &Object::open("")
            .with(&[("type", Shape::OneOf(&["ephemeral"])), ("ttl", Shape::OneOf(&["5m", "1h"]))])
            .filled(&[("type", "\"ephemeral\"")]),
    ),
);

/// Base rules judge what else a message has.
const MESSAGE: Object = Object::open("").with(&[("content", Shape::List(&Shape::Typed(&BLOCKS)))]);

const BLOCKS: Typed = Typed { of: block_of, untyped: None, others: Others::Refused };
const RESULT_BLOCKS: Typed = Typed { of: result_block, untyped: None, others: Others::Refused };
const SOURCES: Typed = Typed { of: source, untyped: None, others: Others::Refused };
const TOOLS: Typed = Typed { of: tool, untyped: Some(&TOOL), others: Others::Taken };

fn block_of(kind: &str) -> Option<&'static Object> {
    Some(match kind {
        "text" => &TEXT,
        "image" => &IMAGE,
        "document" => &DOCUMENT,
        "search_result" => &SEARCH_RESULT,
        "thinking" => &THINKING,
        "redacted_thinking" => &REDACTED,
        "tool_use" => &USE,
        "tool_result" => &RESULT,
        "server_tool_use" => &SERVED,
        "mcp_tool_use" => &MCP,
        "compaction" => &COMPACTION,
        "container_upload" => &UPLOAD,
        "tool_addition" | "tool_removal" | "fallback" | "mcp_tool_listing" => &OPEN,
        _ => return served::result(kind),
    })
}

fn result_block(kind: &str) -> Option<&'static Object> {
    Some(match kind {
        "text" => &TEXT,
        "image" => &IMAGE,
        "document" => &DOCUMENT,
        "search_result" => &SEARCH_RESULT,
        "tool_reference" => &REFERENCE,
        "browser_state" => &OPEN,
        _ => return None,
    })
}

fn source(kind: &str) -> Option<&'static Object> {
    const BASE64: Object =
        Object::of("type media_type").with(&[("data", Shape::Data)]).needing("media_type data");
    const PLAIN: Object = Object::of("type data")
        .with(&[("media_type", Shape::OneOf(&["text/plain"]))])
        .needing("data")
        .filled(&[("media_type", "\"text/plain\"")]);
    const URL: Object = Object::of("type url").needing("url");
    const FILE: Object = Object::of("type file_id").needing("file_id");
    const CONTENT: Object = Object::of("type content").needing("content");
    Some(match kind {
        "base64" => &BASE64,
        "text" => &PLAIN,
        "url" => &URL,
        "file" => &FILE,
        "content" => &CONTENT,
        _ => return None,
    })
}

fn tool(kind: &str) -> Option<&'static Object> {
    const BASH: Object = named(&[("name", Shape::OneOf(&["bash"]))]);
    const MEMORY: Object = named(&[("name", Shape::OneOf(&["memory"]))]);
    const EDITOR: Object =
        named(&[("name", Shape::OneOf(&["str_replace_editor", "str_replace_based_edit_tool"]))]);
    const COMPUTER: Object = Object::open("display_width_px display_height_px")
        .with(&[("name", Shape::OneOf(&["computer"]))])
        .needing("name display_width_px display_height_px");
    const SEARCH: Object = named(&[("name", Shape::OneOf(&["web_search"]))])
        .apart(&[("allowed_domains", "blocked_domains")]);
    const FETCH: Object = named(&[("name", Shape::OneOf(&["web_fetch"]))]);
    // A date follows.
    let family = kind.trim_end_matches(|c: char| c.is_ascii_digit());
    Some(match family {
        "custom" => &TOOL,
        "bash_" => &BASH,
        "memory_" => &MEMORY,
        "text_editor_" => &EDITOR,
        "computer_" => &COMPUTER,
        "web_search_" => &SEARCH,
        "web_fetch_" => &FETCH,
        _ => return None,
    })
}

/// A tool that the provider defines.
const fn named(name: &'static [(&'static str, Shape)]) -> Object {
    Object::open("allowed_domains blocked_domains").with(name).needing("name")
}

const OPEN: Object = Object::open("");
const TEXT: Object =
    Object::of("type text").with(&[("citations", Shape::List(&Shape::Typed(&CITATIONS))), MARKER]);
const IMAGE: Object = Object::of("type transformations")
    .with(&[("source", Shape::Typed(&SOURCES)), MARKER])
    .needing("source");
pub(super) const DOCUMENT: Object = Object::of("type citations context title")
    .with(&[("source", Shape::Typed(&SOURCES)), MARKER])
    .needing("source");
const SEARCH_RESULT: Object = Object::of("type source title citations")
    .with(&[("content", Shape::List(&Shape::Typed(&TEXTS))), MARKER])
    .needing("source title content");
pub(super) const TEXTS: Typed = Typed { of: system_block, untyped: None, others: Others::Refused };
const CITATIONS: Typed = Typed { of: citation, untyped: None, others: Others::Refused };

/// A title is there, but may be null. Answers, which are sent again, name a file besides.
fn citation(kind: &str) -> Option<&'static Object> {
    const CHARS: Object = Object::of(
        "type cited_text document_index document_title start_char_index end_char_index file_id",
    )
    .needing("cited_text document_index start_char_index end_char_index");
    const BLOCKS: Object = Object::of(
        "type cited_text document_index document_title start_block_index end_block_index file_id",
    )
    .needing("cited_text document_index start_block_index end_block_index");
    const PAGES: Object = Object::of(
        "type cited_text document_index document_title start_page_number end_page_number file_id",
    )
    .needing("cited_text document_index start_page_number end_page_number");
    const FOUND: Object = Object::of(
        "type cited_text search_result_index source title start_block_index end_block_index",
    )
    .needing("cited_text search_result_index source start_block_index end_block_index");
    const SEARCHED: Object = Object::of("type cited_text encrypted_index title url")
        .needing("cited_text encrypted_index url");
    Some(match kind {
        "char_location" => &CHARS,
        "content_block_location" => &BLOCKS,
        "page_location" => &PAGES,
        "search_result_location" => &FOUND,
        "web_search_result_location" => &SEARCHED,
        _ => return None,
    })
}

const THINKING: Object = Object::of("type thinking signature").needing("thinking signature");
const REDACTED: Object = Object::of("type data").needing("data");
const USE: Object = Object::of("type id name input caller toolset_name").with(&[MARKER]);
const RESULT: Object = Object::of("type tool_use_id toolset_name").with(&[
    ("content", Shape::List(&Shape::Typed(&RESULT_BLOCKS))),
    ("is_error", Shape::Flag),
    MARKER,
]);
const SERVED: Object = Object::of("type input caller")
    .with(&[("id", Shape::Such(is_served_id)), ("name", Shape::Such(served::is_name)), MARKER])
    .needing("name");

/// `^srvtoolu_[a-zA-Z0-9_]+$` (PROVIDERS.md B.1.2).
fn is_served_id(id: &str) -> bool {
    let rest = id.strip_prefix("srvtoolu_").unwrap_or_default();
    !rest.is_empty() && rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
const MCP: Object =
    Object::of("type id name input server_name").with(&[MARKER]).needing("name server_name");
const COMPACTION: Object = Object::open("").with(&[MARKER]);
const UPLOAD: Object = Object::of("type file_id").with(&[MARKER]).needing("file_id");
pub(super) const REFERENCE: Object =
    Object::of("type tool_name").with(&[MARKER]).needing("tool_name");

const TOOL: Object =
    Object::of("type allowed_callers defer_loading eager_input_streaming input_examples strict")
        .with(&[
            ("name", Shape::Such(is_tool_name)),
            ("description", Shape::Such(is_any)),
            ("input_schema", Shape::Object(&SCHEMA)),
            MARKER,
        ])
        .needing("name input_schema");

const SCHEMA: Object = Object::open("")
    .with(&[
        ("type", Shape::OneOf(&["object"])),
        ("oneOf", Shape::Barred),
        ("anyOf", Shape::Barred),
        ("allOf", Shape::Barred),
    ])
    .filled(&[("type", "\"object\"")]);

const CHOICE: Typed = Typed { of: choice, untyped: None, others: Others::Refused };

fn choice(kind: &str) -> Option<&'static Object> {
    const NAMED: Object = Object::open("name").needing("name");
    match kind {
        "auto" | "any" | "none" => Some(&OPEN),
        "tool" => Some(&NAMED),
        _ => None,
    }
}

/// A model may know more ways to think by tomorrow.
const THINKING_CONFIG: Typed = Typed { of: |_| None, untyped: None, others: Others::Taken };

/// A rule of its own judges whether it says something.
fn system_block(kind: &str) -> Option<&'static Object> {
    (kind == "text").then_some(&TEXT)
}

/// Members of the clouds' own, and those of its SDK's own, are among them.
const BODY: Object = Object::of(
    "model messages context_management compaction diagnostics metadata stream temperature \
     top_k top_p service_tier container mcp_servers output_config output_format inference_geo speed betas thread \
     fallbacks billing_policy fallback_credit_token user_profile_id workspace_id \
     anthropic_version anthropic_beta",
)
.with(&[
    ("tools", Shape::List(&Shape::Typed(&TOOLS))),
    ("tool_choice", Shape::Typed(&CHOICE)),
    ("thinking", Shape::Typed(&THINKING_CONFIG)),
    // None is for filling the cache.
    ("max_tokens", Shape::Least(0.0)),
    ("stop_sequences", Shape::List(&Shape::Such(says_something))),
    ("system", Shape::List(&Shape::Typed(&TEXTS))),
    MARKER,
]);
