//! What becomes of a compaction when the other side is good, bad, slow or gone. Everything is said over a real
//! connection.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use epitome::engine::Drive;
use epitome::engine::delegate::{Compact, Compactors, Decision, Job, ProposedView, from_fn};
use epitome::summarize::{FailureKind, Spent, SummarizeError, Summary};
use epitome::transcript::PartKind;
use epitome::view::{Fate, PartEdit, Put, Reason};
use epitome::wire::Format;
use epitome::{Compactor, Options, Outcome, Pin, Request};
use epitome_rpc::v1::compact_response::Verdict as Said;
use epitome_rpc::v1::compactor_server::{Compactor as Contract, CompactorServer};
use epitome_rpc::v1::{
    CompactRequest, CompactResponse, DescribeRequest, DescribeResponse, Described, Edit,
};
use epitome_rpc::{Limits, Remote, Served, Serving, Token, USUAL, serve, v1};
use testkit::to_percent;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tonic::{Response, Status};

/// The task, 60 steps, and a wish: messages 0 to 121.
pub(crate) fn session() -> Request {
    let step = r#"asst Step # looks. | call c# Read {"file_path":"src/f#.rs"}
res  c# = port_5### {code 30}"#;
    let steps = testkit::steps(0..60, step);
    let notation = format!("user Fix the parser, and never touch the lexer.\n{steps}user Go on.\n");
    testkit::parse(Format::OpenaiChat, &notation)
}

pub(crate) fn local() -> Compactor {
    let pins = vec![Pin::Text("port_5003".to_owned())];
    testkit::compactor(Options { pins, ..to_percent(50) }, "chars4")
}

async fn compact(remote: Remote) -> Outcome {
    let chain: Vec<Arc<dyn Compact>> = vec![Arc::new(remote)];
    let compactor = local().with_compactors(Compactors { chain, ..Compactors::default() });
    Drive::new(compactor.begin(&session())).await.expect("there is always a view")
}

/// What leaves half of the session, with a summary.
fn half(job: &Job) -> ProposedView {
    let all = job.entries.len();
    let fates = job.entries.iter().enumerate().map(|(at, known)| {
        let is_old = at < all * 2 / 3;
        if known.may_leave && is_old { Fate::Fold(Reason::OlderStep) } else { Fate::Keep }
    });
    let summary = Some(Summary::new("The parser is being fixed. `src/f1.rs` has port_5001."));
    let cost = Some(epitome::model::Money::micro(9));
    let spent = Spent { requests: 1, input: 700, cached: 100, output: 80, cost };
    ProposedView {
        fates: fates.collect(),
        summary,
        spent,
        metadata: [("build".to_owned(), "42".to_owned())].into(),
    }
}

/// An address where `serving` is served as long as the sender lives.
pub(crate) async fn served(serving: Serving) -> (String, oneshot::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let base = format!("http://{}", listener.local_addr().expect("it is bound"));
    let (alive, gone) = oneshot::channel();
    tokio::spawn(async move {
        let ended = serve(listener, serving, async { drop(gone.await) }).await;
        ended.expect("it serves");
    });
    (base, alive)
}

fn remote(base: &str, name: &str, token: Option<&str>, limits: Limits) -> Remote {
    let address = format!("{base}#{name}").parse().expect("an address");
    Remote::new(address, token.and_then(Token::new), limits).expect("it may be asked")
}

pub(crate) fn mine() -> Arc<dyn Compact> {
    from_fn("mine", |job| std::future::ready(Ok(Decision::Compacted(half(&job)))))
}

