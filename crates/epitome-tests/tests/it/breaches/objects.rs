//! What must be an object, and one of a type.

use std::collections::HashSet;

use epitome::wire::{self, Format};

/// A body for each place where an object must stand, `?`.
const BODIES: [(Format, &str); 25] = [
    (
        Format::Anthropic,
        r#"{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":[?,{"type":"text","text":"hi"}]}]}"#,
    ),
    (
        Format::Anthropic,
        r#"{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":?}]}]}"#,
    ),
    (
        Format::Anthropic,
        r#"{"model":"claude-x","max_tokens":9,"system":[?],"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    (
        Format::Anthropic,
        r#"{"model":"claude-x","max_tokens":9,"tools":[?],"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    (
        Format::Anthropic,
        r#"{"model":"claude-x","max_tokens":9,"tool_choice":?,"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    (
        Format::Anthropic,
        r#"{"model":"claude-x","max_tokens":9,"thinking":?,"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    (
        Format::OpenaiChat,
        r#"{"model":"gpt-5.4","messages":[{"role":"user","content":[?,{"type":"text","text":"hi"}]}]}"#,
    ),
    (
        Format::OpenaiChat,
        r#"{"model":"gpt-5.4","messages":[{"role":"user","content":[{"type":"image_url","image_url":?}]}]}"#,
    ),
    (
        Format::OpenaiChat,
        r#"{"model":"gpt-5.4","tools":[?],"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    (
        Format::OpenaiResponses,
        r#"{"model":"gpt-5.4","input":[{"role":"user","content":[?,{"type":"input_text","text":"hi"}]}]}"#,
    ),
    (
        Format::OpenaiResponses,
        r#"{"model":"gpt-5.4","input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":[?]}]}"#,
    ),
    (
        Format::OpenaiResponses,
        r#"{"model":"gpt-5.4","input":[{"type":"reasoning","summary":[?],"encrypted_content":"x"},{"role":"assistant","content":"hi"}]}"#,
    ),
    (
        Format::OpenaiResponses,
        r#"{"model":"gpt-5.4","tools":[?],"input":[{"role":"user","content":"hi"}]}"#,
    ),
    (Format::Gemini, r#"{"contents":[{"role":"user","parts":[?,{"text":"hi"}]}]}"#),
    (Format::Gemini, r#"{"contents":[{"role":"user","parts":[{"inlineData":?}]}]}"#),
    (
        Format::Gemini,
        r#"{"systemInstruction":?,"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#,
    ),
    (Format::Gemini, r#"{"tools":[?],"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#),
    (
        Format::GeminiInteractions,
        r#"{"input":[{"type":"user_input","content":[?,{"type":"text","text":"hi"}]}]}"#,
    ),
    (
        Format::GeminiInteractions,
        r#"{"input":[{"type":"user_input","content":[{"type":"text","text":"hi"}]},{"type":"thought","signature":"x","summary":[?]}]}"#,
    ),
    (
        Format::GeminiInteractions,
        r#"{"tools":[?],"input":[{"type":"user_input","content":[{"type":"text","text":"hi"}]}]}"#,
    ),
    (Format::Bedrock, r#"{"messages":[{"role":"user","content":[?,{"text":"hi"}]}]}"#),
    (Format::Bedrock, r#"{"messages":[{"role":"user","content":[{"text":"hi"},{"image":?}]}]}"#),
    (
        Format::Bedrock,
        r#"{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":?}}]},"messages":[{"role":"user","content":[{"text":"hi"}]}]}"#,
    ),
    (
        Format::Bedrock,
        r#"{"toolConfig":{"tools":[{"systemTool":{"name":"f"}}],"toolChoice":?},"messages":[{"role":"user","content":[{"text":"hi"}]}]}"#,
    ),
    (Format::Bedrock, r#"{"system":[?],"messages":[{"role":"user","content":[{"text":"hi"}]}]}"#),
];

/// Found by chance: `check` passed them, since it judged the objects alone.
#[test]
fn what_must_be_an_object_is_nothing_else() {
    let told = |format: Format, body: &str, odd: &str| {
        let request = wire::parse(format, body.replace('?', odd)).expect("a body");
        let found = wire::inspect(&request, &[]);
        let rules: HashSet<_> = found.iter().map(|found| found.rule).collect();
        assert_eq!(rules.len(), 1, "{format}, {body} with {odd}: {found:?}");
    };
    for (format, body) in BODIES {
        for odd in ["42", r#""x""#, "true", "[]"] {
            told(format, body, odd);
        }
        if body.contains("[?") {
            told(format, body, "null");
        }
        // What Google's tools and instructions hold is up to it.
        let is_open = format == Format::Gemini && !body.contains(r#""parts":[?"#);
        if !is_open {
            told(format, body, "{}");
        }
    }
}
