//! No circles between the modules of a crate.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::source::code;
use crate::{files, none, read, root};

/// Each module at the top of a crate with those that it names.
type Edges = BTreeMap<String, BTreeSet<String>>;

#[test]
fn modules_know_no_circle() {
    let crates = std::fs::read_dir(root().join("crates")).expect("there are crates");
    let mut found = Vec::new();
    for folder in crates.map(|entry| entry.expect("can be listed").path()) {
        let name = folder.file_name().expect("a crate has a name").to_string_lossy();
        let circles = circles(&edges(&folder.join("src")));
        for circle in circles {
            found.push(format!("{name}: {}", circle.join(" → ")));
        }
    }
    none("circles between modules", &found);
}

fn edges(source: &Path) -> Edges {
    let mut edges = Edges::new();
    for path in files(source, ".rs") {
        let inside = path.strip_prefix(source).expect("it was found there");
        let module = top(inside);
        let is_test = inside.components().any(|part| part.as_os_str() == "tests")
            || inside.ends_with("tests.rs");
        if is_test || ["lib", "main"].contains(&module.as_str()) {
            continue;
        }
        let named = named(&code(&read(&path)));
        edges.entry(module).or_default().extend(named);
    }
    let all: BTreeSet<String> = edges.keys().cloned().collect();
    for (module, named) in &mut edges {
        named.retain(|other| other != module && all.contains(other));
    }
    edges
}

/// The module at the top of the crate that a file is in.
fn top(inside: &Path) -> String {
    let first = inside.components().next().expect("a file has a name");
    first.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned()
}

/// The modules that `code` names behind `crate::`, in groups, too.
fn named(code: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        if let Some(group) = rest.strip_prefix('{') {
            names.extend(members(group));
        } else {
            names.extend(word(rest));
        }
    }
    names
}

/// The first words of the members of a group of names.
fn members(group: &str) -> Vec<String> {
    let (mut depth, mut found, mut at_start) = (0, Vec::new(), true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' => at_start = depth == 0 || at_start,
            _ if c.is_whitespace() => {}
            _ if at_start && depth == 0 => {
                found.extend(word(&group[at..]));
                at_start = false;
            }
            _ => {}
        }
    }
    found
}

fn word(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    (end > 0).then(|| text[..end].to_owned())
}

/// One circle for each module that is in one, each circle once.
fn circles(edges: &Edges) -> BTreeSet<Vec<String>> {
    let mut circles = BTreeSet::new();
    for start in edges.keys() {
        if let Some(mut circle) = way(edges, start) {
            let least = (0..circle.len()).min_by_key(|at| &circle[*at]).expect("it isn't empty");
            circle.rotate_left(least);
            circles.insert(circle);
        }
    }
    circles
}

/// The shortest way from a module back to itself.
fn way(edges: &Edges, start: &str) -> Option<Vec<String>> {
    let mut ways = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for way in ways {
            let last = way.last().expect("a way has a beginning");
            for next in edges.get(last).into_iter().flatten() {
                if next == start {
                    return Some(way);
                }
                if seen.insert(next.clone()) {
                    longer.push([&way[..], std::slice::from_ref(next)].concat());
                }
            }
        }
        ways = longer;
    }
    None
}

#[test]
fn a_circle_is_found() {
    let code = "use crate::{a::{self, X}, b, c::Y};\nuse crate::d;\nfn f() { crate::e::g() }";
    assert_eq!(Vec::from_iter(named(code)), ["a", "b", "c", "d", "e"]);
    let edges = [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")];
    let edges = edges.map(|(from, to)| (from.to_owned(), BTreeSet::from([to.to_owned()])));
    let circles = circles(&Edges::from(edges));
    assert_eq!(Vec::from_iter(circles), [["a", "b", "c"].map(str::to_owned)]);
}
