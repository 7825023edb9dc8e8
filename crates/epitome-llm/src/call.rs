//! One request over the wire, and what came of it.

use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use epitome::model::{Billed, Money};
use epitome::summarize::{FailureKind, Spent, SummarizeError};
use epitome::text::cut;
use reqwest::header::{CONTENT_TYPE, DATE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout};

use crate::events::Events;
use crate::heard::Heard;
use crate::model::{Limits, Model};
use crate::purse::Reserved;

/// The most bytes of an answer.
pub(crate) const LARGEST: usize = 8 << 20;
/// The most bytes of a complaint.
const COMPLAINT: usize = 64 << 10;
/// How long is waited for what may come behind an answer: how much it took, and that nothing follows.
const BEHIND: Duration = Duration::from_secs(2);
/// Nothing is waited for more shortly.
const LEAST: Duration = Duration::from_millis(20);

/// A request that failed, and whether another try may help.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) kind: FailureKind,
    /// The provider's own text: it may repeat a key.
    pub(crate) detail: String,
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
    /// It may, with more room: reasoning took all that there was.
    Roomier,
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
        Failed { kind, detail: detail.into(), again }
    }

    /// What is told of it: without the key, and then not at length.
    pub(crate) fn told(self, model: &Model) -> SummarizeError {
        SummarizeError::new(self.kind, model.without_key(&self.detail))
    }
}

impl From<SummarizeError> for Failed {
    /// What isn't sent now won't be later.
    fn from(error: SummarizeError) -> Self {
        Failed { kind: error.kind, detail: error.detail, again: Again::Never }
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
        let told = self.model.price_of(&said);
        let cost = match () {
            () if self.heard.is_accounted() => told,
            () if self.is_taken || said != Billed::default() => told.max(self.most),
            () => self.most.map(|_| Money::ZERO),
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
    /// When nobody waits for it any more.
    pub(crate) until: Instant,
}

impl<'a> Call<'a> {
    /// A call that is booked in `spent`, and that nobody waits for after `until`.
    pub(crate) fn new(model: &'a Model, spent: &'a Mutex<Spent>, until: Instant) -> Self {
        let Model { client, url, headers, limits, .. } = model;
        Call { model, client, url, headers, limits, spent, until }
    }
}

impl Call<'_> {
    /// As much of `limit` as ends before nobody waits any more.
    fn within(&self, limit: Duration) -> Duration {
        limit.min((self.until.saturating_duration_since(Instant::now()) / 2).max(LEAST))
    }

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
            return Err(Failed::new(kind, detail));
        }
        if !heard.is_over {
            return Err(Failed::new(FailureKind::CutShort, ""));
        }
        if heard.is_at_limit {
            // The same again would end there again.
            let is_reasoning = heard.is_only_reasoning();
            let again = if is_reasoning { Again::Roomier } else { Again::Never };
            let of = if is_reasoning { ", of which reasoning took all" } else { "" };
            let detail = format!("it reached its token limit{of}");
            return Err(Failed { again, ..Failed::new(FailureKind::CutShort, detail) });
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
            let kind = cut::one_line(&self.model.without_key(&kind), 60);
            let what = format!("{kind}, neither events nor JSON");
            return Err(Failed::new(FailureKind::Malformed, what));
        }
        let (mut quiet, mut over) = (Duration::ZERO, None);
        let broken = loop {
            let slice = self.within(BEHIND);
            // What is over is waited for no longer than what may follow takes.
            if heard.is_over && *over.get_or_insert(Instant::now() + slice) <= Instant::now() {
                break None;
            }
            let slice = slice.min(self.limits.silence.saturating_sub(quiet));
            let chunk = match timeout(slice, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => break None,
                Ok(Err(error)) => {
                    break Some(Failed::new(FailureKind::CutShort, innermost(&error)));
                }
                Err(_) => {
                    quiet += slice;
                    let is_all = heard.is_over || whole.as_deref().is_some_and(is_json);
                    if is_all {
                        break None;
                    }
                    if quiet >= self.limits.silence {
                        break Some(silent(self.limits.silence));
                    }
                    continue;
                }
            };
            quiet = Duration::ZERO;
            bytes += chunk.len();
            if bytes > LARGEST || events.held() > LARGEST {
                return if heard.is_over { Ok(()) } else { Err(too_long()) };
            }
            match &mut whole {
                Some(whole) => whole.extend_from_slice(&chunk),
                None => {
                    for data in events.take(&chunk) {
                        let read = self.event(&data, heard);
                        // The format's own end: what the connection does then is no matter.
                        if heard.is_last || (heard.is_over && read.is_err()) {
                            return Ok(());
                        }
                        read?;
                    }
                }
            }
            // After the end, the usage may still follow.
            if heard.fault.is_some() && !heard.is_over {
                return Ok(());
            }
        };
        let read = match whole {
            Some(whole) => match serde_json::from_slice(&whole) {
                Ok(answer) => {
                    heard.whole(format, &answer);
                    Ok(())
                }
                Err(error) => Err(unreadable(&error)),
            },
            None => events.end().map_or(Ok(()), |data| self.event(&data, heard)),
        };
        if heard.is_over || heard.fault.is_some() {
            // All of it was there.
            return Ok(());
        }
        broken.map_or(read, Err)
    }

    fn event(&self, data: &[u8], heard: &mut Heard) -> Result<(), Failed> {
        if data.trim_ascii() == b"[DONE]" {
            (heard.is_over, heard.is_last) = (true, true);
            return Ok(());
        }
        let event: Value = serde_json::from_slice(data).map_err(|error| unreadable(&error))?;
        heard.event(self.model.format(), &event);
        Ok(())
    }

    /// What a status other than 2xx means.
    pub(crate) async fn refused(&self, response: Response) -> Failed {
        let status = response.status();
        let header =
            |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        if status.is_redirection() {
            let to = self.model.without_key(header(LOCATION.as_str()).unwrap_or("nowhere"));
            let to = cut::one_line(&to, 120);
            return Failed::new(
                FailureKind::Rejected,
                format!("{status} redirects to {to}, and redirects aren't followed"),
            );
        }
        let after = header(RETRY_AFTER.as_str());
        let after = after.and_then(|after| pause(after, header(DATE.as_str())));
        let kind = match status {
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => FailureKind::Unauthorized,
            StatusCode::TOO_MANY_REQUESTS => FailureKind::RateLimited,
            StatusCode::REQUEST_TIMEOUT => FailureKind::Upstream,
            status if status.is_server_error() => FailureKind::Upstream,
            _ => FailureKind::Rejected,
        };
        let body = complaint(response, self.within(self.limits.silence)).await;
        let told: Option<Value> = serde_json::from_slice(&body).ok();
        let told = told.as_ref().and_then(|body| {
            let error = body.get(0).unwrap_or(body).get("error")?;
            error["message"].as_str().or(error.as_str())
        });
        let told = told.map(|told| format!(": {told}")).unwrap_or_default();
        let mut failed = Failed::new(kind, format!("{status}{told}"));
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
        Failed::new(kind, format!("{where_to}: {}", innermost(error)))
    }
}

