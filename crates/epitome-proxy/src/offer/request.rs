//! Bodies of requests to which recall is offered.
//!
//! Gemini reads the members of a body in two spellings; what a body has keeps its own.

use epitome::archive::{GET, SEARCH};
use epitome::word_list::words;
use epitome::{Format, wire};
use epitome_server::definitions;
use serde_json::{Map, Value, json};

use super::is_ours;
use crate::native::members::{Members, Raws, list_of, raw};

/// A body with the recall tools; `None` if they aren't offered: it has no tools or one of such a name, wants several
/// answers, or keeps its history at its provider.
pub(crate) fn offered(format: Format, text: &str) -> Option<String> {
    let mut members = Members::read(text)?;
    let mut tools: Raws = members.get("tools")?;
    if !is_alone(format, &members) || tools.iter().any(|tool| collides(tool.get())) {
        return None;
    }
    let own = definitions().into_iter().filter(|tool| is_ours(&tool.name)).map(|tool| {
        let description = tool.description.as_deref().unwrap_or_default();
        raw(defined(format, &tool.name, description, &tool.input_schema).to_string())
    });
    if format == Format::Gemini {
        // All functions stand in one tool: Vertex takes no second one.
        let place = tools.iter().position(|tool| {
            Members::read(tool.get()).is_some_and(|tool| spelt(&tool, FUNCTIONS).is_some())
        })?;
        let mut tool = Members::read(tools[place].get())?;
        let name = spelling(&tool, FUNCTIONS);
        let mut functions: Raws = tool.get(name)?;
        if functions.is_empty() {
            return None;
        }
        functions.extend(own);
        tool.set(name, list_of(&functions));
        tools[place] = raw(tool.to_string());
    } else if tools.is_empty() || format == Format::GeminiInteractions && !has_function(&tools) {
        return None;
    } else {
        tools.extend(own);
    }
    members.set("tools", list_of(&tools));
    Some(members.to_string())
}

/// The documented spelling of a member of Gemini's, and that of protocol buffers.
type Spellings = [&'static str; 2];

const FUNCTIONS: Spellings = ["functionDeclarations", "function_declarations"];
const TOOL_CONFIG: Spellings = ["toolConfig", "tool_config"];
const CALLING: Spellings = ["functionCallingConfig", "function_calling_config"];
const PIECES: Spellings = ["streamFunctionCallArguments", "stream_function_call_arguments"];
const CONFIG: Spellings = ["generationConfig", "generation_config"];
const CANDIDATES: Spellings = ["candidateCount", "candidate_count"];
const CACHE: Spellings = ["cachedContent", "cached_content"];

/// The value of a member in either spelling.
fn spelt(members: &Members, names: Spellings) -> Option<&str> {
    names.iter().find_map(|name| members.raw(name))
}

/// The spelling that a member has, or would be given.
fn spelling(members: &Members, names: Spellings) -> &'static str {
    names.into_iter().find(|name| members.raw(name).is_some()).unwrap_or(names[0])
}

/// A member that is an object; empty where it isn't.
fn inner(members: &Members, name: &str) -> Members {
    members.raw(name).and_then(Members::read).unwrap_or_default()
}

/// Whether a tool has such a name.
fn collides(tool: &str) -> bool {
    let tool: Value = serde_json::from_str(tool).unwrap_or_default();
    let functions = FUNCTIONS.iter().filter_map(|name| tool[name].as_array()).flatten();
    let names = [&tool["name"], &tool["function"]["name"]].into_iter();
    let mut names = names.chain(functions.map(|function| &function["name"]));
    let is_like = |name: &str| [SEARCH, GET].iter().any(|own| name.ends_with(own));
    names.any(|name| name.as_str().is_some_and(is_like))
}

/// Whether functions are among the tools: some models take no function beside the provider's own tools.
fn has_function(tools: &Raws) -> bool {
    let kind = |tool: &str| Members::read(tool)?.get::<String>("type");
    tools.iter().any(|tool| kind(tool.get()).as_deref() == Some("function"))
}

