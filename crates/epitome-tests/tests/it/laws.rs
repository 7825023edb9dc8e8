//! The laws of ARCHITECTURE.md, over generated transcripts.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use epitome::count::counter;
use epitome::transcript::PartKind;
use epitome::{Compactor, Format, Options, Pin, Tail, Target, Task, wire};
use proptest::prelude::*;
use testkit::laws::{TOLD, check_all, descent};
use testkit::{Case, Histogram, generate};

mod small;

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
    Compactor::new(options, counter("o200k").expect("a known name")).expect("in range")
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

/// The laws hold at each of these targets, by no plan but the first.
fn hold(format: Format, body: &str, percents: Range<u8>, options: &Options) {
    let request = wire::parse(format, body.to_owned()).expect("a body");
    for percent in percents {
        let options = Options { target: Target::Percent(percent), ..options.clone() };
        let counter = counter("o200k").expect("a known name");
        let compactor = Compactor::new(options, counter).expect("in range");
        check_all(&request, &compactor).unwrap_or_else(|error| panic!("{percent} %: {error}"));
        let receipt = compactor.compact(&request).expect("it compacts").receipt;
        assert!(receipt.fallbacks.is_empty(), "{percent} %: {:?}", receipt.fallbacks);
    }
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
            let options = Options {
                target: Target::Percent(percent),
                task: Task::Fold,
                ..Options::default()
            };
            let counter = counter("o200k").expect("a known name");
            let compactor = Compactor::new(options, counter).expect("in range");
            check_all(&request, &compactor).expect("the laws hold");
            let view = compactor.compact(&request).expect("it compacts").request;
            let newest = view.transcript.entries().last().expect("it isn't empty");
            assert!(!newest.is_human(), "{}", newest.raw());
        }
    }
}

/// Found by chance: a loop that left with its bound reasoning took people's words with it, and older steps stayed.
#[test]
fn words_that_leave_with_bound_reasoning_are_quoted_before_older_steps_stay() {
    let body = r#"{"model":"claude-opus-5-5","max_tokens":4096,"thinking":{"type":"enabled","budget_tokens":2048},
"tools":[{"name":"Read","description":"Reads a file.","input_schema":{"type":"object"}}],"messages":[
{"content":"ok","role":"user"},
{"content":[{"id":"toolu_01","input":{"file_path":"ok","limit":100.0},"name":"Read","type":"tool_use"}],"role":"assistant"},
{"content":[{"content":"ok","tool_use_id":"toolu_01","type":"tool_result"}],"role":"user"},
{"content":[{"signature":"c2lnbmVkIDIgYnl0ZXM=","thinking":"hm","type":"thinking"},{"text":"Fix the build.","type":"text"},{"content":[{"text":"x","type":"text"}],"source":"https://example.org","title":"t","type":"search_result"}],"role":"assistant"},
{"content":"read read read read read read read read ","role":"user"},
{"content":[{"signature":"c2lnbmVkIDIgYnl0ZXM=","thinking":"hm","type":"thinking"},{"id":"toolu_02","input":{"file_path":"ok","limit":100.0},"name":"Read","type":"tool_use"},{"id":"toolu_03","input":{"file_path":"ok","limit":100.0},"name":"Read","type":"tool_use"}],"role":"assistant"},
{"content":[{"content":"ok","tool_use_id":"toolu_02","type":"tool_result"},{"content":[{"text":"ok","type":"text"},{"source":{"data":"ok","media_type":"image/png","type":"base64"},"type":"image"}],"tool_use_id":"toolu_03","type":"tool_result"}],"role":"user"},
{"content":"\ud83d\uddd4\ud85c\udc0c\u200b\u05e1\ud85e\udce6\u00c0\u05c3\u200d\ud83d\udce6\u042c\ud841\udc4d\u031c\u00be","role":"user"},
{"content":[{"signature":"c2lnbmVkIDUwMyBieXRlcw==","thinking":"ok","type":"thinking"},{"id":"toolu_04","input":{"q":["ok",{"deep":{}}]},"name":"mcp__files__search","type":"tool_use"},{"id":"toolu_05","input":{"file_path":"ok","limit":100.0},"name":"Read","type":"tool_use"},{"id":"toolu_06","input":{"q":["ok",{"deep":{}}]},"name":"mcp__files__search","type":"tool_use"}],"role":"assistant"},
{"content":[{"content":[{"text":"ok","type":"text"},{"text":"(end)","type":"text"}],"tool_use_id":"toolu_04","type":"tool_result"},{"content":"ok","tool_use_id":"toolu_05","type":"tool_result"},{"content":"ok","tool_use_id":"toolu_06","type":"tool_result"}],"role":"user"},
{"content":[{"signature":"c2lnbmVkIDIgYnl0ZXM=","thinking":"hm","type":"thinking"},{"id":"toolu_07","input":{"file_path":"ok","limit":100.0},"name":"Read","type":"tool_use"},{"id":"toolu_08","input":{"q":["Use 2 retries, never 3.",{"deep":{}}]},"name":"mcp__files__search","type":"tool_use"},{"id":"toolu_09","input":{"file_path":"ok","limit":100.0},"name":"Read","type":"tool_use"}],"role":"assistant"},
{"content":[{"tool_use_id":"toolu_07","type":"tool_result"}],"role":"user"},
{"content":[{"content":"ok","tool_use_id":"toolu_08","type":"tool_result"}],"role":"user"},
{"content":[{"content":"ok","tool_use_id":"toolu_09","type":"tool_result"},{"text":"\ud9b0\udf18-'\u0005\uda1a\udf86$\ufeffGy","type":"text"}],"role":"user"}]}"#;
    let options = Options { tail: Tail::Items(4), ..Options::default() };
    hold(Format::Anthropic, body, 3..40, &options);
}

