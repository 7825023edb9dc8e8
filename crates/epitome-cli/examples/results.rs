//! What compaction does to every shipped session, as a page:
//! `cargo run --release -p epitome-cli --example results -- [--check] docs/results.md`
//!
//! Writes the page, or, with `--check`, fails where it says something else than the code does. Each
//! compaction is held to the laws before it is printed.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use epitome::count::{Tally, TokenCounter, counter};
use epitome::plan::Reached;
use epitome::transcript::Entry;
use epitome::view::Fate;
use epitome::{Compactor, Format, Options, Outcome, Request, Target, wire};
use epitome_recordings::{Input, Reach, open};
use testkit::trail::Trail;
use testkit::{laws, paper};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TARGETS: [u8; 3] = [50, 20, 10];
/// What a joined session must exceed.
const LONG: u64 = 500_000;

const HEAD: &str = "\
# Results

Every session in [`examples`](../examples), and all Claude Code sessions, and all tau-bench and SWE-agent ones, \
joined (again and again, with fresh call ids and without the later system messages) until they exceed 500,000 \
tokens, compacted to 50 %, 20 % and 10 % of their tokens: no model, no network, default settings, and tokens of `o200k` throughout. Nothing here \
is typed by hand; the page is made by

```sh
cargo run --release -p epitome-cli --example results -- docs/results.md
```

and `./test` fails when it is out of date. The command holds each compaction to the same checks of the laws \
as the property tests: among others, what was rendered is read again, counted again from nothing, judged by a \
second reading of the provider's rules, and compacted again, which changes nothing.

*Target* is the percentage in tokens; *floor* is the least that system text, the task and the newest human message \
allow (it may fall with the target, because one of them that is larger than its share is excerpted); *reached* is \
where it landed. *Kept* entries are verbatim, *edited* ones have some slots replaced, \
*folded* ones are stood for by the checkpoint, *dropped* ones are gone from the view (and can be had back, \
like all others). *Quoted* says how many of the folded human messages the checkpoint quotes in full. *Files* says how many of the files that calls changed \
are still named, in the checkpoint or where they are shown, and *mended* the same of commands that failed and went well later; both are read off the \
calls without the library's own reading of them ([trail.rs](../crates/testkit/src/trail.rs)).

";

/// One input of the table.
struct Session {
    name: String,
    origin: &'static str,
    request: Request,
}

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    paper::keep("results", "every shipped session", || page(&root))
}

fn page(root: &Path) -> Result<String> {
    let counter = counter("o200k")?;
    let mut sessions = Vec::new();
    for folder in [
        "claude-code",
        "tau-bench",
        "swe-agent",
        "pi",
        "codex",
        "gemini-cli",
        "opencode",
        "openhands",
    ] {
        for file in files(&root.join("examples").join(folder))? {
            sessions.push(session(&file, Reach::SinceLastCompaction)?);
        }
    }
    let joined = [
        joined(root, Format::Anthropic, &["claude-code"], counter.as_ref())?,
        joined(root, Format::OpenaiChat, &["tau-bench", "swe-agent"], counter.as_ref())?,
    ];
    sessions.extend(joined);
    let mut page = String::from(HEAD);
    let (mut rows, mut reached, mut held) = (0, 0, Vec::new());
    let mut sums = (Vec::new(), Vec::new());
    page.push_str(
        "| session | format | entries | tokens | to | target | floor | reached | kept | edited | folded | dropped \
         | checkpoint | quoted | files | mended | outcome |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|\n",
    );
    for session in &sessions {
        for percent in TARGETS {
            let options = Options { target: Target::Percent(percent), ..Options::default() };
            let compactor = Compactor::new(options, Arc::clone(&counter))?;
            laws::check_all(&session.request, &compactor)
                .map_err(|broken| format!("{} at {percent} %: {broken}", session.name))?;
            let outcome = compactor.compact(&session.request)?;
            rows += 1;
            match &outcome.receipt.reached {
                Reached::Unreachable { held_by, .. } => {
                    let (what, tokens) = held_by.first().ok_or("nothing holds the floor up")?;
                    held.push(format!(
                        "- {} at {percent} %: {} ({} tokens)",
                        session.name,
                        what.words(),
                        grouped(*tokens)
                    ));
                }
                Reached::Short | Reached::Declined => {}
                Reached::Target | Reached::NothingToDo | Reached::NotTriggered => reached += 1,
            }
            let named = row(&mut page, session, percent, &outcome)?;
            sums.0.extend(named.0);
            sums.1.extend(named.1);
        }
    }
    writeln!(page, "\n{reached} of {rows} land at or under the target.")?;
    let sum = |shares: &[Share]| {
        shares.iter().fold((0, 0), |sum, share| (sum.0 + share.0, sum.1 + share.1))
    };
    let (files, mended) = (sum(&sums.0), sum(&sums.1));
    writeln!(
        page,
        "\nOf files that calls changed {} of {} are named, of commands that failed and went well later {} of {}.",
        grouped(files.0 as u64),
        grouped(files.1 as u64),
        grouped(mended.0 as u64),
        grouped(mended.1 as u64)
    )?;
    if !held.is_empty() {
        writeln!(
            page,
            "\nThe floor of the others is above it. The largest part of it is\n\n{}",
            held.join("\n")
        )?;
    }
    Ok(page)
}

