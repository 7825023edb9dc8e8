//! Masking as a whole.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::shapes::{SHAPES, Shape};
use super::*;

/// A rest of the shape's characters, as if drawn.
fn example(shape: &Shape, seed: usize) -> String {
    let all: Vec<char> = (33u8..127).filter(|b| shape.rest.has(*b)).map(char::from).collect();
    let of = |at: usize| all[(seed + 1) * (at * at + 7 * at + 3) % 9973 % all.len()];
    let body: String = (0..shape.least.max(8) + seed % 9).map(of).collect();
    // A dot at an end is a sentence's, and a digit has to be there.
    format!("{}7{}a", shape.prefix, &body[1..].replace('.', "x"))
}

#[test]
fn the_table_is_read_and_has_many_shapes() {
    assert!(SHAPES.len() >= 100, "{}", SHAPES.len());
    let names: BTreeSet<&str> = SHAPES.iter().map(|shape| shape.name).collect();
    assert!(names.len() >= 60, "{}", names.len());
    for (at, shape) in SHAPES.iter().enumerate() {
        let hidden = SHAPES[..at].iter().find(|before| shape.prefix.starts_with(before.prefix));
        assert!(hidden.is_none(), "{} is never reached behind {hidden:?}", shape.prefix);
    }
}

#[test]
fn every_shape_is_masked_wherever_it_stands() {
    for shape in SHAPES.iter() {
        for seed in 0..20 {
            let mut secret = example(shape, seed);
            if shape.rest == Class::Hexadecimal || shape.rest == Class::Capitals {
                secret.pop();
                secret.push('7');
            }
            for said in [
                secret.clone(),
                format!("export KEY={secret}\n"),
                format!("{{\"key\":\"{secret}\"}}"),
                format!("{{\\\"key\\\":\\\"{secret}\\\"}}"),
                format!("first\\n{secret}\\nlast"),
                format!("(see {secret}, please)"),
                format!("https://{secret}"),
            ] {
                let out = masked(&said);
                assert!(!out.contains(&secret[shape.prefix.len()..]), "{said} → {out}");
                assert!(out.contains("[masked: "), "{said} → {out}");
            }
        }
    }
}

