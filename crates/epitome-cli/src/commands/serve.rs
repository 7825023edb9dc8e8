//! `serve`: a proxy between agents and the providers of their models.

use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::pin::pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use epitome::session::Landing;
use epitome_proxy::{
    CallerAccess, InternalErrors, Listening, ManagementToken, Outward, Proxy, ProxyError,
    ProxyEvent, ProxyObserver, ProxyOptions, RecallSource, TlsIdentity, Upstreams,
};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::args::{AroundArgs, ListenAt, LogForm, ProxyArgs, ServeArgs};
use crate::config::Settings;
use crate::failure::{Exit, Failure};
use crate::kept;
use crate::otlp::Spans;
use crate::output::{self, Report};
use crate::signals::{Asked, Heed};
use crate::summarizers::{Clients, helpers};

/// A host that credentials may be sent to without TLS.
const PLAIN: &str = "EPITOME_PLAIN_HTTP";

/// The dashboard's token.
const TOKEN: &str = "EPITOME_TOKEN";

/// Between two looks at whether somebody asks it to end.
const TICK: Duration = Duration::from_millis(100);

/// Serves until it is ended.
pub(crate) fn run(args: &ServeArgs, report: Report) -> Result<Exit> {
    if let ListenAt::Address(at) = &args.listen
        && !(at.ip().is_loopback() || args.plain || args.tls_cert.is_some())
    {
        let what = format!("{at} can be reached from other machines, and nothing is encrypted");
        bail!(Failure::usage(what).hint(
            "listen on an address of this machine, name --tls-cert and --tls-key, or --plain where something else encrypts"
        ));
    }
    let identity = identity(args)?;
    let token = token(args.token.as_deref())?;
    let management = Some(ManagementToken::new(token.word()));
    let recall = match (args.recall, args.inject_recall) {
        (_, true) => RecallSource::Offered,
        (true, false) => RecallSource::Memory,
        (false, false) => RecallSource::None,
    };
    let logs = args.log == Some(LogForm::Json);
    let lines = if logs || matches!(report, Report::Json) { Lines::Json } else { Lines::Words };
    let observer = Some(ProxyObserver::new(move |event| match event {
        ProxyEvent::Waiting { api, conversation, why } if lines == Lines::Words => {
            output::tell(&format!(
                "conversation {conversation} ({api}) waits for you: {why}; agree at /ui/{conversation}"
            ));
        }
        ProxyEvent::FellBack { api, conversation, why } if lines == Lines::Words => {
            output::tell(&format!(
                "conversation {conversation} ({api}) was compacted otherwise: {why}"
            ));
        }
        ProxyEvent::Waiting { .. } | ProxyEvent::FellBack { .. } => log(event),
        _ if logs => log(event),
        _ => {}
    }));
    let span_parent = Some(Spans::parent());
    let options =
        ProxyOptions { management, observer, recall, span_parent, ..options(&args.proxy)? };
    // A machine without such a folder is served, too.
    let usual = args.proxy.store.is_none().then(kept::usual);
    let (usual, unkept) = match usual.transpose() {
        Ok(usual) => (usual, None),
        Err(error) => (None, Some(error)),
    };
    let options = ProxyOptions { state: options.state.or(usual), ..options };
    let (proxy, socket, at) = match &args.listen {
        ListenAt::Address(at) => {
            let (proxy, listener, at) = listening(&options, *at)?;
            let scheme = if identity.is_some() { "https" } else { "http" };
            (proxy, Socket::Tcp(listener), format!("{scheme}://{at}"))
        }
        ListenAt::Path(path) => {
            (made(&options)?, Socket::at(path)?, format!("unix:{}", path.display()))
        }
    };
    // Before there are threads, which then leave it to this one.
    let asked = Asked::listen(Heed::All);
    let runtime = runtime()?;
    let spans = Spans::begin(runtime.handle(), move |what| warn(lines, what))?;
    let ended = runtime.block_on(async {
        let upstreams: Vec<String> = options.upstreams.iter().map(ToString::to_string).collect();
        match report {
            Report::Words => {
                output::tell(&format!("serving {at}, before {}", upstreams.join(", ")));
                if let Token::Drawn(word) = &token {
                    output::unmasked_note(&format!("dashboard {at}/ui, password {word}"));
                }
            }
            Report::Json => {
                let mut told = json!({ "version": 1, "serving": at });
                if let Token::Drawn(word) = &token {
                    told["token"] = json!(word);
                }
                output::unmasked_note(&told.to_string());
            }
        }
        if let Some(error) = &unkept {
            warn(lines, &format!("conversations are kept in memory only: {error:#}"));
        }
        let listening = socket.listening().context("nothing can be served")?;
        let listening = match identity {
            Some(identity) => listening.with_tls(identity),
            None => listening,
        };
        until_asked(proxy, listening, &asked, lines).await
    });
    if let (Some(spans), true) = (spans, ended.is_ok()) {
        spans.flush();
    }
    runtime.shutdown_background();
    if let ListenAt::Path(path) = &args.listen {
        // Whoever connects next is told that nobody is there.
        drop(std::fs::remove_file(path));
    }
    ended
}

