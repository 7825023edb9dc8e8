//! What a tool call does to files and machines, by the names that agents give their tools.

use std::borrow::Cow;

use super::MAX_LINE;
use super::shell::{Command, Deed};
use crate::text::arguments::{Arguments, patched_files};
use crate::text::{cut, short_arguments};

/// A call as it is understood.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) act: Act,
    pub(crate) arguments: Arguments<'a>,
    /// The command line, if it runs one.
    pub(crate) line: Option<Cow<'a, str>>,
    /// What the command line does.
    pub(crate) shell: Command,
    /// What it is called among the commands, if it belongs there.
    pub(crate) name: Option<String>,
}

impl<'a> Call<'a> {
    /// Understands a call.
    pub(crate) fn read(tool: &str, arguments_json: &'a str) -> Self {
        let arguments = Arguments::read(arguments_json);
        let act = Act::of(tool, &arguments);
        let line = if act == Act::Run { arguments.command() } else { None };
        let mut shell = line.as_deref().map(Command::read).unwrap_or_default();
        let name = match (&line, act) {
            (Some(line), _) => {
                shell.acts |= patched_files(line).next().is_some();
                // What it only read stands among the files.
                let only_read =
                    !shell.acts && shell.deeds.iter().any(|(deed, _)| *deed == Deed::Read);
                let name = cut::one_line(cut::head(line, 1_024), MAX_LINE);
                (!only_read && !name.is_empty()).then_some(name)
            }
            (None, Act::Other | Act::Ask) => {
                let name = short_arguments(tool, arguments_json, MAX_LINE);
                name.contains(char::is_alphanumeric).then_some(name)
            }
            _ => None,
        };
        Self { act, arguments, line, shell, name }
    }

    /// Whether it runs a command line that says itself which files it changes.
    fn tells_changes(&self) -> bool {
        let changes = |deed: &Deed| !matches!(deed, Deed::Read | Deed::Search);
        self.shell.deeds.iter().any(|(deed, _)| changes(deed))
            || self.line.as_deref().is_some_and(|line| patched_files(line).next().is_some())
    }

    /// Whether it asks or looks, and changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        match self.act {
            Act::Run => !self.shell.acts,
            act => act == Act::Ask || act.only_reads(),
        }
    }
}

/// What is kept of a call until its result comes.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(super) act: Act,
    /// As [`Call::name`].
    pub(super) name: Option<String>,
    /// The file that it names, unless it runs a command line.
    pub(super) path: Option<String>,
    /// As [`Call::only_looks`].
    pub(super) only_looks: bool,
    /// Whether it runs a command line that says itself which files it changes.
    pub(super) tells_changes: bool,
    /// Whether it adds to what is to be done, and its answer tells by which id.
    pub(super) adds_todo: bool,
}

impl Asked {
    /// What a call asks for.
    pub(crate) fn of(tool: &str, arguments_json: &str) -> Self {
        Call::read(tool, arguments_json).into()
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let texts = [&self.name, &self.path].into_iter().flatten();
        size_of::<Self>() + texts.map(String::len).sum::<usize>()
    }
}

impl From<Call<'_>> for Asked {
    fn from(call: Call<'_>) -> Self {
        let path = if call.line.is_none() { call.arguments.path() } else { None };
        Asked {
            act: call.act,
            path: path.map(Cow::into_owned),
            only_looks: call.only_looks(),
            tells_changes: call.tells_changes(),
            adds_todo: false,
            name: call.name,
        }
    }
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Runs a command line.
    Run,
    /// Reads a file.
    Read,
    /// Changes a file that is there.
    Edit,
    /// Writes a whole file.
    Write,
    /// Deletes a file.
    Delete,
    /// Lists or searches files.
    Look,
    /// Thinks aloud or keeps a list of its own: nothing happens outside.
    Idle,
    /// Anything else, with an effect as far as the name tells.
    Other,
    /// Anything else that only asks.
    Ask,
}

