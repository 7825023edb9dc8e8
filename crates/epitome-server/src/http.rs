//! Over HTTP, for clients that start no programs.

use std::net::TcpListener;
use std::sync::Arc;

use axum::Router;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};

use crate::serve::runtime;
use crate::{Recalls, ServeError};

/// Where it is served.
pub const PATH: &str = "/mcp";

/// The longest request; its arguments are a few words.
const LONGEST: usize = 1 << 20;

/// Serves over streamable HTTP at [`PATH`] until the process is ended.
///
/// Nobody is asked who they are, so the listener is best one of this machine alone. Web pages are kept out: a
/// request must name this machine as its `Host`, so that no page's own name can lead here, and come from no page
/// (`Origin`). A request holds all that is to be known for it; the server keeps nothing of clients.
pub fn http(recalls: Recalls, listener: TcpListener) -> Result<(), ServeError> {
    let config = StreamableHttpServerConfig::default()
        .enforce_origin_validation()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(LONGEST);
    let config = match listener.local_addr().map_err(ServeError::Network)?.ip() {
        // Other addresses of this machine than the usual ones.
        ip if ip.is_loopback() => {
            let mut hosts = config.allowed_hosts.clone();
            hosts.push(ip.to_string());
            config.with_allowed_hosts(hosts)
        }
        ip => config.with_allowed_hosts([ip.to_string()]),
    };
    let sessions = Arc::new(NeverSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(recalls.clone()), sessions, config);
    let router = Router::new().route_service(PATH, service);
    runtime()?.block_on(async {
        listener.set_nonblocking(true).map_err(ServeError::Network)?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(ServeError::Network)?;
        axum::serve(listener, router).await.map_err(ServeError::Network)
    })
}
