//! The names of formats, as `--from` and `--to` take them.

use anyhow::Result;
use epitome::wire::Format;

use crate::failure::Failure;

/// Every format that the project knows of, readable or not.
pub(crate) const NAMES: [&str; 10] = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "claude-code",
    "codex",
    "gemini-cli",
    "pi",
    "tau-bench",
    "swe-agent",
];

/// The names in words.
pub(crate) fn list() -> String {
    NAMES.join(", ")
}

/// Whether a request of `format` can be written as `to`: so far only as what it is.
///
/// # Errors
/// A failure of usage, with the command that works.
pub(crate) fn same(format: Format, to: &str) -> Result<()> {
    if to == format.name() {
        return Ok(());
    }
    let why = match to.parse::<Format>() {
        Ok(to) => format!("{format} can't be converted to {to} yet"),
        Err(_) => format!("{to} can't be written yet"),
    };
    Err(Failure::usage(why).hint(format!("this input can be written with --to {format}")).into())
}
