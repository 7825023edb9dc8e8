//! Whether a request asks for a summary with which its client begins anew.
//!
//! Agents compact by themselves: they send all of a conversation, with a last message that asks for its summary, and begin
//! another one with the answer. Codex says so beside the messages. Codex, opencode and Gemini CLI offer no tools then, though
//! there were some. Claude Code keeps them, so that its prompt stays in the cache, and pi sends all in one message: what is left
//! there are the words. A mistake costs little: a prompt that fits is sent as it was last shown, and the next one is looked at
//! as ever.

use epitome::session::Intent;
use epitome::transcript::{Entry, Part, PartKind};
use epitome::{Format, Request};
use http::HeaderMap;
use memchr::memmem;

/// Headers of Codex, and what they say then.
const HEADERS: [(&str, &str); 2] =
    [("x-codex-turn-metadata", r#""request_kind":"compaction""#), ("x-openai-subagent", "compact")];

/// The same beside the messages of a body, as a string.
const IN_BODY: &str = r#"\"request_kind\":\"compaction\""#;

/// What is asked for, and of what: both are said, one near the other.
const SUMMARY: [&str; 6] = ["summar", "compaction", "condense", "handoff", "hand-off", "snapshot"];
const OF: [&str; 6] = ["conversation", "session", "history", "transcript", "context", "scratchpad"];
const NEAR: usize = 80;

/// Of a long message, the bytes at its beginning and end that are looked at: what is asked stands there.
const LOOKED_AT: usize = 2_000;

/// What a request wants of its model.
pub(crate) fn intent(headers: &HeaderMap, request: &Request) -> Intent {
    let Some(last) = request.transcript.entries().next_back() else { return Intent::Step };
    let words: Vec<_> = last.parts().filter(is_said).map(|part| part.text()).collect();
    let is_summary = !words.is_empty()
        && (is_marked(headers, request)
            || has_no_tools_left(request)
            || words.iter().any(|text| asks_for_one(text)));
    if is_summary { Intent::Summary } else { Intent::Step }
}

/// Whether a person, or the client in that role, says it.
fn is_said(part: &Part<'_>) -> bool {
    part.is_human() && part.kind() == PartKind::Text
}

fn is_marked(headers: &HeaderMap, request: &Request) -> bool {
    let says = |(name, words): (&str, &str)| {
        let mut values = headers.get_all(name).iter();
        values.any(|value| memmem::find(value.as_bytes(), words.as_bytes()).is_some())
    };
    let source = request.source().as_str();
    let messages = request.frame.list.range();
    let mut beside = [&source[..messages.start], &source[messages.end..]].into_iter();
    HEADERS.into_iter().any(says)
        || request.format == Format::OpenaiResponses
            && beside.any(|text| memmem::find(text.as_bytes(), IN_BODY.as_bytes()).is_some())
}

/// Whether tools were called, and none may be called now.
fn has_no_tools_left(request: &Request) -> bool {
    let none = request.tools().is_none_or(|tools| matches!(tools, "[]" | "null"));
    none && request.transcript.entries().any(|entry: Entry<'_>| entry.has_calls())
}

fn asks_for_one(text: &str) -> bool {
    let ends = if text.len() <= 2 * LOOKED_AT {
        [text, ""]
    } else {
        let (begin, end) = (LOOKED_AT, text.len() - LOOKED_AT);
        [&text[..text.floor_char_boundary(begin)], &text[text.ceil_char_boundary(end)..]]
    };
    let said = ends.join("\n").to_lowercase();
    let near = |at: usize| {
        let end = said.ceil_char_boundary((at + NEAR).min(said.len()));
        &said[said.floor_char_boundary(at.saturating_sub(NEAR))..end]
    };
    let is_of_one = |at: usize| OF.iter().any(|of| near(at).contains(of));
    SUMMARY.iter().any(|word| said.match_indices(word).any(|(at, _)| is_of_one(at)))
}

#[cfg(test)]
mod tests {
    use epitome::wire;
    use http::HeaderValue;
    use serde_json::json;
    use testkit::captures::Capture;

    use super::*;

    /// A step of an agent with a tool, which says this.
    fn step(text: &str) -> Request {
        let tool = json!({"type": "function", "function": {"name": "f"}});
        let body = json!({"messages": [{"role": "user", "content": text}], "tools": [tool]});
        wire::parse(Format::OpenaiChat, body.to_string()).expect("a body")
    }

    #[test]
    fn of_what_real_clients_sent_two_ask_for_a_summary() {
        let mut found = Vec::new();
        for capture in Capture::all() {
            for sent in &capture.requests {
                let Ok(request) = wire::parse(sent.format(), sent.body.clone()) else { continue };
                if intent(&HeaderMap::new(), &request) == Intent::Summary {
                    found.push(format!("{}/{}", capture.name, sent.file));
                    // Each sign of it alone suffices.
                    let body = &sent.body;
                    let signs = [
                        body.replace(IN_BODY, ""),
                        body.replace(r#""tools":[]"#, r#""tools":[{}]"#),
                    ];
                    for body in signs {
                        let request = wire::parse(sent.format(), body).expect("a body");
                        assert_eq!(intent(&HeaderMap::new(), &request), Intent::Summary);
                    }
                }
            }
        }
        found.sort();
        assert_eq!(found, ["codex/code-mode/05.json", "codex/tools/05.json"]);
    }

    #[test]
    fn words_tell_it_where_nothing_else_does() {
        let history = "It compiles. ".repeat(1_000);
        for text in [
            "Your task is to create a detailed summary of the conversation so far.",
            "Your task is to create a detailed summary of the RECENT portion of the conversation.",
            "You are performing a CONTEXT CHECKPOINT COMPACTION.",
            "First, reason in your scratchpad. Then, generate the <state_snapshot>.",
            "Create a new anchored summary from the conversation history.",
            &format!("<conversation>{history}</conversation>\nThe conversation to summarize."),
            &format!("Condense the session. {history}"),
        ] {
            assert_eq!(intent(&HeaderMap::new(), &step(text)), Intent::Summary, "{text}");
        }
        for text in [
            "Now add a test for the summary.",
            "The session ends too early.",
            &format!("{history} Create a summary of the conversation. {history}"),
            &format!("A summary. {} The conversation.", "and so on ".repeat(20)),
        ] {
            assert_eq!(intent(&HeaderMap::new(), &step(text)), Intent::Step, "{text}");
        }
    }

    #[test]
    fn headers_tell_it_and_words_of_the_conversation_do_not() {
        let with = |name: &'static str, value: &'static str| {
            HeaderMap::from_iter([(name.parse().expect("a name"), HeaderValue::from_static(value))])
        };
        for (name, value, is_so) in [
            ("x-codex-turn-metadata", r#"{"request_kind":"compaction","turn_id":"a"}"#, true),
            ("x-codex-turn-metadata", r#"{"request_kind":"turn"}"#, false),
            ("x-openai-subagent", "compact", true),
            ("x-openai-subagent", "review", false),
        ] {
            let is = intent(&with(name, value), &step("Go on.")) == Intent::Summary;
            assert_eq!(is, is_so, "{name}: {value}");
        }
        let quoted =
            json!({"input": [{"role": "user", "content": r#""request_kind":"compaction""#}]});
        let request = wire::parse(Format::OpenaiResponses, quoted.to_string()).expect("a body");
        assert_eq!(intent(&HeaderMap::new(), &request), Intent::Step);
    }

    #[test]
    fn a_result_is_no_question() {
        let body = json!({"messages": [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "tool_calls": [{"id": "a", "type": "function",
                "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "A summary of the conversation."},
        ]});
        let of = |body: &serde_json::Value| {
            let request = wire::parse(Format::OpenaiChat, body.to_string()).expect("a body");
            intent(&HeaderMap::new(), &request)
        };
        assert_eq!(of(&body), Intent::Step);
        // Tools were called, and none is offered any more.
        let mut asked = body;
        let messages = asked["messages"].as_array_mut().expect("a list");
        messages.push(json!({"role": "user", "content": "What came of it?"}));
        assert_eq!(of(&asked), Intent::Summary);
    }
}
