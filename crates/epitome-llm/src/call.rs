//! One request over the wire, and what came of it.

use std::sync::Mutex;
use std::time::Duration;

use epitome::model::{Billed, Money};
use epitome::summarize::{FailureKind, Spent, SummarizeError};
use epitome::text::cut;
use reqwest::header::{CONTENT_TYPE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::timeout;

use crate::events::Events;
use crate::heard::Heard;
use crate::model::{Limits, Model};
use crate::purse::Reserved;

/// The most bytes of an answer.
pub(crate) const LARGEST: usize = 8 << 20;

/// A request that failed, and whether another try may help.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: SummarizeError,
    pub(crate) again: Again,
}

/// Whether another try may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// It won't.
    Never,
    /// It may.
    Maybe,
    /// It may, after this time.
    After(Duration),
}

impl Failed {
    fn new(kind: FailureKind, detail: impl Into<String>) -> Self {
        let again = match kind {
            FailureKind::RateLimited
            | FailureKind::Upstream
            | FailureKind::Unreachable
            | FailureKind::CutShort => Again::Maybe,
            _ => Again::Never,
        };
        Failed { error: SummarizeError::new(kind, detail), again }
    }
}

impl From<SummarizeError> for Failed {
    /// What isn't sent now won't be later.
    fn from(error: SummarizeError) -> Self {
        Failed { error, again: Again::Never }
    }
}

/// Books what a call took, however it ends: a dropped call was paid for, too.
struct Booking<'a> {
    model: &'a Model,
    heard: Heard,
    spent: &'a Mutex<Spent>,
    /// What it may cost at most, where that is known.
    most: Option<Money>,
    reserved: Option<Reserved<'a>>,
    /// Whether the server has taken it, so that it counts though nothing is heard.
    is_taken: bool,
}

impl Drop for Booking<'_> {
    fn drop(&mut self) {
        let said = self.heard.billed;
        let cost = match said == Billed::default() {
            false => self.model.price_of(&said),
            true if self.is_taken => self.most,
            true => self.most.map(|_| Money::ZERO),
        };
        if let Some(reserved) = self.reserved.take() {
            reserved.settle(cost.unwrap_or(Money::ZERO));
        }
        let (input, cached, output) = (said.prompt(), said.read, said.output);
        let spent = Spent { requests: 1, input, cached, output, cost };
        *self.spent.lock().expect("nothing panics while it is held") += spent;
    }
}

/// A request that is to be sent.
pub(crate) struct Call<'a> {
    pub(crate) model: &'a Model,
    pub(crate) client: &'a Client,
    pub(crate) url: &'a Url,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) limits: &'a Limits,
    pub(crate) spent: &'a Mutex<Spent>,
}

