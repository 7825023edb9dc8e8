//! The client of a proxy as the one who pays for summaries: its upstream is asked as it asks it, with its own credential.

use std::sync::Arc;
use std::time::Duration;

use epitome::model::{Model as Facts, Registry};
use epitome::summarize::{
    AgentPrompt, Answering, FailureKind, SummarizeError, Summarizer, SummaryRequest,
};
use epitome_llm::{Borrowed, Limits, Model, Purse, Secret};
use epitome_proxy::Caller;
use tokio::task::spawn_blocking;

/// Asks the upstream of whoever's conversation is compacted.
#[derive(Debug)]
pub(super) struct OfClient {
    name: String,
    /// The model, if it isn't the client's.
    model: Option<String>,
    limits: Limits,
    purse: Option<Arc<Purse>>,
    registry: Arc<Registry>,
}

impl OfClient {
    pub(super) fn new(
        name: String,
        model: Option<String>,
        longest: Duration,
        purse: Option<Arc<Purse>>,
        registry: Registry,
    ) -> Self {
        let usual = Limits::default();
        let first_byte = usual.first_byte.max(longest / 2);
        // What the client may ask at a time is its own: nothing is asked twice.
        let limits =
            Limits { total: longest, first_byte, silence: first_byte, retries: 0, ..usual };
        OfClient { name, model, limits, purse, registry: Arc::new(registry) }
    }

    /// The model as this client asks it.
    fn of(&self, caller: &Caller) -> Result<Model, SummarizeError> {
        let model = self.model.as_deref().unwrap_or(caller.model());
        let unknown =
            || SummarizeError::new(FailureKind::Rejected, "this address is of another model alone");
        let borrowed = Borrowed {
            format: caller.format(),
            model: model.to_owned(),
            address: caller.address(model).ok_or_else(unknown)?,
            headers: caller.headers().clone(),
            secrets: caller.secrets().map(Secret::new).collect(),
        };
        let model = Model::borrowed(borrowed, self.limits, self.purse.clone());
        let model = model.map(|model| model.known_by(&self.registry));
        model.map_err(|error| SummarizeError::new(FailureKind::Rejected, error.to_string()))
    }
}

impl Summarizer for OfClient {
    fn name(&self) -> &str {
        &self.name
    }

    fn window(&self) -> Option<u64> {
        // What is folded of a prompt that its own model read fits there.
        let facts = self.registry.get(self.model.as_deref()?)?;
        Some(facts.most_input()? / 4 * 3)
    }

    fn shares_cache(&self, prompt: &AgentPrompt) -> Option<&Facts> {
        let agents = self.registry.get(&prompt.request.model()?)?;
        let named = self.model.as_deref().map(|model| self.registry.get(model));
        named.is_none_or(|named| named == Some(agents)).then_some(agents)
    }

    fn summarize(self: Arc<Self>, request: Arc<SummaryRequest>) -> Answering {
        // Asked here, where the client is known: the answer is awaited elsewhere.
        let Some(caller) = Caller::current() else {
            let what = "the client's own credential isn't at hand";
            let error = SummarizeError::new(FailureKind::Unauthorized, what);
            return Box::pin(std::future::ready(Err(error)));
        };
        Box::pin(async move {
            let model = spawn_blocking(move || self.of(&caller)).await;
            let unmade = |error| SummarizeError::new(FailureKind::Unreachable, format!("{error}"));
            Arc::new(model.map_err(unmade)??).summarize(request).await
        })
    }
}