/// Found by chance: the stub of a result that a person's message carries repeated a pin, so that a next compaction
/// took the pin for that person's words and let go of where it was said.
#[test]
fn what_a_stub_repeats_is_no_persons_word() {
    let lines = |n: usize| "lorem elit labore veniam amet tempor\\n".repeat(n);
    let query = "刉🤊券😖滿扉🦲🕰壳🌏譞🦭🌽Þ9Е".repeat(8);
    let body = format!(
        r#"{{"model":"claude-opus-4-8","max_tokens":4096,"messages":[
{{"role":"user","content":"Begin."}},
{{"role":"assistant","content":"Done."}},
{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_01","name":"search","input":{{"q":["Use 2 retries, never 3."]}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_01","content":"{}"}},{{"type":"text","text":"ok"}}]}},
{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"c2lnbmVkIDIgYnl0ZXM="}},{{"type":"text","text":"Use 2 retries, never 3."}},{{"type":"tool_use","id":"toolu_02","name":"search","input":{{"q":["{query}"]}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_02"}}]}},
{{"role":"assistant","content":"Done."}},
{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_03","name":"Read","input":{{"file_path":"ok"}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_03","content":"{}"}}]}}]}}"#,
        lines(12),
        lines(100)
    );
    let options =
        Options { pins: vec![Pin::Text("Use 2 retrie".to_owned())], ..Options::default() };
    hold(Format::Anthropic, &body, 3..40, &options);
}

/// Found by chance: with bound thinking stripped, what a server's tool had found was folded though it alone ended a turn
/// whose steps stayed; the plan that does least took over, and the next compaction went on.
#[test]
fn what_a_server_found_ends_a_turn() {
    let long = "lorem elit labore veniam amet tempor\\n".repeat(40);
    let search = |id: &str, found: &str| {
        format!(
            r#"{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"c2lnbmVkIDIgYnl0ZXM="}},
{{"type":"server_tool_use","id":"{id}","name":"web_search","input":{{"query":"x"}}}},
{{"type":"web_search_tool_result","tool_use_id":"{id}","content":[{{"type":"web_search_result","title":"ok","url":"https://example.org/","encrypted_content":"{found}"}}]}}]}}"#
        )
    };
    let body = format!(
        r#"{{"model":"claude-opus-5-5","max_tokens":4096,"thinking":{{"type":"enabled","budget_tokens":2048}},
"tools":[{{"name":"Read","description":"Reads a file.","input_schema":{{"type":"object"}}}}],"messages":[
{{"role":"user","content":"ok"}},
{{"role":"assistant","content":[{{"type":"compaction","content":"{long}"}}]}},
{},
{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_05","name":"Read","input":{{"file_path":"ok"}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_05","content":"{long}"}},{{"type":"text","text":"ok"}}]}},
{{"role":"user","content":"Agnes asks for it. {long}"}},
{},
{{"role":"user","content":"Go on."}},
{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"c2lnbmVkIDIgYnl0ZXM="}},{{"type":"tool_use","id":"toolu_07","name":"Read","input":{{"file_path":"ok"}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_07","content":"{long}{long}"}}]}},
{{"role":"user","content":"The id is 7f3a-99."}}]}}"#,
        search("srvtoolu_04", "EqgfCioIARgB"),
        search("srvtoolu_06", &"EqgfCioIARgB".repeat(20)),
    );
    let options = Options::default();
    hold(Format::Anthropic, &body, 3..70, &options);
}

