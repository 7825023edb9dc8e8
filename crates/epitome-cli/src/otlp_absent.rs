//! In the place of `otlp.rs` where the feature `otlp` is off.

use std::convert::Infallible;

use anyhow::Result;
use epitome_proxy::SpanParent;
use tokio::runtime::Handle;

use crate::otlp_asked::is_asked_for;

/// What sends spans; nothing does.
pub(crate) struct Spans(Infallible);

impl Spans {
    /// Says so where the environment asks for spans.
    #[expect(clippy::unnecessary_wraps, reason = "what sends them may fail")]
    pub(crate) fn begin(_runtime: &Handle, tell: impl Fn(&str)) -> Result<Option<Self>> {
        if is_asked_for() {
            tell("this build sends no spans: build it with the feature `otlp`");
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
