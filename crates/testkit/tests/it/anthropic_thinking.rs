//! PROVIDERS.md B.1.3 and B.1.4: where reasoning must stand, and what it is bound to.

use serde_json::{Value, json};
use testkit::server::{Api, Incoming, Loop, Payload, Reply, Seen, Server};

use crate::{judged, schema, send, with};
use epitome::word_list::words;

const CONTROLS: &str = "thinking-binding-controls-2026-08-01";

fn body(model: &str, messages: &[Value]) -> Value {
    json!({
        "model": model,
        "max_tokens": 4000,
        "system": "You are careful.",
        "thinking": {"type": "adaptive"},
        "tools": [{"name": "read", "input_schema": schema()}],
        "messages": messages,
    })
}

/// A conversation in which `model` thinks, calls, thinks again and answers, as an agent would hold it.
fn conversation(model: &str) -> Vec<Value> {
    let mut server = Server::new(Loop { steps: 2, ..Loop::default() });
    let mut messages = vec![json!({"role": "user", "content": "Go."})];
    for _ in 0..3 {
        let body = body(model, &messages);
        let content = answered(&mut server, &body)["content"].clone();
        let results: Vec<Value> = content
            .as_array()
            .expect("an answer has blocks")
            .iter()
            .filter(|block| block["type"] == "tool_use")
            .map(
                |block| json!({"type": "tool_result", "tool_use_id": block["id"], "content": "ok"}),
            )
            .collect();
        messages.push(json!({"role": "assistant", "content": content}));
        let next = if results.is_empty() { json!("And now?") } else { json!(results) };
        messages.push(json!({"role": "user", "content": next}));
    }
    messages
}

fn answered(server: &mut Server, body: &Value) -> Value {
    let (status, whole) = send(server, "/v1/messages", body);
    assert_eq!(status, 200, "{whole}");
    whole
}

fn edited(mut messages: Vec<Value>) -> Vec<Value> {
    messages[0]["content"] = json!("Go, please.");
    messages
}

fn refusal(at: &str) -> String {
    format!(
        "{at}: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, \
         or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the `{CONTROLS}` \
         value in the `anthropic-beta` header."
    )
}

fn message(
    result: Result<testkit::server::Understood, testkit::server::ApiError>,
) -> Option<String> {
    result.err().map(|refusal| refusal.message)
}

#[test]
fn what_is_only_appended_to_is_good() {
    for model in ["claude-opus-5-5", "claude-fable-5-2", "claude-opus-5"] {
        let messages = conversation(model);
        assert_eq!(
            message(judged(Api::Anthropic, None, &[], &body(model, &messages))),
            None,
            "{model}"
        );
    }
}

#[test]
fn an_earlier_edit_is_refused_by_the_models_that_look() {
    let at = |model: &str| {
        let body = body(model, &edited(conversation(model)));
        message(judged(Api::Anthropic, None, &[], &body))
    };
    for model in words!(
        "claude-fable-5-1 claude-fable-5-2 claude-haiku-5-5 claude-mythos-5-2 claude-opus-5-5 \
         claude-sonnet-5-5"
    ) {
        assert_eq!(at(model), Some(refusal("messages.1.content.0")), "{model}");
    }
    for model in ["claude-mythos-5-1", "claude-fable-5", "claude-opus-5", "claude-sonnet-5"] {
        assert_eq!(at(model), None, "{model}");
    }
}

