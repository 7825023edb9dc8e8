//! The prompt cache, with numbers that were worked out by hand (PROVIDERS.md B.1.6, B.2.4, B.4, B.6).

use std::time::Duration;

use serde_json::{Value, json};
use testkit::server::cache::Usage;
use testkit::server::{Incoming, Loop, Model, Server};

use crate::{send, with, words};

const MINUTE: u64 = 60;

struct Client {
    server: Server,
    now: Duration,
}

impl Client {
    fn new() -> Self {
        Self { server: Server::new(Loop { steps: 0, ..Loop::default() }), now: Duration::ZERO }
    }

    fn wait(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }

    /// Prompt, read, written (short, long).
    fn send(&mut self, path: &str, body: &Value) -> (u64, u64, u64, u64) {
        let text = body.to_string();
        let incoming = Incoming { method: "POST", path, headers: &[], body: text.as_bytes() };
        let (_, noted) = self.server.answer(&incoming, self.now);
        let usage = noted.usage.unwrap_or_else(|| panic!("{:?}", noted.verdict.err()));
        (usage.prompt, usage.read, usage.write, usage.write_long)
    }
}

/// A block of exactly `tokens` tokens of the server's count: a word each, and four around them.
fn block(tokens: usize, ttl: Option<&str>) -> Value {
    let text = words(tokens - 5);
    let mut block = json!({"type": "text", "text": text});
    assert_eq!(testkit::server::count::element(&block), tokens as u64);
    if let Some(ttl) = ttl {
        block["cache_control"] = json!({"type": "ephemeral", "ttl": ttl});
    }
    block
}

fn anthropic(blocks: Value) -> Value {
    json!({"model": "claude-opus-5-5", "max_tokens": 100, "messages": [{"role": "user", "content": blocks}]})
}

const MESSAGES: &str = "/v1/messages";

#[test]
fn nothing_is_cached_without_a_marker_or_under_the_minimum() {
    let mut client = Client::new();
    for _ in 0..2 {
        assert_eq!(
            client.send(MESSAGES, &anthropic(json!([block(2_000, None)]))),
            (2_000, 0, 0, 0)
        );
        assert_eq!(
            client.send(MESSAGES, &anthropic(json!([block(500, Some("5m"))]))),
            (500, 0, 0, 0)
        );
    }
    assert_eq!(
        client.send(MESSAGES, &anthropic(json!([block(512, Some("5m"))]))),
        (512, 0, 512, 0)
    );
    let older = |blocks: Value| with(anthropic(blocks), &[("model", json!("claude-opus-4-6"))]);
    assert_eq!(client.send(MESSAGES, &older(json!([block(4_000, Some("5m"))]))), (4_000, 0, 0, 0));
    assert_eq!(
        client.send(MESSAGES, &older(json!([block(4_096, Some("5m"))]))),
        (4_096, 0, 4_096, 0)
    );
}

#[test]
fn a_marked_prefix_is_written_once_and_read_while_it_lives() {
    let mut client = Client::new();
    let first = anthropic(json!([block(1_000, Some("5m"))]));
    let second = anthropic(json!([block(1_000, None), block(300, Some("5m"))]));
    assert_eq!(client.send(MESSAGES, &first), (1_000, 0, 1_000, 0));
    assert_eq!(client.send(MESSAGES, &second), (1_300, 1_000, 300, 0));
    assert_eq!(client.send(MESSAGES, &second), (1_300, 1_300, 0, 0));
    // Each use begins the five minutes anew.
    client.wait(4 * MINUTE);
    assert_eq!(client.send(MESSAGES, &second), (1_300, 1_300, 0, 0));
    client.wait(4 * MINUTE);
    assert_eq!(client.send(MESSAGES, &second), (1_300, 1_300, 0, 0));
    client.wait(5 * MINUTE);
    assert_eq!(client.send(MESSAGES, &second), (1_300, 0, 1_300, 0));
}

#[test]
fn the_longer_time_is_written_apart() {
    let mut client = Client::new();
    let body =
        anthropic(json!([block(1_000, Some("1h")), block(600, Some("5m")), block(50, None)]));
    assert_eq!(client.send(MESSAGES, &body), (1_650, 0, 600, 1_000));
    client.wait(6 * MINUTE);
    assert_eq!(client.send(MESSAGES, &body), (1_650, 1_000, 600, 0));
    client.wait(61 * MINUTE);
    assert_eq!(client.send(MESSAGES, &body), (1_650, 0, 600, 1_000));
}

#[test]
fn a_marker_looks_twenty_blocks_back() {
    let blocks = |count: usize| -> Value {
        let mut blocks = vec![block(1_000, None)];
        blocks.extend((1..count).map(|_| block(10, None)));
        blocks[count - 1]["cache_control"] = json!({"type": "ephemeral"});
        json!(blocks)
    };
    let mut client = Client::new();
    assert_eq!(client.send(MESSAGES, &anthropic(blocks(1))), (1_000, 0, 1_000, 0));
    assert_eq!(client.send(MESSAGES, &anthropic(blocks(20))).1, 1_000);
    let mut client = Client::new();
    assert_eq!(client.send(MESSAGES, &anthropic(blocks(1))), (1_000, 0, 1_000, 0));
    assert_eq!(client.send(MESSAGES, &anthropic(blocks(21))).1, 0);
}

