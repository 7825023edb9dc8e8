//! The dashboard: who sees it, what it shows, and what hostile content can't do there.

use bytes::Bytes;
use epitome_proxy::{ManagementToken, ProxyOptions};
use http::{HeaderValue, Request, Response};
use serde_json::json;
use testkit::agent::Agent;
use testkit::server::Api;

use crate::noting::{upstream, whole};
use crate::stage::{Stage, before};
use crate::works::{provider, request};

async fn managed(url: &str, window: u64) -> Stage {
    let management = Some(ManagementToken::new("sesame"));
    Stage::new(&ProxyOptions { management, ..before(url, Some(window)) }).await
}

async fn page(stage: &Stage, path: &str, token: &str) -> (u16, String) {
    let request = Request::get(format!("{}{path}", stage.url));
    let request = request.header("authorization", format!("Bearer {token}"));
    let reply = stage.call(request.body(Bytes::new()).expect("a request")).await;
    (reply.status().as_u16(), String::from_utf8_lossy(reply.body()).into_owned())
}

/// The page of a conversation, once all of its compactions have been looked at.
async fn looked_at(stage: &Stage, id: &str) -> String {
    loop {
        let (status, one) = page(stage, &format!("/ui/{id}"), "sesame").await;
        assert_eq!(status, 200);
        if one.matches("message by message").count() == one.matches("class=\"card\"").count() {
            return one;
        }
    }
}

/// What stands between two texts, each time.
fn between<'a>(page: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    page.split(from).skip(1).filter_map(|rest| Some(rest.split_once(to)?.0)).collect()
}

