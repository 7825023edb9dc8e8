//! What is booked before a call, and what stands instead when it is over.

use std::sync::Arc;
use std::time::Duration;

use epitome::Format;
use epitome::model::Money;
use epitome::summarize::{FailureKind, Summarizer as _, SummaryRequest};
use epitome_llm::{Books, Cap, Entry, InMemory, Limits, Model, Purse, Unbooked, in_memory};
use testkit::server::shell::start;
use testkit::server::{Fault, Queue, Reply, Server};
use tokio::net::TcpListener;

use crate::bench::{MODELS, ask_at, endpoint, limits, request};
use crate::ends::stream;
use crate::odd::{EVENTS, answer, canned};

const TODAY: &str = "today";
const WAIT: Duration = Duration::from_millis(50);

fn purse(most: Money) -> (Arc<Purse>, Arc<InMemory>) {
    let books = in_memory();
    let cap = Cap { most, span: TODAY.to_owned(), books: books.clone() };
    (Arc::new(Purse::of(vec![cap])), books)
}

#[tokio::test]
async fn booked_money_cannot_be_spent_twice() {
    let (purse, books) = purse(Money::micro(25));
    let ten = Money::micro(10);
    let reserve = || purse.reserve(ten, Money::ZERO, WAIT);
    let first = reserve().await.expect("nothing is spent");
    let second = reserve().await.expect("it is enough");
    let refused = reserve().await.expect_err("it would be 30");
    assert_eq!(refused.kind, FailureKind::SpendCap);
    assert!(
        refused.to_string().contains("$0.00001 more, $0.00002 of $0.000025 spent today"),
        "{refused}"
    );
    first.settle(Money::micro(3));
    assert_eq!(books.spent(), Money::micro(13));
    // Who is gone may have been paid for.
    drop(second);
    assert_eq!(books.spent(), Money::micro(13));
    let ahead = purse.reserve(ten, ten, WAIT).await.expect_err("what follows isn't paid for");
    assert_eq!((ahead.kind, books.spent()), (FailureKind::SpendCap, Money::micro(13)));
}

/// Books that somebody else never lets go.
#[derive(Debug)]
struct Held;

impl Books for Held {
    fn take(&self, _: Money, _: Money, _: Money) -> Result<Entry, Unbooked> {
        Err(Unbooked::Busy)
    }

    fn settle(&self, _: Entry, _: Money) -> Result<(), Unbooked> {
        Err(Unbooked::Busy)
    }
}

#[tokio::test]
async fn held_books_are_given_up_and_nothing_stays_booked() {
    let books = in_memory();
    let cap = |books: Arc<dyn Books>| Cap { most: Money::micro(9), span: String::new(), books };
    let purse = Purse::of(vec![cap(books.clone()), cap(Arc::new(Held))]);
    let refused = purse.reserve(Money::micro(1), Money::ZERO, WAIT).await.expect_err("it is held");
    assert_eq!(refused.kind, FailureKind::Unbooked);
    assert!(refused.to_string().contains("another process has held"), "{refused}");
    assert_eq!(books.spent(), Money::ZERO);
}

#[tokio::test]
async fn a_call_that_tells_no_usage_costs_what_it_may() {
    let said = b"data: {\"choices\":[{\"delta\":{\"content\":\"Well.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (url, task) = canned(vec![answer("200 OK", EVENTS, said)]).await;
    let (purse, books) = purse(Money::micro(1_000_000));
    let here = endpoint(&url, Format::OpenaiChat, "gpt-4o");
    let summary = ask_at(here, limits(), Some(purse)).await.expect("it answers");
    task.await.expect("the server ends");
    assert!(books.spent() > Money::ZERO);
    assert_eq!(summary.spent.cost, Some(books.spent()));
}

