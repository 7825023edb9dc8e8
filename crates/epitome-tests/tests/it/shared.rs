//! Messages that a checkpoint shares with its neighbours, where user and assistant must take turns.

use epitome::checkpoint;
use epitome::engine::plan::Reached;
use epitome::engine::receipt::Receipt;
use epitome::session::in_turns;
use epitome::transcript::{ContentId, Origin, PartKind};
use epitome::{Compactor, Format, Options, Outcome, Request, Task, wire};
use serde_json::{Value, json};
use testkit::server::{Api, Call, Judge};
use testkit::{to, to_percent};

fn compactor(target: u64) -> Compactor {
    testkit::compactor(to(target), "o200k")
}

/// A task, and so many steps of a tool with a question of the user's every tenth.
fn session(steps: usize) -> Vec<Value> {
    let mut messages =
        vec![json!({"role": "user", "content": [{"text": "Fix the build, keep the API."}]})];
    for n in 0..steps {
        let id = format!("call_{n}");
        messages.push(json!({"role": "assistant", "content": [
            {"text": format!("Step {n}.")},
            {"toolUse": {"toolUseId": id, "name": "Read", "input": {"file_path": format!("src/m{n}.rs")}}},
        ]}));
        let lines = format!("fn f{n}() {{ todo!() }}\n").repeat(40);
        let result = json!({"toolResult": {"toolUseId": id, "content": [{"text": lines}]}});
        messages.push(json!({"role": "user", "content": [result]}));
        if n % 10 == 9 {
            messages.push(json!({"role": "assistant", "content": [{"text": "Done so far."}]}));
            messages
                .push(json!({"role": "user", "content": [{"text": format!("Next, part {n}.")}]}));
        }
    }
    messages
}

fn request(messages: &[Value]) -> Request {
    let body = json!({
        "system": [{"text": "You are a coding agent."}],
        "toolConfig": {"tools": [{"toolSpec": {"name": "Read", "inputSchema": {"json": {"type": "object"}}}}]},
        "messages": messages,
    });
    wire::parse(Format::Bedrock, body.to_string()).expect("a request")
}

fn messages(outcome: &Outcome) -> Vec<Value> {
    let body: Value = serde_json::from_str(outcome.rendered()).expect("JSON");
    body["messages"].as_array().expect("a list").clone()
}

/// What stands in the messages and reads as a checkpoint.
fn checkpoints(messages: &[Value]) -> Vec<String> {
    let blocks = messages.iter().flat_map(|message| message["content"].as_array().expect("a list"));
    let texts = blocks.filter_map(|block| block["text"].as_str());
    texts.filter(|text| checkpoint::looks_like_one(text)).map(str::to_owned).collect()
}

fn accepted(outcome: &Outcome) {
    let body: Value = serde_json::from_str(outcome.rendered()).expect("JSON");
    let model = "anthropic.claude-sonnet-4-5-v1:0";
    let call = Call { model: Some(model), ..Call::new(Api::Converse, &body) };
    Judge::default().validate(&call).unwrap_or_else(|refusal| panic!("{}", refusal.message));
}

fn id(receipt: &Receipt) -> ContentId {
    receipt.checkpoint.as_ref().expect("a checkpoint was written").id
}

#[test]
fn the_checkpoint_shares_the_tasks_message() {
    let outcome = compactor(1_500).compact(&request(&session(60))).expect("compacts");
    assert!(outcome.receipt.fallbacks.is_empty(), "{:?}", outcome.receipt.fallbacks);
    accepted(&outcome);
    let out = messages(&outcome);
    assert_eq!(out[0]["content"][0]["text"], "Fix the build, keep the API.");
    assert!(checkpoint::looks_like_one(out[0]["content"][1]["text"].as_str().expect("a text")));
    assert_eq!(checkpoints(&out).len(), 1);
    assert!(out.windows(2).all(|pair| pair[0]["role"] != pair[1]["role"]));
}

#[test]
fn without_a_task_it_shares_the_message_behind_it() {
    let mut said = session(60);
    said.truncate(121);
    said.push(json!({"role": "assistant", "content": [{"text": "Done."}]}));
    said.push(json!({"role": "user", "content": [{"text": "Thanks. What is left?"}]}));
    let compactor = testkit::compactor(Options { task: Task::Fold, ..to(1_000) }, "o200k");
    let outcome = compactor.compact(&request(&said)).expect("compacts");
    accepted(&outcome);
    let out = messages(&outcome);
    assert!(checkpoint::looks_like_one(out[0]["content"][0]["text"].as_str().expect("a text")));
    let last = out.last().expect("messages")["content"].as_array().expect("a list");
    assert_eq!(last.last().expect("blocks")["text"], "Thanks. What is left?");
}

