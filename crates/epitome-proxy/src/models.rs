//! What upstreams say of their models, by their models APIs: windows, and whether they compact by themselves.
//!
//! An upstream is asked in parallel with the first request for a model, with the client's own credential, and its answer
//! holds from then on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use http::request::Parts;
use http::uri::PathAndQuery;
use http::{HeaderValue, Method, Uri};
use percent_encoding::utf8_percent_encode;
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};
use tower_service::Service as _;

use crate::asking::Asking;
use crate::credential::{beside_the_body, may_authorize};
use crate::exchange::{Load, ModelSayings, Outbound, Prompted};
use crate::flow::{Collected, Flow};
use crate::paths::{IN_PATH, before};
use crate::upstream::Provider;
use crate::wanted::provider_of;
use crate::when::LEAST_WINDOW;

/// The maximum number of known pairs of model and credential. Beyond it, vain questions are forgotten, and all those of
/// the credential that asks then: made-up names cost others nothing.
const MOST: usize = 4096;
/// Questions at the same time; whoever comes then asks with a later request.
const MOST_AT_ONCE: usize = 8;
/// The longest name of a model that is asked about.
const LONGEST_NAME: usize = 256;
/// How long nothing is asked again after a failure.
const REST: Duration = Duration::from_mins(10);
/// The most that an upstream may take, and the longest list of models that is read.
const PATIENCE: Duration = Duration::from_secs(30);
const LONGEST: usize = 4 << 20;

/// What an upstream says of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Said {
    window: Option<u64>,
    compacts: bool,
}

enum Known {
    /// It is asked, or failed to say it, and isn't asked before then.
    Nothing(Instant),
    Said(Said),
}

/// A tenant, whose name stands for an upstream too, and a model.
type Key = (Arc<str>, String);

/// Asks upstreams, and knows what they said.
pub(crate) struct ModelsApi {
    client: Asking,
    /// Whether the operator said it.
    is_said: Box<dyn Fn(&str) -> bool + Send + Sync>,
    known: Arc<Mutex<HashMap<Key, Known>>>,
    /// How many more may be asked at the same time.
    places: Arc<Semaphore>,
}

fn locked(known: &Mutex<HashMap<Key, Known>>) -> MutexGuard<'_, HashMap<Key, Known>> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ModelsApi {
    pub(crate) fn new(
        client: Asking,
        is_said: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        let places = Arc::new(Semaphore::new(MOST_AT_ONCE));
        ModelsApi { client, is_said: Box::new(is_said), known: Arc::default(), places }
    }

    fn said(&self, key: &Key) -> Option<Said> {
        match locked(&self.known).get(key)? {
            Known::Said(said) => Some(*said),
            Known::Nothing(_) => None,
        }
    }

    /// Whether it is to be asked now; then nobody else asks it.
    fn begins(&self, key: &Key) -> bool {
        let mut known = locked(&self.known);
        let now = Instant::now();
        match known.get(key) {
            Some(Known::Said(_)) => return false,
            Some(Known::Nothing(until)) if *until > now => return false,
            _ => {}
        }
        if known.len() >= MOST {
            make_room(&mut known, &key.0);
        }
        known.insert(key.clone(), Known::Nothing(now + REST));
        true
    }
}

/// Forgets what was asked in vain, and all of this tenant; where that is nothing, everything.
fn make_room(known: &mut HashMap<Key, Known>, tenant: &str) {
    let before = known.len();
    known.retain(|(of, _), known| matches!(known, Known::Said(_)) && **of != *tenant);
    if known.len() == before {
        known.clear();
    }
}

impl ModelSayings for ModelsApi {
    fn window(&self, head: &Parts, prompted: &Prompted, model: &str) -> Option<u64> {
        if model.len() > LONGEST_NAME || (self.is_said)(model) {
            return None;
        }
        let key = (Arc::clone(&prompted.tenant), model.to_owned());
        if let Ok(runtime) = Handle::try_current()
            && let Ok(place) = Arc::clone(&self.places).try_acquire_owned()
            && self.begins(&key)
            && let Some(questions) = questions(head, provider_of(prompted.format)?, model)
        {
            let (client, known) = (self.client.clone(), Arc::clone(&self.known));
            runtime.spawn(async move {
                let _place = place;
                let said = timeout(PATIENCE, asked(client, questions, &key.1)).await;
                if let Ok(Some(said)) = said {
                    locked(&known).insert(key, Known::Said(said));
                }
            });
            return None;
        }
        self.said(&key)?.window
    }

