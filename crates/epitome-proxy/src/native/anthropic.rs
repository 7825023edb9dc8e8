//! Anthropic's compactions: at a threshold (`compact_20260112`) and on demand (`compaction`).

use epitome::checkpoint::begins_like_one;
use epitome::transcript::ContentId;
use serde_json::{Value, json};

use super::members::{Members, Raws, list_of, raw};
use super::{Ask, IN_PART, Invalid, Packed, WHOLE, clearing, invalid, item};

/// Tokens at which a threshold lies that isn't told.
const USUAL_THRESHOLD: u64 = 150_000;

const THRESHOLD: &str = "compact-2026-01-12";
const ON_DEMAND: &str = "compact-2026-09-04";

/// The betas that name what is done here.
pub(crate) const BETAS: [&str; 2] = [THRESHOLD, ON_DEMAND];

/// The name of the edit that compacts at a threshold.
const EDIT: &str = "compact_20260112";

/// Why a request that names no beta for what it asks for is refused, as its provider does it (PROVIDERS.md B.1.5).
pub(super) fn unnamed(members: &Members, betas: &[String]) -> Option<Invalid> {
    let in_body = ["anthropic_beta", "betas"].map(|name| members.get::<Vec<String>>(name));
    let in_body: Vec<String> = in_body.into_iter().flatten().flatten().collect();
    let has = |beta: &str| betas.iter().chain(&in_body).any(|named| named == beta);
    let extra = |name: &str| invalid("beta", format!("{name}: Extra inputs are not permitted"));
    if members.raw("compaction").is_some() && !has(ON_DEMAND) {
        return Some(extra("compaction"));
    }
    let management: Value = members.get("context_management")?;
    if !has(clearing::BETA) && !has(THRESHOLD) {
        return Some(extra("context_management"));
    }
    let at = management["edits"].as_array()?.iter().position(|edit| edit["type"] == EDIT)?;
    (!has(THRESHOLD)).then(|| {
        let what = format!(
            "context_management.edits.{at}: Input tag '{EDIT}' found using 'type' does not match any of the expected tags: \
             'clear_thinking_20251015', 'clear_tool_uses_20250919'"
        );
        invalid("beta", what)
    })
}

/// Why a compaction on demand is refused beside what else a request says (PROVIDERS.md B.1.5).
pub(super) fn unfit(members: &Members) -> Option<Invalid> {
    let at = |name: &str| members.get::<Value>(name).unwrap_or_default();
    let is_forced = ["any", "tool"].iter().any(|kind| at("tool_choice")["type"] == *kind);
    let output = at("output_config");
    let beside = [
        ("stop_sequences", at("stop_sequences").as_array().is_some_and(|all| !all.is_empty())),
        ("tool_choice", is_forced),
        ("output_config.format", !output["format"].is_null()),
        ("output_config.task_budget.remaining", !output["task_budget"]["remaining"].is_null()),
        ("context_management", members.raw("context_management").is_some()),
    ];
    let (name, _) = beside.into_iter().find(|(_, is_there)| *is_there)?;
    members.raw("compaction")?;
    Some(invalid("compaction", format!("{name}: not supported together with `compaction`")))
}

/// Takes what a request asks for out of it.
pub(super) fn ask(members: &mut Members) -> Option<Ask> {
    let demand: Option<Value> = members.get("compaction");
    if demand.is_some_and(|demand| demand["type"] == "summarize") {
        members.remove("compaction");
        return Some(Ask { over: None, is_alone: true });
    }
    let mut management: Value = members.get("context_management")?;
    let edits = management["edits"].as_array_mut()?;
    let taken: Vec<Value> = edits.extract_if(.., |edit| edit["type"] == EDIT).collect();
    let edit = taken.last()?;
    if edits.is_empty() {
        members.remove("context_management");
    } else {
        members.set("context_management", management.to_string());
    }
    let over = edit["trigger"]["value"].as_u64().unwrap_or(USUAL_THRESHOLD);
    Some(Ask { over: Some(over), is_alone: edit["pause_after_compaction"] == true })
}

/// The messages, with the content of the last block in place of everything before it; `None` if nothing changes. Foreign
/// blocks are only read if their provider doesn't do it. An altered block of ours is refused.
pub(super) fn expanded(
    messages: &Raws,
    has_native: bool,
    most: usize,
) -> Result<Option<Raws>, Invalid> {
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
        let Standing::For(mut all) = all else {
            let what = format!(
                "messages.{at}.content.{nth}: Invalid `signature` in `compaction` block: it isn't as it was given. Send it \
                 byte for byte, with its `encrypted_content` or `signature`, or the messages that it stands for"
            );
            return Err(invalid("compaction_signature_invalid", what));
        };
        let rest: Raws = blocks[nth + 1..].to_vec();
        if !rest.is_empty() {
            message.set("content", list_of(&rest));
            all.push(raw(message.to_string()));
        }
        all.extend(messages[at + 1..].iter().cloned());
        return Ok(Some(all));
    }
    Ok(None)
}

/// What a block stands for.
enum Standing {
    /// These messages.
    For(Raws),
    /// What nobody knows: it was altered.
    Broken,
}

/// The messages that a block stands for.
fn stands_for(block: &str, has_native: bool, most: usize) -> Option<Standing> {
    let block: Value = serde_json::from_str(block).ok()?;
    if block["type"] != "compaction" {
        return None;
    }
    let sealed = ["encrypted_content", "signature"].map(|name| block[name].as_str());
    let words = block["content"].as_str().unwrap_or_default();
    // The content of an unreadable block of ours is unknown: its words are no summary.
    if let Some(own) = sealed.into_iter().flatten().find(|sealed| sealed.starts_with(item::OURS)) {
        return Some(item::opened(own, words, most).map_or(Standing::Broken, Standing::For));
    }
    // Words of ours without what they came with. They tell of what was folded, and of nothing that was kept.
    if [WHOLE, IN_PART].contains(&words) || begins_like_one(words) {
        return Some(Standing::Broken);
    }
    if words.is_empty() || has_native {
        return None;
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
    fn a_block_of_ours_that_was_altered_is_refused() {
        let item = item::sealed(r#"[{"role":"user","content":"All of it."}]"#, WHOLE);
        let shown = |block: Value| {
            let messages = json!([
                {"role": "user", "content": "First."},
                {"role": "assistant", "content": [block]},
                {"role": "user", "content": "Second."},
            ]);
            let messages: Raws = serde_json::from_value(messages).expect("a list");
            expanded(&messages, false, 1_000).map(|all| all.as_ref().map(list_of))
        };
        let block = |sealed: &str, words: &str| {
            shown(json!({"type": "compaction", "content": words, "signature": sealed}))
        };
        let whole = block(&item, WHOLE).expect("it is whole").expect("it is one");
        assert!(whole.contains("All of it.") && !whole.contains("First."), "{whole}");
        let theirs = block("AAAA", "The port is 8042.").expect("it is fine").expect("a summary");
        assert!(theirs.contains("8042") && !theirs.contains("First."), "{theirs}");
        for (sealed, words) in [
            (&item[..item.len() - 6], WHOLE),
            (&item, "Nothing happened."),
            ("epitome.v3.AAAA", WHOLE),
            ("", WHOLE),
            ("", "<checkpoint 0123456789ab>\nEarlier work.\n</checkpoint 0123456789ab>"),
            ("", "\n<checkpoint 0123456789ab>\nEarlier w"),
        ] {
            let why = block(sealed, words).expect_err("nobody knows what it stands for");
            assert_eq!(why.cause, "compaction_signature_invalid", "{sealed}");
        }
    }
}
