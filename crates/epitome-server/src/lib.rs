//! Serves what compactions removed, so that an agent can have it back by itself.
//!
//! [`Recalls`] is a server of the Model Context Protocol with three tools: `recall_search` finds by words,
//! `recall_get` gives all that was said under an id, `context_stats` tells what there is. Together their
//! definitions take fewer than 600 tokens, because every request of the agent carries them.
//!
//! It knows no stores: it is given a [`Memory`], and never writes to it.

mod http;
mod lines;
mod memory;
mod serve;
mod tools;

pub use http::{ConnectionLimits, PATH, answer, http};
pub use memory::{Memory, SearchReach};
pub use serve::{ServeError, stdio};
pub use tools::{Recalls, definitions};
