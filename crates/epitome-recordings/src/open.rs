//! Any input, by its content or by the name of its format.

use std::sync::Arc;

use epitome::text::secrets::beginning;
use epitome::wire::json::Scanner;
use epitome::wire::{self, Format, Request};
use memchr::memchr_iter;

use crate::detect::{Look, look, look_at};
use crate::error::{OpenError, ReadError, Tried};
use crate::foreign::{Foreign, foreign};
use crate::lines::whole_rows;
use crate::object::{Object, start_of_list};
use crate::reader::{Layout, Reader};
use crate::readers::{READERS, read, reader};
use crate::recording::{Options, Recording};
use crate::shape::{first_hidden, first_unread, lacking, odd};

/// A request, or a recording of one.
#[derive(Clone, Debug)]
pub enum Input {
    /// A body (or list, or lines) of a wire format.
    Request(Request),
    /// An agent's own file.
    Recording(Recording),
}

impl Input {
    /// What the model saw.
    pub fn request(&self) -> &Request {
        match self {
            Input::Request(request) => request,
            Input::Recording(recording) => &recording.request,
        }
    }
}

/// The names of everything that [`open`] reads: formats of requests first, then recordings.
pub fn names() -> impl Iterator<Item = &'static str> {
    let formats = Format::ALL.into_iter().map(Format::name);
    formats.chain(READERS.into_iter().map(Reader::name))
}

/// Reads an input: in the format called `from`, or else in the one that its content shows.
///
/// # Errors
/// See [`OpenError`].
pub fn open(bytes: Vec<u8>, from: Option<&str>, options: Options) -> Result<Input, OpenError> {
    let from = from.map(named).transpose()?;
    let (text, damage) = decode(bytes)?;
    let text = without_preface(without_padding(text));
    let look = match from {
        Some(look) => look,
        None => shown_by(&text)?,
    };
    let costs_all = match look {
        Look::Recording(reader) => reader.layout() == Layout::Value,
        Look::Request(_) | Look::Unknown => true,
    };
    if costs_all && let Some(damage) = damage.or_else(|| nul(&text)) {
        return match look {
            Look::Request(format) => by_rows(&text, format, damage),
            _ => Err(damage),
        };
    }
    match look {
        Look::Recording(reader) => {
            let text = Arc::new(text);
            match read(reader, Arc::clone(&text), options) {
                Ok(recording) => Ok(Input::Recording(recording)),
                // Its rows may stand in a list.
                Err(error @ ReadError::NoMessages { .. }) if text.starts_with('[') => {
                    Err(wrapped(&text).unwrap_or(error.into()))
                }
                Err(error) => Err(error.into()),
            }
        }
        // The caller named the format.
        Look::Request(format) => {
            let text = Arc::new(text);
            let read = match format {
                Some(format) => wire::parse(format, Arc::clone(&text)),
                None => wire::detect(Arc::clone(&text)),
            };
            match read {
                Ok(request) if from.is_some() => Ok(Input::Request(request)),
                Ok(request) => known(request),
                Err(error) => by_rows(&text, format, error.into()),
            }
        }
        Look::Unknown => {
            Err(no_json(&text).or_else(|| wrapped(&text)).unwrap_or_else(|| unknown(&text)))
        }
    }
}

/// The longest name of a member that is said.
const MOST_NAME: usize = 64;

/// What stands inside of the first object, or element of a list.
fn wrapped(text: &str) -> Option<OpenError> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let is_list = text.starts_with('[');
    let object =
        if is_list { start_of_list(text, 1).into_iter().next()? } else { Object::start(text) };
    if let (Look::Recording(reader), true) = (look_at(&object), is_list) {
        let what = format!("a list of {}'s rows", reader.name());
        return Some(OpenError::Wrapped {
            what,
            instead: "jq -c '.[]' FILE | epitome stats".to_owned(),
        });
    }
    let is_request = |value: &str| matches!(look_at(&Object::start(value)), Look::Request(_));
    let mut members = object.members().filter(|(_, value)| value.starts_with('{'));
    let (name, _) = members.find(|(_, value)| is_request(value))?;
    // The name stands in a command.
    let is_plain =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if name.len() > MOST_NAME || !is_plain(name) || name.contains("FILE") {
        return None;
    }
    let what = format!("a request in the member {name:?} of something else");
    // Of rows on lines the first.
    let element = if is_list { "[0]" } else { "" };
    let instead = format!("jq -c '.{element}[{name:?}]' FILE | head -1 | epitome stats");
    Some(OpenError::Wrapped { what, instead })
}

