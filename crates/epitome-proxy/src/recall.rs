//! What compactions hid, for agents that want it back: each credential sees its own conversations.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::Format;
use epitome::archive::{Archive as _, ArchiveError, FoundOriginal, MemoryArchive, Original};
use epitome::count::counter;
use epitome::wire::parse;
use epitome_server::{Memory, Recalls, SearchReach, answer};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::flow::{Collected, Flow};
use crate::refusal::Refusal;

/// Bytes of what is kept of all conversations.
const MOST: usize = 64 << 20;

/// The longest request.
const LONGEST: usize = 1 << 20;

/// Messages of one id that are given: several conversations may say the same.
const SAME: usize = 3;

/// What was hidden of the newest conversations.
#[derive(Debug, Default)]
pub(crate) struct Recall {
    /// The newest last.
    hidden: Mutex<VecDeque<Hidden>>,
}

/// What is hidden of one conversation.
#[derive(Debug)]
struct Hidden {
    owner: Arc<str>,
    conversation: String,
    originals: Vec<Original>,
    bytes: usize,
}

/// What of it is somebody's.
#[derive(Debug)]
struct Own {
    recall: Arc<Recall>,
    owner: Arc<str>,
}

impl Recall {
    fn hidden(&self) -> MutexGuard<'_, VecDeque<Hidden>> {
        self.hidden.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A compaction shows the second text instead of the first, which holds all that is hidden so far.
    pub(crate) fn hid(
        &self,
        owner: &Arc<str>,
        conversation: String,
        format: Format,
        [before, after]: [&str; 2],
    ) {
        let read = |text: &str| parse(format, text.to_owned()).ok();
        let (Some(before), Some(after)) = (read(before), read(after)) else { return };
        let shown: HashSet<&str> = after.transcript.entries().map(|entry| entry.raw()).collect();
        let is_hidden = |entry: usize| !shown.contains(before.transcript.entry(entry).raw());
        let originals = Original::of(&before, is_hidden);
        let bytes = originals.iter().map(|it| it.bytes.len() + it.words.len()).sum();
        let mut hidden = self.hidden();
        hidden.retain(|it| it.owner != *owner || it.conversation != conversation);
        hidden.push_back(Hidden { owner: Arc::clone(owner), conversation, originals, bytes });
        while hidden.iter().map(|it| it.bytes).sum::<usize>() > MOST {
            hidden.pop_front();
        }
    }

    /// Its tools, for somebody.
    pub(crate) fn recalls(self: &Arc<Self>, owner: &Arc<str>) -> Recalls {
        let own = Own { recall: Arc::clone(self), owner: Arc::clone(owner) };
        Recalls::new(Arc::new(own), counter("o200k").expect("it is one of ours"))
    }

    /// Answers a request of the Model Context Protocol.
    pub(crate) async fn answer(
        self: &Arc<Self>,
        owner: &Arc<str>,
        head: Parts,
        flow: Flow,
    ) -> Response<Flow> {
        let mut left = LONGEST;
        let room = |bytes: usize| {
            let fits = bytes <= left;
            left = left.saturating_sub(bytes);
            fits
        };
        let Collected::Whole(body) = flow.collect(room).await else {
            let what = "the request is too long, or ends too early";
            return Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, "body", what).answer(None);
        };
        answer(self.recalls(owner), Request::from_parts(head, body)).await.map(Flow::from)
    }
}

impl Own {
    /// What it does with each message that is hidden, and the conversation of that.
    fn each<T>(&self, does: impl FnMut((&str, &Original)) -> T) -> Vec<T> {
        let hidden = self.recall.hidden();
        let own = hidden.iter().rev().filter(|it| it.owner == self.owner);
        own.flat_map(|it| it.originals.iter().map(|one| (it.conversation.as_str(), one)))
            .map(does)
            .collect()
    }
}

impl Memory for Own {
    fn search(
        &self,
        words: &str,
        limit: usize,
        _: SearchReach,
    ) -> Result<Vec<(String, FoundOriginal)>, ArchiveError> {
        let own = self.each(|(conversation, one)| (conversation.to_owned(), one.clone()));
        let archive = MemoryArchive::default();
        archive.put(&own.iter().map(|(_, one)| one.clone()).collect::<Vec<_>>())?;
        let found = archive.search(words, limit)?;
        let of = |found: &FoundOriginal| own.iter().find(|(_, one)| one.id == found.id);
        let named = |found: FoundOriginal| Some((of(&found)?.0.clone(), found));
        Ok(found.into_iter().filter_map(named).collect())
    }

    fn get(&self, id: &str) -> Result<Vec<(String, FoundOriginal)>, ArchiveError> {
        let is_meant = |one: &Original| id.len() >= 4 && one.id.to_string().starts_with(id);
        let found = self.each(|(conversation, one)| {
            is_meant(one).then(|| (conversation.to_owned(), FoundOriginal::new(one, 0.0)))
        });
        Ok(found.into_iter().flatten().take(SAME).collect())
    }

    fn stats(&self) -> Result<Value, ArchiveError> {
        let own = self.each(|(conversation, _)| conversation.to_owned());
        let sessions: HashSet<&String> = own.iter().collect();
        Ok(json!({
            "sessions": sessions.len(), "messages": own.len(), "newest_session": own.first(),
        }))
    }
}
