//! The arguments of tool calls in short: for people on part of a line, and as smaller JSON for a
//! model.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use super::cut;
use super::excerpt::widen;
use super::outline::{Cutting, Limits, Outline, SMALL, ValueKind};
use super::secrets::masked_json;
use crate::json::{Span, members, unquote};
use crate::word_list::words;

/// Argument names under which agents pass a call's target, most telling first.
const COMMAND: [&str; 4] = ["command", "cmd", "commands", "script"];
const PATH: [&str; 13] = words!(
    "file_path path notebook_path absolute_path filename file target_file filepath filePath \
     dir_path directory relative_workspace_path file_name"
);
const SEARCH: [&str; 4] = ["pattern", "query", "regex", "search_term"];
const ADDRESS: [&str; 2] = ["url", "uri"];
/// Bulk that says little in a line.
const BULK: [&str; 14] = words!(
    "content contents old_string new_string oldText newText old_str new_str file_text \
     replacement_text new_source edits patch input"
);

/// A call's target, in at most `max_chars` characters and on one line: `Read(src/main.rs, 1-80)`, `Bash(cargo test)`,
/// `book(user_id=mia, cabin=economy)`. Arguments that aren't a JSON object are shown as they are. Secrets are masked. This
/// is for people: a path that is too long ends with the file's name, `Read(…/main.rs)`.
pub fn short_arguments(tool: &str, arguments_json: &str, max_chars: usize) -> String {
    // Before it is cut: half a secret has no shape.
    unmasked_arguments(tool, &masked_json(arguments_json), max_chars)
}

/// The same, with secrets as they stand there.
pub fn unmasked_arguments(tool: &str, arguments_json: &str, max_chars: usize) -> String {
    let tool = cut::one_line(tool, 48);
    // Room for the parentheses; the tool's name alone where that is all that fits.
    let room = max_chars.saturating_sub(tool.chars().count() + 2);
    let mut inner = cut::whole_words(&gist(arguments_json, room), room);
    if inner == "…" {
        inner = file_name(arguments_json, room).unwrap_or(inner);
    }
    joined(&tool, &inner, max_chars)
}

/// The same for a model: strings are whole or left out. Secrets are masked.
pub(crate) fn whole_arguments(tool: &str, arguments_json: &str, max_chars: usize) -> String {
    let tool = cut::one_line(tool, 48);
    let room = max_chars.saturating_sub(tool.chars().count() + 2);
    let inner = cut::whole_words(&gist(&masked_json(arguments_json), room), room);
    joined(&tool, &inner, max_chars)
}

/// The end of the path that a call is about, if it has room.
fn file_name(arguments_json: &str, room: usize) -> Option<String> {
    let path = Arguments::read(arguments_json).path()?;
    let (_, name) = path.rsplit_once(['/', '\\'])?;
    let name = format!("…/{}", cut::one_line(name, usize::MAX));
    (name.chars().count() <= room).then_some(name)
}

fn joined(tool: &str, inner: &str, max_chars: usize) -> String {
    if inner.is_empty() { cut::one_line(tool, max_chars) } else { format!("{tool}({inner})") }
}

/// Arguments without their bulk: the same JSON object with long strings cut to their beginning and
/// `[… 1,234 bytes elided]`, long arrays to their first elements.
///
/// At most `max_bytes` long if keys, numbers and short values allow it, and never longer than the input. Arguments that
/// aren't a JSON object are returned unchanged.
pub fn shorten_arguments(arguments_json: &str, max_bytes: usize) -> String {
    let Some(outline) =
        Outline::read(arguments_json).filter(|outline| outline.kind() == ValueKind::Object)
    else {
        return arguments_json.to_owned();
    };
    if arguments_json.len() <= max_bytes {
        return arguments_json.to_owned();
    }
    let all = Limits {
        text: 0,
        first: usize::MAX / 2,
        last: 0,
        odd: 0,
        members: usize::MAX - 1,
        depth: usize::MAX,
        small: SMALL,
        cutting: Cutting::Head,
    };
    let some = Limits { first: 3, last: 1, members: 48, ..all };
    let flat = |depth| Limits { depth, ..some };
    let tries = [(120, all), (120, some), (60, some), (120, flat(3)), (60, flat(2)), (40, flat(1))];
    let tries = tries.map(|(text, limits)| Limits { text, ..limits });
    let written = tries.into_iter().find_map(|limits| widen(&outline, limits, max_bytes));
    if let Some((_, written)) = written {
        return written;
    }
    // The skeleton: every key of the object itself, and nothing nested.
    let bare = Limits { text: 16, first: 1, depth: 1, ..all };
    outline.write(&bare, arguments_json.len()).unwrap_or_else(|| arguments_json.to_owned())
}

