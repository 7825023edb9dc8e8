//! Ways to a model's server: through a proxy that the environment names, trusting whom it names.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use crate::asked::{GOOD, KEY, bench, compact, receipt};

/// Nobody has it.
const HOST: &str = "models.example";

/// An authority of this test's own (PEM), and a server that it vouches for.
fn authority() -> (String, ServerConfig) {
    let key = KeyPair::generate().expect("a key");
    let mut of = CertificateParams::new(Vec::new()).expect("no names");
    of.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let pem = of.self_signed(&key).expect("it can be made").pem();
    let issuer = Issuer::new(of, key);
    let key = KeyPair::generate().expect("a key");
    let leaf = CertificateParams::new(vec![HOST.to_owned()]).expect("a name");
    let leaf = leaf.signed_by(&key, &issuer).expect("it can be made");
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .expect("ring speaks them")
        .with_no_client_auth()
        .with_single_cert(
            vec![leaf.der().clone()],
            PrivatePkcs8KeyDer::from(key.serialize_der()).into(),
        );
    (pem, config.expect("they belong together"))
}

fn heard(from: &mut impl Read, end: &[u8]) -> Option<String> {
    let mut all = Vec::new();
    while !all.ends_with(end) {
        let mut byte = [0];
        from.read_exact(&mut byte).ok()?;
        all.extend_from_slice(&byte);
    }
    Some(String::from_utf8(all).expect("UTF-8"))
}

/// A good answer whose connection then breaks without a word.
fn answer(mut socket: TcpStream, config: Arc<ServerConfig>, told: &Mutex<Vec<String>>) {
    let Some(asked) = heard(&mut socket, b"\r\n\r\n") else { return };
    told.lock().expect("nobody panics").push(asked);
    socket.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").expect("it listens");
    let connection = ServerConnection::new(config).expect("a good configuration");
    let mut inside = StreamOwned::new(connection, socket);
    // Who doesn't trust this end says nothing.
    let Some(head) = heard(&mut inside, b"\r\n\r\n") else { return };
    let (_, length) = head.split_once("content-length: ").expect("a length");
    let length = length.split("\r\n").next().and_then(|length| length.parse().ok());
    let mut body = vec![0; length.expect("a number")];
    inside.read_exact(&mut body).expect("a body");
    told.lock().expect("nobody panics").push(head);
    let event = json!({ "choices": [{ "delta": { "content": GOOD }, "finish_reason": "stop" }] });
    let page = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {event}\n\ndata: [DONE]\n\n"
    );
    inside.write_all(page.as_bytes()).expect("it listens");
    inside.flush().expect("it listens");
}

/// A proxy, behind which only that server is; and what both were told, in order.
fn proxy(config: ServerConfig) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let (told, config) = (Arc::default(), Arc::new(config));
    let tell = Arc::clone(&told);
    thread::spawn(move || {
        for socket in listener.incoming() {
            answer(socket.expect("a client"), Arc::clone(&config), &tell);
        }
    });
    (url, told)
}

#[test]
fn the_environment_names_a_proxy_and_authorities() {
    let (own, config) = authority();
    let (other, _) = authority();
    let (proxy, told) = proxy(config);
    let bench = bench();
    bench.write("own.pem", own);
    bench.write("other.pem", other);
    let ask = |host: &str, authorities: &str| {
        let name = format!("https://{host}/v1#gpt-4o-mini");
        let flags = ["--summarizer", &name, "--timeout", "20"];
        let authorities = bench.path(authorities).display().to_string();
        let environment = [
            ("HTTPS_PROXY", &proxy[..]),
            ("SSL_CERT_FILE", &authorities),
            ("EPITOME_API_KEY", KEY),
        ];
        compact(&bench, &flags, &environment).ends(0);
        let told = std::mem::take(&mut *told.lock().expect("nobody panics"));
        (receipt(&bench), told)
    };
    let connect = format!("CONNECT {HOST}:443 HTTP/1.1\r\n");

    let (receipt, told) = ask(HOST, "own.pem");
    assert_eq!(receipt["summary"]["by"], "gpt-4o-mini", "{receipt}");
    let [tunnel, request] = &told[..] else { panic!("{told:?}") };
    assert!(tunnel.starts_with(&connect) && !tunnel.contains(KEY), "{tunnel}");
    assert!(request.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(KEY), "it is for the server alone");

    // Nobody vouches for it who is trusted: it is told nothing.
    let (receipt, told) = ask(HOST, "other.pem");
    let why = receipt["fallbacks"][0].as_str().expect("a reason");
    assert!(why.starts_with("gpt-4o-mini: can't be reached: "), "{why}");
    assert!(!told.is_empty() && told.iter().all(|told| told.starts_with(&connect)), "{told:?}");

    // `NO_PROXY` names this machine.
    let (receipt, told) = ask("127.0.0.1:9", "own.pem");
    let why = receipt["fallbacks"][0].as_str().expect("a reason");
    assert!(why.starts_with("gpt-4o-mini: can't be reached: ") && told.is_empty(), "{why}");
}
