//! What can be looked up in a text: paths, addresses, ids, numbers. A summary may state no other.

use std::borrow::Cow;
use std::collections::HashSet;

use super::quotes::{is_said, plain, quotes};
use crate::text::cut;
use crate::word_list::words;

/// A source, searchable.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Runs of letters and digits, lower case; and of numbers their digits alone.
    atoms: HashSet<String>,
    /// The whole text, in lower case.
    text: String,
    /// Its words, for quotations.
    words: String,
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
            // Colors of terminals stand right before words.
            let text = cut::visible(text);
            let text = in_ascii_digits(&text);
            words(&text).for_each(|word| known.learn(word));
            // What JSON writes for the end of a line isn't part of the word behind it.
            if text.contains('\\') {
                let lines = ["\\n", "\\t", "\\r"];
                let parted =
                    lines.iter().fold(text.to_string(), |text, line| text.replace(line, " "));
                words(&parted).for_each(|word| known.learn(word));
            }
            known.words.push_str(&plain(&text));
            known.text.push_str(&text.to_lowercase().replace("\\\\", "\\"));
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

    /// Specifics of `text` that aren't in the source, and quotations without a source; each once, in order.
    pub(super) fn lacks(&self, text: &str) -> Vec<String> {
        let mut missing: Vec<String> = Vec::new();
        let ascii = in_ascii_digits(text);
        for word in words(&ascii) {
            let is_known = specifics(word).iter().all(|specific| self.has(specific));
            if !is_known && !missing.iter().any(|one| one == word) {
                missing.push(word.to_owned());
            }
        }
        let unsaid = quotes(&ascii).into_iter().filter(|quote| !is_said(quote, &self.words));
        missing.extend(unsaid.map(|quote| format!("\"{quote}\"")));
        missing
    }

    fn has(&self, specific: &Specific<'_>) -> bool {
        match specific {
            Specific::Path(path) => {
                let path = path.to_lowercase().replace("\\\\", "\\");
                let path = path.trim_start_matches("./").trim_end_matches(['/', '\\']);
                // `lexer.rs/parser.rs` are two.
                let both = || path.split('/').all(|part| has_extension(part) && self.names(part));
                self.names(path) || both()
            }
            Specific::Id(id) => {
                let mut atoms =
                    id.split(|c: char| !c.is_alphanumeric()).filter(|atom| has_digit(atom));
                atoms.all(|atom| self.atoms.contains(&atom.to_lowercase()))
            }
            Specific::Number(digits) => self.atoms.contains(digits),
        }
    }

    /// Whether the path stands in it, and isn't only the end or the beginning of another name.
    fn names(&self, path: &str) -> bool {
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
        let found = self.text.match_indices(path).any(|(at, _)| {
            let (before, after) = (&self.text[..at], &self.text[at + path.len()..]);
            let last = before.strip_suffix(['n', 't', 'r']);
            let is_escape = last.is_some_and(|before| before.ends_with('\\'));
            let begins = !path.starts_with(is_name) || is_escape || !before.ends_with(is_name);
            begins && !(path.ends_with(is_name) && after.starts_with(is_name))
        });
        // A path that is all marks says nothing.
        found || !path.contains(char::is_alphanumeric)
    }
}

/// The text with the digits of all scripts as ASCII digits.
fn in_ascii_digits(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.chars().any(|c| ascii_digit(c).is_some()) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| ascii_digit(c).unwrap_or(c)).collect::<String>().into()
}

/// Where the digits of other scripts begin: each has ten in a row.
const ZEROS: [u32; 24] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50,
    0xed0, 0xf20, 0x1040, 0x17e0, 0x1810, 0xff10, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6,
];

fn ascii_digit(c: char) -> Option<char> {
    let value =
        ZEROS.iter().map(|zero| u32::from(c).wrapping_sub(*zero)).find(|value| *value < 10)?;
    char::from_digit(value, 10)
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
        .map(|word| word.strip_suffix("'s").or(word.strip_suffix("’s")).unwrap_or(word))
        .filter(|word| !word.is_empty())
}

fn is_mark(c: char) -> bool {
    matches!(c, ',' | '.' | ':' | '!' | '?' | '\'' | '’' | '#')
}

fn specifics(word: &str) -> Vec<Specific<'_>> {
    if is_path(word) {
        // What follows a colon are lines, and numbers by themselves.
        let (path, lines) = match word.rsplit_once(':') {
            Some((path, lines)) if lines.bytes().all(|b| b.is_ascii_digit() || b == b'-') => {
                (path, lines)
            }
            _ => (word, ""),
        };
        let lines = digits(lines).map(|line| Specific::Number(line.to_owned()));
        return std::iter::once(Specific::Path(path)).chain(lines).collect();
    }
    let alphanumeric = word.chars().filter(|c| c.is_alphanumeric()).count();
    let count = word.bytes().filter(u8::is_ascii_digit).count();
    if count >= 2 && count < alphanumeric && alphanumeric >= 6 {
        return vec![Specific::Id(word)];
    }
    // A single digit is a count or a list number as often as a value.
    let number: String = word.chars().filter(|c| !matches!(c, ',' | '_' | '\'')).collect();
    let long = digits(&number).filter(|run| run.len() >= 2);
    long.map(|run| Specific::Number(run.to_owned())).collect()
}

