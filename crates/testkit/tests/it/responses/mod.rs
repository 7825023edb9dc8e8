//! PROVIDERS.md B.2 and B.5 for OpenAI Responses.

mod reasoning;

use serde_json::{Value, json};
use testkit::server::{Api, ApiError, Loop, Queue, Reply, Server};

use crate::{judged, schema, send, with, words};

fn body(input: Value) -> Value {
    json!({"model": "gpt-5.5", "input": input})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "ok"})
}

fn said(text: &str) -> Value {
    json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]})
}

fn accepts(body: &Value) {
    if let Err(refusal) = judged(Api::Responses, None, &[], body) {
        panic!("{}\n{body:#}", refusal.message);
    }
}

fn refused(body: &Value) -> ApiError {
    let refusal = judged(Api::Responses, None, &[], body).expect_err("it is refused");
    assert_eq!((refusal.status, refusal.kind.as_str()), (400, "invalid_request_error"));
    refusal
}

fn refuses(body: &Value, message: &str) {
    let refused = refused(body).message;
    assert!(refused.starts_with(message), "{refused}\nnot {message}");
}

#[test]
fn history_may_be_elsewhere() {
    let mut server = Server::new(Loop { steps: 1, ..Loop::default() });
    let tools = json!([{"type": "function", "name": "read", "parameters": schema()}]);
    let first = with(body(json!("Go.")), &[("tools", tools.clone())]);
    let (_, answer) = send(&mut server, "/v1/responses", &first);
    let call = answer["output"]
        .as_array()
        .expect("items")
        .iter()
        .find(|item| item["type"] == "function_call")
        .expect("it calls");
    let call_id = call["call_id"].as_str().expect("a text");
    let next = with(
        body(json!([output(call_id)])),
        &[("previous_response_id", answer["id"].clone()), ("tools", tools)],
    );
    let (status, answer) = send(&mut server, "/v1/responses", &next);
    assert_eq!(status, 200, "{answer}");
    assert!(answer["usage"]["input_tokens"].as_u64() > Some(20), "the whole history counts");
    let (status, answer) = send(
        &mut server,
        "/v1/responses",
        &with(next.clone(), &[("input", json!([output("call_other")]))]),
    );
    assert_eq!(
        (status, &answer["error"]["message"]),
        (400, &json!("No tool call found for function call output with call_id call_other."))
    );
    let (status, answer) = send(
        &mut server,
        "/v1/responses",
        &with(next.clone(), &[("previous_response_id", json!("resp_gone"))]),
    );
    assert_eq!(
        (status, &answer["error"]["message"], &answer["error"]["code"]),
        (
            400,
            &json!("Previous response with id 'resp_gone' not found."),
            &json!("previous_response_not_found")
        )
    );
    refuses(
        &with(next, &[("conversation", json!("conv_1"))]),
        "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.",
    );
    let held = with(body(json!([output("call_1")])), &[("conversation", json!("conv_1"))]);
    accepts(&held);
    let (status, answer) = send(&mut server, "/v1/responses", &held);
    assert_eq!(
        (status, &answer["error"]["message"]),
        (404, &json!("Conversation with id 'conv_1' not found."))
    );
}

#[test]
fn items_may_be_referred_to_where_they_are_kept() {
    let mut server = Server::new(Loop { steps: 0, ..Loop::default() });
    let (_, answer) = send(&mut server, "/v1/responses", &body(json!("Go.")));
    let refer = |ids: &[&Value]| {
        let reference = |id: &&Value| json!({"type": "item_reference", "id": id});
        let mut items = vec![user("Go.")];
        items.extend(ids.iter().map(reference));
        items.push(user("And now?"));
        body(json!(items))
    };
    let said = answer["output"].as_array().expect("items");
    let (status, answer) =
        send(&mut server, "/v1/responses", &refer(&[&said[0]["id"], &said[1]["id"]]));
    assert_eq!(status, 200, "{answer}");
    let (status, answer) = send(&mut server, "/v1/responses", &refer(&[&json!("msg_gone")]));
    assert_eq!(
        (status, &answer["error"]["message"]),
        (404, &json!("Item with id 'msg_gone' not found."))
    );
    let thought = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let alone = body(json!([user("Go."), thought, said_with_id("msg_1"), user("And?")]));
    accepts(&alone);
    let refused = judged(Api::Responses, None, &[], &with(alone, &[("store", json!(false))]));
    let refused = refused.expect_err("it is nowhere");
    assert_eq!(refused.status, 404);
    let gone =
        "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.";
    assert!(refused.message.starts_with(gone), "{}", refused.message);
}

fn said_with_id(id: &str) -> Value {
    with(said("Gone."), &[("id", json!(id))])
}

#[test]
fn compactions_stand_for_what_is_before_them() {
    let mut server = Server::new(Queue::new([Reply::text("Done.").into()]));
    let input = json!([user("Go."), said(&words(2_000)), user("And now?")]);
    let (_, compacted) = send(&mut server, "/v1/responses/compact", &body(input.clone()));
    let kinds: Vec<&Value> =
        compacted["output"].as_array().expect("items").iter().map(|item| &item["type"]).collect();
    assert_eq!(
        kinds,
        ["message", "message", "compaction"],
        "all user messages, and what stands for the rest"
    );
    let mut next = compacted["output"].as_array().expect("items").clone();
    next.push(user("Go on."));
    let understood = judged(Api::Responses, None, &[], &body(json!(next))).expect("accepted");
    assert!(understood.prompt.tokens() < 100, "{}", understood.prompt.tokens());
    // What is left before it is still read, and billed.
    next.insert(0, said(&words(500)));
    let understood = judged(Api::Responses, None, &[], &body(json!(next))).expect("accepted");
    assert!(understood.prompt.tokens() > 500, "{}", understood.prompt.tokens());

    // In the input, as its last item.
    let mut asked = input.as_array().expect("items").clone();
    asked.push(json!({"type": "compaction_trigger"}));
    let (_, answer) = send(&mut server, "/v1/responses", &body(json!(asked)));
    assert_eq!(answer["output"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["output"][0]["type"], "compaction");
    asked.swap(2, 3);
    refuses(&body(json!(asked)), "'compaction_trigger' must be the final input item.");

    // At a threshold, and then the answer.
    let managed = with(
        body(input),
        &[("context_management", json!([{"type": "compaction", "compact_threshold": 1000}]))],
    );
    let (_, answer) = send(&mut server, "/v1/responses", &managed);
    let kinds: Vec<&Value> =
        answer["output"].as_array().expect("items").iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["compaction", "message"]);
}
