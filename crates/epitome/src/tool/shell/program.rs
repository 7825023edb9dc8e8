//! What programs do, by their names and the words behind them.

use super::script::{awk_writes, behind_script, gives_script, is_script_flag, sed_writes};
use super::{Command, Deed, join};
use crate::tool::name::{changes, may_change, words as tool_words};
use crate::word_list::words;

impl Command {
    /// Understands a program by its name.
    pub(super) fn program(&mut self, program: &str, rest: &[&str], folder: &mut String) {
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
        self.acts |= rest.iter().any(|word| asks_for_more(word));
        match program {
            "cd" => {
                if let Some(to) = plain().next() {
                    *folder = join(to, folder);
                }
            }
            "bash" | "sh" | "zsh" | "dash" => match rest {
                [flag, script, ..] if is_script_flag(flag) => {
                    self.line(script, folder.clone());
                }
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
                behind_script(rest).for_each(|word| self.deed(Deed::Edit, word, folder));
            }
            "perl" => {
                self.acts = true;
                if has_flag('i') && rest.iter().any(|word| gives_script(word)) {
                    behind_script(rest).for_each(|word| self.deed(Deed::Edit, word, folder));
                }
            }
            "sed" | "awk" | "gawk" | "jq" => {
                self.acts |= match program {
                    "jq" => false,
                    "sed" => sed_writes(rest),
                    _ => awk_writes(rest),
                };
                behind_script(rest).for_each(|word| self.deed(Deed::Read, word, folder));
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
                self.moved(deed, rest, folder);
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
                if let Some(to) = downloaded(program, rest) {
                    self.deed(Deed::Write, to, folder);
                }
            }
            "git" => self.git(rest, folder),
            "find" => {
                let deletes = |word: &&str| {
                    *word == "-delete" || word.starts_with("-fprint") || *word == "-fls"
                };
                let runs = |word: &&str| word.starts_with("-exec") || word.starts_with("-ok");
                let mut inner = rest.split(runs).skip(1);
                let acts = inner.any(|line| Self::read(&line.join(" ")).acts);
                self.acts |= acts || rest.iter().any(deletes);
            }
            // It sets the clock; they write what they list.
            "date" => {
                let sets = |word: &str| word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
                self.acts |= has_flag('s') || plain().any(sets);
            }
            "sort" | "tree" => self.acts |= has_flag('o'),
            // It writes a second file.
            "python3" if rest.starts_with(&["-m", "json.tool"]) && plain().count() < 3 => {
                plain().skip(1).for_each(|word| self.deed(Deed::Read, word, folder));
            }
            _ if VERB_FIRST.contains(&program) => self.acts |= !looks_by_verb(rest, 0),
            _ if VERB_SECOND.contains(&program) => self.acts |= !looks_by_verb(rest, 1),
            _ => self.acts |= !LOOKING.contains(&program),
        }
    }

