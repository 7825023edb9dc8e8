//! Faults of an archive, with what to try.

use std::path::Path;

use epitome::archive::ArchiveError;
use epitome_store::StoreError;

use super::{is_on_server, shown};
use crate::failure::Failure;
use crate::quoting::operand;

/// What to try after a fault of a store.
pub(crate) fn failure(error: &StoreError, folder: &Path) -> anyhow::Error {
    let shown = operand(shown(folder));
    let what = error.to_string();
    let failure = match error {
        StoreError::Server { is_passing: true, .. } => {
            Failure::again(what).hint("is the server there? Try again a little later")
        }
        _ if error.is_busy() => Failure::again(what).hint("another process is writing; try again"),
        StoreError::Address { .. } => {
            Failure::usage(what).hint("--archive 'postgres://user@localhost/database'; PGPASSWORD")
        }
        StoreError::Untrusted { .. } => Failure::other(what).hint(
            "sslrootcert=FILE in the URL names trusted CA certificates; sslmode=verify-ca then doesn't check the host name",
        ),
        StoreError::Server { .. } => {
            Failure::other(what).hint(format!("psql {shown}; the password can be in PGPASSWORD"))
        }
        StoreError::Missing { .. } => {
            Failure::other(what).hint(format!("epitome compact FILE --archive {shown} makes one"))
        }
        StoreError::NotAStore { .. } | StoreError::Link { .. } => {
            Failure::usage(what).hint("name a folder that isn't there yet, or an archive")
        }
        StoreError::Exposed { .. } => {
            Failure::other(what).hint(format!("close it to others: chmod -R go= {shown}"))
        }
        StoreError::Foreign { .. } => Failure::other(what).hint(format!(
            "name an archive of your own, or take it over: sudo chown -R \"$(id -un)\" {shown}"
        )),
        StoreError::OtherVersion { found, known, .. } => Failure::other(what).hint(if found > known {
            "use a newer epitome".to_owned()
        } else {
            "no release made such a store: name another one, or move it away".to_owned()
        }),
        StoreError::Unfinished { .. } => {
            Failure::other(what).hint(format!("copy {shown} to where it can be written"))
        }
        StoreError::NoSuchSession { .. } | StoreError::Ambiguous { .. } => {
            Failure::usage(what).hint(format!("epitome sessions --archive {shown}"))
        }
        StoreError::Damaged { .. } => Failure::input(what).hint(format!(
            "take {shown} from a backup; without one, move it away: `epitome compact FILE --archive {shown}` makes another"
        )),
        StoreError::DamagedIndex { .. } => Failure::other(what).hint(format!(
            "nothing is lost: the index is made again where {shown} can be written; ls -ld {shown}"
        )),
        _ => Failure::other(what).hint(format!("ls -ld {shown}; df {shown}")),
    };
    failure.into()
}

/// The same of an archive.
pub(super) fn refused(error: &ArchiveError, folder: &Path) -> anyhow::Error {
    let what = error.to_string();
    match error {
        ArchiveError::Conflict { .. } => {
            Failure::again(what).hint("nothing was written; try the same again").into()
        }
        ArchiveError::Damaged { .. } => Failure::input(what)
            .hint(format!("take {} from a backup", operand(shown(folder))))
            .into(),
        _ if is_on_server(folder) => {
            Failure::again(what).hint(format!("psql {}", operand(shown(folder)))).into()
        }
        _ => Failure::other(what).hint(format!("df {}", operand(folder))).into(),
    }
}
