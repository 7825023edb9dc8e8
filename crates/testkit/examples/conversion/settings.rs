//! Bodies that say how to answer, and which tool is to be called.
#![expect(
    clippy::unnecessary_wraps,
    reason = "what a format can't say has no body, for any of them"
)]

use epitome::Format;

use super::specimens::{ask, frame, tools};

/// The tools, and which of them.
fn choice(format: Format, choice: &str) -> Option<String> {
    let members = format!("{},{choice}", tools(format, ""));
    Some(frame(format, &members, &[ask(format)]))
}

pub(super) fn forced(format: Format) -> Option<String> {
    if format == Format::Bedrock {
        let tools = tools(format, "");
        let open = tools.strip_suffix('}').expect("it is an object");
        let members = format!(r#"{open},"toolChoice":{{"tool":{{"name":"f"}}}}}}"#);
        return Some(frame(format, &members, &[ask(format)]));
    }
    choice(
        format,
        match format {
            Format::OpenaiChat => r#""tool_choice":{"type":"function","function":{"name":"f"}}"#,
            Format::OpenaiResponses => r#""tool_choice":{"type":"function","name":"f"}"#,
            Format::Anthropic => r#""tool_choice":{"type":"tool","name":"f"}"#,
            Format::GeminiInteractions => {
                r#""generation_config":{"tool_choice":{"allowed_tools":{"mode":"any","tools":["f"]}}}"#
            }
            _ => {
                r#""toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}"#
            }
        },
    )
}

pub(super) fn forbidden(format: Format) -> Option<String> {
    choice(
        format,
        match format {
            Format::OpenaiChat | Format::OpenaiResponses => r#""tool_choice":"none""#,
            Format::Anthropic => r#""tool_choice":{"type":"none"}"#,
            Format::Gemini => r#""toolConfig":{"functionCallingConfig":{"mode":"NONE"}}"#,
            Format::GeminiInteractions => r#""generation_config":{"tool_choice":"none"}"#,
            _ => return None,
        },
    )
}

pub(super) fn one_call(format: Format) -> Option<String> {
    choice(
        format,
        match format {
            Format::OpenaiChat | Format::OpenaiResponses => r#""parallel_tool_calls":false"#,
            Format::Anthropic => {
                r#""tool_choice":{"type":"auto","disable_parallel_tool_use":true}"#
            }
            _ => return None,
        },
    )
}

/// A parameter by each format's name for it, in the order of [`Format::ALL`].
pub(super) fn setting(format: Format, names: [&str; 6], value: &str) -> Option<String> {
    let at = Format::ALL.iter().position(|one| *one == format)?;
    let name = names[at];
    let member = match format {
        _ if name.is_empty() => return None,
        Format::Gemini => format!(r#""generationConfig":{{"{name}":{value}}}"#),
        Format::GeminiInteractions if name != "stream" => {
            format!(r#""generation_config":{{"{name}":{value}}}"#)
        }
        Format::Bedrock => format!(r#""inferenceConfig":{{"{name}":{value}}}"#),
        _ => format!(r#""{name}":{value}"#),
    };
    Some(frame(format, &member, &[ask(format)]))
}

pub(super) fn effort(format: Format) -> Option<String> {
    let member = match format {
        Format::OpenaiChat => r#""reasoning_effort":"high""#,
        Format::OpenaiResponses => r#""reasoning":{"effort":"high"}"#,
        Format::Anthropic => r#""thinking":{"type":"adaptive"}"#,
        Format::GeminiInteractions => r#""generation_config":{"thinking_level":"high"}"#,
        Format::Gemini => r#""generationConfig":{"thinkingConfig":{"thinkingLevel":"high"}}"#,
        _ => r#""additionalModelRequestFields":{"thinking":{"type":"adaptive"}}"#,
    };
    Some(frame(format, member, &[ask(format)]))
}
