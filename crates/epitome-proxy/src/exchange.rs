//! One request and its reply, as the layer and the client see them.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use epitome::session::Intent;
use epitome::{Format, Request};
use epitome_tower::{Carrier, Read, Reply, Surroundings, Tell};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderValue, Response};
use http_body::Body as _;
use serde::Deserialize;

use crate::caller::surroundings;
use crate::encoding::Encoding;
use crate::flow::{Collected, Flow, FlowError, Weave};
use crate::intent::intent;
use crate::kept::Gone;
use crate::native::Insert;
use crate::notice::Notice;
use crate::opening::{LONGEST_WHOLE, Opening};
use crate::unpacking::Unpacker;
use crate::usage::{Account, Usage};

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

impl Load {
    /// The body, and the same once more, where it is at hand.
    pub(crate) fn with_spare(self) -> (Flow, Option<Bytes>) {
        match self {
            Load::Unseen(flow) => {
                let spare = flow.is_end_stream().then(Bytes::new);
                (flow, spare)
            }
            Load::Seen(prompted) => (Flow::from(prompted.bytes.clone()), Some(prompted.bytes)),
        }
    }
}

/// Who knows what upstreams say of their models.
pub(crate) trait ModelSayings: Send + Sync {
    /// The most tokens of a prompt for a model, where nobody else says it and that is known; from now on its upstream is asked.
    fn window(&self, head: &Parts, prompted: &Prompted, model: &str) -> Option<u64>;

    /// Whether the upstream says that it compacts by itself.
    fn compacts(&self, prompted: &Prompted, model: &str) -> bool;
}

/// A body with a prompt.
#[derive(Clone)]
pub(crate) struct Prompted {
    /// As it came.
    pub(crate) bytes: Bytes,
    /// What is in it; nothing, where that is no text.
    pub(crate) text: Option<Arc<String>>,
    pub(crate) format: Format,
    pub(crate) model: Option<String>,
    /// Whose it is.
    pub(crate) tenant: Arc<str>,
    pub(crate) sayings: Arc<dyn ModelSayings>,
}

impl Prompted {
    /// The model that it is for.
    pub(crate) fn named_model(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Named {
            model: String,
        }
        let in_body = || Some(serde_json::from_str::<Named>(self.text()?).ok()?.model);
        self.model.clone().or_else(in_body)
    }

    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref().map(String::as_str)
    }

    /// The same with another body.
    pub(crate) fn retold(self, bytes: Bytes) -> Self {
        let (bytes, text) = read(bytes);
        Prompted { bytes, text, ..self }
    }
}

