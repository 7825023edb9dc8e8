//! What the papers say is there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{files, none, read, root, short};
use epitome::word_list::words;

/// Places of one person's machine, written apart so that this file doesn't contain them.
const PLACES: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/tm", "p/")];

#[test]
fn the_readme_is_short() {
    let lines = read(&root().join("README.md")).lines().count();
    assert!(lines <= 150, "README.md has {lines} lines; 150 are allowed");
}

#[test]
fn links_lead_somewhere() {
    let mut dead = Vec::new();
    for paper in papers() {
        let folder = paper.parent().expect("a file is in a folder");
        for link in links(&read(&paper)) {
            let target = link.split('#').next().unwrap_or_default();
            let is_outside = link.contains("://") || link.starts_with("mailto:");
            if !is_outside && !target.is_empty() && !folder.join(target).exists() {
                dead.push(format!("{} → {link}", short(&paper)));
            }
        }
    }
    none("links to files that aren't there", &dead);
}

#[test]
fn papers_that_are_cited_exist() {
    let mut missing = BTreeSet::new();
    let ours = files(&root().join("crates"), ".rs").into_iter().chain(papers());
    for path in ours.filter(|path| !path.ends_with("papers.rs")) {
        for word in read(&path).split(|c: char| !c.is_ascii_alphanumeric() && c != '.' && c != '_')
        {
            let name = word.trim_end_matches('.');
            // Only a paper's name is all capitals; `AGENTS.md` and such are other projects'.
            let is_paper = name
                .strip_suffix(".md")
                .is_some_and(|stem| stem.len() > 3 && stem.chars().all(|c| c.is_ascii_uppercase()));
            let is_there = || root().join(name).exists() || root().join("docs").join(name).exists();
            let others =
                words!("AGENTS.md CLAUDE.md CONVENTIONS.md GEMINI.md RELEASING.md SKILL.md");
            if is_paper && !others.contains(&name) && !is_there() {
                missing.insert(format!("{name}, cited in {}", short(&path)));
            }
        }
    }
    none("papers that are cited and aren't in the repository", &Vec::from_iter(missing));
}

#[test]
fn every_law_has_its_paragraph_and_test() {
    let text = read(&root().join("ARCHITECTURE.md"));
    for law in 1..=19 {
        let paragraph = text
            .split("\n\n")
            .find(|paragraph| paragraph.trim_start().starts_with(&format!("**{law}. ")));
        let paragraph =
            paragraph.unwrap_or_else(|| panic!("ARCHITECTURE.md says nothing of law {law}"));
        let is_held = |link: &&str| link.contains("/tests/") || link.contains("/examples/");
        let is_tested = links(paragraph).iter().any(is_held);
        assert!(is_tested, "ARCHITECTURE.md links law {law} to nothing that runs");
    }
}

#[test]
fn rule_ids_are_unique() {
    let mut seen = BTreeSet::new();
    for rule in epitome::wire::RULES {
        assert!(seen.insert(rule.id), "{} stands twice in the table of rules", rule.id);
    }
}

#[test]
fn nobodys_machine_is_named() {
    let mut found = Vec::new();
    for path in ours() {
        let name = short(&path);
        let is_test = name.split('/').any(|piece| piece == "tests");
        for (at, line) in read(&path).lines().enumerate() {
            // Tests may name any path that a transcript could.
            if !is_test && PLACES.iter().any(|place| line.contains(place)) {
                found.push(format!("{name}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    none("paths of somebody's machine", &found);
}

/// The papers: what people read first.
fn papers() -> Vec<PathBuf> {
    let top = std::fs::read_dir(root()).expect("the workspace can be listed");
    let top = top.map(|entry| entry.expect("can be listed").path());
    let is_paper = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md");
    let mut papers: Vec<PathBuf> = top.filter(is_paper).collect();
    papers.extend(files(&root().join("docs"), ".md"));
    papers.sort();
    assert!(papers.iter().any(|paper| paper.ends_with("README.md")), "there is a README");
    papers
}

/// Everything that is written here, real transcripts apart.
fn ours() -> Vec<PathBuf> {
    let mut all = papers();
    for ending in [".rs", ".toml"] {
        all.extend(files(&root().join("crates"), ending));
    }
    all.extend(["Cargo.toml", "test", ".ci/run"].map(|name| root().join(name)));
    all
}

/// Targets of the Markdown links in `text`.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next()).collect()
}

#[test]
fn links_are_found() {
    assert_eq!(links("a [b](c.md) ![d](e.svg \"f\")"), ["c.md", "e.svg"]);
    assert!(Path::new(&root()).join("Cargo.toml").exists());
}
