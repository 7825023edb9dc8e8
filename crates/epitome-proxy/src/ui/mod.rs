//! The dashboard at `/ui`: pages without scripts, for who has the management token.

mod chart;
mod pages;
mod words;

use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, REFRESH,
    WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};

use crate::flow::Flow;
use crate::ledger::Ledger;
use crate::management::ManagementToken;

/// What the pages may do: show the style that is served here, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE: &str = include_str!("style.css");

/// Seconds until a page of figures is asked for again.
const AGAIN: &str = "15";

/// The dashboard.
pub(crate) struct Dashboard {
    token: ManagementToken,
    ledger: Arc<Ledger>,
}

impl Dashboard {
    /// Whether a request has what opens it: that goes to no upstream.
    pub(crate) fn opens_for(&self, headers: &HeaderMap) -> bool {
        self.token.is_in(headers)
    }

    pub(crate) fn new(token: ManagementToken, ledger: Arc<Ledger>) -> Self {
        Dashboard { token, ledger }
    }

    /// The page that a request is for, if it is for one.
    pub(crate) fn page(&self, head: &Parts) -> Option<Response<Flow>> {
        let rest = head.uri.path().strip_prefix("/ui")?;
        if !(rest.is_empty() || rest.starts_with('/')) {
            return None;
        }
        if ![Method::GET, Method::HEAD].contains(&head.method) {
            return Some(answer(StatusCode::METHOD_NOT_ALLOWED, TEXT, "only looked at\n"));
        }
        let path = rest.trim_matches('/');
        // It shows nothing of anybody.
        if path == "style.css" {
            return Some(answer(StatusCode::OK, "text/css; charset=utf-8", STYLE));
        }
        if !self.token.is_in(&head.headers) {
            let mut refused =
                answer(StatusCode::UNAUTHORIZED, TEXT, "the management token is the password\n");
            let scheme = HeaderValue::from_static("Basic realm=\"epitome\", charset=\"UTF-8\"");
            refused.headers_mut().insert(WWW_AUTHENTICATE, scheme);
            return Some(refused);
        }
        let parts: Vec<&str> = path.split('/').collect();
        let (page, is_live) = match parts[..] {
            [""] => (Some(pages::all(&self.ledger.all())), true),
            [name] => (self.ledger.get(name).map(|it| pages::one(name, &it)), true),
            [name, number] => (self.content(name, number), false),
            _ => (None, false),
        };
        let Some(page) = page else {
            return Some(answer(StatusCode::NOT_FOUND, TEXT, "nothing is known of it any more\n"));
        };
        let page = page.replace(is_unseen, "\u{fffd}");
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

/// Whether a character moves or hides what stands beside it: controls, marks of direction, and what has no width.
fn is_unseen(c: char) -> bool {
    let is_mark = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    c.is_control() && !matches!(c, '\n' | '\t') || is_mark
}

const TEXT: &str = "text/plain; charset=utf-8";

fn answer(status: StatusCode, kind: &'static str, text: impl Into<Bytes>) -> Response<Flow> {
    let mut answer = Response::new(Flow::from(text.into()));
    *answer.status_mut() = status;
    for (name, value) in [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}
