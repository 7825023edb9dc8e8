//! What a person sees in a terminal, wide or narrow.

#![cfg(unix)]

use testkit::is_full;
use unicode_width::UnicodeWidthStr as _;

use crate::bench::{Bench, EDGES, RUN, SESSION};

/// Columns of terminals.
const ALL_WIDTHS: [u16; 8] = [32, 40, 57, 69, 80, 100, 120, 200];

#[test]
fn every_line_fits_its_terminal() {
    let bench = Bench::new();
    for (name, example, widths) in [
        ("session.jsonl", SESSION, &[40, 100][..]),
        ("run.json", RUN, &[32, 57, 80, 200]),
        ("edges.jsonl", EDGES, &[32, 69, 120]),
    ] {
        bench.copy(example, name);
        for command in ["stats", "plan --target 2%", "diff", "diff --target 2%", "count", "check"] {
            for &columns in if is_full() { &ALL_WIDTHS } else { widths } {
                let what = format!("{command} {name}");
                let ran = bench.screen(&what, columns);
                let plain = anstream::adapter::strip_str(&ran.out).to_string();
                for line in plain.lines().filter(|line| !line.starts_with("hint: ")) {
                    let width = line.width();
                    assert!(width <= usize::from(columns), "{what} at {columns}, {width}: {line}");
                }
            }
        }
    }
}

#[test]
fn lists_fit_their_terminal() {
    let bench = Bench::new();
    let folder = ".claude/projects/-src-app";
    std::fs::create_dir_all(bench.path(folder)).expect("a folder");
    for (name, example) in [("3fe1b6bc-dbd0-4320-b980-4f147befa187", SESSION), ("two", EDGES)] {
        bench.copy(example, &format!("{folder}/{name}.jsonl"));
    }
    let usual = ".local/share/epitome/archive";
    bench.run(&format!("compact 3fe1b6bc --target 10% --archive {usual} -o out.json"));
    let compact = format!("compact out.json --target 60% --archive {usual} -o second.json");
    bench.run(&compact);
    bench.run("install claude-code").ends(0);
    for command in ["", "sessions", "sessions out.json", "doctor", "recall regex --limit 3"] {
        for columns in ALL_WIDTHS.into_iter().step_by(if is_full() { 1 } else { 2 }) {
            let ran = bench.screen(command, columns);
            let plain = anstream::adapter::strip_str(&ran.out).to_string();
            // A path is one word, to be copied.
            let is_path =
                |line: &str| line.split(' ').any(|word| word.width() > usize::from(columns) / 2);
            for line in plain.lines().filter(|line| !line.starts_with("hint: ") && !is_path(line)) {
                let width = line.width();
                assert!(width <= usize::from(columns), "{command} at {columns}, {width}: {line}");
            }
        }
    }
}

#[test]
fn colours_are_shown_unless_refused() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    assert!(bench.screen("stats run.json", 80).out.contains("\u{1b}["));
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let plain = bench.screen_with("stats run.json", 80, &[(name, value)]).out;
        assert!(!plain.contains('\u{1b}'), "{name}: {plain}");
    }
}

#[test]
fn a_person_who_names_nothing_is_told_so() {
    let bench = Bench::new();
    for command in ["stats", "check", "compact", "count", "plan", "convert --to anthropic", "diff"]
    {
        let ran = bench.terminal_stdin(command);
        assert_eq!(ran.code, 2, "{command}: {}", ran.err);
        assert!(ran.err.contains("stdin is a terminal\nhint: "), "{command}: {}", ran.err);
    }
}