/// How many of how many.
type Share = (usize, usize);

/// Of the files and of the commands in the row.
fn row(
    page: &mut String,
    session: &Session,
    percent: u8,
    outcome: &Outcome,
) -> Result<(Option<Share>, Option<Share>)> {
    let trail = Trail::of(&session.request);
    let named = trail.named_in(&outcome.request);
    let share = |of: usize, all: usize| (all > 0).then_some((of, all));
    let files = share(named.changed, trail.changed.len());
    let mended = share(named.mended, trail.mended.len());
    let receipt = &outcome.receipt;
    let fates = |is: fn(&Fate) -> bool| outcome.view.fates().filter(|fate| is(fate)).count();
    let (checkpoint, quoted) = match &receipt.checkpoint {
        Some(made) => (
            grouped(made.tokens),
            format!("{} of {}", made.human_messages_quoted, made.human_messages),
        ),
        None => ("–".to_owned(), "–".to_owned()),
    };
    let outcome_in_words = match receipt.reached {
        Reached::NothingToDo | Reached::NotTriggered | Reached::Declined => "nothing to do",
        Reached::Target => "target reached",
        Reached::Short => "**short of the target**",
        Reached::Unreachable { .. } => "**floor above target**",
    };
    writeln!(
        page,
        "| {} | {} | {} | {} | {percent} % | {} | {} | {} | {} | {} | {} | {} | {checkpoint} | {quoted} | {} | {} | {outcome_in_words} |",
        session.name,
        session.origin,
        receipt.before.entries,
        grouped(receipt.before.count.tokens),
        grouped(receipt.target),
        grouped(receipt.floor),
        grouped(receipt.after.count.tokens),
        fates(|fate| matches!(fate, Fate::Keep)),
        fates(|fate| matches!(fate, Fate::Edit(_))),
        fates(|fate| matches!(fate, Fate::Fold(_))),
        fates(|fate| matches!(fate, Fate::Drop(_))),
        in_words(files),
        in_words(mended),
    )?;
    Ok((files, mended))
}

fn in_words(share: Option<Share>) -> String {
    share.map_or_else(|| "–".to_owned(), |(of, all)| format!("{of} of {all}"))
}

fn session(file: &Path, reach: Reach) -> Result<Session> {
    let options = epitome_recordings::Options { reach, ..Default::default() };
    let input = open(fs::read(file)?, None, options)?;
    let origin = match &input {
        Input::Request(request) => request.format.name(),
        Input::Recording(recording) => recording.reader,
    };
    let name = file.file_stem().ok_or("a file has a name")?.to_string_lossy().into_owned();
    Ok(Session { name, origin, request: input.request().clone() })
}

/// All sessions of some folders in a row, and over again, until they are long enough.
fn joined(
    root: &Path,
    format: Format,
    folders: &[&str],
    counter: &dyn TokenCounter,
) -> Result<Session> {
    let mut entries: Vec<String> = Vec::new();
    let mut tokens = 0;
    for round in 1.. {
        for folder in folders {
            for file in files(&root.join("examples").join(folder))? {
                let Session { request, .. } = session(&file, Reach::Whole)?;
                let tally = Tally::of(&request, counter);
                let renamed = |raw: &str| {
                    raw.replace("toolu_", &format!("toolu_r{round}_"))
                        .replace("call_", &format!("call_r{round}_"))
                        .replace(&format!("\"tool_call_r{round}_"), "\"tool_call_")
                };
                // One conversation has one system prompt: the first one's.
                let is_first = entries.is_empty();
                let is_said = |entry: &Entry<'_>| is_first || !entry.role().instructs();
                for entry in request.transcript.entries().filter(is_said) {
                    tokens += tally.entry(entry.index);
                    entries.push(renamed(entry.raw()));
                }
            }
        }
        if tokens > LONG {
            break;
        }
    }
    let body = format!("{{\"messages\":[{}]}}", entries.join(","));
    let name = format!("joined {}", folders.join(" and "));
    Ok(Session { name, origin: format.name(), request: wire::parse(format, body)? })
}

/// The sessions of a folder, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|ending| ["jsonl", "json", "traj"].iter().any(|e| ending == *e))
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// 1234567 as 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
