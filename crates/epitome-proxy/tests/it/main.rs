//! The proxy over real sockets, before a scripted model server or an upstream that notes what reaches it.

mod agents;
mod bounds;
mod breaks;
mod dashboard;
mod guards;
mod listens;
mod noting;
mod passes;
mod recalls;
mod stage;
mod waits;
mod works;