/// The members of a call's arguments, decoded when asked for.
#[derive(Debug)]
pub(crate) struct Arguments<'a> {
    /// Keys decoded, values as they stand in the JSON.
    members: Vec<(Cow<'a, str>, &'a str)>,
}

impl<'a> Arguments<'a> {
    /// Reads a JSON object; anything else has no members.
    pub(crate) fn read(arguments_json: &'a str) -> Self {
        let text = arguments_json.trim();
        let found = if text.starts_with('{') && u32::try_from(text.len()).is_ok() {
            members(text, Span::new(0..text.len())).unwrap_or_default()
        } else {
            Vec::new()
        };
        let members =
            found.into_iter().map(|(key, value)| (unquote(key.of(text)), value.of(text))).collect();
        Self { members }
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The value of the first of `names` that is there and not empty.
    pub(crate) fn get(&self, names: &[&str]) -> Option<Cow<'a, str>> {
        names.iter().find_map(|name| {
            let (_, raw) = self.members.iter().find(|(key, _)| key == name)?;
            let is_said = !matches!(*raw, "\"\"" | "null" | "[]" | "{}");
            is_said.then(|| if *name == "commands" { script(raw) } else { plain(raw) })
        })
    }

    fn number(&self, names: &[&str]) -> Option<u64> {
        self.get(names)?.parse().ok()
    }

    /// The command line, if the call runs one.
    pub(crate) fn command(&self) -> Option<Cow<'a, str>> {
        self.get(&COMMAND)
    }

    /// The file or folder that the call is about.
    pub(crate) fn path(&self) -> Option<Cow<'a, str>> {
        self.get(&PATH)
    }

    /// A patch that the call applies, whether it is all there is or one of the arguments.
    pub(crate) fn patch(&self) -> Option<Cow<'a, str>> {
        self.get(&["input", "patch", "diff"]).filter(|patch| patch.contains("*** "))
    }

    /// Members that are no bulk and not long: keys and JSON values, in order.
    pub(crate) fn short(&self, max_bytes: usize) -> impl Iterator<Item = (&str, &'a str)> {
        let short = self.members.iter().filter(move |(_, raw)| raw.len() <= max_bytes);
        short
            .filter(|(key, _)| !BULK.contains(&key.as_ref()))
            .map(|(key, raw)| (key.as_ref(), *raw))
    }

    /// The lines that a reading call asked for: `1-80`, `12-`.
    fn lines(&self) -> Option<String> {
        let range = self.range()?;
        let end = Some(*range.end()).filter(|end| *end < u64::MAX);
        Some(format!("{}-{}", range.start(), end.map(|end| end.to_string()).unwrap_or_default()))
    }

    /// The lines that a reading call asked for, from 1; none if it asked for all.
    pub(crate) fn range(&self) -> Option<RangeInclusive<u64>> {
        let start = self.number(&["offset", "start_line", "line_number", "line", "start"]);
        let end = self.number(&["end_line", "end"]);
        let count = self.number(&["limit"]);
        match (start, end, count) {
            (None, None, None) => None,
            (start, Some(end), _) => Some(start.unwrap_or(1)..=end),
            (start, None, Some(count)) => {
                let start = start.unwrap_or(1).max(1);
                Some(start..=start.saturating_add(count).saturating_sub(1))
            }
            (Some(start), None, None) => Some(start..=u64::MAX),
        }
    }

    /// All members: keys and JSON values, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.members.iter().map(|(key, raw)| (key.as_ref(), *raw))
    }
}

