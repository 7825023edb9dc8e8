//! A client whose conversations stay inside the window.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use epitome::engine::delegate::JobContext;
use epitome::session::{
    Arrived, Awaited, Handling, Intent, Outgoing, Recipient, RefusedPrompt, Saved, Sent, Sessions,
    in_turns,
};
use epitome::{Format, Request};
use tokio::runtime::Handle;
use tower_service::Service;

use crate::carrier::{Carrier, Surroundings};
use crate::caught::caught;
use crate::event::{Event, PassReason};
use crate::flight::Flight;
use crate::reply::{Read, Reply};
use crate::shared::Shared;

/// A client whose conversations stay inside the window; [`CompactionLayer`](crate::CompactionLayer)
/// makes it.
#[derive(Clone, Debug)]
pub struct Compacting<S> {
    inner: S,
    shared: Arc<Shared>,
}

impl<S> Compacting<S> {
    pub(crate) fn new(inner: S, shared: Arc<Shared>) -> Self {
        Compacting { inner, shared }
    }

    /// The client inside.
    pub fn inner(&self) -> &S {
        &self.inner
    }
}

impl<S, R> Service<R> for Compacting<S>
where
    S: Service<R> + Clone + Send + 'static,
    S::Future: Send,
    S::Response: Reply,
    S::Error: Send,
    R: Carrier + Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, carrier: R) -> Self::Future {
        // The one that was made ready makes the call; its clone is made ready for the next.
        let next = self.inner.clone();
        let mut client = std::mem::replace(&mut self.inner, next);
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let Some(bytes) = carrier.size() else { return client.call(carrier).await };
            let (carrier, seen) = Call::of(carrier, bytes, shared).await;
            match seen {
                Some((call, answer, flight)) => call.make(carrier, answer, flight, client).await,
                None => client.call(carrier).await,
            }
        })
    }
}

/// The fields of a request.
struct Told {
    format: Option<Format>,
    model: Option<String>,
    tenant: String,
    about: JobContext,
    surroundings: Option<Surroundings>,
}

impl Told {
    /// Asked where the caller's task is: the carrier may know it from there.
    fn by(carrier: &impl Carrier) -> Self {
        let (format, model, tenant) = (carrier.format(), carrier.model(), carrier.tenant());
        let (about, surroundings) = (carrier.about(), carrier.surroundings());
        Told { format, model, tenant, about, surroundings }
    }
}

/// The triggers' decision about a request, with the compaction that it begins; or the panic message of one of them.
type Observed = Result<(Handling, Option<Flight>), String>;

/// A call of a model whose conversation is understood.
#[derive(Clone)]
struct Call {
    shared: Arc<Shared>,
    request: Request,
    tenant: String,
    to: Recipient,
    surroundings: Option<Surroundings>,
    /// The part of the machine that its conversation is in.
    part: usize,
}

