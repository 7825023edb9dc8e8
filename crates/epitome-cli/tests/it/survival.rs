//! The survival benchmark itself is right: what keeps everything loses nothing, what keeps nothing has
//! nothing, and what remembers only the beginning is caught at it.

use std::borrow::Cow;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use epitome::checkpoint::looks_like_one;
use epitome::count::counter;
use epitome::transcript::ContentId;
use epitome::{Format, Request, wire};
use epitome_recordings::{Options, open};
use testkit::survival::judge::blocks;
use testkit::survival::page::tables;
use testkit::survival::plot::{Ground, planted, plot};
use testkit::survival::report::{BUDGETS, ROUNDS, Updates, VERSION};
use testkit::survival::scripted::{Summarized, summarizers};
use testkit::survival::{
    Book, Broken, Contender, Epitome, Everything, Report, Set, Shape, Speaker, Stream, Study, run,
    shipped,
};

const SESSIONS: [&str; 5] = [
    "00_task2_trial1",
    "01_task33_trial0",
    "03_task9_trial2",
    "05_task3_trial1",
    "07_task46_trial3",
];

fn study(seeds: u64) -> Study {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/tau-bench");
    let mut sessions = SESSIONS.map(|name| {
        let bytes = fs::read(folder.join(name).with_extension("json")).expect("an example");
        open(bytes, None, Options::default()).expect("a recording").request().clone()
    });
    // One comes twice.
    sessions[3] = sessions[0].clone();
    let streams = vec![Stream::joined("tau-bench", &sessions)];
    Study { streams, books: books(), seeds, counter: counter("o200k").expect("built in") }
}

fn books() -> Vec<(Set, Cow<'static, Book>)> {
    shipped().map(|(set, book)| (set, Cow::Borrowed(book))).to_vec()
}

fn measured<C: Contender>(study: &Study, contender: impl FnMut() -> C) -> Report {
    run(study, contender, |_| {}).unwrap_or_else(|broken| panic!("{broken}"))
}

/// Keeps nothing.
struct Nothing;

impl Contender for Nothing {
    fn compact(&mut self, request: &Request, _: u64) -> Result<Request, Broken> {
        assert_eq!(request.format, Format::OpenaiChat);
        let body = r#"{"messages":[{"role":"user","content":"Go on."}]}"#;
        wire::parse(request.format, body.to_owned()).map_err(Broken::from)
    }
}

/// Writes down all texts at first, line by line, and never again anything.
struct Beginning(Option<Request>);

impl Contender for Beginning {
    fn compact(&mut self, request: &Request, _: u64) -> Result<Request, Broken> {
        if let Some(first) = &self.0 {
            return Ok(first.clone());
        }
        let texts: Vec<String> = blocks(request).into_iter().map(|block| block.text).collect();
        let body = format!("Reference.\n## Ledger\n{}\n", texts.join("\n").replace("## ", "# "));
        let nonce = ContentId::of_text(&body).short();
        let text = format!("<checkpoint {nonce}>\n{body}</checkpoint {nonce}>");
        assert!(looks_like_one(&text));
        let message = request.format.user_message(&text);
        let first = wire::parse(request.format, format!("{{\"messages\":[{message}]}}"))?;
        self.0 = Some(first.clone());
        Ok(first)
    }
}

#[test]
fn what_keeps_everything_loses_nothing() {
    let report = measured(&study(12), || Everything);
    let (mut plants, mut of_people) = (0, 0);
    for row in &report.items {
        assert_eq!((row.present, row.places.len()), (row.plants, 1), "{row:?}");
        assert!(row.places.contains_key("entry"), "{row:?}");
        plants += row.plants;
        of_people += if row.speaker == Speaker::Human { row.plants } else { 0 };
    }
    assert!(plants > 1_000 && of_people * 2 <= plants, "{of_people} of {plants} by people");
    for row in &report.updates {
        assert_eq!((row.found.stated, row.found.alone, row.found.missed), (0, 0, 0), "{row:?}");
    }
    let pairs = report.pairs.iter().map(|row| row.found);
    assert!(pairs.clone().all(|pairs| pairs.both == pairs.plants && pairs.merged == 0));
    assert!(pairs.map(|pairs| pairs.plants).sum::<u64>() > 30);
    for (set, _) in shipped() {
        for (shape, found) in report.changes(set) {
            assert!(found.plants > 0, "{set:?} {shape:?}");
        }
    }
}

