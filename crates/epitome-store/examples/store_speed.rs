//! How fast a store is: appends in batches, gets, searches for rare and for common words, sessions found by their beginning.
//!
//! `cargo run --release -p epitome-store --example store_speed -- 1000000`: so many entries of
//! 1 kB. It prints a table; what takes longer than it may is an error.
//!
//! What is said in them is put together from lines of the shipped sessions, with new names, numbers and ids
//! strewn in, so that words are as common and as rare, and texts as compressible, as what agents read and say.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use epitome::archive::{Archive as _, EntryContext, Original};
use epitome::text::words::{is_stop_word, words};
use epitome::transcript::{ContentId, Origin, Role};
use epitome::wire;
use epitome_store::{Access, Chain, Document, Session, Store};
use serde_json::Value;
use testkit::dice::Dice;
use testkit::examples::examples;

/// Entries that are kept at once.
const BATCH: usize = 256;
/// Entries of one session.
const SESSION: usize = 1024;
/// Questions, or ids, of each kind.
const ASKED: usize = 1000;
/// Found at most.
const LIMIT: usize = 10;
/// A word that more entries have is a common one.
const RARE: usize = 1000;
/// One word in so many is a new name.
const NEW: usize = 40;

type Failed = Box<dyn std::error::Error>;

/// Lines that people, models and tools said in the shipped sessions.
fn lines() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for example in examples() {
        let bytes = example.bytes();
        let rows = serde_json::Deserializer::from_slice(&bytes).into_iter::<Value>();
        rows.filter_map(Result::ok).for_each(|row| said(&row, &mut all));
    }
    all
}

fn said(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => {
            let lines = text.lines().map(|line| line.chars().take(160).collect::<String>());
            into.extend(lines.filter(|line| line.split_whitespace().count() > 2));
        }
        Value::Array(all) => all.iter().for_each(|one| said(one, into)),
        Value::Object(all) => all.values().for_each(|one| said(one, into)),
        _ => {}
    }
}

/// What is said: the same each time.
struct Talk {
    lines: Vec<String>,
    /// Names that nobody said before; as many as are asked for.
    names: Vec<String>,
    /// How often each line was said.
    said: Vec<usize>,
    dice: Dice,
}

impl Talk {
    fn of_examples() -> Self {
        let lines: Vec<String> = lines().into_iter().collect();
        let said = vec![0; lines.len()];
        Talk { lines, names: Vec::new(), said, dice: Dice::new(7) }
    }

    fn line(&mut self) -> usize {
        self.dice.below(self.lines.len())
    }

    /// A name, number or id that nobody said before.
    fn new_name(&mut self, of: &str) -> String {
        let number = self.dice.below(1 << 40);
        let name = match self.dice.below(4) {
            0 => format!("{of}_{}", number % 10_000_000),
            1 => format!("{number:x}"),
            2 => format!("{}", number % 100_000_000),
            _ => format!("src/{of}/{:x}.rs", number % (1 << 24)),
        };
        if self.dice.below(ASKED) == 0 && self.names.len() < ASKED {
            self.names.push(name.clone());
        }
        name
    }

    /// About a kilobyte of it.
    fn kilobyte(&mut self) -> String {
        let mut text = String::with_capacity(1200);
        while text.len() < 900 {
            let line = self.line();
            self.said[line] += 1;
            let line = self.lines[line].clone();
            for word in line.split_inclusive(' ') {
                let bare = word.trim();
                if bare.len() > 3 && bare.is_ascii() && self.dice.below(NEW) == 0 {
                    let name: String = bare.chars().filter(char::is_ascii_alphanumeric).collect();
                    text.push_str(&self.new_name(&name));
                    text.push(' ');
                } else {
                    text.push_str(word);
                }
            }
            text.push('\n');
        }
        text
    }

    fn entry(&mut self, at: usize) -> Original {
        let words = self.kilobyte();
        let bytes =
            format!("{{\"role\":\"user\",\"content\":{}}}", epitome::wire::json::quote(&words));
        let about = EntryContext {
            role: Role::User,
            origin: Origin::Human,
            turn: at,
            tool: None,
            at: None,
            recalled: Vec::new(),
        };
        Original { id: ContentId::of_text(&bytes), entry: at, bytes, about, words }
    }
}

/// How many entries have a word of the lines, at most: whoever says it twice counts twice.
struct Holders {
    of: HashMap<String, usize>,
}

impl Holders {
    fn new(talk: &Talk) -> Self {
        let mut of = HashMap::new();
        for (line, said) in talk.lines.iter().zip(&talk.said) {
            for word in words(line).collect::<BTreeSet<_>>() {
                if !is_stop_word(&word) && word.len() > 2 {
                    *of.entry(word.into_owned()).or_default() += said;
                }
            }
        }
        Holders { of }
    }

