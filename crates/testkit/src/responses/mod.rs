//! Drafts as OpenAI Responses writes them: each message of a draft is one item.
//!
//! The type of a call, and of its output, is told by its id (`shell_3` is a shell's), so that breaches that
//! move or rename ids stay what they are. What only the provider knows is told by an item's own id:
//! `fc_4_of_rs_3` was made with the thought `rs_3`.

mod stage;

use epitome::wire::{Envelope, Format};

use crate::draft::{Block, Draft, Message, Model, Shape, Thinking};
use crate::features::{Feature, Features};
use crate::pen::Json;
use crate::prose;

pub(crate) use stage::play;

/// The body around `items`.
pub(crate) fn body(draft: &Draft, items: Vec<Json>) -> Json {
    let model = if draft.model == Model::Bound { "gpt-6.2-sol" } else { "gpt-5.4" };
    let mut body = vec![("model", Json::text(model))];
    if let Some(system) = &draft.system {
        body.push(("instructions", Json::text(system)));
    }
    if is_continued(draft) {
        let id = if draft.messages.len().is_multiple_of(2) {
            ("previous_response_id", Json::text("resp_7f3a99"))
        } else {
            ("conversation", Json::raw(r#"{"id":"conv_7f3a99"}"#))
        };
        body.push(id);
    }
    // What is referred to must have been stored.
    if !draft.messages.iter().any(is_reference) {
        body.push(("store", Json::raw("false")));
    }
    body.push(("reasoning", Json::raw(r#"{"effort":"medium","summary":null}"#)));
    body.push(("tools", Json::raw(r#"[{"type":"function","name":"Read","parameters":{"type":"object"},"strict":false},{"type":"custom","name":"Edit"}]"#)));
    let input = match draft.messages.first().map(|message| message.blocks.as_slice()) {
        Some([Block::Text(text)]) if is_words(draft) => Json::text(text),
        _ => Json::List(items),
    };
    body.push(("input", input));
    body.push(("stream", Json::raw("true")));
    Json::Object(body)
}

/// Whether the body goes on from history that the provider keeps.
pub(crate) fn is_continued(draft: &Draft) -> bool {
    draft.format == Format::OpenaiResponses
        && draft.envelope == Envelope::Body
        && draft.thinking != Thinking::Unset
        && draft.system.is_none()
}

/// Whether plain words stand for the list of items.
pub(crate) fn is_words(draft: &Draft) -> bool {
    let is_plain = |message: &Message| {
        message.role == "user"
            && message.shape == Shape::String
            && matches!(message.blocks.as_slice(), [Block::Text(_)])
    };
    draft.format == Format::OpenaiResponses
        && draft.envelope == Envelope::Body
        && matches!(draft.messages.as_slice(), [message] if is_plain(message))
}

fn is_reference(message: &Message) -> bool {
    matches!(message.blocks.as_slice(), [Block::Opaque(raw)] if raw.contains("_ref_"))
}

/// Forgets which items were made with which thought.
pub(crate) fn untie(draft: &mut Draft) {
    for block in draft.messages.iter_mut().flat_map(|message| &mut message.blocks) {
        if let Block::Own(id) | Block::ServerCall { id, .. } = block
            && let Some((own, _)) = id.split_once("_of_")
        {
            *id = own.to_owned();
        }
    }
}

/// A message of several parts as the items that it is here.
pub(crate) fn items(message: Message) -> Vec<Message> {
    let Message { role, blocks, shape } = message;
    let mut items: Vec<Message> = Vec::new();
    let mut own = None;
    let mut joins = false;
    for block in blocks {
        let is_content = matches!(
            block,
            Block::Text(_)
                | Block::Cached(_)
                | Block::Image(..)
                | Block::Document
                | Block::Opaque(_)
        );
        match (block, items.last_mut()) {
            (Block::Own(id), _) => own = Some(Block::Own(id)),
            (block, Some(last)) if is_content && joins => last.blocks.push(block),
            (block @ Block::ServerResult { .. }, Some(last)) => last.blocks.push(block),
            (block, _) => {
                let blocks = own.take().into_iter().chain([block]).collect();
                items.push(Message { role, blocks, shape });
            }
        }
        joins = is_content;
    }
    match (own, items.last_mut()) {
        (Some(own), Some(last)) => last.blocks.insert(0, own),
        (Some(own), None) => items.push(Message { role, blocks: vec![own], shape }),
        (None, None) => items.push(Message { role, blocks: Vec::new(), shape }),
        (None, Some(_)) => {}
    }
    items
}

/// One item.
pub(crate) fn item(message: &Message) -> Json {
    let own = message.blocks.iter().find_map(|block| match block {
        Block::Own(id) => Some(id),
        _ => None,
    });
    let special = |block: &&Block| {
        !matches!(
            block,
            Block::Text(_)
                | Block::Cached(_)
                | Block::Image(..)
                | Block::Document
                | Block::Opaque(_)
                | Block::Own(_)
        )
    };
    let mut members = match message.blocks.iter().find(special) {
        Some(Block::Think(text)) => {
            let said = vec![("type", Json::text("reasoning_text")), ("text", Json::text(text))];
            let content = Json::List(vec![Json::Object(said)]);
            vec![
                ("type", Json::text("reasoning")),
                ("summary", Json::List(Vec::new())),
                ("content", content),
            ]
        }
        Some(Block::Signed(text)) => vec![
            ("type", Json::text("reasoning")),
            ("summary", Json::raw(r#"[{"type":"summary_text","text":"Thinking."}]"#)),
            ("content", Json::raw("null")),
            ("encrypted_content", Json::text(text)),
        ],
        Some(Block::Redacted) => vec![
            ("type", Json::text("reasoning")),
            ("summary", Json::List(Vec::new())),
            ("encrypted_content", Json::text(prose::base64(&[7; 900]))),
        ],
        Some(Block::Call { id, name, input } | Block::ServerCall { id, name, input })
            if !is_served(name) =>
        {
            call(id, name, input)
        }
        Some(Block::Function { name, input }) => call("", name, input),
        Some(Block::Result { id, shape, content, failed }) => output(id, *shape, content, *failed),
        Some(Block::FunctionResult { name, text }) => vec![
            ("type", Json::text("function_call_output")),
            ("name", Json::text(name)),
            ("output", Json::text(text)),
        ],
        Some(Block::ServerCall { id, name, .. }) => served(id, name, message),
        Some(Block::Compaction(text)) => vec![
            ("type", Json::text("compaction")),
            ("encrypted_content", Json::text(text.clone().unwrap_or_default())),
        ],
        _ => spoken(message, own.is_some()),
    };
    if let Some(own) = own {
        members.push(("id", Json::text(own)));
    }
    Json::Object(members)
}

fn spoken(message: &Message, has_id: bool) -> Vec<(&'static str, Json)> {
    let blocks: Vec<&Block> =
        message.blocks.iter().filter(|block| !matches!(block, Block::Own(_))).collect();
    let content = match (message.shape, blocks.as_slice()) {
        (Shape::Absent, []) => Json::raw("null"),
        (Shape::String, []) => Json::text(""),
        (Shape::String, [Block::Text(text)]) => Json::text(text),
        (_, blocks) => Json::List(blocks.iter().map(|block| part(block, message.role)).collect()),
    };
    let mut members = vec![("role", Json::text(message.role)), ("content", content)];
    // The easy form leaves the type out.
    if has_id || message.shape != Shape::String {
        members.insert(0, ("type", Json::text("message")));
    }
    members
}

/// A block of a content or an output.
fn part(block: &Block, role: &str) -> Json {
    match block {
        Block::Text(text) if role == "assistant" => Json::Object(vec![
            ("type", Json::text("output_text")),
            ("text", Json::text(text)),
            ("annotations", Json::List(Vec::new())),
        ]),
        Block::Text(text) => {
            Json::Object(vec![("type", Json::text("input_text")), ("text", Json::text(text))])
        }
        Block::Cached(text) => Json::Object(vec![
            ("type", Json::text("input_text")),
            ("text", Json::text(text)),
            ("prompt_cache_breakpoint", Json::raw(r#"{"mode":"explicit"}"#)),
        ]),
        Block::Image(width, height) => Json::Object(vec![
            ("type", Json::text("input_image")),
            ("image_url", Json::text(picture(*width, *height))),
            ("file_id", Json::raw("null")),
            ("detail", Json::text("auto")),
        ]),
        Block::Document => Json::raw(
            r#"{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}"#,
        ),
        Block::Opaque(raw) => Json::raw(raw),
        other => panic!("no part of a content: {other:?}"),
    }
}

fn picture(width: u32, height: u32) -> String {
    format!("data:image/png;base64,{}", prose::png(width, height))
}

/// A call, of the type that its id tells.
fn call(id: &str, name: &str, input: &str) -> Vec<(&'static str, Json)> {
    // Arguments that are no string, where a breach has put them.
    let text = |input: &str| match input {
        "null" | "7" => Json::raw(input),
        input => Json::text(input),
    };
    // A breach may have given a custom tool's words to another kind of call, or nothing.
    let json = |input: &str| match serde_json::from_str::<serde::de::IgnoredAny>(input) {
        Ok(_) if input != "null" => Json::raw(input),
        _ => Json::text(input),
    };
    let mut members = match id.split('_').next().unwrap_or_default() {
        "cust" => vec![
            ("type", Json::text("custom_tool_call")),
            ("name", Json::text(name)),
            ("input", Json::text(input)),
        ],
        "shell" => vec![("type", Json::text("shell_call")), ("action", json(input))],
        "lsh" => vec![
            ("type", Json::text("local_shell_call")),
            ("id", Json::text(format!("lsh_own_{id}"))),
            ("action", json(input)),
        ],
        "patch" => {
            vec![("type", Json::text("apply_patch_call")), ("operation", json(input))]
        }
        "comp" => vec![
            ("type", Json::text("computer_call")),
            ("id", Json::text(format!("cu_{id}"))),
            ("action", json(input)),
        ],
        "find" => vec![
            ("type", Json::text("tool_search_call")),
            ("execution", Json::text("client")),
            ("arguments", json(input)),
        ],
        _ => vec![
            ("type", Json::text("function_call")),
            ("name", Json::text(name)),
            ("arguments", text(input)),
        ],
    };
    if !id.is_empty() {
        members.push(("call_id", Json::text(id)));
    }
    members
}

/// An output, of the type that its call's id tells.
fn output(id: &str, shape: Shape, content: &[Block], failed: bool) -> Vec<(&'static str, Json)> {
    let words: String = content
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let blocks = match (shape, content) {
        (Shape::Absent, []) => Json::raw("null"),
        (Shape::String, []) => Json::text(""),
        (Shape::String, [Block::Text(text)]) => Json::text(text),
        (_, blocks) => Json::List(blocks.iter().map(|block| part(block, "tool")).collect()),
    };
    let typed = |kind: &str, output: Json| vec![("type", Json::text(kind)), ("output", output)];
    let mut members = match id.split('_').next().unwrap_or_default() {
        "cust" => typed("custom_tool_call_output", blocks),
        "shell" => {
            let code = if failed { "1" } else { "0" };
            let outcome = format!(r#"{{"type":"exit","exit_code":{code}}}"#);
            let piece = |text: &str, is_error: bool| {
                let (out, err) = if is_error { ("", text) } else { (text, "") };
                Json::Object(vec![
                    ("stdout", Json::text(out)),
                    ("stderr", Json::text(err)),
                    ("outcome", Json::raw(outcome.clone())),
                ])
            };
            typed(
                "shell_call_output",
                Json::List(vec![piece(&words, failed), piece("done", false)]),
            )
        }
        // Both are seen.
        "lsh" if words.len().is_multiple_of(2) => {
            typed("local_shell_call_output", Json::text(words))
        }
        "patch" => {
            let mut members = typed("apply_patch_call_output", Json::text(words));
            members.push(("status", Json::text(if failed { "failed" } else { "completed" })));
            members
        }
        "comp" => {
            let (width, height) = match content {
                [Block::Image(width, height), ..] => (*width, *height),
                _ => (8, 8),
            };
            let screen = vec![
                ("type", Json::text("computer_screenshot")),
                ("image_url", Json::text(picture(width, height))),
            ];
            typed("computer_call_output", Json::Object(screen))
        }
        "find" => vec![
            ("type", Json::text("tool_search_output")),
            ("execution", Json::text("client")),
            ("tools", Json::raw(r#"[{"type":"function","name":"found","parameters":{}}]"#)),
        ],
        _ => typed("function_call_output", blocks),
    };
    if !id.is_empty() {
        members.push(("call_id", Json::text(id)));
    }
    members
}

/// The kinds of calls that the provider runs itself.
const SERVED: [&str; 5] =
    ["web_search", "file_search", "code_interpreter", "mcp", "image_generation"];

fn is_served(name: &str) -> bool {
    SERVED.contains(&name)
}

fn served(id: &str, name: &str, message: &Message) -> Vec<(&'static str, Json)> {
    let found = message.blocks.iter().find_map(|block| match block {
        Block::ServerResult { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let found = found.unwrap_or_default();
    let typed = |kind: &str, rest: Vec<(&'static str, Json)>| {
        let head = vec![("type", Json::text(kind)), ("status", Json::text("completed"))];
        head.into_iter().chain(rest).collect::<Vec<_>>()
    };
    let id = ("id", Json::text(id));
    match name {
        "file_search" => {
            let result = vec![("file_id", Json::text("file_1")), ("text", Json::text(found))];
            let results = Json::List(vec![Json::Object(result)]);
            let queries = Json::raw(r#"["x"]"#);
            typed("file_search_call", vec![id, ("queries", queries), ("results", results)])
        }
        "code_interpreter" => {
            let log = vec![("type", Json::text("logs")), ("logs", Json::text(found))];
            let outputs = Json::List(vec![Json::Object(log)]);
            let code = Json::text("print(1)");
            typed("code_interpreter_call", vec![id, ("code", code), ("outputs", outputs)])
        }
        "mcp" => typed(
            "mcp_call",
            vec![
                id,
                ("server_label", Json::text("library")),
                ("name", Json::text("search")),
                ("arguments", Json::text("{}")),
                ("output", Json::text(found)),
                ("error", Json::raw("null")),
            ],
        ),
        "image_generation" => {
            let side = 1 + found.len() as u32 % 900;
            let image = Json::text(prose::png(side, side));
            typed("image_generation_call", vec![id, ("result", image)])
        }
        _ => {
            let query = vec![("type", Json::text("search")), ("query", Json::text(found))];
            typed("web_search_call", vec![("action", Json::Object(query))])
        }
    }
}

/// The features that only this format has.
pub(crate) fn observe(draft: &Draft, found: &mut Features) {
    let mut note = |feature, is: bool| {
        if is {
            found.insert(feature);
        }
    };
    note(Feature::Continued, is_continued(draft));
    note(Feature::WordsForInput, is_words(draft));
    let blocks = || draft.messages.iter().flat_map(|message| &message.blocks);
    let calls = |prefixes: &[&str]| {
        blocks().any(|block| {
            matches!(block, Block::Call { id, .. }
                if prefixes.iter().any(|prefix| id.starts_with(prefix)))
        })
    };
    note(Feature::CustomCall, calls(&["cust_"]));
    note(Feature::ShellCall, calls(&["shell_", "lsh_", "patch_"]));
    note(Feature::FixedOutput, calls(&["comp_", "find_"]));
    note(Feature::OwnIds, blocks().any(|block| matches!(block, Block::Own(_))));
    let is_tied = |block: &Block| matches!(block, Block::Own(id) if id.contains("_of_"));
    note(Feature::TiedToThought, blocks().any(is_tied));
    let raw = |what: &str| {
        blocks().any(|block| matches!(block, Block::Opaque(raw) if raw.contains(what)))
    };
    note(Feature::Trigger, raw("compaction_trigger"));
    note(Feature::Reference, raw("_ref_"));
    note(Feature::StatefulItem, raw("configuration_update") || raw("additional_tools"));
    note(Feature::Approval, raw("mcp_approval_response"));
    note(Feature::Program, raw("program_output"));
    let between = draft
        .messages
        .windows(2)
        .any(|pair| pair[1].role == "tool" && !matches!(pair[0].role, "tool") && !pair[0].calls());
    note(Feature::ItemBetween, between);
}
