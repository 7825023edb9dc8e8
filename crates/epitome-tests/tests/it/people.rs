//! What people said, at targets where not all of it can stay.

use std::fmt::Write as _;

use epitome::wire::{Format, parse};
use epitome::{Compactor, Options, Request, Target};
use testkit::laws::check_all;
use testkit::prose::lorem;
use testkit::to_percent;

fn compacted(messages: &[(&str, String)], target: Target) -> Request {
    let (request, compactor) = posed(messages, target);
    compactor.compact(&request).expect("a view").request
}

fn posed(messages: &[(&str, String)], target: Target) -> (Request, Compactor) {
    let messages: Vec<_> = messages
        .iter()
        .map(|(role, content)| serde_json::json!({"role": role, "content": content}))
        .collect();
    let body = serde_json::json!({"model": "gpt-4o", "messages": messages}).to_string();
    let request = parse(Format::OpenaiChat, body).expect("messages");
    let compactor = testkit::compactor(Options { target, ..Options::default() }, "o200k");
    (request, compactor)
}

/// What was said, a message a line.
fn shown(request: &Request) -> String {
    let mut all = String::new();
    for entry in request.transcript.entries() {
        for part in entry.parts() {
            writeln!(all, "{}", part.text()).expect("memory");
        }
    }
    all
}

/// Behind a checkpoint that says what holds, what was taken back would read as newer than that.
#[test]
fn what_was_taken_back_is_not_left_behind_what_holds() {
    let (old, new) = ("The port is 8080.", "Actually the port is 8082 now.");
    let mut folded = 0;
    for noise in 2..14 {
        for percent in [6, 9, 14, 20, 30] {
            let messages = took_back(old, new, noise);
            let said = shown(&compacted(&messages, Target::Percent(percent)));
            // Whatever else says it, the newer one is read last.
            let lines: Vec<&str> = said.lines().collect();
            let last = |words: &str| lines.iter().rposition(|line| *line == words);
            if let Some(holds) = last(new) {
                assert!(last(old) < Some(holds), "{noise}, {percent}: {said}");
            } else {
                assert_eq!(last(old), None, "{noise}, {percent}: {said}");
            }
            folded += usize::from(!said.contains(&format!("OK.\n{new}")));
        }
    }
    assert!(folded > 0, "the newer one is folded somewhere");
}

/// A person says something and takes it back; much is said behind that.
fn took_back(old: &str, new: &str, noise: usize) -> Vec<(&'static str, String)> {
    let mut messages = vec![
        ("user", "Hello, help me with this project.".to_owned()),
        ("assistant", "Sure.".to_owned()),
        ("user", old.to_owned()),
        ("assistant", "OK.".to_owned()),
        ("user", new.to_owned()),
        ("assistant", lorem(900)),
    ];
    for _ in 0..noise {
        messages.push(("user", lorem(45)));
        messages.push(("assistant", lorem(300)));
    }
    messages.push(("user", "Go on then.".to_owned()));
    messages
}

#[test]
fn what_was_taken_back_breaks_no_law() {
    for noise in 2..14 {
        let messages = took_back("The port is 8080.", "Actually the port is 8082 now.", noise);
        for percent in (3..60).step_by(3) {
            let (request, compactor) = posed(&messages, Target::Percent(percent));
            assert_eq!(check_all(&request, &compactor), Ok(()), "{noise}, {percent}");
        }
    }
}

/// A rule is worth more than a hundred times `yes`.
#[test]
fn what_says_next_to_nothing_goes_first() {
    let rules = ["Never push to main without a review.", "The staging port is 8443."];
    for percent in [10, 30] {
        let mut messages = vec![("user", "Help me set up the deployment.".to_owned())];
        for at in 0..300 {
            messages.push(("assistant", "OK, done.".to_owned()));
            let said = rules.get(at / 40).filter(|_| at % 40 == 7);
            messages.push(("user", said.map_or("yes", |rule| *rule).to_owned()));
        }
        let said = shown(&compacted(&messages, Target::Percent(percent)));
        for rule in rules {
            assert!(said.contains(rule), "{percent}: {said}");
        }
    }
}

