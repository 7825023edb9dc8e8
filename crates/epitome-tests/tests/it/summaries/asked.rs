//! What a summarizer is asked: what it is told, and in how many parts.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};

use epitome::count::{CharsPer, counter};
use epitome::engine::Drive;
use epitome::model::Money;
use epitome::summarize::{
    Answering, Brief, OnFailure, Spent, Summaries, Summarizer, Summary, SummaryRequest, from_fn,
};
use epitome::trigger::{Asker, Cause, Demand};
use epitome::wire::Format;
use epitome::{CompactError, Compactor};
use testkit::to;
use testkit::wait;

use super::{LANE, TARGET, checkpoint, compactor, run, session, summary, with};

type Asked = Arc<Mutex<Vec<Arc<SummaryRequest>>>>;

/// Sums up, and notes what it was asked.
fn curious() -> (Asked, Arc<dyn Summarizer>) {
    let asked = Asked::default();
    let notes = Arc::clone(&asked);
    let curious = from_fn("curious", move |request| {
        notes.lock().expect("nobody panics").push(request);
        std::future::ready(Ok(Summary::new(summary("none"))))
    });
    (asked, curious)
}

#[test]
fn what_is_asked_holds_calls_and_results_and_the_instruction_last() {
    let (asked, curious) = curious();
    let brief = Brief {
        focus: Some("the parser".into()),
        more: vec!["Name ports.".into()],
        ..Brief::default()
    };
    run(Summaries { chain: vec![curious], brief, ..Summaries::default() }).expect("a view");
    let asked = asked.lock().expect("nobody panics");
    let prompt = asked[0].prompt();
    assert!(prompt.contains("call Read] {\"file_path\":\"src/f3.rs\"}"), "{prompt}");
    assert!(prompt.contains("result] fn f3() { port_5003 }"), "{prompt}");
    let end = &prompt[prompt.rfind("</transcript ").expect("a fence")..];
    assert!(end.contains("the parser") && end.contains("Name ports.") && end.contains("## Goal"));
    assert!(asked[0].max_tokens < TARGET);
}

#[test]
fn who_sums_up_is_told_why_and_what_was_wished() {
    let (asked, curious) = curious();
    let brief = Brief { focus: Some("the parser".into()), ..Brief::default() };
    let summaries = Summaries { chain: vec![curious], brief, ..Summaries::default() };
    let compactor = compactor().with_summaries(summaries).expect("in range");
    let mut demand = Demand::new(Asker::Model, "the tests are green\nnow the docs");
    demand.focus = Some("ports".into());
    for cause in [Cause::Asked(vec![demand]), Cause::Custom("it is Friday".into())] {
        wait(Drive::new(compactor.clone().with_cause(cause).begin(&session()))).expect("a view");
    }
    let asked = asked.lock().expect("nobody panics");
    let [demanded, custom] = &asked[..] else { panic!("{} requests", asked.len()) };
    let words = "Look most at this: the parser; ports\n\nIt was asked for with the words: the tests are green now the docs\n";
    assert!(demanded.instruction.contains(words), "{}", demanded.instruction);
    assert_eq!(
        demanded.reason.as_deref(),
        Some("the model asked for it: the tests are green now the docs")
    );
    assert_eq!(custom.reason.as_deref(), Some("it is Friday"));
    assert!(custom.instruction.contains("Look most at this: the parser\n"));
    let json = serde_json::to_value(&**custom).expect("data");
    assert_eq!(json["reason"], "it is Friday");
}

/// Sums up with a small window, and notes what it was given.
#[derive(Debug)]
struct Small {
    window: u64,
    asked: Mutex<Vec<Arc<SummaryRequest>>>,
}

impl Summarizer for Small {
    fn name(&self) -> &'static str {
        "small"
    }

    fn window(&self) -> Option<u64> {
        Some(self.window)
    }

    fn summarize(self: Arc<Self>, request: Arc<SummaryRequest>) -> Answering {
        self.asked.lock().expect("nobody panics").push(request);
        let spent = Spent {
            requests: 1,
            input: 10,
            output: 5,
            cost: Some(Money::micro(7)),
            ..Spent::default()
        };
        Box::pin(std::future::ready(Ok(Summary { spent, ..Summary::new(summary("none")) })))
    }
}

