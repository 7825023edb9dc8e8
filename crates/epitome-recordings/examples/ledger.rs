//! What the ledger finds in recordings and requests.
//!
//! ```sh
//! cargo run -p epitome-recordings --example ledger -- lines FILE [BYTES]
//! cargo run -p epitome-recordings --example ledger -- replaced [FILE…]
//! cargo run -p epitome-recordings --example ledger -- sample SEED LINES [FILE…]
//! cargo run -p epitome-recordings --example ledger -- judged crates/testkit/data/ledger/judged.tsv
//! cargo run --release -p epitome-recordings --example ledger -- cost [FILE…]
//! ```
//!
//! `lines` prints it as a checkpoint would list it. `replaced` prints each line that a later one took the
//! place of (`+`), may contradict (`?`) or may change (`~`), for somebody to judge. `sample` draws lines that would be listed,
//! as JSON, one a line, with what was said around each. `judged` says how many of them two readers took for what
//! they are listed as, from a file of what each said of which line, by the beginning of its id: how precise the ledger is. `cost` compares the time of reading ledger and
//! anchors with that of counting the same texts. Without files they read the project's `examples` and the
//! last request of each of its captures.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use epitome::count::counter;
use epitome::ledger::{Ledger, Line, Shown};
use epitome::text::cut;
use epitome::transcript::unit::{Instructions, Units};
use epitome::transcript::{ContentId, Marks, Transcript};
use epitome_recordings::{Options, open};
use testkit::gathered::gathered;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "usage: ledger lines FILE [BYTES] | replaced [FILE…] | sample SEED LINES [FILE…] | judged FILE | cost [FILE…]";

/// How often each is timed.
const ROUNDS: usize = 5;

/// Bytes before and behind a line that are shown with it.
const AROUND: usize = 300;

