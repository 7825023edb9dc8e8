//! The table of readers.

use std::sync::Arc;

use crate::claude_code::ClaudeCode;
use crate::codex::Codex;
use crate::error::ReadError;
use crate::gemini_cli::GeminiCli;
use crate::kimi_cli::KimiCli;
use crate::opencode::Opencode;
use crate::openhands::Openhands;
use crate::pi::Pi;
use crate::reader::Reader;
use crate::recording::{Options, Recording};
use crate::roo_code::RooCode;
use crate::swe_agent::SweAgent;
use crate::tau_bench::TauBench;

/// All readers. A file goes to the first one that detects it.
pub static READERS: [&dyn Reader; 10] = [
    &ClaudeCode,
    &Codex,
    &GeminiCli,
    &KimiCli,
    &Opencode,
    &Openhands,
    &Pi,
    &RooCode,
    &TauBench,
    &SweAgent,
];

/// The reader with a name.
pub fn reader(name: &str) -> Option<&'static dyn Reader> {
    READERS.into_iter().find(|reader| reader.name() == name)
}

/// Reads a recording of a known kind.
///
/// # Errors
/// See [`ReadError`].
pub fn read(
    reader: &dyn Reader,
    source: impl Into<Arc<String>>,
    options: Options,
) -> Result<Recording, ReadError> {
    let source = source.into();
    // Spans are 32 bits wide.
    if u32::try_from(source.len()).is_err() {
        return Err(ReadError::TooLarge { reader: reader.name(), bytes: source.len() });
    }
    reader.read(&source, options)
}
