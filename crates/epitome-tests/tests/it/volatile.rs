//! What clients change from request to request, and that the session machine isn't misled by it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use epitome::count::counter;
use epitome::session::{ChainKey, SessionId, SessionOptions, Sessions};
use epitome::trigger::When;
use epitome::wire::{self, Format};
use epitome::{Compactor, Options, Request};
use expect_test::{expect, expect_file};
use serde_json::Value;
use testkit::captures::{Capture, Sent};
use testkit::server::Endpoint;

/// Requests of a capture that ask for an answer and hold their whole history, with the conversation that the machine
/// finds for each.
fn conversations(capture: &Capture) -> Vec<(SessionId, &Sent, Request)> {
    let never = Arc::new(When::Tokens(10_000_000).build().expect("in range"));
    let options = SessionOptions::new(never, ChainKey([1, 2, 3, 4]));
    let compactor = Compactor::new(Options::default(), counter("o200k").expect("a known name"));
    let mut sessions = Sessions::new(options, compactor.expect("in range")).expect("in range");
    let asks =
        |sent: &&Sent| matches!(sent.route().endpoint, Endpoint::Generate | Endpoint::Stream);
    let mut found = Vec::new();
    for sent in capture.requests.iter().filter(asks) {
        let request = wire::parse(sent.format(), sent.body.clone()).expect("a request");
        if request.elsewhere().is_none() {
            let answer = sessions.observe("", &request, None, Duration::ZERO);
            found.push((answer.session, sent, request));
        }
    }
    found
}

