//! A bearer token that nothing prints.

/// A token. It has no `Display`, and its `Debug` doesn't show it.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token from the environment or a file, without the white space around it; `None` if it is empty, or if no
    /// header can carry it.
    pub fn new(token: impl AsRef<str>) -> Option<Self> {
        let token = token.as_ref().trim();
        let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
        (!token.is_empty() && is_plain).then(|| Token(token.to_owned()))
    }

    pub(crate) fn header(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Whether `header` bears it. Digests are compared, so that the time tells nothing of it.
    pub(crate) fn is_borne_by(&self, header: &[u8]) -> bool {
        blake3::hash(self.header().as_bytes()) == blake3::hash(header)
    }

    /// `text` without it.
    pub(crate) fn left_out_of(&self, text: &str) -> String {
        text.replace(&self.0, "[token]")
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_compared_whole_and_never_shown() {
        let token = Token::new(" s3cret\n").expect("it is one");
        assert!(token.is_borne_by(b"Bearer s3cret"));
        for other in [&b"Bearer s3cre"[..], b"Bearer s3crets", b"s3cret", b""] {
            assert!(!token.is_borne_by(other));
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
        assert!(Token::new("  ").is_none() && Token::new("a b").is_none());
    }
}
