//! What a reader does.

use std::fmt;
use std::sync::Arc;

use crate::append::{Shown, Stamp};
use crate::error::{ApplyError, ReadError};
use crate::object::Object;
use crate::recording::{Options, Recording};

/// A reader of one agent's recordings; [`READERS`](crate::READERS) lists them all.
///
/// It is implemented in this crate only.
pub trait Reader: fmt::Debug + Sync {
    /// The name used on the command line.
    fn name(&self) -> &'static str;

    /// What a file lacks that isn't such a recording.
    fn lacks(&self) -> &'static str;

    /// How the file is laid out.
    fn layout(&self) -> Layout {
        Layout::Rows
    }

    /// Whether the first object of a file shows that it is such a recording: a row, the whole value,
    /// or the first element of a list. The object may be cut off.
    fn detects(&self, first: &Object<'_>) -> bool;

    /// Reads a recording of less than 4 GiB; [`read`](crate::read) checks that.
    ///
    /// # Errors
    /// Nothing in it can be read, or the chosen run isn't there.
    fn read(&self, source: &Arc<String>, options: Options) -> Result<Recording, ReadError>;

    /// How a view is written into such a recording; `None` if that isn't known.
    fn writer(&self) -> Option<&dyn Writer> {
        None
    }
}

/// How a file is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Rows; damage costs the row in which it is.
    Rows,
    /// One value; damage costs all of it, but for one that ends in the middle, which costs the last message.
    Value,
    /// Rows, or one value of which parts can be read despite damage.
    Either,
}

/// Writes a view in the agent's own form.
pub trait Writer {
    /// The rows to put behind the recording.
    ///
    /// # Errors
    /// The recording has no message.
    fn rows(
        &self,
        source: &Arc<String>,
        shown: &Shown,
        stamp: &Stamp,
    ) -> Result<String, ApplyError>;

    /// The message that the agent itself puts before a view that was written so, if it does that.
    fn announced(&self) -> Option<String> {
        None
    }
}
