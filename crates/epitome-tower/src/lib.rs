//! Keeps the conversations of a client inside the model's context window: a [`tower`] layer around
//! whatever sends requests to a provider.
//!
//! Below the trigger a request passes untouched, byte for byte. When the trigger fires, it is compacted,
//! and later requests of the same conversation are shown the same way, so that the provider's prompt
//! cache stays warm: nothing is compacted twice. When the provider refuses a prompt as too long, it is
//! made strictly smaller and sent once more. A compaction that fails never fails the call, be it
//! by a panic of a strategy, trigger or counter of yours: the request is sent as it came.
//!
//! ```
//! use epitome_tower::{CompactionLayer, WithCompaction};
//! # use http::{Request, Response};
//! # #[derive(Clone)]
//! # struct Client;
//! # impl tower_service::Service<Request<String>> for Client {
//! #     type Response = Response<String>;
//! #     type Error = std::convert::Infallible;
//! #     type Future = std::future::Ready<Result<Response<String>, std::convert::Infallible>>;
//! #     fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Self::Error>> {
//! #         std::task::Poll::Ready(Ok(()))
//! #     }
//! #     fn call(&mut self, _: Request<String>) -> Self::Future {
//! #         std::future::ready(Ok(Response::new(String::new())))
//! #     }
//! # }
//! # let client = Client;
//!
//! let client = client.with_compaction(CompactionLayer::for_model("claude-opus-5-5")?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A request whose history is partly at the provider (`previous_response_id`,
//! `previous_interaction_id`, `conversation`, `cachedContent`) passes untouched.
//!
//! A conversation never waits for another one: requests are read outside of any lock, and conversations are held in parts, each
//! with a lock of its own. What takes long is done on the threads that tokio keeps for that; on another executor it is done
//! there.
//!
//! A host may ask for a compaction ([`CompactionLayer::demand`]), look at the view in force and page through what it hides
//! ([`CompactionLayer::current`]), and say ids and labels of a request ([`Carrier::about`]).
//!
//! Known conversations are in memory. [`CompactionLayer::kept_in`] keeps the state of compacted ones, so that a restarted
//! process, or another one beside it, shows them the same way.
//!
//! Requests are anything that implements [`Carrier`]; that are `http::Request`s of text or bytes,
//! [`Prompt`]s, and with the feature `reqwest` those of that client, which is a service itself.
//!
//! [`tower`]: https://docs.rs/tower

mod aside;
mod carrier;
mod caught;
mod event;
mod flight;
mod keeping;
mod kept;
mod layer;
mod learnt;
mod reply;
mod route;
mod service;
mod shared;

pub use carrier::{Carrier, Prompt, Surroundings};
pub use event::{Event, KeepingEvent, PassReason};
pub use kept::{Conversations, KeptConversation};
pub use layer::{CompactionLayer, LayerError, WithCompaction, random_key};
pub use reply::{Read, Reply, Tell, heard, said_error};
pub use route::{Route, plain_path, route, route_of_plain};
pub use service::Compacting;
