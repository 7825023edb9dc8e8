//! Epitome.