/// A list of command lines (OpenAI's `shell_call`) as one script; else as [`plain`] has it.
fn script(raw: &str) -> Cow<'_, str> {
    let Ok(lines) = serde_json::from_str::<Vec<String>>(raw) else { return plain(raw) };
    let mut script = String::new();
    for (at, line) in lines.iter().enumerate() {
        script.push_str(line);
        if at + 1 < lines.len() {
            // What ends a here-document stands alone on its line.
            script.push_str(if line.contains('\n') { "\n" } else { ";\n" });
        }
    }
    Cow::Owned(script)
}

/// A string decoded; an array of strings (a command with its arguments) joined by spaces; else the
/// JSON.
fn plain(raw: &str) -> Cow<'_, str> {
    if !raw.starts_with('[') {
        return unquote(raw);
    }
    match serde_json::from_str::<Vec<String>>(raw) {
        Ok(words) => Cow::Owned(match words.as_slice() {
            [shell, flag, script]
                if shell.ends_with("sh") && flag.starts_with('-') && flag.ends_with('c') =>
            {
                script.clone()
            }
            words => words.join(" "),
        }),
        Err(_) => Cow::Borrowed(raw),
    }
}

/// The telling part of the arguments; about `room` characters, cut by the caller.
fn gist(arguments_json: &str, room: usize) -> String {
    let arguments = Arguments::read(arguments_json);
    if arguments.is_empty() {
        let text = arguments_json.trim();
        return if matches!(text, "{}" | "null" | "\"\"") {
            String::new()
        } else {
            patch_gist(text, room)
        };
    }
    if let Some(command) = arguments.command() {
        return patch_gist(&command, room);
    }
    let path = arguments.path();
    if let Some(search) = arguments.get(&SEARCH) {
        let search = cut::whole_words(&search, room);
        let place = path.or_else(|| arguments.get(&["glob", "include"]));
        return place.map_or_else(|| search.clone(), |place| format!("{search} in {place}"));
    }
    if let Some(path) = path {
        return arguments
            .lines()
            .map_or_else(|| path.to_string(), |lines| format!("{path}, {lines}"));
    }
    if let Some(address) = arguments.get(&ADDRESS) {
        return address.into_owned();
    }
    if let Some(patch) = arguments.patch() {
        return patch_gist(&patch, room);
    }
    let mut out = String::new();
    for (key, raw) in arguments.short(usize::MAX) {
        if out.len() > room.saturating_mul(4) {
            break;
        }
        let comma = if out.is_empty() { "" } else { ", " };
        let _ =
            write!(out, "{comma}{}={}", cut::one_line(key, 32), cut::whole_words(&plain(raw), 80));
    }
    out
}

/// A patch by the files it touches; any other text by itself.
fn patch_gist(text: &str, room: usize) -> String {
    let touched: Vec<&str> = patched_files(text).take(16).map(|(_, path)| path).collect();
    if touched.is_empty() {
        cut::whole_words(text, room)
    } else {
        format!("patch: {}", touched.join(", "))
    }
}

/// A patch's effect on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patched {
    Added,
    Updated,
    Deleted,
}

