//! What a layer's conversations have in common with those that are kept beyond the process.

use std::sync::Arc;

use epitome::session::{Arrived, Saved, SessionId, Sessions};

use crate::event::{Event, KeepingEvent};
use crate::kept::{Conversations, KeptConversation};
use crate::shared::Shared;

impl Shared {
    /// The answer of the store; `None` if it isn't asked, or fails.
    pub(crate) async fn ask_kept<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn Conversations) -> Result<T, String> + Send + 'static,
    ) -> Option<T> {
        let answer = self.kept.as_ref()?.ask(ask).await;
        answer.unwrap_or_else(|what| {
            self.tell(&Event::Keeping { what: KeepingEvent::Failed(what) });
            None
        })
    }

    /// What others kept of the conversation that a request goes on with, if they went further than this machine.
    pub(crate) async fn found(self: &Arc<Self>, part: usize, arrived: &Arrived) -> Option<Saved> {
        self.kept.as_ref()?;
        let asked = arrived.clone();
        let news = self.ask(part, 0, move |sessions, _| sessions.news(&asked)).await?;
        let find = move |kept: &dyn Conversations| {
            kept.find(&news)?.as_ref().map(KeptConversation::read).transpose()
        };
        let found = self.ask_kept(find).await??;
        self.tell(&Event::Keeping { what: KeepingEvent::Found });
        Some(found)
    }

    /// Keeps what is in force of a conversation, if it isn't yet; whether another machine's is in force now.
    pub(crate) async fn keep(self: &Arc<Self>, part: usize, session: SessionId) -> bool {
        if self.kept.is_none() {
            return false;
        }
        let unsaved = self.ask(part, 0, move |sessions, _| sessions.unsaved(session)).await;
        let Some(saved) = unsaved.flatten() else { return false };
        let Some((_, number)) = saved.place() else { return false };
        let keep = move |kept: &dyn Conversations| {
            let own = KeptConversation::of(&saved);
            let other = own.map(|own| kept.keep(&own)).transpose()?.flatten();
            other.as_ref().map(KeptConversation::read).transpose()
        };
        let Some(other) = self.ask_kept(keep).await else { return false };
        let is_overtaken = other.is_some();
        let note = move |sessions: &mut Sessions, _| match other {
            None => sessions.kept(session, number),
            Some(saved) => sessions.give_way(session, saved),
        };
        self.ask(part, 0, note).await;
        let what = if is_overtaken { KeepingEvent::Overtaken } else { KeepingEvent::Kept };
        self.tell(&Event::Keeping { what });
        is_overtaken
    }
}
