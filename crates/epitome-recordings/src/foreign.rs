//! Formats of others that aren't read, known by a few members, and what can be read instead.

use std::borrow::Cow;

use crate::object::{Object, start_of_list};
use crate::rows::{RawRow, rows};

/// A format that isn't read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// What the input is.
    pub(crate) what: &'static str,
    /// A command, with `FILE` for the input, or what else to do.
    pub(crate) instead: &'static str,
}

const BODY: &str = "log the request body that is sent to the provider, and read that";
const CHAT: &str = "write it as a list of messages: [{\"role\": \"user\", \"content\": \"…\"}, …]";

const PYDANTIC: Foreign = Foreign { what: "a dump of Pydantic AI's messages", instead: BODY };
const UI_MESSAGES: Foreign = Foreign {
    what: "a list of the Vercel AI SDK's UI messages",
    instead: "log what convertToModelMessages and the provider make of it: the request body that is sent",
};
const MODEL_MESSAGES: Foreign =
    Foreign { what: "a list of the Vercel AI SDK's model messages", instead: BODY };
const LANGCHAIN: Foreign = Foreign {
    what: "a dump of LangChain's messages",
    instead: "write what convert_to_openai_messages gives as JSON, and read that",
};
const SHAREGPT: Foreign = Foreign { what: "a ShareGPT conversation", instead: CHAT };
const CHATGPT: Foreign = Foreign { what: "an export of ChatGPT", instead: CHAT };
const CLAUDE_AI: Foreign = Foreign { what: "an export of claude.ai", instead: CHAT };
const BATCH_ROWS: Foreign = Foreign {
    what: "a batch of requests, one a line",
    instead: "sed -n 1p FILE | jq .body | epitome stats",
};
const BATCH: Foreign = Foreign {
    what: "a batch of requests",
    instead: "take one out: jq '(.requests[0] // .).params' FILE | epitome stats",
};
const TRAJECTORY: Foreign = Foreign {
    what: "a trajectory around plain messages, as mini-swe-agent writes it",
    instead: "jq .messages FILE | epitome stats",
};
const EMBEDDINGS: Foreign = Foreign {
    what: "a request for embeddings",
    instead: "give it a conversation: there is nothing in this one that could be left out",
};
const REQUESTS: Foreign =
    Foreign { what: "several requests, one a line", instead: "sed -n 1p FILE | epitome stats" };

/// How many rows of a text, and elements of a list, are looked at.
const MOST: usize = 32;

/// What a text is, if it is none of ours. Members tell only where these formats have them: what a tool takes or
/// a message says may look like anything.
pub(crate) fn foreign(text: &str) -> Option<Foreign> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('[') {
        return start_of_list(text, MOST).iter().find_map(item);
    }
    let rows: Vec<RawRow<'_>> = rows(text).take(MOST).collect();
    let on_lines = rows.len() > 1 && rows[0].line != rows[1].line;
    let are_bodies =
        on_lines && rows[..2].iter().all(|row| Object::of(row.text).opens("messages", '['));
    let rows: Vec<Object<'_>> = rows.iter().map(|row| Object::start(row.text)).collect();
    if let [one] = &rows[..]
        && is_for_embeddings(one)
    {
        return Some(EMBEDDINGS);
    }
    rows.iter().find_map(item).or(are_bodies.then_some(REQUESTS))
}

/// What a whole value, a row, or an element of a list of such is.
fn item(object: &Object<'_>) -> Option<Foreign> {
    let is_request = ["messages", "contents", "input"].iter().any(|list| object.opens(list, '['));
    if is_request {
        let messages = object.start_of_list("messages", MOST);
        let is_around = object.opens("info", '{')
            && messages.first().is_some_and(|first| first.opens("role", '"'));
        return if is_around { Some(TRAJECTORY) } else { messages.iter().find_map(message) };
    }
    if object.opens("custom_id", '"') {
        if object.opens("body", '{') {
            return Some(BATCH_ROWS);
        }
        if object.opens("params", '{') {
            return Some(BATCH);
        }
    }
    if object.start_of_list("requests", MOST).iter().any(|one| one.opens("custom_id", '"')) {
        return Some(BATCH);
    }
    if object.start_of_list("conversations", MOST).iter().any(|said| said.opens("from", '"')) {
        return Some(SHAREGPT);
    }
    let nodes = object.object("mapping");
    if nodes.members().take(MOST).any(|(_, node)| Object::of(node).opens("message", '{')) {
        return Some(CHATGPT);
    }
    if object.opens("chat_messages", '[') {
        return Some(CLAUDE_AI);
    }
    message(object)
}

/// What a message is.
fn message(object: &Object<'_>) -> Option<Foreign> {
    let parts = object.start_of_list("parts", MOST);
    if text(object, "kind").starts_with("re")
        && parts.iter().any(|part| part.opens("part_kind", '"'))
    {
        return Some(PYDANTIC);
    }
    if object.opens("role", '"') && parts.iter().any(|part| part.opens("type", '"')) {
        return Some(UI_MESSAGES);
    }
    let is_of_call = |part: &Object<'_>| {
        part.opens("toolCallId", '"') && text(part, "type").starts_with("tool-")
    };
    if object.start_of_list("content", MOST).iter().any(is_of_call) {
        return Some(MODEL_MESSAGES);
    }
    let is_said = ["human", "ai", "system", "tool"].contains(&&*text(object, "type"))
        && object.object("data").get("content").is_some();
    (is_said || object.get("lc") == Some("1") && object.opens("kwargs", '{')).then_some(LANGCHAIN)
}

