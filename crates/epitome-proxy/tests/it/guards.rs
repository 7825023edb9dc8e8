//! Who is answered, and where requests go.

use bytes::Bytes;
use epitome_proxy::{ProxyOptions, Upstreams};
use http::{Method, Response};

use crate::noting::{upstream, whole};
use crate::stage::{Stage, before};
use epitome::word_list::words;

#[tokio::test]
async fn pages_strangers_and_web_sockets_are_refused_and_nothing_is_forwarded() {
    let (url, book) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let stage = Stage::new(&before(&url, None)).await;
    for (name, value, status) in [
        ("origin", "http://localhost:3000", 403),
        ("host", "rebound.example", 403),
        ("upgrade", "websocket", 426),
    ] {
        for path in
            words!("/v1/responses /responses /backend-api/codex/responses /metrics /v1/models")
        {
            for method in [Method::GET, Method::POST, Method::OPTIONS] {
                let request = stage.post(path).method(method).header(name, value);
                let reply = stage.call(request.body(Bytes::new()).expect("a request")).await;
                assert_eq!(reply.status(), status, "{name} {path}");
                assert!(!reply.headers().contains_key("access-control-allow-origin"));
            }
        }
    }
    assert!(book.lock().expect("nobody panicked").is_empty());
    assert_eq!(stage.meter("requests", &["outcome=\"denied\""]).await, 45);
}

#[tokio::test]
async fn each_provider_is_asked_for_its_own() {
    let named = |name: &'static str| {
        move |_: &http::request::Parts| std::future::ready(Response::new(whole(name)))
    };
    let (anthropic, _) = upstream(named("anthropic")).await;
    let (openai, book) = upstream(named("openai")).await;
    let (gemini, _) = upstream(named("gemini")).await;
    let upstreams = Upstreams::of([
        format!("anthropic={anthropic}"),
        format!("openai={openai}/v1"),
        format!("gemini={gemini}"),
    ]);
    let upstreams = upstreams.expect("addresses");
    let stage = Stage::new(&ProxyOptions { upstreams, ..ProxyOptions::default() }).await;
    for (method, path, header, who) in [
        ("POST", "/v1/messages", "x-a", "anthropic"),
        ("POST", "/v1/messages/count_tokens", "x-a", "anthropic"),
        ("POST", "/v1/messages/batches", "anthropic-version", "anthropic"),
        ("POST", "/v1/responses", "authorization", "openai"),
        ("POST", "/responses/input_tokens", "authorization", "openai"),
        ("GET", "/v1/models", "authorization", "openai"),
        ("GET", "/v1/models", "x-api-key", "anthropic"),
        ("GET", "/v1/models", "anthropic-version", "anthropic"),
        ("POST", "/v1beta/models/m:countTokens", "x-a", "gemini"),
        ("GET", "/v1beta/models", "x-a", "gemini"),
    ] {
        let request = stage.post(path).method(method).header(header, "x");
        let reply = stage.call(request.body(Bytes::new()).expect("a request")).await;
        assert_eq!(reply.body(), who, "{path}");
    }
    let asked = book.lock().expect("nobody panicked").remove(1).0.uri;
    assert_eq!(asked, "/v1/responses/input_tokens");
    // Nobody's interface: no credential goes anywhere by a guess.
    let request = stage.post("/somewhere/else").header("authorization", "Bearer x");
    let reply = stage.call(request.body(Bytes::new()).expect("a request")).await;
    assert_eq!(reply.status(), 404);
}

#[tokio::test]
async fn health_and_metrics_are_served() {
    let (url, _) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let stage = Stage::new(&before(&url, None)).await;
    assert_eq!(stage.get("/livez").await.status(), 200);
    assert_eq!(stage.get("/readyz").await.status(), 200);
    for (method, status) in [("HEAD", 200), ("POST", 405)] {
        let request = stage.post("/readyz").method(method).body(Bytes::new());
        assert_eq!(stage.call(request.expect("a request")).await.status(), status, "{method}");
    }
    assert_eq!(stage.get("/v1/models").await.status(), 200);
    let page = stage.get("/metrics").await;
    let text = String::from_utf8_lossy(page.body()).into_owned();
    assert!(text.contains("epitome_requests_total{api=\"other\",outcome=\"ok\"} 1"), "{text}");
    assert!(text.ends_with("# EOF\n"));
}
