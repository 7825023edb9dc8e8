//! Each fault of each kind of summarizer, and what the caller got: kinds.md.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use epitome::count::counter;
use epitome::engine::Drive;
use epitome::engine::delegate::{Compact, Compactors, Decision, Job, ProposedView, from_fn};
use epitome::model::Money;
use epitome::summarize::{
    CallResult, FailureKind, SECTIONS, Summaries, SummarizeError, Summarizer, Summary,
};
use epitome::view::{Fate, Reason};
use epitome::{Compactor, Format, Options, Outcome, Request, Target};
use epitome_llm::{Endpoint, Limits, Model, Purse, Secret};
use epitome_rpc::{Remote, Served, Serving, serve};
use serde_json::json;
use testkit::server::script::Broken;
use testkit::server::shell::start;
use testkit::server::{Fault, Next, Queue, Reply, Server};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::bench::{Bench, Ran};

/// Models over HTTP: the kind's name, what is spoken, and the model.
const MODELS: [(&str, Format, &str); 5] = [
    ("`openai`", Format::OpenaiChat, "gpt-4o"),
    ("`openai-responses`", Format::OpenaiResponses, "gpt-5-mini"),
    ("`anthropic`", Format::Anthropic, "claude-haiku-4-5"),
    ("`gemini`", Format::Gemini, "gemini-3.5-flash"),
    ("`URL#MODEL`", Format::OpenaiChat, "gpt-4o-mini-home"),
];

/// What nobody waits for.
const LONG: Duration = Duration::from_mins(1);
/// What is waited for where something is to be late.
const SHORT: Duration = Duration::from_millis(150);

/// A fault: what the scripted server does, in how much time, and what a command and a whole compactor do
/// instead; `None` where they can't.
struct Row {
    name: &'static str,
    http: Http,
    limits: fn() -> Limits,
    command: Option<String>,
    whole: Option<Whole>,
}

enum Http {
    /// The scripted server says so, in the format's words.
    Says(Vec<Next>),
    /// These bytes, whatever the format.
    Bytes(&'static str, &'static [u8]),
    /// These bytes where a usage stands in a good answer of the format.
    Usage,
    /// A call of a tool in the format's words, though none is offered.
    Calls,
    /// A good answer in the format's words, but for bytes in its text that are none.
    Unreadable,
    /// A good answer that says that it isn't all.
    AtLimit,
    /// A good answer, and no money for it.
    NoMoney,
}

