//! Readers of agents' own files: what the model was shown, as a request of a wire format.
//!
//! Every agent records its work in its own way. It writes rows instead of messages, spreads one API message over
//! several rows, and keeps abandoned branches, sub-agents and earlier compactions in the same file. A reader undoes
//! that. Text, ids, arguments and signatures keep their bytes. Other content is left out, and [`Recording::skipped`]
//! says what and why.
//!
//! A [`Reader`] is a folder (or a file) of this crate and a row of [`READERS`]. The formats change
//! weekly, so they live outside the core. The crate reads text, no files.
//!
//! ```
//! use epitome_recordings::{Options, Recording, detect, read};
//!
//! let rows = r#"
//!     {"type":"user","message":{"content":"Fix it."}}
//!     {"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"How?"}]}}
//!     {"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"Ah."}]}}"#;
//! let reader = detect(rows).expect("a recording");
//! assert_eq!(reader.name(), "claude-code");
//! let session: Recording = read(reader, rows.to_owned(), Options::default())?;
//! assert_eq!(session.request.transcript.len(), 2);
//! # Ok::<(), epitome_recordings::ReadError>(())
//! ```

mod append;
mod apply;
mod body;
mod claude_code;
mod codex;
mod cut;
mod detect;
mod error;
mod foreign;
mod gemini_cli;
mod kimi_cli;
mod lines;
mod neutral;
mod notes;
mod object;
mod open;
mod opencode;
mod openhands;
mod pi;
mod reader;
mod readers;
mod recording;
pub mod replay;
mod roo_code;
mod rows;
mod shape;
mod skipped;
mod swe_agent;
mod tau_bench;
mod usage;

pub use append::Archived;
pub use apply::{Applied, applied, apply};
pub use detect::detect;
pub use error::{ApplyError, OpenError, ReadError, Tried};
pub use notes::{About, Note};
pub use open::{Input, is_of_its_format, is_read, names, no_text, open};
pub use reader::{Reader, Writer};
pub use readers::{READERS, read, reader};
pub use recording::{Options, Reach, Recording, Run, Sidechain, Skipped, Why};
pub use usage::{Reported, Usage};
