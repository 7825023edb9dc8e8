//! Rounds: do people's rules and values outlast five compactions?
//!
//! Rules and values are planted in a session as a person's words. The session is compacted, goes on, and is compacted
//! again, five times. Nothing is remembered between two compactions but the compacted request itself.
//!
//! - [`words`], [`plant`]: what is said, and where
//! - [`stream`]: the session, long enough and divided
//! - [`judge`]: whether a request still says it
//! - `run`, [`page`]: the figures

mod ground;
pub mod judge;
pub mod page;
pub mod plant;
mod run;
pub mod stream;
pub mod words;

pub use run::{Compact, Figures, Kept, LONG, Library, Row, Study, VERSION, run};
