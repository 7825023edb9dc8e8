//! What secrets are called: the words that tell a value is one, as data.

use super::bits;
use crate::text::cut;
use crate::word_list::words;

/// How a value with a name is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameKind {
    /// People may have thought of it.
    Password,
    /// A program drew it.
    Key,
    /// A drawn value, where the name is a query's parameter.
    Parameter,
    /// A user's name and a password.
    Pair,
    /// A header: each of its pieces that was drawn.
    Header,
    /// Words of a wallet.
    Phrase,
}

/// Names without `_`, `-`, `.` and spaces, in lower case; a word that ends so is a name.
pub(super) const NAMES: &[(NameKind, &str)] = &[
    (NameKind::Password, "password"),
    (NameKind::Password, "passwd"),
    (NameKind::Password, "passwort"),
    (NameKind::Password, "kennwort"),
    (NameKind::Password, "pwd"),
    (NameKind::Password, "pswd"),
    (NameKind::Password, "pw"),
    (NameKind::Password, "pass"),
    (NameKind::Password, "passcode"),
    (NameKind::Password, "passphrase"),
    (NameKind::Password, "identifiedby"),
    (NameKind::Password, "senha"),
    (NameKind::Password, "motdepasse"),
    (NameKind::Password, "requirepass"),
    (NameKind::Password, "adduser"),
    (NameKind::Password, "psk"),
    (NameKind::Password, "redisauth"),
    (NameKind::Key, "secret"),
    (NameKind::Key, "secretkeybase"),
    (NameKind::Key, "token"),
    (NameKind::Key, "tokens"),
    (NameKind::Key, "jwt"),
    (NameKind::Key, "salt"),
    (NameKind::Key, "phpsessid"),
    (NameKind::Key, "jsessionid"),
    (NameKind::Key, "gitlabsession"),
    (NameKind::Key, "keydata"),
    (NameKind::Key, "wif"),
    (NameKind::Key, "auth"),
    (NameKind::Key, "hmac"),
    (NameKind::Key, "privatemac"),
    (NameKind::Key, "bearerauth"),
    (NameKind::Key, "credential"),
    (NameKind::Key, "privatekeyid"),
    (NameKind::Key, "pat"),
    (NameKind::Pair, "credentials"),
    (NameKind::Pair, "basicauth"),
    (NameKind::Header, "authorization"),
    (NameKind::Header, "cookie"),
    (NameKind::Parameter, "key"),
    (NameKind::Parameter, "code"),
    (NameKind::Parameter, "appid"),
    (NameKind::Parameter, "sig"),
    (NameKind::Parameter, "signature"),
    (NameKind::Phrase, "mnemonic"),
    (NameKind::Phrase, "phrase"),
    (NameKind::Phrase, "seed"),
];

/// What a key is for that is a secret.
const KEYS: &[&str] = &words!(
    "api access account secret signing encryption encrypt master private auth shared preshared app \
     application deploy license hmac fernet session write service client jwt server storage wallet \
     subscription admin cipher aes webhook integration root security project function host ingest \
     sendgrid stripe openai accesskeyid unseal"
);

/// Names with fewer letters are looked for at the beginning of a word only.
const SHORT: usize = 5;

/// Letters of the longest name, twice as many for what stands between them.
const LONGEST: usize = 48;

/// What the name is with which `text` ends, as far as it is a secret's.
pub(super) fn named(text: &str) -> Option<NameKind> {
    let seen = cut::tail(text, LONGEST).as_bytes();
    // What is counted is called the same.
    let seen = seen.trim_ascii_end();
    let digits = seen.iter().rev().take_while(|byte| byte.is_ascii_digit()).count().min(2);
    let seen = &seen[..seen.len() - digits];
    let last = match seen {
        [.., last, b'_' | b'-' | b'.' | b' '] | [.., last] => *last,
        [] => return None,
    };
    bits(BY_LAST[usize::from(last & 31)]).map(|at| &NAMES[at]).find_map(|(kind, name)| {
        let before = without(seen, name)?;
        if *kind != NameKind::Parameter {
            return (name.len() >= SHORT || digits == 0 && is_apart(before, seen)).then_some(*kind);
        }
        let is_parameter = matches!(before, [.., b'?' | b'&'])
            || before.ends_with(b"u0026")
            || before.ends_with(b"X-Amz-");
        if is_parameter {
            return Some(NameKind::Parameter);
        }
        let is_secret = *name == "key" && KEYS.iter().any(|key| without(before, key).is_some());
        is_secret.then_some(NameKind::Key)
    })
}

