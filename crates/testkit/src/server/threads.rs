//! Anthropic's message threads: conversations that the provider holds, by the id of their newest answer.
//!
//! As the official SDKs describe them (`thread_create_params`, `thread_continue_params`, `lib/threads`):
//! `{"type": "create"}` asks for one, `{"type": "continue", "previous_message_id": …}` sends only what is new;
//! `system` and `tools` are the created thread's, and a request that repeats them is refused.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::Api;
use super::error::ApiError;
use super::rules::text;

/// The beta that lets a request say `thread`.
pub(super) const BETA: &str = "message-threads-2026-08-12";
/// What belongs to a thread from its beginning on.
const OF_THE_THREAD: [&str; 2] = ["system", "tools"];

/// Conversations, each with its newest answer.
#[derive(Debug, Default)]
pub(super) struct Threads {
    held: HashMap<String, Value>,
}

impl Threads {
    /// The whole request that a continuing one stands for; itself, where it doesn't continue.
    pub(super) fn whole(&self, body: Value) -> Result<Value, ApiError> {
        let thread = &body["thread"];
        if text(&thread["type"]) != "continue" {
            return Ok(body);
        }
        if let Some(key) = OF_THE_THREAD.into_iter().find(|key| !body[*key].is_null()) {
            return Err(ApiError::invalid(
                Api::Anthropic,
                format!("{key}: cannot be given when a thread is continued"),
            ));
        }
        let id = text(&thread["previous_message_id"]);
        let held = self.held.get(id).ok_or_else(|| {
            ApiError::new(Api::Anthropic, 404, format!("thread: no thread is held for '{id}'"))
                .code("thread_not_found")
        })?;
        let mut whole = body.clone();
        for key in OF_THE_THREAD {
            if let Some(value) = held.get(key) {
                whole[key] = value.clone();
            }
        }
        let said = [held, &body].into_iter().filter_map(|part| part["messages"].as_array());
        whole["messages"] = said.flatten().cloned().collect();
        Ok(whole)
    }

    /// Holds a whole request with its answer, if it asked for that.
    pub(super) fn hold(&mut self, whole: &Value, answer: &Value) {
        let (true, Some(id)) = (whole["thread"].is_object(), answer["id"].as_str()) else { return };
        let mut held = whole.clone();
        if let Some(messages) = held["messages"].as_array_mut() {
            messages.push(json!({"role": "assistant", "content": answer["content"]}));
        }
        self.held.insert(id.to_owned(), held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_goes_on_from_its_newest_answer() {
        let mut threads = Threads::default();
        let user = json!({"role": "user", "content": "Go."});
        let first = json!({"system": "s", "thread": {"type": "create"}, "messages": [user]});
        let answer = json!({"id": "msg_1", "content": [{"type": "text", "text": "Gone."}]});
        threads.hold(&first, &answer);
        let go_on = |id: &str| json!({"thread": {"type": "continue", "previous_message_id": id}, "messages": [user]});
        let whole = threads.whole(go_on("msg_1")).expect("held");
        assert_eq!(whole["system"], "s");
        assert_eq!(whole["messages"].as_array().map(Vec::len), Some(3));
        let lost = threads.whole(go_on("msg_2")).expect_err("never said");
        assert_eq!((lost.status, lost.code.as_deref()), (404, Some("thread_not_found")));
        let mut repeated = go_on("msg_1");
        repeated["tools"] = json!([]);
        assert_eq!(threads.whole(repeated).expect_err("repeats the tools").status, 400);
    }
}
