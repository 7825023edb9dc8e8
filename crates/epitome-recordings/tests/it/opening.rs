//! Inputs of any kind, good and bad.

use epitome::Format;
use epitome_recordings::{Input, Kind, OpenError, detect, open};

use crate::{LAST, example};

fn opened(bytes: impl Into<Vec<u8>>) -> Result<Input, OpenError> {
    open(bytes.into(), None, LAST)
}

fn says(bytes: impl Into<Vec<u8>>) -> String {
    opened(bytes).expect_err("a bad input").to_string()
}

#[test]
fn recordings_are_known_by_their_content() {
    for (file, kind) in [
        ("claude-code/session-9eda1058.jsonl", Kind::ClaudeCode),
        ("claude-code/session-3fe1b6bc.jsonl", Kind::ClaudeCode),
        ("claude-code/agent-a485154.jsonl", Kind::ClaudeCode),
        ("claude-code/edge_cases.jsonl", Kind::ClaudeCode),
        ("tau-bench/00_task2_trial1.json", Kind::TauBench),
        ("swe-agent/ctf-warmup.traj", Kind::SweAgent),
        ("swe-agent/marshmallow-1867-function-calling.traj", Kind::SweAgent),
    ] {
        let source = example(file);
        assert_eq!(detect(&source), Some(kind), "{file}");
        let padded = format!("\u{feff} \n\n\t{source}\n\n");
        assert_eq!(detect(&padded), Some(kind), "{file}");
        let input = opened(padded).expect(file);
        assert!(matches!(&input, Input::Recording(recording) if recording.kind == kind));
        // What it was read as is known again, as a request.
        let body = input.request().source().as_str().to_owned();
        assert_eq!(detect(&body), None, "{file}");
        let again = opened(body).expect(file);
        assert!(
            matches!(&again, Input::Request(request) if request.format == input.request().format)
        );
    }
}

#[test]
fn an_indented_session_is_the_same_session() {
    let source = example("claude-code/session-9eda1058.jsonl");
    let rows = source.lines().map(|line| {
        let row: serde_json::Value = serde_json::from_str(line).expect("a row");
        serde_json::to_string_pretty(&row).expect("JSON")
    });
    let pretty = rows.collect::<Vec<_>>().join("\n");
    let count = |source: String| opened(source).expect("a session").request().transcript.len();
    assert_eq!(count(pretty), count(source));
}

#[test]
fn requests_are_known_by_their_content() {
    for (text, format) in [
        (r#"{"messages":[]}"#, Format::OpenaiChat),
        ("[]", Format::OpenaiChat),
        (r#"{"role":"user","content":"x"}"#, Format::OpenaiChat),
        (r#"{"system":"s","messages":[]}"#, Format::Anthropic),
    ] {
        let input = opened(text).expect(text);
        assert!(matches!(&input, Input::Request(request) if request.format == format), "{text}");
    }
    let forced = open(br#"{"messages":[]}"#.to_vec(), Some("anthropic"), LAST).expect("forced");
    assert_eq!(forced.request().format, Format::Anthropic);
}

#[test]
fn what_is_no_text_is_said_to_be() {
    for empty in ["", "\u{feff} \r\n\t "] {
        assert_eq!(opened(empty).expect_err("empty"), OpenError::Empty);
    }
    assert_eq!(says(b"\x1f\x8b\x08\0\0\0"), "the input is gzip, not text; unpack it first");
    assert_eq!(says(b"PK\x03\x04\0"), "the input is a zip archive, not text; unpack it first");
    assert_eq!(says(b"\x89PNG\r\n\x1a\n"), "the input is a PNG image, not text");
    for utf16 in [&b"\xff\xfe{\0"[..], b"{\0\"\0a\0", b"\xfe\xff\0{", b"\0{\0\""] {
        assert!(says(utf16).starts_with("the input is UTF-16"), "{utf16:?}");
    }
    assert_eq!(
        says(b"{\"messages\":[\n\"\xe9\"]}"),
        "the input is not UTF-8: byte 15 (line 2) starts no character"
    );
    assert_eq!(
        says(b"{\"messages\":[]}\0\0"),
        "the input has a NUL byte at offset 15, so it is damaged or not text"
    );
}

#[test]
fn what_is_in_no_known_format_is_told_why() {
    for text in [
        "hello",
        "42",
        r#"{"a":1}"#,
        "[1,2]",
        r#"[{"a":1}]"#,
        "{\"a\"",
        "{]",
        r#"{"messages":"x"}"#,
    ] {
        let error = opened(text).expect_err(text);
        assert!(
            matches!(&error, OpenError::Unknown { tried } if tried.len() == 5),
            "{text}: {error}"
        );
        for name in ["openai-chat: ", "anthropic: ", "claude-code: ", "tau-bench: ", "swe-agent: "]
        {
            assert!(error.to_string().contains(name), "{text}: {error}");
        }
    }
    let broken = says("{\"messages\":[{\"role\":\"user\",\n\"content\":");
    assert_eq!(broken, "not valid JSON: the text ends where a value should be (line 2, column 11)");
}

#[test]
fn a_session_without_messages_says_what_it_holds() {
    let summaries = "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"u\"}\n".repeat(3);
    assert_eq!(
        says(summaries + "{bad\n"),
        "no message in this claude-code recording, only 1 × not JSON, 3 × summary"
    );
}

#[test]
fn formats_without_a_reader_are_named() {
    for (text, name) in [
        (r#"{"type":"session_meta","payload":{}}"#, "codex"),
        (r#"{"sessionId":"s","projectHash":"h","messages":[]}"#, "gemini-cli"),
        (r#"{"type":"session","id":"x","provider":"p"}"#, "pi"),
        (r#"{"contents":[]}"#, "gemini"),
        (r#"{"model":"m","input":"x"}"#, "openai-responses"),
    ] {
        let shown = says(text);
        let asked = open(b"{}".to_vec(), Some(name), LAST).expect_err(name).to_string();
        assert_eq!(shown, asked);
        assert_eq!(
            shown,
            format!(
                "the input is in the format {name}, which can't be read yet; \
                 readable are openai-chat, anthropic, claude-code, tau-bench, swe-agent"
            )
        );
    }
    let unknown = open(b"{}".to_vec(), Some("word"), LAST).expect_err("unknown").to_string();
    assert!(
        unknown.starts_with("there is no format \"word\"; readable are openai-chat"),
        "{unknown}"
    );
}
