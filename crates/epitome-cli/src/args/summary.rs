//! Arguments for summaries.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use epitome::model::Money;
use epitome::summarize::OnFailure;

use crate::values::{Spec, dollars, on_failure, seconds};

/// How to summarize folded messages.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Summary")]
pub(crate) struct SummaryArgs {
    /// Who summarizes folded messages: `extractive` (code, no model), a model (`openai:MODEL`, `anthropic:MODEL`,
    /// `gemini:MODEL`, `URL#MODEL`), `cmd:PROG`, or `grpc:URL#NAME`, a whole compactor [default: extractive].
    #[arg(
        long,
        value_name = "WHO",
        long_help = "\
Who summarizes folded messages. A summary is used only if it passes checks; it changes nothing else in the \
checkpoint. The receipt lists each call with its usage and cost, and why its summary was rejected, if so.

extractive
    code, no model; the default
openai:MODEL, openai-responses:MODEL
    the key is in OPENAI_API_KEY, the address in OPENAI_BASE_URL, if set
anthropic:MODEL
    ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL
gemini:MODEL
    GOOGLE_API_KEY or GEMINI_API_KEY, GOOGLE_GEMINI_BASE_URL
URL#MODEL
    any server with OpenAI's Chat Completions API, such as http://localhost:11434/v1#qwen3:4b; \
its key, if it wants one, is in EPITOME_API_KEY (no other key is ever sent there)
cmd:PROG ARGUMENTS
    reads JSON from stdin ({\"version\":1, \"instruction\", \"transcript\", \"so_far\", \"max_tokens\"}, and \"reason\" if there is one) and writes \
{\"version\":1, \"summary\":\"…\"}; so_far is the summary of earlier messages
grpc:URL#NAME
    a whole compactor, asked first: it decides what becomes of each message, and summarizes. If its view breaks a \
law, the built-in engine compacts instead. --trigger remote asks it on every call. https:// uses TLS (EPITOME_RPC_CA names a file \
with your own CA certificates). EPITOME_RPC_TOKEN holds its token, if it wants one. It names its own time limit, else 120 s \
(crates/epitome-rpc/proto has the contract, `epitome sidecar` serves one)
client, client:MODEL
    for `serve` and `wrap`: each client's own model, or this one, at the upstream of its request, with the credential of \
this request, which is kept for this summary and in memory only

A variable with _FILE after its name can name a file with the key. HTTPS_PROXY, NO_PROXY and \
SSL_CERT_FILE apply. Folded messages are sent only to the summarizers that you name; `epitome doctor` lists them."
    )]
    pub(crate) summarizer: Option<Spec>,

    /// The summarizer to ask next if the one before gives no usable summary (may be repeated).
    #[arg(long, value_name = "WHO", requires = "summarizer")]
    pub(crate) then: Vec<Spec>,

    /// What to do if no summarizer gives one: a checkpoint without a summary, no compaction, or a failure
    /// (69) [default: extractive].
    #[arg(long, value_name = "extractive|skip|error", value_parser = on_failure)]
    pub(crate) on_failure: Option<OnFailure>,

    /// The agent's own model, if it is one of the summarizers (`anthropic:MODEL`, as above). FILE must be the agent's
    /// next request, whose beginning is in the provider's cache. If that costs less, the summary is asked for at the end
    /// of this request instead of with a separate transcript; the receipt has the figures.
    #[arg(id = "for", long, value_name = "WHO", requires = "summarizer")]
    pub(crate) agent: Option<Spec>,

    /// What the summary should focus on.
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,

    /// The maximum number of tokens of a summary; the checkpoint's room is a second limit [default: 16,000, or a quarter of
    /// the summarizer's window].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), allow_negative_numbers = true)]
    pub(crate) summary_tokens: Option<u64>,

    /// Use the instruction in this file instead of the built-in one; no sections are required then.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) prompt: Option<PathBuf>,

    /// The time limit for one answer, with retries, in seconds [default: 120].
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) timeout: Option<Duration>,

    /// The spending limit for all model calls, in dollars. Calls that may exceed it aren't made, nor calls of
    /// a model with an unknown price.
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub(crate) spend: Option<Money>,

    /// The spending limit for one session, over all runs. A session is identified by its first human message.
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub(crate) spend_session: Option<Money>,

    /// The spending limit for one day (UTC), over all runs. The amounts are kept in `epitome/spent.json` in the XDG
    /// state folder.
    #[arg(long, value_name = "USD", value_parser = dollars, allow_negative_numbers = true)]
    pub(crate) spend_day: Option<Money>,
}

impl SummaryArgs {
    /// The summarizers, in order; `None` if the flags name none.
    pub(crate) fn chain(&self) -> Option<Vec<Spec>> {
        let first = self.summarizer.clone()?;
        Some(std::iter::once(first).chain(self.then.iter().cloned()).collect())
    }

    /// The flags about summaries that are set.
    pub(crate) fn about_summaries(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            ("--on-failure", self.on_failure.is_some()),
            ("--focus", self.focus.is_some()),
            ("--summary-tokens", self.summary_tokens.is_some()),
            ("--prompt", self.prompt.is_some()),
            ("--timeout", self.timeout.is_some()),
            ("--spend", self.spend.is_some()),
            ("--spend-session", self.spend_session.is_some()),
            ("--spend-day", self.spend_day.is_some()),
        ];
        flags.into_iter().filter(|(_, is_said)| *is_said).map(|(flag, _)| flag)
    }
}
