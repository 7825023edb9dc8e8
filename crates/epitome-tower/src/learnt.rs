//! What use teaches of models, kept where conversations are: a restarted process knows it again, and others know it.

use std::sync::Arc;

use epitome::session::{Experience, KeptPlace, PrefixId};
use tokio::runtime::Handle;

use crate::kept::{Conversations, KeptConversation, KeptExperience};
use crate::shared::Shared;

/// Others that may be first, one after the other, before something is kept with the next look alone.
const TRIES: usize = 4;

impl Shared {
    /// Takes what others learnt, and keeps what was learnt here, once in a while: the first request waits for the first.
    pub(crate) async fn exchange_learnt(self: &Arc<Self>) {
        let Some(own) = self.learnt.as_ref().filter(|own| own.is_due()) else { return };
        let place = KeptPlace { id: PrefixId::from_bytes(own.place), known: own.state().number };
        let find = move |kept: &dyn Conversations| kept.find(&[place]);
        if let Some(found) = self.ask_kept(find).await.flatten() {
            self.take_learnt(own, &found);
        }
        if own.state().kept != self.experience.known() {
            self.keep_learnt();
        }
    }

    /// Keeps what was learnt, if there is news of it, beside the request.
    pub(crate) fn keep_news(self: &Arc<Self>) {
        let has_news = |own: &KeptExperience| own.state().news != self.experience.news();
        if self.learnt.as_ref().is_some_and(has_news) {
            self.keep_learnt();
        }
    }

    fn keep_learnt(self: &Arc<Self>) {
        let (Some(own), Ok(runtime)) = (&self.learnt, Handle::try_current()) else { return };
        if std::mem::replace(&mut own.state().is_keeping, true) {
            return;
        }
        let shared = Arc::clone(self);
        runtime.spawn(async move {
            if let Some(own) = &shared.learnt {
                shared.keep_all_learnt(own).await;
                own.state().is_keeping = false;
            }
        });
    }

    async fn keep_all_learnt(self: &Arc<Self>, own: &KeptExperience) {
        for _ in 0..TRIES {
            let (news, experience) = (self.experience.news(), self.experience.known());
            let number = own.state().number.map_or(0, |number| number.saturating_add(1));
            let text = serde_json::to_string(&experience).expect("it is data");
            let kept = KeptConversation { place: own.place, number, text };
            match self.ask_kept(move |store| store.keep(&kept)).await {
                Some(None) => {
                    let mut state = own.state();
                    (state.number, state.news, state.kept) = (Some(number), news, experience);
                    if self.experience.news() == news {
                        return;
                    }
                }
                Some(Some(other)) => self.take_learnt(own, &other),
                None => return,
            }
        }
    }

    /// Takes what is kept. What can't be read is of another version, and is replaced.
    fn take_learnt(&self, own: &KeptExperience, found: &KeptConversation) {
        let experience: Experience = serde_json::from_str(&found.text).unwrap_or_default();
        let mut state = own.state();
        (state.number, state.kept) = (Some(found.number), experience.clone());
        drop(state);
        self.experience.take(experience);
    }
}
