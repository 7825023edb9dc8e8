//! What everything costs, beside Python's `json` and the goals, in one run:
//! `cargo run --release -p testkit --example speed -- [--messages N] [--program FILE] [OUT]`
//!
//! Transcripts of N messages (100,000), the same in every run, in each format that is compacted. Times are
//! processor time, the best of several rounds, so that other work on the machine hardly matters: trust the
//! ratios. `whole` and Python's load and dump are processes of their own, from file to file. With the built
//! program also what starting it costs. OUT takes the page as Markdown (docs/speed.md).

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cpu_time::{ProcessTime, ThreadTime};
use epitome::checkpoint::Gathered;
use epitome::count::{CacheKey, Cached, Tally, TokenCounter, counter};
use epitome::ledger::Shown;
use epitome::session::{ChainKey, Recipient, Send, SessionOptions, Sessions};
use epitome::transcript::unit::Units;
use epitome::trigger::When;
use epitome::{Compactor, Format, Options, Request, wire};
use testkit::bulk;

type Failed = Box<dyn Error>;

const ROUNDS: usize = 3;
const PYTHON: &str = "\
import json, resource, sys, time
start = time.process_time()
value = json.load(open(sys.argv[1]))
json.dump(value, open(sys.argv[2], 'w'))
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)";

/// What was asked for.
struct Asked {
    messages: usize,
    program: Option<PathBuf>,
    page: Option<PathBuf>,
}

fn main() -> Result<ExitCode, Failed> {
    let mut asked = Asked { messages: 100_000, program: None, page: None };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut next = || words.next().ok_or("a flag lacks its value");
        match word.as_str() {
            "--once" => return once(next()?.parse()?, Path::new(&next()?)),
            "--messages" => asked.messages = next()?.parse()?,
            "--program" => asked.program = Some(next()?.into()),
            flag if flag.starts_with('-') => {
                eprintln!("usage: speed [--messages N] [--program FILE] [OUT]");
                return Ok(ExitCode::from(2));
            }
            page => asked.page = Some(page.into()),
        }
    }
    let page = page(&asked)?;
    match &asked.page {
        Some(file) => fs::write(file, page)?,
        None => print!("{page}"),
    }
    Ok(ExitCode::SUCCESS)
}

fn page(asked: &Asked) -> Result<String, Failed> {
    let mut out = String::from(
        "# Speed\n\nMade by `cargo run --release -p testkit --example speed -- --program target/release/epitome docs/speed.md`: \
         processor\ntime of one thread, the best of three rounds of one run. Seconds depend on the machine, ratios hardly.\n",
    );
    let folder = std::env::temp_dir().join(format!("epitome-speed-{}", std::process::id()));
    fs::create_dir(&folder)?;
    let measured = whole_and_stages(&mut out, asked, &folder)
        .and_then(|()| sessions(&mut out, asked))
        .and_then(|()| starting(&mut out, asked, &folder));
    fs::remove_dir_all(&folder)?;
    measured.map(|()| out)
}

/// The formats that are compacted.
fn formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| *format != Format::Bedrock)
}

fn whole_and_stages(out: &mut String, asked: &Asked, folder: &Path) -> Result<(), Failed> {
    writeln!(
        out,
        "\n## The whole way, from file to file\n\nTranscripts of {} messages to 30 %, vocabulary included. Goals: at most 0.6 × Python's \
         `json.load` and\n`json.dump` of the same file; at most 2 × the file and 16 MB; ten times the input in at most thirteen times the time.\n\n\
         | format | MB | Python, ms | Epitome, ms | × Python | peak, × file | ten times the input, × |\n|---|---|---|---|---|---|---|",
        asked.messages
    )?;
    let mut stages = String::new();
    for format in formats() {
        let text = |messages| bulk::generate(11, bulk::Size::entries(format, messages));
        let (small, large) = (folder.join("small.json"), folder.join("large.json"));
        fs::write(&small, text(asked.messages / 10))?;
        let source = text(asked.messages);
        fs::write(&large, &source)?;
        let megabytes = source.len() as f64 / 1e6;
        let program = std::env::current_exe()?;
        let ours = |file: &Path| {
            best(|| ran(Command::new(&program).args(["--once", format.name()]).arg(file)))
        };
        let copy = folder.join("copy.json");
        let python =
            best(|| ran(Command::new("python3").args(["-c", PYTHON]).arg(&large).arg(&copy)));
        let (python, whole, tenth) = (python?, ours(&large)?, ours(&small)?);
        let grown = (whole.seconds / megabytes)
            / (tenth.seconds / (fs::metadata(&small)?.len() as f64 / 1e6))
            * 10.0;
        writeln!(
            out,
            "| {} | {megabytes:.1} | {:.0} | {:.0} | {:.2} | {:.2} | {grown:.1} |",
            format.name(),
            python.seconds * 1e3,
            whole.seconds * 1e3,
            whole.seconds / python.seconds,
            whole.peak / 1e6 / megabytes,
        )?;
        stages += &of_stages(format, &Arc::new(source))?;
    }
    write!(
        out,
        "\n## Where it goes, ms/MB\n\n`second` is a second pass over a known history, with its counts in the cache and without reading the \
         file (goal: 1.5);\n`rest` is the whole without counting and extraction (2.5); `extract` is ledger, anchors and what narrative chooses \
         from (4).\n\n| format | parse | check | count | extract | second | render | whole | rest |\n|---|---|---|---|---|---|---|---|---|\n{stages}"
    )?;
    Ok(())
}

