//! What one provider alone has: left out or said in another way, and listed with its place.

use std::fmt::Write as _;

use epitome::convert::{Extent, Loss, convert};
use epitome::wire::{self, Finding, Format};
use expect_test::{Expect, expect};

/// What the request becomes, and what is told of it.
fn check(from: Format, body: &str, to: &[Format], expected: &Expect) {
    let request = wire::parse(from, body.to_owned()).expect("a request");
    let mut all = String::new();
    for to in to {
        let done = convert(&request, *to);
        writeln!(all, "{to}: {}", done.text).expect("a string takes all");
        for lost in &done.lost {
            let at = lost.entry.map_or("-".to_owned(), |at| at.to_string());
            writeln!(all, "  {at}: {:?} {:?} {}", lost.extent, lost.what, lost.name)
                .expect("a string takes all");
        }
        // Nobody says that Bedrock's model takes words beside results.
        let is_nobodys = |left: &Finding| left.rule.0 == "bedrock/mixed-turn";
        assert!(done.left.iter().all(is_nobodys), "{:?}", done.left);
    }
    expected.assert_eq(&all);
}

#[test]
fn of_a_chat() {
    let body = r#"{"messages":[
        {"role":"developer","content":"Be brief."},
        {"role":"user","content":"Go.","name":"ana","weight":1},
        {"role":"critic","content":"Too long."},
        {"role":"assistant","content":null,"refusal":"I can't."},
        {"role":"user","content":[{"type":"text","text":"Why?","prompt_cache_breakpoint":{"mode":"explicit"}}]},
        {"role":"assistant","content":"So.","reasoning_content":"Hm.","audio":null,"annotations":[{"type":"url_citation"}]},
        {"role":"system","content":"Now in French."},
        {"role":"user","content":"Well?"}]}"#;
    check(
        Format::OpenaiChat,
        body,
        &[Format::Anthropic, Format::OpenaiResponses],
        &expect![[r#"
            anthropic: {"system":"Be brief.","messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"text","text":"I can't."}]},{"role":"user","content":"Why?"},{"role":"assistant","content":[{"type":"text","text":"So."}]},{"role":"user","content":"<system-reminder>\nNow in French.\n</system-reminder>"},{"role":"user","content":"Well?"}]}
              1: Dropped Member name
              1: Dropped Member weight
              2: Dropped Part a message of an unknown role
              4: Dropped CacheMarker 
              5: Dropped Member annotations
              5: Dropped Reasoning 
              6: Changed Instructions 
              -: Changed Words refusal
            openai-responses: {"input":[{"role":"developer","content":"Be brief."},{"type":"message","role":"user","content":[{"type":"input_text","text":"Go."}]},{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"I can't."}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"Why?"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"So."}]},{"role":"system","content":"Now in French."},{"type":"message","role":"user","content":[{"type":"input_text","text":"Well?"}]}]}
              1: Dropped Member name
              1: Dropped Member weight
              2: Dropped Part a message of an unknown role
              4: Dropped CacheMarker 
              5: Dropped Member annotations
              5: Dropped Reasoning 
        "#]],
    );
}