#[derive(Clone)]
enum Whole {
    Sums(String),
    Fails(FailureKind),
    Never,
    /// Nobody speaks gRPC there.
    Bytes(&'static [u8]),
}

fn good() -> String {
    SECTIONS.map(|section| format!("## {section}\n{section} continued\n")).concat()
}

fn printing(summary: &str) -> String {
    let answer = json!({ "version": 1, "summary": summary }).to_string();
    format!("cat > /dev/null\nprintf '%s' '{}'\n", answer.replace('\'', "'\\''"))
}

fn usual() -> Limits {
    Limits { pause: Duration::from_millis(1), ..Limits::default() }
}

fn rows() -> Vec<Row> {
    let row = |name, http, command: Option<String>, whole| Row {
        name,
        http,
        limits: usual,
        command,
        whole,
    };
    let thrice = |next: Next| Http::Says(vec![next; 3]);
    let text = |text: &str| Http::Says(vec![Reply::text(text).into(); 2]);
    let cut = |fault| -> Next {
        Reply { broken: Some(Broken { after: 2, fault }), ..Reply::text(good()) }.into()
    };
    let shell = |line: &str| Some(format!("cat > /dev/null\n{line}\n"));
    let sums = |text: &str| Some(Whole::Sums(text.to_owned()));
    let fails = |kind| Some(Whole::Fails(kind));
    let refusal = "I'm sorry, but I can't help with that.";
    let reply = "Sure, I will go on with the build now.";
    let call = "{\"name\": \"Read\", \"arguments\": {\"file_path\": \"src/f1.rs\"}}";
    let rate = |retry_after| -> Next { Fault::RateLimited { retry_after }.into() };
    let late = |limits, reply: Reply| Row {
        name: "",
        http: Http::Says(vec![reply.into()]),
        limits,
        command: shell("exec sleep 60"),
        whole: Some(Whole::Never),
    };
    let paced = |pace| Reply { pace, ..Reply::text(good()) };
    vec![
        row("none", Http::Says(vec![Reply::text(good()).into()]), Some(printing(&good())), sums(&good())),
        row("cut mid-stream", thrice(cut(None)), shell("printf '{\"version\":1,\"summ'"), Some(Whole::Bytes(b""))),
        row(
            "slow chunks",
            Http::Says(vec![paced(Duration::from_millis(20)).into()]),
            Some(format!("sleep 0.1\n{}", printing(&good()))),
            None,
        ),
        row("429 with `Retry-After`", Http::Says(vec![rate(Some(0)), Reply::text(good()).into()]), None, None),
        row("429 without", thrice(rate(None)), None, fails(FailureKind::RateLimited)),
        row("5xx storm", thrice(Fault::Internal.into()), shell("exit 1"), fails(FailureKind::Upstream)),
        row("wrong usage", Http::Usage, None, None),
        row(
            "invalid UTF-8",
            Http::Unreadable,
            shell("printf '{\"version\":1,\"summary\":\"\\377\"}'"),
            None,
        ),
        row("error inside a 200 stream", thrice(cut(Some(Fault::Overloaded))), shell("echo '{\"error\":\"overloaded\"}'"), fails(FailureKind::Upstream)),
        row(
            "HTML instead of JSON",
            Http::Bytes("text/html", b"<html>Welcome</html>"),
            shell("echo '<html>Welcome</html>'"),
            Some(Whole::Bytes(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 20\r\n\r\n<html>Welcome</html>")),
        ),
        row("empty", text(" "), Some(printing(" ")), sums(" ")),
        row(
            "refusal",
            text(refusal),
            Some(printing(refusal)),
            sums(refusal),
        ),
        row(
            "tool call",
            Http::Calls,
            Some(printing(call)),
            sums(call),
        ),
        row("limit of the answer reached", Http::AtLimit, None, None),
        row("reply to the transcript", text(reply), Some(printing(reply)), sums(reply)),
        Row {
            name: "timeout of the first byte",
            ..late(
                || Limits { first_byte: SHORT, ..usual() },
                Reply { wait: LONG, ..Reply::text(good()) },
            )
        },
        Row {
            name: "timeout between chunks",
            command: None,
            whole: None,
            ..late(|| Limits { silence: SHORT, ..usual() }, paced(LONG))
        },
        Row {
            name: "timeout of the whole",
            ..late(|| Limits { total: SHORT, ..usual() }, paced(LONG))
        },
        row("spend cap", Http::NoMoney, None, fails(FailureKind::SpendCap)),
    ]
}

/// The task, 40 steps, and a wish: what fits in one request to a model of which nothing is known.
fn session(format: Format) -> Request {
    let mut notation = "user Fix the build of the parser, and do not touch the lexer.\n".to_owned();
    for step in 0..40 {
        let _ = writeln!(
            notation,
            "asst Step {step} is the one in which I look at the module. {{lorem 60}} | call c{step} Read {{\"file_path\":\"src/f{step}.rs\"}}\nres  c{step} = fn f{step}() {{ work }} {{code 10}}",
        );
    }
    notation += "user Go on with the rest.\n";
    testkit::parse(format, &notation)
}

fn compactor() -> Compactor {
    let options = Options { target: Target::Tokens(4_000), ..Options::default() };
    Compactor::new(options, counter("chars4").expect("known")).expect("in range")
}

/// Answers every connection with these bytes once it was asked.
async fn canned(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let (mut asked, mut piece) = (Vec::new(), vec![0; 1 << 16]);
            loop {
                let read = socket.read(&mut piece).await.expect("a request");
                asked.extend_from_slice(&piece[..read]);
                // A body of JSON is the last thing, and ends as such; gRPC begins with a preface, and waits.
                if read == 0 || asked.ends_with(b"}") || !asked.starts_with(b"POST") {
                    break;
                }
            }
            let _gone = socket.write_all(&answer).await;
        }
    });
    url
}

