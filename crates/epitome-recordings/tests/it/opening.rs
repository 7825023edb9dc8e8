//! Inputs of any kind, good and bad.

use epitome::{Format, Request, View, wire};
use epitome_recordings::{Input, OpenError, names, open, reader};
use serde_json::Value;
use testkit::captures::Capture;
use testkit::examples::examples;
use testkit::layouts::layouts;

use crate::{LAST, detected, example};

fn opened(bytes: impl Into<Vec<u8>>) -> Result<Input, OpenError> {
    open(bytes.into(), None, LAST)
}

fn says(bytes: impl Into<Vec<u8>>) -> String {
    opened(bytes).expect_err("a bad input").to_string()
}

/// All shipped sessions, each with the kind that its folder is named for.
pub(crate) fn shipped() -> Vec<(String, &'static str)> {
    let all = examples().into_iter();
    all.map(|one| (one.name.clone(), reader(one.kind()).expect("a reader").name())).collect()
}

#[test]
fn recordings_are_known_by_their_content() {
    for (file, name) in shipped() {
        let source = example(&file);
        assert_eq!(detected(&source), Some(name), "{file}");
        let input = opened(source).expect(&file);
        assert!(matches!(&input, Input::Recording(recording) if recording.reader == name));
        // What it was read as is known again, as a request.
        let body = input.request().source().as_str().to_owned();
        assert_eq!(detected(&body), None, "{file}");
        let again = opened(body).expect(&file);
        assert!(
            matches!(&again, Input::Request(request) if request.format == input.request().format)
        );
    }
}

#[test]
fn white_space_marks_and_the_order_of_keys_change_nothing() {
    for (file, name) in shipped() {
        let source = example(&file);
        let read = |text: String, how: &str| {
            assert_eq!(detected(&text), Some(name), "{file}, {how}");
            said(opened(text).unwrap_or_else(|error| panic!("{file}, {how}: {error}")).request())
        };
        let want = read(source.clone(), "as it is");
        for (how, variant) in layouts(&source) {
            let got = read(variant, how);
            let differs = want.iter().zip(&got).position(|(want, got)| want != got);
            assert_eq!((got.len(), differs), (want.len(), None), "{file}, {how}");
        }
        // Its request, too, whichever way it is laid out.
        let input = opened(source).expect(&file);
        let (format, entries) = (input.request().format, input.request().transcript.len());
        for (how, variant) in layouts(input.request().source()) {
            let again = opened(variant).unwrap_or_else(|error| panic!("{file}, {how}: {error}"));
            let request = again.request();
            assert_eq!((request.format, request.transcript.len()), (format, entries), "{how}");
        }
    }
}

#[test]
fn requests_of_real_clients_are_known_however_they_are_written() {
    for capture in Capture::all() {
        for sent in &capture.requests {
            let name = format!("{}/{}", capture.name, sent.file);
            let want = said(opened(sent.body.clone()).expect(&name).request());
            for (how, text) in layouts(&sent.body) {
                let input = opened(text).unwrap_or_else(|error| panic!("{name}, {how}: {error}"));
                assert!(matches!(input, Input::Request(_)), "{name}, {how}");
                assert_eq!(input.request().format, sent.format(), "{name}, {how}");
                assert!(said(input.request()) == want, "{name}, {how}: something else is said");
            }
        }
    }
}

#[test]
fn what_a_recording_is_read_as_comes_out_as_it_was_read() {
    for (file, _) in shipped() {
        let input = opened(example(&file)).expect(&file);
        let read = input.request();
        let whole =
            |request: &Request| wire::render(request, &View::whole(request.transcript.len()));
        assert!(whole(read) == **read.source(), "{file} differs");
        for (how, text) in layouts(read.source()) {
            let again = opened(text.clone()).expect(&file);
            assert!(whole(again.request()) == text, "{file}, {how}: differs");
        }
    }
}

/// What was said by whom in each entry; in which order its parts stand may depend on the keys'.
fn said(request: &Request) -> Vec<Vec<String>> {
    let value = |json: &str| serde_json::from_str(json).unwrap_or(Value::Null);
    let entries = request.transcript.entries();
    let said = entries.map(|entry| {
        let parts = entry.parts();
        let mut parts: Vec<String> = parts
            .map(|part| {
                let (origin, kind) = (part.origin(), part.kind());
                format!("{origin:?} {kind:?} {}", value(part.raw_body()))
            })
            .collect();
        parts.sort();
        parts
    });
    said.collect()
}

#[test]
fn requests_are_known_by_their_content() {
    for (text, format) in [
        (r#"{"messages":[]}"#, Format::OpenaiChat),
        ("[]", Format::OpenaiChat),
        (r#"{"role":"user","content":"x"}"#, Format::OpenaiChat),
        (r#"{"system":"s","messages":[]}"#, Format::Anthropic),
        (r#"{"model":"m","input":"x"}"#, Format::OpenaiResponses),
        (r#"{"type":"compaction","encrypted_content":"g"}"#, Format::OpenaiResponses),
    ] {
        let input = opened(text).expect(text);
        assert!(matches!(&input, Input::Request(request) if request.format == format), "{text}");
    }
    let forced = open(br#"{"messages":[]}"#.to_vec(), Some("anthropic"), LAST).expect("forced");
    assert_eq!(forced.request().format, Format::Anthropic);
}

#[test]
fn inputs_that_are_not_text_are_named() {
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
    for text in ["hello", "42"] {
        let error = opened(text).expect_err(text);
        assert_eq!(
            error.to_string(),
            format!("the input isn't a JSON object or list: it begins with {text:?}")
        );
    }
    for text in [r#"{"a":1}"#, "[1,2]", r#"[{"a":1}]"#, "{\"a\"", "{]", r#"{"messages":"x"}"#] {
        let error = opened(text).expect_err(text);
        assert!(
            matches!(&error, OpenError::Unknown { tried, .. }
                if tried.iter().map(|one| one.name).eq(names())),
            "{text}: {error}"
        );
        let said = match text {
            "{\"a\"" => "not valid JSON: expected `:` after a key (line 1, column 5)".to_owned(),
            "{]" => "not valid JSON: expected a string (line 1, column 2)".to_owned(),
            text => format!("it begins with {text:?}"),
        };
        assert_eq!(error.to_string(), format!("the input is in no known format: {said}"));
    }
    let broken = says("{\"messages\":[{\"role\":\"user\",\n\"content\":");
    assert_eq!(broken, "not valid JSON: the text ends where a value should be (line 2, column 11)");
}

#[test]
fn no_secret_is_said_of_what_an_input_begins_with() {
    let address = "postgres://app:Zx9Kq2Lm8Vb4Nc6Td1Ws3Re5Yu7Io0P@db/x";
    for text in [address.to_owned(), format!("[\"{address}\"]")] {
        let error = opened(text.as_str()).expect_err(&text).to_string();
        assert!(error.contains("app:[masked: password]") && !error.contains("Zx9K"), "{error}");
    }
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
fn formats_that_nobody_knows_are_told_so() {
    let unknown = open(b"{}".to_vec(), Some("word"), LAST).expect_err("unknown").to_string();
    assert!(
        unknown.starts_with("there is no format \"word\"; the readable formats are openai-chat"),
        "{unknown}"
    );
}