#[test]
fn of_responses() {
    let body = r#"{"previous_response_id":"resp_1","input":[
        {"type":"function_call_output","call_id":"c0","output":"x"},
        {"type":"item_reference","id":"msg_1"},
        {"role":"user","content":"Go."},
        {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"eA=="},
        {"type":"image_generation_call","id":"ig_1","status":"completed","result":"AAAA"},
        {"type":"message","role":"assistant","id":"msg_2","content":[{"type":"refusal","refusal":"No."},{"type":"output_text","text":"Well.","annotations":[]}]},
        {"type":"compaction","id":"cmp_1","encrypted_content":"eA=="},
        {"role":"user","content":"Well?"}]}"#;
    check(
        Format::OpenaiResponses,
        body,
        &[Format::OpenaiChat, Format::Gemini],
        &expect![[r#"
            openai-chat: {"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"refusal","refusal":"No."},{"type":"text","text":"Well."}]},{"role":"user","content":"Well?"}]}
              -: Dropped History previous_response_id
              0: Dropped History c0
              1: Dropped History item_reference
              3: Dropped SignedReasoning 
              4: Dropped ServedTool image_generation_call
              4: Dropped ServedTool image_generation_call
              6: Dropped Compaction compaction
              -: Dropped ItemId 5 of them
            gemini: {"contents":[{"role":"user","parts":[{"text":"Go."}]},{"role":"model","parts":[{"text":"No."},{"text":"Well."}]},{"role":"user","parts":[{"text":"Well?"}]}]}
              -: Dropped History previous_response_id
              0: Dropped History c0
              1: Dropped History item_reference
              3: Dropped SignedReasoning 
              4: Dropped ServedTool image_generation_call
              4: Dropped ServedTool image_generation_call
              6: Dropped Compaction compaction
              -: Dropped ItemId 5 of them
              -: Changed Words refusal
        "#]],
    );
}

#[test]
fn of_anthropics_messages() {
    let body = r#"{"system":[{"type":"text","text":" "},{"type":"odd"},{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],
        "tools":[{"name":"f","strict":true,"input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"},"eager_input_streaming":true}],"messages":[
        {"role":"user","content":"Go."},
        {"role":"assistant","content":[{"type":"text","text":"First."},{"type":"tool_use","id":"t1","name":"f","input":{}},{"type":"text","text":"Last.","citations":[{"type":"char_location"}]}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":[{"type":"text","text":" "},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]},
            {"type":"text","text":"Well?","cache_control":{"type":"ephemeral"}}]}]}"#;
    let to = [Format::OpenaiChat, Format::Gemini, Format::Bedrock];
    check(
        Format::Anthropic,
        body,
        &to,
        &expect![[r#"
        openai-chat: {"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object"}}}],"messages":[{"role":"system","content":" "},{"role":"system","content":"Be brief."},{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"text","text":"First."},{"type":"text","text":"Last."}],"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"t1","content":"[not carried over: image/png, 12 bytes]"},{"role":"user","content":"Well?"}]}
          -: Dropped Part of the system prompt
          -: Dropped CacheMarker of the system prompt
          -: Dropped CacheMarker f
          -: Dropped Member eager_input_streaming of f
          1: Dropped Member citations
          2: Dropped Failure 
          2: Dropped CacheMarker 
          -: Changed Order 
          2: Changed Medium image/png
        gemini: {"systemInstruction":{"parts":[{"text":"Be brief."}]},"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object"}}]}],"contents":[{"role":"user","parts":[{"text":"Go."}]},{"role":"model","parts":[{"text":"First."},{"functionCall":{"id":"t1","name":"f","args":{}}},{"text":"Last."}]},{"role":"user","parts":[{"functionResponse":{"id":"t1","name":"f","response":{"error":""},"parts":[{"inlineData":{"data":"iVBORw0KGgo=","mimeType":"image/png"}}]}}]},{"role":"user","parts":[{"text":"Well?"}]}]}
          -: Dropped Part of the system prompt
          -: Dropped CacheMarker of the system prompt
          -: Dropped Member strict of f
          -: Dropped CacheMarker f
          -: Dropped Member eager_input_streaming of f
          1: Dropped Member citations
          2: Dropped CacheMarker 
          -: Dropped Blank of the system prompt
        bedrock: {"system":[{"text":"Be brief."}],"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},"messages":[{"role":"user","content":[{"text":"Go."}]},{"role":"assistant","content":[{"text":"First."},{"toolUse":{"toolUseId":"t1","name":"f","input":{}}},{"text":"Last."}]},{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"image":{"format":"png","source":{"bytes":"iVBORw0KGgo="}}}],"status":"error"}},{"text":"Well?"}]}]}
          -: Dropped Part of the system prompt
          -: Dropped CacheMarker of the system prompt
          -: Dropped Member strict of f
          -: Dropped CacheMarker f
          -: Dropped Member eager_input_streaming of f
          1: Dropped Member citations
          2: Dropped CacheMarker 
          -: Dropped Blank of the system prompt
    "#]],
    );
}

