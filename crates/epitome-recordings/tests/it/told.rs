//! What an agent is told of real runs that end in a tool's result: laws 14 to 19 on the tau-bench sessions.

use epitome::transcript::PartKind;
use epitome::{Compactor, Format, Outcome, Request, wire};
use epitome_recordings::open;
use serde_json::{Value, json};
use testkit::laws::TOLD;
use testkit::laws::log::{Lane, Log};
use testkit::to_percent;

use crate::opening::shipped;
use crate::{LAST, example, hold};

fn compactor(percent: u8) -> Compactor {
    testkit::compactor(to_percent(percent), "o200k")
}

/// What the checkpoint says was done; empty where there is none.
fn done(outcome: &Outcome) -> String {
    let placed = outcome.view.checkpoint();
    let lane = placed.and_then(|placed| Log::of(&placed.text).lane(Lane::Done).map(str::to_owned));
    lane.unwrap_or_default()
}

/// Five seats were changed after "go ahead with all the downgrades": who goes on must know each of them.
#[test]
fn the_view_ends_with_the_last_result_and_names_each_update() {
    let input = open(example("tau-bench/00_task2_trial1.json").into_bytes(), None, LAST);
    let input = input.expect("a shipped session");
    let base = &input.request().transcript;
    let mut told = Vec::new();
    for percent in [20, 10] {
        let compactor = compactor(percent);
        let outcome = compactor.compact(input.request()).expect("it compacts");
        let shown = &outcome.request.transcript;
        let (last, end) = (base.entry(base.len() - 1), shown.entry(shown.len() - 1));
        let id = |entry: epitome::transcript::Entry<'_>| {
            let mut results = entry.parts().filter(|part| part.kind() == PartKind::Result);
            results.next().map(|part| part.id().into_owned())
        };
        if id(end) != id(last) {
            told.push(format!("{percent} %: it ends with {:.80}", end.raw()));
        }
        let done = done(&outcome);
        let calls = shown.entries().flat_map(|entry| entry.parts());
        let calls: Vec<String> = calls
            .filter(|part| part.kind() == PartKind::Call)
            .map(|part| format!("{}({})", part.name(), part.text()))
            .collect();
        for id in ["JG7FMM", "2FBBAH", "X7BYG1", "EQ1G6C", "BOH180"] {
            let says =
                |line: &str| line.contains("update_reservation_flights") && line.contains(id);
            if !done.lines().any(says) && !calls.iter().any(|call| says(call)) {
                told.push(format!("{percent} %: nothing names the update of {id}"));
            }
        }
        told.extend(TOLD.iter().filter_map(|law| law.holds(&outcome, &compactor).err()));
    }
    assert_eq!(told, [""; 0]);
}

/// Every tau-bench session, cut after each result of a tool.
fn runs() -> Vec<(String, Request)> {
    let mut runs = Vec::new();
    for (file, _) in shipped().into_iter().filter(|(_, kind)| *kind == "tau-bench") {
        let session: Value = serde_json::from_str(&example(&file)).expect("JSON");
        let messages = session["messages"].as_array().expect("a list");
        for (at, _) in messages.iter().enumerate().filter(|(_, m)| m["role"] == "tool") {
            let body = json!({"messages": messages[..=at]}).to_string();
            let request = wire::parse(Format::OpenaiChat, body).expect("messages");
            runs.push((format!("{file} up to {at}"), request));
        }
    }
    runs
}

#[test]
fn runs_that_end_in_a_result_keep_the_laws() {
    let compactors = [10, 20, 30].map(|percent| (percent, compactor(percent)));
    hold(&runs(), |request| {
        let mut broken = Vec::new();
        for (percent, compactor) in &compactors {
            let outcome = compactor.compact(request).expect("it compacts");
            let found = TOLD.iter().filter_map(|law| law.holds(&outcome, compactor).err());
            broken.extend(found.map(|why| format!("at {percent} %: {why}")));
        }
        broken
    });
}