impl Call<'_> {
    /// Sends `body`, which may cost `most` and has that `reserved`; the text of the answer.
    pub(crate) async fn send(
        &self,
        body: &str,
        most: Option<Money>,
        reserved: Option<Reserved<'_>>,
    ) -> Result<String, Failed> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let sending = request.body(body.to_owned()).send();
        let (model, spent) = (self.model, self.spent);
        let heard = Heard::default();
        let mut booking = Booking { model, heard, spent, most, reserved, is_taken: true };
        let response = timeout(self.limits.first_byte, sending)
            .await
            .map_err(|_| silent(self.limits.first_byte))?
            .map_err(|error| {
                booking.is_taken = !error.is_connect();
                self.broken(&error)
            })?;
        if !response.status().is_success() {
            booking.is_taken = false;
            return Err(self.refused(response).await);
        }
        self.read(response, &mut booking.heard).await?;
        let heard = &mut booking.heard;
        if let Some((kind, detail)) = heard.fault.take() {
            return Err(Failed::new(kind, self.model.without_key(&detail)));
        }
        if !heard.is_over {
            return Err(Failed::new(FailureKind::CutShort, ""));
        }
        Ok(std::mem::take(&mut heard.text))
    }

    async fn read(&self, mut response: Response, heard: &mut Heard) -> Result<(), Failed> {
        let format = self.model.format();
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        let mut events = Events::default();
        let mut whole: Option<Vec<u8>> = kind.contains("json").then(Vec::new);
        let mut bytes = 0;
        if !kind.is_empty() && whole.is_none() && !kind.contains("event-stream") {
            let what = format!("{}, neither events nor JSON", cut::one_line(&kind, 60));
            return Err(Failed::new(FailureKind::Malformed, what));
        }
        loop {
            let chunk = timeout(self.limits.silence, response.chunk())
                .await
                .map_err(|_| silent(self.limits.silence))?
                .map_err(|error| Failed::new(FailureKind::CutShort, innermost(&error)))?;
            let Some(chunk) = chunk else { break };
            bytes += chunk.len();
            if bytes > LARGEST || events.held() > LARGEST {
                return Err(too_long());
            }
            match &mut whole {
                Some(whole) => whole.extend_from_slice(&chunk),
                None => {
                    for data in events.take(&chunk) {
                        self.event(&data, heard)?;
                    }
                }
            }
            if heard.fault.is_some() {
                return Ok(());
            }
        }
        match whole {
            Some(whole) => {
                let answer = serde_json::from_slice(&whole).map_err(|error| unreadable(&error))?;
                heard.whole(format, &answer);
            }
            None => {
                if let Some(data) = events.end() {
                    self.event(&data, heard)?;
                }
            }
        }
        Ok(())
    }

    fn event(&self, data: &str, heard: &mut Heard) -> Result<(), Failed> {
        if data.trim() == "[DONE]" {
            heard.is_over = true;
            return Ok(());
        }
        let event: Value = serde_json::from_str(data).map_err(|error| unreadable(&error))?;
        heard.event(self.model.format(), &event);
        Ok(())
    }

    /// What a status other than 2xx means.
    pub(crate) async fn refused(&self, response: Response) -> Failed {
        let status = response.status();
        if status.is_redirection() {
            let to = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
            let to = cut::one_line(to.unwrap_or("nowhere"), 120);
            return Failed::new(
                FailureKind::Rejected,
                format!("{status} leads to {to}, and isn't followed"),
            );
        }
        let after = response.headers().get(RETRY_AFTER).and_then(|after| after.to_str().ok());
        let after = after.and_then(|after| after.trim().parse().ok()).map(Duration::from_secs);
        let kind = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => FailureKind::Unauthorized,
            StatusCode::TOO_MANY_REQUESTS => FailureKind::RateLimited,
            StatusCode::REQUEST_TIMEOUT => FailureKind::Upstream,
            status if status.is_server_error() => FailureKind::Upstream,
            _ => FailureKind::Rejected,
        };
        let body = timeout(self.limits.silence, response.bytes()).await;
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        let told: Option<Value> = serde_json::from_slice(&body).ok();
        let told = told.as_ref().and_then(|body| {
            let error = body.get(0).unwrap_or(body).get("error")?;
            error["message"].as_str().or(error.as_str())
        });
        let told = told.map(|told| format!(": {told}")).unwrap_or_default();
        let mut failed = Failed::new(kind, self.model.without_key(&format!("{status}{told}")));
        if let (Again::Maybe, Some(after)) = (failed.again, after) {
            failed.again = Again::After(after);
        }
        failed
    }

    pub(crate) fn broken(&self, error: &reqwest::Error) -> Failed {
        let kind = match () {
            () if error.is_timeout() => FailureKind::Timeout,
            () if error.is_connect() => FailureKind::Unreachable,
            // It was there, and then it wasn't.
            () => FailureKind::CutShort,
        };
        let where_to = self.url.host_str().unwrap_or_default();
        Failed::new(kind, self.model.without_key(&format!("{where_to}: {}", innermost(error))))
    }
}

pub(crate) fn too_long() -> Failed {
    Failed::new(FailureKind::Malformed, format!("more than {LARGEST} bytes"))
}

pub(crate) fn silent(time: Duration) -> Failed {
    Failed::new(FailureKind::Timeout, format!("silent for {} s", time.as_secs_f64()))
}

pub(crate) fn unreadable(error: &serde_json::Error) -> Failed {
    Failed::new(FailureKind::Malformed, cut::one_line(&error.to_string(), 120))
}

/// The cause of all causes: the outer ones repeat the address.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cut::one_line(&cause.to_string(), 160)
}
