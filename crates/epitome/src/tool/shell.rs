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

/// A piece of a command.
#[derive(Debug)]
enum Word {
    Text(String),
    /// `>` or `>>` into the file that follows, with what that does to it where it is worth a name.
    Into(Option<Deed>),
}

impl Word {
    fn text(self) -> Option<String> {
        match self {
            Word::Text(text) => Some(text),
            Word::Into(_) => None,
        }
    }
}

/// The simple commands of a line, in words without their quotes, and the lines whose output stands in these words.
fn segments(line: &str) -> (Vec<Vec<Word>>, Vec<String>) {
    let mut segments = vec![Vec::new()];
    let mut substituted = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    // The marks that end the here documents begun on this line.
    let mut marks: Vec<String> = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '`') => {
                substituted.push(chars.by_ref().take_while(|&c| c != '`').collect());
            }
            (Some('"'), '$') if chars.next_if_eq(&'(').is_some() => {
                substituted.push(parenthesized(&mut chars));
            }
            // Arithmetic: its `<<` begins no document.
            (None, '(') if chars.next_if_eq(&'(').is_some() => {
                parenthesized(&mut chars);
                chars.next_if_eq(&')');
            }
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => while chars.next_if(|&c| c != '\n').is_some() {},
            (None, '<') if chars.next_if_eq(&'<').is_some() => {
                let last = segments.last_mut().expect("there is always one");
                last.extend(word.take().map(Word::Text));
                if chars.next_if_eq(&'<').is_some() {
                    // What follows is a text, and no file.
                    last.push(Word::Into(None));
                } else {
                    marks.push(mark(&mut chars));
                }
            }
            (None, ' ' | '\t' | '|' | '&' | ';' | '\n' | '(' | ')' | '>') => {
                let last = segments.last_mut().expect("there is always one");
                // `2>` and `>` go to a file alike.
                word.take_if(|word| c == '>' && word.bytes().all(|b| b.is_ascii_digit()));
                last.extend(word.take().map(Word::Text));
                if c == '>' {
                    let mut deed = Deed::Write;
                    while chars.next_if_eq(&'>').is_some() {
                        deed = Deed::Edit;
                    }
                    let is_joined = chars.next_if_eq(&'&').is_some();
                    if is_joined && chars.next_if(|c| c.is_ascii_digit() || *c == '-').is_some() {
                        while chars.next_if(char::is_ascii_digit).is_some() {}
                    } else {
                        chars.next_if_eq(&'|');
                        last.push(Word::Into(Some(deed)));
                    }
                } else if !matches!(c, ' ' | '\t') {
                    segments.push(Vec::new());
                }
                if c == '\n' {
                    marks.drain(..).for_each(|mark| pass_document(&mark, &mut chars));
                }
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    let last = segments.last_mut().expect("there is always one");
    last.extend(word.map(Word::Text));
    (segments, substituted)
}

/// What stands before the parenthesis that closes one that was opened.
fn parenthesized(chars: &mut Chars<'_>) -> String {
    let mut depth = 1;
    let inner = chars.take_while(|c| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth > 0
    });
    inner.collect()
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The mark behind `<<`.
fn mark(chars: &mut Chars<'_>) -> String {
    chars.next_if_eq(&'-');
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    let mut mark = String::new();
    while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !"|&;()<>".contains(*c)) {
        mark.extend(Some(c).filter(|c| !matches!(c, '"' | '\'' | '\\')));
    }
    mark
}

