//! What a shell command does, understood as far as file names go: enough for an index, not a shell.

mod words;

use words::{Word, segments};

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
}

impl Command {
    /// Understands a command line.
    pub(crate) fn read(line: &str) -> Self {
        let seen = crate::text::cut::head(line, MAX_SEEN);
        let mut command = Self { acts: seen.len() < line.len(), ..Self::default() };
        command.line(seen, String::new());
        command
    }

    fn line(&mut self, line: &str, mut folder: String) {
        let (segments, substituted) = segments(line);
        let says = |word: &Word| matches!(word, Word::Text(text) if !text.is_empty());
        // Of what isn't understood nobody knows that it only looks.
        self.acts |= !line.trim().is_empty()
            && substituted.is_empty()
            && !segments.iter().flatten().any(says);
        for segment in segments {
            self.segment(segment, &mut folder);
        }
        for line in substituted {
            self.line(&line, folder.clone());
        }
    }

    fn segment(&mut self, segment: Vec<Word>, folder: &mut String) {
        let mut words = Vec::with_capacity(segment.len());
        let mut segment = segment.into_iter();
        while let Some(word) = segment.next() {
            let Word::Into(into) = word else {
                words.extend(word.text().filter(|text| !text.is_empty()));
                continue;
            };
            let Some(target) = segment.next().and_then(Word::text) else { continue };
            let is_nowhere = STREAMS.iter().any(|stream| target.starts_with(stream));
            if let Some(deed) = into
                && !target.starts_with('&')
                && !is_nowhere
            {
                self.acts = true;
                self.deed(deed, &target, folder);
            }
        }
        let mut words = words.iter().map(String::as_str);
        let Some(program) = words.find(|word| !is_prefix(word)) else { return };
        let program = program.rsplit('/').next().unwrap_or(program);
        let rest: Vec<&str> = words.collect();
        let plain = || rest.iter().copied().filter(|word| !word.starts_with('-'));
        let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(word));
        // Among short ones, up to one whose value may follow at once: `-Ei`, `-pi.bak`.
        let has_flag = |flag: char| {
            let mut short = rest.iter().filter_map(|word| word.strip_prefix('-'));
            short.any(|flags| {
                let mut flags =
                    flags.chars().take_while(|c| c.is_alphanumeric() && !"ef".contains(*c));
                flags.any(|one| one == flag)
            })
        };
        match program {
            "cd" => {
                if let Some(to) = plain().next() {
                    *folder = join(to, folder);
                }
            }
            "bash" | "sh" | "zsh" | "dash" => match rest.as_slice() {
                [flag, script, ..] if is_script_flag(flag) => self.line(script, folder.clone()),
                _ => self.acts = true,
            },
            "cat" | "head" | "tail" | "less" | "more" | "nl" | "bat" | "wc" | "file" | "stat" => {
                plain().for_each(|word| self.deed(Deed::Read, word, folder));
            }
            // A second name is what they write.
            "xxd" | "uniq" => {
                self.acts |= has_flag('r') || plain().count() > 1;
                plain().take(1).for_each(|word| self.deed(Deed::Read, word, folder));
            }
            "sed" if has_flag('i') || rest.iter().any(|word| word.starts_with("--in-")) => {
                self.acts = true;
                behind_script(&rest).for_each(|word| self.deed(Deed::Edit, word, folder));
            }
            "perl" => {
                self.acts = true;
                if has_flag('i') && rest.iter().any(|word| gives_script(word)) {
                    behind_script(&rest).for_each(|word| self.deed(Deed::Edit, word, folder));
                }
            }
            "sed" | "awk" | "gawk" | "jq" => {
                self.acts |= match program {
                    "jq" => false,
                    "sed" => has(&["-f"]) || rest.iter().any(|script| sed_writes(script)),
                    _ => has(&["-i", "-f"]) || rest.iter().any(|script| writes(script)),
                };
                behind_script(&rest).for_each(|word| self.deed(Deed::Read, word, folder));
            }
            "grep" | "rg" | "ag" | "egrep" => {
                plain().skip(1).for_each(|word| self.deed(Deed::Search, word, folder));
            }
            "rm" | "unlink" => {
                self.acts = true;
                plain().for_each(|word| self.deed(Deed::Delete, word, folder));
            }
            "mv" | "cp" | "ln" => {
                self.acts = true;
                let deed = match program {
                    "mv" => Some(Deed::Delete),
                    "cp" => Some(Deed::Read),
                    _ => None,
                };
                self.moved(deed, &rest, folder);
            }
            "touch" => {
                self.acts = true;
                plain().for_each(|word| self.deed(Deed::Write, word, folder));
            }
            "tee" => {
                self.acts = true;
                let deed = if has(&["-a", "--append"]) { Deed::Edit } else { Deed::Write };
                plain().for_each(|word| self.deed(deed, word, folder));
            }
            "truncate" => {
                self.acts = true;
                // What it takes the size of isn't changed.
                if !rest.iter().any(|word| word.starts_with("-r") || word.starts_with("--ref")) {
                    plain().for_each(|word| self.deed(Deed::Edit, word, folder));
                }
            }
            "curl" | "wget" => {
                self.acts = true;
                if let Some(to) = downloaded(program, &rest) {
                    self.deed(Deed::Write, to, folder);
                }
            }
            "git" => self.git(&rest, folder),
            "find" => {
                let deletes = |word: &&str| {
                    *word == "-delete" || word.starts_with("-fprint") || *word == "-fls"
                };
                let runs = |word: &&str| word.starts_with("-exec") || word.starts_with("-ok");
                let inner = rest.iter().position(runs).map(|at| &rest[at + 1..]);
                let acts = inner.is_some_and(|line| Self::read(&line.join(" ")).acts);
                self.acts |= acts || rest.iter().any(deletes);
            }
            "sort" => {
                self.acts |= has_flag('o') || rest.iter().any(|word| word.starts_with("--o"));
            }
            // It sets the clock; it writes what it lists.
            "date" => self.acts |= has_flag('s') || rest.iter().any(|word| word.starts_with("--s")),
            "tree" => self.acts |= has_flag('o'),
            // It writes a second file.
            "python3" if rest.starts_with(&["-m", "json.tool"]) && plain().count() < 3 => {
                plain().skip(1).for_each(|word| self.deed(Deed::Read, word, folder));
            }
            _ => self.acts |= !LOOKING.contains(&program),
        }
    }

    fn git(&mut self, rest: &[&str], folder: &str) {
        let Some(at) = rest.iter().position(|word| !word.starts_with('-')) else {
            self.acts = true;
            return;
        };
        self.acts |= !LOOKING_GIT.contains(&rest[at])
            || rest.iter().any(|word| word.starts_with("--output"));
        // With a name behind it, unless it asks for one, such a list changes.
        let names = || rest[at + 1..].iter().find(|word| !word.starts_with('-'));
        self.acts |= matches!(rest[at], "branch" | "remote")
            && names().is_some_and(|word| !matches!(*word, "show" | "get-url"));
        let changes = |word: &&str| word.starts_with("--unset") || word.starts_with("--edit");
        self.acts |= rest[at] == "branch" && rest.iter().any(changes);
        // Those before it say where, those behind it that nothing is done to the files.
        let is_apart =
            at > 0 || rest.iter().any(|word| matches!(*word, "-n" | "--dry-run" | "--cached"));
        match rest[at] {
            "mv" if !is_apart => self.moved(Some(Deed::Delete), &rest[1..], folder),
            "rm" if !is_apart => {
                let plain = rest[1..].iter().filter(|word| !word.starts_with('-'));
                plain.for_each(|word| self.deed(Deed::Delete, word, folder));
            }
            _ => {}
        }
    }

    /// The words of `mv` and its like: the last one is where the others go.
    fn moved(&mut self, deed: Option<Deed>, words: &[&str], folder: &str) {
        if words.iter().any(|word| word.starts_with("-t") || word.starts_with("--target")) {
            return;
        }
        let paths: Vec<&str> =
            words.iter().copied().filter(|word| !word.starts_with('-')).collect();
        let [from @ .., to] = paths.as_slice() else { return };
        if from.is_empty() {
            return;
        }
        if let Some(deed) = deed {
            for word in from {
                self.deed(deed, word, folder);
            }
        }
        if !to.ends_with('/') {
            return self.deed(Deed::Write, to, folder);
        }
        for name in from.iter().filter_map(|word| word.rsplit('/').next()) {
            // A folder's files aren't known.
            if name.contains('.') {
                self.deed(Deed::Write, &format!("{to}{name}"), folder);
            }
        }
    }

    fn deed(&mut self, deed: Deed, word: &str, folder: &str) {
        if is_path(word) && self.deeds.len() < 32 {
            self.deeds.push((deed, join(word, folder)));
        }
    }
}

