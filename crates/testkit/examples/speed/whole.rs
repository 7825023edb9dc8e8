//! The whole way, from file to file, and its stages.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;

use cpu_time::ProcessTime;
use epitome::checkpoint::Gathered;
use epitome::count::{CacheKey, Cached, Tally, TokenCounter, counter};
use epitome::engine::Counting;
use epitome::transcript::unit::Units;
use epitome::trigger::{Measurements, When};
use epitome::{Compactor, Format, Options, Request, wire};
use testkit::bulk;

use crate::measure::{ROUNDS, another, least, timed};
use crate::{Asked, Failed, Page, formats};

const PYTHON: &str = "\
import json, resource, sys, time
start = time.process_time()
value = json.load(open(sys.argv[1]))
json.dump(value, open(sys.argv[2], 'w'))
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)";

pub(crate) fn measure(page: &mut Page, asked: &Asked, folder: &Path) -> Result<(), Failed> {
    let mut table = String::from(
        "\n## The whole way, from file to file\n\nTo 30 %, vocabulary included; Python is `json.load` and `json.dump` of the same file.\n\n\
         | format | MB | Python, ms | Epitome, ms | × Python | Python's peak, × file | peak, × file | ten times the input, × |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut stages = String::from(
        "\n## Where it goes, ms/MB\n\n`second` is a second pass over a known history, with its counts in the cache, \
         and without reading the file; `rest` is the\nwhole without counting and extraction, of the least of each (so that noise may leave less than nothing); `extract` is what a checkpoint of all \
         messages is made from; `decided` is reading, and deciding that nothing is due, with all counted and by a sample.\n\n\
         | format | parse | check | count | extract | second | render | whole | rest | decided | by a sample |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    // The worst of all formats.
    let (mut ratio, mut peak, mut grown) = (0.0_f64, 0.0_f64, 0.0_f64);
    let (mut second, mut rest, mut extract) = (0.0_f64, 0.0_f64, 0.0_f64);
    let mut sampled = 0.0_f64;
    for format in formats() {
        let text = |messages| bulk::generate(11, bulk::Size::entries(format, messages));
        let (small, large) = (folder.join("small.json"), folder.join("large.json"));
        fs::write(&small, text(asked.messages / 10))?;
        let source = text(asked.messages);
        fs::write(&large, &source)?;
        let bytes = source.len() as f64;
        let ours = |file: &Path| {
            let mut command = another(&["--once", format.name()])?;
            command.arg(file);
            Ok::<_, Failed>(command)
        };
        let (of_large, of_small) = (ours(&large)?, ours(&small)?);
        let whole = least(ROUNDS, || again(&of_large))?;
        let tenth = least(ROUNDS, || again(&of_small))?;
        let python = least(ROUNDS, || {
            let mut python = Command::new("python3");
            python.args(["-c", PYTHON]).arg(&large).arg(folder.join("copy.json"));
            python
        })?;
        let tenth_bytes = fs::metadata(&small)?.len() as f64;
        let times = (whole.seconds / bytes) / (tenth.seconds / tenth_bytes) * 10.0;
        writeln!(
            table,
            "| {} | {:.1} | {:.0} | {:.0} | {:.2} | {:.2} | {:.2} | {times:.1} |",
            format.name(),
            bytes / 1e6,
            python.seconds * 1e3,
            whole.seconds * 1e3,
            whole.seconds / python.seconds,
            python.peak / bytes,
            whole.peak / bytes,
        )?;
        ratio = ratio.max(whole.seconds / python.seconds);
        peak = peak.max((whole.peak - 16e6) / bytes);
        grown = grown.max(times);
        let each = of_stages(format, &Arc::new(source))?;
        let shown: Vec<String> = each.iter().map(|time| format!("{time:.2}")).collect();
        writeln!(stages, "| {} | {} |", format.name(), shown.join(" | "))?;
        extract = extract.max(each[3]);
        second = second.max(each[4]);
        rest = rest.max(each[7]);
        sampled = sampled.max(each[9] / each[8]);
    }
    page.details += &table;
    page.details += &stages;
    let per_megabyte = |time: f64| format!("{time:.2} ms/MB");
    page.goal(
        "from file to file, beside Python's `json`",
        "0.6 ×",
        format!("{ratio:.2} ×"),
        ratio <= 0.6,
    );
    page.goal(
        "all of it but counting and extraction",
        "2.5 ms/MB",
        per_megabyte(rest),
        rest <= 2.5,
    );
    page.goal("extraction", "3 ms/MB", per_megabyte(extract), extract <= 3.0);
    page.goal(
        "the most memory held",
        "2 × the file and 16 MB",
        format!("{peak:.2} × and 16 MB"),
        peak <= 2.0,
    );
    page.goal("ten times the input", "13 × the time", format!("{grown:.1} ×"), grown <= 13.0);
    page.goal(
        "second pass, counts cached, without reading the file",
        "1.5 ms/MB",
        per_megabyte(second),
        second <= 1.5,
    );
    page.goal(
        "deciding about a large transcript by a sample, reading included",
        "a third of the exact time",
        format!("{sampled:.2} ×"),
        sampled <= 1.0 / 3.0,
    );
    Ok(())
}

/// The same command once more.
fn again(command: &Command) -> Command {
    let mut same = Command::new(command.get_program());
    same.args(command.get_args());
    same
}

/// Milliseconds a megabyte, as the columns say.
fn of_stages(format: Format, source: &Arc<String>) -> Result<[f64; 10], Failed> {
    let mut least = [f64::INFINITY; 9];
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
        let [all, some] = [Counting::Whole, Counting::Sampled]
            .map(|counting| timed(|| decided(format, source, counting)))
            .map(|(time, done)| done.map(|()| time));
        let times = [parse, check, count, extract, second, render, whole, all?, some?];
        least = std::array::from_fn(|at| least[at].min(times[at]));
    }
    let [parse, check, count, extract, second, render, whole, all, some] = least;
    let rest = whole - count - extract;
    let megabytes = source.len() as f64 / 1e6;
    Ok([parse, check, count, extract, second, render, whole, rest, all, some]
        .map(|time| time * 1e3 / megabytes))
}

/// Finds that nothing is due.
fn decided(format: Format, source: &Arc<String>, counting: Counting) -> Result<(), Failed> {
    let request = wire::parse(format, Arc::clone(source))?;
    let options = Options { counting, ..Options::default() };
    let trigger = Arc::new(When::Tokens(1 << 40).build()?);
    let compactor =
        Compactor::new(options, counter("o200k")?)?.with_trigger(trigger, Measurements::default());
    assert!(!compactor.compact(&request)?.receipt.triggered);
    Ok(())
}

/// What a checkpoint of all entries is made from.
fn extracted(request: &Request) -> Gathered {
    let transcript = &request.transcript;
    Gathered::of(transcript, &Units::of(transcript, request.format.instructions()))
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

/// The whole way, in a process that does nothing else.
pub(crate) fn once(format: Format, file: &Path) -> Result<ExitCode, Failed> {
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
