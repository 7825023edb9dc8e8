//! `stats`: what fills a transcript.

pub(super) mod chart;
mod growth;
mod page;
mod picture;
mod screen;

use std::path::Path;

use anyhow::Result;
use epitome::text::figure::counted;

use crate::args::{HowArgs, StatsArgs};
use crate::config::Settings;
use crate::failure::Exit;
use crate::output::{self, Parcel, Place, Report};
use crate::progress::Progress;
use crate::reader::{Need, Reader};
use crate::survey::{Found, Survey};
use crate::terminal::{count, size};
use crate::{input, quoting, terminal};

/// What a transcript consists of, in words.
fn facts(survey: &Survey) -> String {
    let mut facts = vec![
        size(survey.bytes),
        counted(survey.entries, "message"),
        counted(survey.steps, "step"),
        counted(survey.turns, "turn"),
        counted(survey.pairs, "call"),
    ];
    if survey.parallel_batches > 0 {
        let batches = if survey.parallel_batches == 1 { "batch" } else { "batches" };
        facts.push(format!("{} parallel {batches}", count(survey.parallel_batches)));
    }
    if survey.open_calls > 0 {
        facts.push(format!("{} unanswered", counted(survey.open_calls, "call")));
    }
    facts.join(", ")
}

/// Draws what fills the input.
pub(crate) fn run(args: &StatsArgs, report: Report) -> Result<Exit> {
    let how = HowArgs::counting(&args.look.counting, args.look.counter.counter.as_ref());
    let settings = Settings::resolve(&how)?;
    let place = |flag, path: Option<&Path>| -> Result<Option<Place>> {
        let Some(path) = path else { return Ok(None) };
        let place = Place::wanted(flag, path)?;
        place.spare(flag, "the input", args.look.input.file.as_deref())?;
        Ok(Some(place))
    };
    let html = place("--html", args.html.as_deref())?;
    let svg = place("--svg", args.svg.as_deref())?;
    if let (Some(html), Some(svg)) = (&html, &svg) {
        output::apart(&[("--html", html), ("--svg", svg)])?;
    }
    let opened = input::open(&args.look.input, report)?;
    let pins = settings.pins.clone().unwrap_or_default();
    let reader = Reader::new(&settings, &opened.request, Need::Counter)?;
    let counter = &reader.counter;
    let mut progress = Progress::new(report);
    let tally = progress.count(&opened.request, counter.as_ref());
    let found = Found::in_request(&opened.request, &pins);
    let mut survey = Survey::new(&opened.request, opened.source, &tally, counter.as_ref(), found);
    survey.reader = reader.reading(survey.total);
    drop(progress);

    let drawn = html.as_ref().map(|place| (place, page::page(&survey)));
    let picture = svg.as_ref().map(|place| (place, picture::standalone(&survey)));
    let parcels =
        drawn.iter().chain(&picture).map(|(place, text)| Parcel { place, text: text.as_bytes() });
    output::deliver(&parcels.collect::<Vec<_>>())?;
    let to_stdout = [&html, &svg].into_iter().flatten().any(|place| !place.leaves_stdout());
    // A page that was asked for on stdout has it to itself.
    match report {
        _ if to_stdout => {}
        Report::Json => output::json(&survey)?,
        Report::Words => {
            output::words(&screen::draw(&survey, terminal::width()))?;
            for path in [&args.html, &args.svg].into_iter().flatten() {
                output::note(&format!("wrote {}", quoting::name(path)));
            }
        }
    }
    Ok(Exit::Ok)
}
