//! Each format: what is sent, and what comes back.

use epitome::Format;
use epitome::model::Money;
use epitome_llm::{BadEndpoint, Cap, Endpoint, Model, Purse, Secret, in_memory};
use std::sync::Arc;

use epitome::summarize::{FailureKind, Summarizer as _};
use testkit::server::shell::start;
use testkit::server::{Queue, Reply, Server};

use crate::bench::{KEY, MODELS, ask, ask_at, endpoint, limits};

const WORDS: &str = "## Goal\nThe build is to be fixed. ✓\n";

#[tokio::test]
async fn words_and_what_they_took_come_back() {
    for (format, model) in MODELS {
        let server = Server::new(Queue::new([Reply::text(WORDS).thinking("Hm.").into()]));
        let (answer, running) = ask(server, (format, model), limits()).await;
        let summary = answer.unwrap_or_else(|error| panic!("{format:?}: {error}"));
        assert_eq!(summary.text, WORDS, "{format:?}");
        let recorded = running.recorded();
        assert_eq!(recorded.len(), 1);
        let usage = recorded[0].noted.usage.expect("it was answered");
        let spent = summary.spent;
        assert_eq!((spent.requests, spent.input), (1, usage.prompt), "{format:?}");
        assert!(spent.output > 0 && spent.cost > Some(Money::ZERO), "{format:?}: {spent:?}");
        let shows = |(name, value): &(String, String)| {
            matches!(name.as_str(), "authorization" | "x-api-key" | "x-goog-api-key")
                && value.trim_start_matches("Bearer ") == KEY
        };
        assert_eq!(recorded[0].headers.iter().filter(|header| shows(header)).count(), 1);
        assert!(!recorded[0].path.contains(KEY));
    }
}

#[tokio::test]
async fn a_cap_stops_calls_before_they_are_made() {
    let (format, model) = MODELS[2];
    let answers = || (0..99).map(|_| Reply::text(WORDS).into());
    let running = start(Server::new(Queue::new(answers()))).await.expect("a free port");
    // A call may cost what the longest answer does, reasoning included: 16,600 tokens, and a few of the prompt.
    let (most, books) = (Money::micro(84_000), in_memory());
    let cap = Cap { most, span: "today".to_owned(), books: books.clone() };
    let purse = Arc::new(Purse::of(vec![cap]));
    let mut asked = 0;
    let refused = loop {
        let here = endpoint(&running.url, format, model);
        match ask_at(here, limits(), Some(Arc::clone(&purse))).await {
            Ok(_) => asked += 1,
            Err(error) => break error,
        }
    };
    assert!(asked > 0, "the first one is cheap enough: {refused}");
    assert_eq!(refused.kind, FailureKind::SpendCap);
    assert_eq!(running.recorded().len(), asked, "the last one was never sent");
    let spent = books.spent();
    assert!(spent > Money::ZERO && spent <= most);
    assert!(refused.to_string().contains("spent today"), "{refused}");

    // Whose price nobody knows can't be held to a cap.
    let nobodys = endpoint(&running.url, Format::OpenaiChat, "home-made");
    let refused = ask_at(nobodys, limits(), Some(purse)).await.expect_err("no price is known");
    assert_eq!(refused.to_string(), "the spend cap is reached: the price of home-made isn't known");
}

#[test]
fn keys_are_not_shown_and_bad_endpoints_are_refused() {
    let good = endpoint("https://api.example.com", Format::Anthropic, "claude-haiku-4-5");
    let model = Model::new(good.clone(), limits(), None).expect("a good endpoint");
    assert!(!format!("{model:?} {good:?}").contains(KEY));
    assert_eq!(model.name(), "claude-haiku-4-5");
    let refused = |change: &dyn Fn(&mut Endpoint)| {
        let mut bad = good.clone();
        change(&mut bad);
        Model::new(bad, limits(), None).expect_err("it can't be asked")
    };
    // What may be a secret isn't shown.
    for (base, shown) in [
        ("", ""),
        ("api.example.com", "api.example.com"),
        ("ftp://x", "ftp://x"),
        ("https://u:p@x", "https://x"),
        ("https://x/?a=b", "https://x/"),
        ("https://x#y", "https://x"),
    ] {
        let error = refused(&|bad: &mut Endpoint| base.clone_into(&mut bad.base));
        assert_eq!(error, BadEndpoint::Address(shown.to_owned()));
    }
    let of = |address| epitome_llm::origin(address);
    assert_eq!(of("http://localhost:80/v1/x").as_deref(), Some("http://localhost"));
    assert_eq!(of("http:///localhost:2/v1"), of("http://localhost:2/w"));
    assert_eq!(of("https://a.example").as_deref(), Some("https://a.example"));
    assert_eq!(of("nowhere"), None);
    assert_eq!(refused(&|bad| bad.model = " ".to_owned()), BadEndpoint::NoModel);
    assert_eq!(refused(&|bad| bad.key = Some(Secret::new("a\nb"))), BadEndpoint::Key);
    assert_eq!(refused(&|bad| bad.format = Format::Bedrock), BadEndpoint::Format("bedrock"));
}
