//! Arguments of `sidecar`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct SidecarArgs {
    /// Where to listen; port 0 takes a free one. An address that other machines reach needs a token, and TLS or --plain.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:50051")]
    pub(crate) listen: SocketAddr,

    /// The maximum size of a message, in megabytes.
    #[arg(long, value_name = "MB", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=2047))]
    pub(crate) message: u16,

    /// PEM file with the TLS certificate chain, the server's own certificate first.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// PEM file with the certificate's private key.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Let other machines connect without TLS. Transcripts and the token can be read on the way.
    #[arg(long, conflicts_with = "tls_cert")]
    pub(crate) plain: bool,
}