/// Found by chance: an image in the newest message was kept for a newer step's sake that had left, and the next
/// compaction took it out.
#[test]
fn a_step_that_left_is_not_the_newest() {
    let image = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAAAAAA";
    let body = format!(
        r#"{{"model":"gpt-5.4","store":false,"input":[
{{"type":"computer_call","id":"cu_1","action":{{"type":"screenshot"}},"call_id":"comp_1"}},
{{"type":"computer_call_output","output":{{"type":"computer_screenshot","image_url":"{image}"}},"call_id":"comp_1"}},
{{"role":"user","content":"ok"}},
{{"role":"tool","content":[{{"type":"input_image","image_url":"{image}","detail":"auto"}},{{"type":"input_text","text":"ok"}}]}},
{{"type":"compaction_trigger"}}]}}"#
    );
    let options = Options::default();
    hold(Format::OpenaiResponses, &body, 1..60, &options);
}

/// Found by chance: a message of no known role was folded though it alone parted a turn without thinking from the newest
/// message, so that the view broke a rule, the oldest plan took over, and the next compaction went on.
#[test]
fn what_has_no_known_role_parts_turns_that_lose_their_thinking() {
    let long = "lorem elit labore veniam amet tempor\\n".repeat(40);
    let think = r#"{"type":"thinking","thinking":"hm","signature":"c2lnbmVkIDIgYnl0ZXM="}"#;
    let call = |id: u32| {
        format!(
            r#"{{"type":"tool_use","id":"toolu_{id}","name":"Read","input":{{"file_path":"ok"}}}}"#
        )
    };
    let result = |id: u32| {
        format!(r#"{{"type":"tool_result","tool_use_id":"toolu_{id}","content":"{long}"}}"#)
    };
    let body = format!(
        r#"{{"model":"claude-opus-5-5","max_tokens":4096,"thinking":{{"type":"enabled","budget_tokens":2048}},
"tools":[{{"name":"Read","description":"Reads a file.","input_schema":{{"type":"object"}}}}],"messages":[
{{"role":"user","content":"ok"}},
{{"role":"assistant","content":[{think},{}]}},
{{"role":"user","content":[{},{{"type":"text","text":"ok"}}]}},
{{"role":"assistant","content":[{{"type":"compaction","content":"{long}"}}]}},
{{"role":"assistant","content":[{think}]}},
{{"role":"assistant","content":[{}]}},
{{"role":"user","content":[{}]}},
{{"role":"assistant","content":[{think}]}},
{{"role":"assistant","content":[{}]}},
{{"role":"critic","content":[{},{{"type":"text","text":"ok"}}]}},
{{"role":"user","content":"<system-reminder>lorem elit labore</system-reminder>"}}]}}"#,
        call(1),
        result(1),
        call(2),
        result(2),
        call(3),
        result(3),
    );
    hold(Format::Anthropic, &body, 3..100, &Options::default());
}

/// The same, of a turn that came in without.
#[test]
fn what_has_no_known_role_parts_turns_without_thinking() {
    let lines = |n: usize| "lorem elit labore veniam amet tempor\\n".repeat(n);
    let call = |id: u32| {
        format!(
            r#"{{"toolUse":{{"toolUseId":"call_0{id}","name":"Read","input":{{"file_path":"ok"}}}}}}"#
        )
    };
    let result = |id: u32, text: &str| {
        format!(r#"{{"toolResult":{{"toolUseId":"call_0{id}","content":[{{"text":"{text}"}}]}}}}"#)
    };
    let body = format!(
        r#"{{"modelId":"eu.anthropic.claude-opus-4-8-v1:0","inferenceConfig":{{"maxTokens":4096}},
"toolConfig":{{"tools":[{{"toolSpec":{{"name":"Read","description":"Reads a file.","inputSchema":{{"json":{{"type":"object"}}}}}}}}]}},
"additionalModelRequestFields":{{"thinking":{{"type":"enabled","budget_tokens":2048}}}},"messages":[
{{"role":"user","content":[{{"text":""}}]}},
{{"role":"assistant","content":[{}]}},
{{"role":"user","content":[{}]}},
{{"role":"assistant","content":[{},{}]}},
{{"role":"user","content":[{},{},{{"text":"Go on."}}]}},
{{"role":"tool","content":[{{"text":"x"}},{}]}},
{{"role":"user","content":[{},{{"text":"And now?"}}]}}]}}"#,
        call(1),
        result(1, &lines(15)),
        call(2),
        call(3),
        result(2, &lines(40)),
        result(3, &lines(90)),
        call(4),
        result(4, "ok"),
    );
    let options = Options { tail: Tail::Turns(0), ..Options::default() };
    hold(Format::Bedrock, &body, 5..95, &options);
}

