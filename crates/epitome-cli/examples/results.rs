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
use epitome::engine::plan::Reached;
use epitome::transcript::Entry;
use epitome::view::Fate;
use epitome::word_list::words;
use epitome::{Compactor, Format, Options, Outcome, Request, Target, wire};
use epitome_recordings::{Reach, open};
use testkit::examples::examples;
use testkit::{laws, paper, trail};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TARGETS: [u8; 3] = [50, 20, 10];
/// What a joined session must exceed.
const LONG: u64 = 500_000;

/// Sessions under so many tokens are held to the laws, but have no row.
const LEAST: u64 = 5_000;

const HEAD: &str = "\
# Results

Every session in [`examples`](../examples), compacted to 50 %, 20 % and 10 % of its tokens, without a model or a network, with default settings; \
tokens are those of `o200k`. Two more are joined from these until they exceed 500,000 tokens. Sessions under 5,000 tokens are checked and have no row. \
`cargo run --release -p epitome-cli --example results -- docs/results.md` writes this page, and `./test` fails if it is out of date. \
Each compaction is held to the laws first.

*Whole*, *edited* and *folded* count messages: shown as they were, shown with some parts shortened, and stood for by the checkpoint. *Quoted*: how many of the \
folded human messages the checkpoint quotes in full. *Files*: how many of the files that calls changed are still named, read off the calls by \
[other code](../crates/testkit/src/trail.rs). A star: what must stay (system text, task, newest message) is larger than the target.

";

/// One input of the table.
struct Session {
    name: String,
    request: Request,
}

fn main() -> Result<ExitCode> {
    paper::keep("results", "every shipped session", page)
}

fn page() -> Result<String> {
    let counter = counter("o200k")?;
    let mut sessions = Vec::new();
    for folder in words!("claude-code tau-bench swe-agent pi codex gemini-cli opencode openhands") {
        for file in files(folder) {
            sessions.push(session(&file, Reach::SinceLastCompaction)?);
        }
    }
    let joined = [
        joined(Format::Anthropic, &["claude-code"], counter.as_ref())?,
        joined(Format::OpenaiChat, &["tau-bench", "swe-agent"], counter.as_ref())?,
    ];
    sessions.extend(joined);
    let mut page = String::from(HEAD);
    let (mut rows, mut reached) = (0, 0);
    let mut files = Vec::new();
    page.push_str(
        "| session | tokens | to | reached | whole | edited | folded | checkpoint | quoted | files |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
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
                Reached::Unreachable { .. } | Reached::Short | Reached::Declined => {}
                Reached::Target | Reached::NothingToDo | Reached::NotTriggered => reached += 1,
            }
            files.extend(row(&mut page, session, percent, &outcome)?);
        }
    }
    writeln!(page, "\n{reached} of {rows} compactions land at or under their target.")?;
    let files = files.iter().fold((0, 0), |sum, share| (sum.0 + share.0, sum.1 + share.1));
    writeln!(page, "\nOf files that calls changed {} of {} are named.", files.0, files.1)?;
    Ok(page)
}

/// How many of how many.
type Share = (usize, usize);

/// A row of the table; of the files that calls changed, how many are named.
fn row(
    page: &mut String,
    session: &Session,
    percent: u8,
    outcome: &Outcome,
) -> Result<Option<Share>> {
    let changed = trail::changed(&session.request);
    let named = trail::named_in(&outcome.request, &changed);
    let files = (!changed.is_empty()).then_some((named, changed.len()));
    let receipt = &outcome.receipt;
    let fates = |is: fn(&Fate) -> bool| outcome.view.fates().filter(|fate| is(fate)).count();
    let (checkpoint, quoted) = match &receipt.checkpoint {
        Some(made) => (
            grouped(made.tokens),
            format!("{} of {}", made.human_messages_quoted, made.human_messages),
        ),
        None => ("–".to_owned(), "–".to_owned()),
    };
    if receipt.before.count.tokens < LEAST {
        return Ok(files);
    }
    // Above the target only where what must stay is larger.
    let mark = if matches!(receipt.reached, Reached::Unreachable { .. }) { "*" } else { "" };
    writeln!(
        page,
        "| {} | {} | {percent} % | {}{mark} | {} | {} | {} | {checkpoint} | {quoted} | {} |",
        session.name,
        grouped(receipt.before.count.tokens),
        grouped(receipt.after.count.tokens),
        fates(|fate| matches!(fate, Fate::Keep)),
        fates(|fate| matches!(fate, Fate::Edit(_))),
        fates(|fate| matches!(fate, Fate::Fold(_))),
        files.map_or_else(|| "–".to_owned(), |(of, all)| format!("{of} of {all}")),
    )?;
    Ok(files)
}

fn session(file: &Path, reach: Reach) -> Result<Session> {
    let options = epitome_recordings::Options { reach, ..Default::default() };
    let input = open(fs::read(file)?, None, options)?;
    let name = file.file_stem().ok_or("a file has a name")?.to_string_lossy().into_owned();
    Ok(Session { name, request: input.request().clone() })
}

/// All sessions of some folders in a row, and over again, until they are long enough.
fn joined(format: Format, folders: &[&str], counter: &dyn TokenCounter) -> Result<Session> {
    let mut entries: Vec<String> = Vec::new();
    let mut tokens = 0;
    for round in 1.. {
        for folder in folders {
            for file in files(folder) {
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
    Ok(Session { name, request: wire::parse(format, body)? })
}

/// The sessions of a folder, by name.
fn files(folder: &str) -> impl Iterator<Item = PathBuf> {
    examples().into_iter().filter(move |one| one.kind() == folder).map(|one| one.path)
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
