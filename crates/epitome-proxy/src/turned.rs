//! A request on its way, turned where it asks for what its upstream doesn't do.

use std::sync::Arc;

use bytes::Bytes;
use epitome_tower::Carrier as _;
use http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderValue, Response, StatusCode};

use crate::exchange::{Inbound, Load, Outbound};
use crate::flow::Flow;
use crate::native::{Insert, Instead, Invalid, Native, Purpose, betas, without_betas};
use crate::refusal::Refusal;
use crate::room::Share;
use crate::sending::aside;

/// What becomes of a request.
pub(crate) enum Turned {
    /// It is sent on; what is put into its reply then.
    Send(Outbound, Option<Box<Insert>>),
    /// It is answered.
    Answer(Inbound),
}

impl Outbound {
    /// The same without betas that its upstream needn't know.
    fn without_betas(&mut self) {
        if let Load::Seen(prompted) = &self.load {
            without_betas(&mut self.head.headers, prompted.text().unwrap_or_default());
        }
    }
}

impl Native {
    /// Turns a request, which holds what it needs for that of `share`. With it a word for meters, where anything was done.
    pub(crate) async fn turned(
        self: &Arc<Self>,
        outbound: Outbound,
        purpose: Purpose,
        has_native: bool,
        share: &mut Share,
    ) -> Result<(Turned, Option<&'static str>), Refusal> {
        let as_it_came = |mut outbound: Outbound| {
            if !has_native {
                outbound.without_betas();
            }
            Ok((Turned::Send(outbound, None), None))
        };
        let Load::Seen(prompted) = &outbound.load else {
            return Ok((Turned::Send(outbound, None), None));
        };
        let format = prompted.format;
        let concerns = |text| Native::concerns(format, text, purpose);
        if !prompted.text().is_some_and(concerns) {
            return as_it_came(outbound);
        }
        let (native, prompted) = (Arc::clone(self), prompted.clone());
        let betas = betas(&outbound.head.headers);
        let look = move || {
            let has = |model: &str| has_native || prompted.sayings.compacts(&prompted, model);
            native.instead(format, prompted.text()?, purpose, &has, &betas)
        };
        let instead = aside(self.internal_errors, look).await?;
        let (body, insert, what) = match instead {
            None => return as_it_came(outbound),
            Some(Instead::Refuse(Invalid { cause, what })) => {
                return Err(Refusal::new(StatusCode::BAD_REQUEST, cause, what));
            }
            Some(Instead::Answer(kind, body)) => {
                let mut reply = Response::new(Flow::from(Bytes::from(body)));
                reply.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
                return Ok((Turned::Answer(Inbound::from(reply)), Some("answered")));
            }
            Some(Instead::Send(body)) => (body, None, "read"),
            Some(Instead::SendThenInsert(body, insert)) => {
                (body, Some(Box::new(insert)), "inserted")
            }
        };
        if !share.takes(body.len()) {
            let what = "too many request bytes are in memory already";
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "busy", what));
        }
        let mut outbound = outbound.with_body(body);
        if !has_native {
            outbound.without_betas();
        }
        if insert.is_some() {
            let plain = HeaderValue::from_static("identity");
            outbound.head.headers.insert(ACCEPT_ENCODING, plain);
        }
        Ok((Turned::Send(outbound, insert), Some(what)))
    }
}