impl Call {
    /// With what to send, once whatever must be done before is done. `None` if it is in no format that is known, or
    /// if code that the caller gave panicked: then it isn't touched.
    async fn of<R: Carrier + Send + 'static>(
        carrier: R,
        bytes: usize,
        shared: Arc<Shared>,
    ) -> (R, Option<(Self, Handling, Option<Flight>)>) {
        let told = match caught(|| Told::by(&carrier)) {
            Ok(told) => told,
            Err(what) => {
                shared.tell(&Event::Panicked { what });
                return (carrier, None);
            }
        };
        // Its body is read where it is looked at; it comes back also from there where that panics.
        let lent = Arc::new(Mutex::new(Some(carrier)));
        let seen = Call::seen(Arc::clone(&lent), told, bytes, shared).await;
        let carrier = lent.lock().unwrap_or_else(PoisonError::into_inner).take();
        (carrier.expect("nobody else takes it"), seen)
    }

    async fn seen<R: Carrier + Send + 'static>(
        lent: Arc<Mutex<Option<R>>>,
        told: Told,
        bytes: usize,
        shared: Arc<Shared>,
    ) -> Option<(Self, Handling, Option<Flight>)> {
        let known = Arc::clone(&shared);
        let mut ended = pin!(known.settled.notified());
        // Whatever ends from now on is noticed, whether or not it is waited for yet.
        ended.as_mut().enable();
        let owned = Arc::clone(&shared);
        let read = move || {
            let borrowed = || lent.lock().unwrap_or_else(PoisonError::into_inner);
            let body = borrowed().as_ref().and_then(Carrier::source)?;
            let Told { format, model, tenant, about, surroundings } = told;
            let read = owned.reader.read(&tenant, format, body);
            let passes = match &read {
                Err(_) => Some(PassReason::Unread),
                Ok(request) => {
                    request.frame.elsewhere.map(|(keeper, _)| PassReason::Elsewhere(keeper))
                }
            };
            if let Some(why) = passes {
                owned.tell(&Event::Passed { why });
                return None;
            }
            let request = read.ok()?;
            let to =
                owned.recipient(model, about, &request, |model| borrowed().as_ref()?.window(model));
            let intent = borrowed().as_ref().map_or(Intent::Step, |it| it.intent(&request));
            if intent == Intent::Summary {
                owned.tell(&Event::Summary);
            }
            let to = Recipient { intent, ..to };
            let arrived = owned.reader.arrive(&tenant, &request);
            let part = Shared::part(&arrived);
            Some((Call { shared: owned, request, tenant, to, surroundings, part }, arrived))
        };
        let (call, observed) = if known.kept.is_some() {
            known.exchange_learnt().await;
            let (call, arrived) = shared.look(bytes, read).await??;
            let found = shared.found(call.part, &arrived).await;
            shared.ask(call.part, bytes, call.question(arrived, found)).await?
        } else {
            let question = || {
                let (call, arrived) = read()?;
                Some((call.part, call.question(arrived, None)))
            };
            shared.ask_read(bytes, question).await??
        };
        let (mut answer, mut flight) = call.told(observed).await?;
        while let Outgoing::After(ticket) = answer.send {
            if let Some(flight) = flight.take() {
                flight.through(bytes).await;
                answer = call.show().await?;
                continue;
            }
            // Another request of the same conversation runs it. What ended may be another conversation's.
            ended.as_mut().await;
            ended.set(known.settled.notified());
            ended.as_mut().enable();
            let (session, part) = (answer.session, call.part);
            let awaited =
                shared.ask(part, 0, move |sessions, now| sessions.awaited(session, ticket, now));
            match awaited.await? {
                Awaited::UnderWay => {}
                Awaited::Back => answer = call.show().await?,
                Awaited::GivenUp => {
                    let again = call.clone();
                    let look = move || {
                        let arrived = again.shared.reader.arrive(&again.tenant, &again.request);
                        let ask = move |sessions: &mut Sessions, now| {
                            again.observe(arrived, sessions, now)
                        };
                        Some((part, ask))
                    };
                    let observed = shared.ask_read(bytes, look).await??;
                    (answer, flight) = call.told(observed).await?;
                }
            }
        }
        if let Some(why) = answer.failure.take() {
            shared.tell(&Event::Uncompacted { session: answer.session, why });
        }
        Some((call.clone(), call.keep(answer).await, flight))
    }

    /// Asks what to do with it, knowing what others kept of its conversation.
    fn question(
        self,
        arrived: Arrived,
        found: Option<Saved>,
    ) -> impl FnOnce(&mut Sessions, Duration) -> (Self, Observed) + Send + 'static {
        move |sessions, now| {
            if let Some(found) = found {
                sessions.catch_up(&arrived, found);
            }
            let observed = self.observe(arrived, sessions, now);
            (self, observed)
        }
    }

    /// Saves the session, before the request is sent. If another machine was first, its view is sent.
    async fn keep(&self, answer: Handling) -> Handling {
        if !self.shared.keep(self.part, answer.session).await {
            return answer;
        }
        self.show().await.unwrap_or(answer)
    }

    /// Lets triggers look at it. The view in force stays in force where one panics.
    fn observe(&self, arrived: Arrived, sessions: &mut Sessions, now: Duration) -> Observed {
        let mut answer = caught(|| sessions.decide(arrived, self.to.clone(), now))?;
        // A dropped caller cancels its compaction.
        let (shared, session) = (Arc::clone(&self.shared), answer.session);
        let (begun, surroundings) = (answer.begun.take(), self.surroundings.clone());
        Ok((answer, begun.map(|begun| Flight::new(shared, session, *begun, surroundings))))
    }

    /// What was observed, of which the observer hears.
    async fn told(&self, observed: Observed) -> Option<(Handling, Option<Flight>)> {
        let (answer, flight) = match observed {
            Ok(observed) => observed,
            Err(what) => {
                self.shared.tell(&Event::Panicked { what });
                (self.show().await?, None)
            }
        };
        if let Some(why) = answer.stall {
            self.shared.tell(&Event::StallReason { session: answer.session, why });
        }
        Some((answer, flight))
    }

    async fn make<S, R>(
        self,
        carrier: R,
        answer: Handling,
        background: Option<Flight>,
        mut client: S,
    ) -> Result<S::Response, S::Error>
    where
        S: Service<R>,
        S::Response: Reply,
        R: Carrier,
    {
        let spare = carrier.again();
        let (carrier, sent) = self.dress(carrier, answer);
        let sending = client.call(carrier);
        let reply = match background {
            None => sending.await,
            // Prepared while the provider works.
            Some(flight) => Box::pin(self.meanwhile(flight, sending)).await,
        }?;
        let (reply, read) = reply.read().await;
        let (reply, refused) = self.learn(sent, reply, read).await;
        let Some((flight, refused)) = refused else { return Ok(reply) };
        let Some(spare) = spare else { return Ok(reply) };
        let Some(smaller) = self.smaller(flight, refused).await else { return Ok(reply) };
        let (carrier, sent) = match smaller.send {
            Outgoing::View(..) => self.dress(spare, smaller),
            _ => self.dress(spare.with_body(self.request.source().to_string()), smaller),
        };
        poll_fn(|context| client.poll_ready(context)).await?;
        let (reply, read) = client.call(carrier).await?.read().await;
        let (reply, _) = self.learn(sent, reply, read).await;
        Ok(reply)
    }

    /// Takes a reply's report of the prompt's size, now or later; returns what to do if it was too long.
    async fn learn<P: Reply>(
        &self,
        sent: Option<Sent>,
        reply: P,
        read: Read,
    ) -> (P, Option<(Flight, RefusedPrompt)>) {
        let Some(sent) = sent else { return (reply, None) };
        match read {
            Read::Nothing => {
                let (shared, part) = (Arc::clone(&self.shared), self.part);
                let tell = move |report| {
                    let (session, observer) = (sent.session(), Arc::clone(&shared));
                    let take = move |sessions: &mut Sessions, _| sessions.reported(sent, report);
                    shared.ask_later(part, take, move |used| {
                        observer.read(session, used.flatten());
                        observer.keep_news();
                    });
                };
                (reply.telling(Box::new(tell)), None)
            }
            Read::Prompt(report) => {
                let session = sent.session();
                let take = move |sessions: &mut Sessions, _| sessions.reported(sent, report);
                let used = self.shared.ask(self.part, 0, take).await;
                self.shared.read(session, used.flatten());
                self.shared.keep_news();
                (reply, None)
            }
            Read::TooLong(told) => {
                self.shared.tell(&Event::TooLong { session: sent.session() });
                let (shared, around) = (Arc::clone(&self.shared), self.surroundings.clone());
                let overflowed = self.ask(move |sessions, tenant, request, now| {
                    let retry = sessions.overflowed(tenant, request, sent, &told, now)?;
                    Some((Flight::new(shared, retry.session, *retry.begun, around), retry.refused))
                });
                let retry = overflowed.await.flatten();
                self.shared.keep_news();
                (reply, retry)
            }
        }
    }

    async fn show(&self) -> Option<Handling> {
        let to = self.to.clone();
        self.ask(move |sessions, tenant, request, now| sessions.show(tenant, request, to, now))
            .await
    }

    /// Prepares a compaction while the provider works, and longer: with a runtime that runs it, no reply is held back for
    /// it.
    async fn meanwhile<T>(&self, flight: Flight, sending: impl Future<Output = T>) -> T {
        let flight = flight.run(self.request.source().len());
        match Handle::try_current() {
            Ok(runtime) => {
                runtime.spawn(flight);
                sending.await
            }
            Err(_) => tokio::join!(sending, flight).0,
        }
    }

    /// Something strictly smaller than what the provider refused as too long.
    async fn smaller(&self, flight: Flight, refused: RefusedPrompt) -> Option<Handling> {
        flight.through(self.request.source().len()).await;
        let retry = move |sessions: &mut Sessions, tenant: &str, request: &Request, now| {
            sessions.retry(tenant, request, refused, now)
        };
        let smaller = self.ask(retry).await.flatten()?;
        // Whatever another machine was first with is no answer to a refusal.
        self.shared.keep(self.part, smaller.session).await;
        Some(smaller)
    }

    /// Asks the machine something about the request.
    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&mut Sessions, &str, &Request, Duration) -> T + Send + 'static,
    ) -> Option<T> {
        let (tenant, request) = (self.tenant.clone(), self.request.clone());
        let bytes = request.source().len();
        let ask = move |sessions: &mut Sessions, now| ask(sessions, &tenant, &request, now);
        self.shared.ask(self.part, bytes, ask).await
    }

    /// The request as it is to go out.
    fn dress<R: Carrier>(&self, carrier: R, answer: Handling) -> (R, Option<Sent>) {
        let Handling { session, stats, broke, due, .. } = answer;
        let (view, sent) = match answer.send {
            Outgoing::View(view, sent) => (Some(view), Some(sent)),
            Outgoing::AsItCame(sent) => (None, Some(sent)),
            Outgoing::After(_) => (None, None),
        };
        let is_untouched = view.is_none();
        self.shared.tell(&Event::Sent { session, stats, is_untouched, broke, due });
        match view {
            Some(view) => (carrier.with_body(in_turns(&self.request, *view)), sent),
            None => (carrier, sent),
        }
    }
}