    /// The words that so many have, in order.
    fn between(&self, least: usize, most: usize) -> Vec<&str> {
        let all = self.of.iter().filter(|(_, holders)| (least..=most).contains(*holders));
        let mut all: Vec<&str> = all.map(|(word, _)| word.as_str()).collect();
        all.sort_unstable();
        all
    }
}

/// A conversation of so many messages.
fn chain(entries: usize, end: &str) -> String {
    let mut body = String::from("{\"messages\":[");
    for at in 0..entries {
        let (comma, role) =
            (if at == 0 { "" } else { "," }, if at % 2 == 0 { "user" } else { "assistant" });
        let end = if at + 1 == entries { end } else { "" };
        write!(body, "{comma}{{\"role\":\"{role}\",\"content\":\"said {at}{end}\"}}")
            .expect("a string takes all");
    }
    body.push_str("]}");
    body
}

fn taken_in(store: &Store, body: &str) -> Result<Session, Failed> {
    let request = wire::detect(body.to_owned())?;
    Ok(store.take_in(&Document {
        raw: body.as_bytes(),
        request: &request,
        source: "",
        project: "",
    })?)
}

/// How long calls take, in milliseconds: the middle one, and the one that 5 % are slower than.
struct Times {
    middle: f64,
    p95: f64,
}

fn timed(mut work: impl FnMut(usize) -> Result<usize, Failed>) -> Result<Times, Failed> {
    let mut times = Vec::new();
    for at in 0..ASKED {
        let begun = Instant::now();
        let found = work(at)?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
        assert!(found > 0, "call {at} finds what is there");
    }
    times.sort_by(f64::total_cmp);
    Ok(Times { middle: times[ASKED / 2], p95: times[ASKED * 95 / 100] })
}

/// Said behind what isn't as it should be.
fn missed(is_met: bool) -> &'static str {
    if is_met { "" } else { ": missed" }
}

/// The table, and whether all of it is as it should be.
struct Page {
    text: String,
    is_met: bool,
}

impl Page {
    fn row(&mut self, what: &str, times: &Times, most: f64) {
        let Times { middle, p95 } = times;
        writeln!(
            self.text,
            "| {what} | {middle:.2} ms | {p95:.2} ms | under {most:.0} ms{} |",
            missed(*p95 < most)
        )
        .expect("a string takes all");
        self.is_met &= *p95 < most;
    }
}

/// Keeps so many entries, and counts whose words they are; the sessions' ids, and the page with what that took.
fn fill(
    store: &Store,
    talk: &mut Talk,
    all: usize,
    page: &mut Page,
) -> Result<Vec<ContentId>, Failed> {
    let mut ids = Vec::new();
    let (mut spent, mut last, mut text) = (Duration::ZERO, Duration::ZERO, 0);
    let (mut busy, mut last_busy) = (Duration::ZERO, Duration::ZERO);
    let mut session = taken_in(store, &chain(1, "of 0"))?;
    for from in (0..all).step_by(BATCH) {
        if from % SESSION == 0 {
            session = taken_in(store, &chain(1, &format!(" of {from}")))?;
        }
        let batch: Vec<Original> =
            (from..(from + BATCH).min(all)).map(|at| talk.entry(at % SESSION)).collect();
        for original in &batch {
            ids.push(original.id);
            text += original.words.len();
        }
        let (begun, processor) = (Instant::now(), ThreadTime::now());
        session.put(&batch)?;
        let (spent_now, busy_now) = (begun.elapsed(), processor.elapsed());
        spent += spent_now;
        busy += busy_now;
        if from >= all - all / 10 {
            last += spent_now;
            last_busy += busy_now;
        }
    }
    let rate = |count: usize, time: Duration| count as f64 / time.as_secs_f64();
    writeln!(page.text, "{all} entries, {} MB of text\n", text / 1_000_000)?;
    writeln!(page.text, "| | middle | 95th percentile | should be |\n|---|--:|--:|--:|")?;
    let row = |what: &str, whole: f64, last: f64| {
        let missed = missed(whole >= 10_000.0 && last >= 10_000.0);
        format!("| {what} | {whole:.0}/s | the last tenth: {last:.0}/s | over 10000/s{missed} |\n")
    };
    let (whole, tenth) = (rate(all, spent), rate(all / 10, last));
    page.text += &row(
        &format!("append, in batches of {BATCH}, each on the disk when it returns"),
        whole,
        tenth,
    );
    let (whole, tenth) = (rate(all, busy), rate(all / 10, last_busy));
    page.text += &row("the same, by processor time", whole, tenth);
    page.is_met &= whole >= 10_000.0 && tenth >= 10_000.0;
    Ok(ids)
}

