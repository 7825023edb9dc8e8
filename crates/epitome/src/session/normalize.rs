//! Changes that clients make to unchanged messages: tests/it/volatile.md lists them, with captures.

use std::borrow::Cow;

use crate::transcript::{Entry, Marks, Part, PartKind, Role};

/// Whether each process of the client rewrites the part: Gemini CLI describes date, folders and rules in the first
/// message, and describes them again when the session is resumed.
pub(super) fn is_restated(role: Role, part: &Part<'_>) -> bool {
    role == Role::User
        && part.kind() == PartKind::Text
        && !part.is(Marks::NESTED)
        && ["\"<", "\"\\u003"].iter().any(|start| part.raw_body().starts_with(start))
        && part.text().starts_with("<session_context>")
}

/// Whether nothing in the entry outlives its request: it is passed on, and isn't part of the conversation.
pub(super) fn is_volatile(entry: Entry<'_>) -> bool {
    let mut parts = entry.parts().peekable();
    parts.peek().is_some() && parts.all(|part| is_note(&part))
}

/// A system prompt without the number by which Claude Code tells its requests apart, which Anthropic's cache passes over (B.7).
pub(super) fn without_nonce(system: &str) -> Cow<'_, str> {
    const HEADER: &str = "x-anthropic-billing-header:";
    const NONCE: &str = "cch=";
    let header = system.find(HEADER);
    let nonce = header.and_then(|at| Some(at + system[at..].find(NONCE)? + NONCE.len()));
    let Some(at) = nonce else { return system.into() };
    let (before, nonce) = system.split_at(at);
    let rest = nonce.trim_start_matches(|c: char| c.is_ascii_hexdigit());
    format!("{before}{rest}").into()
}

/// Claude Code's count of the tokens that are left, appended to each request (B.7).
fn is_note(part: &Part<'_>) -> bool {
    if part.kind() != PartKind::Text || part.raw_body().len() > 120 {
        return false;
    }
    let text = part.text();
    let text = text.trim();
    text.strip_prefix("<total_tokens>").is_some_and(|rest| {
        let digits =
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, ',' | '_'));
        digits.len() < rest.len() && digits.trim_start().starts_with("left")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::quote;
    use crate::request::Request;
    use crate::wire::{Format, parse};

    fn read(format: Format, messages: &str) -> Request {
        parse(format, format!(r#"{{"messages":[{messages}]}}"#)).expect("it is JSON")
    }

    #[test]
    fn a_nonce_is_no_part_of_the_instructions() {
        let system = |nonce: &str| {
            format!(r#"[{{"text":"x-anthropic-billing-header: cc_version=2.1; cch={nonce};"}}]"#)
        };
        assert_eq!(without_nonce(&system("7a1c5")), without_nonce(&system("0ff")));
        assert_ne!(without_nonce(&system("7a1c5")), without_nonce(&system("z")));
        assert_eq!(without_nonce("say cch=7"), "say cch=7");
    }

    fn is_left_out(message: &str) -> bool {
        is_volatile(read(Format::OpenaiChat, message).transcript.entry(0))
    }

    #[test]
    fn only_a_short_count_of_tokens_that_are_left_is_a_note() {
        let says =
            |text: &str| is_left_out(&format!(r#"{{"role":"user","content":{}}}"#, quote(text)));
        let note = "<total_tokens>12,345_6 left</total_tokens>";
        assert!(says(note) && says(" <total_tokens>5 left"));
        for other in ["<total_tokens>left", "<total_tokens>5 gone", "5 left", ""] {
            assert!(!says(other), "{other}");
        }
        // With the quotes 120 bytes.
        let padded = |len: usize| note.to_owned() + &"x".repeat(len - 2 - note.len());
        assert!(says(&padded(120)) && !says(&padded(121)));
        let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
        let both =
            |a: &str, b: &str| format!(r#"{{"role":"user","content":[{},{}]}}"#, text(a), text(b));
        assert!(is_left_out(&both(note, note)) && !is_left_out(&both(note, "x")));
        let result = format!(r#"{{"role":"tool","tool_call_id":"a","content":"{note}"}}"#);
        assert!(!is_left_out(&result));
    }

    #[test]
    fn only_a_users_own_text_of_its_surroundings_is_restated() {
        let text = |text: &str| format!(r#"{{"type":"text","text":"{text}"}}"#);
        let result = |words: &str| {
            format!(r#"{{"type":"tool_result","tool_use_id":"a","content":[{}]}}"#, text(words))
        };
        let (here, escaped) = ("<session_context>x", r"\u003csession_context>x");
        for (role, block, restated) in [
            ("user", text(here), true),
            ("user", text(escaped), true),
            ("user", text("<other>"), false),
            ("user", text("x <session_context>"), false),
            ("assistant", text(here), false),
            ("user", result(here), false),
        ] {
            let message = format!(r#"{{"role":"{role}","content":[{block}]}}"#);
            let request = read(Format::Anthropic, &message);
            let entry = request.transcript.entry(0);
            let part = entry.parts().next_back().expect("a text");
            assert_eq!(is_restated(entry.role(), &part), restated, "{message}");
        }
    }

    #[test]
    fn a_marker_is_a_point_of_bedrocks() {
        let blocks = r#"{"cachePoint":{"type":"default"}},{"other":{}},{"text":"cachePoint"}"#;
        let request = read(Format::Bedrock, &format!(r#"{{"role":"user","content":[{blocks}]}}"#));
        let are = |format: Format| {
            let parts = request.transcript.entry(0).parts();
            parts.map(|part| format.dialect().is_cache_marker(&part)).collect::<Vec<_>>()
        };
        assert_eq!(are(Format::Bedrock), [true, false, false]);
        assert_eq!(are(Format::Anthropic), [false, false, false]);
    }

    #[test]
    fn a_seal_is_a_signature_of_geminis_and_nothing_else() {
        let are = |format: Format, list: &str, message: &str| {
            let request =
                parse(format, format!(r#"{{"{list}":[{message}]}}"#)).expect("it is JSON");
            let entry = request.transcript.entry(0);
            let all = entry
                .parts()
                .map(|part| (part.kind(), format.dialect().is_replaceable_signature(&part)));
            all.collect::<Vec<_>>()
        };
        let call = r#"{"functionCall":{"name":"f","args":{}},"thoughtSignature":"c2ln"}"#;
        let thought = r#"{"text":"hm","thought":true,"thoughtSignature":"c2ln"}"#;
        let plain = r#"{"text":"hm","thought":true}"#;
        let message = format!(r#"{{"role":"model","parts":[{call},{thought},{plain}]}}"#);
        let (reasoning, call) = (PartKind::Reasoning, PartKind::Call);
        let seals = [(call, false), (reasoning, true), (reasoning, false), (reasoning, false)];
        assert_eq!(are(Format::Gemini, "contents", &message), seals);
        let sealed =
            r#"{"role":"assistant","content":[{"type":"redacted_thinking","data":"c2ln"}]}"#;
        assert_eq!(are(Format::Anthropic, "messages", sealed), [(reasoning, false)]);
    }
}