#[tokio::test]
async fn only_the_token_opens_it() {
    let (url, book) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let stage = managed(&url, 1_000).await;
    for path in ["/ui", "/ui/", "/ui/abc", "/ui/abc/1"] {
        for token in ["", "sesam", "sesame2"] {
            assert_eq!(page(&stage, path, token).await.0, 401, "{path} {token}");
        }
    }
    assert_eq!(page(&stage, "/ui", "sesame").await.0, 200);
    assert_eq!(page(&stage, "/ui/abc", "sesame").await.0, 404);
    assert_eq!(page(&stage, "/ui/style.css", "").await.0, 200);
    let reply = stage.get("/ui").await;
    let policy = reply.headers()["content-security-policy"].to_str().expect("words");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(reply.headers()["www-authenticate"].to_str().expect("words").starts_with("Basic"));
    // Pages of others neither frame nor ask it.
    for (name, value) in [("origin", "http://evil.example"), ("sec-fetch-site", "cross-site")] {
        let request = Request::get(format!("{}/ui", stage.url)).header(name, value);
        let request = request.header("authorization", "Bearer sesame").body(Bytes::new());
        assert_eq!(stage.call(request.expect("a request")).await.status(), 403);
    }
    // A browser says the token for other paths, too.
    assert_eq!(page(&stage, "/favicon.ico", "sesame").await.0, 404);
    // And somebody takes it for a key.
    for (path, name, value) in [
        ("/v1/chat/completions", "authorization", "Bearer sesame"),
        ("/v1/messages", "x-api-key", "sesame"),
        ("/v1beta/models/m:generateContent", "x-goog-api-key", "sesame"),
        ("/v1beta/models/m:generateContent?key=sesame", "accept", "*/*"),
        ("/openai/deployments/m/chat/completions", "api-key", "sesame"),
        ("/v1/models", "cookie", "session=sesame"),
    ] {
        let request = stage.post(path).header(name, value).body(Bytes::from_static(b"{}"));
        let reply = stage.call(request.expect("a request")).await;
        assert_eq!(reply.status(), 404, "{path} {name}");
        assert!(String::from_utf8_lossy(reply.body()).contains("management token"), "{path}");
    }
    assert!(book.lock().expect("nobody panicked").is_empty(), "nothing of it is forwarded");
    // Where no token was given there is none.
    let plain = Stage::new(&before(&url, None)).await;
    page(&plain, "/ui", "sesame").await;
    assert_eq!(book.lock().expect("nobody panicked").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_is_drawn_with_its_compactions_and_its_money() {
    for (api, is_streaming) in
        [(Api::Anthropic, true), (Api::Chat, false), (Api::Responses, true), (Api::Gemini, false)]
    {
        let running = provider(12_000).await;
        let stage = managed(&running.url, 12_000).await;
        let mut agent = Agent::new(api, is_streaming);
        for _ in 0..30 {
            let reply = stage.call(request(&stage, &agent)).await;
            agent.take(&String::from_utf8_lossy(reply.body()), 25);
        }
        let (_, all) = page(&stage, "/ui", "sesame").await;
        let ids = between(&all, "href=\"/ui/", "\"");
        let [_, id] = ids[..] else { panic!("one conversation, behind the style: {ids:?}") };
        let one = looked_at(&stage, id).await;
        let adopted = stage.meter("compactions", &["adopted"]).await as usize;
        assert!(adopted > 1);
        // In both sizes of the chart, and in its legend.
        assert_eq!(one.matches("class=\"cut\"").count(), 2 * adopted + 1, "{api}");
        assert_eq!(one.matches("tool results").count(), adopted, "{api}");
        assert!(one.contains(Agent::model(api)) && one.contains("30 requests"), "{one}");
        assert!(one.contains("1. Applied") && one.contains("nearly filled the model"), "{one}");
        for word in ["adopted", "wrapping", "injected"] {
            assert!(!one.contains(word), "only authors know {word}: {one}");
        }
        assert!(one.contains("billed for it"), "{api}: the provider tells it");
        let saved = between(&all, "saved, net", "</div>");
        assert!(saved.is_empty() || saved[0].contains('$'), "{saved:?}");
        let links = between(&one, &format!("href=\"/ui/{id}/"), "\"");
        assert_eq!(links.len(), adopted);
        let (status, content) = page(&stage, &format!("/ui/{id}/{}", links[0]), "sesame").await;
        assert_eq!(status, 200);
        assert!(
            content.contains("<pre class=\"new\">") && content.contains("<pre class=\"gone\">")
        );
        // The figures show nothing of what was said.
        assert!(!one.contains("build fails") && !all.contains("build fails"), "{api}");
    }
}

#[tokio::test]
async fn hostile_names_and_words_are_only_words() {
    let (url, _) = upstream(|_| {
        let usage = json!({"usage": {"prompt_tokens": 9, "completion_tokens": 1}, "choices": []});
        let mut reply = Response::new(whole(usage.to_string()));
        reply.headers_mut().insert("content-type", HeaderValue::from_static("application/json"));
        std::future::ready(reply)
    })
    .await;
    let stage = managed(&url, 4_000).await;
    let bad = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>";
    let unseen = "\u{202e}\u{7}\u{e0061}";
    let message = |role: &str| json!({"role": role, "content": format!("{bad}{unseen} {}", "It is long. ".repeat(200))});
    let mut messages: Vec<_> =
        (0..12).flat_map(|_| [message("user"), message("assistant")]).collect();
    messages.push(json!({"role": "user", "content": bad}));
    let body = json!({"model": format!("{bad}{unseen}"), "messages": messages, "tools": [{"type": "function", "function": {"name": bad, "parameters": {}}}]});
    for _ in 0..2 {
        let request = stage.post("/v1/chat/completions").header("authorization", bad);
        let request = request.body(Bytes::from(body.to_string())).expect("a request");
        assert_eq!(stage.call(request).await.status(), 200);
    }
    let (_, all) = page(&stage, "/ui", "sesame").await;
    let id = between(&all, "href=\"/ui/", "\"")[1];
    let one = looked_at(&stage, id).await;
    let (_, content) = page(&stage, &format!("/ui/{id}/1"), "sesame").await;
    for page in [&all, &one, &content] {
        assert!(page.contains("&lt;script&gt;"), "{page}");
        assert!(
            !page.contains(['\u{202e}', '\u{7}', '\u{e0061}']) && page.contains('\u{fffd}'),
            "{page}"
        );
        assert!(
            !page.contains("<script") && !page.contains("<img") && !page.contains("style="),
            "{page}"
        );
    }
}

#[tokio::test]
async fn only_so_many_conversations_are_kept() {
    let (url, _) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let stage = managed(&url, 4_000).await;
    for n in 0..230 {
        let body = json!({"model": "m", "messages": [{"role": "user", "content": format!("Number {n}.")}]});
        let request = stage.post("/v1/chat/completions").body(Bytes::from(body.to_string()));
        stage.call(request.expect("a request")).await;
    }
    let (_, all) = page(&stage, "/ui", "sesame").await;
    assert_eq!(between(&all, "<code>", "</code>").len(), 200);
}
