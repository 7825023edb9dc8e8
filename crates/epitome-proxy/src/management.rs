//! Who may look at what the proxy keeps of conversations.

use std::borrow::Cow;
use std::fmt;

use http::HeaderMap;
use http::header::{AUTHORIZATION, COOKIE};
use percent_encoding::percent_decode;

use crate::credential::credentials;

/// The word that opens the proxy's pages of management. Only a digest of it is kept.
#[derive(Clone)]
pub struct ManagementToken(blake3::Hash);

impl ManagementToken {
    /// Opened by this word.
    pub fn new(word: &str) -> Self {
        ManagementToken(blake3::hash(word.as_bytes()))
    }

    /// A word that nobody can guess.
    pub fn drawn() -> String {
        let mut bytes = [0; 16];
        let rng = rustls::crypto::ring::default_provider().secure_random;
        rng.fill(&mut bytes).expect("the system gives random bytes");
        bytes.iter().fold(String::new(), |word, byte| format!("{word}{byte:02x}"))
    }

    /// Whether a request has it: as a password, whoever the user is, or as a bearer's token.
    pub(crate) fn is_in(&self, headers: &HeaderMap) -> bool {
        let said = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let Some((scheme, rest)) = said.and_then(|said| said.split_once(' ')) else { return false };
        let word = if scheme.eq_ignore_ascii_case("bearer") {
            Some(rest.trim().as_bytes().to_vec())
        } else if scheme.eq_ignore_ascii_case("basic") {
            let decoded = decoded(rest.trim());
            decoded
                .and_then(|it| Some(it[it.iter().position(|byte| *byte == b':')? + 1..].to_vec()))
        } else {
            None
        };
        word.is_some_and(|word| self.is(&word))
    }

    /// Whether a request has it anywhere that a credential may stand. It opens nothing there, but nobody else may see it.
    pub(crate) fn is_anywhere_in(&self, headers: &HeaderMap, query: Option<&str>) -> bool {
        let cookies = headers.get_all(COOKIE).iter().flat_map(|all| all.as_bytes().split(is(b';')));
        let cookies = cookies.filter_map(|cookie| cookie.splitn(2, is(b'=')).nth(1));
        let found = credentials(headers, query);
        // Parameters and cookies are escaped, headers as they are.
        let is_said = |value| {
            self.is_said_in(value) || self.is_said_in(&Cow::<[u8]>::from(percent_decode(value)))
        };
        found.iter().map(|(_, value)| *value).chain(cookies).any(is_said)
    }

    /// Whether a value is the word: bare, behind the name of a scheme, or as one half of what `Basic` has.
    fn is_said_in(&self, value: &[u8]) -> bool {
        let value = value.trim_ascii();
        let word = value.splitn(2, is(b' ')).last().unwrap_or_default().trim_ascii();
        let basic = str::from_utf8(word).ok().and_then(decoded).unwrap_or_default();
        [value, word].into_iter().chain(basic.splitn(2, is(b':'))).any(|word| self.is(word))
    }

    /// Digests are compared in constant time.
    fn is(&self, word: &[u8]) -> bool {
        blake3::hash(word) == self.0
    }
}

impl fmt::Debug for ManagementToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ManagementToken")
    }
}

fn is(this: u8) -> impl Fn(&u8) -> bool {
    move |byte| *byte == this
}

/// What a text in Base64 says (RFC 4648).
fn decoded(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let (mut bytes, mut held, mut bits) = (Vec::new(), 0_u32, 0);
    for byte in text.bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        held = held << 6 | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits) as u8);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn only_the_word_itself_opens() {
        let token = ManagementToken::new("sesame");
        let opens = |value: &'static str| {
            token.is_in(&HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static(value))]))
        };
        // `:sesame`, and `me:sesame`.
        for value in ["Bearer sesame", "bearer sesame", "Basic OnNlc2FtZQ==", "basic bWU6c2VzYW1l"]
        {
            assert!(opens(value), "{value}");
        }
        // Of the last ones one says `sesame` alone, and one has another word.
        for value in [
            "sesame",
            "Bearer",
            "Bearer ",
            "Bearer sesam",
            "Basic !",
            "Basic c2VzYW1l",
            "Basic bWU6c2VzYW0=",
        ] {
            assert!(!opens(value), "{value}");
        }
        assert!(!token.is_in(&HeaderMap::new()));
    }

    #[test]
    fn the_token_is_found_in_any_place_of_a_credential() {
        let token = ManagementToken::new("se same");
        let is_known = |name: &'static str, value: &'static str, query: Option<&str>| {
            let headers = [(name, value)].map(|(name, value)| {
                (HeaderName::from_static(name), HeaderValue::from_static(value))
            });
            token.is_anywhere_in(&HeaderMap::from_iter(headers), query)
        };
        // `se same:`, and `me:se same`.
        for (name, value) in [
            ("authorization", "Bearer se same"),
            ("authorization", "se same"),
            ("authorization", "Basic c2Ugc2FtZTo="),
            ("proxy-authorization", "Basic bWU6c2Ugc2FtZQ=="),
            ("x-api-key", "se same"),
            ("x-goog-api-key", " se same "),
            ("api-key", "se%20same"),
            ("cookie", "a=b; session=se same"),
        ] {
            assert!(is_known(name, value, None), "{name}: {value}");
        }
        assert!(is_known("accept", "*/*", Some("alt=sse&key=se%20same")));
        // A word that looks escaped.
        let odd = HeaderMap::from_iter([(AUTHORIZATION, HeaderValue::from_static("Bearer a%41b"))]);
        assert!(ManagementToken::new("a%41b").is_anywhere_in(&odd, None));
        for value in ["se sam", "Bearer", "same", "Basic !", ""] {
            assert!(!is_known("x-api-key", value, Some("key=")), "{value}");
        }
        assert!(!is_known("x-said", "se same", Some("alt=se%20same")));
    }
}
