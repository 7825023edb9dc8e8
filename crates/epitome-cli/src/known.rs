//! Checkpoints of earlier compactions that the user names: by receipts, or by their ids.
//!
//! A checkpoint whose digest matches is continued without that.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use epitome::Outcome;
use epitome::checkpoint::look_alikes;
use epitome::receipt::RECEIPT_VERSION;
use epitome::transcript::{ContentId, Origin, Part};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::failure::Failure;
use crate::output;
use crate::quoting::{name, operand};

/// The checkpoints that the user names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    ids: BTreeSet<ContentId>,
}

/// What a receipt says of checkpoints.
#[derive(Debug, Deserialize)]
struct Written {
    version: u32,
    /// That it is there tells a receipt from other reports.
    #[serde(rename = "originals")]
    _originals: IgnoredAny,
    checkpoint: Option<Named>,
    #[serde(default)]
    standing_checkpoints: Vec<ContentId>,
}

#[derive(Debug, Deserialize)]
struct Named {
    id: ContentId,
}

impl Known {
    /// The ids that receipts name, and those that are said.
    ///
    /// # Errors
    /// A receipt that can't be read, or isn't one.
    pub(crate) fn new(receipts: &[impl AsRef<Path>], ids: &[ContentId]) -> Result<Self> {
        let mut known = Known { ids: ids.iter().copied().collect() };
        for file in receipts {
            let written = read(file.as_ref())?;
            known.ids.extend(written.checkpoint.map(|checkpoint| checkpoint.id));
            known.ids.extend(written.standing_checkpoints);
        }
        Ok(known)
    }

    /// Says what the user most likely didn't mean: checkpoints that aren't continued, receipts of something else.
    pub(crate) fn warn(&self, outcome: &Outcome) {
        let transcript = &outcome.base.transcript;
        let is_known = |part: Part<'_>| self.ids.contains(&ContentId::of_text(&part.text()));
        if !self.ids.is_empty() && !look_alikes(transcript).any(is_known) {
            output::warn("no message is a checkpoint that was said to be known");
        }
        let changed = look_alikes(transcript).find(|part| part.origin() != Origin::Checkpoint);
        if let Some(part) = changed {
            let at = transcript.entry_of(part.slot);
            output::warn(&format!(
                "messages[{at}] looks like the checkpoint of an earlier compaction, but was changed since it was \
                 written, so it is plain text"
            ));
        }
    }
}

fn read(file: &Path) -> Result<Written> {
    let shown = name(file);
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::other(format!("the receipt {shown} can't be read: {error}"))
            .hint(format!("ls -l {}", operand(file)))
    })?;
    let written: Written = serde_json::from_str(&text).map_err(|error| {
        Failure::input(format!("{shown} is no receipt: {error}"))
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
