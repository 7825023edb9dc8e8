//! The receiver of a request: its sizes and times, and what it is to do with it.

use std::time::Duration;

use crate::context::JobContext;
use crate::model::Model;

/// What a request wants of its model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Intent {
    /// The next step of its conversation.
    #[default]
    Step,
    /// A summary with which its client begins anew. Triggers don't look at it: it is compacted only where it doesn't fit, and
    /// only as far as it then does.
    Summary,
}

/// The model behind a request, and the caller's context.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recipient {
    /// Its name, if it isn't the one in the requests.
    pub model: Option<String>,
    /// The most tokens of a prompt, where that is known.
    pub window: Option<u64>,
    /// How long its provider's cache remembers a prompt, where that is known.
    pub cache_ttl: Option<Duration>,
    /// The caller's context for this request, passed to its compaction. If it is empty, the compactor's own context is
    /// used.
    pub about: JobContext,
    /// What the model is to do.
    pub intent: Intent,
}

impl From<Option<u64>> for Recipient {
    /// A model with this window, without other known facts.
    fn from(window: Option<u64>) -> Self {
        Recipient { window, ..Recipient::default() }
    }
}

impl From<&Model> for Recipient {
    fn from(model: &Model) -> Self {
        let ttl = model.cache.as_ref().and_then(|cache| cache.ttl);
        Recipient {
            model: Some(model.id.clone()),
            window: model.most_input(),
            cache_ttl: ttl.map(Duration::from_secs),
            about: JobContext::default(),
            intent: Intent::Step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Registry;

    #[test]
    fn a_model_is_asked_by_its_name_within_what_it_takes_in() {
        let model = Registry::built_in().find("claude-opus-4-5").expect("it is known");
        let to = Recipient::from(model);
        assert_eq!((to.model.as_deref(), to.window), (Some(model.id.as_str()), model.most_input()));
        assert!(to.window.is_some());
        let ttl = model.cache.as_ref().and_then(|cache| cache.ttl).map(Duration::from_secs);
        assert_eq!((to.cache_ttl, ttl.is_some()), (ttl, true));
    }
}
