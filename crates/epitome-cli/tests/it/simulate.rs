//! A recording fed through the session machine.

use expect_test::expect;
use serde_json::Value;

use crate::bench::{Bench, RUN, SESSION, SHORT};

#[test]
fn each_decision_is_shown_with_its_reason_and_cost() {
    let bench = Bench::new();
    bench.copy(SHORT, "session.jsonl");
    expect![[r#"
        exit 0
        --- stdout
           request  messages    tokens      sent    cached      cost
                 1         1        15        15         0 $0.000045  as it came
                 2         5     1,936     1,936        15  $0.00726  as it came
                 3         7     7,645     7,645     1,936    $0.022  as it came
                 4         9     8,206     8,206     7,645   $0.0044  as it came
                 5        11    16,639     5,871        15    $0.022  compacted  16,639 tokens, limit 16,000 of a window of 20,000

        5 requests, 1 compaction, 0 overflows of 20,000
        23,673 prompt tokens instead of 34,441
        $0.0557 instead of $0.0678 (claude-sonnet-4-5, prompts alone, with a cache that is kept warm)
    "#]].assert_eq(&bench.run("simulate session.jsonl --window 20k").shown());
}

#[test]
fn what_is_sent_fits_and_the_sums_add_up() {
    let bench = Bench::new();
    bench.copy(SESSION, "session.jsonl");
    let ran = bench.run("simulate session.jsonl --window 60k --json").ends(0);
    let simulated = ran.json();
    let rows = simulated["requests"].as_array().expect("a list");
    let number = |row: &Value, key: &str| row[key].as_u64().expect("a number");
    let sum = |key: &str| rows.iter().map(|row| number(row, key)).sum::<u64>();
    assert_eq!(rows.len(), 67);
    for row in rows {
        assert!(number(row, "tokens_after") <= number(row, "tokens_before"), "{row}");
        assert!(number(row, "tokens_after") <= 60_000, "{row}");
        assert!(number(row, "cached") <= number(row, "tokens_after"), "{row}");
        assert_eq!(row["decision"] == "compacted", row["cause"].is_object(), "{row}");
    }
    let compacted = rows.iter().filter(|row| row["decision"] == "compacted").count();
    assert!(compacted >= 2, "{compacted}");
    assert_eq!(number(&simulated, "compactions"), compacted as u64);
    assert_eq!(number(&simulated, "overflows"), 0);
    assert_eq!(number(&simulated, "tokens"), sum("tokens_after"));
    assert_eq!(number(&simulated, "tokens_without"), sum("tokens_before"));
    assert!(simulated["cost"].as_f64() < simulated["cost_without"].as_f64(), "{simulated}");
    // Between two compactions the prompt only grows, so that all of the one before is cached.
    for pair in rows.windows(2).filter(|pair| pair[1]["decision"] != "compacted") {
        assert_eq!(number(&pair[1], "cached"), number(&pair[0], "tokens_after"), "{}", pair[1]);
    }
}

/// What wouldn't fit isn't sent, whatever the trigger looks at.
#[test]
fn without_a_trigger_that_fires_nothing_overflows_either() {
    let bench = Bench::new();
    bench.copy(SESSION, "session.jsonl");
    let ran = bench.run("simulate session.jsonl --window 60k --trigger 900steps --json").ends(0);
    let simulated = ran.json();
    let rows = simulated["requests"].as_array().expect("a list");
    assert!(rows.iter().all(|row| row["overflow"].is_null()));
    let compacted = rows.iter().filter(|row| row["decision"] == "compacted");
    let causes: Vec<&str> = compacted.filter_map(|row| row["reason"].as_str()).collect();
    assert!(
        !causes.is_empty() && causes.iter().all(|cause| cause.contains("window")),
        "{causes:?}"
    );
}

/// A system prompt above the window: compacting again and again would only cost.
#[test]
fn what_never_fits_is_not_compacted_in_circles() {
    let bench = Bench::new();
    let turns = (0..12).map(|n| {
        format!(r#"{{"role":"user","content":"Question {n}?"}},{{"role":"assistant","content":"Answer {n}."}}"#)
    });
    let turns: Vec<String> = turns.collect();
    let system = "Obey the rules of this house. ".repeat(900);
    bench.write(
        "fat.json",
        format!(
            r#"{{"model":"claude-sonnet-4-5","max_tokens":100,"system":"{system}","messages":[{},{{"role":"user","content":"End."}}]}}"#,
            turns.join(",")
        ),
    );
    let ran = bench.run("simulate fat.json --window 4k --json").ends(3);
    let simulated = ran.json();
    assert!(simulated["compactions"].as_u64() <= Some(3), "{simulated}");
    let rows = simulated["requests"].as_array().expect("a list");
    let told = rows.iter().any(|row| {
        let why = row["reason"].as_str().unwrap_or_default();
        why.contains("system prompt, tools") || why.contains("too little")
    });
    assert!(told, "{simulated}");
}

#[test]
fn misuse_says_what_to_say_instead() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    bench.run("simulate run.json").ends(2).complains(&["--window 100k, or --model ID"]);
    for (trigger, why) in [("120%", "1.2 is out of range"), ("8step5", "`8step5` isn't a trigger")]
    {
        let ran = bench.run(&format!("simulate run.json --window 9k --trigger {trigger}")).ends(2);
        assert!(ran.err.contains(why), "{}", ran.err);
    }
    bench.write("empty.json", "[]");
    let none = bench.run("simulate empty.json --window 9k --json");
    assert_eq!((none.code, none.json()["requests"].as_array().map(Vec::len)), (0, Some(0)));
}
