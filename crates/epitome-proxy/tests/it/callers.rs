//! What summarizers learn of the client whose conversation is compacted, and for how long.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use epitome::summarize::{Brief, FailureKind, Summaries, SummarizeError, Summary, from_fn};
use epitome_proxy::{Caller, CallerAccess, ProxyOptions};
use testkit::agent::Agent;
use testkit::server::Api;

use crate::stage::{Stage, before};
use crate::works::{provider, request};

const SUMMARY: &str = "The build fails because of a missing file, and each result was looked at.";

type Known = Arc<Mutex<Vec<Option<Weak<Caller>>>>>;

/// A summarizer that notes who asks, and what it knew of it: where, as what, with what.
fn summaries() -> (Summaries, Known, Arc<Mutex<Vec<String>>>) {
    let (known, told) = (Known::default(), Arc::<Mutex<Vec<String>>>::default());
    let (noted, said) = (Arc::clone(&known), Arc::clone(&told));
    let model = from_fn("model", move |_| {
        let caller = Caller::current();
        noted.lock().expect("no panic").push(caller.as_ref().map(Arc::downgrade));
        if let Some(caller) = &caller {
            let key = &caller.headers()["authorization"];
            assert!(key.is_sensitive() && !caller.headers().contains_key("content-length"));
            assert!(!format!("{caller:?}").contains("one"), "{caller:?}");
            let address = caller.address(caller.model()).expect("its own");
            let secrets: Vec<_> = caller.secrets().collect();
            said.lock().expect("no panic").push(format!("{address} {secrets:?}"));
        }
        async move {
            // Longer than its request lasts.
            tokio::time::sleep(Duration::from_millis(20)).await;
            drop(caller);
            Ok::<_, SummarizeError>(Summary::new(SUMMARY))
        }
    });
    let brief = Brief { sections: Some(Vec::new()), ..Brief::default() };
    (Summaries { chain: vec![model], brief, ..Summaries::default() }, known, told)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_is_known_as_long_as_its_summary_is_due() {
    for (api, callers) in [
        (Api::Anthropic, CallerAccess::Summarizers),
        (Api::Gemini, CallerAccess::Summarizers),
        (Api::Chat, CallerAccess::None),
        // Nobody sums up in that format.
        (Api::Interactions, CallerAccess::Summarizers),
    ] {
        let running = provider(12_000).await;
        let (summaries, known, told) = summaries();
        let options = ProxyOptions { summaries, callers, ..before(&running.url, Some(12_000)) };
        let stage = Stage::new(&options).await;
        let mut agent = Agent::new(api, false);
        while stage.meter("compactions", &["adopted"]).await < 2 {
            let reply = stage.call(request(&stage, &agent)).await;
            assert_eq!(reply.status(), 200, "{api}");
            agent.take(&String::from_utf8_lossy(reply.body()), 15);
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
        let known = known.lock().expect("no panic").clone();
        assert!(!known.is_empty(), "{api}");
        let is_told = callers == CallerAccess::Summarizers && api != Api::Interactions;
        for caller in known {
            assert_eq!(caller.is_some(), is_told, "{api}");
            // It was let go of.
            assert!(caller.is_none_or(|caller| caller.upgrade().is_none()), "{api}");
        }
        let told = told.lock().expect("no panic").clone();
        let expected = format!("{}{} [\"one\"]", running.url, agent.path());
        assert!(told.iter().all(|one| *one == expected), "{api}: {told:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_the_client_is_unknown_code_does_it() {
    let running = provider(12_000).await;
    let nobody = from_fn("client", |_| {
        let error = SummarizeError::new(FailureKind::Unauthorized, "no credential");
        std::future::ready(Caller::current().map(|_| SUMMARY).ok_or(error))
    });
    let summaries = Summaries { chain: vec![nobody], ..Summaries::default() };
    let options = ProxyOptions { summaries, ..before(&running.url, Some(12_000)) };
    let stage = Stage::new(&options).await;
    let mut agent = Agent::new(Api::Chat, false);
    while stage.meter("compactions", &["adopted"]).await < 2 {
        let reply = stage.call(request(&stage, &agent)).await;
        assert_eq!(reply.status(), 200);
        agent.take(&String::from_utf8_lossy(reply.body()), 15);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(stage.meter("fallbacks", &[]).await > 0);
}
