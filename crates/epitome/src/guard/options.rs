//! What may be wished to stay.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::Tail;
use crate::model::Binding;
use crate::transcript::{Entry, Origin, Role};

use super::KeepReason;

/// How the task is treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// The first human message stays verbatim.
    #[default]
    Keep,
    /// It may be folded like any other.
    Fold,
}

/// What must survive verbatim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pin {
    /// All human and system entries that say this. If none does, the newest entry that does: the words stay, not
    /// each message of a tool or of the model that repeats them ([`Unheld`]).
    Text(String),
    /// The entry at this position of what came: mending moves others, not the pin.
    Entry(usize),
}

impl Pin {
    /// The words of a pin by its words.
    pub(crate) fn words(&self) -> Option<&str> {
        match self {
            Pin::Text(words) => Some(words),
            Pin::Entry(_) => None,
        }
    }
}

/// Messages with a pin's text that aren't held, since a newer one is held for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unheld {
    /// The words.
    pub pin: String,
    /// The message that stays.
    pub held: usize,
    /// The others, in order; a message by its position.
    pub entries: Vec<usize>,
}

/// What becomes of a tool loop in progress whose signed thinking is bound to the prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OpenLoop {
    /// It stays, and so does everything before it, unchanged.
    #[default]
    Stays,
    /// It may leave as a whole: its prefix left before, in a view for another model.
    MayLeave,
}

/// The inputs of a guard.
#[derive(Clone, Copy, Debug)]
pub struct GuardOptions<'a> {
    /// Where to land, in tokens.
    pub target: u64,
    /// The first human message.
    pub task: Task,
    /// Pins, of entries as they came.
    pub pins: &'a [Pin],
    /// The original place of each entry; `None` for an entry that a repair added.
    pub came_from: &'a [Option<usize>],
    /// The newest content to keep.
    pub tail: Tail,
    /// What stays for what it is.
    pub preserved: Preserved<'a>,
    /// Whether reasoning is bound to the prefix.
    pub binding: Binding,
    /// What becomes of a loop in progress that is bound.
    pub open_loop: OpenLoop,
}

/// What stays for what it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preserved<'a> {
    /// Tools whose calls and results stay.
    pub tools: &'a [String],
    /// Entries of these origins stay.
    pub origins: &'a [Origin],
    /// Entries of these roles stay.
    pub roles: &'a [Role],
    /// Entries for which this returns true stay.
    pub chosen: Option<&'a Predicate>,
}

impl Preserved<'_> {
    /// Why the entry stays for what it is, if it does.
    pub(crate) fn holds(&self, entry: &Entry<'_>) -> Option<KeepReason> {
        if self.origins.contains(&entry.origin()) || self.roles.contains(&entry.role()) {
            Some(KeepReason::Kind)
        } else {
            self.chosen.filter(|chosen| chosen.is_true_of(entry)).map(|_| KeepReason::Chosen)
        }
    }
}

/// A caller's own rule for entries, in code.
#[derive(Clone)]
pub struct Predicate(Arc<dyn Fn(&Entry<'_>) -> bool + Send + Sync>);

impl Predicate {
    /// The predicate. It must say the same of the same entry every time.
    pub fn new(predicate: impl Fn(&Entry<'_>) -> bool + Send + Sync + 'static) -> Self {
        Predicate(Arc::new(predicate))
    }

    /// Whether it is true of the entry.
    pub fn is_true_of(&self, entry: &Entry<'_>) -> bool {
        (self.0)(entry)
    }
}

impl fmt::Debug for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Predicate")
    }
}