/// What stands before `name` at the end of `seen`; between its letters may be signs.
fn without<'s>(seen: &'s [u8], name: &str) -> Option<&'s [u8]> {
    let mut rest = seen;
    for letter in name.bytes().rev() {
        let mut signs = 0;
        while let [before @ .., b'_' | b'-' | b'.' | b' '] = rest
            && signs < 1
        {
            (rest, signs) = (before, signs + 1);
        }
        match rest {
            [before @ .., last] if last.eq_ignore_ascii_case(&letter) => rest = before,
            _ => return None,
        }
    }
    Some(rest)
}

/// Whether a name that `before` leads to begins a word there.
fn is_apart(before: &[u8], seen: &[u8]) -> bool {
    match before.last() {
        Some(last) if last.is_ascii_alphabetic() => {
            last.is_ascii_lowercase() && seen[before.len()].is_ascii_uppercase()
        }
        _ => true,
    }
}

/// The names that end with each letter, by the lower five bits of it.
const BY_LAST: [u64; 32] = {
    assert!(NAMES.len() < 64, "a name for each bit");
    let mut by_last = [0; 32];
    let mut at = 0;
    while at < NAMES.len() {
        let name = NAMES[at].1.as_bytes();
        by_last[name[name.len() - 1] as usize & 31] |= 1 << at;
        at += 1;
    }
    by_last
};

/// The last letters of the names, for each the ones before it: bits by the lower five of a letter's.
const ENDS: [u32; 32] = {
    let mut ends = [0; 32];
    // What is called a value may have its name behind it.
    ends[b'e' as usize & 31] = 1 << (b'u' & 31);
    let mut at = 0;
    while at < NAMES.len() {
        let name = NAMES[at].1.as_bytes();
        let [before, last] = [name[name.len() - 2], name[name.len() - 1]];
        ends[last as usize & 31] |= 1 << (before & 31);
        at += 1;
    }
    ends
};

/// A quick look: whether a name that ends with these bytes may end as one that is a secret's, or with other signs.
pub(super) fn may_end_named(before: u8, last: u8) -> bool {
    !before.is_ascii_alphabetic()
        || !last.is_ascii_alphabetic()
        || ENDS[usize::from(last & 31)] & 1 << (before & 31) != 0
}

/// A quick look: whether a word ends with the last two letters of a name, whatever signs follow them.
pub(super) fn may_be_named(word: &[u8]) -> bool {
    let mut ends = word.iter().rev().filter(|byte| byte.is_ascii_alphabetic());
    let [last, before] = [ends.next(), ends.next()];
    let (Some(last), Some(before)) = (last, before) else { return false };
    ENDS[usize::from(last & 31)] & 1 << (before & 31) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_every_spelling() {
        for (text, kind) in [
            ("DB_PASSWORD", Some(NameKind::Password)),
            ("clientSecret", Some(NameKind::Key)),
            ("the API key", Some(NameKind::Key)),
            ("password2", Some(NameKind::Password)),
            ("?key", Some(NameKind::Parameter)),
            ("a key", None),
            ("primary_key", None),
            ("compass", None),
            ("bob_pw", Some(NameKind::Password)),
        ] {
            assert_eq!(named(text), kind, "{text}");
        }
    }

    #[test]
    fn the_quick_look_lets_every_name_pass() {
        for (_, name) in NAMES {
            assert!(may_be_named(format!("MY_{}_", name.to_uppercase()).as_bytes()), "{name}");
        }
    }
}
