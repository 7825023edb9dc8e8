//! `report`: how a session's context went, what its compactions did, and what was lost.

mod advice;
mod areas;
mod became;
mod cost;
mod history;
mod page;
mod style;
mod words;

use anyhow::Result;
use epitome::Request;
use epitome::text::{cut, short_arguments, unmasked_arguments};
use epitome::transcript::{Entry, Part, PartKind};
use serde::Serialize;

use crate::args::{HowArgs, ReadingArgs, ReportArgs};
use crate::config::Settings;
use crate::failure::Exit;
use crate::input;
use crate::output::{self, Parcel, Place, Report};
use crate::progress::Progress;
use crate::quoting;
use crate::reader::{Need, Reader};
use crate::survey::{Found, Moment, Rule, Slice, Survey, Tool};
use crate::terminal::{self, line, unmasked_line};

use advice::Advice;
use cost::{Prices, Spent};

pub(super) use became::Compaction;
pub(super) use history::{Epoch, Lived};

/// A report; `--json` prints it as it is.
#[derive(Debug, Serialize)]
struct History {
    version: u32,
    file: String,
    /// What was left out of it, and what else isn't in the request.
    notes: Vec<String>,
    /// The first words of the first person.
    title: Option<String>,
    /// Whose recording it is, or the format of a request.
    kind: String,
    model: Option<String>,
    counter: String,
    /// Most tokens of a prompt, where that is known.
    window: Option<u64>,
    /// What the model is shown now.
    tokens: u64,
    tokens_upper: u64,
    entries: usize,
    kinds: Vec<Slice>,
    /// Messages that were ever said.
    said: usize,
    /// Those of them that a person wrote.
    human_messages: usize,
    compactions: Vec<Compaction>,
    /// Compactions that can't be found in the file, or are too long ago to be shown.
    not_shown: usize,
    /// The newest compaction that is too long ago to be shown; 0 if none is.
    #[serde(skip)]
    too_old: usize,
    /// All calls, the heaviest tools first.
    tools: Vec<ToolUse>,
    cost: Spent,
    /// What fills the context most.
    biggest: Vec<Big>,
    /// Sentences in which people command or forbid, and that no pin protects from a compaction; the newest last.
    rules_at_risk: Vec<Rule>,
    advice: Option<Advice>,
    #[serde(skip)]
    epochs: Vec<Epoch>,
    /// How sure the count is.
    #[serde(skip)]
    basis: String,
}

/// A tool, and how much of it is still in the context.
#[derive(Debug, Serialize)]
struct ToolUse {
    #[serde(flatten)]
    tool: Tool,
    /// Tokens of its calls and results that the model is shown now.
    shown_tokens: u64,
}

/// Something large.
#[derive(Debug, Serialize)]
struct Big {
    from: usize,
    to: usize,
    tokens: u64,
    does: String,
}

/// How much of what is quoted is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Secrets are masked.
    Masked,
    /// All of it.
    Verbatim,
}

impl Quoting {
    /// Untrusted text as one line of at most so many columns.
    fn line(self, text: &str, width: usize) -> String {
        match self {
            Quoting::Masked => line(text, width),
            Quoting::Verbatim => unmasked_line(text, width),
        }
    }

    /// What messages call, or the first words that they say.
    fn does(self, request: &Request, moment: &Moment) -> String {
        let entries = (moment.from..=moment.to).map(|at| request.transcript.entry(at));
        let parts: Vec<Part<'_>> = entries.flat_map(|entry| entry.parts()).collect();
        let mut calls = Vec::new();
        for part in parts.iter().filter(|part| part.kind() == PartKind::Call) {
            let short = match self {
                Quoting::Masked => short_arguments,
                Quoting::Verbatim => unmasked_arguments,
            };
            calls.push(short(&part.name(), &part.text(), NAME));
        }
        if !calls.is_empty() {
            return self.line(&calls.join(" · "), QUOTED);
        }
        let mut said = parts.iter().map(|part| self.line(cut::head(&part.text(), GLIMPSE), QUOTED));
        said.find(|words| !words.is_empty()).unwrap_or_default()
    }
}

/// The most columns of a name, and of what is quoted.
const NAME: usize = 80;
const QUOTED: usize = 240;
const TITLE: usize = 120;
/// Text that is looked at for its first words.
const GLIMPSE: usize = 16_384;
/// Large things that are named.
const BIGGEST: usize = 6;

