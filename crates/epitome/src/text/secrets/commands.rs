//! Passwords that commands are given: `curl -u bob:…`, `mysql -p…`, `sshpass -p …`.

use super::{Secret, values};
use crate::text::cut;
use crate::word_list::words;

/// How a flag gets its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Behind a space, or without one.
    Value,
    /// Without a space.
    Attached,
    /// Behind a space, a user's name and a colon.
    Pair,
    /// Behind a file and a user's name.
    Third,
}

/// Flags, how they take a password, and of which commands; a star stands for the rest of a name.
const FLAGS: &[(&str, Form, &[&str])] = &[
    ("-u", Form::Pair, &words!("curl lftp")),
    ("--user", Form::Pair, &words!("curl")),
    ("-U", Form::Pair, &words!("curl smbclient rpcclient winexe smbmap net")),
    ("--proxy-user", Form::Pair, &words!("curl")),
    ("-a", Form::Pair, &words!("http https")),
    ("-A", Form::Pair, &words!("ab")),
    ("-p", Form::Attached, &words!("mysql* mariadb* 7z 7za 7zr rar unrar")),
    (
        "-p",
        Form::Value,
        &words!(
            "sshpass mongo* login cqlsh rdesktop twine evil-winrm crackmapexec netexec racadm psexec \
             rabbitmqadmin unlock-keychain useradd usermod steghide jfrog sfdx cf az import"
        ),
    ),
    (
        "-P",
        Form::Value,
        &words!("sqlcmd bcp zip unzip sshpass ipmitool isql tsql mosquitto_* ssh-keygen dislocker"),
    ),
    ("-N", Form::Value, &words!("ssh-keygen")),
    ("-w", Form::Value, &words!("ldap* add-generic-password")),
    ("-c", Form::Value, &words!("snmp* onesixtyone")),
    ("-A", Form::Value, &words!("snmp*")),
    ("-X", Form::Value, &words!("snmp*")),
    ("-k", Form::Value, &words!("openssl nuget choco gem")),
    ("-K", Form::Value, &words!("openssl")),
    ("-a", Form::Value, &words!("redis-cli valkey-cli keydb-cli")),
    ("-b", Form::Value, &words!("oathtool")),
    ("-b", Form::Third, &words!("htpasswd")),
    ("-t", Form::Value, &words!("codecov")),
];

/// So much before a flag is looked at for its command.
const LINE: usize = 160;

/// A password with fewer characters is rather a port, or a mode.
const LEAST: usize = 5;

/// The password that the flag at `at`, whose word ends at `end`, gives to the command on its line.
pub(super) fn given(text: &str, at: usize, end: usize) -> Option<Secret> {
    let flag = &text[at..end];
    let name = if flag.starts_with("--") { flag } else { flag.get(..2)? };
    let rows = || FLAGS.iter().filter(|row| row.0 == name);
    rows().next()?;
    let forms = [Form::Value, Form::Attached, Form::Pair, Form::Third].into_iter();
    forms
        .filter(|form| rows().any(|row| row.1 == *form))
        .find_map(|form| taken(text, at, (name, end), form))
}

/// The password that is given so, if the command takes it so.
fn taken(text: &str, at: usize, (name, end): (&str, usize), form: Form) -> Option<Secret> {
    let rows = || FLAGS.iter().filter(|row| (row.0, row.1) == (name, form));
    let rest = match form {
        Form::Third => behind_two(&text[end..])?,
        _ => &text[at + name.len()..],
    };
    let value = rest.trim_start_matches([' ', '=']);
    let is_attached = value.len() == rest.len();
    let quoted = value.trim_start_matches(['"', '\'', '\\']);
    let from = text.len() - quoted.len();
    let quote = text[..from].bytes().last().filter(|_| quoted.len() < value.len());
    // The backslash is an escape's.
    (quote != Some(b'\\')).then_some(())?;
    // A user's name may have a backslash in it, between quotes.
    let is_end = |c: char| {
        quote.is_some_and(|quote| c == char::from(quote)) || c == '"' || c.is_whitespace()
    };
    let seen = cut::head(quoted, LINE);
    let length = values::run(text, from, quote);
    let whole = seen.find(is_end).unwrap_or(seen.len());
    let second = seen[..whole].find(['%', ':']).filter(|sign| quote.is_some() && *sign > length);
    let length = second.map_or(length, |sign| sign + 1 + values::run(text, from + sign + 1, quote));
    let value = &quoted[..length];
    // What tells sooner than a line comes first.
    (value.len() >= LEAST && !is_reference(value)).then_some(())?;
    let line = cut::tail(&text[..at], LINE);
    let line = line.rsplit(['\n', ';']).next().unwrap_or(line);
    let line = line.rsplit("\\n").next().unwrap_or(line);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let mut words = line.rsplit(|c| !is_word(c));
    // A colour's end looks like the beginning of the word.
    let is_color =
        |before: &str| before.ends_with('m') && before.starts_with(|c: char| c.is_ascii_digit());
    let is_one = |word: &str, command: &str| match command.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word.strip_suffix(command).is_some_and(|it| it.is_empty() || is_color(it)),
    };
    let is_of = |word: &str, row: &(_, Form, &[&str])| row.2.iter().any(|it| is_one(word, it));
    words.find(|word| rows().any(|row| is_of(word, row)))?;
    let is_given = match form {
        Form::Value | Form::Third => true,
        Form::Attached => is_attached,
        Form::Pair => !is_attached,
    };
    // Of a key alone nothing stands behind the colon.
    let skipped = match value.find([':', '%']) {
        Some(sign) if form == Form::Pair && sign + 1 < value.len() => sign + 1,
        _ => 0,
    };
    let password = value[skipped..].trim_end_matches(':');
    let is_alone = form == Form::Pair && skipped == 0 && !values::is_drawn(password);
    let is_word =
        password.bytes().all(|byte| byte.is_ascii_alphabetic()) && !values::is_random(password);
    let is_one =
        is_given && password.len() >= LEAST && !is_word && !is_alone && !is_reference(password);
    is_one.then(|| Secret {
        name: "password",
        from: from + skipped,
        to: from + skipped + password.len(),
    })
}

/// What stands behind two words, and flags before them.
fn behind_two(text: &str) -> Option<&str> {
    let seen = cut::head(text, LINE);
    let mut rest = seen;
    let mut words = 0;
    while words < 2 {
        let (word, behind) = rest.trim_start_matches(' ').split_once(' ')?;
        words += usize::from(!word.starts_with('-'));
        rest = behind;
    }
    Some(&text[seen.len() - rest.len()..])
}

/// Whether a value is_reference to another: a sign of the shell that is doubled is a password's.
fn is_reference(value: &str) -> bool {
    values::is_placeholder(&value.replace("$$", "_"))
}
