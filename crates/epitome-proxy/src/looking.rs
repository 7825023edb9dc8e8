//! A look at the body of a request: what can be read of it, within bounds.

use std::sync::Arc;

use bytes::Bytes;
use epitome_tower::Route;
use epitome_tracing::ModelCall;
use http::header::AUTHORIZATION;
use http::request::Parts;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::encoding::{Encoding, Undecoded};
use crate::engine::Engine;
use crate::exchange::{Load, Prompted, read};
use crate::flow::{Collected, Flow};
use crate::options::{InternalErrors, ProxyMode};
use crate::proxy::Proxy;
use crate::refusal::Refusal;
use crate::room::Share;
use crate::sending::{internal, unfinished};
use crate::stall::is_streamed;
use crate::wanted::{api, is_known_by_path};

/// Whether a body at Amazon is Anthropic's.
fn has_version(text: Option<&String>) -> bool {
    #[derive(Deserialize)]
    struct Versioned {
        anthropic_version: Option<IgnoredAny>,
    }
    let read = text.and_then(|text| serde_json::from_str::<Versioned>(text).ok());
    read.is_some_and(|body| body.anthropic_version.is_some())
}

impl Proxy {
    /// Reads a body that holds a prompt, within bounds; what can't be read is forwarded as it is.
    pub(crate) async fn look(
        &self,
        head: &Parts,
        flow: Flow,
        (route, tenant): (Route, Arc<str>),
    ) -> Result<(Load, Share, Option<&Engine>), Refusal> {
        let api = api(route.format);
        let mut share = self.room.share();
        if self.mode == ProxyMode::Off {
            self.meters.passed(api, "off");
            return Ok((Load::Unseen(flow), share, None));
        }
        let is_signed = head.headers.get(AUTHORIZATION).is_some_and(|value| {
            // Amazon's signatures are over the body, too.
            value.as_bytes().starts_with(b"AWS4-")
        });
        if is_signed {
            self.meters.passed(api, "signed");
            return Ok((Load::Unseen(flow), share, None));
        }
        let (mut left, mut why) = (self.limits.body, "trailers");
        let room = |bytes: usize| {
            if bytes > left {
                why = "large";
                return false;
            }
            left -= bytes;
            if !share.takes(bytes) {
                why = "busy";
                return false;
            }
            true
        };
        let bytes = match flow.collect(room).await {
            Collected::Whole(bytes) => bytes,
            Collected::Long(flow) => {
                self.may_pass(why)?;
                self.meters.passed(api, why);
                return Ok((Load::Unseen(flow), share, None));
            }
            Collected::Broken(flow) => return Err(unfinished(flow.broken())),
        };
        let (bytes, text) = match self.unpacked(head, &bytes, &mut share).await {
            Ok(None) => read(bytes),
            Ok(unpacked) => (bytes, unpacked),
            Err(why) => {
                self.may_pass(why)?;
                self.meters.passed(api, why);
                return Ok((Load::Unseen(Flow::from(bytes)), share, None));
            }
        };
        let Route { format, model } = route;
        if !is_known_by_path(head.uri.path()) && !has_version(text.as_deref()) {
            self.meters.passed(api, "unread");
            return Ok((Load::Unseen(Flow::from(bytes)), share, None));
        }
        let prompted =
            Prompted { bytes, text, format, model, tenant, sayings: self.engines.sayings.clone() };
        if let Some(call) = head.extensions.get::<Arc<ModelCall>>() {
            let text = prompted.text().unwrap_or_default();
            call.asks(&prompted.named_model().unwrap_or_default());
            if is_streamed(format, head.uri.path(), head.uri.query(), text) {
                call.streams();
            }
        }
        Ok((Load::Seen(prompted), share, self.engines.of(format)))
    }

    /// Refuses what would pass because of the proxy's own trouble, where that is asked for.
    fn may_pass(&self, why: &str) -> Result<(), Refusal> {
        let what = match why {
            "busy" => "too many request bytes are in memory already",
            "internal" => "the request can't be unpacked",
            _ => return Ok(()),
        };
        match self.internal_errors {
            InternalErrors::Forward => Ok(()),
            InternalErrors::Refuse => Err(internal(what)),
        }
    }

    /// The content of a compressed body; `None` if it isn't compressed.
    async fn unpacked(
        &self,
        head: &Parts,
        bytes: &Bytes,
        share: &mut Share,
    ) -> Result<Option<Arc<String>>, &'static str> {
        let encoding = Encoding::of(&head.headers).map_err(|_| "encoding")?;
        if encoding == Encoding::Identity {
            return Ok(None);
        }
        let _turn = self.unpacking.acquire().await.map_err(|_| "busy")?;
        let (bytes, most) = (bytes.clone(), self.limits.body);
        let decoding = tokio::task::spawn_blocking(move || {
            let plain = encoding.decode(&bytes, most)?;
            String::from_utf8(plain).map_err(|_| Undecoded::Broken)
        });
        let plain = decoding.await.map_err(|_| "internal")?.map_err(|why| match why {
            Undecoded::Large => "large",
            Undecoded::Unknown | Undecoded::Broken => "encoding",
        })?;
        if share.takes(plain.len()) { Ok(Some(Arc::new(plain))) } else { Err("busy") }
    }
}
