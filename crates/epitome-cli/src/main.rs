//! The `epitome` binary.
fn main() {}