#[test]
fn secrets_without_a_shape_of_their_own() {
    for (said, shown) in [
        ("postgres://app:s3cr3t!pw@db:5432/x", "postgres://app:[masked: password]@db:5432/x"),
        ("Authorization: Bearer abc123def456ghi789", "Authorization: Bearer [masked: credentials]"),
        ("DB_PASSWORD=Xk29fjQ0pzLm", "DB_PASSWORD=[masked: secret]"),
        (r#""client_secret": "aB3dE6gH9jK2""#, r#""client_secret": "[masked: secret]""#),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----\nrest",
            "[masked: private-key]\nrest",
        ),
        ("-----BEGIN PRIVATE KEY-----\nMIIE cut", "[masked: private-key]"),
        (
            "DB_PASS=Zahnrad.2025\nLDAP_PW=Xylophon_44",
            "DB_PASS=[masked: secret]\nLDAP_PW=[masked: secret]",
        ),
        (r#"{"a":"x: 1\npw: Schneeball_3"}"#, r#"{"a":"x: 1\npw: [masked: secret]"}"#),
        ("ALTER ROLE r PASSWORD = N'Rep0rt_role'", "ALTER ROLE r PASSWORD = N'[masked: secret]'"),
        ("PASSPHRASE=\"correct-horse-battery\"", "PASSPHRASE=\"[masked: secret]\""),
        (
            "define('AUTH_KEY', 'k|8Tz+q#Vd0Lw@r:5M%n-J^e7Xo?Yb2Gs!Hc4');",
            "define('AUTH_KEY', '[masked: secret]');",
        ),
        (
            "<wsse:Password Type=\"PasswordText\">Soap3nv3lope</wsse:Password>",
            "<wsse:Password Type=\"PasswordText\">[masked: secret]</wsse:Password>",
        ),
        (
            "<key>apiSecret</key>\n<string>3ej8S3NAq7Tz</string>",
            "<key>apiSecret</key>\n<string>[masked: secret]</string>",
        ),
        (
            "sw: {user: admin, ansible_password: cisco$Lab3}",
            "sw: {user: admin, ansible_password: [masked: secret]}",
        ),
        ("PGPASSWORD=Xk29fjQ0pzLm!", "PGPASSWORD=[masked: secret]"),
        ("password = \"marmelade_12\"", "password = \"[masked: secret]\""),
        ("DB_PASSWORD=Zx9cj1lSMH2L (staging)", "DB_PASSWORD=[masked: secret] (staging)"),
        ("redis://:hunter2hunter2@cache", "redis://:[masked: password]@cache"),
        (
            "\u{1b}[1;31mghp_0123456789abcdefghijABCDEFGHIJ012345\u{1b}[0m",
            "\u{1b}[1;31m[masked: github-token]\u{1b}[0m",
        ),
        (
            r#""\u001b[32mghp_0123456789abcdefghijABCDEFGHIJ012345""#,
            r#""\u001b[32m[masked: github-token]""#,
        ),
    ] {
        assert_eq!(masked(said), shown);
    }
}

#[test]
fn secrets_stand_further_from_their_names() {
    for (said, secret) in [
        ("пароль: Berezka-77", "Berezka-77"),
        ("数据库密码是：Longjing77", "Longjing77"),
        ("パスワードは「Sakura2024x」です", "Sakura2024x"),
        ("La contraseña es Naranja2024!", "Naranja2024!"),
        ("PASSWORD_PROD=\"Spr1ng-Time\"", "Spr1ng-Time"),
        ("Password=Str0ng&Stable_19;Encrypt=True", "Str0ng&Stable_19"),
        ("Pwd={a;b}}c#w34FGYRK};", "a;b}}c#w34FGYRK"),
        ("A temporary password is generated for root@localhost: aT!8d3GkRLAu", "aT!8d3GkRLAu"),
        (
            "Use this password:\n\n47a01d809bf5b589dda8251ab5e19951\n",
            "47a01d809bf5b589dda8251ab5e19951",
        ),
        ("$ pwgen -s 20 1\nkW3pT9xLq2vZb8Nn4Mab\n", "kW3pT9xLq2vZb8Nn4Mab"),
        ("echo 's3rverR00m' | sudo -S id", "s3rverR00m"),
        ("new PDO('mysql:host=db', 'blog', 'eleph4nt-Ride')", "eleph4nt-Ride"),
        ("jwt.sign({ id }, 'keyboard-catz-9000')", "keyboard-catz-9000"),
        ("load(in, \"changeit-N0t!\".toCharArray())", "changeit-N0t!"),
        ("\"gopher:ak8DYSHoQgAtx5N@tcp(db:3306)/zoo\"", "ak8DYSHoQgAtx5N"),
        ("log in with deploy / S3cure!2024 over ssh", "S3cure!2024"),
        (r#"{"passwords":["VwWBhq_dPE0SP","x"]}"#, "VwWBhq_dPE0SP"),
        ("password: !!str 0mG1ylHuhfJXq", "0mG1ylHuhfJXq"),
        ("<secret><![CDATA[PtryDb_IrV4AF]]></secret>", "PtryDb_IrV4AF"),
        ("<password><![CDATA[Rep0rt_role]]></password>", "Rep0rt_role"),
        ("the new root password is now \"1tgqALmWB7ALD\"", "1tgqALmWB7ALD"),
        (
            "curl --oauth2-bearer 853IgN95Dci7xD93lgWk7J6rWs77hSx91HqaksrC https://x",
            "853IgN95Dci7xD93lgWk7J6rWs77hSx91HqaksrC",
        ),
        (
            "secure: \"n9lL9rQrhvrSHnFLOwJpn5wWtY7e20saaViFd1/lWN9MKW4bV43hgxAwr3GzyoKZGbtzGgJfzdUTnJ19xDf77A==\"",
            "n9lL9rQrhvrSHnFLOwJpn5wWtY7e20saaViFd1",
        ),
        ("a,passwd\nkim,Cl1pb0ard-9", "Cl1pb0ard-9"),
        ("HOST  PASSWORD\ndb1   Fjord-W4ter", "Fjord-W4ter"),
        ("INSERT INTO t (a, password) VALUES ('b', 'Kimch1-Jar');", "Kimch1-Jar"),
        ("snmpwalk -v2c -c rw-M0nit0r9 10.20.0.1", "rw-M0nit0r9"),
        ("htpasswd -b .htpasswd bob Zx9B6kjenk4F", "Zx9B6kjenk4F"),
        (r#"{"command":"htpasswd -bc f bob Zx9B6kjenk4F"}"#, "Zx9B6kjenk4F"),
        (r"net use \\h\s /user:me Zx9cj1lSMH2L", "Zx9cj1lSMH2L"),
        ("xfreerdp /u:me /p:Zx9p74Almjnq /v:h", "Zx9p74Almjnq"),
        (
            r#"{"command":"a\nAWS Secret Access Key [None]: GsbeKXgzg2sye9b2Rann76dEyTzAeKOmXq1w3e4R","n":1}"#,
            "GsbeKXgzg2sye9b2Rann76dEyTzAeKOmXq1w3e4R",
        ),
        (
            "new ethers.Wallet('0x99e1a386f2131f796b7dac2a1b9d6d7f23ddfd8d02651458a811e1d3f681208e')",
            "99e1a386f2131f796b7dac2a1b9d6d7f23ddfd8d02651458a811e1d3f681208e",
        ),
        (
            "Account.from_key('99e1a386f2131f796b7dac2a1b9d6d7f23ddfd8d02651458a811e1d3f681208e')",
            "99e1a386f2131f796b7dac2a1b9d6d7f23ddfd8d02651458a811e1d3f681208e",
        ),
        ("it is 21U8Q~qhpwblI4qQssqJiqFerbsYr8Gj3yk03I2i", "qhpwblI4qQssqJiqFerbsYr8Gj3yk03I2i"),
        ("ctx7sk-18ca359c-3428-f732-bf69-d89f06af603d", "18ca359c-3428-f732-bf69-d89f06af603d"),
        ("use glpat-NSuYYpQMHbqvmvtPCgJy there", "NSuYYpQMHbqvmvtPCgJy"),
        ("saw 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", "zymMlopiWfqUyHRSIfNFmAUNLnYYxyRnjD"),
        ("curl -u 'me:pa$$-The-Salt1' https://x.org", "pa$$-The-Salt1"),
        ("recovery codes:\n 1. a1b2c-d3e4f\n 2. g5h6i-j7k8l\n 3. m9n0o-p1q2r", "a1b2c-d3e4f"),
        ("the 2FA secret is JBSW Y3DP EHPK 3PXP", "JBSW Y3DP EHPK 3PXP"),
        ("app password: abcd efgh ijkl mnop", "abcd efgh ijkl mnop"),
        (
            "import algoliasearch\ninit('B1G2', '20893932ef2875a59a1a2b8f32f06d30')",
            "20893932ef2875a59a1a2b8f32f06d30",
        ),
        (
            "root:$6$Xk29fjQ0$pzLmA8b7C6d5E4f3G2h1I0jKLMNOPQRSTUVWXYZabcdefghijk:1:",
            "pzLmA8b7C6d5E4f3G2h1I0jKLMNOPQRSTUVWXYZabcdefghijk",
        ),
        (
            "recovery phrase, they are legal winner thank year wave sausage worth useful legal winner thank yellow",
            "legal winner thank year wave sausage worth useful legal winner thank yellow",
        ),
        (
            r#"{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T"}"#,
            "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T",
        ),
    ] {
        let shown = masked(said);
        assert!(!shown.contains(secret) && shown.contains("[masked: "), "{said} → {shown}");
    }
}

/// What is looked at of a line ends within a secret.
#[test]
fn no_half_of_a_secret_is_left() {
    let secret = "aT!8d3GkRLAu-aT!8d3GkRLAu";
    for before in 80..200 {
        let before = "so ".repeat(before / 3) + &".".repeat(before % 3);
        for said in [
            format!("The password {before} {secret} for now"),
            format!("The password is: {before} {secret}, for now"),
            format!("log in with {before} deploy / {secret} over ssh"),
        ] {
            let shown = masked(&said);
            let is_half = !shown.contains(secret) && shown.contains("GkRLAu");
            assert!(!is_half, "{said} → {shown}");
        }
    }
    let long = "aB3dE6gH".repeat(85);
    for before in 0..100 {
        let said = |d: &str| {
            format!(
                "\"kty\":\"RSA\",{}\"n\":\"{long}\",\"d\":\"{d}\",\"e\":\"AQAB\"",
                " ".repeat(40 * before)
            )
        };
        let shown = masked(&said(&long)).into_owned();
        assert!(shown == said("[masked: secret]") || shown == said(&long), "{shown}");
    }
    for before in ["$ pwgen 400\n", "Use this password:\n\n"] {
        let said = format!("{before}{}\n", "aB3".repeat(200));
        assert_eq!(masked(&said), format!("{before}[masked: secret]\n"));
    }
}

#[test]
fn what_is_cut_is_masked_first() {
    let said = "see postgres://app:Zx9Kq2Lm8Vb4Nc6Td1Ws3Re5Yu7Io0P@db/x";
    for most in 0..60 {
        let shown = beginning(said, most);
        assert!(!shown.contains("Zx9K"), "{shown}");
        assert!(masked(said).starts_with(&shown), "{shown}");
        assert!(!shown.contains('[') || shown.contains(']'), "{shown}");
    }
}

/// Near the first name is nothing, and the second reaches further.
#[test]
fn each_name_is_looked_behind() {
    let words = "and so on ".repeat(10);
    for (said, secret) in [
        (format!("A password {words} or password {words} aT!8d3GkRLAu\n"), "aT!8d3GkRLAu"),
        ("a.toCharArray(), \"changeit-N0t!\".toCharArray()".to_owned(), "changeit-N0t!"),
        (
            format!("seed {} seed {}", words.repeat(5), "legal winner thank year ".repeat(3)),
            "winner",
        ),
        (
            r#"{"keys":[{"kty":"EC"},{"kty":"oct","k":"AyM1SysPpbyDfgZld3umj1qzKObwVMko"}]}"#
                .to_owned(),
            "AyM1SysPpbyDfgZld3umj1qzKObwVMko",
        ),
    ] {
        let shown = masked(&said);
        assert!(!shown.contains(secret) && shown.contains("[masked: "), "{said} → {shown}");
    }
}

#[test]
fn white_space_stands_between_the_rows_of_an_insert() {
    for space in ["\n", "\r\n\t", "\\n", "\\r\\n\\t", "\u{a0}"] {
        let said = |first, second| {
            format!(
                "INSERT INTO t (a, password) VALUES{space}('b', '{first}'),{space}('c', '{second}');"
            )
        };
        let shown = said("[masked: secret]", "[masked: secret]");
        assert_eq!(masked(&said("Kimch1-Jar", "Cl1pb0ard-9")), shown);
    }
}

/// A word behind a flag is longer than what is looked at of a line.
#[test]
fn a_flag_before_a_long_word_is_none() {
    for said in [format!("-p {}", "é".repeat(300)), format!("-u '{}", "é:".repeat(300))] {
        assert_eq!(masked(&said), said);
    }
}

#[test]
fn what_stands_near_a_name_but_is_none_stays() {
    let spaces = [" ".repeat(159) + "是x", "\u{a0}".repeat(80) + "x"];
    for said in spaces.map(|space| format!("password {space}")) {
        assert_eq!(masked(&said), said);
    }
    for said in [
        "password%2é",
        "<secret><![CDATA[the quick brown fox]]></secret>",
        "secure: true\npassword: !!binary |\n",
        "the password is now stored elsewhere, bearer of good news",
        r#"{"secrets":["app-database","app-cache"],"passwords":["required","optional"]}"#,
        "password%3é",
        "пароль от почты забыт",
        "The keyboard's secret shortcut is Ctrl+Shift+T.",
        "secrets_manager_arn = \"arn:aws:secretsmanager:eu-west-1:210987654321:secret:prod/pg-AbC12d\"",
        "name,password,note\nkim,required,none",
        "echo \"token refreshed\" | grep token",
        "PDO('sqlite::memory:', 'sha256-password')",
        "The password for the account is stored in config/settings2.yaml",
        "$ git log --grep token\n3f2a9c1b7d20e4f5a6b7c8d9e0f1a2b3c4d5e6f7",
        "codecov/commit/2cf0ddbd-dbdf-46e9-82e3-32cefdd0bab4",
        "recovery codes are shown 3 times in 2024 and 2025",
        "seed = \"the quick brown fox jumps over the lazy dog and then runs for the hills\"",
        "find_generic_password(Some(&keychains2))",
    ] {
        assert_eq!(masked(said), said);
    }
}

#[test]
fn long_values_are_masked_whole() {
    let long = "aB3/".repeat(101);
    assert_eq!(masked(&format!("token=\"{long}=\" x")), "token=\"[masked: secret]\" x");
}

#[test]
fn what_only_looks_alike_stays() {
    for said in [
        "sk-learn and sk-something-else-that-is-long",
        "let password = read_password(&prompt_for_it);",
        "token: string, secret: SecretString",
        "max_tokens=2000, token_count: 118934, tokens: 12",
        "password: ${DB_PASSWORD} token=process.env.GITHUB_TOKEN1234",
        "https://user:$PASSWORD@example.org/ http://localhost:8080/a@b",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "commit 3f2a9c1b7d20e4f5a6b7c8d9e0f1a2b3c4d5e6f7",
        "npm_config_registry_of_the_whole_company_network",
        "key-value and hf_hub and glc_ and AKIA",
        "--- PASS: TestSHA256 (0.32s)\n--- PASS: TestParse/case_01 (0.00s)",
        "npm_getPackageNameFromTheRegistryOfTheCompany",
        "a wallet sent 0x99e1a386f2131f796b7dac2a1b9d6d7f23ddfd8d02651458a811e1d3f681208e",
        "net use of the house, and xfreerdp /u:me /v:host01",
        "password = read_password_2\npassword: config.auth.password2\n",
        r#"{"password": "errors.password_too_short_8", "label": "password_field_2"}"#,
        "certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSURGRENDQWZ5Z0F3SUJBZ0lVVG8",
    ] {
        assert_eq!(masked(said), said);
    }
}

/// Looked at to its end from each beginning, such a text takes minutes.
#[test]
fn what_goes_on_and_on_is_looked_at_once() {
    for beginning in [
        "token=",
        "token:",
        "token | ",
        "<token ",
        "SG.",
        "AccountKey=",
        "eyJ.",
        "glpat-",
        "kty\":\"",
        "login ",
        "пароль ",
        "(password, a) VALUES ('",
        "$ password\n",
        "x@tcp(",
        "echo a | ",
        "backup codes ",
        "password,a\n",
        "x  password  \n",
        "|password|\n|--|\n",
        "password,a\\n",
        "(password) VALUES ('",
    ] {
        let text = beginning.repeat(200_000 / beginning.len());
        assert_eq!(masked(&text), text);
    }
    let long = format!("eyJ{}", "a1".repeat(5000));
    assert_eq!(masked(&long), "[masked: jwt]");
    let long = format!("token={}", "aB3".repeat(5000));
    assert_eq!(masked(&long), "token=[masked: secret]");
}

proptest! {
    #[test]
    fn json_stays_json(
        said in prop::collection::vec(prop_oneof![
            ".{0,20}",
            Just("-----BEGIN RSA PRIVATE KEY-----\nMIIE".to_owned()),
            Just("password: \"Xk29fjQ0pzLm\"".to_owned()),
            Just("\tMIIEabcdefghijklmnop\nabc=\n-----END RSA PRIVATE KEY-----".to_owned()),
            Just("curl -u a:\u{1}Xk29fjQ0 -p\tXk29fjQ0pzLm\nmysql -p".to_owned()),
            Just("Private-Lines: 2\n0123456789abcdef\n".repeat(3)),
            Just("Cookie: a=Xk29fjQ0pzLm; password:\n".to_owned()),
            Just("x://u:pa\"ss\\word@h".to_owned()),
            Just("ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned()),
            Just("recovery codes: a1b2c-d3e4f, g5h6i-j7k8l, m9n0o-p1q2r".to_owned()),
            Just("seed: ".to_owned() + &"winner ".repeat(13)),
            Just("a,password\n\"kim\",\"Cl1pb0ard-9\"".to_owned()),
            Just("password for\tX:\nK1t3\u{1}Wind!9 \"Kit3-W1nd\"".to_owned()),
            Just("{\"kty\":\"oct\",\"k\":\"AyM1SysPpbyDfgZld3umj1qz\"}".to_owned()),
            Just("\\".to_owned()),
            Just("\"".to_owned()),
        ], 0..8),
    ) {
        let text = said.concat();
        let json = serde_json::json!({ "text": text, "password": text, "list": [text, 1] }).to_string();
        for json in [masked(&json).into_owned(), masked(&serde_json::Value::from(json).to_string()).into_owned()] {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok(), "{json}");
        }
    }

    #[test]
    fn any_text_can_be_masked_and_again(text in prop_oneof![
        ".{0,200}",
        r"(password(%[23]|[是é：\u{a0}]{1,90}| {100,200}|[a-z]{0,3}){0,4}){0,3}",
    ]) {
        let once = masked(&text).into_owned();
        let twice = masked(&once).into_owned();
        prop_assert_eq!(&twice, &once);
    }
}
