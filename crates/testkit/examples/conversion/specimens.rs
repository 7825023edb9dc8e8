//! The smallest bodies that say one thing each.
#![expect(
    clippy::unnecessary_wraps,
    reason = "what a format can't say has no body, for any of them"
)]

use epitome::Format;

use super::settings::{effort, forbidden, forced, one_call, setting};
use epitome::word_list::words;

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ";
const PDF: &str = "JVBERi0xLjQK";

type Say = fn(Format) -> Option<String>;
/// What may be said, and each format's words for it.
pub(crate) const THINGS: [(&str, Say); 32] = [
    ("words", |f| plain(f, "")),
    ("calls and results", |f| Some(pair(f, "ok", ""))),
    ("that a call failed", failed),
    ("image", image),
    ("image by its address", address),
    ("image in a result", shown),
    ("PDF", pdf),
    ("sound", sound),
    ("file that the provider keeps", kept_file),
    ("system text", system),
    ("system text in mid-conversation", reminder),
    ("function", |f| Some(frame(f, &tools(f, ""), &[ask(f)]))),
    ("function with a strict schema", strict),
    ("tool that takes words", words_tool),
    ("tool that must be called", forced),
    ("no tool may be called", forbidden),
    ("one call at a time", one_call),
    ("longest answer", |f| {
        setting(
            f,
            words!(
                "max_completion_tokens max_tokens maxOutputTokens max_output_tokens maxTokens \
                 max_output_tokens"
            ),
            "99",
        )
    }),
    ("temperature", |f| setting(f, ["temperature"; 6], "0.5")),
    ("temperature above 1", |f| {
        setting(f, ["temperature", "", "temperature", "temperature", "", "temperature"], "1.5")
    }),
    ("top-p", |f| setting(f, ["top_p", "top_p", "topP", "top_p", "topP", "top_p"], "0.9")),
    ("top-k", |f| setting(f, ["", "top_k", "topK", "", "", ""], "40")),
    ("words that end the answer", |f| {
        setting(
            f,
            ["stop", "stop_sequences", "stopSequences", "", "stopSequences", "stop_sequences"],
            r#"["END"]"#,
        )
    }),
    ("seed", |f| setting(f, ["seed", "", "seed", "", "", "seed"], "7")),
    ("penalties", |f| setting(f, ["presence_penalty", "", "presencePenalty", "", "", ""], "0.5")),
    ("how long to think", effort),
    ("reasoning", reasoning),
    ("signed reasoning", signed),
    ("the provider's tools", served),
    ("the provider's compaction", compaction),
    ("cache marker", marker),
    ("history elsewhere", elsewhere),
];

