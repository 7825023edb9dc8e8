//! `count`: how many tokens.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use epitome::count::{Count, TokenCounter, Weights};
use epitome::text::figure::counted;
use serde::Serialize;

use crate::args::{CountArgs, HowArgs};
use crate::config::Settings;
use crate::failure::Exit;
use crate::input::{self, Opened, Source};
use crate::output::{self, Report};
use crate::progress::Progress;
use crate::reader::{Need, Reader, Reading};
use crate::terminal::{FAINT, STRONG, count, paint, put, size};
use crate::{counters, receipt};

/// A count, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Counted {
    version: u32,
    #[serde(flatten)]
    first: One,
    bytes: usize,
    entries: usize,
    format: &'static str,
    model: Option<String>,
    /// What the model makes of it, as counted first.
    reader: Option<Reading>,
    source: Source,
    /// All counters, in the order asked for.
    counters: Vec<One>,
}

/// What one counter says.
#[derive(Clone, Debug, Serialize)]
struct One {
    counter: String,
    #[serde(flatten)]
    total: Count,
    frame: Frame,
    /// Tokens by kind.
    kinds: BTreeMap<&'static str, u64>,
}

/// The tokens around the transcript.
#[derive(Clone, Copy, Debug, Serialize)]
struct Frame {
    system: u64,
    tools: u64,
    total: u64,
}

/// Prints the tokens of the input.
pub(crate) fn run(args: &CountArgs, report: Report) -> Result<Exit> {
    let settings = Settings::resolve(&HowArgs::counting(&args.counting, args.counter.first()))?;
    let opened = input::open(&args.input, report)?;
    let reader = Reader::new(&settings, &opened.request, Need::Counter)?;
    let counters: Vec<_> = if args.counter.is_empty() {
        vec![Arc::clone(&reader.counter)]
    } else {
        args.counter.iter().map(|name| counters::named(name)).collect::<Result<_>>()?
    };
    let mut progress = Progress::new(report);
    let counted: Vec<One> =
        counters.iter().map(|counter| one(&opened, counter.as_ref(), &mut progress)).collect();
    drop(progress);
    match report {
        Report::Json => output::json(&whole(opened, counted, &reader))?,
        Report::Words => {
            reader.warn_of_unknown();
            output::words(&words(&opened, &counted, &reader))?;
        }
    }
    Ok(Exit::Ok)
}

fn one(opened: &Opened, counter: &dyn TokenCounter, progress: &mut Progress) -> One {
    let tally = progress.count(&opened.request, counter);
    let frame = Frame {
        system: tally.frame.system.tokens,
        tools: tally.frame.tools.tokens,
        total: tally.frame.total().tokens,
    };
    let weights = Weights::of(&opened.request, &tally);
    let kinds = weights.kinds().map(|(kind, weight)| (kind.name(), weight.tokens)).collect();
    One { counter: counter.name().to_owned(), total: tally.total(), frame, kinds }
}

fn whole(opened: Opened, counters: Vec<One>, reader: &Reader) -> Counted {
    let request = &opened.request;
    Counted {
        version: 1,
        first: counters[0].clone(),
        bytes: request.source().len(),
        entries: request.transcript.len(),
        format: request.format.name(),
        model: request.model(),
        reader: reader.reading(counters[0].total),
        source: opened.source,
        counters,
    }
}

fn words(opened: &Opened, counts: &[One], reader: &Reader) -> String {
    let mut out = String::new();
    for one in counts {
        let tokens = paint(STRONG, format!("{} tokens", count(one.total.tokens)));
        let how = paint(FAINT, receipt::basis(one.total, &one.counter));
        put!(out, "{tokens}  {how}");
    }
    let request = &opened.request;
    let bytes = size(request.source().len());
    let entries = counted(request.transcript.len(), "message");
    put!(out, "{bytes}, {entries}");
    if let Some(prompt) = opened.source.reported {
        let (tokens, held) = (count(prompt.tokens), counted(prompt.entries, "message"));
        let line = format!("{tokens} tokens were reported for the prompt with the first {held}");
        put!(out, "{}", paint(FAINT, line));
    }
    let size = counts[0].total;
    if let Some(reading) = reader.reading(size) {
        put!(out, "{}", reading.words(size));
    }
    out
}
