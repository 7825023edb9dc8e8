//! A summary that is asked for behind the agent's own prompt: what the provider is sent, and what it costs.

use std::sync::Arc;

use epitome::convert::Goal;
use epitome::engine::Drive;
use epitome::model::Registry;
use epitome::summarize::{AgentPrompt, SECTIONS, Shape, Summaries, Summarizer};
use epitome::view::{Placed, View};
use epitome::{Format, Request, wire};
use epitome_llm::Model;
use testkit::bulk::{Size, generate};
use testkit::server::shell::start;
use testkit::server::{Queue, Reply, Server};
use testkit::to_percent;

use crate::bench::{MODELS, endpoint, limits};

/// What an agent sends, in a format, for a model: the newest message is marked where caches want that.
fn agents(format: Format, model: &str) -> Request {
    let chat = generate(7, Size::entries(Format::OpenaiChat, 200));
    let chat = wire::parse(Format::OpenaiChat, chat).expect("a body");
    let body = epitome::convert::convert(
        &chat,
        Goal { format, model: Some(model), max_output: Some(4_000) },
    )
    .text;
    let mut request = wire::parse(format, body).expect("a body");
    if let Some(named) = request.model() {
        let body = request.source().replace(&named, model);
        request = wire::parse(format, body).expect("a body");
    }
    let body = if format == Format::Anthropic {
        let (before, after) = request.source().split_at(request.frame.list.range().end - 1);
        let mark = r#""cache_control":{"type":"ephemeral"}"#;
        format!(
            r#"{before},{{"role":"user","content":[{{"type":"text","text":"Go on.",{mark}}}]}}{after}"#
        )
    } else {
        let mut view = View::whole(request.transcript.len());
        view.place(Placed { before: request.transcript.len(), text: "Go on.".into() });
        wire::render(&request, &view)
    };
    wire::parse(format, body).expect("a body")
}

#[tokio::test]
async fn the_bytes_before_the_instruction_are_those_that_the_agent_sent() {
    for (format, model) in MODELS {
        let good = SECTIONS.map(|section| format!("## {section}\n{section} continued\n")).concat();
        let script = [Reply::text("Well.").into(), Reply::text(good).into()];
        let running = start(Server::new(Queue::new(script))).await.expect("a free port");
        let sent = agents(format, model);
        let asked = Model::new(endpoint(&running.url, format, model), limits(), None);
        let asked = asked.expect("a good endpoint").asked_by_agent();
        let path = match format {
            Format::OpenaiChat => "/v1/chat/completions".to_owned(),
            Format::OpenaiResponses => "/v1/responses".to_owned(),
            Format::Anthropic => "/v1/messages".to_owned(),
            _ => format!("/v1beta/models/{model}:streamGenerateContent?alt=sse"),
        };
        let agent = reqwest::Client::new().post(format!("{}{path}", running.url));
        let headers = [
            ("content-type", "application/json"),
            ("anthropic-version", "2023-06-01"),
            ("authorization", "Bearer k"),
            ("x-api-key", "k"),
            ("x-goog-api-key", "k"),
        ];
        let agent = headers.iter().fold(agent, |agent, (name, value)| agent.header(*name, *value));
        let reply = agent.body(sent.source().to_string()).send().await.expect("it is there");
        let status = reply.status();
        assert!(status.is_success(), "{format}: {}", reply.text().await.expect("a reason"));

        let all = sent.transcript.len();
        let prompt = AgentPrompt { request: sent.clone(), sent: all, idle: None };
        let known = Registry::built_in().get(model).expect("it is known");
        let chain: Vec<Arc<dyn Summarizer>> = vec![Arc::new(asked)];
        let compactor = testkit::compactor(to_percent(7), known.tokenizer.counter());
        let compactor = compactor.with_summaries(Summaries { chain, ..Summaries::default() });
        let compactor = compactor.expect("in range").with_agent_prompt(prompt);
        let outcome = Drive::new(compactor.begin(&sent)).await.expect("a view");
        let fallbacks = &outcome.receipt.fallbacks;
        let Some(told) = &outcome.receipt.summary else { panic!("{format}: {fallbacks:?}") };
        assert_eq!(told.by.as_deref(), Some(model), "{format}: {fallbacks:?}");
        let [choice] = &told.shapes[..] else { panic!("{format}: {:?}", told.shapes) };
        assert_eq!(choice.shape, Shape::Extension, "{format}: {choice:?}");

        let recorded = running.recorded();
        assert_eq!(recorded.len(), 2, "{format}");
        assert_eq!(recorded[1].path.split('?').next(), path.split('?').next(), "{format}");
        let body = String::from_utf8(recorded[1].body.to_vec()).expect("UTF-8");
        let body = wire::parse(format, body).expect("a body");
        assert_eq!((body.system(), body.tools()), (sent.system(), sent.tools()), "{format}");
        let raw = |request: &Request| -> Vec<String> {
            request.transcript.entries().map(|entry| entry.raw().to_owned()).collect()
        };
        assert_eq!(raw(&body)[..all], raw(&sent), "{format}");
        assert!(raw(&body)[all..].concat().contains("This isn't part of the task"), "{format}");
        assert!(!body.source().contains("tool_choice"), "{format}");
        // The provider read from its cache what was reckoned, nearly: it counts in its own way.
        let usage = recorded[1].noted.usage.expect("it was answered");
        assert!(usage.read * 10 > usage.prompt * 8, "{format}: {usage:?}");
        assert_eq!(told.spent.cached, usage.read, "{format}");
        let paid = told.spent.cost.expect("its price is known");
        assert!(paid < choice.fenced.expect("it was reckoned").cost, "{format}: {paid}");
    }
}