#[test]
fn a_longer_history_goes_in_parts_that_are_whole_units_and_is_folded() {
    let small = Arc::new(Small { window: 5_000, asked: Mutex::default() });
    let outcome = run(with(vec![Arc::clone(&small) as Arc<dyn Summarizer>])).expect("a view");
    assert!(checkpoint(&outcome).contains(LANE));
    let asked = small.asked.lock().expect("nobody panics");
    let counter = counter("chars4").expect("a known name");
    let parts = asked.iter().filter(|request| request.instruction.contains(" is part ")).count();
    // Their summaries are too long for one request, too, so that they are merged in two rounds.
    assert!(parts > 10 && asked.len() > parts + 2, "{parts} of {}", asked.len());
    for (at, request) in asked.iter().enumerate() {
        assert!(counter.text(&request.prompt()).tokens + request.max_tokens <= 5_000);
        if at < parts {
            let part = format!("The transcript above is part {} of {parts}", at + 1);
            let begin: String = request.instruction.chars().take(60).collect();
            assert!(begin.starts_with(&part), "{at}: {begin}");
            // A call is in the same part as its result.
            let count = |what: &str| request.transcript.matches(what).count();
            assert_eq!(count(" call Read] "), count(" result] "));
        } else {
            assert!(request.instruction.starts_with("The text above are summaries"));
        }
    }
    let told = outcome.receipt.summary.expect("asked");
    assert_eq!(told.calls.len(), asked.len());
    assert_eq!(told.spent.requests as usize, asked.len());
    assert_eq!(told.spent.cost, Some(Money::micro(7).times(asked.len() as u64)));

    let tiny = Arc::new(Small { window: 600, asked: Mutex::default() });
    let outcome = run(with(vec![tiny])).expect("a view");
    assert_eq!(outcome.receipt.fallbacks, ["small: its window is too small for any part"]);
}

#[test]
fn a_long_prompt_of_ones_own_is_part_of_what_fits() {
    let counter = counter("chars4").expect("a known name");
    let wish = "Say which module is meant, and what is known of it. ".repeat(200);
    for brief in [
        Brief { prompt: Some(wish.clone()), ..Brief::default() },
        Brief { focus: Some(wish.clone()), ..Brief::default() },
        Brief { more: vec![wish.clone()], ..Brief::default() },
    ] {
        let small = Arc::new(Small { window: 12_000, asked: Mutex::default() });
        let chain: Vec<Arc<dyn Summarizer>> = vec![Arc::clone(&small) as Arc<dyn Summarizer>];
        run(Summaries { chain, brief: brief.clone(), ..Summaries::default() }).expect("a view");
        let asked = small.asked.lock().expect("nobody panics");
        assert!(asked.len() > 1, "{} requests", asked.len());
        for request in asked.iter() {
            assert!(counter.text(&request.prompt()).tokens + request.max_tokens <= 12_000);
        }
        // Where nothing else fits beside it, nobody is asked.
        let tiny = Arc::new(Small { window: 2_000, asked: Mutex::default() });
        let chain: Vec<Arc<dyn Summarizer>> = vec![Arc::clone(&tiny) as Arc<dyn Summarizer>];
        let outcome = run(Summaries { chain, brief, ..Summaries::default() }).expect("a view");
        assert_eq!(outcome.receipt.fallbacks, ["small: its window is too small for any part"]);
        assert!(tiny.asked.lock().expect("nobody panics").is_empty());
    }
}

