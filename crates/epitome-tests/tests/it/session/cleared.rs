//! Clients that clear old results and reasoning: the conversation goes on under its view.

use epitome::session::{CacheBreak, SessionId};
use epitome::strategy::{IntakeOptions, Ladder};
use serde_json::{Value, json};

use super::*;

const STUB: &str = "[Old tool result content cleared]";

/// A client's loop, which clears what is old at each request.
struct Loop {
    format: Format,
    messages: Vec<String>,
    /// What it writes of an old step.
    clear: fn(&Step) -> Step,
    /// Steps that it leaves as they were.
    newest: usize,
    steps: Vec<Step>,
}

#[derive(Clone)]
struct Step {
    thought: Option<String>,
    call: String,
    result: String,
}

/// Results that nobody could tell from a stub by their size alone are among them.
fn step(at: usize) -> Step {
    let result = if at % 4 == 3 { "ok".to_owned() } else { testkit::prose::log(at as u64, 30) };
    let call = format!("src/f{at}.rs {}", testkit::prose::lorem(150));
    Step { thought: Some(testkit::prose::lorem(30)), call, result }
}

fn without_result(step: &Step) -> Step {
    Step { result: STUB.to_owned(), ..step.clone() }
}

fn without_thought(step: &Step) -> Step {
    Step { thought: None, ..step.clone() }
}

