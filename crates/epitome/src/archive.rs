//! Where originals are kept, so that every removed byte can be had back.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::transcript::ContentId;

/// An entry that a view hides or edits, as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Digest of the bytes.
    pub id: ContentId,
    /// Position in the transcript.
    pub entry: usize,
    /// The bytes.
    pub bytes: String,
}

impl Original {
    /// The original of an entry.
    pub fn new(entry: usize, bytes: &str) -> Self {
        Original { id: ContentId::of_text(bytes), entry, bytes: bytes.to_owned() }
    }
}

/// Why an archive couldn't keep or find something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArchiveError {
    /// It couldn't be written.
    #[error("the archive could not keep the originals: {why}")]
    Write {
        /// What the store said.
        why: String,
    },
}

/// Keeps originals.
pub trait Archive: std::fmt::Debug + Send + Sync {
    /// Keeps originals. When it returns they are durable, or none of them counts.
    fn put(&self, originals: &[Original]) -> Result<(), ArchiveError>;

    /// The bytes under an id.
    fn get(&self, id: ContentId) -> Option<String>;
}

/// An archive in memory.
#[derive(Debug, Default)]
pub struct MemoryArchive {
    kept: Mutex<BTreeMap<ContentId, String>>,
}

impl Archive for MemoryArchive {
    fn put(&self, originals: &[Original]) -> Result<(), ArchiveError> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for original in originals {
            kept.entry(original.id).or_insert_with(|| original.bytes.clone());
        }
        Ok(())
    }

    fn get(&self, id: ContentId) -> Option<String> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }
}