#[test]
fn each_request_goes_on_with_the_one_before() {
    // A letter is a conversation.
    let mut page = String::new();
    for capture in Capture::all() {
        let found = conversations(&capture);
        let mut known: Vec<SessionId> = Vec::new();
        let letters: String = found
            .iter()
            .map(|(session, ..)| {
                let at = known.iter().position(|id| id == session).unwrap_or_else(|| {
                    known.push(*session);
                    known.len() - 1
                });
                char::from(b'a' + u8::try_from(at).expect("few conversations"))
            })
            .collect();
        writeln!(page, "{:<28}{letters}", capture.name).expect("written");
    }
    expect![[r#"
        openai-node/chat            aaaaaaa
        openai-node/responses       aaaaaaa
        openai-node/responses-kept  a
        openai-python/chat          aaaaaaa
        openai-python/chat-deepseek aaaaaaa
        openai-python/responses     aaaaaaa
        anthropic-node/messages     aaaaaaa
        anthropic-node/runner       a
        anthropic-python/messages   aaaaaaa
        anthropic-python/runner     aaaaa
        genai-node/contents         aaaaaaa
        genai-node/chat             aaaaaaa
        genai-python/contents       aaaaaaa
        genai-python/auto           aaaaaaa
        codex/code-mode             aaaaaaaa
        codex/tools                 aaaaaabbb
        opencode/chat               abbbbbbbb
        opencode/responses          abbbbbbbb
        opencode/anthropic          abbbbbbbb
        gemini-cli/gemini           aaaaab
        codex/later                 aa
        opencode/later              abb
        gemini-cli/later            aa
        pi/later                    aa
        claude-code/later           aa
        pi/anthropic                aaaaaaaa
        pi/responses                aaaaaaaa
        pi/chat                     aaaaaaaa
        pi/branches                 aaaaabbbb
        claude-code/anthropic       aaaaaaaa
        ai-sdk/anthropic            aaaaaaa
        ai-sdk/chat                 aaaaaaa
        ai-sdk/responses            aaaaaaa
        ai-sdk/gemini               aaaaaaa
        langchain-python/anthropic  aaaaaaa
        langchain-python/chat       aaaaaaa
        langchain-python/responses  aaaaaaa
        openai-agents-python/responsesaaaaaaa
        pydantic-ai/anthropic       aaaaaaa
        pydantic-ai/chat            aaaaaaa
        pydantic-ai/responses       aaaaaaa
    "#]]
    .assert_eq(&page);
}

/// Where a session is taken up later, and with tools, Gemini CLI sends results and pictures twice. Without that it is the
/// same conversation, whatever stands for signatures and in the session's context.
#[test]
fn a_session_of_gemini_cli_that_is_taken_up_later_is_the_same() {
    let captures = Capture::all();
    let capture = captures.iter().find(|capture| capture.name == "gemini-cli/gemini");
    let mut capture = capture.expect("it is there").clone();
    let last = capture.requests.last_mut().expect("requests");
    assert!(last.body.contains("skip_thought_signature_validator"));
    let mut body: Value = serde_json::from_str(&last.body).expect("JSON");
    for content in body["contents"].as_array_mut().expect("contents") {
        let parts = content["parts"].as_array_mut().expect("parts");
        let mut seen: Vec<Value> = Vec::new();
        parts.retain(|part| {
            !seen.contains(part) && {
                seen.push(part.clone());
                true
            }
        });
    }
    last.body = body.to_string();
    let found = conversations(&capture);
    assert!(found.iter().all(|(session, ..)| *session == found[0].0));
}

#[test]
fn the_page_of_volatile_elements_says_what_the_captures_show() {
    let page = include_str!("volatile.md");
    let (prose, _) = page.split_once(MARK).expect("the mark is there");
    let mut text = format!(
        "{prose}{MARK}\n\n| where | what happens | first seen in, how often |\n|---|---|---|\n"
    );
    for ((place, what), clients) in table() {
        let clients: Vec<String> = clients
            .iter()
            .map(|(name, seen)| format!("{name}/{} {}×", seen.first, seen.times))
            .collect();
        writeln!(text, "| `{place}` | {what} | {} |", clients.join(", ")).expect("written");
    }
    expect_file!["volatile.md"].assert_eq(&text);
}

/// What follows is written by this test.
const MARK: &str = "<!-- written by crates/epitome-tests/tests/it/volatile.rs -->";

struct Seen {
    first: String,
    times: usize,
}

/// Where and what, by client.
fn table() -> BTreeMap<(String, &'static str), BTreeMap<String, Seen>> {
    let mut table: BTreeMap<(String, &'static str), BTreeMap<String, Seen>> = BTreeMap::new();
    for capture in Capture::all() {
        let mut newest: BTreeMap<SessionId, (Value, Request)> = BTreeMap::new();
        for (session, sent, request) in conversations(&capture) {
            let body: Value = serde_json::from_str(&sent.body).expect("JSON");
            if let Some((before, earlier)) = newest.get(&session) {
                let mut changes = Vec::new();
                let key = transcript_key(sent.format());
                compare(&without(before, key), &without(&body, key), "", &mut changes);
                said_before(&before[key], &body[key], key, &mut changes);
                changes.extend(respelt(earlier, &request).map(|()| (key.to_owned(), RESPELT)));
                for change in changes {
                    let clients = table.entry(change).or_default();
                    let first = sent.file.clone();
                    let seen =
                        clients.entry(capture.name.clone()).or_insert(Seen { first, times: 0 });
                    seen.times += 1;
                }
            }
            newest.insert(session, (body, request));
        }
    }
    table
}

const GONE: &str = "is gone";
const NEW: &str = "is new";
const OTHER: &str = "has another value";
const LISTED: &str = "a text becomes a list of one text";
const UNLISTED: &str = "a list of one text becomes a text";
const LONGER: &str = "has more elements";
const SHORTER: &str = "has fewer elements";
const RESPELT: &str = "the same, in other bytes";

fn transcript_key(format: Format) -> &'static str {
    match format {
        Format::Gemini => "contents",
        Format::OpenaiResponses => "input",
        _ => "messages",
    }
}

fn without(body: &Value, key: &str) -> Value {
    let mut body = body.clone();
    body.as_object_mut().expect("an object").remove(key);
    body
}

/// What was said before has to stand at the beginning of what is said now.
fn said_before(before: &Value, now: &Value, key: &str, changes: &mut Vec<(String, &'static str)>) {
    let (Value::Array(before), Value::Array(now)) = (before, now) else {
        return changes.push((key.to_owned(), OTHER));
    };
    if now.len() < before.len() {
        changes.push((key.to_owned(), SHORTER));
    }
    for (one, other) in before.iter().zip(now) {
        compare(one, other, &format!("{key}[]"), changes);
    }
}

fn compare(before: &Value, now: &Value, at: &str, changes: &mut Vec<(String, &'static str)>) {
    let place = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    match (before, now) {
        _ if before == now => {}
        (Value::Object(one), Value::Object(other)) => {
            for (key, value) in one {
                match other.get(key) {
                    Some(now) => compare(value, now, &place(key), changes),
                    None => changes.push((place(key), GONE)),
                }
            }
            let new = other.keys().filter(|key| !one.contains_key(*key));
            changes.extend(new.map(|key| (place(key), NEW)));
        }
        (Value::Array(one), Value::Array(other)) => {
            for (one, other) in one.iter().zip(other) {
                compare(one, other, &format!("{at}[]"), changes);
            }
            if one.len() != other.len() {
                changes
                    .push((at.to_owned(), if one.len() < other.len() { LONGER } else { SHORTER }));
            }
        }
        (Value::String(_), Value::Array(_)) => changes.push((at.to_owned(), LISTED)),
        (Value::Array(_), Value::String(_)) => changes.push((at.to_owned(), UNLISTED)),
        _ => changes.push((at.to_owned(), OTHER)),
    }
}

/// Whether an entry that says the same is written differently: other order of keys, other escapes, other blanks.
fn respelt(before: &Request, now: &Request) -> Option<()> {
    let pairs = before.transcript.entries().zip(now.transcript.entries());
    let value = |text: &str| serde_json::from_str::<Value>(text).expect("an entry is JSON");
    pairs
        .map(|(one, other)| (one.raw(), other.raw()))
        .any(|(one, other)| one != other && value(one) == value(other))
        .then_some(())
}
