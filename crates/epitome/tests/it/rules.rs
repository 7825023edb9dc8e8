//! Every rule of the table has a body that breaks it, and if it says how it is mended, it is.

use epitome::wire::{self, Format, RULES};

const CALL: &str = r#"{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
const ANSWER: &str = r#"{"role":"tool","tool_call_id":"a","content":"x"}"#;
const USER: &str = r#"{"role":"user","content":"hi"}"#;
const USE: &str =
    r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}"#;
const RESULT: &str =
    r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"x"}]}"#;

/// Bodies that break one rule each.
fn failing(rule: &str) -> String {
    match rule {
        "chat/shape" => format!("[{USER},7]"),
        "chat/answered" => format!("[{USER},{CALL},{USER}]"),
        "chat/orphan" => format!("[{USER},{ANSWER}]"),
        "chat/duplicate-result" => format!("[{USER},{CALL},{ANSWER},{ANSWER}]"),
        "chat/result-place" => format!("[{USER},{CALL},{USER},{ANSWER}]"),
        "chat/reused-id" => {
            format!("[{USER},{},{ANSWER},{ANSWER}]", twice(CALL, r#"{"id":"a""#, "]}"))
        }
        "chat/arguments" => format!("[{USER},{},{ANSWER}]", CALL.replace(r#""{}""#, "{}")),
        "chat/empty" => format!(r#"[{USER},{{"role":"assistant","content":null}}]"#),
        "anthropic/shape" => format!(r#"[{USER},{{"role":"tool","content":"x"}}]"#),
        "anthropic/first-role" => format!(r#"[{{"role":"assistant","content":"hi"}},{USER}]"#),
        "anthropic/system-place" => format!(r#"[{{"role":"system","content":"obey"}},{USER}]"#),
        "anthropic/answered" => format!("[{USER},{USE},{USER}]"),
        "anthropic/orphan" => format!("[{USER},{RESULT}]"),
        "anthropic/duplicate-result" => format!("[{USER},{USE},{RESULT},{RESULT}]"),
        "anthropic/result-place" => format!("[{USER},{USE},{USER},{RESULT}]"),
        "anthropic/reused-id" => format!("[{USER},{USE},{RESULT},{USE},{RESULT}]"),
        "anthropic/input" => format!("[{USER},{},{RESULT}]", USE.replace("{}", r#""{}""#)),
        "anthropic/side" => format!("[{USER},{}]", USE.replace("assistant", "user")),
        "anthropic/name" => {
            format!("[{USER},{},{RESULT}]", USE.replace("\"f\"", &format!("{:?}", "f".repeat(300))))
        }
        "anthropic/empty-text" => String::from(
            r#"[{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"x"}]}]"#,
        ),
        "anthropic/empty" => format!(r#"[{USER},{{"role":"user","content":[]}}]"#),
        "anthropic/thinking-first" => {
            format!(r#"{{"thinking":{{"type":"enabled"}},"messages":[{USER},{USE},{RESULT}]}}"#)
        }
        other => panic!("no failing body for {other}"),
    }
}

/// `text` with what stands between `from` and the last `to` said twice.
fn twice(text: &str, from: &str, to: &str) -> String {
    let start = text.find(from).expect("the text above");
    let end = text.rfind(to).expect("the text above");
    format!("{},{}", &text[..end], &text[start..])
}

#[test]
fn every_rule_is_broken_found_and_mended() {
    for rule in RULES {
        let body = failing(rule.id.0);
        let request = wire::parse(rule.format, body.clone()).expect("well-formed");
        let found = wire::check(&request);
        assert!(found.iter().any(|finding| finding.rule == rule.id), "{}: {found:?}", rule.id);
        let repaired = wire::repair(&request);
        let is_left = repaired.left.iter().any(|finding| finding.rule == rule.id);
        assert_eq!(is_left, rule.repair.is_empty(), "{}: {}", rule.id, repaired.request.source());
        let said = repaired.mended.iter().any(|mended| mended.rule == rule.id);
        assert_eq!(said, !rule.repair.is_empty(), "{}: {:?}", rule.id, repaired.mended);
        // The breach is the only one, so the oracle knows it too.
        let verdict =
            testkit::oracle::accepts(rule.format, &serde_json::from_str(&body).expect("JSON"));
        if rule.id.0 != "chat/arguments" {
            assert!(verdict.is_err(), "{}", rule.id);
        }
    }
}

#[test]
fn rules_say_what_they_are() {
    for rule in RULES {
        let prefix = if rule.format == Format::Anthropic { "anthropic/" } else { "chat/" };
        assert!(rule.id.0.starts_with(prefix), "{}", rule.id);
        assert!(!rule.demand.is_empty() && !rule.error.is_empty(), "{}", rule.id);
        assert!(
            rule.source.contains("PROVIDERS")
                || rule.source.contains("SDK")
                || rule.source.contains("[BK]")
        );
    }
}
