//! What may be a credential in a request: tenants are told apart by it.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::COOKIE;
use percent_encoding::percent_decode_str;

/// Whether a header or a parameter of this name may hold a credential. What a client draws for each request doesn't.
pub(crate) fn may_authorize(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["auth", "key", "token", "secret"].iter().any(|part| name.contains(part))
        && !name.contains("idempotency")
}

/// Names of possible credentials: headers, parameters, and cookies if there is nothing else.
pub(crate) fn credentials<'a>(
    headers: &'a HeaderMap,
    query: Option<&'a str>,
) -> Vec<(Cow<'a, str>, &'a [u8])> {
    let mut found: Vec<(Cow<'a, str>, &[u8])> = headers
        .iter()
        .filter(|(name, _)| may_authorize(name.as_str()))
        .map(|(name, value)| (name.as_str().into(), value.as_bytes()))
        .collect();
    let pairs = query.into_iter().flat_map(|query| query.split('&'));
    for (name, value) in pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))) {
        let name = percent_decode_str(name).decode_utf8_lossy();
        if may_authorize(&name) {
            found.push((name, value.as_bytes()));
        }
    }
    if found.is_empty() {
        let cookies = headers.get_all(COOKIE).iter();
        found.extend(cookies.map(|value| ("cookie".into(), value.as_bytes())));
    }
    // Whatever the order in which a client sends them.
    found.sort();
    found
}

/// A request's headers without what is of its body, and of it alone.
pub(crate) fn beside_the_body(headers: &HeaderMap) -> HeaderMap {
    let is_of_it = |name: &str| {
        name.starts_with("content-") || name.ends_with("digest") || name.contains("idempotency")
    };
    let besides = headers.iter().filter(|(name, _)| !is_of_it(name.as_str()));
    besides.map(|(name, value)| (name.clone(), value.clone())).collect()
}

#[cfg(test)]
mod tests {
    use epitome::word_list::words;
    use http::{HeaderName, HeaderValue};

    use super::*;

    fn told(headers: &[(&'static str, &'static str)], query: Option<&str>) -> Vec<String> {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)));
        let headers: HeaderMap = headers.collect();
        let all = credentials(&headers, query);
        all.iter()
            .map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value)))
            .collect()
    }

    #[test]
    fn gateways_have_names_of_their_own_for_them() {
        for name in words!(
            "authorization x-api-key x-goog-api-key x-litellm-api-key cf-aig-authorization \
             ocp-apim-subscription-key helicone-auth x-auth-token"
        ) {
            assert_eq!(told(&[(name, "A"), ("cookie", "c")], None), [format!("{name}=A")]);
        }
        assert_eq!(told(&[], Some("alt=sse&k%65y=A&access_token=B")), ["access_token=B", "key=A"]);
        assert_eq!(told(&[("cookie", "c")], Some("alt=sse")), ["cookie=c"]);
        // What is drawn for each request tells nobody apart.
        assert!(told(&[("idempotency-key", "1"), ("x-request-id", "2")], None).is_empty());
    }

    #[test]
    fn what_is_of_the_body_is_of_it_alone() {
        let names =
            ["content-length", "repr-digest", "idempotency-key", "x-api-key", "openai-beta"];
        let headers: HeaderMap = names
            .iter()
            .map(|name| (HeaderName::from_static(name), HeaderValue::from_static("1")))
            .collect();
        let besides = beside_the_body(&headers);
        assert_eq!(besides.keys().map(HeaderName::as_str).collect::<Vec<_>>().len(), 2);
        assert!(besides.contains_key("x-api-key") && besides.contains_key("openai-beta"));
    }
}
