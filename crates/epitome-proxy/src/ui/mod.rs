//! The dashboard at `/ui`: pages without scripts, for who has the management token.

mod chart;
mod figures;
mod pages;

use std::sync::Arc;

use bytes::Bytes;
use epitome::text::cut::is_unseen;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, REFRESH,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};

use crate::flow::Flow;
use crate::ledger::Ledger;
use crate::management::ManagementToken;
use crate::meters::Meters;
use crate::options::ProxyMode;

/// What the pages may do: show the style that is served here, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const STYLE: &str = include_str!("style.css");

/// Seconds until a page of figures is asked for again.
const AGAIN: &str = "15";

/// The dashboard.
pub(crate) struct Dashboard {
    token: ManagementToken,
    ledger: Arc<Ledger>,
    mode: ProxyMode,
    meters: Arc<Meters>,
}

impl Dashboard {
    /// Whether a request has what opens it.
    pub(crate) fn opens_for(&self, headers: &HeaderMap) -> bool {
        self.token.is_in(headers)
    }

    /// Whether a request has that anywhere: it goes to no upstream then.
    pub(crate) fn is_told_in(&self, head: &Parts) -> bool {
        self.token.is_anywhere_in(&head.headers, head.uri.query())
    }

    pub(crate) fn new(
        token: ManagementToken,
        ledger: Arc<Ledger>,
        mode: ProxyMode,
        meters: Arc<Meters>,
    ) -> Self {
        Dashboard { token, ledger, mode, meters }
    }

    /// The answer to whoever doesn't have the token.
    pub(crate) fn refused() -> Response<Flow> {
        let mut refused = words(StatusCode::UNAUTHORIZED, "the management token is the password\n");
        let scheme = HeaderValue::from_static("Basic realm=\"epitome\", charset=\"UTF-8\"");
        refused.headers_mut().insert(WWW_AUTHENTICATE, scheme);
        refused
    }

    /// The page that a request is for, if it is for one.
    pub(crate) fn page(&self, head: &Parts) -> Option<Response<Flow>> {
        let rest = head.uri.path().strip_prefix("/ui")?;
        if !(rest.is_empty() || rest.starts_with('/')) {
            return None;
        }
        if ![Method::GET, Method::HEAD].contains(&head.method) {
            return Some(words(
                StatusCode::METHOD_NOT_ALLOWED,
                "these pages are only looked at, with GET\n",
            ));
        }
        let path = rest.trim_matches('/');
        // It shows nothing of anybody.
        if path == "style.css" {
            return Some(answer(StatusCode::OK, "text/css; charset=utf-8", STYLE));
        }
        if !self.token.is_in(&head.headers) {
            return Some(Dashboard::refused());
        }
        let parts: Vec<&str> = path.split('/').collect();
        let (page, is_live) = match parts[..] {
            [""] => {
                let passed = self.meters.all_passed();
                (Some(pages::all(&self.ledger.all(), self.mode, passed)), true)
            }
            [name] => (self.ledger.get(name).map(|it| pages::one(name, &it, self.mode)), true),
            [name, number] => (self.content(name, number), false),
            _ => (None, false),
        };
        let Some(page) = page else {
            return Some(words(StatusCode::NOT_FOUND, "this conversation isn't known any more\n"));
        };
        let page = page.replace(|c| !matches!(c, '\n' | '\t') && is_unseen(c), "\u{fffd}");
        let mut page = answer(StatusCode::OK, "text/html; charset=utf-8", page);
        if is_live {
            page.headers_mut().insert(REFRESH, HeaderValue::from_static(AGAIN));
        }
        Some(page)
    }

    /// What a compaction did, in words.
    fn content(&self, name: &str, number: &str) -> Option<String> {
        let number = number.parse().ok()?;
        Some(pages::content(name, number, &self.ledger.stretches(name, number)?))
    }
}

/// An answer in words.
pub(crate) fn words(status: StatusCode, text: &'static str) -> Response<Flow> {
    answer(status, "text/plain; charset=utf-8", text)
}

fn answer(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Flow> {
    let mut answer = Response::new(Flow::from(text.into()));
    *answer.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, "no-store"),
        // With less, browsers don't say that a form is one of these pages.
        (REFERRER_POLICY, "same-origin"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}
