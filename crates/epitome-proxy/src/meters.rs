//! What is counted, for `/metrics`.

use epitome::engine::receipt::Stats;
use epitome::session::Committed;
use epitome::wire::Keeper;
use epitome_tower::{Event, PassReason};
use http::StatusCode;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
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
    prompts: Counts<2>,
    overflows: Counts<1>,
    panics: Counts<1>,
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
        meters
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
            Event::Compacted { cause, committed, .. } => {
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
