//! Counts of prompts: of what would be sent.

use std::sync::Arc;

use bytes::Bytes;
use epitome::Format;
use epitome_tower::{Carrier as _, Route};
use http::request::Parts;

use crate::exchange::{Inbound, Load, Outbound};
use crate::flow::Flow;
use crate::native::Purpose;
use crate::native::members::Members;
use crate::proxy::{Proxy, with};
use crate::refusal::Refusal;
use crate::sending::{aside, send};
use crate::turned::Turned;

/// The member in which a count of Gemini's may have all of the request.
const WHOLE_REQUEST: [&str; 2] = ["generateContentRequest", "generate_content_request"];

/// A count that has its request in a member: its members, the name of that, and the request.
fn wrapped(outbound: &Outbound) -> Option<(Members, &'static str, Outbound)> {
    let Load::Seen(prompted) = &outbound.load else { return None };
    let members =
        (prompted.format == Format::Gemini).then(|| Members::read(prompted.text()?))??;
    let name = WHOLE_REQUEST.into_iter().find(|name| members.raw(name).is_some())?;
    let request = Bytes::from(members.raw(name)?.to_owned());
    let load = Load::Seen(prompted.clone().retold(request));
    Some((members, name, Outbound { head: outbound.head.clone(), load }))
}

impl Proxy {
    /// Has a prompt counted as it would be sent: the view in force counts, not what it hides.
    pub(crate) async fn count(
        &self,
        head: Parts,
        flow: Flow,
        whose: (Route, Arc<str>),
        has_native: bool,
    ) -> Result<Inbound, Refusal> {
        let format = whose.0.format;
        let (load, mut share, engine) = self.look(&head, flow, whose).await?;
        let (outbound, _) = self.offering(Outbound { head, load }, &mut share).await?;
        let turned = self.turned(outbound, Purpose::Count, (format, has_native), &mut share);
        let (mut outbound, insert) = match turned.await? {
            Turned::Send(outbound, insert) => (outbound, insert),
            Turned::Answer(reply) => return Ok(reply),
        };
        let wrapped = wrapped(&outbound);
        let asked = wrapped.as_ref().map_or(&outbound, |(_, _, inner)| inner);
        if let (Load::Seen(_), Some(engine)) = (&asked.load, engine)
            && let Some(current) = engine.layer.current(asked).await
            && !current.view.is_whole()
        {
            let shown = aside(self.internal_errors, move || Some(current.shown())).await?;
            if let Some(shown) = shown {
                let shown = Arc::unwrap_or_clone(shown.into_source());
                let body = match wrapped {
                    Some((mut members, name, _)) => {
                        members.set(name, shown);
                        members.to_string()
                    }
                    None => shown,
                };
                outbound = outbound.with_body(body);
            }
        }
        let Outbound { head, load } = outbound;
        let reply = send(&mut self.engines.bare.clone(), head, load).await?;
        Ok(with(reply, insert).await)
    }
}
