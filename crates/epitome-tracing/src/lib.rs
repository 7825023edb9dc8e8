//! What happens in compactions, for [`tracing`]: one span for each that begins, with the names that OpenTelemetry
//! has for GenAI (`gen_ai.*`), and an event in it for each thing that happens in it. Sizes, names and kinds of failures are
//! written, never content: reasons quote some, and stay out.
//!
//! ```
//! use std::sync::Arc;
//! use epitome::{Compactor, Options, count::counter};
//! use epitome_tracing::Traced;
//!
//! let compactor = Compactor::new(Options::default(), counter("o200k")?)?;
//! let compactor = compactor.with_observer(Arc::new(Traced::default()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The span is named `compaction`, `otel.name` has OpenTelemetry's name (`compact gpt-6-sol`). Its parent is the span
//! in which the compaction is driven. Below the trigger there is neither.
//!
//! [`ModelCall`] is the span of a request to a model, for whoever sends it: what it compacts is a child of that.
//!
//! Hooks are asked before anything begins, and one that forbids a compaction leaves nothing to begin: what they do
//! is an event of the parent. `epitome.compaction` says there, and in the span, which compaction it is.

mod call;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use epitome::Format;
use epitome::engine::events::{Amount, CompactionId, Event, Observer, ThreadScope};
use epitome::engine::plan::Reached;
use epitome::engine::receipt::Receipt;
use tracing::dispatcher::{get_default, with_default};
use tracing::field::Empty;
use tracing::{Span, info, info_span, warn};

pub use call::{ModelCall, Operation};

/// Writes what it is told as spans and events.
#[derive(Debug, Default)]
pub struct Traced {
    open: Mutex<HashMap<CompactionId, Span>>,
}

impl Traced {
    fn open(&self) -> std::sync::MutexGuard<'_, HashMap<CompactionId, Span>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The span of a compaction; none before it begins.
    fn span(&self, compaction: CompactionId) -> Span {
        self.open().get(&compaction).cloned().unwrap_or_else(Span::none)
    }

    fn close(&self, compaction: CompactionId) -> Span {
        self.open().remove(&compaction).unwrap_or_else(Span::none)
    }
}

impl Observer for Traced {
    fn observe(&self, compaction: CompactionId, event: &Event) {
        match event {
            Event::Started { format, model, about, .. } => {
                let span = span(compaction, *format, model.as_deref());
                if let Some(session) = &about.session {
                    span.record("gen_ai.conversation.id", session);
                }
                self.open().insert(compaction, span);
            }
            Event::Finished { receipt, dropped, retained, .. } => {
                finish(&self.close(compaction), receipt, *dropped, *retained);
            }
            Event::Failed { .. } => fail(&self.close(compaction), "failed"),
            Event::Cancelled => fail(&self.close(compaction), "cancelled"),
            Event::Vetoed { by, .. } => {
                info!(epitome.compaction = compaction.number(), by, "compaction vetoed");
            }
            Event::HookFailed { by, .. } => {
                warn!(epitome.compaction = compaction.number(), by, "hook failed");
            }
            event => write(&self.span(compaction), event),
        }
    }

    /// The span in which the compaction is driven, and who hears of it.
    fn around(&self) -> ThreadScope {
        let (dispatch, span) = (get_default(Clone::clone), Span::current());
        Box::new(move |work| with_default(&dispatch, || span.in_scope(work)))
    }
}

fn span(compaction: CompactionId, format: Format, model: Option<&str>) -> Span {
    let name = match model {
        Some(model) => format!("compact {model}"),
        None => "compact".to_owned(),
    };
    let span = info_span!(
        "compaction",
        otel.name = name,
        otel.kind = "internal",
        otel.status_code = Empty,
        error.r#type = Empty,
        gen_ai.operation.name = "compact",
        gen_ai.provider.name = provider(format),
        gen_ai.conversation.id = Empty,
        gen_ai.request.model = Empty,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
        epitome.compaction = compaction.number(),
        epitome.outcome = Empty,
        epitome.target = Empty,
        epitome.tokens.before = Empty,
        epitome.tokens.after = Empty,
        epitome.dropped.tokens = Empty,
        epitome.dropped.messages = Empty,
        epitome.retained.tokens = Empty,
        epitome.retained.messages = Empty,
        epitome.summarizer = Empty,
        epitome.summary.calls = Empty,
        epitome.summary.cost_usd = Empty,
        epitome.fallbacks = Empty,
    );
    if let Some(model) = model {
        span.record("gen_ai.request.model", model);
    }
    span
}

/// Whose format it is, by OpenTelemetry's names.
fn provider(format: Format) -> &'static str {
    match format {
        Format::OpenaiChat | Format::OpenaiResponses => "openai",
        Format::Anthropic => "anthropic",
        Format::Gemini | Format::GeminiInteractions => "gcp.gemini",
        Format::Bedrock => "aws.bedrock",
        // A format that is newer than this.
        other => other.name(),
    }
}

fn finish(span: &Span, receipt: &Receipt, dropped: Amount, retained: Amount) {
    let outcome = match receipt.reached {
        Reached::Target => "target",
        Reached::Short => "short",
        Reached::Unreachable { .. } => "unreachable",
        Reached::Declined => "declined",
        _ => "nothing-to-do",
    };
    span.record("epitome.outcome", outcome);
    span.record("epitome.target", receipt.target);
    span.record("epitome.tokens.before", receipt.before.count.tokens);
    span.record("epitome.tokens.after", receipt.after.count.tokens);
    span.record("epitome.dropped.tokens", dropped.tokens);
    span.record("epitome.dropped.messages", dropped.entries);
    span.record("epitome.retained.tokens", retained.tokens);
    span.record("epitome.retained.messages", retained.entries);
    span.record("epitome.fallbacks", receipt.fallbacks.len());
    if let Some(summary) = &receipt.summary {
        if let Some(by) = &summary.by {
            span.record("epitome.summarizer", by.as_str());
        }
        span.record("epitome.summary.calls", summary.calls.len());
        span.record("gen_ai.usage.input_tokens", summary.spent.input);
        span.record("gen_ai.usage.output_tokens", summary.spent.output);
        if let Some(cost) = summary.spent.cost {
            span.record("epitome.summary.cost_usd", cost.dollars());
        }
    }
    span.record("otel.status_code", "OK");
}

fn fail(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

fn write(span: &Span, event: &Event) {
    match event {
        Event::Applied(step) => info!(
            parent: span,
            strategy = step.strategy,
            edits = step.edits,
            saved = step.saved,
            "strategy applied"
        ),
        Event::SummarizerCalled { by, requests } => {
            info!(parent: span, by, requests, "summarizer called");
        }
        Event::SummarizerRejected { by, fault } => {
            warn!(parent: span, by, fault = fault.name(), "summary rejected");
        }
        Event::SummarizerFellBack { by, kind, .. } => {
            let kind = kind.map(|kind| kind.to_string());
            warn!(parent: span, by, error.r#type = kind, "summarizer fell back");
        }
        Event::CompactorCalled { by } => info!(parent: span, by, "compactor called"),
        Event::CompactorFellBack { by, .. } => warn!(parent: span, by, "compactor fell back"),
        Event::FellBack { .. } => warn!(parent: span, "fell back"),
        // What is looked at and left alone is nothing that happened.
        _ => {}
    }
}
