//! What agents are told of Epitome: hooks, a status line, the MCP server.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::repair::Repair;
use super::summarizers::program;
use super::{Check, bad, good, wrong};
use crate::archive::is_on_server;
use crate::folders::usual_archive;
use crate::integration::{self, Agent, Journal, McpServer};
use crate::quoting::name;

const SUBJECT: &str = "agents";

pub(super) fn checks() -> Vec<Check> {
    [Agent::ClaudeCode, Agent::Codex].into_iter().flat_map(of).collect()
}

/// What there is to say of one; nothing where it isn't on this machine.
fn of(agent: Agent) -> Vec<Check> {
    let own = agent.name();
    let journal = match Journal::read(own) {
        Ok(journal) => journal,
        Err(error) => return vec![wrong(SUBJECT, &error)],
    };
    let own_program = std::env::current_exe().unwrap_or_else(|_| "epitome".into());
    let archive = PathBuf::from(usual_archive().unwrap_or_default());
    let Ok(wanted) = agent.wanted(&own_program, &archive) else { return Vec::new() };
    // Its folder is there, where it ran once.
    let folder = wanted.first().and_then(|(settings, _)| settings.parent());
    let is_here = journal.is_some() || folder.is_some_and(Path::is_dir);
    if !is_here {
        return Vec::new();
    }
    let (mut there, mut missing, mut server) = (Vec::new(), Vec::new(), None);
    let mut hook = None;
    for (file, entries) in wanted {
        let text = match integration::text(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => {
                let remedy = format!("{own} can't read it either, maybe: mend it, or move it away");
                return vec![bad(SUBJECT, format!("{}: {error}", name(&file)), remedy)];
            }
        };
        server = server.or_else(|| entries.iter().find_map(|entry| entry.registered(&text)));
        let mut run = entries.iter().flat_map(|entry| entry.programs(&text));
        hook = hook.or_else(|| run.find(|said| program(said).is_none()));
        let ours = entries.iter().filter(|entry| entry.is_ours(&text));
        there.extend(ours.map(|entry| entry.path().join(".")));
        match integration::put_all(&file, &text, entries) {
            Ok(put) => {
                let gone = put.entries.iter().map(|entry| entry.path().join("."));
                missing.extend(gone.map(|what| format!("{what} in {}", name(&file))));
            }
            Err(error) => return vec![wrong(SUBJECT, &error)],
        }
    }
    if journal.is_none() && server.is_none() {
        return vec![good(
            SUBJECT,
            format!("{own}: epitome isn't installed (epitome install {own})"),
        )];
    }
    let mut checks = Vec::new();
    if journal.is_some() && !missing.is_empty() {
        let found = format!("{own}: what was installed is gone: {}", missing.join(", "));
        let remedy = format!(
            "epitome doctor --fix puts it in anew; epitome uninstall {own} takes out the rest"
        );
        checks.push(bad(SUBJECT, found, remedy).mended_by(Repair::Reinstall(agent)));
    }
    let broken = match hook {
        Some(gone) => {
            Some(Broken::Program(format!("its hooks run {gone}, and there is no such program")))
        }
        None => server.as_ref().and_then(broken),
    };
    match (broken, journal.is_some()) {
        (Some(Broken::Program(found)), true) => {
            let remedy = "epitome doctor --fix puts in the path of this program";
            let check = bad(SUBJECT, format!("{own}: {found}"), remedy);
            checks.push(check.mended_by(Repair::Reinstall(agent)));
        }
        (Some(Broken::Program(found)), false) => {
            let remedy = "register it anew: epitome mcp --help shows how";
            checks.push(bad(SUBJECT, format!("{own}: {found}"), remedy));
        }
        (Some(Broken::Archive(found)), _) => {
            let remedy =
                "the first compaction with it makes it: epitome compact FILE --archive STORE";
            checks.push(bad(SUBJECT, format!("{own}: {found}"), remedy));
        }
        (None, _) if checks.is_empty() => {
            checks.push(good(SUBJECT, format!("{own}: {}", there.join(", "))));
        }
        (None, _) => {}
    }
    checks
}

/// Why an MCP server can't be started.
enum Broken {
    Program(String),
    Archive(String),
}

fn broken(server: &McpServer) -> Option<Broken> {
    let command = server.command.to_string_lossy();
    if program(&command).is_none() {
        let found = format!("its MCP server is {command}, and there is no such program");
        return Some(Broken::Program(found));
    }
    let archive = server.archive().filter(|archive| !is_there(archive))?;
    Some(Broken::Archive(format!("its MCP server searches {}, which isn't there", name(&archive))))
}

fn is_there(archive: &Path) -> bool {
    is_on_server(archive) || archive.exists()
}
