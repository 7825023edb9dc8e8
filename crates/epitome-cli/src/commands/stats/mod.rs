//! `stats`: what fills a transcript.

mod chart;
mod growth;
mod page;
mod picture;
mod screen;

use anyhow::Result;

use crate::args::{CounterArg, ShapeArgs, StatsArgs};
use crate::config::Settings;
use crate::failure::Exit;
use crate::output::{self, Place, Report};
use crate::progress::Progress;
use crate::survey::Survey;
use crate::{counters, input, terminal};

/// Draws what fills the input.
pub(crate) fn run(args: &StatsArgs, report: Report) -> Result<Exit> {
    let counter = CounterArg { counter: args.counter.counter.clone() };
    let settings = Settings::resolve(&ShapeArgs::default(), &args.counting, &counter)?;
    let place = |path: &Option<std::path::PathBuf>| {
        path.as_deref().map(|path| Place::at(Some(path))).transpose()
    };
    let (html, svg) = (place(&args.html)?, place(&args.svg)?);
    let opened = input::open(&args.input, report)?;
    let counter = counters::choose(&settings, &opened.request)?;
    let mut progress = Progress::new(report);
    let tally = progress.count(&opened.request, counter.as_ref());
    let survey = Survey::new(&opened.request, opened.source, &tally, counter.as_ref());
    drop(progress);

    let drawn = html.as_ref().map(|_| page::page(&survey));
    let picture = svg.as_ref().map(|_| picture::standalone(&survey));
    let mut to_stdout = false;
    for (place, text) in [(&html, &drawn), (&svg, &picture)] {
        if let (Some(place), Some(text)) = (place, text) {
            place.write(text)?;
            to_stdout |= !place.leaves_stdout();
        }
    }
    // A page that was asked for on stdout has it to itself.
    match report {
        _ if to_stdout => {}
        Report::Json => output::json(&survey)?,
        Report::Words => {
            output::words(&screen::draw(&survey, terminal::width()))?;
            for path in [&args.html, &args.svg].into_iter().flatten() {
                output::note(&format!("wrote {}", terminal::lines(&path.to_string_lossy())));
            }
        }
    }
    Ok(Exit::Ok)
}
