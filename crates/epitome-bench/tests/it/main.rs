//! The benchmarks are right: what keeps everything loses nothing, what knows the future isn't beaten, and the same input
//! gives the same figures.

mod chat;
mod foresight;
mod rounds;
