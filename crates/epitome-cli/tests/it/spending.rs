//! What summaries by models may cost.

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::server::Reply;
use testkit::server::script::Broken;

use crate::asked::{GOOD, KEY, Served, ask, bench, compact, receipt};
use crate::bench::Bench;

/// What one try may cost at most, as the receipt says where a cap forbids it.
fn estimate(bench: &Bench, server: &Served) -> f64 {
    ask(bench, 2, &server.running.url, &["--spend", "0.000001"]);
    let told = receipt(bench);
    let why = told["fallbacks"][0].as_str().expect("a reason");
    let (_, most) = why.split_once('$').expect("dollars");
    most.split(' ').next().expect("a number").parse().expect("a number")
}

#[test]
fn a_spend_cap_stops_calls_and_not_the_compaction() {
    let (bench, server) = (bench(), Served::new([Reply::text(GOOD).into()]));
    ask(&bench, 2, &server.running.url, &["--spend", "0.000001"]).ends(0);
    let fallback = receipt(&bench)["fallbacks"][0].clone();
    let fallback = fallback.as_str().expect("a reason");
    assert!(
        fallback.contains("the spend cap is reached") && fallback.contains("of $0.000001 spent"),
        "{fallback}"
    );
    assert_eq!(server.requests(), 0);
    let ran = ask(&bench, 2, &server.running.url, &["--spend", "$2"]);
    assert_eq!((ran.code, server.requests()), (0, 1), "{}", ran.err);
    assert_eq!(receipt(&bench)["summary"]["by"], "claude-haiku-4-5");
    for (bad, words) in [("0", "not a positive number of dollars"), ("much", "not a positive")] {
        let ran = ask(&bench, 2, &server.running.url, &["--spend", bad]);
        assert!(ran.code == 2 && ran.err.contains(words), "{bad}: {}", ran.err);
    }
}

#[test]
fn a_model_whose_price_is_ones_own_is_paid_from_the_cap() {
    let (bench, server) = (bench(), Served::new([Reply::text(GOOD).into()]));
    let name = format!("{}/v1#gpt-4o-mini-home", server.running.url);
    let flags = ["--summarizer", &name, "--spend", "1"];
    compact(&bench, &flags, &[]).ends(0);
    let fallback = receipt(&bench)["fallbacks"][0].clone();
    assert!(fallback.as_str().is_some_and(|why| why.contains("the price of")), "{fallback}");
    bench.write("own.json", OWN);
    compact(&bench, &flags, &[("EPITOME_MODELS", "own.json")]).ends(0);
    let told = receipt(&bench);
    assert_eq!(
        (&told["summary"]["by"], server.requests()),
        (&json!("gpt-4o-mini-home"), 1),
        "{told}"
    );
    assert!(told["summary"]["spent"]["cost"].as_f64() > Some(0.0), "{told}");
}

#[test]
fn each_try_is_asked_about() {
    // Each answer breaks off once its prompt was paid for.
    let cut = || Reply {
        pace: Duration::from_millis(50),
        broken: Some(Broken { after: 3, fault: None }),
        ..Reply::text(GOOD)
    };
    let (bench, server) = (bench(), Served::new([cut().into(), cut().into(), cut().into()]));
    let most = estimate(&bench, &server);
    // It is enough for one try, and not for what a second one may take besides.
    let cap = format!("{:.6}", most * 1.01);
    let ran = ask(&bench, 2, &server.running.url, &["--spend", &cap]);
    assert_eq!((ran.code, server.requests()), (0, 1), "{}", ran.err);
    let told = receipt(&bench);
    let why = told["fallbacks"][0].as_str().expect("a reason");
    assert!(why.contains("the spend cap is reached"), "{why}");
    let spent = told["summary"]["spent"]["cost"].as_f64().expect("dollars");
    assert!(spent > most * 0.01, "{spent} of {cap}");
}