fn unknown(text: &str) -> OpenError {
    OpenError::Unknown { begins: begins(text), tried: tried(text) }
}

/// So many characters are said of a text.
const BEGINNING: usize = 40;

/// Where no line begins as an object or a list does, there is no use in saying what speaks against each format.
fn no_json(text: &str) -> Option<OpenError> {
    let mut lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_start);
    if lines.any(|line| line.starts_with(['{', '['])) {
        return None;
    }
    Some(OpenError::NoJson { begins: begins(text) })
}

/// How a text begins, without its secrets.
fn begins(text: &str) -> String {
    beginning(text.trim_start(), BEGINNING)
}

/// The request, if its entries have shapes that its format knows: any list is well-formed. In a body that names its model,
/// what is odd is for `check` to say, as long as something isn't: but calls that nobody would see are lost to it.
fn known(request: Request) -> Result<Input, OpenError> {
    let entries = request.transcript.len();
    let at: Vec<usize> = odd(&request).collect();
    let Some(first) = at.first() else { return Ok(Input::Request(request)) };
    if at.len() == entries {
        return Err(unknown(request.source()));
    }
    if request.model().is_some() && first_hidden(&request).is_none() {
        return Ok(Input::Request(request));
    }
    Err(strange(&request, *first, at.len()))
}

/// Whether a request may be compacted: a repair would remove messages of unknown shape, and human words with them. If a body
/// names its model, unknown parts pass as long as they are parsed.
///
/// # Errors
/// [`OpenError::Shape`].
pub fn is_of_its_format(request: &Request) -> Result<(), OpenError> {
    let first = odd(request).next().filter(|_| request.model().is_none());
    first.map_or_else(
        || is_read(request),
        |first| Err(strange(request, first, odd(request).count())),
    )
}

/// Whether all of a request is parsed: a repair would remove the rest.
///
/// # Errors
/// [`OpenError::Shape`].
pub fn is_read(request: &Request) -> Result<(), OpenError> {
    let first = first_hidden(request).or_else(|| first_unread(request));
    first.map_or(Ok(()), |first| Err(strange(request, first, odd(request).count())))
}

fn strange(request: &Request, first: usize, odd: usize) -> OpenError {
    let entries = request.transcript.len();
    let lacks = lacking(request.format, request.transcript.entry(first));
    OpenError::Shape { format: request.format, first: first + 1, lacks, odd, entries }
}

/// Where messages stand one on each line, those that are whole.
fn by_rows(text: &str, format: Option<Format>, broken: OpenError) -> Result<Input, OpenError> {
    let Some(recording) = whole_rows(text, format) else { return Err(broken) };
    if odd(&recording.request).next().is_some() {
        return Err(broken);
    }
    Ok(Input::Recording(recording))
}

fn nul(text: &str) -> Option<OpenError> {
    text.find('\0').map(|at| OpenError::Nul { at })
}

/// The one value behind NUL bytes, as a crash leaves them at the head of a file: nothing of it is lost.
fn without_padding(text: String) -> String {
    let value = text.trim_start_matches(|c: char| c == '\0' || c.is_whitespace());
    let mut scanner = Scanner::new(value);
    let is_padded = text.starts_with('\0') && value.starts_with(['{', '[']);
    if is_padded && scanner.value().and_then(|_| scanner.end()).is_ok() {
        return value.to_owned();
    }
    text
}

/// The text from its first object on, where a program said something on the line before it.
fn without_preface(text: String) -> String {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with(['{', '[', '"', '\0']) || start.is_empty() {
        return text;
    }
    let line = start.split('\n').next().unwrap_or(start);
    let opens = line.find('{').filter(|at| matches!(look(&start[*at..]), Look::Recording(_)));
    match opens {
        Some(at) => start[at..].to_owned(),
        None => text,
    }
}

fn named(name: &str) -> Result<Look, OpenError> {
    if let Some(reader) = reader(name) {
        return Ok(Look::Recording(reader));
    }
    let no_such =
        |_| OpenError::NoSuchFormat { name: name.to_owned(), readable: names().collect() };
    name.parse().map(|format| Look::Request(Some(format))).map_err(no_such)
}

fn shown_by(text: &str) -> Result<Look, OpenError> {
    match foreign(text) {
        Some(Foreign { what, instead, .. }) => Err(OpenError::Foreign { what, instead }),
        None => Ok(look(text)),
    }
}

