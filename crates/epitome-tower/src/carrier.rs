//! Requests that carry a conversation.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use epitome::engine::delegate::JobContext;
use epitome::session::Intent;
use epitome::{Format, Request};

use crate::route::route;

/// A request that may carry a conversation, in a body of one of the formats.
pub trait Carrier: Sized {
    /// The JSON body, if this is a call of a model and all of its body is at hand. `None` lets the
    /// request pass. Of a long request it is asked on another thread; all else is where the caller's task is.
    fn body(&self) -> Option<&str>;

    /// The same, to be kept: a copy, where the carrier doesn't share it.
    fn source(&self) -> Option<Arc<String>> {
        self.body().map(|body| Arc::new(body.to_owned()))
    }

    /// How many bytes the body has, told without a look at all of them. `None` lets the request pass.
    fn size(&self) -> Option<usize> {
        self.body().map(str::len)
    }

    /// The same request with another body of the same format.
    #[must_use]
    fn with_body(self, body: String) -> Self;

    /// The same request once more, for a retry, which brings its own body: this one's may be left out. `None` if it
    /// can't be copied.
    fn again(&self) -> Option<Self>;

    /// The format of the body, where something besides the body tells.
    fn format(&self) -> Option<Format> {
        None
    }

    /// The model, where it stands elsewhere than in the body.
    fn model(&self) -> Option<String> {
        None
    }

    /// The maximum tokens of a prompt for a model, if the request or its server names it. The layer's own setting comes first,
    /// the registry last.
    fn window(&self, model: &str) -> Option<u64> {
        let _ = model;
        None
    }

    /// The caller's context for this request: ids of conversation and turn, labels. The participants of a compaction get it,
    /// and the receipt shows it.
    fn about(&self) -> JobContext {
        JobContext::default()
    }

    /// What the model is to do, by the request as it was read.
    fn intent(&self, request: &Request) -> Intent {
        let _ = request;
        Intent::Step
    }

    /// In what a compaction runs that this request begins, summarizers included.
    fn surroundings(&self) -> Option<Surroundings> {
        None
    }

    /// Whose conversation it is: histories of different tenants never meet. One tenant, unless
    /// this says otherwise.
    fn tenant(&self) -> String {
        String::new()
    }
}

type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

/// In what a compaction runs: it may go on after its request has ended, in a task that has no task-local values of the caller's.
/// They are let go of with the compaction.
#[derive(Clone)]
pub struct Surroundings(Arc<dyn Fn(Running) -> Running + Send + Sync>);

impl Surroundings {
    /// Whatever `around` puts around the compaction.
    pub fn new<F: Future<Output = ()> + Send + 'static>(
        around: impl Fn(Running) -> F + Send + Sync + 'static,
    ) -> Self {
        Surroundings(Arc::new(move |running| Box::pin(around(running))))
    }

    pub(crate) fn around(&self, running: impl Future<Output = ()> + Send + 'static) -> Running {
        (self.0)(Box::pin(running))
    }
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").finish_non_exhaustive()
    }
}

/// A bare body, for clients that aren't HTTP clients.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// The format of the body.
    pub format: Format,
    /// The body.
    pub body: String,
}

impl Carrier for Prompt {
    fn body(&self) -> Option<&str> {
        Some(&self.body)
    }

    fn with_body(self, body: String) -> Self {
        Prompt { body, ..self }
    }

    fn again(&self) -> Option<Self> {
        Some(Prompt { format: self.format, body: String::new() })
    }

    fn format(&self) -> Option<Format> {
        Some(self.format)
    }
}

/// A body of text or bytes. If a header has its length, it is updated. The caller's context is a [`JobContext`] among
/// its extensions.
impl<B> Carrier for http::Request<B>
where
    B: AsRef<[u8]> + From<String>,
{
    fn body(&self) -> Option<&str> {
        route(self.uri().path())?;
        std::str::from_utf8(self.body().as_ref()).ok()
    }

    fn size(&self) -> Option<usize> {
        route(self.uri().path()).map(|_| self.body().as_ref().len())
    }

    fn with_body(mut self, body: String) -> Self {
        retell_length(self.headers_mut(), body.len());
        self.map(|_| body.into())
    }

    fn again(&self) -> Option<Self> {
        let mut again = http::Request::new(String::new().into());
        self.method().clone_into(again.method_mut());
        self.uri().clone_into(again.uri_mut());
        *again.version_mut() = self.version();
        self.headers().clone_into(again.headers_mut());
        self.extensions().clone_into(again.extensions_mut());
        Some(again)
    }

    fn format(&self) -> Option<Format> {
        route(self.uri().path()).map(|route| route.format)
    }

    fn model(&self) -> Option<String> {
        route(self.uri().path())?.model
    }

    fn about(&self) -> JobContext {
        self.extensions().get::<JobContext>().cloned().unwrap_or_default()
    }
}

#[cfg(feature = "reqwest")]
impl Carrier for reqwest::Request {
    fn body(&self) -> Option<&str> {
        route(self.url().path())?;
        std::str::from_utf8(self.body()?.as_bytes()?).ok()
    }

    fn size(&self) -> Option<usize> {
        route(self.url().path())?;
        self.body()?.as_bytes().map(<[u8]>::len)
    }

    fn with_body(mut self, body: String) -> Self {
        retell_length(self.headers_mut(), body.len());
        *self.body_mut() = Some(body.into());
        self
    }

    fn again(&self) -> Option<Self> {
        self.try_clone()
    }

    fn format(&self) -> Option<Format> {
        route(self.url().path()).map(|route| route.format)
    }

    fn model(&self) -> Option<String> {
        route(self.url().path())?.model
    }
}

fn retell_length(headers: &mut http::HeaderMap, length: usize) {
    if let Some(told) = headers.get_mut(http::header::CONTENT_LENGTH) {
        *told = length.into();
    }
}
