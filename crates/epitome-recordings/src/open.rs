//! Any input, by its content or by the name of its format.

use epitome::transcript::Role;
use epitome::wire::Request;
use epitome::wire::{self, Format};
use memchr::memchr_iter;

use crate::detect::{Look, look};
use crate::error::{OpenError, Tried};
use crate::foreign::{Foreign, foreign};
use crate::reader::{Layout, Reader};
use crate::readers::{READERS, read, reader};
use crate::recording::{Options, Recording};

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
    let look = match from {
        Some(look) => look,
        None => shown_by(&text)?,
    };
    let costs_all = match look {
        Look::Recording(reader) => reader.layout() == Layout::Value,
        Look::Request(_) => true,
        Look::Unknown => false,
    };
    if let Some(damage) = damage.filter(|_| costs_all) {
        return Err(damage);
    }
    match look {
        Look::Recording(reader) => Ok(Input::Recording(read(reader, text, options)?)),
        Look::Request(Some(format)) => Ok(Input::Request(wire::parse(format, text)?)),
        Look::Request(None) => {
            let request = wire::detect(text)?;
            // A list of anything is well-formed; without a single role it isn't messages.
            let is_other = request.format == Format::OpenaiChat
                && request.transcript.entries().all(|entry| entry.role() == Role::Other);
            if is_other && !request.transcript.is_empty() {
                return Err(OpenError::Unknown { tried: tried(request.source()) });
            }
            Ok(Input::Request(request))
        }
        Look::Unknown => Err(match text.find('\0') {
            Some(at) => OpenError::Nul { at },
            None => OpenError::Unknown { tried: tried(&text) },
        }),
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
    let look = look(text);
    let is_recording = matches!(look, Look::Recording(_));
    match foreign(text).filter(|_| !is_recording) {
        Some(Foreign { what, instead }) => Err(OpenError::Foreign { what, instead }),
        None => Ok(look),
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
            let mut bytes = error.into_bytes();
            let line = memchr_iter(b'\n', &bytes[..at]).count() + 1;
            let damage = OpenError::NotUtf8 { at, line };
            // A file that was cut off within a character is good up to there.
            if wrong.error_len().is_some() {
                return Err(damage);
            }
            bytes.truncate(at);
            (String::from_utf8(bytes).expect("valid up to here"), Some(damage))
        }
    };
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(OpenError::Empty);
    }
    let nul = text.find('\0').map(|at| OpenError::Nul { at });
    Ok((text, nul.or(damage)))
}

/// Why what begins like that is no text, however it goes on. What a crash spoilt of a recording is: some of its
/// lines are whole.
pub fn no_text(start: &[u8]) -> Option<OpenError> {
    if let Err(
        error @ (OpenError::Binary { .. } | OpenError::Encoding { .. } | OpenError::NotUtf8 { .. }),
    ) = decode(start.to_vec())
    {
        return Some(error);
    }
    let is_spoilt = start.split(|byte| *byte == b'\n').all(|line| line.contains(&0));
    let at = start.iter().position(|byte| *byte == 0).filter(|_| is_spoilt)?;
    Some(OpenError::Nul { at })
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
