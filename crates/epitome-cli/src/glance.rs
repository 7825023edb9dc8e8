//! What a recording says of its session at a glance.

use std::fs;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use epitome::Request;
use epitome::count::{Basis, Count, Tally};
use epitome::model::{Model, Money, Registry, Tokenizer};
use epitome::transcript::Entry;
use epitome_recordings::{self as recordings, Input, Options, Reach, Recording, Reported};
use serde::Serialize;

use crate::billing::billed;
use crate::reader::of_format;
use crate::terminal::line;

/// What is read of a file at its beginning and at its end, where all of it would take long. Rows are rarely longer.
const HEAD: u64 = 256 << 10;
const TAIL: u64 = 2 << 20;

/// The longest file that is read whole: a second has room for twenty.
const WHOLE: u64 = 16 << 20;

/// The most columns of a title.
const TITLE: usize = 200;

/// A session at a glance. Where its file is long, only the beginning and the end are read: what would take all of it
/// is missing then.
#[derive(Debug, Serialize)]
pub(crate) struct Glance {
    /// The first words that a person said.
    pub(crate) title: Option<String>,
    /// What replied last.
    pub(crate) model: Option<String>,
    /// What the next request would hold.
    #[serde(flatten)]
    pub(crate) tokens: Count,
    /// The most tokens of a prompt that the model takes.
    pub(crate) window: Option<u64>,
    /// What its requests cost in dollars, as far as that was reported and prices are known.
    pub(crate) cost: Option<Money>,
    pub(crate) entries: Option<usize>,
    pub(crate) compactions: Option<usize>,
    pub(crate) sidechains: Option<usize>,
}

impl Glance {
    /// Looks into a file; `None` if it is no recording of that agent.
    ///
    /// # Errors
    /// It can't be read.
    pub(crate) fn of(path: &Path, agent: &str, registry: &Registry) -> io::Result<Option<Self>> {
        let mut file = fs::File::open(path)?;
        let length = file.metadata()?.len();
        if length > WHOLE {
            let mut head = Vec::new();
            file.by_ref().take(HEAD).read_to_end(&mut head)?;
            file.seek(SeekFrom::Start(length - TAIL))?;
            let mut tail = Vec::new();
            file.take(TAIL).read_to_end(&mut tail)?;
            if let Some(glance) = Glance::of_ends(&head, &tail, agent, registry) {
                return Ok(Some(glance));
            }
        }
        Ok(Glance::of_whole(fs::read(path)?, agent, registry))
    }

    fn of_whole(bytes: Vec<u8>, agent: &str, registry: &Registry) -> Option<Self> {
        let read = |bytes: Vec<u8>, reach| {
            let options = Options { reach, ..Options::default() };
            match recordings::open(bytes, None, options) {
                Ok(Input::Recording(recording)) if recording.reader == agent => Some(recording),
                _ => None,
            }
        };
        let now = read(bytes.clone(), Reach::SinceLastCompaction)?;
        // What was said and paid before the compactions is the session's, too.
        let whole = if now.compactions == 0 { None } else { read(bytes, Reach::Whole) };
        let all = whole.as_ref().unwrap_or(&now);
        let newest = now.request.model();
        let newest = newest.as_deref().and_then(|model| registry.get(model));
        Some(Glance {
            title: title(&all.request),
            cost: paid(&all.usage, registry, newest),
            entries: Some(now.request.transcript.len()),
            compactions: Some(now.compactions),
            sidechains: Some(now.sidechains.len()),
            ..Glance::at_the_end(&now, registry)?
        })
    }

    /// `None` where the ends don't do: the file is no list of rows, or its end reports no prompt.
    fn of_ends(head: &[u8], tail: &[u8], agent: &str, registry: &Registry) -> Option<Self> {
        let reader = recordings::reader(agent)?;
        let head = &head[..=head.iter().rposition(|byte| *byte == b'\n')?];
        let tail = &tail[tail.iter().position(|byte| *byte == b'\n')? + 1..];
        let begun = recordings::open(head.to_vec(), None, Options::default()).ok()?;
        let Input::Recording(begun) = begun else { return None };
        if begun.reader != agent {
            return None;
        }
        let tail = std::str::from_utf8(tail).ok()?.to_owned();
        let end = recordings::read(reader, tail, Options::default()).ok()?;
        newest(&end)?;
        Some(Glance { title: title(&begun.request), ..Glance::at_the_end(&end, registry)? })
    }

