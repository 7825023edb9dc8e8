//! Who writes the summary of a checkpoint, if anybody.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use epitome::model::Money;
use epitome::summarize::OnFailure;

use crate::values::{Spec, dollars, on_failure, seconds};

/// How to sum up what a checkpoint stands for.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Summary")]
pub(crate) struct SummaryArgs {
    /// Who sums up what is folded: `extractive` (code, no model), a model (`openai:MODEL`, `anthropic:MODEL`,
    /// `gemini:MODEL`, `URL#MODEL`), `cmd:PROG`, or `grpc:URL#NAME`, which does all of it [default: extractive].
    #[arg(
        long,
        value_name = "WHO",
        long_help = "\
Who sums up what is folded. A summary is admitted only after checks; everything else in a checkpoint is as it is \
without one. The receipt has each call with its usage and cost, and why it wasn't used, if so.

extractive
    code, no model; the default
openai:MODEL, openai-responses:MODEL
    the key is in OPENAI_API_KEY; OPENAI_BASE_URL holds, if it is set
anthropic:MODEL
    ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL
gemini:MODEL
    GOOGLE_API_KEY or GEMINI_API_KEY, GOOGLE_GEMINI_BASE_URL
URL#MODEL
    any server that speaks as OpenAI's Chat Completions do, such as http://localhost:11434/v1#qwen3:4b; \
EPITOME_API_KEY, if it wants a key (no other one is ever sent there)
cmd:PROG ARGUMENTS
    is given JSON on stdin ({\"version\":1, \"instruction\", \"transcript\", \"so_far\", \"max_tokens\"}, and \"reason\" where there is one) and writes \
{\"version\":1, \"summary\":\"…\"}; so_far is the summary of what was said before the transcript
grpc:URL#NAME
    a whole compactor, asked first: it says what becomes of each message, and sums up what is folded. What breaks a \
law is done here instead; --trigger remote asks it on every call. https:// speaks TLS (EPITOME_RPC_CA names a file of \
authorities of your own). EPITOME_RPC_TOKEN, if it wants a token; it says itself how long it may take, else 120 s \
(crates/epitome-rpc/proto has the contract, `epitome sidecar` serves one)

Instead of a key its variable with _FILE after its name may name a file that holds it. HTTPS_PROXY, NO_PROXY and \
SSL_CERT_FILE hold. What is folded is sent to whom you name, and nobody else; `epitome doctor` says who that is."
    )]
    pub(crate) summarizer: Option<Spec>,

    /// Who is asked next where that gives no summary that can be used (may be repeated).
    #[arg(long, value_name = "WHO", requires = "summarizer")]
    pub(crate) then: Vec<Spec>,

    /// What happens where nobody gives one: the checkpoint without a summary, no compaction, or a failure
    /// (69) [default: extractive].
    #[arg(long, value_name = "extractive|skip|error", value_parser = on_failure)]
    pub(crate) on_failure: Option<OnFailure>,

    /// Who the agent runs with, if one of those who are asked is that model (`anthropic:MODEL`, as above): FILE is
    /// the request that it sends next, and its beginning is in the provider's cache. Where that costs less, the
    /// summary is asked for behind that same request instead of by a transcript of its own; the receipt has the figures.
    #[arg(id = "for", long, value_name = "WHO", requires = "summarizer")]
    pub(crate) agent: Option<Spec>,

    /// What the summary is to look at most.
    #[arg(long, value_name = "TEXT")]
    pub(crate) focus: Option<String>,

    /// The most tokens of a summary, beside the room that the checkpoint has [default: 16,000, or a quarter of the window of
    /// whoever writes it].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) summary_tokens: Option<u64>,

    /// Ask with the instruction in this file instead of the usual one; no sections are demanded then.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) prompt: Option<PathBuf>,

    /// The longest that one answer may take, tries again included, in seconds [default: 120].
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub(crate) timeout: Option<Duration>,

    /// The most that models may cost together, in dollars; a call that may cost more isn't made, nor one of
    /// a model whose price isn't known.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) spend: Option<Money>,

    /// The same for one session, over all runs; a session is known by the first thing that a person says in it.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) spend_session: Option<Money>,

    /// The same for one day (UTC), over all runs: what was spent is kept in `epitome/spent.json` in the XDG state
    /// folder.
    #[arg(long, value_name = "USD", value_parser = dollars)]
    pub(crate) spend_day: Option<Money>,
}

impl SummaryArgs {
    /// Who is asked, in order; `None` if the flags name nobody.
    pub(crate) fn chain(&self) -> Option<Vec<Spec>> {
        let first = self.summarizer.clone()?;
        Some(std::iter::once(first).chain(self.then.iter().cloned()).collect())
    }

    /// Flags that say something of summaries.
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
