//! One request and its reply, as the layer and the client see them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use epitome::Format;
use epitome_tower::{Carrier, Read, Reply, Tell};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Request, Response, Version};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::time::timeout;
use tower_service::Service;

use crate::encoding::Encoding;
use crate::flow::{Collected, Flow};
use crate::guard::strip;
use crate::native::Insert;
use crate::opening::Opening;
use crate::usage::Usage;

/// A request on its way to an upstream, whose address it has.
pub(crate) struct Outbound {
    pub(crate) head: Parts,
    pub(crate) load: Load,
}

/// What it carries.
pub(crate) enum Load {
    /// Whatever comes, unseen.
    Unseen(Flow),
    /// A call of a model, or a count.
    Seen(Prompted),
}

/// A body with a prompt.
#[derive(Clone)]
pub(crate) struct Prompted {
    /// As it came.
    pub(crate) bytes: Bytes,
    /// What is in it, where it came compressed.
    pub(crate) decoded: Option<Arc<String>>,
    pub(crate) format: Format,
    pub(crate) model: Option<String>,
    /// Whose it is.
    pub(crate) tenant: Arc<str>,
}

impl Prompted {
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.decoded {
            Some(text) => Some(text),
            None => std::str::from_utf8(&self.bytes).ok(),
        }
    }
}

/// What only holds for a body as it came.
const ABOUT_THE_BODY: [&str; 5] =
    ["content-encoding", "content-md5", "content-digest", "digest", "repr-digest"];

impl Outbound {
    fn prompted(&self) -> Option<&Prompted> {
        match &self.load {
            Load::Seen(prompted) => Some(prompted),
            Load::Unseen(_) => None,
        }
    }
}

impl Carrier for Outbound {
    fn body(&self) -> Option<&str> {
        self.prompted()?.text()
    }

    fn size(&self) -> Option<usize> {
        let prompted = self.prompted()?;
        Some(prompted.decoded.as_ref().map_or(prompted.bytes.len(), |text| text.len()))
    }

    fn with_body(mut self, body: String) -> Self {
        let headers = &mut self.head.headers;
        for name in ABOUT_THE_BODY {
            headers.remove(name);
        }
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        if let Load::Seen(prompted) = &mut self.load {
            prompted.bytes = Bytes::from(body);
            prompted.decoded = None;
        }
        self
    }

    fn again(&self) -> Option<Self> {
        // The retry brings its own body.
        let prompted = Prompted { bytes: Bytes::new(), decoded: None, ..self.prompted()?.clone() };
        Some(Outbound { head: self.head.clone(), load: Load::Seen(prompted) })
    }

    fn format(&self) -> Option<Format> {
        self.prompted().map(|prompted| prompted.format)
    }

    fn model(&self) -> Option<String> {
        self.prompted()?.model.clone()
    }

    fn tenant(&self) -> String {
        self.prompted().map(|prompted| prompted.tenant.to_string()).unwrap_or_default()
    }
}

/// An upstream's reply.
pub(crate) struct Inbound {
    pub(crate) reply: Response<Flow>,
    /// The most that the opening of a stream is held back, to learn whether the prompt is too long; zero where nobody asks.
    opening: Duration,
    /// Whether a whole reply may say that it ended where the window did.
    may_be_cut: bool,
}

impl From<Response<Flow>> for Inbound {
    /// A reply that nothing has to be learnt of.
    fn from(reply: Response<Flow>) -> Self {
        Inbound { reply, opening: Duration::ZERO, may_be_cut: false }
    }
}

/// The longest whole reply that is read before it is forwarded, where it may have ended with the window.
const LONGEST_CUT: usize = 1 << 20;

/// The longest whole reply that something is put into.
const LONGEST_REPLY: usize = 64 << 20;

/// The longest refusal that is read; a longer one is forwarded all the same.
const LONGEST_REFUSAL: usize = 1 << 18;

impl Reply for Inbound {
    async fn read(self) -> (Self, Read) {
        let status = self.reply.status();
        let is_json = self
            .reply
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        if status.is_success() && !(self.may_be_cut && is_json) {
            return self.opened().await;
        }
        let is_refusal = status.is_client_error() || status.is_server_error();
        let longest = if is_refusal { LONGEST_REFUSAL } else { LONGEST_CUT };
        if !(is_refusal || status.is_success()) {
            return (self, Read::Nothing);
        }
        let (head, flow) = self.reply.into_parts();
        let mut left = longest;
        let room = |bytes: usize| {
            let fits = bytes <= left;
            left = left.saturating_sub(bytes);
            fits
        };
        let (flow, read) = match flow.collect(room).await {
            Collected::Whole(bytes) => {
                let plain = Encoding::of(&head.headers)
                    .and_then(|encoding| encoding.decode(&bytes, longest));
                let plain = plain.ok().and_then(|plain| String::from_utf8(plain).ok());
                let read = plain.map_or(Read::Nothing, |plain| Read::of(status.as_u16(), &plain));
                (Flow::from(bytes), read)
            }
            Collected::Long(flow) | Collected::Broken(flow) => (flow, Read::Nothing),
        };
        (Inbound { reply: Response::from_parts(head, flow), ..self }, read)
    }

