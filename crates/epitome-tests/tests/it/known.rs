//! What a provider's SDK has no shape for is found, told by its rule, and mended where nothing is lost by it.

use epitome::Format;
use epitome::wire::{self, Mend};

/// The rules that a body breaks, and whether each can be mended.
fn found(format: Format, body: &str) -> Vec<(&'static str, bool)> {
    let request = wire::parse(format, body.to_owned()).expect("well-formed");
    let findings = wire::inspect(&request, &[]);
    findings.into_iter().map(|found| (found.rule.0, found.mend != Mend::Nothing)).collect()
}

/// A message of the user's with these blocks.
fn asked(format: Format, blocks: &str) -> String {
    match format {
        Format::Gemini => format!(r#"[{{"role":"user","parts":[{blocks}]}}]"#),
        Format::GeminiInteractions => format!(r#"[{{"type":"user_input","content":[{blocks}]}}]"#),
        Format::OpenaiResponses => {
            format!(r#"[{{"type":"message","role":"user","content":[{blocks}]}}]"#)
        }
        _ => format!(r#"[{{"role":"user","content":[{blocks}]}}]"#),
    }
}

#[test]
fn blocks_of_the_users_are_of_known_shapes() {
    use Format::{Anthropic, Bedrock, Gemini, GeminiInteractions, OpenaiResponses};
    for (format, blocks, rule, is_mended) in [
        (
            Bedrock,
            r#"{"image":{"format":"svg","source":{"bytes":"AAAA"}}}"#,
            "bedrock/value",
            false,
        ),
        (Bedrock, r#"{"image":{"format":"JPG","source":{"bytes":"AAAA"}}}"#, "bedrock/value", true),
        (Bedrock, r#"{"image":{"source":{"bytes":"AAAA"}}}"#, "bedrock/missing", false),
        (
            Bedrock,
            r#"{"document":{"format":"rtf","name":"a","source":{"bytes":"AAAA"}}},{"text":"x"}"#,
            "bedrock/value",
            false,
        ),
        (
            Bedrock,
            r#"{"document":{"format":"pdf","name":"report.pdf","source":{"bytes":"AAAA"}}},{"text":"x"}"#,
            "bedrock/value",
            false,
        ),
        (
            Bedrock,
            r#"{"image":{"format":"png","source":{"bytes":"AAAA"},"alt":"x"}}"#,
            "bedrock/extra-member",
            true,
        ),
        (Gemini, r#"{"inlineData":{"data":"AAAA"}}"#, "gemini/missing", false),
        (
            Gemini,
            r#"{"inline_data":{"mime_type":"image/svg+xml","data":"AAAA"}}"#,
            "gemini/value",
            false,
        ),
        (
            Gemini,
            r#"{"inlineData":{"mimeType":"image/png","data":"data:image/png;base64,AAAA"}}"#,
            "gemini/value",
            true,
        ),
        (Gemini, r#"{"text":"x","cacheControl":{}}"#, "gemini/extra-member", true),
        (
            Gemini,
            r#"{"text":"x","inlineData":{"mimeType":"image/png","data":"AAAA"}}"#,
            "gemini/one-of",
            false,
        ),
        (
            GeminiInteractions,
            r#"{"type":"image","mime_type":"image/svg+xml","data":"AAAA"}"#,
            "interactions/value",
            false,
        ),
        (
            GeminiInteractions,
            r#"{"type":"text","text":"x","id":"1"}"#,
            "interactions/extra-member",
            true,
        ),
        (
            OpenaiResponses,
            r#"{"type":"input_image","image_url":"data:image/svg+xml;base64,AAAA"}"#,
            "responses/value",
            false,
        ),
        (
            OpenaiResponses,
            r#"{"type":"input_text","text":"x","cache_control":{"type":"ephemeral"}}"#,
            "responses/extra-member",
            true,
        ),
        (OpenaiResponses, r#"{"type":"hologram"}"#, "responses/unknown-type", false),
        (
            Anthropic,
            r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA","detail":"low"}}"#,
            "anthropic/extra-member",
            true,
        ),
        (
            Anthropic,
            r#"{"type":"image","source":{"type":"base32","data":"AAAA"}}"#,
            "anthropic/unknown-type",
            false,
        ),
        (
            Anthropic,
            r#"{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"2h"}}"#,
            "anthropic/value",
            false,
        ),
        (
            Anthropic,
            r#"{"type":"thinking","thinking":"x","signature":"c2ln"},{"type":"text","text":"x"}"#,
            "anthropic/block-side",
            false,
        ),
    ] {
        assert_eq!(found(format, &asked(format, blocks)), [(rule, is_mended)], "{blocks}");
    }
}

#[test]
fn what_stands_around_the_messages_is_of_known_shapes() {
    let said = |head: &str| format!(r#"{{{head},"messages":[{{"role":"user","content":"x"}}]}}"#);
    let tool = r#"{"name":"f","input_schema":{"type":"object"}}"#;
    for (head, rule) in [
        (r#""frequency_penalty":1"#.to_owned(), ("anthropic/extra-member", true)),
        (r#""tools":[{"name":"f"}]"#.to_owned(), ("anthropic/missing", false)),
        (format!(r#""tools":[{}]"#, tool.replace("\"f\"", "\"f g\"")), ("anthropic/value", false)),
        (
            format!(r#""tools":[{}]"#, tool.replace(r#""name""#, r#""parameters":{},"name""#)),
            ("anthropic/extra-member", true),
        ),
    ] {
        assert!(found(Format::Anthropic, &said(&head)).contains(&rule), "{head}");
    }
    // Others behind the same format take what they like, as do the provider's own tools.
    for head in [
        r#""model":"kimi-k3","frequency_penalty":1"#,
        r#""tools":[{"type":"web_search_20260318","name":"web_search","max_uses":3}]"#,
    ] {
        assert_eq!(found(Format::Anthropic, &said(head)), [], "{head}");
    }
    let bedrock = |head: &str| {
        format!(r#"{{{head},"messages":[{{"role":"user","content":[{{"text":"x"}}]}}]}}"#)
    };
    assert_eq!(
        found(Format::Bedrock, &bedrock(r#""system":[{"text":""}]"#)),
        [("bedrock/value", false)]
    );
}

#[test]
fn a_second_tool_that_is_the_same_leaves() {
    let tool = r#"{"name":"f","input_schema":{"type":"object"}}"#;
    let body = |tools: &str| {
        format!(r#"{{"tools":[{tools}],"messages":[{{"role":"user","content":"x"}}]}}"#)
    };
    let request = wire::parse(Format::Anthropic, body(&format!("{tool}, {tool},{tool}")));
    let mended = wire::repair(&request.expect("well-formed"));
    assert_eq!(mended.request.source().as_str(), body(tool));
    assert!(mended.left.is_empty() && mended.mended.len() == 2);
    let other = tool.replace("object", "array");
    let request = wire::parse(Format::Anthropic, body(&format!("{tool},{other}")));
    let mended = wire::repair(&request.expect("well-formed"));
    assert_eq!(mended.left.len(), 1, "only its author knows which is meant");
}

#[test]
fn what_a_provider_ran_belongs_together() {
    let step = |steps: &str| {
        format!(r#"[{{"type":"user_input","content":[{{"type":"text","text":"x"}}]}},{steps}]"#)
    };
    let search = r#"{"type":"google_search_call","id":"a","arguments":{}}"#;
    let hits = r#"{"type":"google_search_result","call_id":"a","result":[]}"#;
    let format = Format::GeminiInteractions;
    assert_eq!(found(format, &step(&format!("{search},{hits}"))), []);
    assert_eq!(found(format, &step(hits)), [("interactions/served-result", false)]);
    let kept = format!(r#"{{"model":"m","previous_interaction_id":"v1","input":{}}}"#, step(hits));
    assert_eq!(found(format, &kept), []);

    let ask = r#"{"role":"user","content":"x"}"#;
    let run = r#"{"type":"server_tool_use","id":"srvtoolu_a","name":"code_execution","input":{}}"#;
    let call = r#"{"type":"tool_use","id":"t","name":"f","input":{}}"#;
    let answer =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]}"#;
    let open = format!(r#"[{ask},{{"role":"assistant","content":[{run},{call}]}},{answer}]"#);
    assert_eq!(found(Format::Anthropic, &open), [], "a program waits for its calls");
    let paused = format!(r#"[{ask},{{"role":"assistant","content":[{run}]}}]"#);
    assert_eq!(found(Format::Anthropic, &paused), [], "a pause");
    let over = format!(r#"[{ask},{{"role":"assistant","content":[{run}]}},{ask}]"#);
    assert_eq!(found(Format::Anthropic, &over), [("anthropic/unserved", false)]);
}

#[test]
fn a_converse_body_is_for_the_strictest_model_unless_somebody_says_which() {
    let call =
        r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"a","name":"f","input":{}}}]}"#;
    let mixed = r#"{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[{"text":"x"}]}},{"text":"And?"}]}"#;
    let body = format!(r#"[{{"role":"user","content":[{{"text":"x"}}]}},{call},{mixed}]"#);
    assert_eq!(found(Format::Bedrock, &body), [("bedrock/mixed-turn", false)]);
    let request = wire::parse(Format::Bedrock, body).expect("well-formed");
    assert_eq!(wire::check(&request), [], "what came so is compacted so");
    let claude = request.clone().addressed_to("anthropic.claude-opus-5-5-v1:0");
    assert_eq!(wire::inspect(&claude, &[]), []);
    let nova = request.addressed_to("amazon.nova-pro-v1:0");
    assert_eq!(wire::check(&nova).len(), 1);
}

#[test]
fn a_thought_of_responses_gets_its_summary() {
    let items = r#"[{"type":"message","role":"user","content":"x"},{"type":"reasoning","encrypted_content":"gAAA"},{"type":"message","role":"assistant","content":"y"}]"#;
    let request = wire::parse(Format::OpenaiResponses, items.to_owned()).expect("well-formed");
    let mended = wire::repair_inspected(&request, &[]);
    assert!(mended.request.source().contains(r#"{"summary":[],"type":"reasoning""#));
}

#[test]
fn what_codex_sends_with_its_items_is_known() {
    let item = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"}],"MEMBER":{"turn":1}}"#;
    let of = |member: &str| {
        format!(r#"{{"model":"gpt-5","input":[{}]}}"#, item.replace("MEMBER", member))
    };
    let sent = of("internal_chat_message_metadata_passthrough");
    assert_eq!(found(Format::OpenaiResponses, &sent), []);
    assert_ne!(found(Format::OpenaiResponses, &of("metadata_passthrough")), []);
}
