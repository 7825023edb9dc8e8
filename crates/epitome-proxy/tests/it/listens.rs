//! Where it listens: paths, TLS, and what is told of requests.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use epitome_proxy::{Listening, Proxy, ProxyEvent, ProxyObserver, ProxyOptions, TlsIdentity};
use http::Response;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsConnector;

use crate::noting::{upstream, whole};
use crate::stage::{Stage, before};

const ASKED: &[u8] = b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";

async fn asked(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> String {
    stream.write_all(ASKED).await.expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("an answer");
    answer
}

/// Serves until the runtime ends.
fn served(url: &str, listening: impl Into<Listening> + Send + 'static) {
    let proxy = Proxy::new(&before(url, None)).expect("in range");
    tokio::spawn(async move { proxy.serve(listening, std::future::pending()).await });
}

#[cfg(unix)]
#[tokio::test]
async fn a_path_of_this_machine_is_listened_at() {
    let (url, _) = upstream(|_| std::future::ready(Response::new(whole("models")))).await;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("proxy.sock");
    served(&url, tokio::net::UnixListener::bind(&path).expect("a new path"));
    let answer = asked(tokio::net::UnixStream::connect(&path).await.expect("it listens")).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("models"), "{answer}");
}

#[tokio::test]
async fn with_tls_it_proves_who_it_is() {
    let (url, _) = upstream(|_| std::future::ready(Response::new(whole("models")))).await;
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let (chain, key) = (own.cert.pem(), own.signing_key.serialize_pem());
    let identity = TlsIdentity::from_pem(chain.as_bytes(), key.as_bytes()).expect("both are there");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let at = listener.local_addr().expect("it is bound");
    served(&url, Listening::from(listener).with_tls(identity));
    let mut roots = RootCertStore::empty();
    roots.add(own.cert.der().clone()).expect("a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    for (protocol, is_taken) in [("http/1.1", true), ("h2", true), ("smtp", false)] {
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("known versions")
            .with_root_certificates(roots.clone());
        let mut config = config.with_no_client_auth();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let stream = TcpStream::connect(at).await.expect("it listens");
        let name = ServerName::try_from("localhost").expect("a name");
        let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await;
        assert_eq!(stream.is_ok(), is_taken, "{protocol}");
        if protocol == "http/1.1" {
            let answer = asked(stream.expect("it is taken")).await;
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        }
    }
    for (chain, key, what) in [("", &key, "certificate"), (&chain, &String::new(), "private key")] {
        let error =
            TlsIdentity::from_pem(chain.as_bytes(), key.as_bytes()).expect_err("it lacks one");
        assert!(error.to_string().contains(what), "{error}");
    }
}

#[tokio::test]
async fn each_request_is_told_of_once_and_without_its_words() {
    let (url, _) = upstream(|_| std::future::ready(Response::new(whole("{}")))).await;
    let told = Arc::new(Mutex::new(Vec::new()));
    let book = Arc::clone(&told);
    let observer =
        ProxyObserver::new(move |one| book.lock().expect("nobody panicked").push(one.clone()));
    let stage = Stage::new(&ProxyOptions { observer: Some(observer), ..before(&url, None) }).await;
    stage
        .call(stage.post("/v1/messages").body(Bytes::from_static(b"{}")).expect("a request"))
        .await;
    stage.get("/v1/messages").await;
    let refused = stage.post("/v1/responses").header("upgrade", "websocket").body(Bytes::new());
    stage.call(refused.expect("a request")).await;
    let told = told.lock().expect("nobody panicked");
    let answered = told.iter().filter_map(|one| match one {
        ProxyEvent::Answered { api, status, .. } => Some((*api, *status)),
        _ => None,
    });
    let told: Vec<_> = answered.collect();
    assert_eq!(told, [("messages", 200), ("other", 200), ("responses", 426)]);
}