pub(super) fn frame(format: Format, members: &str, entries: &[String]) -> String {
    let list = match format {
        Format::Gemini => "contents",
        Format::OpenaiResponses | Format::GeminiInteractions => "input",
        _ => "messages",
    };
    let entries = entries.join(",");
    let comma = if members.is_empty() { "" } else { "," };
    format!(r#"{{{members}{comma}"{list}":[{entries}]}}"#)
}

/// Each side's message of these elements.
fn message(format: Format, side: &str, elements: &str) -> String {
    match (format, side) {
        (Format::Gemini, "assistant") => format!(r#"{{"role":"model","parts":[{elements}]}}"#),
        (Format::Gemini, side) => format!(r#"{{"role":"{side}","parts":[{elements}]}}"#),
        (Format::GeminiInteractions, side) => {
            let kind = if side == "assistant" { "model_output" } else { "user_input" };
            format!(r#"{{"type":"{kind}","content":[{elements}]}}"#)
        }
        (_, side) => format!(r#"{{"role":"{side}","content":[{elements}]}}"#),
    }
}

fn text(format: Format, side: &str, words: &str) -> String {
    match (format, side) {
        (Format::Gemini | Format::Bedrock, _) => format!(r#"{{"text":"{words}"}}"#),
        (Format::OpenaiResponses, "assistant") => {
            format!(r#"{{"type":"output_text","text":"{words}"}}"#)
        }
        (Format::OpenaiResponses, _) => format!(r#"{{"type":"input_text","text":"{words}"}}"#),
        _ => format!(r#"{{"type":"text","text":"{words}"}}"#),
    }
}

pub(super) fn ask(format: Format) -> String {
    message(format, "user", &text(format, "user", "Go."))
}

/// A question and an answer.
fn plain(format: Format, members: &str) -> Option<String> {
    let answer = message(format, "assistant", &text(format, "assistant", "Done."));
    Some(frame(format, members, &[ask(format), answer, ask(format)]))
}

/// An element of what the user says.
fn user(format: Format, element: &str) -> Option<String> {
    let all = [text(format, "user", "See:"), element.to_owned()].join(",");
    Some(frame(format, "", &[message(format, "user", &all)]))
}

/// The same in the reply.
fn reply(format: Format, element: &str) -> Option<String> {
    let all = [element.to_owned(), text(format, "assistant", "Done.")].join(",");
    Some(frame(format, "", &[ask(format), message(format, "assistant", &all), ask(format)]))
}

/// The definition of a function; `more` are members of it.
pub(super) fn tools(format: Format, more: &str) -> String {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"}}}"#;
    match format {
        Format::OpenaiChat => format!(
            r#""tools":[{{"type":"function","function":{{"name":"f",{more}"parameters":{schema}}}}}]"#
        ),
        Format::OpenaiResponses => {
            format!(r#""tools":[{{"type":"function","name":"f",{more}"parameters":{schema}}}]"#)
        }
        Format::GeminiInteractions => {
            format!(r#""tools":[{{"type":"function","name":"f","parameters":{schema}}}]"#)
        }
        Format::Anthropic => format!(r#""tools":[{{"name":"f",{more}"input_schema":{schema}}}]"#),
        Format::Gemini => format!(
            r#""tools":[{{"functionDeclarations":[{{"name":"f","parametersJsonSchema":{schema}}}]}}]"#
        ),
        _ => format!(
            r#""toolConfig":{{"tools":[{{"toolSpec":{{"name":"f","inputSchema":{{"json":{schema}}}}}}}]}}"#
        ),
    }
}

/// A call and its result: `content` in it, and `more` about it.
fn pair(format: Format, content: &str, more: &str) -> String {
    let listed = content.starts_with('{');
    let value = if listed { format!("[{content}]") } else { format!(r#""{content}""#) };
    let block = if listed { content.to_owned() } else { text(format, "user", content) };
    let (call, result) = match format {
        Format::OpenaiChat => (
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}"#.to_owned(),
            format!(r#"{{"role":"tool","tool_call_id":"call_1","content":{value}}}"#),
        ),
        Format::OpenaiResponses => (
            r#"{"type":"function_call","call_id":"call_1","name":"f","arguments":"{\"a\":1}"}"#.to_owned(),
            format!(r#"{{"type":"function_call_output","call_id":"call_1","output":{value}}}"#),
        ),
        Format::GeminiInteractions => (
            r#"{"type":"function_call","id":"call_1","name":"f","arguments":{"a":1}}"#.to_owned(),
            format!(r#"{{"type":"function_result","call_id":"call_1","name":"f","result":{value}{more}}}"#),
        ),
        Format::Anthropic => (
            message(format, "assistant", r#"{"type":"tool_use","id":"call_1","name":"f","input":{"a":1}}"#),
            message(
                format,
                "user",
                &format!(r#"{{"type":"tool_result","tool_use_id":"call_1","content":{value}{more}}}"#),
            ),
        ),
        Format::Gemini => {
            let response = if listed {
                format!(r#"{{"output":"ok"}},"parts":[{content}]"#)
            } else {
                let key = if more.is_empty() { "output" } else { "error" };
                format!(r#"{{"{key}":{value}}}"#)
            };
            (
                message(format, "assistant", r#"{"functionCall":{"id":"call_1","name":"f","args":{"a":1}}}"#),
                message(
                    format,
                    "user",
                    &format!(r#"{{"functionResponse":{{"id":"call_1","name":"f","response":{response}}}}}"#),
                ),
            )
        }
        _ => (
            message(format, "assistant", r#"{"toolUse":{"toolUseId":"call_1","name":"f","input":{"a":1}}}"#),
            message(
                format,
                "user",
                &format!(r#"{{"toolResult":{{"toolUseId":"call_1","content":[{block}]{more}}}}}"#),
            ),
        ),
    };
    frame(format, &tools(format, ""), &[ask(format), call, result])
}

fn failed(format: Format) -> Option<String> {
    let mark = match format {
        Format::Anthropic | Format::GeminiInteractions => r#","is_error":true"#,
        Format::Gemini => "error",
        Format::Bedrock => r#","status":"error""#,
        _ => return None,
    };
    Some(pair(format, "no", mark))
}

fn picture(format: Format) -> String {
    match format {
        Format::OpenaiChat => {
            format!(r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{PNG}"}}}}"#)
        }
        Format::OpenaiResponses => {
            format!(r#"{{"type":"input_image","image_url":"data:image/png;base64,{PNG}"}}"#)
        }
        Format::Anthropic => format!(
            r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{PNG}"}}}}"#
        ),
        Format::GeminiInteractions => {
            format!(r#"{{"type":"image","mime_type":"image/png","data":"{PNG}"}}"#)
        }
        Format::Gemini => format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{PNG}"}}}}"#),
        _ => format!(r#"{{"image":{{"format":"png","source":{{"bytes":"{PNG}"}}}}}}"#),
    }
}

fn image(format: Format) -> Option<String> {
    user(format, &picture(format))
}

fn shown(format: Format) -> Option<String> {
    (format != Format::OpenaiChat).then(|| pair(format, &picture(format), ""))
}

fn address(format: Format) -> Option<String> {
    let url = "https://example.org/a.png";
    let element = match format {
        Format::OpenaiChat => format!(r#"{{"type":"image_url","image_url":{{"url":"{url}"}}}}"#),
        Format::OpenaiResponses => format!(r#"{{"type":"input_image","image_url":"{url}"}}"#),
        Format::Anthropic => {
            format!(r#"{{"type":"image","source":{{"type":"url","url":"{url}"}}}}"#)
        }
        Format::GeminiInteractions => {
            format!(r#"{{"type":"image","mime_type":"image/png","uri":"{url}"}}"#)
        }
        Format::Gemini => {
            format!(r#"{{"fileData":{{"mimeType":"image/png","fileUri":"{url}"}}}}"#)
        }
        _ => return None,
    };
    user(format, &element)
}

fn pdf(format: Format) -> Option<String> {
    let url = format!("data:application/pdf;base64,{PDF}");
    let element = match format {
        Format::OpenaiChat => {
            format!(r#"{{"type":"file","file":{{"filename":"a.pdf","file_data":"{url}"}}}}"#)
        }
        Format::OpenaiResponses => {
            format!(r#"{{"type":"input_file","filename":"a.pdf","file_data":"{url}"}}"#)
        }
        Format::Anthropic => format!(
            r#"{{"type":"document","source":{{"type":"base64","media_type":"application/pdf","data":"{PDF}"}}}}"#
        ),
        Format::GeminiInteractions => {
            format!(r#"{{"type":"document","mime_type":"application/pdf","data":"{PDF}"}}"#)
        }
        Format::Gemini => {
            format!(r#"{{"inlineData":{{"mimeType":"application/pdf","data":"{PDF}"}}}}"#)
        }
        _ => {
            format!(r#"{{"document":{{"format":"pdf","name":"a","source":{{"bytes":"{PDF}"}}}}}}"#)
        }
    };
    user(format, &element)
}

fn sound(format: Format) -> Option<String> {
    let element = match format {
        Format::OpenaiChat => {
            r#"{"type":"input_audio","input_audio":{"data":"UklGRg==","format":"wav"}}"#
        }
        Format::GeminiInteractions => {
            r#"{"type":"audio","mime_type":"audio/wav","data":"UklGRg=="}"#
        }
        Format::Gemini => r#"{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}"#,
        Format::Bedrock => r#"{"audio":{"format":"wav","source":{"bytes":"UklGRg=="}}}"#,
        _ => return None,
    };
    user(format, element)
}

fn kept_file(format: Format) -> Option<String> {
    user(
        format,
        match format {
            Format::OpenaiChat => r#"{"type":"file","file":{"file_id":"file-1"}}"#,
            Format::OpenaiResponses => r#"{"type":"input_file","file_id":"file-1"}"#,
            Format::Anthropic => {
                r#"{"type":"document","source":{"type":"file","file_id":"file_1"}}"#
            }
            Format::GeminiInteractions => {
                r#"{"type":"document","mime_type":"application/pdf","uri":"gs://bucket/a.pdf"}"#
            }
            Format::Gemini => {
                r#"{"fileData":{"mimeType":"application/pdf","fileUri":"gs://bucket/a.pdf"}}"#
            }
            _ => {
                r#"{"document":{"format":"pdf","name":"a","source":{"s3Location":{"uri":"s3://bucket/a.pdf"}}}}"#
            }
        },
    )
}

fn system(format: Format) -> Option<String> {
    let member = match format {
        Format::OpenaiChat => {
            let said = r#"{"role":"system","content":"Be brief."}"#.to_owned();
            return Some(frame(format, "", &[said, ask(format)]));
        }
        Format::OpenaiResponses => r#""instructions":"Be brief.""#,
        Format::Anthropic => r#""system":"Be brief.""#,
        Format::GeminiInteractions => r#""system_instruction":"Be brief.""#,
        Format::Gemini => r#""systemInstruction":{"parts":[{"text":"Be brief."}]}"#,
        _ => r#""system":[{"text":"Be brief."}]"#,
    };
    Some(frame(format, member, &[ask(format)]))
}

fn reminder(format: Format) -> Option<String> {
    let said = r#"{"role":"system","content":"Be brief."}"#.to_owned();
    let speaks = matches!(format, Format::OpenaiChat | Format::OpenaiResponses | Format::Anthropic);
    speaks.then(|| frame(format, "", &[ask(format), said]))
}

fn strict(format: Format) -> Option<String> {
    let says = matches!(format, Format::OpenaiChat | Format::OpenaiResponses | Format::Anthropic);
    says.then(|| frame(format, &tools(format, r#""strict":true,"#), &[ask(format)]))
}

fn words_tool(format: Format) -> Option<String> {
    match format {
        Format::OpenaiChat => Some(frame(
            format,
            r#""tools":[{"type":"custom","custom":{"name":"patch"}}]"#,
            &[
                ask(format),
                r#"{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"custom","custom":{"name":"patch","input":"*** Begin"}}]}"#.to_owned(),
                r#"{"role":"tool","tool_call_id":"c","content":"ok"}"#.to_owned(),
            ],
        )),
        Format::OpenaiResponses => Some(frame(
            format,
            r#""tools":[{"type":"custom","name":"patch"}]"#,
            &[
                ask(format),
                r#"{"type":"custom_tool_call","call_id":"c","name":"patch","input":"*** Begin"}"#.to_owned(),
                r#"{"type":"custom_tool_call_output","call_id":"c","output":"ok"}"#.to_owned(),
            ],
        )),
        _ => None,
    }
}

fn reasoning(format: Format) -> Option<String> {
    match format {
        Format::OpenaiChat => {
            let said = r#"{"role":"assistant","reasoning_content":"Hm.","content":"Done."}"#;
            Some(frame(format, "", &[ask(format), said.to_owned(), ask(format)]))
        }
        Format::OpenaiResponses => {
            let said = r#"{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}]}"#;
            let done = message(format, "assistant", &text(format, "assistant", "Done."));
            Some(frame(format, "", &[ask(format), said.to_owned(), done, ask(format)]))
        }
        Format::Gemini => reply(format, r#"{"text":"Hm.","thought":true}"#),
        Format::GeminiInteractions => {
            Some(thought(r#"{"type":"thought","summary":[{"type":"text","text":"Hm."}]}"#))
        }
        Format::Bedrock => {
            reply(format, r#"{"reasoningContent":{"reasoningText":{"text":"Hm."}}}"#)
        }
        _ => None,
    }
}

/// Steps before a reply of Interactions'.
fn thought(steps: &str) -> String {
    let format = Format::GeminiInteractions;
    let done = message(format, "assistant", &text(format, "assistant", "Done."));
    frame(format, "", &[ask(format), steps.to_owned(), done, ask(format)])
}

fn signed(format: Format) -> Option<String> {
    match format {
        Format::OpenaiResponses => {
            let said = r#"{"type":"reasoning","summary":[],"encrypted_content":"gAAAAA"}"#;
            let done = message(format, "assistant", &text(format, "assistant", "Done."));
            Some(frame(format, "", &[ask(format), said.to_owned(), done, ask(format)]))
        }
        Format::Anthropic => {
            reply(format, r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#)
        }
        Format::Gemini => reply(format, r#"{"text":"So.","thoughtSignature":"c2ln"}"#),
        Format::GeminiInteractions => Some(thought(r#"{"type":"thought","signature":"c2ln"}"#)),
        Format::Bedrock => reply(
            format,
            r#"{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}}"#,
        ),
        _ => None,
    }
}

fn served(format: Format) -> Option<String> {
    match format {
        Format::Anthropic => reply(
            format,
            r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}"#,
        ),
        Format::Gemini => reply(
            format,
            r#"{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}"#,
        ),
        Format::GeminiInteractions => Some(thought(
            r#"{"type":"google_search_call","id":"s","arguments":{"queries":["x"]}},{"type":"google_search_result","call_id":"s","result":[]}"#,
        )),
        Format::OpenaiResponses => {
            let said = r#"{"type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}}"#;
            let done = message(format, "assistant", &text(format, "assistant", "Done."));
            Some(frame(format, "", &[ask(format), said.to_owned(), done, ask(format)]))
        }
        _ => None,
    }
}

fn compaction(format: Format) -> Option<String> {
    match format {
        Format::Anthropic => reply(format, r#"{"type":"compaction","content":"Earlier."}"#),
        Format::OpenaiResponses => {
            let said = r#"{"type":"compaction","encrypted_content":"gAAAAA"}"#.to_owned();
            Some(frame(format, "", &[said, ask(format)]))
        }
        _ => None,
    }
}

fn marker(format: Format) -> Option<String> {
    match format {
        Format::Anthropic => {
            user(format, r#"{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}"#)
        }
        Format::Bedrock => user(format, r#"{"cachePoint":{"type":"default"}}"#),
        _ => None,
    }
}

fn elsewhere(format: Format) -> Option<String> {
    let member = match format {
        Format::OpenaiResponses => r#""previous_response_id":"resp_1""#,
        Format::Gemini => r#""cachedContent":"cachedContents/1""#,
        Format::GeminiInteractions => r#""previous_interaction_id":"v1_1""#,
        _ => return None,
    };
    Some(frame(format, member, &[ask(format)]))
}
