//! What changed in the ledger outlives a compaction with an archive as it does one with receipts.

use std::fmt::Write as _;

use epitome::Format;
use epitome::summarize::SECTIONS;
use serde_json::{Value, json};

use crate::bench::Bench;

/// A line that no phrase of the language tells, what the ledger lists of it, and where it stands.
const SAID: &str = "fn f7() { port_5007 }";
const LISTED: &str = "[16 tool] fn f7() { port_5007 }";

/// The task and so many steps of work, each hundred of them asked for.
fn session(steps: usize) -> String {
    let mut notation = "user Fix the build of the parser, and do not touch the lexer.\n".to_owned();
    for step in 0..steps {
        let said = if step == 7 { SAID.to_owned() } else { format!("fn f{step}() {{ work }}") };
        writeln!(
            notation,
            "asst Reading f{step}. {{lorem 20}} | call c{step} Read {{\"file_path\":\"src/f{step}.rs\"}}\n\
             res  c{step} = {said}\\n{{code 40}}",
        )
        .expect("a string takes all");
        if step % 100 == 99 {
            notation.push_str("user Go on with the rest.\n");
        }
    }
    testkit::parse(Format::OpenaiChat, &notation).source().as_ref().clone()
}

/// A summarizer that proposes to list the line.
fn script() -> String {
    let said = |section| if section == "Goal" { "The build is to be fixed." } else { "none" };
    let sections = SECTIONS.map(|name| format!("## {name}\n{}\n", said(name))).concat();
    let change = json!({"op": "add", "kind": "fact", "text": SAID, "sources": [16]});
    let answer = json!({"version": 1, "summary": sections, "ledger": [change]});
    format!("cat > asked\ncat <<'END'\n{answer}\nEND\n")
}

#[test]
fn changes_of_the_ledger_are_made_again_by_whoever_goes_on_with_the_archive() {
    let bench = Bench::new();
    bench.write("script", script());
    bench.write("in.json", session(100));
    bench.write("longer.json", session(140));
    let compact = |file: &str, more: &[&str]| {
        let words = ["compact", file, "--target", "4000", "--counter", "chars4", "-o", "out.json"];
        let all = [&words[..], &["--receipt", "receipt.json"], more].concat();
        let output = bench.command(&all).output().expect("the binary runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let receipt: Value = serde_json::from_str(&bench.read("receipt.json")).expect("JSON");
        (bench.read("out.json").contains(LISTED), receipt["ledger_changes"].clone())
    };
    let archive = ["--archive", "store"];
    let (is_listed, changes) =
        compact("in.json", &["--summarizer", "cmd:sh script", "--archive", "store"]);
    assert!(is_listed && changes[0]["text"] == SAID, "{changes}");
    let shown = bench.read("out.json");

    let (is_listed, none) = compact("longer.json", &[]);
    assert!(!is_listed && none.is_null(), "nobody says again what the ledger is to list");
    assert_eq!(compact("longer.json", &archive), (true, changes.clone()), "all of it, and more");

    let end = shown.rfind("]}").expect("the end of the list");
    let more: Vec<String> = (0..60)
        .map(|at| {
            let said = format!("Step {at}. {}", "It went as planned. ".repeat(12));
            json!({"role": "assistant", "content": said}).to_string()
        })
        .collect();
    let more = format!(",{}", more.join(","));
    bench.write("view.json", format!("{}{more}{}", &shown[..end], &shown[end..]));
    assert_eq!(compact("view.json", &archive), (true, changes), "the view, and more");
    let views = bench.run("sessions view.json --archive store --json").json();
    let receipts = views["views"].as_array().expect("a list");
    assert!(receipts.iter().all(|view| view["receipt"]["ledger_changes"][0]["text"] == SAID));
}