#[test]
fn counters_agree_that_counts_add_up() {
    let runner_cases = ProptestConfig { cases: 100, ..cases() };
    let names: Vec<Arc<str>> = epitome::count::NAMES.iter().map(|name| Arc::from(*name)).collect();
    proptest!(runner_cases, |(case in generate::valid(), name in proptest::sample::select(names))| {
        let counter = counter(&name).expect("a known name");
        let options = Options { target: Target::Percent(case.target.clamp(1, 100)), ..Options::default() };
        let compactor = Compactor::new(options, counter).expect("in range");
        let outcome = compactor.compact(&case.request()).map_err(|e| TestCaseError::fail(e.to_string()))?;
        descent(&outcome, &compactor).map_err(TestCaseError::fail)?;
    });
}

/// Found by chance: a loop that holds state, so that it can't leave, lost the thinking that its turn must begin with to an
/// edit before it.
#[test]
fn what_a_loop_that_cant_leave_is_bound_to_stays() {
    let lines = |n: usize| "lorem elit labore veniam amet tempor\\n".repeat(n);
    let body = format!(
        r#"{{"model":"claude-opus-5-5","max_tokens":4096,"thinking":{{"type":"enabled","budget_tokens":2048}},"messages":[
{{"role":"user","content":"go on"}},
{{"role":"assistant","content":[{{"type":"compaction","content":"What was done before."}}]}},
{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"c2lnbmVkIDIgYnl0ZXM="}}]}},
{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_01","name":"Grep","input":{{"q":"a"}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_01","content":"{}"}}]}},
{{"role":"assistant","content":[{{"type":"compaction","content":"What was done since."}}]}},
{{"role":"assistant","content":[{{"type":"thinking","thinking":"Why?","signature":"c2lnbmVkIDIgYnl0ZXM="}},{{"type":"tool_use","id":"toolu_02","name":"Read","input":{{"q":"b"}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_02","content":"{}"}}]}}]}}"#,
        lines(15),
        lines(120)
    );
    hold(Format::Anthropic, &body, 1..60, &Options::default());
}

/// Found by chance: the system message in mid-conversation ties the person's message to the loop behind it; that had left,
/// and what was left of its unit couldn't until the next compaction.
#[test]
fn what_left_with_its_loop_holds_nothing_of_its_unit() {
    let body = r#"{"model":"claude-opus-5-5","max_tokens":4096,"thinking":{"type":"enabled","budget_tokens":2048},"messages":[
{"role":"user","content":"Fix the build."},
{"role":"system","content":"ok"},
{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2lnbmVkIDIgYnl0ZXM="},{"type":"tool_use","id":"toolu_01","name":"Grep","input":{"q":["ok",{"deep":{}}]}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01","content":"lorem"}]},
{"role":"user","content":"lorem"}]}"#;
    let options = Options { task: Task::Fold, ..Options::default() };
    hold(Format::Anthropic, body, 1..100, &options);
}

/// Found by chance: a picture of a preserved tool became a note, so that the tail began before its batch; another result of
/// that batch, which fit whole, was cut as if it stayed for the tail's sake alone.
#[test]
fn what_a_preserved_tool_gave_stays_whole_in_the_tail() {
    let lines = |n: usize| "lorem elit labore veniam amet tempor\\n".repeat(n);
    let body = format!(
        r#"{{"model":"gpt-5.4","messages":[
{{"role":"user","content":"ok"}},
{{"role":"assistant","content":null,"tool_calls":[{{"id":"call_01","type":"function","function":{{"name":"Grep","arguments":"{{}}"}}}},{{"id":"call_02","type":"function","function":{{"name":"Read","arguments":"{{}}"}}}}]}},
{{"role":"tool","tool_call_id":"call_01","content":"{}"}},
{{"role":"tool","tool_call_id":"call_02","content":"{}"}}]}}"#,
        lines(40),
        lines(18)
    );
    let options = Options {
        tail: Tail::Tokens(250),
        preserved_tools: vec!["Grep".to_owned()],
        ..Options::default()
    };
    hold(Format::OpenaiChat, &body, 1..100, &options);
}