#[test]
fn of_gemini() {
    let body = r#"{"cachedContent":"cachedContents/1","system_instruction":{"role":"user"},"contents":[
        {"role":"user","parts":[{"text":"Go."},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="},"mediaResolution":{"level":"LOW"}}]},
        {"role":"model","parts":[{"text":"Hm.","thought":true},{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}},
            {"functionCall":{"name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{},"parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]}}]}]}"#;
    check(
        Format::Gemini,
        body,
        &[Format::Anthropic, Format::OpenaiResponses],
        &expect![[r#"
        anthropic: {"messages":[{"role":"user","content":[{"type":"text","text":"Go."},{"source":{"data":"iVBORw0KGgo=","media_type":"image/png","type":"base64"},"type":"image"}]},{"role":"assistant","content":[{"type":"tool_use","id":"call","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"call","content":[{"source":{"data":"iVBORw0KGgo=","media_type":"image/png","type":"base64"},"type":"image"}]}]}]}
          -: Dropped Part of the system prompt
          -: Dropped History cachedContent
          0: Dropped Member mediaResolution
          1: Dropped Reasoning 
          1: Dropped ServedTool PYTHON
          1: Dropped ServedTool 
        openai-responses: {"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Go."},{"detail":"auto","image_url":"data:image/png;base64,iVBORw0KGgo=","type":"input_image"}]},{"type":"function_call","call_id":"call","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"call","output":[{"detail":"auto","image_url":"data:image/png;base64,iVBORw0KGgo=","type":"input_image"}]}]}
          -: Dropped Part of the system prompt
          -: Dropped History cachedContent
          0: Dropped Member mediaResolution
          1: Dropped Reasoning 
          1: Dropped ServedTool PYTHON
          1: Dropped ServedTool 
    "#]],
    );
}

#[test]
fn of_bedrock() {
    let body = r#"{"additionalModelRequestFields":{"top_k":4},"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}},{"cachePoint":{"type":"default"}},{"systemTool":{"name":"nova_grounding"}}]},"messages":[
        {"role":"user","content":[{"text":"Go."},{"cachePoint":{"type":"default"}}]},
        {"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},{"toolUse":{"toolUseId":"t1","name":"f","input":{}}}]},
        {"role":"user","content":[{"toolResult":{"toolUseId":"t1","status":"error","content":[{"json":{"a":1}},{"video":{"format":"mp4","source":{"bytes":"AAAA"}}}]}}]}]}"#;
    check(
        Format::Bedrock,
        body,
        &[Format::Anthropic, Format::OpenaiChat],
        &expect![[r#"
        anthropic: {"tools":[{"name":"f","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"{\"a\":1}"},{"type":"text","text":"[not carried over: video/mp4, 4 bytes]"}],"is_error":true}]}]}
          -: Dropped Parameter additionalModelRequestFields
          -: Dropped CacheMarker of tools
          -: Dropped Tool without a name
          0: Dropped CacheMarker cachePoint
          1: Dropped SignedReasoning 
          2: Changed Medium video/mp4
        openai-chat: {"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"messages":[{"role":"user","content":"Go."},{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"t1","content":[{"type":"text","text":"{\"a\":1}"},{"type":"text","text":"[not carried over: video/mp4, 4 bytes]"}]}]}
          -: Dropped Parameter additionalModelRequestFields
          -: Dropped CacheMarker of tools
          -: Dropped Tool without a name
          0: Dropped CacheMarker cachePoint
          1: Dropped SignedReasoning 
          2: Dropped Failure 
          2: Changed Medium video/mp4
    "#]],
    );
}

#[test]
fn half_a_character_is_listed() {
    let body = r#"{"messages":[{"role":"user","content":"a \ud800 b"},{"role":"user","content":"\ud83d\ude00 \ufffd \\ud800"}]}"#;
    let request = wire::parse(Format::OpenaiChat, body.to_owned()).expect("a request");
    let lost = convert(&request, Format::Anthropic).lost;
    let halves: Vec<_> = lost.iter().filter(|lost| lost.what == Loss::HalfCharacter).collect();
    assert_eq!(halves.len(), 1, "{lost:?}");
    assert_eq!(halves[0].entry, Some(0));
}

