//! Reported usage as anchor and evidence: law 13 over real texts, and by hand.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use epitome::count::{
    Basis, CacheKey, Cached, Calibration, Count, Tally, TokenCounter, Usage, counter,
};
use epitome::wire::{Format, Request, parse};
use serde_json::{Value, json};

/// Every word is a token, and it isn't sure of it.
#[derive(Debug)]
struct Words;

impl TokenCounter for Words {
    fn name(&self) -> &'static str {
        "words"
    }

    fn text(&self, text: &str) -> Count {
        let words = text.split_whitespace().count() as u64;
        Count::estimated(words, words * 2)
    }
}

/// Messages of so many words.
fn tally(sizes: &[usize]) -> Tally {
    let texts: Vec<String> = sizes.iter().map(|words| "word ".repeat(*words)).collect();
    of(&texts, &Words)
}

fn of(texts: &[String], counter: &dyn TokenCounter) -> Tally {
    Tally::of(&said(texts), counter)
}

fn said(texts: &[String]) -> Request {
    let role = |at: usize| if at.is_multiple_of(2) { "user" } else { "assistant" };
    let messages: Vec<Value> =
        (0..texts.len()).map(|at| json!({"role": role(at), "content": texts[at]})).collect();
    parse(Format::OpenaiChat, json!({ "messages": messages }).to_string()).expect("a body")
}

fn usage(prompt: u64) -> Usage {
    Usage { prompt, ..Usage::default() }
}

#[test]
fn without_a_report_an_estimate_stays_what_it_is() {
    let tally = tally(&[997]);
    assert_eq!(tally.total(), Count { tokens: 1003, upper: 2000, basis: Basis::Estimated });
    assert_eq!(Calibration::new("words").total(&tally), tally.total());
}

#[test]
fn what_was_reported_is_not_estimated_again() {
    let mut calibration = Calibration::new("words");
    calibration.observe(&tally(&[997]), usage(1500));
    let again = calibration.total(&tally(&[997]));
    assert_eq!(again, Count { tokens: 1500, upper: 1500, basis: Basis::Reported });

    // 97 words and 3 around them came after: half as much again, as the report was.
    let more = calibration.total(&tally(&[997, 97]));
    assert_eq!((more.tokens, more.basis), (1500 + 150, Basis::Calibrated));
    // The counter allows for twice its count, a report or two don't change that.
    assert_eq!(more.upper, 1500 + 200);
}

#[test]
fn the_reply_is_reported_too() {
    let mut calibration = Calibration::new("words");
    calibration.observe(&tally(&[997]), Usage { prompt: 1500, reply: 777, reply_entries: 1 });
    assert_eq!(calibration.total(&tally(&[997, 400])).tokens, 2277);
    assert_eq!(calibration.total(&tally(&[997])).tokens, 1500);
    let next = calibration.total(&tally(&[997, 400, 97]));
    assert_eq!(next.tokens, 2277 + 150);
}

#[test]
fn an_edited_prefix_is_no_anchor_but_the_evidence_stays() {
    let mut calibration = Calibration::new("words");
    calibration.observe(&tally(&[997, 397]), usage(2106));
    let edited = calibration.total(&tally(&[497, 397]));
    assert_eq!((edited.tokens, edited.basis), (1356, Basis::Calibrated), "903 times 2106 by 1403");
    let other = calibration.clone().for_counter("o200k");
    assert_eq!(other.reports(), 0);
    assert_eq!(calibration.clone().for_counter("words"), calibration);
}

#[test]
fn the_band_shrinks_with_evidence() {
    let mut calibration = Calibration::new("words");
    let mut sizes = vec![997];
    let mut reported = 0;
    let mut bands = Vec::new();
    for _ in 0..20 {
        reported = tally(&sizes).total().tokens * 12 / 10;
        calibration.observe(&tally(&sizes), usage(reported));
        sizes.push(997);
        let next = calibration.total(&tally(&sizes));
        bands.push(next.upper - next.tokens);
    }
    assert!(reported > 0 && calibration.reports() == 16);
    assert!(bands.is_sorted_by(|before, after| before + 1 >= *after), "{bands:?}");
    assert!(bands[19] * 3 < bands[0], "{bands:?}");
}

