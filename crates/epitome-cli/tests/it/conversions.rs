//! `convert`, `compact --to` and `check --for` another format.

use epitome::Format;
use expect_test::expect;

use crate::bench::{Bench, SESSION};

const ASKED: &str = r#"{"model":"claude-opus-4-5","max_tokens":9000,"temperature":0.5,"top_k":4,"system":"Be brief.","messages":[
    {"role":"user","content":"What is in a.rs?"},
    {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"},
        {"type":"tool_use","id":"toolu_1","name":"read","input":{"path":"a.rs"}},
        {"type":"tool_use","id":"toolu_2","name":"read","input":{"path":"b.rs"}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"fn main() {}"},
        {"type":"tool_result","tool_use_id":"toolu_2","content":"no such file","is_error":true}]}]}"#;

#[test]
fn what_is_lost_is_told() {
    let bench = Bench::new();
    bench.write("r.json", ASKED);
    expect![[r#"
        exit 0
        --- stdout
        {"max_completion_tokens":9000,"temperature":0.5,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"What is in a.rs?"},{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.rs\"}"}},{"id":"toolu_2","type":"function","function":{"name":"read","arguments":"{\"path\":\"b.rs\"}"}}]},{"role":"tool","tool_call_id":"toolu_1","content":"fn main() {}"},{"role":"tool","tool_call_id":"toolu_2","content":"no such file"}]}
        --- stderr
        dropped: signed reasoning: only the model that made it can read it
        dropped: failure: that a call failed is said by its words only
        dropped: parameter (top_k): there is none like it, or not with this value or model
        dropped: model (claude-opus-4-5): models are the provider's own
        hint: openai-chat demands model; --to openai-chat:MODEL writes it, as far as it is known
    "#]].assert_eq(&bench.run("convert r.json --to openai-chat").shown());
    let json = bench.run("convert r.json --to gemini -o g.json --json").json();
    assert_eq!(json["format"], "gemini");
    assert_eq!(json["converted"]["from"], "anthropic");
    let lost = json["converted"]["lost"].as_array().expect("a list");
    let what: Vec<&str> = lost.iter().filter_map(|lost| lost["what"].as_str()).collect();
    assert_eq!(what, ["model", "signed-reasoning"]);
    assert_eq!((&lost[1]["entry"], &lost[1]["extent"]), (&1.into(), &"dropped".into()));
    assert!(lost.iter().all(|lost| !lost["why"].as_str().expect("words").is_empty()));
    // From one's own format to the same nothing is lost, and nothing said.
    let same = bench.run("convert r.json --to anthropic");
    assert_eq!((same.out.as_str(), same.err.as_str()), (ASKED, ""));
}

#[test]
fn a_model_may_be_named_with_its_format() {
    let bench = Bench::new();
    bench.write("r.json", r#"{"model":"gpt-4o","messages":[{"role":"user","content":"hi"}]}"#);
    expect![[r#"
        exit 0
        --- stdout
        {"messages":[{"role":"user","content":"hi"}]}
        --- stderr
        dropped: model (gpt-4o): models are the provider's own
        hint: anthropic demands model and max_tokens; --to anthropic:MODEL writes it, as far as it is known
        hint: the output will be detected as openai-chat: read it with --from anthropic
    "#]]
    .assert_eq(&bench.run("convert r.json --to anthropic").shown());
    expect![[r#"
        exit 0
        --- stdout
        {"model":"claude-opus-5-5","max_tokens":128000,"messages":[{"role":"user","content":"hi"}]}
        --- stderr
        dropped: model (gpt-4o): models are the provider's own
    "#]]
    .assert_eq(&bench.run("convert r.json --to anthropic:claude-opus-5-5").shown());
    for (words, named) in [
        ("convert r.json --to openai-chat:gpt-4.1", "leave :gpt-4.1 out"),
        ("convert r.json --to claude-code", "claude-code can be read, not written"),
        ("convert r.json --to gemini:", "no model is named"),
        ("convert r.json --to gmini", "openai-responses"),
        ("compact r.json --to codex", "codex can be read, not written"),
    ] {
        let ran = bench.run(words).ends(2);
        ran.complains(&[named]);
        assert!(ran.out.is_empty(), "{words}: {}", ran.out);
    }
}

#[test]
fn what_was_compacted_is_written_in_another_format() {
    let bench = Bench::new();
    bench.copy(SESSION, "in");
    for to in Format::ALL.map(Format::name) {
        bench
            .run(&format!("compact in --target 20% --to {to} -o out.json --receipt receipt.json"))
            .ends(0);
        assert_eq!(bench.run(&format!("check out.json --from {to}")).code, 0, "{to}");
        let receipt = bench.json("receipt.json");
        assert!(receipt["after"]["tokens"].is_u64(), "{receipt}");
        assert_eq!(receipt.get("converted").is_some(), to != "anthropic", "{to}");
        if let Some(converted) = receipt.get("converted") {
            let (after, target) = (&converted["after"], &converted["target"]);
            assert!(after["tokens"].as_u64() <= target.as_u64(), "{to}: {converted}");
            assert_eq!(after["bytes"].as_u64(), Some(bench.read("out.json").len() as u64));
            let counted = bench.run(&format!("count out.json --from {to} --json")).json();
            assert_eq!(counted["tokens"], after["tokens"], "{to}");
        }
        let on = bench.run(&format!("compact out.json --from {to} --target 90% -o next.json"));
        assert!(matches!(on.code, 0 | 3), "{to}: {}", on.err);
    }
}

#[test]
fn a_conversion_is_counted_for_the_model_that_reads_it() {
    let bench = Bench::new();
    bench.copy(SESSION, "in");
    for (to, counter) in [("openai-chat:gpt-5.5", "o200k"), ("gemini:gemini-3-pro", "gemini")] {
        let ran =
            bench.run(&format!("compact in --target 5k --to {to} -o o.json --receipt r.json"));
        let receipt = bench.json("r.json");
        assert_eq!(receipt["counter"], counter, "{receipt}");
        let after = receipt["converted"]["after"]["tokens"].as_u64().expect("a number");
        assert_eq!(
            (ran.code == 3, receipt["converted"]["target"].as_u64()),
            (after > 5_000, Some(5_000))
        );
        assert_eq!(ran.err.contains("above the target"), after > 5_000, "{}", ran.err);
    }
}

#[test]
fn a_request_is_checked_for_another_format() {
    let bench = Bench::new();
    bench.write("r.json", ASKED);
    expect![[r#"
        exit 0
        --- stdout
        dropped: signed reasoning: only the model that made it can read it
        dropped: failure: that a call failed is said by its words only
        dropped: parameter × 2 (top_k, temperature): there is none like it, or not with this value or model
        dropped: model (claude-opus-4-5): models are the provider's own
        nothing found in 5 messages by the rules of openai-responses, converted from anthropic
        suits gpt-6-sol
        hint: this is what would be written by: epitome convert FILE --to openai-responses
    "#]]
    .assert_eq(&bench.run("check r.json --for openai-responses:gpt-6-sol").shown());
    let json = bench.run("check r.json --for gemini --json").json();
    assert_eq!(
        (&json["format"], &json["converted"]["from"]),
        (&"gemini".into(), &"anthropic".into())
    );
    assert_eq!(json["findings"], serde_json::json!([]));
}
