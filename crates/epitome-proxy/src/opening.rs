//! How a reply opens: some providers accept a prompt, and say behind the status that it is too long.

use epitome::model::overflow::{AnswerKind, PromptOverflow, classify_event};
use epitome::session::PromptReport;
use epitome::word_list::words;
use epitome_tower::{Read, heard, said_error};
use serde_json::Value;
use serde_json::value::RawValue;

/// What came of a reply so far says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Nothing yet.
    Open,
    /// The reply has begun, or failed in another way.
    Over,
    /// The prompt is too long, and nothing was said.
    TooLong(PromptOverflow),
}

/// Events that come before the model says anything.
const BEFORE: [&str; 7] = words!(
    "ping content_block_stop response.created response.queued response.in_progress \
     interaction.created interaction.status_update"
);

/// The most bytes of a stream's opening.
pub(crate) const LONGEST: usize = 1 << 18;

/// The longest whole reply that is read before it is forwarded.
pub(crate) const LONGEST_WHOLE: usize = 1 << 20;

impl Opening {
    /// Of what came so far; an event that isn't whole says nothing.
    pub(crate) fn of(seen: &[u8]) -> Self {
        if seen.len() > LONGEST {
            return Opening::Over;
        }
        let seen = String::from_utf8_lossy(seen).replace("\r\n", "\n").replace('\r', "\n");
        let Some((whole, _)) = seen.rsplit_once("\n\n") else { return Opening::Open };
        let mut report = None;
        let said = whole.split("\n\n").map(|event| Opening::of_event(event, &mut report));
        said.into_iter().find(|opening| *opening != Opening::Open).unwrap_or(Opening::Open)
    }

    /// Of a reply in JSON: an object that is whole, or a list, which may be a stream, by its first object.
    pub(crate) fn of_json(seen: &[u8]) -> Self {
        let said = seen.trim_ascii_start();
        let said = said.strip_prefix(b"[").unwrap_or(said).trim_ascii_start();
        if seen.len() > LONGEST_WHOLE || said.first().is_some_and(|first| *first != b'{') {
            return Opening::Over;
        }
        // It is read only where an object may end.
        if !matches!(seen.trim_ascii_end().last(), Some(b'}' | b']')) {
            return Opening::Open;
        }
        let mut objects = serde_json::Deserializer::from_slice(said).into_iter::<&RawValue>();
        match objects.next() {
            None => Opening::Open,
            Some(Err(error)) if error.is_eof() => Opening::Open,
            Some(Err(_)) => Opening::Over,
            Some(Ok(object)) => match said_error(object.get()) {
                Some(AnswerKind::Overflow(overflow)) => Opening::TooLong(overflow),
                _ => Opening::Over,
            },
        }
    }

    /// Of an event, which adds to what those before it reported.
    fn of_event(event: &str, report: &mut Option<PromptReport>) -> Self {
        let mut data = event.lines().filter_map(|line| line.strip_prefix("data:")).peekable();
        let has_data = data.peek().is_some();
        let data = data.collect::<String>();
        let kind = classify_event(event).or_else(|| said_error(&data));
        match kind {
            Some(AnswerKind::Overflow(overflow)) => return Opening::TooLong(overflow),
            None | Some(AnswerKind::CutShort) => {}
            Some(_) => return Opening::Over,
        }
        if !has_data {
            // A comment, which keeps the connection alive.
            return Opening::Open;
        }
        *report = heard(*report, &data);
        if kind.is_some() {
            // The window was full before the model said anything.
            return match Read::unseen(*report) {
                Read::TooLong(overflow) => Opening::TooLong(overflow),
                Read::Nothing | Read::Prompt(_) => Opening::Over,
            };
        }
        let data: Option<Value> = serde_json::from_str(&data).ok();
        if data.as_ref().is_some_and(is_silent) { Opening::Open } else { Opening::Over }
    }
}

/// Whether nobody sees anything of an event: no text, no reasoning, no call, no end.
fn is_silent(event: &Value) -> bool {
    let kind = event["type"].as_str().or_else(|| event["event_type"].as_str()).unwrap_or_default();
    match kind {
        "message_start" => is_blank(&event["message"]["content"]),
        "content_block_start" => is_begun(&event["content_block"]),
        "content_block_delta" => {
            let says = |(name, value): (&String, &Value)| name != "type" && !is_blank(value);
            event["delta"].as_object().is_some_and(|delta| !delta.iter().any(says))
        }
        "response.output_item.added" => is_begun(&event["item"]),
        "response.content_part.added" | "response.reasoning_summary_part.added" => {
            is_begun(&event["part"])
        }
        "step.start" => is_begun(&event["step"]),
        "" => is_silent_chunk(event),
        kind => BEFORE.contains(&kind),
    }
}

