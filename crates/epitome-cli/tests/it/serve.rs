//! `serve`: the proxy as a program. What it does to requests is tested in `epitome-proxy`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, Stdio};
use std::sync::Arc;
use std::thread;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::bench::Bench;

/// A proxy that runs as long as this lives.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
    stderr: BufReader<ChildStderr>,
}

impl Served {
    pub(crate) fn new(bench: &Bench, flags: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = bench.command(&[&["serve", "--listen", "127.0.0.1:0"], flags].concat());
        command.stderr(Stdio::piped()).envs(environment.iter().copied());
        let mut child = command.spawn().expect("the binary runs");
        let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
        let mut line = String::new();
        stderr.read_line(&mut line).expect("it says where it listens");
        let address = line.strip_prefix("serving http://").expect(&line);
        let address = address.split(',').next().unwrap_or_default().to_owned();
        Served { child, address, stderr }
    }

    /// The answer to a request in words, the connection being closed behind it.
    pub(crate) fn ask(&self, head: &str) -> String {
        self.ask_with(head, "")
    }

    /// The same with a body.
    pub(crate) fn ask_with(&self, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        let head = format!("{head}\r\nhost: localhost\r\nconnection: close\r\n\r\n{body}");
        stream.write_all(head.as_bytes()).expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }
}

impl Served {
    /// Ends it at once; what it said.
    pub(crate) fn killed(mut self) -> String {
        self.child.kill().expect("it runs");
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).expect("text");
        said
    }
}

#[cfg(unix)]
impl Served {
    /// Asks it to end; with what code it does, and what it said.
    #[cfg(feature = "otlp")]
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        use nix::sys::signal::{Signal, kill};
        use nix::unistd::Pid;

        let pid = Pid::from_raw(self.child.id().cast_signed());
        kill(pid, Signal::SIGTERM).expect("it runs");
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).expect("text");
        (self.child.wait().expect("it ends").code(), said)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Some have ended already.
        let _ended = self.child.kill();
        self.child.wait().expect("it ended");
    }
}

/// An upstream that answers each connection with the head that it read, behind TLS where there is a configuration.
pub(crate) fn upstream(tls: Option<Arc<ServerConfig>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.expect("a connection");
            match &tls {
                None => echo(stream),
                Some(config) => {
                    let session = ServerConnection::new(Arc::clone(config)).expect("a session");
                    echo(StreamOwned::new(session, stream));
                }
            }
        }
    });
    address
}

/// The head of a request; `None` where there is none.
pub(crate) fn read_head(stream: &mut impl std::io::Read) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        let Ok(1) = stream.read(&mut byte) else { return None };
        head.push(byte[0]);
    }
    Some(head)
}

fn echo(mut stream: impl std::io::Read + std::io::Write) {
    // A client that doesn't trust this side goes away.
    let Some(head) = read_head(&mut stream) else { return };
    let length = head.len();
    let answer =
        format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    let _gone = stream.write_all(answer.as_bytes()).and_then(|()| stream.write_all(&head));
    let _gone = stream.flush();
}

#[test]
fn it_says_where_it_listens_and_forwards() {
    let bench = Bench::new();
    let address = upstream(None);
    let mut served = Served::new(&bench, &["--upstream", &format!("http://{address}/base")], &[]);
    let answer = served.ask("GET /v1/models HTTP/1.1\r\nx-own: 1");
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    let head = answer.split_once("\r\n\r\n").expect("a body").1;
    assert!(head.starts_with("GET /base/v1/models HTTP/1.1\r\n"), "{head}");
    assert!(
        head.contains("x-own: 1\r\n") && head.contains(&format!("host: {address}\r\n")),
        "{head}"
    );
    assert!(served.ask("GET /metrics HTTP/1.1").contains("epitome_requests_total"));

    let mut line = String::new();
    served.stderr.read_line(&mut line).expect("it says what opens the dashboard");
    assert!(line.starts_with(&format!("dashboard http://{}/ui, password ", served.address)));
    let token = line.trim_end().rsplit(' ').next().expect("a word");
    for (token, status) in [(token, "200 OK"), ("another", "401 Unauthorized")] {
        let answer = served.ask(&format!("GET /ui HTTP/1.1\r\nauthorization: Bearer {token}"));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }

    let mut command = bench.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    command.args(["--upstream", "http://localhost:1"]).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut line = String::new();
    let stderr = child.stderr.take().expect("it is piped");
    BufReader::new(stderr).read_line(&mut line).expect("it says where it listens");
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    let told: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert!(told["serving"].as_str().is_some_and(|url| url.starts_with("http://127.0.0.1:")));
    crate::obeyed::obeyed("serve --json", "", &line);
}

#[test]
fn conversations_are_kept_in_a_folder_of_the_users() {
    let bench = Bench::new();
    let kept = bench.path(".local/state/epitome/proxy");
    drop(Served::new(&bench, &["--store", "none"], &[]));
    assert!(!kept.exists());
    drop(Served::new(&bench, &[], &[]));
    assert!(kept.exists());
    // Where there can be none, it serves all the same, and says so.
    let file = bench.path("file");
    bench.write("file", "");
    let home = [("XDG_STATE_HOME", file.to_str().expect("text"))];
    let mut served = Served::new(&bench, &["--token", "of-this-machine"], &home);
    let mut line = String::new();
    served.stderr.read_line(&mut line).expect("a warning");
    assert!(line.contains("in memory only"), "{line}");
    assert!(served.ask("GET /livez HTTP/1.1").starts_with("HTTP/1.1 200 OK"));
}

/// A certificate of its own for `localhost`, and what serves with it.
fn certified() -> (String, Arc<ServerConfig>) {
    let made =
        rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .expect("a pair");
    (made.cert.pem(), Arc::new(config))
}

