//! Recall offered to the model itself: its tools are added to a request that has tools, and calls of them are answered here.
//!
//! The client sees one reply. Calls of these tools are neither in it nor in its history afterwards, so that its requests stay
//! valid on every proxy. The model's other calls in the same round are dropped before anybody makes them; the model makes them
//! again with the result.

mod anthropic;
mod chat;
mod gemini;
mod interactions;
mod request;
mod responses;
mod smaller;
mod verbatim;
mod voice;
mod woven;

use std::sync::Arc;

use epitome::Format;
use epitome::archive::{GET, SEARCH};
use epitome_server::Recalls;
use serde_json::Value;

use crate::recall::Recall;
pub(crate) use request::offered;
use voice::{RecallCall, Voice};
pub(crate) use woven::{Followed, Woven, whole};

/// How often a model is asked again in one turn; the last time it may only speak.
const MOST_ROUNDS: usize = 8;

/// The maximum bytes of answers in one round: they must fit beside the prompt.
const MOST_ANSWERED: usize = 48 * 1024;

/// Whether it is a tool of ours.
fn is_ours(name: &str) -> bool {
    [SEARCH, GET].contains(&name)
}

/// Hears the replies of an API.
pub(crate) fn voice(format: Format) -> Box<dyn Voice> {
    match format {
        Format::Anthropic => Box::<anthropic::Messages>::default(),
        Format::OpenaiChat => Box::<chat::Chat>::default(),
        Format::Gemini => Box::<gemini::Contents>::default(),
        Format::GeminiInteractions => Box::<interactions::Interactions>::default(),
        _ => Box::<responses::Responses>::default(),
    }
}

/// What the calls find; takes a while.
fn answered(
    recall: &Arc<Recall>,
    owner: &Arc<str>,
    calls: Vec<RecallCall>,
) -> Vec<(RecallCall, Result<String, String>)> {
    let recalls: Recalls = recall.recalls(owner);
    let mut left = MOST_ANSWERED;
    let answer = |call: RecallCall| {
        let arguments = if call.arguments.trim().is_empty() { "{}" } else { &call.arguments };
        let answer = match serde_json::from_str::<Value>(arguments) {
            Ok(Value::Object(arguments)) => recalls.answer(&call.name, &arguments),
            _ => Err("The arguments aren't a JSON object.".to_owned()),
        };
        let answer = match answer {
            Ok(text) if text.len() > left => {
                Err("There is no room for all of this: recall less, or one thing at a time."
                    .to_owned())
            }
            answer => answer,
        };
        left -= answer.as_ref().map_or(0, String::len);
        (call, answer)
    };
    calls.into_iter().map(answer).collect()
}

#[cfg(test)]
mod tests {
    use epitome::word_list::words;
    use serde_json::json;

    use super::verbatim::Verbatim;
    use super::*;

    const APIS: [Format; 5] = [
        Format::Anthropic,
        Format::OpenaiChat,
        Format::OpenaiResponses,
        Format::Gemini,
        Format::GeminiInteractions,
    ];

