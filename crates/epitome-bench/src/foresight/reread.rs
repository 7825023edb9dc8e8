//! Files that an agent reads again after the cut although it had read them before and nothing had changed them.

use std::collections::{BTreeMap, HashSet};

use epitome::Request;
use epitome::text::specifics::{Class, specifics};
use epitome::transcript::unit::Units;
use epitome::transcript::{Marks, PartKind, Slot};
use serde_json::Value;

/// The fewest lines of a file that count.
const LINES: usize = 3;
/// Members of arguments that name a file.
const PATHS: [&str; 6] = ["file_path", "absolute_path", "path", "filename", "file", "target_file"];
/// Commands that show a file, and such as change nothing.
const SHOWING: [&str; 6] = ["cat", "sed -n", "head", "tail", "nl", "open"];
const HARMLESS: [&str; 9] =
    ["grep", "rg", "ls", "find", "wc", "git diff", "git log", "git show", "git status"];
/// Parts of the names of tools that change nothing.
const LOOKING: [&str; 6] = ["read", "view", "open", "grep", "glob", "search"];

/// A file that is read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reread {
    /// The file as the call names it.
    pub path: String,
    /// Its lines as they were read last before the cut.
    pub lines: Vec<String>,
}

impl Reread {
    /// Whether a view, given by its lines, shows half of the lines or more.
    pub fn is_shown(&self, view: &HashSet<&str>) -> bool {
        let shown = self.lines.iter().filter(|line| view.contains(line.as_str()));
        shown.count() * 2 >= self.lines.len()
    }
}

/// What a call does with files.
enum Deed {
    /// It shows one file.
    Reads(String),
    /// It changes nothing.
    Looks,
    /// It may change what its text names.
    Changes(String),
}

/// The files that are read again after the entry `cut`, each once: what is read then is at least by half what was read
/// last before the cut, and no call in between that may change something names the file.
pub fn rereads(session: &Request, cut: usize) -> Vec<Reread> {
    let units = Units::of(&session.transcript, session.format.instructions());
    let mut known: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut found = Vec::new();
    for pair in units.pairs() {
        let is_before = session.transcript.entry_of(pair.call) < cut;
        match deed(session, pair.call) {
            Deed::Looks => {}
            Deed::Changes(text) => known.retain(|path, _| !names(&text, path)),
            Deed::Reads(path) => {
                let Some(result) = pair.result else { continue };
                let lines = lines(session, result);
                if is_before {
                    if lines.len() >= LINES {
                        known.insert(path, lines);
                    }
                } else if let Some(before) = known.remove(&path) {
                    let had: HashSet<&str> = before.iter().map(String::as_str).collect();
                    let now = Reread { path: path.clone(), lines };
                    if now.lines.len() >= LINES && now.is_shown(&had) {
                        found.push(Reread { path, lines: before });
                    }
                }
            }
        }
    }
    found
}

/// Whether a call's text names a file, by its path or by its last name.
fn names(text: &str, path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or(path);
    text.contains(last)
}

fn deed(session: &Request, call: Slot) -> Deed {
    let part = session.transcript.part(call);
    let (name, text) = (part.name().to_lowercase(), part.text());
    let arguments: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let string = |key: &str| arguments.get(key).and_then(Value::as_str);
    let path = PATHS.iter().find_map(|key| string(key));
    let views = string("command") == Some("view");
    let looks = LOOKING.iter().any(|word| name.contains(word)) || views;
    if let Some(path) = path
        && looks
    {
        let is_search = ["grep", "glob", "search"].iter().any(|word| name.contains(word));
        return if is_search { Deed::Looks } else { Deed::Reads(path.to_owned()) };
    }
    let command = match arguments.get("command").or(arguments.get("cmd")) {
        Some(Value::String(command)) => command.clone(),
        // `["bash", "-lc", "…"]`
        Some(Value::Array(words)) => {
            words.last().and_then(Value::as_str).unwrap_or_default().to_owned()
        }
        _ if looks => return Deed::Looks,
        _ => return Deed::Changes(text.into_owned()),
    };
    // `cd … && command`
    let last = command.rsplit("&&").next().unwrap_or_default().trim();
    let is_one = !command.contains(['>', ';', '\n']) && command.matches("&&").count() <= 1;
    let begins = |with: &[&str]| with.iter().any(|word| last.starts_with(&format!("{word} ")));
    if is_one && begins(&SHOWING) {
        let file = last.split('|').next().unwrap_or(last);
        let paths = specifics(file).filter(|found| found.class == Class::Path);
        return paths.last().map_or(Deed::Looks, |path| Deed::Reads(path.text.to_owned()));
    }
    if is_one && begins(&HARMLESS) { Deed::Looks } else { Deed::Changes(text.into_owned()) }
}

/// The distinct lines of a result that say something.
fn lines(session: &Request, result: Slot) -> Vec<String> {
    let entry = session.transcript.entry(session.transcript.entry_of(result));
    let behind = entry.parts().filter(|part| part.slot >= result);
    let own = behind.enumerate().take_while(|(at, part)| *at == 0 || part.is(Marks::NESTED));
    let texts = own.filter(|(_, part)| part.says_own_words() && part.kind() != PartKind::Media);
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    for (_, part) in texts {
        for line in part.text().lines().map(str::trim).filter(|line| line.len() > 3) {
            if seen.insert(line.to_owned()) {
                found.push(line.to_owned());
            }
        }
    }
    found
}
