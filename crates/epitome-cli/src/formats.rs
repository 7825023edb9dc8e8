//! The names of formats, as `--from` takes them.

use epitome::Request;
use epitome::wire;

use crate::output;
use crate::terminal::{STRONG, paint};

/// Every format that the project knows of, readable or not.
pub(crate) const NAMES: [&str; 13] = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock",
    "claude-code",
    "codex",
    "gemini-cli",
    "opencode",
    "openhands",
    "pi",
    "tau-bench",
    "swe-agent",
];

/// The names in words.
pub(crate) fn list() -> String {
    NAMES.join(", ")
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
