//! What clients change from request to request ([volatile.md](volatile.md)) doesn't mislead the session machine.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use epitome::session::{ChainKey, SessionId, SessionOptions, Sessions};
use epitome::trigger::When;
use epitome::wire;
use epitome::{Options, Request};
use expect_test::expect;
use serde_json::Value;
use testkit::captures::{Capture, Sent};
use testkit::server::Endpoint;

/// Requests of a capture that ask for an answer and hold their whole history, with the conversation that the machine
/// finds for each.
fn conversations(capture: &Capture) -> Vec<(SessionId, &Sent, Request)> {
    let never = Arc::new(When::Tokens(10_000_000).build().expect("in range"));
    let options = SessionOptions::new(never, ChainKey([1, 2, 3, 4]));
    let compactor = testkit::compactor(Options::default(), "o200k");
    let mut sessions = Sessions::new(options, compactor).expect("in range");
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