/// Reports on the input.
pub(crate) fn run(args: &ReportArgs, report: Report) -> Result<Exit> {
    let how = HowArgs::counting(&args.look.counting, args.look.counter.counter.as_ref());
    let settings = Settings::resolve(&how)?;
    let place = Place::output(args.output.output.as_deref())?;
    let file = args.look.input.file.as_deref();
    place.spare("-o", "the input", file)?;
    let quoting = if args.unmasked { Quoting::Verbatim } else { Quoting::Masked };
    let bytes = input::bytes(file)?;
    let whole = ReadingArgs { whole: true, ..args.look.input.reading.clone() };
    let now = input::understood(bytes.clone(), file, &args.look.input.reading, report)?;
    // What is wrong with it was said.
    let all = input::understood(bytes.clone(), file, &whole, Report::Json)?;
    let reader = Reader::new(&settings, &now.request, Need::Counter)?.remembering();
    let counter = reader.counter.as_ref();
    let mut progress = Progress::new(report);

    let reading = &args.look.input.reading;
    let Lived { epochs, compactions, not_shown, too_old, earlier } =
        Lived::read(&bytes, &now, reading, counter, quoting, &mut progress);
    let newest = epochs.last().expect("there is one at least");
    let pins = settings.pins.clone().unwrap_or_default();
    let found = Found::in_request(&newest.request, &pins);
    let shown = Survey::new(&newest.request, now.source.clone(), &newest.tally, counter, found);
    let tally = progress.count(&all.request, counter);
    let mut people = all.request.transcript.entries().filter(Entry::is_human);
    let title = people.next().map(|entry| quoting.line(&entry.human_text(), TITLE));
    drop(people);
    let found = Found::in_request(&all.request, &pins);
    let ever = Survey::new(&all.request, all.source, &tally, counter, found);
    drop(progress);

    let shown_of =
        |name: &str| shown.tools.iter().find(|tool| tool.name == name).map_or(0, Tool::tokens);
    let tools = ever.tools.iter().map(|tool| ToolUse {
        shown_tokens: shown_of(&tool.name),
        tool: Tool { name: quoting.line(&tool.name, NAME), ..tool.clone() },
    });
    let model = now.request.model();
    let name = match now.source.file.as_str() {
        "-" => "stdin".to_owned(),
        file => quoting.line(file.rsplit('/').next().unwrap_or(file), NAME),
    };
    let registry = crate::reader::registry(&settings)?;
    let known = reader.model.as_deref().filter(|_| reader.unknown.is_none());
    let prices = Prices {
        registry: &registry,
        named: known.filter(|_| settings.model.is_some()),
        newest: known,
    };
    let mut history = History {
        version: 1,
        file: name,
        notes: now.source.notes.clone(),
        title,
        kind: now.source.recording.clone().unwrap_or_else(|| now.request.format.name().to_owned()),
        model: model.as_deref().map(|model| quoting.line(model, NAME)),
        counter: reader.counter.name().to_owned(),
        window: reader.window,
        tokens: shown.total.tokens,
        tokens_upper: shown.total.upper,
        entries: shown.entries,
        kinds: shown.by_weight(),
        said: ever.entries,
        human_messages: ever.human_messages,
        compactions,
        not_shown,
        tools: tools.collect(),
        too_old,
        cost: cost::spent(&epochs, &earlier, prices),
        biggest: Vec::new(),
        rules_at_risk: shown.unpinned_rules.clone(),
        advice: None,
        basis: crate::receipt::basis(shown.total, reader.counter.name()),
        epochs: Vec::new(),
    };
    history.biggest = shown
        .biggest
        .iter()
        .take(BIGGEST)
        .map(|at| {
            let moment = &shown.timeline[*at];
            Big {
                from: moment.from,
                to: moment.to,
                tokens: moment.tokens,
                does: quoting.does(&newest.request, moment),
            }
        })
        .collect();
    history.epochs = epochs;
    let proposed = quoting::proposed(file);
    history.advice = advice::advice(&history, &shown.definitions, &proposed);

    let text = match report {
        _ if args.html => page::page(&history),
        Report::Json => {
            let json = match quoting {
                Quoting::Masked => terminal::json(&history),
                Quoting::Verbatim => terminal::unmasked_json(&history),
            };
            format!("{json}\n")
        }
        Report::Words if place.leaves_stdout() => {
            anstream::adapter::strip_str(&words::words(&history)).to_string()
        }
        Report::Words => {
            let words = words::words(&history);
            match quoting {
                Quoting::Masked => output::words(&words)?,
                Quoting::Verbatim => output::unmasked_words(&words)?,
            }
            return Ok(Exit::Ok);
        }
    };
    output::deliver(&[Parcel { place: &place, text: text.as_bytes() }])?;
    if let (Some(path), Report::Words, true) = (&args.output.output, report, place.leaves_stdout())
    {
        output::note(&format!("wrote {}", quoting::name(path)));
    }
    Ok(Exit::Ok)
}