/// What speaks against each format.
fn tried(text: &str) -> Vec<Tried> {
    let formats = Format::ALL.into_iter().map(|format| {
        let why = match wire::parse(format, text.to_owned()) {
            Err(error) => error.to_string(),
            Ok(_) => "no message with a role that it knows".to_owned(),
        };
        Tried { name: format.name(), why }
    });
    let recordings = READERS
        .into_iter()
        .map(|reader| Tried { name: reader.name(), why: reader.lacks().to_owned() });
    formats.chain(recordings).collect()
}

/// The text of an input. Where it is damaged but may still be of use, what is wrong comes along.
fn decode(bytes: Vec<u8>) -> Result<(String, Option<OpenError>), OpenError> {
    if let Some((looks_like, packed)) = magic(&bytes) {
        return Err(OpenError::Binary { looks_like, packed });
    }
    if let Some(encoding) = other_encoding(&bytes) {
        return Err(OpenError::Encoding { encoding });
    }
    let (text, damage) = match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let wrong = error.utf8_error();
            let at = wrong.valid_up_to();
            let bytes = error.into_bytes();
            let line = memchr_iter(b'\n', &bytes[..at]).count() + 1;
            (spoilt_marked(&bytes), Some(OpenError::NotUtf8 { at, line }))
        }
    };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(OpenError::Empty);
    }
    Ok((text, damage))
}

/// The text with a NUL for each run of bytes that are none: no JSON has one, so it costs the row that it is in. A file that was
/// cut off within a character is good up to there.
fn spoilt_marked(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut chunks = bytes.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        text.push_str(chunk.valid());
        let is_cut_off = chunks.peek().is_none()
            && str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        if !chunk.invalid().is_empty() && !is_cut_off {
            text.push('\0');
        }
    }
    text
}

/// So much of a row is text by chance in no noise, in bytes.
const LEAST_ROW: usize = 64;

/// Why a text that begins like that isn't valid, however it goes on. A recording damaged by a crash is valid: some of
/// its lines are whole.
pub fn no_text(start: &[u8]) -> Option<OpenError> {
    // It may end within a character.
    let end = str::from_utf8(start).err().filter(|wrong| wrong.error_len().is_none());
    let start = end.map_or(start, |wrong| &start[..wrong.valid_up_to()]);
    let damage = match decode(start.to_vec()) {
        Ok((_, damage)) => damage,
        Err(error @ (OpenError::Binary { .. } | OpenError::Encoding { .. })) => return Some(error),
        Err(_) => None,
    };
    let nul = start.iter().position(|byte| *byte == 0).map(|at| OpenError::Nul { at });
    let damage = damage.or(nul)?;
    let is_row = |line: &[u8]| {
        let wrong = str::from_utf8(line).err().and_then(|wrong| wrong.error_len());
        let line = line.trim_ascii();
        // Of noise, too, some pieces begin like a row.
        let is_like_one =
            line.starts_with(b"{") && (line.ends_with(b"}") || line.len() >= LEAST_ROW);
        is_like_one && !line.contains(&0) && wrong.is_none()
    };
    (!start.split(|byte| *byte == b'\n').any(is_row)).then_some(damage)
}

/// Files that aren't text, by their first bytes, and whether text may be packed inside.
fn magic(bytes: &[u8]) -> Option<(&'static str, bool)> {
    let known: [(&[u8], &str, bool); 12] = [
        (b"\x1f\x8b", "gzip", true),
        (b"PK\x03\x04", "a zip archive", true),
        (b"\x28\xb5\x2f\xfd", "zstd", true),
        (b"BZh", "bzip2", true),
        (b"\xfd7zXZ\x00", "xz", true),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive", true),
        (b"SQLite format 3\0", "an SQLite database", false),
        (b"%PDF-", "a PDF", false),
        (b"\x89PNG\r\n", "a PNG image", false),
        (b"\xff\xd8\xff", "a JPEG image", false),
        (b"GIF8", "a GIF image", false),
        (b"\x7fELF", "a program", false),
    ];
    let found = known.into_iter().find(|(start, ..)| bytes.starts_with(start));
    let is_tar = bytes.get(257..262) == Some(b"ustar");
    found.map(|(_, name, packed)| (name, packed)).or(is_tar.then_some(("a tar archive", true)))
}

/// Unicode in other than UTF-8, by its mark or by the zeros beside the first character.
fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Some("UTF-32"),
        [b'{' | b'[', 0, 0, 0, ..] | [0, 0, 0, b'{' | b'[', ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [b'{' | b'[', 0, _, 0, ..] => Some("UTF-16 (little-endian)"),
        [0xfe, 0xff, ..] | [0, b'{' | b'[', 0, ..] => Some("UTF-16 (big-endian)"),
        _ => None,
    }
}
