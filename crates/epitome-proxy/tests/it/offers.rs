//! Recall offered to the model itself: the proxy answers its calls, and the client sees one reply.

use std::sync::{Arc, Mutex};

use epitome_proxy::{ManagementToken, ProxyOptions, RecallSource};
use http::Response;
use serde_json::{Value, json};
use testkit::agent::Agent;
use testkit::server::script::{Broken, Fault};
use testkit::server::shell::Running;
use testkit::server::{Api, Loop, Next, Queue, Reply};

use crate::noting::{upstream, whole};
use crate::stage::{Stage, before};
use crate::works::{APIS, provider, request};

async fn offering(running: &Running, window: u64) -> Stage {
    let recall = RecallSource::Offered;
    Stage::new(&ProxyOptions { recall, ..before(&running.url, Some(window)) }).await
}

async fn answer(stage: &Stage, agent: &Agent) -> String {
    let reply = stage.call(request(stage, agent)).await;
    let text = String::from_utf8_lossy(reply.body()).into_owned();
    assert_eq!(reply.status(), 200, "{}: {text}", agent.path());
    text
}

fn search() -> Reply {
    Reply::call("recall_search", json!({"query": "error warning build"}))
}

/// What the provider is played next, and then work as ever.
fn play(running: &Running, next: Vec<Reply>) {
    let then = Loop { steps: usize::MAX, parallel: 2, ..Loop::default() };
    running.server().play(Queue::followed_by(next.into_iter().map(Next::Reply), then));
}

