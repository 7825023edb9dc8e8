//! Passwords that commands are given: `curl -u bob:…`, `mysql -p…`, `sshpass -p …`.

use super::{LOOKED_AT, Secret, values};
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

/// The password that the flag at `at`, whose word ends at `end`, gives to the command on its line.
pub(super) fn given(text: &str, at: usize, end: usize) -> Option<Secret> {
    let flag = &text[at..end];
    let (short, is_long) = (flag.get(..2)?, flag.starts_with("--"));
    let name = if is_long { flag } else { short };
    let rows = || COMMANDS.iter().filter(|row| row.1 == name);
    rows().next()?;
    let line = cut::tail(&text[..at], LOOKED_AT);
    let line = line.rsplit(['\n', ';']).next().unwrap_or(line);
    let line = line.rsplit("\\n").next().unwrap_or(line);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let form = rows().find(|row| line.split(|c| !is_word(c)).any(|word| word == row.0))?.2;
    let attached = at + name.len();
    let spaces = text[attached..].bytes().take_while(|byte| matches!(byte, b' ' | b'=')).count();
    if (form == Form::Attached) != (spaces == 0) && form != Form::Value {
        return None;
    }
    let from = attached + spaces;
    let quotes =
        text[from..].bytes().take_while(|byte| matches!(byte, b'"' | b'\'' | b'\\')).count();
    let quote = text[from..from + quotes].bytes().last();
    let from = from + quotes;
    // An escape of something else.
    (!text[..from].ends_with('\\')).then_some(())?;
    let value = &text[from..from + values::run(text, from, quote)];
    let skipped = if form == Form::Pair { value.find([':', '%'])? + 1 } else { 0 };
    let password = &value[skipped..];
    let is_word =
        password.bytes().all(|byte| byte.is_ascii_alphabetic()) && !values::is_random(password);
    let is_one = password.len() >= 5 && !is_word && !values::is_placeholder(password);
    is_one.then(|| Secret { name: "password", from: from + skipped, to: from + value.len() })
}
