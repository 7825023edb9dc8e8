//! Any input, by its content or by the name of its format.

use epitome::request::Request;
use epitome::transcript::Role;
use epitome::wire::{self, Format};
use memchr::memchr_iter;

use crate::detect::{Look, look};
use crate::foreign::{Foreign, around_messages, foreign};
use crate::{Kind, OpenError, Options, Recording, Tried, read};

/// Formats that the project knows of. Those without a reader get an error that says so.
const NAMED: [&str; 13] = [
    "openai-chat",
    "openai-responses",
    "anthropic",
    "gemini",
    "bedrock",
    "claude-code",
    "codex",
    "gemini-cli",
    "opencode",
    "openhands",
    "pi",
    "tau-bench",
    "swe-agent",
];

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

/// Reads an input: in the format called `from`, or else in the one that its content shows.
pub fn open(bytes: Vec<u8>, from: Option<&str>, options: Options) -> Result<Input, OpenError> {
    let from = from.map(Reader::named).transpose()?;
    let (text, damage) = decode(bytes)?;
    let reader = match from {
        Some(reader) => reader,
        None => Reader::shown_by(&text)?,
    };
    match reader {
        // Damage costs a row of lines, but all of a single value.
        Reader::Recording(
            Kind::ClaudeCode | Kind::Codex | Kind::GeminiCli | Kind::Openhands | Kind::Pi,
        ) => {}
        _ => damage.map_or(Ok(()), Err)?,
    }
    match reader {
        Reader::Recording(kind) => Ok(Input::Recording(read(kind, text, options)?)),
        Reader::Request(format) => Ok(Input::Request(wire::parse(format, text)?)),
        Reader::AnyRequest => {
            let request = wire::detect(text)?;
            // A list of anything is well-formed; without a single role it isn't messages.
            let is_other = request.format == Format::OpenaiChat
                && request.transcript.entries().all(|entry| entry.role() == Role::Other);
            if is_other && !request.transcript.is_empty() {
                return Err(OpenError::Unknown { tried: tried(request.source()) });
            }
            Ok(Input::Request(request))
        }
    }
}

/// What is to read an input.
#[derive(Clone, Copy)]
enum Reader {
    Recording(Kind),
    Request(Format),
    /// Messages; which format's, they show themselves.
    AnyRequest,
}

impl Reader {
    fn named(name: &str) -> Result<Self, OpenError> {
        if let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.name() == name) {
            return Ok(Reader::Recording(kind));
        }
        if let Ok(format) = name.parse() {
            return Ok(Reader::Request(format));
        }
        match NAMED.into_iter().find(|known| *known == name) {
            Some(name) => Err(OpenError::NotYet { name, readable: readable() }),
            None => Err(OpenError::NoSuchFormat { name: name.to_owned(), readable: readable() }),
        }
    }

    fn shown_by(text: &str) -> Result<Self, OpenError> {
        let look = look(text);
        let foreign = match look {
            Look::Recording(Kind::Opencode) => around_messages(text),
            Look::Recording(_) => None,
            _ => foreign(text),
        };
        if let Some(Foreign { what, instead }) = foreign {
            return Err(OpenError::Foreign { what, instead });
        }
        match look {
            Look::Recording(kind) => Ok(Reader::Recording(kind)),
            Look::Named(name) => Reader::named(name),
            Look::Request => Ok(Reader::AnyRequest),
            Look::Unknown => match text.find('\0') {
                Some(at) => Err(OpenError::Nul { at }),
                None => Err(OpenError::Unknown { tried: tried(text) }),
            },
        }
    }
}

fn readable() -> Vec<&'static str> {
    let is_readable = |name: &&str| {
        Kind::ALL.iter().any(|kind| kind.name() == *name) || name.parse::<Format>().is_ok()
    };
    NAMED.into_iter().filter(is_readable).collect()
}

/// What speaks against each format.
fn tried(text: &str) -> Vec<Tried> {
    let kinds = Kind::ALL.into_iter().map(|kind| {
        let why = match kind {
            Kind::ClaudeCode => "no row with a `type` of `user` or `assistant` and a `message`",
            Kind::Codex => "no row with a `payload` of `type` `session_meta` or `response_item`",
            Kind::GeminiCli => "no object with `messages` and `projectHash`, and no rows of such",
            Kind::Opencode => "no list of `messages` with `info` and `parts`",
            Kind::Openhands => "no events with a `kind` and a `source`",
            Kind::Pi => "no row of `type` `session` or `message` as pi writes them",
            Kind::TauBench => "no object with `messages` (or `traj`) and `reward` or `task_id`",
            Kind::SweAgent => "no object with `history` and `trajectory`, `environment` or `info`",
        };
        Tried { name: kind.name(), why: why.to_owned() }
    });
    let formats = Format::ALL.into_iter().map(|format| {
        let why = match wire::parse(format, text.to_owned()) {
            Err(error) => error.to_string(),
            Ok(_) => "no message with a role that it knows".to_owned(),
        };
        Tried { name: format.name(), why }
    });
    formats.chain(kinds).collect()
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
