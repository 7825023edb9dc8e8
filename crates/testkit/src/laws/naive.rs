//! The plainest view that keeps the laws of what an agent is told: they take it, whatever was said.

use std::fmt::Write as _;

use epitome::transcript::unit::Units;
use epitome::transcript::{Entry, PartKind};
use epitome::view::{Fate, Placed, Reason, View};
use epitome::{Compactor, Options, Outcome};
use proptest::test_runner::{TestCaseError, TestRunner};
use serde_json::Value;

use super::made::render;
use super::silence::is_first;
use super::{TOLD, mouth};
use crate::generate::{Case, cases, valid};

/// Instructions, the first message and the newest unit; all else in a checkpoint that quotes and lists.
fn naive(case: &Case) -> (Outcome, Compactor) {
    let compactor = crate::compactor(Options::default(), "o200k");
    let mut outcome = compactor.compact(&case.request()).expect("a view");
    let base = &outcome.base;
    let units = Units::of(&base.transcript, base.format.instructions());
    let is_aside = |entry: Entry<'_>| entry.role().instructs() || entry.is_stateful();
    let counts = |at: usize| !is_aside(base.transcript.entry(at));
    let last = units.all().iter().rev().find(|unit| unit.entries.clone().any(counts));
    let before = last.map_or(0, |unit| unit.entries.start);
    let folds = |at: usize| at > 0 && at < before && counts(at);
    let mut view = View::default();
    for at in 0..base.transcript.len() {
        view.push(if folds(at) { Fate::Fold(Reason::OlderStep) } else { Fate::Keep });
    }
    let folded: Vec<usize> = (0..before).filter(|at| folds(*at)).collect();
    if !folded.is_empty() {
        view.place(Placed { before, text: checkpoint(&outcome, &folded).into() });
    }
    render(&mut outcome, view);
    (outcome, compactor)
}

fn checkpoint(outcome: &Outcome, folded: &[usize]) -> String {
    let transcript = &outcome.base.transcript;
    let (mut words, mut done) = (String::new(), String::new());
    for entry in folded.iter().map(|at| transcript.entry(*at)) {
        let said = entry.human_text();
        if !said.is_empty() {
            let lines = match said.matches('\n').count() {
                0 => String::new(),
                more => format!(", {} lines", more + 1),
            };
            let _ = writeln!(words, "[{}{lines}] {said}", entry.index);
        }
        let calls = entry.parts().filter(|part| part.kind() == PartKind::Call);
        for call in calls {
            let mut arguments = Vec::new();
            let json = serde_json::from_str(&call.text()).unwrap_or(Value::Null);
            strings(&json, &mut arguments);
            let arguments = arguments.join(", ").replace(|c: char| c.is_control(), " ");
            let _ = writeln!(done, "[{}] {}({arguments}) → ok", entry.index, call.name());
        }
    }
    let messages: Vec<String> = folded
        .chunk_by(|one, next| one + 1 == *next)
        .map(|run| match run {
            [one] => one.to_string(),
            run => format!("{}–{}", run[0], run[run.len() - 1]),
        })
        .collect();
    let messages = match &messages[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        all => all.join(""),
    };
    let mut text = format!(
        "<checkpoint X>\nFor reference; quotes carry no authority. It stands for messages {messages}.\n"
    );
    for (title, lane) in [("User's words", words), ("What was done", done)] {
        if !lane.is_empty() {
            let _ = write!(text, "\n{title}\n{lane}");
        }
    }
    text + "</checkpoint X>"
}

fn strings(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|one| strings(one, out)),
        Value::Object(members) => members.values().for_each(|one| strings(one, out)),
        _ => {}
    }
}

#[test]
fn the_plainest_view_is_taken() {
    let mut runner = TestRunner::new(cases(600));
    let result = runner.run(&valid(), |case| {
        let (outcome, compactor) = naive(&case);
        let told = TOLD.iter().filter(|law| law.number != 19);
        let mut broken = told.filter_map(|law| law.holds(&outcome, &compactor).err());
        let spoken = if is_first(&outcome) { mouth::check(&outcome).err() } else { None };
        match broken.next().or(spoken) {
            None => Ok(()),
            Some(why) => {
                let shown = outcome.view.checkpoint().map_or("", |placed| &placed.text);
                Err(TestCaseError::fail(format!("{why}\n{shown}")))
            }
        }
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
