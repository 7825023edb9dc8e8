//! What a request shows without its conversation: it is parsed, checked, repaired and linked.
//!
//! Most of a request's time goes there. It needs no conversation, so that many threads may do it at the same time.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::identity::{Chain, ChainKey};
use super::recent::{Recent, Seen};
use crate::model::{Binding, unbind};
use crate::request::Request;
use crate::wire::{self, Format, WireError};

/// Reads requests, each from where it continues an earlier one. Clones share what they know.
#[derive(Clone, Debug)]
pub struct Reader {
    recent: Arc<Mutex<Recent>>,
    /// Bytes of requests that are kept.
    most: usize,
    key: ChainKey,
}

/// A request that was parsed, checked, repaired and linked; [`Sessions::decide`](super::Sessions::decide) takes it.
#[derive(Clone, Debug)]
pub struct Arrived {
    pub(super) tenant: String,
    /// Its bytes as it came.
    pub(super) bytes: usize,
    /// The repaired request.
    pub(super) base: Request,
    pub(super) chain: Arc<Chain>,
}

impl Arrived {
    /// Which of this many parts of a machine ([`Sessions::parts`](super::Sessions::parts)) has its conversation: a
    /// conversation and all its forks are in one part.
    ///
    /// # Panics
    /// Of no parts.
    pub fn part(&self, of: usize) -> usize {
        let first = self.chain.instructions().min(self.chain.len().saturating_sub(1));
        self.chain.outlines().get(first).map_or(0, |id| id.part(of))
    }
}

impl Reader {
    pub(super) fn new(most: usize, key: ChainKey) -> Self {
        Reader { recent: Arc::default(), most, key }
    }

    /// Held only to look something up or to put it back.
    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.recent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a request of `tenant`'s: see [`Sessions::read`](super::Sessions::read).
    ///
    /// # Errors
    /// No JSON, or no request of that format.
    pub fn read(
        &self,
        tenant: &str,
        format: Option<Format>,
        source: impl Into<Arc<String>>,
    ) -> Result<Request, WireError> {
        let source = source.into();
        let Some(format) = format else {
            let request = wire::detect(source)?;
            return Ok(self.recent().read_alone(tenant, request, self.most));
        };
        let before = self.recent().before(tenant, format, &source);
        let Some(before) = before.of(&source) else {
            let request = wire::parse(format, source)?;
            return Ok(self.recent().read_alone(tenant, request, self.most));
        };
        let (entries, request) = wire::parse_on(&before, source)?;
        Ok(self.recent().read_on(tenant, (&before, entries), request, self.most))
    }

    pub(super) fn append(
        &self,
        tenant: &str,
        request: &mut Request,
        message: &str,
    ) -> Result<(), WireError> {
        self.recent().append(tenant, request, message, self.most)
    }