/// A text whose bytes somebody else has, too.
struct Shared(Arc<String>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Bytes, and the text that they are, of which there is one copy.
pub(crate) fn read(bytes: Bytes) -> (Bytes, Option<Arc<String>>) {
    match String::from_utf8(bytes.into()) {
        Ok(text) => {
            let text = Arc::new(text);
            (Bytes::from_owner(Shared(Arc::clone(&text))), Some(text))
        }
        Err(error) => (error.into_bytes().into(), None),
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

    fn source(&self) -> Option<Arc<String>> {
        self.prompted()?.text.clone()
    }

    fn size(&self) -> Option<usize> {
        let prompted = self.prompted()?;
        Some(prompted.text.as_ref().map_or(prompted.bytes.len(), |text| text.len()))
    }

    fn with_body(mut self, body: String) -> Self {
        let headers = &mut self.head.headers;
        for name in ABOUT_THE_BODY {
            headers.remove(name);
        }
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        if let Load::Seen(prompted) = self.load {
            self.load = Load::Seen(prompted.retold(body.into()));
        }
        self
    }

    fn again(&self) -> Option<Self> {
        // The retry brings its own body.
        let prompted = Prompted { bytes: Bytes::new(), text: None, ..self.prompted()?.clone() };
        Some(Outbound { head: self.head.clone(), load: Load::Seen(prompted) })
    }

    fn format(&self) -> Option<Format> {
        self.prompted().map(|prompted| prompted.format)
    }

    fn model(&self) -> Option<String> {
        self.prompted()?.model.clone()
    }

    fn window(&self, model: &str) -> Option<u64> {
        let prompted = self.prompted()?;
        prompted.sayings.window(&self.head, prompted, model)
    }

    fn intent(&self, request: &Request) -> Intent {
        intent(&self.head.headers, request)
    }

    fn surroundings(&self) -> Option<Surroundings> {
        self.head.extensions.get().map(surroundings)
    }

    fn tenant(&self) -> String {
        self.prompted().map(|prompted| prompted.tenant.to_string()).unwrap_or_default()
    }
}

/// An upstream's reply.
pub(crate) struct Inbound {
    pub(crate) reply: Response<Flow>,
    /// The most that the opening of a reply is held back, to learn whether the prompt is too long; zero where nobody asks.
    pub(crate) opening: Duration,
    /// Whether a whole reply may say that it ended where the window did.
    pub(crate) may_be_cut: bool,
    /// What a client is told besides where its prompt is refused as too long.
    pub(crate) notice: Option<Notice>,
}

impl From<Response<Flow>> for Inbound {
    /// A reply that nothing has to be learnt of.
    fn from(reply: Response<Flow>) -> Self {
        Inbound { reply, opening: Duration::ZERO, may_be_cut: false, notice: None }
    }
}

/// The longest whole reply that something is put into.
const LONGEST_REPLY: usize = 64 << 20;

/// The longest refusal that is read; a longer one is forwarded all the same.
const LONGEST_REFUSAL: usize = 1 << 18;

impl Reply for Inbound {
    async fn read(self) -> (Self, Read) {
        let status = self.reply.status();
        let is_json = is_of_kind(&self.reply, "application/json");
        if status.is_success() && !(self.may_be_cut && is_json) {
            return self.opened().await;
        }
        let is_refusal = status.is_client_error() || status.is_server_error();
        let longest = if is_refusal { LONGEST_REFUSAL } else { LONGEST_WHOLE };
        if !(is_refusal || status.is_success()) {
            return (self, Read::Nothing);
        }
        let (mut head, flow) = self.reply.into_parts();
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
                let read = plain.as_deref().map(|plain| Read::of(status.as_u16(), plain));
                let read = read.unwrap_or(Read::Nothing);
                let notice = self.notice.as_ref().zip(plain).filter(|_| is_refusal);
                let notice = notice.filter(|_| matches!(read, Read::TooLong(_)));
                match notice.and_then(|(notice, plain)| notice.in_error(&plain)) {
                    Some(told) => {
                        head.headers.remove(CONTENT_ENCODING);
                        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(told.len()));
                        (Flow::from(Bytes::from(told)), read)
                    }
                    None => (Flow::from(bytes), read),
                }
            }
            Collected::Long(flow) | Collected::Broken(flow) => (flow, Read::Nothing),
        };
        (Inbound { reply: Response::from_parts(head, flow), ..self }, read)
    }

    fn telling(self, tell: Tell) -> Self {
        self.read_by(|usage| usage.tell_prompt(tell))
    }
}

impl Inbound {
    /// The same without its compression, so that something can be put into it; as it came where that isn't known here.
    pub(crate) fn unpacked(self) -> Self {
        let (mut head, flow) = self.reply.into_parts();
        let flow = match Unpacker::of(&head.headers).filter(|_| head.status.is_success()) {
            Some(unpacker) => {
                head.headers.remove(CONTENT_ENCODING);
                head.headers.remove(CONTENT_LENGTH);
                flow.unpacked(unpacker)
            }
            None => flow,
        };
        Inbound { reply: Response::from_parts(head, flow), ..self }
    }