fn search(store: &Store, talk: &mut Talk, page: &mut Page) -> Result<(), Failed> {
    let holders = Holders::new(talk);
    let rare = holders.between(1, RARE);
    let mut common: Vec<&str> = holders.between(RARE + 1, usize::MAX);
    common.sort_by_key(|word| std::cmp::Reverse(holders.of[*word]));
    common.truncate(100);
    let most = common.first().map_or(0, |word| holders.of[*word]);
    let least = common.last().map_or(0, |word| holders.of[*word]);
    let mean = rare.iter().map(|word| holders.of[*word]).sum::<usize>() / rare.len().max(1);
    // Words of a line, the rarest of which few have; as people ask who remember what was said.
    let mut phrases = Vec::new();
    while phrases.len() < ASKED {
        let line = talk.line();
        let all: BTreeSet<_> = words(&talk.lines[line])
            .map(std::borrow::Cow::into_owned)
            .filter(|word| holders.of.contains_key(word))
            .collect();
        if all.len() >= 3 && all.iter().any(|word| holders.of[word] <= RARE) {
            phrases.push(all.into_iter().collect::<Vec<_>>().join(" "));
        }
    }
    let of = |all: &[&str], at: usize| all[at * 7919 % all.len()].to_owned();
    let asked = |question: &dyn Fn(usize) -> String| {
        timed(|at| {
            let question = question(at);
            let found = store.search(&question, LIMIT)?.len();
            if found == 0 { Err(format!("{question:?} isn't found").into()) } else { Ok(found) }
        })
    };
    let names: Vec<&str> = talk.names.iter().map(String::as_str).collect();
    page.row("search: a name that one entry has", &asked(&|at| of(&names, at))?, 50.0);
    page.row(
        &format!("search: a word that at most {RARE} have, {mean} on the average"),
        &asked(&|at| of(&rare, at))?,
        50.0,
    );
    page.row(
        "search: such a word and two of the hundred commonest",
        &asked(&|at| format!("{} {} {}", of(&rare, at), of(&common, at), of(&common, at + 7)))?,
        50.0,
    );
    let length = phrases.iter().map(|phrase| phrase.split(' ').count()).sum::<usize>() / ASKED;
    page.row(
        &format!("search: the words of a line, {length} on the average, the rarest of which at most {RARE} have"),
        &asked(&|at| phrases[at].clone())?,
        50.0,
    );
    page.row(
        &format!("search: one of the hundred commonest words, said {least} to {most} times"),
        &asked(&|at| of(&common, at))?,
        500.0,
    );
    page.row(
        "search: three of them",
        &asked(&|at| {
            format!("{} {} {}", of(&common, at), of(&common, at + 7), of(&common, at + 13))
        })?,
        500.0,
    );
    page.row(
        "search: eight of them",
        &asked(&|at| (0..8).map(|n| of(&common, at + n * 5) + " ").collect())?,
        500.0,
    );
    Ok(())
}

/// Sessions by what was said in them: all of it, more than that, and something else from the middle on.
fn find(store: &Store, page: &mut Page) -> Result<(), Failed> {
    const ENTRIES: usize = 10_000;
    let long = chain(ENTRIES, "");
    let name = taken_in(store, &long)?.name().to_owned();
    let mut longer = long.clone();
    longer.truncate(long.len() - "]}".len());
    longer.push_str(",{\"role\":\"user\",\"content\":\"said since\"}]}");
    for (what, body) in [("all of it", long), ("all of it and more", longer)] {
        let chain = Chain::of(&wire::detect(body)?);
        let times = timed(|_| {
            let found = store.going_on(&chain)?;
            Ok(usize::from(found.is_some_and(|session| session.name() == name)))
        })?;
        let what =
            format!("the session of a chain of {ENTRIES} entries, by {what}, once it is digested");
        page.row(&what, &times, 1.0);
    }
    Ok(())
}

fn main() -> Result<(), Failed> {
    let mut arguments = std::env::args().skip(1);
    let all: usize = arguments.next().map_or(Ok(20_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("store");
    let store = Store::open(&path, Access::Write)?;
    let mut talk = Talk::of_examples();
    let mut page = Page { text: String::new(), is_met: true };
    let ids = fill(&store, &mut talk, all, &mut page)?;
    drop(store);
    let store = Store::open(&path, Access::Existing)?;
    let got = timed(|at| Ok(usize::from(store.get(ids[at * 7919 % ids.len()])?.is_some())))?;
    page.row("get", &got, 1.0);
    search(&store, &mut talk, &mut page)?;
    find(&store, &mut page)?;
    let stored = store.stored()?;
    let on_disk: u64 = std::fs::read_dir(&path)?
        .map(|file| file.and_then(|file| file.metadata()).map_or(0, |meta| meta.len()))
        .sum();
    writeln!(
        page.text,
        "\n{} MB of contents are {} MB compressed; the store has {} MB, index of words included.",
        stored.bytes / 1_000_000,
        stored.packed / 1_000_000,
        on_disk / 1_000_000
    )?;
    print!("{}", page.text);
    if page.is_met { Ok(()) } else { Err("it is slower than it should be".into()) }
}
