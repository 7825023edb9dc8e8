//! Whether a request suits a model: what its provider would refuse or drop that it takes elsewhere.
//!
//! The rules of a format are [`crate::wire::check`]'s; these are the model's own.

use serde::{Deserialize, Serialize};

use super::entry::{Mode, Model, Unsupported};
use super::registry::Registry;
use crate::count::Count;
use crate::json::unquote;
use crate::request::Request;
use crate::transcript::{Entry, Marks, Part, PartKind, Role};
use crate::wire::Feature;

/// Something about a request that doesn't suit a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misfit {
    /// The capability in question.
    pub subject: MisfitKind,
    /// Whether it is certain.
    pub sure: Sure,
    /// The first entry that it is about, where it is about entries.
    pub entry: Option<usize>,
    /// The finding, and the model's limit.
    pub detail: String,
}

/// The subject of a misfit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MisfitKind {
    /// The prompt is longer than the model takes.
    Window,
    /// The reply asked for is longer than the model's longest.
    Reply,
    /// Prompt and reply together are longer than the window.
    Room,
    /// It shows images, and the model sees none.
    Images,
    /// It shows documents, and the model reads none.
    Documents,
    /// It asks for reasoning in a way that the model doesn't know.
    Thinking,
    /// Its reasoning is another model's, and is dropped.
    ForeignReasoning,
    /// It forces a tool call.
    ForcedTool,
    /// System text stands in mid-conversation.
    MidSystem,
    /// It ends with the assistant's words.
    Prefill,
    /// Its thinking has no signature.
    UnsignedThinking,
    /// Calls of the open turn come without the reasoning that the model wants back with them.
    ReasoningBack,
    /// It defines tools in a format in which the model takes none.
    ToolsHere,
}

impl MisfitKind {
    /// All of them.
    pub const ALL: [MisfitKind; 13] = [
        MisfitKind::Window,
        MisfitKind::Reply,
        MisfitKind::Room,
        MisfitKind::Images,
        MisfitKind::Documents,
        MisfitKind::Thinking,
        MisfitKind::ForeignReasoning,
        MisfitKind::ForcedTool,
        MisfitKind::MidSystem,
        MisfitKind::Prefill,
        MisfitKind::UnsignedThinking,
        MisfitKind::ReasoningBack,
        MisfitKind::ToolsHere,
    ];

    /// Its name, in a few words.
    pub fn words(self) -> &'static str {
        match self {
            MisfitKind::Window => "a prompt that is longer than the model takes",
            MisfitKind::Reply => "a reply asked for that is longer than the model's longest",
            MisfitKind::Room => "prompt and reply that are together longer than the window",
            MisfitKind::Images => "images, for a model that sees none",
            MisfitKind::Documents => "documents, for a model that reads none",
            MisfitKind::Thinking => "reasoning asked for in a way that the model doesn't know",
            MisfitKind::ForeignReasoning => "another model's reasoning, which is dropped",
            MisfitKind::ForcedTool => "a forced tool call, where the model refuses one",
            MisfitKind::MidSystem => "system text in mid-conversation, where the model takes none",
            MisfitKind::Prefill => {
                "an end in the assistant's words, where the model goes on from none"
            }
            MisfitKind::UnsignedThinking => "thinking without the signature that the model wants",
            MisfitKind::ReasoningBack => {
                "calls without their reasoning, which the model wants back beside them"
            }
            MisfitKind::ToolsHere => "tools, for a model that takes them in another format only",
        }
    }

    /// The name of the rule, as `check` prints it.
    pub fn name(self) -> &'static str {
        match self {
            MisfitKind::Window => "model/window",
            MisfitKind::Reply => "model/reply",
            MisfitKind::Room => "model/room",
            MisfitKind::Images => "model/images",
            MisfitKind::Documents => "model/documents",
            MisfitKind::Thinking => "model/thinking",
            MisfitKind::ForeignReasoning => "model/foreign-reasoning",
            MisfitKind::ForcedTool => "model/forced-tool",
            MisfitKind::MidSystem => "model/mid-system",
            MisfitKind::Prefill => "model/prefill",
            MisfitKind::UnsignedThinking => "model/unsigned-thinking",
            MisfitKind::ReasoningBack => "model/reasoning-back",
            MisfitKind::ToolsHere => "model/tools-here",
        }
    }
}