#[test]
fn a_projects_prices_raise_no_cap() {
    let (bench, server) = (bench(), Served::new([Reply::text(GOOD).into()]));
    bench.write("cheap.json", CHEAP);
    bench.write("epitome.toml", "models = \"cheap.json\"\n");
    let flags = ["--spend", "0.001"];
    let ran = ask(&bench, 2, &server.running.url, &flags);
    assert_eq!((ran.code, server.requests()), (0, 0), "{}", ran.err);
    let fallback = receipt(&bench)["fallbacks"][0].clone();
    assert!(
        fallback.as_str().is_some_and(|why| why.contains("the spend cap is reached")),
        "{fallback}"
    );
    let ran = ask(&bench, 2, &server.running.url, &["--spend", "0.001", "--models", "cheap.json"]);
    assert_eq!((ran.code, server.requests()), (0, 1), "who names the file means it: {}", ran.err);
}

/// A price that nobody asks for.
const CHEAP: &str = r#"{"models": {"claude-haiku-4-5": {"price": {"input": 0.0001, "output": 0.0001,
    "read": 0.0001, "write": 0.0001, "write_long": 0.0001},
    "source": "somebody"}}}"#;

/// What is known of a model by its owner.
const OWN: &str = r#"{"models": {"gpt-4o-mini-home": {"vendor": "me", "tokenizer": "o200k", "input": 100000,
    "output": 8000, "price": {"input": 0.2, "output": 0.4}, "source": "my bills"}}}"#;

/// Runs of their own share what is left of a day, and of a session.
#[test]
fn caps_by_day_and_by_session_hold_over_processes() {
    for (flag, words) in
        [("--spend-day", "spent today"), ("--spend-session", "spent in this session")]
    {
        let replies = [Reply::text(GOOD).into(), Reply::text(GOOD).into()];
        let (bench, server) = (bench(), Served::new(replies));
        // Enough for one summary, and not for two: what is spent once is above nothing.
        let ran = ask(&bench, 2, &server.running.url, &[flag, "0.2"]);
        assert_eq!((ran.code, server.requests()), (0, 1), "{}", ran.err);
        let told = receipt(&bench);
        let cost = told["summary"]["spent"]["cost"].as_f64().expect("its price is known");
        let kept = bench.json(BOOKS);
        let span = if flag == "--spend-day" { "days" } else { "sessions" };
        let amounts = kept[span].as_object().expect("a table");
        let amount = amounts.values().next().expect("one span");
        let micro = amount.as_u64().or(amount["micro_usd"].as_u64()).expect("an amount");
        assert!((micro as f64 / 1e6 - cost).abs() < 2e-6, "{micro} {cost}");
        // A process later there is less than nothing left of a cap as large as that.
        let cap = format!("{cost}");
        let ran = ask(&bench, 2, &server.running.url, &[flag, &cap]);
        assert_eq!((ran.code, server.requests()), (0, 1), "{}", ran.err);
        let fallback = receipt(&bench)["fallbacks"][0].clone();
        assert!(fallback.as_str().is_some_and(|why| why.contains(words)), "{fallback}");
    }
}

/// Where runs keep what they spent.
const BOOKS: &str = ".local/state/epitome/spent.json";

#[test]
fn without_readable_books_no_model_is_asked() {
    let (bench, server) = (bench(), Served::new([Reply::text(GOOD).into()]));
    bench.write(BOOKS, "{\"version\":1,");
    let ran = ask(&bench, 2, &server.running.url, &["--spend-day", "2"]);
    assert_eq!((ran.code, server.requests()), (0, 0), "{}", ran.err);
    let fallback = receipt(&bench)["fallbacks"][0].clone();
    let why = fallback.as_str().expect("a reason");
    assert!(
        why.contains("it isn't known what was spent: ") && why.contains("can't be read"),
        "{why}"
    );
    assert!(why.contains("move it away to count from zero"), "{why}");
    assert!(!why.contains("cap is reached"), "{why}");
}

#[test]
fn books_that_somebody_holds_are_given_up_in_time() {
    let (bench, server) = (bench(), Served::new([Reply::text(GOOD).into()]));
    bench.write(".local/state/epitome/spent.lock", "");
    let lock = std::fs::File::open(bench.path(".local/state/epitome/spent.lock"));
    let lock = lock.expect("it was written");
    lock.lock().expect("nobody else has it");
    let begun = Instant::now();
    let ran = ask(&bench, 2, &server.running.url, &["--spend-day", "2", "--timeout", "1"]);
    assert_eq!((ran.code, server.requests()), (0, 0), "{}", ran.err);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    let fallback = receipt(&bench)["fallbacks"][0].clone();
    assert!(fallback.is_string(), "{fallback}");
    drop(lock);
    let ran = ask(&bench, 2, &server.running.url, &["--spend-day", "2"]);
    assert_eq!((ran.code, server.requests()), (0, 1), "{}", ran.err);
}