/// Goes past a here document, which is data.
fn pass_document(mark: &str, chars: &mut Chars<'_>) {
    let mut line = String::new();
    for c in chars {
        if c != '\n' {
            line.push(c);
        } else if line.trim() == mark {
            return;
        } else {
            line.clear();
        }
    }
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
        check("cat disk.iso > /dev/sda", true, &[(Deed::Read, "disk.iso")]);
        check("date --set=12:00", true, &[]);
        check("tree -L 2", false, &[]);
        check("tree -o all.txt", true, &[]);
        check("git branch --unset-upstream", true, &[]);
        check("FOO=1 sudo cargo test", true, &[]);
        check("git status", false, &[]);
        check("git commit -m 'x'", true, &[]);
        check("cat > x.py << 'EOF'\nrm y.py\nEOF", true, &[(Deed::Write, "x.py")]);
        check("cat a.json | python3 -m json.tool | head", false, &[(Deed::Read, "a.json")]);
        check("python3 -m json.tool a.json b.json", true, &[]);
        for line in ["find . -name '*.tmp' -delete", "find b -type f -exec rm {} +", "sort -o a a"]
        {
            check(line, true, &[]);
        }
        for line in ["git branch -D feature", "git remote add x y"] {
            check(line, true, &[]);
        }
        for line in ["find . -exec grep x {} +", "git branch -a", "git remote -v", "sort"] {
            check(line, false, &[]);
        }
        for line in [
            "sort -uo a a",
            "echo $(rm -rf b)",
            "echo \"`rm -rf b`\"",
            "grep x \"$(make (a))\"",
            "echo $((1 << 3))\nrm -rf b",
            "awk '{ print > \"b\" }'",
            "awk '{ system(\"b\") }'",
            "xxd -r a b",
            "uniq a b",
            "git diff --output=b",
        ] {
            check(line, true, &[]);
        }
        for line in
            ["awk '$3 > 5 { print $1 }'", "echo \"$(date)\" `pwd`", "echo $((1 << 3))", "uniq -c a"]
        {
            check(line, false, &[]);
        }
        for line in ["sed -Ei s/a/b/ a.rs", "sed -ri.bak s/a/b/ a.rs"] {
            check(line, true, &[(Deed::Edit, "a.rs")]);
        }
        for line in ["ls 1> out.txt", "ls >& out.txt", "ls &> out.txt", "ls >| out.txt"] {
            check(line, true, &[(Deed::Write, "out.txt")]);
        }
        let long = format!("echo {}; rm b", "a".repeat(3000));
        assert!(Command::read(&long).acts);
        check("echo done", false, &[]);
        check("", false, &[]);
    }

    #[test]
    fn a_document_stands_behind_what_is_done_with_it() {
        let written = [(Deed::Write, "cfg/b.toml")];
        check("cat <<EOF > cfg/b.toml\na=1\nEOF", true, &written);
        check("cat <<-'EOF' >cfg/b.toml\nrm x.rs\n", true, &written);
        check(
            "cat <<'EOF' > cfg/b.toml\n> x.md\nEOF\nrm a.txt",
            true,
            &[written[0], (Deed::Delete, "a.txt")],
        );
        check("python3 - <<\"PY\"\nopen('x.py') > y.py\nPY\n", true, &[]);
        check("echo $((1 << 3)) | cat <<< a.txt > b.txt", true, &[(Deed::Write, "b.txt")]);
        check("# cat > x.py\nls", false, &[]);
    }

    #[test]
    fn what_changes_files_is_told() {
        check(
            "git mv src/a.rs src/b.rs",
            true,
            &[(Deed::Delete, "src/a.rs"), (Deed::Write, "src/b.rs")],
        );
        check("git rm -f src/gone.rs", true, &[(Deed::Delete, "src/gone.rs")]);
        check("git rm --cached .env.local", true, &[]);
        check("git -C x rm y.rs", true, &[]);
        check("bash -c 'echo hi > inner.txt'", true, &[(Deed::Write, "inner.txt")]);
        check(
            "cd a && sh -lc \"cd b; cat x.rs\"; cat y.rs",
            false,
            &[(Deed::Read, "a/b/x.rs"), (Deed::Read, "a/y.rs")],
        );
        check("bash build.sh", true, &[]);
        check("cp -r a/x.rs b/", true, &[(Deed::Read, "a/x.rs"), (Deed::Write, "b/x.rs")]);
        check("cp -r src/lib b/", true, &[(Deed::Read, "src/lib")]);
        check("mv -t b/ a.rs", true, &[]);
        check(
            "perl -pi -e 's/a.b/c/g' a.rs b.rs",
            true,
            &[(Deed::Edit, "a.rs"), (Deed::Edit, "b.rs")],
        );
        check("perl -i -0pe s/a/b/ a.rs", true, &[(Deed::Edit, "a.rs")]);
        check("perl -ne 'print' a.rs", true, &[]);
        check("sed -i -e s/a.b/c/g -e s/d/e.f/g a.rs", true, &[(Deed::Edit, "a.rs")]);
        check("truncate -s 0 app.log", true, &[(Deed::Edit, "app.log")]);
        check("curl -fsSLo b.tgz https://x.org/b.tgz", true, &[(Deed::Write, "b.tgz")]);
        check("curl -H 'x: o' https://x.org/b.tgz -O", true, &[]);
        check("curl -s https://x.org -o /dev/null", true, &[]);
        check("wget -qO b.tgz https://x.org/b.tgz", true, &[(Deed::Write, "b.tgz")]);
        check("wget -O- https://x.org/b.tgz", true, &[]);
        check("ln -s ../a.rs b.rs", true, &[(Deed::Write, "b.rs")]);
        check("echo a >> notes.md", true, &[(Deed::Edit, "notes.md")]);
        check("ls | tee -a log.txt", true, &[(Deed::Edit, "log.txt")]);
        check("cat a.rs 2> err.log", true, &[(Deed::Write, "err.log"), (Deed::Read, "a.rs")]);
        check("echo a > $OUT/b.txt; rm *.rs", true, &[]);
    }

    proptest! {
        #[test]
        fn any_line_can_be_read(line: String) {
            let _ = Command::read(&line);
        }
    }
}
