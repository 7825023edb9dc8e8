//! The spans of `serve`, sent to a collector of OpenTelemetry as the standard variables say.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use async_trait::async_trait;
use epitome_proxy::SpanParent;
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_http::{Bytes, HeaderExtractor, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Handle;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt as _;

use crate::failure::Failure;
use crate::otlp_asked::{ENDPOINTS, is_asked_for, said};

/// How they are written; what is for traces alone goes first.
const PROTOCOLS: [&str; 2] = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
const SPOKEN: &str = "http/protobuf";

/// The longest wait for spans to be sent at the end.
const PATIENCE: Duration = Duration::from_secs(3);
/// Until a collector is connected, and the longest that it may take to answer: whoever sets a time sets less.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_secs(30);

/// What sends spans.
pub(crate) struct Spans(SdkTracerProvider);

impl Spans {
    /// Begins to send them, if the environment asks for that; `tell` is told in words when it fails, once until it works again.
    pub(crate) fn begin(
        runtime: &Handle,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Option<Self>> {
        if !is_asked_for() {
            return Ok(None);
        }
        if let Some(other) = PROTOCOLS.into_iter().find_map(said).filter(|it| *it != SPOKEN) {
            let what = format!("spans are sent as {SPOKEN}, not as {other}");
            bail!(Failure::usage(what).hint(format!(
                "export {}={SPOKEN}, and name the collector's port for that, mostly 4318",
                PROTOCOLS[1]
            )));
        }
        // Whoever chose before is as good.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            // The headers may hold a key.
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT)
            .timeout(ANSWER)
            .build()?;
        let client = Collector {
            client,
            runtime: runtime.clone(),
            has_failed: AtomicBool::new(false),
            tell: Box::new(tell),
        };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .build();
        let exporter = exporter.map_err(|_| {
            // The error quotes what may hold a key.
            Failure::usage("a variable OTEL_EXPORTER_OTLP_… is invalid")
                .hint(format!("export {}=http://127.0.0.1:4318", ENDPOINTS[0]))
        })?;
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter)
            .with_resource(resource())
            .build();
        let scope =
            InstrumentationScope::builder("epitome").with_version(env!("CARGO_PKG_VERSION"));
        let layer = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer_with_scope(scope.build()))
            .with_context_activation(false)
            .with_location(false)
            .with_threads(false)
            .with_tracked_inactivity(false)
            .with_target(false)
            .with_level(false)
            // What others say may hold content.
            .with_filter(filter_fn(|of| of.target().starts_with("epitome_tracing")));
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::set_global_default(subscriber)?;
        Ok(Some(Spans(provider)))
    }

    /// Ties spans to those that headers name.
    pub(crate) fn parent() -> SpanParent {
        let propagator = TraceContextPropagator::new();
        SpanParent::new(move |span, headers| {
            let parent = propagator.extract(&HeaderExtractor(headers));
            // Where nobody listens there is nothing to tie.
            let _tied = span.set_parent(parent);
        })
    }

    /// Sends what is left, within a bound.
    pub(crate) fn flush(&self) {
        let _late = self.0.shutdown_with_timeout(PATIENCE);
    }
}

/// Whose spans they are, unless the environment says it.
fn resource() -> Resource {
    let told = Resource::builder().build();
    let name = told.get(&"service.name".into()).map(|name| name.to_string());
    let is_unknown = name.is_none_or(|name| name.starts_with("unknown_service"));
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let own = Resource::builder().with_attribute(version);
    if is_unknown { own.with_service_name("epitome").build() } else { own.build() }
}

/// The client of a collector. It works on a runtime's threads, whatever thread asks.
struct Collector {
    client: reqwest::Client,
    runtime: Handle,
    has_failed: AtomicBool,
    tell: Box<dyn Fn(&str) + Send + Sync>,
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Collector")
    }
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let client = self.client.clone();
        let host = request.uri().authority().map(|it| it.host().to_owned()).unwrap_or_default();
        let asking = self.runtime.spawn(async move { client.send_bytes(request).await });
        let answer = asking.await.unwrap_or_else(|ended| Err(ended.into()));
        let why = match &answer {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(format!("{host} answers {}", answer.status())),
            Err(_) => Some(format!("{host} doesn't answer")),
        };
        let had_failed = self.has_failed.swap(why.is_some(), Ordering::Relaxed);
        if let Some(why) = why.filter(|_| !had_failed) {
            (self.tell)(&format!("spans can't be sent: {why}"));
        }
        answer
    }
}
