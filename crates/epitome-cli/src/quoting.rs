//! Words for a shell, and the names of files as a person may be shown them.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use crate::unseen::is_unseen;

/// A word on a command line, quoted where a shell needs it. Invisible characters are spelled out (`$'a\nb'`, which
/// bash, zsh, ksh and POSIX since 2024 read), so that nobody pastes text that they didn't read.
pub(crate) fn shell(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:,@%".contains(c);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.chars().all(plain) => text.to_owned(),
        Some(text) if !text.contains(is_unseen) => format!("'{}'", text.replace('\'', r"'\''")),
        _ => spelled(word.as_encoded_bytes()),
    }
}

/// What was read, for a reader.
pub(crate) fn shown(file: Option<&Path>) -> String {
    file.map_or_else(|| "stdin".to_owned(), name)
}

/// A file on a command line; none is taken for an option.
pub(crate) fn operand(file: impl AsRef<OsStr>) -> String {
    let quoted = shell(&file);
    let is_option = file.as_ref().as_encoded_bytes().starts_with(b"-");
    if is_option { format!("./{quoted}") } else { quoted }
}

/// A file in a command that is proposed; `FILE` stands for what came from stdin.
pub(crate) fn proposed(file: Option<&Path>) -> String {
    file.filter(|file| *file != "-").map_or_else(|| "FILE".to_owned(), operand)
}

/// A file's name for a reader: as it is, or quoted where that would show something else.
pub(crate) fn name(file: &Path) -> String {
    match file.to_str() {
        Some(text) if !text.contains(is_unseen) => text.to_owned(),
        _ => shell(file),
    }
}

fn spelled(bytes: &[u8]) -> String {
    let mut out = String::from("$'");
    let octal = |out: &mut String, bytes: &[u8]| {
        for byte in bytes {
            write!(out, "\\{byte:03o}").expect("a string takes all");
        }
    };
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                '\'' | '\\' => out.extend(['\\', c]),
                c if is_unseen(c) => octal(&mut out, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => out.push(c),
            }
        }
        octal(&mut out, chunk.invalid());
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_read_quoted_words() {
        assert_eq!(shell("a/b-1.json"), "a/b-1.json");
        assert_eq!(shell("it's here"), r"'it'\''s here'");
        assert_eq!(shell(""), "''");
        assert_eq!(shell("$(id)"), "'$(id)'");
        assert_eq!(shell("a\nb'\\\u{1b}[2J\u{202e}é"), r"$'a\nb\'\\\033[2J\342\200\256é'");
    }

    #[test]
    fn files_are_never_options() {
        assert_eq!(operand("-rf"), "./-rf");
        assert_eq!(operand("a b"), "'a b'");
    }

    #[cfg(unix)]
    #[test]
    fn names_show_what_they_are() {
        use std::os::unix::ffi::OsStrExt as _;
        assert_eq!(name(Path::new("mein Gespräch.json")), "mein Gespräch.json");
        assert_eq!(name(Path::new("x\nerror: y")), r"$'x\nerror: y'");
        assert_eq!(name(Path::new(OsStr::from_bytes(b"caf\xe9"))), r"$'caf\351'");
    }
}