/// Whether the provider is known to refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sure {
    /// It does.
    Yes,
    /// It may, or drops something without a word.
    Maybe,
}

/// Everything about `request` that doesn't suit `model`. `size` is its prompt, counted as the model does.
pub fn misfits(request: &Request, model: &Model, size: Count) -> Vec<Misfit> {
    let mut found = Vec::new();
    let mut put = |subject, sure, entry, detail: String| {
        found.push(Misfit { subject, sure, entry, detail });
    };
    let wanted = request.format.dialect().reply_limit(request);
    if let Some(most) = model.most_input() {
        let band = match size.most() {
            Some(upper) if upper > size.tokens => format!(" (at most {upper})"),
            Some(_) => String::new(),
            None => " or more".to_owned(),
        };
        let detail = || format!("{} tokens{band}; the model takes {most}", size.tokens);
        if size.tokens > most {
            put(MisfitKind::Window, Sure::Yes, None, detail());
        } else if size.most().is_none_or(|upper| upper > most) {
            put(MisfitKind::Window, Sure::Maybe, None, detail());
        }
        if let (Some(wanted), Some(window)) = (wanted, model.window)
            && size.tokens <= most
            && size.tokens + wanted > window
        {
            let detail = format!(
                "{} tokens and {wanted} for the reply; the window is {window}",
                size.tokens
            );
            put(MisfitKind::Room, Sure::Maybe, None, detail);
        }
    }
    if let (Some(wanted), Some(most)) = (wanted, model.output)
        && wanted > most
    {
        put(
            MisfitKind::Reply,
            Sure::Yes,
            None,
            format!("{wanted} tokens asked for; the model writes {most}"),
        );
    }
    if !model.images
        && let Some(entry) = first_media(request, |name| !is_document(name))
    {
        put(MisfitKind::Images, Sure::Yes, Some(entry), "the model sees no images".to_owned());
    }
    if !model.documents
        && !model.images
        && let Some(entry) = first_media(request, is_document)
    {
        put(
            MisfitKind::Documents,
            Sure::Maybe,
            Some(entry),
            "the model reads no documents".to_owned(),
        );
    }
    if let Some(detail) = foreign_reasoning(request, model) {
        let entry = first_reasoning(request);
        put(MisfitKind::ForeignReasoning, Sure::Maybe, entry, detail);
    }
    if request.format.dialect().has(Feature::ThinkingModes) {
        anthropic(request, model, &mut put);
    }
    if request.format.dialect().has(Feature::ReasoningContent) {
        chat(request, model, &mut put);
    }
    found
}

/// What concerns Chat Completions only (PROVIDERS.md B.3).
fn chat(
    request: &Request,
    model: &Model,
    put: &mut impl FnMut(MisfitKind, Sure, Option<usize>, String),
) {
    let has_tools = request.tools().is_some_and(|tools| tools != "[]");
    if model.vendor == "openai" && model.id.starts_with("gpt-6") && has_tools {
        let detail = "tools beside reasoning; the model takes them in Responses only".to_owned();
        put(MisfitKind::ToolsHere, Sure::Yes, None, detail);
    }
    let shows = |entry: &Entry<'_>| {
        entry.role() != Role::User && entry.parts().any(|part| part.kind() == PartKind::Media)
    };
    if let Some(shown) =
        request.transcript.entries().find(shows).filter(|_| model.vendor == "openai")
    {
        let detail = "an image in a message that isn't the user's".to_owned();
        put(MisfitKind::Images, Sure::Yes, Some(shown.index), detail);
    }
    if !matches!(model.vendor.as_str(), "deepseek" | "moonshot") || model.thinking.is_none() {
        return;
    }
    let transcript = &request.transcript;
    let reasons = |entry: &Entry<'_>| entry.parts().any(|p| p.kind() == PartKind::Reasoning);
    let start = transcript.entries().rev().find(|entry| entry.role() == Role::User);
    let open = transcript.entries().skip(start.map_or(0, |entry| entry.index + 1));
    let bare = open.filter(Entry::has_calls).find(|entry| !reasons(entry));
    if let Some(bare) = bare {
        // Where some of it is there it was thinking; else that may be off.
        let sure = if transcript.entries().any(|e| reasons(&e)) { Sure::Yes } else { Sure::Maybe };
        let detail = "calls of the open turn without reasoning_content".to_owned();
        put(MisfitKind::ReasoningBack, sure, Some(bare.index), detail);
    }
}

