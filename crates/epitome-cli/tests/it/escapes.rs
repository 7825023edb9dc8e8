//! What a transcript says reaches neither the terminal nor a page as more than text.

use crate::bench::{Bench, Ran};

/// A request whose every name and text would like to be obeyed.
fn hostile() -> String {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{202e}<script>alert(1)</script>\u{200f}";
    let quoted = serde_json::to_string(evil).expect("JSON");
    let arguments = serde_json::to_string(&format!("{{\"path\":{quoted}}}")).expect("JSON");
    format!(
        r#"{{"model":{quoted},"messages":[
        {{"role":"user","content":{quoted}}},
        {{"role":"tool","tool_call_id":{quoted},"content":"orphan"}},
        {{"role":"assistant","content":{quoted},"tool_calls":[{{"id":{quoted},"type":"function","function":{{"name":{quoted},"arguments":{arguments}}}}}]}},
        {{"role":"tool","tool_call_id":{quoted},"content":{quoted}}}]}}"#
    )
}

fn is_obeyed(c: char) -> bool {
    (c.is_control() && c != '\n') || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
}

fn assert_harmless(what: &str, text: &str) {
    let found: Vec<char> = text.chars().filter(|c| is_obeyed(*c)).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {text}");
}

#[test]
fn terminals_obey_nothing() {
    let bench = Bench::new();
    bench.write("evil.json", hostile());
    for command in [
        "stats",
        "stats --json",
        "check",
        "check --json",
        "count",
        "count --json",
        "plan --target 1",
        "plan --json",
        "diff --target 50%",
        "diff --json",
        "check --repair -o mended.json",
        "compact --target 20% -o out.json",
        "compact --sidechain x",
    ] {
        let Ran { out, err, .. } = bench.run(&format!("{command} evil.json"));
        assert_harmless(command, &out);
        assert_harmless(command, &err);
    }
    let ran = bench.command(&["stats", "no\u{1b}[31msuch\nfile"]).output().expect("it runs");
    assert_harmless("a file's name", &String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn pages_run_nothing() {
    let bench = Bench::new();
    bench.write("evil.json", hostile());
    assert_eq!(bench.run("stats evil.json --html page.html --svg picture.svg").code, 0);
    for file in ["page.html", "picture.svg"] {
        let text = bench.read(file);
        assert_harmless(file, &text);
        assert!(!text.contains("<script"), "{file}");
        assert!(!text.contains("http://") || text.contains("www.w3.org"), "{file}");
    }
    let page = bench.read("page.html");
    assert!(page.contains("&lt;script&gt;"), "the words are still there");
    assert!(!page.contains("src=") && !page.contains("href="), "nothing is fetched");
}

#[test]
fn colours_are_for_terminals() {
    let bench = Bench::new();
    bench.write("evil.json", hostile());
    let plain = bench.shell("epitome stats evil.json").out;
    assert!(!plain.contains('\u{1b}'));
    let forced = bench.shell("CLICOLOR_FORCE=1 epitome stats evil.json").out;
    assert!(forced.contains("\u{1b}[1m"));
    let refused = bench.shell("NO_COLOR=1 CLICOLOR_FORCE=0 epitome stats evil.json").out;
    assert_eq!(refused, plain);
}