#[test]
fn what_keeps_nothing_has_nothing() {
    let report = measured(&study(1), || Nothing);
    assert!(report.items.iter().all(|row| row.present == 0 && row.plants > 0));
    assert!(report.updates.iter().all(|row| row.found.stated == 0 && row.found.alone == 0));
    let pairs = report.pairs.iter().map(|row| row.found);
    assert!(pairs.clone().all(|pairs| pairs.both == 0 && pairs.one == 0 && pairs.merged == 0));
    let reached = report.landings.iter().map(|row| (row.reached, row.runs));
    assert!(reached.clone().all(|(reached, runs)| reached == runs), "{reached:?}");
}

#[test]
fn what_remembers_the_beginning_states_what_is_past() {
    let report = measured(&study(4), || Beginning(None));
    for (set, _) in shipped() {
        let changes = report.changes(set);
        let found = changes[&Shape::Explicit];
        assert!(found.stated * 4 >= found.plants && found.stated > 0, "{set:?}: {found:?}");
        assert!(found.missed >= found.stated, "{set:?}: {found:?}");
    }
    let last = report.items.iter().filter(|row| row.when.round == ROUNDS);
    let (plants, present) =
        last.fold((0, 0), |(plants, present), row| (plants + row.plants, present + row.present));
    assert!(present > 0 && present < plants, "{present} of {plants}");
    assert!(report.items.iter().all(|row| row.places.keys().all(|place| place == "ledger")));
}

#[test]
fn the_library_is_measured_and_always_the_same() {
    let study = study(1);
    let new = || Epitome::new(study.counter.clone());
    let report = measured(&study, new);
    assert_eq!(measured(&study, new), report);
    let json = serde_json::to_string(&report).expect("a report is data");
    assert_eq!(serde_json::from_str::<Report>(&json).expect("and read again"), report);
    for (set, _) in shipped() {
        let present = BUDGETS.map(|budget| report.present(set, budget));
        let shares = present.map(|share| share.of * 100 / share.all);
        assert!(shares[2] > shares[0] && shares[2] > 20, "{set:?}: {shares:?}");
    }
}

#[test]
fn with_any_summarizer_no_less_is_left() {
    let study = study(1);
    let without = measured(&study, || Epitome::new(study.counter.clone()));
    for (name, by) in summarizers(&study.streams) {
        let with = measured(&study, || {
            Summarized::by(Epitome::new(study.counter.clone()), Some(Arc::clone(&by)))
        });
        for (set, _) in shipped() {
            for budget in BUDGETS {
                let (with, without) = (with.present(set, budget), without.present(set, budget));
                assert_eq!(with.all, without.all);
                let lost = without.of.saturating_sub(with.of);
                assert_eq!(lost, 0, "{name}, {set:?} at {budget} %: {with:?}, not {without:?}");
            }
            // Nor is more taken for what holds that doesn't; the good one quotes the old value beside the new one where
            // the ledger knows of neither that it changed.
            let sum = |report: &Report, of: fn(&Updates) -> u64| -> u64 {
                report.changes(set).values().map(of).sum()
            };
            let stated = |report: &Report| sum(report, |found| found.stated + found.alone);
            let quoted = if name == "good" { sum(&without, |found| found.plants) / 50 } else { 0 };
            let (now, before) = (stated(&with), stated(&without));
            assert!(now <= before + quoted, "{name}, {set:?}: {now}, not {before}");
        }
    }
}

#[test]
fn earlier_figures_can_be_read() {
    let file = "../epitome-bench/data/survival/before.json";
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).expect(file);
    let before: Report = serde_json::from_str(&text).expect("a report");
    assert_eq!(before.version, VERSION);
    assert!(tables(&before).contains("| held-out | 5 % |"));
}

#[test]
fn what_was_planted_is_a_request_that_providers_take() {
    for stream in study(1).streams {
        let request = stream.request().expect("a request");
        let ground = Ground::of(&request);
        let before = wire::check(&request).len();
        for ((_, book), seed) in shipped().into_iter().zip(0..) {
            let items = plot(book, &stream, &ground, seed);
            assert!(items.len() >= 12, "{} items", items.len());
            let said = planted(book, &stream, &request, &items, seed).expect("a request");
            let whole = stream.with(said.concat());
            let after = wire::check(&whole.request().expect("a request"));
            assert!(after.len() <= before, "{after:?}");
        }
        // Nobody says by chance what is planted.
        let blocks = blocks(&request);
        for (_, book) in shipped() {
            for item in plot(book, &stream, &ground, 7) {
                let claim = &item.first.claim;
                assert!(!blocks.iter().any(|block| claim.is_in(block)), "{claim:?}");
            }
        }
    }
}