#[test]
fn small_change_is_no_evidence() {
    let mut calibration = Calibration::new("words");
    calibration.observe(&tally(&[997]), usage(1500));
    calibration.observe(&tally(&[997, 10]), usage(1600));
    assert_eq!(calibration.reports(), 1);
    assert_eq!(calibration.total(&tally(&[997, 10])).tokens, 1600, "it is the anchor all the same");
    calibration.observe(&tally(&[]), usage(0));
    assert_eq!(calibration.reports(), 1, "a report of nothing says nothing");
}

#[test]
fn a_calibration_survives_serialization() {
    let mut calibration = Calibration::new("words");
    calibration.observe(&tally(&[997]), usage(1500));
    let text = serde_json::to_string(&calibration).expect("serialises");
    assert_eq!(serde_json::from_str::<Calibration>(&text).expect("reads"), calibration);
}

/// A tokenizer that takes so many percent of what another takes.
#[derive(Debug)]
struct Percent(Arc<dyn TokenCounter>, u64);

impl TokenCounter for Percent {
    fn name(&self) -> &'static str {
        "percent"
    }

    fn text(&self, text: &str) -> Count {
        Count::exact((self.0.text(text).tokens * self.1).div_ceil(100))
    }
}

/// The texts of a shipped session, in order.
fn session(name: &str) -> Vec<String> {
    fn gather(value: &Value, texts: &mut Vec<String>) {
        match value {
            Value::String(text) if text.len() > 40 => texts.push(text.clone()),
            Value::Array(values) => values.iter().for_each(|value| gather(value, texts)),
            Value::Object(members) => members.values().for_each(|value| gather(value, texts)),
            _ => {}
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/claude-code").join(name);
    let mut texts = Vec::new();
    for row in fs::read_to_string(path).expect("a session").lines() {
        let row: Value = serde_json::from_str(row).expect("JSON");
        if let Some(content) = row.pointer("/message/content") {
            gather(content, &mut texts);
        }
    }
    texts
}

#[test]
fn law_13_the_upper_edge_holds_over_real_sessions() {
    // Each step counts all texts so far.
    let cached = |name: &str| -> Arc<dyn TokenCounter> {
        Arc::new(Cached::new(counter(name).expect("there"), 1 << 14, CacheKey([7; 4])))
    };
    let truth = cached("o200k");
    let mut steps = 0;
    let mut misses = 0;
    for name in ["session-3fe1b6bc.jsonl", "agent-a485154.jsonl"] {
        let texts = session(name);
        assert!(texts.len() > 30, "{name} has {}", texts.len());
        let ends = (4..texts.len()).step_by(4);
        let steps_of: Vec<(usize, Request)> = ends.map(|end| (end, said(&texts[..end]))).collect();
        // Tokenizers as they may be, against estimates whose band holds them or doesn't.
        for (estimate, percent) in
            [("claude", 100), ("claude", 120), ("claude", 160), ("chars4", 100), ("o200k", 110)]
        {
            let case = format!("{name}: {estimate} against {percent} % of o200k");
            let ours = cached(estimate);
            let theirs = Percent(Arc::clone(&truth), percent);
            let mut calibration = Calibration::new(estimate);
            let mut band = 0.0;
            for (end, request) in &steps_of {
                let counted = Tally::of(request, &*ours);
                let real = Tally::of(request, &theirs).total().tokens;
                let said = calibration.total(&counted);
                if calibration.reports() > 0 {
                    steps += 1;
                    misses += u32::from(said.upper < real);
                    let short = real.saturating_sub(said.upper) as f64 / real as f64;
                    let is_early = calibration.reports() < 3;
                    assert!(
                        is_early || short < 0.01,
                        "{case}, at {end}: {said:?}, {real} in truth"
                    );
                    band = (said.upper - said.tokens) as f64 / real as f64;
                    let error = said.tokens.abs_diff(real) as f64 / real as f64;
                    assert!(calibration.reports() < 6 || error < 0.03, "{case}, at {end}: {error}");
                }
                calibration.observe(&counted, usage(real));
            }
            assert!(band < 0.07, "{case}: still ±{band} at the end");
        }
    }
    assert!(
        steps > 300 && misses * 50 < steps,
        "the edge was too low in {misses} of {steps} steps"
    );
}