    fn compacts(&self, prompted: &Prompted, model: &str) -> bool {
        let key = (Arc::clone(&prompted.tenant), model.to_owned());
        self.said(&key).is_some_and(|said| said.compacts)
    }
}

/// What is asked: of the model or of all, and, where a llama.cpp answers, of the server.
struct Questions {
    models: Parts,
    server: Parts,
}

/// What to ask about a model that a request is for; nothing where its upstream doesn't say it.
fn questions(head: &Parts, provider: Provider, model: &str) -> Option<Questions> {
    let (path, name) = (head.uri.path(), utf8_percent_encode(model, IN_PATH));
    let path = path.trim_end_matches('/');
    // A call of a cloud's has another path.
    let models = match provider {
        _ if model.is_empty() => return None,
        Provider::Anthropic => format!("{}/models/{name}", before(path, "/messages")?),
        Provider::Gemini => match before(path, "/interactions") {
            Some(before) => format!("{before}/models/{name}"),
            None => format!("{}/models/{name}", before(path.rsplit_once('/')?.0, "/models")?),
        },
        // The public one doesn't say it.
        Provider::OpenAi if provider.is_public(&head.uri) => return None,
        Provider::OpenAi => {
            let chat = before(path, "/chat/completions");
            format!("{}/models", chat.or(before(path, "/responses"))?)
        }
    };
    let server = format!("{}/props", models.trim_end_matches("/models").trim_end_matches("/v1"));
    Some(Questions { models: get(head, &models)?, server: get(head, &server)? })
}

/// A request for what stands at a path there, with the credential of another one.
fn get(head: &Parts, path: &str) -> Option<Parts> {
    let mut get = head.clone();
    get.method = Method::GET;
    // It is no call of a model.
    get.extensions.clear();
    let pairs = head.uri.query().into_iter().flat_map(|query| query.split('&'));
    let keys = pairs.filter(|pair| may_authorize(pair.split('=').next().unwrap_or_default()));
    let keys = keys.collect::<Vec<_>>().join("&");
    let mark = if keys.is_empty() { "" } else { "?" };
    let mut parts = head.uri.clone().into_parts();
    parts.path_and_query = PathAndQuery::try_from(format!("{path}{mark}{keys}")).ok();
    get.uri = Uri::from_parts(parts).ok()?;
    get.headers = beside_the_body(&head.headers);
    get.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    Some(get)
}

/// What an upstream says of a model.
async fn asked(mut client: Asking, questions: Questions, model: &str) -> Option<Said> {
    let told = answered(&mut client, questions.models).await?;
    let said = read(&told, model);
    let is_llama = entry(&told, model).is_some_and(|entry| entry["owned_by"] == "llamacpp");
    if said.window.is_some() || !is_llama {
        return Some(said);
    }
    let told = answered(&mut client, questions.server).await?;
    Some(Said { window: tokens(&told["default_generation_settings"]["n_ctx"]), ..said })
}

/// A JSON that is answered.
async fn answered(client: &mut Asking, head: Parts) -> Option<Value> {
    let reply = client.call(Outbound { head, load: Load::Unseen(Flow::default()) }).await.ok()?;
    let (head, flow) = reply.reply.into_parts();
    let kind = head.headers.get(CONTENT_TYPE)?;
    if !head.status.is_success() || !kind.as_bytes().starts_with(b"application/json") {
        return None;
    }
    let mut left = LONGEST;
    let room = |bytes: usize| {
        let fits = bytes <= left;
        left = left.saturating_sub(bytes);
        fits
    };
    let Collected::Whole(bytes) = flow.collect(room).await else { return None };
    serde_json::from_slice(&bytes).ok()
}

fn tokens(value: &Value) -> Option<u64> {
    value.as_u64().filter(|tokens| *tokens > 0)
}

/// The facts about a model in a list; a list of a single model answers for any name.
fn entry<'a>(told: &'a Value, model: &str) -> Option<&'a Value> {
    let all = told["data"].as_array()?;
    let named = all.iter().find(|entry| entry["id"] == model);
    named.or(all.first().filter(|_| all.len() == 1))
}

/// What an answer says: Anthropic's `max_input_tokens` and capabilities, Gemini's `inputTokenLimit`, vLLM's `max_model_len`,
/// llama.cpp's `meta.n_ctx`.
fn read(told: &Value, model: &str) -> Said {
    let one = entry(told, model).unwrap_or(told);
    let places = ["/max_input_tokens", "/inputTokenLimit", "/max_model_len", "/meta/n_ctx"];
    let window = places.iter().find_map(|place| tokens(one.pointer(place)?));
    // What holds no conversation is no window.
    let window = window.filter(|window| *window >= LEAST_WINDOW);
    let can = |name: &str| one["capabilities"].pointer(name).is_some_and(|it| *it == true);
    let edits = can("/context_management/supported");
    let compacts =
        can("/compaction/supported") || can("/context_management/compact_20260112/supported");
    Said { window, compacts: edits && compacts }
}

