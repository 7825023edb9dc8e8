//! The spans of `serve`, as a collector of OpenTelemetry gets them.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use prost::Message as _;
use testkit::server::{Loop, Server};

use crate::asked;
use crate::bench::Bench;
use crate::serve::{Served, read_head};

/// What a client says, and what no span may say.
const CANARY: &str = "canary-8f3a";
/// A collector's own key.
const KEY: &str = "collector-key-77";

/// How a collector answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    Takes,
    Refuses,
    Hangs,
}

/// A head, and a body.
type Sent = (String, Vec<u8>);

/// A collector that keeps what it is sent: heads and bodies.
struct Collector {
    url: String,
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl Collector {
    fn new(manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let sent = Arc::<Mutex<Vec<_>>>::default();
        let book = Arc::clone(&sent);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, book) = (stream.expect("a connection"), Arc::clone(&book));
                thread::spawn(move || collect(stream, manner, &book));
            }
        });
        Collector { url, sent }
    }

    fn spans(&self) -> Vec<Span> {
        let sent = self.sent.lock().expect("no panic");
        let read = |body: &Vec<u8>| ExportTraceServiceRequest::decode(&body[..]).expect("protobuf");
        let resources = sent.iter().flat_map(|(_, body)| read(body).resource_spans);
        resources.flat_map(|of| of.scope_spans).flat_map(|of| of.spans).collect()
    }

    fn holds(&self, word: &str) -> bool {
        let sent = self.sent.lock().expect("no panic");
        let has = |bytes: &[u8]| bytes.windows(word.len()).any(|piece| piece == word.as_bytes());
        sent.iter().any(|(_, body)| has(body))
    }
}

fn collect(mut stream: TcpStream, manner: Manner, book: &Mutex<Vec<Sent>>) {
    while let Some(head) = read_head(&mut stream) {
        let head = String::from_utf8(head).expect("text").to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1).and_then(|it| it.lines().next());
        let mut body = vec![0; length.and_then(|it| it.parse().ok()).expect("a length")];
        stream.read_exact(&mut body).expect("a body");
        book.lock().expect("no panic").push((head, body));
        let status = match manner {
            Manner::Takes => "200 OK",
            Manner::Refuses => "400 Bad Request",
            Manner::Hangs => continue,
        };
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        stream.write_all(answer.as_bytes()).expect("it reads");
    }
}

/// The attributes of a span, in words.
fn told(span: &Span) -> BTreeMap<&str, String> {
    let word = |value: &Value| match value {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        Value::BoolValue(is) => is.to_string(),
        other => format!("{other:?}"),
    };
    let pairs = span.attributes.iter().map(|pair| {
        let value = pair.value.as_ref().and_then(|any| any.value.as_ref()).map(word);
        (pair.key.as_str(), value.unwrap_or_default())
    });
    let all: BTreeMap<_, _> = pairs.collect();
    assert_eq!(all.len(), span.attributes.len(), "each once: {:?}", span.attributes);
    all
}