fn main() -> Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["lines", file] => lines(file, usize::MAX)?,
        ["lines", file, bytes] => lines(file, bytes.parse()?)?,
        ["replaced", ref files @ ..] => replaced(&given(files)?),
        ["sample", seed, lines, ref files @ ..] => {
            sample(seed.parse()?, lines.parse()?, &given(files)?);
        }
        ["judged", file] => judged(file, &given(&[])?)?,
        ["cost", ref files @ ..] => cost(&given(files)?)?,
        _ => {
            eprintln!("{USAGE}");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A file's transcript, and the ledger of all of it.
struct Read {
    file: String,
    transcript: Transcript,
    ledger: Ledger,
}

impl Read {
    fn of(file: &Path, named: String) -> Result<Self> {
        let input = open(fs::read(file)?, None, Options::default())?;
        let transcript = input.request().transcript.clone();
        let mut ledger = Ledger::default();
        // What a compaction leaves where it was said: instructions, the task, the newest message.
        let human: Vec<usize> = transcript
            .entries()
            .filter(epitome::transcript::Entry::is_human)
            .map(|entry| entry.index)
            .collect();
        for entry in transcript.entries() {
            let stays = entry.role().instructs()
                || [human.first(), human.last()].contains(&Some(&entry.index));
            let shown = if stays { Shown::InFull } else { Shown::Elsewhere };
            ledger.observe_entry(&transcript, entry, |_| shown);
        }
        Ok(Read { file: named, transcript, ledger })
    }

    /// What was said before and behind a line.
    fn around(&self, line: &Line) -> (String, String) {
        let source = line.source();
        let entry = self.transcript.entry(line.at as usize);
        for part in entry.parts() {
            let text = part.text();
            if let Some(at) = text.find(source) {
                let before = cut::tail(&text[..at], AROUND);
                let behind = cut::head(&text[at + source.len()..], AROUND);
                return (before.to_owned(), behind.to_owned());
            }
        }
        (String::new(), String::new())
    }
}

fn lines(file: &str, bytes: usize) -> Result<()> {
    let read = Read::of(Path::new(file), file.to_owned())?;
    print!("{}", read.ledger.render(bytes));
    eprintln!("{} lines", read.ledger.lines().len());
    Ok(())
}

fn replaced(read: &[Read]) {
    let mut seen = BTreeSet::new();
    let mut show = |file: &str, mark: &str, old: &Line, new: &Line| {
        if seen.insert((old.text.clone(), new.text.clone())) {
            println!("{}. {file}", seen.len());
            for (mark, line) in [("-", old), (mark, new)] {
                println!("  {mark} [{} {:?} {:?}] {}", line.at, line.who, line.kind, line.text);
            }
        }
    };
    for Read { file, ledger, .. } in read {
        let lines = ledger.lines();
        for line in lines {
            if let Some(new) = line.replaced {
                show(file, "+", line, &lines[new]);
            }
            if let Some(old) = line.differs.filter(|_| line.replaced.is_none()) {
                show(file, "?", &lines[old], line);
            }
            if let Some(new) = line.newer.filter(|_| line.replaced.is_none()) {
                show(file, "~", line, &lines[new]);
            }
        }
    }
    let struck = read.iter().map(|read| read.ledger.superseded().count()).sum::<usize>();
    println!("{} pairs, {struck} struck out of what persons said", seen.len());
}

fn sample(seed: u32, count: usize, read: &[Read]) {
    let mut listed: BTreeMap<&str, (&Read, &Line)> = BTreeMap::new();
    for read in read {
        for line in read.ledger.ranked() {
            listed.entry(&line.text).or_insert((read, line));
        }
    }
    eprintln!("{count} of {} lines", listed.len());
    // By digest: whatever else changes, a line keeps its place in the row.
    let drawn = |(text, of)| (ContentId::of_text(&format!("{seed} {text}")).short(), of);
    let drawn: BTreeMap<String, (&Read, &Line)> = listed.into_iter().map(drawn).collect();
    for (id, (read, line)) in drawn.into_values().take(count).enumerate() {
        let (before, behind) = read.around(line);
        let row = serde_json::json!({
            "id": id + 1,
            "line": ContentId::of_text(&line.text).short(),
            "kind": line.kind,
            "text": line.text,
            "speaker": format!("{:?}", line.who).to_lowercase(),
            "context": format!("{before}⟦{}⟧{behind}", line.source()),
            "file": read.file,
            "message": line.at,
            "worth": line.weight,
        });
        println!("{row}");
    }
}

/// A table of what two readers said of the lines that would be listed, by kind.
fn judged(file: &str, read: &[Read]) -> Result<()> {
    let said = fs::read_to_string(file)?;
    let mut of_text: BTreeMap<String, [bool; 2]> = BTreeMap::new();
    for row in said.lines().skip(1) {
        let [id, first, second] = row.split('\t').collect::<Vec<_>>()[..] else {
            return Err(format!("{file}: {row:?}").into());
        };
        of_text.insert(id.to_owned(), [first == "yes", second == "yes"]);
    }
    let agreed = of_text.values().filter(|[first, second]| first == second).count() as f64;
    let all = of_text.len() as f64;
    let yes = |reader: usize| of_text.values().filter(|said| said[reader]).count() as f64 / all;
    let by_chance = yes(0) * yes(1) + (1.0 - yes(0)) * (1.0 - yes(1));
    let kappa = (agreed / all - by_chance) / (1.0 - by_chance);
    println!(
        "# How precise the ledger is\n\nOf the lines that would be listed of every session in [`examples`](../examples) and the last request of each \
         capture, 320 were drawn\n(`ledger sample 20261125 320`) and given to two readers, who didn't know of each other: is this a constraint, decision, fact, \
         preference, goal,\ntask or open question that somebody who goes on with the session would want remembered? No rule was changed by what they said of \
         the\nlines they took for noise; the kinds of a few others were. What stands under *Said besides* says \
         of itself\nthat it may be nothing, and wasn't drawn. The table counts the lines that are still listed. It is made by\n\n```sh\n\
         cargo run -p epitome-recordings --example ledger -- judged crates/testkit/data/ledger/judged.tsv > docs/precision.md\n```\n"
    );
    println!("{all} lines judged; the readers agree on {agreed} of them (kappa {kappa:.2}).\n");

    let mut listed: BTreeMap<&str, &Line> = BTreeMap::new();
    for read in read {
        for line in read.ledger.ranked() {
            listed.entry(&line.text).or_insert(line);
        }
    }
    let mut kinds: BTreeMap<String, [usize; 3]> = BTreeMap::new();
    let mut unknown = 0;
    for (text, line) in listed {
        let Some(said) = of_text.get(&ContentId::of_text(text).short()) else {
            unknown += 1;
            continue;
        };
        let (kind, who) = (format!("{:?}", line.kind), format!("{:?}", line.who));
        for kind in [kind.to_lowercase(), format!("by {}", who.to_lowercase()), "all".to_owned()] {
            let counts = kinds.entry(kind).or_default();
            counts[0] += 1;
            counts[1] += usize::from(said[0]);
            counts[2] += usize::from(said[1]);
        }
    }
    println!("| listed as, or said by | lines | first reader | second reader |\n|---|--:|--:|--:|");
    for (kind, [lines, first, second]) in kinds {
        let share = |yes: usize| 100.0 * yes as f64 / lines as f64;
        println!("| {kind} | {lines} | {:.1} % | {:.1} % |", share(first), share(second));
    }
    println!("\n{unknown} more lines are listed, which weren't drawn.");
    Ok(())
}

/// Ledger and anchors against a count of the same texts, both from nothing, the best of several rounds.
fn cost(read: &[Read]) -> Result<()> {
    let (mut reading, mut counting, mut bytes) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..ROUNDS {
        let (mut read_in, mut counted_in) = (Duration::ZERO, Duration::ZERO);
        bytes = 0;
        for Read { transcript, .. } in read {
            let units = Units::of(transcript, Instructions::Anywhere);
            let started = Instant::now();
            let gathered = gathered(transcript, &units);
            read_in += started.elapsed();
            let texts: Vec<String> = (transcript.entries().flat_map(|entry| entry.parts()))
                .filter(|part| !part.is(Marks::NESTED))
                .map(|part| part.text().into_owned())
                .collect();
            bytes += texts.iter().map(String::len).sum::<usize>();
            let counter = counter("o200k")?;
            let started = Instant::now();
            let tokens: u64 = texts.iter().map(|text| counter.text(text).tokens).sum();
            counted_in += started.elapsed();
            std::hint::black_box((tokens, gathered.messages()));
        }
        reading = reading.min(read_in);
        counting = counting.min(counted_in);
    }
    println!(
        "{bytes} bytes: ledger and anchors in {reading:?}, counted in {counting:?}: {:.2} of it",
        reading.as_secs_f64() / counting.as_secs_f64()
    );
    Ok(())
}

/// The files that are named, or the project's.
fn given(files: &[&str]) -> Result<Vec<Read>> {
    if !files.is_empty() {
        return files.iter().map(|file| Read::of(Path::new(file), (*file).to_owned())).collect();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    for folder in folders(&root.join("examples"))? {
        found.extend(files_in(&folder)?);
    }
    // Each request of a loop holds what the one before did.
    for client in folders(&root.join("fixtures/captures"))? {
        for run in folders(&client)? {
            found.extend(files_in(&run)?.into_iter().next_back());
        }
    }
    let mut read = Vec::new();
    for file in found {
        let named = file.strip_prefix(&root)?.display().to_string();
        match Read::of(&file, named.clone()) {
            Ok(one) => read.push(one),
            Err(error) => eprintln!("{named}: {error}"),
        }
    }
    Ok(read)
}

fn folders(of: &Path) -> Result<Vec<PathBuf>> {
    sorted(of, Path::is_dir)
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_session = |path: &Path| {
        path.extension().is_some_and(|end| ["jsonl", "json", "traj"].iter().any(|e| end == *e))
    };
    sorted(folder, is_session)
}

fn sorted(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Vec<PathBuf>> {
    let mut paths = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<Vec<PathBuf>>>()?;
    paths.retain(|path| wanted(path));
    paths.sort();
    Ok(paths)
}
