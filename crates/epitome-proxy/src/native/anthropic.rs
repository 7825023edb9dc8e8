//! Anthropic's compactions: at a threshold (`compact_20260112`) and on demand (`compaction`).

use epitome::transcript::ContentId;
use serde_json::{Value, json};

use super::members::{Members, Raws, list_of, raw};
use super::{Ask, IN_PART, Packed, WHOLE, item};

/// Tokens at which a threshold lies that isn't told.
const USUAL_THRESHOLD: u64 = 150_000;

/// The betas that name what is done here.
pub(crate) const BETAS: [&str; 2] = ["compact-2026-01-12", "compact-2026-09-04"];

/// Takes what a request asks for out of it.
pub(super) fn ask(members: &mut Members) -> Option<Ask> {
    let demand: Option<Value> = members.get("compaction");
    if demand.is_some_and(|demand| demand["type"] == "summarize") {
        members.remove("compaction");
        return Some(Ask { over: None, is_alone: true });
    }
    let mut management: Value = members.get("context_management")?;
    let edits = management["edits"].as_array_mut()?;
    let taken: Vec<Value> =
        edits.extract_if(.., |edit| edit["type"] == "compact_20260112").collect();
    let edit = taken.last()?;
    if edits.is_empty() {
        members.remove("context_management");
    } else {
        members.set("context_management", management.to_string());
    }
    let over = edit["trigger"]["value"].as_u64().unwrap_or(USUAL_THRESHOLD);
    Some(Ask { over: Some(over), is_alone: edit["pause_after_compaction"] == true })
}

/// The messages with what the last block stands for in the place of all before it; `None` where nothing changes. Blocks of
/// others are only read where their provider doesn't do it.
pub(super) fn expanded(messages: &Raws, has_native: bool, most: usize) -> Option<Raws> {
    let blocks = |at: usize| {
        let message = messages[at].get();
        let has = memchr::memmem::find(message.as_bytes(), b"\"compaction\"").is_some();
        let message = Members::read(message).filter(|_| has)?;
        let blocks: Raws = message.get("content")?;
        Some((message, blocks))
    };
    for at in (0..messages.len()).rev() {
        let Some((mut message, blocks)) = blocks(at) else { continue };
        let found = blocks
            .iter()
            .enumerate()
            .rev()
            .find_map(|(nth, block)| Some((nth, stands_for(block.get(), has_native, most)?)));
        let Some((nth, all)) = found else { continue };
        let Standing::For(mut all) = all else { return None };
        let rest: Raws = blocks[nth + 1..].to_vec();
        if !rest.is_empty() {
            message.set("content", list_of(&rest));
            all.push(raw(message.to_string()));
        }
        all.extend(messages[at + 1..].iter().cloned());
        return Some(all);
    }
    None
}

/// What a block stands for.
enum Standing {
    /// These messages.
    For(Raws),
    /// What can't be read: all is forwarded as it came.
    Sealed,
}

/// The messages that a block stands for.
fn stands_for(block: &str, has_native: bool, most: usize) -> Option<Standing> {
    let block: Value = serde_json::from_str(block).ok()?;
    if block["type"] != "compaction" {
        return None;
    }
    let sealed = ["encrypted_content", "signature"].map(|name| block[name].as_str());
    // One of ours that can't be opened stands for what nobody knows: its words are no summary.
    if let Some(own) = sealed.into_iter().flatten().find(|sealed| sealed.starts_with(item::OURS)) {
        return Some(item::opened(own, most).map_or(Standing::Sealed, Standing::For));
    }
    let words = block["content"].as_str().filter(|words| !words.is_empty() && !has_native)?;
    // Words of ours, of which somebody took away what they came with.
    if [WHOLE, IN_PART].contains(&words) {
        return Some(Standing::Sealed);
    }
    let text = format!("Summary of the conversation so far:\n\n{words}");
    Some(Standing::For(vec![raw(json!({"role": "user", "content": text}).to_string())]))
}

/// A list of messages without marks of the cache, of which a prompt may have few; all else keeps its bytes.
pub(super) fn unmarked(messages: &Raws) -> Raws {
    let bare = |message: &str| {
        let mut message = Members::read(message)?;
        let blocks: Raws = message.get("content")?;
        let blocks = blocks.iter().map(|block| {
            let mut members = Members::read(block.get())?;
            members.remove("cache_control");
            Some(raw(members.to_string()))
        });
        message.set("content", list_of(&blocks.collect::<Option<Raws>>()?));
        Some(raw(message.to_string()))
    };
    let is_marked = |message: &str| memchr::memmem::find(message.as_bytes(), b"\"cache_control\"");
    let each = messages.iter().map(|message| match is_marked(message.get()) {
        Some(_) => bare(message.get()).unwrap_or_else(|| message.clone()),
        None => message.clone(),
    });
    each.collect()
}

/// The block that stands for everything so far.
pub(super) fn block(packed: &Packed, is_alone: bool, has_threshold: bool) -> Value {
    let name = if is_alone && !has_threshold { "signature" } else { "encrypted_content" };
    json!({"type": "compaction", "content": packed.words, name: packed.sealed})
}

/// The events of the block, as the first one of a reply.
pub(super) fn events(block: &Value) -> Vec<Value> {
    let mut start = block.clone();
    start["content"] = Value::Null;
    let mut delta = block.clone();
    delta["type"] = json!("compaction_delta");
    vec![
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
    ]
}

/// A reply that is the block alone, whole and as events. No model was asked, and nothing was spent.
pub(super) fn alone(model: &str, block: &Value) -> (Value, Vec<Value>) {
    let id = ContentId::of_text(&block.to_string()).to_string();
    let nothing = json!({
        "input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
    });
    let mut iteration = nothing.clone();
    iteration["type"] = json!("compaction");
    let mut usage = nothing;
    usage["iterations"] = json!([iteration]);
    let mut message = json!({
        "id": format!("msg_01{}", &id[..22]), "type": "message", "role": "assistant", "model": model,
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let mut all = vec![json!({"type": "message_start", "message": message})];
    all.extend(events(block));
    let delta = json!({"stop_reason": "compaction", "stop_sequence": null});
    all.push(json!({"type": "message_delta", "delta": delta, "usage": usage}));
    all.push(json!({"type": "message_stop"}));
    message["content"] = json!([block]);
    message["stop_reason"] = json!("compaction");
    (message, all)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever takes a broken block for a summary loses all that was said before it.
    #[test]
    fn a_block_of_ours_that_is_broken_stands_for_nothing() {
        let item = item::sealed(r#"[{"role":"user","content":"All of it."}]"#);
        let shown = |block: Value| {
            let messages = json!([
                {"role": "user", "content": "First."},
                {"role": "assistant", "content": [block]},
                {"role": "user", "content": "Second."},
            ]);
            let messages: Raws = serde_json::from_value(messages).expect("a list");
            expanded(&messages, false, 1_000).map(|all| list_of(&all))
        };
        let block = |sealed: &str, words: &str| {
            shown(json!({"type": "compaction", "content": words, "signature": sealed}))
        };
        let whole = block(&item, WHOLE).expect("it is whole");
        assert!(whole.contains("All of it.") && !whole.contains("First."), "{whole}");
        let theirs = block("AAAA", "The port is 8042.").expect("a summary of theirs");
        assert!(theirs.contains("8042") && !theirs.contains("First."), "{theirs}");
        for sealed in [&item[..item.len() - 6], "epitome.v2.AAAA", ""] {
            assert_eq!(block(sealed, WHOLE), None, "{sealed}");
        }
    }
}
