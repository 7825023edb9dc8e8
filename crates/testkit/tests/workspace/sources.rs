//! What the source must not contain.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::source::{code, has_word};
use crate::{files, none, read, root, short};
use epitome::word_list::words;

/// What would tie the core to a machine, a moment or a runtime. Clippy finds calls of these too
/// (`crates/epitome/clippy.toml`), but not a type in a signature, nor what a macro hides.
const FOREIGN: [&str; 18] = words!(
    "std::env std::fs std::net std::process std::os std::thread std::io SystemTime Instant::now \
     RandomState DefaultHasher rand getrandom tokio println eprintln print eprint"
);

/// Most lines of code a file may have, tests apart; CONTRIBUTING.md asks for 400 or less.
const LONGEST: usize = 500;

#[test]
fn strategies_know_no_wire_format() {
    let found = lines(&core().join("strategy"), |line| has_word(line, "wire"));
    none("`strategy` proposes edits to a transcript and imports nothing of `wire`", &found);
}

/// Whoever reads a name of the core's public types knows which one is meant.
#[test]
fn no_public_type_has_the_name_of_another() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for path in files(&core(), ".rs") {
        let text = code(&read(&path));
        let names = text.lines().filter_map(|line| {
            let (kind, rest) = line.strip_prefix("pub ")?.split_once(' ')?;
            let is_type = ["struct", "enum", "trait", "type"].contains(&kind);
            let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            is_type.then(|| rest[..end].to_owned())
        });
        for name in names {
            places.entry(name).or_default().push(short(&path));
        }
    }
    assert!(places.len() > 100, "{} types are found", places.len());
    let twice = places.iter().filter(|(_, paths)| paths.len() > 1);
    let found: Vec<String> = twice.map(|(name, paths)| format!("{name}: {paths:?}")).collect();
    none("public types with one name", &found);
}

#[test]
fn the_scripted_server_judges_by_itself() {
    let server = root().join("crates/testkit/src/server");
    // What it counts with, and how lists are written, is all of the library that it may use.
    let may_use = ["epitome::count::", "epitome::word_list::"];
    let found = lines(&server, |line| {
        let is_free = may_use.iter().any(|name| line.contains(name));
        has_word(line, "wire") || has_word(line, "epitome") && !is_free
    });
    none("the server's rules are held against the library's, so they share no code", &found);
    let foreign = ["crate::laws", "crate::captures", "crate::conversion"];
    let found = lines(&server, |line| foreign.iter().any(|name| line.contains(name)));
    none("what reads requests with the library, in the server", &found);
}

#[test]
fn the_core_waits_only_behind_traits() {
    // A signature in a trait ends without a body.
    let is_async = |line: &str| {
        has_word(line, "await") || has_word(line, "async") && !line.trim_end().ends_with(';')
    };
    none("`async` in the core", &lines(&core(), is_async));
}

#[test]
fn the_core_touches_nothing_outside() {
    let found = lines(&core(), |line| FOREIGN.iter().any(|name| has_word(line, name)));
    none("clock, randomness, environment, files, network or terminal in the core", &found);
}

#[test]
fn nothing_is_unwrapped_without_a_reason() {
    let found = lines(&root().join("crates"), |line| line.contains(".unwrap()"));
    none("`unwrap()` where `expect(\"why it holds\")` or an error belongs", &found);
}

#[test]
fn everything_is_safe() {
    let found = lines(&root().join("crates"), |line| has_word(line, "unsafe"));
    none("`unsafe`", &found);
}

#[test]
fn files_stay_short() {
    let mut sizes: Vec<(usize, String)> = sources(&root().join("crates"))
        .iter()
        .map(|path| (length(&read(path)), short(path)))
        .filter(|(lines, _)| *lines > 400)
        .collect();
    sizes.sort();
    for (lines, path) in &sizes {
        println!("{lines} lines: {path}");
    }
    let long: Vec<String> = sizes
        .into_iter()
        .filter(|(lines, _)| *lines > LONGEST)
        .map(|(lines, path)| format!("{path}: {lines} lines without tests"))
        .collect();
    none("files to be split", &long);
}

#[test]
fn every_file_says_what_it_is_for() {
    let found: Vec<String> = sources(&root().join("crates"))
        .iter()
        .filter(|path| !read(path).trim_start().starts_with("//!"))
        .map(|path| short(path))
        .collect();
    none("files that don't begin with a module comment", &found);
}

fn core() -> PathBuf {
    root().join("crates/epitome/src")
}

/// Rust files that aren't tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let is_test =
        |path: &Path| short(path).split('/').any(|piece| matches!(piece, "tests" | "tests.rs"));
    let found: Vec<PathBuf> =
        files(folder, ".rs").into_iter().filter(|path| !is_test(path)).collect();
    assert!(!found.is_empty(), "{} has sources", short(folder));
    found
}

/// Lines up to the tests at the end, where they are by house rule.
fn length(text: &str) -> usize {
    text.split_once("#[cfg(test)]\nmod tests {").map_or(text, |(code, _)| code).lines().count()
}

/// The lines of code in `folder` that `is_wrong` says are.
fn lines(folder: &Path, is_wrong: impl Fn(&str) -> bool) -> Vec<String> {
    let in_file = |path: PathBuf| {
        let name = short(&path);
        let code = code(&read(&path));
        let wrong = code.lines().enumerate().filter(|(_, line)| is_wrong(line));
        wrong.map(|(at, line)| format!("{name}:{}: {}", at + 1, line.trim())).collect::<Vec<_>>()
    };
    sources(folder).into_iter().flat_map(in_file).collect()
}
