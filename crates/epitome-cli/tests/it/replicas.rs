//! Two proxies in one store, of which one or the other is killed while agents work.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use testkit::server::{Loop, Server};

use crate::asked;
use crate::bench::Bench;
use crate::serve::Served;

/// Agents, and how often each asks.
const AGENTS: usize = 4;
const ASKED: usize = 80;
/// One proxy is killed before each so manieth request.
const KILLED: usize = 20;

/// What an agent has said after so many turns.
fn turns(agent: usize, turns: usize) -> String {
    let filler = "and so on, at some length, as it is in such talks ".repeat(24);
    let turn = |turn: usize| {
        let answer = format!(r#"{{"role":"assistant","content":"It is {turn}, {filler}"}}"#);
        format!(r#"{{"role":"user","content":"What of marker{turn}?"}},{answer},"#)
    };
    let said: String = (0..turns).map(turn).collect();
    let first = format!(r#"{{"role":"user","content":"I am agent{agent}."}},"#);
    format!(
        r#"{{"model":"gpt-4o","messages":[{first}{said}{{"role":"user","content":"What of marker{turns}?"}}]}}"#
    )
}

/// Whole answers only: whoever is killed gives none, or a piece of one.
fn answer(address: &str, agent: usize, body: &str) -> Option<String> {
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\ncontent-type: application/json\r\nauthorization: Bearer {agent}\r\n\
         host: localhost\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(head.as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    answer.trim_end().ends_with('}').then_some(answer)
}

/// The lists of an agent's prompts as they reached the model, without their ends.
fn lists(model: &asked::Served, agent: usize) -> Vec<String> {
    let bodies = model.running.posted().into_iter().map(|sent| {
        assert_eq!(sent.status, 200, "{}", String::from_utf8_lossy(&sent.body));
        String::from_utf8(sent.body.to_vec()).expect("text")
    });
    let own = bodies.filter(|body| body.contains(&format!("agent{agent}.")));
    own.map(|body| body.rsplit_once(']').expect("its list is its last").0.to_owned()).collect()
}

/// How many prompts don't begin with the one before.
fn breaks(model: &asked::Served, agent: usize) -> usize {
    let lists = lists(model, agent);
    lists.windows(2).filter(|pair| !pair[1].starts_with(&pair[0])).count()
}

fn model() -> asked::Served {
    asked::Served::of(Server::new(Loop { steps: 0, ..Loop::default() }))
}

/// Two proxies, the one or the other killed under way; how many were.
fn work(bench: &Bench, flags: &[&str]) -> usize {
    let proxies = [0, 1].map(|_| Mutex::new(Served::new(bench, flags, &[])));
    let (asked, killed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let address = |which: usize| proxies[which].lock().expect("no panic").address.clone();
    thread::scope(|scope| {
        for agent in 0..AGENTS {
            let (asked, killed, proxies) = (&asked, &killed, &proxies);
            scope.spawn(move || {
                for turn in 0..ASKED {
                    let nth = asked.fetch_add(1, Ordering::Relaxed) + 1;
                    if nth.is_multiple_of(KILLED) {
                        let mut one = proxies[nth / KILLED % 2].lock().expect("no panic");
                        *one = Served::new(bench, flags, &[]);
                        killed.fetch_add(1, Ordering::Relaxed);
                    }
                    let body = turns(agent, turn);
                    // As a balancer does: the other one, if one gives no answer.
                    let mut tries = (turn + agent..turn + agent + 20)
                        .filter_map(|which| answer(&address(which % 2), agent, &body));
                    let answer = tries.next().expect("one of them answers");
                    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
                }
            });
        }
    });
    killed.into_inner()
}

/// On the disk, and on the server that `EPITOME_POSTGRES` names.
#[test]
fn agents_in_one_store_lose_nothing_when_a_proxy_is_killed() {
    let bench = Bench::new();
    let url = std::env::var("EPITOME_POSTGRES").ok();
    for store in ["state"].into_iter().chain(url.as_deref()) {
        // What one proxy does that nobody kills.
        let alone = model();
        let upstream = format!("{}/v1", alone.running.url);
        let served = Served::new(&bench, &["--upstream", &upstream, "--window", "8k"], &[]);
        for turn in 0..ASKED {
            answer(&served.address, 0, &turns(0, turn)).expect("an answer");
        }
        let least = breaks(&alone, 0);
        assert!(least > 1, "{least}");

        let model = model();
        let upstream = format!("{}/v1", model.running.url);
        let flags = ["--upstream", &upstream, "--window", "8k", "--store", store];
        let killed = work(&bench, &flags);
        assert!(killed >= 8, "{killed}");
        let all: usize = (0..AGENTS).map(|agent| breaks(&model, agent)).sum();
        // A prompt that was sent before its compaction was kept is made anew.
        println!("{store}: {all} breaks of {}, {killed} killed", AGENTS * least);
        assert!(all <= AGENTS * least + killed, "{store}: {all}, {killed} killed");
    }
}
