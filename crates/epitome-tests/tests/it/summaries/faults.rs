//! What is at fault with a summary, how that is told, and what the caller gets then.

use std::sync::{Arc, Mutex};

use epitome::summarize::{
    CallResult, FailureKind, SECTIONS, SummarizeError, Summary, SummaryRequest, from_fn,
};

use super::{LANE, checkpoint, compactor, run, says, session, summary, with};

/// A fault, what commits it, and how it is told.
fn faults() -> Vec<(&'static str, String, &'static str)> {
    let long = "- words that fill a line\n".repeat(30_000);
    let lines: Vec<String> = (0..400)
        .map(|n| format!("- a line about module {} that says a little", letters(n)))
        .collect();
    let too_long = lines.join("\n");
    let loops = "- the same line is said again and again\n".repeat(20);
    let few = summary("none").replace("## Decisions\nnone\n", "").replace("## State\nnone\n", "");
    vec![
        ("empty", " \n".into(), "it is empty"),
        (
            "nothing",
            summary("none").replace("The build of the parser is to be fixed.", "None."),
            "it is empty",
        ),
        (
            "filler",
            SECTIONS.map(|name| format!("## {name}\nnone so far here\n")).concat(),
            "it is empty",
        ),
        (
            "one line for all",
            SECTIONS.map(|name| format!("## {name}\nThe work goes on as before.\n")).concat(),
            "it repeats itself",
        ),
        ("only thoughts", "<think>Hm, hm, hm.".into(), "it is empty"),
        ("longer", summary(&long), "no fewer than"),
        ("too long", summary(&too_long), "there is room for"),
        ("reply", "Sure! I'll look at the parser now and run the tests.".into(), "it answers"),
        ("answer", "The parser needs a fix in the tokenizer.".into(), "it answers"),
        ("refusal", "I'm sorry, but I can't help with that.".into(), "it refuses"),
        ("tool call", "<tool_call>{\"name\":\"Read\"}</tool_call>".into(), "it calls a tool"),
        ("json call", "{\"name\":\"Read\",\"arguments\":{}}".into(), "it calls a tool"),
        (
            "fenced call",
            summary("```json\n{\"name\":\"Read\",\"arguments\":{}}\n```"),
            "it calls a tool",
        ),
        (
            "quote",
            summary("The user said: \"You may touch the lexer now.\""),
            "states what the transcript doesn't: \"You may touch the lexer now.\"",
        ),
        ("sections", few, "it lacks the sections Decisions, State"),
        (
            "path",
            summary("See src/invented.rs."),
            "states what the transcript doesn't: src/invented.rs",
        ),
        ("number", summary("The port is 9999."), "doesn't: 9999"),
        ("id", summary("The commit is 9f86d081."), "doesn't: 9f86d081"),
        (
            "language",
            summary(
                "Die Tests sind nicht fertig, und das ist wichtig für den Parser und eine Aufgabe.",
            )
            .replace("The build of the parser is to be fixed.", "Der Bau ist noch nicht fertig."),
            "it isn't in the language",
        ),
        ("loop", summary(&loops), "it repeats itself"),
    ]
}

/// A word without digits for each number.
fn letters(n: usize) -> String {
    format!(
        "m{}",
        (0..n / 20).map(|_| 'x').chain([char::from(b'a' + (n % 20) as u8)]).collect::<String>()
    )
}

#[test]
fn each_fault_is_found_told_reminded_and_falls_back() {
    let without = compactor().compact(&session()).expect("a view");
    for (name, text, words) in faults() {
        let outcome = run(with(vec![says(name, text)])).expect("a view");
        let told = outcome.receipt.summary.clone().expect("somebody was asked");
        assert_eq!(told.by, None, "{name}");
        assert_eq!(told.calls.len(), 2, "{name}: one reminder");
        for call in &told.calls {
            assert_eq!(call.result, CallResult::Rejected, "{name}");
            let why = call.why.as_deref().expect("a reason");
            assert!(why.contains(words), "{name}: {why}");
        }
        assert_eq!(outcome.receipt.fallbacks.len(), 1, "{name}");
        assert!(outcome.receipt.fallbacks[0].starts_with(&format!("{name}: ")), "{name}");
        assert_eq!(
            outcome.rendered(),
            without.rendered(),
            "{name}: never below the extractive one"
        );
    }
}

#[test]
fn a_reminder_names_the_fault_and_is_enough() {
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let notes = Arc::clone(&asked);
    let learns = from_fn("learns", move |request: Arc<SummaryRequest>| {
        let mut notes = notes.lock().expect("nobody panics");
        notes.push(request.instruction.clone());
        let text = if notes.len() == 1 { "See src/invented.rs." } else { "none" };
        std::future::ready(Ok(Summary::new(summary(text))))
    });
    let outcome = run(with(vec![learns])).expect("a view");
    assert!(checkpoint(&outcome).contains(LANE));
    let asked = asked.lock().expect("nobody panics");
    assert!(
        asked[1].contains("can't be used: it states what the transcript doesn't: src/invented.rs")
    );
    let told = outcome.receipt.summary.expect("asked");
    let results: Vec<_> = told.calls.iter().map(|call| call.result).collect();
    assert_eq!(results, [CallResult::Rejected, CallResult::Admitted]);
}

#[test]
fn what_fails_outside_changes_nothing_but_the_receipt() {
    let without = compactor().compact(&session()).expect("a view");
    for kind in [
        FailureKind::Timeout,
        FailureKind::Unreachable,
        FailureKind::RateLimited,
        FailureKind::Upstream,
        FailureKind::Rejected,
        FailureKind::Unauthorized,
        FailureKind::Malformed,
        FailureKind::CutShort,
        FailureKind::ToolCall,
        FailureKind::Refusal,
        FailureKind::SpendCap,
        FailureKind::Unbooked,
        FailureKind::Resting,
        FailureKind::Command,
    ] {
        let fails = from_fn("it", move |_| {
            std::future::ready(Err::<String, _>(SummarizeError::new(kind, "")))
        });
        let outcome = run(with(vec![fails])).expect("a view");
        assert_eq!(outcome.rendered(), without.rendered(), "{kind}");
        assert_eq!(outcome.receipt.fallbacks, [format!("it: {kind}")]);
        let told = outcome.receipt.summary.expect("it was asked");
        assert_eq!(told.calls.len(), 1, "{kind}: it isn't reminded");
    }
}
