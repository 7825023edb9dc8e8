//! What secrets are called: the words that tell a value is one, as data.

use std::sync::LazyLock;

use crate::text::cut;
use crate::word_list::words;

/// How a value with a name is judged; the value of the first ones follows the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameKind {
    /// People may have thought of it.
    Password,
    /// A program drew it.
    Key,
    /// A number that is good for once, or for one card.
    Code,
    /// A drawn value, where the name is a query's parameter.
    Parameter,
    /// A header: each of its pieces that was drawn.
    Header,
    /// A user's name and a password.
    Pair,
    /// Words of a wallet.
    Phrase,
    /// Codes for when a telephone is lost.
    Codes,
    /// A key as JSON.
    Jwk,
    /// What draws a secret and prints it.
    Generator,
    /// A call that is given a user's name and a password.
    Opening,
    /// A call that is given a key.
    Signing,
    /// A command that is given a password by no name of one.
    Command,
    /// Commands that read a secret from a pipe.
    Piped,
    /// What makes a secret of a literal before it.
    Letters,
}

impl NameKind {
    pub(super) const ALL: usize = NameKind::Letters as usize + 1;
}

/// Names without `_`, `-`, `.` and spaces, in lower case; a word that ends so is a name. Programs that wait for a prompt
/// leave out the first letter of "password".
const GROUPS: &[(NameKind, &[&str])] = &[
    (
        NameKind::Password,
        &words!(
            "assword asswords passwd passwort kennwort pwd pswd pw pass passcode passphrase identifiedby \
             requirepass masterauth adduser psk redisauth keycontent community rootpw passwordconfirmation passwordconfirm securestring keypass \
             storepass authpass asciitext userpass \
             senha motdepasse mdp contrasena contrasenya clave parola parol passord \
             wachtwoord haslo heslo lozinka geslo jelszo salasana losenord adgangskode kodeord \
             sifre katasandi matkhau"
        ),
    ),
    (
        NameKind::Key,
        &words!(
            "secret secrets secure bearer secretkeybase token tokens jwt salt phpsessid jsessionid gitlabsession keydata \
             wif auth hmac privatemac bearerauth credential privatekeyid pat samlresponse \
             samlrequest recoverycode backupcode keystring schluessel geheimnis totp segredo secreto"
        ),
    ),
    (
        NameKind::Code,
        &words!(
            "pin otp verificationcode securitycode confirmationcode logincode accesscode onetimecode onetimepassword 2facode \
             mfacode totpcode smscode authcode authenticatorcode"
        ),
    ),
    (
        NameKind::Pair,
        &words!(
            "credentials basicauth creds login logins sqlplus thin impdp expdp zugangsdaten identifiants"
        ),
    ),
    (NameKind::Header, &words!("authorization cookie")),
    (NameKind::Parameter, &words!("key code appid sig signature")),
    // Before what they end with.
    (NameKind::Signing, &words!("etherswallet newwallet")),
    (
        NameKind::Phrase,
        &words!("mnemonic phrase seed seedwords recoverywords wallet walletbackup 12words 24words"),
    ),
    (
        NameKind::Codes,
        &words!(
            "backupcodes recoverycodes scratchcodes rescuecodes emergencycodes onetimecodes 2facodes \
             wiederherstellungscodes backupkeys recoverykeys codesdesecours"
        ),
    ),
    (NameKind::Jwk, &words!("kty")),
    (
        NameKind::Generator,
        &words!("pwgen genkey generatekey rand tokenhex tokenurlsafe tokenbytes"),
    ),
    (
        NameKind::Opening,
        &words!(
            "pdo mysqli connect getconnection setbasicauth networkcredential ftp \
             createconnection authenticate createcredential signin createuser createsuperuser usernamepassword plaincredentials"
        ),
    ),
    (
        NameKind::Signing,
        &words!(
            "passwordhash bcrypthash hashpw passwordverify wifibegin jwtsign jwtverify jwtencode jwtdecode createhmac hmacnew createcipheriv createdecipheriv \
             secretkeyspec fernet aesnew encryptstring pbekeyspec fromkey privatekeytoaccount \
             privatekeytoaddress startbroadcast"
        ),
    ),
    (NameKind::Command, &words!("xfreerdp wfreerdp netuse netuser")),
    (NameKind::Piped, &words!("echo printf")),
    (NameKind::Letters, &words!("tochararray tcp unix")),
];

