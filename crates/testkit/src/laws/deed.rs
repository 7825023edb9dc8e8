//! What a call did and to what, as far as a line of a checkpoint can say it.

use std::fmt;

use epitome::text::specifics::{Class, specifics};
use epitome::transcript::Part;
use epitome::word_list::words;
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// Words in a tool's name by which it only reads.
const READS: [&str; 18] = words!(
    "read get list search find view fetch grep glob think calculate todo plan query lookup show ls \
     cat"
);
/// Programs that change nothing, unless their output goes to a file or they edit in place.
const LOOKERS: [&str; 17] = [
    "ls", "cat", "head", "tail", "sed", "grep", "rg", "find", "wc", "pwd", "echo", "which", "cd",
    "jq", "ps", "sort", "uniq",
];
/// Where output goes that isn't kept, or doesn't leave the line.
const NOWHERE: [&str; 3] = ["2>&1", "2>/dev/null", "2> /dev/null"];
/// Arguments that are commands.
const COMMANDS: [&str; 4] = ["command", "cmd", "script", "commands"];
/// What a line may say in place of the name of a tool that has it in its name.
const VERBS: [&str; 7] = ["edit", "write", "create", "delete", "insert", "patch", "move"];
/// Bytes of an argument that is worth naming whole.
const SHORT: usize = 80;

/// A call, as far as a line names it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Deed {
    tool: String,
    /// What it was done to: one of these is enough. None if it has no argument that could be named.
    targets: Vec<String>,
    /// Whether the target is what was run, so that it says enough without the tool's name.
    is_command: bool,
    /// Whether it is an editor that only looks.
    is_look: bool,
}

impl Deed {
    pub(super) fn of(call: &Part<'_>) -> Self {
        let tool = call.name().into_owned();
        let Arguments(arguments) = serde_json::from_str(&call.text()).unwrap_or_default();
        let mut only_looks = false;
        let mut commands = Vec::new();
        let mut strings = Vec::new();
        for (key, value) in &arguments {
            match value {
                _ if COMMANDS.contains(&key.as_str()) => {
                    only_looks |= value.as_str().is_some_and(looks);
                    commands.extend(command(value));
                }
                // Which of several shapes it has.
                _ if key == "type" => {}
                Value::String(text) => strings.extend(namable(text)),
                _ => {}
            }
        }
        let is_look = only_looks || commands.iter().any(|word| word == "view");
        // An editor's command is in its name, or says nothing of what was edited.
        commands.retain(|word| !tool.contains(word.as_str()));
        let is = |text: &str, classes: &[Class]| {
            specifics(text).any(|found| found.text == text && classes.contains(&found.class))
        };
        let mut targets: Vec<String> =
            strings.iter().filter(|text| is(text, &[Class::Path, Class::Url])).cloned().collect();
        let is_command = !commands.is_empty() && targets.is_empty();
        targets.extend(commands);
        if targets.is_empty() {
            targets.extend(strings.iter().find(|text| is(text, &[Class::Id])).cloned());
        }
        if targets.is_empty() {
            targets = strings;
        }
        Deed { tool, targets, is_command, is_look }
    }

    /// Whether its tool is known as one that only reads, by a word of its name: `get_user`, `WebFetch`, `list_dir`, `listdir`.
    pub(super) fn only_reads(&self) -> bool {
        let is_known = |word: &String| {
            READS.iter().any(|read| word == read || read.len() > 3 && word.starts_with(read))
        };
        let is_nothing = self.tool.is_empty() || self.tool == "open";
        self.is_look || is_nothing || words(&self.tool).iter().any(is_known)
    }

    /// Whether a line names tool and target; where calls on one target merge, it says how many.
    pub(super) fn is_named_in(&self, line: &str) -> bool {
        let says_target = self.targets.iter().any(|target| line.contains(target.as_str()));
        if !says_target && !self.targets.is_empty() || line.starts_with("Only read:") {
            return false;
        }
        let tool = self.tool.to_lowercase();
        let line_words = words(line);
        let says = |verb: &&str| tool.contains(*verb) && line_words.iter().any(|word| word == verb);
        let is_told = line.to_lowercase().contains(&tool);
        let has_count = line.contains('×');
        is_told || says_target && (has_count || self.is_command || VERBS.iter().any(says))
    }
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.tool, self.targets.first().map_or("", String::as_str))
    }
}

/// The words of a name: `mcp__files__search` has three, and `WebFetch` two.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_low = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || c.is_uppercase() && was_low {
            words.push(String::new());
        }
        if c.is_alphanumeric() {
            words.last_mut().expect("there is one from the start").extend(c.to_lowercase());
        }
        was_low = c.is_lowercase();
    }
    words
}

