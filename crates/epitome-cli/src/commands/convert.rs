//! `convert`: a transcript as a request body.

use anyhow::Result;
use epitome::wire;
use serde_json::json;

use crate::args::ConvertArgs;
use crate::carried::Carried;
use crate::failure::Exit;
use crate::output::{self, Parcel, Place, Report};
use crate::{formats, in_place, input, terminal};

/// Writes the input as a request of the format asked for.
pub(crate) fn run(args: &ConvertArgs, report: Report) -> Result<Exit> {
    let place = Place::output(args.output.output.as_deref())?;
    let opened = input::open(&args.input, report)?;
    in_place::spare_recording(&place, args.input.file.as_deref(), &opened.source)?;
    let (request, carried) = args.to.bound()?.reach(opened.request)?;
    output::deliver(&[Parcel { place: &place, text: request.source().as_bytes() }])?;
    if place.is_screen() {
        output::note("");
    }
    if report == Report::Words {
        let words = carried.as_ref().map(Carried::words).unwrap_or_default();
        if !words.is_empty() {
            output::tell(&words);
        }
        formats::tell_hidden(&request);
    }
    if report == Report::Json {
        let told = json!({
            "version": 1,
            "source": opened.source,
            "format": request.format.name(),
            "bytes": request.source().len(),
            "entries": request.transcript.len(),
            "converted": carried,
        });
        if place.leaves_stdout() {
            output::json(&told)?;
        } else {
            output::note(&terminal::json(&told));
        }
    }
    // History may be the provider's; else no provider takes it.
    let says_nothing = request.transcript.is_empty() && !wire::check(&request).is_empty();
    if says_nothing && report == Report::Words {
        output::warn("there are no messages in it");
    }
    let is_broken = carried.is_some_and(|carried| carried.is_broken());
    Ok(if is_broken || says_nothing { Exit::Found } else { Exit::Ok })
}
