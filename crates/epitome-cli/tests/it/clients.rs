//! `serve --summarizer client`: each client pays for its own summaries, at its own upstream, and nobody learns its key.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};
use testkit::agent::Agent;
use testkit::server::shell::Recorded;
use testkit::server::{Api, Fault, Loop, Model, Next, Reply, Script as _, Seen, Server};

use crate::asked::{self, GOOD};
use crate::bench::{Bench, Ran};
use crate::serve::Served;

/// What a request for a summary says, and no other.
const ASKED: &str = "for somebody who goes on with this work";
/// What the dashboard is opened with.
const TOKEN: &str = "of-this-machine";

/// A provider that answers requests for summaries with this, and agents with calls.
fn provider(summary: Next) -> asked::Served {
    let mut agents = Loop { steps: usize::MAX, parallel: 2, ..Loop::default() };
    let mut server = Server::new(move |seen: &Seen<'_>| {
        if seen.call.body.to_string().contains(ASKED) { summary.clone() } else { agents.next(seen) }
    });
    for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Gemini] {
        let mut model = Model::named(Agent::model(api)).expect("in its table");
        Agent::model(api).clone_into(&mut model.name);
        model.window = 60_000;
        server.judge.models.put(model);
    }
    asked::Served::of(server)
}

/// A header, and what it holds.
fn credential(api: Api, key: &str) -> String {
    match api {
        Api::Anthropic => format!("anthropic-version: 2023-06-01\r\nx-api-key: {key}"),
        Api::Gemini => format!("x-goog-api-key: {key}"),
        _ => format!("authorization: Bearer {key}"),
    }
}

/// An agent's next step.
fn step(proxy: &Served, agent: &mut Agent, header: &str) {
    let body = agent.request().to_string();
    let head = format!(
        "POST {} HTTP/1.1\r\n{header}\r\ncontent-type: application/json\r\ncontent-length: {}",
        agent.path(),
        body.len()
    );
    let answer = proxy.ask_with(&head, &body);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    agent.take(answer.split_once("\r\n\r\n").expect("a body").1, 12);
    // What is prepared in the background has its time, as while an agent runs tools.
    thread::sleep(Duration::from_millis(30));
}

fn serve(bench: &Bench, provider: &asked::Served, summarizer: &str) -> Served {
    let flags = ["--upstream", &provider.running.url, "--window", "12k", "--token", TOKEN];
    Served::new(bench, &[&flags[..], &["--summarizer", summarizer]].concat(), &[])
}

/// What asked for summaries.
fn asking(provider: &asked::Served) -> Vec<Recorded> {
    let mut posted = provider.running.posted();
    posted.retain(|one| String::from_utf8_lossy(&one.body).contains(ASKED));
    posted
}

/// The sum of a meter.
fn meter(proxy: &Served, name: &str) -> u64 {
    let page = proxy.ask("GET /metrics HTTP/1.1");
    let lines = page.lines().filter(|line| line.starts_with(&format!("epitome_{name}_total{{")));
    lines.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum()
}

/// All bytes of the files in a folder.
fn bytes(folder: &Path) -> Vec<u8> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path());
    let read = |path: std::path::PathBuf| {
        if path.is_dir() { bytes(&path) } else { fs::read(path).expect("a file") }
    };
    entries.flat_map(read).collect()
}

