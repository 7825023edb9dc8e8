//! Whether the entries of a request have shapes that its format knows. Parsing accepts any list, so that bytes come out as
//! they went in; what is nobody's message must not pass for a request for all that.

use epitome::transcript::{Entry, Marks, Part, PartKind, Role};
use epitome::wire::{Format, Request};

use crate::object::{Object, start_of_list};
use epitome::word_list::words;

/// The places of entries that the format has no such shape for.
pub(crate) fn odd(request: &Request) -> impl Iterator<Item = usize> {
    let format = request.format;
    let entries = request.transcript.entries().enumerate();
    entries.filter(move |(_, entry)| !is_known(format, *entry)).map(|(at, _)| at)
}

/// The first entry with calls or results where the format hasn't got any, so that nobody would see them.
pub(crate) fn first_hidden(request: &Request) -> Option<usize> {
    let format = request.format;
    request.transcript.entries().position(|entry| hides_calls(entry) || is_foreign(format, entry))
}

/// The first entry that says something where its format doesn't look, so that a mend would empty it.
pub(crate) fn first_unread(request: &Request) -> Option<usize> {
    request.transcript.entries().position(|entry| {
        let object = Object::start(entry.raw());
        let says = object.members().any(|(name, _)| name != "role");
        !is_known(request.format, entry)
            && (object.is_empty()
                || says && lacking(request.format, entry).is_some_and(|member| member != "role"))
    })
}

/// The member that an entry of no known shape has not got, or not as its format has it.
pub(crate) fn lacking(format: Format, entry: Entry<'_>) -> Option<&'static str> {
    let object = Object::start(entry.raw());
    let is_item = format == Format::OpenaiResponses
        && (object.get("type").is_some() || object.opens("id", '"'));
    match () {
        () if object.is_empty() => None,
        () if format == Format::GeminiInteractions => {
            object.get("type").is_none().then_some("type")
        }
        () if is_item && !object.says("type", "message") => None,
        () if !object.has_any(contents(format)) => Some(contents(format)[0]),
        () if entry.role() == Role::Other => Some("role"),
        () => None,
    }
}

/// Types of blocks that are another format's calls and results.
const FOREIGN: [&str; 8] = words!(
    "tool_call tool_response tool_use tool_result function_call function_response toolUse toolResult"
);
/// Members by which other formats pair a result with its call, and which hold the result.
const IDS: [&str; 5] = words!("call_id id callId toolCallId tool_use_id");
const OUTPUTS: [&str; 3] = words!("output result content");

/// Whether an entry's calls or results are another format's: with its ids, its members or its blocks.
fn is_foreign(format: Format, entry: Entry<'_>) -> bool {
    let object = Object::start(entry.raw());
    let is_strange = |part: Part<'_>| {
        let (block, kind) = (Object::start(part.raw()), part.name());
        let says_elsewhere = || !block.has_any(&["content"]) && block.has_any(&OUTPUTS);
        match part.kind() {
            PartKind::Opaque => {
                let typed = block.text("type");
                FOREIGN.contains(&&*kind)
                    || block.has_any(&FOREIGN)
                    || typed.is_some_and(|kind| FOREIGN.contains(&&*kind))
            }
            PartKind::Result => format == Format::Anthropic && says_elsewhere(),
            _ => false,
        }
    };
    let is_flat =
        |call: &Object<'_>| call.has_any(&["name"]) && !call.has_any(&["function", "custom"]);
    let is_own = match format {
        Format::OpenaiChat => {
            let is_paired = !object.says("role", "tool")
                || object.has_any(&["tool_call_id"])
                || !object.has_any(&IDS);
            is_paired && !object.start_of_list("tool_calls", 1).iter().any(is_flat)
        }
        Format::OpenaiResponses => {
            let is_output = object.says("type", "function_call_output");
            let is_call = is_output || object.says("type", "function_call");
            let is_paired = !is_call || object.has_any(&["call_id"]) || !object.has_any(&IDS);
            is_paired && (!is_output || object.has_any(&["output"]) || !object.has_any(&OUTPUTS))
        }
        _ => true,
    };
    !is_own || entry.parts().any(is_strange)
}