    /// A reply that recalls, as one and in events.
    fn recalling(format: Format) -> (Value, Vec<Value>) {
        let call = json!({"type": "tool_use", "id": "a", "name": SEARCH, "input": {}});
        let function = json!({"name": SEARCH, "arguments": "{}"});
        let item =
            json!({"type": "function_call", "call_id": "a", "name": SEARCH, "arguments": "{}"});
        match format {
            Format::Anthropic => {
                let started = json!({"type": "content_block_start", "index": u64::MAX, "content_block": call});
                let ended = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
                (json!({"content": [call]}), vec![started, ended])
            }
            Format::OpenaiChat => {
                let call = json!({"index": u64::MAX, "id": "a", "function": function});
                let chunk =
                    |delta, end| json!({"choices": [{"delta": delta, "finish_reason": end}]});
                let events = vec![
                    chunk(json!({"tool_calls": [call]}), Value::Null),
                    chunk(json!({}), json!("tool_calls")),
                ];
                (json!({"choices": [{"message": {"content": "a", "tool_calls": [call]}}]}), events)
            }
            Format::Gemini => {
                let part = json!({"functionCall": {"name": SEARCH}});
                let reply = |end| json!({"candidates": [{"content": {"parts": [part]}, "finishReason": end}]});
                (reply(json!("STOP")), vec![reply(Value::Null), reply(json!("STOP"))])
            }
            Format::GeminiInteractions => {
                let step =
                    json!({"type": "function_call", "id": "a", "name": SEARCH, "arguments": {}});
                let of_step = |name: &str| json!({"event_type": format!("step.{name}"), "index": u64::MAX, "step": step});
                let completed = json!({"event_type": "interaction.completed", "interaction": {}});
                (json!({"steps": [step]}), vec![of_step("start"), of_step("stop"), completed])
            }
            _ => {
                let of_item = |name: &str| json!({"type": format!("response.output_item.{name}"), "output_index": u64::MAX, "item": item});
                let completed = json!({"type": "response.completed", "response": {}});
                (json!({"output": [item]}), vec![of_item("added"), of_item("done"), completed])
            }
        }
    }

    /// What somebody may say who means no good, or is broken.
    fn odd() -> Vec<Value> {
        let mut all: Vec<Value> = ["null", "1", "\"a\"", "[]", "{}"]
            .iter()
            .map(|it| serde_json::from_str(it).expect("JSON"))
            .collect();
        let members = words!(
            "content content_block choices delta id index interaction item message output \
             output_index response step steps tool_calls usage"
        );
        let kinds = words!(
            "content_block_start content_block_delta content_block_stop message_start \
             message_delta response.completed response.created response.output_item.added \
             response.output_item.done step.start step.delta step.stop interaction.created \
             interaction.completed"
        );
        for value in all.clone() {
            for kind in kinds {
                all.extend(members.map(
                    |member| json!({"type": kind, "event_type": kind, "index": 0, "output_index": 0, member: value}),
                ));
            }
            all.push(json!({"candidates": [value], "usageMetadata": value, "responseId": value}));
            all.push(json!({"candidates": [{"content": value, "finishReason": value}]}));
            for part in
                [&value, &json!({"functionCall": value}), &json!({"text": "a", "thought": value})]
            {
                all.push(json!({"candidates": [{"content": {"parts": [part, value]}}]}));
            }
            for (kind, member) in [
                ("created", "interaction"),
                ("status_update", "status"),
                ("completed", "interaction"),
            ] {
                all.push(json!({"event_type": format!("interaction.{kind}"), member: value}));
            }
            for piece in words!("text text_annotation_delta thought_summary image other") {
                let delta =
                    json!({"type": piece, "text": value, "annotations": [value], "content": value});
                all.push(json!({"event_type": "step.delta", "index": 0, "delta": delta}));
            }
            all.push(json!({"choices": [value]}));
            all.push(json!({"choices": [{"delta": value, "message": value}]}));
            all.push(json!({"choices": [{"delta": {"tool_calls": [value]}, "message": {"tool_calls": value}}]}));
            all.push(json!({"type": "content_block_delta", "index": 0, "delta": {"text": "a", "citation": {}, "partial_json": "1"}}));
        }
        all
    }

    #[test]
    fn whatever_an_upstream_says_ends_no_stream() {
        for format in APIS {
            for has_recalled in [false, true] {
                let mut whole = voice(format);
                let mut streamed = voice(format);
                if has_recalled {
                    let (reply, events) = recalling(format);
                    assert_eq!(whole.whole(reply.into()), None, "{format}");
                    assert!(whole.round().is_some());
                    for event in events {
                        assert_eq!(streamed.event(&format!("data: {event}\n\n")), "", "{format}");
                    }
                    assert!(streamed.recalls_wholly() && streamed.round().is_some(), "{format}");
                }
                for said in odd() {
                    streamed.event(&format!("data: {said}\n\n"));
                    if said.is_object() {
                        whole.whole(said.into());
                    }
                }
                streamed.rest();
            }
        }
    }

