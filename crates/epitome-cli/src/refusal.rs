//! What is wrong with an input that can't be read.

use std::path::Path;

use epitome::text::cut;
use epitome::wire::WireError;
use epitome_recordings::{self as recordings, OpenError, ReadError};

use crate::failure::Failure;
use crate::quoting::{operand, shown};

/// What is wrong with the input, and the next command to try.
pub(crate) fn failure(error: &OpenError, file: Option<&Path>) -> Failure {
    let shown = shown(file);
    // What was read from stdin is gone; the command is for the file that it came from.
    let file = file.map_or_else(|| "FILE".to_owned(), operand);
    let hint = match error {
        OpenError::Empty => {
            "give it a request body, messages, or a recording: epitome stats --help".to_owned()
        }
        OpenError::Binary { looks_like: "gzip", .. } => {
            format!("gzip -dc {file} | epitome stats")
        }
        OpenError::Binary { looks_like: "zstd", .. } => {
            format!("zstd -dc {file} | epitome stats")
        }
        OpenError::Binary { packed: true, .. } => {
            format!("unpack it, then: epitome stats FILE (file {file} says what it is)")
        }
        OpenError::Encoding { encoding } => {
            let from = encoding.split(' ').next().unwrap_or("UTF-16");
            format!("iconv -f {from} -t UTF-8 {file} | epitome stats")
        }
        OpenError::NotUtf8 { at, .. } | OpenError::Nul { at } => {
            format!(
                "see what is there: tail -c +{} {file} | head -c 64 | od -c",
                (at + 1).max(17) - 16
            )
        }
        OpenError::Foreign { instead, .. } => instead.replace("FILE", &file),
        OpenError::Wrapped { instead, .. } => instead.replace("FILE", &file),
        OpenError::Shape { format, .. } => {
            format!(
                "if it is a body of that format all the same, name it: epitome check --from {format} {file}"
            )
        }
        OpenError::NoJson { begins } | OpenError::Unknown { begins, .. }
            if begins.contains(|c: char| cut::is_unseen(c) && !c.is_whitespace()) =>
        {
            format!("see what is there: head -c 64 {file} | od -c")
        }
        OpenError::NoJson { .. } | OpenError::Binary { .. } => {
            "give it a request body, messages, or an agent's recording: epitome --help".to_owned()
        }
        OpenError::Unknown { tried, .. } => {
            // Best what can be read at least.
            let said = |tried: &&recordings::Tried| tried.why.starts_with("no message with a role");
            let from = tried.iter().find(said).map_or("FORMAT", |tried| tried.name);
            format!("if you know the format, name it: epitome stats --from {from} {file}")
        }
        OpenError::Wire(WireError::Json { line, column, .. })
        | OpenError::Read(ReadError::Json { line, column, .. }) => {
            let from = column.saturating_sub(60).max(1);
            format!("see what is there: sed -n {line}p {file} | cut -b {from}-{}", column + 20)
        }
        OpenError::Read(ReadError::SeveralRuns { .. }) => {
            format!("epitome stats --run 1 {file}")
        }
        OpenError::Read(ReadError::NoSuchRun { runs, .. }) => {
            format!("epitome stats --run {runs} {file}")
        }
        _ => format!("see how it begins: head -c 300 {file}"),
    };
    Failure::input(format!("{shown}: {error}")).hint(hint)
}
