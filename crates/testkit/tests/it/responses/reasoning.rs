//! Reasoning belongs to what it led to, and to what stands before it.

use serde_json::{Value, json};
use testkit::server::{Api, Loop, Server};

use super::{accepts, output, refused, refuses, user};
use crate::{judged, schema, send, with};

/// What the model said to one request, as items to send back.
fn answered(model: &str, input: &[Value]) -> Vec<Value> {
    let tools = json!([{"type": "function", "name": "read", "parameters": schema()}]);
    let body = json!({"model": model, "input": input, "tools": tools, "store": false, "include": ["reasoning.encrypted_content"]});
    let (status, answer) =
        send(&mut Server::new(Loop { steps: 2, ..Loop::default() }), "/v1/responses", &body);
    assert_eq!(status, 200, "{answer}");
    answer["output"].as_array().expect("items").clone()
}

/// A conversation of three steps, as an agent would hold it, with the tools that belong to it.
fn conversation(model: &str) -> Value {
    let mut input = vec![user("Go.")];
    for _ in 0..3 {
        let said = answered(model, &input);
        let outputs: Vec<Value> = said
            .iter()
            .filter(|item| item["type"] == "function_call")
            .map(|item| output(item["call_id"].as_str().expect("a text")))
            .collect();
        input.extend(said);
        input.extend(outputs);
    }
    input.push(user("And now?"));
    let tools = json!([{"type": "function", "name": "read", "parameters": schema()}]);
    json!({"model": model, "input": input, "tools": tools})
}

fn edit(body: &Value, change: impl Fn(&mut Vec<Value>)) -> Value {
    let mut body = body.clone();
    change(body["input"].as_array_mut().expect("items"));
    body
}

#[test]
fn reasoning_and_what_it_belongs_to_go_together() {
    let whole = conversation("gpt-5.5");
    accepts(&whole);
    let kinds = |at: usize| whole["input"][at]["type"].as_str().expect("a text").to_owned();
    assert_eq!([kinds(1), kinds(2), kinds(3)], ["reasoning", "message", "function_call"]);
    let id = |at: usize| whole["input"][at]["id"].as_str().expect("a text").to_owned();
    refuses(
        &edit(&whole, |items| {
            items.remove(1);
        }),
        &format!(
            "Item '{}' of type 'message' was provided without its required 'reasoning' item: '{}'.",
            id(2),
            id(1)
        ),
    );
    refuses(
        &edit(&whole, |items| {
            items.splice(2.., [user("And now?")]);
        }),
        &format!(
            "Item '{}' of type 'reasoning' was provided without its required following item.",
            id(1)
        ),
    );
    // Without ids nobody knows what belonged together.
    accepts(&edit(&whole, |items| {
        for item in items.iter_mut().filter(|item| item["id"].is_string()) {
            item.as_object_mut().expect("an item is an object").remove("id");
        }
        items.remove(1);
    }));
}

#[test]
fn newer_models_lose_reasoning_behind_an_edit_and_say_so() {
    let change = |items: &mut Vec<Value>| items[0]["content"] = json!("Go, please.");
    let whole = conversation("gpt-6.2-sol");
    let understood = judged(Api::Responses, None, &[], &whole).expect("accepted");
    assert!(understood.misplaced.is_empty());
    let understood = judged(Api::Responses, None, &[], &edit(&whole, change)).expect("no error");
    let lost: Vec<&str> = understood.misplaced.iter().map(|out| out.path.as_str()).collect();
    assert_eq!(lost, ["input[1]", "input[5]", "input[9]"]);
    // Only what stands behind the edit is lost.
    let later = edit(&whole, |items| items[4]["output"] = json!("shorter"));
    let understood = judged(Api::Responses, None, &[], &later).expect("no error");
    assert_eq!(understood.misplaced.len(), 2);
    let older = conversation("gpt-6.1-sol");
    let understood = judged(Api::Responses, None, &[], &edit(&older, change)).expect("no error");
    assert!(understood.misplaced.is_empty(), "earlier models don't look");

    let (_, answer) = send(&mut Server::default(), "/v1/responses", &edit(&whole, change));
    let first = &answer["input_transformations"][0];
    assert_eq!(first["id"], whole["input"][1]["id"]);
    assert_eq!(
        (&first["action"], &first["reason"]),
        (&json!("removed"), &json!("prefix_mismatch"))
    );
}

#[test]
fn what_counts_as_a_change_of_the_prefix() {
    let lost =
        |body: &Value| judged(Api::Responses, None, &[], body).expect("no error").misplaced.len();
    let whole = conversation("gpt-6.2-sol");
    assert_eq!(
        lost(&with(whole.clone(), &[("instructions", json!("Be brief."))])),
        0,
        "for one turn only"
    );
    assert_eq!(lost(&with(whole.clone(), &[("tools", json!([]))])), 3);
    assert_eq!(
        lost(&with(whole.clone(), &[("text", json!({"format": {"type": "json_object"}}))])),
        3
    );
    assert_eq!(
        lost(&edit(&whole, |items| items
            .push(json!({"type": "configuration_update", "reasoning": {"effort": "low"}})))),
        0
    );
    // A model doesn't read what a later one thought.
    let downgraded = with(whole, &[("model", json!("gpt-6.1-sol"))]);
    assert_eq!(lost(&downgraded), 3);
}

#[test]
fn encrypted_reasoning_is_checked() {
    let broken = edit(&conversation("gpt-5.5"), |items| {
        items[1]["encrypted_content"] = json!("gAAAAABforeign==");
    });
    let refused = refused(&broken);
    assert_eq!(refused.code.as_deref(), Some("invalid_encrypted_content"));
    assert!(
        refused.message.starts_with("The encrypted content gAAA...gn== could not be verified."),
        "{}",
        refused.message
    );
}

#[test]
fn reasoning_behind_a_compaction_is_kept() {
    let whole = conversation("gpt-6.2-sol");
    let mut server = Server::default();
    let upto = |end: usize| edit(&whole, |items| items.truncate(end));
    // Exactly what stands before the last step is compacted, and the last step is kept.
    let (_, compacted) = send(&mut server, "/v1/responses/compact", &upto(9));
    let mut next = compacted["output"].as_array().expect("items").clone();
    next.extend(whole["input"].as_array().expect("items")[9..].iter().cloned());
    let understood =
        judged(Api::Responses, None, &[], &with(whole.clone(), &[("input", json!(next))]))
            .expect("accepted");
    assert!(understood.misplaced.is_empty(), "{:?}", understood.misplaced);
    // A summary of one's own is an edit.
    let own = edit(&whole, |items| {
        items.splice(..9, [user("Summary: we went.")]);
    });
    assert_eq!(judged(Api::Responses, None, &[], &own).expect("no error").misplaced.len(), 1);
}
