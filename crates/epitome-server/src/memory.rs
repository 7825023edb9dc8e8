//! What is recalled from.

use epitome::archive::ArchiveError;
use epitome::archive::FoundOriginal;
use serde_json::Value;

/// How far a search reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchReach {
    /// Conversations of the agent's own project, where there are projects.
    Project,
    /// All that there is.
    All,
}

/// What was said once and can be had back. Calls may wait for a disk; they are made on threads of their own.
pub trait Memory: std::fmt::Debug + Send + Sync {
    /// What shares a word with `words`, best first, at most `limit`, each with the session that it is of.
    fn search(
        &self,
        words: &str,
        limit: usize,
        reach: SearchReach,
    ) -> Result<Vec<(String, FoundOriginal)>, ArchiveError>;

    /// The project that searches are limited to unless all are asked for; `None` if there are none.
    fn project(&self) -> Option<&str> {
        None
    }

    /// What has an id that begins like that, each with its session.
    fn get(&self, id: &str) -> Result<Vec<(String, FoundOriginal)>, ArchiveError>;

    /// What there is, as an object.
    fn stats(&self) -> Result<Value, ArchiveError>;
}