fn page(kind: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// A good answer at once whose usage makes no sense.
fn strange(format: Format) -> Vec<u8> {
    let usage = json!({ "prompt_tokens": -7, "completion_tokens": "many", "input_tokens": 1e300,
        "output_tokens": null, "promptTokenCount": [1], "candidatesTokenCount": {} });
    let text = good();
    let answer = match format {
        Format::OpenaiResponses => json!({ "usage": usage, "output": [
            { "type": "message", "content": [{ "type": "output_text", "text": text }] }] }),
        Format::Anthropic => json!({ "usage": usage, "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": text }] }),
        Format::Gemini => json!({ "usageMetadata": usage, "candidates": [
            { "content": { "parts": [{ "text": text }] }, "finishReason": "STOP" }] }),
        _ => json!({ "usage": usage, "choices": [
            { "message": { "content": text }, "finish_reason": "stop" }] }),
    };
    page("application/json", answer.to_string().as_bytes())
}

/// A good answer as events, with two bytes in its text that are no UTF-8.
fn unreadable(format: Format) -> Vec<u8> {
    let text = good() + "\u{1}";
    let events = match format {
        Format::OpenaiResponses => vec![
            json!({ "type": "response.output_text.delta", "delta": text }),
            json!({ "type": "response.completed", "response": { "status": "completed" } }),
        ],
        Format::Anthropic => vec![
            json!({ "type": "content_block_delta", "delta": { "text": text } }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } }),
            json!({ "type": "message_stop" }),
        ],
        Format::Gemini => vec![json!({ "candidates": [
            { "content": { "parts": [{ "text": text }] }, "finishReason": "STOP" }] })],
        _ => {
            vec![json!({ "choices": [{ "delta": { "content": text }, "finish_reason": "stop" }] })]
        }
    };
    let events: Vec<String> = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let events = events.concat();
    let (before, after) = events.split_once("\\u0001").expect("it stands there");
    page("text/event-stream", &[before.as_bytes(), b"\xff\xfe", after.as_bytes()].concat())
}

/// An answer at once that calls a tool.
fn calling(format: Format) -> Vec<u8> {
    let answer = match format {
        Format::OpenaiResponses => {
            json!({ "output": [{ "type": "function_call", "name": "Read" }] })
        }
        Format::Anthropic => json!({ "stop_reason": "tool_use",
            "content": [{ "type": "tool_use", "id": "a", "name": "Read", "input": {} }] }),
        Format::Gemini => json!({ "candidates": [{ "finishReason": "STOP",
            "content": { "parts": [{ "functionCall": { "name": "Read", "args": {} } }] } }] }),
        _ => json!({ "choices": [{ "finish_reason": "tool_calls",
            "message": { "tool_calls": [{ "id": "a" }] } }] }),
    };
    page("application/json", answer.to_string().as_bytes())
}

/// A cell: how often it was asked over the wire, and why it wasn't used; and what the caller got.
fn told(outcome: &Outcome, alone: &Outcome) -> (String, &'static str) {
    let summary = outcome.receipt.summary.as_ref();
    let calls = summary.map_or(0, |told| told.calls.len());
    let is_used = summary.is_some_and(|told| {
        told.by.is_some() && told.calls.iter().any(|call| call.result == CallResult::Admitted)
    });
    let requests = summary.map_or(0, |told| told.spent.requests).max(calls as u32);
    let requests = if requests > 1 { format!("{requests}×: ") } else { String::new() };
    if is_used {
        return (format!("{requests}used"), "a summary");
    }
    let is_same = outcome.rendered() == alone.rendered();
    let got = if is_same { "same as without" } else { "something else" };
    let [why] = &outcome.receipt.fallbacks[..] else { panic!("{:?}", outcome.receipt.fallbacks) };
    // Without its name, and without what differs from run to run.
    let why = why.split_once(": ").expect("a name").1;
    let why = why.split_once("#x: ").map_or(why, |(_, why)| why);
    let why = why.strip_prefix("its summary: ").unwrap_or(why);
    let why = why.split(": ").next().expect("there is always one");
    (format!("{requests}{why}"), got)
}