#[test]
fn each_client_asks_with_its_own_key_at_its_own_upstream() {
    // What is said in a conversation tells whose it is.
    let clients = [("key-of-the-first-3141", "walnut"), ("key-of-the-second-2718", "hazel")];
    for api in [Api::Anthropic, Api::Chat, Api::Responses, Api::Gemini] {
        let (bench, provider) = (Bench::new(), provider(Reply::text(GOOD).into()));
        let proxy = serve(&bench, &provider, "client");
        thread::scope(|scope| {
            for (key, mark) in clients {
                let proxy = &proxy;
                scope.spawn(move || {
                    let mut agent = Agent::new(api, false);
                    for _ in 0..60 {
                        step(proxy, &mut agent, &credential(api, key));
                        let history = json!(agent.history).to_string();
                        let marked =
                            history.replace("Compiling flush", &format!("Compiling {mark}"));
                        agent.history = serde_json::from_str(&marked).expect("JSON");
                    }
                });
            }
        });
        let mut asked = BTreeSet::new();
        for one in asking(&provider) {
            let body = String::from_utf8_lossy(&one.body).into_owned();
            let whose: Vec<_> = clients
                .iter()
                .filter(|(_, mark)| body.contains(mark))
                .map(|(key, _)| *key)
                .collect();
            let sent = one.headers.iter().filter_map(|(_, value)| value.rsplit(' ').next());
            let sent: Vec<_> = sent.filter(|value| value.starts_with("key-of-")).collect();
            assert_eq!(whose, sent, "{api}");
            let model = Agent::model(api);
            assert!(body.contains(model) || one.path.contains(model), "{api}: {}", one.path);
            assert_eq!(one.status, 200, "{api}: {:?}", one.noted);
            asked.extend(whose);
        }
        assert_eq!(asked.len(), 2, "{api}: {asked:?}");
        let posted = provider.running.posted();
        let shows = |one: &Recorded| String::from_utf8_lossy(&one.body).contains("To go on.");
        assert!(posted.iter().any(shows), "{api}: no summary was used");
        assert_eq!(meter(&proxy, "fallbacks"), 0, "{api}");
    }
}

#[test]
fn a_refusal_is_counted_and_code_does_it_and_nobody_reads_the_key() {
    let key = "a-key-of-no-known-shape-31415";
    let other = |status, message: &str| {
        let (kind, code, message) = (None, None, message.to_owned());
        Next::Fault(Fault::Other { status, kind, code, message })
    };
    for refusal in [
        other(401, &format!("the key {key} isn't known")),
        Next::Fault(Fault::RateLimited { retry_after: Some(60) }),
        Next::Fault(Fault::Overflow),
        Reply::text(format!("My key is {key}.")).into(),
    ] {
        let (bench, provider) = (Bench::new(), provider(refusal.clone()));
        let proxy = serve(&bench, &provider, "client");
        let mut agent = Agent::new(Api::Chat, false);
        for _ in 0..50 {
            step(&proxy, &mut agent, &credential(Api::Chat, key));
        }
        let asked = asking(&provider).len();
        assert!(asked > 0 && meter(&proxy, "compactions") > 1, "{refusal:?}");
        assert!(meter(&proxy, "fallbacks") > 0, "{refusal:?}");
        let mut pages = vec![proxy.ask("GET /metrics HTTP/1.1")];
        let bearer = format!("authorization: Bearer {TOKEN}");
        let list = proxy.ask(&format!("GET /ui HTTP/1.1\r\n{bearer}"));
        let names = list.split("href=\"/ui/").skip(1).filter_map(|rest| rest.split('"').next());
        pages.extend(names.map(|name| proxy.ask(&format!("GET /ui/{name} HTTP/1.1\r\n{bearer}"))));
        assert!(pages.len() > 1, "{list}");
        pages.push(list);
        pages.push(
            String::from_utf8_lossy(&bytes(&bench.path(".local/state/epitome"))).into_owned(),
        );
        pages.push(proxy.killed());
        for page in pages {
            assert!(!page.contains(key), "{refusal:?}: {page}");
        }
    }
}

#[test]
fn another_model_is_asked_at_the_same_place() {
    for (api, model) in [(Api::Chat, "gpt-4o-mini"), (Api::Gemini, "gemini-3.5-flash")] {
        let (bench, provider) = (Bench::new(), provider(Reply::text(GOOD).into()));
        let proxy = serve(&bench, &provider, &format!("client:{model}"));
        let mut agent = Agent::new(api, false);
        for _ in 0..50 {
            step(&proxy, &mut agent, &credential(api, "a-key-of-one"));
        }
        let asking = asking(&provider);
        assert!(!asking.is_empty(), "{api}");
        for one in asking {
            let body: Value = serde_json::from_slice(&one.body).expect("JSON");
            let named = body["model"] == model || one.path.contains(&format!("/models/{model}:"));
            assert!(named && one.status == 200, "{api}: {} {:?}", one.path, one.noted);
        }
    }
}

#[test]
fn where_there_is_no_client_nobody_can_be_asked_so() {
    let bench = asked::bench();
    let mut command = bench.command(&["compact", "in.jsonl", "--summarizer", "client"]);
    Ran::of(&command.output().expect("the binary runs")).ends(2).complains(&["`epitome serve`"]);
}
