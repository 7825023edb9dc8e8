//! PROVIDERS.md B.2: what OpenAI Responses accept.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// Whether the provider would take these items; `body` is the whole request, if it is one.
pub(super) fn accepts(items: &[Value], body: &Value) -> Result<(), String> {
    let names = |key: &str| !body[key].is_null();
    if names("previous_response_id") && names("conversation") {
        return Err("Mutually exclusive parameters".to_owned());
    }
    let edits = body["context_management"].as_array();
    let thresholds = edits.into_iter().flatten().filter_map(|it| it["compact_threshold"].as_u64());
    if thresholds.into_iter().any(|threshold| threshold < 1000) {
        return Err("compact_threshold: integer below minimum value".to_owned());
    }
    let parts = items.iter().flat_map(|item| item["content"].as_array().into_iter().flatten());
    let marks = parts.filter(|part| !part["prompt_cache_breakpoint"].is_null()).count();
    let own = usize::from(body["prompt_cache_options"]["mode"] != "explicit");
    if marks > 0 && marks + own > 4 {
        return Err(format!("At most 4 prompt cache breakpoints, but {} were given.", marks + own));
    }
    let continues = names("previous_response_id") || names("conversation");
    let mut ids = HashSet::new();
    for (n, item) in items.iter().enumerate() {
        shape(n, item, n + 1 == items.len())?;
        own_id(n, item, &mut ids)?;
        let is_bare = match kind(item) {
            "item_reference" => true,
            "reasoning" => {
                item["id"].is_string()
                    && is_blank(&item["encrypted_content"])
                    && is_blank(&item["content"])
            }
            _ => false,
        };
        if is_bare && body["store"] == false {
            return Err(format!("Item with id '{}' not found.", item["id"]));
        }
    }
    pairs(items, continues)?;
    if !continues {
        thoughts(items)?;
    }
    made_together(items)
}

fn kind(item: &Value) -> &str {
    match item["type"].as_str() {
        Some(kind) => kind,
        None if item["role"].is_null() && item["id"].is_string() => "item_reference",
        None if item["role"].is_null() => "",
        None => "message",
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}

fn shape(n: usize, item: &Value, is_last: bool) -> Result<(), String> {
    let role = item["role"].as_str().unwrap_or_default();
    match kind(item) {
        "" => return Err(format!("input[{n}]: not an item")),
        "message" => {
            if !["user", "assistant", "system", "developer"].contains(&role) {
                return Err(format!("Invalid value: '{role}' (input[{n}].role)"));
            }
            let content = &item["content"];
            if !(content.is_string() || content.is_array()) {
                return Err(format!("Invalid type for 'input[{n}].content'"));
            }
            for block in content.as_array().into_iter().flatten() {
                let kind = block["type"].as_str().unwrap_or_default();
                let is_wrong = match role {
                    "assistant" => ["text", "input_text"].contains(&kind),
                    _ => ["text", "output_text"].contains(&kind),
                };
                if is_wrong && block["text"].is_string() {
                    return Err(format!("Invalid value: '{kind}' (input[{n}].content)"));
                }
            }
        }
        "compaction_trigger" if !is_last => return Err("the trigger must be final".to_owned()),
        kind @ ("function_call" | "custom_tool_call") => {
            let payload = if kind == "function_call" { "arguments" } else { "input" };
            if !item[payload].is_string() {
                return Err(format!("Invalid type for 'input[{n}].{payload}'"));
            }
            let name = item["name"].as_str().unwrap_or_default();
            let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if name.is_empty() || name.len() > 128 || !name.chars().all(is_allowed) {
                return Err(format!("Invalid 'input[{n}].name': string does not match pattern."));
            }
        }
        kind @ ("function_call_output" | "custom_tool_call_output" | "local_shell_call_output") => {
            let output = &item["output"];
            let may_be_list = kind != "local_shell_call_output";
            if !(output.is_string() || may_be_list && output.is_array()) {
                return Err(format!("Missing required parameter: 'input[{n}].output'."));
            }
            for block in output.as_array().into_iter().flatten() {
                if block["text"].is_string() && block["type"] != "input_text" {
                    return Err(format!("Invalid value: {} (input[{n}].output)", block["type"]));
                }
            }
        }
        "shell_call_output" if !item["output"].is_array() => {
            return Err(format!("Invalid type for 'input[{n}].output'"));
        }
        "apply_patch_call_output" if !(item["output"].is_null() || item["output"].is_string()) => {
            return Err(format!("Invalid type for 'input[{n}].output'"));
        }
        _ => {}
    }
    Ok(())
}

fn own_id<'a>(n: usize, item: &'a Value, ids: &mut HashSet<&'a str>) -> Result<(), String> {
    let Some(id) = item["id"].as_str() else { return Ok(()) };
    let (prefix, is_optional) = match kind(item) {
        "message" => ("msg", true),
        "function_call" => ("fc", true),
        "reasoning" => ("rs", true),
        "function_call_output"
        | "custom_tool_call"
        | "custom_tool_call_output"
        | "shell_call"
        | "shell_call_output"
        | "apply_patch_call"
        | "apply_patch_call_output"
        | "tool_search_call"
        | "web_search_call" => ("", true),
        _ => ("", false),
    };
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let is_good = id.starts_with(prefix)
        && !id.is_empty()
        && id.chars().count() <= 64
        && id.chars().all(is_allowed);
    if is_optional && !is_good {
        return Err(format!("Invalid 'input[{n}].id': '{id}'."));
    }
    if ids.insert(id) { Ok(()) } else { Err(format!("Duplicate item found with id {id}.")) }
}