    /// What the end of a session says.
    fn at_the_end(recording: &Recording, registry: &Registry) -> Option<Self> {
        let request = &recording.request;
        let model = request.model();
        let known = model.as_deref().and_then(|model| registry.get(model));
        let counter = known.and_then(|model| registry.tokenizer(&model.id)).map(Tokenizer::counter);
        let counter = epitome::count::counter(counter.unwrap_or(of_format(request.format))).ok()?;
        let tokens = match newest(recording) {
            // What the provider counted, and what came after that.
            Some(reported) => {
                let known = reported.usage.prompt() + reported.usage.output;
                let since = request.transcript.entries().skip(reported.reply.end);
                since.fold(Count { basis: Basis::Reported, ..Count::exact(known) }, |sum, entry| {
                    sum + epitome::count::entry_count(entry, request.format, counter.as_ref())
                })
            }
            None => Tally::of(request, counter.as_ref()).total(),
        };
        Some(Glance {
            title: None,
            tokens,
            window: known.and_then(Model::most_input),
            model: known.map(|known| known.id.clone()).or(model),
            cost: None,
            entries: None,
            compactions: None,
            sidechains: None,
        })
    }
}

/// The newest prompt whose size was reported.
fn newest(recording: &Recording) -> Option<&Reported> {
    recording.usage.iter().rev().find(|reported| reported.usage.prompt() > 0)
}

/// What was paid, as far as prices are known; `newest` replied where the recording doesn't say who did.
fn paid(usage: &[Reported], registry: &Registry, newest: Option<&Model>) -> Option<Money> {
    let counted = usage.iter().filter(|reported| reported.usage.prompt() > 0);
    let costs = counted.filter_map(|reported| {
        let model = match &reported.model {
            Some(model) => registry.get(model),
            None => newest,
        };
        Some(model?.price.as_ref()?.of(&billed(reported)))
    });
    costs.reduce(|sum, cost| sum + cost)
}

/// A command as it was typed, where an agent wrote it down in elements: its name, and what was given to it.
fn as_typed(text: &str) -> Option<String> {
    let said = |name: &str| {
        let (_, behind) = text.split_once(&format!("<{name}>"))?;
        Some(behind.split_once(&format!("</{name}>"))?.0.trim())
    };
    let name = said("command-name").or_else(|| said("command-message"))?;
    let slash = if name.starts_with('/') { "" } else { "/" };
    let arguments = said("command-args").unwrap_or_default();
    Some(format!("{slash}{name} {arguments}").trim_end().to_owned())
}

/// What stands behind the elements that a client puts before a person's words (`<ide_opened_file>…</ide_opened_file>`).
fn without_elements(text: &str) -> &str {
    let mut rest = text.trim();
    loop {
        let name = rest.strip_prefix('<').and_then(|tag| Some(tag.split_once('>')?.0));
        let end = name.and_then(|name| {
            let close = format!("</{}>", name.split(' ').next()?);
            Some(rest.find(&close)? + close.len())
        });
        let Some(end) = end else { return rest };
        rest = rest[end..].trim_start();
    }
}

/// The title of a conversation: the first words of a person, in one line; a command to the agent (`/model`) only if there
/// are no other words.
pub(crate) fn title(request: &Request) -> Option<String> {
    let said = request.transcript.entries().filter(Entry::is_human);
    let titles = said.map(|entry| {
        let text = entry.human_text();
        let own = without_elements(&text);
        let typed = if own.is_empty() { as_typed(&text) } else { None };
        line(typed.as_deref().unwrap_or(if own.is_empty() { text.trim() } else { own }), TITLE)
    });
    let mut titles = titles.filter(|title| !title.is_empty());
    let is_command = |title: &String| title.starts_with('/') && !title.contains(' ');
    let first = titles.next()?;
    if is_command(&first) {
        titles.find(|title| !is_command(title)).or(Some(first))
    } else {
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::{as_typed, without_elements};

    #[test]
    fn a_command_is_shown_as_it_was_typed() {
        for (text, typed) in [
            (
                "<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>the build</command-args>",
                "/fix the build",
            ),
            ("<command-message>init</command-message><command-args></command-args>", "/init"),
        ] {
            assert_eq!(without_elements(text), "");
            assert_eq!(as_typed(text).as_deref(), Some(typed));
        }
        assert_eq!(as_typed("<a>x</a>"), None);
    }

    #[test]
    fn a_title_is_a_persons_words() {
        for (text, own) in [
            ("<ide_opened_file>a.rs</ide_opened_file> Rename foo.", "Rename foo."),
            ("<a b=\"c\">x</a>\n<d>y</d>Go.", "Go."),
            ("<p> is a tag", "<p> is a tag"),
            ("a < b", "a < b"),
            ("<a>x</a>", ""),
        ] {
            assert_eq!(without_elements(text), own);
        }
    }
}
