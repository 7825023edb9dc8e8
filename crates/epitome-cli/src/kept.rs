//! What a proxy knows of conversations, in a store.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use epitome::session::KeptPlace;
use epitome::text::secrets::masked;
use epitome_proxy::{Conversations, KeptConversation, KeptLearning, ProxyState, draw_secret};
use epitome_store::{Access, State, Store, StoreError};

use crate::failure::Failure;
use crate::{archive, folders, output};

/// What nobody used for so long is forgotten.
const MOST_AGE: Duration = Duration::from_hours(30 * 24);
/// Between two looks for such.
const ROUND: Duration = Duration::from_hours(1);

/// A store of conversations, and when it was last looked through.
#[derive(Debug)]
struct KeptInStore {
    store: Store,
    looked: Mutex<Option<Instant>>,
    /// It failed when it was asked last.
    fails: AtomicBool,
}

/// What is named where nothing is to be kept.
const NOWHERE: &str = "none";

/// What proxies share that are told the same store; `none` is no store.
pub(crate) fn named(store: &Path) -> Result<Option<ProxyState>> {
    let is_none = store.as_os_str() == NOWHERE;
    if is_none { Ok(None) } else { state(store, KeptLearning::Shared).map(Some) }
}

/// What the proxies of one user share, where no store is named.
pub(crate) fn usual() -> Result<ProxyState> {
    let missing = || Failure::usage("no folder is known for it").hint("set HOME or XDG_STATE_HOME");
    let folder = folders::state().ok_or_else(missing)?;
    std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    state(&folder.join("proxy"), KeptLearning::OfThisRun)
}

fn state(named: &Path, learning: KeptLearning) -> Result<ProxyState> {
    let store = archive::open(named, Access::Write)?;
    let secret = store.secret("proxy", draw_secret());
    let secret = secret.map_err(|error| archive::failure(&error, named))?;
    Ok(ProxyState {
        conversations: Arc::new(KeptInStore {
            store,
            looked: Mutex::default(),
            fails: AtomicBool::new(false),
        }),
        secret,
        learning,
    })
}

impl KeptInStore {
    fn forget_old(&self) -> Result<(), StoreError> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        if looked.is_none_or(|at| at.elapsed() >= ROUND) {
            *looked = Some(Instant::now());
            drop(looked);
            self.store.forget_states(MOST_AGE)?;
        }
        Ok(())
    }
}

impl KeptInStore {
    /// Says once that it fails, and once that it doesn't any more: requests go on without it.
    fn told<T>(&self, answer: Result<T, StoreError>) -> Result<T, String> {
        let had_failed = self.fails.swap(answer.is_err(), Ordering::Relaxed);
        match &answer {
            Err(error) if !had_failed => {
                let error = masked(&error.to_string()).into_owned();
                output::warn(&format!("conversations are kept in memory only: {error}"));
            }
            Ok(_) if had_failed => output::tell("conversations are kept again"),
            _ => {}
        }
        answer.map_err(|error| error.to_string())
    }
}

impl Conversations for KeptInStore {
    fn find(&self, places: &[KeptPlace]) -> Result<Option<KeptConversation>, String> {
        let places: Vec<_> = places.iter().map(|at| (at.id.to_bytes(), at.known)).collect();
        let found = self.told(self.store.newest_state(&places))?;
        Ok(found.map(conversation))
    }

    fn keep(&self, kept: &KeptConversation) -> Result<Option<KeptConversation>, String> {
        let KeptConversation { place, number, text } = kept.clone();
        let other = self.store.keep_state(&State { place, number, text });
        let other = other.and_then(|other| self.forget_old().map(|()| other));
        Ok(self.told(other)?.map(conversation))
    }
}

fn conversation(State { place, number, text }: State) -> KeptConversation {
    KeptConversation { place, number, text }
}
