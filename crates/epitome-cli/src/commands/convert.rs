//! `convert`: a transcript as a request body.

use anyhow::Result;
use serde_json::json;

use crate::args::ConvertArgs;
use crate::failure::Exit;
use crate::output::{self, Place, Report};
use crate::{formats, input, terminal};

/// Writes the input as a request of the format asked for.
pub(crate) fn run(args: &ConvertArgs, report: Report) -> Result<Exit> {
    let place = Place::at(args.output.output.as_deref())?;
    let opened = input::open(&args.input, report)?;
    let request = &opened.request;
    formats::same(request.format, &args.to)?;
    place.write(request.source())?;
    if place.is_screen() {
        output::note("");
    }
    if report == Report::Json {
        let told = json!({
            "version": 1,
            "source": opened.source,
            "format": request.format.name(),
            "bytes": request.source().len(),
            "entries": request.transcript.len(),
        });
        if place.leaves_stdout() {
            output::json(&told)?;
        } else {
            output::note(&terminal::json(&told));
        }
    }
    Ok(Exit::Ok)
}