/// Ends of files' names, whatever their case.
const ENDS: [&str; 103] = words!(
    "adoc apk astro bash bat bin bz2 cc cfg cjs clj cmd conf config cpp crt cs csproj css csv cxx \
     dart db deb dll docx dylib erl env exe exs fs gif go gradle graphql groovy gz hpp hs html ico \
     ini ipynb jar java jpeg jpg js json json5 jsonl jsx key kt kts less lock log lua md mdx mjs \
     ml nix parquet patch pdf pem php pl plist png properties proto ps1 pub py rb rpm rs rst sass \
     scala scss service sh sln sqlite sqlite3 sql storyboard svelte svg swift template tfvars toml \
     tsx txt vue wasm xlsx"
);
/// Ends of hosts' names, of more than five letters.
const DOMAINS: [&str; 22] = words!(
    "academy agency capital center company computer design digital domains engineering finance \
     foundation health network online services software solutions studio systems technology \
     website"
);
/// Folders at the start of many paths.
const FOLDERS: [&str; 22] = words!(
    "app apps assets bin cmd components crates dist etc include internal lib node_modules packages \
     pkg public scripts src target tmp usr vendor"
);

/// `src/main.rs`, `/etc`, `./x`, `https://…`, `main.rs`, `src/Makefile`, `me@there`; not `and/or`, `e.g`, `TCP/IP`.
fn is_path(word: &str) -> bool {
    if word.contains("://") {
        return true;
    }
    if let Some((who, host)) = word.split_once('@')
        && !who.is_empty()
        && host.contains('.')
    {
        return true;
    }
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let is_rooted = ["/", "./", "../", "~/"].iter().any(|root| {
        word.strip_prefix(root).is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
    });
    let slashes = word.matches('/').count();
    has_extension(name)
        || is_rooted
        || slashes >= 2 && !word.contains("//")
        || slashes == 1 && is_in_folder(word)
        || is_backward(word)
}

fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        let extension = extension.split(':').next().unwrap_or(extension);
        let low = extension.to_ascii_lowercase();
        let is_short = stem.len() >= 2
            && (1..=5).contains(&extension.len())
            && extension.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
            && extension.bytes().any(|b| b.is_ascii_lowercase());
        let is_known = ENDS.contains(&low.as_str()) || DOMAINS.contains(&low.as_str());
        is_short || is_known && stem.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

/// `src/lexer`, `lib/Evil`; not `his/her`, `src/tests` if both are folders that are named so.
fn is_in_folder(word: &str) -> bool {
    let Some((folder, name)) = word.split_once('/') else { return false };
    let is_known = FOLDERS.contains(&folder.to_ascii_lowercase().as_str());
    let rest = name.get(1..).unwrap_or_default();
    let is_capital = name.starts_with(|c: char| c.is_ascii_uppercase())
        && rest.len() >= 2
        && rest.bytes().any(|b| b.is_ascii_lowercase());
    let is_plain = folder.len() >= 2 && folder.bytes().all(|b| b.is_ascii_lowercase());
    is_known && name.len() >= 2 && !FOLDERS.contains(&name) || is_plain && is_capital
}

/// `C:\Windows`, `src\main`; not `\n`, `\d+`.
fn is_backward(word: &str) -> bool {
    let mut parts = word.split('\\');
    let first = parts.next().unwrap_or_default();
    let is_drive = first.len() == 2 && first.ends_with(':');
    let is_name = |part: &str| {
        part.len() >= 3 && part.chars().all(|c| c.is_alphanumeric() || "._-".contains(c))
    };
    word.contains('\\') && (is_drive || is_name(first)) && parts.any(is_name)
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
            "src/parser.rs:42-12345, parser.rs/parser.rs; parser.rs's tests",
            "port ５４３２",
            "TCP/IP, CI/CD, I/O, and/or, his/her, A/B, n/a, client/server, read/write, Linux/macOS",
            "e.g., i.e., v1.2, etc. self.counter Math.random, a regex \\d+ and \\n",
            "lib/src, bin/lib",
        ] {
            assert_eq!(known.lacks(said), Vec::<&str>::new(), "{said}");
        }
    }

    #[test]
    fn what_stands_behind_marks_of_others_is_known() {
        let source = "{\"text\":\"use\\nsrc/parser.rs\\n9f86d081 C:\\\\Temp\\\\log\"}\n\u{1b}[32msrc/lexer.rs\u{1b}[0m";
        let known = Known::of([source].into_iter());
        let said = "src/parser.rs, 9f86d081, C:\\Temp\\log, src/lexer.rs";
        assert_eq!(known.lacks(said), Vec::<&str>::new());
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
            "build.gradle",
            "App.svelte",
            "src/Dockerfile",
            "C:\\Windows\\evil",
            "evil.systems",
            "README.MD",
            "lib/Evil",
            "admin@evil.company",
            "r.rs",
            "feature/Evil",
            "src/parse",
            "ser.rs",
            "src/parser.rs/evil.rs",
            "5555",
        ] {
            assert_eq!(known.lacks(&format!("It is `{invented}`.")), [invented]);
        }
        assert_eq!(known.lacks("It is ５５５５ or ٩٠٩٠, and 5432."), ["5555", "9090"]);
        let quote =
            "He said \"edited the src/parser.rs port\", and \"edited src/parser.rs, port 5432\".";
        assert_eq!(known.lacks(quote), ["\"edited the src/parser.rs port\""]);
    }
}
