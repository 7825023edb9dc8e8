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
use epitome_recordings::{Options, Recording, Usage};
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

fn of(options: Options, messages: &[&str]) -> Recording {
    let messages: Vec<Value> = messages.iter().map(|short| message(short)).collect();
    let session = json!({ "info": { "id": "ses" }, "messages": messages });
    recording("opencode", session.to_string(), options)
}

fn check_messages(options: Options, messages: &[&str], want: &[&str]) -> Recording {
    let read = of(options, messages);
    assert_eq!(shown(&read.request), want, "{messages:#?}");
    read
}

#[test]
fn a_reply_holds_its_calls_with_their_results() {
    let read = check_messages(
        LAST,
        &[
            "u1 human Fix it. | +It is broken. | -not this",
            "a1 said > | *Hm. | On it. | !c1=one | !c2~failed | !c3",
            "a2 said Done.",
        ],
        &[
            "human: Fix it. | It is broken.",
            "model: Hm. | On it. | call c1 | call c2 | call c3",
            "tool: c1 = one | c2 = failed | c3 = [Tool execution was interrupted]",
            "model: Done.",
        ],
    );
    assert_eq!((read.request.format, check(&read.request)), (Format::Anthropic, vec![]));
    assert_eq!(read.request.transcript.entry(0).human_text(), "Fix it.");
    let used = Usage { input: 1, cache_read: 3, cache_write: 4, output: 2, ..Usage::default() };
    let usage: Vec<_> = read.usage.iter().map(|one| (one.reply.start, one.usage)).collect();
    assert_eq!(usage, [(1, used), (3, used)]);
}

#[test]
fn a_reply_of_several_steps_is_several_messages() {
    check_messages(
        LAST,
        &["u1 human Fix it.", "a1 said > | One. | !c1=one | > | Two. | !c2^long | > | Done."],
        &[
            "human: Fix it.",
            "model: One. | call c1",
            "tool: c1 = one",
            "model: Two. | call c2",
            "tool: c2 = [Old tool result content cleared]",
            "model: Done.",
        ],
    );
}

const COMPACTED: [&str; 7] = [
    "u1 human Fix it.",
    "a1 said How?",
    "u2 human Well.",
    "a2 said Good.",
    "k1 compact",
    "s1 summary k1 Earlier: it was fixed.",
    "u3 human More.",
];

#[test]
fn a_compactions_summary_stands_for_what_is_before_it() {
    let ask = "injected: What did we do so far?";
    let summary = "model: Earlier: it was fixed.";
    let read = check_messages(LAST, &COMPACTED, &[ask, summary, "human: More."]);
    assert_eq!((read.compactions, read.skipped.len()), (1, 0));
    let all = [
        "human: Fix it.",
        "model: How?",
        "human: Well.",
        "model: Good.",
        ask,
        summary,
        "human: More.",
    ];
    check_messages(WHOLE, &COMPACTED, &all);
    // The tail that it kept stands behind it.
    let mut kept = COMPACTED;
    kept[4] = "k1 compact u2";
    check_messages(LAST, &kept, &[ask, summary, "human: Well.", "model: Good.", "human: More."]);
    kept[4] = "k1 compact lost";
    check_messages(LAST, &kept, &[ask, summary, "human: More."]);
    // One that came to no end compacted nothing.
    let broken = [&COMPACTED[..5], &COMPACTED[6..]].concat();
    assert_eq!(of(LAST, &broken).compactions, 0);
}

#[test]
fn what_failed_was_never_sent_again() {
    let read = check_messages(
        LAST,
        &[
            "u1 human Fix it.",
            "a1 failed Well,",
            "a2 aborted ?Hm.",
            "a3 aborted Well, I",
            "u2 human Go on.",
        ],
        &["human: Fix it.", "model: Well, I", "human: Go on."],
    );
    let rows: Vec<usize> = left_out(&read.skipped).into_iter().map(|(row, _)| row).collect();
    assert_eq!(rows, [2, 3]);
}

#[test]
fn what_was_undone_is_left_out() {
    let messages: Vec<Value> = COMPACTED[..4].iter().map(|short| message(short)).collect();
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
        of(LAST, &["u1 human Fix it. | @", &reply, "u2 human Thanks."])
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
    // Another model's reasoning isn't sent on.
    let read = of(LAST, &["u1 human Hi.", "a1 said@anthropic/old *Hm. | Yes.", "a2 said Ah."]);
    let notes: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes, ["1 × reasoning of another model, not sent on (first in row 2)"]);
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