#[test]
fn tools_and_system_are_part_of_what_it_is_bound_to() {
    let whole = body("claude-opus-5-5", &conversation("claude-opus-5-5"));
    let refused = Some(refusal("messages.1.content.0"));
    for (key, value) in [("system", json!("You are fast.")), ("tools", json!([]))] {
        assert_eq!(
            message(judged(Api::Anthropic, None, &[], &with(whole.clone(), &[(key, value)]))),
            refused,
            "{key}"
        );
    }
    // What isn't: markers, effort, length, a client's billing nonce, and how a text is wrapped.
    let block = json!([{"type": "text", "text": "x-anthropic-billing-header: cch=1;"},
        {"type": "text", "text": "You are careful.", "cache_control": {"type": "ephemeral"}}]);
    for (key, value) in [("system", block), ("max_tokens", json!(2000)), ("temperature", json!(1))]
    {
        assert_eq!(
            message(judged(Api::Anthropic, None, &[], &with(whole.clone(), &[(key, value)]))),
            None,
            "{key}"
        );
    }
    let mut wrapped = whole;
    wrapped["messages"][0]["content"] = json!([{"type": "text", "text": "Go."}]);
    assert_eq!(message(judged(Api::Anthropic, None, &[], &wrapped)), None);
}

#[test]
fn a_kept_tail_is_good_without_its_reasoning() {
    let messages = conversation("claude-opus-5-5");
    let summary = json!({"role": "user", "content": "Summary: we went."});
    let tail = |strip: bool| {
        let mut kept = vec![summary.clone()];
        for message in &messages[3..] {
            let mut message = message.clone();
            if let Some(blocks) = message["content"].as_array_mut().filter(|_| strip) {
                blocks.retain(|block| block["type"] != "thinking");
            }
            kept.push(message);
        }
        body("claude-opus-5-5", &kept)
    };
    assert_eq!(
        message(judged(Api::Anthropic, None, &[], &tail(false))),
        Some(refusal("messages.1.content.0"))
    );
    assert_eq!(message(judged(Api::Anthropic, None, &[], &tail(true))), None);
}

#[test]
fn only_a_leading_run_of_reasoning_may_go() {
    let messages = conversation("claude-opus-5-5");
    let without = |gone: &[usize]| {
        let mut messages = messages.clone();
        for at in gone {
            messages[*at]["content"].as_array_mut().expect("blocks").remove(0);
        }
        message(judged(Api::Anthropic, None, &[], &body("claude-opus-5-5", &messages)))
    };
    assert_eq!(without(&[1]), None);
    assert_eq!(without(&[1, 3]), None);
    assert_eq!(without(&[1, 3, 5]), None);
    assert_eq!(without(&[5]), None, "nothing stands behind it");
    assert_eq!(without(&[3]), Some(refusal("messages.5.content.0")));
}

