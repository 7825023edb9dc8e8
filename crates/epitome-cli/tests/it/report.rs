//! `report`: what filled a context, when it was compacted, what was lost; as a page that needs nothing else.

use serde_json::{Value, json};

use crate::bench::{Bench, SESSION, SHORT};

fn report(bench: &Bench, line: &str) -> Value {
    let ran = bench.run(line);
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).expect("JSON")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number"))
}

#[test]
fn compactions_are_found_and_told() {
    for example in [SESSION, "codex/rollout-b.jsonl", "pi/large-session.jsonl"] {
        let bench = Bench::new();
        bench.copy(example, "s.jsonl");
        let before = report(&bench, "report s.jsonl --json");
        let own = before["compactions"].as_array().expect("a list").len();
        let whole = number(&before["tokens"]);
        for target in [40, 50] {
            let ran = bench.run(&format!("compact s.jsonl --target {target}% --apply"));
            assert!(matches!(ran.code, 0 | 3), "{example}: {}", ran.err);
        }
        let told = report(&bench, "report s.jsonl --json");
        let done = told["compactions"].as_array().expect("a list");
        assert_eq!((done.len(), &told["not_shown"]), (own + 2, &json!(0)), "{example}");
        assert_eq!(number(&done[own]["before"]["tokens"]), whole, "{example}");
        assert_eq!(told["said"], before["said"], "{example}: nothing was said in between");
        for done in &done[own..] {
            assert_eq!(done["by_epitome"], true);
            let sum = |key: &str| number(&done[key]["entries"]);
            assert_eq!(sum("kept") + sum("shortened") + sum("gone"), sum("before"), "{example}");
            assert!(number(&done["after"]["tokens"]) < number(&done["before"]["tokens"]));
            let human = &done["human"];
            let lost = human["lost"].as_array().expect("a list").len() as u64;
            let known = number(&human["kept"]) + number(&human["quoted"]);
            assert_eq!(known + lost, number(&human["entries"]), "{example}");
        }
        let last = &done[own + 1]["after"]["tokens"];
        let counted = report(&bench, "count s.jsonl --json");
        assert_eq!((&counted["tokens"], &told["tokens"]), (last, last), "{example}");

        let page = bench.run("report s.jsonl --html").out;
        for number in 1..=own + 2 {
            assert!(page.contains(&format!("href=\"#c{number}\"")), "{example}: it is marked");
            assert!(page.contains(&format!("id=\"c{number}\"")), "{example}: it is told of");
        }
        assert!(bench.run("report s.jsonl").out.contains("compaction 1"), "{example}");
    }
}

#[test]
fn what_is_lost_is_quoted() {
    let bench = Bench::new();
    let mut rows = vec![
        json!({ "type": "user", "uuid": "a", "message": { "role": "user", "content": "Fix the build. Never push to main." } }),
    ];
    let reply = |uuid: &str, parent: &str, text: &str| {
        json!({ "type": "assistant", "uuid": uuid, "parentUuid": parent, "message": {
            "id": uuid, "role": "assistant", "model": "claude-sonnet-4-5",
            "content": [{ "type": "text", "text": text }],
            "usage": { "input_tokens": 1000, "output_tokens": 10, "cache_read_input_tokens": 500 },
        } })
    };
    rows.push(reply("b", "a", "Done."));
    rows.push(json!({ "type": "user", "uuid": "c", "parentUuid": "b", "message": { "role": "user", "content": "The port is 5433." } }));
    rows.push(reply("d", "c", "Noted."));
    rows.push(json!({ "type": "system", "subtype": "compact_boundary", "uuid": "e", "parentUuid": null, "logicalParentUuid": "d" }));
    rows.push(json!({ "type": "user", "uuid": "f", "parentUuid": "e", "isCompactSummary": true, "message": {
        "role": "user", "content": "Summary: the user said: The port is 5433." } }));
    rows.push(reply("g", "f", "Going on."));
    let rows: Vec<String> = rows.iter().map(Value::to_string).collect();
    bench.write("s.jsonl", rows.join("\n") + "\n");
    let told = report(&bench, "report s.jsonl --json");
    let done = &told["compactions"][0];
    assert_eq!((&done["by_epitome"], &done["at"]), (&json!(false), &json!(4)), "{done}");
    assert_eq!(done["human"]["quoted"], 1, "{done}");
    assert_eq!(done["human"]["lost"][0]["says"], "Fix the build. Never push to main.", "{done}");
    assert_eq!(done["rules_lost"][0]["says"], "Never push to main.", "{done}");
    assert_eq!(done["gone"]["entries"], 4);
    // What the provider reported, each reply once.
    let cost = &told["cost"];
    assert_eq!((&cost["reported"], &cost["all"]["requests"]), (&json!(true), &json!(3)), "{cost}");
    assert_eq!((&cost["all"]["fresh"], &cost["all"]["read"]), (&json!(3000), &json!(1500)));
    assert!(cost["all"]["cost"].as_f64() > Some(0.009), "{cost}");
}

#[test]
fn content_cant_drive_the_page() {
    let bench = Bench::new();
    let secret = format!("sk-ant-api03-{}", "Zx9".repeat(31));
    let evil = format!(
        "</style><script>alert(1)</script><img src=x onerror=alert(1)> \u{202e}gnp.exe\u{200b} \u{1b}[31m {secret} {}",
        "x".repeat(200_000)
    );
    // Cut in the midst of it, a secret has no shape that could be known.
    let behind = json!({ "command": format!("{} {secret}", "y".repeat(45)) }).to_string();
    let call = json!({ "id": "1", "type": "function", "function": { "name": "<b onclick=x>\"'&", "arguments": behind } });
    let body = json!({ "model": "</title><script>m", "messages": [
        { "role": "user", "content": evil },
        { "role": "assistant", "tool_calls": [call] },
        { "role": "tool", "tool_call_id": "1", "content": "javascript:alert(1)" },
    ] });
    bench.write("<script>.json", body.to_string());
    let run = |flags: &[&str]| {
        let words = [&["report", "<script>.json", "--html"], flags].concat();
        crate::bench::Ran::of(&bench.command(&words).output().expect("it runs")).out
    };
    let page = run(&[]);
    assert!(page.len() < 60_000, "{} bytes: long texts are cut", page.len());
    for part in
        ["<script", "<img", "onerror=alert(1)>", "<b onclick", "\u{202e}", "\u{200b}", "\u{1b}"]
    {
        assert!(!page.contains(part), "{part:?} is in the page");
    }
    assert!(page.contains("default-src &#39;none&#39;") || page.contains("default-src 'none'"));
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing is from elsewhere");
    assert!(page.contains("yyyyy") && !page.contains("Zx9Zx9"), "secrets are masked");
    assert!(run(&["--unmasked"]).contains("sk-ant-api03-Zx9Zx9"));
}

#[test]
fn what_was_never_compacted_says_so() {
    let bench = Bench::new();
    bench.copy(SHORT, "s.jsonl");
    let ran = bench.run("report s.jsonl --html -o page.html");
    assert_eq!((ran.code, ran.out.as_str()), (0, ""), "{}", ran.err);
    let page = bench.read("page.html");
    assert!(page.contains("There was none") && page.contains("never"), "{page}");
    assert!(ran.err.contains("wrote page.html"), "{}", ran.err);
    let words = bench.run("report s.jsonl").out;
    assert!(words.contains("never compacted"), "{words}");
    assert_eq!(bench.run("report missing.jsonl --html").code, 1);
    assert_eq!(bench.run("report s.jsonl --html -o s.jsonl").code, 2);
}
