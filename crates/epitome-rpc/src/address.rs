//! Where a compactor is: `URL#NAME`.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use tonic::transport::Uri;

/// A server, and the name of one of its compactors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// `http://HOST:PORT` or `https://HOST:PORT`.
    base: String,
    name: String,
}

/// Why an address is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadAddress {
    /// `URL` or `URL#`.
    #[error("the address names no compactor: URL#NAME")]
    NoName,
    /// `#NAME`.
    #[error("the address is missing: URL#NAME")]
    NoAddress,
    /// Neither `http://HOST:PORT`, `https://HOST:PORT` nor `HOST:PORT`.
    #[error("`{0}` isn't an address such as http://127.0.0.1:50051")]
    Malformed(String),
    /// What is trusted, or the system's own list of that, can't be read.
    #[error("TLS to {address}: {error}")]
    Tls {
        /// The address.
        address: String,
        /// What is wrong.
        error: String,
    },
    /// The CA file holds no certificate.
    #[error("the CA file contains no PEM certificate")]
    NoAuthority,
    /// A token would be readable on the way.
    #[error("the token isn't sent to {0}, which isn't this machine, without TLS (https://…)")]
    TokenInTheClear(String),
}

impl Address {
    /// The name of the compactor.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `http://HOST:PORT` or `https://HOST:PORT`.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Whether what is said on the way is encrypted, and who answers is proven.
    pub fn is_tls(&self) -> bool {
        self.base.starts_with("https://")
    }

    /// Whether it is of this machine.
    pub fn is_local(&self) -> bool {
        let uri: Option<Uri> = self.base.parse().ok();
        let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        let (base, name) = text.rsplit_once('#').ok_or(BadAddress::NoName)?;
        let (base, name) = (base.trim_end_matches('/'), name.trim());
        if base.is_empty() {
            return Err(BadAddress::NoAddress);
        }
        if name.is_empty() {
            return Err(BadAddress::NoName);
        }
        let base = if base.contains("://") { base.to_owned() } else { format!("http://{base}") };
        // A malformed address may hold keys and passwords.
        let shown = || {
            let place = base.rsplit('@').next().unwrap_or_default();
            place.split('?').next().unwrap_or_default().to_owned()
        };
        let uri: Uri = base.parse().map_err(|_| BadAddress::Malformed(shown()))?;
        let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
        match uri.scheme_str() {
            Some("http" | "https")
                if uri.port().is_some()
                    && uri.path() == "/"
                    && uri.query().is_none()
                    && !authority.contains('@') =>
            {
                Ok(Address { base, name: name.to_owned() })
            }
            _ => Err(BadAddress::Malformed(shown())),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.base, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_a_server_and_a_compactor() {
        for (text, base, is_local) in [
            ("http://127.0.0.1:50051#mine", "http://127.0.0.1:50051", true),
            ("localhost:1/#mine", "http://localhost:1", true),
            ("http://[::1]:7#mine", "http://[::1]:7", true),
            ("http://LOCALHOST:5#mine", "http://LOCALHOST:5", true),
            ("http://10.0.0.7:50051#mine", "http://10.0.0.7:50051", false),
            ("https://10.0.0.7:50051#mine", "https://10.0.0.7:50051", false),
        ] {
            let address: Address = text.parse().expect(text);
            assert_eq!((address.base(), address.name()), (base, "mine"), "{text}");
            assert_eq!(address.is_local(), is_local, "{text}");
        }
        for (text, error) in [
            ("http://127.0.0.1:50051", BadAddress::NoName),
            ("http://127.0.0.1:50051#", BadAddress::NoName),
            ("#mine", BadAddress::NoAddress),
            ("http://here#mine", BadAddress::Malformed("http://here".to_owned())),
            ("http://me:pw@h:1#mine", BadAddress::Malformed("h:1".to_owned())),
            ("http://h:1/?key=sekrit#mine", BadAddress::Malformed("http://h:1/".to_owned())),
            ("http://h:1?key=sekrit#mine", BadAddress::Malformed("http://h:1".to_owned())),
            ("ftp://h:1#mine", BadAddress::Malformed("ftp://h:1".to_owned())),
        ] {
            assert_eq!(text.parse::<Address>(), Err(error), "{text}");
        }
    }
}
