//! The names of formats, as `--from` takes them.

use epitome::Request;
use epitome::wire;
pub(crate) use epitome_recordings::names;

use crate::output;
use crate::terminal::{STRONG, paint};

/// The names in words.
pub(crate) fn list() -> String {
    names().collect::<Vec<_>>().join(", ")
}

/// Suggests `--from` when the output's format can no longer be detected: a compaction may leave no
/// calls and results, which show it.
pub(crate) fn tell_hidden(written: &Request) {
    let shown = wire::shown_format(written.source());
    if shown != written.format && !written.transcript.is_empty() {
        let format = written.format;
        let hint = format!("the output will be detected as {shown}: read it with --from {format}");
        output::note(&format!("{} {hint}", paint(STRONG, "hint:")));
    }
}
