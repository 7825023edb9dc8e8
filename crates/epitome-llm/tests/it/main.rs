//! Models over HTTP: what the scripted server and a server that makes no sense are told and answer.

mod bench;
mod ends;
mod faults;
mod formats;
mod keys;
mod odd;
mod purses;
mod shapes;