#[test]
fn an_edit_costs_everything_behind_it() {
    let mut client = Client::new();
    let body =
        anthropic(json!([block(1_000, Some("5m")), block(600, None), block(700, Some("5m"))]));
    assert_eq!(client.send(MESSAGES, &body), (2_300, 0, 2_300, 0));
    let mut edited = body.clone();
    edited["messages"][0]["content"][1] = block(610, None);
    assert_eq!(client.send(MESSAGES, &edited), (2_310, 1_000, 1_310, 0));
}

#[test]
fn tools_system_and_settings_stand_before_the_messages() {
    let mut client = Client::new();
    let tool = |name: &str| {
        json!([{"name": name, "input_schema": {"type": "object", "properties": {}}, "cache_control": {"type": "ephemeral"},
                "description": words(600)}])
    };
    let body = with(
        anthropic(json!([block(1_000, Some("5m"))])),
        &[("tools", tool("read")), ("system", json!([block(600, Some("5m"))]))],
    );
    let (prompt, _, written, _) = client.send(MESSAGES, &body);
    assert_eq!(written, prompt);
    assert_eq!(client.send(MESSAGES, &body).1, prompt);
    // Thinking and tool choice: messages only. Tools: everything.
    let thinking = with(body.clone(), &[("thinking", json!({"type": "adaptive"}))]);
    assert_eq!(client.send(MESSAGES, &thinking).1, prompt - 1_000);
    let choice = with(body.clone(), &[("tool_choice", json!({"type": "none"}))]);
    assert_eq!(client.send(MESSAGES, &choice).1, prompt - 1_000);
    assert_eq!(client.send(MESSAGES, &with(body.clone(), &[("tools", tool("list"))])).1, 0);
    let mut image = body;
    image["messages"][0]["content"]
        .as_array_mut()
        .expect("blocks")
        .push(json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}));
    assert_eq!(client.send(MESSAGES, &image).1, prompt - 1_000, "an image more");
}

#[test]
fn the_automatic_marker_is_the_last_block() {
    let mut client = Client::new();
    let automatic =
        |blocks: Value| with(anthropic(blocks), &[("cache_control", json!({"type": "ephemeral"}))]);
    assert_eq!(
        client.send(MESSAGES, &automatic(json!([block(1_000, None)]))),
        (1_000, 0, 1_000, 0)
    );
    assert_eq!(
        client.send(MESSAGES, &automatic(json!([block(1_000, None), block(500, None)]))),
        (1_500, 1_000, 500, 0)
    );
}

fn responses(model: &str, texts: &[usize]) -> Value {
    // Four around each message and a word for each token but one.
    let item = |tokens: &usize| json!({"role": "user", "content": words(tokens - 5)});
    json!({"model": model, "input": texts.iter().map(item).collect::<Vec<_>>()})
}

const RESPONSES: &str = "/v1/responses";

#[test]
fn before_gpt_5_6_every_prefix_is_cached_for_nothing() {
    let mut client = Client::new();
    assert_eq!(client.send(RESPONSES, &responses("gpt-5.5", &[1_000])), (1_000, 0, 0, 0));
    assert_eq!(
        client.send(RESPONSES, &responses("gpt-5.5", &[1_000])),
        (1_000, 0, 0, 0),
        "under 1,024"
    );
    assert_eq!(client.send(RESPONSES, &responses("gpt-5.5", &[1_000, 500])), (1_500, 0, 0, 0));
    assert_eq!(
        client.send(RESPONSES, &responses("gpt-5.5", &[1_000, 500, 90])),
        (1_590, 1_500, 0, 0)
    );
    assert_eq!(
        client.send(RESPONSES, &responses("gpt-5.5", &[1_000, 500, 80])),
        (1_580, 1_500, 0, 0)
    );
}

#[test]
fn since_gpt_5_6_writing_costs_and_reading_looks_back_without_limit() {
    let mut client = Client::new();
    assert_eq!(client.send(RESPONSES, &responses("gpt-6.1-sol", &[2_000])), (2_000, 0, 2_000, 0));
    let many: Vec<usize> = std::iter::once(2_000).chain([10; 40]).collect();
    assert_eq!(client.send(RESPONSES, &responses("gpt-6.1-sol", &many)), (2_400, 2_000, 400, 0));
    client.wait(29 * MINUTE);
    assert_eq!(client.send(RESPONSES, &responses("gpt-6.1-sol", &many)), (2_400, 2_400, 0, 0));
    client.wait(31 * MINUTE);
    let long =
        with(responses("gpt-6.1-sol", &many), &[("prompt_cache_options", json!({"ttl": "12h"}))]);
    assert_eq!(client.send(RESPONSES, &long), (2_400, 0, 0, 2_400));
    client.wait(11 * 60 * MINUTE);
    assert_eq!(client.send(RESPONSES, &long), (2_400, 2_400, 0, 0));
    // Another key is another cache.
    assert_eq!(client.send(RESPONSES, &with(long, &[("prompt_cache_key", json!("mine"))])).1, 0);
}