/// Whether a request wants one answer, and all of its history is in it.
fn is_alone(format: Format, members: &Members) -> bool {
    let is_whole = |elsewhere: &[&str]| {
        members.get::<bool>("store") == Some(false)
            && members.get::<bool>("background") != Some(true)
            && elsewhere.iter().all(|name| members.raw(name).is_none())
    };
    match format {
        Format::Anthropic => true,
        Format::OpenaiChat => members.get::<u64>("n").is_none_or(|answers| answers == 1),
        Format::OpenaiResponses => is_whole(&["previous_response_id", "conversation"]),
        // An agent of the provider's works by itself.
        Format::GeminiInteractions => {
            is_whole(&["previous_interaction_id", "cached_content", "agent"])
        }
        Format::Gemini => {
            let config = inner(members, spelling(members, CONFIG));
            let tools = inner(members, spelling(members, TOOL_CONFIG));
            let calling = inner(&tools, spelling(&tools, CALLING));
            // The proxy reads no arguments in pieces.
            spelt(&config, CANDIDATES).is_none_or(|answers| answers == "1")
                && spelt(&calling, PIECES).is_none_or(|has_pieces| has_pieces == "false")
                && spelt(members, CACHE).is_none()
        }
        _ => false,
    }
}

/// The definition of a tool.
fn defined(format: Format, name: &str, description: &str, schema: &Map<String, Value>) -> Value {
    match format {
        Format::Anthropic => {
            json!({"name": name, "description": description, "input_schema": schema})
        }
        Format::OpenaiChat => {
            let function = json!({"name": name, "description": description, "parameters": schema});
            json!({"type": "function", "function": function})
        }
        Format::Gemini => {
            json!({"name": name, "description": description, "parametersJsonSchema": schema})
        }
        Format::GeminiInteractions => {
            json!({"type": "function", "name": name, "description": description, "parameters": schema})
        }
        _ => {
            json!({"type": "function", "name": name, "description": description, "parameters": schema, "strict": false})
        }
    }
}

/// Has a request's model speak only. The tools stay: signed thinking and the provider's cache hold for these.
pub(super) fn silenced(format: Format, members: &mut Members) {
    let none = json!("none").to_string();
    let (name, json) = match format {
        Format::Anthropic => ("tool_choice", json!({"type": "none"}).to_string()),
        Format::Gemini => {
            let name = spelling(members, TOOL_CONFIG);
            let mut config = inner(members, name);
            config.set(spelling(&config, CALLING), json!({"mode": "NONE"}).to_string());
            (name, config.to_string())
        }
        Format::GeminiInteractions => {
            let name = "generation_config";
            let mut config = inner(members, name);
            config.set("tool_choice", none);
            (name, config.to_string())
        }
        _ => ("tool_choice", none),
    };
    members.set(name, json);
}

/// Types of contents that may stand for a message of the user's.
const CONTENTS: [&str; 5] = words!("audio document image text video");

