//! Where requests may go, and which of these a request belongs to.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use epitome_tower::plain_path;
use http::uri::{Authority, PathAndQuery, Scheme, Uri};

use crate::paths::{CODEX, behind, is_bare, is_of_codex};

/// Whose interface a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// `/v1/messages` and what is beside it.
    Anthropic,
    /// `/v1/chat/completions`, `/v1/responses` and what is beside them.
    OpenAi,
    /// `/v1beta/models/MODEL:generateContent` and what is beside it.
    Gemini,
}

impl Provider {
    /// All of them.
    pub const ALL: [Provider; 3] = [Provider::Anthropic, Provider::OpenAi, Provider::Gemini];

    /// As `--upstream` names it.
    pub fn name(self) -> &'static str {
        match self {
            Provider::Anthropic => "anthropic",
            Provider::OpenAi => "openai",
            Provider::Gemini => "gemini",
        }
    }

    /// Whether an address is its public one.
    pub(crate) fn is_public(self, address: &Uri) -> bool {
        let parts = address.scheme().zip(address.authority());
        parts.is_some_and(|(scheme, authority)| self.has_public(scheme, authority))
    }

    fn has_public(self, scheme: &Scheme, authority: &Authority) -> bool {
        [self.public(), PUBLIC_CODEX].iter().any(|public| {
            let public: Upstream = public.parse().expect("a well-formed address");
            (scheme, authority) == (&public.scheme, &public.authority)
        })
    }

    /// Its public address.
    fn public(self) -> &'static str {
        match self {
            Provider::Anthropic => "https://api.anthropic.com",
            Provider::OpenAi => "https://api.openai.com",
            Provider::Gemini => "https://generativelanguage.googleapis.com",
        }
    }
}

/// A server that requests may go to: scheme, host, port and what stands before their path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    /// Without a slash at its end.
    prefix: String,
}

/// What can't be an upstream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpstreamError {
    /// No address.
    #[error(
        "`{0}` isn't the address of a server: https://HOST[:PORT][/PATH], without a password, `?` or `#`"
    )]
    Address(String),
    /// A provider that isn't known.
    #[error("`{0}` isn't a provider: name anthropic, openai or gemini")]
    Provider(String),
    /// The same provider, or all, twice.
    #[error("{0} has two upstreams")]
    Twice(String),
}

impl FromStr for Upstream {
    type Err = UpstreamError;

    fn from_str(text: &str) -> Result<Self, UpstreamError> {
        // Possible secrets of it aren't repeated.
        let shown = text.split(['?', '#']).next().unwrap_or_default();
        let shown = shown.rsplit_once('@').map_or(shown, |(_, host)| host);
        let bad = || UpstreamError::Address(shown.to_owned());
        if text.contains(['?', '#', '@']) {
            return Err(bad());
        }
        let parts = text.parse::<Uri>().map_err(|_| bad())?.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else {
            return Err(bad());
        };
        if ![Scheme::HTTP, Scheme::HTTPS].contains(&scheme) || authority.host().is_empty() {
            return Err(bad());
        }
        let path = parts.path_and_query.as_ref().map_or("", PathAndQuery::path);
        Ok(Upstream { scheme, authority, prefix: path.trim_end_matches('/').to_owned() })
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.prefix)
    }
}

impl Upstream {
    /// The host that it sends to in the clear, if that isn't this machine.
    pub fn plain_host(&self) -> Option<&str> {
        let host = self.authority.host();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let is_local = bare.eq_ignore_ascii_case("localhost")
            || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        (self.scheme == Scheme::HTTP && !is_local).then_some(bare)
    }

    /// Whether it is what listens at an address of this machine, as far as its name tells.
    pub fn is_at(&self, listening: SocketAddr) -> bool {
        let default = if self.is_encrypted() { 443 } else { 80 };
        let host = self.authority.host().trim_start_matches('[').trim_end_matches(']');
        let is_here = host.parse().map_or(host.eq_ignore_ascii_case("localhost"), |ip: IpAddr| {
            ip == listening.ip() || ip.is_loopback() && listening.ip().is_unspecified()
        });
        is_here && self.authority.port_u16().unwrap_or(default) == listening.port()
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.scheme == Scheme::HTTPS
    }

