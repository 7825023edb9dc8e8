//! What a shell command does, understood as far as file names go: enough for an index, not a shell.

mod program;
mod script;
mod words;

use std::ops::Range;

pub(super) use program::asks_program;

use crate::word_list::words;
use words::{Line, Segment, Word};

/// Bytes of a command that are looked at.
const MAX_SEEN: usize = 2 * 1024;

/// What happens to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Read,
    Write,
    Edit,
    Delete,
    Search,
}

/// What a command does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    /// The files named in it, in order, below the folder that it goes to first.
    pub(crate) deeds: Vec<(Deed, String)>,
    /// Whether it changes, builds or runs something, rather than only looking.
    pub(crate) acts: bool,
    /// Where the commands that do stand in the line, in order.
    pub(crate) acting: Vec<Range<usize>>,
}

impl Command {
    /// Understands a command line.
    pub(crate) fn read(line: &str) -> Self {
        let seen = crate::text::cut::head(line, MAX_SEEN);
        let mut command = Self { acts: seen.len() < line.len(), ..Self::default() };
        command.acting = command.line(seen, String::new());
        command
    }

    /// Takes in a line; where those of its commands stand that act.
    fn line(&mut self, line: &str, mut folder: String) -> Vec<Range<usize>> {
        let Line { segments, substituted, is_odd } = Line::read(line);
        let says = |word: &Word| matches!(word, Word::Text(text) if !text.is_empty());
        // Of what isn't understood nobody knows that it only looks.
        self.acts |= is_odd
            || !line.trim().is_empty()
                && substituted.is_empty()
                && !segments.iter().flat_map(|segment| &segment.words).any(says);
        let mut acting = Vec::new();
        for Segment { words, span } in segments {
            if self.segment(words, &mut folder) {
                acting.push(span);
            }
        }
        let acted = std::mem::take(&mut self.acts);
        for line in substituted {
            self.line(&line, folder.clone());
        }
        let is_whole = is_odd || self.acts;
        self.acts |= acted;
        if is_whole { std::iter::once(0..line.len()).collect() } else { acting }
    }

    /// Takes in a simple command; whether it acts.
    fn segment(&mut self, segment: Vec<Word>, folder: &mut String) -> bool {
        let acted = std::mem::take(&mut self.acts);
        let mut words = Vec::with_capacity(segment.len());
        let mut segment = segment.into_iter();
        while let Some(word) = segment.next() {
            let Word::Into(into) = word else {
                words.extend(word.text().filter(|text| !text.is_empty()));
                continue;
            };
            let target = segment.next().and_then(Word::text).unwrap_or_default();
            if let Some(deed) = into
                && !STREAMS.contains(&&*target)
                && !target.starts_with("/dev/fd/")
            {
                self.acts = true;
                self.deed(deed, &target, folder);
            }
        }
        let at = words.iter().position(|word| !is_prefix(word)).unwrap_or(words.len());
        self.runs(&words[..at], &words[at..], folder);
        let acts = self.acts;
        self.acts |= acted;
        acts
    }

    /// A program with its words, and what stands `before` it.
    fn runs(&mut self, before: &[String], words: &[String], folder: &mut String) {
        self.acts |= before.iter().filter_map(|word| assigned(word)).any(may_steer);
        let [program, rest @ ..] = words else { return };
        let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
        if before.iter().any(|word| word == "command") && before.iter().any(|word| asks_where(word))
        {
            return;
        }
        match program.rsplit_once('/') {
            None => self.program(program, &rest, folder),
            Some((place, name)) if PLACES.contains(&place) => self.program(name, &rest, folder),
            // Whatever it is called: `./test`.
            Some(_) => self.acts = true,
        }
    }

    fn deed(&mut self, deed: Deed, word: &str, folder: &str) {
        if is_path(word) && self.deeds.len() < 32 {
            self.deeds.push((deed, join(word, folder)));
        }
    }
}

/// What is written there changes nothing.
const STREAMS: [&str; 6] =
    ["/dev/null", "/dev/full", "/dev/tty", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

/// Folders whose programs are what they are called.
const PLACES: [&str; 7] = words!(
    "/bin /sbin /usr/bin /usr/sbin /usr/local/bin /opt/homebrew/bin /run/current-system/sw/bin"
);

/// Programs that run another, and words of the shell before one. `nohup` isn't among them: it writes a file.
const PREFIXES: [&str; 12] =
    ["sudo", "env", "time", "timeout", "command", "xargs", "then", "else", "do", "if", "for", "!"];

/// What stands before a program: assignments, and programs that run another.
fn is_prefix(word: &str) -> bool {
    PREFIXES.contains(&word)
        || assigned(word).is_some()
        || word.bytes().all(|b| b.is_ascii_digit())
        || word.starts_with('-')
}

/// The name and the value of an assignment.
fn assigned(word: &str) -> Option<(&str, &str)> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    word.split_once('=').filter(|(name, _)| is_name(name))
}

/// Whether a variable may make programs do other things: `LD_PRELOAD=./a.so`, `PAGER=./a`. POSIX keeps names with a small letter
/// free of meaning for its programs. A number, nothing, `cat` and a locale name no other file.
fn may_steer((name, value): (&str, &str)) -> bool {
    let is_plain = |c: char| c.is_ascii_digit() || c == '.';
    let is_locale = name.starts_with("LC_") || matches!(name, "LANG" | "LANGUAGE" | "TZ" | "TERM");
    !name.contains(|c: char| c.is_ascii_lowercase())
        && !is_locale
        && !value.chars().all(is_plain)
        && value != "cat"
}

/// Whether `command` only asks where a program is: `-v`, `-V`.
fn asks_where(flag: &str) -> bool {
    matches!(flag, "-v" | "-V")
}

/// Whether a word names one file, as far as it can be seen.
fn is_path(word: &str) -> bool {
    let odd =
        |c: char| c.is_whitespace() || c.is_control() || "*?{}$`|&;<>()[]!\"'\\=,:^".contains(c);
    (2..200).contains(&word.len())
        && !word.contains(odd)
        && !word.starts_with("/dev/")
        && word.bytes().any(|b| b.is_ascii_alphabetic())
        && word.contains(['.', '/'])
        && !word.ends_with(['/', '.'])
}

fn join(word: &str, folder: &str) -> String {
    let word = word.strip_prefix("./").unwrap_or(word);
    if folder.is_empty() || word.starts_with(['/', '~']) {
        word.to_owned()
    } else {
        format!("{}/{word}", folder.trim_end_matches('/'))
    }
}

#[cfg(test)]
mod tests;
