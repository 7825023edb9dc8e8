//! What `sidecar` takes.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct SidecarArgs {
    /// Where to listen; port 0 takes a free one. An address that others reach needs a token, and TLS or --plain.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:50051")]
    pub(crate) listen: SocketAddr,

    /// The most megabytes of one message.
    #[arg(long, value_name = "MB", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=2047))]
    pub(crate) message: u16,

    /// Speak TLS, with the certificates in this file (PEM).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// The key of the first of them (PEM).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Let others reach it without TLS: transcripts and the token can be read on the way.
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) plain: bool,
}
