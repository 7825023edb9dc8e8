//! What is copied from a real session is admitted: no path, number or quotation of it counts as invented.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use epitome::engine::Drive;
use epitome::summarize::{CallResult, SECTIONS, Summaries, Summary, SummaryRequest, from_fn};
use epitome::{Options as Wishes, Target};
use epitome_recordings::{Options, open};
use testkit::examples::examples;
use testkit::{is_full, wait};

/// A summary of what was said and what tools gave, from the `nth` stretch of it on; JSON apart, which may be a call.
fn copied(request: &SummaryRequest, nth: usize) -> String {
    let room = request.max_tokens as usize * 2;
    let mut seen = HashSet::new();
    let lines = request.transcript.lines().map(|line| match line.split_once("] ") {
        Some((label, text)) if label.starts_with('[') => text,
        _ => line,
    });
    let is_prose = |line: &&str| {
        let is_cut = line.contains("bytes left out") || line.starts_with('<');
        line.len() > 20 && line.len() < 400 && !is_cut && !line.contains(['{', '}'])
    };
    let said: Vec<&str> = lines.filter(is_prose).filter(|line| seen.insert(*line)).collect();
    let mut facts = String::new();
    for line in said.iter().skip(nth * said.len() / stretches()) {
        if facts.len() + line.len() > room {
            break;
        }
        facts.push_str("- ");
        facts.push_str(line);
        facts.push('\n');
    }
    SECTIONS.iter().fold(String::new(), |text, section| {
        let said = match *section {
            "Goal" => "The work goes on as it was asked for.\n",
            "Facts" => &facts,
            _ => "none\n",
        };
        text + "## " + section + "\n" + said
    })
}

/// Beginnings in each session.
fn stretches() -> usize {
    if is_full() { 8 } else { 3 }
}

#[test]
fn what_is_copied_from_a_session_is_admitted() {
    let (mut admitted, mut refused) = (0, Vec::new());
    for example in examples() {
        let recording = open(example.bytes(), None, Options::default()).expect("a session");
        for nth in 0..stretches() {
            let given = Arc::new(Mutex::new(false));
            let noted = Arc::clone(&given);
            let copies = from_fn("copies", move |request: Arc<SummaryRequest>| {
                let text = copied(&request, nth);
                *noted.lock().expect("nobody panics") = text.contains("## Facts\n- ");
                std::future::ready(Ok(Summary::new(text)))
            });
            let wishes = Wishes { target: Target::Percent(30), ..Wishes::default() };
            let compactor = testkit::compactor(wishes, "o200k");
            let summaries = Summaries { chain: vec![copies], ..Summaries::default() };
            let compactor = compactor.with_summaries(summaries).expect("in range");
            let Ok(outcome) = wait(Drive::new(compactor.begin(recording.request()))) else {
                continue;
            };
            let Some(told) =
                outcome.receipt.summary.filter(|_| *given.lock().expect("nobody panics"))
            else {
                continue;
            };
            let call = &told.calls[0];
            match call.result {
                CallResult::Admitted => admitted += 1,
                // A short history is no test.
                _ if call.why.as_deref().is_some_and(|why| why.contains("are no fewer than")) => {}
                _ => refused.push(format!("{}: {:?}", example.name, call.why)),
            }
        }
    }
    assert!(refused.is_empty(), "{admitted} admitted; {}: {refused:#?}", refused.len());
    assert!(admitted > 6 * stretches(), "{admitted}");
}
