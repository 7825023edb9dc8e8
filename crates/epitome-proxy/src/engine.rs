//! The engine for each API: the layer of `epitome-tower`, and its client.

use std::sync::Arc;

use epitome::count::counter;
use epitome::session::{AtLimit, ChainKey, Initiative, SessionOptions};
use epitome::trigger::Trigger;
use epitome::{Compactor, Format, Options};
use epitome_tower::{Compacting, CompactionLayer, LayerError, WithCompaction as _};
use epitome_tracing::Traced;
use http::HeaderMap;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::asking::Asking;
use crate::call::hear;
use crate::credential::credentials;
use crate::exchange::ModelSayings;
use crate::kept::Connector;
use crate::ledger::Ledger;
use crate::meters::Meters;
use crate::models::ModelsApi;
use crate::options::{
    KeptLearning, MOST_FIELDS, ProxyError, ProxyLimits, ProxyMode, ProxyOptions, ProxyState,
    draw_secret,
};
use crate::upstream::Upstream;
use crate::wanted::api;
use crate::when::{ByModel, Early, check, set_for};

/// The formats that are looked at, and what counts them where nothing better is known.
const FORMATS: [(Format, &str); 5] = [
    (Format::Anthropic, "claude"),
    (Format::OpenaiChat, "o200k"),
    (Format::OpenaiResponses, "o200k"),
    (Format::Gemini, "gemini"),
    (Format::GeminiInteractions, "gemini"),
];

/// Bytes of the newest requests that are kept, to read the next ones from where they go on.
const MOST_KNOWN: usize = 64 << 20;

/// What looks at one API's conversations.
pub(crate) struct Engine {
    format: Format,
    pub(crate) layer: CompactionLayer,
    pub(crate) client: Compacting<Asking>,
}

/// All of them, and the bare client.
pub(crate) struct Engines {
    each: Vec<Engine>,
    pub(crate) bare: Asking,
    /// What upstreams say of their models.
    pub(crate) sayings: Arc<dyn ModelSayings>,
    /// The key of the tenants' names; nobody who doesn't know the secret can make one up.
    key: [u8; 32],
}

impl Engines {
    pub(crate) fn new(
        options: &ProxyOptions,
        meters: &Arc<Meters>,
        ledger: Option<&Arc<Ledger>>,
    ) -> Result<Self, ProxyError> {
        check(options)?;
        let agreeing = ledger.filter(|_| options.mode == ProxyMode::Ask).cloned();
        let bare = Asking { agreeing, ..asking(options)? };
        let secret = options.state.as_ref().map_or_else(draw_secret, |state| state.secret);
        let key = blake3::derive_key("epitome proxy: tenants", &secret);
        let chains = chain_key(&blake3::derive_key("epitome proxy: conversations", &secret));
        let (initiative, at_limit) = match options.mode {
            // A compaction with consent is worth waiting for a summarizer.
            ProxyMode::Ask => (Initiative::OnDemand, AtLimit::Wait),
            // No request waits for a summarizer: a summary that isn't ready in time is made by code.
            ProxyMode::Auto | ProxyMode::Off => (Initiative::Automatic, AtLimit::Extractive),
        };
        let mut each = Vec::new();
        for (format, name) in FORMATS {
            let counter = counter(name).expect("it is one of ours");
            let compactor = Compactor::new(Options::default(), counter);
            let compactor = compactor.expect("defaults are in range");
            let compactor = compactor
                .with_summaries(options.summaries.clone())?
                .with_compactors(options.compactors.clone())
                .with_observer(Arc::new(Traced::default()));
            let asks = !(options.summaries.chain.is_empty() && options.compactors.chain.is_empty());
            let trigger = Arc::new(ByModel::of(options)?);
            let early: Arc<dyn Trigger> = Arc::new(Early(Arc::clone(&trigger)));
            let sessions = SessionOptions {
                soft: asks.then_some(early),
                initiative,
                at_limit,
                landing: options.landing,
                most_known: MOST_KNOWN / FORMATS.len(),
                ..SessionOptions::new(trigger, chains)
            };
            let layer = CompactionLayer::new(compactor, sessions).map_err(|error| match error {
                LayerError::Options(error) => ProxyError::Sessions(error),
                error => unreachable!("only settings are judged: {error}"),
            })?;
            let (windows, usual) = (options.windows.clone(), options.window);
            let layer =
                layer.with_windows(move |model| set_for(&windows, model).copied().or(usual));
            let layer = match &options.state {
                Some(state) => layer.kept_in(Arc::clone(&state.conversations)),
                None => layer,
            };
            let layer = match &options.state {
                Some(ProxyState { learning: KeptLearning::Shared, .. }) => {
                    layer.learning_at(learning_place(&secret, format, options))
                }
                _ => layer,
            };
            let (meters, ledger) = (Arc::clone(meters), ledger.cloned());
            let layer = layer.observed_by(move |event| {
                meters.told(api(format), event);
                hear(event);
                if let Some(ledger) = &ledger {
                    ledger.told(api(format), event);
                }
            });
            let client = bare.clone().with_compaction(layer.clone());
            each.push(Engine { format, layer, client });
        }
        let (windows, usual) = (options.windows.clone(), options.window);
        let is_said = move |model: &str| usual.is_some() || set_for(&windows, model).is_some();
        let sayings = Arc::new(ModelsApi::new(bare.clone(), is_said));
        Ok(Engines { each, bare, sayings, key })
    }