#[tokio::test]
async fn what_a_remote_compactor_says_is_what_is_shown() {
    let asked = Arc::new(Mutex::new(None));
    let heard = Arc::clone(&asked);
    let editing = from_fn("editing", move |job: Arc<Job>| {
        let mut compacted = half(&job);
        let entry = job.request.transcript.entry(120);
        let result = entry.parts().find(|part| part.kind() == PartKind::Result);
        let at = result.expect("the last result").slot;
        let put = Put::Text("[the source of f59]".into());
        let edit = PartEdit { at, put, reason: Reason::OldOutput };
        compacted.fates[120] = Fate::Edit(Box::new([edit]));
        *heard.lock().expect("nobody panicked") = Some((job.about.clone(), job.reason.clone()));
        std::future::ready(Ok(Decision::Compacted(compacted)))
    });
    let lazy = from_fn("lazy", |_| {
        std::future::ready(Ok(Decision::Skip(epitome::engine::delegate::Skip::new("not now"))))
    });
    let all = [mine(), editing, lazy].map(|by| Served::new(by, "for tests"));
    let (base, _alive) = served(Serving::new(all.to_vec())).await;

    let outcome = compact(remote(&base, "mine", None, Limits::default())).await;
    let receipt = &outcome.receipt;
    assert!(receipt.fallbacks.is_empty(), "{:?}", receipt.fallbacks);
    assert_eq!(receipt.steps[0].strategy, format!("grpc:{base}#mine"));
    let checkpoint = outcome.view.checkpoint().expect("steps were folded");
    assert!(checkpoint.text.contains("`src/f1.rs` has port_5001."), "{}", checkpoint.text);
    let told = receipt.summary.as_ref().expect("there is a summary");
    assert!(told.by.is_some());
    // What it says that it took is booked.
    assert_eq!((told.spent.input, told.spent.output, told.spent.requests), (700, 80, 1));
    assert_eq!(told.spent.cost, Some(epitome::model::Money::micro(9)));
    testkit::laws::check_view(&outcome, &local()).expect("the laws hold");

    let about = epitome::engine::delegate::JobContext {
        session: Some("s1".to_owned()),
        turn: Some("t2".to_owned()),
        labels: [("team".to_owned(), "a".to_owned())].into(),
        instructions: vec!["Keep ports.".to_owned()],
    };
    let chain: Vec<Arc<dyn Compact>> =
        vec![Arc::new(remote(&base, "editing", None, Limits::default()))];
    let compactors = Compactors { chain, ..Compactors::default() };
    let cause = epitome::trigger::Cause::Custom("it is late".to_owned());
    let compactor = local().with_compactors(compactors).with_context(about.clone());
    let drive = Drive::new(compactor.with_cause(cause).begin(&session()));
    let outcome = drive.await.expect("a view");
    assert!(outcome.receipt.fallbacks.is_empty(), "{:?}", outcome.receipt.fallbacks);
    assert!(outcome.rendered().contains("[a compactor's words: the source of f59]"));
    let (told, reason) = asked.lock().expect("nobody panicked").take().expect("it was asked");
    assert_eq!(reason.as_deref(), Some("it is late"));
    assert_eq!(
        (&told.session, &told.turn, &told.labels),
        (&about.session, &about.turn, &about.labels)
    );
    assert_eq!(told.instructions, ["Keep ports.", "It is made because: it is late"]);
    let by = format!("grpc:{base}#editing");
    assert_eq!(outcome.receipt.metadata[&by]["build"], "42", "what it says of its answer");
    assert_eq!(outcome.receipt.about, about);

    let outcome = compact(remote(&base, "lazy", None, Limits::default())).await;
    assert!(outcome.view.is_whole());
    assert_eq!(outcome.receipt.fallbacks, [format!("grpc:{base}#lazy skipped: not now")]);
}

/// The view is the local one, and the receipt says why.
fn fell_back(outcome: &Outcome, why: &str) {
    let alone = local().compact(&session()).expect("a view");
    assert_eq!(outcome.rendered(), alone.rendered(), "{why}");
    let [told] = &outcome.receipt.fallbacks[..] else { panic!("{:?}", outcome.receipt.fallbacks) };
    assert!(told.starts_with("grpc:http://127.0.0.1:") && told.contains(why), "{told}");
}

#[tokio::test]
async fn nobody_there_nobody_of_that_name_and_a_message_too_large() {
    let nobody = {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        format!("http://{}", listener.local_addr().expect("it is bound"))
    };
    fell_back(&compact(remote(&nobody, "mine", None, Limits::default())).await, "can't be reached");

    // What is connected to and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let base = format!("http://{}", silent.local_addr().expect("it is bound"));
    let limits = Limits { presence: Duration::from_millis(200), ..Limits::default() };
    let outcome = compact(remote(&base, "mine", None, limits)).await;
    fell_back(&outcome, "no answer in time: is anybody there: 0.2 s");

    // What speaks something else, or hangs up.
    for other in ["HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nHi", ""] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let base = format!("http://{}", listener.local_addr().expect("it is bound"));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                // Whoever has heard enough may be gone.
                let _gone = socket.write_all(other.as_bytes()).await;
            }
        });
        let outcome = compact(remote(&base, "mine", None, Limits::default())).await;
        fell_back(&outcome, "the server failed");
    }

    let (base, _alive) = served(Serving::new(vec![Served::new(mine(), "")])).await;
    let outcome = compact(remote(&base, "yours", None, Limits::default())).await;
    fell_back(&outcome, r#"the server has no compactor "yours"; it has ["mine"]"#);

    let limits = Limits { message: 4_000, ..Limits::default() };
    fell_back(&compact(remote(&base, "mine", None, limits)).await, "at most 4000 can be sent");
    let small = Serving { message: 4_000, ..Serving::new(vec![Served::new(mine(), "")]) };
    let (base, _alive) = served(small).await;
    let outcome = compact(remote(&base, "mine", None, Limits::default())).await;
    fell_back(&outcome, "limit");
}

