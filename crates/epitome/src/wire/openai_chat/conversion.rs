//! Chat's side of conversion, and what Responses has in common with it.

use serde_json::{Value, json};

use super::{OpenaiChat, is_mistrals, terms::TERMS};
use crate::json::{self, Span, quote, unquote};
use crate::text::data_url::DataUrl;
use crate::transcript::{Entry, Part, PartKind};
use crate::wire::Terms;
use crate::wire::conversion::{
    CallDemand, CallForm, Conversion, Inside, Members, Seal, SpokenPiece, is_refusal, words,
};
use crate::wire::neutral::{
    CallOutcome, Data, Input, Medium, Object, Parameters, ShownMedium, Tool, ToolAnswer, ToolCall,
    ToolChoice, ToolInput, ToolReader, text,
};

/// Sounds that it takes, and what it calls them (the `InputAudio` of its SDKs knows no others).
const SOUNDS: [(&str, &str); 2] = [("audio/wav", "wav"), ("audio/mp3", "mp3")];

impl Conversion for OpenaiChat {
    fn terms(&self) -> &'static Terms {
        &TERMS
    }

    fn id_length(&self, model: &str) -> Option<usize> {
        is_mistrals(model).then_some(9)
    }

    fn named_for(&self, model: &str, name: &'static str) -> &'static str {
        if name == "max_completion_tokens" && is_mistrals(model) { "max_tokens" } else { name }
    }

    /// A result's payload is none.
    fn is_block(&self, part: &Part<'_>) -> bool {
        part.kind() != PartKind::Result
    }

    fn call_form(&self, _entry: Entry<'_>, call: &Part<'_>) -> CallForm {
        let raw = call.raw();
        let is_custom =
            raw.starts_with('{') && json::member(raw, Span::new(0..raw.len()), "custom").is_some();
        if is_custom { CallForm::Words } else { CallForm::Function }
    }

    /// It stands beside the content, or in it.
    fn refusal(&self, part: &Part<'_>) -> Option<String> {
        let raw = part.raw();
        if raw.starts_with('"') {
            return Some(unquote(raw).into_owned());
        }
        is_refusal(part).then(|| json::text_member(raw, "refusal")).flatten()
    }

    fn read_medium(&self, value: &Value) -> Option<Medium> {
        read_medium(value)
    }

    fn read_tool(&self, item: &Object<'_>, reader: &mut ToolReader<'_>) {
        if item.text("type").as_deref() == Some("custom") {
            if let Some(custom) = item.object("custom") {
                reader.words(&custom);
            }
        } else if let Some(function) = item.object("function") {
            reader.function(&function, function.get(&["parameters"]));
        } else {
            reader.other(item);
        }
    }

    fn read_choice(&self, name: &str, value: &Value, parameters: &mut Parameters) -> Option<()> {
        read_choice(name, value, parameters)
    }

    fn definition(&self, tool: &Tool) -> String {
        let mut members = tool.members();
        let kind = if let ToolInput::Words(form) = &tool.form {
            members.extend(form.as_deref().map(|form| format!(r#""format":{}"#, wrapped(form))));
            "custom"
        } else {
            members.extend(tool.is_strict().then(|| r#""strict":true"#.to_owned()));
            members.push(format!(r#""parameters":{}"#, tool.schema()));
            "function"
        };
        format!(r#"{{"type":"{kind}","{kind}":{{{}}}}}"#, members.join(","))
    }

    fn can_limit_calls(&self, _choice: Option<&ToolChoice>) -> bool {
        true
    }

    fn choice(&self, wish: &CallDemand<'_>) -> Members {
        write_choice(wish, |kind, name| json!({"type": kind, kind: {"name": name}}))
    }

    /// Calls stand beside the content.
    fn reply(&self, reply: Vec<SpokenPiece>, only: Option<&str>) -> Vec<String> {
        let (mut elements, mut calls) = (Vec::new(), Vec::new());
        for piece in reply {
            match piece {
                SpokenPiece::Element(text) => elements.push(text),
                SpokenPiece::Call(text) => calls.push(text),
            }
        }
        let content = match (only, elements.as_slice()) {
            (Some(text), _) => quote(text),
            (None, []) if calls.is_empty() => return Vec::new(),
            (None, []) => "null".to_owned(),
            (None, elements) => format!("[{}]", elements.join(",")),
        };
        let calls = match calls.as_slice() {
            [] => String::new(),
            calls => format!(r#","tool_calls":[{}]"#, calls.join(",")),
        };
        vec![format!(r#"{{"role":"assistant","content":{content}{calls}}}"#)]
    }

    fn medium(&self, shown: &ShownMedium<'_>) -> Option<Value> {
        let kind = shown.kind;
        Some(match &shown.medium.data {
            data if shown.is_image() => {
                let mut image = json!({"url": to_url(kind, data)?});
                if let Some(detail) = &shown.medium.detail {
                    image["detail"] = json!(detail);
                }
                json!({"type": "image_url", "image_url": image})
            }
            Data::Base64(data) if kind.starts_with("audio/") => {
                let (_, format) = SOUNDS.iter().find(|(name, _)| *name == kind)?;
                json!({"type": "input_audio", "input_audio": {"data": data, "format": format}})
            }
            data @ Data::Base64(_) if shown.is_pdf() => {
                let file = json!({"filename": file_name(shown), "file_data": to_url(kind, data)?});
                json!({"type": "file", "file": file})
            }
            _ => return None,
        })
    }

    fn shows_in_results(&self, _outcome: CallOutcome) -> bool {
        false
    }

    fn call(&self, call: &ToolCall, _seal: Seal) -> String {
        let (id, name) = (quote(&call.id), quote(&call.name));
        match &call.input {
            Input::Words(words) => format!(
                r#"{{"id":{id},"type":"custom","custom":{{"name":{name},"input":{}}}}}"#,
                quote(words)
            ),
            Input::Object(arguments) => format!(
                r#"{{"id":{id},"type":"function","function":{{"name":{name},"arguments":{}}}}}"#,
                quote(arguments)
            ),
        }
    }

    fn result(&self, answer: &ToolAnswer, content: &[Inside]) -> String {
        let (id, words) = (quote(&answer.id), words(self, content));
        format!(r#"{{"role":"tool","tool_call_id":{id},"content":{words}}}"#)
    }
}

/// A format of words as Chat has it.
fn wrapped(form: &str) -> String {
    let form = Object::of(form);
    if form.text("type").as_deref() != Some("grammar") {
        return r#"{"type":"text"}"#.to_owned();
    }
    let grammar = form.0.iter().filter(|(key, _)| key != "type");
    let grammar: Vec<_> = grammar.map(|(key, value)| format!("{}:{value}", quote(key))).collect();
    format!(r#"{{"type":"grammar","grammar":{{{}}}}}"#, grammar.join(","))
}

/// In both formats: an image by its address, a file, a sound.
pub(in crate::wire) fn read_medium(value: &Value) -> Option<Medium> {
    let image = &value["image_url"];
    if let Some(url) = text(image).or_else(|| text(&image["url"])) {
        let (kind, data) = from_url(url);
        let detail = text(&image["detail"]).or_else(|| text(&value["detail"]));
        let detail = detail.filter(|detail| detail != "auto");
        return Some(Medium { detail, ..Medium::new(kind.unwrap_or("image".to_owned()), data) });
    }
    if let Some(sound) = value["input_audio"].as_object() {
        let format = sound.get("format").and_then(Value::as_str).unwrap_or("wav");
        let data = sound.get("data").and_then(text)?;
        return Some(Medium::new(format!("audio/{format}"), Data::Base64(data)));
    }
    let holder = if value["file"].is_object() { &value["file"] } else { value };
    let name = text(&holder["filename"]);
    if let Some(file) = text(&holder["file_data"]).or_else(|| text(&holder["file_url"])) {
        let (kind, data) = from_url(file);
        let kind = kind.unwrap_or("application/pdf".to_owned());
        return Some(Medium { name, ..Medium::new(kind, data) });
    }
    let id = text(&holder["file_id"])?;
    let kind = if value["type"] == "input_image" { "image" } else { "" };
    Some(Medium { name, ..Medium::new(kind, Data::Elsewhere(id)) })
}

/// A `data:` address as what it holds.
fn from_url(url: String) -> (Option<String>, Data) {
    match DataUrl::read(&url) {
        // Types are written in any case.
        Some(DataUrl { kind, data }) => {
            (Some(kind.to_ascii_lowercase()), Data::Base64(data.to_owned()))
        }
        None => (None, Data::Url(url)),
    }
}

pub(in crate::wire) fn to_url(kind: &str, data: &Data) -> Option<String> {
    match data {
        Data::Base64(data) => Some(format!("data:{kind};base64,{data}")),
        Data::Url(url) => Some(url.clone()),
        Data::Text(_) | Data::Elsewhere(_) => None,
    }
}

pub(in crate::wire) fn file_name(shown: &ShownMedium<'_>) -> String {
    shown.medium.name.clone().unwrap_or_else(|| shown.numbered() + ".pdf")
}

pub(in crate::wire) fn read_choice(
    name: &str,
    value: &Value,
    parameters: &mut Parameters,
) -> Option<()> {
    let holders = [&value["function"], &value["custom"], value];
    let is_one =
        name == "function_call" || matches!(value["type"].as_str(), Some("function" | "custom"));
    let named = || holders.into_iter().find_map(|one| ToolChoice::of_name(&one["name"]));
    let choice = ToolChoice::of_word(value).or_else(|| is_one.then(named).flatten())?;
    parameters.choice = Some(choice);
    Some(())
}

/// The members for it; `named` writes a tool by its kind and name.
pub(in crate::wire) fn write_choice(
    wish: &CallDemand<'_>,
    named: impl Fn(&str, &str) -> Value,
) -> Members {
    let kind = |name: &str| {
        let takes_words = |t: &Tool| t.name == name && matches!(t.form, ToolInput::Words(_));
        if wish.tools.iter().any(takes_words) { "custom" } else { "function" }
    };
    let choice = wish.choice.map(|choice| match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Any => json!("required"),
        ToolChoice::Tool(name) => named(kind(name), name),
    });
    let choice = choice.map(|value| ("tool_choice", value));
    let parallel = wish.parallel.map(|parallel| ("parallel_tool_calls", json!(parallel)));
    choice.into_iter().chain(parallel).collect()
}
