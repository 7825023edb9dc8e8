//! On stdin and stdout, and what can go wrong.

use std::io;

use rmcp::ServiceExt as _;

use crate::{Recalls, lines};

/// Why serving ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The system gave no threads.
    #[error("no threads to serve with: {0}")]
    Runtime(io::Error),
    /// The client didn't say what the protocol begins with.
    #[error("the client doesn't speak MCP: {0}")]
    Protocol(String),
    /// Nothing more can be taken in over the network.
    #[error("serving stopped: {0}")]
    Network(io::Error),
}

pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, ServeError> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().map_err(ServeError::Runtime)
}

/// Serves on stdin and stdout until the client closes them. A line that can't be read is answered as JSON-RPC says.
pub fn stdio(recalls: Recalls) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let (transport, written) = lines::screened(tokio::io::stdin(), tokio::io::stdout());
        let serving = recalls.serve(transport).await;
        let served = match serving {
            Ok(serving) => serving.waiting().await.map(drop).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        // What was answered last is on its way still.
        let _stopped = written.await;
        served.map_err(ServeError::Protocol)
    });
    // A read of stdin that still waits must not hold the process.
    runtime.shutdown_background();
    served
}