/// The largest number of such a name in a reply: what it reports at its end.
fn reported(text: &str, name: &str) -> u64 {
    let name = format!("\"{name}\":");
    let numbers = text.split(&name).skip(1);
    let number = |rest: &str| {
        let digits = rest.trim_start().split(|it: char| !it.is_ascii_digit()).next();
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
    };
    numbers.map(number).max().unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_recalls_and_the_client_sees_one_reply() {
    for api in APIS {
        for is_streaming in [false, true] {
            let running = provider(12_000).await;
            let stage = offering(&running, 12_000).await;
            let mut agent = Agent::new(api, is_streaming);
            while stage.meter("compactions", &["adopted"]).await == 0 {
                let text = answer(&stage, &agent).await;
                agent.take(&text, 25);
            }
            for mixed in [false, true] {
                let what = format!("{api} {is_streaming} {mixed}");
                let before = running.posted().len();
                // Beside a call of the client's, which isn't made: the model makes it again.
                let first = search().thinking("What was it?");
                let first =
                    if mixed { first.and_call("Read", json!({"path": "a"})) } else { first };
                play(&running, vec![first, search().thinking("And that?")]);
                let text = answer(&stage, &agent).await;
                assert!(!text.contains("recall_search"), "{what}: {text}");
                let sent = running.posted().split_off(before);
                assert!(sent.iter().all(|one| one.status == 200), "{what}");
                assert_eq!(sent.len(), 3, "{what}");
                // Each goes on with the one before, and what was recalled stands in it.
                let bodies: Vec<String> = sent
                    .iter()
                    .map(|one| String::from_utf8_lossy(&one.body).into_owned())
                    .collect();
                assert!(bodies[1].len() > bodies[0].len() && bodies[2].len() > bodies[1].len());
                assert!(
                    bodies[2].contains("All of one: recall_get with its id."),
                    "{what}: {}",
                    bodies[2]
                );
                assert!(!bodies[1].contains("\\\"path\\\":\\\"a\\\"}") || !mixed, "{what}");
                // What it costs is the sum.
                let output: u64 =
                    sent.iter().filter_map(|one| one.noted.usage).map(|usage| usage.output).sum();
                let names: &[&str] = match api {
                    Api::Chat => &["completion_tokens"],
                    Api::Gemini => &["candidatesTokenCount", "thoughtsTokenCount"],
                    Api::Interactions => &["total_output_tokens", "total_thought_tokens"],
                    _ => &["output_tokens"],
                };
                if api != Api::Chat || !is_streaming {
                    let told: u64 = names.iter().map(|name| reported(&text, name)).sum();
                    assert_eq!(told, output, "{what}");
                }
                assert_eq!(agent.take(&text, 2), 2, "{what}");
            }
            // The client's history has nothing of it, and goes on.
            assert!(!json!(agent.history).to_string().contains("recall_search"));
            let text = answer(&stage, &agent).await;
            assert_eq!(agent.take(&text, 2), 2);
            let refused = running.posted().into_iter().find(|one| one.status != 200);
            assert!(refused.is_none(), "{refused:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_only_recalls_is_ended_and_a_broken_stream_stays_broken() {
    for api in APIS {
        for is_streaming in [false, true] {
            let running = provider(100_000).await;
            let stage = offering(&running, 100_000).await;
            let agent = Agent::new(api, is_streaming);
            play(&running, (0..20).map(|_| search()).collect());
            let reply = stage.call(request(&stage, &agent)).await;
            let text = String::from_utf8_lossy(reply.body()).into_owned();
            assert_eq!(reply.status(), if is_streaming { 200 } else { 502 }, "{text}");
            assert!(text.contains("the model recalled 8 times"), "{api}: {text}");
            let sent = running.posted();
            assert_eq!(sent.len(), 9);
            // In the end it may only speak, with the tools that it had.
            for (nth, one) in sent.iter().enumerate() {
                let body: Value = serde_json::from_slice(&one.body).expect("JSON");
                let choice = &body["tool_choice"];
                let is_silent = choice == "none"
                    || choice["type"] == "none"
                    || body["generation_config"]["tool_choice"] == "none"
                    || body["toolConfig"]["functionCallingConfig"]["mode"] == "NONE";
                assert_eq!(is_silent, nth == 8, "{api} {nth}");
                assert!(body["tools"].to_string().contains("recall_get"), "{api} {nth}");
            }
        }
        // Another proxy needn't know of what was recalled.
        let running = provider(100_000).await;
        let stages = [offering(&running, 100_000).await, offering(&running, 100_000).await];
        let mut agent = Agent::new(api, true);
        for turn in 0..6 {
            play(&running, vec![search().thinking("What was it?")]);
            let text = answer(&stages[turn % 2], &agent).await;
            assert_eq!(agent.take(&text, 2), 2);
        }
        assert!(running.posted().iter().all(|one| one.status == 200));
        let stage = offering(&running, 100_000).await;
        for after in 1..4 {
            play(&running, vec![Reply { broken: Some(Broken { after, fault: None }), ..search() }]);
            let before = running.posted().len();
            let reply = stage.send(request(&stage, &agent)).await;
            let status = reply.status();
            let body = http_body_util::BodyExt::collect(reply.into_body()).await;
            if running.posted().len() == before + 1 {
                // Or so early that its head never left it.
                assert!(body.is_err() || status == 502, "{api} {after}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_round_that_is_too_long_is_made_smaller_and_asked_for_once_more() {
    for api in APIS {
        for is_streaming in [false, true] {
            let running = provider(100_000).await;
            let stage = offering(&running, 100_000).await;
            let mut agent = Agent::new(api, is_streaming);
            for _ in 0..8 {
                let text = answer(&stage, &agent).await;
                agent.take(&text, 25);
            }
            let before = running.posted().len();
            let then = Loop { steps: usize::MAX, parallel: 2, ..Loop::default() };
            let first = Reply::text("Let me look.");
            let first = first.and_call("recall_search", json!({"query": "error warning build"}));
            running.server().play(Queue::followed_by([first.into(), Fault::Overflow.into()], then));
            let text = answer(&stage, &agent).await;
            assert!(!text.contains("too long") && !text.contains("maximum context"), "{text}");
            assert_eq!(agent.take(&text, 2), 2, "{api} {is_streaming}");
            let sent = running.posted().split_off(before);
            let told: Vec<(u16, usize)> =
                sent.iter().map(|one| (one.status, one.body.len())).collect();
            assert_eq!(told.iter().map(|it| it.0).collect::<Vec<_>>(), [200, 400, 200], "{api}");
            assert!(told[2].1 < told[1].1 / 4 * 3, "{told:?}");
            // What was recalled is still there.
            assert!(String::from_utf8_lossy(&sent[2].body).contains("recall_search"));
            // Its history has nothing of it, and goes on.
            let text = answer(&stage, &agent).await;
            assert_eq!(agent.take(&text, 2), 2);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_of_nothing_beside_a_recall_does_not_go_back() {
    for api in APIS {
        for is_streaming in [false, true] {
            for blank in ["", "\n\n"] {
                let running = provider(100_000).await;
                let stage = offering(&running, 100_000).await;
                let agent = Agent::new(api, is_streaming);
                let said = Reply::text(blank).and_call("recall_search", json!({"query": "x"}));
                play(&running, vec![said]);
                answer(&stage, &agent).await;
                let statuses: Vec<_> = running.posted().iter().map(|one| one.status).collect();
                assert_eq!(statuses, [200, 200], "{api} {is_streaming} {blank:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_of_two_rounds_stand_apart() {
    for is_streaming in [false, true] {
        let running = provider(100_000).await;
        let stage = offering(&running, 100_000).await;
        let first = Reply::text("Let me look.").and_call("recall_search", json!({"query": "x"}));
        play(&running, vec![first, Reply::text("It was 7.")]);
        let text = answer(&stage, &Agent::new(Api::Gemini, is_streaming)).await;
        let words = text.split("\"text\":\"").skip(1).filter_map(|rest| rest.split('"').next());
        assert_eq!(words.collect::<String>(), "Let me look.\\n\\nIt was 7.", "{text}");
        let first = Reply::text("Let me look.").and_call("recall_search", json!({"query": "x"}));
        play(&running, vec![first, Reply::text("It was 7.")]);
        let text = answer(&stage, &Agent::new(Api::Chat, is_streaming)).await;
        let chunks = text.lines().filter_map(|line| {
            let line = line.strip_prefix("data: ").unwrap_or(line);
            let chunk: Value = serde_json::from_str(line).ok()?;
            let choice = &chunk["choices"][0];
            let words =
                choice["delta"]["content"].as_str().or(choice["message"]["content"].as_str());
            Some(words?.to_owned())
        });
        let said: String = chunks.collect();
        assert_eq!(said, "Let me look.\n\nIt was 7.", "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn recall_is_offered_to_requests_with_tools_of_other_names() {
    let running = provider(100_000).await;
    let stage = offering(&running, 100_000).await;
    let sent = |path: &'static str, body: Value, credential: &'static str| {
        let request = stage.post(path).header("anthropic-version", "2023-06-01");
        let request = request.header("authorization", credential);
        let call =
            stage.call(request.body(bytes::Bytes::from(body.to_string())).expect("a request"));
        let running = &running;
        let body = body.to_string();
        async move {
            call.await;
            let sent = running.posted().pop().expect("it was sent");
            let text = String::from_utf8_lossy(&sent.body).into_owned();
            assert!(text == body || text.contains("recall_get"), "{text}");
            text != body
        }
    };
    let tool = |name: &str| json!({"name": name, "input_schema": {"type": "object"}});
    let body = |tools: Value| json!({"model": "claude-opus-5-5", "max_tokens": 9, "tools": tools, "messages": [{"role": "user", "content": "Go."}]});
    assert!(sent("/v1/messages", body(json!([tool("Read")])), "Bearer one").await);
    assert!(
        !sent("/v1/messages", body(json!([tool("mcp__epitome__recall_search")])), "Bearer one")
            .await
    );
    assert!(!sent("/v1/messages", body(json!([])), "Bearer one").await);
    let item = json!([{"type": "function", "name": "Read", "parameters": {"type": "object"}}]);
    let mut body = json!({"model": "gpt-6.1-sol", "tools": item, "input": "Go.", "store": false});
    assert!(sent("/v1/responses", body.clone(), "Bearer one").await);
    body["store"] = json!(true);
    assert!(!sent("/v1/responses", body, "Bearer one").await);
    let streamed = "/v1beta/models/gemini-3.1-pro:streamGenerateContent";
    let events = "/v1beta/models/gemini-3.1-pro:streamGenerateContent?alt=sse";
    let contents = json!([{"role": "user", "parts": [{"text": "Go."}]}]);
    let functions = json!([{"googleSearch": {}}, {"functionDeclarations": [{"name": "Read"}]}]);
    let body = json!({"contents": contents, "tools": functions});
    assert!(sent(events, body.clone(), "Bearer one").await);
    // One JSON list, other answers, no functions.
    assert!(!sent(streamed, body.clone(), "Bearer one").await);
    let mut several = body.clone();
    several["generationConfig"] = json!({"candidateCount": 2});
    assert!(!sent(events, several, "Bearer one").await);
    let mut bare = body;
    bare["tools"] = json!([{"googleSearch": {}}]);
    assert!(!sent(events, bare, "Bearer one").await);

    let path = "/v1beta/interactions";
    let body = json!({"model": "gemini-3.8-flash", "tools": item, "input": "Go.", "store": false});
    assert!(sent(path, body.clone(), "Bearer one").await);
    for (name, value) in [
        ("store", json!(true)),
        ("agent", json!("deep-research")),
        ("previous_interaction_id", json!("v1_a")),
        ("tools", json!([{"type": "google_search"}])),
    ] {
        let mut other = body.clone();
        other[name] = value;
        assert!(!sent(path, other, "Bearer one").await, "{name}");
    }
}

/// Protocol buffers' JSON has two spellings.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_geminis_keeps_its_spelling() {
    let running = provider(100_000).await;
    let stage = offering(&running, 100_000).await;
    let asked = |names: [&str; 4]| {
        let [functions, config, calling, count] = names;
        json!({
            "contents": [{"role": "user", "parts": [{"text": "Go."}]}],
            "tools": [{functions: [{"name": "Read"}]}],
            config: {calling: {"mode": "AUTO"}, "retrievalConfig": {}},
            "generation_config": {count: 1},
        })
    };
    let snake =
        ["function_declarations", "tool_config", "function_calling_config", "candidate_count"];
    let camel = ["functionDeclarations", "toolConfig", "functionCallingConfig", "candidateCount"];
    for names in [snake, camel] {
        play(&running, (0..8).map(|_| search()).chain([Reply::text("It was 7.")]).collect());
        let body = asked(names);
        let request = stage.post("/v1beta/models/gemini-3.1-pro:generateContent");
        let request = request.header("authorization", "Bearer one");
        let before = running.posted().len();
        let reply = stage
            .call(request.body(bytes::Bytes::from(body.to_string())).expect("it is one"))
            .await;
        assert!(String::from_utf8_lossy(reply.body()).contains("It was 7."), "{reply:?}");
        let sent = running.posted().split_off(before);
        assert_eq!(sent.len(), 9);
        let last: Value = serde_json::from_slice(&sent[8].body).expect("JSON");
        let [functions, config, calling, _] = names;
        assert_eq!(last["tools"][0][functions].as_array().map(Vec::len), Some(3), "{last}");
        assert_eq!(last[config], json!({calling: {"mode": "NONE"}, "retrievalConfig": {}}));
        let members = last.as_object().expect("an object").keys();
        assert!(members.eq(body.as_object().expect("an object").keys()), "{last}");
    }
    let mut several = asked(snake);
    several["generation_config"]["candidate_count"] = json!(2);
    let mut pieces = asked(snake);
    pieces["tool_config"]["function_calling_config"]["stream_function_call_arguments"] =
        json!(true);
    let mut taken = asked(snake);
    taken["tools"][0]["function_declarations"][0]["name"] = json!("recall_get");
    for body in [several, pieces, taken] {
        let request = stage.post("/v1beta/models/gemini-3.1-pro:generateContent");
        let request = request.header("authorization", "Bearer one");
        let body = bytes::Bytes::from(body.to_string());
        stage.call(request.body(body.clone()).expect("it is one")).await;
        assert_eq!(running.posted().last().map(|sent| sent.body.clone()), Some(body));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_the_clients_tool_keeps_its_bytes_behind_a_recall() {
    let arguments = r#"{"path": "a", "id": 12345678901234567890123, "amount": 1.10}"#;
    let reply = |name: &str, arguments: &str| {
        let call = format!(r#"{{"functionCall":{{"name":"{name}","args":{arguments}}}}}"#);
        format!(
            r#"{{"candidates":[{{"content":{{"role":"model","parts":[{call}]}},"finishReason":"STOP"}}]}}"#
        )
    };
    let replies = [reply("recall_search", r#"{"query": "x"}"#), reply("Read", arguments)];
    for path in ["generateContent", "streamGenerateContent?alt=sse"] {
        let rounds = Arc::new(Mutex::new(replies.clone().into_iter()));
        let (url, book) = upstream(move |head| {
            // What is asked of a model is no call of it.
            if head.method == http::Method::GET {
                return std::future::ready(Response::new(whole("{}")));
            }
            let is_streamed = head.uri.query().is_some();
            let said = rounds.lock().expect("nobody panicked").next().expect("two rounds");
            let (kind, body) = if is_streamed {
                ("text/event-stream", format!("data: {said}\n\n"))
            } else {
                ("application/json", said)
            };
            let reply = Response::builder().header("content-type", kind).body(whole(body));
            std::future::ready(reply.expect("a reply"))
        })
        .await;
        let recall = RecallSource::Offered;
        let stage = Stage::new(&ProxyOptions { recall, ..before(&url, Some(100_000)) }).await;
        let body = json!({"contents": [{"role": "user", "parts": [{"text": "Go."}]}], "tools": [{"functionDeclarations": [{"name": "Read"}]}]});
        let request = stage.post(&format!("/v1beta/models/gemini-3.1-pro:{path}"));
        let request = request.header("x-goog-api-key", "k").body(body.to_string().into());
        let reply = stage.call(request.expect("a request")).await;
        let text = String::from_utf8_lossy(reply.body()).into_owned();
        assert!(text.contains(arguments), "{path}: {text}");
        let asked = book.lock().expect("nobody panicked");
        let posted = asked.iter().filter(|(head, _)| head.method == http::Method::POST);
        assert_eq!(posted.count(), 2, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rounds_that_recall_are_on_the_bill() {
    for (api, is_streaming) in [
        (Api::Anthropic, false),
        (Api::Anthropic, true),
        (Api::Responses, true),
        (Api::Chat, false),
        (Api::Gemini, true),
        (Api::Interactions, true),
    ] {
        let running = provider(100_000).await;
        let management = Some(ManagementToken::new("sesame"));
        let options = ProxyOptions { management, ..before(&running.url, Some(100_000)) };
        let stage = Stage::new(&ProxyOptions { recall: RecallSource::Offered, ..options }).await;
        let mut agent = Agent::new(api, is_streaming);
        play(&running, vec![search(), search()]);
        let text = answer(&stage, &agent).await;
        agent.take(&text, 2);
        let page = http::Request::get(format!("{}/ui", stage.url))
            .header("authorization", "Bearer sesame")
            .body(bytes::Bytes::new());
        let page = stage.call(page.expect("a request")).await;
        let page = String::from_utf8_lossy(page.body()).into_owned();
        assert_eq!(running.posted().len(), 3);
        assert!(page.contains("counts of 3 prompts"), "{api} {is_streaming}: {page}");
    }
}