#[tokio::test]
async fn a_call_that_was_sent_and_not_answered_costs_what_it_may() {
    // It takes the connection and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("it is bound"));
    let (paying, books) = purse(Money::micro(1_000_000));
    let short = Limits { first_byte: Duration::from_millis(200), ..limits() };
    let here = endpoint(&url, Format::OpenaiChat, "gpt-4o");
    let error = ask_at(here.clone(), short, Some(paying)).await.expect_err("it is silent");
    assert_eq!(error.kind, FailureKind::Timeout);
    assert!(books.spent() > Money::ZERO);
    assert_eq!(error.spent.cost, Some(books.spent()));
    drop(listener);
    // What was never sent costs nothing, nor does what was refused.
    let (paying, books) = purse(Money::micro(1_000_000));
    let error = ask_at(here, limits(), Some(paying)).await.expect_err("nobody is there");
    assert_eq!((error.kind, books.spent()), (FailureKind::Unreachable, Money::ZERO));
    let running = start(Server::new(Queue::new([Fault::Overflow.into()]))).await.expect("a port");
    let (paying, books) = purse(Money::micro(1_000_000));
    let here = endpoint(&running.url, MODELS[2].0, MODELS[2].1);
    let error = ask_at(here, limits(), Some(paying)).await.expect_err("it is refused");
    assert_eq!((error.kind, books.spent()), (FailureKind::Rejected, Money::ZERO));
}

/// What is told before an answer is over, or of its output alone, is less than what it took.
#[tokio::test]
async fn a_call_that_tells_half_of_it_costs_what_it_may() {
    let once = Limits { retries: 0, ..limits() };
    let cost = async |row: usize, stream: &str| {
        let (format, model) = MODELS[row];
        let (url, _task) = canned(vec![answer("200 OK", EVENTS, stream.as_bytes())]).await;
        let (paying, books) = purse(Money::micro(10_000_000));
        let answer = ask_at(endpoint(&url, format, model), once, Some(paying)).await;
        let spent = answer.map_or_else(|error| error.spent, |summary| summary.spent);
        assert_eq!(spent.cost, Some(books.spent()), "{stream}");
        books.spent()
    };
    let begun = "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n";
    let most = cost(2, "").await;
    assert_eq!(cost(2, begun).await, most);
    let whole = cost(2, &stream(MODELS[2].0)).await;
    assert!(Money::ZERO < whole && whole < most, "{whole} of {most}");
    let more = begun.replace(":7", ":9000000");
    assert!(cost(2, &more).await > most);
    let most = cost(0, "").await;
    let partly = stream(MODELS[0].0).replace("\"prompt_tokens\":7,", "");
    assert_eq!(cost(0, &partly).await, most);
    assert!(cost(0, &stream(MODELS[0].0)).await < most);
}

/// Parts of a long transcript are asked for at once: without the money for all of them none is.
#[tokio::test]
async fn parts_are_asked_for_if_all_of_them_can_be_paid() {
    let answers = || (0..9).map(|_| Reply::text("Well.").into());
    let running = start(Server::new(Queue::new(answers()))).await.expect("a free port");
    let here = || endpoint(&running.url, MODELS[2].0, MODELS[2].1);
    let part = |ahead| Arc::new(SummaryRequest { ahead, ..request() });
    let ask = |purse: &Arc<Purse>, ahead| {
        let model = Model::new(here(), limits(), Some(Arc::clone(purse))).expect("it is good");
        Arc::new(model).summarize(part(ahead))
    };
    let (little, _) = purse(Money::micro(1));
    let refused = ask(&little, 0).await.expect_err("it is too little").to_string();
    let most = refused.split_once('$').and_then(|(_, more)| more.split_once(' ')).expect("dollars");
    let most = (most.0.parse::<f64>().expect("a number") * 1e6).ceil() as u64;
    let (paying, books) = purse(Money::micro(most * 3));
    let refused = ask(&paying, 4).await.expect_err("five can't be paid");
    assert_eq!((refused.kind, books.spent()), (FailureKind::SpendCap, Money::ZERO));
    assert_eq!(running.recorded().len(), 0);
    ask(&paying, 1).await.expect("two can");
    assert_eq!(running.recorded().len(), 1);
}
