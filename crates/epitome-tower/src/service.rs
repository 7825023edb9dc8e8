//! A client whose conversations stay inside the window.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use epitome::Request;
use epitome::session::{
    Answer, Begun, Recipient, Retry, Send as ToSend, Sent, SessionId, Sessions,
};
use epitome::wire;
use tower_service::Service;

use crate::carrier::Carrier;
use crate::event::Event;
use crate::flight::Flight;
use crate::layer::Shared;
use crate::reply::{Read, Reply};

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
            if let Some(call) = Call::of(&carrier, shared) {
                return call.make(carrier, client).await;
            }
            client.call(carrier).await
        })
    }
}

/// A call of a model whose conversation is understood.
struct Call {
    shared: Arc<Shared>,
    request: Request,
    tenant: String,
    to: Recipient,
}

impl Call {
    /// `None` if it is no call of a model, or in no format that is known: then it isn't touched.
    fn of(carrier: &impl Carrier, shared: Arc<Shared>) -> Option<Self> {
        let body = carrier.body()?.to_owned();
        let request = match carrier.format() {
            Some(format) => wire::parse(format, body).ok()?,
            None => wire::detect(body).ok()?,
        };
        let to = shared.recipient(carrier, &request);
        Some(Call { request, tenant: carrier.tenant(), to, shared })
    }

    async fn make<S, R>(self, carrier: R, mut client: S) -> Result<S::Response, S::Error>
    where
        S: Service<R>,
        S::Response: Reply,
        R: Carrier,
    {
        let spare = carrier.again();
        let Some(mut answer) = self.decide().await else { return client.call(carrier).await };
        let session = answer.session;
        let background = answer.begun.take();
        let (carrier, sent) = self.dress(carrier, answer);
        let sending = client.call(carrier);
        let reply = match background {
            None => sending.await,
            // Prepared while the provider works.
            Some(begun) => self.meanwhile(session, *begun, sending).await,
        }?;
        let (reply, read) = reply.read().await;
        let Some(retry) = self.learn(sent, read) else { return Ok(reply) };
        let Some(spare) = spare else { return Ok(reply) };
        let Some(smaller) = self.smaller(retry).await else { return Ok(reply) };
        let (carrier, sent) = self.dress(spare, smaller);
        poll_fn(|context| client.poll_ready(context)).await?;
        let (reply, read) = client.call(carrier).await?.read().await;
        self.learn(sent, read);
        Ok(reply)
    }

    /// Takes what a reply tells of the prompt's size; what to do where it was too long.
    fn learn(&self, sent: Option<Sent>, read: Read) -> Option<Retry> {
        let sent = sent?;
        match read {
            Read::Nothing => None,
            Read::Prompt(tokens) => {
                self.shared.ask(|sessions, _| sessions.reported(sent, tokens));
                None
            }
            Read::TooLong(told) => {
                self.shared.tell(&Event::TooLong { session: sent.session() });
                let overflowed = self.shared.ask(|sessions, now| {
                    sessions.overflowed(&self.tenant, &self.request, sent, &told, now)
                });
                overflowed.flatten()
            }
        }
    }

    /// What to send, once whatever must be done before is done. `None` if that can't be found out, because
    /// code that the caller gave panicked: then the request is sent as it came.
    async fn decide(&self) -> Option<Answer> {
        let mut ended = pin!(self.shared.settled.notified());
        // Whatever ends from now on is noticed, whether or not it is waited for yet.
        ended.as_mut().enable();
        let observed = self.shared.ask(|sessions, now| {
            sessions.observe(&self.tenant, &self.request, self.to.clone(), now)
        });
        // The view in force stays in force where a trigger panics.
        let mut answer = observed.or_else(|| self.show())?;
        if let Some(why) = answer.stuck {
            self.shared.tell(&Event::Stuck { session: answer.session, why });
        }
        while matches!(answer.send, ToSend::After(_)) {
            match answer.begun.take() {
                Some(begun) => {
                    Flight::run(Arc::clone(&self.shared), answer.session, *begun).await;
                }
                // Another request of the same conversation runs it.
                None => ended.as_mut().await,
            }
            answer = self.show()?;
        }
        Some(answer)
    }

    fn show(&self) -> Option<Answer> {
        let show = |sessions: &mut Sessions, now| {
            sessions.show(&self.tenant, &self.request, self.to.clone(), now)
        };
        self.shared.ask(show)
    }

    async fn meanwhile<T>(
        &self,
        session: SessionId,
        begun: Begun,
        sending: impl Future<Output = T>,
    ) -> T {
        let flight = Flight::run(Arc::clone(&self.shared), session, begun);
        tokio::join!(sending, flight).0
    }

    /// Something strictly smaller than what the provider refused as too long.
    async fn smaller(&self, retry: Retry) -> Option<Answer> {
        let Retry { session, begun, refused } = retry;
        Flight::run(Arc::clone(&self.shared), session, *begun).await;
        let retry = self
            .shared
            .ask(|sessions, now| sessions.retry(&self.tenant, &self.request, refused, now));
        retry.flatten()
    }

    /// The request as it is to go out.
    fn dress<R: Carrier>(&self, carrier: R, answer: Answer) -> (R, Option<Sent>) {
        let Answer { session, stats, .. } = answer;
        let (view, sent) = match answer.send {
            ToSend::View(view, sent) => (Some(view), Some(sent)),
            ToSend::AsItCame(sent) => (None, Some(sent)),
            ToSend::After(_) => (None, None),
        };
        let is_untouched = view.is_none();
        self.shared.tell(&Event::Sent { session, stats, is_untouched });
        match view {
            Some(view) => (carrier.with_body(view.source().to_string()), sent),
            None => (carrier, sent),
        }
    }
}
