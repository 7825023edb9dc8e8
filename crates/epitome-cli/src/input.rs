//! Reading what is to be worked on.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Read};
use std::path::Path;

use anyhow::{Result, bail};
use epitome::Request;
use epitome::checkpoint::disown;
use epitome::count::impossible_images;
use epitome::text::figure::counted;
use epitome::trigger::ReportedPrompt;
use epitome::wire::Keeper;
use epitome_recordings::{
    self as recordings, About, Note, OpenError, Recording, Reported, Run, Sidechain, Skipped, Why,
};
use serde::Serialize;

use crate::args::{InputArgs, ReadingArgs};
use crate::failure::Failure;
use crate::identity::Identity;
use crate::lookup;
use crate::output::{self, Report};
use crate::quoting::{name, operand, shell, shown};
use crate::refusal::failure;
use crate::terminal::line;

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
    /// What else is known of the recording that isn't in the request, in words.
    pub(crate) notes: Vec<String>,
    /// The newest prompt that the provider reported the size of.
    pub(crate) reported: Option<Prompt>,
}

/// A prompt's size as the provider reported it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Prompt {
    /// The messages that it held, from the first on.
    pub(crate) entries: usize,
    /// Its tokens: system text, tools and these messages.
    pub(crate) tokens: u64,
}

impl Prompt {
    /// As a trigger takes it.
    pub(crate) fn reported(self) -> ReportedPrompt {
        ReportedPrompt { entries: self.entries, tokens: self.tokens }
    }

    fn newest(usage: &[Reported]) -> Option<Self> {
        let newest = usage.iter().rev().find(|reported| reported.usage.prompt() > 0)?;
        Some(Self { entries: newest.reply.start, tokens: newest.usage.prompt() })
    }
}

/// Opens what the arguments name.
///
/// # Errors
/// A failure with what is wrong and what to do next.
pub(crate) fn open(args: &InputArgs, report: Report) -> Result<Opened> {
    read(args.file.as_deref(), &args.reading, report)
}

/// A checkpoint is no person's message, nor is one that was changed since it was written.
pub(crate) fn unclaimed(mut request: Request) -> Request {
    disown(&mut request.transcript);
    request
}

/// Opens a file, or stdin.
pub(crate) fn read(file: Option<&Path>, how: &ReadingArgs, report: Report) -> Result<Opened> {
    understood(bytes(file)?, file, how, report)
}

/// Whether all that was opened is read.
///
/// # Errors
/// A message of a request says something where its format doesn't look.
pub(crate) fn is_read(opened: &Opened) -> Result<()> {
    if opened.source.recording.is_some() {
        return Ok(());
    }
    let file = Some(Path::new(&opened.source.file)).filter(|file| file.as_os_str() != "-");
    recordings::is_read(&opened.request).map_err(|error| failure(&error, file).into())
}

/// All that is in a file, or on stdin.
pub(crate) fn bytes(file: Option<&Path>) -> Result<Vec<u8>> {
    match file.filter(|file| file.as_os_str() != "-") {
        Some(file) => from_file(file),
        None => from_stdin(file),
    }
}