fn of_stages(format: Format, source: &Arc<String>) -> Result<String, Failed> {
    let megabytes = source.len() as f64 / 1e6;
    let mut least = [f64::INFINITY; 7];
    for _ in 0..ROUNDS {
        let (parse, request) = timed(|| wire::parse(format, Arc::clone(source)));
        let request = request?;
        let (check, _) = timed(|| wire::check(&request));
        let o200k = counter("o200k")?;
        let (count, _) = timed(|| Tally::of(&request, o200k.as_ref()));
        let (extract, _) = timed(|| extracted(&request));
        let known: Arc<dyn TokenCounter> =
            Arc::new(Cached::new(counter("o200k")?, 1 << 20, CacheKey([1, 2, 3, 4])));
        let compactor = Compactor::new(Options::default(), known)?;
        let outcome = compactor.compact(&request)?;
        let (render, _) = timed(|| wire::render(&outcome.base, &outcome.view));
        drop((outcome, request));
        let (second, done) = timed(|| -> Result<usize, Failed> {
            let request = wire::parse(format, Arc::clone(source))?;
            Ok(compactor.compact(&request)?.rendered().len())
        });
        done?;
        let (whole, done) = timed(|| compacted(format, source, counter("o200k")?));
        done?;
        let times = [parse, check, count, extract, second, render, whole];
        least = std::array::from_fn(|at| least[at].min(times[at]));
    }
    let rest = least[6] - least[2] - least[3];
    let each: Vec<String> =
        least.iter().chain([&rest]).map(|time| format!("{:.2}", time * 1e3 / megabytes)).collect();
    Ok(format!("| {} | {} |\n", format.name(), each.join(" | ")))
}

/// Ledger, anchors and what the narrative chooses from, of all entries.
fn extracted(request: &Request) -> Gathered {
    let transcript = &request.transcript;
    let units = Units::of(transcript, request.format.instructions());
    let mut gathered = Gathered::recalled_by(None);
    for entry in transcript.entries() {
        gathered.add(transcript, &units, entry, transcript.len());
        gathered.see(transcript, entry, |_| Shown::Elsewhere);
    }
    gathered.settle();
    gathered
}

fn compacted(
    format: Format,
    source: &Arc<String>,
    counter: Arc<dyn TokenCounter>,
) -> Result<usize, Failed> {
    let request = wire::parse(format, Arc::clone(source))?;
    let outcome = Compactor::new(Options::default(), counter)?.compact(&request)?;
    assert!(outcome.receipt.after.count.tokens <= outcome.receipt.target);
    Ok(outcome.rendered().len())
}

/// What a request costs whose history is known, and what its last message adds to that.
fn sessions(out: &mut String, asked: &Asked) -> Result<(), Failed> {
    writeln!(
        out,
        "\n## A known history\n\nOpenAI Chat. `same` is the request again with one message of 600 bytes more, read and decided (goal: 0.15 ms/MB up \
         to\n10 MB); `written anew` has its keys in another order (1.0 ms/MB); `decided` is the decision alone, without reading (goal: 5 µs, whatever \
         the length).\n\n| messages | MB | same, ms/MB | written anew, ms/MB | decided, µs |\n|---|---|---|---|---|"
    )?;
    for messages in [1_000, 10_000, asked.messages] {
        let source = bulk::generate(11, bulk::Size::entries(Format::OpenaiChat, messages));
        let megabytes = source.len() as f64 / 1e6;
        let longer = with_one_more(&source)?;
        let anew: serde_json::Value = serde_json::from_str(&longer)?;
        let anew = Arc::new(anew.to_string());
        let longer = Arc::new(longer);
        let mut least = [f64::INFINITY; 3];
        for _ in 0..ROUNDS {
            let mut known = watching()?;
            let request = wire::parse(Format::OpenaiChat, source.clone())?;
            decide(&mut known, &request);
            let (same, request) = timed(|| read_and_decided(&mut known, &longer));
            let request = request?;
            let (decided, ()) = timed(|| decide(&mut known, &request));
            let (other, done) = timed(|| read_and_decided(&mut known, &anew));
            done?;
            assert_eq!(known.len(), 1, "it is one conversation");
            let times = [same / megabytes * 1e3, other / megabytes * 1e3, decided * 1e6];
            least = std::array::from_fn(|at| least[at].min(times[at]));
        }
        let [same, other, decided] = least;
        writeln!(out, "| {messages} | {megabytes:.1} | {same:.2} | {other:.2} | {decided:.0} |")?;
    }
    Ok(())
}