#[test]
fn books_are_written_through_no_link_and_days_to_come_are_forgotten() {
    let replies = [Reply::text(GOOD).into(), Reply::text(GOOD).into()];
    let (bench, server) = (bench(), Served::new(replies));
    let all = u64::MAX;
    let odd =
        format!("{{\"version\":1,\"days\":{{\"99999999\":5,\"{all}\":7}},\"sessions\":{{}}}}");
    bench.write(BOOKS, &odd);
    #[cfg(unix)]
    {
        bench.write("mine", "precious");
        let link = bench.path(".local/state/epitome/spent.next");
        std::os::unix::fs::symlink(bench.path("mine"), link).expect("it can be made");
    }
    let ran = ask(&bench, 2, &server.running.url, &["--spend-day", "2"]);
    assert_eq!((ran.code, server.requests()), (0, 1), "{}", ran.err);
    #[cfg(unix)]
    assert_eq!(bench.read("mine"), "precious");
    let kept = bench.json(BOOKS);
    let days = kept["days"].as_object().expect("a table");
    assert!(days.len() == 1 && !days.contains_key("99999999"), "{kept}");
    // Any amount may stand there.
    let today = days.keys().next().expect("today");
    let full = format!("{{\"version\":1,\"days\":{{\"{today}\":{all}}},\"sessions\":{{}}}}");
    bench.write(BOOKS, &full);
    let ran = ask(&bench, 2, &server.running.url, &["--spend-day", "2"]);
    assert_eq!((ran.code, server.requests()), (0, 1), "{}", ran.err);
}

/// What each may cost at most is set aside before it is asked, so that runs at once spend no more than one after
/// another. Which of them are asked is up to who comes when.
#[test]
fn runs_at_once_share_a_day() {
    const RUNS: usize = 6;
    let slow = || Reply { wait: Duration::from_millis(500), ..Reply::text(GOOD) };
    let (bench, server) = (bench(), Served::new((0..RUNS).map(|_| slow().into())));
    let most = estimate(&bench, &server);
    let cap = format!("{:.6}", most * 1.01);
    let url = server.running.url.as_str();
    let run = |nth: usize| {
        let (out, receipt) = (format!("out{nth}"), format!("receipt{nth}"));
        let words = ["compact", "in.jsonl", "--target", "10%", "-o", &out, "--receipt", &receipt];
        let flags = ["--summarizer", "anthropic:claude-haiku-4-5", "--spend-day", &cap];
        let mut command = bench.command(&[&words[..], &flags[..]].concat());
        command.env("NO_PROXY", "127.0.0.1").env("ANTHROPIC_BASE_URL", url);
        command.env("ANTHROPIC_API_KEY", KEY).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the binary runs")
    };
    let runs: Vec<Child> = (0..RUNS).map(run).collect();
    for mut run in runs {
        assert!(run.wait().expect("it ends").success());
    }
    let (mut asked, mut cost) = (0, 0.0);
    for nth in 0..RUNS {
        let told = bench.read(&format!("receipt{nth}"));
        let told: serde_json::Value = serde_json::from_str(&told).expect("JSON");
        if let Some(why) = told["fallbacks"][0].as_str() {
            assert!(why.contains("the spend cap is reached"), "{why}");
            continue;
        }
        asked += 1;
        cost += told["summary"]["spent"]["cost"].as_f64().expect("its price is known");
    }
    assert!(asked >= 1 && server.requests() == asked, "{asked} of {}", server.requests());
    // What they did cost is all that stays booked.
    let kept = bench.json(BOOKS);
    let micro = kept["days"].as_object().and_then(|days| days.values().next()?.as_u64());
    let micro = micro.expect("an amount") as f64;
    assert!((micro - cost * 1e6).abs() < 2.0 * RUNS as f64, "{micro} for {cost}");
    assert!(micro <= most * 1.01e6 + 1.0, "{micro} of {cap}");
}
