//! Who may ask: no web page, whatever name it gives this machine.

use std::collections::HashSet;
use std::net::IpAddr;

use epitome::word_list::words;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, ORIGIN, TRANSFER_ENCODING, UPGRADE};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};

use crate::refusal::Refusal;

/// Refuses what only a web page, or a client of something else, would ask.
pub(crate) fn admit(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    listening: IpAddr,
) -> Result<(), Refusal> {
    // A resource embedded in a page has no Origin, but a header names its context.
    let is_embedded =
        |value: &HeaderValue| matches!(value.as_bytes(), b"cross-site" | b"same-site");
    let is_of_page = headers.get_all("sec-fetch-site").iter().any(is_embedded);
    let is_foreign = headers.contains_key(ORIGIN) && !is_own_page(method, uri, headers);
    if is_foreign || is_of_page {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "origin", "web pages are not served"));
    }
    // Where it listens for others, their names for it aren't known.
    if listening.is_loopback() && !is_here(uri, headers, listening) {
        let what = "the Host must name this machine: localhost, 127.0.0.1 or [::1]";
        return Err(Refusal::new(StatusCode::FORBIDDEN, "host", what));
    }
    // Other upgrades are offers, which need not be taken up.
    let asks = |value: &HeaderValue| {
        value.to_str().is_ok_and(|value| value.to_ascii_lowercase().contains("websocket"))
    };
    if headers.get_all(UPGRADE).iter().any(asks) {
        let mut refusal = Refusal::new(
            StatusCode::UPGRADE_REQUIRED,
            "upgrade",
            "WebSockets are not served: ask over HTTP",
        );
        refusal.headers = vec![
            (UPGRADE, HeaderValue::from_static("HTTP/1.1")),
            (CONNECTION, HeaderValue::from_static("upgrade")),
        ];
        return Err(refusal);
    }
    if method == Method::CONNECT {
        let what = "tunnels are not served";
        return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method", what));
    }
    Ok(())
}

/// Whether a page of the proxy's own sends it, of which the dashboard has forms.
fn is_own_page(method: &Method, uri: &Uri, headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let host = host.or(uri.authority().map(Authority::as_str));
    let mut origins = headers.get_all(ORIGIN).iter();
    let origin = origins.next().and_then(|origin| origin.to_str().ok());
    let from = origin.and_then(|origin| origin.split_once("://")).map(|(_, host)| host);
    let is_form = *method == Method::POST && uri.path().starts_with("/ui/");
    is_form && origins.next().is_none() && from.is_some() && from == host
}

/// Whether each name that a request gives its server is one of this machine alone.
fn is_here(uri: &Uri, headers: &HeaderMap, listening: IpAddr) -> bool {
    let is_local = |authority: &Authority| {
        let bare = authority.host().trim_start_matches('[').trim_end_matches(']');
        bare.eq_ignore_ascii_case("localhost")
            || bare.parse().is_ok_and(|ip: IpAddr| ip.is_loopback() || ip == listening)
    };
    let mut named = headers.get_all(HOST).iter().peekable();
    let has_name = uri.authority().is_some() || named.peek().is_some();
    let in_header = |value: &HeaderValue| {
        // A name and a password before the host are of no Host (RFC 9110, 7.2).
        let value = value.to_str().ok().filter(|value| !value.contains('@'));
        let authority: Option<Authority> = value.and_then(|it| it.parse().ok());
        authority.as_ref().is_some_and(is_local)
    };
    has_name && uri.authority().is_none_or(is_local) && named.all(in_header)
}

/// What is of one connection, not of a request or reply (RFC 9110, 7.6.1), and what the server has answered already.
const HOPS: [&str; 9] = words!(
    "connection expect keep-alive proxy-authorization proxy-connection te trailer \
     transfer-encoding upgrade"
);

/// Takes out what is of one connection; the others stay in their order.
pub(crate) fn strip(headers: &mut HeaderMap) {
    // Of the two lengths the other one holds (RFC 9112, 6.3).
    if headers.contains_key(TRANSFER_ENCODING) {
        headers.remove(CONTENT_LENGTH);
    }
    let named = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named: HashSet<String> =
        named.flat_map(|it| it.split(',')).map(|it| it.trim().to_ascii_lowercase()).collect();
    let is_hop = |name: &HeaderName| HOPS.contains(&name.as_str()) || named.contains(name.as_str());
    if !headers.keys().any(is_hop) {
        return;
    }
    let mut kept = HeaderMap::with_capacity(headers.keys_len());
    let mut last: Option<HeaderName> = None;
    for (name, value) in std::mem::take(headers) {
        // A value without a name has the name of the one before.
        last = name.or(last);
        if let Some(name) = last.clone().filter(|name| !is_hop(name)) {
            kept.append(name, value);
        }
    }
    *headers = kept;
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn status(headers: &[(&str, &str)], uri: &str, listening: IpAddr) -> Option<u16> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: HeaderName = name.parse().expect("a name");
            map.append(name, value.parse().expect("a value"));
        }
        let uri = uri.parse().expect("an address");
        admit(&Method::POST, &uri, &map, listening).err().map(|refusal| refusal.status.as_u16())
    }

    #[test]
    fn only_names_of_this_machine_lead_here() {
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        for host in ["localhost", "LOCALHOST:7411", "127.0.0.1:1", "[::1]:7411", "127.3.2.1"] {
            assert_eq!(status(&[("host", host)], "/v1/messages", here), None, "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "",
            "localhost@evil.example",
            "evil@localhost",
        ] {
            assert_eq!(status(&[("host", host)], "/v1/messages", here), Some(403), "{host}");
        }
        let both = [("host", "localhost"), ("host", "evil.example")];
        assert_eq!(status(&both, "/", here), Some(403));
        assert_eq!(status(&[], "/", here), Some(403));
        assert_eq!(status(&[("host", "localhost")], "http://evil.example/", here), Some(403));
        assert_eq!(status(&[], "http://localhost:7411/", here), None);
        let open = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        assert_eq!(status(&[("host", "proxy.example")], "/", open), None);
    }

    #[test]
    fn pages_and_web_sockets_are_refused() {
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let local = ("host", "localhost");
        assert_eq!(status(&[local, ("origin", "http://localhost")], "/", here), Some(403));
        assert_eq!(status(&[local, ("origin", "null")], "/", here), Some(403));
        assert_eq!(status(&[local, ("upgrade", "websocket")], "/v1/responses", here), Some(426));
        assert_eq!(status(&[local, ("upgrade", "h2c")], "/v1/responses", here), None);
    }

    #[test]
    fn what_is_of_the_connection_stays_here() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "keep-alive, X-Hop"),
            ("x-hop", "1"),
            ("x-end", "2"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("content-length", "3"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        strip(&mut headers);
        let left: Vec<&str> = headers.keys().map(HeaderName::as_str).collect();
        assert_eq!(left, ["x-end"]);
    }
}
