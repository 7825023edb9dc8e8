//! Receipts of earlier compactions, by which a user makes sure that a checkpoint is continued.

use std::path::{Path, PathBuf};

use anyhow::Result;
use epitome::Outcome;
use epitome::checkpoint::look_alikes;
use epitome::engine::receipt::RECEIPT_VERSION;
use epitome::transcript::{ContentId, Origin};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::failure::Failure;
use crate::output;
use crate::quoting::{name, operand};

/// The checkpoint that a receipt names.
#[derive(Debug, Deserialize)]
struct EarlierReceipt {
    version: u32,
    /// That it is there tells a receipt from other reports.
    #[serde(rename = "originals")]
    _originals: IgnoredAny,
    checkpoint: Option<Named>,
}

#[derive(Debug, Deserialize)]
struct Named {
    id: ContentId,
}

/// The checkpoints that these receipts name.
///
/// # Errors
/// A receipt that can't be read, or isn't one.
pub(crate) fn read(receipts: &[PathBuf]) -> Result<Vec<ContentId>> {
    let ids = receipts.iter().map(|file| Ok(written(file)?.checkpoint.map(|named| named.id)));
    Ok(ids.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// Warns of those that no message is any more, as it was written.
pub(crate) fn warn(named: &[ContentId], outcome: &Outcome) {
    let continued: Vec<ContentId> = look_alikes(&outcome.base.transcript)
        .filter(|part| part.origin() == Origin::Checkpoint)
        .map(|part| ContentId::of_text(&part.text()))
        .collect();
    if named.iter().any(|id| !continued.contains(id)) {
        output::warn("no message is the unchanged checkpoint that --continue names");
    }
}

fn written(file: &Path) -> Result<EarlierReceipt> {
    let shown = name(file);
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::other(format!("the receipt {shown} can't be read: {error}"))
            .hint(format!("ls -l {}", operand(file)))
    })?;
    let written: EarlierReceipt = serde_json::from_str(&text).map_err(|error| {
        Failure::input(format!("{shown} isn't a receipt: {error}"))
            .hint("name a file that `compact --receipt` wrote")
    })?;
    if written.version != RECEIPT_VERSION {
        let version = written.version;
        return Err(Failure::input(format!("the receipt {shown} is of version {version}"))
            .hint(format!("this epitome reads receipts of version {RECEIPT_VERSION}"))
            .into());
    }
    Ok(written)
}
