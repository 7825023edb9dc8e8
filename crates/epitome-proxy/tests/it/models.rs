//! What upstreams say of their models: their windows, and whether they compact by themselves.

use std::time::Duration;

use bytes::Bytes;
use epitome_proxy::ProxyOptions;
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::noting::{Book, Written, upstream, whole};
use crate::stage::{Stage, before};

/// An upstream whose models API answers so, by the path; `null` is a 404.
async fn saying(api: impl Fn(&str) -> Value + Clone + Send + Sync + 'static) -> (String, Book) {
    let answer = move |head: &Parts| {
        let told = if head.method == Method::GET { api(head.uri.path()) } else { json!({}) };
        let mut reply: Response<Written> = Response::new(whole(told.to_string()));
        reply.headers_mut().insert("content-type", "application/json".parse().expect("a type"));
        if told.is_null() {
            *reply.status_mut() = StatusCode::NOT_FOUND;
        }
        std::future::ready(reply)
    };
    upstream(answer).await
}

/// The paths that its models API was asked at, with the credential.
fn asked(book: &Book) -> Vec<String> {
    let book = book.lock().expect("nobody panicked");
    let gets = book.iter().filter(|(head, _)| head.method == Method::GET);
    let told = gets.map(|(head, body)| {
        assert!(body.is_empty());
        let key = ["authorization", "x-api-key"].map(|name| head.headers.get(name));
        let key = key.into_iter().flatten().next().and_then(|key| key.to_str().ok());
        format!("{} {}", head.uri, key.unwrap_or_default())
    });
    told.collect()
}

/// A conversation of so many messages.
fn said(path: &str, model: &str, many: usize) -> Value {
    let text = "The build fails in src/store.rs, and the log says why it does. ".repeat(20);
    let role = |nth: usize, own: &'static str| if nth.is_multiple_of(2) { "user" } else { own };
    if path.contains("/models/") {
        let said = (0..many).map(
            |nth| json!({"role": role(nth, "model"), "parts": [{"text": format!("{nth} {text}")}]}),
        );
        return json!({"contents": said.collect::<Value>()});
    }
    let said = (0..many)
        .map(|nth| json!({"role": role(nth, "assistant"), "content": format!("{nth} {text}")}));
    let name = if path.ends_with("responses") { "input" } else { "messages" };
    let mut body = json!({"model": model, "max_tokens": 99});
    body[name] = said.collect();
    body
}

fn post(stage: &Stage, path: &str, body: &Value) -> Request<Bytes> {
    let request = stage.post(path).header("authorization", "Bearer one");
    let request = request.header("anthropic-version", "2023-06-01");
    request.body(Bytes::from(body.to_string())).expect("a request")
}