#[tokio::test]
async fn a_token_is_asked_for_and_shown_nowhere() {
    let token = Token::new("t0p-s3cret");
    let guarded = Serving { token, ..Serving::new(vec![Served::new(mine(), "")]) };
    let (base, _alive) = served(guarded).await;
    let outcome = compact(remote(&base, "mine", Some("t0p-s3cret"), Limits::default())).await;
    assert!(outcome.receipt.fallbacks.is_empty(), "{:?}", outcome.receipt.fallbacks);
    for wrong in [None, Some("t0p-s3cre")] {
        let remote = remote(&base, "mine", wrong, Limits::default());
        assert!(!format!("{remote:?}").contains("t0p"), "{remote:?}");
        let outcome = compact(remote).await;
        fell_back(&outcome, "the key isn't taken");
        assert!(!format!("{:?}", outcome.receipt).contains("t0p"));
    }
    let far = "http://10.1.2.3:5#mine".parse().expect("an address");
    let error = Remote::new(far, Token::new("t0p-s3cret"), Limits::default());
    let error = error.expect_err("it would be readable on the way").to_string();
    assert!(
        error.starts_with("the token isn't sent to http://10.1.2.3:5, which isn't this machine")
    );
    assert!(!error.contains("t0p"), "{error}");
}

#[tokio::test]
async fn a_slow_compactor_is_waited_for_as_long_as_it_says() {
    let slow = || from_fn("slow", |_| std::future::pending());
    let short = Served { timeout: Duration::from_millis(150), ..Served::new(slow(), "") };
    let (base, _alive) = served(Serving::new(vec![short])).await;
    fell_back(&compact(remote(&base, "slow", None, Limits::default())).await, "no answer in time");
    let (base, _alive) = served(Serving::new(vec![Served::new(slow(), "")])).await;
    let limits = Limits { longest: Some(Duration::from_millis(100)), ..Limits::default() };
    let outcome = compact(remote(&base, "slow", None, limits)).await;
    fell_back(&outcome, "no answer in time: compact: 0.1 s");
}

/// What failed there is what failed, said once.
#[tokio::test]
async fn a_failure_keeps_its_kind_on_the_way() {
    for kind in [
        FailureKind::RateLimited,
        FailureKind::SpendCap,
        FailureKind::Refusal,
        FailureKind::CutShort,
        FailureKind::Upstream,
        FailureKind::Timeout,
    ] {
        let fails = from_fn("fails", move |_| {
            std::future::ready(Err(SummarizeError::new(kind, "on purpose")))
        });
        let (base, _alive) = served(Serving::new(vec![Served::new(fails, "")])).await;
        let outcome = compact(remote(&base, "fails", None, Limits::default())).await;
        let told = format!("grpc:{base}#fails: {kind}: on purpose");
        assert_eq!(outcome.receipt.fallbacks, [told]);
    }
}

/// A service that is written against the contract alone.
#[derive(Debug)]
struct Bare {
    timeout_ms: i64,
    answer: fn(CompactRequest) -> CompactResponse,
}

#[tonic::async_trait]
impl Contract for Bare {
    async fn describe(
        &self,
        _: tonic::Request<DescribeRequest>,
    ) -> Result<Response<DescribeResponse>, Status> {
        let (name, about) = ("bare".to_owned(), String::new());
        let bare = Described { name, timeout_ms: self.timeout_ms, about };
        Ok(Response::new(DescribeResponse { compactors: vec![bare] }))
    }

    async fn compact(
        &self,
        question: tonic::Request<CompactRequest>,
    ) -> Result<Response<CompactResponse>, Status> {
        Ok(Response::new((self.answer)(question.into_inner())))
    }
}