/// Whether a shell runs the word behind this one: `-c`, `-lc`.
fn is_script_flag(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| flags.ends_with('c') && !flags.starts_with('-'))
}

/// Whether the word behind this one is a script, of `sed` and its like: `-e`, `-pe`.
fn gives_script(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|flags| {
        flags.ends_with('e') && !flags.ends_with("ie") && !flags.starts_with('-')
    })
}

/// Whether a script of `awk` may write a file or run something: `{ print > "a" }`, `{ system("b") }`.
fn writes(script: &str) -> bool {
    let printed = script.split("print").skip(1);
    script.contains("system") || printed.into_iter().any(|rest| rest.contains(['>', '|']))
}

/// Whether a script of `sed` may write a file or run something: `w out`, `1e date`, `s/a/b/w out`. Expressions and what they are
/// replaced by are stepped over.
fn sed_writes(script: &str) -> bool {
    let mut chars = script.chars().peekable();
    let mut commands = String::new();
    while let Some(c) = chars.next() {
        let (delimiter, times) = match (c, chars.peek().copied()) {
            ('/', _) => (c, 1),
            ('s' | 'y', Some(next)) if next.is_ascii_punctuation() => {
                chars.next();
                (next, 2)
            }
            _ => {
                commands.push(c);
                continue;
            }
        };
        for _ in 0..times {
            while let Some(c) = chars.next().filter(|c| *c != delimiter) {
                if c == '\\' {
                    chars.next();
                }
            }
        }
    }
    commands.contains(['w', 'W', 'e'])
}

