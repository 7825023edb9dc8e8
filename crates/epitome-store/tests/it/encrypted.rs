//! A PostgreSQL server over TLS: who answers is proven as far as the URL asks for, or nothing is said to it.
//! `./test services` starts the server; its certificates are made here.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use epitome::archive::Archive as _;
use epitome::transcript::ContentId;
use epitome_store::{Access, Store, StoreError};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::server::Acceptor;
use testkit::archives::original;

use crate::postgres::{asked, run};
use crate::{Place, take_in, talk};

/// An authority, what it vouches for with its key, and the file that says who it is.
struct Authority {
    file: PathBuf,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new(folder: &Path, name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = KeyPair::generate().expect("a key");
        let file = folder.join(format!("{name}.pem"));
        std::fs::write(&file, params.self_signed(&key).expect("signed").pem()).expect("written");
        Authority { file, issuer: Issuer::new(params, key) }
    }

    /// A certificate of a server called `localhost`, and its key: PEM.
    fn vouches(&self) -> (String, String) {
        let params = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let key = KeyPair::generate().expect("a key");
        let certificate = params.signed_by(&key, &self.issuer).expect("signed");
        (certificate.pem(), key.serialize_pem())
    }
}

/// Has the server write a file beside its data, which nobody else reads.
fn put(url: &str, name: &str, text: &str, behind: &str) {
    let lines: Vec<String> = text.lines().map(|line| format!("('{line}')")).collect();
    let program = format!("umask 077; cat > {name}.new; {behind} mv {name}.new {name}");
    run(url, &format!("COPY (VALUES {}) TO PROGRAM '{program}'", lines.join(",")));
}

/// Has the server speak TLS with a certificate, and ask one user for a password.
fn encrypt(url: &str, (certificate, key): &(String, String)) {
    put(url, "server.crt", certificate, "");
    put(url, "server.key", key, "");
    let rule = "hostssl all keyed 127.0.0.1/32 scram-sha-256";
    put(url, "pg_hba.conf", rule, "cat pg_hba.conf >> pg_hba.conf.new;");
    run(url, "CREATE ROLE keyed LOGIN PASSWORD 'not said aloud'");
    run(url, "ALTER SYSTEM SET ssl TO on");
    run(url, "SELECT pg_reload_conf()");
    // It does so when it comes to it.
    let begun = Instant::now();
    while asked(url, "SELECT setting FROM pg_settings WHERE name = 'ssl'") != "on" {
        assert!(begun.elapsed() < Duration::from_secs(20), "it speaks TLS");
        std::thread::yield_now();
    }
}

#[test]
fn servers_are_verified_as_the_url_demands() {
    let place = Place::new();
    let Some(plain) = &place.url else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let ours = Authority::new(folder.path(), "ours");
    let others = Authority::new(folder.path(), "others");
    let named = plain.replace("127.0.0.1", "localhost");
    let open =
        |url: &str, query: &str| Store::connect(&format!("{url}?{query}"), None, Access::Write);
    let roots = |of: &Authority| format!("sslrootcert={}", of.file.display());
    let refused = open(plain, "sslmode=require").expect_err("it speaks no TLS yet");
    assert!(refused.to_string().contains("does not support TLS"), "{refused}");
    assert!(!refused.is_busy(), "that doesn't pass: {refused}");
    encrypt(plain, &ours.vouches());

    let encrypted = "SELECT count(*)::text FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE ssl AND application_name = 'epitome' AND datname = current_database()";
    let full = format!("sslmode=verify-full&{}", roots(&ours));
    for (url, query) in [
        (plain, "sslmode=require".to_owned()),
        (plain, format!("sslmode=require&{}", roots(&ours))),
        (plain, format!("sslmode=verify-ca&{}", roots(&ours))),
        (&named, full.clone()),
    ] {
        let store = open(url, &query).expect(&query);
        assert!(asked(plain, encrypted).parse::<u32>().expect("a count") > 0, "{query}");
        let body = talk(&query, 4);
        let session = take_in(&store, &body);
        assert!(session.newest_input().expect("readable").expect("kept") == body.as_bytes());
        assert!(store.input(ContentId::of_text(&body)).expect("readable").is_some());
        session.put(&[original(9, "said where nobody listens")]).expect("kept");
        assert_eq!(session.search("listens", 9).expect("searchable").len(), 1);
    }
    for (url, query, why) in [
        (plain, full.clone(), "not valid for name"),
        (&named, format!("sslmode=verify-full&{}", roots(&others)), "UnknownIssuer"),
        (&named, format!("sslmode=verify-ca&{}", roots(&others)), "UnknownIssuer"),
        (&named, format!("sslmode=require&{}", roots(&others)), "UnknownIssuer"),
        (&named, "sslmode=verify-full".to_owned(), "UnknownIssuer"),
    ] {
        let refused = open(url, &query).expect_err(&query);
        assert!(matches!(refused, StoreError::Untrusted { .. }), "{query}: {refused:?}");
        assert!(refused.to_string().contains(why) && !refused.is_busy(), "{query}: {refused}");
    }
    // Who has no name for it may still know whom it speaks with: the password is bound to the certificate.
    let keyed = plain.replace("epitome@", "keyed@");
    run(plain, "GRANT ALL ON SCHEMA epitome TO keyed");
    run(plain, "GRANT ALL ON ALL TABLES IN SCHEMA epitome TO keyed");
    let bound = format!("{keyed}?sslmode=require&channel_binding=require");
    let store = Store::connect(&bound, Some("not said aloud"), Access::Read).expect("bound");
    assert_eq!(store.sessions().expect("listed").len(), 4);
    let refused = Store::connect(&bound, Some("another one"), Access::Read).expect_err("wrong");
    assert!(refused.to_string().contains("password authentication failed"), "{refused}");
    assert!(!refused.to_string().contains("another one"), "{refused}");
}

/// A server that speaks TLS from the first byte on asks for that by name.
#[test]
fn direct_tls_names_its_protocol() {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("bound").port();
    let client = std::thread::spawn(move || {
        let url =
            format!("postgres://me@127.0.0.1:{port}/app?sslmode=require&sslnegotiation=direct");
        Store::connect(&url, None, Access::Write)
    });
    let (mut stream, _) = server.accept().expect("it connects");
    let mut acceptor = Acceptor::default();
    let accepted = loop {
        acceptor.read_tls(&mut stream).expect("it says hello");
        if let Some(accepted) = acceptor.accept().map_err(|(error, _)| error).expect("in TLS") {
            break accepted;
        }
    };
    let spoken: Vec<&[u8]> = accepted.client_hello().alpn().expect("it says").collect();
    assert_eq!(spoken, [b"postgresql"]);
    drop((accepted, stream));
    client.join().expect("no panic").expect_err("nobody answers");
}
