//! Real sessions in a row, as entries of one wire format.

use std::collections::BTreeSet;
use std::ops::Range;

use epitome::request::Envelope;
use epitome::transcript::{Entry, PartKind, Role};
use epitome::{Format, Request, wire};

use super::run::Broken;

/// How many bytes of sessions make a long one: what must stay of it whatever happens (its system text) has to fit in 5 %.
pub const LONG: usize = 1_200_000;

/// A request as text in pieces, so that entries can be put between others.
#[derive(Clone, Debug)]
pub struct Stream {
    /// What it is called.
    pub name: String,
    /// The wire format of all entries.
    pub format: Format,
    /// The entries, as they are written.
    pub entries: Vec<String>,
    before: String,
    after: String,
    separator: &'static str,
}

impl Stream {
    /// The entries of a request.
    pub fn of(name: impl Into<String>, request: &Request) -> Stream {
        let source = request.source();
        let list = request.frame.list;
        let (before, after, separator) = match request.frame.envelope {
            Envelope::Lines => (String::new(), String::new(), "\n"),
            Envelope::Body | Envelope::Array => (
                source[..=list.start as usize].to_owned(),
                source[list.end as usize - 1..].to_owned(),
                ",",
            ),
        };
        let entries = request.transcript.entries().map(|entry| entry.raw().to_owned()).collect();
        Stream { name: name.into(), format: request.format, entries, before, after, separator }
    }

    /// Sessions of one format in a row, with ids of their own: the same one may come again. One conversation
    /// has one system prompt, the first one's.
    ///
    /// # Panics
    /// If there is no session, or their formats differ.
    pub fn joined(name: impl Into<String>, sessions: &[Request]) -> Stream {
        let (first, others) = sessions.split_first().expect("there is a session");
        let mut stream = Stream::of(name, first);
        for (number, session) in others.iter().enumerate() {
            assert_eq!(session.format, stream.format, "sessions of one format");
            let said = session.transcript.entries().filter(|entry| !entry.role().instructs());
            stream.entries.extend(said.map(|entry| renamed(entry, number + 1)));
        }
        stream
    }

    /// Sessions in a row, the longest one first, since its system text is kept; those of another format than its are left
    /// out, and they come again and again until there are `bytes`, roughly.
    ///
    /// # Panics
    /// If there is no session.
    pub fn long(name: impl Into<String>, mut sessions: Vec<Request>, bytes: usize) -> Stream {
        sessions.sort_by_key(|session| std::cmp::Reverse(session.source().len()));
        let format = sessions.first().expect("there is a session").format;
        sessions.retain(|session| session.format == format);
        let once: usize = sessions.iter().map(|session| session.source().len()).sum();
        let times = bytes.div_ceil(once.max(1)).max(1);
        let sessions: Vec<_> = std::iter::repeat_n(sessions, times).flatten().collect();
        Stream::joined(name, &sessions)
    }

    /// The same with other entries.
    #[must_use]
    pub fn with(&self, entries: Vec<String>) -> Stream {
        Stream { entries, ..self.clone() }
    }

    /// As one request.
    ///
    /// # Errors
    /// What was put in isn't an entry of the format.
    pub fn request(&self) -> Result<Request, Broken> {
        let entries = self.entries.join(self.separator);
        let body = format!("{}{entries}{}", self.before, self.after);
        wire::parse(self.format, body).map_err(|error| Broken(format!("{}: {error}", self.name)))
    }

    /// Cuts it where a call of the model begins: the first range is what is compacted first, each other
    /// one is what is said until the next compaction.
    pub(super) fn segments(&self, request: &Request) -> [Range<usize>; super::report::ROUNDS] {
        // The first is five times as long as each other one.
        const PARTS: usize = 9;
        const FIRST: usize = 5;
        let starts = starts(request);
        let total: usize = self.entries.iter().map(String::len).sum();
        let cut = |part: usize| {
            let mut sum = 0;
            let before = |entry: &&String| {
                sum += entry.len();
                sum <= total * part / PARTS
            };
            let at = self.entries.iter().take_while(before).count();
            starts.iter().copied().find(|start| *start >= at).unwrap_or(self.entries.len())
        };
        let mut from = 0;
        std::array::from_fn(|round| {
            let is_last = round + 1 == super::report::ROUNDS;
            let to = if is_last { self.entries.len() } else { cut(FIRST + round) };
            std::mem::replace(&mut from, to)..to
        })
    }
}

/// The entry with other ids.
fn renamed(entry: Entry<'_>, number: usize) -> String {
    let ids = entry.parts().flat_map(|part| {
        let own = if part.kind() == PartKind::Link { part.text() } else { "".into() };
        [part.id(), own]
    });
    let ids: BTreeSet<_> = ids.filter(|id| !id.is_empty()).collect();
    ids.iter().fold(entry.raw().to_owned(), |raw, id| {
        raw.replace(&format!("\"{id}\""), &format!("\"{id}_{number}\""))
    })
}

/// The entries with which a call of the model begins, the first apart: all calls before are answered, so
/// that a person may speak there.
pub(super) fn starts(request: &Request) -> Vec<usize> {
    let roles: Vec<Role> = request.transcript.entries().map(|entry| entry.role()).collect();
    let is_models = |at: usize| roles.get(at) == Some(&Role::Assistant);
    (1..roles.len()).filter(|at| is_models(*at) && !is_models(at - 1)).collect()
}
