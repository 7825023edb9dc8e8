//! `report`: what filled a context, when it was compacted, what was lost; as a page that needs nothing else.

use serde_json::{Value, json};
use testkit::is_full;

use crate::bench::{Bench, SESSION, SHORT};

fn report(bench: &Bench, line: &str) -> Value {
    let ran = bench.run(line).ends(0);
    serde_json::from_str(&ran.out).expect("JSON")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number"))
}

#[test]
fn compactions_are_found_and_told() {
    let short = if is_full() { SESSION } else { SHORT };
    for example in [short, "codex/rollout-b.jsonl", "pi/large-session.jsonl"] {
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
    // Of claude-sonnet-4-5: $3 and $15 a million, $0.30 from the cache.
    assert_costs(&cost["all"], 3.0 * 0.003 + 1.5 * 0.0003 + 0.03 * 0.015);
    assert_eq!(told["title"], "Fix the build. Never push to main.");
    assert_eq!(told["rules_at_risk"], json!([]), "the only one is lost already");
    assert_eq!(told["advice"]["command"], "epitome pin add 'Never push to main.'", "{told}");
}

#[test]
fn a_report_gives_one_piece_of_advice() {
    let bench = Bench::new();
    let asked = json!([{ "role": "user", "content": "Read the file. Never push to main." }]);
    bench.write("small.json", asked.to_string());
    let told = report(&bench, "report small.json --model claude-sonnet-4-5 --json");
    assert_eq!((&told["advice"], &told["title"]), (&Value::Null, &asked[0]["content"]));
    assert_eq!(told["rules_at_risk"][0]["text"], "Never push to main.");
    bench.write("epitome.toml", "pins = [\"Never push to main.\"]\n");
    assert_eq!(report(&bench, "report small.json --json")["rules_at_risk"], json!([]));
    let many = json!([{ "role": "user", "content": "word ".repeat(170_000) }]);
    bench.write("large.json", many.to_string());
    let told = report(&bench, "report large.json --model claude-sonnet-4-5 --json");
    assert_eq!(told["advice"]["command"], "epitome compact large.json", "{}", told["tokens"]);
}

fn assert_costs(sum: &Value, want: f64) {
    let cost = sum["cost"].as_f64().expect("dollars");
    assert!((cost - want).abs() < want / 1e6, "{cost} isn't {want}: {sum}");
}

/// Rows of a session of Claude Code's.
#[derive(Default)]
struct Rows {
    rows: Vec<Value>,
}

impl Rows {
    fn push(&mut self, mut row: Value) {
        row["uuid"] = json!(format!("u{}", self.rows.len()));
        if row["subtype"] != "compact_boundary" && !self.rows.is_empty() {
            row["parentUuid"] = json!(format!("u{}", self.rows.len() - 1));
        }
        self.rows.push(row);
    }

    fn user(&mut self, content: impl Into<Value>) {
        let content = content.into();
        self.push(json!({ "type": "user", "message": { "role": "user", "content": content } }));
    }

    fn reply(&mut self, model: &str, usage: &Value) {
        let id = self.rows.len();
        self.push(json!({ "type": "assistant", "message": {
            "id": format!("m{id}"), "role": "assistant", "model": model, "usage": usage,
            "content": [{ "type": "text", "text": format!("step {id}") }],
        } }));
    }

    fn compaction(&mut self, summary: &str) {
        self.push(json!({ "type": "system", "subtype": "compact_boundary" }));
        self.push(json!({ "type": "user", "isCompactSummary": true, "message": {
            "role": "user", "content": summary } }));
    }

    fn text(&self) -> String {
        lines(&self.rows)
    }
}

#[test]
fn each_reply_is_priced_by_its_own_model_and_cache() {
    let bench = Bench::new();
    let mut rows = Rows::default();
    rows.user("Do it.");
    rows.reply(
        "claude-opus-4-1-20250805",
        &json!({ "input_tokens": 10, "cache_creation_input_tokens": 1_200_000, "output_tokens": 100_000,
            "cache_creation": { "ephemeral_5m_input_tokens": 200_000, "ephemeral_1h_input_tokens": 1_000_000 } }),
    );
    rows.user("More.");
    let few = json!({ "input_tokens": 1_000_000, "output_tokens": 10 });
    rows.reply("claude-haiku-4-5-20251001", &few);
    bench.write("s.jsonl", rows.text());
    let told = report(&bench, "report s.jsonl --json");
    let all = &told["cost"]["all"];
    // A million: $15, $75, $18.75 written for five minutes and $30 for an hour; of the other $1 and $5.
    assert_costs(all, 10e-6 * 15.0 + 0.1 * 75.0 + 0.2 * 18.75 + 30.0 + 1.0 + 10e-6 * 5.0);
    assert_eq!((&all["written"], &all["written_long"]), (&json!(200_000), &json!(1_000_000)));
    let models = told["cost"]["models"].as_array().expect("a list");
    let models: Vec<&Value> = models.iter().map(|priced| &priced["model"]).collect();
    assert_eq!(models.len(), 2, "{models:?}");
    let page = bench.run("report s.jsonl --html").out;
    assert!(models.iter().all(|model| page.contains(model.as_str().expect("a name"))));
    // Whoever names a model asks what it would have been there.
    let told = report(&bench, "report s.jsonl --model claude-haiku-4-5 --json");
    assert_eq!(told["cost"]["models"].as_array().map(Vec::len), Some(1));

    // What has no price is said to have none.
    rows.user("And more.");
    rows.reply("some-model-of-mine", &few);
    bench.write("s.jsonl", rows.text());
    let told = report(&bench, "report s.jsonl --json");
    assert_eq!(
        (&told["cost"]["all"]["requests"], &told["cost"]["all"]["unpriced"]),
        (&json!(3), &json!(1))
    );
    let words = bench.run("report s.jsonl").out;
    assert!(words.contains("no price is known for 1 request"), "{words}");
    // Counts that can't be are no reason to fail.
    rows.user("Once more.");
    rows.reply("claude-haiku-4-5", &json!({ "input_tokens": u64::MAX, "cache_read_input_tokens": u64::MAX, "output_tokens": u64::MAX }));
    bench.write("s.jsonl", rows.text());
    report(&bench, "report s.jsonl --json");
    assert_eq!(bench.run("report s.jsonl --html").code, 0);
}

#[test]
fn of_many_compactions_the_newest_are_shown_and_all_are_paid() {
    let bench = Bench::new();
    let mut rows = Rows::default();
    let usage = json!({ "input_tokens": 1000, "output_tokens": 100 });
    for at in 0..70 {
        rows.user(format!("Go on with {at}."));
        rows.reply("claude-sonnet-4-5", &usage);
        rows.user(format!("And {at}."));
        rows.reply("claude-sonnet-4-5", &usage);
        rows.compaction(&format!("Summary: {at} is done."));
    }
    rows.user("The last.");
    rows.reply("claude-sonnet-4-5", &usage);
    bench.write("s.jsonl", rows.text());
    let told = report(&bench, "report s.jsonl --json");
    let done = told["compactions"].as_array().expect("a list");
    assert_eq!((done.len(), &told["not_shown"]), (60, &json!(10)));
    for (at, done) in done.iter().enumerate() {
        let number = at as u64 + 11;
        assert_eq!((&done["number"], &done["at"]), (&json!(number), &json!(4 * number)));
    }
    let cost = &told["cost"];
    assert_eq!((&cost["all"]["requests"], &cost["earlier"]["requests"]), (&json!(141), &json!(20)));
    assert_costs(&cost["all"], 141.0 * 0.0045);
    let words = bench.run("report s.jsonl").out;
    assert!(words.contains("compaction 11 after message 44:"), "{words}");
    assert!(words.contains("10 compactions before these, too long ago"), "{words}");
    assert!(!words.contains("can't be found"), "{words}");
    let page = bench.run("report s.jsonl --html").out;
    assert!(page.contains("href=\"#c70\"") && page.contains("id=\"c70\""));
    assert!(page.contains(">to compaction 10<") && page.contains(">behind compaction 10<"));
    assert!(!page.contains("to the first compaction"), "it isn't shown");
}

#[test]
fn changes_that_compact_nothing_hide_no_compaction() {
    let bench = Bench::new();
    let mut rows = vec![
        json!({ "sessionId": "s", "projectHash": "h", "startTime": "2026-11-22T04:07:20.278Z" }),
    ];
    let user =
        |id: &str, text: &str| json!({ "id": id, "type": "user", "content": [{ "text": text }] });
    let reply = |id: &str| {
        json!({ "id": id, "type": "gemini", "content": "Done.", "model": "gemini-2.5-pro",
        "tokens": { "input": 1000, "output": 10, "cached": 0, "thoughts": 0, "tool": 0, "total": 1010 } })
    };
    for at in 0..4 {
        rows.push(user(&format!("u{at}"), &format!("Go on with {at}.")));
        rows.push(reply(&format!("r{at}")));
    }
    let summary = user("sum", "<state_snapshot>All is done.</state_snapshot>");
    rows.push(
        json!({ "$set": { "messages": [summary, user("u3", "Go on with 3."), reply("r3")] } }),
    );
    let touched = json!({ "$set": { "lastUpdated": "2026-11-22T05:07:20.278Z" } });
    rows.extend(std::iter::repeat_n(touched, 70));
    rows.push(user("u9", "The last."));
    rows.push(reply("r9"));
    let text = lines(&rows);
    bench.write("s.jsonl", text);
    let told = report(&bench, "report s.jsonl --json");
    let done = told["compactions"].as_array().expect("a list");
    assert_eq!((done.len(), &told["not_shown"], &done[0]["at"]), (1, &json!(0), &json!(8)));
    assert_eq!(told["cost"]["all"]["requests"], 5);
}

#[test]
fn what_is_gone_is_quoted_by_its_words_alone() {
    let bench = Bench::new();
    let mut rows = Rows::default();
    rows.user("Start.");
    rows.reply("claude-sonnet-4-5", &json!({ "input_tokens": 10, "output_tokens": 1 }));
    rows.user("no");
    rows.reply("claude-sonnet-4-5", &json!({ "input_tokens": 10, "output_tokens": 1 }));
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    rows.user(json!([{ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } }]));
    rows.reply("claude-sonnet-4-5", &json!({ "input_tokens": 10, "output_tokens": 1 }));
    rows.compaction("Summary: nothing is known but the start.");
    bench.write("s.jsonl", rows.text());
    let human = &report(&bench, "report s.jsonl --json")["compactions"][0]["human"];
    assert_eq!((&human["entries"], &human["quoted"]), (&json!(3), &json!(0)), "{human}");
    let says = |at: usize| human["lost"][at]["says"].as_str().expect("words");
    assert_eq!([says(0), says(1), says(2)], ["Start.", "no", "(no text)"]);
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
    bench.write("empty.json", "{\"messages\":[]}");
    let page = bench.run("report empty.json --html").out;
    assert!(page.contains("The context over 0 messages, at most 0 tokens"), "{page}");
}

/// Rows of JSON, one a line.
fn lines(rows: &[Value]) -> String {
    rows.iter().flat_map(|row| [row.to_string(), "\n".to_owned()]).collect()
}
