//! What the papers say of the binary: their commands run, and name what there is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::bench::Bench;
use epitome::word_list::words;

const RUN: &str = "cargo run --release -- ";

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each paper with its text.
fn papers() -> Vec<(String, String)> {
    let folders = [root(), root().join("docs"), root().join("examples")];
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let paths = files.map(|file| file.expect("a file").path());
    let is_paper =
        |path: &PathBuf| path.extension().is_some_and(|ending| ending == "md" || ending == "txt");
    let paper = |path: PathBuf| {
        (path.display().to_string(), fs::read_to_string(path).expect("a paper is text"))
    };
    paths.filter(is_paper).map(paper).collect()
}

/// The lines in blocks of this kind.
fn blocks<'a>(text: &'a str, kind: &str) -> Vec<&'a str> {
    let open = format!("```{kind}\n");
    let blocks = text.split(open.as_str()).skip(1).filter_map(|rest| rest.split("```").next());
    blocks.flat_map(str::lines).collect()
}

/// A folder in which the shipped sessions are where the papers say.
fn desk() -> Bench {
    let desk = Bench::new();
    std::os::unix::fs::symlink(root().join("examples"), desk.path("examples")).expect("a link");
    desk
}

#[test]
fn commands_of_the_readme_do_what_it_says() {
    let readme = fs::read_to_string(root().join("README.md")).expect("a README");
    let desk = desk();
    let commands: Vec<_> =
        blocks(&readme, "sh").into_iter().filter_map(|line| line.strip_prefix(RUN)).collect();
    assert!(commands[0].starts_with("compact examples/"), "the first command is the main job");
    for (at, command) in commands.iter().enumerate() {
        let ran = desk.run(command);
        assert_eq!(ran.code, 0, "{command}\n{}", ran.err);
        if at == 0 {
            let receipt = blocks(&readme, "text").join("\n");
            assert_eq!(receipt, ran.err.trim_end(), "the README's receipt is out of date");
        }
    }
}

#[test]
fn commands_in_words_are_there_with_their_options() {
    let desk = desk();
    for (paper, text) in papers() {
        for row in text.lines().filter(|line| line.contains("`epitome ")) {
            let spans: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
            let mut help = String::new();
            for span in spans {
                let mut words = span.split_whitespace().peekable();
                if words.next_if_eq(&"epitome").is_some() {
                    let command = words.next_if(|word| !word.starts_with('-'));
                    let ran = desk.run(&format!("{} --help", command.unwrap_or_default()));
                    assert_eq!(ran.code, 0, "{paper}: {span}");
                    help += &ran.out;
                }
                for option in words.filter(|word| word.starts_with("--") && !help.is_empty()) {
                    assert!(help.contains(option), "{paper}: {span} has no {option}");
                }
            }
        }
    }
}

#[test]
fn cargo_commands_name_what_is_built() {
    for (paper, text) in papers() {
        for rest in text.split("--example ").skip(1) {
            let name: &str = rest.split([' ', '`', '\n']).next().unwrap_or_default();
            let is_there = words!(
                "epitome epitome-cli epitome-proxy epitome-recordings epitome-tests epitome-tower \
                 epitome-store testkit"
            )
            .iter()
            .any(|package| {
                let examples = root().join(format!("crates/{package}/examples"));
                let [file, folder] = [format!("{name}.rs"), format!("{name}/main.rs")];
                examples.join(file).exists() || examples.join(folder).exists()
            });
            assert!(is_there, "{paper}: no example is called {name}");
        }
    }
}

/// With `UPDATE_EXPECT=1` the page is written anew.
#[test]
fn checkpoints_are_as_the_page_shows_them() {
    const BLOCK: &str = "\n````text\n";
    let path = root().join("docs/checkpoints.md");
    let page = fs::read_to_string(&path).expect("a page");
    let desk = desk();
    let text = |message: &serde_json::Value| match &message["content"] {
        serde_json::Value::String(text) => text.clone(),
        parts => parts[0]["text"].as_str().unwrap_or_default().to_owned(),
    };
    let mut new = page.clone();
    // What was compacted, and to what size, begins the line.
    let sections: Vec<&str> = page.split("\n`examples/").skip(1).collect();
    assert_eq!(sections.len(), 3);
    for section in sections {
        let (file, rest) = section.split_once("`, ").expect("a file");
        let (percent, _) = rest.split_once(" %").expect("a size");
        let ran = desk.run(&format!("compact examples/{file} --target {percent}%")).ends(0);
        let out: serde_json::Value = serde_json::from_str(&ran.out).expect("a request");
        let mut texts = out["messages"].as_array().expect("messages").iter().map(text);
        let now = texts.find(|text| text.starts_with("<checkpoint ")).expect("a checkpoint");
        let said = section.split(BLOCK).nth(1).and_then(|block| block.split("\n````").next());
        new = new.replacen(said.expect("a block"), &now, 1);
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, new).expect("the page is written");
    } else {
        assert!(page == new, "docs/checkpoints.md is out of date: UPDATE_EXPECT=1 writes it anew");
    }
}

/// The tour runs where Python is; here it is seen that its outputs are of today's compaction.
#[test]
fn the_tour_for_python_shows_this_compaction() {
    let tour = fs::read_to_string(root().join("crates/epitome-py/tour.ipynb")).expect("a tour");
    let ran =
        desk().run("compact examples/claude-code/session-3fe1b6bc.jsonl --target 10%").ends(0);
    let out: serde_json::Value = serde_json::from_str(&ran.out).expect("a request");
    let checkpoint = out.to_string();
    let (_, id) = checkpoint.split_once("<checkpoint ").expect("a checkpoint");
    let found = tour.contains(&id[..12]);
    assert!(
        found,
        "tour.ipynb is out of date: UPDATE_EXPECT=1 with tests/test_tour.py writes it anew"
    );
}
