//! That what is said of the captured requests is so, and that nothing is in them that must not be.

use std::collections::BTreeSet;
use std::path::PathBuf;

use testkit::captures::Capture;

use crate::{files, none, read, root, short};

/// All fixtures together, in bytes.
const LARGEST: u64 = 10_000_000;
/// Licences under which a client's own texts (prompts, tool descriptions) may be kept.
const PERMISSIVE: [&str; 2] = ["Apache-2.0", "MIT"];
/// Places of one person's machine, written apart so that this file doesn't contain them.
const PLACES: [&str; 5] = [
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/mn", "t/"),
    concat!("/tm", "p/cap"),
    concat!("/us", "r/local/"),
];

#[test]
fn the_manifest_names_every_capture() {
    let folder = root().join("fixtures/captures");
    let listed: BTreeSet<_> = Capture::all()
        .iter()
        .flat_map(|capture| {
            let folder = folder.join(&capture.name);
            let bodies = capture.requests.iter().map(|sent| &sent.file);
            bodies.chain(&capture.recording).map(move |file| folder.join(file))
        })
        .collect();
    let there: BTreeSet<_> = [".json", ".jsonl"]
        .iter()
        .flat_map(|ending| files(&folder, ending))
        .filter(|path| path.parent() != Some(&folder))
        .collect();
    let strange: Vec<String> = listed.symmetric_difference(&there).map(|p| short(p)).collect();
    none("captures that the manifest doesn't name, or that aren't there", &strange);
}

#[test]
fn what_clients_say_of_themselves_may_be_kept() {
    let captures = Capture::all();
    let is_kept = |capture: &&Capture| {
        PERMISSIVE.contains(&capture.licence.as_str()) || capture.reduced.is_some()
    };
    let found: Vec<String> = captures
        .iter()
        .filter(|capture| !is_kept(capture))
        .map(|capture| format!("{}: {}", capture.name, capture.licence))
        .collect();
    none("texts of clients whose licence doesn't allow it", &found);
}

#[test]
fn captures_are_small_and_name_nobodys_machine() {
    let all = files(&root().join("fixtures"), "");
    let size: u64 = all.iter().map(|path| path.metadata().expect("a file").len()).sum();
    assert!(size <= LARGEST, "the fixtures have {size} bytes");
    let names_one = |path: &&PathBuf| {
        // Codex names its agents like that.
        let text = read(path).replace(concat!("/ro", "ot/task"), "");
        PLACES.iter().any(|place| text.contains(place))
    };
    let found: Vec<String> = all.iter().filter(names_one).map(|path| short(path)).collect();
    none("captures with paths of the machine that made them", &found);
}
