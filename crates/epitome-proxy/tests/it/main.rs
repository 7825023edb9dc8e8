//! The proxy over real sockets, before a scripted model server or an upstream that notes what reaches it.

mod asks;
mod bounds;
mod breaks;
mod callers;
mod chaos;
mod clears;
mod clouds;
mod cuts;
mod dashboard;
mod errors;
mod guards;
mod listens;
mod models;
mod native;
mod noting;
mod offers;
mod packed;
mod passes;
mod recalls;
mod refused;
mod restarts;
mod settings;
mod stage;
mod summaries;
mod waits;
mod works;
