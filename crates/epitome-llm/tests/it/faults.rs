//! What the scripted server does wrong, in each format.

use std::time::Duration;

use epitome::summarize::FailureKind;
use epitome_llm::Limits;
use testkit::server::script::Broken;
use testkit::server::{Fault, Next, Queue, Reply, Server};

use crate::bench::{KEY, MODELS, ask, limits};

/// A name, what the server does, what that is, and in how many requests.
type Case = (&'static str, fn() -> Vec<Next>, FailureKind, usize);

const LONG: &str = "One, two, three, four, five, six, seven, eight, nine, ten words.";

fn cut(fault: Option<Fault>) -> Next {
    Reply { broken: Some(Broken { after: 2, fault }), ..Reply::text(LONG) }.into()
}

fn other(status: u16, message: &str) -> Next {
    Fault::Other { status, kind: None, code: None, message: message.to_owned() }.into()
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_booked() {
    for (format, model) in MODELS {
        let limited = Fault::RateLimited { retry_after: Some(0) };
        for fault in [limited.into(), Fault::Internal.into(), Fault::Overloaded.into(), cut(None)] {
            let name = format!("{format:?} {fault:?}");
            let server = Server::new(Queue::new([fault, Reply::text("Well.").into()]));
            let (answer, running) = ask(server, (format, model), limits()).await;
            let summary = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!((summary.text.as_str(), summary.spent.requests), ("Well.", 2), "{name}");
            assert_eq!(running.recorded().len(), 2, "{name}");
        }
    }
}

#[tokio::test]
async fn what_does_not_pass_is_given_up_with_its_reason() {
    let overflow: fn() -> Vec<Next> = || vec![Fault::Overflow.into()];
    let cases: [Case; 6] = [
        ("storm", || vec![Fault::Internal.into(); 3], FailureKind::Upstream, 3),
        (
            "limits",
            || vec![Fault::RateLimited { retry_after: None }.into(); 3],
            FailureKind::RateLimited,
            3,
        ),
        ("cut", || vec![cut(None); 3], FailureKind::CutShort, 3),
        ("overflow", overflow, FailureKind::Rejected, 1),
        ("key", || vec![other(401, "Incorrect key: sk-very-secret")], FailureKind::Unauthorized, 1),
        ("missing", || vec![other(404, "No such model")], FailureKind::Rejected, 1),
    ];
    for (format, model) in MODELS {
        for (name, script, kind, requests) in &cases {
            let (answer, running) =
                ask(Server::new(Queue::new(script())), (format, model), limits()).await;
            let error = answer.expect_err(name);
            assert_eq!(error.kind, *kind, "{format:?} {name}: {error}");
            assert_eq!(running.recorded().len(), *requests, "{format:?} {name}");
            assert_eq!(error.spent.requests as usize, *requests, "{format:?} {name}");
            assert!(!error.to_string().contains(KEY), "{error}");
        }
    }
}

#[tokio::test]
async fn an_error_inside_a_stream_fails_the_call() {
    for (format, model) in MODELS {
        let script = vec![cut(Some(Fault::Overloaded)); 3];
        let (answer, _) = ask(Server::new(Queue::new(script)), (format, model), limits()).await;
        let error = answer.expect_err("the stream says so");
        let is_fitting = matches!(error.kind, FailureKind::Upstream | FailureKind::CutShort);
        assert!(is_fitting, "{format:?}: {error}");
    }
}

#[tokio::test]
async fn refusals_are_known_in_each_format() {
    for ((format, model), stop) in
        MODELS.into_iter().zip(["content_filter", "", "refusal", "SAFETY"])
    {
        if stop.is_empty() {
            continue;
        }
        let reply = Reply { stop: Some(stop.to_owned()), ..Reply::text("I can't.") };
        let (answer, _) =
            ask(Server::new(Queue::new([reply.into()])), (format, model), limits()).await;
        assert_eq!(answer.expect_err("it refuses").kind, FailureKind::Refusal, "{format:?}");
    }
}

#[tokio::test]
async fn silence_ends() {
    let short = Duration::from_millis(60);
    let long = Duration::from_secs(20);
    for (format, model) in MODELS {
        for (name, reply, limits) in [
            (
                "first byte",
                Reply { wait: long, ..Reply::text("x") },
                Limits { first_byte: short, ..limits() },
            ),
            (
                "pace",
                Reply { pace: long, ..Reply::text(LONG) },
                Limits { silence: short, ..limits() },
            ),
            (
                "total",
                Reply { pace: long, ..Reply::text(LONG) },
                Limits { total: short, ..limits() },
            ),
        ] {
            let server = Server::new(Queue::new([reply.into()]));
            let (answer, _) = ask(server, (format, model), limits).await;
            let error = answer.expect_err(name);
            assert_eq!(error.kind, FailureKind::Timeout, "{format:?} {name}: {error}");
        }
    }
}
