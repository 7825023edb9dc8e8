//! OpenAI's compactions: at a threshold (`context_management`), in band (`compaction_trigger`) and `/responses/compact`.

use std::time::{SystemTime, UNIX_EPOCH};

use epitome::transcript::ContentId;
use serde_json::{Value, json};

use super::members::{Members, Raws, raw};
use super::{Ask, Invalid, Packed, invalid, item};

/// The input as a list.
pub(super) fn input(members: &Members) -> Option<Raws> {
    let Some(text) = members.get::<String>("input") else { return members.get("input") };
    Some(vec![raw(json!({"role": "user", "content": text}).to_string())])
}

/// Takes what a request asks for out of it.
pub(super) fn ask(members: &mut Members, items: &mut Raws) -> Option<Ask> {
    let edits: Option<Vec<Value>> = members.get("context_management");
    let (ours, others): (Vec<Value>, Vec<Value>) =
        edits.into_iter().flatten().partition(|edit| edit["type"] == "compaction");
    let over = ours.last().map(|edit| edit["compact_threshold"].as_u64().unwrap_or(u64::MAX));
    match (over, others.is_empty()) {
        (None, _) => {}
        (Some(_), true) => members.remove("context_management"),
        (Some(_), false) => members.set("context_management", json!(others).to_string()),
    }
    if items.pop_if(|last| is_trigger(last.get())).is_some() {
        return Some(Ask { over: None, is_alone: true });
    }
    Some(Ask { over: Some(over?), is_alone: false })
}

fn is_trigger(item: &str) -> bool {
    memchr::memmem::find(item.as_bytes(), b"\"compaction_trigger\"").is_some()
        && serde_json::from_str::<Value>(item)
            .is_ok_and(|item| item["type"] == "compaction_trigger")
}

/// The items, with the content of our last one in place of everything before it; `None` if there is none. An altered one is
/// refused.
pub(super) fn expanded(items: &Raws, most: usize) -> Result<Option<Raws>, Invalid> {
    let sealed = |item: &str| {
        memchr::memmem::find(item.as_bytes(), item::OURS.as_bytes())?;
        let item: Value = serde_json::from_str(item).ok()?;
        let sealed = item["encrypted_content"].as_str().filter(|_| item["type"] == "compaction")?;
        sealed.starts_with(item::OURS).then(|| sealed.to_owned())
    };
    let found = items.iter().enumerate().rev();
    let found = found.map(|(at, item)| (at, sealed(item.get())));
    let Some((at, sealed)) = found.into_iter().find_map(|(at, sealed)| Some((at, sealed?))) else {
        return Ok(None);
    };
    let Some(mut all) = item::opened(&sealed, "", most) else {
        let what = format!(
            "input[{at}]: the encrypted content of this item could not be verified: it isn't as it was given. Send it byte for \
             byte, or the items that it stands for"
        );
        return Err(invalid("invalid_encrypted_content", what));
    };
    all.extend(items[at + 1..].iter().cloned());
    Ok(Some(all))
}

/// The item that stands for everything so far.
pub(super) fn item(packed: &Packed) -> Value {
    json!({"id": id("cmp", &packed.sealed), "type": "compaction", "encrypted_content": packed.sealed})
}

/// An id that is always the same for the same text.
fn id(kind: &str, text: &str) -> String {
    format!("{kind}_{}", &ContentId::of_text(text).to_string()[..48])
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// No model was asked, and nothing was spent.
fn usage() -> Value {
    json!({
        "input_tokens": 0, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 0,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 0,
    })
}

/// The events of the item, as the first one of a response, numbered from `from` on.
pub(super) fn events(item: &Value, from: u64) -> Vec<Value> {
    let mut events = vec![
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.compaction.compacting", "output_index": 0, "item_id": item["id"]}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
    ];
    for (event, number) in events.iter_mut().zip(from..) {
        event["sequence_number"] = json!(number);
    }
    events
}

/// A response that is the item alone, whole and as events.
pub(super) fn alone(model: &str, item: &Value) -> (Value, Vec<Value>) {
    let mut whole = json!({
        "id": id("resp", &item.to_string()), "object": "response", "created_at": now(), "status": "in_progress",
        "error": null, "incomplete_details": null, "instructions": null, "metadata": {}, "model": model, "output": [],
        "parallel_tool_calls": true, "previous_response_id": null, "temperature": 1.0, "text": {"format": {"type": "text"}},
        "tool_choice": "auto", "tools": [], "top_p": 1.0, "usage": null,
    });
    let mut all = vec![
        json!({"type": "response.created", "response": whole, "sequence_number": 0}),
        json!({"type": "response.in_progress", "response": whole, "sequence_number": 1}),
    ];
    all.extend(events(item, 2));
    whole["status"] = json!("completed");
    whole["output"] = json!([item]);
    whole["usage"] = usage();
    all.push(
        json!({"type": "response.completed", "response": whole, "sequence_number": all.len()}),
    );
    (whole, all)
}

/// A message of the user as responses have it, whole: clients may write less of it.
fn users_message((nth, item): (usize, &str)) -> Option<String> {
    let mut message = Members::read(item)?;
    let kind = message.get::<String>("type");
    if message.get::<String>("role")? != "user" || kind.is_some_and(|kind| kind != "message") {
        return None;
    }
    message.set("type", json!("message").to_string());
    if message.raw("id").is_none() {
        message.set("id", json!(id("msg", &format!("{nth} {item}"))).to_string());
    }
    if message.raw("status").is_none() {
        message.set("status", json!("completed").to_string());
    }
    if let Some(text) = message.get::<String>("content") {
        message.set("content", json!([{"type": "input_text", "text": text}]).to_string());
    }
    Some(message.to_string())
}

/// What `/responses/compact` answers: all messages of the user, and the item.
pub(super) fn compacted(items: &Raws, item: &Value) -> String {
    let own = item.to_string();
    let users = items.iter().map(|item| item.get()).enumerate().filter_map(users_message);
    let output: Vec<String> = users.chain([own.clone()]).collect();
    let id = id("resp", &own);
    format!(
        r#"{{"id":"{id}","object":"response.compaction","created_at":{},"output":[{}],"usage":{}}}"#,
        now(),
        output.join(","),
        usage()
    )
}
