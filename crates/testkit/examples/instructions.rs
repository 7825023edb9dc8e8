//! How many instructions some pieces of work take, against what they took when somebody looked last:
//! `cargo run -p testkit --example instructions -- [--check] crates/testkit/data/instructions.tsv`
//!
//! Each piece is done by a process of its own under valgrind's cachegrind, which counts; what starting and making the input
//! takes is subtracted. Work is held to be linear: ten times the messages take at most thirteen times as many (law 11), four
//! times as much that is broken, or that was found to take long once, at most six times. Counts hardly depend on the machine, but on the profile and the compiler: the file says which. Without
//! `--check` the file is written anew; with it a piece that takes over a twentieth more is an error.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::iter;
use std::num::NonZero;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use epitome::count::{Tally, TokenCounter, counter};
use epitome::session::{ChainKey, Recipient, SessionOptions, Sessions};
use epitome::trigger::When;
use epitome::{Compactor, Format, Options, Target, wire};
use testkit::{broken, bulk, hostile};

type Failed = Box<dyn Error>;

/// What is done, in this order: each begins with what the one before it does.
const PIECES: [&str; 7] = ["nothing", "parse", "check", "count", "compact", "new", "known"];
/// Messages of the input.
const MESSAGES: usize = 400;
/// Percent that a piece may take more.
const MOST: u64 = 105;

/// What was found to take long once, and where it stands.
const HOSTILE: [(&str, usize); 4] = [
    ("names of their own", 0),
    ("names of their own", 2),
    ("labelled rules", 0),
    ("checkpoints open", 0),
];
/// Bytes of it, and four times as many.
const BYTES: [usize; 2] = [1 << 18, 1 << 20];
/// How much is broken, and four times as much.
const BROKEN: [usize; 2] = [1_000, 4_000];
/// How often as many instructions four times as much may take.
const FOURFOLD: u64 = 6;
/// How often as many ten times the messages may take.
const TENFOLD: u64 = 13;

/// One piece of work at two sizes, by arguments of this program.
struct Growth {
    name: String,
    arguments: [Vec<String>; 2],
    most: u64,
}

fn main() -> Result<ExitCode, Failed> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--do", piece, format, messages] => {
            black_box(work(piece, format.parse()?, messages.parse()?)?);
            Ok(ExitCode::SUCCESS)
        }
        ["--hostile", name, place, size] => {
            black_box(hostile_work(name, place.parse()?, size.parse()?)?);
            Ok(ExitCode::SUCCESS)
        }
        ["--mend", format, size] => {
            for request in broken::requests(format.parse()?, size.parse()?) {
                assert!(!black_box(wire::repair(&request)).mended.is_empty(), "nothing was broken");
            }
            Ok(ExitCode::SUCCESS)
        }
        ["--check", file] => check(file),
        [file] => {
            fs::write(file, counted()?.1)?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprintln!("usage: instructions [--check] FILE");
            Ok(ExitCode::from(2))
        }
    }
}

fn compactor(counter: &Arc<dyn TokenCounter>) -> Result<Compactor, Failed> {
    let options = Options { target: Target::Percent(30), ..Options::default() };
    Ok(Compactor::new(options, Arc::clone(counter))?)
}

/// Does a piece and whatever it needs before.
fn work(piece: &str, format: Format, messages: usize) -> Result<usize, Failed> {
    let source = bulk::generate(7, bulk::Size::entries(format, messages));
    // A table, not a vocabulary: loading one would be most of it.
    let counter = counter("chars4")?;
    let request = || wire::parse(format, source.clone());
    Ok(match piece {
        "nothing" => source.len(),
        "parse" => request()?.transcript.len(),
        "check" => wire::check(&request()?).len(),
        "count" => Tally::of(&request()?, counter.as_ref()).total().tokens as usize,
        "compact" => compactor(&counter)?.compact(&request()?)?.request.source().len(),
        "new" => seen(&source, format, &counter, 1)?,
        "known" => seen(&source, format, &counter, 2)?,
        piece => return Err(format!("no piece is called {piece}").into()),
    })
}

/// A request that a session machine reads and sees so many times.
fn seen(
    source: &str,
    format: Format,
    counter: &Arc<dyn TokenCounter>,
    times: u64,
) -> Result<usize, Failed> {
    let options = SessionOptions::new(Arc::new(When::Share(0.8).build()?), ChainKey([1, 2, 3, 4]));
    let mut sessions = Sessions::new(options, compactor(counter)?)?;
    for second in 0..times {
        let request = sessions.read("", Some(format), source.to_owned())?;
        let to = Recipient::from(Some(1 << 40));
        black_box(sessions.observe("", &request, to, Duration::from_secs(second)));
    }
    Ok(sessions.len())
}

/// Compacts a session with so many bytes of a hostile text.
fn hostile_work(name: &str, place: usize, size: usize) -> Result<usize, Failed> {
    let texts = hostile::texts().into_iter();
    let text = texts.into_iter().find(|(is, _)| *is == name).ok_or("no text is called so")?.1;
    let source = hostile::request(place, &hostile::filled(&text, size));
    let request = wire::parse(Format::OpenaiChat, source)?;
    Ok(compactor(&counter("chars4")?)?.compact(&request)?.request.source().len())
}

