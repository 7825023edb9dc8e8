//! `--for`: the model that the agent runs with is asked behind the agent's own request.

use serde_json::Value;
use testkit::bulk::{Size, generate};
use testkit::server::Reply;

use crate::asked::{GOOD, KEY, Served};
use crate::bench::{Bench, Ran};

const WHO: &str = "anthropic:claude-haiku-4-5";

fn compact(bench: &Bench, served: &Served, flags: &str) -> Ran {
    let words = format!("compact in --target 5% -o out --receipt receipt {flags}");
    let mut command = bench.command(&words.split(' ').collect::<Vec<_>>());
    let url = served.running.url.clone();
    let set = [("NO_PROXY", "127.0.0.1"), ("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", &url)];
    Ran::of(&command.envs(set).output().expect("the binary runs"))
}

fn bench() -> Bench {
    let bench = Bench::new();
    let body = generate(7, Size::entries(epitome::Format::Anthropic, 80));
    let body = body.replace("claude-opus-4-8", "claude-haiku-4-5");
    // Whose marks the provider moves itself.
    bench.write("in", format!(r#"{{"cache_control":{{"type":"ephemeral"}},{}"#, &body[1..]));
    bench
}

#[test]
fn the_agents_own_model_is_asked_behind_its_request_where_that_costs_less() {
    let (bench, served) = (bench(), Served::new([Reply::text(GOOD).into()]));
    let ran = compact(&bench, &served, &format!("--summarizer {WHO} --for {WHO}")).ends(0);
    let words = "asked claude-haiku-4-5 behind the agent's own prompt: it costs less; behind it: ";
    let told = ran.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(words) && told.contains("; by itself: "), "{told}");
    let sent: Value = serde_json::from_slice(&served.running.posted()[0].body).expect("JSON");
    let mine = bench.json("in");
    let messages = mine["messages"].as_array().expect("a list");
    let behind = sent["messages"].as_array().expect("a list");
    assert_eq!(messages[..], behind[..messages.len()]);
    assert_eq!((behind.len(), &sent["tools"]), (messages.len() + 1, &mine["tools"]));
    let receipt = bench.json("receipt");
    let choice = &receipt["summary"]["shapes"][0];
    assert_eq!((&choice["shape"], &choice["why"]), (&"extension".into(), &"cheaper".into()));
    let cost = |shape: &str| choice[shape]["cost"].as_f64().expect("a sum");
    assert!(cost("extension") < cost("fenced"), "{choice}");

    // Without it nobody supposes that anything is cached.
    let served = Served::new([Reply::text(GOOD).into()]);
    compact(&bench, &served, &format!("--summarizer {WHO}")).ends(0);
    let sent: Value = serde_json::from_slice(&served.running.posted()[0].body).expect("JSON");
    assert_eq!(sent["messages"].as_array().map(Vec::len), Some(1));
}

#[test]
fn for_must_name_a_model_that_is_asked() {
    let (bench, served) = (bench(), Served::new([]));
    for flags in [
        format!("--summarizer {WHO} --for anthropic:claude-opus-5-5"),
        format!("--summarizer {WHO} --for extractive"),
        format!("--for {WHO}"),
    ] {
        compact(&bench, &served, &flags).ends(2).complains(&["--summarizer"]);
    }
    assert_eq!(served.requests(), 0);
    bench.copy(crate::bench::SESSION, "in");
    let served = Served::new([Reply::text(GOOD).into()]);
    compact(&bench, &served, &format!("--summarizer {WHO} --for {WHO}"))
        .ends(0)
        .complains(&["--for does nothing: a recording isn't the request"]);
}
