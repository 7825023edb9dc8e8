//! Arguments that should be an object and aren't.

use crate::json::{Scanner, unquote};

/// An input that isn't an object as one; `None` where there is no input at all.
pub(crate) fn as_object(body: &str) -> Option<String> {
    // Arguments that were left as a string of JSON.
    let inner = unquote(body);
    let is_object = inner.starts_with('{')
        && Scanner::new(&inner)
            .value()
            .is_ok_and(|span| inner[span.range().end..].trim().is_empty());
    match body {
        "" => None,
        "null" => Some("{}".to_owned()),
        _ if is_object => Some(inner.into_owned()),
        _ => Some(format!(r#"{{"value":{body}}}"#)),
    }
}
