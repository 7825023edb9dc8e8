//! The engine for each API: the layer of `epitome-tower`, and its client.

use std::sync::Arc;

use epitome::count::counter;
use epitome::session::{Recipient, SessionOptions};
use epitome::{Compactor, Format, Options};
use epitome_tower::{Compacting, CompactionLayer, LayerError, WithCompaction as _, random_key};
use http::HeaderMap;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};

use crate::call::hear;
use crate::exchange::Asking;
use crate::kept::Connector;
use crate::ledger::Ledger;
use crate::meters::Meters;
use crate::options::{ProxyError, ProxyLimits, ProxyOptions};
use crate::upstream::{Upstream, api};

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
    /// The key of the tenants' names; nobody outside this process can make one up.
    key: [u8; 32],
}

impl Engines {
    pub(crate) fn new(
        options: &ProxyOptions,
        meters: &Arc<Meters>,
        ledger: Option<&Arc<Ledger>>,
    ) -> Result<Self, ProxyError> {
        let bare = asking(options)?;
        let mut key = [0; 32];
        let drawn = random_key().0.into_iter().flat_map(u64::to_le_bytes);
        key.iter_mut().zip(drawn).for_each(|(byte, drawn)| *byte = drawn);
        let mut each = Vec::new();
        for (format, name) in FORMATS {
            let counter = counter(name).expect("it is one of ours");
            let compactor = Compactor::new(Options::default(), counter);
            let compactor = compactor.expect("defaults are in range");
            let trigger = Arc::new(options.trigger.clone().build()?);
            let sessions = SessionOptions {
                landing: options.landing,
                most_known: MOST_KNOWN / FORMATS.len(),
                ..SessionOptions::new(trigger, random_key())
            };
            let layer = CompactionLayer::new(compactor, sessions).map_err(|error| match error {
                LayerError::Options(error) => ProxyError::Sessions(error),
                error => unreachable!("only settings are judged: {error}"),
            })?;
            let layer = match options.window {
                Some(window) => layer.to(Recipient::from(Some(window))),
                None => layer,
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
        Ok(Engines { each, bare, key })
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
        for name in ["authorization", "x-api-key", "api-key", "x-goog-api-key"] {
            part(name.as_bytes());
            for value in headers.get_all(name) {
                part(value.as_bytes());
            }
        }
        let keys = query.into_iter().flat_map(|query| query.split('&'));
        for pair in keys.filter(|pair| pair.starts_with("key=")) {
            part(pair.as_bytes());
        }
        digest.finalize().to_hex().as_str().into()
    }
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
    http.set_keepalive(Some(options.limits.head));
    let connector = HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
    let connector = connector
        .enable_http1()
        .enable_http2()
        .wrap_connector(Connector::new(http, options.outward));
    let client = Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .timer(TokioTimer::new())
        .build(connector);
    let ProxyLimits { patience, opening, .. } = options.limits;
    Ok(Asking { client, patience, opening })
}