#[cfg(test)]
mod tests {
    use http::Request;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_provider_has_its_place_and_gets_its_credential_alone() {
        for (provider, url, model, there) in [
            (
                Provider::Anthropic,
                "https://a/x/v1/messages?beta=true",
                "m/n o",
                Some("https://a/x/v1/models/m%2Fn%20o"),
            ),
            (Provider::Anthropic, "https://a/model/m/invoke", "m", None),
            (
                Provider::Anthropic,
                "https://a/x%20/v1/m%65ssages",
                "m",
                Some("https://a/x%20/v1/models/m"),
            ),
            (
                Provider::Gemini,
                "https://a/v1beta/mod%65ls/m%3AgenerateContent",
                "m",
                Some("https://a/v1beta/models/m"),
            ),
            (Provider::OpenAi, "http://a/v1/chat/completions", "m", Some("http://a/v1/models")),
            (Provider::OpenAi, "http://a/responses", "m", Some("http://a/models")),
            (Provider::OpenAi, "https://api.openai.com/v1/responses", "m", None),
            (
                Provider::Gemini,
                "https://a/v1beta/models/m:generateContent?key=k&alt=sse",
                "m",
                Some("https://a/v1beta/models/m?key=k"),
            ),
            (
                Provider::Gemini,
                "https://a/v1beta/interactions",
                "m",
                Some("https://a/v1beta/models/m"),
            ),
            (Provider::Anthropic, "https://a/v1/messages", "", None),
        ] {
            let request = Request::post(url).header("x-api-key", "k").header("content-length", "9");
            let (head, ()) = request.body(()).expect("a request").into_parts();
            let questions = questions(&head, provider, model);
            let shown = questions.as_ref().map(|it| it.models.uri.to_string());
            assert_eq!(shown.as_deref(), there, "{url}");
            let Some(Questions { models, .. }) = questions else { continue };
            assert_eq!(
                (models.method, models.headers.contains_key("x-api-key")),
                (Method::GET, true)
            );
            assert!(!models.headers.contains_key("content-length"));
        }
    }

    #[test]
    fn names_that_somebody_makes_up_cost_others_nothing() {
        let said = Known::Said(Said { window: Some(1), compacts: false });
        let mut known = HashMap::from([((Arc::from("a"), "m".to_owned()), said)]);
        for name in 0..9 {
            let said = Known::Said(Said::default());
            let known_of = if name < 5 { Known::Nothing(Instant::now()) } else { said };
            known.insert((Arc::from(if name < 3 { "b" } else { "c" }), name.to_string()), known_of);
        }
        let left = |known: &HashMap<Key, Known>| known.keys().filter(|it| &*it.0 == "a").count();
        make_room(&mut known, "c");
        assert_eq!((known.len(), left(&known)), (1, 1));
        make_room(&mut known, "b");
        assert!(known.is_empty(), "nothing else could go");
    }

    #[test]
    fn windows_are_said_in_several_ways() {
        let one = json!({"data": [{"id": "m", "max_model_len": 8_192}, {"id": "n", "max_model_len": 4_096}]});
        for (told, window) in [
            (json!({"id": "m", "max_input_tokens": 200_000}), Some(200_000)),
            (json!({"name": "models/m", "inputTokenLimit": 1_048_576}), Some(1_048_576)),
            (one, Some(8_192)),
            (json!({"data": [{"id": "x", "meta": {"n_ctx": 4_096}}]}), Some(4_096)),
            (
                json!({"data": [{"id": "x", "max_model_len": 1_001}, {"id": "y", "max_model_len": 1_002}]}),
                None,
            ),
            (json!({"id": "m", "max_input_tokens": 0}), None),
            (json!({"id": "m", "max_input_tokens": 100}), None),
            (json!([]), None),
        ] {
            assert_eq!(read(&told, "m").window, window, "{told}");
        }
        let compacts =
            |capabilities: Value| read(&json!({"capabilities": capabilities}), "m").compacts;
        let edits = json!({"supported": true});
        assert!(compacts(json!({"compaction": {"supported": true}, "context_management": edits})));
        assert!(!compacts(json!({"compaction": {"supported": true}})));
        assert!(!compacts(json!({"context_management": edits})));
    }
}