impl Step {
    fn written(&self, format: Format, at: usize) -> String {
        let (call, result) = (&self.call, serde_json::json!(self.result));
        if format == Format::Anthropic {
            let thought = self.thought.as_ref().map_or_else(String::new, |thought| {
                format!(r#"{{"type":"thinking","thinking":"{thought}","signature":"c2ln"}},"#)
            });
            return format!(
                r#"{{"role":"assistant","content":[{thought}{{"type":"tool_use","id":"t{at}","name":"Read","input":{{"file_path":"{call}"}}}}]}},
                {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{at}","content":{result}}}]}}"#
            );
        }
        let thought = self.thought.as_ref();
        let thought =
            thought.map_or_else(String::new, |it| format!(r#""reasoning_content":"{it}","#));
        format!(
            r#"{{"role":"assistant","content":null,{thought}"tool_calls":[{{"id":"t{at}","type":"function","function":{{"name":"Read","arguments":"{{\"file_path\":\"{call}\"}}"}}}}]}},
            {{"role":"tool","tool_call_id":"t{at}","content":{result}}}"#
        )
    }
}

impl Loop {
    fn new(format: Format, clear: fn(&Step) -> Step, newest: usize) -> Self {
        let task = r#"{"role":"user","content":"Fix the build."}"#.to_owned();
        Loop { format, messages: vec![task], clear, newest, steps: Vec::new() }
    }

    /// The next request.
    fn ask(&mut self) -> Request {
        self.steps.push(step(self.steps.len()));
        let old = self.steps.len().saturating_sub(self.newest);
        let steps = self.steps.iter().enumerate().map(|(at, step)| {
            let now = if at < old { (self.clear)(step) } else { step.clone() };
            now.written(self.format, at)
        });
        let messages: Vec<String> = self.messages.iter().cloned().chain(steps).collect();
        let model = match self.format {
            Format::Anthropic => r#""model":"claude-opus-4-5","max_tokens":9,"#,
            _ => r#""model":"gpt-4.1","#,
        };
        let body = format!(r#"{{{model}"messages":[{}]}}"#, messages.join(","));
        epitome::wire::parse(self.format, body).expect("a request")
    }
}

/// How often a conversation of 80 requests is compacted, and its request goes out in another session.
fn compactions(mut client: Loop) -> (usize, usize) {
    let mut sessions = sessions(options(When::Tokens(12_000), Target::Tokens(7_000)));
    let (mut adopted, mut moved, mut known) = (0, 0, None);
    for _ in 0..80 {
        let request = client.ask();
        let mut answer = sessions.observe("", &request, None, START);
        moved += usize::from(known.replace(answer.session).is_some_and(|id| id != answer.session));
        if answer.begun.is_some() {
            let committed = adopt(&mut sessions, &mut answer, START);
            assert!(matches!(committed, Committed::Adopted { .. }), "{committed:?}");
            adopted += 1;
            answer = sessions.show("", &request, None, START);
        }
        let shown = match &answer.send {
            Outgoing::View(view, _) => (**view).clone(),
            _ => request.clone(),
        };
        assert_eq!(epitome::wire::check(&shown), []);
        let counter = counter("o200k").expect("a name");
        let is = epitome::count::Tally::of(&shown, &*counter).total().tokens;
        assert_eq!(answer.stats.after.count.tokens, is, "what is told of its size");
        assert!(is <= 12_000, "{is}");
    }
    (adopted, moved)
}

#[test]
fn a_client_that_clears_old_results_is_compacted_once_an_epoch() {
    for format in [Format::Anthropic, Format::OpenaiChat] {
        let (never, _) = compactions(Loop::new(format, Step::clone, 0));
        for newest in [1, 3, 8] {
            let (adopted, moved) = compactions(Loop::new(format, without_result, newest));
            assert!((1..=never).contains(&adopted), "{newest}: {adopted} of {never}");
            assert_eq!(moved, 0, "{newest}");
        }
    }
}

#[test]
fn a_client_that_drops_old_reasoning_is_compacted_once_an_epoch() {
    for format in [Format::Anthropic, Format::OpenaiChat] {
        let (never, _) = compactions(Loop::new(format, Step::clone, 0));
        for newest in [1, 3, 8] {
            let (adopted, moved) = compactions(Loop::new(format, without_thought, newest));
            assert!((1..=never).contains(&adopted), "{newest}: {adopted} of {never}");
            assert_eq!(moved, 0, "{newest}");
        }
    }
}

/// A conversation of which all but the newest three of 12 steps are folded.
fn folded() -> (Sessions, SessionId, Vec<Value>) {
    let mut sessions = folding(When::Items(24));
    let messages = said(12);
    let request = request(&messages);
    let mut answer = sessions.observe("", &request, None, START);
    adopt(&mut sessions, &mut answer, START);
    sessions.show("", &request, None, START);
    (sessions, answer.session, messages)
}

/// The messages of so many steps.
fn said(steps: usize) -> Vec<Value> {
    let body: Value = serde_json::from_str(after(steps).source()).expect("JSON");
    body["messages"].as_array().expect("a list").clone()
}

fn request(messages: &[Value]) -> Request {
    let mut body: Value = serde_json::from_str(after(1).source()).expect("JSON");
    body["messages"] = messages.into();
    epitome::wire::parse(Format::OpenaiChat, body.to_string()).expect("a request")
}

/// The next request of a conversation, which was changed at some place, with `more` behind it: in which session it is, what is
/// shown of it, and why that breaks the cache.
fn next(
    (sessions, messages): (&mut Sessions, &[Value]),
    (at, key, content): (usize, &str, &str),
) -> (SessionId, u32, Vec<String>, Option<CacheBreak>) {
    let mut messages = messages.to_vec();
    messages[at][key] = content.into();
    messages.push(json!({"role": "assistant", "content": "So it is."}));
    messages.push(json!({"role": "user", "content": "Go on."}));
    let request = request(&messages);
    let answer = sessions.show("", &request, None, START);
    let epoch = sessions.epoch(answer.session).expect("it is known").number;
    let shown = match &answer.send {
        Outgoing::View(view, _) => super::messages(view),
        _ => super::messages(&request),
    };
    (answer.session, epoch, shown, answer.broke)
}

#[test]
fn a_view_does_not_depend_on_results_that_it_hides() {
    let (mut sessions, known, messages) = folded();
    // Instructions and the task, then a call and its result in turn.
    let result = (5, "content", STUB);
    assert_eq!(messages[result.0]["role"], "tool");
    let (mut other, ..) = folded();
    let (_, _, plain, _) = next((&mut other, &messages), (0, "role", "system"));
    let (session, epoch, shown, broke) = next((&mut sessions, &messages), result);
    assert_eq!((session, epoch, broke), (known, 1, None));
    assert_eq!(shown, plain);
}

#[test]
fn a_result_that_is_shown_is_shown_as_the_client_has_it_now() {
    let (mut sessions, known, messages) = folded();
    let newest = messages.len() - 1;
    let (session, epoch, shown, broke) =
        next((&mut sessions, &messages), (newest, "content", STUB));
    assert_eq!((session, epoch, broke), (known, 1, Some(CacheBreak::Rewritten)));
    assert!(shown.iter().any(|message| message.contains(STUB)));
    // The client has it again.
    let (session, epoch, shown, _) = next((&mut sessions, &messages), (0, "role", "system"));
    assert_eq!((session, epoch), (known, 1));
    assert!(!shown.iter().any(|message| message.contains(STUB)));
}

#[test]
fn what_was_said_and_called_and_other_results_make_another_conversation() {
    let long = "another result ".repeat(400);
    for change in [(1, "content", "Fix it all."), (4, "content", "x"), (5, "content", &long)] {
        let (mut sessions, known, messages) = folded();
        let (session, epoch, shown, _) = next((&mut sessions, &messages), change);
        assert_eq!((session == known, epoch), (false, 0), "{change:?}");
        assert_eq!(shown.len(), messages.len() + 2, "{change:?}");
    }
}

#[test]
fn a_result_that_nobody_has_answered_yet_was_not_cleared() {
    let (mut sessions, known, mut messages) = folded();
    let last = messages.len() - 1;
    assert_eq!(messages[last]["role"], "tool");
    messages[last]["content"] = "It failed.".into();
    assert_ne!(sessions.show("", &request(&messages), None, START).session, known);
}

/// A compaction that was begun before the client cleared something is adopted, and what it spares is counted again.
#[test]
fn what_is_cleared_while_a_compaction_is_made_is_no_reason_to_make_another() {
    let mut sessions = folding(When::Items(24));
    let messages = said(12);
    let mut answer = sessions.observe("", &request(&messages), None, START);
    next((&mut sessions, &messages), (5, "content", STUB));
    let committed = adopt(&mut sessions, &mut answer, START);
    assert_eq!(committed, Committed::Adopted { epoch: 1 });
    let (session, epoch, shown, _) = next((&mut sessions, &messages), (5, "content", STUB));
    assert_eq!((session, epoch), (answer.session, 1));
    assert!(shown.len() < messages.len());
}

/// An excerpt of a result that the client cleared says nothing any more.
#[test]
fn a_cut_leaves_with_what_it_was_made_of() {
    let strategies = Pipeline::Ladder(Ladder {
        intake: Setting::On(IntakeOptions { max_tokens: 100 }),
        ..Ladder::default()
    });
    let compactor = compactor(Options { strategies, ..Options::default() });
    let options = options(When::Tokens(100_000), Target::Percent(50));
    let mut sessions = Sessions::new(options, compactor).expect("in range");
    let messages = said(2);
    let first = sessions.observe("", &request(&messages), None, START);
    assert!(first.taken_in > 0);
    let newest = messages.len() - 1;
    let (session, _, shown, _) = next((&mut sessions, &messages), (newest, "content", STUB));
    assert_eq!(session, first.session);
    let shown: Value = serde_json::from_str(&shown[newest]).expect("JSON");
    assert_eq!(shown["content"], STUB);
}
