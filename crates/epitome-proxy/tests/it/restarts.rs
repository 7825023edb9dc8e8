//! What is known of conversations outlives a proxy, and proxies share it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::Bytes;
use epitome::session::KeptPlace;
use epitome_proxy::{Conversations, KeptConversation, KeptLearning, ProxyOptions, ProxyState};
use serde_json::value::RawValue;
use testkit::agent::Agent;
use testkit::server::Api;
use testkit::server::shell::Running;

use crate::stage::{Stage, before};
use crate::works::{provider, request};

/// A store in memory, which fails or hangs when it is told to.
#[derive(Debug, Default)]
struct Memory {
    kept: Mutex<BTreeMap<[u8; 16], KeptConversation>>,
    fails: AtomicBool,
    hangs: AtomicBool,
}

impl Memory {
    fn opened(
        &self,
    ) -> Result<std::sync::MutexGuard<'_, BTreeMap<[u8; 16], KeptConversation>>, String> {
        if self.hangs.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_secs(4));
        }
        if self.fails.load(Ordering::Relaxed) {
            return Err("the disk is gone".to_owned());
        }
        Ok(self.kept.lock().expect("nobody panicked"))
    }
}

impl Conversations for Memory {
    fn find(&self, places: &[KeptPlace]) -> Result<Option<KeptConversation>, String> {
        let kept = self.opened()?;
        Ok(places.iter().rev().find_map(|place| {
            let found = kept.get(&place.id.to_bytes());
            found.filter(|found| place.known.is_none_or(|known| found.number > known)).cloned()
        }))
    }

    fn keep(&self, conversation: &KeptConversation) -> Result<Option<KeptConversation>, String> {
        let mut kept = self.opened()?;
        let known =
            kept.get(&conversation.place).filter(|known| known.number >= conversation.number);
        if let Some(known) = known {
            return Ok(Some(known.clone()));
        }
        kept.insert(conversation.place, conversation.clone());
        Ok(None)
    }
}

/// How many conversations are kept: what is learnt of models stands beside them.
fn conversations(memory: &Memory) -> usize {
    let kept = memory.kept.lock().expect("nobody panicked");
    kept.values().filter(|kept| kept.text.contains("\"epochs\"")).count()
}

fn options(url: &str, memory: &Arc<Memory>) -> ProxyOptions {
    let conversations = Arc::<Memory>::clone(memory);
    let state = Some(ProxyState { conversations, secret: [7; 32], learning: KeptLearning::Shared });
    ProxyOptions { state, ..before(url, Some(12_000)) }
}

async fn step(stage: &Stage, agent: &mut Agent) {
    let reply = stage.call(request(stage, agent)).await;
    let text = String::from_utf8_lossy(reply.body()).into_owned();
    assert_eq!(reply.status(), 200, "{text}");
    assert_eq!(agent.take(&text, 25), 2);
}

/// The lists of all prompts that were answered, without their ends.
fn lists(running: &Running, api: Api) -> Vec<String> {
    let sent = running.posted().into_iter().filter(|one| one.status == 200);
    let list = |body: &[u8]| {
        let body: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(body).expect("JSON");
        body[api.list()]
            .get()
            .trim_end_matches(|end: char| end.is_whitespace() || end == ']')
            .to_owned()
    };
    sent.map(|one| list(&one.body)).collect()
}

