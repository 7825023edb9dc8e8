//! A request to a model, as OpenTelemetry's span of a client's inference.

use std::sync::{Mutex, MutexGuard, PoisonError};

use epitome::Format;
use epitome::engine::receipt::Stats;
use epitome::model::Billed;
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::provider;

/// The longest name of a model that is written; a longer one is left out.
const LONGEST_NAME: usize = 256;

/// What is asked of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// To go on with a conversation.
    Answer,
    /// To compact one.
    Compact,
}

impl Operation {
    /// OpenTelemetry's name of it.
    fn name(self, format: Format) -> &'static str {
        match (self, format) {
            (Operation::Compact, _) => "compact",
            (Operation::Answer, Format::Gemini | Format::GeminiInteractions) => "generate_content",
            (Operation::Answer, _) => "chat",
        }
    }
}

/// A request to a model, from its arrival to the end of its reply: one span, however often it is sent. It ends when this is
/// dropped; what is not [`over`](Self::over) by then was cancelled.
#[derive(Debug)]
pub struct ModelCall {
    span: Span,
    operation: &'static str,
    state: Mutex<CallState>,
}

#[derive(Debug, Default)]
struct CallState {
    status: Option<u16>,
    error: Option<String>,
    is_over: bool,
    /// The sum over all replies.
    billed: Option<Billed>,
    /// The model that the newest reply names.
    model: Option<String>,
}

impl ModelCall {
    /// Begins one; `None` where nobody listens.
    pub fn begun(format: Format, operation: Operation) -> Option<Self> {
        let operation = operation.name(format);
        let span = info_span!(
            "model call",
            otel.name = operation,
            otel.kind = "client",
            otel.status_code = Empty,
            error.r#type = Empty,
            gen_ai.operation.name = operation,
            gen_ai.provider.name = provider(format),
            gen_ai.request.model = Empty,
            gen_ai.request.stream = Empty,
            gen_ai.response.model = Empty,
            gen_ai.conversation.compacted = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            gen_ai.usage.cache_read.input_tokens = Empty,
            gen_ai.usage.cache_write.input_tokens = Empty,
            http.response.status_code = Empty,
            server.address = Empty,
            server.port = Empty,
            epitome.tokens.before = Empty,
            epitome.tokens.after = Empty,
        );
        (!span.is_disabled()).then(|| ModelCall { span, operation, state: Mutex::default() })
    }

    /// Its span.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// The model that it is for.
    pub fn asks(&self, model: &str) {
        if (1..=LONGEST_NAME).contains(&model.len()) {
            self.span.record("otel.name", format!("{} {model}", self.operation));
            self.span.record("gen_ai.request.model", model);
        }
    }

    /// The reply is asked for as a stream.
    pub fn streams(&self) {
        self.span.record("gen_ai.request.stream", true);
    }

    /// Where it goes.
    pub fn goes_to(&self, host: &str, port: u16) {
        self.span.record("server.address", host);
        self.span.record("server.port", port);
    }

    /// It goes out, as a view of what came if that was compacted.
    pub fn sent(&self, stats: &Stats, is_untouched: bool) {
        self.span.record("epitome.tokens.before", stats.before.count.tokens);
        self.span.record("epitome.tokens.after", stats.after.count.tokens);
        if !is_untouched {
            self.span.record("gen_ai.conversation.compacted", true);
        }
    }

    /// The head of an answer is there; the last one counts.
    pub fn answered(&self, status: u16) {
        let mut state = self.state();
        state.status = Some(status);
        state.error = (status >= 400).then(|| status.to_string());
    }

    /// It failed in this way, told in a word.
    pub fn failed(&self, kind: &str) {
        self.state().error = Some(kind.to_owned());
    }

    /// A reply named the model that gave it.
    pub fn answered_by(&self, model: &str) {
        if model.len() <= LONGEST_NAME {
            self.state().model = Some(model.to_owned());
        }
    }

    /// What a reply bills.
    pub fn billed(&self, more: Billed) {
        let mut state = self.state();
        let so_far = state.billed.unwrap_or_default();
        state.billed = Some(Billed {
            fresh: so_far.fresh.saturating_add(more.fresh),
            read: so_far.read.saturating_add(more.read),
            written: so_far.written.saturating_add(more.written),
            written_long: so_far.written_long.saturating_add(more.written_long),
            output: so_far.output.saturating_add(more.output),
        });
    }

    /// All of the answer is with the client.
    pub fn over(&self) {
        self.state().is_over = true;
    }

    fn state(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ModelCall {
    fn drop(&mut self) {
        let state = std::mem::take(self.state.get_mut().unwrap_or_else(PoisonError::into_inner));
        let span = &self.span;
        if let Some(status) = state.status {
            span.record("http.response.status_code", status);
        }
        if let Some(model) = state.model {
            span.record("gen_ai.response.model", model);
        }
        if let Some(billed) = state.billed {
            span.record("gen_ai.usage.input_tokens", billed.prompt());
            span.record("gen_ai.usage.output_tokens", billed.output);
            span.record("gen_ai.usage.cache_read.input_tokens", billed.read);
            let written = billed.written.saturating_add(billed.written_long);
            span.record("gen_ai.usage.cache_write.input_tokens", written);
        }
        let cancelled = || (!state.is_over).then(|| "cancelled".to_owned());
        if let Some(kind) = state.error.or_else(cancelled) {
            crate::fail(span, &kind);
        }
        // The span ends with its last use: its compactions may go on.
        span.in_scope(|| ());
    }
}
