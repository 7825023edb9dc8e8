//! Counting a large request by a sample.

use std::sync::Arc;

use epitome::count::{Basis, SAMPLED_BYTES, Tally, TokenCounter, counter};
use epitome::engine::Counting;
use epitome::trigger::{Measurements, When};
use epitome::{Compactor, Format, Options, Request, wire};
use testkit::bulk::{Size, generate};

fn large(format: Format) -> Request {
    let entries = |entries| generate(5, Size::entries(format, entries));
    let source =
        (1..9).map(|times| entries(7_000 * times)).find(|body| body.len() >= SAMPLED_BYTES);
    wire::parse(format, source.expect("one is large enough")).expect("sound")
}

fn o200k() -> Arc<dyn TokenCounter> {
    counter("o200k").expect("it is built in")
}

fn compactor(options: Options) -> Compactor {
    testkit::compactor(options, "o200k")
}

#[test]
fn a_sample_is_near_and_says_how_near() {
    for format in Format::ALL {
        let request = large(format);
        let (exact, sampled) =
            (Tally::of(&request, &*o200k()).total(), Tally::sampled(&request, &*o200k()));
        let total = sampled.total();
        assert_eq!(total.basis, exact.basis.max(Basis::Sampled), "{format}");
        let least = total.tokens - (total.upper - total.tokens);
        assert!((least..=total.upper).contains(&exact.tokens), "{format} {exact:?} {total:?}");
        assert!(total.upper < exact.upper * 11 / 10, "{format} {exact:?} {total:?}");
        assert!(sampled.is_sampled() && sampled.len() == request.transcript.len(), "{format}");
        let sum: u64 = (0..sampled.len()).map(|at| sampled.entry(at)).sum();
        assert_eq!(sum + sampled.frame.total().tokens, total.tokens, "{format}");
    }
}

/// What stands further on in a large result is in its count.
#[test]
fn large_results_are_sampled_all_along() {
    let (prose, data) = ("The port is 9444 and nobody logs in as root. ", "9f86d081884c7d65");
    let result = format!("{}{}", prose.repeat(1_600), data.repeat(60_000));
    let messages: Vec<String> = (0..20)
        .map(|nth| {
            format!(
                r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"t{nth}","name":"Read","input":{{}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{nth}","content":"{result}"}}]}}"#
            )
        })
        .collect();
    let ask = r#"{"role":"user","content":"Read it."}"#;
    let body = format!(r#"{{"messages":[{ask},{}]}}"#, messages.join(","));
    let request = wire::parse(Format::Anthropic, body).expect("sound");
    let exact = Tally::of(&request, &*o200k()).total();
    let total = Tally::sampled(&request, &*o200k()).total();
    assert!(exact.tokens <= total.upper && total.tokens < exact.tokens * 12 / 10, "{total:?}");
}

#[test]
fn an_estimates_own_band_stays() {
    let request = large(Format::Anthropic);
    for name in ["claude", "chars4"] {
        let counter = counter(name).expect("it is built in");
        let exact = Tally::of(&request, &*counter).total();
        let total = Tally::sampled(&request, &*counter).total();
        assert_eq!(total.basis, Basis::Estimated, "{name}");
        assert!(total.upper >= exact.upper * 97 / 100, "{name} {exact:?} {total:?}");
    }
}

#[test]
fn a_sample_is_due_when_the_whole_count_is() {
    let request = large(Format::OpenaiChat);
    let exact = Tally::of(&request, &*o200k()).total().tokens;
    let about = Tally::sampled(&request, &*o200k()).total();
    // Far under, inside of what nobody knows, far above.
    for limit in [exact / 2, about.tokens, exact, exact + 1, about.upper + 1, exact * 2] {
        let due = |counting| {
            let trigger = Arc::new(When::Tokens(limit).build().expect("in range"));
            let compactor = compactor(Options { counting, ..Options::default() });
            let outcome =
                compactor.with_trigger(trigger, Measurements::default()).compact(&request);
            outcome.expect("nothing is in its way").receipt
        };
        let (sampled, whole) = (due(Counting::Sampled), due(Counting::Whole));
        assert_eq!(sampled.triggered, whole.triggered, "{limit}");
        let known =
            if limit > about.upper { about } else { Tally::of(&request, &*o200k()).total() };
        assert_eq!(sampled.before.count, known, "{limit}");
    }
}

#[test]
fn what_is_small_is_counted_whole() {
    let body = generate(5, Size::entries(Format::Anthropic, 300));
    let request = wire::parse(Format::Anthropic, body).expect("sound");
    let of = |counting| {
        let outcome = compactor(Options { counting, ..Options::default() }).compact(&request);
        let outcome = outcome.expect("nothing is in its way");
        (outcome.rendered().to_owned(), outcome.receipt.before.count)
    };
    assert_eq!(of(Counting::Sampled), of(Counting::Whole));
}

/// What a provider reported of most of it holds, whatever the sample says of that.
#[test]
fn what_was_reported_holds_for_a_sample_too() {
    let request = large(Format::Anthropic);
    let (whole, sampled) = (Tally::of(&request, &*o200k()), Tally::sampled(&request, &*o200k()));
    let tokens = whole.total().tokens * 3 / 2;
    let entries = request.transcript.len() - 1;
    let reported = Some(epitome::trigger::ReportedPrompt { entries, tokens });
    let around = Measurements { reported, ..Measurements::default() };
    let (exact, near) = (around.corrected(&whole), around.corrected(&sampled));
    assert!(exact.tokens >= tokens && near.tokens >= tokens, "{exact:?} {near:?}");
    assert!(near.upper >= exact.tokens && near.tokens < exact.tokens * 21 / 20, "{near:?}");
}
