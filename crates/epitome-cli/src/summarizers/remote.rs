//! Whole compactors over gRPC: where they are asked, and with which token.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use epitome::engine::delegate::Compact;
use epitome_rpc::{Address, BadAddress, Limits, Remote, Token};

use super::model::hidden;
use crate::failure::Failure;
use crate::quoting::name;

/// A file of authorities that are trusted.
const CA: &str = "EPITOME_RPC_CA";

/// The token of whoever asks, and of whoever serves.
pub(crate) const TOKEN: &str = "EPITOME_RPC_TOKEN";

/// The same as [`remote`], for whoever only asks for compactions.
pub(super) fn compactor(address: &Address, longest: Option<Duration>) -> Result<Arc<dyn Compact>> {
    Ok(Arc::new(remote(address, longest)?))
}

/// The compactor at `address`. Without `longest`, its own time limit applies.
///
/// # Errors
/// A token that can't be read, or that would be readable on the way.
pub(crate) fn remote(address: &Address, longest: Option<Duration>) -> Result<Remote> {
    let limits = Limits { longest, ..Limits::default() };
    let own = authorities()?;
    let remote = Remote::new(address.clone(), token()?, limits);
    let remote = remote.and_then(|remote| match &own {
        Some(own) => remote.trusting(own),
        None => Ok(remote),
    });
    remote.map_err(|error| {
        if error == BadAddress::NoAuthority {
            let path = std::env::var_os(CA).map(PathBuf::from).unwrap_or_default();
            return Failure::usage(format!("{CA}, {}: {error}", name(&path))).into();
        }
        Failure::usage(format!("grpc:{address}: {error}"))
            .hint(
                "name it by https://…, or reach it through a tunnel, by an address of this machine",
            )
            .into()
    })
}

/// What is trusted instead of the system's authorities, where the environment names a file of them.
fn authorities() -> Result<Option<Vec<u8>>> {
    let path = std::env::var_os(CA).filter(|path| !path.is_empty()).map(PathBuf::from);
    let Some(path) = path else { return Ok(None) };
    let read = std::fs::read(&path);
    Ok(Some(read.map_err(|error| Failure::usage(format!("{CA}, {}: {error}", name(&path))))?))
}

/// The token that the environment says, or a file that it names.
///
/// # Errors
/// The file can't be read, or what is there is no token.
pub(crate) fn token() -> Result<Option<Token>> {
    let Some((text, from)) = hidden(TOKEN)? else { return Ok(None) };
    let token = Token::new(text);
    let what =
        || Failure::usage(format!("{from} holds no token: it must be one line without blanks"));
    Ok(Some(token.ok_or_else(what)?))
}
