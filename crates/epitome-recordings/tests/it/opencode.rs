//! opencode sessions: the shipped export against what the agent sent, and messages in short.
//!
//! A message is `id verb rest`; parts are divided by bars.
//!
//! ```text
//! u1 human Fix it. | +a note      a1 said On it. | !c1=one | !c2~failed | >
//! u2 compact (from u1)            s2 summary u2 Earlier: …
//! ```

use epitome::Format;
use epitome::wire::check;
use serde_json::{Value, json};

use crate::notation::{left_out, shown};
use crate::{LAST, WHOLE, example, recording, sent};

fn message(short: &str) -> Value {
    let (id, rest) = short.split_once(' ').expect("an id and a verb");
    let (verb, text) = rest.split_once(' ').unwrap_or((rest, ""));
    let (verb, model) = verb.split_once('@').unwrap_or((verb, "anthropic/claude"));
    let (provider, name) = model.split_once('/').expect("a provider and a model");
    let model = json!({ "providerID": provider, "modelID": name });
    let mut info = match verb {
        "human" | "compact" => json!({ "role": "user", "model": model }),
        _ => {
            json!({ "role": "assistant", "providerID": provider, "modelID": name, "finish": "stop",
                     "tokens": { "input": 1, "output": 2, "reasoning": 0,
                                 "cache": { "read": 3, "write": 4 } } })
        }
    };
    info["id"] = json!(id);
    let mut text = text;
    match verb {
        "summary" => {
            let (parent, rest) = text.split_once(' ').expect("whose summary it is");
            info["summary"] = json!(true);
            info["parentID"] = json!(parent);
            text = rest;
        }
        "aborted" => info["error"] = json!({ "name": "MessageAbortedError", "data": {} }),
        "failed" => info["error"] = json!({ "name": "APIError", "data": {} }),
        _ => {}
    }
    let parts: Vec<Value> = match verb {
        "compact" if text.is_empty() => vec![json!({ "type": "compaction", "auto": true })],
        "compact" => vec![json!({ "type": "compaction", "auto": true, "tail_start_id": text })],
        _ => text.split(" | ").filter(|part| !part.is_empty()).map(part).collect(),
    };
    json!({ "info": info, "parts": parts })
}

fn part(short: &str) -> Value {
    let tool = |id: &str, state: Value| json!({ "type": "tool", "tool": "run", "callID": id, "state": state });
    let (mark, rest) = short.split_at(1);
    match mark {
        "+" => json!({ "type": "text", "text": rest, "synthetic": true }),
        "-" => json!({ "type": "text", "text": rest, "ignored": true }),
        ">" => json!({ "type": "step-start" }),
        "?" => json!({ "type": "reasoning", "text": rest }),
        "*" => json!({ "type": "reasoning", "text": rest,
                       "metadata": { "anthropic": { "signature": "sig" } } }),
        "#" => json!({ "type": "reasoning", "text": rest, "metadata": {
                       "openai": { "itemId": "rs_1", "reasoningEncryptedContent": "sealed" } } }),
        "@" => json!({ "type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA" }),
        "%" => json!({ "type": "file", "mime": rest, "url": "file:///a.txt" }),
        "&" => json!({ "type": "agent", "name": rest }),
        "!" => {
            let end = rest.find(['=', '~', '^']).unwrap_or(rest.len());
            let (id, output) = (&rest[..end], rest.get(end + 1..).unwrap_or(""));
            let input = json!({ "a": 1 });
            match rest[end..].chars().next() {
                Some('=') => tool(
                    id,
                    json!({ "status": "completed", "input": input, "time": {},
                                              "output": output }),
                ),
                Some('^') => tool(
                    id,
                    json!({ "status": "completed", "input": input,
                                              "time": { "compacted": 7 }, "output": output }),
                ),
                Some('~') => {
                    tool(id, json!({ "status": "error", "input": input, "error": output }))
                }
                _ => tool(id, json!({ "status": "running", "input": input })),
            }
        }
        _ => json!({ "type": "text", "text": short }),
    }
}

pub(crate) fn file(messages: &[&str]) -> String {
    let messages: Vec<Value> = messages.iter().map(|short| message(short)).collect();
    json!({ "info": { "id": "ses" }, "messages": messages }).to_string()
}

#[test]
fn what_was_undone_is_left_out() {
    let messages = ["u1 human Fix it.", "a1 said How?", "u2 human Well.", "a2 said Good."];
    let messages = messages.map(message);
    let session = json!({ "info": { "revert": { "messageID": "u2" } }, "messages": messages });
    let read = recording("opencode", session.to_string(), LAST);
    assert_eq!(shown(&read.request), ["human: Fix it.", "model: How?"]);
    let left = "on a branch that was left".to_owned();
    assert_eq!(left_out(&read.skipped), [(3, left.clone()), (4, left)]);
    // The list alone, as the server gives it.
    let list = recording("opencode", json!(messages).to_string(), LAST);
    assert_eq!(list.request.transcript.len(), 4);
}

#[test]
fn the_format_is_that_of_the_newest_model() {
    let said = |model: &str, text: &str| {
        let reply = format!("a1 said@{model} {text} | So. | !c1=one");
        recording("opencode", file(&["u1 human Fix it. | @", &reply, "u2 human Thanks."]), LAST)
    };
    for (model, format) in [
        ("anthropic/claude", Format::Anthropic),
        ("openai/gpt-6", Format::OpenaiResponses),
        ("google/gemini-3", Format::Gemini),
        ("opencode/claude-x", Format::Anthropic),
        ("opencode/gemini-3", Format::Gemini),
        ("opencode/kimi", Format::OpenaiChat),
        ("deepseek/chat", Format::OpenaiChat),
    ] {
        let read = said(model, "#Hm.");
        assert_eq!(read.request.format, format, "{model}");
        assert_eq!(check(&read.request), [], "{model}");
        let all = shown(&read.request).join(" ");
        for words in ["Fix it.", "So.", "call c1", "c1 = one", "Thanks."] {
            assert!(all.contains(words), "{model}: {all}");
        }
        let source = read.request.source();
        assert_eq!(source.contains("rs_1"), format == Format::OpenaiResponses, "{model}");
        assert!(source.contains("AAAA"), "{model}");
    }
}

#[test]
fn the_shipped_session_is_what_was_sent() {
    let sent = sent("opencode");
    let source = example("opencode/opencode-words.json");
    let messages = |options| -> Vec<Value> {
        let read = recording("opencode", source.clone(), options);
        assert_eq!(check(&read.request), []);
        let body: Value = serde_json::from_str(read.request.source()).expect("a body");
        body["messages"].as_array().expect("messages").clone()
    };
    // What was sent last, and the reply to it.
    let (last, after) = (messages(LAST), sent["after it"].as_array().expect("messages").clone());
    assert_eq!(last[..after.len()], after);
    assert_eq!(last.len(), after.len() + 1);
    let (whole, before) = (messages(WHOLE), &sent["before the compaction"]);
    assert_eq!(
        whole[..before.as_array().expect("messages").len()],
        *before.as_array().expect("list")
    );
}
