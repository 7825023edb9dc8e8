//! Arguments of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum, ValueHint};
use epitome::Target;
use epitome::trigger::When;
use epitome_proxy::{Provider, ProxyMode};

use super::SummaryArgs;
use crate::values::{trigger, window};

pub(super) const EXAMPLES: &str = "\
Examples:
  epitome serve
  ANTHROPIC_BASE_URL=http://127.0.0.1:7411 claude
  OPENAI_BASE_URL=http://127.0.0.1:7411/v1 python3 agent.py
  epitome serve --upstream openai=http://localhost:11434/v1 --window 32k
  epitome serve --upstream https://gateway.example --trigger 150k --target 40k
  epitome serve --window 'qwen*=32k' --trigger claude-opus-5-5=120k
  epitome serve --store postgres://user@host/database

The client's own credential goes to the upstream of its provider and nowhere else; it is neither stored nor logged. An upstream at \
http:// on another machine must be listed in EPITOME_PLAIN_HTTP. Requests must name this machine as their Host, and must not come from a \
web page (Origin). /livez, /readyz, /metrics and /ui are also served. Spans go to OTEL_EXPORTER_OTLP_ENDPOINT. After SIGTERM or Ctrl-C, open requests finish; a second signal \
ends the proxy at once. See docs/proxy.md.";

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Where to listen: ADDRESS:PORT (port 0 takes a free one) or unix:PATH. An address that other machines reach needs TLS or --plain.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7411")]
    pub(crate) listen: ListenAt,

    /// PEM file with the TLS certificate chain, the server's own certificate first.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// PEM file with the certificate's private key.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Write a line to stderr for each request, without content or credentials.
    #[arg(long, value_name = "FORM")]
    pub(crate) log: Option<LogForm>,

    /// Let other machines connect without TLS. Unless something else encrypts, credentials and conversations can be read on the way.
    #[arg(long)]
    pub(crate) plain: bool,

    /// The password of the dashboard at /ui [default: EPITOME_TOKEN, else a random one, printed at the start]. Other programs of
    /// this machine can read it here, but not in the environment.
    #[arg(long, value_name = "WORD")]
    pub(crate) token: Option<String>,

    /// Serve recall tools over the Model Context Protocol, at /mcp. Agents find hidden content of conversations with their own
    /// credential; up to 64 MiB of it are kept in memory.
    #[arg(long)]
    pub(crate) recall: bool,

    /// Offer the recall tools to the model, in requests that have tools. The proxy answers its calls; the client sees nothing of them.
    #[arg(long)]
    pub(crate) inject_recall: bool,

    #[command(flatten)]
    pub(crate) proxy: ProxyArgs,
}

/// Where to listen.
#[derive(Clone, Debug)]
pub(crate) enum ListenAt {
    Address(SocketAddr),
    /// A socket of this machine.
    Path(PathBuf),
}

impl FromStr for ListenAt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            if path.is_empty() {
                return Err("`unix:` names no path: unix:/run/user/1000/epitome.sock".to_owned());
            }
            return Ok(ListenAt::Path(PathBuf::from(path)));
        }
        let why = || format!("`{text}` is neither an address with a port nor unix:PATH");
        text.parse().map(ListenAt::Address).map_err(|_| why())
    }
}

/// The form of the request log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogForm {
    /// JSON: `time` (seconds since 1970), `api`, `status`, `ms` until the answer began. With --mode ask, when a conversation
    /// begins to wait: `time`, `api`, `waiting` (its name at /ui) and `why`.
    Json,
}

/// Arguments of every proxy.
#[derive(Clone, Debug, Args)]
pub(crate) struct ProxyArgs {
    /// Where requests go: `URL` for all, or `anthropic=URL`, `openai=URL`, `gemini=URL` [default: the providers' public addresses]
    /// (may be repeated).
    #[arg(long, value_name = "[NAME=]URL")]
    pub(crate) upstream: Vec<String>,

    /// `auto`: conversations that get too large are compacted. `ask`: a compaction waits until you agree at /ui; until then requests pass
    /// unchanged (not with `wrap`, which has no /ui). `off`: everything passes byte for byte, and is counted.
    #[arg(long, value_name = "MODE", default_value = "auto", value_parser = mode())]
    pub(crate) mode: ProxyMode,

    /// Answer with an error, instead of forwarding the request unchanged, if the proxy itself fails.
    #[arg(long)]
    pub(crate) fail_closed: bool,

    /// The context window of all models, or of one: `200k`, `MODEL=200k`, `claude-*=200k` (may be repeated). Without it the upstream
    /// is asked; otherwise the known window of the model is used. Refusals teach a smaller one.
    #[arg(long, value_name = "[MODEL=]N", value_parser = of_model(window))]
    pub(crate) window: Vec<(Option<String>, u64)>,

    /// When to compact, for all models or one: `80%` of the window, `120k` tokens, `MODEL=120k`, or any other value of `compact
    /// --trigger` [default: 80%] (may be repeated).
    #[arg(long, value_name = "[MODEL=]WHEN", value_parser = of_model(trigger))]
    pub(crate) trigger: Vec<(Option<String>, When)>,

    /// When to compact once the provider's cache has forgotten the prompt anyway: `50%`, `80k` [default: never].
    #[arg(long, value_name = "WHEN", value_parser = trigger)]
    pub(crate) soft_trigger: Option<When>,

    /// Where a compaction lands: tokens (`20000`, `20k`) or a share of the prompt (`25%`) [default: leaves room for 30 turns
    /// as large as those so far; from a quarter to half of the prompt, higher if people's words need it].
    #[arg(long, value_name = "N|P%")]
    pub(crate) target: Option<Target>,

    /// Where to keep the state of compacted conversations, for the next start or other proxies: a folder of your own,
    /// `postgres://…`, or `none` for memory only [default: a folder in ~/.local/state for `serve`, none for `wrap`].
    #[arg(long, value_name = "DIR|URL", value_hint = ValueHint::DirPath)]
    pub(crate) store: Option<PathBuf>,

    /// An upstream that can do its provider's own compactions: `anthropic` or `openai` (may be repeated). The public addresses
    /// can; for other upstreams the proxy does them.
    #[arg(long, value_name = "NAME", value_parser = compacting)]
    pub(crate) native: Vec<Provider>,

    #[command(flatten)]
    pub(crate) summary: SummaryArgs,
}

/// A value for all models, or for one as `MODEL=VALUE`.
fn of_model<T: Clone + Send + Sync + 'static>(
    read: impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> Result<(Option<String>, T), String> + Clone + Send + Sync + 'static {
    move |text| match (read(text), text.split_once('=')) {
        (Ok(value), _) => Ok((None, value)),
        (Err(_), Some((model, rest))) if !model.is_empty() => {
            Ok((Some(model.to_owned()), read(rest)?))
        }
        (Err(error), _) => Err(error),
    }
}

fn mode() -> impl TypedValueParser<Value = ProxyMode> {
    PossibleValuesParser::new(["auto", "ask", "off"]).map(|name| match name.as_str() {
        "ask" => ProxyMode::Ask,
        "off" => ProxyMode::Off,
        _ => ProxyMode::Auto,
    })
}

/// A provider with compactions of its own.
fn compacting(name: &str) -> Result<Provider, String> {
    let named = [Provider::Anthropic, Provider::OpenAi].into_iter().find(|it| it.name() == name);
    named.ok_or_else(|| "anthropic or openai".to_owned())
}
