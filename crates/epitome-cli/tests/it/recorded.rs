//! Recorded sessions of the papers: their commands are run, and print what stands there.
//! `UPDATE_EXPECT=1 cargo test -p epitome-cli` writes them anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::bench::{Bench, SHORT};
use crate::papers::root;

const SETTINGS: &str = "{\n  \"model\": \"opus\"\n}\n";

/// Runs the commands in the first block behind a heading, and compares; the hashes that they print.
fn replayed(paper: &str, heading: &str, bench: &Bench) -> Vec<String> {
    let file = root().join(paper);
    let text = fs::read_to_string(&file).expect("the paper");
    let from = text.find(&format!("{heading}\n")).expect("the section");
    let open = from + text[from..].find("```console\n").expect("a block") + "```console\n".len();
    let close = open + text[open..].find("```").expect("its end");
    let commands = text[open..close].lines().filter_map(|line| line.strip_prefix("$ "));

    let home = fs::canonicalize(bench.path(".")).expect("a folder").display().to_string();
    let program = Path::new(env!("CARGO_BIN_EXE_epitome")).parent().expect("a folder").display();
    let mut printed = String::new();
    for command in commands {
        let ran = Command::new("bash")
            .args(["-c", &format!("{{ {command}\n}} 2>&1")])
            .current_dir(&home)
            .env_clear()
            .env("HOME", &home)
            .env("PATH", format!("{program}:/usr/bin:/bin"))
            .output()
            .expect("a shell");
        let said = String::from_utf8(ran.stdout).expect("UTF-8").replace(&home, "~");
        assert!(ran.status.success(), "{command}\n{said}");
        writeln!(printed, "$ {command}").expect("a string takes all");
        for line in said.lines() {
            let cut = line.chars().take(300).collect::<String>();
            let more = if cut == line { "" } else { "…" };
            writeln!(printed, "{}{more}", cut.trim_end()).expect("a string takes all");
        }
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let paper_text = format!("{}{printed}{}", &text[..open], &text[close..]);
        fs::write(&file, paper_text).expect("written");
    } else {
        assert_eq!(printed, text[open..close], "{paper} is out of date");
    }
    printed.lines().filter(|line| is_hash(line)).map(str::to_owned).collect()
}

#[test]
fn the_session_in_the_papers_is_what_happens() {
    let bench = Bench::new();
    bench.copy(SHORT, "session.jsonl");
    bench.write(".claude/settings.json", SETTINGS);
    let hashes = replayed("docs/agents.md", "## A session without an agent", &bench);
    let [settings, session, again, settings_again] = &hashes[..] else {
        panic!("four hashes: {hashes:?}")
    };
    assert_eq!((settings, session), (settings_again, again), "all is as it was");
}

#[test]
fn the_readme_has_back_what_it_removed() {
    let bench = Bench::new();
    bench.copy(SHORT, "session.jsonl");
    let hashes = replayed("README.md", "### Nothing is lost", &bench);
    let [before, after] = &hashes[..] else { panic!("two hashes: {hashes:?}") };
    assert_eq!(before, after, "the same bytes");
}

fn is_hash(line: &str) -> bool {
    line.len() == 16 && line.bytes().all(|byte| byte.is_ascii_hexdigit())
}
