//! Which files of an agent's settings say what.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;
use epitome::wire::json::quote;
use serde_json::json;

use super::Entry;
use crate::failure::Failure;
use crate::quoting::{name, shell};

/// An agent that can be told of Epitome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
}

impl Agent {
    /// The name used on the command line.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Agent::ClaudeCode => "claude-code",
            Agent::Codex => "codex",
        }
    }

    /// The additions to each file. `program` is this one, `archive` its archive.
    ///
    /// # Errors
    /// There is no home folder, or a path that settings can't say.
    pub(crate) fn wanted(
        self,
        program: &Path,
        archive: &Path,
    ) -> Result<Vec<(PathBuf, Vec<Entry>)>> {
        let run = shell(program);
        let store = shell(archive);
        let hook = |event: &str| format!("{run} hook {event} --archive {store}");
        let command =
            |event: &str| json!({ "type": "command", "command": hook(event), "timeout": 60 });
        let path = |path: &[&str]| path.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let hooks = |event: &str, value: serde_json::Value| Entry::Element {
            path: path(&["hooks", event]),
            value: value.to_string(),
        };
        let both = vec![
            hooks("PreCompact", json!({ "hooks": [command("pre-compact")] })),
            hooks(
                "SessionStart",
                json!({ "hooks": [command("session-start")], "matcher": "compact" }),
            ),
        ];
        let (program, archive) = (sayable(program)?, sayable(archive)?);
        let folder =
            |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let home = folder("HOME").ok_or_else(|| {
            Failure::usage("HOME isn't set").hint("name the home folder: HOME=FOLDER epitome …")
        });
        match self {
            Agent::ClaudeCode => {
                let moved = folder("CLAUDE_CONFIG_DIR");
                let (settings, servers) = if let Some(moved) = moved {
                    (moved.join("settings.json"), moved.join(".claude.json"))
                } else {
                    let home = home?;
                    (home.join(".claude/settings.json"), home.join(".claude.json"))
                };
                let mut entries = both;
                let line = json!({ "type": "command", "command": hook("status-line") });
                entries
                    .push(Entry::Member { path: path(&["statusLine"]), value: line.to_string() });
                let server = json!({
                    "type": "stdio", "command": program, "args": ["mcp", "--archive", archive],
                });
                let at = path(&["mcpServers", "epitome"]);
                let server = Entry::Member { path: at, value: server.to_string() };
                Ok(vec![(settings, entries), (servers, vec![server])])
            }
            Agent::Codex => {
                let codex = match folder("CODEX_HOME") {
                    Some(moved) => moved,
                    None => home?.join(".codex"),
                };
                // Basic strings of TOML are written as JSON's are.
                let (program, archive) = (quote(program), quote(archive));
                let text = format!(
                    "[mcp_servers.epitome]\ncommand = {program}\nargs = [\"mcp\", \"--archive\", {archive}]\n"
                );
                let table = Entry::Table { path: path(&["mcp_servers", "epitome"]), text };
                Ok(vec![(codex.join("hooks.json"), both), (codex.join("config.toml"), vec![table])])
            }
        }
    }
}

/// A path as JSON and TOML can say it, which are UTF-8.
fn sayable(path: &Path) -> Result<&str> {
    path.to_str().ok_or_else(|| {
        let what = format!("{} isn't UTF-8, so settings can't name it", name(path));
        Failure::usage(what).hint("name a folder with a plain name: --archive FOLDER").into()
    })
}