async fn by_model(row: &Row, (_, format, model): (&str, Format, &str)) -> Outcome {
    let mut running = None;
    let url = match &row.http {
        Http::Says(script) => {
            let server = start(Server::new(Queue::new(script.clone()))).await;
            running.insert(server.expect("a free port")).url.clone()
        }
        Http::NoMoney => canned(strange(format)).await,
        Http::AtLimit => {
            let stop = match format {
                Format::OpenaiResponses => "max_output_tokens",
                Format::Anthropic => "max_tokens",
                Format::Gemini => "MAX_TOKENS",
                _ => "length",
            };
            let reply = Reply { stop: Some(stop.to_owned()), ..Reply::text(good()) };
            let server = start(Server::new(Queue::new([reply.into()]))).await;
            running.insert(server.expect("a free port")).url.clone()
        }
        Http::Unreadable => canned(unreadable(format)).await,
        Http::Usage => canned(strange(format)).await,
        Http::Calls => canned(calling(format)).await,
        Http::Bytes(kind, body) => canned(page(kind, body)).await,
    };
    let path = match format {
        Format::OpenaiChat | Format::OpenaiResponses => "/v1",
        _ => "",
    };
    let (base, key) = (format!("{url}{path}"), Some(Secret::new("k")));
    let endpoint = Endpoint { format, base, model: model.to_owned(), key };
    let purse = matches!(row.http, Http::NoMoney).then(|| Arc::new(Purse::new(Money::micro(1))));
    let model = Model::new(endpoint, (row.limits)(), purse).expect("a good endpoint");
    let chain: Vec<Arc<dyn Summarizer>> = vec![Arc::new(model)];
    let summaries = Summaries { chain, ..Summaries::default() };
    let compactor = compactor().with_summaries(summaries).expect("in range");
    Drive::new(compactor.begin(&session(Format::OpenaiChat))).await.expect("a view")
}

/// All but the newest messages folded, with what `whole` says.
fn answer(job: &Job, whole: &Whole) -> Result<Decision, SummarizeError> {
    let text = match whole {
        Whole::Sums(text) => text.clone(),
        Whole::Fails(kind) => return Err(SummarizeError::new(*kind, "")),
        Whole::Never | Whole::Bytes(_) => unreachable!("it doesn't come to that"),
    };
    let all = job.entries.len();
    let fates = job.entries.iter().enumerate().map(|(at, known)| {
        let is_old = known.may_leave && at + 9 < all;
        if is_old { Fate::Fold(Reason::OlderStep) } else { Fate::Keep }
    });
    let summary = Some(Summary::new(text));
    Ok(Decision::Compacted(ProposedView {
        fates: fates.collect(),
        summary,
        ..ProposedView::default()
    }))
}

async fn by_whole(whole: Whole) -> Outcome {
    let base = match whole {
        Whole::Bytes(bytes) => canned(bytes.to_vec()).await,
        whole => {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
            let base = format!("http://{}", listener.local_addr().expect("an address"));
            // Short only where it is to run out.
            let timeout = if matches!(whole, Whole::Never) { SHORT * 4 } else { LONG };
            let compactor = from_fn("x", move |job: Arc<Job>| {
                let whole = whole.clone();
                async move {
                    if matches!(whole, Whole::Never) {
                        std::future::pending::<()>().await;
                    }
                    answer(&job, &whole)
                }
            });
            let served = Served { timeout, ..Served::new(compactor, "") };
            tokio::spawn(serve(listener, Serving::new(vec![served]), std::future::pending()));
            base
        }
    };
    let address = format!("{base}#x").parse().expect("an address");
    let remote = Remote::new(address, None, epitome_rpc::Limits::default());
    let chain: Vec<Arc<dyn Compact>> = vec![Arc::new(remote.expect("it may be asked"))];
    let compactor = compactor().with_compactors(Compactors { chain, ..Compactors::default() });
    Drive::new(compactor.begin(&session(Format::OpenaiChat))).await.expect("a view")
}

