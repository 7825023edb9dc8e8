//! `serve --store`: what is known of conversations outlives the program.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use testkit::server::{Next, Reply};

use crate::asked;
use crate::bench::Bench;
use crate::serve::Served;
use epitome::word_list::words;

/// A conversation after so many turns.
fn turns(turns: usize) -> String {
    let filler = "and so on, at some length, as it is in such talks ".repeat(20);
    let turn = |turn: usize| {
        let answer = format!(r#"{{"role":"assistant","content":"It is {turn}, {filler}"}}"#);
        format!(r#"{{"role":"user","content":"What of marker{turn}?"}},{answer},"#)
    };
    let said: String = (0..turns).map(turn).collect();
    format!(
        r#"{{"model":"gpt-4o","messages":[{said}{{"role":"user","content":"What of marker{turns}?"}}]}}"#
    )
}

/// The answer to a prompt.
fn chat(served: &Served, body: &str) -> String {
    let length = body.len();
    let head = "POST /v1/chat/completions HTTP/1.1\r\ncontent-type: application/json\r\nauthorization: Bearer mine";
    let mut stream = TcpStream::connect(&served.address).expect("it listens");
    let head = format!(
        "{head}\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

/// On the disk, and on the server that `EPITOME_POSTGRES` names.
#[test]
fn proxies_in_one_store_show_a_conversation_alike() {
    let bench = Bench::new();
    let url = std::env::var("EPITOME_POSTGRES").ok();
    for store in ["state"].into_iter().chain(url.as_deref()) {
        let script: Vec<Next> = (0..8).map(|_| Reply::text("Well.").into()).collect();
        let model = asked::Served::new(script);
        let upstream = format!("{}/v1", model.running.url);
        let flags = ["--upstream", &upstream, "--window", "8k", "--store", store];
        let sent = |served: &Served, many: usize| {
            assert!(chat(served, &turns(many)).starts_with("HTTP/1.1 200"));
            let body = model.running.posted().pop().expect("it was sent").body;
            let body = String::from_utf8(body.to_vec()).expect("text");
            body.rsplit_once(']').expect("its list is its last").0.to_owned()
        };
        let served = Served::new(&bench, &flags, &[]);
        let first = sent(&served, 60);
        assert!(first.contains("<checkpoint") && first.len() * 2 < turns(60).len());
        // Killed, as when the machine goes down; then two at the same time.
        drop(served);
        let each = [Served::new(&bench, &flags, &[]), Served::new(&bench, &flags, &[])];
        let mut before = first;
        for (served, many) in [(&each[0], 61), (&each[1], 62), (&each[1], 63), (&each[0], 64)] {
            let next = sent(served, many);
            assert!(next.starts_with(&before), "{store}: {before}\n{next}");
            before = next;
        }
        for served in &each {
            let metrics = served.ask("GET /metrics HTTP/1.1");
            assert!(!metrics.contains("epitome_compactions_total{"), "{metrics}");
            assert!(metrics.contains(r#"epitome_keeping_total{api="chat",result="found"} 1"#));
        }
    }
    // Its files are its owner's alone, and hold no credential.
    let files = std::fs::read_dir(bench.path("state")).expect("it is there");
    for file in files.map(|file| file.expect("listed").path()) {
        let bytes = std::fs::read(file).expect("readable");
        assert!(!bytes.windows(11).any(|some| some == b"Bearer mine"));
    }
    let ran = bench.run("serve --store no-such/folder/store").ends(1);
    assert!(ran.err.contains("no-such/folder"), "{}", ran.err);
}

#[test]
fn settings_of_models_are_read_or_refused() {
    let bench = Bench::new();
    for (flags, named) in [
        ("--window 8k --window 9k", "--window is given twice"),
        ("--window =8k", "--window"),
        ("--window m=x", "--window"),
        ("--trigger m=300%", "--trigger"),
        ("--soft-trigger 300%", "--soft-trigger"),
        (
            "--trigger 40k --target 40k",
            "a compaction would land at 40000 tokens and begin at 40000 tokens",
        ),
        ("--mode maybe", "--mode"),
        ("--native gemini", "anthropic or openai"),
        ("--summarizer cmd:cat --for cmd:cat", "--for"),
    ] {
        let ran = bench.run(&format!("serve --listen 127.0.0.1:0 {flags}")).ends(2);
        assert!(ran.err.contains(named), "{flags}: {}", ran.err);
        assert!(!ran.err.contains("serving"), "{}", ran.err);
    }
    let flags = words!(
        "--upstream=http://localhost:1 --mode=off --window=8k --window=qwen*=32k \
         --trigger=gpt-4o=90% --soft-trigger=50% --native=anthropic --native=openai \
         --summarizer=cmd:cat"
    );
    let served = Served::new(&bench, &flags, &[]);
    assert!(served.ask("GET /readyz HTTP/1.1").ends_with("ok\n"));
}
