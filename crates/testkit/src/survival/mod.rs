//! What survives compactions, [measured](epitome_bench::survival); and what tests need besides.
//!
//! - [`scripted`]: summarizers that help with it, or only seem to
//! - [`bad_input`]: cases in which somebody says something that must not count, or must not be lost

pub mod bad_input;
pub mod scripted;

pub use epitome_bench::survival::*;
