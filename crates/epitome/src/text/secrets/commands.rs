//! Passwords that commands are given: `curl -u bob:…`, `mysql -p…`, `sshpass -p …`.

use super::{Secret, values};
use crate::text::cut;

/// How a flag is given what it takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Behind a space, or without one.
    Value,
    /// Without a space.
    Attached,
    /// Behind a space, a user's name and a colon.
    Pair,
}

/// Commands, their flags, and how these take a password.
const COMMANDS: &[(&str, &str, Form)] = &[
    ("curl", "-u", Form::Pair),
    ("curl", "--user", Form::Pair),
    ("curl", "-U", Form::Pair),
    ("curl", "--proxy-user", Form::Pair),
    ("http", "-a", Form::Pair),
    ("mysql", "-p", Form::Attached),
    ("mysqldump", "-p", Form::Attached),
    ("mysqladmin", "-p", Form::Attached),
    ("mysqlimport", "-p", Form::Attached),
    ("mariadb", "-p", Form::Attached),
    ("sshpass", "-p", Form::Value),
    ("redis-cli", "-a", Form::Value),
    ("mongosh", "-p", Form::Value),
    ("mongo", "-p", Form::Value),
    ("mongodump", "-p", Form::Value),
    ("mongorestore", "-p", Form::Value),
    ("login", "-p", Form::Value),
    ("sqlcmd", "-P", Form::Value),
    ("bcp", "-P", Form::Value),
    ("ldapsearch", "-w", Form::Value),
    ("ldapadd", "-w", Form::Value),
    ("zip", "-P", Form::Value),
    ("unzip", "-P", Form::Value),
    ("7z", "-p", Form::Attached),
    ("smbclient", "-U", Form::Pair),
    ("cqlsh", "-p", Form::Value),
    ("sshpass", "-P", Form::Value),
    ("htpasswd", "-b", Form::Value),
    ("ipmitool", "-P", Form::Value),
];

/// So much before a flag is looked at for its command.
const LINE: usize = 160;

/// A password with fewer characters is rather a port, or a mode.
const LEAST: usize = 5;

/// The password that the flag at `at`, whose word ends at `end`, gives to the command on its line.
pub(super) fn given(text: &str, at: usize, end: usize) -> Option<Secret> {
    let flag = &text[at..end];
    let name = if flag.starts_with("--") { flag } else { flag.get(..2)? };
    let rows = || COMMANDS.iter().filter(|row| row.1 == name);
    rows().next()?;
    let rest = &text[at + name.len()..];
    let value = rest.trim_start_matches([' ', '=']);
    let is_attached = value.len() == rest.len();
    let quoted = value.trim_start_matches(['"', '\'', '\\']);
    let from = text.len() - quoted.len();
    let quote = text[..from].bytes().last().filter(|_| quoted.len() < value.len());
    // The backslash is an escape's.
    (quote != Some(b'\\')).then_some(())?;
    let value = &quoted[..values::run(text, from, quote)];
    // What tells sooner than a line comes first.
    (value.len() >= LEAST && !values::is_placeholder(value)).then_some(())?;
    let line = cut::tail(&text[..at], LINE);
    let line = line.rsplit(['\n', ';']).next().unwrap_or(line);
    let line = line.rsplit("\\n").next().unwrap_or(line);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut words = line.rsplit(|c| !is_word(c));
    // A colour's end looks like the beginning of the word.
    let is_color =
        |before: &str| before.ends_with('m') && before.starts_with(|c: char| c.is_ascii_digit());
    let is_one = |word: &str, command| {
        word.strip_suffix(command).is_some_and(|before| before.is_empty() || is_color(before))
    };
    let form = words.find_map(|word| rows().find(|row| is_one(word, row.0)))?.2;
    let is_given = match form {
        Form::Value => true,
        Form::Attached => is_attached,
        Form::Pair => !is_attached,
    };
    let skipped = if form == Form::Pair { value.find([':', '%'])? + 1 } else { 0 };
    let password = &value[skipped..];
    let is_word =
        password.bytes().all(|byte| byte.is_ascii_alphabetic()) && !values::is_random(password);
    let is_one =
        is_given && password.len() >= LEAST && !is_word && !values::is_placeholder(password);
    is_one.then(|| Secret { name: "password", from: from + skipped, to: from + value.len() })
}