/// Found by chance: a message of no known role that calls was taken for a part of the loop, so that nothing parted a turn
/// without thinking from the newest message; the oldest plan took over, and the next compaction went on.
#[test]
fn what_has_no_known_role_parts_turns_whatever_it_calls() {
    let lines = |n: usize| "lorem elit labore veniam amet tempor\\n".repeat(n);
    let step = |id: u32, role: &str| {
        format!(
            r#"{{"role":"{role}","content":[{{"type":"thinking","thinking":"hm","signature":"c2lnbmVkIDIgYnl0ZXM="}},{{"type":"tool_use","id":"toolu_{id}","name":"Read","input":{{"file_path":"ok"}}}}]}}"#
        )
    };
    let result = |id: u32| {
        let text = lines(15);
        format!(r#"{{"type":"tool_result","tool_use_id":"toolu_{id}","content":"{text}"}}"#)
    };
    let body = format!(
        r#"{{"model":"claude-opus-5-5","max_tokens":4096,"thinking":{{"type":"enabled","budget_tokens":2048}},"messages":[
{{"role":"user","content":"Fix the build."}},
{{"role":"system","content":"{}"}},
{},
{{"role":"user","content":[{}]}},
{{"role":"user","content":"And now?"}},
{},
{{"role":"user","content":[{}]}},
{},
{{"role":"user","content":[{},{{"type":"text","text":"Go on."}}]}}]}}"#,
        lines(20),
        step(1, "assistant"),
        result(1),
        step(2, "assistant"),
        result(2),
        step(3, "critic"),
        result(3),
    );
    hold(Format::Anthropic, &body, 1..100, &Options::default());
}

/// Found by chance: thinking that stays with a compaction block was bound to a loop whose only call, behind it, could leave; the
/// next compaction found no loop, and the thinking left.
#[test]
fn what_keeps_a_stateful_loop_open_stays_with_it() {
    let thinks = r#"{"type":"thinking","thinking":"hm","signature":"c2lnbmVkIDIgYnl0ZXM="}"#;
    let body = format!(
        r#"{{"model":"claude-opus-5-5","max_tokens":4096,"thinking":{{"type":"enabled","budget_tokens":2048}},"messages":[
{{"role":"user","content":"Begin."}},
{{"role":"assistant","content":[{thinks},{{"type":"text","text":"Done."}}]}},
{{"role":"assistant","content":[{{"type":"compaction","content":null}}]}},
{{"role":"tool","content":[{thinks}]}},
{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_01","name":"Read","input":{{"file_path":"ok"}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_01","content":"ok"}}]}}]}}"#
    );
    hold(Format::Anthropic, &body, 1..100, &Options::default());
}

/// Found by chance: a message left, though there was room for it, because one of its sentences was taken back.
#[test]
fn what_else_is_said_stays_where_a_sentence_is_taken_back() {
    let body = r#"{"model":"gpt-5.4","messages":[
{"role":"user","content":"Begin."},
{"role":"user","content":"The port is 8080. The importer reads its files by name."},
{"role":"user","content":"The tests of this repository fail. Find out why, mend it, and say what you changed.\nActually the port is 8082 now. Then go through what is left of it, and say what you would do next."},
{"role":"user","content":"Go on."}]}"#;
    hold(Format::OpenaiChat, body, 1..100, &Options::default());
}

/// Found by chance: bound reasoning left, and a reply with it that was nothing else, so that the system message before it stood
/// where none may; the plan that does least was taken then.
#[test]
fn what_stands_before_a_reply_leaves_with_it() {
    let body = format!(
        r#"{{"model":"claude-opus-5-5","max_tokens":4096,"tools":[{{"name":"Read","input_schema":{{"type":"object"}}}}],"messages":[
{{"role":"user","content":"Fix the build."}},
{{"role":"assistant","content":[{{"type":"tool_use","id":"toolu_01","name":"Read","input":{{}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_01","content":"ok"}}]}},
{{"role":"system","content":"Be brief."}},
{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":""}}]}},
{{"role":"user","content":"<system-reminder>go on</system-reminder>"}},
{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"c2lnbmVkIDIgYnl0ZXM="}},{{"type":"tool_use","id":"toolu_02","name":"Read","input":{{}}}}]}},
{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_02","content":"{}"}}]}},
{{"role":"assistant","content":"Done."}}]}}"#,
        "alpha beta gamma delta ".repeat(120),
    );
    hold(Format::Anthropic, &body, 10..100, &Options::default());
}