/// The same by the binary, whose receipt says it.
fn by_command(lines: &str, alone: &mut Option<String>) -> (String, &'static str) {
    let bench = Bench::new();
    bench.write("in", session(Format::OpenaiChat).source().as_str());
    bench.write("script", lines);
    let words = "compact in --counter chars4 --target 4000 -o out --receipt receipt";
    let run = |more: &[&str]| -> String {
        let words: Vec<&str> = words.split(' ').chain(more.iter().copied()).collect();
        Ran::of(&bench.command(&words).output().expect("the binary runs")).ends(0);
        bench.read("out")
    };
    let alone = alone.get_or_insert_with(|| run(&[])).clone();
    let longest = if lines.contains("sleep 60") { "0.2" } else { "100" };
    let out = run(&["--summarizer", "cmd:sh script", "--timeout", longest]);
    let receipt = bench.json("receipt");
    if !receipt["summary"]["by"].is_null() {
        return ("used".to_owned(), "a summary");
    }
    let calls = receipt["summary"]["calls"].as_array().expect("calls").len();
    let calls = if calls > 1 { format!("{calls}×: ") } else { String::new() };
    let why = receipt["fallbacks"][0].as_str().expect("a reason");
    let why = why.strip_prefix("sh script: ").expect("its name");
    let why = why.split(": ").next().expect("there is always one");
    let got = if out == alone { "same as without" } else { "something else" };
    (format!("{calls}{why}"), got)
}

#[test]
fn each_fault_of_each_kind_ends_in_a_view() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let mut table = String::from(
        "# Faults by kind of summarizer\n\nMade by `UPDATE_EXPECT=1 cargo test -p epitome-cli --test it kinds`: a session is \
         compacted with one summarizer of each kind that commits the fault, and `on_failure: extractive`. A cell says how \
         often it was asked, if more than once, and why its answer wasn't used; *same as without* is that the bytes are those \
         of a compaction without a summarizer. A dash: that kind has no such fault.\n\n| fault |",
    );
    let kinds = MODELS.iter().map(|(name, ..)| *name).chain(["`cmd`", "`grpc`"]);
    kinds.for_each(|kind| write!(table, " {kind} |").expect("a string takes all"));
    table.push_str(" the caller got |\n|---|---|---|---|---|---|---|---|---|\n");
    let alone = compactor().compact(&session(Format::OpenaiChat)).expect("a view");
    let mut alone_by_command = None;
    for row in rows() {
        let mut cells = Vec::new();
        for kind in MODELS {
            let outcome = runtime.block_on(by_model(&row, kind));
            cells.push(Some(told(&outcome, &alone)));
        }
        cells.push(row.command.as_ref().map(|lines| by_command(lines, &mut alone_by_command)));
        cells.push(row.whole.clone().map(|whole| told(&runtime.block_on(by_whole(whole)), &alone)));
        let mut got: Vec<&str> = cells.iter().flatten().map(|(_, got)| *got).collect();
        got.dedup();
        let [got] = got[..] else { panic!("{}: {cells:?}", row.name) };
        assert_ne!(got, "something else", "{}: {cells:?}", row.name);
        let cells = cells.iter().map(|cell| cell.as_ref().map_or("–", |(cell, _)| cell.as_str()));
        let cells = cells.collect::<Vec<_>>().join(" | ");
        writeln!(table, "| {} | {cells} | {got} |", row.name).expect("a string takes all");
    }
    print!("{table}");
    expect_test::expect_file!["kinds.md"].assert_eq(&table);
}
