//! Whether a text calls a tool, in one of the forms that models write calls in when no tools are offered.

use crate::word_list::words;

/// The beginnings of calls, in lower case; `|` also stands for the wide one of some models.
const MARKS: [&str; 21] = words!(
    "<tool_call <function_call <function= <invoke <tool_use <tool_code <use_mcp_tool <execute_tool \
     <call_tool <|tool <|python_tag|> <|call|> <|plugin|> <|action_start|> [tool_call [tool_use \
     ```tool_c ```tool_u to=functions. <|functions <|recipient|>"
);

/// Members that only a call has, and two that it has together.
const MEMBERS: [&str; 5] =
    ["\"tool_calls\"", "\"function_call\"", "\"tool_use\"", "\"tool_input\"", "\"action_input\""];
const GIVEN: [&str; 3] = ["\"arguments\"", "\"parameters\"", "\"input\""];

/// Whether it does; what stands between backticks in a line is only spoken of.
pub(super) fn calls_tool(text: &str) -> bool {
    let text = text.to_lowercase().replace('｜', "|").replace('▁', "_");
    let mut rest = text.as_str();
    for line in text.split_inclusive('\n') {
        let from = rest;
        rest = &rest[line.len()..];
        let said = without_code(line);
        if MARKS.iter().any(|mark| said.contains(mark)) || invokes(&said) || calls_function(&said) {
            return true;
        }
        let begin = line.trim_start_matches(|c: char| c.is_whitespace() || "-*>".contains(c));
        if begins_json(begin) && is_call(paragraph(from)) {
            return true;
        }
    }
    false
}

/// A line without what stands between backticks; a fence stays.
fn without_code(line: &str) -> String {
    if line.trim_start().starts_with("```") {
        return line.to_owned();
    }
    let parts: Vec<&str> = line.split('`').collect();
    // A mark that isn't closed marks nothing.
    let closed = parts.len() - usize::from(parts.len().is_multiple_of(2));
    let said = parts.iter().enumerate().filter(|(at, _)| at % 2 == 0 || *at >= closed);
    said.map(|(_, part)| *part).collect::<Vec<_>>().join(" ")
}

/// `<tools:invoke`, whatever the prefix.
fn invokes(line: &str) -> bool {
    line.match_indices(":invoke").any(|(at, _)| {
        let name = line[..at].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        name.ends_with('<')
    })
}

/// `functions.bash({"command":`
fn calls_function(line: &str) -> bool {
    line.match_indices("functions.").any(|(at, mark)| {
        let name = &line[at + mark.len()..];
        let end = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
        end.len() < name.len() && end.trim_start_matches(['(', ' ', ':']).starts_with('{')
    })
}

/// Whether a line begins an object with a member, or a list of objects: `[b] Begin` and `[projects."x"]` begin none.
fn begins_json(line: &str) -> bool {
    let object = line.strip_prefix('[').map_or(line, str::trim_start);
    let is_whole_line = |rest: &str| rest.trim().is_empty();
    match object.strip_prefix('{') {
        Some(member) => is_whole_line(member) || member.trim_start().starts_with(['"', '\'']),
        // The list goes on in the next line.
        None => line.starts_with('[') && is_whole_line(object),
    }
}

/// Up to what JSON doesn't hold: an empty line, a heading, a fence.
fn paragraph(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        if start.is_empty() || start.starts_with(['#', '`']) {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

fn is_call(json: &str) -> bool {
    let json = json.replace('\'', "\"");
    let has = |member: &&str| json.contains(member);
    MEMBERS.iter().any(has)
        || ["\"name\"", "\"tool\"", "\"function\""].iter().any(has) && GIVEN.iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_every_dialect_are_seen() {
        for call in [
            "```json\n{\"name\":\"bash\",\"arguments\":{\"command\":\"ls\"}}\n```",
            "```\n{\n  \"name\": \"bash\",\n  \"parameters\": {}\n}\n```",
            "<function=bash>{\"command\":\"ls\"}",
            "<｜tool▁calls▁begin｜>bash",
            "<|python_tag|>bash",
            "<function_call name=\"x\">",
            "Then <tool_call>{\"name\":\"bash\"}",
            "<|channel|>commentary to=functions.bash",
            "{\"tool_calls\":[{\"function\":{\"name\":\"bash\"}}]}",
            "- {'tool': 'bash', 'input': {}}",
            "<tools:invoke>",
            "functions.bash({\"command\":\"ls\"})",
            "[{\"type\":\"tool_use\",\"id\":\"x\"}]",
            "[\n  {\n    \"type\": \"tool_use\",\n    \"id\": \"x\"\n  }\n]",
            "<TOOL_CALL>",
        ] {
            assert!(calls_tool(&format!("## State\nLook at it.\n{call}")), "{call}");
        }
    }

    #[test]
    fn speaking_of_calls_calls_nothing() {
        for said in [
            "The parser reads `<tool_call>` and `{\"name\":\"x\",\"arguments\":{}}` now.",
            "The tool was invoked twice; its arguments were wrong, and the name, too.",
            "The file holds\n{\"name\": \"epitome\", \"version\": \"1\"}",
            "- `functions.bash({})` is refused, functions.rs is done.",
            "{\"op\":\"add\",\"kind\":\"fact\",\"text\":\"its name\",\"sources\":[4]}",
            "[x] The name is read.",
            "- [b] Begin\n- it reads \"function_call\"\n- and \"name\" with \"input\"",
            "[projects.\"x\"]\n- \"tool_use\" is one of its \"tool_calls\"",
            "The role may do lambda:InvokeFunction.",
        ] {
            assert!(!calls_tool(said), "{said}");
        }
    }
}