/// What stands in the bytes of a file, or of stdin.
pub(crate) fn understood(
    bytes: Vec<u8>,
    file: Option<&Path>,
    how: &ReadingArgs,
    report: Report,
) -> Result<Opened> {
    let named = file.filter(|file| file.as_os_str() != "-");
    let name = named.map_or_else(|| "-".to_owned(), |file| file.to_string_lossy().into_owned());
    match all(bytes, file, how)? {
        recordings::Input::Request(request) => {
            let what_it_lacks = [
                ("--sidechain", how.sidechain.as_ref().map(|id| format!("no sub-agent {id:?}"))),
                ("--run", how.run.map(|_| "one run only".to_owned())),
            ];
            for (flag, lacks) in what_it_lacks {
                let Some(lacks) = lacks else { continue };
                let what = format!("{} is a request: it has {lacks}", shown(named));
                bail!(Failure::usage(what).hint(format!("leave {flag} out")));
            }
            if let Some(elsewhere) = request.elsewhere().filter(|_| report == Report::Words) {
                let kept = match elsewhere.keeper {
                    Keeper::PreviousResponse => "the response before",
                    Keeper::PreviousInteraction => "the interaction before",
                    Keeper::Conversation => "the conversation",
                    Keeper::Cache => "the cached beginning",
                    Keeper::Items => "the items that are referred to, the first of them",
                    Keeper::Thread => "the thread",
                    _ => "the history",
                };
                let name = line(&elsewhere.name, 60);
                output::note(&format!(
                    "{kept} ({name}) is with the provider: neither counted nor read here"
                ));
            }
            if report == Report::Words {
                tell_junk(&request);
            }
            Ok(Opened { request: unclaimed(request), source: Source::plain(name) })
        }
        recordings::Input::Recording(recording) => {
            if how.run.is_some() && recording.reader != "tau-bench" {
                let what =
                    format!("{} is of {}: it has one run only", shown(named), recording.reader);
                bail!(Failure::usage(what).hint("leave --run out"));
            }
            if report == Report::Words {
                if let Some(told) = damage(&recording.skipped) {
                    output::warn(&told);
                }
                for told in elsewhere(&recording.skipped) {
                    output::note(&told);
                }
                if how.sidechain.is_none() {
                    tell_sides(&recording.sidechains);
                }
                tell_unknown(&recording.notes);
                tell_unworded(&recording.notes);
            }
            recorded(recording, named, name, how)
        }
    }
}

/// All that stands in the bytes of a file, or of stdin, as far back as is asked for.
pub(crate) fn all(
    bytes: Vec<u8>,
    file: Option<&Path>,
    how: &ReadingArgs,
) -> Result<recordings::Input> {
    let named = file.filter(|file| file.as_os_str() != "-");
    let options = recordings::Options {
        reach: if how.whole {
            recordings::Reach::Whole
        } else {
            recordings::Reach::SinceLastCompaction
        },
        run: how.run.map_or(Run::Only, Run::Nth),
    };
    recordings::open(bytes, how.from.as_deref(), options)
        .map_err(|error| failure(&error, named).into())
}

impl Source {
    /// The file for a command to try. What came from stdin is gone; the command is for where it was.
    pub(crate) fn operand(&self) -> String {
        if self.file == "-" { "FILE".to_owned() } else { operand(&self.file) }
    }

    /// A command to try on it.
    pub(crate) fn command(&self, command: &str) -> String {
        format!("epitome {command} {}", self.operand())
    }

    fn plain(file: String) -> Self {
        Source {
            file,
            recording: None,
            compactions: 0,
            sidechains: Vec::new(),
            sidechain: None,
            skipped: 0,
            notes: Vec::new(),
            reported: None,
        }
    }
}

fn recorded(
    recording: Recording,
    file: Option<&Path>,
    name: String,
    how: &ReadingArgs,
) -> Result<Opened> {
    let ids: Vec<String> = recording.sidechains.iter().map(|side| side.id.clone()).collect();
    let notes = recording.notes.iter().map(ToString::to_string);
    let left_out = damage(&recording.skipped).into_iter().chain(elsewhere(&recording.skipped));
    let source = Source {
        recording: Some(recording.reader.to_owned()),
        compactions: recording.compactions,
        skipped: recording.skipped.len(),
        notes: notes.chain(left_out).collect(),
        sidechain: how.sidechain.clone(),
        reported: Prompt::newest(&recording.usage),
        sidechains: ids.clone(),
        ..Source::plain(name)
    };
    let Some(id) = &how.sidechain else {
        return Ok(Opened { request: recording.request, source });
    };
    if let Some(side) = recording.sidechains.into_iter().find(|side| side.id == *id) {
        let source = Source { reported: Prompt::newest(&side.usage), ..source };
        return Ok(Opened { request: side.request, source });
    }
    let hint = match ids.first() {
        Some(first) => {
            let named = ids.iter().take(NAMED).map(|id| shell(line(id, ID_WIDTH)));
            let (all, named) =
                (counted(ids.len(), "sub-agent"), named.collect::<Vec<_>>().join(", "));
            let more = if ids.len() > NAMED { " …" } else { "" };
            format!("it has {all}: {named}{more}; try --sidechain {}", shell(first))
        }
        None => "there is none in this file; leave --sidechain out".to_owned(),
    };
    Err(Failure::usage(format!("{} has no sub-agent {id:?}", shown(file))).hint(hint).into())
}

