//! `wrap`: an agent behind a private proxy.

use std::ffi::{OsStr, OsString};
use std::future::pending;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::process::ExitStatus;

use anyhow::{Context as _, Result, bail};
use epitome_proxy::Provider;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use tempfile::NamedTempFile;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::serve::{listening, options, runtime, served};
use crate::args::{ProxyArgs, WrapArgs, WrappedAgent};
use crate::failure::{Exit, Failure};

/// How an agent is told, for one run.
#[derive(Debug, Default)]
struct Setup {
    /// Words before those of the caller.
    words: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
    /// What it reads, for as long as it runs.
    file: Option<NamedTempFile>,
}

/// An extension of pi's that changes the addresses of its providers, and nothing else of them.
fn extension(url: &str) -> String {
    let at = [("anthropic", ""), ("openai", "/v1"), ("google", "/v1beta")];
    let lines = at.map(|(name, path)| {
        format!(
            "  pi.registerProvider({}, {});\n",
            json!(name),
            json!({"baseUrl": format!("{url}{path}")})
        )
    });
    format!("export default function (pi) {{\n{}}}\n", lines.concat())
}

impl WrappedAgent {
    fn program(self) -> &'static str {
        match self {
            WrappedAgent::Claude => "claude",
            WrappedAgent::Codex => "codex",
            WrappedAgent::Gemini => "gemini",
            WrappedAgent::Opencode => "opencode",
            WrappedAgent::Pi => "pi",
        }
    }

    /// Has it ask at `url`.
    fn setup(self, url: &str) -> Result<Setup> {
        let mut setup = Setup::default();
        match self {
            WrappedAgent::Claude => {
                setup.set("ANTHROPIC_BASE_URL", url);
                // Without it, each request has another word in its system prompt, and no cache holds.
                setup.set("CLAUDE_CODE_ATTRIBUTION_HEADER", "0");
            }
            WrappedAgent::Codex => {
                // Its own providers can't be changed, so that it gets another one.
                let (key, path) = if std::env::var_os("OPENAI_API_KEY").is_some() {
                    (r#"env_key="OPENAI_API_KEY""#, "")
                } else if codex_has_key() {
                    ("requires_openai_auth=true", "")
                } else {
                    // A login is known at ChatGPT's address and nowhere else.
                    ("requires_openai_auth=true", "/backend-api/codex")
                };
                let provider = format!(
                    "model_providers.epitome={{name=\"OpenAI\",base_url=\"{url}{path}\",wire_api=\"responses\",{key},\
                     supports_websockets=false}}"
                );
                let words = ["-c", &provider, "-c", "model_provider=\"epitome\""];
                setup.words.extend(words.map(OsString::from));
            }
            WrappedAgent::Gemini => setup.set("GOOGLE_GEMINI_BASE_URL", url),
            WrappedAgent::Opencode => {
                let at = |path: &str| json!({"options": {"baseURL": format!("{url}{path}")}});
                let providers =
                    json!({"anthropic": at("/v1"), "openai": at("/v1"), "google": at("/v1beta")});
                let told = std::env::var("OPENCODE_CONFIG_CONTENT").unwrap_or_default();
                let told = if told.trim().is_empty() { "{}" } else { &told };
                let Ok(Value::Object(mut config)) = serde_json::from_str(told) else {
                    bail!(Failure::usage("OPENCODE_CONFIG_CONTENT isn't a JSON object"));
                };
                let ours = Map::from_iter([("provider".to_owned(), providers)]);
                merge(&mut config, ours);
                setup.set("OPENCODE_CONFIG_CONTENT", Value::from(config).to_string());
            }
            WrappedAgent::Pi => {
                // It takes addresses from files alone; what its user has in them stays as it is.
                let mut file = tempfile::Builder::new().prefix("epitome-").suffix(".js").tempfile();
                let told = extension(url);
                file = file.and_then(|mut file| file.write_all(told.as_bytes()).map(|()| file));
                let file = file.context("what pi is told can't be written")?;
                setup.words.extend(["--extension".into(), file.path().into()]);
                setup.file = Some(file);
            }
        }
        let near = near(std::env::var("NO_PROXY").or_else(|_| std::env::var("no_proxy")).ok());
        setup.set("NO_PROXY", &near);
        setup.set("no_proxy", near);
        Ok(setup)
    }
}

impl Setup {
    fn set(&mut self, name: &'static str, value: impl AsRef<OsStr>) {
        self.variables.push((name, value.as_ref().to_owned()));
    }
}

