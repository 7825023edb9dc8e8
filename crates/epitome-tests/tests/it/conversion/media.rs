//! Images, sounds and documents: shown where the target has a form for them, noted and listed where it hasn't.

use epitome::convert::{Extent, Loss, convert};
use epitome::wire::{self, Format};
use expect_test::expect_file;
use testkit::page;

use super::by_outcome;

/// A request whose user says a word and shows `medium`.
fn asked(format: Format, medium: &str) -> epitome::Request {
    let word = match format {
        Format::OpenaiResponses => r#"{"type":"input_text","text":"See."}"#,
        Format::Gemini | Format::Bedrock => r#"{"text":"See."}"#,
        _ => r#"{"type":"text","text":"See."}"#,
    };
    let (list, inside) =
        (format.list(), if format == Format::Gemini { "parts" } else { "content" });
    let (key, user) = match format {
        Format::GeminiInteractions => ("type", "user_input"),
        _ => ("role", "user"),
    };
    let body = format!(r#"{{"{list}":[{{"{key}":"{user}","{inside}":[{word},{medium}]}}]}}"#);
    wire::parse(format, body).expect("a request")
}

#[test]
fn each_is_shown_where_there_is_a_form_for_it() {
    page::check(&expect_file!["media.txt"], |case| {
        let (from, _) = case.format();
        by_outcome(Format::ALL.into_iter().filter(|to| *to != from).map(|to| {
            let done = convert(&asked(from, &case.given), to);
            let written = wire::parse(to, done.text).expect("a request");
            assert_eq!(wire::check(&written), [], "{}", written.source());
            let entry = written.transcript.entry(0);
            // Behind the word.
            let (_, shown) = entry.raw().split_once("See.\"},").expect("a list of two");
            let shown = shown.strip_suffix("]}").expect("it ends with the message");
            // What isn't there as it was is told.
            let is_noted = shown.contains("not carried over");
            let is_told = done.lost.iter().any(|lost| {
                lost.extent == Extent::Changed
                    && matches!(lost.what, Loss::Medium | Loss::ProviderFile)
            });
            assert_eq!(is_noted, is_told, "{to}: {shown}");
            let lost = done.lost.iter().map(|lost| format!(" ({:?} {})", lost.what, lost.name));
            (to, format!("{shown}{}", lost.collect::<String>()))
        }))
    });
}

/// An SVG of Anthropic's went to Gemini, which takes no such image either.
#[test]
fn an_image_that_no_model_sees_is_a_note() {
    let image = r#"{"type":"image","source":{"type":"base64","media_type":"image/svg+xml","data":"PHN2Zz4="}}"#;
    let body = format!(r#"[{{"role":"user","content":[{image},{{"type":"text","text":"x"}}]}}]"#);
    let request = wire::parse(Format::Anthropic, body).expect("a request");
    for to in Format::ALL.into_iter().filter(|to| *to != Format::Anthropic) {
        let done = convert(&request, to);
        assert_eq!(done.lost.first().map(|lost| lost.what), Some(Loss::Medium), "{to}");
        let written = wire::parse(to, done.text).expect("a request");
        assert_eq!(wire::inspect(&written, &[]), [], "{to}");
    }
}
