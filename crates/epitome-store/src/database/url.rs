//! Addresses of servers, as they may be shown.

/// A URL with its password left out.
pub fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    // Whatever a password has in it: signs that end a host elsewhere too.
    let (user, path) = rest.split_at(rest.rfind('@').map_or(0, |at| at + 1));
    let user = match user.split_once(':') {
        Some((user, _)) => format!("{user}@"),
        None => user.to_owned(),
    };
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let kept: Vec<&str> = query
        .split('&')
        .filter(|one| !one.is_empty() && !one.to_ascii_lowercase().starts_with("password"))
        .collect();
    let mark = if kept.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{path}{mark}{}", kept.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let shown = [
            ("postgres://me:secret@db.example/app", "postgres://me@db.example/app"),
            ("postgres://me:a@b@db.example/app?x=1", "postgres://me@db.example/app?x=1"),
            ("postgres://me:p/w@db/app", "postgres://me@db/app"),
            ("postgres://me:p?sslmode=w@db/app", "postgres://me@db/app"),
            ("postgresql:///app?host=/run&password=secret", "postgresql:///app?host=/run"),
            ("postgres://localhost", "postgres://localhost"),
        ];
        for (url, expected) in shown {
            assert_eq!(without_password(url), expected);
        }
    }
}
