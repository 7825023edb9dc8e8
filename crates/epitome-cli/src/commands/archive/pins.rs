//! `pin`: texts that stay in every compaction.

use std::path::Path;

use anyhow::{Result, bail};
use epitome_store::Access;
use serde_json::json;

use crate::archive::{make, open};
use crate::args::{ArchiveArg, PinArgs, PinCommand};
use crate::failure::{Exit, Failure};
use crate::output::{self, Report};
use crate::quoting::operand;
use crate::terminal::{self, line};

/// Pins, lists and unpins.
pub(crate) fn pin(args: &PinArgs, report: Report) -> Result<Exit> {
    match &args.command {
        PinCommand::Add { text, archive } => add(text, &archive.store, report),
        PinCommand::List { archive } => pins(archive, report),
        PinCommand::Rm { pin, archive } => {
            let store = archive.open(Access::Existing)?;
            if !store.unpin(pin).map_err(archive.failed())? {
                let hint = format!("epitome pin list --archive {}", operand(&archive.store));
                let what = format!("there is no pin {:?}", line(pin, 80));
                bail!(Failure::usage(what).hint(hint));
            }
            if report == Report::Json {
                output::json(&json!({ "version": 1, "removed": pin }))?;
            }
            Ok(Exit::Ok)
        }
    }
}

fn add(text: &str, folder: &Path, report: Report) -> Result<Exit> {
    if text.trim().is_empty() {
        let failure = Failure::usage("a pin must not be blank");
        return Err(failure.hint("epitome pin add 'never push' --archive STORE").into());
    }
    let archive = ArchiveArg { store: folder.to_owned() };
    make(folder)?;
    let pin = open(folder, Access::Write)?.pin(text).map_err(archive.failed())?;
    match report {
        Report::Json => output::json(&json!({ "version": 1, "pin": pin, "text": text }))?,
        Report::Words => output::words(&format!("{pin} {}\n", terminal::one(text)))?,
    }
    Ok(Exit::Ok)
}

fn pins(archive: &ArchiveArg, report: Report) -> Result<Exit> {
    let pins = archive.open(Access::Read)?.pins().map_err(archive.failed())?;
    match report {
        Report::Json => output::json(&json!({ "version": 1, "pins": pins }))?,
        Report::Words => {
            let lines =
                pins.iter().map(|pin| format!("{} {}\n", pin.pin, terminal::one(&pin.text)));
            output::words(&lines.collect::<String>())?;
        }
    }
    Ok(Exit::Ok)
}
