//! What of a conversation must outlive a crash: whoever shows a view again must know it.
//!
//! Replies that a model gave under a view are bound to it, so a machine that forgot its views can't
//! go on with these conversations. A host saves a session before it sends a request under an epoch, or in a
//! session, that it hasn't saved yet, and loads it before its next request. Epochs begin with commits, and
//! with a switch to a model that binds its reasoning to the prompt; who forks brings the epoch along.

use serde::{Deserialize, Serialize};

use super::conversation::{Line, SentPrompt};
use super::epoch::Epoch;
use super::identity::PrefixId;
use super::{SessionId, Sessions};

/// A session as it is kept: what was said as ids, and what is shown of it; none of the words but
/// those of its edits and its checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Saved {
    tenant: String,
    ids: Vec<PrefixId>,
    epochs: Vec<Epoch>,
    sends: Vec<SentPrompt>,
}

impl Sessions {
    /// A conversation, to be kept.
    pub fn save(&self, session: SessionId) -> Option<Saved> {
        let line = self.lines.get(&session)?;
        Some(Saved {
            tenant: line.tenant.clone(),
            ids: line.ids.clone(),
            epochs: line.epochs.clone(),
            sends: line.sends.clone(),
        })
    }

    /// Knows a kept conversation again, under a new number.
    pub fn load(&mut self, saved: Saved) -> SessionId {
        let id = SessionId(self.number());
        for prefix in &saved.ids {
            self.by_prefix.insert(*prefix, id);
        }
        let mut line = Line::new(id, &saved.tenant);
        line.ids = saved.ids;
        line.sends = saved.sends;
        if !saved.epochs.is_empty() {
            line.epochs = saved.epochs;
        }
        self.insert(line);
        self.forget_some(id);
        id
    }
}