/// Sub-agents that a hint names, and the columns for each.
const NAMED: usize = 8;
const ID_WIDTH: usize = 40;

/// Rows that should have been messages and couldn't be read are worth a word; others aren't.
fn damage(skipped: &[Skipped]) -> Option<String> {
    let expected = |why: &Why| {
        matches!(
            why,
            Why::ApiError
                | Why::BrokenOff
                | Why::Command
                | Why::Condensed
                | Why::OtherBranch
                | Why::Repeats { .. }
        )
    };
    let mut damaged = skipped.iter().filter(|row| !expected(&row.why));
    let first = damaged.next()?;
    let others = match damaged.count() {
        0 => String::new(),
        1 => ", and one more".to_owned(),
        more => format!(", and {more} more"),
    };
    Some(format!("left out row {}: {}{others}", first.row, first.why))
}

/// An image's own header isn't always true.
fn tell_junk(request: &Request) {
    let mut junk = impossible_images(request);
    let Some((at, size)) = junk.next() else { return };
    let more = match junk.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let (width, height) = (size.width, size.height);
    output::warn(&format!(
        "messages[{at}] has an image of {width}×{height} pixels by its header, which is impossible: counted as a large one{more}"
    ));
}

/// Rows with human words, none of which are read.
fn elsewhere(skipped: &[Skipped]) -> Vec<String> {
    let told = |why: Why| {
        let mut rows = skipped.iter().filter(|row| row.why == why);
        let first = rows.next()?;
        let count = counted(1 + rows.count(), "row");
        Some(format!("left out {count}: {why} (first row {})", first.row))
    };
    [Why::OtherBranch, Why::BrokenOff, Why::Condensed].into_iter().filter_map(told).collect()
}

/// Sub-agents that stand in the same file.
fn tell_sides(sides: &[Sidechain]) {
    let Some(first) = sides.first() else { return };
    let messages = sides.iter().map(|side| side.request.transcript.len()).sum();
    let (sides, messages) = (counted(sides.len(), "sub-agent"), counted(messages, "message"));
    let id = shell(line(&first.id, ID_WIDTH));
    output::note(&format!("left out {sides} with {messages}: --sidechain {id} reads the first"));
}

/// Rows of a type that is too new for the reader may be messages.
fn tell_unknown(notes: &[Note]) {
    let is_told = |note: &&Note| matches!(note.about, About::UnknownRow { .. } | About::Cleared);
    for note in notes.iter().filter(is_told) {
        output::warn(&format!("not read: {note}"));
    }
}

/// What the agent adds in words of its own, which it doesn't record.
fn tell_unworded(notes: &[Note]) {
    let kind = |note: &Note| match &note.about {
        About::Unworded { kind } => Some((kind.clone(), note.times, note.first)),
        _ => None,
    };
    let unworded: Vec<(String, usize, usize)> = notes.iter().filter_map(kind).collect();
    let Some((.., first)) = unworded.first() else { return };
    let all = counted(unworded.iter().map(|(_, times, _)| times).sum(), "row");
    let kinds: Vec<String> = unworded.iter().map(|(kind, ..)| line(kind, 40)).collect();
    let kinds = kinds.join(", ");
    output::note(&format!(
        "left out {all} that the agent sends otherwise than it records: {kinds} (first row {first})"
    ));
}