/// Whether a reply without a call has a list of such in a member that isn't read.
fn hides_calls(entry: Entry<'_>) -> bool {
    if entry.role() != Role::Assistant || entry.parts().any(|part| part.kind() == PartKind::Call) {
        return false;
    }
    let is_call = |one: &Object<'_>| {
        let has_input = one.has_any(&["arguments", "args", "input"]);
        one.opens("function", '{')
            || has_input && one.has_any(&["name", "toolName", "tool_name", "function_name"])
    };
    Object::start(entry.raw()).members().any(|(name, value)| {
        let is_read = matches!(name, "content" | "parts");
        !is_read && value.starts_with('[') && start_of_list(value, 1).iter().any(is_call)
    })
}

/// What a message may have to say, by format; one is enough.
fn contents(format: Format) -> &'static [&'static str] {
    match format {
        Format::Gemini => &["parts"],
        Format::OpenaiChat => &words!(
            "content tool_calls function_call refusal audio reasoning_content reasoning \
             reasoning_details"
        ),
        _ => &["content"],
    }
}

/// How the types of Responses' items end. There are more of them than can be listed.
const ITEM_ENDS: [&str; 8] = words!(
    "_call _output _list_tools _approval_request _approval_response reasoning compaction program"
);

/// Items of Responses that are about the others.
const ABOUT_ITEMS: [&str; 4] =
    ["item_reference", "compaction_trigger", "additional_tools", "configuration_update"];

fn is_known(format: Format, entry: Entry<'_>) -> bool {
    let object = Object::start(entry.raw());
    if object.is_empty() {
        // An `input` may be plain words.
        let takes_words = matches!(format, Format::OpenaiResponses | Format::GeminiInteractions);
        return takes_words && entry.raw().starts_with('"');
    }
    if format == Format::GeminiInteractions {
        return is_step(&object);
    }
    let is_message = || {
        let has_content = object.has_any(contents(format));
        has_content
            && entry.role() != Role::Other
            && !entry.parts().any(|part| lacks_id(format, &part))
            && !hides_calls(entry)
            && !is_foreign(format, entry)
    };
    match object.text("type").filter(|_| format == Format::OpenaiResponses).as_deref() {
        Some("message") => is_message(),
        Some(_) if is_foreign(format, entry) => false,
        Some(kind) => {
            ITEM_ENDS.iter().any(|end| kind.ends_with(end)) || ABOUT_ITEMS.contains(&kind)
        }
        // The SDK's types let a reference be nothing but an id.
        None if format == Format::OpenaiResponses && object.opens("id", '"') => {
            object.get("role").is_none() || is_message()
        }
        None => is_message(),
    }
}

/// Whether an object is a step of Interactions, or a content that stands for one.
fn is_step(object: &Object<'_>) -> bool {
    match object.text("type").as_deref() {
        Some("user_input" | "model_output") => object.has_any(&["content", "error"]),
        Some("thought") => object.has_any(&["signature", "summary"]),
        Some("text") => object.opens("text", '"'),
        Some("image" | "audio" | "document" | "video") => object.has_any(&["data", "uri"]),
        Some(kind) if kind.ends_with("_call") => object.has_any(&["id", "arguments"]),
        Some(kind) if kind.ends_with("_result") => object.has_any(&["call_id"]),
        _ => false,
    }
}

/// Whether a call or result lacks the id that pairs it, in formats where each has one.
fn lacks_id(format: Format, part: &Part<'_>) -> bool {
    let is_paired = matches!(part.kind(), PartKind::Call | PartKind::Result);
    let has_ids = matches!(format, Format::Anthropic | Format::Bedrock);
    has_ids && is_paired && !part.is(Marks::SERVER) && part.id().is_empty()
}