    fn telling(self, tell: Tell) -> Self {
        let (head, flow) = self.reply.into_parts();
        let flow = match Usage::of(&head.headers, tell) {
            Some(usage) if head.status.is_success() => flow.read_by(usage),
            _ => flow,
        };
        Inbound { reply: Response::from_parts(head, flow), ..self }
    }
}

impl Inbound {
    /// The same, with what was compacted for it before what the model says.
    pub(crate) async fn with(self, insert: Insert) -> Self {
        let (mut head, flow) = self.reply.into_parts();
        let kind = head.headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        if !head.status.is_success() || head.headers.contains_key(CONTENT_ENCODING) {
            return Inbound { reply: Response::from_parts(head, flow), ..self };
        }
        let flow = if kind.starts_with(b"text/event-stream") {
            flow.with(insert)
        } else {
            let mut left = LONGEST_REPLY;
            let room = |bytes: usize| {
                let fits = bytes <= left;
                left = left.saturating_sub(bytes);
                fits
            };
            match flow.collect(room).await {
                Collected::Whole(bytes) => match insert.into_whole(&bytes) {
                    Some(whole) => Flow::from(Bytes::from(whole)),
                    None => Flow::from(bytes),
                },
                Collected::Long(flow) | Collected::Broken(flow) => flow,
            }
        };
        head.headers.remove(CONTENT_LENGTH);
        Inbound { reply: Response::from_parts(head, flow), ..self }
    }

    /// The same, once its stream has said whether the prompt is too long.
    async fn opened(self) -> (Self, Read) {
        let headers = self.reply.headers();
        let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
        let is_read = kind.starts_with(b"text/event-stream")
            && !headers.contains_key(CONTENT_ENCODING)
            && !self.opening.is_zero();
        if !is_read {
            return (self, Read::Nothing);
        }
        let (head, flow) = self.reply.into_parts();
        let mut said = Opening::Open;
        let hears = |seen: &[u8]| {
            said = Opening::of(seen);
            said != Opening::Open
        };
        let flow = flow.opened(self.opening, hears).await;
        let read = match said {
            Opening::TooLong(overflow) => Read::TooLong(overflow),
            Opening::Open | Opening::Over => Read::Nothing,
        };
        (Inbound { reply: Response::from_parts(head, flow), ..self }, read)
    }
}

/// Why there is no reply.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoReply {
    /// The upstream can't be reached, or the connection broke.
    #[error(transparent)]
    Broken(#[from] hyper_util::client::legacy::Error),
    /// It doesn't begin to answer.
    #[error("no answer within {} s", .0.as_secs())]
    Late(Duration),
}

impl NoReply {
    /// What went wrong, with its causes.
    pub(crate) fn words(&self) -> String {
        let mut words = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            let more = error.to_string();
            if !words.ends_with(&more) {
                words = format!("{words}: {more}");
            }
            cause = error.source();
        }
        words
    }
}

/// The client of all upstreams.
#[derive(Clone)]
pub(crate) struct Asking {
    pub(crate) client: Client<HttpsConnector<HttpConnector>, Flow>,
    /// The most between a request and the beginning of its reply, and between two frames of that.
    pub(crate) patience: Duration,
    /// The most that the opening of a stream is held back.
    pub(crate) opening: Duration,
}

impl Service<Outbound> for Asking {
    type Response = Inbound;
    type Error = NoReply;
    type Future = Pin<Box<dyn Future<Output = Result<Inbound, NoReply>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NoReply>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, Outbound { mut head, load }: Outbound) -> Self::Future {
        head.version = Version::HTTP_11;
        let (flow, opening, may_be_cut) = match load {
            Load::Unseen(flow) => (flow, Duration::ZERO, false),
            Load::Seen(prompted) => {
                let may_be_cut = prompted.format == Format::Anthropic;
                (Flow::from(prompted.bytes), self.opening, may_be_cut)
            }
        };
        let asking = self.client.request(Request::from_parts(head, flow));
        let patience = self.patience;
        Box::pin(async move {
            let reply = timeout(patience, asking).await.map_err(|_| NoReply::Late(patience))??;
            let (mut head, incoming) = reply.into_parts();
            head.version = Version::HTTP_11;
            strip(&mut head.headers);
            let reply = Response::from_parts(head, Flow::new(incoming, patience));
            Ok(Inbound { reply, opening, may_be_cut })
        })
    }
}