fn is_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Value>(bytes).is_ok()
}

/// The body of an error status, as far as it comes in time and within bounds.
async fn complaint(mut response: Response, longest: Duration) -> Vec<u8> {
    let mut body = Vec::new();
    let read = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            let room = COMPLAINT - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if body.len() == COMPLAINT {
                return;
            }
        }
    };
    // What there is by then is all.
    let _late = timeout(longest, read).await;
    body
}

/// How long to wait, as `Retry-After` says: in seconds, or until a time by the server's clock, which `date` tells.
fn pause(after: &str, date: Option<&str>) -> Option<Duration> {
    let after = after.trim();
    if !after.is_empty() && after.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(Duration::from_secs(after.parse().unwrap_or(u64::MAX)));
    }
    let until = httpdate::parse_http_date(after).ok()?;
    let now = date.and_then(|date| httpdate::parse_http_date(date.trim()).ok());
    Some(until.duration_since(now.unwrap_or_else(SystemTime::now)).unwrap_or_default())
}

pub(crate) fn too_long() -> Failed {
    Failed::new(FailureKind::Malformed, format!("more than {LARGEST} bytes"))
}

pub(crate) fn silent(time: Duration) -> Failed {
    Failed::new(FailureKind::Timeout, format!("silent for {} s", time.as_secs_f64()))
}

pub(crate) fn unreadable(error: &serde_json::Error) -> Failed {
    Failed::new(FailureKind::Malformed, error.to_string())
}

/// The cause of all causes: the outer ones repeat the address.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_to_wait_are_seconds_or_dates() {
        let now = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let seconds = |after: &str| pause(after, now).map(|pause| pause.as_secs());
        assert_eq!(seconds(" 120 "), Some(120));
        assert_eq!(seconds("99999999999999999999"), Some(u64::MAX));
        // Each of the three forms of RFC 9110, 5.6.7.
        assert_eq!(seconds("Sun, 06 Nov 1994 08:50:37 GMT"), Some(60));
        assert_eq!(seconds("Sunday, 06-Nov-94 09:49:37 GMT"), Some(3_600));
        assert_eq!(seconds("Sun Nov  6 08:49:38 1994"), Some(1));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
        for none in ["", "soon", "-1", "1.5"] {
            assert_eq!(seconds(none), None, "{none}");
        }
        assert!(pause("Fri, 31 Dec 2100 00:00:00 GMT", None) > Some(Duration::from_secs(1)));
    }
}
