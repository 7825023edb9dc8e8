//! `compact`: make a transcript smaller.

use anyhow::Result;
use epitome::engine::plan::Reached;
use epitome::model::Registry;
use epitome::text::figure::counted;
use epitome::{Receipt, Request, wire};
use epitome_recordings::Writer;
use serde::Serialize;

use super::shape::Shape;
use crate::archive::{Archived, Deposit};
use crate::args::CompactArgs;
use crate::carried::Carried;
use crate::commands::landing::{self, Landed};
use crate::failure::Exit;
use crate::formats;
use crate::in_place::{self, InPlace};
use crate::input::{self, Source};
use crate::output::{self, Parcel, Place, Report};
use crate::quoting::operand;
use crate::reader::registry;
use crate::receipt::{self, Tense};
use crate::suited::Suited;
use crate::summarizers::{self, Clients};
use crate::terminal;

/// Writes the compacted request, and the receipt.
pub(crate) fn run(args: &CompactArgs, report: Report) -> Result<Exit> {
    let file = args.input.file.as_deref();
    let in_place = args.apply.then(|| InPlace::read("--apply", file)).transpose()?;
    let place = match &in_place {
        Some(recording) => recording.place.clone(),
        None => Place::output(args.output.output.as_deref())?,
    };
    let keep = if args.apply { args.archive.or_usual()? } else { args.archive.clone() };
    let receipt_place =
        args.receipt.as_deref().map(|path| Place::wanted("--receipt", path)).transpose()?;
    if let Some(receipt) = &receipt_place {
        output::apart(&[("the request", &place), ("--receipt", receipt)])?;
        receipt.spare("--receipt", "the input", args.input.file.as_deref())?;
    }
    if let Some(archive) = &keep.archive {
        place.spare_archive("-o", archive)?;
        if let Some(receipt) = &receipt_place {
            receipt.spare_archive("--receipt", archive)?;
        }
    }
    let shape = Shape::new(&args.how)?;
    let models = registry(shape.settings())?;
    let (summary, around) = (&args.summary, &args.around);
    let helpers = summarizers::helpers(summary, around, shape.settings(), Clients::None)?;
    let shape = shape.helped_by(helpers);
    let bytes = match &in_place {
        Some(recording) => recording.text().as_bytes().to_vec(),
        None => input::bytes(file)?,
    };
    let raw = if keep.archive.is_some() { bytes.clone() } else { Vec::new() };
    let mut opened = input::understood(bytes, file, &args.input.reading, report)?;
    input::is_read(&opened)?;
    if let Some(model) = &args.how.counting.model {
        opened.request = opened.request.addressed_to(model);
    }
    if in_place.is_none() && keep.archive.is_none() {
        in_place::spare_recording(&place, file, &opened.source)?;
    }
    let shape = match &in_place {
        Some(_) => {
            let kind = opened.source.recording.as_deref();
            let writer = in_place::reader(&opened.source.file, kind)?.writer();
            shape.announced_as(writer.and_then(Writer::announced))
        }
        None => shape,
    };
    let deposit = keep.deposit(&args.input, &opened, &raw)?;
    let shape = match &deposit {
        Some(deposit) => shape.with_archive(deposit.pins(), deposit.channel()?),
        None => shape,
    };
    let after = shape.helpers.after.clone();
    let Landed { done, written, carried } = if let Some(to) = &args.to.to {
        landing::land(shape, to, &opened, report)?
    } else {
        let done = shape.compact_into(&opened, deposit.as_ref().map(Deposit::archive), report)?;
        Landed { written: done.outcome.request.clone(), done, carried: None }
    };
    // What is shown is kept before anybody is shown it; where nothing is put in place there is no view.
    let kept = deposit.filter(|_| !args.apply || !done.outcome.view.is_whole());
    let archived = kept.map(|deposit| deposit.keep(&done.outcome)).transpose()?;
    let receipt = &done.outcome.receipt;

    // The receipt goes first: whoever finds a request finds what was done to it, and its checkpoint's id.
    let source = &opened.source;
    let told = Told { receipt, source, archived: archived.as_ref(), converted: carried.as_ref() };
    let receipt_text = terminal::json(&told) + "\n";
    let told = (report == Report::Json && place.leaves_stdout()).then_some(Place::Stdout);
    let receipts = receipt_place
        .iter()
        .chain(&told)
        .map(|place| Parcel { place, text: receipt_text.as_bytes() });
    let applied = match (&in_place, &archived) {
        (Some(recording), Some(archived)) if !done.outcome.view.is_whole() => {
            let reader = in_place::reader(&opened.source.file, opened.source.recording.as_deref())?;
            Some(recording.with(reader, &done.outcome, &archived.place())?)
        }
        _ => None,
    };
    let text = applied.as_deref().unwrap_or(written.source().as_str());
    let request = Parcel { place: &place, text: text.as_bytes() };
    match &in_place {
        None => output::deliver(&receipts.chain([request]).collect::<Vec<_>>())?,
        // Nothing was done, so that nothing is written.
        Some(_) if applied.is_none() => output::deliver(&receipts.collect::<Vec<_>>())?,
        // The recording goes first: it names the archive of its originals, and a receipt of a failed write would lie.
        Some(recording) => {
            let receipts = receipts.collect::<Vec<_>>();
            recording.put(request.text, &receipts, archived.as_ref())?;
        }
    }
    if place.is_screen() && !written.source().ends_with('\n') {
        output::note("");
    }
    match report {
        Report::Words => {
            let words = receipt::words(receipt, &done.target, Tense::Done);
            output::tell(&words);
            match (&archived, file) {
                (Some(archived), Some(file)) if applied.is_some() => {
                    output::tell(&archived.words_in_place(file));
                }
                _ if args.apply => output::tell("nothing was written"),
                (Some(archived), _) => {
                    output::tell(&archived.words(args.output.output.as_deref()));
                }
                (None, _) => {}
            }
            if let Some(carried) = &carried {
                output::tell(&carried.words());
            }
            formats::tell_hidden(&written);
        }
        Report::Json if told.is_some() => {}
        Report::Json => output::note(receipt_text.trim_end()),
    }
    if receipt.reached.is_compacted() {
        after.tell(receipt)?.iter().for_each(|failed| output::warn(failed));
    }
    let breaches = breaches(&written, &models);
    let is_passed = receipt.reached == Reached::NotTriggered;
    if breaches > 0 {
        let did = if is_passed {
            "it was passed unchanged, and breaks"
        } else {
            "what was written breaks"
        };
        output::warn(&format!("{did} {} of its format", counted(breaches, "rule")));
        let written = args.output.output.as_deref().filter(|output| output.is_file());
        let check = written.map(|output| format!("epitome check {}", operand(output)));
        output::note(&format!("hint: {}", check.unwrap_or_else(|| opened.source.command("check"))));
    }
    let is_over = carried
        .as_ref()
        .is_some_and(|carried| carried.over() > 0 && !done.target.is_settled(receipt));
    let is_broken = breaches > 0 && !is_passed;
    Ok(if is_broken || is_over { Exit::Found } else { done.target.exit(receipt) })
}

/// What `check` finds in the bytes of a request.
fn breaches(written: &Request, models: &Registry) -> usize {
    let read = wire::detect(written.source().clone()).unwrap_or_else(|_| written.clone());
    let read = read.addressed_as(written);
    let refused = Suited::own(models, &read).map_or(0, |suited| suited.refused());
    wire::inspect(&read, &[]).len() + refused
}

/// The receipt as it is written, with where the transcript is from; where the result was converted, with what became of it.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    receipt: &'a Receipt,
    source: &'a Source,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived: Option<&'a Archived>,
    #[serde(skip_serializing_if = "Option::is_none")]
    converted: Option<&'a Carried>,
}
