//! Where a model is asked, and how.

use std::fmt;
use std::net::IpAddr;

use epitome::Format;
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::secret::Secret;

/// Where a model is asked.
#[derive(Clone)]
pub struct Endpoint {
    /// What is spoken there.
    pub format: Format,
    /// Where, up to what the format adds: `https://api.openai.com/v1`, `https://api.anthropic.com`,
    /// `https://generativelanguage.googleapis.com`, `http://localhost:11434/v1`.
    pub base: String,
    /// The model, by the name that it has there.
    pub model: String,
    /// The key, if one is needed.
    pub key: Option<Secret>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("format", &self.format)
            .field("base", &self.base)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// An endpoint that can't be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadEndpoint {
    /// Not an address.
    #[error(
        "`{0}` isn't the address of a model server (http:// or https://, without a password, `?` or `#`)"
    )]
    Address(String),
    /// No model is named.
    #[error("no model is named")]
    NoModel,
    /// A key that no header can hold.
    #[error("the key has characters that no header can hold")]
    Key,
    /// Nobody summarises in this format.
    #[error("unsupported format: {0}")]
    Format(&'static str),
    /// The client can't be made.
    #[error("no HTTP client: {0}")]
    Client(String),
}

/// An address without what may be a secret of it: user and password, query and fragment.
fn bare(address: &str) -> String {
    let address = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
    format!("{scheme}{rest}")
}

/// Scheme, host and port of an address; `None` if it is none.
pub fn origin(address: &str) -> Option<String> {
    let origin = Url::parse(address).ok()?.origin();
    origin.is_tuple().then(|| origin.ascii_serialization())
}

/// The host of an address to which everything goes in the clear, off this machine.
pub fn plain_host(address: &str) -> Option<String> {
    let url = Url::parse(address).ok().filter(|url| url.scheme() == "http")?;
    let host = url.host_str()?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_local =
        bare == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    (!is_local).then(|| bare.to_owned())
}

impl Endpoint {
    /// The address that requests go to.
    pub(crate) fn url(&self) -> Result<Url, BadEndpoint> {
        if self.model.trim().is_empty() {
            return Err(BadEndpoint::NoModel);
        }
        let call = format!("{}:streamGenerateContent", self.model);
        let mut url = match self.format {
            Format::OpenaiChat => self.at(&["chat", "completions"]),
            Format::OpenaiResponses => self.at(&["responses"]),
            Format::Anthropic => self.at(&["v1", "messages"]),
            Format::Gemini => self.at(&["v1beta", "models", &call]),
            other => return Err(BadEndpoint::Format(other.name())),
        }?;
        if self.format == Format::Gemini {
            url.set_query(Some("alt=sse"));
        }
        Ok(url)
    }

    /// The address of the list of models.
    pub(crate) fn list_url(&self) -> Result<Url, BadEndpoint> {
        let (path, query): (&[&str], _) = match self.format {
            Format::Anthropic => (&["v1", "models"], Some("limit=1000")),
            Format::Gemini => (&["v1beta", "models"], Some("pageSize=1000")),
            _ => (&["models"], None),
        };
        let mut url = self.at(path)?;
        url.set_query(query);
        Ok(url)
    }

    /// An address under the base.
    fn at(&self, path: &[&str]) -> Result<Url, BadEndpoint> {
        let bad = || BadEndpoint::Address(bare(&self.base));
        let mut url = Url::parse(&self.base).map_err(|_| bad())?;
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none();
        if !is_plain {
            return Err(bad());
        }
        url.path_segments_mut().map_err(|()| bad())?.pop_if_empty().extend(path);
        Ok(url)
    }

    /// Whether this is OpenAI itself, which wants another name for the most tokens of an answer.
    pub(crate) fn is_openai(&self) -> bool {
        let host = Url::parse(&self.base).ok().and_then(|url| url.host_str().map(str::to_owned));
        host.is_some_and(|host| host == "openai.com" || host.ends_with(".openai.com"))
    }

    /// The headers; the key is marked as sensitive.
    pub(crate) fn headers(&self) -> Result<HeaderMap, BadEndpoint> {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        if self.format == Format::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        let Some(key) = self.key.as_ref().filter(|key| !key.is_empty()) else { return Ok(headers) };
        let (name, value) = match self.format {
            Format::Anthropic => ("x-api-key", key.shown().to_owned()),
            Format::Gemini => ("x-goog-api-key", key.shown().to_owned()),
            _ => ("authorization", format!("Bearer {}", key.shown())),
        };
        let mut value = HeaderValue::from_str(&value).map_err(|_| BadEndpoint::Key)?;
        value.set_sensitive(true);
        headers.insert(HeaderName::from_static(name), value);
        Ok(headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_the_clear_names_its_host() {
        let far = [
            "http://10.1.2.3:80/v1",
            "HTTP://models.example",
            "http:models.example",
            r"http://models.example\@localhost/v1",
            "http://[fd00::1]:80",
        ];
        assert_eq!(
            far.map(plain_host),
            ["10.1.2.3", "models.example", "models.example", "models.example", "fd00::1"]
                .map(|host| Some(host.to_owned()))
        );
        let near = [
            "http://localhost:1/v1",
            "http://127.0.0.1",
            "http://[::1]:9",
            "https://models.example/v1",
        ];
        assert_eq!(near.map(plain_host), [None, None, None, None]);
    }
}
