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

/// Says how to read again what doesn't show its format: calls and results do, and a compaction may have
/// left none of them.
pub(crate) fn tell_hidden(written: &Request) {
    let shown = wire::shown_format(written.source());
    if shown != written.format && !written.transcript.is_empty() {
        let format = written.format;
        let hint =
            format!("by itself what was written looks like {shown}: read it with --from {format}");
        output::note(&format!("{} {hint}", paint(STRONG, "hint:")));
    }
}
