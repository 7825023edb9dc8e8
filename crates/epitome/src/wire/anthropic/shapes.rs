//! What a body is made of (SDK types of anthropic 2.14).

use crate::wire::rules;
use crate::wire::shape::{
    Names, Object, Others, Shape, Shapes, Typed, any, is_tool_name, says_something,
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

const fn block(
    members: &'static [(&'static str, Shape)],
    needed: &'static [(&'static str, &'static str)],
) -> Object {
    Object { members, needed, others: Others::Refused }
}

const MARKER: (&str, Shape) = (
    "cache_control",
    Shape::Object(&Object {
        members: &[("type", Shape::OneOf(&["ephemeral"])), ("ttl", Shape::OneOf(&["5m", "1h"]))],
        needed: &[("type", "\"ephemeral\"")],
        others: Others::Taken,
    }),
);
const KIND: (&str, Shape) = any("type");

/// Base rules judge what else a message has.
const MESSAGE: Object = Object {
    members: &[("content", Shape::List(&Shape::Typed(&BLOCKS)))],
    needed: &[],
    others: Others::Taken,
};

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
        "mcp_tool_result" => &MCP_RESULT,
        "compaction" => &COMPACTION,
        "container_upload" => &UPLOAD,
        "tool_addition" | "tool_removal" | "fallback" | "mcp_tool_listing" => &OPEN,
        // Each tool of the provider's has results of its own.
        kind if kind.ends_with("_tool_result") => &SERVED_RESULT,
        _ => return None,
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
    const BASE64: Object = block(
        &[KIND, any("media_type"), ("data", Shape::Data)],
        &[("media_type", ""), ("data", "")],
    );
    const PLAIN: Object = block(
        &[KIND, ("media_type", Shape::OneOf(&["text/plain"])), any("data")],
        &[("media_type", "\"text/plain\""), ("data", "")],
    );
    const URL: Object = block(&[KIND, any("url")], &[("url", "")]);
    const FILE: Object = block(&[KIND, any("file_id")], &[("file_id", "")]);
    const CONTENT: Object = block(&[KIND, any("content")], &[("content", "")]);
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
    (kind == "custom").then_some(&TOOL)
}

const OPEN: Object = Object { members: &[], needed: &[], others: Others::Taken };
const TEXT: Object = block(&[KIND, any("text"), MARKER, any("citations")], &[]);
const IMAGE: Object = block(
    &[KIND, ("source", Shape::Typed(&SOURCES)), MARKER, any("transformations")],
    &[("source", "")],
);
const DOCUMENT: Object = block(
    &[
        KIND,
        ("source", Shape::Typed(&SOURCES)),
        MARKER,
        any("citations"),
        any("context"),
        any("title"),
    ],
    &[("source", "")],
);
const SEARCH_RESULT: Object = block(
    &[KIND, any("source"), any("title"), any("content"), MARKER, any("citations")],
    &[("source", ""), ("title", ""), ("content", "")],
);
const THINKING: Object =
    block(&[KIND, any("thinking"), any("signature")], &[("thinking", ""), ("signature", "")]);
const REDACTED: Object = block(&[KIND, any("data")], &[("data", "")]);
const USE: Object = block(
    &[KIND, any("id"), any("name"), any("input"), MARKER, any("caller"), any("toolset_name")],
    &[],
);
const RESULT: Object = block(
    &[
        KIND,
        any("tool_use_id"),
        ("content", Shape::List(&Shape::Typed(&RESULT_BLOCKS))),
        any("is_error"),
        MARKER,
        any("toolset_name"),
    ],
    &[],
);
const SERVED: Object =
    block(&[KIND, any("id"), any("name"), any("input"), MARKER, any("caller")], &[("name", "")]);
const SERVED_RESULT: Object = block(
    &[KIND, any("tool_use_id"), any("content"), MARKER, any("caller")],
    &[("tool_use_id", ""), ("content", "")],
);
const MCP: Object = block(
    &[KIND, any("id"), any("name"), any("input"), any("server_name"), MARKER],
    &[("name", ""), ("server_name", "")],
);
const MCP_RESULT: Object = block(
    &[KIND, any("tool_use_id"), any("content"), any("is_error"), MARKER],
    &[("tool_use_id", "")],
);
const COMPACTION: Object = Object { members: &[MARKER], needed: &[], others: Others::Taken };
const UPLOAD: Object = block(&[KIND, any("file_id"), MARKER], &[("file_id", "")]);
const REFERENCE: Object = block(&[KIND, any("tool_name"), MARKER], &[("tool_name", "")]);

const TOOL: Object = block(
    &[
        KIND,
        ("name", Shape::Such(is_tool_name)),
        any("description"),
        any("input_schema"),
        MARKER,
        any("allowed_callers"),
        any("defer_loading"),
        any("eager_input_streaming"),
        any("input_examples"),
        any("strict"),
    ],
    &[("name", ""), ("input_schema", "")],
);

const SYSTEM: Object = Object {
    members: &[KIND, ("text", Shape::Such(says_something)), MARKER, any("citations")],
    needed: &[],
    others: Others::Refused,
};

/// Members of the clouds' own, and those of its SDK's own, are among them.
const BODY: Object = Object {
    members: &[
        ("tools", Shape::List(&Shape::Typed(&TOOLS))),
        ("system", Shape::List(&Shape::Object(&SYSTEM))),
        MARKER,
        any("model"),
        any("messages"),
        any("max_tokens"),
        any("tool_choice"),
        any("thinking"),
        any("context_management"),
        any("compaction"),
        any("diagnostics"),
        any("metadata"),
        any("stop_sequences"),
        any("stream"),
        any("temperature"),
        any("top_k"),
        any("top_p"),
        any("service_tier"),
        any("container"),
        any("mcp_servers"),
        any("output_config"),
        any("output_format"),
        any("inference_geo"),
        any("speed"),
        any("betas"),
        any("thread"),
        any("fallbacks"),
        any("billing_policy"),
        any("fallback_credit_token"),
        any("user_profile_id"),
        any("workspace_id"),
        any("anthropic_version"),
        any("anthropic_beta"),
    ],
    needed: &[],
    others: Others::Refused,
};
