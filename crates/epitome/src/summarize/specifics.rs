//! What can be looked up in a text: paths, addresses, ids, numbers. A summary may state no other.

use std::collections::HashSet;

/// What a source says, for looking up.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Runs of letters and digits, lower case; and of numbers their digits alone.
    atoms: HashSet<String>,
    /// All of it, lower case.
    text: String,
}

/// Something to be looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Specific<'a> {
    /// A path or an address.
    Path(&'a str),
    /// An id: letters and digits.
    Id(&'a str),
    /// Digits of a number.
    Number(String),
}

impl Known {
    pub(super) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut known = Known::default();
        for text in texts {
            for word in words(text) {
                known.learn(word);
            }
            known.text.push_str(&text.to_lowercase());
            known.text.push('\n');
        }
        known
    }

    fn learn(&mut self, word: &str) {
        for atom in word.split(|c: char| !c.is_alphanumeric()).filter(|atom| has_digit(atom)) {
            self.atoms.insert(atom.to_lowercase());
            self.atoms.extend(digits(atom).map(str::to_owned));
        }
        // 12,345 and 12_345 are 12345.
        let number: String = word.chars().filter(|c| !matches!(c, ',' | '_' | '\'')).collect();
        if number != word {
            self.atoms.extend(digits(&number).map(str::to_owned));
        }
    }

    /// What `text` states and isn't here, each once, in order.
    pub(super) fn lacks<'a>(&self, text: &'a str) -> Vec<&'a str> {
        let mut missing = Vec::new();
        for word in words(text) {
            let is_known = specifics(word).iter().all(|specific| self.has(specific));
            if !is_known && !missing.contains(&word) {
                missing.push(word);
            }
        }
        missing
    }

    fn has(&self, specific: &Specific<'_>) -> bool {
        match specific {
            Specific::Path(path) => {
                let path = path.trim_start_matches("./").to_lowercase();
                self.text.contains(path.trim_end_matches('/'))
            }
            Specific::Id(id) => {
                let mut atoms =
                    id.split(|c: char| !c.is_alphanumeric()).filter(|atom| has_digit(atom));
                atoms.all(|atom| self.atoms.contains(&atom.to_lowercase()))
            }
            Specific::Number(digits) => self.atoms.contains(digits),
        }
    }
}

fn has_digit(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
}

fn digits(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty())
}

/// What white space, quotes and brackets part, without the marks of a sentence around it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '`' | '"'
                    | '('
                    | ')'
                    | '['
                    | ']'
                    | '{'
                    | '}'
                    | '<'
                    | '>'
                    | '|'
                    | ';'
                    | '='
                    | '“'
                    | '”'
                    | '→'
                    | '…'
                    | '*'
            )
    };
    text.split(parts)
        .map(|word| word.trim_start_matches(|c| c != '.' && is_mark(c)).trim_end_matches(is_mark))
        .filter(|word| !word.is_empty())
}

fn is_mark(c: char) -> bool {
    matches!(c, ',' | '.' | ':' | '!' | '?' | '\'' | '’' | '#')
}

fn specifics(word: &str) -> Vec<Specific<'_>> {
    if is_path(word) {
        // What follows a colon is a line, and a number by itself.
        let (path, line) = match word.rsplit_once(':') {
            Some((path, line)) if line.bytes().all(|b| b.is_ascii_digit()) => (path, Some(line)),
            _ => (word, None),
        };
        let line = line.map(|line| Specific::Number(line.to_owned()));
        return std::iter::once(Specific::Path(path)).chain(line).collect();
    }
    let alphanumeric = word.chars().filter(|c| c.is_alphanumeric()).count();
    let count = word.bytes().filter(u8::is_ascii_digit).count();
    if count >= 2 && count < alphanumeric && alphanumeric >= 6 {
        return vec![Specific::Id(word)];
    }
    // A single digit counts or lists something, as often as it is a value.
    let number: String = word.chars().filter(|c| !matches!(c, ',' | '_' | '\'')).collect();
    let long = digits(&number).filter(|run| run.len() >= 2);
    long.map(|run| Specific::Number(run.to_owned())).collect()
}

/// `src/main.rs`, `/etc`, `./x`, `https://…`, `main.rs`; not `and/or`, `e.g`.
fn is_path(word: &str) -> bool {
    if word.contains("://") {
        return true;
    }
    let name = word.rsplit('/').next().unwrap_or(word);
    let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        let extension = extension.split(':').next().unwrap_or(extension);
        stem.len() >= 2
            && (1..=5).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && extension.bytes().any(|b| b.is_ascii_lowercase())
    });
    let is_rooted = ["/", "./", "../", "~/"].iter().any(|root| {
        word.strip_prefix(root).is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
    });
    let slashes = word.matches('/').count();
    has_extension || is_rooted || slashes >= 2 && !word.contains("//")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_source_says_is_known() {
        let known = Known::of(
            ["Edited src/parser.rs:42, 12,345 tokens; commit 9f86d081; call_a1b2c3; port 5432, v1.2.30"].into_iter(),
        );
        for said in [
            "parser.rs is done, and/or tests; e.g. client/server",
            "src/parser.rs:42 ./src/parser.rs",
            "12345 tokens on port 5432; 3 files, 2. second",
            "9f86d081 call_a1b2c3 1.2.30",
        ] {
            assert_eq!(known.lacks(said), Vec::<&str>::new(), "{said}");
        }
    }

    #[test]
    fn what_it_does_not_say_is_found() {
        let known = Known::of(["Edited src/parser.rs, port 5432, commit 9f86d081"].into_iter());
        for invented in [
            "src/lexer.rs",
            "/etc/passwd",
            "5433",
            "9f86d082",
            "https://example.com/x",
            "parser.rs:17",
        ] {
            assert_eq!(known.lacks(&format!("It is `{invented}`.")), [invented]);
        }
    }
}