    /// The address there of what was asked for here. The version stands in it once: clients are told an address with or
    /// without `/v1`.
    pub(crate) fn address(&self, asked: &Uri) -> Result<Uri, http::Error> {
        let path = asked.path();
        let codex = CODEX.trim_end_matches('/');
        let tail = match (behind(path, "/v1"), behind(path, codex)) {
            (Some(rest), _) if self.prefix.ends_with("/v1") => rest.to_owned(),
            (None, Some(rest)) if self.prefix.ends_with(codex) => rest.to_owned(),
            (None, _) if self.prefix.is_empty() && is_bare(&plain_path(path)) => {
                format!("/v1{path}")
            }
            _ => path.to_owned(),
        };
        let query = asked.query().map(|query| format!("?{query}")).unwrap_or_default();
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(format!("{}{tail}{query}", self.prefix))
            .build()
    }
}

/// Where requests go: nowhere else.
#[derive(Clone, Debug)]
pub struct Upstreams {
    /// By the place in [`Provider::ALL`].
    each: [Upstream; 3],
    /// Where requests go that speak nobody's interface.
    other: Option<Upstream>,
    /// Whose upstream is said to compact where a request asks it to.
    compacting: Vec<Provider>,
    /// Where requests of a login of Codex go.
    codex: Upstream,
}

/// Where requests of a login of Codex go, unless something else is said.
const PUBLIC_CODEX: &str = "https://chatgpt.com";

impl Default for Upstreams {
    /// The providers' public addresses.
    fn default() -> Self {
        let public = |provider: Provider| provider.public().parse().expect("a well-formed address");
        let codex = PUBLIC_CODEX.parse().expect("a well-formed address");
        Upstreams { each: Provider::ALL.map(public), other: None, compacting: Vec::new(), codex }
    }
}

impl Upstreams {
    /// `URL` is where everything goes, `PROVIDER=URL` where what speaks as this provider does goes. Whoever isn't named is
    /// asked at the public address.
    pub fn of<S: AsRef<str>>(named: impl IntoIterator<Item = S>) -> Result<Self, UpstreamError> {
        let mut each = [const { None }; 3];
        let mut other = None;
        for text in named {
            let text = text.as_ref();
            let (slot, name, url) = match text.split_once('=') {
                Some((name, url)) if !name.contains("://") => {
                    let at = Provider::ALL.iter().position(|provider| provider.name() == name);
                    let at = at.ok_or_else(|| UpstreamError::Provider(name.to_owned()))?;
                    (&mut each[at], name, url)
                }
                _ => (&mut other, "everything", text),
            };
            if slot.replace(url.parse::<Upstream>()?).is_some() {
                return Err(UpstreamError::Twice(name.to_owned()));
            }
        }
        let Upstreams { each: public, codex, .. } = Upstreams::default();
        let [_, openai, _] = &each;
        let codex = openai.clone().or_else(|| other.clone()).unwrap_or(codex);
        let mut at = 0;
        let each = each.map(|named| {
            let public = &public[at];
            at += 1;
            named.or_else(|| other.clone()).unwrap_or_else(|| public.clone())
        });
        Ok(Upstreams { each, other, compacting: Vec::new(), codex })
    }

    /// The same, with the upstreams of these providers compacting natively.
    #[must_use]
    pub fn compacting(self, providers: Vec<Provider>) -> Self {
        Upstreams { compacting: providers, ..self }
    }

    /// Whether the upstream compacts natively: a public address, or one named by `--native`.
    pub(crate) fn has_native(&self, provider: Option<Provider>, path: &str) -> bool {
        let (Some(provider), Some(one)) = (provider, self.get(provider, path)) else {
            return false;
        };
        provider.has_public(&one.scheme, &one.authority) || self.compacting.contains(&provider)
    }

    /// Each of them once.
    pub fn iter(&self) -> impl Iterator<Item = &Upstream> {
        let all = self.each.iter().chain(&self.other).enumerate();
        let before = |at: usize| self.each.iter().take(at);
        all.filter(move |(at, one)| !before(*at).any(|other| other == *one)).map(|(_, one)| one)
    }