#[test]
fn an_upstream_must_prove_who_it_is() {
    let bench = Bench::new();
    let (pem, config) = certified();
    let (other, _) = certified();
    bench.write("own.pem", pem);
    bench.write("other.pem", other);
    let port = upstream(Some(config)).rsplit_once(':').expect("a port").1.to_owned();
    let flags = ["--upstream", &format!("https://localhost:{port}")];
    for (file, status) in [("own.pem", "200 OK"), ("other.pem", "502 Bad Gateway")] {
        let trusted = bench.path(file);
        let trusted = trusted.to_str().expect("a plain path");
        let served = Served::new(&bench, &flags, &[("SSL_CERT_FILE", trusted)]);
        let answer = served.ask("GET /v1/models HTTP/1.1\r\nauthorization: Bearer sk-user-secret");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        assert_eq!(answer.contains("sk-user-secret"), status == "200 OK", "{answer}");
    }
}

#[test]
fn upstreams_are_reached_through_the_proxy_of_the_environment() {
    let bench = Bench::new();
    let (pem, _) = certified();
    bench.write("own.pem", pem);
    let trusted = bench.path("own.pem");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let proxy = format!("http://me:word@{}", listener.local_addr().expect("it is bound"));
    let variables = [
        ("SSL_CERT_FILE", trusted.to_str().expect("a plain path")),
        ("HTTPS_PROXY", &proxy),
        ("NO_PROXY", "near.example"),
    ];
    let served = Served::new(&bench, &["--upstream", "https://models.example"], &variables);
    let asked = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("it is asked");
        let mut seen = [0; 1 << 12];
        let count = stream.read(&mut seen).expect("a head");
        stream.write_all(b"HTTP/1.1 403 Forbidden\r\n\r\n").expect("it is read");
        String::from_utf8_lossy(&seen[..count]).into_owned()
    });
    let answer = served.ask("GET /v1/models HTTP/1.1\r\nauthorization: Bearer sk-user-secret");
    assert!(answer.starts_with("HTTP/1.1 502 Bad Gateway"), "{answer}");
    let asked = asked.join().expect("it was asked");
    assert!(asked.starts_with("CONNECT models.example:443 HTTP/1.1\r\n"), "{asked}");
    assert!(asked.contains("Basic bWU6d29yZA==") && !asked.contains("secret"), "{asked}");
}

#[test]
fn what_makes_no_sense_is_a_usage_error() {
    let bench = Bench::new();
    for (flags, named) in [
        ("--upstream mistral=https://m", "mistral"),
        ("--upstream ftp://m", "ftp://m"),
        ("--upstream http://models.example", "EPITOME_PLAIN_HTTP=models.example"),
        ("--upstream http://a:1 --upstream http://b:1", "everything has two upstreams"),
        ("--listen 0.0.0.0:0", "--plain"),
        ("--window 30%", "--window"),
        ("--trigger 300%", "--trigger"),
        ("--target 0", "--target"),
        ("--token short", "8 characters"),
        ("--listen nowhere", "unix:PATH"),
        ("--listen unix:/nowhere/at/all", "/nowhere/at/all"),
        ("--listen unix:", "names no path"),
        ("--window qw*n=32k", "`qw*n`"),
        ("--trigger *a*=32k", "`*a*`"),
        ("--trigger 0", "at least"),
        ("--trigger 10", "at least"),
        ("--trigger 0%", "at least"),
        ("--trigger gpt-6=10", "of gpt-6"),
        ("--soft-trigger 20", "at least"),
        ("--soft-trigger 90%", "isn't below --trigger (80 %"),
        ("--window 100", "a window of 100 tokens"),
        ("--tls-cert a.pem", "--tls-key"),
        ("--tls-cert a.pem --tls-key b.pem", "a.pem"),
    ] {
        let ran = bench.run(&format!("serve {flags}")).ends(2);
        assert!(ran.err.contains(named), "{flags}: {}", ran.err);
        assert!(!ran.err.contains("serving"), "{}", ran.err);
    }
    // A port that somebody has.
    let held = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let at = held.local_addr().expect("it is bound");
    let ran = bench.run(&format!("serve --upstream http://localhost:1 --listen {at}")).ends(1);
    assert!(ran.err.contains(&at.to_string()), "{}", ran.err);
}

#[cfg(target_os = "linux")]
#[test]
fn asked_to_end_it_finishes_what_is_under_way() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    let bench = Bench::new();
    // An upstream that answers when it is told to.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    for asked_twice in [false, true] {
        let token = [("EPITOME_TOKEN", "of-this-test")];
        let mut served = Served::new(&bench, &["--upstream", &url], &token);
        let mut client = TcpStream::connect(&served.address).expect("it listens");
        let head = "GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
        client.write_all(head.as_bytes()).expect("it reads");
        let (mut upstream, _) = listener.accept().expect("it is forwarded");
        // Who answers before it is asked breaks the protocol, and the proxy says so.
        read_head(&mut upstream).expect("a head");
        let pid = Pid::from_raw(served.child.id().cast_signed());
        kill(pid, Signal::SIGTERM).expect("it runs");
        let mut line = String::new();
        served.stderr.read_line(&mut line).expect("it says so");
        assert!(line.starts_with("ending when"), "{line}");
        if asked_twice {
            kill(pid, Signal::SIGTERM).expect("it runs");
            assert_eq!(served.child.wait().expect("it ends").code(), Some(130));
            continue;
        }
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\ndone";
        upstream.write_all(answer.as_bytes()).expect("it reads");
        let mut got = String::new();
        client.read_to_string(&mut got).expect("an answer");
        assert!(got.ends_with("done"), "{got}");
        assert_eq!(served.child.wait().expect("it ends").code(), Some(0));
    }
}
