//! What an agent's calls did, read off their arguments and results without the library: which files they changed, which
//! commands failed before they went well; and what of that a view still says.

use std::collections::{BTreeMap, BTreeSet};

use epitome::Request;
use epitome::transcript::{Marks, PartKind};
use epitome::word_list::words;
use serde_json::Value;

/// Calls that change the file that they name.
const WRITERS: [&str; 9] =
    words!("create edit edit_file file_editor multiedit notebookedit replace write write_file");
/// What an editor does that changes nothing, or takes back what it changed.
const LOOKS: [&str; 2] = ["view", "undo_edit"];
/// Calls that run a command.
const SHELLS: [&str; 6] =
    ["bash", "exec_command", "local_shell", "run_shell_command", "shell", "terminal"];
/// How much of a command has to stand somewhere.
const ENOUGH: usize = 60;

/// What happened, as far as calls tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trail {
    /// Files that calls changed, as they named them.
    pub changed: BTreeSet<String>,
    /// Commands that failed and went well later, each in one line.
    pub mended: BTreeSet<String>,
}

/// Of so many so many are named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Files that were changed.
    pub changed: usize,
    /// Commands that failed and went well later.
    pub mended: usize,
}

impl Trail {
    /// The trail of all calls whose results are known.
    pub fn of(request: &Request) -> Self {
        let parts = || request.transcript.entries().flat_map(|entry| entry.parts());
        let mut went: BTreeMap<String, bool> = BTreeMap::new();
        for result in parts().filter(|part| part.kind() == PartKind::Result) {
            let failed = result.is(Marks::ERROR) || says_failure(&result.text());
            went.insert(result.id().into_owned(), !failed);
        }
        let mut trail = Trail::default();
        let mut failed: BTreeSet<String> = BTreeSet::new();
        for call in parts().filter(|part| part.kind() == PartKind::Call) {
            let Some(well) = went.get(call.id().as_ref()) else { continue };
            let Ok(arguments) = serde_json::from_str::<Value>(&call.text()) else { continue };
            let name = call.name().to_lowercase();
            let text = |keys: &[&str]| {
                keys.iter().find_map(|key| arguments[*key].as_str()).map(str::to_owned)
            };
            if WRITERS.contains(&name.as_str()) && *well {
                let only_looks =
                    text(&["command"]).is_some_and(|act| LOOKS.contains(&act.as_str()));
                let path = text(&["file_path", "path", "filename", "notebook_path"]);
                trail.changed.extend(path.filter(|_| !only_looks));
            }
            if SHELLS.contains(&name.as_str())
                && let Some(command) = text(&["command", "cmd"])
            {
                let command = one_line(&command);
                if !well {
                    failed.insert(command);
                } else if failed.contains(&command) {
                    trail.mended.insert(command);
                }
            }
        }
        trail
    }

    /// How much of it the view says, in whatever place: where it is shown, or in a checkpoint.
    pub fn named_in(&self, view: &Request) -> Named {
        let parts = view.transcript.entries().flat_map(|entry| entry.parts());
        let texts: Vec<String> = parts.map(|part| one_line(&part.text())).collect();
        let says = |words: &str| texts.iter().any(|text| text.contains(words));
        let below: Vec<&str> = texts
            .iter()
            .filter_map(|text| text.split_once("Paths are below: ")?.1.split(' ').next())
            .collect();
        let is_named = |path: &&String| {
            let rests = below.iter().filter_map(|root| path.strip_prefix(root));
            let rests = rests.filter(|rest| !rest.is_empty());
            says(path) || rests.into_iter().any(says)
        };
        let is_told = |command: &&String| {
            let escaped = serde_json::to_string(command).unwrap_or_default();
            [command.as_str(), escaped.trim_matches('"')].into_iter().any(|said| {
                let end = said.char_indices().nth(ENOUGH).map_or(said.len(), |(at, _)| at);
                says(&said[..end])
            })
        };
        Named {
            changed: self.changed.iter().filter(is_named).count(),
            mended: self.mended.iter().filter(is_told).count(),
        }
    }
}

/// Whether an output names an exit code that isn't 0.
fn says_failure(output: &str) -> bool {
    let lower = output.to_lowercase();
    ["exit code: ", "exit code ", "exited with code ", "exit status "].iter().any(|mark| {
        lower.split(mark).skip(1).any(|rest| rest.starts_with(|c: char| ('1'..='9').contains(&c)))
    })
}

/// The words with one space between.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use epitome::wire;
    use serde_json::json;

    use super::*;

    fn session() -> Request {
        let mut messages = vec![json!({"role": "user", "content": "Mend it."})];
        let calls = [
            ("Bash", json!({"command": "cargo  test"}), "error\nExit code: 101"),
            ("Edit", json!({"file_path": "/r/src/a.rs", "old_string": "x"}), "done"),
            ("file_editor", json!({"path": "/r/src/b.rs", "command": "view"}), "fn b() {}"),
            ("Write", json!({"file_path": "/r/src/c.rs"}), "exit code 1"),
            ("Bash", json!({"command": "cargo test"}), "ok"),
            ("Bash", json!({"command": "ls"}), "a"),
        ];
        for (at, (name, arguments, output)) in calls.into_iter().enumerate() {
            let id = format!("call_{at}");
            messages
                .push(json!({"role": "assistant", "tool_calls": [{"id": id, "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()}}]}));
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": output}));
        }
        wire::detect(json!({"messages": messages}).to_string()).expect("messages")
    }

    fn view(said: &str) -> Request {
        let body = json!({"messages": [{"role": "user", "content": said}]});
        wire::detect(body.to_string()).expect("messages")
    }

    #[test]
    fn what_calls_did_is_read_and_found_again() {
        let request = session();
        let trail = Trail::of(&request);
        assert_eq!(trail.changed, ["/r/src/a.rs".to_owned()].into());
        assert_eq!(trail.mended, ["cargo test".to_owned()].into());
        assert_eq!(trail.named_in(&request), Named { changed: 1, mended: 1 });
        for (said, changed, mended) in [
            ("Paths are below: /r/\nFiles changed: src/a.rs\nCommands:\n- cargo test → ok", 1, 1),
            ("Paths are below: /other/\nFiles changed: src/a.rs", 0, 0),
            ("/r/src/a.rs", 1, 0),
            ("nothing", 0, 0),
        ] {
            assert_eq!(trail.named_in(&view(said)), Named { changed, mended }, "{said}");
        }
    }
}