/// The string called `name`; empty where there is none.
fn text<'a>(object: &Object<'a>, name: &str) -> Cow<'a, str> {
    object.text(name).unwrap_or_default()
}

fn is_for_embeddings(object: &Object<'_>) -> bool {
    let Some(input) = object.get("input") else { return false };
    let first = input.strip_prefix('[').map(str::trim_start);
    match first {
        Some(first) if first.starts_with('"') => true,
        Some(first) if first.starts_with('{') => false,
        _ => text(object, "model").contains("embed") && object.get("tools").is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, what: Option<&str>) {
        assert_eq!(foreign(text).map(|foreign| foreign.what), what, "{text}");
    }

    #[test]
    fn formats_of_others_show_in_their_members() {
        for (text, what) in [
            (
                r#"[{"parts": [{"content": "x", "part_kind": "user-prompt"}], "kind": "request"}]"#,
                "a dump of Pydantic AI's messages",
            ),
            (
                r#"{"id":"chat","messages":[{"id":"m","role":"user","parts":[{"type":"text","text":"x"}]}]}"#,
                "a list of the Vercel AI SDK's UI messages",
            ),
            (
                r#"[{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c","toolName":"f","input":{}}]}]"#,
                "a list of the Vercel AI SDK's model messages",
            ),
            (
                r#"[{"id":"x","conversations":[{"from":"human","value":"x"}]}]"#,
                "a ShareGPT conversation",
            ),
            (
                r#"[{"lc":1,"type":"constructor","id":[],"kwargs":{"content":"hi"}}]"#,
                "a dump of LangChain's messages",
            ),
            (
                r#"{"custom_id":"r","method":"POST","body":{"messages":[]}}"#,
                "a batch of requests, one a line",
            ),
            (r#"{"requests":[{"custom_id":"r","params":{"messages":[]}}]}"#, "a batch of requests"),
            (
                r#"[{"title":"t","mapping":{"root":{"message":null},"a":{"message":{"content":{}}}}}]"#,
                "an export of ChatGPT",
            ),
            (r#"[{"uuid":"u","chat_messages":[{"text":"x"}]}]"#, "an export of claude.ai"),
            (r#"[{"type":"human","data":{"content":"x"}}]"#, "a dump of LangChain's messages"),
            (
                r#"{"info": {}, "messages": [{"role": "system", "content": "x"}]}"#,
                "a trajectory around plain messages, as mini-swe-agent writes it",
            ),
            (r#"{"model":"text-embedding-3-small","input":"x"}"#, "a request for embeddings"),
            (r#"{"model":"m","input":["x","y"]}"#, "a request for embeddings"),
            (
                "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n{\"messages\":[]}\n",
                "several requests, one a line",
            ),
            (
                "{\"model\":\"m\",\"messages\":[]}\n{\"model\":\"m\",\"messages\":[]}\n",
                "several requests, one a line",
            ),
        ] {
            check(text, Some(what));
        }
    }

    /// What a tool takes, what it was given and what stands around may be called as foreign members are.
    #[test]
    fn members_of_others_within_a_request_tell_nothing() {
        let within = [
            r#"{"mapping":{"a":{"message":{}}},"message":{}}"#,
            r#"{"custom_id":"r","params":{},"body":{}}"#,
            r#"{"requests":[{"custom_id":"r","params":{}}]}"#,
            r#"{"chat_messages":[]}"#,
            r#"{"conversations":[{"from":"human"}]}"#,
            r#"{"lc":1,"kwargs":{}}"#,
            r#"{"type":"human","data":{"content":"x"}}"#,
            r#"{"parts":[{"type":"x","part_kind":"user-prompt"}],"kind":"request","role":"x"}"#,
            r#"{"role":"x","content":[{"type":"tool-call","toolCallId":"c"}]}"#,
            r#"{"input":["x","y"],"model":"text-embedding-3-small"}"#,
        ];
        for within in within {
            check(
                &format!(
                    r#"{{"messages":[{{"role":"user","content":"x"}}],"metadata":{within},"tools":[{{"input_schema":{{"properties":{within}}}}}]}}"#
                ),
                None,
            );
            check(
                &format!(
                    r#"{{"messages":[{{"role":"assistant","content":[{{"type":"tool_use","id":"c","name":"f","input":{within}}}]}}]}}"#
                ),
                None,
            );
            check(
                &format!(
                    r#"{{"input":[{{"type":"message","role":"user","content":"x"}}],"metadata":{within}}}"#
                ),
                None,
            );
            check(
                &format!(
                    r#"{{"contents":[{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":{within}}}}}]}}]}}"#
                ),
                None,
            );
        }
    }

    #[test]
    fn requests_are_not_foreign() {
        for text in [
            r#"{"messages":[{"role":"user","content":"{\"part_kind\":\"x\",\"kind\":\"request\"}"}]}"#,
            r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}],"tools":[{"functionDeclarations":[{"parameters":{"type":"OBJECT"}}]}]}"#,
            r#"{"model":"gpt-5","input":"Which embeddings are best?"}"#,
            r#"{"model":"m","input":[{"role":"user","content":"x"}]}"#,
            "{\"role\":\"user\",\"content\":\"x\"}\n{\"role\":\"assistant\",\"content\":\"y\"}",
        ] {
            check(text, None);
        }
    }
}
