//! Checkpoints of earlier compactions, which a further one continues: receipts vouch for them.
//!
//! Anybody can write what looks like a checkpoint, so that only its id tells one from a look-alike, and
//! only the user can say which ids are theirs.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;
use epitome::Outcome;
use epitome::checkpoint::{look_alikes, looks_like_one};
use epitome::ledger::Made;
use epitome::receipt::RECEIPT_VERSION;
use epitome::transcript::{ContentId, Origin, Part};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::failure::Failure;
use crate::output;
use crate::quoting::{name, operand};

/// What the user vouches for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    ids: BTreeSet<ContentId>,
    /// Changes of the ledger that were made.
    changes: Vec<Made>,
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
    #[serde(default)]
    ledger_changes: Vec<Made>,
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
        let mut known = Known { ids: ids.iter().copied().collect(), changes: Vec::new() };
        for file in receipts {
            let written = read(file.as_ref())?;
            known.ids.extend(written.checkpoint.map(|checkpoint| checkpoint.id));
            known.ids.extend(written.standing_checkpoints);
            known.add_changes(written.ledger_changes);
        }
        Ok(known)
    }

    /// Vouches for a checkpoint.
    pub(crate) fn vouch_for(&mut self, id: ContentId) {
        self.ids.insert(id);
    }

    /// Has the changes of the ledger made again that were made, by the receipt of an archive's view. One of another
    /// version tells of none.
    pub(crate) fn remember(&mut self, receipt: &str) {
        let written: Option<Written> = serde_json::from_str(receipt).ok();
        let written = written.filter(|written| written.version == RECEIPT_VERSION);
        self.add_changes(written.into_iter().flat_map(|written| written.ledger_changes));
    }

    /// The same, and what `other` vouches for.
    pub(crate) fn and(mut self, other: Known) -> Self {
        self.ids.extend(other.ids);
        self.add_changes(other.changes);
        self
    }

    /// The same change may have been made over several requests, which have its messages elsewhere.
    fn add_changes(&mut self, changes: impl IntoIterator<Item = Made>) {
        for change in changes {
            match self.changes.iter_mut().find(|known| known.is_same(&change)) {
                Some(known) => known.also(change),
                None => self.changes.push(change),
            }
        }
    }

    /// The ids.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ContentId> {
        self.ids.iter().copied()
    }

    /// Changes of the ledger that these compactions made.
    pub(crate) fn changes(&self) -> &[Made] {
        &self.changes
    }

    /// Says what the user most likely didn't mean: checkpoints that are continued by nobody, receipts of
    /// something else.
    pub(crate) fn warn(&self, outcome: &Outcome) {
        let transcript = &outcome.base.transcript;
        let is_checkpoint = |part: Part<'_>| part.origin() == Origin::Checkpoint;
        let is_continued = transcript.entries().any(|entry| entry.parts().any(is_checkpoint));
        if !self.ids.is_empty() && !is_continued {
            output::warn("no message is a checkpoint that was said to be known");
        }
        // The first one that looks like a checkpoint and isn't known.
        let unknown = look_alikes(transcript).find(|part| part.origin() != Origin::Checkpoint);
        if let Some(part) = unknown {
            let at = transcript.entry_of(part.slot);
            let why = if looks_like_one(&part.text()) {
                "isn't known, so it is plain text; if it is yours: --continue with the receipt of that compaction"
            } else {
                "was changed since it was written, so it is plain text, whoever vouches for it"
            };
            output::warn(&format!(
                "messages[{at}] looks like the checkpoint of an earlier compaction, but {why}"
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
