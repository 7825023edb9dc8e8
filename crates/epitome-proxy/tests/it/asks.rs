//! Compactions that wait until somebody agrees.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use epitome_proxy::{
    ManagementToken, Proxy, ProxyError, ProxyEvent, ProxyMode, ProxyObserver, ProxyOptions,
};
use http::{Request, StatusCode};
use testkit::agent::Agent;
use testkit::server::script::Broken;
use testkit::server::{Api, Fault, Loop, Next, Queue, Reply};

use crate::stage::{Stage, before};
use crate::works::{APIS, provider, request};

/// Conversations that begin to wait.
type Told = Arc<Mutex<Vec<String>>>;

async fn asking(url: &str, window: Option<u64>) -> (Stage, Told) {
    let told = Told::default();
    let book = Arc::clone(&told);
    let observer = ProxyObserver::new(move |event| {
        if let ProxyEvent::Waiting { conversation, .. } = event {
            book.lock().expect("nobody panicked").push(conversation.clone());
        }
    });
    let options = ProxyOptions {
        mode: ProxyMode::Ask,
        management: Some(ManagementToken::new("sesame")),
        observer: Some(observer),
        ..before(url, window)
    };
    (Stage::new(&options).await, told)
}

fn names(told: &Told) -> Vec<String> {
    told.lock().expect("nobody panicked").clone()
}

/// What a management request is answered.
async fn manage(stage: &Stage, method: &str, path: &str, token: &str) -> (StatusCode, String) {
    let request = Request::builder().method(method).uri(format!("{}{path}", stage.url));
    let request = request.header("authorization", format!("Bearer {token}"));
    let reply = stage.call(request.body(Bytes::new()).expect("a request")).await;
    (reply.status(), String::from_utf8_lossy(reply.body()).into_owned())
}

/// How many wait, by the meter.
async fn waiting(stage: &Stage) -> u64 {
    let page = stage.get("/metrics").await;
    let page = String::from_utf8_lossy(page.body()).into_owned();
    let lines = page.lines().filter(|line| line.starts_with("epitome_waiting{"));
    lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum()
}