#[test]
fn the_next_one_takes_its_words_on_and_its_place() {
    let mut said = session(30);
    for round in 0..4 {
        let outcome = compactor(1_500).compact(&request(&said)).expect("compacts");
        accepted(&outcome);
        let out = messages(&outcome);
        let found = checkpoints(&out);
        assert_eq!(found.len(), 1, "round {round}");
        let contents = checkpoint::read(&found[0]).expect("an intact fence");
        // The first question left in the first round; every later checkpoint has it still.
        let words: Vec<&str> = contents.words.iter().map(|word| word.text.as_str()).collect();
        assert!(words.contains(&"Next, part 9."), "round {round}: {words:?}");
        assert!(!words.iter().any(|word| word.contains("<checkpoint")), "round {round}");
        assert_eq!(out[0]["content"].as_array().expect("a list").len(), 2, "round {round}");
        // Again, nothing changes.
        let again = compactor(1_500).compact(&outcome.request);
        assert_eq!(again.expect("compacts").rendered(), outcome.rendered());
        said = out;
        let more = session(30).split_off(1);
        said.extend(more.into_iter().map(|mut message| {
            // The ids are new ones.
            for block in message["content"].as_array_mut().expect("a list") {
                for key in ["toolUse", "toolResult"] {
                    if let Some(id) = block[key]["toolUseId"].as_str() {
                        block[key]["toolUseId"] = format!("{id}_{round}").into();
                    }
                }
            }
            message
        }));
    }
}

/// Whoever goes on from views has newer words in the task's message, with their images. They leave it as other messages do.
#[test]
fn what_came_later_leaves_the_tasks_message() {
    let image = json!({"image": {"format": "png", "source": {"bytes": "iVBORw0KGgo="}}});
    let task = json!({"text": "Look after the server."});
    let mut said = vec![json!({"role": "user", "content": [task.clone()]})];
    let mut calls = 0;
    for turn in 1..8 {
        let asked = json!({"text": format!("Turn {turn}: what is wrong on this screen?")});
        said.push(json!({"role": "assistant", "content": [{"text": "Done so far."}]}));
        said.push(json!({"role": "user", "content": [asked.clone(), image.clone()]}));
        for _ in 0..2 {
            for mut message in session(9).split_off(1) {
                for block in message["content"].as_array_mut().expect("a list") {
                    for key in ["toolUse", "toolResult"] {
                        if block[key].is_object() {
                            block[key]["toolUseId"] = format!("call_{}", calls / 2).into();
                            calls += 1;
                        }
                    }
                }
                said.push(message);
            }
            let outcome = compactor(5_500).compact(&request(&said)).expect("compacts");
            let reached = &outcome.receipt.reached;
            assert!(matches!(reached, Reached::Target | Reached::NothingToDo), "{reached:?}");
            accepted(&outcome);
            said = messages(&outcome);
            assert_eq!(said[0]["content"][0], task);
            let body = outcome.rendered();
            assert!(body.contains(&format!("{asked},{image}")), "turn {turn}: {body}");
            let found = checkpoints(&said);
            let contents = found.last().and_then(|found| checkpoint::read(found));
            for word in contents.iter().flat_map(|contents| &contents.words) {
                assert!(word.text.contains("\n[attached: png"), "{word:?}");
            }
            // All that was said before the newest words is quoted, or stands apart from them and the task.
            let shown = body.matches("what is wrong on this screen?").count();
            assert!(shown >= turn.min(2), "turn {turn}: {body}");
            assert!(body.matches("iVBORw0KGgo=\"}").count() <= 3, "turn {turn}: {body}");
            let again = compactor(5_500).compact(&outcome.request);
            assert_eq!(again.expect("compacts").rendered(), outcome.rendered());
        }
    }
}

#[test]
fn a_checkpoint_in_a_shared_message_is_nobodys_words() {
    let outcome = compactor(1_500).compact(&request(&session(60))).expect("compacts");
    let again = compactor(1_000_000).compact(&outcome.request).expect("compacts");
    let origins = |outcome: &Outcome| -> Vec<Origin> {
        let parts = outcome.base.transcript.entry(0).parts();
        parts.filter(|part| part.kind() == PartKind::Text).map(|part| part.origin()).collect()
    };
    assert_eq!(origins(&again), [Origin::Human, Origin::Checkpoint]);
    assert_eq!(again.receipt.standing_checkpoints, [id(&outcome.receipt)]);
}

fn takes_turns(body: &str) -> bool {
    let said: Value = serde_json::from_str(body).expect("JSON");
    let said = said["messages"].as_array().expect("a list");
    said.windows(2).all(|pair| pair[0]["role"] != pair[1]["role"])
}