#[test]
fn words_in_blocks_of_one_format_alone_are_said_everywhere() {
    let claude = r#"{"model":"m","max_tokens":9,"messages":[
        {"role":"user","content":[{"type":"document","title":"Rules","source":{"type":"content","content":[{"type":"text","text":"Port 9444."},{"type":"text","text":"No root."}]}},
            {"type":"document","source":{"type":"text","media_type":"text/plain","data":"Owner: Ana."}},
            {"type":"search_result","source":"https://docs/x","title":"Hosts","content":[{"type":"text","text":"Host is db3."}]}]},
        {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"find","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"search_result","source":"s1","title":"Ports","content":[{"type":"text","text":"Use 8080."}]}]}]}]}"#;
    let request = wire::parse(Format::Anthropic, claude.to_owned()).expect("a request");
    for to in Format::ALL.into_iter().filter(|to| *to != Format::Anthropic) {
        let done = convert(&request, to);
        let said = [
            "Rules",
            "Port 9444.",
            "No root.",
            "Owner: Ana.",
            "Hosts (https://docs/x)",
            "Host is db3.",
            "Ports (s1)",
            "Use 8080.",
        ];
        for words in said.into_iter().filter(|words| !(to == Format::Bedrock && *words == "Rules"))
        {
            assert!(done.text.contains(words), "{words} isn't in {}", done.text);
        }
        assert!(
            done.lost.iter().all(|lost| lost.extent == Extent::Changed
                || lost.what == Loss::Parameter
                || lost.what == Loss::Model),
            "{:?}",
            done.lost
        );
    }
    let nova = r#"{"messages":[{"role":"user","content":[{"guardContent":{"text":{"text":"Never log names.","qualifiers":["query"]}}}]},
        {"role":"assistant","content":[{"citationsContent":{"content":[{"text":"The limit is 40."}],"citations":[{"title":"Limits"}]}},
            {"citationsContent":{"content":[{"text":"One."},{"text":"Two."}]}}]},
        {"role":"user","content":[{"searchResult":{"source":"s","title":"T","content":[{"text":"Three."}]}}]}]}"#;
    let request = wire::parse(Format::Bedrock, nova.to_owned()).expect("a request");
    assert!(request.transcript.entry(0).is_human(), "guarded words are a person's");
    for to in Format::ALL.into_iter().filter(|to| *to != Format::Bedrock) {
        let done = convert(&request, to);
        for words in ["Never log names.", "The limit is 40.", "One.\\nTwo.", "T (s)\\nThree."] {
            assert!(done.text.contains(words), "{words} isn't in {}", done.text);
        }
        assert!(done.lost.iter().any(|lost| lost.name == "citations"), "{:?}", done.lost);
    }
}

#[test]
fn empty_messages_and_what_mending_took_are_told() {
    let said = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
    let body =
        format!("[{},{},{}]", said("user", "Go."), said("assistant", ""), said("user", "On."));
    let request = wire::parse(Format::Anthropic, body).expect("a request");
    let mended = convert(&request, Format::OpenaiChat);
    assert_eq!(mended.mended.len(), 1);
    assert!(mended.mending_took > 30, "{}", mended.mending_took);
    let alone = format!("[{},{}]", said("user", "Go."), said("assistant", ""));
    let request = wire::parse(Format::Anthropic, alone).expect("a request");
    let listed = convert(&request, Format::OpenaiChat);
    assert_eq!((listed.lost[0].what, listed.lost[0].entry), (Loss::Blank, Some(1)));
}

/// A message that was dropped unbound the thinking behind it, which the provider refused then.
#[test]
fn a_body_of_the_same_format_loses_thinking_that_a_mend_unbinds() {
    let thinks = |text: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"{text}","signature":"c2ln"}},{{"type":"text","text":"Said {text}."}}]}}"#
        )
    };
    let go = r#"{"role":"user","content":"Go."}"#;
    let orphan =
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"x"}]}"#;
    let messages = [go, &thinks("one"), orphan, go, &thinks("two"), go].join(",");
    let body = format!(r#"{{"model":"claude-opus-5-5","max_tokens":9,"messages":[{messages}]}}"#);
    let request = wire::parse(Format::Anthropic, body).expect("messages");
    let converted = convert(&request, Format::Anthropic);
    assert!(converted.text.contains(r#""thinking":"one""#), "{}", converted.text);
    assert!(!converted.text.contains(r#""thinking":"two""#), "{}", converted.text);
    let places: Vec<_> = converted.mended.iter().map(|mended| mended.entry).collect();
    assert_eq!(places, [Some(2), Some(4)]);
}
