//! What a person sees in a terminal, wide or narrow.

#![cfg(unix)]

use unicode_width::UnicodeWidthStr as _;

use crate::bench::{Bench, EDGES, RUN, SESSION};

#[test]
fn every_line_fits_its_terminal() {
    let bench = Bench::new();
    for (name, example) in [("session.jsonl", SESSION), ("run.json", RUN), ("edges.jsonl", EDGES)] {
        bench.copy(example, name);
        for command in ["stats", "plan --target 2%", "diff", "diff --target 2%", "count", "check"] {
            for columns in [32, 40, 57, 69, 80, 120, 200] {
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