/// Whether `codex login` was given an API key, as far as its file tells.
fn codex_has_key() -> bool {
    #[derive(Deserialize)]
    struct Login {
        #[serde(rename = "OPENAI_API_KEY")]
        key: Option<IgnoredAny>,
        tokens: Option<IgnoredAny>,
    }
    let home = std::env::var_os("CODEX_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".codex")));
    let text = home.and_then(|home| std::fs::read_to_string(home.join("auth.json")).ok());
    let login = text.and_then(|text| serde_json::from_str::<Login>(&text).ok());
    login.is_some_and(|login| login.key.is_some() && login.tokens.is_none())
}

/// The hosts that are asked directly, this machine among them.
fn near(said: Option<String>) -> String {
    match said {
        // All hosts are. Some tools read it only where it stands alone.
        Some(said) if said.trim() == "*" => said,
        Some(said) if !said.trim().is_empty() => format!("{said},127.0.0.1"),
        _ => "127.0.0.1".to_owned(),
    }
}

/// Puts `more` into `into`, object by object.
fn merge(into: &mut Map<String, Value>, more: Map<String, Value>) {
    for (name, value) in more {
        match (into.get_mut(&name), value) {
            (Some(Value::Object(into)), Value::Object(more)) => merge(into, more),
            (_, value) => drop(into.insert(name, value)),
        }
    }
}

/// Where the environment says that each provider is asked.
const VARIABLES: [(Provider, &str); 3] = [
    (Provider::Anthropic, "ANTHROPIC_BASE_URL"),
    (Provider::OpenAi, "OPENAI_BASE_URL"),
    (Provider::Gemini, "GOOGLE_GEMINI_BASE_URL"),
];

/// The upstreams that are named, and those of the environment that aren't.
fn upstreams(args: &ProxyArgs) -> Vec<String> {
    let names = |name: &str| args.upstream.iter().any(|one| one.starts_with(&format!("{name}=")));
    let for_all = args.upstream.iter().any(|one| {
        let name = one.split_once('=').map_or("", |(name, _)| name);
        !Provider::ALL.iter().any(|provider| provider.name() == name)
    });
    let found = VARIABLES.iter().filter(|(provider, _)| !for_all && !names(provider.name()));
    let found = found.filter_map(|(provider, variable)| {
        let url = std::env::var(variable).ok().filter(|url| !url.trim().is_empty())?;
        Some(format!("{}={}", provider.name(), url.trim()))
    });
    args.upstream.iter().cloned().chain(found).collect()
}

/// Runs the agent, and ends as it ends.
pub(crate) fn run(args: &WrapArgs) -> Result<Exit> {
    let proxy = ProxyArgs { upstream: upstreams(&args.proxy), ..args.proxy.clone() };
    let options = options(&proxy)?;
    let (proxy, listener, at) = listening(&options, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let setup = args.agent.setup(&format!("http://{at}"))?;
    let mut command = Command::new(args.agent.program());
    let Setup { words, variables, file } = setup;
    command.args(&words).args(&args.words).envs(variables);
    let runtime = runtime()?;
    let status = runtime.block_on(async {
        let listener = TcpListener::from_std(listener).context("nothing can be served")?;
        let mut serving = pin!(served(proxy, listener, pending()));
        let mut signals = Signals::new().context("signals can't be heard")?;
        let mut child = command.spawn().map_err(|error| {
            let what = format!("`{}` can't be run: {error}", args.agent.program());
            Failure::other(what).hint("install it, or put the folder that it is in on PATH")
        })?;
        loop {
            tokio::select! {
                ended = child.wait() => return ended.context("the agent is lost"),
                failed = &mut serving => {
                    failed?;
                    bail!("nothing is served any longer");
                }
                () = signals.asked_to_end() => pass_on(&child),
            }
        }
    })?;
    runtime.shutdown_background();
    drop(file);
    std::process::exit(code(status))
}

/// Keeps this program alive while the agent decides what a signal means. Handlers, unlike a mask, aren't handed on to it.
#[cfg(unix)]
struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> std::io::Result<Self> {
        let terminate = signal(SignalKind::terminate())?;
        Ok(Signals { terminate, interrupt: signal(SignalKind::interrupt())? })
    }

    /// What a terminal sends, the agent hears by itself.
    async fn asked_to_end(&mut self) {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return,
                _ = self.interrupt.recv() => {}
            }
        }
    }
}

#[cfg(unix)]
fn pass_on(child: &Child) {
    use nix::sys::signal::{Signal, kill};

    if let Some(pid) = child.id().and_then(|id| i32::try_from(id).ok()) {
        // It may have ended just now.
        let _gone = kill(nix::unistd::Pid::from_raw(pid), Signal::SIGTERM);
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> std::io::Result<Self> {
        Ok(Signals)
    }

    async fn asked_to_end(&mut self) {
        pending().await
    }
}

#[cfg(not(unix))]
fn pass_on(_: &Child) {}

/// The exit code of a shell for it.
fn code(status: ExitStatus) -> i32 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return 128 + signal;
    }
    status.code().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_merged_object_by_object() {
        let Value::Object(mut into) = json!({"a": {"b": 1, "c": {"d": 2}}, "e": 3}) else {
            panic!()
        };
        let Value::Object(more) = json!({"a": {"c": {"f": 4}, "b": {"g": 5}}}) else { panic!() };
        merge(&mut into, more);
        assert_eq!(Value::from(into), json!({"a": {"b": {"g": 5}, "c": {"d": 2, "f": 4}}, "e": 3}));
    }

    #[test]
    fn pi_is_told_each_address() {
        let told = extension("http://127.0.0.1:1");
        for line in [
            r#"pi.registerProvider("anthropic", {"baseUrl":"http://127.0.0.1:1"});"#,
            r#"pi.registerProvider("google", {"baseUrl":"http://127.0.0.1:1/v1beta"});"#,
        ] {
            assert!(told.contains(line), "{told}");
        }
    }

    #[test]
    fn this_machine_is_asked_directly() {
        assert_eq!(near(None), "127.0.0.1");
        assert_eq!(near(Some("internal.example".to_owned())), "internal.example,127.0.0.1");
        assert_eq!(near(Some(" ".to_owned())), "127.0.0.1");
        assert_eq!(near(Some("*".to_owned())), "*");
    }
}
