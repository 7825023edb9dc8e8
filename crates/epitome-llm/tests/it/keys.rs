//! Keys: wherever a server puts one, it is shown nowhere.

use epitome::Format;
use epitome_llm::{Endpoint, Limits, Model, Secret};

use crate::bench::{ask_at, endpoint, limits};
use crate::odd::{EVENTS, answer, canned};

/// One that doesn't look like one.
const KEY: &str = "plum4tree9stone";

fn here(url: &str) -> Endpoint {
    Endpoint { key: Some(Secret::new(KEY)), ..endpoint(url, Format::OpenaiChat, "gpt-4o") }
}

#[tokio::test]
async fn an_echoed_key_is_told_nowhere() {
    // Such that what is told of it is cut in the middle of the key.
    let far = "x".repeat(230);
    let near = "x".repeat(50);
    let event = |event: String| answer("200 OK", EVENTS, format!("data: {event}\n\n").as_bytes());
    for (name, answer) in [
        ("redirect", answer("302 Found", &format!("location: http://a/?key={KEY}\r\n"), b"")),
        ("far", answer("302 Found", &format!("location: /{near}{near}xxxxxxxxxx{KEY}\r\n"), b"")),
        ("type", answer("200 OK", &format!("content-type: text/{KEY}\r\n"), b"")),
        ("long type", answer("200 OK", &format!("content-type: text/{near}{KEY}\r\n"), b"")),
        (
            "complaint",
            answer("401 No", "", format!(r#"{{"error":{{"message":"{far}{KEY}"}}}}"#).as_bytes()),
        ),
        ("error", event(format!(r#"{{"error":{{"message":"no {KEY} {far}{KEY}"}}}}"#))),
        ("refusal", event(format!(r#"{{"choices":[{{"delta":{{"refusal":"no {KEY}"}}}}]}}"#))),
    ] {
        let (url, _task) = canned(vec![answer]).await;
        let once = Limits { retries: 0, ..limits() };
        let error = ask_at(here(&url), once, None).await.expect_err(name).to_string();
        assert!(!error.contains("plum4"), "{name}: {error}");
    }
    let said = format!("The key is {KEY}.");
    let choice =
        format!(r#"{{"choices":[{{"delta":{{"content":"{said}"}},"finish_reason":"stop"}}]}}"#);
    let (url, _task) = canned(vec![event(choice.clone())]).await;
    let summary = ask_at(here(&url), limits(), None).await.expect("an answer");
    assert_eq!(summary.text, "The key is [key].");
    // What stands for a key where none is needed is a word as others.
    let choice = choice.replace(KEY, "ollama");
    let (url, _task) = canned(vec![event(choice)]).await;
    let own = Endpoint { key: Some(Secret::new("ollama")), ..here(&url) };
    assert_eq!(ask_at(own, limits(), None).await.expect("an answer").text, "The key is ollama.");
}

#[tokio::test]
async fn a_key_echoed_by_a_model_list_is_not_shown() {
    for (status, headers, body) in [
        ("302 Found", format!("location: /{KEY}\r\n"), String::new()),
        ("403 Forbidden", String::new(), format!(r#"{{"error":"not {KEY}"}}"#)),
        ("200 OK", String::new(), format!(r#"{{"data":[{{"id":"of-{KEY}"}}]}}"#)),
    ] {
        // A request without a body ends as its head does.
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let answer = answer(status, &headers, body.as_bytes());
        tokio::spawn(async move {
            use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
            let (mut socket, _) = listener.accept().await.expect("a client");
            let mut asked = Vec::new();
            while !asked.ends_with(b"\r\n\r\n") {
                asked.push(socket.read_u8().await.expect("a request"));
            }
            socket.write_all(&answer).await.expect("it listens");
        });
        let model = Model::new(here(&url), limits(), None).expect("a good endpoint");
        let told = match model.listed().await {
            Ok(names) => names.concat(),
            Err(error) => error.to_string(),
        };
        assert!(!told.is_empty() && !told.contains("plum4"), "{told}");
    }
}