/// What a call's type has to do with an output's.
fn family(kind: &str) -> Option<&'static str> {
    let of = |name: &str| {
        [
            "function",
            "custom_tool",
            "shell",
            "apply_patch",
            "computer",
            "tool_search",
            "local_shell",
        ]
        .into_iter()
        .find(|family| *family == name)
    };
    let call = kind.strip_suffix("_output").unwrap_or(kind);
    let name = call.strip_suffix("_call").unwrap_or(call);
    // `function` by itself is the kind of a tool, not of an item.
    let family = of(name).filter(|_| name != kind)?;
    Some(if family == "local_shell" { "function" } else { family })
}

fn pairs(items: &[Value], continues: bool) -> Result<(), String> {
    let position = |is: &dyn Fn(&Value) -> bool| items.iter().position(is);
    let last =
        |is: &dyn Fn(usize, &Value) -> bool| (0..items.len()).rev().find(|n| is(*n, &items[*n]));
    let is_reference = |item: &Value| kind(item) == "item_reference";
    let first_reference = position(&is_reference);
    let last_reference = last(&|_, item| is_reference(item));
    let asks = |item: &Value| match kind(item) {
        "message" => item["role"] != "assistant",
        "compaction_trigger" | "mcp_approval_response" | "additional_tools" => true,
        _ => false,
    };
    let last_asked = last(&|_, item| asks(item));
    let last_output = last(&|_, item| is_output(item));
    let mut open: HashMap<(&str, &str), usize> = HashMap::new();
    let mut seen: HashSet<&str> = HashSet::new();
    for (n, item) in items.iter().enumerate() {
        let Some(family) = family(kind(item)).filter(|_| item["execution"] != "server") else {
            continue;
        };
        let id = item["call_id"].as_str();
        if family == "tool_search" && id.is_none() {
            continue;
        }
        if !is_output(item) {
            let id = id.unwrap_or_default();
            if id.is_empty() || id.chars().count() > 64 || !seen.insert(id) {
                return Err(format!("Invalid 'input[{n}].call_id': '{id}'"));
            }
            open.insert((family, id), n);
            continue;
        }
        // The older shell names its call by `id`; a named tool's output may have no call.
        let id = id.or(item["id"].as_str());
        if id.unwrap_or_default().is_empty() && item["name"].is_string() && item["name"] != "" {
            continue;
        }
        let id = id.unwrap_or_default();
        if open.remove(&(family, id)).is_none() {
            let is_elsewhere = continues || first_reference.is_some_and(|first| first < n);
            if seen.contains(id) || !is_elsewhere {
                return Err(format!(
                    "No tool call found for function call output with call_id {id}."
                ));
            }
        }
    }
    for ((_, id), n) in open {
        let is_before = |other: Option<usize>| other.is_some_and(|other| n < other);
        let is_over = is_before(last_asked) || is_before(last_output);
        if is_over && !is_before(last_reference) && items[n]["async"] != true {
            return Err(format!("No tool output found for function call {id}."));
        }
    }
    Ok(())
}

fn is_output(item: &Value) -> bool {
    let kind = kind(item);
    kind == "program_output"
        || kind.ends_with("_output")
            && item["execution"] != "server"
            && (kind != "tool_search_output" || item["call_id"].is_string())
}

/// Whether the model made it.
fn is_made(item: &Value) -> bool {
    match kind(item) {
        "message" => item["role"] == "assistant",
        "reasoning" | "program" | "mcp_list_tools" | "mcp_approval_request" => true,
        "tool_search_output" => !is_output(item),
        kind => kind.ends_with("_call") && (family(kind).is_some() || KNOWN.contains(&kind)),
    }
}

const KNOWN: [&str; 5] = [
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
];

/// Thoughts with ids are followed by what was made of them.
fn thoughts(items: &[Value]) -> Result<(), String> {
    for (n, item) in items.iter().enumerate() {
        if kind(item) != "reasoning" || !item["id"].is_string() {
            continue;
        }
        let next = items[n + 1..].iter().find(|item| kind(item) != "reasoning");
        let follows = next.is_some_and(|next| {
            let is_input = matches!(
                kind(next),
                "message" | "compaction_trigger" | "mcp_approval_response" | "additional_tools"
            );
            is_made(next) || !is_input && !is_output(next)
        });
        if !follows {
            return Err(format!(
                "Item '{}' of type 'reasoning' was provided without its required following item.",
                item["id"]
            ));
        }
    }
    Ok(())
}

/// What only the provider knows: which items it made from which thought. The generator writes it into their
/// ids: `fc_7_of_rs_3` wants `rs_3`.
fn made_together(items: &[Value]) -> Result<(), String> {
    let mut thoughts: HashSet<&str> = HashSet::new();
    for item in items {
        let Some(id) = item["id"].as_str() else { continue };
        if kind(item) == "reasoning" {
            thoughts.insert(id);
        } else if let Some((_, thought)) = id.split_once("_of_")
            && !thoughts.contains(thought)
        {
            return Err(format!(
                "Item '{id}' was provided without its required 'reasoning' item: '{thought}'."
            ));
        }
    }
    Ok(())
}