/// How many prompts don't begin with the one before, byte for byte.
fn breaks(running: &Running, api: Api) -> u64 {
    let lists = lists(running, api);
    lists.windows(2).filter(|pair| !pair[1].starts_with(&pair[0])).count() as u64
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_proxy_shows_what_it_showed() {
    for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Gemini, Api::Interactions] {
        let running = provider(12_000).await;
        let memory = Arc::<Memory>::default();
        let mut agent = Agent::new(api, false);
        let mut adopted = 0;
        for turn in 0..30 {
            // Another process for every step.
            let stage = Stage::new(&options(&running.url, &memory)).await;
            step(&stage, &mut agent).await;
            let found = stage.meter("keeping", &["found"]).await;
            assert_eq!(found, u64::from(adopted > 0), "{api} {turn}");
            adopted += stage.meter("compactions", &["adopted"]).await;
        }
        assert!(adopted > 1, "{api}");
        assert_eq!(breaks(&running, api), adopted, "{api}");
        assert_eq!(conversations(&memory) as u64, adopted);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_proxies_take_turns() {
    for api in [Api::Anthropic, Api::Responses] {
        let running = provider(12_000).await;
        let memory = Arc::<Memory>::default();
        let options = options(&running.url, &memory);
        let stages = [Stage::new(&options).await, Stage::new(&options).await];
        let mut agent = Agent::new(api, true);
        for turn in 0..40 {
            step(&stages[[0, 1, 1, 0, 1][turn % 5]], &mut agent).await;
        }
        let (mut adopted, mut found) = (0, 0);
        for stage in &stages {
            adopted += stage.meter("compactions", &["adopted"]).await;
            found += stage.meter("keeping", &["found"]).await;
        }
        assert!(adopted > 2 && found > 1, "{api}: {adopted} {found}");
        assert_eq!(breaks(&running, api), adopted, "{api}");
        // Nothing of a credential is in what is kept.
        let kept = memory.kept.lock().expect("nobody panicked");
        assert!(kept.values().all(|kept| !kept.text.contains("Bearer")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loser_of_a_race_shows_the_winners_view() {
    let running = provider(12_000).await;
    let memory = Arc::<Memory>::default();
    let options = options(&running.url, &memory);
    let stages = [Stage::new(&options).await, Stage::new(&options).await];
    let mut agent = Agent::new(Api::Chat, false);
    while conversations(&memory) == 0 {
        // The same request comes to both at the same time, as where a balancer asks again.
        let sent = running.posted().len();
        let (one, two) = tokio::join!(
            stages[0].call(request(&stages[0], &agent)),
            stages[1].call(request(&stages[1], &agent)),
        );
        assert!(one.status() == 200 && two.status() == 200);
        let bodies: Vec<Bytes> =
            running.posted()[sent..].iter().map(|one| one.body.clone()).collect();
        assert_eq!(bodies[0], bodies[1]);
        agent.take(&String::from_utf8_lossy(one.body()), 25);
    }
    assert_eq!(conversations(&memory), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_fails_or_hangs_fails_no_request() {
    let running = provider(12_000).await;
    let memory = Arc::<Memory>::default();
    for hangs in [false, true] {
        memory.fails.store(!hangs, Ordering::Relaxed);
        memory.hangs.store(hangs, Ordering::Relaxed);
        let stage = Stage::new(&options(&running.url, &memory)).await;
        let mut agent = Agent::new(Api::Anthropic, false);
        let begun = Instant::now();
        let mut sent = running.posted().len();
        for _ in 0..20 {
            step(&stage, &mut agent).await;
            sent += 1;
        }
        assert_eq!(running.posted().len(), sent);
        assert!(stage.meter("compactions", &["adopted"]).await > 0);
        assert!(stage.meter("keeping", &["failed"]).await > 0);
        // It isn't waited for each time.
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
    assert!(memory.kept.lock().expect("nobody panicked").is_empty());
}

/// The window that the model turned out to have is known to the next proxy, and to one before another server not.
#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_a_refusal_taught_outlives_a_proxy() {
    let (running, elsewhere) = (provider(12_000).await, provider(12_000).await);
    let memory = Arc::<Memory>::default();
    // Nobody says how large it is.
    let options = |url: &str| ProxyOptions { window: None, ..options(url, &memory) };
    let refused = |running: &Running| running.posted().iter().any(|one| one.status != 200);
    let live = async |url: &str| {
        let stage = Stage::new(&options(url)).await;
        let mut agent = Agent::new(Api::Chat, false);
        for _ in 0..30 {
            step(&stage, &mut agent).await;
        }
        assert!(stage.meter("compactions", &["adopted"]).await > 0);
        stage.meter("overflows", &[]).await
    };
    assert!(live(&running.url).await > 0 && refused(&running));
    let told = |kept: &KeptConversation| kept.text.contains(r#""limit":12000"#);
    // It is kept beside the requests.
    let is_kept = || memory.kept.lock().expect("nobody panicked").values().any(told);
    for _ in 0..1_000 {
        if !is_kept() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
    assert!(is_kept());
    assert_eq!(live(&running.url).await, 0, "it is known");
    assert!(live(&elsewhere.url).await > 0, "another server may have another one");
    // None of the words, and nothing of a credential.
    let kept = memory.kept.lock().expect("nobody panicked");
    let learnt = kept.values().filter(|kept| told(kept)).map(|kept| &kept.text);
    assert!(learnt.into_iter().all(|text| text.len() < 1_000 && !text.contains("Bearer")));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_secret_finds_nothing() {
    let running = provider(12_000).await;
    let memory = Arc::<Memory>::default();
    let mut agent = Agent::new(Api::Chat, false);
    let stage = Stage::new(&options(&running.url, &memory)).await;
    while stage.meter("compactions", &["adopted"]).await == 0 {
        step(&stage, &mut agent).await;
    }
    let learning = KeptLearning::Shared;
    let other =
        ProxyState { conversations: Arc::<Memory>::clone(&memory), secret: [8; 32], learning };
    let other = ProxyOptions { state: Some(other), ..before(&running.url, Some(12_000)) };
    let other = Stage::new(&other).await;
    step(&other, &mut agent).await;
    assert_eq!(other.meter("keeping", &["found"]).await, 0);
    assert_eq!(other.meter("compactions", &["adopted"]).await, 1);
}
