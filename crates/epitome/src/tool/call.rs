//! What a tool call does to files and machines, by the names that agents give their tools.

use std::borrow::Cow;

use super::effect::{asks_for_more, says_that_it_reads};
use super::name::{bare, keeps_list, only_reads, words};
use super::shell::{Command, Deed as FileDeed, asks_program};
use crate::text::arguments::{Arguments, patched_files};
use crate::word_list::words;

/// A call as it is understood.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) act: Act,
    pub(crate) arguments: Arguments<'a>,
    /// The command line, if it runs one.
    pub(crate) line: Option<Cow<'a, str>>,
    /// What the command line does.
    pub(crate) shell: Command,
}

impl<'a> Call<'a> {
    /// Understands a call.
    pub(crate) fn read(tool: &str, arguments_json: &'a str) -> Self {
        let arguments = Arguments::read(arguments_json);
        let act = Act::of(tool, &arguments);
        let line = if act == Act::Run { arguments.command() } else { None };
        let mut shell = line.as_deref().map(Command::read).unwrap_or_default();
        if let Some(line) = &line {
            // A tool that is no shell may be the program, whether or not its line says so.
            if !runs_lines(tool) {
                shell.acts = !asks_program(bare(tool), line);
            }
            shell.acts |= patched_files(line).next().is_some();
        }
        Self { act, arguments, line, shell }
    }

    /// The files that it changes, and how. `arguments` are those that it was read from.
    pub(crate) fn changes(&self, arguments: &str) -> Vec<(FileDeed, String)> {
        let own = match self.act {
            Act::Edit => Some(FileDeed::Edit),
            Act::Write => Some(FileDeed::Write),
            Act::Delete => Some(FileDeed::Delete),
            _ => None,
        };
        let file = || self.arguments.path().map(Cow::into_owned);
        let mut changes: Vec<_> = own.and_then(|deed| Some((deed, file()?))).into_iter().collect();
        let patch = self.arguments.patch().or_else(|| self.line.clone());
        let patch = patch.unwrap_or(Cow::Borrowed(arguments));
        changes.extend(patched_files(&patch).map(|(_, path)| (FileDeed::Edit, path.to_owned())));
        let looks = |deed| matches!(deed, FileDeed::Read | FileDeed::Search);
        changes.extend(self.shell.deeds.iter().filter(|(deed, _)| !looks(*deed)).cloned());
        changes
    }