/// What concerns Anthropic's models only (PROVIDERS.md B.1).
fn anthropic(
    request: &Request,
    model: &Model,
    put: &mut impl FnMut(MisfitKind, Sure, Option<usize>, String),
) {
    if model.vendor != "anthropic" {
        return;
    }
    if let Some(detail) = thinking(request, model) {
        put(MisfitKind::Thinking, Sure::Yes, None, detail);
    }
    let refuses = |what| model.refuses.contains(&what);
    let choice = request.value(&["tool_choice", "type"]).map(unquote);
    if let Some(choice) = choice.filter(|choice| matches!(choice.as_ref(), "any" | "tool"))
        && refuses(Unsupported::ForcedTool)
    {
        let detail = format!("tool_choice {choice:?}; the model chooses by itself");
        put(MisfitKind::ForcedTool, Sure::Yes, None, detail);
    }
    let instructs = request.transcript.entries().find(|entry| entry.role().instructs());
    if let Some(entry) = instructs
        && refuses(Unsupported::MidSystem)
    {
        let detail = "role \"system\" among the messages".to_owned();
        put(MisfitKind::MidSystem, Sure::Yes, Some(entry.index), detail);
    }
    let is_unsigned = |part: Part<'_>| part.is_unsigned_reasoning();
    let unsigned = request.transcript.entries().find(|entry| entry.parts().any(is_unsigned));
    if let Some(entry) = unsigned {
        let detail = "thinking without a signature".to_owned();
        put(MisfitKind::UnsignedThinking, Sure::Yes, Some(entry.index), detail);
    }
    if let Some(last) = request.transcript.entries().next_back()
        && last.role() == Role::Assistant
        && !last.has_calls()
        && refuses(Unsupported::Prefill)
    {
        let detail = "the last message is the assistant's".to_owned();
        put(MisfitKind::Prefill, Sure::Yes, Some(last.index), detail);
    }
}

/// What is wrong with the reasoning parameters.
fn thinking(request: &Request, model: &Model) -> Option<String> {
    let asked = request.format.dialect().thinking_type(request.thinking()?)?;
    let mode = match asked.as_str() {
        "adaptive" => Mode::Adaptive,
        "enabled" => Mode::Manual,
        "disabled" => Mode::Off,
        _ => return None,
    };
    let taken = model.thinking.as_ref().map_or(&[Mode::Off][..], |thinking| &thinking.modes);
    (!taken.contains(&mode)).then(|| {
        let word = |mode: &Mode| match mode {
            Mode::Adaptive => "adaptive",
            Mode::Manual => "enabled",
            Mode::Off => "disabled",
            Mode::Effort => "effort",
        };
        let known: Vec<&str> = taken.iter().map(word).collect();
        format!("thinking {asked:?}; the model takes {}", known.join(", "))
    })
}

/// Signed reasoning of a model that this one isn't.
fn foreign_reasoning(request: &Request, model: &Model) -> Option<String> {
    let own = request.model()?;
    let made_by = Registry::built_in().get(&own).map_or(own.as_str(), |own| own.id.as_str());
    first_reasoning(request)?;
    (made_by != model.id)
        .then(|| format!("signed reasoning of {made_by}: dropped where it can't be read"))
}

fn first_reasoning(request: &Request) -> Option<usize> {
    let is_signed = |part: crate::transcript::Part<'_>| {
        part.kind() == PartKind::Reasoning && part.is(Marks::SIGNED)
    };
    request.transcript.entries().find(|entry| entry.parts().any(is_signed)).map(|entry| entry.index)
}

fn first_media(request: &Request, wanted: impl Fn(&str) -> bool) -> Option<usize> {
    let mut entries = request.transcript.entries();
    entries
        .find(|entry| {
            entry.parts().any(|part| part.kind() == PartKind::Media && wanted(&part.name()))
        })
        .map(|entry| entry.index)
}

/// As the formats name the kinds of media: by type, or by the part that holds them.
fn is_document(name: &str) -> bool {
    ["pdf", "document", "file", "text/"].iter().any(|kind| name.contains(kind))
}