fn from_file(file: &Path) -> Result<Vec<u8>> {
    let shown = name(file);
    let failed = |error: &io::Error| -> anyhow::Error {
        let failure = Failure::other(format!("{shown} can't be read: {error}"));
        match error.kind() {
            // It may have been meant as a session's id.
            ErrorKind::NotFound if lookup::is_archived(file) => {
                let id = operand(file);
                failure
                    .hint(format!(
                        "the archive has a session of that id: epitome restore {id} | epitome stats"
                    ))
                    .into()
            }
            ErrorKind::NotFound if file.components().count() == 1 && file.extension().is_none() => {
                failure
                    .hint("epitome sessions lists the sessions that can be named, ls the files")
                    .into()
            }
            ErrorKind::NotFound => failure.hint(format!("ls {}", operand(near(file)))).into(),
            _ => failure.hint(format!("ls -ld {}", operand(file))).into(),
        }
    };
    if file.is_dir() {
        let listing = format!("ls {}", operand(file));
        bail!(Failure::usage(format!("{shown} is a folder, not a file")).hint(listing));
    }
    refuse_loop(Identity::of_file(file), &shown)?;
    let read = File::open(file).and_then(drained).map_err(|error| failed(&error))?;
    read.map_err(|error| failure(&error, Some(file)).into())
}

/// What is looked at before the rest is read.
const START: u64 = 64 << 10;

/// More is read in no format.
const MOST: u64 = (4 << 30) + 1;

/// All that there is to read, but for what no text begins like: devices have no end.
fn drained(mut from: impl Read) -> io::Result<Result<Vec<u8>, OpenError>> {
    let mut bytes = Vec::new();
    let start = from.by_ref().take(START).read_to_end(&mut bytes)?;
    if start as u64 == START {
        if let Some(error) = recordings::no_text(&bytes) {
            return Ok(Err(error));
        }
        from.take(MOST - START).read_to_end(&mut bytes)?;
    }
    Ok(Ok(bytes))
}

/// The most that is read of what somebody wrote by hand.
const BY_HAND: u64 = 4 << 20;

/// The text of a file that somebody wrote by hand.
///
/// # Errors
/// As from [`std::fs::read_to_string`]; and it is so large that nobody did.
pub(crate) fn by_hand(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(file)?.take(BY_HAND + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BY_HAND {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it is larger than 4 MiB"));
    }
    Ok(text)
}

/// Refuses a file that the shell has opened for stdout too, and with `>` emptied: what is written is
/// not what was read.
fn refuse_loop(input: Option<Identity>, shown: &str) -> Result<()> {
    if input.is_none() || input != Identity::of_stdout() {
        return Ok(());
    }
    Err(Failure::usage(format!("{shown} is both the input and stdout"))
        .hint("send stdout elsewhere; `compact -o` may replace its input, `>` can't")
        .into())
}

/// The nearest folder above `file` that is there.
fn near(file: &Path) -> &Path {
    let mut folders = file.ancestors().skip(1).filter(|folder| folder.is_dir());
    folders.next().unwrap_or(Path::new("."))
}

fn from_stdin(file: Option<&Path>) -> Result<Vec<u8>> {
    let mut stdin = io::stdin().lock();
    if file.is_none() && stdin.is_terminal() {
        bail!(
            Failure::usage("nothing to read: no FILE was given and stdin is a terminal")
                .hint("epitome stats FILE, or … | epitome stats")
        );
    }
    refuse_loop(Identity::of_stdin(), "stdin")?;
    let read = drained(&mut stdin).map_err(|error| {
        Failure::other(format!("stdin can't be read: {error}"))
            .hint("name a file: epitome stats FILE")
    })?;
    read.map_err(|error| failure(&error, None).into())
}
