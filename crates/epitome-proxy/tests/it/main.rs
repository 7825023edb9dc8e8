//! The proxy over real sockets, before a scripted model server or an upstream that notes what reaches it.

mod agents;
mod bounds;
mod guards;
mod native;
mod noting;
mod passes;
mod restarts;
mod settings;
mod stage;
mod summaries;
mod works;