    /// Whether it asks or looks, and changes nothing.
    pub(crate) fn only_looks(&self) -> bool {
        match self.act {
            Act::Run => !self.shell.acts,
            act => act == Act::Ask || act.only_reads(),
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
        let has_file = arguments.path().is_some();
        if has_file && let Some(command) = arguments.get(&["command"]) {
            // One tool with sub-commands (`str_replace_based_edit_tool`), not a shell.
            match command.as_ref() {
                "view" => return Self::Read,
                "create" => return Self::Write,
                "str_replace" | "insert" | "undo_edit" => return Self::Edit,
                _ => {}
            }
        }
        // A plan of somebody else has no list of steps.
        let has_list = || arguments.all().any(|(_, raw)| raw.starts_with('['));
        if keeps_list(tool) && (!bare(tool).eq_ignore_ascii_case("update_plan") || has_list()) {
            return Self::Idle;
        }
        if arguments.command().is_some() {
            return Self::Run;
        }
        let words = words(tool);
        let has = |any: &[&str]| words.iter().any(|word| any.contains(&word.as_str()));
        if arguments.patch().is_some() || has(&["patch"]) {
            return Self::Edit;
        }
        if words == ["think"] {
            return Self::Idle;
        }
        if only_reads(tool) && !keeps_list(tool) && !asks_for_more(arguments) {
            let looks = has(&["grep", "glob", "search", "find", "list", "ls", "tree"]);
            return match () {
                () if looks && (has_file || arguments.get(&["pattern"]).is_some()) => Self::Look,
                () if looks || !has_file => Self::Ask,
                () => Self::Read,
            };
        }
        let asks = |line: Cow<'_, str>| asks_program(bare(tool), &line);
        if says_that_it_reads(tool, arguments) || arguments.get(&["args"]).is_some_and(asks) {
            return Self::Ask;
        }
        let edits =
            ["edit", "multiedit", "replace", "insert", "apply", "update", "modify", "append"];
        match () {
            () if has_file && has(&edits) => Self::Edit,
            () if has_file && has(&["write", "create", "save"]) => Self::Write,
            () if has_file && has(&["delete", "remove"]) => Self::Delete,
            () if words.len() == 1 && has(&["edit", "insert"]) => Self::Edit,
            () => Self::Other,
        }
    }

    /// Whether what comes back is what was there before, and so tells no result of its own.
    pub(crate) fn only_reads(self) -> bool {
        matches!(self, Self::Read | Self::Look | Self::Idle)
    }
}

/// Words in the names of tools that run command lines.
const SHELLS: [&str; 17] = words!(
    "bash shell sh zsh powershell terminal console command cmd exec execute run process script ssh \
     tmux cli"
);

/// Whether a tool runs a command line as a shell does, so that it can be read. `lock_door` does not.
pub(crate) fn runs_lines(tool: &str) -> bool {
    words(tool).iter().any(|word| SHELLS.contains(&word.as_str()))
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
            ("NotebookRead", r#"{"notebook_path":"a"}"#, Act::Read),
            ("list_directory", r#"{"dir_path":"a"}"#, Act::Look),
            ("Bash", r#"{"command":"ls"}"#, Act::Run),
            ("shell", r#"{"command":["ls"]}"#, Act::Run),
            ("exec_command", r#"{"cmd":"ls"}"#, Act::Run),
            ("apply_patch", r#"{"input":"*** Begin Patch"}"#, Act::Edit),
            ("replace", r#"{"file_path":"a","old_string":"b"}"#, Act::Edit),
            ("str_replace_editor", r#"{"command":"create","path":"a"}"#, Act::Write),
            ("create", r#"{"filename":"a"}"#, Act::Write),
            ("goto", r#"{"line_number":3}"#, Act::Ask),
            ("query", r#"{"sql":"WITH a AS (SELECT 1) DELETE FROM b"}"#, Act::Other),
            ("query", r#"{"query":"select * from b"}"#, Act::Ask),
            ("execute_sql", r#"{"query":"select * from b"}"#, Act::Ask),
            ("execute_sql", r#"{"query":"select pg_cancel_backend(7) from b"}"#, Act::Other),
            ("create_view", r#"{"query":"select * from b"}"#, Act::Other),
            ("run_cypher", r#"{"query":"MATCH (n) SET n.a=1"}"#, Act::Other),
            ("execute_sql", r#"{"query":"SELECT refund_order(7)"}"#, Act::Other),
            ("run_agent", r#"{"query":"Show Ann the report, then pay Bob"}"#, Act::Other),
            ("materialize", r#"{"sql":"SELECT 1","table":"b"}"#, Act::Other),
            ("mock_endpoint", r#"{"url":"https://a.org","method":"GET"}"#, Act::Other),
            ("http_request", r#"{"url":"https://a.org","method":"get"}"#, Act::Ask),
            ("http_request", r#"{"url":"https://a.org"}"#, Act::Other),
            ("delete_url", r#"{"url":"https://a.org","method":"GET"}"#, Act::Other),
            ("fetch", r#"{"url":"https://a.org","method":"POST"}"#, Act::Other),
            ("browse", r#"{"action":"click"}"#, Act::Other),
            ("update_plan", r#"{"customer_id":"a"}"#, Act::Other),
            ("update_plan", r#"{"plan":[{"step":"a"}]}"#, Act::Idle),
            ("set_target", r#"{"value":3}"#, Act::Other),
            ("submit", "{}", Act::Other),
            ("open", r#"{"path":"a"}"#, Act::Read),
            ("TodoWrite", r#"{"todos":[]}"#, Act::Idle),
            ("get_user_details", r#"{"user_id":"a"}"#, Act::Ask),
            ("mcp__shop__book_room", r#"{"user_id":"a"}"#, Act::Other),
        ];
        for (tool, arguments, expected) in cases {
            assert_eq!(Act::of(tool, &Arguments::read(arguments)), expected, "{tool}");
        }
        assert!(Call::read("run_in_terminal", r#"{"command":"true"}"#).only_looks());
        for (tool, command, looks) in [
            ("lock_door", "true", false),
            ("test", "deploy prod", false),
            ("kubectl", "get pods -n pay", true),
            ("kube", "kube logs api-7f9", true),
            ("cluster", "kubectl get pods", true),
            ("cluster", "kubectl delete pods", false),
            ("kube", "get pods; reboot", false),
            ("kube", "delete pod api-7f9", false),
            ("git", "log --oneline", true),
            ("git", "push origin main", false),
            ("robot", "status R07", true),
            ("ticket", "status 17 closed", false),
            ("clear", "logs", false),
            ("db", "query VACUUM FULL a", false),
        ] {
            let arguments = serde_json::json!({ "command": command }).to_string();
            assert_eq!(Call::read(tool, &arguments).only_looks(), looks, "{tool} {command}");
        }
    }
}