    /// The short names of their APIs.
    pub(crate) fn apis(&self) -> impl Iterator<Item = &'static str> {
        self.each.iter().map(|engine| api(engine.format))
    }

    /// What looks at an API's conversations, by its short name.
    pub(crate) fn named(&self, name: &str) -> Option<&Engine> {
        self.each.iter().find(|engine| api(engine.format) == name)
    }

    pub(crate) fn of(&self, format: Format) -> Option<&Engine> {
        self.each.iter().find(|engine| engine.format == format)
    }

    /// The name of whoever sends these headers to this upstream: a keyed digest of the credentials, from which nobody can find them.
    pub(crate) fn tenant(
        &self,
        upstream: &str,
        headers: &HeaderMap,
        query: Option<&str>,
    ) -> Arc<str> {
        let mut digest = blake3::Hasher::new_keyed(&self.key);
        let mut part = |bytes: &[u8]| {
            digest.update(&(bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        part(upstream.as_bytes());
        for (name, value) in credentials(headers, query) {
            part(name.as_bytes());
            part(value);
        }
        digest.finalize().to_hex().as_str().into()
    }
}

/// Where what use teaches of an API's models is kept: windows differ between upstreams.
fn learning_place(secret: &[u8; 32], format: Format, options: &ProxyOptions) -> [u8; 16] {
    let mut digest = blake3::Hasher::new_derive_key("epitome proxy: learnt of models");
    digest.update(secret).update(api(format).as_bytes());
    for upstream in options.upstreams.iter() {
        digest.update(b"\n").update(upstream.to_string().as_bytes());
    }
    let mut place = [0; 16];
    digest.finalize_xof().fill(&mut place);
    place
}

/// A key as chains take it.
fn chain_key(bytes: &[u8; 32]) -> ChainKey {
    let mut words = bytes.chunks_exact(8).map(|word| word.try_into().map(u64::from_le_bytes));
    ChainKey([(); 4].map(|()| words.next().and_then(Result::ok).expect("32 bytes are four words")))
}

/// The client of all upstreams. It follows no redirects, and goes where it is told.
fn asking(options: &ProxyOptions) -> Result<Asking, ProxyError> {
    let mut roots = RootCertStore::empty();
    if options.upstreams.iter().any(Upstream::is_encrypted) {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if roots.is_empty() {
            return Err(ProxyError::NoRoots);
        }
    }
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(options.limits.connect));
    http.set_keepalive(Some(options.limits.idle));
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    let connector = connector
        .enable_http1()
        .enable_http2()
        .wrap_connector(Connector::new(http, options.outward));
    let client = Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .timer(TokioTimer::new())
        .http1_max_headers(MOST_FIELDS)
        .build(connector);
    let ProxyLimits { patience, opening, .. } = options.limits;
    Ok(Asking {
        client,
        patience,
        opening,
        internal_errors: options.internal_errors,
        agreeing: None,
    })
}
