//! What is counted, for `/metrics`.

use epitome::engine::receipt::Stats;
use epitome::session::Committed;
use epitome::wire::Keeper;
use epitome_tower::{Event, KeepingEvent, PassReason};
use http::StatusCode;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

type Label = (&'static str, &'static str);
type Counts<const N: usize> = Family<[Label; N], Counter>;

/// The counters of a proxy. Their labels come from closed lists, never from a request.
#[derive(Debug, Default)]
pub(crate) struct Meters {
    registry: Registry,
    requests: Counts<2>,
    passed: Counts<2>,
    compactions: Counts<3>,
    fallbacks: Counts<1>,
    prompts: Counts<2>,
    overflows: Counts<1>,
    panics: Counts<1>,
    keeping: Counts<2>,
    native: Counts<2>,
    summaries: Counts<1>,
    breaks: Counts<2>,
    expected: Counts<1>,
    read: Counts<1>,
    waiting: Family<[Label; 1], Gauge>,
    /// Calls that were forwarded without a look, of all APIs.
    all_passed: Counter,
}

impl Meters {
    pub(crate) fn new() -> Self {
        let mut meters = Meters { registry: Registry::with_prefix("epitome"), ..Meters::default() };
        let registry = &mut meters.registry;
        registry.register(
            "requests",
            "Requests, by what they ask for and how they ended: ok, refused (by the upstream), failed (there), unreachable, denied (here)",
            meters.requests.clone(),
        );
        registry.register(
            "passed",
            "Calls of models that were forwarded without a look at their conversation, and why",
            meters.passed.clone(),
        );
        registry.register(
            "compactions",
            "Compactions, by what began them and what became of them",
            meters.compactions.clone(),
        );
        registry.register(
            "fallbacks",
            "What compactions were to be done with and were done without, because it failed: a summarizer, a compactor, a hook",
            meters.fallbacks.clone(),
        );
        registry.register(
            "prompt_tokens",
            "Estimated tokens of prompts, before (as they came) and after (as they were sent)",
            meters.prompts.clone(),
        );
        registry.register(
            "overflows",
            "Prompts that an upstream refused as too long",
            meters.overflows.clone(),
        );
        registry.register(
            "panics",
            "Errors inside the engine; the request was forwarded all the same",
            meters.panics.clone(),
        );
        registry.register(
            "keeping",
            "Conversations in the store: kept, found (kept by another proxy, or before a restart), overtaken (another one was first), failed",
            meters.keeping.clone(),
        );
        registry.register(
            "native",
            "Compactions that requests ask of their provider, done here: answered, inserted (before what the model says), read (of an earlier one)",
            meters.native.clone(),
        );
        registry.register(
            "client_summaries",
            "Requests that ask for a summary with which their client begins anew",
            meters.summaries.clone(),
        );
        registry.register(
            "cache_breaks",
            "Prompts that don't begin with the one sent before in their conversation: view (compacted, or for another model), frame (the client changed instructions or tools), restated (what it writes anew), history (it went back and another way)",
            meters.breaks.clone(),
        );
        registry.register(
            "cache_expected_tokens",
            "Tokens of prompts that the provider's cache had to have, by what it reported of the prompts before, of those that report what was read",
            meters.expected.clone(),
        );
        registry.register(
            "cache_read_tokens",
            "Tokens of the same prompts that the provider reports to have read from its cache",
            meters.read.clone(),
        );
        registry.register(
            "waiting",
            "Conversations of which a compaction is due, and waits until somebody agrees at /ui",
            meters.waiting.clone(),
        );
        meters
    }

    pub(crate) fn natively(&self, api: &'static str, result: &'static str) {
        self.native.get_or_create(&[("api", api), ("result", result)]).inc();
    }

    pub(crate) fn answered(&self, wanted: &'static str, status: StatusCode) {
        let outcome = match status.as_u16() {
            ..400 => "ok",
            400..500 => "refused",
            _ => "failed",
        };
        self.ended(wanted, outcome);
    }

    pub(crate) fn ended(&self, wanted: &'static str, outcome: &'static str) {
        self.requests.get_or_create(&[("api", wanted), ("outcome", outcome)]).inc();
    }

    pub(crate) fn passed(&self, api: &'static str, reason: &'static str) {
        self.passed.get_or_create(&[("api", api), ("reason", reason)]).inc();
        self.all_passed.inc();
    }

    /// Calls that were forwarded without a look at their conversation.
    pub(crate) fn all_passed(&self) -> u64 {
        self.all_passed.get()
    }

    /// So many conversations of these APIs wait: an API for each.
    pub(crate) fn wait(&self, apis: impl Iterator<Item = &'static str>, waiting: &[&'static str]) {
        for api in apis {
            let count = waiting.iter().filter(|one| **one == api).count();
            self.waiting
                .get_or_create(&[("api", api)])
                .set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    /// A prompt went out; one that is made smaller and sent once more counts as that.
    pub(crate) fn prompted(&self, api: &'static str, stats: &Stats) {
        for (side, size) in [("before", &stats.before), ("after", &stats.after)] {
            let counter = self.prompts.get_or_create(&[("api", api), ("side", side)]);
            counter.inc_by(size.count.tokens);
        }
    }

    /// What the layer tells of the conversations of one API.
    pub(crate) fn told(&self, api: &'static str, event: &Event) {
        match event {
            Event::Sent { broke: Some(cause), .. } => {
                self.breaks.get_or_create(&[("api", api), ("cause", cause.name())]).inc();
            }
            Event::Compacted { cause, committed, receipt, .. } => {
                if let Ok(receipt) = receipt {
                    let fallbacks = receipt.fallbacks.len() as u64;
                    self.fallbacks.get_or_create(&[("api", api)]).inc_by(fallbacks);
                }
                let result = match committed {
                    Committed::Adopted { .. } => "adopted",
                    Committed::Refused { .. } => "refused",
                    Committed::Overtaken => "overtaken",
                    Committed::Failed => "failed",
                };
                let labels = [("api", api), ("cause", cause.name()), ("result", result)];
                self.compactions.get_or_create(&labels).inc();
            }
            Event::Passed { why } => self.passed(api, reason(*why)),
            Event::CacheRead { used, .. } => {
                self.expected.get_or_create(&[("api", api)]).inc_by(used.expected);
                self.read.get_or_create(&[("api", api)]).inc_by(used.read);
            }
            Event::Keeping { what } => {
                let result = match what {
                    KeepingEvent::Kept => "kept",
                    KeepingEvent::Found => "found",
                    KeepingEvent::Overtaken => "overtaken",
                    _ => "failed",
                };
                self.keeping.get_or_create(&[("api", api), ("result", result)]).inc();
            }
            Event::Summary => drop(self.summaries.get_or_create(&[("api", api)]).inc()),
            Event::TooLong { .. } => drop(self.overflows.get_or_create(&[("api", api)]).inc()),
            Event::Panicked { .. } => drop(self.panics.get_or_create(&[("api", api)]).inc()),
            _ => {}
        }
    }

    /// All of it, in OpenMetrics' text format.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a string takes everything");
        text
    }
}

fn reason(why: PassReason) -> &'static str {
    match why {
        PassReason::Elsewhere(Keeper::PreviousResponse) => "previous-response",
        PassReason::Elsewhere(Keeper::PreviousInteraction) => "previous-interaction",
        PassReason::Elsewhere(Keeper::Conversation) => "conversation",
        PassReason::Elsewhere(Keeper::Cache) => "cached-content",
        PassReason::Elsewhere(Keeper::Thread) => "thread",
        PassReason::Elsewhere(_) => "elsewhere",
        _ => "unread",
    }
}
