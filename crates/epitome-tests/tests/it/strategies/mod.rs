//! Each strategy by itself, drawn.

mod arguments;
mod exercise;
mod newest;
mod options;
mod pipelines;

use epitome::engine::plan::Reached;
use epitome::wire::{self, Format};
use epitome::{Options, Pin};
use expect_test::expect_file;
use testkit::{drawn, page, to};

const BUILD: &str = r#"
sys  You are terse.
user Fix the build.
asst Looking. | call a Read {"file_path":"src/x.rs"} | call b Bash {"command":"cargo test"}
res  a = {code 60}
res! b = error[E0308]: mismatched types\n{log 40}
asst think the types differ | call c Edit {"file_path":"src/x.rs"}
res  c = ok
user And the docs.
asst think now the docs | call d Read {"file_path":"docs/a.md"}
res  d = {lines 6}
"#;

#[test]
fn each_is_as_the_page_draws_it() {
    page::check(&expect_file!["strategies.txt"], |case| {
        let (format, settings) = case.format();
        let options = serde_json::from_value(settings[0].clone()).expect("options");
        let compactor = testkit::compactor(options, "chars4");
        drawn(&compactor, &case.request(format))
    });
}

/// What people said goes last: it stays or is quoted, whatever else must leave.
#[test]
fn what_people_said_goes_last() {
    let text = |role: &str, text: &str| format!(r#"{{"role":"{role}","content":"{text}"}}"#);
    let said = [
        text("user", "Fix the build."),
        text("assistant", "ok"),
        text("user", "Never push to main."),
        text("assistant", &"done ".repeat(2000)),
        text("user", "next"),
        text("assistant", &"work ".repeat(2000)),
    ];
    let body = format!(r#"{{"model":"gpt-5.4","messages":[{}]}}"#, said.join(","));
    let request = wire::parse(Format::OpenaiChat, body).expect("JSON");
    // Less than 110 tokens can't be reached: the task, the newest exchange and a checkpoint.
    for target in (110..200).step_by(5).chain([400, 1000]) {
        let compactor = testkit::compactor(to(target), "o200k");
        let outcome = compactor.compact(&request).expect("a view");
        let human = outcome.receipt.human_messages;
        assert!(outcome.rendered().contains("Never push to main."), "at {target}");
        assert_eq!((human.all, human.lost), (3, 0), "at {target}");
        assert!(outcome.receipt.after.count.tokens <= target, "at {target}");
    }
    let compactor = testkit::compactor(to(40), "o200k");
    let outcome = compactor.compact(&request).expect("a view");
    assert!(matches!(outcome.receipt.reached, Reached::Unreachable { .. }));
    assert!(outcome.rendered().contains("Never push to main."));
}

/// A pin is whole at every target that has room for it beside nothing else, and told of where it isn't.
#[test]
fn a_pin_is_whole_wherever_it_fits() {
    let before = r#"
user Fix the build.
asst call a Read {"file_path":"src/x.rs"}
res  a = {lines 60}
user Never push to main. {lorem 60}
asst call b Bash {"command":"cargo test"}
res  b = {log 40}
user And the docs.
asst {lorem 80}
"#;
    let request = testkit::parse(Format::OpenaiChat, before);
    let mut was_cut = true;
    for target in 100..700 {
        let options = Options { pins: vec![Pin::Entry(3)], ..to(target) };
        let compactor = testkit::compactor(options, "o200k");
        let outcome = compactor.compact(&request).expect("a view");
        let is_cut = outcome.receipt.excerpted.iter().any(|cut| cut.entry == 3);
        let is_shown = outcome.rendered().contains(request.transcript.entry(3).raw());
        assert_eq!(is_cut, !is_shown, "at {target}");
        assert!(was_cut || !is_cut, "whole at a smaller target, and cut at {target}");
        was_cut = is_cut;
    }
    assert!(!was_cut);
}