/// What the client doesn't do itself nobody does for it, and what isn't words alone stays a message of its own.
#[test]
fn a_prompt_has_two_in_a_row_where_the_client_has() {
    let step = |n: usize| {
        let said = json!({"role": "assistant", "content": format!("Part {n} is done. {}", "Well. ".repeat(90))});
        [said, json!({"role": "user", "content": format!("Next, part {n}.")})]
    };
    let request = |first: &[Value]| {
        let messages: Vec<Value> = first.iter().cloned().chain((0..30).flat_map(step)).collect();
        let body = json!({"model": "my-own", "messages": messages});
        wire::parse(Format::OpenaiChat, body.to_string()).expect("a request")
    };
    let task = json!({"role": "user", "content": "Fix the build, keep the API."});
    let named = json!({"role": "user", "name": "ann", "content": "Fix the build, keep the API."});
    for (first, is_joined) in [
        (&[task.clone()][..], true),
        (&[json!({"role": "system", "content": "Be brief."}), task.clone()], true),
        (&[task.clone(), task], false),
        (&[named], false),
    ] {
        let request = request(first);
        let outcome = compactor(1_500).compact(&request).expect("compacts");
        let prompt = in_turns(&request, outcome.request.clone());
        assert_eq!(takes_turns(&prompt), is_joined, "{prompt}");
        // It is a prompt of the same format, and all else keeps its bytes.
        let prompt = wire::parse(Format::OpenaiChat, prompt).expect("a request");
        assert_eq!(wire::check(&prompt), []);
        let tail = |request: &Request| -> Vec<String> {
            request.transcript.entries().rev().take(2).map(|entry| entry.raw().to_owned()).collect()
        };
        assert_eq!(tail(&prompt), tail(&outcome.request));
    }
}

/// Chat templates of Mistral's models demand turns; others take a checkpoint beside the task.
#[test]
fn no_view_breaks_the_turns_of_mistrals_chats() {
    let mut messages = vec![json!({"role": "user", "content": "Fix the build, keep the API."})];
    for n in 0..40 {
        let id = format!("call_{n}");
        let arguments = json!({"file_path": format!("src/m{n}.rs")}).to_string();
        let function = json!({"name": "Read", "arguments": arguments});
        let lines = format!("fn f{n}() {{ todo!() }}\n").repeat(40);
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": function},
        ]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": lines}));
        if n % 10 == 9 {
            messages.push(json!({"role": "assistant", "content": "Done so far."}));
            messages.push(json!({"role": "user", "content": format!("Next, part {n}.")}));
        }
    }
    for (model, keeps_turns) in [("mistralai/Devstral-Small-2507", true), ("gpt-4o", false)] {
        let body = json!({"model": model, "messages": messages});
        let request = wire::parse(Format::OpenaiChat, body.to_string()).expect("a request");
        for percent in (5..90).step_by(5) {
            let compactor = testkit::compactor(to_percent(percent), "o200k");
            testkit::laws::check_all(&request, &compactor)
                .unwrap_or_else(|error| panic!("{model}, {percent} %: {error}"));
            let outcome = compactor.compact(&request).expect("compacts");
            assert_eq!(takes_turns(outcome.rendered()), keeps_turns, "{model}, {percent} %");
            // A model alone reads a prompt.
            let prompt = in_turns(&request, outcome.request.clone());
            assert!(takes_turns(&prompt), "{model}, {percent} %: {prompt}");
            assert_eq!(prompt == outcome.rendered(), keeps_turns);
        }
    }
}

/// A thought between results and words that leaves brings these together, which few models take.
#[test]
fn results_and_words_do_not_meet_where_a_thought_leaves_between_them() {
    let mut messages = session(3);
    let thought = json!({"reasoningText": {"text": "So it is. ".repeat(40), "signature": "c2ln"}});
    messages.push(json!({"role": "assistant", "content": [{"reasoningContent": thought}]}));
    messages.push(json!({"role": "user", "content": [{"text": "Go on."}]}));
    let plain = request(&messages);
    for target in [20, 40, 60, 80] {
        for came in [plain.clone(), plain.clone().addressed_to("amazon.nova-pro-v1:0")] {
            let outcome = to_percent_of(target).compact(&came).expect("it can be compacted");
            assert_eq!(outcome.receipt.reached, Reached::Target, "{target}");
            assert_eq!(wire::inspect(&outcome.request, &[]), [], "{target}");
        }
        let claude = plain.clone().addressed_to("anthropic.claude-opus-4-5-v1:0");
        let outcome = to_percent_of(target).compact(&claude).expect("it can be compacted");
        assert!(outcome.receipt.fallbacks.is_empty(), "it takes both");
    }
}

/// What came with words beside results goes out so.
#[test]
fn results_and_words_that_came_together_stay_together() {
    let mut messages = session(12);
    let last = messages.last_mut().expect("a message");
    last["content"].as_array_mut().expect("a list").push(json!({"text": "And the tests?"}));
    let outcome = to_percent_of(50).compact(&request(&messages)).expect("it can be compacted");
    assert_eq!(outcome.receipt.fallbacks, Vec::<String>::new());
    assert_eq!(outcome.receipt.reached, Reached::Target);
}

fn to_percent_of(percent: u8) -> Compactor {
    testkit::compactor(to_percent(percent), "o200k")
}