/// All that is held to be linear.
fn growths() -> Vec<Growth> {
    let growth = |name: String, most, words: &[&str], sizes: [usize; 2]| {
        let arguments = sizes.map(|size| {
            let size = size.to_string();
            words.iter().map(|word| (*word).to_owned()).chain([size]).collect()
        });
        Growth { name, arguments, most }
    };
    let messages = [MESSAGES, 10 * MESSAGES];
    let pieces = ["check", "compact"].into_iter();
    let done = pieces.flat_map(|piece| {
        Format::ALL.iter().map(move |format| {
            growth(format!("{piece} {format}"), TENFOLD, &["--do", piece, format.name()], messages)
        })
    });
    let mended = Format::ALL.iter().map(|format| {
        growth(format!("mend {format}"), FOURFOLD, &["--mend", format.name()], BROKEN)
    });
    let hostile = HOSTILE.iter().map(|(name, place)| {
        let said = format!("{name} in {}", hostile::PLACES[*place]);
        growth(said, FOURFOLD, &["--hostile", name, &place.to_string()], BYTES)
    });
    done.chain(mended).chain(hostile).collect()
}

/// Whether what is held to be linear is.
fn is_linear() -> Result<bool, Failed> {
    let growths = growths();
    let counts = at_once(&growths, |growth| {
        let [one, more] = &growth.arguments;
        Ok((counted_by_valgrind(one)?, counted_by_valgrind(more)?))
    })?;
    let mut is_linear = true;
    for (Growth { name, most, .. }, (one, more)) in growths.iter().zip(counts) {
        println!("{name}\t{:.1} times of {one}", more as f64 / one as f64);
        if more > one * most {
            println!("  more than {most} times as many");
            is_linear = false;
        }
    }
    Ok(is_linear)
}

/// What `count` gives for each, in processes of their own, as many at once as there are cores: what counts is the same.
fn at_once<T: Sync, C: Send>(
    all: &[T],
    count: impl Fn(&T) -> Result<C, String> + Sync,
) -> Result<Vec<C>, String> {
    let next = AtomicUsize::new(0);
    let take = || {
        let at = next.fetch_add(1, Relaxed);
        all.get(at).map(|one| (at, count(one)))
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let mut counted: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> =
            (0..cores).map(|_| scope.spawn(|| iter::from_fn(take).collect::<Vec<_>>())).collect();
        running.into_iter().flat_map(|one| one.join().expect("it doesn't panic")).collect()
    });
    counted.sort_by_key(|(at, _)| *at);
    counted.into_iter().map(|(_, count)| count).collect()
}

/// By piece and format, and as the file.
fn counted() -> Result<(BTreeMap<String, u64>, String), Failed> {
    let all = at_once(&Format::ALL, |format| {
        let nothing = instructions("nothing", *format)?;
        let of = |piece: &&str| Ok(instructions(piece, *format)?.saturating_sub(nothing));
        PIECES[1..].iter().map(of).collect::<Result<Vec<u64>, String>>()
    })?;
    let mut counts = BTreeMap::new();
    let mut file = format!("# {}\npiece\tformat\tinstructions\n", compiler()?);
    for (format, of_pieces) in Format::ALL.iter().zip(all) {
        for (piece, count) in PIECES[1..].iter().zip(of_pieces) {
            writeln!(file, "{piece}\t{format}\t{count}")?;
            counts.insert(format!("{piece}\t{format}"), count);
        }
    }
    Ok((counts, file))
}

/// The compiler's version, which counts depend on.
fn compiler() -> Result<String, Failed> {
    let told = Command::new("rustc").arg("--version").output()?;
    let told = String::from_utf8(told.stdout)?;
    Ok(told.split(" (").next().unwrap_or_default().trim().to_owned())
}

fn instructions(piece: &str, format: Format) -> Result<u64, String> {
    let words = ["--do", piece, format.name(), &MESSAGES.to_string()];
    counted_by_valgrind(&words.map(str::to_owned))
}

/// Instructions of a process of this program with these arguments.
fn counted_by_valgrind(arguments: &[String]) -> Result<u64, String> {
    let flags = ["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"];
    let done = Command::new("valgrind")
        .args(flags)
        .arg(std::env::current_exe().map_err(|error| error.to_string())?)
        .args(arguments)
        .output()
        .map_err(|error| format!("valgrind: {error}; it is a package of most distributions"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    let line = said.lines().find_map(|line| line.split_once("refs:").map(|(_, count)| count));
    let count = line.map(|count| count.replace(',', "")).ok_or_else(|| said.to_string())?;
    count.trim().parse().map_err(|_| format!("valgrind counts {count:?}"))
}

fn check(file: &str) -> Result<ExitCode, Failed> {
    let recorded = fs::read_to_string(file)?;
    let (by, rows) = recorded.split_once('\n').ok_or_else(|| format!("{file} is empty"))?;
    let compiler = compiler()?;
    let is_same = by.trim_start_matches("# ") == compiler;
    let (counts, _) = counted()?;
    let mut state = if is_linear()? { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    for line in rows.lines().skip(1) {
        let (piece, was) = line.rsplit_once('\t').ok_or_else(|| format!("{file}: {line:?}"))?;
        let was: u64 = was.parse()?;
        let is =
            *counts.get(piece).ok_or_else(|| format!("{file}: {piece:?} isn't done any more"))?;
        println!("{piece}\t{is}\t{:.1} % of {was}", is as f64 * 100.0 / was as f64);
        if is > was * MOST / 100 && is_same {
            println!("  takes over a twentieth more; if that is worth it, make {file} anew");
            state = ExitCode::FAILURE;
        }
    }
    if !is_same {
        println!("not judged: this is {compiler}, and {file} was made with {by}; make it anew");
    }
    Ok(state)
}
