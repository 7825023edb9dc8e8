//! Three real sessions before and after, to be read by a person, as a page:
//! `cargo run --release -p epitome-cli --example examples -- [--check] docs/examples.md`
//!
//! Writes the page, or, with `--check`, fails where it says something else than the code does.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use epitome::count::counter;
use epitome::text::cut;
use epitome::text::secrets::masked;
use epitome::transcript::{Entry, Origin, PartKind};
use epitome::view::Fate;
use epitome::{Compactor, Options, Outcome, Target};
use epitome_recordings::{Options as Opening, open};
use testkit::paper;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A session, and to how many percent of its tokens it is compacted.
const SESSIONS: [(&str, u8); 3] = [
    ("claude-code/session-9eda1058.jsonl", 10),
    ("codex/rollout-b.jsonl", 10),
    ("gemini-cli/session-2025-12-01T21-45-5b959dae.json", 20),
];

/// The most characters of a line that stands for a message.
const LINE: usize = 150;

const HEAD: &str = "\
# Before and after

Three real sessions from [`examples`](../examples), compacted without a model, with default settings: what people said, and what \
becomes of it; the checkpoint as the next request shows it, whole; and what stands behind it. Nothing here is typed by hand; the \
page is made by

```sh
cargo run --release -p epitome-cli --example examples -- docs/examples.md
```

and `./test` fails when it is out of date.
";

fn main() -> Result<ExitCode> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    paper::keep("examples", "three sessions", || page(&root))
}

fn page(root: &Path) -> Result<String> {
    let counter = counter("o200k")?;
    let mut page = String::from(HEAD);
    for (name, percent) in SESSIONS {
        let bytes = fs::read(root.join("examples").join(name))?;
        let input = open(bytes, None, Opening::default())?;
        let options = Options { target: Target::Percent(percent), ..Options::default() };
        let compactor = Compactor::new(options, Arc::clone(&counter))?;
        let outcome = compactor.compact(input.request())?;
        let (before, after) = (&outcome.receipt.before, &outcome.receipt.after);
        writeln!(
            page,
            "\n## `{name}`, to {percent} %\n\n{} messages of {} tokens before, {} of {} after.\n",
            before.entries, before.count.tokens, after.entries, after.count.tokens
        )?;
        said(&mut page, &outcome)?;
        if let Some(placed) = outcome.view.checkpoint() {
            writeln!(page, "\n### The checkpoint\n\n````text\n{}\n````", placed.text.trim_end())?;
        }
        stands(&mut page, &outcome)?;
    }
    Ok(page)
}

/// What people said, and where it is now.
fn said(page: &mut String, outcome: &Outcome) -> Result<()> {
    writeln!(page, "### What people said\n\n| message | | now |\n|--:|---|---|")?;
    let checkpoint = outcome.view.checkpoint().map_or("", |placed| &placed.text);
    for (entry, fate) in outcome.base.transcript.entries().zip(outcome.view.fates()) {
        if entry.origin() != Origin::Human {
            continue;
        }
        let text = words(entry);
        let first = text.trim().lines().next().unwrap_or_default();
        let now = match fate {
            Fate::Keep => "verbatim",
            Fate::Edit(_) => "in part, with a note of what isn't shown",
            _ if checkpoint.contains(text.trim()) => "verbatim, in the checkpoint",
            _ if !first.is_empty() && checkpoint.contains(first) => "in part, in the checkpoint",
            _ => "by what was taken from it, and its number",
        };
        writeln!(page, "| {} | {} | {now} |", entry.index + 1, line(&text))?;
    }
    Ok(())
}

/// What the next request shows besides.
fn stands(page: &mut String, outcome: &Outcome) -> Result<()> {
    let checkpoint = outcome.view.checkpoint().map_or("\0", |placed| placed.text.trim());
    writeln!(page, "\n### What stands beside it\n\n| who | what |\n|---|---|")?;
    for entry in outcome.request.transcript.entries() {
        if words(entry).contains(checkpoint) {
            continue;
        }
        let mut said: Vec<String> = Vec::new();
        for part in entry.parts() {
            said.push(match part.kind() {
                PartKind::Call => format!("calls `{}`: {}", part.name(), part.text()),
                PartKind::Reasoning => "(reasoning)".to_owned(),
                PartKind::Media => "(media)".to_owned(),
                PartKind::Link | PartKind::Opaque => continue,
                PartKind::Result | PartKind::Text => part.text().into_owned(),
            });
        }
        let who = format!("{:?}", entry.origin()).to_lowercase();
        writeln!(page, "| {who} | {} |", line(&said.join(" ")))?;
    }
    Ok(())
}

fn words(entry: Entry<'_>) -> String {
    let texts = entry.parts().filter(|part| part.kind() == PartKind::Text);
    texts.map(|part| part.text().into_owned()).collect::<Vec<_>>().join("\n")
}

/// The beginning of a text, as a cell of a table.
fn line(text: &str) -> String {
    let line = masked(&cut::one_line(text, LINE)).into_owned();
    line.replace('\\', "\\\\").replace('|', "\\|").replace('<', "&lt;").replace('`', "'")
}
