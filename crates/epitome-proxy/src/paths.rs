//! Paths of requests, in which segments are compared as they read, and forwarded as they came.

use epitome_tower::plain_path;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

/// Characters of a name, besides letters and digits, that are allowed in a path.
pub(crate) const IN_PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What Codex asks where its user is known by a login.
pub(crate) const CODEX: &str = "/backend-api/codex/";

/// Whether a path is one of these.
pub(crate) fn is_of_codex(path: &str) -> bool {
    plain_path(path).starts_with(CODEX)
}

/// Whether a plain path is one of the version, without it.
pub(crate) fn is_bare(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    ["messages", "chat", "responses", "models", "embeddings", "completions"].contains(&first)
}

/// What stands behind the beginning of a path, as it came: an escaped beginning is one, too.
pub(crate) fn behind<'a>(path: &'a str, beginning: &str) -> Option<&'a str> {
    let length = beginning.matches('/').count();
    let (end, _) = path.match_indices('/').nth(length)?;
    (plain_path(&path[..end]) == beginning).then(|| &path[end..])
}

/// What stands before the end of a path, as it came.
pub(crate) fn before<'a>(path: &'a str, end: &str) -> Option<&'a str> {
    let length = end.matches('/').count();
    let (begin, _) = path.rmatch_indices('/').nth(length.checked_sub(1)?)?;
    (plain_path(&path[begin..]) == end).then(|| &path[..begin])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cut_as_it_reads_and_keeps_its_bytes() {
        for (path, beginning, rest) in [
            ("/v1/a%20b", "/v1", Some("/a%20b")),
            ("/%76%31/messages", "/v1", Some("/messages")),
            ("/v1", "/v1", None),
            ("/v1beta/messages", "/v1", None),
            ("/v1%2Fmessages/x", "/v1", None),
            ("/backend%2Dapi/codex/x/y", "/backend-api/codex", Some("/x/y")),
        ] {
            assert_eq!(behind(path, beginning), rest, "{path}");
        }
        for (path, end, rest) in [
            ("/a%20b/m%65ssages", "/messages", Some("/a%20b")),
            ("/messages", "/messages", Some("")),
            ("/v1/chat/c%6Fmpletions", "/chat/completions", Some("/v1")),
            ("/completions", "/chat/completions", None),
            ("/x/messages/", "/messages", None),
        ] {
            assert_eq!(before(path, end), rest, "{path}");
        }
    }
}
