//! In the place of `otlp.rs` where the feature `otlp` is off.

use std::convert::Infallible;

use anyhow::Result;
use epitome_proxy::SpanParent;
use tokio::runtime::Handle;

/// What sends spans; nothing does.
pub(crate) struct Spans(Infallible);

impl Spans {
    /// Says so where the environment asks for spans.
    #[expect(clippy::unnecessary_wraps, reason = "what sends them may fail")]
    pub(crate) fn begin(_runtime: &Handle, tell: impl Fn(&str)) -> Result<Option<Self>> {
        let names = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
        if let Some(name) = names.into_iter().find(|name| std::env::var_os(name).is_some()) {
            tell(&format!(
                "{name} is set, and this build sends no spans: build it with --features otlp"
            ));
        }
        Ok(None)
    }

    pub(crate) fn parent() -> SpanParent {
        SpanParent::new(|_, _| ())
    }

    pub(crate) fn flush(&self) {
        match self.0 {}
    }
}