impl Act {
    /// What a call of `tool` with these arguments does.
    pub(crate) fn of(tool: &str, arguments: &Arguments<'_>) -> Self {
        let name = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
        let letters = letters(&name);
        // Most words have a letter that the name hasn't.
        let has = |words: &[&str]| {
            words.iter().any(|word| self::letters(word) & !letters == 0 && name.contains(word))
        };
        let file = arguments.path().is_some();
        if file && let Some(command) = arguments.get(&["command"]) {
            // One tool with sub-commands (`str_replace_based_edit_tool`), not a shell.
            match command.as_ref() {
                "view" => return Self::Read,
                "create" => return Self::Write,
                "str_replace" | "insert" | "undo_edit" => return Self::Edit,
                _ => {}
            }
        }
        if arguments.command().is_some() {
            return Self::Run;
        }
        if arguments.patch().is_some() || has(&["apply_patch"]) {
            return Self::Edit;
        }
        if has(&["think", "todo", "plan", "update_task", "submit", "exit_plan", "task_tracker"])
            || matches!(name.as_str(), "taskcreate" | "taskupdate" | "tasklist" | "taskget")
        {
            return Self::Idle;
        }
        let asks = has(&[
            "get",
            "search",
            "list",
            "find",
            "read",
            "fetch",
            "query",
            "lookup",
            "calculate",
            "show",
        ]);
        match name.as_str() {
            _ if has(&[
                "grep",
                "glob",
                "search",
                "find",
                "list_dir",
                "list_file",
                "list_directory",
            ]) =>
            {
                if file || arguments.get(&["pattern"]).is_some() {
                    Self::Look
                } else {
                    Self::Ask
                }
            }
            "ls" | "list" => Self::Look,
            "edit" | "insert" => Self::Edit,
            _ if !file => {
                if asks {
                    Self::Ask
                } else {
                    Self::Other
                }
            }
            _ if has(&["read", "view", "open", "cat", "goto", "scroll"]) => Self::Read,
            _ if has(&["edit", "replace", "insert", "apply", "update", "modify", "append"]) => {
                Self::Edit
            }
            _ if has(&["write", "create", "save"]) => Self::Write,
            _ if has(&["delete", "remove"]) => Self::Delete,
            _ if asks => Self::Ask,
            _ => Self::Other,
        }
    }

    /// Whether what comes back is what was there before, and so tells no result of its own.
    pub(crate) fn only_reads(self) -> bool {
        matches!(self, Self::Read | Self::Look | Self::Idle)
    }
}

/// A bit for each letter of a name.
fn letters(name: &str) -> u32 {
    name.bytes().fold(0, |all, byte| all | 1 << (byte & 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_known_agents_are_understood() {
        let cases = [
            ("Read", r#"{"file_path":"a"}"#, Act::Read),
            ("MultiEdit", r#"{"file_path":"a"}"#, Act::Edit),
            ("NotebookEdit", r#"{"notebook_path":"a"}"#, Act::Edit),
            ("Write", r#"{"file_path":"a","content":""}"#, Act::Write),
            ("Grep", r#"{"pattern":"x"}"#, Act::Look),
            ("LS", r#"{"path":"a"}"#, Act::Look),
            ("list_directory", r#"{"dir_path":"a"}"#, Act::Look),
            ("Bash", r#"{"command":"ls"}"#, Act::Run),
            ("shell", r#"{"command":["ls"]}"#, Act::Run),
            ("exec_command", r#"{"cmd":"ls"}"#, Act::Run),
            ("apply_patch", r#"{"input":"*** Begin Patch"}"#, Act::Edit),
            ("replace", r#"{"file_path":"a","old_string":"b"}"#, Act::Edit),
            ("str_replace_editor", r#"{"command":"create","path":"a"}"#, Act::Write),
            ("create", r#"{"filename":"a"}"#, Act::Write),
            ("goto", r#"{"line_number":3}"#, Act::Other),
            ("open", r#"{"path":"a"}"#, Act::Read),
            ("TodoWrite", r#"{"todos":[]}"#, Act::Idle),
            ("get_user_details", r#"{"user_id":"a"}"#, Act::Ask),
            ("mcp__shop__book_room", r#"{"user_id":"a"}"#, Act::Other),
        ];
        for (tool, arguments, expected) in cases {
            assert_eq!(Act::of(tool, &Arguments::read(arguments)), expected, "{tool}");
        }
    }
}
