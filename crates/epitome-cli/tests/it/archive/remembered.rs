//! What changed in the ledger outlives a compaction with an archive as it does one with receipts.

use std::fmt::Write as _;
use std::ops::Range;

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

/// A summarizer that proposes to list the line, which it cites there.
fn script(source: usize) -> String {
    let said = |section| if section == "Goal" { "The build is to be fixed." } else { "none" };
    let sections = SECTIONS.map(|name| format!("## {name}\n{}\n", said(name))).concat();
    let change = json!({"op": "add", "kind": "fact", "text": SAID, "sources": [source]});
    let answer = json!({"version": 1, "summary": sections, "ledger": [change]});
    format!("cat > asked\ncat <<'END'\n{answer}\nEND\n")
}

#[test]
fn changes_of_the_ledger_are_made_again_by_whoever_goes_on_with_the_archive() {
    let bench = Bench::new();
    bench.write("script", script(16));
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
    // Another conversation bears nothing of it out, and that is said.
    bench.write("first.json", bench.read("receipt.json"));
    bench.write("other.json", session(140).replace("port_5007", "port_6007"));
    let ran = bench.run(
        "compact other.json --target 4000 --counter chars4 --continue first.json -o other.out",
    );
    let why = "isn't made again (it cites no message that is there): fn f7() { port_5007 }";
    assert!(ran.code == 0 && ran.err.contains(why), "{}", ran.err);

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
    // The checkpoint says it, and no message does.
    let carried = json!([{ "op": "add", "kind": "fact", "text": SAID, "sources": [],
        "messages": changes[0]["messages"] }]);
    assert_eq!(compact("view.json", &archive), (true, carried), "the view, and more");
    let views = bench.run("sessions view.json --archive store --json").json();
    let receipts = views["views"].as_array().expect("a list");
    assert!(receipts.iter().all(|view| view["receipt"]["ledger_changes"][0]["text"] == SAID));
}

/// Rows of a Claude Code session: the task, if it is the first, and these steps of work, behind the row `parent`.
fn rows(steps: Range<usize>, parent: Value) -> String {
    let (mut last, first) = (parent, steps.start);
    let mut out = String::new();
    let mut row = |kind: &str, content: Value| {
        let uuid = format!("{first:04}{:04}-0000-4000-8000-000000000000", out.lines().count());
        let row = json!({"type": kind, "uuid": uuid, "parentUuid": last, "isSidechain": false, "cwd": "/x",
            "sessionId": "5e551011-0000-4000-8000-000000000000", "version": "2.0.0",
            "timestamp": "2026-11-22T05:29:39.871Z", "message": {"role": kind, "content": content}});
        last = json!(uuid);
        writeln!(out, "{row}").expect("a string takes all");
    };
    if steps.start == 0 {
        row("user", json!("Fix the build of the parser, and do not touch the lexer."));
    }
    for step in steps {
        let said = if step == LATER { SAID.to_owned() } else { format!("fn f{step}() {{ work }}") };
        let id = format!("c{step}");
        row(
            "assistant",
            json!([{"type": "text", "text": format!("Reading f{step}.")}, {"type": "tool_use", "id": id,
                "name": "Read", "input": {"file_path": format!("src/f{step}.rs")}}]),
        );
        let code = format!("{said}\n{}", format!("    let v{step} = work(v{step});\n").repeat(30));
        row("user", json!([{"type": "tool_result", "tool_use_id": id, "content": code}]));
    }
    out
}

/// The step that says the line.
const LATER: usize = 65;

#[test]
fn what_was_changed_over_a_view_is_changed_again_over_the_whole() {
    let bench = Bench::new();
    bench.write("s.jsonl", rows(0..60, Value::Null));
    let compact = |more: &[&str]| {
        let words = ["compact", "s.jsonl", "--counter", "chars4", "--archive", "store"];
        let words = [&words[..], &["--receipt", "receipt.json", "--target", "1500"], more].concat();
        let output = bench.command(&words).output().expect("the binary runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_str::<Value>(&bench.read("receipt.json")).expect("JSON")
    };
    compact(&["--apply"]);
    let last = bench.read("s.jsonl").lines().last().expect("rows").to_owned();
    let last: Value = serde_json::from_str(&last).expect("JSON");
    let before = bench.read("s.jsonl");
    bench.write("s.jsonl", before + &rows(60..90, last["uuid"].clone()));
    // Where the agent is shown it now.
    assert_eq!(bench.run("compact s.jsonl --target 900k -o now.json").code, 0);
    let now: Value = serde_json::from_str(&bench.read("now.json")).expect("JSON");
    let messages = now["messages"].as_array().expect("messages");
    let at = messages.iter().position(|message| message.to_string().contains(SAID));
    let at = at.expect("it is shown");
    bench.write("script", script(at));
    let receipt = compact(&["--apply", "--summarizer", "cmd:sh script"]);
    assert_eq!(receipt["ledger_changes"][0]["sources"], json!([at]), "{receipt}");

    let whole = 2 * LATER + 2;
    assert!(at < whole, "{at}");
    let receipt = compact(&["--whole", "-o", "out.json"]);
    assert!(bench.read("out.json").contains(&format!("[{whole} tool] {SAID}")), "{receipt}");
    assert_eq!(receipt["ledger_changes"][0]["sources"], json!([whole]));
    assert_eq!(receipt["lost_changes"], Value::Null);
}
