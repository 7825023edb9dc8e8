//! `bench survival` on sessions of the user's.

use std::fs;

use serde_json::Value;

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

fn sum(rows: &Value, key: &str) -> u64 {
    let rows = rows.as_array().expect("a list");
    rows.iter().map(|row| row[key].as_u64().expect("a number")).sum()
}

#[test]
fn the_figures_of_a_session_are_the_same_each_time_and_add_up() {
    let bench = folder();
    let ran = bench.run("bench survival runs --set open --json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    // What is called a session and is none is named; what isn't called so isn't read.
    assert!(ran.err.contains("notes.json") && !ran.err.contains("README"), "{}", ran.err);
    let figures = ran.json();
    assert_eq!((&figures["version"], &figures["seeds"]), (&1.into(), &1.into()));
    assert_eq!(figures["streams"][0]["name"], "runs");
    let (plants, present) = (sum(&figures["items"], "plants"), sum(&figures["items"], "present"));
    assert!(plants > 100 && present <= plants && present > plants / 2, "{present} of {plants}");
    assert_eq!(sum(&figures["landings"], "runs"), 15);
    let sets = figures["items"].as_array().expect("a list").iter().map(|row| &row["set"]);
    assert!(sets.into_iter().all(|set| set == "open"));

    let alone = bench.run("bench survival runs/run.json --set open --json").json();
    assert_eq!(alone["items"], figures["items"], "a folder of one session is that session");

    let tables = bench.run("bench survival runs --set open").out;
    let row = tables.lines().find(|line| line.trim_start().starts_with("| open | 5 % |"));
    assert!(row.is_some_and(|row| row.contains("5 of 5")), "{tables}");
}

#[test]
fn what_is_lost_is_listed_but_of_what_is_held_out() {
    let bench = folder();
    let ran = bench.run("bench survival runs/run.json --misses");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let missed: Vec<_> = ran.out.lines().filter(|line| line.contains("% after ")).collect();
    assert!(!missed.is_empty() && missed.iter().all(|line| line.contains(": o-")), "{}", ran.out);
}

#[test]
fn phrasings_of_a_file_are_planted() {
    let bench = folder();
    let evil = "\u{1b}[31m";
    let phrasings = |id: &str| {
        serde_json::json!({
            "about": "mine",
            "pools": {"who": ["Dana"], "why": ["it is old"]},
            "matters": (0..12).map(|n| serde_json::json!({
                "kind": "fact", "slots": {"subject": format!("limit of pump {n}")}, "keys": [format!("pump {n}")],
                "values": [format!("{}41 bar", n + 10), format!("{}57 bar", n + 10)],
            })).collect::<Vec<_>>(),
            "phrasings": [{"id": id, "kind": "fact", "voice": "mine", "by": ["human"], "text": "Remember: the {subject} is {value}."}],
            "corrections": [],
            "fillers": {"human": ["ok"], "assistant": ["Fine."], "tool": ["done"]},
        })
    };
    let mut open = phrasings("mine");
    open["phrasings"][0]["text"] = "The {colour} of {subject} is {value}.".into();
    bench.write("mine.json", open.to_string());
    let ran = bench.run("bench survival runs/run.json --phrasings mine.json");
    assert!(ran.code == 65 && ran.err.contains("nothing fills colour"), "{}", ran.err);
    bench.write("mine.json", phrasings(evil).to_string());
    let ran = bench.run("bench survival runs/run.json --phrasings mine.json");
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out.contains("| given | 20 % | 100.0 %"), "{}", ran.out);
    let ran = bench.run("bench survival runs/run.json --phrasings mine.json --misses");
    assert!(!ran.out.contains('\u{1b}'), "{}", ran.out);
}

#[test]
fn what_cant_be_measured_is_named() {
    let bench = folder();
    fs::create_dir(bench.path("empty")).expect("a folder");
    bench.write("hello.json", r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    bench.write("mine.json", "{}");
    for (words, code, named) in [
        ("bench", 2, "survival"),
        ("bench survival", 2, "PATH"),
        ("bench survival runs --seeds 0", 2, "--seeds"),
        ("bench survival runs --set shut", 2, "shut"),
        ("bench survival runs --misses --json", 2, "--misses"),
        ("bench survival runs --set open --phrasings mine.json", 2, "--phrasings"),
        ("bench survival empty", 65, "empty holds no session"),
        ("bench survival hello.json", 65, "needs calls of a model"),
        ("bench survival runs --phrasings mine.json", 65, "mine.json holds no phrasings"),
        ("bench survival nowhere.json", 65, "nowhere.json"),
    ] {
        let ran = bench.run(words);
        let said = format!("{}{}", ran.err, ran.out);
        // Like any file that isn't there.
        let code =
            if words.contains("nowhere") { bench.run("stats nowhere.json").code } else { code };
        assert_eq!(ran.code, code, "{words}: {said}");
        assert!(said.contains(named), "{words}: {said}");
    }
}
