//! In the place of `otlp.rs` where the feature `otlp` is off.

use std::convert::Infallible;

use anyhow::Result;
use epitome_proxy::SpanParent;
use tokio::runtime::Handle;

/// What sends spans; nothing does.
pub(crate) struct Spans(Infallible);

impl Spans {
    pub(crate) fn begin(_runtime: &Handle, _tell: impl Fn(&str)) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn parent() -> SpanParent {
        SpanParent::new(|_, _| ())
    }

    pub(crate) fn flush(&self) {
        match self.0 {}
    }
}
