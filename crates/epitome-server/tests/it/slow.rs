//! Clients over HTTP that are slow or gone hold nobody up.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use epitome_server::{ConnectionLimits, PATH, http};

use crate::recalls;

const SHORT: Duration = Duration::from_millis(200);
/// What no limit of these tests lasts; a server that never ends a connection fails there.
const LONG: Duration = Duration::from_mins(2);

/// A server with these limits, until the tests end.
fn serving(limits: ConnectionLimits) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let at = listener.local_addr().expect("bound");
    thread::spawn(move || http(recalls(), listener, limits));
    at
}

/// All that the server says to a client that says this and then nothing, until it closes the connection.
fn closed(at: SocketAddr, said: &str) -> String {
    let mut stream = TcpStream::connect(at).expect("it listens");
    stream.set_read_timeout(Some(LONG)).expect("set");
    stream.write_all(said.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("the server closes it");
    answer
}

/// The head of a request with a body of so many bytes.
fn head(length: usize) -> String {
    format!(
        "POST {PATH} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\ncontent-length: {length}\r\n\r\n"
    )
}

const PING: &str = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;

#[test]
fn slow_and_half_open_connections_are_closed() {
    let quick = ConnectionLimits { head: SHORT, request: SHORT, ..ConnectionLimits::default() };
    let at = serving(quick);
    assert_eq!(closed(at, ""), "", "nothing was asked");
    for part in ["POST", "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\nx: "] {
        let answer = closed(at, part);
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 408"), "{part:?}: {answer}");
    }
    // The head is there, and the body never comes.
    let answer = closed(at, &format!("{}{{", head(100)));
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
    // What was answered is closed too, where nothing follows.
    let answer = closed(at, &format!("{}{PING}", head(PING.len())));
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(r#""id":7"#), "{answer}");
    let life = ConnectionLimits { life: SHORT, ..ConnectionLimits::default() };
    assert_eq!(closed(serving(life), ""), "");
}

#[test]
fn a_request_behind_many_is_served() {
    let limits = ConnectionLimits { head: SHORT, connections: 2, ..ConnectionLimits::default() };
    let at = serving(limits);
    let held: Vec<TcpStream> =
        (0..6).map(|_| TcpStream::connect(at).expect("it listens")).collect();
    let answer = closed(at, &format!("{}{PING}", head(PING.len())));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    drop(held);
}