async fn bare(timeout_ms: i64, answer: fn(CompactRequest) -> CompactResponse) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let base = format!("http://{}", listener.local_addr().expect("it is bound"));
    let incoming = tokio_stream::wrappers::TcpListenerStream::new(listener);
    let service = CompactorServer::new(Bare { timeout_ms, answer });
    tokio::spawn(
        tonic::transport::Server::builder().add_service(service).serve_with_incoming(incoming),
    );
    base
}

fn compacted(fates: Vec<i32>, edits: Vec<Edit>) -> CompactResponse {
    let compacted = v1::Compacted { fates, edits, summary: String::new() };
    CompactResponse { verdict: Some(Said::Compacted(compacted)), ..CompactResponse::default() }
}

/// Folds what may leave of the first two thirds.
fn good(question: &CompactRequest) -> Vec<i32> {
    let all = question.entries.len();
    let entries = question.entries.iter().enumerate();
    let fates = entries.map(|(at, entry)| {
        let is_old = at < all * 2 / 3;
        if entry.may_leave && is_old { v1::Fate::Fold.into() } else { v1::Fate::Keep.into() }
    });
    fates.collect()
}

fn edit(entry: u32, part: u32, text: &str) -> Edit {
    Edit { entry, part, put: Some(v1::edit::Put::Text(text.to_owned())) }
}

#[tokio::test]
async fn answers_of_the_wrong_shape_or_against_a_law_are_done_without() {
    type Answer = fn(CompactRequest) -> CompactResponse;
    let faults: [(&str, Answer); 6] = [
        ("neither skip nor compacted", |_| CompactResponse::default()),
        ("0 isn't a fate", |q| compacted(vec![0; q.entries.len()], vec![])),
        ("99 isn't a fate", |q| compacted(vec![99; q.entries.len()], vec![])),
        ("which isn't there", |q| compacted(good(&q), vec![edit(900, 0, "x")])),
        ("has no part 77", |q| compacted(good(&q), vec![edit(120, 77, "x")])),
        ("it takes message 7 away, which must stay", |q| {
            let mut fates = good(&q);
            fates[7..9].fill(v1::Fate::Drop.into());
            compacted(fates, vec![])
        }),
    ];
    for (why, answer) in faults {
        let base = bare(0, answer).await;
        fell_back(&compact(remote(&base, "bare", None, Limits::default())).await, why);
    }
}

#[tokio::test]
async fn a_timeout_that_is_none_means_the_usual_one() {
    for ms in [0, -5] {
        let base = bare(ms, |q| compacted(good(&q), vec![])).await;
        let remote = remote(&base, "bare", None, Limits::default());
        let offers = remote.offers().await.expect("it is there");
        assert_eq!(offers[0].timeout, USUAL, "{ms}");
        let outcome = compact(remote).await;
        assert!(outcome.receipt.fallbacks.is_empty(), "{:?}", outcome.receipt.fallbacks);
    }
    let base = bare(2_500, |q| compacted(good(&q), vec![])).await;
    let offers = remote(&base, "bare", None, Limits::default()).offers().await;
    assert_eq!(offers.expect("it is there")[0].timeout, Duration::from_millis(2_500));
}

#[tokio::test]
async fn what_it_says_that_it_took_is_booked_however_it_ends() {
    const USAGE: v1::Usage =
        v1::Usage { requests: 1, input: 700, cached: 0, output: 80, cost_micro_usd: 5_000_000 };
    type Answer = fn(CompactRequest) -> CompactResponse;
    let answers: [(&str, Answer); 2] = [
        ("skipped: not now", |_| {
            let skip = v1::Skip { reason: "not now".to_owned() };
            CompactResponse {
                verdict: Some(Said::Skip(skip)),
                usage: Some(USAGE),
                ..CompactResponse::default()
            }
        }),
        ("neither skip nor compacted", |_| CompactResponse {
            usage: Some(USAGE),
            ..CompactResponse::default()
        }),
    ];
    for (why, answer) in answers {
        let base = bare(0, answer).await;
        let receipt = compact(remote(&base, "bare", None, Limits::default())).await.receipt;
        assert!(receipt.fallbacks[0].contains(why), "{:?}", receipt.fallbacks);
        let spent = receipt.summary.expect("it is booked").spent;
        assert_eq!((spent.input, spent.output), (700, 80), "{why}");
        assert_eq!(spent.cost, Some(epitome::model::Money::micro(5_000_000)), "{why}");
    }
}
