//! The client of all upstreams.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use epitome::Format;
use epitome_tracing::ModelCall;
use http::request::Parts;
use http::uri::Scheme;
use http::{Method, Request, Response, StatusCode, Version};
use hyper::body::Incoming;
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::{self, Client};
use tokio::time::timeout;
use tower_service::Service;

use crate::call::{failed, upstream};
use crate::exchange::{Inbound, Load, NoReply, Outbound, found, is_cut};
use crate::flow::Flow;
use crate::guard::strip;
use crate::kept::{Connector, Gone};
use crate::ledger::Ledger;
use crate::notice::Notice;
use crate::options::InternalErrors;
use crate::wanted::api;

/// The client of all upstreams.
#[derive(Clone)]
pub(crate) struct Asking {
    pub(crate) client: Client<HttpsConnector<Connector>, Flow>,
    /// The most between a request and the beginning of its reply, and between two frames of that.
    pub(crate) patience: Duration,
    /// The most that the opening of a stream is held back.
    pub(crate) opening: Duration,
    /// What becomes of a request that an error inside the proxy would send as it came.
    pub(crate) internal_errors: InternalErrors,
    /// Where compactions wait for agreement, what is known of conversations.
    pub(crate) agreeing: Option<Arc<Ledger>>,
}

/// How often a request is sent that no upstream has read.
const ATTEMPTS: usize = 4;

/// Whether a request that failed so may be sent again (RFC 9110, 9.2.2): nobody has read it, or it changes nothing.
fn may_be_asked_again(method: &Method, error: &legacy::Error) -> bool {
    !error.is_connect() && (found::<Gone>(error).is_some() || method.is_safe() && is_cut(error))
}

impl Asking {
    async fn ask(self, head: Parts, load: Load) -> Result<Response<Incoming>, legacy::Error> {
        let (mut flow, spare) = load.with_spare();
        if let Some(spare) = spare {
            for _ in 1..ATTEMPTS {
                match self.client.request(Request::from_parts(head.clone(), flow)).await {
                    Err(error) if may_be_asked_again(&head.method, &error) => {
                        flow = Flow::from(spare.clone());
                    }
                    done => return done,
                }
            }
        }
        self.client.request(Request::from_parts(head, flow)).await
    }
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
        let model_call = head.extensions.remove::<Arc<ModelCall>>();
        if let Some(call) = &model_call {
            let is_plain = head.uri.scheme() == Some(&Scheme::HTTP);
            let port = head.uri.port_u16().unwrap_or(if is_plain { 80 } else { 443 });
            call.goes_to(head.uri.host().unwrap_or_default(), port);
        }
        let patience = self.patience;
        let is_closed = self.internal_errors == InternalErrors::Refuse;
        if let Some(what) = failed().filter(|_| is_closed && matches!(load, Load::Seen(_))) {
            return Box::pin(std::future::ready(Err(NoReply::Internal(what))));
        }
        let mut notice = None;
        let (opening, body, may_be_cut) = match &load {
            Load::Unseen(_) => (Duration::ZERO, None, false),
            Load::Seen(prompted) => {
                let may_be_cut = prompted.format == Format::Anthropic;
                let api = api(prompted.format);
                notice = self.agreeing.clone().map(|ledger| Notice { ledger, api });
                (self.opening, Some(prompted.bytes.clone()), may_be_cut)
            }
        };
        let asking = self.clone().ask(head, load);
        Box::pin(async move {
            let asked = upstream(body, timeout(patience, asking)).await;
            let reply = asked.map_err(|_| NoReply::Late(patience))??;
            let (mut head, incoming) = reply.into_parts();
            if head.status == StatusCode::SWITCHING_PROTOCOLS {
                return Err(NoReply::Switched);
            }
            head.version = Version::HTTP_11;
            strip(&mut head.headers);
            let reply = Response::from_parts(head, Flow::new(incoming, patience));
            let inbound = Inbound { reply, opening, may_be_cut, notice };
            Ok(match model_call {
                Some(call) => inbound.read_by(|usage| usage.tell_call(call)),
                None => inbound,
            })
        })
    }
}
