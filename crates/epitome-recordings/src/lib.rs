//! Readers of agents' own files: what the model was shown, as a request of a wire format.
//!
//! An agent writes its work down for itself: rows instead of messages, one API message spread over
//! several rows, branches that were left, sub-agents in between, earlier compactions. A reader
//! undoes that. Text, ids, arguments and signatures keep their bytes; what isn't part of the
//! conversation is left out, and [`Recording::skipped`] says what and why.
//!
//! These formats change weekly, so they live outside the core. The crate reads text, no files.
//!
//! ```
//! use epitome_recordings::{Kind, Options, Recording, detect, read};
//!
//! let rows = r#"
//!     {"type":"user","message":{"content":"Fix it."}}
//!     {"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"How?"}]}}
//!     {"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Ah."}]}}"#;
//! assert_eq!(detect(rows), Some(Kind::ClaudeCode));
//! let session: Recording = read(Kind::ClaudeCode, rows.to_owned(), Options::default())?;
//! assert_eq!(session.request.transcript.len(), 2);
//! # Ok::<(), epitome_recordings::ReadError>(())
//! ```

mod apply;
mod body;
mod claude_code;
mod codex;
mod detect;
mod error;
mod foreign;
mod gemini_cli;
mod neutral;
mod notes;
mod object;
mod open;
mod opencode;
mod openhands;
mod pi;
pub mod replay;
mod rows;
mod swe_agent;
mod tau_bench;
mod usage;

use std::fmt;
use std::sync::Arc;

use epitome::json::JsonError;
use epitome::request::Request;

pub use apply::{Applied, ApplyError, Archived, announced, applied, apply};
pub use detect::detect;
pub use error::{OpenError, ReadError, Tried};
pub use notes::{About, Note};
pub use open::{Input, no_text, open};
pub use usage::{Reported, Usage};

/// A kind of recording that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A Claude Code session or sub-agent: JSON Lines.
    ClaudeCode,
    /// A Codex rollout: JSON Lines.
    Codex,
    /// A Gemini CLI session, or a history that it saved: JSON or JSON Lines.
    GeminiCli,
    /// An opencode session, as it exports them: JSON.
    Opencode,
    /// An OpenHands conversation: its SDK's events.
    Openhands,
    /// A pi session: JSON Lines.
    Pi,
    /// A tau-bench run, or a list of runs: JSON with OpenAI messages.
    TauBench,
    /// A SWE-agent trajectory: JSON whose `history` is nearly OpenAI messages.
    SweAgent,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 6] =
        [Kind::ClaudeCode, Kind::Codex, Kind::GeminiCli, Kind::Pi, Kind::TauBench, Kind::SweAgent];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ClaudeCode => "claude-code",
            Kind::Codex => "codex",
            Kind::GeminiCli => "gemini-cli",
            Kind::Opencode => "opencode",
            Kind::Openhands => "openhands",
            Kind::Pi => "pi",
            Kind::TauBench => "tau-bench",
            Kind::SweAgent => "swe-agent",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How much of a recording to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to look behind earlier compactions.
    pub reach: Reach,
    /// Which run, where a file holds several.
    pub run: Run,
}

/// How far back to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// What the model saw last: from the newest compaction on, its summary included.
    #[default]
    SinceLastCompaction,
    /// Everything that was said, across compactions.
    Whole,
}

/// Which run to read, where a file may hold several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Run {
    /// The only one; it is an error if there are more.
    #[default]
    Only,
    /// The one at this position, from 1.
    Nth(usize),
}

/// What an agent wrote down, as the model saw it.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Which agent's file it is.
    pub kind: Kind,
    /// The main line.
    pub request: Request,
    /// What the provider reported of its requests, in entry order.
    pub usage: Vec<Reported>,
    /// Sub-agents whose rows stand in the same file.
    pub sidechains: Vec<Sidechain>,
    /// What was left out that one might look for, in file order.
    pub skipped: Vec<Skipped>,
    /// What the reader met and has no place for, in file order.
    pub notes: Vec<Note>,
    /// How many compactions the main line went through, whatever the [`Reach`].
    pub compactions: usize,
    /// The lines, from 1, on which they stand; nothing in formats that are one value.
    pub compacted: Vec<usize>,
}