/// Where it listens, before there is a runtime.
enum Socket {
    Tcp(TcpListener),
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixListener),
}

impl Socket {
    /// A path of this machine, which only its user may connect to. What an ended proxy left there is replaced.
    #[cfg(unix)]
    fn at(path: &Path) -> Result<Self> {
        use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
        use std::os::unix::net::{UnixListener, UnixStream};

        let is_left = std::fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket())
            && UnixStream::connect(path).is_err();
        if is_left {
            std::fs::remove_file(path).with_context(|| path.display().to_string())?;
        }
        let listener = UnixListener::bind(path).map_err(|error| {
            Failure::usage(format!("can't listen at {}: {error}", path.display()))
                .hint("--listen unix:PATH needs an unused path in an existing folder")
        })?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
            .with_context(|| path.display().to_string())?;
        listener.set_nonblocking(true).context("where it listens")?;
        Ok(Socket::Unix(listener))
    }

    #[cfg(not(unix))]
    fn at(path: &Path) -> Result<Self> {
        bail!(Failure::usage(format!("{}: this system has no Unix sockets", path.display())))
    }

    fn listening(self) -> std::io::Result<Listening> {
        match self {
            Socket::Tcp(listener) => Ok(tokio::net::TcpListener::from_std(listener)?.into()),
            #[cfg(unix)]
            Socket::Unix(listener) => Ok(tokio::net::UnixListener::from_std(listener)?.into()),
        }
    }
}

/// What it proves with who it is.
fn identity(args: &ServeArgs) -> Result<Option<TlsIdentity>> {
    let (Some(chain), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    let read = |path: &Path| {
        std::fs::read(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
    };
    let identity = TlsIdentity::from_pem(&read(chain)?, &read(key)?);
    Ok(Some(identity.map_err(|error| {
        Failure::usage(error.to_string()).hint("--tls-cert and --tls-key name files in PEM")
    })?))
}

/// What lines are written in while it serves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lines {
    Words,
    Json,
}

fn warn(lines: Lines, what: &str) {
    match lines {
        Lines::Json => output::note(&stamped(json!({ "warning": what })).to_string()),
        Lines::Words => output::warn(what),
    }
}

/// A line for an event.
fn log(event: &ProxyEvent) {
    let told = match event {
        ProxyEvent::Answered { api, status, took } => {
            let ms = (took.as_secs_f64() * 1e6).round() / 1e3;
            json!({"api": api, "status": status, "ms": ms})
        }
        ProxyEvent::Waiting { api, conversation, why } => {
            json!({"api": api, "waiting": conversation, "why": why})
        }
        ProxyEvent::FellBack { api, conversation, why } => {
            json!({"api": api, "fell_back": conversation, "why": why})
        }
        _ => return,
    };
    output::note(&stamped(told).to_string());
}

/// The same, with the time.
fn stamped(mut told: Value) -> Value {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    told["time"] = json!((time * 1e3).round() / 1e3);
    told
}

/// The word that opens the dashboard.
enum Token {
    /// As the caller wants it.
    Given(String),
    /// Another one each time.
    Drawn(String),
}

impl Token {
    fn word(&self) -> &str {
        match self {
            Token::Given(word) | Token::Drawn(word) => word,
        }
    }
}

/// As it was given, else drawn.
fn token(said: Option<&str>) -> Result<Token> {
    let said = said.map(str::to_owned).or_else(|| std::env::var(TOKEN).ok());
    let Some(word) = said else { return Ok(Token::Drawn(ManagementToken::drawn())) };
    if word.len() < 8 || word.contains(char::is_control) {
        let what = "the dashboard's token has fewer than 8 characters, or odd ones";
        bail!(Failure::usage(what).hint(format!("export {TOKEN}=$(openssl rand -hex 16)")));
    }
    Ok(Token::Given(word))
}

pub(super) fn runtime() -> Result<Runtime> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.enable_all().build().context("nothing can be served")
}