/// A machine that never finds that anything is due.
fn watching() -> Result<Sessions, Failed> {
    let trigger = Arc::new(When::Tokens(1 << 40).build()?);
    let compactor = Compactor::new(Options::default(), counter("o200k")?)?;
    Ok(Sessions::new(SessionOptions::new(trigger, ChainKey([1, 2, 3, 4])), compactor)?)
}

fn read_and_decided(known: &mut Sessions, body: &Arc<String>) -> Result<Request, Failed> {
    let request = wire::parse(Format::OpenaiChat, Arc::clone(body))?;
    decide(known, &request);
    Ok(request)
}

fn decide(known: &mut Sessions, request: &Request) {
    let answer = known.observe("tenant", request, Recipient::default(), Duration::ZERO);
    assert!(matches!(answer.send, Send::AsItCame(_)), "nothing is due");
}

fn with_one_more(source: &str) -> Result<String, Failed> {
    let end = source.rfind(']').ok_or("a body has messages")?;
    let words = "Look at the next shelf. ".repeat(24);
    Ok(format!(
        "{},{{\"role\":\"user\",\"content\":\"{words}\"}}{}",
        &source[..end],
        &source[end..]
    ))
}

/// What the built program costs beside its work.
fn starting(out: &mut String, asked: &Asked, folder: &Path) -> Result<(), Failed> {
    let Some(program) = &asked.program else { return Ok(()) };
    let file = folder.join("stats.json");
    fs::write(&file, bulk::generate(11, bulk::Size::entries(Format::OpenaiChat, asked.messages)))?;
    let clock = |arguments: &[&str]| -> Result<f64, Failed> {
        let mut least = f64::INFINITY;
        for _ in 0..9 {
            let start = Instant::now();
            let done = Command::new(program).args(arguments).output()?;
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            least = least.min(start.elapsed().as_secs_f64());
        }
        Ok(least)
    };
    let version = clock(&["--version"])?;
    let stats = clock(&["stats", &file.to_string_lossy()])?;
    let size = fs::metadata(program)?.len() as f64 / 1e6;
    let megabytes = fs::metadata(&file)?.len() as f64 / 1e6;
    writeln!(
        out,
        "\n## The program\n\n| what | goal | measured (wall clock) |\n|---|---|---|\n| `--version` | 20 ms | {:.1} ms |\n\
         | `stats`, {megabytes:.0} MB | 1.5 s for 50 MB | {stats:.2} s |\n| the program, stripped | 25 MB | {size:.1} MB |",
        version * 1e3
    )?;
    Ok(())
}

/// One process's work: seconds of processor time, and bytes that it held at most.
#[derive(Clone, Copy)]
struct Ran {
    seconds: f64,
    peak: f64,
}

/// Runs a process that prints both.
fn ran(command: &mut Command) -> Result<Ran, Failed> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let text = String::from_utf8(output.stdout)?;
    let (seconds, peak) = text.trim().split_once(' ').ok_or("it printed something else")?;
    Ok(Ran { seconds: seconds.parse()?, peak: peak.parse()? })
}

fn best(run: impl Fn() -> Result<Ran, Failed>) -> Result<Ran, Failed> {
    let mut least = run()?;
    for _ in 1..ROUNDS {
        let next = run()?;
        least = Ran { seconds: least.seconds.min(next.seconds), peak: least.peak.min(next.peak) };
    }
    Ok(least)
}

/// The whole way, in a process that does nothing else.
fn once(format: Format, file: &Path) -> Result<ExitCode, Failed> {
    let start = ProcessTime::now();
    let source = Arc::new(fs::read_to_string(file)?);
    let request = wire::parse(format, source)?;
    let outcome = Compactor::new(Options::default(), counter("o200k")?)?.compact(&request)?;
    // A hundred thousand messages are more than some take.
    let is_length = |finding: &wire::Finding| finding.rule.0.ends_with("/too-many");
    assert!(wire::check(&outcome.request).iter().all(is_length));
    fs::write(file.with_extension("out"), outcome.rendered())?;
    let seconds = start.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    println!("{seconds} {}", kilobytes.unwrap_or(f64::NAN) * 1024.0);
    Ok(ExitCode::SUCCESS)
}

/// Seconds of this thread's work, and the result.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let start = ThreadTime::now();
    let result = black_box(work());
    (start.elapsed().as_secs_f64(), result)
}