/// A sub-agent's conversation.
#[derive(Clone, Debug)]
pub struct Sidechain {
    /// The agent's id, or the id of its first row.
    pub id: String,
    /// What that agent saw. Its task comes from the main agent, in the human's place.
    pub request: Request,
    /// What the provider reported of that agent's requests, in entry order.
    pub usage: Vec<Reported>,
}

/// Something that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The line, from 1; in formats that aren't lines, the position in the list of messages.
    pub row: usize,
    /// The reason.
    pub why: Why,
}

/// Why something was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The row isn't JSON.
    NotJson {
        /// What is wrong with it.
        what: &'static str,
    },
    /// The file ends within the row: the agent was stopped while writing.
    CutOff,
    /// The row is JSON, but not an object with a `type` (or a `role`).
    NotARow,
    /// The row should hold a message and holds none.
    NoMessage,
    /// The message has no content that can be read.
    NoContent,
    /// A piece of the content isn't an object with a `type`.
    NotABlock {
        /// Its position in the content, from 1.
        position: usize,
    },
    /// The agent's own note about a failed request; the model never saw it.
    ApiError,
    /// A command to the agent, which the model never saw.
    Command,
    /// A reply that was broken off, or a result of its calls; the agent doesn't send it again.
    BrokenOff,
    /// It lies on a branch that was left.
    OtherBranch,
    /// It repeats another row.
    Repeats {
        /// The row that was read instead.
        row: usize,
    },
    /// Its call was already answered.
    AnsweredAgain,
}

impl Why {
    /// Why a row that isn't JSON can't be read.
    pub(crate) fn broken(row: rows::RawRow<'_>, error: JsonError) -> Self {
        if row.is_last && error.at >= row.text.trim_end().len() {
            Why::CutOff
        } else {
            Why::NotJson { what: error.what }
        }
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::NotJson { what } => write!(f, "not JSON: {what}"),
            Why::CutOff => f.write_str("the file ends within this row"),
            Why::NotARow => f.write_str("not a row of this format"),
            Why::NoMessage => f.write_str("no message in it"),
            Why::NoContent => f.write_str("a message without content"),
            Why::NotABlock { position } => write!(f, "content element {position} is not a block"),
            Why::ApiError => {
                f.write_str("a note about a failed request, which the model never saw")
            }
            Why::Command => f.write_str("a command to the agent, which the model never saw"),
            Why::BrokenOff => f.write_str("part of a reply that was broken off, not sent again"),
            Why::OtherBranch => f.write_str("on a branch that was left"),
            Why::Repeats { row } => write!(f, "repeats row {row}"),
            Why::AnsweredAgain => f.write_str("a second result for the same call"),
        }
    }
}

/// Reads a recording of a known kind.
pub fn read(
    kind: Kind,
    source: impl Into<Arc<String>>,
    options: Options,
) -> Result<Recording, ReadError> {
    let source = source.into();
    // Spans are 32 bits wide.
    if u32::try_from(source.len()).is_err() {
        return Err(ReadError::TooLarge { kind, bytes: source.len() });
    }
    match kind {
        Kind::ClaudeCode => claude_code::read(&source, options),
        Kind::Codex => codex::read(&source, options),
        Kind::GeminiCli => gemini_cli::read(&source, options),
        Kind::Opencode => opencode::read(&source, options),
        Kind::Openhands => openhands::read(&source, options),
        Kind::Pi => pi::read(&source, options),
        Kind::TauBench => tau_bench::read(&source, options),
        Kind::SweAgent => swe_agent::read(&source),
    }
}