/// The input as a list of messages, from any of its shorter forms: one message, its contents, or its words.
pub(super) fn messages(format: Format, sent: &str) -> Option<Raws> {
    let mut all: Raws = match sent.as_bytes().first()? {
        b'[' => serde_json::from_str(sent).ok()?,
        b'{' => vec![raw(sent.to_owned())],
        _ if format == Format::GeminiInteractions => {
            vec![raw(json!({"type": "text", "text": words_of(sent)?}).to_string())]
        }
        _ => {
            return Some(vec![
                raw(json!({"role": "user", "content": words_of(sent)?}).to_string()),
            ]);
        }
    };
    let is_content = |entry: &str| {
        let kind = Members::read(entry).and_then(|entry| entry.get::<String>("type"));
        kind.is_some_and(|kind| CONTENTS.contains(&&*kind))
    };
    if format == Format::GeminiInteractions
        && !all.is_empty()
        && all.iter().all(|entry| is_content(entry.get()))
    {
        let content = list_of(&all);
        all = vec![raw(format!(r#"{{"type":"user_input","content":{content}}}"#))];
    }
    Some(all)
}

/// The items of a round, without those that its provider returns and refuses to read again, such as empty texts.
pub(super) fn lawful(format: Format, said: Raws) -> Raws {
    let mended = || {
        // In most APIs the user speaks first.
        let mut all = vec![raw(format.user_message("Go on."))];
        all.extend(said.iter().cloned());
        let name = format.list();
        let request = wire::parse(format, format!(r#"{{"{name}":{}}}"#, list_of(&all))).ok()?;
        let repaired = wire::repair(&request);
        let mut all: Raws = Members::read(repaired.request.source())?.get(name)?;
        (repaired.came_from.first() == Some(&Some(0))).then(|| all.split_off(1))
    };
    mended().unwrap_or(said)
}

fn words_of(sent: &str) -> Option<String> {
    serde_json::from_str(sent).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_its_provider_would_refuse_does_not_go_back() {
        let back = |format: Format, said: Value| {
            let said: Raws = serde_json::from_value(said).expect("a list");
            serde_json::from_str::<Value>(&list_of(&lawful(format, said))).expect("JSON")
        };
        let call = json!({"type": "tool_use", "id": "a", "name": SEARCH, "input": {"query": "x"}});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x"}]});
        let thought = json!({"type": "thinking", "thinking": "", "signature": "c2ln"});
        let said = |blocks: &[&Value]| json!([{"role": "assistant", "content": blocks}, result]);
        let text = |text: &str| json!({"type": "text", "text": text});
        for blank in ["", "\n\n"] {
            let came = said(&[&thought, &text(blank), &call]);
            assert_eq!(back(Format::Anthropic, came), said(&[&thought, &call]));
        }
        let came = said(&[&thought, &text(" a"), &call]);
        assert_eq!(back(Format::Anthropic, came.clone()), came);

        let call =
            json!({"functionCall": {"name": SEARCH, "args": {}}, "thoughtSignature": "c2ln"});
        let found = json!({"functionResponse": {"name": SEARCH, "response": {"output": "x"}}});
        let said = |parts: &[&Value]| json!([{"role": "model", "parts": parts}, {"role": "user", "parts": [found]}]);
        let [empty, words] = ["", "Let me see."].map(|text| json!({"text": text}));
        let came = said(&[&empty, &words, &call, &empty]);
        assert_eq!(back(Format::Gemini, came), said(&[&words, &call]));
        // A signature may stand on nothing.
        let signed = json!({"text": "", "thoughtSignature": "c2ln"});
        let came = said(&[&words, &call, &signed]);
        assert_eq!(back(Format::Gemini, came.clone()), came);
    }

    #[test]
    fn words_and_contents_are_a_message_of_the_users() {
        let interactions = Format::GeminiInteractions;
        let text = r#"{"type":"text","text":"Go."}"#;
        let input = format!(r#"[{{"type":"user_input","content":[{text}]}}]"#);
        let step = r#"{"type":"function_result","call_id":"a","result":"x"}"#;
        for (format, sent, list) in [
            (Format::OpenaiResponses, r#""Go.""#, r#"[{"content":"Go.","role":"user"}]"#),
            (Format::Gemini, r#"{"parts":[]}"#, r#"[{"parts":[]}]"#),
            (interactions, "[]", "[]"),
            (interactions, text, &input),
            (interactions, &format!("[{text}]"), &input),
            (interactions, step, &format!("[{step}]")),
            (interactions, &format!("[{text},{step}]"), &format!("[{text},{step}]")),
        ] {
            assert_eq!(messages(format, sent).map(|all| list_of(&all)).as_deref(), Some(list));
        }
        let words = messages(interactions, r#""Go.""#).map(|all| list_of(&all)).expect("words");
        assert!(words.starts_with(r#"[{"type":"user_input","content":[{"#), "{words}");
        assert!(messages(interactions, "7").is_none());
    }
}