/// Its window is small beside the session, beside the room that there is for a summary, and beside what is carried.
#[test]
fn a_small_window_serves_a_session_of_any_size() {
    let compactor = testkit::compactor(to(60_000), "chars4");
    let step = r#"asst Step # looks at the module. | call c# Read {"file_path":"src/f#.rs"}
res  c# = fn f#() {code 90}"#;
    let steps = testkit::steps(0..1_500, step);
    let notation = format!("user Fix the build of the parser.\n{steps}");
    let request = testkit::parse(Format::OpenaiChat, &notation);
    let chars4 = counter("chars4").expect("a known name");
    for (max_tokens, most) in [(None, 2_000), (Some(9_000), 4_000), (Some(500), 500)] {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&asked);
        let small = epitome::summarize::from_fn_within("small", 8_000, move |request| {
            notes.lock().expect("nobody panics").push(Arc::clone(&request));
            std::future::ready(Ok(summary("none")))
        });
        let brief = Brief { max_tokens, ..Brief::default() };
        let summaries = Summaries { brief, ..with(vec![small]) };
        let compactor = compactor.clone().with_summaries(summaries).expect("in range");
        let outcome = wait(Drive::new(compactor.begin(&request))).expect("a view");
        assert_eq!(outcome.receipt.fallbacks, [] as [String; 0]);
        assert!(outcome.summary.is_some());
        let asked = asked.lock().expect("nobody panics");
        assert!(asked.len() > 10, "{}", asked.len());
        for request in asked.iter() {
            let prompt = chars4.text(&request.prompt()).tokens + request.max_tokens;
            assert!(prompt <= 8_000 && request.max_tokens <= most, "{prompt}");
        }
        assert_eq!(asked.last().expect("the last").max_tokens, most);
    }
}

/// By default a summary has 16,000 tokens at most, or a quarter of the window of whoever writes it.
#[test]
fn a_summary_is_as_long_as_its_room_its_window_and_its_setting_allow() {
    // A token a character: many of them are few bytes.
    let counter = Arc::new(CharsPer::new(NonZeroU32::MIN));
    let compactor = Compactor::new(to(400_000), counter).expect("in range");
    let step = "asst Step # looks at it. {code 400}\nuser Go on #.";
    let steps = testkit::steps(0..600, step);
    let notation = format!("user Fix the build of the parser.\n{steps}");
    let request = testkit::parse(Format::OpenaiChat, &notation);
    let longest = |window: Option<u64>, max_tokens: Option<u64>| {
        let asked = Arc::new(Mutex::new(0));
        let note = Arc::clone(&asked);
        let answer = move |request: Arc<SummaryRequest>| {
            let mut most = note.lock().expect("nobody panics");
            *most = request.max_tokens.max(*most);
            std::future::ready(Ok(summary("none")))
        };
        let by = match window {
            Some(window) => epitome::summarize::from_fn_within("m", window, answer),
            None => from_fn("m", answer),
        };
        let brief = Brief { max_tokens, ..Brief::default() };
        let summaries = Summaries { brief, ..with(vec![by]) };
        let compactor = compactor.clone().with_summaries(summaries).expect("in range");
        wait(Drive::new(compactor.begin(&request))).expect("a view");
        *asked.lock().expect("nobody panics")
    };
    let room = longest(None, Some(1_000_000));
    assert!(room > 10_000, "{room}");
    assert_eq!(longest(None, None), room.min(16_000));
    assert_eq!(longest(Some(1_000_000), None), room.min(16_000));
    assert_eq!(longest(Some(40_000), None), 10_000);
    assert_eq!(longest(Some(40_000), Some(10_500)), 10_500);
}

#[test]
fn without_room_for_a_summary_it_is_as_the_caller_says() {
    let never = || from_fn("never", |_| std::future::ready(Ok(summary("none"))));
    let run = |on_failure: OnFailure| {
        let compactor = testkit::compactor(to(300), "chars4");
        let summaries = Summaries { on_failure, ..with(vec![never()]) };
        let compactor = compactor.with_summaries(summaries).expect("in range");
        wait(Drive::new(compactor.begin(&session())))
    };
    let why = "no summary was asked for: there is no room for one";
    let extractive = run(OnFailure::Extractive).expect("a view");
    assert!(extractive.receipt.triggered && extractive.receipt.fallbacks == [why]);
    let skipped = run(OnFailure::Skip).expect("all of it");
    assert!(skipped.view.is_whole() && !skipped.receipt.triggered);
    assert_eq!(skipped.receipt.reason, why);
    let CompactError::Summary { why: told, .. } = run(OnFailure::Error).expect_err("it fails")
    else {
        panic!("another error")
    };
    assert_eq!(told, why);
}
