//! Epitome.

pub mod count;
pub mod json;
pub mod request;
pub mod text;
pub mod transcript;
pub mod view;
pub mod wire;