    /// The same, with what was compacted for it before what the model says.
    pub(crate) async fn with(self, insert: Insert) -> Self {
        let is_stream = is_of_kind(&self.reply, "text/event-stream");
        let unpacked = self.unpacked();
        let (mut head, flow) = unpacked.reply.into_parts();
        if !head.status.is_success() || head.headers.contains_key(CONTENT_ENCODING) {
            return Inbound { reply: Response::from_parts(head, flow), ..unpacked };
        }
        let flow = if is_stream {
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
        Inbound { reply: Response::from_parts(head, flow), ..unpacked }
    }

    /// The same, in which calls for what was hidden are answered.
    pub(crate) fn woven(self, woven: Box<dyn Weave>) -> Self {
        let mut reply = self.reply.map(|flow| flow.woven(woven));
        reply.headers_mut().remove(CONTENT_LENGTH);
        Inbound { reply, ..self }
    }

    /// Also reports the billed usage to `account`.
    pub(crate) fn accounted(self, account: Account) -> Self {
        self.read_by(|usage| usage.tell_billed(account))
    }

    /// The same, read as it passes if it is an answer, with somebody who is told.
    pub(crate) fn read_by(self, told: impl FnOnce(&mut Usage)) -> Self {
        let (head, flow) = self.reply.into_parts();
        let flow = if head.status.is_success() { flow.read_by(&head.headers, told) } else { flow };
        Inbound { reply: Response::from_parts(head, flow), ..self }
    }

    /// The same, once it has said whether the prompt is too long.
    async fn opened(self) -> (Self, Read) {
        let is_stream = is_of_kind(&self.reply, "text/event-stream");
        let is_read = is_stream || is_of_kind(&self.reply, "application/json");
        let is_known = Encoding::of(self.reply.headers()).is_ok();
        if !is_read || !is_known || self.opening.is_zero() {
            return (self, Read::Nothing);
        }
        let of = if is_stream { Opening::of } else { Opening::of_json };
        // A line is put into it.
        let opened = if self.notice.is_some() { self.unpacked() } else { self };
        let (mut head, flow) = opened.reply.into_parts();
        let mut said = Opening::Open;
        let mut unpacker = Unpacker::of(&head.headers);
        let (mut plain, mut read) = (Vec::new(), 0);
        let hears = |seen: &[u8]| {
            said = match &mut unpacker {
                None => of(seen),
                Some(unpacker) => match unpacker.unpack(&seen[read..]) {
                    Ok(more) => {
                        plain.extend_from_slice(&more);
                        read = seen.len();
                        of(&plain)
                    }
                    Err(_) => Opening::Over,
                },
            };
            said != Opening::Open
        };
        let mut flow = flow.opened(opened.opening, hears).await;
        if let (Opening::TooLong(_), Some(notice)) = (&said, &opened.notice) {
            flow.turn_ahead(|said| {
                if is_stream {
                    return notice.in_events(said);
                }
                notice.in_error(std::str::from_utf8(said).ok()?).map(Bytes::from)
            });
            head.headers.remove(CONTENT_LENGTH);
        }
        let read = match said {
            Opening::TooLong(overflow) => Read::TooLong(overflow),
            Opening::Open | Opening::Over => Read::Nothing,
        };
        (Inbound { reply: Response::from_parts(head, flow), ..opened }, read)
    }
}

/// Whether a reply is of this kind, by its header.
fn is_of_kind(reply: &Response<Flow>, kind: &str) -> bool {
    let told = reply.headers().get(CONTENT_TYPE);
    told.is_some_and(|told| told.as_bytes().starts_with(kind.as_bytes()))
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
    /// It isn't asked, because of an error inside the proxy.
    #[error("{0}")]
    Internal(String),
    /// It answers 101 although no upgrade was asked for.
    #[error("unexpected protocol switch")]
    Switched,
}

/// The error of this kind that another one was made of.
pub(crate) fn found<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        // Errors of input and output don't give what they hold as their source.
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let found = error.downcast_ref::<E>().or_else(|| held?.downcast_ref::<E>());
        if found.is_some() {
            return found;
        }
        cause = error.source();
    }
    None
}

impl NoReply {
    /// Why the client's own request didn't come to its end.
    pub(crate) fn of_request(&self) -> Option<&FlowError> {
        found(self)
    }

    /// Whether the upstream closed the connection before it answered.
    pub(crate) fn hung_up(&self) -> bool {
        is_cut(self) || found::<Gone>(self).is_some()
    }

    /// What went wrong, with its causes.
    pub(crate) fn words(&self) -> String {
        let mut words = self.to_string();
        let mut cause = self.source();
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

/// Whether the other side closed the connection.
pub(crate) fn is_cut(error: &(dyn Error + 'static)) -> bool {
    let cut = [io::ErrorKind::ConnectionReset, io::ErrorKind::BrokenPipe];
    found::<hyper::Error>(error).is_some_and(hyper::Error::is_incomplete_message)
        || found::<io::Error>(error).is_some_and(|error| cut.contains(&error.kind()))
}
