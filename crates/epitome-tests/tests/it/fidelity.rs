//! Law 3: what isn't edited keeps its bytes.

use epitome::view::View;
use epitome::wire::json::Scanner;
use epitome::wire::{self, Format, Request};
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::TestRunner;
use serde::Deserialize;
use testkit::Histogram;
use testkit::generate::{broken, cases, valid};

fn rendered(request: &Request) -> String {
    wire::render(request, &View::whole(request.transcript.len()))
}

#[test]
fn a_buffer_is_handed_over_as_it_is() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"Go on."}]}"#;
    let request = wire::parse(Format::OpenaiChat, body.to_owned()).expect("a body");
    let source = request.source().clone();
    assert!(std::sync::Arc::ptr_eq(&request.into_source(), &source) && *source == body);
}

#[test]
fn bytes_come_out_as_they_went_in() {
    let histogram = Histogram::default();
    TestRunner::new(cases(1000))
        .run(&valid(), |case| {
            histogram.count(&case.features);
            prop_assert_eq!(rendered(&case.request()), case.text);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    println!("{histogram}");
    // A handful of cases, asked for to be quick, says nothing about rare features.
    if histogram.cases() >= 500 {
        histogram.assert_each_over(1.0);
    }
}

fn is_json_for_serde(text: &str) -> bool {
    let mut oracle = serde_json::Deserializer::from_str(text);
    serde::de::IgnoredAny::deserialize(&mut oracle).is_ok() && oracle.end().is_ok()
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn broken_ones_come_out_as_they_went_in(case in broken()) {
        prop_assert_eq!(rendered(&case.request()), case.text);
    }

    /// Texts that are JSON but for one character are where a scanner and its oracle may part.
    #[test]
    fn the_scanner_accepts_what_serde_accepts(
        case in valid(),
        at in any::<Index>(),
        cut in 0usize..3,
        with in prop::sample::select(vec!["", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "\u{1}", "\n", "é", "\\u12", "nul"]),
    ) {
        let mut text: Vec<char> = case.text.chars().take(4000).collect();
        let at = at.index(text.len() + 1);
        text.splice(at..(at + cut).min(text.len()), with.chars());
        let text: String = text.into_iter().collect();
        let mut scanner = Scanner::new(&text);
        let accepts = scanner.value().and_then(|_| scanner.end()).is_ok();
        prop_assert_eq!(accepts, is_json_for_serde(&text), "{}", text);
    }

    /// And a request is refused exactly if it isn't JSON.
    #[test]
    fn parsing_fails_on_nothing_but_bad_json(case in valid(), at in any::<Index>()) {
        let mut cut = at.index(case.text.len());
        while !case.text.is_char_boundary(cut) {
            cut -= 1;
        }
        let start = &case.text[..cut];
        if is_json_for_serde(start) && start.trim_end().ends_with(['}', ']']) {
            prop_assert!(wire::parse(case.format, start.to_owned()).is_ok());
        } else if case.draft.envelope != epitome::wire::Envelope::Lines {
            prop_assert!(wire::parse(case.format, start.to_owned()).is_err());
        }
    }
}