/// Of a Chat Completion, or of what Gemini generates.
fn is_silent_chunk(chunk: &Value) -> bool {
    let is_silent_choice = |choice: &Value| {
        let says = |(name, value): (&String, &Value)| name != "role" && !is_blank(value);
        is_blank(&choice["finish_reason"])
            && choice["delta"].as_object().is_some_and(|delta| !delta.iter().any(says))
    };
    let is_silent_candidate = |candidate: &Value| {
        let says = |(name, value): (&String, &Value)| name != "text" || !is_blank(value);
        let is_silent_part =
            |part: &Value| part.as_object().is_some_and(|part| !part.iter().any(says));
        let parts = candidate["content"]["parts"].as_array();
        is_blank(&candidate["finishReason"])
            && parts.is_none_or(|parts| parts.iter().all(is_silent_part))
    };
    match (chunk["choices"].as_array(), chunk["candidates"].as_array()) {
        (Some(choices), None) => is_blank(&chunk["usage"]) && choices.iter().all(is_silent_choice),
        (None, Some(candidates)) => {
            is_blank(&chunk["promptFeedback"]) && candidates.iter().all(is_silent_candidate)
        }
        _ => false,
    }
}

/// Whether a part of a reply is one of words, and none is there yet.
fn is_begun(part: &Value) -> bool {
    let is_of_words = words!(
        "text thinking message reasoning output_text summary_text reasoning_text model_output \
         thought"
    );
    let words = ["text", "thinking", "content", "summary"];
    part["type"].as_str().is_some_and(|kind| is_of_words.contains(&kind))
        && words.iter().all(|name| is_blank(&part[name]))
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CREATED: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"error\":null}}\n\n";

    #[test]
    fn a_refusal_before_the_first_word_is_found() {
        let failed = "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"context_length_exceeded\",\
                      \"message\":\"Your input exceeds the context window of this model.\"}}}\n\n";
        let llama = "error: {\"code\":400,\"message\":\"the request exceeds the available context size\",\
                     \"type\":\"exceed_context_size_error\",\"n_prompt_tokens\":9,\"n_ctx\":8}\r\n\r\n";
        let bare = llama.replace("\r\n", "\r");
        let words = "This model's maximum context length is 9 tokens. However, your messages resulted in 10 tokens.";
        let [vllm, detail] = [
            format!("data: {{\"object\":\"error\",\"message\":\"{words}\"}}\n\n"),
            format!("data: {{\"detail\":\"{words}\"}}\n\n"),
        ];
        let later = format!(": hello\n\n{CREATED}{failed}");
        for stream in [later, failed.to_owned(), llama.to_owned(), bare, vllm, detail] {
            assert!(matches!(Opening::of(stream.as_bytes()), Opening::TooLong(_)), "{stream}");
            let half = &stream.as_bytes()[..stream.len() - 2];
            assert_eq!(Opening::of(half), Opening::Open, "{stream}");
        }
    }

    #[test]
    fn what_nobody_sees_is_no_word() {
        let silent = [
            r#"{"type":"ping"}"#,
            r#"{"type":"message_start","message":{"content":[],"usage":{"input_tokens":9}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
            r#"{"type":"response.output_item.added","item":{"type":"reasoning","summary":[]}}"#,
            r#"{"type":"response.content_part.added","part":{"type":"output_text","text":"","annotations":[]}}"#,
            r#"{"event_type":"step.start","step":{"type":"thought"}}"#,
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"finish_reason":null}]}"#,
            r#"{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}"#,
            r#"{"candidates":[{"content":{"role":"model","parts":[{"text":""}]}}],"usageMetadata":{"promptTokenCount":9}}"#,
        ];
        let said = [
            r#"{"type":"content_block_start","content_block":{"type":"tool_use","name":"a","input":{}}}"#,
            r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}"#,
            r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
            r#"{"type":"response.output_item.added","item":{"type":"function_call","arguments":""}}"#,
            r#"{"event_type":"step.start","step":{"type":"function_call","arguments":{}}}"#,
            r#"{"choices":[{"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"a"}}]}"#,
            r#"{"choices":[{"delta":{"tool_calls":[{"index":0}]}}]}"#,
            r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":9}}"#,
            r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"a"}}]}}]}"#,
            r#"{"candidates":[{"finishReason":"STOP"}]}"#,
            r#"{"promptFeedback":{"blockReason":"OTHER"}}"#,
        ];
        let failed = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\
                      \"message\":\"prompt is too long: 9 tokens > 8 maximum\"}}\n\n";
        for event in silent {
            let stream = format!("data: {event}\n\n");
            assert_eq!(Opening::of(stream.as_bytes()), Opening::Open, "{event}");
            let stream = format!("{stream}{failed}");
            assert!(matches!(Opening::of(stream.as_bytes()), Opening::TooLong(_)), "{event}");
        }
        for event in said {
            let stream = format!("data: {event}\n\n");
            assert_eq!(Opening::of(stream.as_bytes()), Opening::Over, "{event}");
        }
    }

    #[test]
    fn a_window_that_is_full_before_the_first_word_is_a_refusal() {
        let start = |tokens: u64| {
            format!(
                r#"{{"type":"message_start","message":{{"content":[],"usage":{{"input_tokens":{tokens},"output_tokens":1}}}}}}"#
            )
        };
        let block = [
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
        ];
        let word =
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a"}}"#;
        let full = r#"{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":1}}"#;
        let opening = |start: &str, between: &[&str]| {
            let events = [&[start], between, &[full]].concat();
            let stream = events.iter().map(|event| format!("data: {event}\n\n"));
            Opening::of(stream.collect::<String>().as_bytes())
        };
        for between in [&[][..], &block] {
            let Opening::TooLong(overflow) = opening(&start(9_000), between) else {
                panic!("{between:?}")
            };
            assert_eq!(overflow.tokens(), Some((None, Some(9_001))));
        }
        assert_eq!(opening(&start(9_000), &[block[0], word, block[1]]), Opening::Over);
        // A smaller prompt wouldn't help, or nobody knows how large it was.
        assert_eq!(opening(&start(1), &[]), Opening::Over);
        assert_eq!(opening(r#"{"type":"ping"}"#, &[]), Opening::Over);
    }

    #[test]
    fn a_whole_reply_that_is_a_refusal_is_found_once_it_is_whole() {
        let error =
            r#"{"error":{"code":400,"message":"prompt is too long: 9 tokens > 8 maximum"}}"#;
        for (begin, end) in [("", ""), (" ", "\n"), ("[", ""), ("[ ", "\n]")] {
            let reply = format!("{begin}{error}{end}");
            assert!(matches!(Opening::of_json(reply.as_bytes()), Opening::TooLong(_)), "{reply}");
            for cut in 0..begin.len() + error.len() {
                assert_eq!(Opening::of_json(&reply.as_bytes()[..cut]), Opening::Open, "{cut}");
            }
        }
        for said in [
            r#"{"choices":[{"message":{"content":"prompt is too long: 9 tokens > 8 maximum"}}]}"#,
            r#"{"error":{"code":429,"message":"Rate limit reached"}}"#,
            r#"[{"candidates":[]}"#,
            "words",
            "{7}",
        ] {
            assert_eq!(Opening::of_json(said.as_bytes()), Opening::Over, "{said}");
        }
        assert_eq!(Opening::of_json(&vec![b'{'; LONGEST_WHOLE + 1]), Opening::Over);
    }

    #[test]
    fn any_other_event_ends_the_opening() {
        let word = "data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n";
        let limit = "data: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"Rate limit reached\"}\n\n";
        for said in [word, limit, "data: [DONE]\n\n", "data: what\n\n"] {
            assert_eq!(Opening::of(said.as_bytes()), Opening::Over, "{said}");
            assert_eq!(Opening::of(format!("{CREATED}{said}").as_bytes()), Opening::Over, "{said}");
        }
        assert_eq!(Opening::of(CREATED.as_bytes()), Opening::Open);
        assert_eq!(Opening::of(b""), Opening::Open);
        assert_eq!(Opening::of(&vec![b'a'; LONGEST + 1]), Opening::Over);
    }
}