    /// A reply that calls the client's tool with these arguments, and the events of a stream that does.
    fn calling(format: Format, arguments: &str) -> (String, Vec<String>) {
        let quoted = json!(arguments);
        let event = |text: String| vec![text];
        match format {
            Format::Anthropic => {
                let call =
                    format!(r#"{{"type":"tool_use","id":"b","name":"run","input":{arguments}}}"#);
                let begun =
                    format!(r#"{{"type":"content_block_start","index":0,"content_block":{call}}}"#);
                let ended = r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#;
                (format!(r#"{{"content":[{call}]}}"#), vec![begun, ended.to_owned()])
            }
            Format::OpenaiChat => {
                let call = format!(
                    r#"{{"id":"b","index":0,"function":{{"name":"run","arguments":{quoted}}}}}"#
                );
                let reply = |name: &str| {
                    format!(
                        r#"{{"choices":[{{"{name}":{{"tool_calls":[{call}]}},"finish_reason":"tool_calls"}}]}}"#
                    )
                };
                (reply("message"), event(reply("delta")))
            }
            Format::Gemini => {
                let part = format!(r#"{{"functionCall":{{"name":"run","args":{arguments}}}}}"#);
                let reply = format!(
                    r#"{{"candidates":[{{"content":{{"parts":[{part}]}},"finishReason":"STOP"}}]}}"#
                );
                (reply.clone(), event(reply))
            }
            Format::GeminiInteractions => {
                let step = format!(
                    r#"{{"type":"function_call","id":"b","name":"run","arguments":{arguments}}}"#
                );
                let begun = format!(r#"{{"event_type":"step.start","index":0,"step":{step}}}"#);
                let ended = format!(
                    r#"{{"event_type":"interaction.completed","interaction":{{"steps":[{step}]}}}}"#
                );
                (format!(r#"{{"steps":[{step}]}}"#), vec![begun, ended])
            }
            _ => {
                let item = format!(
                    r#"{{"type":"function_call","call_id":"b","name":"run","arguments":{quoted}}}"#
                );
                let done = format!(
                    r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#
                );
                let ended = r#"{"type":"response.completed","response":{}}"#;
                (format!(r#"{{"output":[{item}]}}"#), vec![done, ended.to_owned()])
            }
        }
    }

    #[test]
    fn a_call_behind_a_recall_keeps_its_bytes() {
        let arguments = r#"{"path": "\u0061", "id":12345678901234567890123,  "amount":1.10}"#;
        for format in APIS {
            let (reply, events) = recalling(format);
            let (call, call_events) = calling(format, arguments);
            let text = |json: &str| Verbatim::read(json).expect("JSON");
            let is_told = |told: &str| {
                assert!(
                    told.contains(arguments) || told.contains(&json!(arguments).to_string()),
                    "{format}: {told}"
                );
            };
            let mut whole = voice(format);
            assert_eq!(whole.whole(reply.into()), None, "{format}");
            let round = whole.round();
            assert!(round.is_some() && whole.round().is_none());
            is_told(&whole.whole(text(&call)).expect("it recalls no more").to_string());

            let mut streamed = voice(format);
            for event in events {
                streamed.event(&format!("data: {event}\n\n"));
            }
            assert!(streamed.round().is_some());
            let mut told: String = call_events
                .iter()
                .map(|event| streamed.event(&format!("data: {event}\n\n")))
                .collect();
            told += &streamed.rest();
            is_told(&told);
        }
    }

    #[test]
    fn an_event_of_several_lines_stays_one() {
        let mut voice = voice(Format::Gemini);
        let one = "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":\ndata: {\"name\":\"run\"}}]},\ndata: \"finishReason\":\"STOP\"}]}\n\n";
        let held = one.replace(",\ndata: \"finishReason\":\"STOP\"", "");
        assert_eq!(voice.event(&held), "");
        let told = voice.event(one);
        let told = Verbatim::read(&crate::sse::data(&told).expect("an event")).expect("JSON");
        assert_eq!(
            told.value()["candidates"][0]["content"]["parts"].as_array().map(Vec::len),
            Some(2)
        );
    }

    #[test]
    fn an_error_behind_a_call_is_told() {
        for format in APIS {
            let mut voice = voice(format);
            let call = &recalling(format).1[0];
            assert_eq!(voice.event(&format!("data: {call}\n\n")), "", "{format}");
            let error = json!({"type": "error", "event_type": "error", "error": {"message": "no"}});
            let told = voice.event(&format!("data: {error}\n\n"));
            assert!(told.contains(r#""message":"no""#), "{format}: {told}");
        }
    }

    /// The events for the client, and those that go back to the model.
    fn heard(format: Format, events: &[Value]) -> (String, Vec<Value>) {
        let mut voice = voice(format);
        let told = events.iter().map(|event| voice.event(&format!("data: {event}\n\n"))).collect();
        (told, values(&voice.round().expect("it recalls").said))
    }

    fn values(said: &[Verbatim]) -> Vec<Value> {
        said.iter().map(Verbatim::value).collect()
    }

    fn kinds(items: &[Value]) -> Vec<&str> {
        items.iter().filter_map(|item| item["type"].as_str()).collect()
    }

    #[test]
    fn what_a_provider_did_is_told_and_goes_back() {
        let thought = |id: &str| json!({"type": "reasoning", "id": id, "encrypted_content": "x"});
        let call = |kind: &str, name: &str| json!({"type": kind, "call_id": name, "name": name, "arguments": "{}"});
        let made =
            json!({"type": "mcp_call", "id": "m", "name": "create_issue", "output": "created #7"});
        let searched =
            [call("tool_search_call", "t"), json!({"type": "tool_search_output", "call_id": "t"})];
        let bare = json!({"type": "reasoning", "id": "bare", "summary": []});
        let items = [
            thought("a"),
            made,
            searched[0].clone(),
            searched[1].clone(),
            thought("b"),
            call("function_call", "Read"),
            bare,
            call("function_call", SEARCH),
        ];
        let back =
            ["reasoning", "mcp_call", "tool_search_call", "tool_search_output", "function_call"];
        let mut whole = voice(Format::OpenaiResponses);
        assert_eq!(whole.whole(json!({"output": items}).into()), None);
        let said = values(&whole.round().expect("it recalls").said);
        assert_eq!(kinds(&said), back);
        assert_eq!(said[4]["name"], SEARCH);
        let message = json!({"type": "message", "role": "assistant", "content": []});
        assert_eq!(whole.whole(json!({"output": [message, items[7]]}).into()), None);
        let said = values(&whole.round().expect("it recalls").said);
        assert_eq!(kinds(&said), ["function_call"]);
        let more = whole
            .whole(json!({"output": [{"type": "message"}]}).into())
            .expect("it says something");
        let more = more.value();
        let told = words!("reasoning mcp_call tool_search_call tool_search_output message message");
        assert_eq!(kinds(more["output"].as_array().expect("a list")), told);
        assert!(more.get("tools").is_none(), "{more}");

        let mut events = Vec::new();
        for (at, item) in items.iter().enumerate() {
            for name in ["added", "done"] {
                events.push(json!({"type": format!("response.output_item.{name}"), "output_index": at, "item": item}));
            }
        }
        events.push(json!({"type": "response.completed", "response": {}}));
        let (told, said) = heard(Format::OpenaiResponses, &events);
        assert_eq!(kinds(&said), back);
        assert!(told.contains("created #7") && told.contains("tool_search_output"), "{told}");
        assert!(
            !told.contains("Read") && !told.contains(SEARCH) && !told.contains("bare"),
            "{told}"
        );
    }

    #[test]
    fn words_of_an_earlier_round_stay_where_the_last_one_says_nothing() {
        let parts = json!([{"text": "Let me look."}, {"functionCall": {"name": SEARCH}}]);
        let mut whole = voice(Format::Gemini);
        assert_eq!(
            whole.whole(json!({"candidates": [{"content": {"parts": parts}}]}).into()),
            None
        );
        assert!(whole.round().is_some());
        let told = whole.whole(json!({"candidates": [{"finishReason": "SAFETY"}]}).into());
        let told = told.expect("it recalls no more").value();
        assert_eq!(told["candidates"][0]["content"]["parts"], json!([{"text": "Let me look."}]));
    }

    #[test]
    fn words_beside_a_recall_are_told() {
        let start = |at: u64, block: Value| json!({"type": "content_block_start", "index": at, "content_block": block});
        let use_of =
            |name: &str| json!({"type": "tool_use", "id": name, "name": name, "input": {}});
        let delta = |at: u64, delta: Value| json!({"type": "content_block_delta", "index": at, "delta": delta});
        let (told, said) = heard(
            Format::Anthropic,
            &[
                start(0, json!({"type": "compaction", "content": null})),
                delta(0, json!({"type": "compaction_delta", "content": "SUMMARY"})),
                start(1, use_of(SEARCH)),
                start(2, use_of("Read")),
                start(3, json!({"type": "text", "text": ""})),
                delta(3, json!({"type": "text_delta", "text": "Behind it."})),
                json!({"type": "message_delta", "delta": {"container": {"id": "c"}}}),
            ],
        );
        assert!(
            told.contains("Behind it.") && !told.contains("Read") && !told.contains(SEARCH),
            "{told}"
        );
        assert_eq!(said[0]["content"][0]["content"], "SUMMARY");
        assert_eq!(
            kinds(said[0]["content"].as_array().expect("a list")),
            ["compaction", "tool_use", "text"]
        );

        let parts = |parts: Value, end: Value| json!({"candidates": [{"content": {"parts": parts}, "finishReason": end}]});
        let part = |name: &str| json!({"functionCall": {"name": name}});
        let mut signed = part("Read");
        signed["thoughtSignature"] = json!("c2ln");
        let (told, said) = heard(
            Format::Gemini,
            &[
                parts(json!([{"text": "Be"}]), Value::Null),
                parts(json!([{"text": "side it."}, signed]), Value::Null),
                parts(json!([part(SEARCH), {"text": "Behind it."}]), json!("STOP")),
            ],
        );
        assert!(told.contains("side it.") && told.contains("Behind it."), "{told}");
        assert!(!told.contains("Read") && !told.contains(SEARCH), "{told}");
        let mut own = part(SEARCH);
        // The first call of a step must be signed, and the one that was is dropped.
        own["thoughtSignature"] = json!("skip_thought_signature_validator");
        assert_eq!(
            said,
            [
                json!({"role": "model", "parts": [{"text": "Beside it."}, own, {"text": "Behind it."}]})
            ]
        );

        let call = |id: &str, name: &str| json!({"index": 0, "id": id, "extra_content": {"google": id}, "function": {"name": name, "arguments": "{}"}});
        let chunk =
            |delta: Value, end: Value| json!({"choices": [{"delta": delta, "finish_reason": end}]});
        let first = json!({"content": "Beside it.", "reasoning_details": [1], "tool_calls": [call("a", SEARCH)]});
        let second = json!({"reasoning_details": [2], "tool_calls": [call("b", GET)]});
        let (told, said) = heard(
            Format::OpenaiChat,
            &[
                chunk(first, Value::Null),
                chunk(second, Value::Null),
                chunk(json!({}), json!("tool_calls")),
            ],
        );
        assert!(told.contains("Beside it.") && !told.contains("tool_calls\":"), "{told}");
        let calls = said[0]["tool_calls"].as_array().expect("a list");
        assert_eq!(
            (&calls[0]["function"]["name"], &calls[1]["function"]["name"]),
            (&json!(SEARCH), &json!(GET))
        );
        assert_eq!(calls[1]["extra_content"]["google"], "b");
        assert_eq!(said[0]["reasoning_details"], json!([1, 2]));
    }
}