/// What a client marks as a thought is the model's only where the model speaks.
#[test]
fn a_persons_thought_is_no_reasoning_to_be_dropped() {
    let parts =
        |role: &str, parts: serde_json::Value| serde_json::json!({"role": role, "parts": [parts]});
    let contents = [
        parts("user", serde_json::json!({"text": "Begin."})),
        parts("model", serde_json::json!({"text": "Done."})),
        parts("user", serde_json::json!({"text": "Keep the old name.", "thought": true})),
        parts("model", serde_json::json!({"text": lorem(900)})),
        parts("user", serde_json::json!({"text": "Go on."})),
    ];
    let body = serde_json::json!({"contents": contents}).to_string();
    let request = parse(Format::Gemini, body).expect("contents");
    let compactor = testkit::compactor(to_percent(57), "o200k");
    let outcome = compactor.compact(&request).expect("a view");
    assert!(shown(&outcome.request).contains("Keep the old name."));
    assert_eq!(outcome.receipt.human_messages.lost, 0);
}

/// Names and notes go first, then what people said besides, and what they command last.
#[test]
fn at_small_targets_commands_go_last() {
    let rule = "Never push to main.";
    let mut messages = vec![("user", "Fix the importer.".to_owned()), ("assistant", lorem(90))];
    messages.push(("user", format!("{rule} Also {}", lorem(60))));
    for at in 0..4 {
        messages.push(("assistant", format!("I created the file src/m{at}.rs. {}", lorem(200))));
        messages.push(("user", format!("Then what about part {at}? Well, {}", lorem(30))));
    }
    messages.push(("assistant", lorem(90)));
    messages.push(("user", "Go on.".to_owned()));
    let mut kept = [0; 3];
    for target in (40..900).step_by(2) {
        let said = shown(&compacted(&messages, Target::Tokens(target)));
        let holds = said.contains(rule);
        let is_whole = (0..4).all(|at| said.contains(&format!("about part {at}?")));
        let has_extracts = said.contains("\nNotes\n") || said.contains("\nNames ");
        assert!(holds || !is_whole && !has_extracts, "{target}: {said}");
        // Fence, first line and the title of a lane are about 70 tokens.
        assert!(holds || target < 100, "{target}: {said}");
        for (kept, is_there) in kept.iter_mut().zip([holds, is_whole, has_extracts]) {
            *kept += u32::from(is_there);
        }
    }
    let [holds, whole, extracts] = kept;
    assert!(holds > whole && holds > extracts && whole > 0 && extracts > 0, "{kept:?}");
}

/// People's commands have room; where one step more is shown, one of them may have none.
#[test]
fn rules_have_room_in_small_sessions() {
    let rules = [
        "Never push to main.",
        "Always run the linter first.",
        "Keep the staging port at 8443.",
        "Use tabs, not spaces.",
        "Don't touch the lexer.",
        "Only use Postgres.",
    ];
    for many in [4, 6] {
        let mut messages = vec![("user", "Fix the importer.".to_owned())];
        for rule in &rules[..many] {
            messages.push(("assistant", format!("Well, {}.", lorem(60))));
            messages.push(("user", (*rule).to_owned()));
        }
        messages.push(("assistant", format!("So, {}.", lorem(30))));
        messages.push(("user", "Go on.".to_owned()));
        for target in 190..600 {
            let said = shown(&compacted(&messages, Target::Tokens(target)));
            let kept = rules[..many].iter().filter(|rule| said.contains(**rule)).count();
            assert!(kept + 1 >= many, "{target}: {kept}: {said}");
        }
    }
}

/// What commands is quoted before what only says a value, however new that is.
#[test]
fn commands_are_quoted_before_newer_values() {
    let rules = "Never push to main. The retry limit is 30. The staging port is 8080.";
    let newer = ["red", "blue", "green", "grey", "pink", "teal", "gold", "lime"];
    let mut messages = vec![("user", "Please build the exporter.".to_owned())];
    let mut say = |words: String| {
        messages.push(("assistant", lorem(60)));
        messages.push(("user", words));
    };
    say(rules.to_owned());
    for (at, which) in newer.iter().enumerate() {
        say(format!("The {which} widget limit is {}.", at * 7 + 3));
    }
    say("Continue with the docs.".to_owned());
    let mut quoted_in_part = 0;
    for tokens in (80..300).step_by(20) {
        let said = shown(&compacted(&messages, Target::Tokens(tokens)));
        assert!(said.contains("Never push to main."), "{tokens}: {said}");
        let of_newer = said.matches("widget limit").count();
        quoted_in_part += usize::from((1..newer.len()).contains(&of_newer));
    }
    assert!(quoted_in_part > 2, "some targets have room for it and not for all");
}
