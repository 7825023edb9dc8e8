//! The host's own agent loop as a summarizer: no key, no client and no model beside those that the host has.
//!
//! `cargo run -p epitome --example own_loop` compacts a session of a made-up host, whose loop asks a model that is
//! made up too. A real host calls its own loop at the same place, without tools and with a time limit of its own.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use epitome::count::counter;
use epitome::engine::Drive;
use epitome::summarize::{SECTIONS, SYSTEM, from_fn};
use epitome::{Compactor, Options, Target, wire};

/// What a host has: a loop that takes a conversation one reply further.
#[derive(Debug)]
struct Agent;

impl Agent {
    /// One reply, without tools.
    async fn reply(&self, system: &str, message: &str) -> String {
        assert!(system.contains("call no tools") && message.contains("## Goal"));
        let said = |section| match section {
            "Goal" => "The build of the parser is to be fixed.",
            "State" => "In progress: the modules were read one after the other.",
            _ => "none",
        };
        let text = SECTIONS.map(|section| format!("## {section}\n{}\n", said(section))).concat();
        // A real one waits for its model here.
        std::future::ready(text).await
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agent = Arc::new(Agent);
    let own = from_fn("own loop", move |request| {
        let agent = Arc::clone(&agent);
        async move { Ok(agent.reply(SYSTEM, &request.prompt()).await) }
    });
    let options = Options { target: Target::Percent(20), ..Options::default() };
    let compactor = Compactor::new(options, counter("o200k")?)?.with_summaries(own)?;

    let request = wire::detect(session())?;
    let outcome = wait(Drive::new(compactor.begin(&request)))?;
    let receipt = &outcome.receipt;
    println!("{} → {} tokens", receipt.before.count.tokens, receipt.after.count.tokens);
    let summary = receipt.summary.as_ref();
    let summary = summary.ok_or_else(|| format!("nobody was asked: {:?}", receipt.fallbacks))?;
    println!("summed up by {:?} in {} tokens", summary.by, summary.tokens);
    if let Some(checkpoint) = outcome.view.checkpoint() {
        println!("{}", checkpoint.text);
    }
    assert_eq!(summary.by.as_deref(), Some("own loop"), "{:?}", receipt.fallbacks);
    Ok(())
}

/// A session that is long enough.
fn session() -> String {
    let mut messages =
        vec![r#"{"role":"user","content":"Fix the build of the parser."}"#.to_owned()];
    for step in 0..120 {
        let code = format!("pub fn f{step}() {{ assert!(true); }} ").repeat(30);
        let thought =
            format!("Step {step}: the module has to be read before it can be changed. ").repeat(8);
        messages.push(format!(
            r#"{{"role":"assistant","content":"{thought}","tool_calls":[{{"id":"c{step}","type":"function","function":{{"name":"Read","arguments":"{{\"path\":\"src/f{step}.rs\"}}"}}}}]}}"#
        ));
        messages.push(format!(r#"{{"role":"tool","tool_call_id":"c{step}","content":"{code}"}}"#));
    }
    messages.push(r#"{"role":"user","content":"Go on."}"#.to_owned());
    format!(r#"{{"model":"gpt-6-sol","messages":[{}]}}"#, messages.join(","))
}

/// What a runtime does, in short.
fn wait<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
