//! What a reply says that its call is billed.

use epitome::model::Billed;
use serde_json::Value;

/// What a whole reply, or an event of one, says; `None` where it says nothing.
pub(crate) fn billed(said: &Value) -> Option<Billed> {
    whole_or_nested(said).find_map(of_usage)
}

/// The model that a whole reply, or an event of one, names.
pub(crate) fn model(said: &Value) -> Option<&str> {
    whole_or_nested(said).find_map(|said| said.get("model").or(said.get("modelVersion"))?.as_str())
}

/// What may say something of a reply: all of it, or the member that an event has it in.
fn whole_or_nested(said: &Value) -> impl Iterator<Item = &Value> {
    let nested = ["message", "response", "interaction"].into_iter();
    std::iter::once(said).chain(nested.filter_map(|name| said.get(name)))
}

fn of_usage(said: &Value) -> Option<Billed> {
    if let Some(usage) = said.get("usageMetadata") {
        let number = |name: &str| usage[name].as_u64().unwrap_or(0);
        let read = number("cachedContentTokenCount");
        let output = number("candidatesTokenCount") + number("thoughtsTokenCount");
        let fresh = number("promptTokenCount").saturating_sub(read);
        return Some(Billed { fresh, read, output, ..Billed::default() });
    }
    let usage = said.get("usage").filter(|usage| usage.is_object())?;
    let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let or_none = |pointer: &str| number(pointer).unwrap_or(0);
    if let Some(prompt) = number("/total_input_tokens") {
        let read = or_none("/total_cached_tokens");
        let output = or_none("/total_output_tokens") + or_none("/total_thought_tokens");
        return Some(Billed {
            fresh: prompt.saturating_sub(read),
            read,
            output,
            ..Billed::default()
        });
    }
    let openai = [
        ("/prompt_tokens", "/prompt_tokens_details", "/completion_tokens"),
        ("/input_tokens", "/input_tokens_details", "/output_tokens"),
    ];
    let known = openai.iter().find(|(_, details, _)| usage.pointer(details).is_some());
    let known = known.or_else(|| openai.first().filter(|(prompt, ..)| number(prompt).is_some()));
    if let Some((prompt, details, output)) = known {
        // These are parts of the prompt's tokens.
        let read = or_none(&format!("{details}/cached_tokens"));
        let written = or_none(&format!("{details}/cache_write_tokens"));
        let fresh = or_none(prompt).saturating_sub(read.saturating_add(written));
        return Some(Billed { fresh, read, written, output: or_none(output), ..Billed::default() });
    }
    // Anthropic's stand beside them. What follows in a stream says only what has changed.
    let written_long = or_none("/cache_creation/ephemeral_1h_input_tokens");
    let billed = Billed {
        fresh: or_none("/input_tokens"),
        read: or_none("/cache_read_input_tokens"),
        written: or_none("/cache_creation_input_tokens").saturating_sub(written_long),
        written_long,
        output: or_none("/output_tokens"),
    };
    (billed != Billed::default()).then_some(billed)
}

/// Both of what two events of one reply say: numbers only grow.
pub(crate) fn together(one: Billed, two: Billed) -> Billed {
    Billed {
        fresh: one.fresh.max(two.fresh),
        read: one.read.max(two.read),
        written: one.written.max(two.written),
        written_long: one.written_long.max(two.written_long),
        output: one.output.max(two.output),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_api_tells_what_is_billed() {
        let of = |fresh, read, written, written_long, output| {
            Some(Billed { fresh, read, written, written_long, output })
        };
        for (said, expected) in [
            (
                r#"{"usage":{"input_tokens":7,"cache_read_input_tokens":5,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_1h_input_tokens":2},"output_tokens":3}}"#,
                of(7, 5, 7, 2, 3),
            ),
            (
                r#"{"type":"message_start","message":{"usage":{"input_tokens":7,"output_tokens":1}}}"#,
                of(7, 0, 0, 0, 1),
            ),
            (
                r#"{"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":5}}}"#,
                of(7, 5, 0, 0, 3),
            ),
            (r#"{"usage":{"prompt_tokens":12,"completion_tokens":3}}"#, of(12, 0, 0, 0, 3)),
            (
                r#"{"response":{"usage":{"input_tokens":12,"output_tokens":3,"input_tokens_details":{"cached_tokens":5,"cache_write_tokens":4}}}}"#,
                of(3, 5, 4, 0, 3),
            ),
            (
                r#"{"usageMetadata":{"promptTokenCount":12,"cachedContentTokenCount":5,"candidatesTokenCount":2,"thoughtsTokenCount":1}}"#,
                of(7, 5, 0, 0, 3),
            ),
            (
                r#"{"interaction":{"usage":{"total_input_tokens":12,"total_cached_tokens":5,"total_output_tokens":3}}}"#,
                of(7, 5, 0, 0, 3),
            ),
            (r#"{"usage":null}"#, None),
            (r#"{"choices":[]}"#, None),
        ] {
            assert_eq!(billed(&serde_json::from_str(said).expect("JSON")), expected, "{said}");
        }
    }
}
