//! Whether the provider of a request would take it.

use epitome::wire::{Envelope, Request};

use crate::server;

/// Whether the scripted provider takes `request` ([`server::accepts`]).
///
/// # Errors
/// The provider's refusal.
pub fn accepted(request: &Request) -> Result<(), String> {
    let text = request.source().trim_start_matches('\u{feff}');
    let body = match request.frame.envelope {
        Envelope::Body | Envelope::Array => text.to_owned(),
        Envelope::Lines => {
            let lines: Vec<_> = request.transcript.entries().map(|entry| entry.raw()).collect();
            format!("[{}]", lines.join(","))
        }
    };
    let body = serde_json::from_str(&body).map_err(|error| error.to_string())?;
    server::accepts(request.format.name(), &body)
}