/// What the proxy is to do.
pub(super) fn options(args: &ProxyArgs) -> Result<ProxyOptions> {
    let upstreams = Upstreams::of(&args.upstream).map_err(|error| {
        Failure::usage(format!("--upstream: {error}"))
            .hint("epitome serve --upstream openai=http://localhost:11434/v1")
    })?;
    let allowed = std::env::var(PLAIN).unwrap_or_default();
    if let Some(host) =
        upstreams.iter().filter_map(|one| one.plain_host()).find(|it| *it != allowed)
    {
        let what =
            format!("credentials aren't sent to {host}, which isn't this machine, without TLS");
        bail!(
            Failure::usage(what)
                .hint(format!("name it by https://…, or allow it: export {PLAIN}={host}"))
        );
    }
    let usual = ProxyOptions::default();
    let (window, windows) = by_model("--window", &args.window)?;
    let (trigger, triggers) = by_model("--trigger", &args.trigger)?;
    if args.summary.agent.is_some() || args.summary.spend_session.is_some() {
        bail!(Failure::usage(
            "--for and --spend-session apply to one session, and a proxy has many"
        ));
    }
    let (around, settings) = (AroundArgs::default(), Settings::default());
    let helpers = helpers(&args.summary, &around, &settings, Clients::OfProxy)?;
    Ok(ProxyOptions {
        upstreams: upstreams.compacting(args.native.clone()),
        window,
        windows,
        mode: args.mode,
        trigger: trigger.unwrap_or(usual.trigger),
        triggers,
        soft: args.soft_trigger.clone(),
        landing: args.target.map_or(usual.landing, Landing::Target),
        summaries: helpers.summaries,
        compactors: helpers.compactors,
        callers: if helpers.is_clients { CallerAccess::Summarizers } else { CallerAccess::None },
        state: args.store.as_deref().map(kept::named).transpose()?.flatten(),
        internal_errors: if args.fail_closed {
            InternalErrors::Refuse
        } else {
            InternalErrors::Forward
        },
        outward: Outward::Environment,
        ..usual
    })
}

/// What is set for all models, and for each that is named.
type ByModel<T> = (Option<T>, Vec<(String, T)>);

fn by_model<T: Clone>(flag: &str, given: &[(Option<String>, T)]) -> Result<ByModel<T>> {
    let (mut all, mut each) = (None, Vec::new());
    for (model, value) in given {
        match model {
            Some(model) => each.push((model.clone(), value.clone())),
            None if all.is_none() => all = Some(value.clone()),
            None => bail!(
                Failure::usage(format!("{flag} is given twice for all models"))
                    .hint(format!("{flag} MODEL=… is for one"))
            ),
        }
    }
    Ok((all, each))
}

/// A proxy that asks nobody anything yet.
fn made(options: &ProxyOptions) -> Result<Proxy> {
    Ok(Proxy::new(options).map_err(|error| match error {
        ProxyError::NoRoots => Failure::other(error.to_string())
            .hint("install them (ca-certificates), or name a file: export SSL_CERT_FILE=…"),
        error => Failure::usage(error.to_string()),
    })?)
}

/// A proxy, and where it listens.
pub(super) fn listening(
    options: &ProxyOptions,
    at: SocketAddr,
) -> Result<(Proxy, TcpListener, SocketAddr)> {
    let proxy = made(options)?;
    let listener = TcpListener::bind(at).map_err(|error| {
        Failure::other(format!("can't listen on {at}: {error}"))
            .hint("--listen 127.0.0.1:0 takes a free port")
    })?;
    listener.set_nonblocking(true).context("where it listens")?;
    let at = listener.local_addr().context("where it listens")?;
    if let Some(upstream) = options.upstreams.iter().find(|one| one.is_at(at)) {
        let what = format!("{upstream} is this proxy itself");
        bail!(Failure::usage(what).hint("--upstream is where requests go from here"));
    }
    Ok((proxy, listener, at))
}

/// Serves until somebody asks it to end, and what is under way is finished; asked again it ends at once.
async fn until_asked(
    proxy: Proxy,
    listener: Listening,
    asked: &Asked,
    lines: Lines,
) -> Result<Exit> {
    let (end, ended) = oneshot::channel::<()>();
    let mut end = Some(end);
    let mut serving = pin!(served(proxy, listener, async { drop(ended.await) }));
    let mut ticks = tokio::time::interval(TICK);
    loop {
        tokio::select! {
            served = &mut serving => return served.map(|()| Exit::Ok),
            _ = ticks.tick() => {}
        }
        if asked.to_end() {
            if end.take().is_none() {
                bail!(Failure::interrupted("ended before open requests had finished"));
            }
            let what = "ending when open requests have finished; a second signal ends it at once";
            match lines {
                Lines::Json => output::note(&stamped(json!({ "ending": what })).to_string()),
                Lines::Words => output::tell(what),
            }
        }
    }
}

pub(super) async fn served(
    proxy: Proxy,
    listener: impl Into<Listening>,
    ended: impl Future<Output = ()>,
) -> Result<()> {
    proxy.serve(listener, ended).await.map_err(|error| Failure::other(error.to_string()).into())
}
