//! Reading what is to be worked on.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::Path;

use anyhow::Result;
use epitome::Request;
use epitome::wire::WireError;
use epitome_recordings::{self as recordings, OpenError, ReadError, Recording, Run, Skipped, Why};
use serde::Serialize;

use crate::args::{InputArgs, ReadingArgs};
use crate::failure::Failure;
use crate::output::{self, Report};
use crate::terminal::shell;

/// A transcript and where it is from.
#[derive(Debug)]
pub(crate) struct Opened {
    /// What the model saw.
    pub(crate) request: Request,
    /// Where it is from.
    pub(crate) source: Source,
}

/// Where a transcript is from.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Source {
    /// The file, or `-`.
    pub(crate) file: String,
    /// The kind of recording, if it is one.
    pub(crate) recording: Option<String>,
    /// How many compactions the recorded session went through.
    pub(crate) compactions: usize,
    /// Sub-agents in the same file.
    pub(crate) sidechains: Vec<String>,
    /// The sub-agent that was read.
    pub(crate) sidechain: Option<String>,
    /// Rows that were left out.
    pub(crate) skipped: usize,
}

/// Opens what the arguments name.
///
/// # Errors
/// A failure that says what is wrong with it and what to do next.
pub(crate) fn open(args: &InputArgs, report: Report) -> Result<Opened> {
    read(args.file.as_deref(), &args.reading, report)
}

/// Opens a file, or stdin.
pub(crate) fn read(file: Option<&Path>, how: &ReadingArgs, report: Report) -> Result<Opened> {
    let name = file.map_or_else(|| "-".to_owned(), |file| file.to_string_lossy().into_owned());
    let bytes = match file.filter(|file| file.as_os_str() != "-") {
        Some(file) => from_file(file, &name)?,
        None => from_stdin(file)?,
    };
    let options = recordings::Options {
        reach: if how.whole {
            recordings::Reach::Whole
        } else {
            recordings::Reach::SinceLastCompaction
        },
        run: how.run.map_or(Run::Only, Run::Nth),
    };
    let input = recordings::open(bytes, how.from.as_deref(), options)
        .map_err(|error| failure(&error, &name))?;
    match input {
        recordings::Input::Request(request) => {
            if let Some(id) = &how.sidechain {
                let what = format!("{name} is a request, so it has no sub-agent {id:?}");
                return Err(Failure::usage(what).hint("leave --sidechain out").into());
            }
            Ok(Opened { request, source: Source::plain(name) })
        }
        recordings::Input::Recording(recording) => {
            if report == Report::Words {
                tell_damage(&recording.skipped);
            }
            recorded(recording, name, how)
        }
    }
}

impl Source {
    fn plain(file: String) -> Self {
        Source {
            file,
            recording: None,
            compactions: 0,
            sidechains: Vec::new(),
            sidechain: None,
            skipped: 0,
        }
    }
}

fn recorded(recording: Recording, name: String, how: &ReadingArgs) -> Result<Opened> {
    let ids: Vec<String> = recording.sidechains.iter().map(|side| side.id.clone()).collect();
    let source = Source {
        recording: Some(recording.kind.name().to_owned()),
        compactions: recording.compactions,
        skipped: recording.skipped.len(),
        sidechain: how.sidechain.clone(),
        sidechains: ids.clone(),
        ..Source::plain(name)
    };
    let Some(id) = &how.sidechain else {
        return Ok(Opened { request: recording.request, source });
    };
    if let Some(side) = recording.sidechains.into_iter().find(|side| side.id == *id) {
        return Ok(Opened { request: side.request, source });
    }
    let hint = match ids.first() {
        Some(first) => format!("there are {}: try --sidechain {first}", ids.join(", ")),
        None => "there is none in this file; leave --sidechain out".to_owned(),
    };
    Err(Failure::usage(format!("{} has no sub-agent {id:?}", source.file)).hint(hint).into())
}

/// Rows that should have been messages and couldn't be read are worth a word; others aren't.
fn tell_damage(skipped: &[Skipped]) {
    let expected =
        |why: &Why| matches!(why, Why::ApiError | Why::OtherBranch | Why::Repeats { .. });
    let mut damaged = skipped.iter().filter(|row| !expected(&row.why));
    let Some(first) = damaged.next() else { return };
    let others = match damaged.count() {
        0 => String::new(),
        1 => ", and one more".to_owned(),
        more => format!(", and {more} more"),
    };
    output::warn(&format!("left out row {}: {}{others}", first.row, first.why));
}

fn from_file(file: &Path, name: &str) -> Result<Vec<u8>> {
    let failed = |error: &io::Error| -> anyhow::Error {
        let failure = Failure::other(format!("{name} can't be read: {error}"));
        match error.kind() {
            ErrorKind::NotFound => failure.hint(format!("ls {}", shell(&near(file)))).into(),
            _ => failure.hint(format!("ls -ld {}", shell(name))).into(),
        }
    };
    if file.is_dir() {
        let listing = format!("ls {}", shell(name));
        return Err(Failure::usage(format!("{name} is a folder, not a file")).hint(listing).into());
    }
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|mut open| open.read_to_end(&mut bytes));
    read.map_err(|error| failed(&error))?;
    Ok(bytes)
}

/// The nearest folder above `file` that is there.
fn near(file: &Path) -> String {
    let mut folders = file.ancestors().skip(1).filter(|folder| folder.is_dir());
    folders.next().map_or_else(|| ".".to_owned(), |folder| folder.to_string_lossy().into_owned())
}

fn from_stdin(file: Option<&Path>) -> Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    if file.is_none() && stdin.is_terminal() {
        return Err(Failure::usage("nothing to read: no FILE was given and stdin is a terminal")
            .hint("epitome stats FILE, or … | epitome stats")
            .into());
    }
    let mut bytes = Vec::new();
    stdin
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::other(format!("stdin can't be read: {error}")))?;
    Ok(bytes)
}

/// What is wrong with the input, and the next command to try.
fn failure(error: &OpenError, name: &str) -> Failure {
    let shown = if name == "-" { "stdin" } else { name };
    // What was read from stdin is gone; the command is for the file that it came from.
    let file = if name == "-" { "FILE".to_owned() } else { shell(name) };
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
        OpenError::NotYet { .. } => {
            "write its messages as OpenAI Chat or Anthropic JSON and read those".to_owned()
        }
        OpenError::Unknown { .. } => {
            format!("if you know the format, name it: epitome stats --from claude-code {file}")
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