/// The files that a patch in the `*** Update File:` notation names, in order.
pub(crate) fn patched_files(text: &str) -> impl Iterator<Item = (Patched, &str)> {
    memchr::memmem::find_iter(text.as_bytes(), "*** ").filter_map(|at| {
        let line = text[at + 4..].lines().next()?;
        let (what, path) = line.split_once(" File: ")?;
        let what = match what {
            "Add" => Patched::Added,
            "Update" => Patched::Updated,
            "Delete" => Patched::Deleted,
            _ => return None,
        };
        (!path.trim().is_empty()).then_some((what, path.trim()))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn calls_are_short_and_say_what_they_are_about() {
        let cases = [
            (
                "Read",
                r#"{"file_path":"src/main.rs","offset":1,"limit":80}"#,
                "Read(src/main.rs, 1-80)",
            ),
            ("Read", r#"{"file_path":"src/main.rs"}"#, "Read(src/main.rs)"),
            (
                "Bash",
                r#"{"command":"cargo test\n -p foo","description":"x"}"#,
                "Bash(cargo test -p foo)",
            ),
            ("shell", r#"{"command":["bash","-lc","ls -la"]}"#, "shell(ls -la)"),
            ("shell", r#"{"command":["git","status"]}"#, "shell(git status)"),
            (
                "shell_call",
                r#"{"commands":["make install","rm -rf /opt/old"]}"#,
                "shell_call(make install; rm -rf /opt/old)",
            ),
            (
                "Grep",
                r#"{"pattern":"fn x","path":"src","output_mode":"content"}"#,
                "Grep(fn x in src)",
            ),
            ("Write", r#"{"file_path":"a.txt","content":"long long"}"#, "Write(a.txt)"),
            (
                "book",
                r#"{"user":"mia","n":2,"who":[{"a":1}]}"#,
                "book(user=mia, n=2, who=[{\"a\":1}])",
            ),
            ("fetch", r#"{"url":"https://x.org/","prompt":"p"}"#, "fetch(https://x.org/)"),
            (
                "edit",
                r#"{"start_line":3,"end_line":5,"replacement_text":"x"}"#,
                "edit(start_line=3, end_line=5)",
            ),
            ("submit", "{}", "submit"),
            (
                "apply_patch",
                "*** Begin Patch\n*** Update File: a.rs\n@@\n*** Add File: b\n",
                "apply_patch(patch: a.rs, b)",
            ),
            ("odd", "not json\nat all", "odd(not json at all)"),
        ];
        for (tool, arguments, expected) in cases {
            assert_eq!(short_arguments(tool, arguments, 80), expected);
        }
        assert_eq!(short_arguments("Bash", r#"{"command":"cargo test"}"#, 12), "Bash(…)");
        let long = r#"{"file_path":"/Users/mia/src/main.rs"}"#;
        assert_eq!(short_arguments("Read", long, 20), "Read(…/main.rs)");
        assert_eq!(short_arguments("Read", long, 12), "Read(…)");
        assert_eq!(whole_arguments("Read", long, 20), "Read(…)");
    }

    #[test]
    fn bulk_leaves_and_the_rest_stays() {
        let arguments =
            serde_json::json!({ "file_path": "/a/b.rs", "content": "line\n".repeat(1_000), "mode": 3 }).to_string();
        let short = shorten_arguments(&arguments, 300);
        assert!(short.len() <= 300);
        let value: serde_json::Value = serde_json::from_str(&short).expect("it is JSON");
        assert_eq!(value["file_path"], "/a/b.rs");
        assert_eq!(value["mode"], 3);
        let content = value["content"].as_str().expect("a string stays one");
        assert!(
            content.starts_with("line\nline\n") && content.ends_with(" bytes elided]"),
            "{content}"
        );
    }

    #[test]
    fn arguments_that_are_no_object_stay() {
        for text in ["[1, 2, 3]", "not json", "", "{broken"] {
            assert_eq!(shorten_arguments(text, 2), text);
        }
    }

    proptest! {
        #[test]
        fn any_object_keeps_its_keys(
            members in prop::collection::vec(("[a-zé\"\n]{1,8}", ".{0,300}"), 0..8),
            max in 0_usize..600,
        ) {
            let value = serde_json::Value::Object(members.into_iter().map(|(k, v)| (k, v.into())).collect());
            let text = value.to_string();
            let short = shorten_arguments(&text, max);
            prop_assert!(short.len() <= text.len());
            let short: serde_json::Value = serde_json::from_str(&short).expect("it is JSON");
            let keys = |value: &serde_json::Value| value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>());
            prop_assert_eq!(keys(&short), keys(&value));
        }

        #[test]
        fn any_call_is_one_line(tool: String, arguments: String, max in 0_usize..120) {
            let short = short_arguments(&tool, &arguments, max);
            prop_assert!(short.chars().count() <= max);
            prop_assert!(!short.contains('\n'));
        }
    }
}
