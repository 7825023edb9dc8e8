//! The way of a request.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use epitome::Format;
use epitome_server::PATH;
use epitome_tower::{Carrier as _, Route};
use epitome_tracing::{ModelCall, Operation};
use http::header::{ACCEPT_ENCODING, ALLOW, CONTENT_ENCODING, CONTENT_TYPE, HOST};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use hyper::body::Incoming;
use tokio::sync::Semaphore;
use tracing::{Instrument as _, Span};

use crate::call::Call;
use crate::caller::Caller;
use crate::credential::credentials;
use crate::engine::Engines;
use crate::exchange::{Inbound, Load, Outbound};
use crate::flow::Flow;
use crate::guard::{admit, strip};
use crate::ledger::Ledger;
use crate::log::{ProxyEvent, ProxyObserver, SpanParent};
use crate::meters::Meters;
use crate::native::{Insert, Native, Purpose, kept_elsewhere};
use crate::offer::{Followed, Woven, offered, whole};
use crate::options::{
    CallerAccess, InternalErrors, ProxyError, ProxyLimits, ProxyMode, ProxyOptions, RecallSource,
};
use crate::recall::Recall;
use crate::refusal::{Denied, Refusal};
use crate::room::{Room, Share};
use crate::sending::{aside, send};
use crate::stall::{begun, events, is_generated_stream, is_streamed};
use crate::turned::Turned;
use crate::ui::Dashboard;
use crate::upstream::Upstreams;
use crate::wanted::{Wanted, api, provider};

/// Stands between agents and the providers of their models.
pub struct Proxy {
    pub(crate) engines: Engines,
    upstreams: Upstreams,
    pub(crate) limits: ProxyLimits,
    pub(crate) meters: Arc<Meters>,
    pub(crate) dashboard: Option<Dashboard>,
    /// What is known of conversations for the dashboard and for recalls.
    pub(crate) ledger: Option<Arc<Ledger>>,
    recall: Option<Arc<Recall>>,
    /// Whether models are offered it.
    offers: bool,
    observer: Option<ProxyObserver>,
    span_parent: Option<SpanParent>,
    pub(crate) room: Room,
    /// What is unpacked at the same time: how large it becomes isn't known before.
    pub(crate) unpacking: Semaphore,
    native: Arc<Native>,
    callers: CallerAccess,
    pub(crate) mode: ProxyMode,
    pub(crate) internal_errors: InternalErrors,
}

/// Bodies that are unpacked at the same time.
const UNPACKING: usize = 4;

impl Proxy {
    /// Asks nobody anything yet.
    pub fn new(options: &ProxyOptions) -> Result<Self, ProxyError> {
        let meters = Arc::new(Meters::new());
        let recall = match options.recall {
            RecallSource::None => None,
            RecallSource::Memory | RecallSource::Offered => Some(Arc::<Recall>::default()),
        };
        let is_kept = options.management.is_some() || recall.is_some();
        if options.mode == ProxyMode::Ask && options.management.is_none() {
            return Err(ProxyError::NobodyAgrees);
        }
        let ledger = is_kept.then(|| Ledger::new(options.mode, options.observer.clone()));
        let dashboard = options.management.clone().zip(ledger.clone());
        Ok(Proxy {
            engines: Engines::new(options, &meters, ledger.as_ref())?,
            dashboard: dashboard.map(|(token, ledger)| {
                Dashboard::new(token, ledger, options.mode, Arc::clone(&meters))
            }),
            ledger,
            recall,
            offers: options.recall == RecallSource::Offered,
            observer: options.observer.clone(),
            span_parent: options.span_parent.clone(),
            upstreams: options.upstreams.clone(),
            limits: options.limits,
            room: Room::of(options.limits.held),
            unpacking: Semaphore::new(UNPACKING),
            native: Arc::new(Native::new(options)),
            callers: options.callers,
            mode: options.mode,
            internal_errors: options.internal_errors,
            meters,
        })
    }

    /// Answers a request, and tells whoever observes.
    pub(crate) async fn told(
        self: Arc<Self>,
        mut request: Request<Incoming>,
        listening: IpAddr,
    ) -> Response<Flow> {
        let wanted = match request.method() {
            &Method::POST => Wanted::of(request.uri().path()),
            _ => Wanted::Other,
        };
        let call = self.call(&wanted, request.headers());
        if let Some(call) = &call {
            request.extensions_mut().insert(Arc::clone(call));
        }
        let span = call.as_ref().map_or_else(Span::none, |call| call.span().clone());
        let (observer, api, begun) = (self.observer.clone(), wanted.name(), Instant::now());
        let answer = self.answer(request, wanted, listening).instrument(span).await;
        let status = answer.status().as_u16();
        if let Some(observer) = observer {
            observer.tell(&ProxyEvent::Answered { api, status, took: begun.elapsed() });
        }
        let Some(call) = call else { return answer };
        call.answered(status);
        if let Some(Denied(cause)) = answer.extensions().get() {
            call.failed(cause);
        }
        answer.map(|flow| flow.answering(call))
    }

