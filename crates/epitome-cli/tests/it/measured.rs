//! `bench` on sessions of the user's.

use std::fs;

use crate::bench::{Bench, RUN};

/// A folder with a run, and something else in it.
fn folder() -> Bench {
    let bench = Bench::new();
    fs::create_dir(bench.path("runs")).expect("a folder");
    bench.copy(RUN, "runs/run.json");
    bench.write("runs/notes.json", "nothing");
    bench.write("runs/README", "nothing");
    bench
}

#[test]
fn foresight_prints_a_table_and_figures() {
    let bench = folder();
    let ran = bench.run("bench foresight runs --at 10,20,10 --cuts 2").ends(0);
    // What is called a session and is none is named; what isn't called so isn't read.
    assert!(ran.err.contains("notes.json") && !ran.err.contains("README"), "{}", ran.err);
    assert!(ran.out.starts_with("1 sessions, 2 cuts, "), "{}", ran.out);
    let rows = ran.out.lines().filter(|line| line.starts_with("oracle "));
    let cells = |row: &str| row["oracle".len()..].split_whitespace().count();
    assert!(rows.take(3).all(|row| cells(row) == 2), "{}", ran.out);

    let json = bench.run("bench foresight runs --at 10,20 --cuts 2 --json").json();
    assert_eq!((&json["version"], &json["counter"]), (&1.into(), &"o200k".into()));
    assert_eq!(json["budgets"], serde_json::json!([10, 20]));
    let alone = bench.run("bench foresight runs/run.json --at 10,20 --cuts 2 --json").json();
    assert_eq!(alone["totals"], json["totals"]);
}

#[test]
fn rounds_prints_a_table_and_figures() {
    let bench = folder();
    let ran = bench.run("bench rounds runs/run.json --at 20 --counter chars4").ends(0);
    assert!(ran.out.starts_with("1 sessions, 1 runs; counter chars4"), "{}", ran.out);
    let row = ran.out.lines().find(|line| line.starts_with("rules, bare"));
    let cells = row.map(|row| row["rules, bare".len()..].split_whitespace().count());
    assert_eq!(cells, Some(5), "{}", ran.out);
    let json = bench.run("bench rounds runs/run.json --at 20 --counter chars4 --json").json();
    assert_eq!(json["version"], 1);
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(5));
}

#[test]
fn what_cant_be_measured_is_named() {
    let bench = folder();
    fs::create_dir(bench.path("empty")).expect("a folder");
    bench.write("hello.json", r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    for (words, code, named) in [
        ("bench", 2, "foresight"),
        ("bench survival runs", 2, "survival"),
        ("bench foresight", 2, "FILE"),
        ("bench foresight runs --at 0", 2, "--at"),
        ("bench foresight runs --at 5,all", 2, "all"),
        ("bench foresight runs --cuts 0", 2, "--cuts"),
        ("bench foresight runs --counter abacus", 2, "abacus"),
        ("bench foresight hello.json", 65, "no session has a cut"),
        ("bench foresight empty", 65, "no session has a cut"),
        ("bench rounds runs --seeds 0", 2, "--seeds"),
        ("bench rounds hello.json", 65, "often enough"),
        ("bench rounds runs/notes.json", 65, "notes.json"),
    ] {
        let ran = bench.run(words);
        let said = format!("{}{}", ran.err, ran.out);
        assert_eq!(ran.code, code, "{words}: {said}");
        assert!(said.contains(named), "{words}: {said}");
    }
}