#[test]
fn with_explicit_breakpoints_only_they_are_written() {
    let mut client = Client::new();
    let part = |tokens: usize, marked: bool| {
        let mut part = json!({"type": "input_text", "text": words(tokens - 5)});
        if marked {
            part["prompt_cache_breakpoint"] = json!({});
        }
        json!({"role": "user", "content": [part]})
    };
    let body = json!({"model": "gpt-6.1-sol", "prompt_cache_options": {"mode": "explicit"},
        "input": [part(1_500, true), part(500, false)]});
    assert_eq!(client.send(RESPONSES, &body), (2_000, 0, 1_500, 0));
    assert_eq!(client.send(RESPONSES, &body), (2_000, 1_500, 0, 0));
}

#[test]
fn gemini_caches_by_itself_from_its_minimum_on() {
    let mut client = Client::new();
    let body = |texts: &[usize]| {
        let content =
            |tokens: &usize| json!({"role": "user", "parts": [{"text": words(tokens - 5)}]});
        json!({"contents": texts.iter().map(content).collect::<Vec<_>>()})
    };
    for (model, least) in [("gemini-2.5-pro", 2_048), ("gemini-3.1-pro", 4_096)] {
        let path = format!("/v1beta/models/{model}:generateContent");
        client.send(&path, &body(&[least - 10]));
        assert_eq!(client.send(&path, &body(&[least - 10])).1, 0, "{model}");
        client.send(&path, &body(&[least]));
        assert_eq!(client.send(&path, &body(&[least, 100])).1, least as u64, "{model}");
    }
}

#[test]
fn usage_is_told_in_each_providers_words() {
    let mut client = Client::new();
    let mut tell = |path: &str, body: &Value, key: &str| -> Value {
        send(&mut client.server, path, body);
        send(&mut client.server, path, body).1[key].clone()
    };
    let usage =
        tell(MESSAGES, &anthropic(json!([block(1_000, Some("5m")), block(100, None)])), "usage");
    assert_eq!(
        (
            &usage["input_tokens"],
            &usage["cache_read_input_tokens"],
            &usage["cache_creation_input_tokens"]
        ),
        (&json!(100), &json!(1_000), &json!(0)),
        "the rest apart"
    );
    let usage = tell(RESPONSES, &responses("gpt-6.1-sol", &[2_000]), "usage");
    assert_eq!(
        (&usage["input_tokens"], &usage["input_tokens_details"]["cached_tokens"]),
        (&json!(2_000), &json!(2_000)),
        "all of it"
    );
    let chat = json!({"model": "gpt-4o", "messages": [{"role": "user", "content": words(1_995)}]});
    let usage = tell("/v1/chat/completions", &chat, "usage");
    assert_eq!(
        (&usage["prompt_tokens"], &usage["prompt_tokens_details"]["cached_tokens"]),
        (&json!(2_000), &json!(2_000))
    );
    let gemini = json!({"contents": [{"role": "user", "parts": [{"text": words(4_995)}]}]});
    let usage = tell("/v1beta/models/gemini-3.1-pro:generateContent", &gemini, "usageMetadata");
    assert_eq!(
        (&usage["promptTokenCount"], &usage["cachedContentTokenCount"]),
        (&json!(5_000), &json!(5_000))
    );
    let converse = json!({"messages": [{"role": "user", "content": [{"text": words(1_995)}, {"cachePoint": {"type": "default"}}]}]});
    let usage = tell("/model/anthropic.claude-opus-5-5/converse", &converse, "usage");
    assert_eq!((&usage["inputTokens"], &usage["cacheReadInputTokens"]), (&json!(0), &json!(2_000)));
}

#[test]
fn prices_add_up() {
    let dollars =
        |model: &str, usage: Usage| usage.cost(&Model::named(model).expect("known").price);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
    let usage =
        Usage { prompt: 100_000, read: 80_000, write: 15_000, output: 2_000, ..Usage::default() };
    // 5k at $4, 80k at $0.20, 15k at $5, 2k at $20 a million.
    assert!(near(dollars("claude-opus-5-5", usage), 0.02 + 0.016 + 0.075 + 0.04));
    let long = Usage { prompt: 10_000, write_long: 10_000, ..Usage::default() };
    assert!(near(dollars("claude-opus-5-5", long), 0.08), "$8 a million for an hour");
    assert!(near(dollars("gpt-6.1-sol", long), 0.05), "$5 a million for twelve hours");
    // Over 272k everything doubles, and the answer is half as much again.
    let over = Usage { prompt: 300_000, output: 1_000, ..Usage::default() };
    assert!(near(dollars("gpt-6-sol", over), 1.2 + 0.015));
    let over = Usage { prompt: 200_000, output: 1_000, ..Usage::default() };
    assert!(near(dollars("claude-haiku-5-5", over), 0.1 + 0.0025));
}