    /// A model call with an observer.
    fn call(&self, wanted: &Wanted, headers: &HeaderMap) -> Option<Arc<ModelCall>> {
        let (route, operation) = match wanted {
            Wanted::Answer(route) => (route, Operation::Answer),
            Wanted::Compact(route) => (route, Operation::Compact),
            Wanted::Count(_) | Wanted::Other => return None,
        };
        let call = ModelCall::begun(route.format, operation)?;
        if let Some(parent) = &self.span_parent {
            parent.tie(call.span(), headers);
        }
        if let Some(model) = &route.model {
            call.asks(model);
        }
        Some(Arc::new(call))
    }

    /// Answers a request that came in where it listens.
    pub(crate) async fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        wanted: Wanted,
        listening: IpAddr,
    ) -> Response<Flow> {
        let (head, incoming) = request.into_parts();
        let path = head.uri.path();
        let (name, who) = (wanted.name(), provider(&wanted, path, &head.headers));
        if let Err(refusal) = admit(&head.method, &head.uri, &head.headers, listening) {
            self.meters.ended(name, "denied");
            return refusal.answer(who);
        }
        if let Some(answer) = self.agreed(&head).await {
            return answer;
        }
        if let Some(page) = self.page(&head) {
            return page;
        }
        // A browser says it for every path, and it may be mistaken for a key.
        if self.dashboard.as_ref().is_some_and(|dashboard| dashboard.is_told_in(&head)) {
            self.meters.ended(name, "denied");
            let what = "the management token is for /ui only, and isn't sent to an upstream";
            return Refusal::new(StatusCode::NOT_FOUND, "path", what).answer(who);
        }
        if self.recall.is_some() && path == PATH {
            let Some((recall, owner)) = self.recalled_by(&head) else {
                self.meters.ended(name, "denied");
                let what =
                    "recall needs a credential, and finds only that credential's conversations";
                return Refusal::new(StatusCode::UNAUTHORIZED, "credential", what).answer(None);
            };
            let flow = Flow::new(incoming, self.limits.silence);
            return recall.answer(&owner, head, flow).await;
        }
        let Some(upstream) = self.upstreams.get(who, path) else {
            self.meters.ended(name, "denied");
            let what = format!("no upstream is known for {path}");
            return Refusal::new(StatusCode::NOT_FOUND, "path", what).answer(who);
        };
        let has_native = self.upstreams.has_native(who, path);
        let tenant = self.engines.tenant(&upstream.to_string(), &head.headers, head.uri.query());
        let mut head = head;
        match upstream.address(&head.uri) {
            Ok(address) => head.uri = address,
            Err(error) => {
                self.meters.ended(name, "denied");
                let what = format!("no address of an upstream: {error}");
                return Refusal::new(StatusCode::BAD_REQUEST, "path", what).answer(who);
            }
        }
        head.headers.remove(HOST);
        strip(&mut head.headers);
        let flow = Flow::new(incoming, self.limits.silence);
        let answered = match wanted {
            Wanted::Answer(route) => self.ask(head, flow, (route, tenant), has_native).await,
            Wanted::Count(route) => self.count(head, flow, (route, tenant), has_native).await,
            Wanted::Compact(route) => self.compact(head, flow, (route, tenant), has_native).await,
            Wanted::Other => send(&mut self.engines.bare.clone(), head, Load::Unseen(flow)).await,
        };
        match answered {
            Ok(Inbound { reply, .. }) => {
                self.meters.answered(name, reply.status());
                reply
            }
            Err(refusal) => {
                self.meters.ended(name, refusal.outcome());
                refusal.answer(who)
            }
        }
    }

    /// Where what was hidden is kept for whoever sends a request; nowhere without a credential.
    fn recalled_by(&self, head: &Parts) -> Option<(Arc<Recall>, Arc<str>)> {
        let recall = self.recall.as_ref()?;
        let query = head.uri.query();
        let is_known = !credentials(&head.headers, query).is_empty();
        is_known.then(|| (Arc::clone(recall), self.engines.tenant("", &head.headers, query)))
    }

    /// Sends a call of a model, with its conversation inside the window.
    async fn ask(
        &self,
        head: Parts,
        flow: Flow,
        whose: (Route, Arc<str>),
        has_native: bool,
    ) -> Result<Inbound, Refusal> {
        let format = whose.0.format;
        let (load, mut share, engine) = self.look(&head, flow, whose).await?;
        let (outbound, offer) = self.offering(Outbound { head, load }, &mut share).await?;
        let turned = self.turned(outbound, Purpose::Answer, (format, has_native), &mut share);
        let (Outbound { head, load }, insert) = match turned.await? {
            Turned::Send(outbound, insert) => (outbound, insert),
            Turned::Answer(reply) => return Ok(reply),
        };
        let mut head = head;
        let (Load::Seen(prompted), Some(engine)) = (&load, engine) else {
            let reply = send(&mut self.engines.bare.clone(), head, load).await?;
            return Ok(with(reply, insert).await);
        };
        if self.callers == CallerAccess::Summarizers
            && let Some(model) = prompted.named_model()
            && let Some(caller) = Caller::of(&head, prompted.format, model)
        {
            head.extensions.insert(caller);
        }
        let (prompted, address, every) =
            (prompted.clone(), head.uri.clone(), self.limits.keep_alive);
        let (call, mut client) = (Call::begun(), engine.client.clone());
        let (own, meters, asked) = (Arc::clone(&call), Arc::clone(&self.meters), prompted.clone());
        let (ledger, recall) = (self.ledger.clone(), self.recalled_by(&head));
        let bare = self.engines.bare.clone();
        let model_call = head.extensions.get::<Arc<ModelCall>>().cloned();
        let answer = async move {
            let again = offer.as_ref().map(|_| head.clone());
            let answer = send(&mut client, head, load).await;
            let sent = own.sent();
            if let Some(sent) = &sent {
                meters.prompted(api(format), &sent.1);
            }
            if let Some((call, (_, stats))) = model_call.as_ref().zip(sent.as_ref()) {
                call.sent(stats, own.is_untouched());
            }
            let model = || asked.named_model().unwrap_or_default();
            let entered = ledger.zip(sent.as_ref()).map(|(ledger, sent)| {
                Arc::new(ledger.sent(api(format), &asked.tenant, model, sent))
            });
            let looking = entered.as_ref().filter(|it| it.shows.is_some()).zip(own.body());
            let looking = looking.map(|(entered, body)| {
                let (entered, asked) = (Arc::clone(entered), asked.clone());
                tokio::task::spawn_blocking(move || {
                    let after = std::str::from_utf8(&body).unwrap_or_default();
                    let before = asked.text().unwrap_or_default();
                    if let Some((recall, owner)) = recall {
                        recall.hid(&owner, entered.conversation(), format, [before, after]);
                    }
                    entered.looked_at(format, before, after);
                })
            });
            let billing = entered.clone();
            let answer = match billing {
                Some(entered) => {
                    answer.map(|it| it.accounted(Box::new(move |billed| entered.billed(billed))))
                }
                None => answer,
            };
            let follow = offer.zip(again).zip(own.body());
            let answer = match (answer, follow) {
                (Ok(reply), Some((((recall, owner), head), bytes))) => {
                    // The model may ask in this very reply for what its compaction hid.
                    if let Some(looking) = looking {
                        let _ = looking.await;
                    }
                    let prompted = asked.retold(bytes);
                    let followed =
                        Followed { client: bare, head, prompted, recall, owner, entered };
                    recalling(reply, followed).await
                }
                (answer, _) => answer,
            };
            let answer = match answer {
                Ok(reply) => Ok(with(reply, insert).await),
                refused => refused,
            };
            // A stream that has begun by then has another status.
            match (&model_call, &answer) {
                (Some(call), Ok(inbound)) => call.answered(inbound.reply.status().as_u16()),
                (Some(call), Err(refusal)) => call.failed(refusal.cause()),
                (None, _) => {}
            }
            drop(share);
            answer
        };
        let mut answer = Box::pin(call.answered_by(answer.in_current_span()));
        tokio::select! {
            biased;
            answer = &mut answer => return answer,
            () = call.held_up(every) => {}
        }
        let text = prompted.text().unwrap_or_default();
        if !is_streamed(format, address.path(), address.query(), text) {
            return answer.await;
        }
        Ok(begun(Flow::awaiting(async move { events(format, answer.await).await }, every)))
    }

    /// Has a conversation compacted, and nothing else.
    async fn compact(
        &self,
        head: Parts,
        flow: Flow,
        whose: (Route, Arc<str>),
        has_native: bool,
    ) -> Result<Inbound, Refusal> {
        let format = whose.0.format;
        let (load, mut share, _) = self.look(&head, flow, whose).await?;
        if let Load::Seen(prompted) = &load
            && let Some(reason) = prompted.text().and_then(kept_elsewhere)
        {
            self.meters.passed(api(format), reason);
        }
        let outbound = Outbound { head, load };
        let turned = self.turned(outbound, Purpose::Compact, (format, has_native), &mut share);
        match turned.await? {
            Turned::Send(Outbound { head, load }, _) => {
                send(&mut self.engines.bare.clone(), head, load).await
            }
            Turned::Answer(reply) => Ok(reply),
        }
    }

    /// A request with the tools of recall, where they are offered, and to whose recalls then.
    pub(crate) async fn offering(
        &self,
        outbound: Outbound,
        share: &mut Share,
    ) -> Result<(Outbound, Option<(Arc<Recall>, Arc<str>)>), Refusal> {
        let Load::Seen(prompted) = &outbound.load else { return Ok((outbound, None)) };
        let Some(whose) = self.recalled_by(&outbound.head).filter(|_| self.offers) else {
            return Ok((outbound, None));
        };
        let prompted = prompted.clone();
        let uri = &outbound.head.uri;
        let is_list = is_generated_stream(uri.path())
            && !is_streamed(prompted.format, uri.path(), uri.query(), "");
        if is_list {
            // The proxy can't weave a stream that is one JSON list.
            return Ok((outbound, None));
        }
        let offered = move || offered(prompted.format, prompted.text()?);
        let offered = aside(self.internal_errors, offered).await?;
        let Some(body) = offered else { return Ok((outbound, None)) };
        if !share.takes(body.len()) {
            let what = "too many request bytes are in memory already";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", what));
        }
        let mut outbound = outbound.with_body(body);
        outbound.head.headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        Ok((outbound, Some(whose)))
    }

    /// Does what a request asks of an upstream that doesn't.
    pub(crate) async fn turned(
        &self,
        outbound: Outbound,
        purpose: Purpose,
        (format, has_native): (Format, bool),
        share: &mut Share,
    ) -> Result<Turned, Refusal> {
        let (turned, done) = self.native.turned(outbound, purpose, has_native, share).await?;
        if let Some(done) = done {
            self.meters.natively(api(format), done);
        }
        Ok(turned)
    }

    /// The proxy's own pages.
    fn page(&self, head: &Parts) -> Option<Response<Flow>> {
        if let Some(page) = self.dashboard.as_ref().and_then(|dashboard| dashboard.page(head)) {
            return Some(page);
        }
        let (kind, text) = match head.uri.path() {
            "/livez" | "/readyz" | "/metrics"
                if ![Method::GET, Method::HEAD].contains(&head.method) =>
            {
                let mut page = Response::new(Flow::from(Bytes::new()));
                *page.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
                page.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
                return Some(page);
            }
            "/livez" | "/readyz" => ("text/plain; charset=utf-8", "ok\n".to_owned()),
            "/metrics" => {
                let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
                let waiting = self.ledger.as_ref().filter(|_| self.mode == ProxyMode::Ask);
                if let Some(ledger) = waiting {
                    self.meters.wait(self.engines.apis(), &ledger.waiting());
                }
                (kind, self.meters.text())
            }
            _ => return None,
        };
        let mut page = Response::new(Flow::from(Bytes::from(text)));
        page.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Some(page)
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("upstreams", &self.upstreams).finish_non_exhaustive()
    }
}

/// A reply, in which calls for what was hidden are answered.
async fn recalling(reply: Inbound, followed: Followed) -> Result<Inbound, Refusal> {
    let reply = reply.unpacked();
    let headers = reply.reply.headers();
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    if !reply.reply.status().is_success() || headers.contains_key(CONTENT_ENCODING) {
        return Ok(reply);
    }
    if kind.starts_with(b"text/event-stream") {
        return Ok(reply.woven(Box::new(Woven::new(followed))));
    }
    if kind.starts_with(b"application/json") { whole(reply, followed).await } else { Ok(reply) }
}

/// A reply, with what was compacted for it before what the model says.
pub(crate) async fn with(reply: Inbound, insert: Option<Box<Insert>>) -> Inbound {
    match insert {
        Some(insert) => reply.with(*insert).await,
        None => reply,
    }
}
