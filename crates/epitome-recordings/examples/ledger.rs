//! Prints what the ledger finds in a recording or a request, best lines first.
//!
//! ```sh
//! cargo run -p epitome-recordings --example ledger -- FILE [BYTES]
//! ```

use std::process::ExitCode;

use epitome::ledger::{Ledger, Shown};
use epitome_recordings::{Options, open};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), bytes) = (arguments.next(), arguments.next()) else {
        eprintln!("usage: ledger FILE [BYTES]");
        return ExitCode::from(2);
    };
    let bytes = bytes.map_or(Ok(usize::MAX), |bytes| bytes.parse());
    let read = std::fs::read(&file).map_err(|error| error.to_string());
    let input = read
        .and_then(|read| open(read, None, Options::default()).map_err(|error| error.to_string()));
    match (input, bytes) {
        (Ok(input), Ok(bytes)) => {
            let transcript = &input.request().transcript;
            let mut ledger = Ledger::default();
            let started = std::time::Instant::now();
            for entry in transcript.entries() {
                ledger.observe_entry(transcript, entry, |_| Shown::Elsewhere);
            }
            let took = started.elapsed();
            print!("{}", ledger.render(bytes));
            eprintln!(
                "{} lines, {} bytes in {took:?}",
                ledger.lines().len(),
                input.request().source().len()
            );
            ExitCode::SUCCESS
        }
        (Err(error), _) => {
            eprintln!("{file}: {error}");
            ExitCode::FAILURE
        }
        (_, Err(error)) => {
            eprintln!("BYTES: {error}");
            ExitCode::from(2)
        }
    }
}
