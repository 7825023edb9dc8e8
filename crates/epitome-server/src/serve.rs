//! The transports.

use std::io;

use rmcp::ServiceExt as _;

use crate::Recalls;

/// Why serving ended early.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The system gave no threads.
    #[error("no threads to serve with: {0}")]
    Runtime(io::Error),
    /// The client didn't say what the protocol begins with.
    #[error("the client speaks no MCP: {0}")]
    Protocol(String),
}

/// Serves on stdin and stdout until the client closes them.
pub fn stdio(recalls: Recalls) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)?;
    let served = runtime.block_on(async {
        let serving = recalls.serve(rmcp::transport::stdio()).await;
        let serving = serving.map_err(|error| ServeError::Protocol(error.to_string()))?;
        serving.waiting().await.map_err(|error| ServeError::Protocol(error.to_string()))?;
        Ok(())
    });
    // A read of stdin that still waits must not hold the process.
    runtime.shutdown_background();
    served
}