/// The same in other scripts.
pub(super) const FOREIGN: &[(NameKind, &str)] = &[
    (NameKind::Password, "пароль"),
    (NameKind::Password, "contraseña"),
    (NameKind::Password, "hasło"),
    (NameKind::Password, "jelszó"),
    (NameKind::Password, "lösenord"),
    (NameKind::Password, "şifre"),
    (NameKind::Password, "şifresi"),
    (NameKind::Password, "şifrem"),
    (NameKind::Password, "parolası"),
    (NameKind::Password, "hasła"),
    (NameKind::Password, "пароля"),
    (NameKind::Password, "паролем"),
    (NameKind::Password, "비번"),
    (NameKind::Password, "패스워드"),
    (NameKind::Password, "گذرواژه"),
    (NameKind::Password, "mật mã"),
    (NameKind::Password, "mật khẩu"),
    (NameKind::Password, "κωδικός"),
    (NameKind::Password, "κωδικός πρόσβασης"),
    (NameKind::Password, "парола"),
    (NameKind::Password, "лозинка"),
    (NameKind::Password, "סיסמה"),
    (NameKind::Password, "كلمة المرور"),
    (NameKind::Password, "كلمة السر"),
    (NameKind::Password, "رمز عبور"),
    (NameKind::Password, "पासवर्ड"),
    (NameKind::Password, "รหัสผ่าน"),
    (NameKind::Password, "密码"),
    (NameKind::Password, "密碼"),
    (NameKind::Password, "口令"),
    (NameKind::Password, "パスワード"),
    (NameKind::Password, "暗証番号"),
    (NameKind::Password, "비밀번호"),
    (NameKind::Password, "암호"),
    (NameKind::Key, "ключ"),
    (NameKind::Key, "секрет"),
    (NameKind::Key, "токен"),
    (NameKind::Key, "schlüssel"),
    (NameKind::Key, "clé"),
    (NameKind::Key, "密钥"),
    (NameKind::Key, "密鑰"),
    (NameKind::Key, "令牌"),
    (NameKind::Key, "秘钥"),
    (NameKind::Key, "秘密鍵"),
    (NameKind::Key, "トークン"),
    (NameKind::Key, "シークレット"),
    (NameKind::Key, "キー"),
    (NameKind::Key, "토큰"),
];

/// Purposes of secret keys.
const KEYS: &[&str] = &words!(
    "api access account secret signing encryption encrypt master private auth shared app \
     application deploy license hmac fernet session write service client jwt server storage wallet \
     subscription admin cipher aes webhook integration root security project function host ingest \
     sendgrid stripe openai accesskeyid unseal isakmp radius tacacs community setup recovery \
     activation licence merchant consumer bot authenticator provisioning enrollment"
);

/// Where a secret is one, behind its name: `PASSWORD_PROD`.
const ENVIRONMENTS: &[&str] = &words!(
    "prod dev db root admin banco github smtp old new prev previous next current live staging stage test backup primary secondary"
);

/// Letters of the longest of them, and the sign before.
const LONGEST_ENVIRONMENT: usize = 10;

/// What has a password, where a short name follows it without a sign.
const OWNERS: &[&str] = &words!(
    "db my sql ldap smtp ftp imap mail root admin user login bind cred key store trust sudo ssh \
     vpn wifi redis mongo http proxy web rcon dba svc host repl remote rpc mqtt amqp"
);

/// Names with fewer letters are looked for at the beginning of a word only.
const SHORT: usize = 5;

