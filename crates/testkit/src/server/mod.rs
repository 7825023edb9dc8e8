//! A scripted model server: what providers accept, what they answer, what they charge for.
//!
//! Its rules are written from PROVIDERS.md alone, over `serde_json` values, and share nothing with `epitome::wire`. So
//! the library's rules have an opinion to be held against: [`accepts`] judges what the library checks, repairs, compacts
//! and converts.
//!
//! - [`accepts`]: whether a provider would take a transcript
//! - [`rules`]: whether a provider takes a request, in its own words if it doesn't, and what it reads in it
//! - [`dress`]: transcripts as the requests that would carry them
//! - [`chain`]: reasoning bound to what stood before it
//! - [`cache`]: what is read from and written to the prompt cache, and what that costs
//! - [`script`]: what the model answers next
//! - [`exchange`]: one request in, one answer out, without IO and without a clock
//! - `shell` (feature `serve`): the same on a socket, recording every body byte for byte
//!
//! ```
//! use serde_json::json;
//! use testkit::server::{Api, validate};
//!
//! let call = json!({"role": "assistant", "tool_calls": [
//!     {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
//! let body = json!({"model": "gpt-6.1-sol", "messages": [{"role": "user", "content": "Go."}, call]});
//! let refusal = validate(Api::Chat, &body).expect_err("nobody answered the call");
//! assert_eq!(refusal.status, 400);
//! assert!(refusal.message.ends_with("did not have response messages: call_1"));
//! ```

mod accepts;
mod api;
pub mod cache;
pub mod chain;
pub mod count;
pub mod digest;
pub mod dress;
mod error;
pub mod exchange;
pub mod models;
pub mod prompt;
pub mod reply;
pub mod rules;
pub mod script;
pub mod script_file;
#[cfg(feature = "serve")]
pub mod shell;
mod threads;

pub use accepts::accepts;
pub use api::{Api, Endpoint, Route};
pub use chain::Strangers;
pub use dress::dressed;
pub use error::ApiError;
pub use exchange::{Answer, Incoming, Noted, Payload, Server};
pub use models::{Binding, Model, Models};
pub use prompt::Understood;
pub use rules::{Call, Judge, validate};
pub use script::{Fault, Loop, Next, Queue, Reply, Say, Script, Seen};
