//! What a shell command does, understood as far as file names go: enough for an index, not a shell.

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
    pub(super) fn read(line: &str) -> Self {
        let line = crate::text::cut::head(line, MAX_SEEN);
        // A here document is data.
        let (line, _) = line.split_once("<<").unwrap_or((line, ""));
        let mut command = Self::default();
        let mut folder = String::new();
        for segment in segments(line) {
            command.segment(&segment, &mut folder);
        }
        command
    }

    fn segment(&mut self, words: &[Word], folder: &mut String) {
        for pair in words.windows(2).filter(|pair| pair[0].redirects) {
            if !pair[1].text.starts_with(['&', '/'])
                || (pair[1].text.starts_with('/') && !pair[1].text.starts_with("/dev/"))
            {
                self.acts = true;
                self.deed(Deed::Write, &pair[1].text, folder);
            }
        }
        let mut words = words
            .iter()
            .take_while(|word| !word.redirects)
            .map(|word| word.text.as_str())
            .filter(|word| !word.is_empty());
        let Some(program) = words.find(|word| !is_prefix(word)) else { return };
        let program = program.rsplit('/').next().unwrap_or(program);
        let rest: Vec<&str> = words.collect();
        let plain = || rest.iter().copied().filter(|word| !word.starts_with('-'));
        match program {
            "cd" => {
                if let Some(to) = plain().next() {
                    *folder = join(to, folder);
                }
            }
            "cat" | "head" | "tail" | "less" | "more" | "nl" | "bat" | "wc" | "file" | "stat"
            | "xxd" => {
                plain().for_each(|word| self.deed(Deed::Read, word, folder));
            }
            "sed" if rest.iter().any(|word| word.starts_with("-i")) => {
                self.acts = true;
                plain().skip(1).for_each(|word| self.deed(Deed::Edit, word, folder));
            }
            "sed" | "awk" | "jq" => {
                plain().skip(1).for_each(|word| self.deed(Deed::Read, word, folder));
            }
            "grep" | "rg" | "ag" | "egrep" => {
                plain().skip(1).for_each(|word| self.deed(Deed::Search, word, folder));
            }
            "rm" | "unlink" => {
                self.acts = true;
                plain().for_each(|word| self.deed(Deed::Delete, word, folder));
            }
            "mv" | "cp" => {
                self.acts = true;
                let paths: Vec<&str> = plain().collect();
                if let [from @ .., to] = paths.as_slice() {
                    let deed = if program == "mv" { Deed::Delete } else { Deed::Read };
                    for word in from {
                        self.deed(deed, word, folder);
                    }
                    self.deed(Deed::Write, to, folder);
                }
            }
            "touch" | "tee" => {
                self.acts = true;
                plain().for_each(|word| self.deed(Deed::Write, word, folder));
            }
            "git" => self.acts |= plain().next().is_none_or(|word| !LOOKING_GIT.contains(&word)),
            _ => self.acts |= !LOOKING.contains(&program),
        }
    }

    fn deed(&mut self, deed: Deed, word: &str, folder: &str) {
        if is_path(word) && self.deeds.len() < 32 {
            self.deeds.push((deed, join(word, folder)));
        }
    }
}

/// Programs that only look.
const LOOKING: [&str; 31] = [
    "find", "ls", "pwd", "echo", "printf", "tree", "which", "type", "date", "whoami", "uname",
    "ps", "df", "du", "env", "sort", "uniq", "cut", "tr", "diff", "cmp", "sleep", "true", "test",
    "[", "basename", "dirname", "realpath", "id", "column", "read",
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

#[derive(Debug, Default)]
struct Word {
    text: String,
    /// `>` or `>>` into the file that follows.
    redirects: bool,
}

/// The simple commands of a line, in words without their quotes.
fn segments(line: &str) -> Vec<Vec<Word>> {
    let mut segments = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ' | '\t' | '|' | '&' | ';' | '\n' | '(' | ')' | '>') => {
                let last = segments.last_mut().expect("there is always one");
                // `2>` and `&>` redirect what is not worth a name.
                let stream =
                    word.take_if(|word| c == '>' && word.bytes().all(|b| b.is_ascii_digit()));
                last.extend(word.take().map(|text| Word { text, redirects: false }));
                if c == '>' {
                    while chars.next_if(|&c| c == '>').is_some() {}
                    if chars.next_if_eq(&'&').is_some() {
                        while chars.next_if(char::is_ascii_digit).is_some() {}
                    } else if stream.is_none() {
                        last.push(Word { text: String::new(), redirects: true });
                    }
                } else if !matches!(c, ' ' | '\t') {
                    segments.push(Vec::new());
                }
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    let last = segments.last_mut().expect("there is always one");
    last.extend(word.map(|text| Word { text, redirects: false }));
    segments
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(line: &str, acts: bool, deeds: &[(Deed, &str)]) {
        let command = Command::read(line);
        let found: Vec<(Deed, &str)> =
            command.deeds.iter().map(|(deed, path)| (*deed, path.as_str())).collect();
        assert_eq!((command.acts, found.as_slice()), (acts, deeds), "{line}");
    }

    #[test]
    fn commands_tell_their_files() {
        check("cat src/a.rs | head -20", false, &[(Deed::Read, "src/a.rs")]);
        check("sed -n '1,20p' \"/x y/b.rs\"", false, &[]);
        check("sed -n '1,20p' /x/b.rs", false, &[(Deed::Read, "/x/b.rs")]);
        check("sed -i '' 's/a/b/g' src/a.rs", true, &[(Deed::Edit, "src/a.rs")]);
        check("cd pkg && grep -n 'foo bar' src/a.ts", false, &[(Deed::Search, "pkg/src/a.ts")]);
        check(
            "rm -f a.txt && mv b.txt c.txt",
            true,
            &[(Deed::Delete, "a.txt"), (Deed::Delete, "b.txt"), (Deed::Write, "c.txt")],
        );
        check("npm run build > out.log 2>&1", true, &[(Deed::Write, "out.log")]);
        check("ls -la 2>/dev/null", false, &[]);
        check("FOO=1 sudo cargo test", true, &[]);
        check("git status", false, &[]);
        check("git commit -m 'x'", true, &[]);
        check("cat > x.py << 'EOF'\nrm y.py\nEOF", true, &[(Deed::Write, "x.py")]);
        check("echo done", false, &[]);
        check("", false, &[]);
    }

    proptest! {
        #[test]
        fn any_line_can_be_read(line: String) {
            let _ = Command::read(&line);
        }
    }
}
