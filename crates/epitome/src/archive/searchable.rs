//! The searchable text of an entry: its words, without finds of a recall.

use std::borrow::Cow;

use crate::transcript::{ContentId, Entry, Marks, PartKind};
use crate::wire::{self, Format};

/// How texts begin that a recall gave: they aren't found by the next one.
pub const MARK: &str = crate::text::framing::RECALL_MARK;

/// The tools by which an agent recalls; clients put names of their own before them (`mcp__epitome__recall_get`).
pub const SEARCH: &str = "recall_search";
/// See [`SEARCH`].
pub const GET: &str = "recall_get";

/// Whether a tool of that name recalls.
///
/// ```
/// use epitome::archive::is_recall;
/// assert!(is_recall("mcp__epitome__recall_search") && is_recall("recall_get"));
/// assert!(!is_recall("recall_getter") && !is_recall("car_recall"));
/// ```
pub fn is_recall(tool: &str) -> bool {
    let before = [SEARCH, GET].iter().find_map(|name| tool.strip_suffix(name));
    before.is_some_and(|before| !before.ends_with(char::is_alphanumeric))
}

/// The searchable parts of an entry: its words, its calls with their arguments, its results. Media, sealed
/// reasoning and ids aren't words. Finds of a recall are left out: the results at these places among the parts,
/// and whatever bears the mark.
pub fn searchable(entry: Entry<'_>, recalled: &[usize]) -> String {
    let mut out = String::new();
    // Whether the text after it in the same result is a find of a recall.
    let mut is_recalled = false;
    for (at, part) in entry.parts().enumerate() {
        let is_nested = part.is(Marks::NESTED);
        if part.kind() == PartKind::Result {
            is_recalled = recalled.contains(&at);
        } else if !is_nested {
            is_recalled = false;
        }
        if is_recalled || !part.says_own_words() {
            continue;
        }
        let text: Cow<'_, str> = match part.kind() {
            PartKind::Text | PartKind::Result => part.text(),
            // Sealed reasoning has no spaces.
            PartKind::Reasoning if part.raw_body().contains(' ') => part.text(),
            PartKind::Call => Cow::Owned(format!("{} {}", part.name(), part.text())),
            _ => continue,
        };
        let own = match part.kind() {
            PartKind::Result => before_recalled(&text),
            _ if is_nested => before_recalled(&text),
            _ => &*text,
        };
        is_recalled = own.len() < text.len();
        if own.trim().is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(own);
    }
    out
}

/// What can precede the first find of a recall in a result: a shell may print something first. A find
/// quoted within a line is the speaker's own text.
fn before_recalled(text: &str) -> &str {
    let is_mark = |at: usize| {
        let rest = &text[at + MARK.len()..];
        let id = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
        id == ContentId::SHORT && rest[id..].starts_with(']')
    };
    let mut marks = text.match_indices(MARK).map(|(at, _)| at).filter(|at| is_mark(*at));
    marks.find_map(|at| begun(text, at)).map_or(text, |at| &text[..at])
}

/// Where that begins which the mark at a byte is the beginning of: at a line, or at the object of JSON of which it begins a
/// member's text; clients and programs that answer in JSON hand a recall on so.
fn begun(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].trim_end_matches([' ', '\t']);
    // A line of a text that is JSON begins behind an escape.
    if before.is_empty() || before.ends_with('\n') || before.ends_with("\\n") {
        return Some(at);
    }
    // Nested texts have their quotes escaped, once for each level.
    let quoted =
        |text: &'_ str| text.strip_suffix('"').map(|text| text.trim_end_matches('\\').len());
    let value = quoted(before).map(|end| before[..end].trim_end())?;
    let key = value.strip_suffix(':')?.trim_end();
    quoted(key)?;
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    Some(before[line..].rfind('{').map_or(line, |object| line + object))
}

/// What can be searched of an entry that is known by its bytes, and by where in it is what a recall gave.
pub fn searchable_in(format: Format, raw: &str, recalled: &[usize]) -> String {
    // A list of one; what isn't an entry of the format has no words.
    let Ok(request) = wire::parse(format, format!("[{raw}]")) else { return String::new() };
    let entry = request.transcript.entries().next();
    entry.map(|entry| searchable(entry, recalled)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_recalled_is_not_found_again() {
        let said = |raw: &str| searchable_in(Format::OpenaiChat, raw, &[]);
        let result = |content: &str| {
            let content = crate::json::quote(content);
            said(&format!(r#"{{"role":"tool","tool_call_id":"a","content":{content}}}"#))
        };
        assert_eq!(result(" [recalled 3f2a9c1b7d20] the port is 5433"), "");
        assert_eq!(result("the port\nis 5433"), "the port\nis 5433");
        assert_eq!(result("Exit code: 0\n[recalled 3f2a9c1b7d20] model\n x"), "Exit code: 0\n");
        for own in [
            "cars [recalled in May] and [recalled ]",
            "As [recalled 3f2a9c1b7d20] says, 7001",
            r#"["[recalled 3f2a9c1b7d20] is a mark", 7001]"#,
        ] {
            assert_eq!(result(own), own);
        }
        let raw = r#"{"role":"user","content":"[recalled 3f2a9c1b7d20] is wrong: port 7001"}"#;
        assert!(said(raw).ends_with("7001"));
    }

    #[test]
    fn finds_within_json_are_not_found_again() {
        // Codex hands answers of MCP servers on so.
        let answer =
            r#"[{"type":"text","text":"[recalled 3f2a9c1b7d20] human\nthe port is 5433"}]"#;
        let hits = serde_json::json!([{ "recalled": "[recalled 3f2a9c1b7d20]", "text": "5433" }]);
        let pretty = serde_json::to_string_pretty(&hits).expect("JSON");
        let shell = serde_json::json!({ "output": pretty, "metadata": { "exit_code": 0 } });
        let printed =
            serde_json::json!({ "stdout": "built\n[recalled 3f2a9c1b7d20] model\n 5433" });
        for (output, own) in [
            (format!("Wall time: 0.1 s\nOutput:\n{answer}"), "Wall time: 0.1 s\nOutput:\n["),
            (hits.to_string(), "["),
            (pretty, "[\n  {\n"),
            (shell.to_string(), r#"{"metadata":{"exit_code":0},"output":"[\n  "#),
            (printed.to_string(), r#"{"stdout":"built\n"#),
        ] {
            let output = crate::json::quote(&output);
            let raw =
                format!(r#"{{"type":"function_call_output","call_id":"a","output":{output}}}"#);
            assert_eq!(searchable_in(Format::OpenaiResponses, &raw, &[]), own);
        }
        let raw = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[
            {"type":"text","text":"one"},{"type":"text","text":"[recalled 3f2a9c1b7d20] human\n5433"},
            {"type":"text","text":"more of it"}]},{"type":"text","text":"and two"}]}"#;
        assert_eq!(searchable_in(Format::Anthropic, raw, &[]), "one\nand two");
        assert_eq!(searchable_in(Format::Anthropic, raw, &[0]), "and two");
    }
}
