//! The recorded session of docs/agents.md: its commands are run, and print what stands there.
//! `UPDATE_EXPECT=1 cargo test -p epitome-cli` writes it anew.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::bench::{Bench, SHORT};

const HEAD: &str = "## A session without an agent\n";
const SETTINGS: &str = "{\n  \"model\": \"opus\"\n}\n";

#[test]
fn the_session_in_the_papers_is_what_happens() {
    let paper = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/agents.md");
    let text = fs::read_to_string(&paper).expect("the paper");
    let from = text.find(HEAD).expect("the section");
    let open = from + text[from..].find("```console\n").expect("a block") + "```console\n".len();
    let close = open + text[open..].find("```").expect("its end");
    let commands = text[open..close].lines().filter_map(|line| line.strip_prefix("$ "));

    let bench = Bench::new();
    bench.copy(SHORT, "session.jsonl");
    bench.write(".claude/settings.json", SETTINGS);
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
    let hashes: Vec<&str> = printed.lines().filter(|line| is_hash(line)).collect();
    let [settings, session, again, settings_again] = hashes[..] else {
        panic!("four hashes: {printed}")
    };
    assert_eq!((settings, session), (settings_again, again), "all is as it was");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let paper_text = format!("{}{printed}{}", &text[..open], &text[close..]);
        fs::write(&paper, paper_text).expect("written");
    } else {
        assert_eq!(printed, text[open..close], "docs/agents.md is out of date");
    }
}

fn is_hash(line: &str) -> bool {
    line.len() == 16 && line.bytes().all(|byte| byte.is_ascii_hexdigit())
}