#[test]
fn dropping_drops_everything_behind_and_says_so() {
    let mut messages = conversation("claude-opus-5-5");
    messages[2]["content"][0]["content"] = json!("edited");
    let thinking =
        json!({"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}});
    let body = with(body("claude-opus-5-5", &messages), &[("thinking", thinking)]);
    let understood = judged(Api::Anthropic, None, &[CONTROLS], &body).expect("it is dropped");
    let dropped: Vec<_> =
        understood.misplaced.iter().map(|out| (out.path.as_str(), out.is_shown)).collect();
    assert_eq!(dropped, [("messages.3.content.0", false), ("messages.5.content.0", false)]);

    let text = body.to_string();
    let headers = [("anthropic-beta".to_owned(), CONTROLS.to_owned())];
    let incoming =
        Incoming { method: "POST", path: "/v1/messages", headers: &headers, body: text.as_bytes() };
    let (answer, noted) = Server::default().answer(&incoming, std::time::Duration::ZERO);
    let Payload::Whole(whole) = answer.payload else { panic!("whole") };
    let whole: Value = serde_json::from_str(&whole).expect("JSON");
    let reason = "prefix_binding_mismatch";
    assert_eq!(
        whole["input_transformations"],
        json!([{"type": "thinking_dropped", "path": "messages.3.content.0", "reason": reason},
               {"type": "thinking_dropped", "path": "messages.5.content.0", "reason": reason}])
    );
    let shown = judged(
        Api::Anthropic,
        None,
        &[],
        &crate::anthropic_thinking::body("claude-opus-5-5", &conversation("claude-opus-5-5")),
    );
    let saved = shown.expect("good").prompt.tokens() - noted.usage.expect("answered").prompt;
    assert!(saved > 0, "what is dropped isn't charged for");
}

#[test]
fn unenforced_thinking_rules_are_noted() {
    let body = body("claude-mythos-5-1", &edited(conversation("claude-mythos-5-1")));
    let understood = judged(Api::Anthropic, None, &[CONTROLS], &body).expect("nothing is refused");
    assert!(understood.misplaced.iter().all(|out| out.is_shown) && understood.misplaced.len() == 3);
}

#[test]
fn a_model_is_not_shown_what_it_may_not_read() {
    let newer = conversation("claude-fable-5-1");
    let understood =
        judged(Api::Anthropic, None, &[], &body("claude-opus-5-5", &newer)).expect("no error");
    assert_eq!(understood.misplaced.len(), 3);
    let older = conversation("claude-opus-5");
    let understood =
        judged(Api::Anthropic, None, &[], &body("claude-fable-5-1", &older)).expect("no error");
    assert!(understood.misplaced.is_empty());
}

#[test]
fn edited_or_invented_reasoning_is_refused_by_every_model() {
    for model in ["claude-opus-5", "claude-opus-5-5"] {
        let mut messages = conversation(model);
        messages[3]["content"][0]["thinking"] = json!("I thought something else.");
        let invalid =
            Some("messages.3.content.0: Invalid `signature` in `thinking` block".to_owned());
        assert_eq!(message(judged(Api::Anthropic, None, &[], &body(model, &messages))), invalid);
        messages[3]["content"][0]["signature"] = json!("EqQBCkYIBxgCKkD");
        assert_eq!(message(judged(Api::Anthropic, None, &[], &body(model, &messages))), invalid);
    }
    let unsigned =
        json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]});
    let user = json!({"role": "user", "content": "Go."});
    assert_eq!(
        message(judged(
            Api::Anthropic,
            None,
            &[],
            &body("claude-opus-5", &[user.clone(), unsigned, user])
        ))
        .as_deref(),
        Some("messages.1.content.0.thinking.signature: Field required")
    );
}

#[test]
fn older_models_are_not_shown_the_reasoning_of_earlier_turns() {
    let tokens = |model: &str| {
        let messages = conversation(model);
        let mut bare = messages.clone();
        for message in &mut bare {
            if let Some(blocks) = message["content"].as_array_mut() {
                blocks.retain(|block| block["type"] != "thinking");
            }
        }
        let count = |messages: &[Value]| {
            judged(Api::Anthropic, None, &[], &body(model, messages)).expect("good").prompt.tokens()
        };
        (count(&messages), count(&bare))
    };
    let (whole, bare) = tokens("claude-opus-5");
    assert!(whole > bare);
    let (whole, bare) = tokens("claude-haiku-4-5");
    assert_eq!(whole, bare);
}

#[test]
fn redacted_reasoning_is_bound_as_well() {
    let script = |seen: &Seen<'_>| {
        let _ = seen;
        let mut reply = Reply::text("Done.");
        reply.say.insert(0, testkit::server::Say::Redacted);
        reply.into()
    };
    let mut messages = vec![json!({"role": "user", "content": "Go."})];
    let content =
        answered(&mut Server::new(script), &body("claude-opus-5-5", &messages))["content"].clone();
    assert_eq!(content[0]["type"], "redacted_thinking");
    messages.push(json!({"role": "assistant", "content": content}));
    messages.push(json!({"role": "user", "content": "And?"}));
    assert_eq!(
        message(judged(Api::Anthropic, None, &[], &body("claude-opus-5-5", &messages))),
        None
    );
    let refused =
        message(judged(Api::Anthropic, None, &[], &body("claude-opus-5-5", &edited(messages))));
    assert!(refused.is_some_and(|refused| {
        refused.contains("in `redacted_thinking` block. The block is bound")
    }));
}
