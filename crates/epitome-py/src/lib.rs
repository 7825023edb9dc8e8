//! The native half of the Python package `epitome`: the engine over Python's own objects.
//!
//! `write` makes JSON of the caller's lists and dicts; `request` reads it, and makes lists and dicts of what comes out, in
//! which every message that wasn't changed is the caller's own object. The engine works without the interpreter's lock.
//! What is said here in JSON (receipts, findings) `epitome`'s Python half makes dataclasses of.

mod archive;
mod callbacks;
mod compaction;
mod compactor;
mod error;
mod report;
mod request;
mod session;
mod settings;
mod write;

#[pyo3::pymodule]
mod _native {
    /// The version of the package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_export]
    use crate::archive::Archive;
    #[pymodule_export]
    use crate::compaction::Compaction;
    #[pymodule_export]
    use crate::compactor::Compactor;
    #[pymodule_export]
    use crate::report::{check, mend, survey, translate};
    #[pymodule_export]
    use crate::request::Given;
    #[pymodule_export]
    use crate::session::{Begun, Session};
}
