//! What an error says of itself: its own words, without what it repeats of the request.

use serde_json::{Deserializer, Value};

use super::{LONGEST, plain};

/// The own words of an error, in lower case; `None` where it says that it is about something else than the prompt's size.
pub(super) fn own_words(value: &Value) -> Option<String> {
    let mut out = String::new();
    tell(value, "", &mut out)?;
    Some(plain(&out))
}

/// Parameters that hold the prompt, or that say how long the reply may be.
const OF_SIZE: [&str; 16] = [
    "",
    "none",
    "null",
    "messages",
    "input",
    "inputs",
    "input_tokens",
    "prompt",
    "contents",
    "instructions",
    "system",
    "max_tokens",
    "max_completion_tokens",
    "max_output_tokens",
    "max_new_tokens",
    "n_predict",
];

/// Codes of errors in a value, as OpenAI and its compatibles call them.
const OF_VALUES: [&str; 6] =
    ["invalid_type", "invalid_value", "unknown_", "unsupported_", "missing_", "_above_max_"];

/// Members that repeat what was sent.
const REPEATED: [&str; 5] = ["ctx", "input", "loc", "request", "value"];

/// The beginning of a message that is looked at.
const BEGINNING: usize = 512;

fn tell(value: &Value, key: &str, out: &mut String) -> Option<()> {
    match value {
        _ if out.len() > LONGEST || REPEATED.contains(&key) => {}
        Value::String(param) if key == "param" && !names_size(param) => return None,
        Value::String(text) => return tell_text(text, key, out),
        Value::Number(number) => out.extend([key, ": ", &number.to_string(), "\n"]),
        Value::Array(values) => values.iter().try_for_each(|value| tell(value, key, out))?,
        Value::Object(members) => {
            members.iter().try_for_each(|(key, value)| tell(value, key, out))?;
        }
        Value::Null | Value::Bool(_) => {}
    }
    Some(())
}

/// Says what a text says, also where it has another error in it, as JSON.
pub(super) fn tell_text(text: &str, key: &str, out: &mut String) -> Option<()> {
    let lower = text.to_lowercase();
    if key == "code" && OF_VALUES.iter().any(|code| lower.contains(code)) {
        return None;
    }
    let end = quote(&lower).unwrap_or(lower.len());
    if let Some(at) = text.find('{').filter(|at| *at < end)
        && let Some(inner) = object(&text[at..])
    {
        out.extend([key, ": ", &lower[..lower.floor_char_boundary(at)], "\n"]);
        return tell(&inner, key, out);
    }
    let own = &lower[..lower.floor_char_boundary(end.min(BEGINNING))];
    if !names_parameter(own) {
        out.extend([key, ": ", own, "\n"]);
    }
    Some(())
}

fn names_size(param: &str) -> bool {
    OF_SIZE.contains(&param.to_lowercase().as_str())
}

/// The object at the beginning, its quotes escaped or not.
fn object(text: &str) -> Option<Value> {
    let first = |text: &str| Deserializer::from_str(text).into_iter().next()?.ok();
    first(text).or_else(|| first(&text.replace("\\\"", "\"")))
}

/// Where a quotation begins. The name of a parameter that holds the prompt is none.
fn quote(text: &str) -> Option<usize> {
    let mut before = ' ';
    let mut name_ends = 0;
    for (at, c) in text.char_indices() {
        let opens = matches!(c, '"' | '“' | '‘') || c == '\'' && !before.is_alphanumeric();
        before = c;
        if !opens || at < name_ends {
            continue;
        }
        let name = text[at + c.len_utf8()..].split(['\'', '"']).next().unwrap_or_default();
        if name.is_empty() || !OF_SIZE.contains(&name) {
            return Some(at);
        }
        name_ends = at + c.len_utf8() + name.len() + 1;
    }
    None
}

/// Whether it begins with the path of a parameter, as in `tools.0.name: …`.
fn names_parameter(text: &str) -> bool {
    let Some((label, _)) = text.split_once(": ") else { return false };
    let is_path = label.contains(['.', '[', '_']) && !label.contains(char::is_whitespace);
    let is_error = ["error", "exception"].iter().any(|end| label.ends_with(end));
    is_path && !is_error && !OF_SIZE.contains(&label)
}
