//! Models on the command line: the table, what users put over it, money, windows, suitability.

use expect_test::expect;

use crate::bench::{Bench, RUN, SESSION};

#[test]
fn a_model_is_shown_with_its_source_and_day() {
    expect![[r#"
        exit 0
        --- stdout
        claude-opus-5-5  Claude Opus 5.5
        vendor     Anthropic
        aliases    claude-5-5-opus
        window     1,000,000 tokens
        input      at most 1,000,000 tokens
        output     at most 128,000 tokens
        tokenizer  claude, counted by claude
        sees       text, images, documents
        price      $4 in, $20 out, $0.2 read (0.05×), $5 written, $8 written for longer; for a million tokens
        cache      what is marked, from 512 tokens, for 5 min or 1 h, 4 marks, found 20 blocks back
        reasoning  adaptive; earlier turns' is read; refused behind an edited prefix
        refuses    a forced tool call, the assistant's words at the end
        source     PROVIDERS.md B.6, litellm, genai-prices (2026-11-21)
        page       https://platform.claude.com/docs/en/about-claude/pricing
    "#]]
    .assert_eq(&Bench::new().run("models us.anthropic.claude-opus-5-5-20261001-v1:0").shown());
}

#[test]
fn all_or_some_are_a_table() {
    let bench = Bench::new();
    let all = bench.run("models");
    assert!(all.code == 0 && all.out.lines().count() > 160, "{}", all.out);
    assert!(all.out.contains("Made on 20") && all.out.contains("litellm ("), "{}", all.out);
    let some = bench.run("models haiku-5");
    assert_eq!(
        some.out.lines().filter(|line| line.starts_with("claude-")).count(),
        1,
        "{}",
        some.out
    );
    assert!(some.out.contains("dearer above 100k"), "{}", some.out);
    let json = bench.run("models gpt-6-sol --json").json();
    assert_eq!(json["version"], 1);
    assert_eq!(json["models"][0]["price"]["above"][0]["tokens"], 272_000);
    assert_eq!(json["models"][0]["cache"]["ttl_long"], 43_200);
    assert_eq!(json["sources"][1]["licence"], "MIT");
}

#[test]
fn a_misspelt_model_is_an_error_that_names_the_nearest() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    for words in ["models claude-opsu-5-5", "plan run.json --model claude-opsu-5-5"] {
        bench.run(words).ends(2).complains(&["nearest: claude-opus-5-5"]);
    }
    let counted = bench.run("count run.json --model claude-opsu-5-5");
    assert_eq!(counted.code, 0, "its family tells what counts");
    assert!(counted.err.contains("claude-opus-5-5"), "{}", counted.err);
    let ran = bench.run("plan run.json --model house-7");
    assert!(ran.err.contains("--window 200k --counter o200k"), "{}", ran.err);
    // Who says what the table doesn't know may go on.
    let ran = bench.run("plan run.json --model house-7 --window 20k --counter llama");
    assert!(ran.code == 0 && !ran.out.contains("cost "), "{}{}", ran.out, ran.err);
    assert!(ran.err.contains("warning: the model \"house-7\" isn't known"), "{}", ran.err);
    assert_eq!(bench.run("count run.json --model gpt-9").code, 0, "its family has a counter");
}

#[test]
fn what_a_rewrite_costs_is_said() {
    let bench = Bench::new();
    bench.copy(SESSION, "s.jsonl");
    let plan = bench.run("plan s.jsonl --target 20% --model claude-opus-5-5");
    let cost: Vec<&str> = plan.out.lines().skip_while(|line| !line.starts_with("cost ")).collect();
    assert_eq!(cost.len(), 2, "{}", plan.out);
    assert!(
        cost[0].contains("a request")
            && cost[0].ends_with("(claude-opus-5-5, prices of 2026-11-21)")
    );
    assert!(cost[1].starts_with("rewriting a warm cache would cost $0.1"), "{}", cost[1]);
    let receipt = bench.run("plan s.jsonl --target 20% --model claude-opus-5-5 --json").json();
    let cost = &receipt["cost"];
    assert_eq!(
        (cost["version"].as_u64(), cost["model"].as_str()),
        (Some(1), Some("claude-opus-5-5"))
    );
    // 118,934 tokens, written at $5 for a million.
    let tokens = receipt["tokens"]
        .as_f64()
        .unwrap_or_else(|| receipt["before"]["tokens"].as_f64().expect("a count"));
    let cold = cost["before"]["cold"].as_f64().expect("dollars");
    assert!((cold - tokens * 5e-6).abs() < 1e-9, "{cold} for {tokens}");
    let nothing = bench.run("plan s.jsonl --target 500k --json").json();
    assert!(nothing["cost"].is_null(), "nothing was rewritten");
}

#[test]
fn a_models_window_is_known() {
    let bench = Bench::new();
    bench.copy(SESSION, "s.jsonl");
    let plan = bench.run("plan s.jsonl --model gpt-4");
    assert!(plan.out.contains("half of the window of 8,192"), "{}", plan.out);
    let plan = bench.run("plan s.jsonl --model gpt-4 --window 30k");
    assert!(plan.out.contains("half of the window of 30,000"), "{}", plan.out);
    let count = bench.run("count s.jsonl --model gpt-6-sol");
    assert!(
        count.out.contains("gpt-6-sol: 10.8 % of the 922,000 that it takes; $0.2"),
        "{}",
        count.out
    );
    let stats = bench.run("stats s.jsonl --json").json();
    assert_eq!(stats["reader"]["model"], "claude-sonnet-4-5");
    assert_eq!(stats["reader"]["window"], 200_000);
}

#[test]
fn users_have_their_own_facts() {
    let bench = Bench::new();
    bench.copy(RUN, "run.json");
    bench.write("mine.json", r#"{"models": {"house": {"input": 9000, "tokenizer": "llama"}}}"#);
    let shown = bench.run("models house --models mine.json");
    assert!(
        shown.out.contains("9,000") && shown.out.contains("mine.json"),
        "{}{}",
        shown.out,
        shown.err
    );
    assert_eq!(bench.run("models house").code, 2);
    // From the settings, next to whose file it lies; or where the user's settings are.
    bench.write("deep/epitome.toml", "models = \"own.json\"\nmodel = \"house\"\n");
    bench.write("deep/own.json", r#"{"models": {"house": {"window": 8000, "tokenizer": "qwen"}}}"#);
    let plan = bench.run("plan run.json --config deep/epitome.toml");
    assert!(plan.out.contains("by qwen"), "{}{}", plan.out, plan.err);
    bench.write(".config/epitome/models.json", r#"{"models": {"gpt-4o": {"input": 1000}}}"#);
    let count = bench.run("count run.json --model gpt-4o");
    assert!(count.out.contains("of the 1,000 that it takes"), "{}", count.out);
    bench.write("bad.json", r#"{"models": {"gpt-4o": {"windw": 1}}}"#);
    bench.run("models gpt-4o --models bad.json").ends(2).complains(&["bad.json", "windw"]);
    let ran = bench.run("models gpt-4o --models nowhere.json");
    assert!(ran.code == 1 && ran.err.contains("nowhere.json"), "{}", ran.err);
}

#[test]
fn a_request_is_checked_for_another_model() {
    let bench = Bench::new();
    bench.write(
        "r.json",
        r#"{"model":"claude-opus-4-5","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":1024},
        "tool_choice":{"type":"any"},"messages":[{"role":"user","content":"hi"}]}"#,
    );
    expect![[r#"
        exit 3
        --- stdout
        tool_choice anthropic/value: beside thinking
          rule:   values are of those that the SDK has: a cache marker's time to live, a tool's name, and that of a tool of the provider's, whether a result is an error, an object's schema without a choice at its top, base64, stop sequences that say something; thinking by hand leaves sampling and tools alone; all documents have citations or none has; no white space ends the request
          error:  …: Input should be … (or: messages: final assistant content cannot end with trailing whitespace)
          repair: only its author can mend it

        1 breach in 1 message by the rules of anthropic
        model/thinking: thinking "enabled"; the model takes adaptive
        model/forced-tool: tool_choice "any"; the model chooses by itself
        doesn't suit claude-opus-5-5
    "#]]
    .assert_eq(&bench.run("check r.json --for :claude-opus-5-5").shown());
    bench.write(
        "free.json",
        r#"{"model":"claude-opus-4-5","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":1024},
        "messages":[{"role":"user","content":"hi"}]}"#,
    );
    assert_eq!(bench.run("check free.json --for anthropic:claude-opus-4-5").code, 0);
    assert_eq!(bench.run("check free.json --for anthropic").code, 0);
    let json = bench.run("check r.json --for anthropic:claude-opus-5-5 --json").json();
    assert_eq!(json["for"]["misfits"][0]["rule"], "model/thinking");
    assert_eq!(json["for"]["misfits"][0]["subject"], "thinking");
    let other = bench.run("check r.json --for openai-chat:gpt-4o");
    assert!(
        other.out.contains("suits gpt-4o")
            && other.out.contains("epitome convert FILE --to openai-chat")
    );
    for (words, named) in [
        ("check r.json --for nope", "openai-chat"),
        ("check r.json --for :", "FORMAT"),
        ("check r.json --for :nope-9", "isn't known"),
        ("check r.json --for anthropic --repair", "--repair"),
    ] {
        bench.run(words).ends(2).complains(&[named]);
    }
    bench.write("nameless.json", r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    assert_eq!(bench.run("check nameless.json --for openai-chat").code, 2, "no model to check for");
}

#[test]
fn rules_can_be_waived() {
    let bench = Bench::new();
    bench.write(
        "r.json",
        r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":"x"}]}"#,
    );
    assert_eq!(bench.run("check r.json").code, 3);
    assert_eq!(bench.run("check r.json --except chat/orphan").code, 0);
    let kept = bench.run("check r.json --except chat/orphan --except chat/answered --repair");
    assert!(kept.out.contains("tool_call_id") && kept.err.contains("0 mended"), "{}", kept.err);
    bench.run("check r.json --except chat/orphans").ends(2).complains(&["chat/orphan"]);
}