/// The files that are named behind the script, wherever that stands.
fn behind_script<'a>(words: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let is_named = words.iter().any(|word| gives_script(word));
    let is_scripts = |at: usize| at > 0 && gives_script(words[at - 1]);
    let plain = words.iter().enumerate();
    let plain = plain.filter(|(at, word)| !word.starts_with('-') && !is_scripts(*at));
    let plain: Vec<&str> = plain.map(|(_, word)| *word).collect();
    plain.into_iter().skip(usize::from(!is_named))
}

/// The file that a download is written to, where it is named.
fn downloaded<'a>(program: &str, words: &[&'a str]) -> Option<&'a str> {
    let (short, long, alone) = match program {
        "curl" => ('o', "--output", "fgikLnpqsSv"),
        _ => ('O', "--output-document", "cnqSv"),
    };
    let names = |word: &str| {
        let flags = word.strip_prefix('-').and_then(|flags| flags.strip_suffix(short));
        word == long || flags.is_some_and(|flags| flags.chars().all(|flag| alone.contains(flag)))
    };
    words.iter().enumerate().find_map(|(at, word)| {
        let behind = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
        behind.or_else(|| names(word).then(|| words.get(at + 1).copied())?)
    })
}

/// What is written there changes nothing.
const STREAMS: [&str; 5] = ["/dev/null", "/dev/std", "/dev/tty", "/dev/fd/", "/dev/full"];
/// Programs that only look.
const LOOKING: [&str; 26] = [
    "ls", "pwd", "echo", "printf", "which", "type", "whoami", "uname", "ps", "df", "du", "env",
    "cut", "tr", "diff", "cmp", "sleep", "true", "test", "[", "basename", "dirname", "realpath",
    "id", "column", "read",
];
/// Sub-commands of git that only look.
const LOOKING_GIT: [&str; 11] = [
    "status",
    "log",
    "diff",
    "show",
    "branch",
    "remote",
    "rev-parse",
    "blame",
    "ls-files",
    "grep",
    "describe",
];

/// What stands before a program: assignments, and programs that run another.
fn is_prefix(word: &str) -> bool {
    matches!(
        word,
        "sudo"
            | "env"
            | "time"
            | "nohup"
            | "command"
            | "xargs"
            | "then"
            | "else"
            | "do"
            | "if"
            | "for"
            | "!"
            | "timeout"
    ) || word.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    }) || word.bytes().all(|b| b.is_ascii_digit())
        || word.starts_with('-')
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
