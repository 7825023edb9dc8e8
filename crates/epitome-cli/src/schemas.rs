//! The JSON Schemas of what `--json` prints, and of what hooks and summarizers are given and answer.
//!
//! Each is a file in `schemas/`. Shared definitions are in `schemas/common.json`, and are inserted when a schema is
//! printed.

use serde_json::{Map, Value};

/// A schema, and whose it is.
#[derive(Debug)]
pub(crate) struct ReportSchema {
    /// By what it is asked for.
    pub(crate) name: &'static str,
    /// What prints it, or who is given it.
    pub(crate) command: &'static str,
    text: &'static str,
}

/// A row is a name, a file, and a command.
macro_rules! schemas {
    ($($(#[$when:meta])? $name:literal $file:literal $command:literal;)*) => {
        /// All of them.
        pub(crate) const SCHEMAS: &[ReportSchema] = &[$($(#[$when])? ReportSchema {
            name: $name,
            command: $command,
            text: include_str!(concat!("../schemas/", $file, ".json")),
        }),*];
    };
}

schemas! {
    "stats" "stats" "epitome stats";
    "check" "check" "epitome check";
    "check-repair" "check-repair" "epitome check --repair";
    "count" "count" "epitome count";
    "plan" "plan" "epitome plan";
    "compact" "compact" "epitome compact";
    "diff" "diff" "epitome diff";
    "report" "report" "epitome report";
    "simulate" "simulate" "epitome simulate";
    "convert" "convert" "epitome convert";
    "sessions" "sessions" "epitome sessions";
    "sessions-archive" "sessions-archive" "epitome sessions --archive STORE";
    "sessions-views" "sessions-views" "epitome sessions SESSION";
    "recall" "recall" "epitome recall";
    "undo" "undo" "epitome undo";
    "redo" "undo" "epitome redo";
    "forget" "forget" "epitome forget";
    "pin-add" "pin-add" "epitome pin add";
    "pin-list" "pin-list" "epitome pin list";
    "pin-rm" "pin-rm" "epitome pin rm";
    "install" "install" "epitome install";
    "uninstall" "install" "epitome uninstall";
    "models" "models" "epitome models";
    "config-show" "config-show" "epitome config show";
    "config-path" "config-path" "epitome config path";
    "doctor" "doctor" "epitome doctor";
    "bench-foresight" "bench-foresight" "epitome bench foresight";
    "bench-rounds" "bench-rounds" "epitome bench rounds";
    "completions" "completions" "epitome completions";
    "man" "man" "epitome man";
    "schema" "schema" "epitome schema";
    #[cfg(feature = "mcp")]
    "mcp" "serving" "epitome mcp --listen ADDRESS";
    #[cfg(feature = "proxy")]
    "serve" "serving" "epitome serve";
    #[cfg(feature = "grpc")]
    "sidecar" "serving" "epitome sidecar";
    "error" "error" "any command that fails, on stderr";
    "hook-before" "hook-before" "given to --hook-before CMD";
    "hook-before-answer" "hook-before-answer" "answered by --hook-before CMD";
    "hook-after" "hook-after" "given to --hook-after CMD";
    "summarizer" "summarizer" "given to --summarizer cmd:PROG";
    "summarizer-answer" "summarizer-answer" "answered by --summarizer cmd:PROG";
}

/// What several of them refer to.
const COMMON: &str = include_str!("../schemas/common.json");

impl ReportSchema {
    /// What it describes, in a few words.
    pub(crate) fn about(&self) -> String {
        read(self.text)["title"].as_str().unwrap_or_default().to_owned()
    }

    /// The schema with all that it refers to.
    pub(crate) fn whole(&self) -> Value {
        let mut schema = read(self.text);
        let common = read(COMMON);
        let mut wanted = Vec::new();
        refer(&schema, &mut wanted);
        let mut held = match schema["$defs"].take() {
            Value::Object(own) => own,
            _ => Map::new(),
        };
        while let Some(name) = wanted.pop() {
            if held.contains_key(&name) {
                continue;
            }
            let found = common["$defs"][&name].clone();
            refer(&found, &mut wanted);
            held.insert(name, found);
        }
        schema["$defs"] = held.into();
        schema
    }
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("a schema is JSON")
}

/// Adds what a schema refers to.
fn refer(schema: &Value, wanted: &mut Vec<String>) {
    match schema {
        Value::Object(members) => {
            let name = members.get("$ref").and_then(Value::as_str);
            wanted.extend(name.and_then(|to| to.strip_prefix("#/$defs/")).map(str::to_owned));
            members.values().for_each(|member| refer(member, wanted));
        }
        Value::Array(elements) => elements.iter().for_each(|element| refer(element, wanted)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory as _};

    use super::*;
    use crate::args::Cli;

    /// Commands that print no report, and what they print.
    const WITHOUT: [(&str, &str); 4] = [
        ("epitome hook", "what its agent asks for"),
        ("epitome restore", "the bytes that came in"),
        ("epitome view", "a screen"),
        ("epitome wrap", "what its agent prints"),
    ];

    /// The commands that do something.
    fn leaves(command: &Command, path: &str, found: &mut Vec<String>) {
        if !command.has_subcommands() {
            found.push(path.to_owned());
        }
        for under in command.get_subcommands() {
            leaves(under, &format!("{path} {}", under.get_name()), found);
        }
    }

    #[test]
    fn every_command_that_reports_has_a_schema() {
        let mut commands = Vec::new();
        leaves(&Cli::command(), "epitome", &mut commands);
        let is_of = |command: &str, path: &str| {
            command.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        for command in &commands {
            let has = SCHEMAS.iter().any(|schema| is_of(schema.command, command));
            let is_without = WITHOUT.iter().any(|(without, _)| without == command);
            assert!(
                has != is_without,
                "{command} has no schema, or needs no reason for having none"
            );
        }
        for schema in SCHEMAS.iter().filter(|schema| schema.command.starts_with("epitome ")) {
            let has = commands.iter().any(|command| is_of(schema.command, command));
            assert!(has, "nothing is called as {}", schema.command);
        }
    }

    #[test]
    fn names_say_the_command() {
        for schema in SCHEMAS {
            let Some(words) = schema.command.strip_prefix("epitome ") else { continue };
            let path: Vec<&str> = words.split(' ').take_while(|word| is_name(word)).collect();
            assert!(schema.name.starts_with(&path.join("-")), "{}: {words}", schema.name);
            assert!(!schema.about().is_empty(), "{} has no title", schema.name);
        }
    }

    fn is_name(word: &str) -> bool {
        word.bytes().all(|b| b.is_ascii_lowercase())
    }
}