    /// Checks, repairs and links a request. The beginning that it shares with a known one isn't examined again.
    pub fn arrive(&self, tenant: &str, request: &Request) -> Arrived {
        let seen = self.recent().seen(tenant, request);
        let Seen { chain, is_whole, clean } = seen.unwrap_or_default();
        let checked = if is_whole { Ok(None) } else { wire::check_on(request, clean).map(Some) };
        let (base, is_whole, clean) = match checked {
            Ok(clean) => (request.clone(), true, clean),
            Err(found) => {
                let repaired = wire::repair_found(request, found);
                let repaired = unbind(request, repaired, Binding::of(request), wire::repair);
                (repaired.request, repaired.mended.is_empty(), None)
            }
        };
        // A repaired request has other bytes than the one that was read.
        let (known, first) = chain.filter(|_| is_whole).unwrap_or_default();
        let first = Arc::unwrap_or_clone(first);
        let chain = Arc::new(first.going_on(known, &base, tenant, self.key));
        if is_whole {
            self.recent().note(tenant, request, &chain, clean);
        }
        Arrived { tenant: tenant.to_owned(), bytes: request.source().len(), base, chain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: ChainKey = ChainKey([1, 2, 3, 4]);

    fn body(words: &[&str], behind: &str) -> Arc<String> {
        let messages: Vec<String> =
            words.iter().map(|word| format!(r#"{{"role":"user","content":"{word}"}}"#)).collect();
        Arc::new(format!(r#"{{"model":"m","messages":[{}]{behind}}}"#, messages.join(",")))
    }

    fn rows(request: &Request) -> String {
        let parts =
            request.transcript.entries().flat_map(|entry| entry.parts().collect::<Vec<_>>());
        let parts: Vec<String> = parts.map(|part| format!("{:?}", part.row())).collect();
        let entries: Vec<_> = request.transcript.entries().map(|e| (e.span(), e.role())).collect();
        format!("{entries:?} {parts:?} {:?}", request.frame)
    }

    /// Reads it as the machine does, and compares it with a fresh read.
    fn read(reader: &Reader, source: &Arc<String>) -> Option<Seen> {
        let format = Format::OpenaiChat;
        let read = reader.read("t", Some(format), Arc::clone(source)).expect("messages");
        let alone = wire::parse(format, Arc::clone(source)).expect("messages");
        assert_eq!(rows(&read), rows(&alone));
        let seen = reader.recent().seen("t", &read);
        reader.recent().note("t", &read, &Arc::new(Chain::of(&read, "t", KEY)), None);
        seen
    }

    fn known(reader: &Reader) -> usize {
        reader.recent().kept().0
    }

    #[test]
    fn what_goes_on_is_read_from_there() {
        let reader = Reader::new(1_000, KEY);
        assert!(read(&reader, &body(&["a", "b"], "")).expect("kept").chain.is_none());
        let more = body(&["a", "b", "c"], r#","tools":[]"#);
        let (entries, chain) = read(&reader, &more).expect("kept").chain.expect("known");
        // The last one may have gone on.
        assert_eq!((entries, chain.len(), known(&reader)), (1, 1, 1));
        // The last message grew, and another one is behind it.
        let grown = body(&["a", "b", "cc", "d"], r#","tools":[1]"#);
        let (entries, chain) = read(&reader, &grown).expect("kept").chain.expect("known");
        assert_eq!((entries, chain.len(), known(&reader)), (2, 2, 1));
        // A fork leaves the original as it was.
        let fork = body(&["a", "x"], "");
        assert_eq!(read(&reader, &fork).expect("kept").chain.map(|(at, _)| at), Some(1));
        assert_eq!(known(&reader), 2);
    }

    #[test]
    fn tenants_are_apart_and_memory_is_bounded() {
        let reader = Reader::new(500, KEY);
        let source = body(&["a", "b"], "");
        read(&reader, &source);
        let format = Some(Format::OpenaiChat);
        let other = reader.read("o", format, Arc::clone(&source)).expect("messages");
        assert!(reader.recent().seen("o", &other).expect("kept").chain.is_none());
        assert!(reader.recent().seen("t", &other).is_none());
        for word in 0..100 {
            read(&reader, &body(&[&word.to_string()], ""));
        }
        let (_, bytes) = reader.recent().kept();
        assert!((400..=500).contains(&bytes), "{bytes}");
        assert!(read(&Reader::new(0, KEY), &body(&["z"], "")).is_none(), "nothing is kept");
    }

    /// What can be one conversation is in one part, whatever its instructions, its frame and its newest messages are.
    #[test]
    fn a_conversation_and_its_forks_are_in_one_part() {
        let reader = Reader::new(1 << 20, KEY);
        let part = |tenant: &str, words: &[&str], system: &str| {
            let message =
                |role: &str, says: &str| format!(r#"{{"role":"{role}","content":"{says}"}}"#);
            let said = words.iter().map(|word| message("user", word));
            let messages: Vec<String> =
                std::iter::once(message("system", system)).chain(said).collect();
            let body = format!(r#"{{"messages":[{}]}}"#, messages.join(","));
            let request = reader.read(tenant, Some(Format::OpenaiChat), body).expect("messages");
            reader.arrive(tenant, &request).part(64)
        };
        let one = part("t", &["a"], "Be short.");
        for (words, system) in
            [(&["a"][..], "Be long."), (&["a", "b"], "Be short."), (&["a", "c", "d"], "Be short.")]
        {
            assert_eq!(part("t", words, system), one);
        }
        let others: std::collections::BTreeSet<usize> =
            (0..64).map(|nth| part("t", &[&format!("task {nth}")], "Be short.")).collect();
        assert!(others.len() > 30, "{others:?}");
        assert!(part("", &[], "Be short.") < 64);
    }

    #[test]
    fn what_the_host_holds_is_known_however_long_it_is() {
        let reader = Reader::new(10, KEY);
        let format = Some(Format::OpenaiChat);
        let mut held = reader.read("t", format, body(&["a"], "")).expect("messages");
        assert_eq!(known(&reader), 0, "it is longer than that");
        let answer = r#"{"role":"assistant","content":"b"}"#;
        reader.append("t", &mut held, answer).expect("a message");
        reader.recent().note("t", &held, &Arc::new(Chain::of(&held, "t", KEY)), None);
        let before = held.source().as_ptr();
        assert!(reader.append("t", &mut held, "{").is_err());
        assert_eq!((held.source().as_ptr(), held.transcript.len()), (before, 2));
        reader.append("t", &mut held, answer).expect("a message");
        reader.read("u", format, body(&["somebody else's"], "")).expect("messages");
        let seen = reader.recent().seen("t", &held).expect("held");
        assert_eq!(seen.chain.map(|(of, _)| of), Some(2), "through a refusal, too");
        drop(held);
        reader.read("t", format, body(&["c"], "")).expect("messages");
        assert_eq!(known(&reader), 0, "nobody holds it any more");
    }

    #[test]
    fn the_same_bytes_in_another_format_are_another_request() {
        let reader = Reader::new(1_000, KEY);
        let source = body(&["a", "b"], "");
        for format in [Format::OpenaiChat, Format::Anthropic, Format::OpenaiChat] {
            let read = reader.read("t", Some(format), Arc::clone(&source));
            assert_eq!(read.expect("messages").format, format);
        }
    }
}
