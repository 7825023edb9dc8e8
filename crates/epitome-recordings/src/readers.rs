//! The table of readers.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::claude_code::ClaudeCode;
use crate::codex::Codex;
use crate::cut::closed;
use crate::error::ReadError;
use crate::gemini_cli::GeminiCli;
use crate::kimi_cli::KimiCli;
use crate::opencode::Opencode;
use crate::openhands::Openhands;
use crate::pi::Pi;
use crate::reader::{Layout, Reader};
use crate::recording::{Options, Recording, Skipped, Why};
use crate::roo_code::RooCode;
use crate::rows::rows;
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
    let read = reader.read(&source, options);
    let failed = match read.and_then(|recording| mostly_whole(reader, &source, recording)) {
        Ok(recording) => return Ok(recording),
        Err(failed) => failed,
    };
    // What ends in the middle costs the message in which it ends.
    let cut = if reader.layout() == Layout::Rows { None } else { closed(&source) };
    let Some(cut) = cut else { return Err(failed) };
    let mut recording = reader.read(&Arc::new(cut.text), options).map_err(|_| failed)?;
    recording.skipped.push(Skipped { row: cut.row, why: Why::CutOff });
    Ok(recording)
}

/// The recording, unless most rows of its file can't be read: what is left then is no conversation.
fn mostly_whole(
    reader: &dyn Reader,
    source: &str,
    recording: Recording,
) -> Result<Recording, ReadError> {
    let is_broken = |why: &Why| matches!(why, Why::NotJson { .. } | Why::NoText | Why::CutOff);
    let skipped = recording.skipped.iter().filter(|skipped| is_broken(&skipped.why));
    let broken: BTreeMap<usize, &Why> =
        skipped.map(|skipped| (skipped.row, &skipped.why)).collect();
    let Some((first, why)) = broken.first_key_value() else { return Ok(recording) };
    let rows = rows(source).count();
    if broken.len() * 2 <= rows {
        return Ok(recording);
    }
    let (reader, why) = (reader.name(), (*why).clone());
    Err(ReadError::Rows { reader, broken: broken.len(), rows, first: *first, why })
}
