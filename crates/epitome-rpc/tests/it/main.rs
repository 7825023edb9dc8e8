//! The contract, and a client and a service that speak over a real connection.

mod contract;
mod faults;
mod tls;
