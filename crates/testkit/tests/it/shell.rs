//! The server on a socket, as a client sees it.

use std::io::Read;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::server::script::Broken;
use testkit::server::shell::{Running, start};
use testkit::server::{Queue, Reply, Server};

/// Runs `client` against a server.
fn against<T: Send + 'static>(
    server: Server,
    client: impl FnOnce(&str) -> T + Send + 'static,
) -> (T, Running) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let running = runtime.block_on(start(server)).expect("a free port");
    let url = running.url.clone();
    let out = std::thread::spawn(move || client(&url)).join().expect("the client ends");
    runtime.shutdown_background();
    (out, running)
}

fn post(url: &str, body: &str) -> Result<(u16, String), String> {
    let agent = ureq::Agent::new_with_config(
        ureq::config::Config::builder().http_status_as_error(false).build(),
    );
    let sent =
        agent.post(url).header("X-Client", "Test").content_type("application/json").send(body);
    let mut response = sent.map_err(|error| error.to_string())?;
    let mut text = String::new();
    let read = response.body_mut().as_reader().read_to_string(&mut text);
    read.map_err(|error| format!("{error} after {text:?}"))?;
    Ok((response.status().as_u16(), text))
}

fn chat(stream: bool) -> Value {
    json!({"model": "gpt-4o", "stream": stream, "messages": [{"role": "user", "content": "Go."}]})
}

#[test]
fn every_body_is_recorded_byte_for_byte() {
    let odd = "{ \"messages\" : [ {\"role\":\"user\",\"content\":\"\\u0047o. ✓\"} ],\r\n\t\"model\":\"gpt-4o\"}";
    let (statuses, running) = against(Server::default(), move |url| {
        let path = format!("{url}/v1/chat/completions?x=1");
        [odd, "{broken"].map(|body| post(&path, body).expect("an answer").0)
    });
    assert_eq!(statuses, [200, 400]);
    let recorded = running.recorded();
    assert_eq!(recorded[0].body, odd.as_bytes());
    assert_eq!(recorded[1].body, "{broken");
    assert_eq!(
        (recorded[0].method.as_str(), recorded[0].path.as_str()),
        ("POST", "/v1/chat/completions?x=1")
    );
    assert!(recorded[0].headers.contains(&("x-client".to_owned(), "Test".to_owned())));
    assert_eq!(
        recorded[0].noted.usage.map(|usage| usage.prompt),
        Some(4 + testkit::server::count::text("Go. ✓"))
    );
    assert!(recorded[1].noted.verdict.is_err());
}

#[test]
fn streams_end_well_slowly_or_not_at_all() {
    let words = "One two three four five.";
    let slow = Reply {
        pace: Duration::from_millis(30),
        wait: Duration::from_millis(100),
        ..Reply::text(words)
    };
    let cut = Reply { broken: Some(Broken { after: 2, fault: None }), ..Reply::text(words) };
    let script =
        Queue::new([Reply::text(words).into(), slow.into(), cut.clone().into(), cut.into()]);
    let (answers, _) = against(Server::new(script), |url| {
        let path = format!("{url}/v1/chat/completions");
        let streamed = chat(true).to_string();
        let well = post(&path, &streamed);
        let begin = Instant::now();
        let slow = post(&path, &streamed);
        let took = begin.elapsed();
        (well, slow, took, post(&path, &streamed), post(&path, &chat(false).to_string()))
    });
    let (well, slow, took, cut, cut_whole) = answers;
    let well = well.expect("it ends well");
    assert!(well.1.ends_with("data: [DONE]\n\n"), "{well:?}");
    let events = |text: &str| text.matches("\n\n").count();
    assert_eq!(events(&slow.expect("it ends well").1), events(&well.1));
    assert!(took > Duration::from_millis(200), "{took:?}");
    assert!(cut.is_err(), "{cut:?}");
    assert!(cut_whole.is_err(), "{cut_whole:?}");
}

#[test]
fn the_script_can_be_changed_while_it_runs() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let running = runtime.block_on(start(Server::default())).expect("a free port");
    let ask = |running: &Running| {
        let url = format!("{}/v1/chat/completions", running.url);
        let (_, text) = post(&url, &chat(false).to_string()).expect("an answer");
        serde_json::from_str::<Value>(&text).expect("JSON")["choices"][0]["message"]["content"]
            .clone()
    };
    running.server().play(Queue::new([Reply::text("First.").into()]));
    assert_eq!(ask(&running), "First.");
    running.server().play(Queue::new([Reply::text("Second.").into()]));
    assert_eq!(ask(&running), "Second.");
}
