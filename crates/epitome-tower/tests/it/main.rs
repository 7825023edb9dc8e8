//! Clients in the layer against the scripted model server, in memory and over a socket.

mod agent;
mod apart;
mod background;
#[cfg(feature = "reqwest")]
mod socket;
mod waiting;
mod wrapped;