async fn step(stage: &Stage, agent: &mut Agent) {
    let reply = stage.call(request(stage, agent)).await;
    let text = String::from_utf8_lossy(reply.body()).into_owned();
    assert_eq!(reply.status(), 200, "{}: {text}", agent.path());
    assert_eq!(agent.take(&text, 25), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_compacted_until_somebody_agrees_and_then_once() {
    for api in APIS {
        let running = provider(30_000).await;
        let (stage, told) = asking(&running.url, Some(12_000)).await;
        let mut agent = Agent::new(api, api == Api::Anthropic);
        while names(&told).is_empty() {
            step(&stage, &mut agent).await;
        }
        // It waits, and more than the window goes out as it came.
        for _ in 0..4 {
            let request = request(&stage, &agent);
            let body = request.body().clone();
            let reply = stage.call(request).await;
            assert_eq!(running.posted().last().expect("it was sent").body, body, "{api}");
            agent.take(&String::from_utf8_lossy(reply.body()), 25);
        }
        let [name] = &names(&told)[..] else { panic!("{api}: it is told once") };
        assert_eq!(waiting(&stage).await, 1);
        assert_eq!(stage.meter("compactions", &[]).await, 0);
        for path in ["/ui".to_owned(), format!("/ui/{name}")] {
            let (_, page) = manage(&stage, "GET", &path, "sesame").await;
            assert!(page.contains("A compaction waits for you"), "{page}");
            assert!(page.contains(&format!("action=\"/ui/{name}/compact\"")), "{page}");
        }
        let path = format!("/ui/{name}/compact");
        assert_eq!(manage(&stage, "POST", &path, "sesam").await.0, 401);
        assert_eq!(manage(&stage, "POST", "/ui/abc/compact", "sesame").await.0, 404);
        assert_eq!(manage(&stage, "GET", &path, "sesame").await.0, 404);
        assert_eq!(manage(&stage, "POST", &path, "sesame").await.0, 303);
        assert_eq!(waiting(&stage).await, 0);
        let (_, page) = manage(&stage, "GET", &format!("/ui/{name}"), "sesame").await;
        assert!(page.contains("You agreed."), "{page}");
        step(&stage, &mut agent).await;
        assert_eq!(stage.meter("compactions", &["asked", "adopted"]).await, 1, "{api}");
        // Its view stays in force, and the next one waits again.
        while names(&told).len() < 2 {
            step(&stage, &mut agent).await;
        }
        assert_eq!(stage.meter("compactions", &[]).await, 1, "{api}");
        assert_eq!(stage.meter("cache_breaks", &[]).await, 1, "{api}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_reaches_the_client_with_a_line_that_says_how_to_agree() {
    for api in APIS {
        // Refused by a status, and in a stream that has begun.
        for is_streaming in [false, true] {
            let running = provider(if is_streaming { 100_000 } else { 9_000 }).await;
            let (stage, told) = asking(&running.url, None).await;
            let mut agent = Agent::new(api, is_streaming);
            for _ in 0..if is_streaming { 6 } else { 0 } {
                step(&stage, &mut agent).await;
            }
            if is_streaming {
                let broken = Broken { after: 0, fault: Some(Fault::Overflow) };
                let refused = Reply { broken: Some(broken), ..Reply::text("Words.") };
                let then = Loop { steps: usize::MAX, parallel: 2, ..Loop::default() };
                running.server().play(Queue::followed_by([Next::Reply(refused)], then));
            }
            let text = loop {
                let reply = stage.call(request(&stage, &agent)).await;
                let text = String::from_utf8_lossy(reply.body()).into_owned();
                if reply.status() != 200 || is_streaming {
                    break text;
                }
                agent.take(&text, 25);
            };
            let what = format!("{api} {is_streaming}: {text}");
            let [name] = &names(&told)[..] else { panic!("{what}: it is told once") };
            assert!(text.contains(&format!("Agree at /ui/{name} of the proxy")), "{what}");
            assert_eq!(stage.meter("compactions", &[]).await, 0, "{what}");
            let sent = running.posted().len();
            assert_eq!(
                manage(&stage, "POST", &format!("/ui/{name}/compact"), "sesame").await.0,
                303
            );
            step(&stage, &mut agent).await;
            assert_eq!(running.posted().len(), sent + 1, "{what}");
            assert_eq!(stage.meter("compactions", &["asked", "adopted"]).await, 1, "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_dashboards_own_form_agrees() {
    let running = provider(30_000).await;
    let (stage, told) = asking(&running.url, Some(12_000)).await;
    let mut agent = Agent::new(Api::Chat, false);
    while names(&told).is_empty() {
        step(&stage, &mut agent).await;
    }
    let path = format!("/ui/{}/compact", names(&told)[0]);
    let own = stage.url.clone();
    for (origin, site, status) in [
        ("http://evil.example", "cross-site", 403),
        ("http://evil.example", "same-origin", 403),
        ("http://localhost:1", "same-site", 403),
        ("null", "same-origin", 403),
        (&own, "cross-site", 403),
        (&own, "same-origin", 303),
    ] {
        let request = stage.post(&path).header("authorization", "Bearer sesame");
        let request = request.header("origin", origin).header("sec-fetch-site", site);
        let reply = stage.call(request.body(Bytes::new()).expect("a request")).await;
        assert_eq!(reply.status(), status, "{origin} {site}");
    }
    // Nothing else is served to a page, be it of the proxy's own.
    let request = stage.post("/v1/chat/completions").header("origin", &own);
    let reply = stage.call(request.body(Bytes::from_static(b"{}")).expect("a request")).await;
    assert_eq!(reply.status(), 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dashboard_says_the_mode_and_what_passed() {
    let running = provider(12_000).await;
    let management = Some(ManagementToken::new("sesame"));
    let options =
        ProxyOptions { mode: ProxyMode::Off, management, ..before(&running.url, Some(1_000)) };
    let stage = Stage::new(&options).await;
    let mut agent = Agent::new(Api::Chat, false);
    for _ in 0..3 {
        step(&stage, &mut agent).await;
    }
    let (_, page) = manage(&stage, "GET", "/ui", "sesame").await;
    assert!(page.contains("Mode off") && page.contains("<b>3</b>"), "{page}");
    let (status, why) = manage(&stage, "POST", "/ui/abc/compact", "sesame").await;
    assert!(status == 405 && why.contains("the mode isn't ask"), "{status}: {why}");
    assert_eq!(manage(&stage, "POST", "/ui/abc/compact", "sesam").await.0, 401);
    let options = ProxyOptions { mode: ProxyMode::Ask, ..before(&running.url, None) };
    let error = Proxy::new(&options).expect_err("nobody could agree");
    assert!(matches!(error, ProxyError::NobodyAgrees), "{error:?}");
}