/// So many bytes may be a name: the letters of the longest, and as many signs between them.
const LONGEST: usize = 48;

/// What the name is with which `text` ends, as far as it is a secret's.
pub(super) fn named(text: &str) -> Option<NameKind> {
    let seen = cut::tail(text, LONGEST).as_bytes();
    // `password2` is called what `password` is.
    let seen = seen.trim_ascii_end();
    let digits = seen.iter().rev().take_while(|byte| byte.is_ascii_digit()).count().min(2);
    let seen = &seen[..seen.len() - digits];
    called(seen, digits)
        .or_else(|| {
            let end = &seen[seen.len().saturating_sub(LONGEST_ENVIRONMENT)..];
            end.iter().any(|byte| matches!(byte, b'_' | b'-' | b'.')).then_some(())?;
            let mut befores = ENVIRONMENTS.iter().filter_map(|it| without(seen, it));
            let before = befores.find(|it| matches!(it, [.., b'_' | b'-' | b'.']))?;
            called(before, 0)
        })
        .or_else(|| if seen.is_ascii() { None } else { foreign(text) })
}

/// What the name is with which `seen` ends, behind which there are so many digits.
fn called(seen: &[u8], digits: usize) -> Option<NameKind> {
    let mut letters = seen.iter().rev().filter(|byte| !matches!(byte, b'_' | b'-' | b'.' | b' '));
    let letters =
        pair(*letters.nth(1)?, *seen.iter().rev().find(|byte| byte.is_ascii_alphanumeric())?);
    let mut names = NAMES[BEGINS[letters]..BEGINS[letters + 1]].iter();
    names.find_map(|(kind, name)| {
        let before = without(seen, name)?;
        if *kind != NameKind::Parameter {
            let is_one = name.len() >= SHORT || digits == 0 && is_apart(before, seen);
            return is_one.then_some(*kind);
        }
        let is_parameter = matches!(before, [.., b'?' | b'&'])
            || before.ends_with(b"u0026")
            || before.ends_with(b"X-Amz-")
            || before.ends_with(b"X-Goog-");
        if is_parameter {
            return Some(NameKind::Parameter);
        }
        let is_secret = *name == "key" && KEYS.iter().any(|key| without(before, key).is_some());
        is_secret.then_some(NameKind::Key)
    })
}

/// The text before `name` at the end of `seen`; separators may stand between its letters.
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

/// Whether a name that `before` leads to begins a word there, or stands behind what has a password.
fn is_apart(before: &[u8], seen: &[u8]) -> bool {
    match before.last() {
        Some(last) if last.is_ascii_alphabetic() => {
            last.is_ascii_lowercase() && seen[before.len()].is_ascii_uppercase()
                || OWNERS.iter().any(|owner| without(before, owner).is_some())
        }
        _ => true,
    }
}

const COUNT: usize = {
    let (mut count, mut group) = (0, 0);
    while group < GROUPS.len() {
        count += GROUPS[group].1.len();
        group += 1;
    }
    count
};

/// The lower five bits of a name's last two letters.
const fn pair(before: u8, last: u8) -> usize {
    (last as usize & 31) << 5 | before as usize & 31
}

/// All names, by their last two letters, and where those of each two begin.
const BY_LAST: ([(NameKind, &str); COUNT], [usize; 1025]) = {
    let (mut names, mut begins) = ([(NameKind::Key, ""); COUNT], [COUNT; 1025]);
    let (mut count, mut letters) = (0, 0);
    while letters < 1024 {
        begins[letters] = count;
        let mut group = 0;
        while group < GROUPS.len() {
            let (kind, all) = GROUPS[group];
            let mut at = 0;
            while at < all.len() {
                let name = all[at].as_bytes();
                if pair(name[name.len() - 2], name[name.len() - 1]) == letters {
                    names[count] = (kind, all[at]);
                    count += 1;
                }
                at += 1;
            }
            group += 1;
        }
        letters += 1;
    }
    (names, begins)
};

