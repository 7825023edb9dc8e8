//! What is known of the newest conversations, for the dashboard. Bounded, and in memory only.

mod content;
mod conversation;
mod money;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use epitome::Format;
use epitome::count::counter;
use epitome::engine::receipt::Stats;
use epitome::model::Billed;
use epitome::session::SessionId;
use epitome_tower::{Event, random_key};

use crate::log::{ProxyEvent, ProxyObserver};
use crate::options::ProxyMode;

pub(crate) use content::Stretch;
pub(crate) use conversation::{Agreement, Conversation, Done, Point};
pub(crate) use money::Reckoning;

/// Conversations that are kept: those that were asked last.
const CONVERSATIONS: usize = 200;

/// Bytes of texts that are kept, packed.
const TEXTS: usize = 16 << 20;

/// The longest text that is kept.
const LONGEST: usize = 8 << 20;

/// A conversation of an API.
pub(crate) type Key = (&'static str, SessionId);

/// The newest conversations.
pub(crate) struct Ledger {
    book: Mutex<Book>,
    /// Of the names of conversations, so that they tell nothing of other runs.
    key: u64,
    mode: ProxyMode,
    observer: Option<ProxyObserver>,
}

#[derive(Default)]
struct Book {
    conversations: HashMap<Key, Conversation>,
    /// Those of before and after a compaction, packed; the newest last.
    texts: VecDeque<Texts>,
}

struct Texts {
    of: Key,
    number: u64,
    format: Format,
    packed: [Vec<u8>; 2],
}

/// The facts about a request that are reported later.
pub(crate) struct Entered {
    ledger: Arc<Ledger>,
    of: Key,
    point: Point,
    /// The compaction that it is the first to show.
    pub(crate) shows: Option<u64>,
}

impl Ledger {
    pub(crate) fn new(mode: ProxyMode, observer: Option<ProxyObserver>) -> Arc<Self> {
        Arc::new(Ledger { book: Mutex::default(), key: random_key().0[0], mode, observer })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what the engine tells of its conversations.
    pub(crate) fn told(&self, api: &'static str, event: &Event) {
        match event {
            Event::Compacted { session, cause, receipt, committed } => {
                self.book().of((api, *session)).compacted(cause, receipt, committed);
                if let Ok(receipt) = receipt {
                    self.fell_back((api, *session), &receipt.fallbacks);
                }
            }
            Event::Sent { session, due, .. } if self.mode == ProxyMode::Ask => {
                self.due((api, *session), due.as_ref().map(ToString::to_string));
            }
            Event::TooLong { session } => {
                self.book().of((api, *session)).overflows += 1;
                if self.mode == ProxyMode::Ask {
                    let why = "the provider refused its prompt as too long";
                    self.due((api, *session), Some(why.to_owned()));
                }
            }
            _ => {}
        }
    }

    /// A compaction was done otherwise than it was to be.
    fn fell_back(&self, of: Key, fallbacks: &[String]) {
        let Some(observer) = &self.observer else { return };
        for why in fallbacks {
            let (conversation, why) = (self.name(&of), why.clone());
            observer.tell(&ProxyEvent::FellBack { api: of.0, conversation, why });
        }
    }

    /// A compaction is due and waits, or isn't due any more.
    fn due(&self, of: Key, why: Option<String>) {
        let waiting = why.clone();
        let begins = self.book().of(of).is_due(why);
        if let (true, Some(why), Some(observer)) = (begins, waiting, &self.observer) {
            observer.tell(&ProxyEvent::Waiting { api: of.0, conversation: self.name(&of), why });
        }
    }

    /// Somebody agrees to the next compaction of a conversation: which one it is, if it is known.
    pub(crate) fn agree(&self, name: &str) -> Option<Key> {
        let mut book = self.book();
        let (key, it) = book.conversations.iter_mut().find(|(key, _)| self.name(key) == name)?;
        it.agreement = Agreement::Given;
        Some(*key)
    }

    /// What was agreed to can't be done: nothing of the conversation is known.
    pub(crate) fn withdraw(&self, of: Key) {
        self.book().of(of).agreement = Agreement::NotNeeded;
    }

    /// Conversations of each API that wait until somebody agrees.
    pub(crate) fn waiting(&self) -> Vec<&'static str> {
        let book = self.book();
        let waits = |it: &&Conversation| matches!(it.agreement, Agreement::Awaited(_));
        book.conversations.values().filter(waits).map(|it| it.api).collect()
    }

    /// A request went out.
    pub(crate) fn sent(
        self: &Arc<Self>,
        api: &'static str,
        tenant: &str,
        model: impl FnOnce() -> String,
        (session, stats): &(SessionId, Stats),
    ) -> Entered {
        let of = (api, *session);
        let mut book = self.book();
        let conversation = book.of(of);
        if conversation.owner.is_empty() {
            // A digest already, of which less is enough.
            conversation.owner = tenant.chars().take(6).collect();
        }
        let (point, shows) = conversation.sent(model, stats);
        Entered { ledger: Arc::clone(self), of, point, shows }
    }

    /// A short name, which says nothing of what it names.
    pub(crate) fn name(&self, (api, session): &Key) -> String {
        let named = format!("{} {api} {session:?}", self.key);
        blake3::hash(named.as_bytes()).to_hex()[..8].to_owned()
    }

    /// All of them, the newest first, by their names.
    pub(crate) fn all(&self) -> Vec<(String, Conversation)> {
        let book = self.book();
        let named = book.conversations.iter().map(|(key, it)| (self.name(key), it.clone()));
        let mut all: Vec<_> = named.collect();
        drop(book);
        all.sort_by(|(name, one), (other, two)| (two.last, name).cmp(&(one.last, other)));
        all
    }

    /// One of them.
    pub(crate) fn get(&self, name: &str) -> Option<Conversation> {
        let book = self.book();
        book.conversations.iter().find(|(key, _)| self.name(key) == name).map(|(_, it)| it.clone())
    }

    /// What a compaction did, message by message.
    pub(crate) fn stretches(&self, name: &str, number: u64) -> Option<Vec<Stretch>> {
        let book = self.book();
        let kept = book.texts.iter().find(|it| it.number == number && self.name(&it.of) == name)?;
        let (format, packed) = (kept.format, kept.packed.clone());
        drop(book);
        let [before, after] = packed
            .map(|it| zstd::decode_all(&it[..]).ok().and_then(|it| String::from_utf8(it).ok()));
        content::stretches(format, [&before?, &after?])
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("mode", &self.mode).finish_non_exhaustive()
    }
}

impl Book {
    fn of(&mut self, key: Key) -> &mut Conversation {
        if self.conversations.len() >= CONVERSATIONS && !self.conversations.contains_key(&key) {
            let oldest =
                self.conversations.iter().min_by_key(|(_, it)| it.last).map(|(key, _)| *key);
            if let Some(oldest) = oldest {
                self.conversations.remove(&oldest);
                self.texts.retain(|texts| texts.of != oldest);
            }
        }
        self.conversations.entry(key).or_insert_with(|| Conversation::new(key.0))
    }

    fn done(&mut self, of: Key, number: u64) -> Option<&mut Done> {
        let done = &mut self.conversations.get_mut(&of)?.compactions;
        done.iter_mut().find(|done| done.number == number)
    }

    fn keep(&mut self, texts: Texts) {
        let size = |texts: &Texts| texts.packed.iter().map(Vec::len).sum::<usize>();
        if let Some(done) = self.done(texts.of, texts.number) {
            done.has_texts = true;
            self.texts.push_back(texts);
        }
        while self.texts.iter().map(size).sum::<usize>() > TEXTS {
            let Some(Texts { of, number, .. }) = self.texts.pop_front() else { return };
            if let Some(done) = self.done(of, number) {
                done.has_texts = false;
            }
        }
    }
}

impl Entered {
    /// The name of its conversation.
    pub(crate) fn conversation(&self) -> String {
        self.ledger.name(&self.of)
    }

    /// What the provider says that it bills.
    pub(crate) fn billed(&self, billed: Billed) {
        let mut book = self.ledger.book();
        if let Some(conversation) = book.conversations.get_mut(&self.of) {
            conversation.billed(&self.point, billed);
        }
    }

    /// What it bills for a further round, which answers what the model recalled.
    pub(crate) fn billed_recall(&self, billed: Billed) {
        let mut book = self.ledger.book();
        if let Some(conversation) = book.conversations.get_mut(&self.of) {
            let model = conversation.model.clone();
            conversation.money.add_recall(&model, &billed);
        }
    }

    /// What the compaction did that the request is the first to show; takes a while.
    pub(crate) fn looked_at(&self, format: Format, before: &str, after: &str) {
        let Some(number) = self.shows.filter(|_| before.len().max(after.len()) <= LONGEST) else {
            return;
        };
        let counter = counter("o200k").expect("it is one of ours");
        let kinds = content::kinds(format, [before, after], counter.as_ref());
        let packed = [before, after].map(|text| zstd::encode_all(text.as_bytes(), 3));
        let mut book = self.ledger.book();
        if let Some(done) = book.done(self.of, number) {
            done.kinds = kinds;
        }
        if let [Ok(before), Ok(after)] = packed {
            book.keep(Texts { of: self.of, number, format, packed: [before, after] });
        }
    }
}