/// Whether a command line is of programs that change nothing.
fn looks(line: &str) -> bool {
    if line.contains("$(") || line.contains('`') {
        return false;
    }
    let line = NOWHERE.iter().fold(unquoted(line), |line, nowhere| line.replace(nowhere, ""));
    let pieces = line.split(['|', ';', '&', '\n']).flat_map(|piece| piece.split(" -exec "));
    let pieces = pieces.filter(|piece| !piece.trim().is_empty());
    let mut programs = pieces.map(|piece| piece.split_whitespace().next().unwrap_or_default());
    let changes = [" --in-place", " -delete", " -o ", ">"];
    programs.all(|program| LOOKERS.contains(&program))
        && !changes.iter().any(|sign| line.contains(sign))
        && !line.split("sed ").skip(1).any(|rest| rest.contains("-i"))
}

/// A command line without what is quoted or escaped in it.
fn unquoted(line: &str) -> String {
    let (mut out, mut open) = (String::new(), None);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match open {
            None | Some('"') if c == '\\' => drop(chars.next()),
            None if matches!(c, '\'' | '"') => open = Some(c),
            None => out.push(c),
            Some(quote) if quote == c => open = None,
            Some(_) => {}
        }
    }
    out
}

/// The first words of a command line, or of the elements of one.
fn command(value: &Value) -> Vec<String> {
    let is_told = |word: &&str| !word.starts_with('-') && !matches!(*word, "bash" | "sh" | "zsh");
    let first = |text: &str| text.split_whitespace().find(is_told).and_then(namable);
    match value {
        Value::String(text) => first(text).into_iter().collect(),
        Value::Array(all) => all.iter().filter_map(Value::as_str).filter_map(first).collect(),
        _ => Vec::new(),
    }
}

/// What of a value a line can say: all of a short one, and of several words the first.
fn namable(text: &str) -> Option<String> {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:@~=+#%".contains(c);
    let word = text.split_whitespace().next()?;
    (text.len() <= SHORT && word.chars().all(is_plain)).then(|| word.to_owned())
}

/// The members of an object, in their order.
#[derive(Default)]
struct Arguments(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Arguments;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Arguments, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(Arguments(all))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::{Deed, looks, words};
    use epitome::Format;

    fn deed(tool: &str, arguments: &str) -> Deed {
        let drawn = format!("user Go.\nasst call a {tool} {arguments}\nres  a = ok\n");
        let request = crate::parse(Format::Anthropic, &drawn);
        let call = request.transcript.entry(1).parts().next().expect("a call");
        Deed::of(&call)
    }

    #[test]
    fn what_only_reads_is_told_by_its_name() {
        for tool in ["Read", "get_user_details", "mcp__files__search", "WebFetch", "listdir", "ls"]
        {
            assert!(deed(tool, "{}").only_reads(), "{tool}: {:?}", words(tool));
        }
        for tool in ["Bash", "update_catalog", "delete_tools", "send_certificate", "set_widget"] {
            assert!(!deed(tool, "{}").only_reads(), "{tool}: {:?}", words(tool));
        }
        assert!(deed("editor", r#"{"command":"view","path":"a/b.rs"}"#).only_reads());
    }

    #[test]
    fn a_command_looks_where_each_of_its_programs_does() {
        for line in [
            "ls -la specs 2>/dev/null || echo \"specs; rm none\"",
            "find . -name \"package.json\" -exec cat {} \\; | grep -A 5 '\"a > b\"'",
            "ps -ef | rg -n -i \"chrome|remote\" 2>&1",
            "cd app && sed -n '1,220p' src/main.rs",
        ] {
            assert!(looks(line), "{line}");
        }
        for line in [
            "cargo test",
            "sed -i s/a/b/ x.rs",
            "sed -n -i.bak 1p x.rs",
            "ls > files.txt",
            "find . -name '*.tmp' -delete",
            "find . -exec rm {} \\;",
            "echo \"$(rm -r build)\"",
            "sort -o a.txt a.txt",
        ] {
            assert!(!looks(line), "{line}");
        }
    }

    #[test]
    fn a_line_names_the_tool_and_what_it_was_done_to() {
        let update = deed("update_seat", r#"{"cabin":"economy","reservation_id":"JG7FMM"}"#);
        assert!(update.is_named_in("[52] update_seat(reservation_id=JG7FMM, …) → ok"));
        assert!(!update.is_named_in("[52] update_seat(cabin=economy) → ok"));
        assert!(!update.is_named_in("[52] cancel(reservation_id=JG7FMM) → ok"));
        assert!(!update.is_named_in("Only read: update_seat (JG7FMM)"));
        let edit = deed("str_replace_editor", r#"{"command":"str_replace","path":"/a/b.rs"}"#);
        assert!(edit.is_named_in("[7] edit /a/b.rs → ok"));
        assert!(edit.is_named_in("[7] /a/b.rs ×3, last [9] → ok"));
        assert!(!edit.is_named_in("[7] str_replace_editor(/a/c.rs) → ok"));
        let run = deed("Bash", r#"{"command":"cargo test -q","timeout":9}"#);
        assert!(run.is_named_in("[7] cargo test -q → exit 1"));
        assert!(!run.is_named_in("[7] Bash(ls) → ok"));
        assert!(deed("finish", "{}").is_named_in("[9] finish() → ok"));
    }
}