static NAMES: [(NameKind, &str); COUNT] = BY_LAST.0;
static BEGINS: [usize; 1025] = BY_LAST.1;

/// The last letters of the names, for each the ones before it, for each of these the ones before: bits by the lower
/// five of a letter's.
const LAST_LETTERS: [[u32; 32]; 32] = {
    let mut ends = [[0; 32]; 32];
    // What is called a value may have its name behind it.
    ends[b'e' as usize & 31][b'u' as usize & 31] = 1 << (b'l' & 31);
    let mut at = 0;
    while at < COUNT + ENVIRONMENTS.len() {
        let name = if at < COUNT { BY_LAST.0[at].1 } else { ENVIRONMENTS[at - COUNT] }.as_bytes();
        let [before, last] = [name[name.len() - 2], name[name.len() - 1]];
        let first = if name.len() > 2 { 1 << (name[name.len() - 3] & 31) } else { u32::MAX };
        ends[last as usize & 31][before as usize & 31] |= first;
        at += 1;
    }
    ends
};

/// A quick look: whether a word ends with the last letters of a name, whatever signs follow them.
pub(super) fn may_be_named(word: &[u8]) -> bool {
    let mut ends = word.iter().rev().filter(|byte| byte.is_ascii_alphabetic());
    let [last, before, first] = [ends.next(), ends.next(), ends.next()];
    let (Some(last), Some(before)) = (last, before) else { return false };
    let firsts = LAST_LETTERS[usize::from(last & 31)][usize::from(before & 31)];
    // Of a name in two words the letter before may be the first one's.
    first.map_or(firsts != 0, |first| firsts & 1 << (first & 31) != 0)
}

/// What the name in another script is with which `text` ends.
fn foreign(text: &str) -> Option<NameKind> {
    FOREIGN.iter().find_map(|(kind, name)| {
        let mut letters = text.chars().rev();
        let is_same = |letter: char| letters.next().is_some_and(|it| folded(it) == letter);
        name.chars().rev().all(is_same).then_some(*kind)
    })
}

fn folded(letter: char) -> char {
    letter.to_lowercase().next().unwrap_or(letter)
}

/// Where the name in another script ends of which the last character that isn't ASCII's ends at `end`, or stands before it
/// with signs between.
pub(super) fn end_of_foreign(text: &str, end: usize) -> Option<usize> {
    let last = text[..end].chars().next_back().map(folded)?;
    LAST.binary_search(&last).ok()?;
    let name = text[..end].trim_end_matches(SIGNS).len();
    let letters = text[name..].bytes().take_while(u8::is_ascii_alphabetic).count();
    let end = name + letters;
    foreign(cut::tail(&text[..end], LONGEST)).map(|_| end)
}

/// What stands between a name in another script and its value.
pub(super) const SIGNS: &[char] =
    &['：', '是', '为', 'は', '는', '은', '「', '『', '“', '„', '«', '—', '–', 'é', 'è', '\u{a0}'];

/// The last characters of the names in other scripts that aren't ASCII's, and what may follow them.
static LAST: LazyLock<Vec<char>> = LazyLock::new(|| {
    let last = |name: &str| name.chars().rev().find(|c| !c.is_ascii());
    let names = FOREIGN.iter().filter_map(|(_, name)| last(name));
    let mut all: Vec<char> = names.chain(SIGNS.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    all
});

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
            ("Palabra clave", Some(NameKind::Password)),
            ("crypto isakmp key", Some(NameKind::Key)),
            ("pre-shared-key", Some(NameKind::Key)),
            ("mysqli_connect", Some(NameKind::Opening)),
        ] {
            assert_eq!(named(text), kind, "{text}");
        }
    }

    #[test]
    fn the_quick_look_lets_every_name_pass() {
        for (_, name) in &NAMES {
            assert!(may_be_named(format!("MY_{}_", name.to_uppercase()).as_bytes()), "{name}");
        }
    }
}