    fn git(&mut self, rest: &[&str], folder: &str) {
        let Some(at) = rest.iter().position(|word| !word.starts_with('-')) else {
            self.acts = true;
            return;
        };
        self.acts |= !LOOKING_GIT.contains(&rest[at])
            || rest[at] == "grep" && rest.iter().any(|word| word.starts_with("-O"));
        // With a name behind it, unless it asks for one, such a list changes.
        let names = || rest[at + 1..].iter().find(|word| !word.starts_with('-'));
        self.acts |= matches!(rest[at], "branch" | "remote")
            && names().is_some_and(|word| !matches!(*word, "show" | "get-url"));
        // They delete, move, copy and set.
        let sets = |word: &&str| {
            word.starts_with('-')
                && !word.starts_with("--")
                && word.contains(|c| "dDmMcCuf".contains(c))
        };
        self.acts |= rest[at] == "branch" && rest[at + 1..].iter().any(sets);
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
}

/// Words in long flags by which a program writes a file or runs another, besides verbs.
const FLAGS: [&str; 12] = [
    "output", "in", "exec", "program", "command", "pager", "pre", "ext", "textconv", "log",
    "unset", "open",
];

/// Whether a long flag asks a program that looks for more: `--output=a`, `--compress-program=b`, `--pre b`. The beginning of one
/// is enough for most programs.
fn asks_for_more(flag: &str) -> bool {
    let Some(name) = flag.strip_prefix("--").filter(|name| !name.starts_with("no-")) else {
        return false;
    };
    let name = name.split('=').next().unwrap_or(name);
    let begins = |whole: &&str| name.len() < whole.len() && whole.starts_with(name);
    !name.is_empty()
        && (name.split('-').any(|word| changes(word) || FLAGS.contains(&word))
            || ["output", "set", "exec", "program", "pager", "command", "open"].iter().any(begins))
}

/// Programs that only look.
const LOOKING: [&str; 26] = [
    "ls", "pwd", "echo", "printf", "which", "type", "whoami", "uname", "ps", "df", "du", "env",
    "cut", "tr", "diff", "cmp", "sleep", "true", "test", "[", "basename", "dirname", "realpath",
    "id", "column", "read",
];
/// Sub-commands of git that only look.
const LOOKING_GIT: [&str; 11] =
    words!("status log diff show branch remote rev-parse blame ls-files grep describe");

/// Programs whose first word says whether they look, and those whose second one does: `kubectl get pods`, `gh pr view 7`.
const VERB_FIRST: [&str; 16] = words!(
    "kubectl kube oc helm docker podman systemctl npm pnpm pip pip3 cargo brew apt promtool virsh"
);
const VERB_SECOND: [&str; 3] = words!("gh glab aws");
/// First words behind which the verb stands.
const GROUPS: [&str; 6] = words!("compose container image network volume rollout");
/// Flags whose value stands behind them, before a verb.
const VALUED: [&str; 10] =
    words!("-n --namespace --context --kubeconfig -R --repo --profile --region -H -f");
/// Verbs that only look, up to a sign in them: `describe-instances`.
const LOOKING_VERBS: [&str; 20] = words!(
    "get list ls describe show status view logs ps images inspect top history events info search diff \
     outdated tree query"
);

/// Whether a tool that is called as a program only looks, by what it is given.
pub(crate) fn asks_program(program: &str, line: &str) -> bool {
    if line.contains([';', '|', '&', '<', '>', '`', '$', '\n']) {
        return false;
    }
    let is_known =
        |word: &str| word == "git" || VERB_FIRST.contains(&word) || VERB_SECOND.contains(&word);
    let mut words: Vec<&str> = line.split_whitespace().collect();
    let mut program = program;
    if let Some(first) = words.first().filter(|word| **word == program || is_known(word)) {
        program = first;
        words.remove(0);
    }
    match program {
        "git" => !Command::read(&format!("git {}", words.join(" "))).acts,
        _ if VERB_FIRST.contains(&program) => looks_by_verb(&words, 0),
        _ if VERB_SECOND.contains(&program) => looks_by_verb(&words, 1),
        _ => asks(program, &words),
    }
}

/// First words by which any tool is asked for what is there.
const ASKING: [&str; 6] = words!("list show status describe info logs");

/// Whether the first word asks, about one thing at most, and neither that nor the tool's name changes anything: `status R07`, but not
/// `status 17 closed`.
fn asks(tool: &str, words: &[&str]) -> bool {
    let changes = |word: &str| {
        let mut parts = word.split(|c: char| !c.is_alphanumeric());
        parts.any(|part| may_change(&part.to_lowercase()))
    };
    let is_asked = |verb: &&str| ASKING.contains(verb) && words.len() <= 2;
    words.first().is_some_and(is_asked)
        && !tool_words(tool).iter().any(|word| may_change(word))
        && !words[1..].iter().any(|word| changes(word))
}

/// Whether the verb behind `before` words only looks.
fn looks_by_verb(words: &[&str], before: usize) -> bool {
    let mut plain = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word {
            word if VALUED.contains(word) => drop(words.next()),
            // The next word may be its value.
            word if word.starts_with('-') && plain.is_empty() && !word.contains('=') => {
                return false;
            }
            word if word.starts_with('-') => {}
            word => plain.push(*word),
        }
    }
    let before = before + usize::from(plain.first().is_some_and(|word| GROUPS.contains(word)));
    // It writes a file.
    let verb = plain.get(before).filter(|verb| **verb != "get-object");
    let verb = verb.and_then(|verb| verb.split('-').next());
    verb.is_some_and(|verb| LOOKING_VERBS.contains(&verb))
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
