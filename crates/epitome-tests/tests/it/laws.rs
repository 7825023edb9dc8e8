//! The laws of ARCHITECTURE.md, over generated transcripts.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;

use epitome::transcript::PartKind;
use epitome::{Compactor, Format, Options, Pin, Tail, Target, Task, wire};
use expect_test::expect_file;
use proptest::prelude::*;
use testkit::laws::{TOLD, check_all, descent};
use testkit::{Case, Histogram, generate, page, to_percent};

fn tails() -> impl Strategy<Value = Tail> {
    prop_oneof![
        4 => Just(Tail::Fitting),
        1 => (0usize..6).prop_map(Tail::Items),
        1 => (0usize..4).prop_map(Tail::Steps),
        1 => (0usize..3).prop_map(Tail::Turns),
        1 => (0u64..400).prop_map(Tail::Tokens),
    ]
}

fn compactor(case: &Case, tail: Tail, task: Task) -> Compactor {
    let options = Options {
        target: Target::Percent(case.target.clamp(1, 100)),
        tail,
        task,
        pins: case.pin.map(|at| pin(case, at)).into_iter().collect(),
        // Which cases have one is as good as chance.
        preserved_tools: case
            .target
            .is_multiple_of(4)
            .then(|| "Grep".to_owned())
            .into_iter()
            .collect(),
        ..Options::default()
    };
    testkit::compactor(options, "o200k")
}

/// A pin on the entry, by its place or by words in it.
fn pin(case: &Case, at: usize) -> Pin {
    let request = case.request();
    let mut texts = request.transcript.entry(at).parts().filter(|p| p.kind() == PartKind::Text);
    let words = texts.next().map(|part| part.text().chars().take(12).collect::<String>());
    match words.filter(|words| case.target % 2 == 1 && !words.trim().is_empty()) {
        Some(words) => Pin::Text(words),
        None => Pin::Entry(at),
    }
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("EPITOME_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    ProptestConfig { cases, max_shrink_iters: 2_000, ..ProptestConfig::default() }
}

#[test]
fn the_laws_hold() {
    let histogram = Histogram::default();
    let all =
        (generate::valid(), tails(), prop_oneof![3 => Just(Task::Keep), 1 => Just(Task::Fold)]);
    let mut runner = proptest::test_runner::TestRunner::new(cases());
    let result = runner.run(&all, |(case, tail, task)| {
        histogram.count(&case.features);
        let compactor = compactor(&case, tail, task);
        check_all(&case.request(), &compactor).map_err(TestCaseError::fail)
    });
    println!("{histogram}");
    if let Err(error) = result {
        panic!("{error}");
    }
    histogram.assert_each_over(1.0);
}

#[test]
fn the_laws_hold_for_broken_input() {
    let all = (generate::broken(), tails());
    let mut runner = proptest::test_runner::TestRunner::new(cases());
    let result = runner.run(&all, |(case, tail)| {
        let case = Case { pin: None, ..case };
        check_all(&case.request(), &compactor(&case, tail, Task::Keep)).map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// Prints how many compactions of generated transcripts break each law of what the agent is told, and how.
#[test]
#[ignore = "a measure; it fails nothing"]
fn how_often_each_law_is_broken() {
    for format in Format::ALL {
        let (hidden, ways) = (Cell::new(0), RefCell::new(BTreeMap::new()));
        let mut runner = proptest::test_runner::TestRunner::new(cases());
        let all = (generate::valid_in(&[format]), tails());
        let run = runner.run(&all, |(case, tail)| {
            let compactor = compactor(&Case { pin: None, ..case.clone() }, tail, Task::Keep);
            let outcome = compactor.compact(&case.request()).expect("it compacts");
            hidden.set(hidden.get() + usize::from(!outcome.view.is_whole()));
            for why in TOLD.iter().filter_map(|law| law.holds(&outcome, &compactor).err()) {
                // Numbers and what was said are those of one case.
                let (law, how) = why.split_once(": ").expect("a law and how it is broken");
                let how = how.replace(|c: char| c.is_ascii_digit(), "");
                let how = how.split(['"', '{', '[']).next().unwrap_or_default().to_owned();
                ways.borrow_mut().entry((law.to_owned(), how)).or_insert((0, why.clone())).0 += 1;
            }
            Ok(())
        });
        run.expect("nothing fails");
        println!("{format}: {} of {} cases hide something", hidden.get(), cases().cases);
        for ((law, how), (count, why)) in ways.into_inner() {
            println!("{count:6}  {law}: {how:.70}\n        {why:.300}");
        }
    }
}

/// At each of the targets of a case, in percent, by no plan but the first.
#[test]
fn what_broke_a_law_keeps_it() {
    page::check(&expect_file!["laws.txt"], |case| {
        let (format, mut settings) = case.format();
        let options = (settings.len() > 1).then(|| settings.remove(1));
        let options = options.map(serde_json::from_value::<Options>).transpose();
        let options = options.expect("options").unwrap_or_default();
        let percents: [u8; 2] = serde_json::from_value(settings.remove(0)).expect("percents");
        let request = case.request(format);
        for percent in percents[0]..percents[1] {
            let options = Options { target: Target::Percent(percent), ..options.clone() };
            let compactor = testkit::compactor(options, "o200k");
            check_all(&request, &compactor).unwrap_or_else(|error| panic!("{percent} %: {error}"));
            let receipt = compactor.compact(&request).expect("it compacts").receipt;
            assert!(receipt.fallbacks.is_empty(), "{percent} %: {:?}", receipt.fallbacks);
        }
        String::new()
    });
}

/// Found by chance: the excerpt of a reminder lost its mark, so that a next compaction took it for a person's newest words.
#[test]
fn an_excerpt_of_what_was_injected_is_no_persons_words() {
    let reminders =
        ["𠁀\\u0000𐀀A|)𐀀𐀀𐀀0Ƣ𐀀aA0\\u0000ຳ0\\u0000".to_owned(), "Ask before you push. ".repeat(60)];
    for reminder in reminders {
        let image = r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAAAAAA"}}"#;
        let said =
            format!(r#"{{"role":"user","content":[{image},{{"type":"text","text":"ok"}}]}}"#);
        let note = format!(
            r#"{{"role":"user","content":"<system-reminder>{reminder}</system-reminder>"}}"#
        );
        let body = format!(r#"{{"model":"m","messages":[{said},{said},{note}]}}"#);
        let request = wire::parse(Format::OpenaiChat, body).expect("messages");
        for percent in [5, 10, 31, 34, 37, 40, 60] {
            let options = Options { task: Task::Fold, ..to_percent(percent) };
            let compactor = testkit::compactor(options, "o200k");
            check_all(&request, &compactor).expect("the laws hold");
            let view = compactor.compact(&request).expect("it compacts").request;
            let newest = view.transcript.entries().last().expect("it isn't empty");
            assert!(!newest.is_human(), "{}", newest.raw());
        }
    }
}

#[test]
fn counters_agree_that_counts_add_up() {
    let runner_cases = ProptestConfig { cases: 100, ..cases() };
    let names: Vec<Arc<str>> = epitome::count::NAMES.iter().map(|name| Arc::from(*name)).collect();
    proptest!(runner_cases, |(case in generate::valid(), name in proptest::sample::select(names))| {
        let compactor = testkit::compactor(to_percent(case.target.clamp(1, 100)), &name);
        let outcome = compactor.compact(&case.request()).map_err(|e| TestCaseError::fail(e.to_string()))?;
        descent(&outcome, &compactor).map_err(TestCaseError::fail)?;
    });
}