/// Waits until something holds, which it does soon.
async fn until(mut holds: impl AsyncFnMut() -> bool) -> bool {
    for _ in 0..500 {
        if holds().await {
            return true;
        }
        sleep(Duration::from_millis(10)).await;
    }
    false
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_is_the_one_that_the_upstream_says() {
    for (path, model, there, told) in [
        (
            "/v1/messages",
            "claude-opus-5-5",
            "/v1/models/claude-opus-5-5",
            json!({"id": "claude-opus-5-5", "max_input_tokens": 4_000}),
        ),
        (
            "/v1/chat/completions",
            "qwen",
            "/v1/models",
            json!({"data": [{"id": "qwen", "max_model_len": 4_000}]}),
        ),
        (
            "/v1/responses",
            "any",
            "/v1/models",
            json!({"data": [{"id": "a.gguf", "owned_by": "llamacpp", "meta": {"n_ctx": 4_000}}]}),
        ),
        (
            "/v1beta/models/gemini-3.1-pro:generateContent",
            "gemini-3.1-pro",
            "/v1beta/models/gemini-3.1-pro",
            json!({"inputTokenLimit": 4_000}),
        ),
    ] {
        let api = move |asked: &str| if asked == there { told.clone() } else { Value::Null };
        let (url, book) = saying(api).await;
        let stage = Stage::new(&before(&url, None)).await;
        let mut many = 1;
        let compacts = until(async || {
            assert_eq!(
                stage.call(post(&stage, path, &said(path, model, many))).await.status(),
                200
            );
            // It is long only once it was asked, and goes on in each request.
            many = if many == 1 { 21 } else { many + 2 };
            stage.meter("compactions", &["cause=\"window\"", "adopted"]).await > 0
        });
        assert!(compacts.await, "{path}");
        assert_eq!(asked(&book), [format!("{there} Bearer one")]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_llama_that_lists_no_window_is_asked_for_its_settings() {
    let api = |asked: &str| match asked {
        "/v1/models" => json!({"data": [{"id": "m", "owned_by": "llamacpp"}]}),
        "/props" => json!({"default_generation_settings": {"n_ctx": 4_000}}),
        _ => Value::Null,
    };
    let (url, book) = saying(api).await;
    let stage = Stage::new(&before(&url, None)).await;
    let path = "/v1/chat/completions";
    let compacts = until(async || {
        stage.call(post(&stage, path, &said(path, "m", 41))).await;
        stage.meter("compactions", &["cause=\"window\"", "adopted"]).await > 0
    });
    assert!(compacts.await);
    assert_eq!(asked(&book), ["/v1/models Bearer one", "/props Bearer one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_models_api_is_asked_once_unless_the_window_is_set() {
    let (url, book) = saying(|_| Value::Null).await;
    let windows = vec![("mine*".to_owned(), 8_000)];
    let stage = Stage::new(&ProxyOptions { windows, ..before(&url, None) }).await;
    let path = "/v1/messages";
    for model in ["mine-1", "theirs", "mine-2", "theirs", "another", "theirs"] {
        stage.call(post(&stage, path, &said(path, model, 1))).await;
    }
    let mut other = post(&stage, path, &said(path, "theirs", 1));
    other.headers_mut().insert("authorization", "Bearer two".parse().expect("a value"));
    stage.call(other).await;
    assert!(until(async || asked(&book).len() == 3).await, "{:?}", asked(&book));
    // It failed, and isn't asked again so soon.
    stage.call(post(&stage, path, &said(path, "theirs", 1))).await;
    let mut all = asked(&book);
    all.sort();
    let at = |name: &str, key: &str| format!("/v1/models/{name} Bearer {key}");
    assert_eq!(all, [at("another", "one"), at("theirs", "one"), at("theirs", "two")]);
    // One window for all models leaves nothing to ask.
    let (url, book) = saying(|_| Value::Null).await;
    let stage = Stage::new(&before(&url, Some(8_000))).await;
    stage.call(post(&stage, path, &said(path, "theirs", 1))).await;
    stage.call(post(&stage, path, &said(path, "theirs", 3))).await;
    assert_eq!(asked(&book), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_says_so_compacts_by_itself() {
    let capabilities =
        json!({"compaction": {"supported": true}, "context_management": {"supported": true}});
    let told = json!({"id": "m", "max_input_tokens": 200_000, "capabilities": capabilities});
    let (url, book) = saying(move |_| told.clone()).await;
    let stage = Stage::new(&before(&url, None)).await;
    let path = "/v1/messages";
    let edit =
        json!({"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 50_000}});
    let mut body = said(path, "m", 3);
    body["context_management"] = json!({"edits": [edit]});
    let passes = until(async || {
        let mut request = post(&stage, path, &body);
        let betas = "compact-2026-01-12".parse().expect("a value");
        request.headers_mut().insert("anthropic-beta", betas);
        assert_eq!(stage.call(request).await.status(), 200);
        let book = book.lock().expect("nobody panicked");
        let last = book.iter().rfind(|(head, _)| head.method == Method::POST);
        last.is_some_and(|(head, sent)| {
            *sent == body.to_string() && head.headers.contains_key("anthropic-beta")
        })
    });
    assert!(passes.await);
}