    /// Where a request of this provider's interface, or of nobody's, goes.
    pub(crate) fn get(&self, provider: Option<Provider>, path: &str) -> Option<&Upstream> {
        if is_of_codex(path) && provider == Some(Provider::OpenAi) {
            return Some(&self.codex);
        }
        match provider {
            Some(provider) => {
                let at = Provider::ALL.iter().position(|known| *known == provider)?;
                Some(&self.each[at])
            }
            None => self.other.as_ref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(upstream: &str, asked: &str) -> String {
        let upstream: Upstream = upstream.parse().expect("an address");
        upstream.address(&asked.parse().expect("a path")).expect("an address").to_string()
    }

    #[test]
    fn the_version_stands_once() {
        for (upstream, asked, there) in [
            ("https://a", "/v1/messages?beta=true", "https://a/v1/messages?beta=true"),
            ("https://a/", "/chat/completions", "https://a/v1/chat/completions"),
            ("https://a/v1", "/v1/responses", "https://a/v1/responses"),
            ("https://a/v1/", "/responses", "https://a/v1/responses"),
            ("http://a:8/api/v1", "/v1/chat/completions", "http://a:8/api/v1/chat/completions"),
            ("https://a/backend-api/codex", "/responses", "https://a/backend-api/codex/responses"),
            (
                "https://a/backend-api/codex",
                "/backend-api/codex/models",
                "https://a/backend-api/codex/models",
            ),
            ("https://a", "/backend-api/codex/responses", "https://a/backend-api/codex/responses"),
            (
                "https://a",
                "/model/anthropic.c%3A0/invoke",
                "https://a/model/anthropic.c%3A0/invoke",
            ),
            (
                "https://a",
                "/v1beta/models/m:countTokens?key=k",
                "https://a/v1beta/models/m:countTokens?key=k",
            ),
            ("https://a", "/api/x%2Fy", "https://a/api/x%2Fy"),
            ("https://a", "/m%65ssages", "https://a/v1/m%65ssages"),
            ("https://a/v1", "/%76%31/m%65ssages?b=%20", "https://a/v1/m%65ssages?b=%20"),
            (
                "https://a/backend-api/codex",
                "/backend%2Dapi/codex/r%65sponses",
                "https://a/backend-api/codex/r%65sponses",
            ),
        ] {
            assert_eq!(at(upstream, asked), there);
        }
    }

    #[test]
    fn upstreams_are_named_or_public() {
        let shown = |named: &[&str]| {
            let upstreams = Upstreams::of(named).expect("addresses");
            upstreams.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let (anthropic, openai, gemini) = (
            "https://api.anthropic.com",
            "https://api.openai.com",
            "https://generativelanguage.googleapis.com",
        );
        assert_eq!(shown(&[]), format!("{anthropic} {openai} {gemini}"));
        assert_eq!(
            shown(&["openai=http://localhost:1/v1/"]),
            format!("{anthropic} http://localhost:1/v1 {gemini}")
        );
        assert_eq!(shown(&["http://localhost:1"]), "http://localhost:1");
        assert_eq!(
            shown(&["gemini=https://g", "http://localhost:1"]),
            "http://localhost:1 https://g"
        );
        for (named, why) in [
            (vec!["mistral=https://m"], UpstreamError::Provider("mistral".to_owned())),
            (vec!["https://u:secret@m"], UpstreamError::Address("m".to_owned())),
            (vec!["https://m?key=secret"], UpstreamError::Address("https://m".to_owned())),
            (vec!["ftp://m"], UpstreamError::Address("ftp://m".to_owned())),
            (vec!["m"], UpstreamError::Address("m".to_owned())),
            (vec!["https://m", "https://n"], UpstreamError::Twice("everything".to_owned())),
        ] {
            assert_eq!(Upstreams::of(named).expect_err("no upstreams"), why);
        }
    }

    #[test]
    fn public_and_named_upstreams_compact_natively() {
        let has = |named: &[&str], said: &[Provider]| {
            let upstreams = Upstreams::of(named).expect("addresses").compacting(said.to_vec());
            Provider::ALL.map(|provider| upstreams.has_native(Some(provider), "/v1/messages"))
        };
        let v1 = "openai=https://api.openai.com/v1";
        assert_eq!(has(&[], &[]), [true, true, true]);
        assert_eq!(has(&["https://gateway.example"], &[]), [false, false, false]);
        assert_eq!(has(&["https://gateway.example", v1], &[]), [false, true, false]);
        assert_eq!(has(&["https://gateway.example"], &[Provider::Anthropic]), [true, false, false]);
    }

    #[test]
    fn what_goes_in_the_clear_names_its_host() {
        let host = |url: &str| {
            url.parse::<Upstream>().expect("an address").plain_host().map(str::to_owned)
        };
        assert_eq!(host("http://models.example:8080/v1"), Some("models.example".to_owned()));
        assert_eq!(host("http://[fd00::1]:80"), Some("fd00::1".to_owned()));
        for near in
            ["http://localhost:1", "http://127.0.0.1", "http://[::1]:9", "https://models.example"]
        {
            assert_eq!(host(near), None);
        }
    }
}
