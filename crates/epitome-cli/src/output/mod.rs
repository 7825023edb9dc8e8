//! Where data, reports and notes go. Whatever is told is told through here, with its secrets masked; what
//! [`deliver`] writes is as it was made.

mod belongings;
mod delivery;
mod exchange;
mod leftover;
mod place;

use std::io::{self, ErrorKind, Write};

use anyhow::Result;
use epitome::text::secrets::masked;

use crate::failure::Failure;
use crate::terminal;

pub(crate) use delivery::{Parcel, deliver, deliver_private, remove, replace};
pub(crate) use leftover::leftovers;
pub(crate) use place::{Place, apart};

/// The form of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// For people.
    Words,
    /// For programs.
    Json,
}

/// Writes data to stdout. A reader that has seen enough is no failure.
pub(crate) fn data(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let text = masked(text);
    settled(out.write_all(text.as_bytes()).and_then(|()| out.flush()), "stdout")
}

/// Writes words to stdout, with colours if it is a terminal.
pub(crate) fn words(text: &str) -> Result<()> {
    unmasked_words(&masked(text))
}

/// The same, with secrets as they stand there.
pub(crate) fn unmasked_words(text: &str) -> Result<()> {
    let columns = terminal_size::terminal_size_of(io::stdout()).map(|(columns, _)| columns.0);
    let text = terminal::fitted(text, columns);
    let mut out = anstream::stdout().lock();
    settled(out.write_all(text.as_bytes()).and_then(|()| out.flush()), "stdout")
}

/// Writes a report to stdout as JSON.
pub(crate) fn json(report: &impl serde::Serialize) -> Result<()> {
    data(&format!("{}\n", terminal::json(report)))
}

/// Writes a line to stderr, with colours if it is a terminal.
pub(crate) fn note(text: &str) {
    unmasked_note(&masked(text));
}

/// The same, with secrets unmasked: for the program's own tokens.
pub(crate) fn unmasked_note(text: &str) {
    // Nobody is left to be told that stderr is gone.
    let _gone = writeln!(anstream::stderr().lock(), "{text}");
}

/// Writes words to stderr, with colours if it is a terminal.
pub(crate) fn tell(text: &str) {
    let columns = terminal_size::terminal_size_of(io::stderr()).map(|(columns, _)| columns.0);
    note(terminal::fitted(&masked(text), columns).trim_end());
}

/// Writes a warning to stderr.
pub(crate) fn warn(text: &str) {
    tell(&format!("{} {}", terminal::paint(terminal::WARN, "warning:"), terminal::one(text)));
}

/// What became of writing to `what`. A reader that has seen enough is no failure.
pub(crate) fn settled(result: io::Result<()>, what: &str) -> Result<()> {
    match result {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.map_err(|error| {
            Failure::other(format!("{what} can't be written: {error}"))
                .hint("look whether there is room where it goes (df), or send it elsewhere")
                .into()
        }),
    }
}
