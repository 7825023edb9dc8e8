//! How a request asks for reasoning.

use crate::request::Request;

/// Whether the turn in progress must start with thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// It must: thinking was enabled by hand (PROVIDERS.md B.1.3).
    Manual,
    /// Adaptive, off, or nothing was said.
    Other,
}

impl Thinking {
    /// The mode that the request asks for.
    pub fn of(request: &Request) -> Self {
        let mode = request.thinking().and_then(|raw| request.format.dialect().thinking_type(raw));
        let is_enabled = mode.is_some_and(|mode| mode == "enabled");
        if is_enabled { Thinking::Manual } else { Thinking::Other }
    }
}