/// A conversation of so many turns, which says what no span may say.
fn body(turns: usize, more: &str) -> String {
    let filler = "and so on, at some length, as it is in such talks ".repeat(24);
    let turn = |turn: usize| {
        let answer = format!(r#"{{"role":"assistant","content":"It is {turn}, {filler}"}}"#);
        format!(r#"{{"role":"user","content":"{CANARY} What of {turn}?"}},{answer},"#)
    };
    let said: String = (0..turns).map(turn).collect();
    let tool = format!(
        r#"{{"type":"function","function":{{"name":"{CANARY}_tool","description":"{CANARY}","parameters":{{"type":"object"}}}}}}"#
    );
    format!(
        r#"{{"model":"gpt-4o","tools":[{tool}],{more}"messages":[{said}{{"role":"user","content":"{CANARY}?"}}]}}"#
    )
}

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn ask(served: &Served, body: &str) -> String {
    served.ask_with(
        &format!(
            "POST /v1/chat/completions HTTP/1.1\r\ncontent-type: application/json\r\n\
             authorization: Bearer sk-{CANARY}\r\ntraceparent: 00-{TRACE}-{PARENT}-01\r\ncontent-length: {}",
            body.len()
        ),
        body,
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

fn model() -> asked::Served {
    asked::Served::of(Server::new(Loop { steps: 0, ..Loop::default() }))
}

/// The variables that send spans there, and only at the end.
fn variables(url: &str) -> [(&str, &str); 3] {
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", url),
        ("OTEL_EXPORTER_OTLP_HEADERS", "x-collector-key=collector-key-77"),
        ("OTEL_BSP_SCHEDULE_DELAY", "600000"),
    ]
}

#[cfg(unix)]
#[test]
fn each_call_is_a_span_and_its_compaction_is_a_child_of_it() {
    let (bench, collector, model) = (Bench::new(), Collector::new(Manner::Takes), model());
    let upstream = format!("openai={}/v1", model.running.url);
    let flags = ["--upstream", &upstream, "--upstream", "anthropic=http://127.0.0.1:1"];
    let flags = [&flags[..], &["--window", "8k", "--mode", "auto"]].concat();
    let served = Served::new(&bench, &flags, &variables(&collector.url));
    for turns in [0, 40] {
        let answer = ask(&served, &body(turns, ""));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    let streamed = r#""stream":true,"stream_options":{"include_usage":true},"#;
    let answer = ask(&served, &body(1, streamed));
    assert!(answer.contains("[DONE]"), "{answer}");
    // Refused by the upstream, not reachable, and counted alone: no call of a model.
    let answer = ask(&served, r#"{"model":"gpt-4o","messages":[]}"#);
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    let nowhere = r#"{"model":"claude-opus-5-5","max_tokens":9,"messages":[{"role":"user","content":"canary-8f3a"}]}"#;
    for (path, status) in [("/v1/messages", 502), ("/v1/messages/count_tokens", 502)] {
        let head = format!(
            "POST {path} HTTP/1.1\r\nx-api-key: {CANARY}\r\ncontent-length: {}",
            nowhere.len()
        );
        let answer = served.ask_with(&head, nowhere);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
    }
    assert!(collector.spans().is_empty(), "nothing is due yet");
    assert_eq!(served.ended().0, Some(0));

    let spans = collector.spans();
    let called = |name: &str| spans.iter().filter(|span| span.name == name).collect::<Vec<_>>();
    let (calls, compactions) = (called("chat gpt-4o"), called("compact gpt-4o"));
    let [first, large, streamed, refused] = calls[..] else { panic!("{spans:?}") };
    let [compaction] = compactions[..] else { panic!("{spans:?}") };
    let [unreachable] = called("chat claude-opus-5-5")[..] else { panic!("{spans:?}") };
    assert_eq!(spans.len(), 6, "{spans:?}");

    for call in [first, large, streamed, refused] {
        assert_eq!((hex(&call.trace_id), hex(&call.parent_span_id)), (TRACE.into(), PARENT.into()));
        assert_eq!(call.kind, i32::from(SpanKind::Client));
        let told = told(call);
        assert_eq!(told["gen_ai.operation.name"], "chat");
        assert_eq!(told["gen_ai.provider.name"], "openai");
        assert_eq!(told["gen_ai.request.model"], "gpt-4o");
        assert_eq!(told["server.address"], "127.0.0.1");
        let port = model.running.url.rsplit_once(':').expect("a port").1;
        assert_eq!(told["server.port"], port);
        assert!(call.end_time_unix_nano > call.start_time_unix_nano);
    }
    let usage = |span| {
        let told = told(span);
        let names = ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"];
        names.map(|name| told.get(name).map(|it| it.parse::<u64>().expect("a number")))
    };
    for call in [first, large, streamed] {
        let told = told(call);
        assert_eq!(told["http.response.status_code"], "200");
        assert_eq!(told["gen_ai.response.model"], "gpt-4o");
        assert_eq!(told.get("error.type"), None);
        assert!(usage(call).iter().all(|it| it.is_some_and(|tokens| tokens > 0)), "{told:?}");
    }
    let flagged = |name: &str| {
        [first, large, streamed]
            .map(|span| told(span).get(name).map(String::as_str) == Some("true"))
    };
    assert_eq!(flagged("gen_ai.conversation.compacted"), [false, true, false]);
    assert_eq!(flagged("gen_ai.request.stream"), [false, false, true]);
    for (span, error, status) in [(refused, "400", "400"), (unreachable, "upstream", "502")] {
        let told = told(span);
        assert_eq!(
            (&told["error.type"][..], &told["http.response.status_code"][..]),
            (error, status)
        );
        assert_eq!(span.status.as_ref().map(|status| status.code), Some(2), "{span:?}");
        assert_eq!(usage(span), [None, None]);
    }
    assert!(unreachable.parent_span_id.is_empty(), "nobody named a parent");

    assert_eq!(compaction.parent_span_id, large.span_id);
    assert_eq!(compaction.trace_id, large.trace_id);
    assert_eq!(compaction.kind, i32::from(SpanKind::Internal));
    let told = told(compaction);
    assert_eq!(told["epitome.outcome"], "target");
    assert!(compaction.events.iter().any(|event| event.name == "strategy applied"));

    assert!(!collector.holds(CANARY), "content or a credential");
    assert!(!collector.holds("talks") && !collector.holds(KEY));
    let sent = collector.sent.lock().expect("no panic");
    let head = &sent.first().expect("it was sent").0;
    assert!(head.starts_with("post /v1/traces http/1.1"), "{head}");
    assert!(head.contains(&format!("x-collector-key: {KEY}")), "{head}");
    assert!(head.contains("content-type: application/x-protobuf"), "{head}");
    drop(sent);
    assert!(collector.holds("epitome"), "the service has a name");
    // What came goes on.
    let traced = |headers: &[(String, String)]| {
        headers.iter().any(|(name, value)| name == "traceparent" && value.contains(PARENT))
    };
    assert!(model.running.posted().iter().all(|sent| traced(&sent.headers)));
}

#[cfg(unix)]
#[test]
fn a_client_that_leaves_has_cancelled_its_call() {
    let (bench, collector) = (Bench::new(), Collector::new(Manner::Takes));
    let upstream = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", upstream.local_addr().expect("it is bound"));
    let served = Served::new(&bench, &["--upstream", &url], &variables(&collector.url));
    let mut client = TcpStream::connect(&served.address).expect("it listens");
    let body = body(0, r#""stream":true,"#);
    let length = body.len();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n"
    );
    client.write_all(format!("{head}{body}").as_bytes()).expect("it reads");
    // The proxy may ask for the model's window first.
    let mut asked = loop {
        let (mut asked, _) = upstream.accept().expect("it is forwarded");
        if read_head(&mut asked).expect("a head").starts_with(b"POST") {
            break asked;
        }
        let nothing = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        asked.write_all(nothing).expect("it reads");
    };
    let begun = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n\
                 2c\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n\r\n";
    asked.write_all(begun.as_bytes()).expect("it reads");
    let mut some = [0; 64];
    assert!(client.read(&mut some).expect("an answer begins") > 0);
    drop(client);
    // The proxy goes away from the upstream, too.
    let _rest = asked.read_to_end(&mut Vec::new());
    assert_eq!(served.ended().0, Some(0));
    let spans = collector.spans();
    let [span] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!(told(span)["error.type"], "cancelled", "{span:?}");
    assert_eq!(told(span)["http.response.status_code"], "200");
}

#[cfg(unix)]
#[test]
fn a_collector_that_is_down_hangs_or_refuses_costs_no_request() {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let down = format!("http://{}", nobody.local_addr().expect("it is bound"));
    drop(nobody);
    let (hangs, refuses) = (Collector::new(Manner::Hangs), Collector::new(Manner::Refuses));
    for (url, says) in
        [(&down, Some("doesn't answer")), (&refuses.url, Some("answers 400")), (&hangs.url, None)]
    {
        let (bench, model) = (Bench::new(), model());
        let upstream = format!("{}/v1", model.running.url);
        // Each span is due at once, and no second one has room.
        let mut all = variables(url).to_vec();
        all.extend([("OTEL_BSP_MAX_QUEUE_SIZE", "1"), ("OTEL_BSP_SCHEDULE_DELAY", "1")]);
        let served = Served::new(&bench, &["--upstream", &upstream], &all);
        for _ in 0..20 {
            let answer = ask(&served, &body(1, ""));
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        }
        let (code, err) = served.ended();
        assert_eq!(code, Some(0), "{err}");
        assert!(says.is_none_or(|says| err.contains(says)), "{url}: {err}");
        assert!(err.matches("spans can't be sent").count() <= 1, "{err}");
        assert!(!err.contains(KEY), "{err}");
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_sent_unless_the_environment_asks_for_it() {
    for more in [
        ("OTEL_SDK_DISABLED", "TRUE"),
        ("OTEL_TRACES_EXPORTER", "none"),
        ("OTEL_TRACES_SAMPLER", "always_off"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", ""),
    ] {
        let (bench, collector, model) = (Bench::new(), Collector::new(Manner::Takes), model());
        let upstream = format!("{}/v1", model.running.url);
        let all = [&variables(&collector.url)[..], &[more]].concat();
        let served = Served::new(&bench, &["--upstream", &upstream], &all);
        ask(&served, &body(1, ""));
        assert_eq!(served.ended().0, Some(0));
        assert!(collector.spans().is_empty(), "{more:?}");
    }
    let (bench, collector) = (Bench::new(), Collector::new(Manner::Takes));
    for (name, value) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://me:collector-key-77@no host/"),
    ] {
        let mut command = bench.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.envs(variables(&collector.url)).env(name, value);
        let ran = command.output().expect("the binary ends");
        let err = String::from_utf8(ran.stderr).expect("text");
        assert_eq!(ran.status.code(), Some(2), "{err}");
        assert!(err.contains("OTEL_EXPORTER_OTLP_") && !err.contains(KEY), "{err}");
    }
}
