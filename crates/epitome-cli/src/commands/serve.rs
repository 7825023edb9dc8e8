//! `serve`: a proxy between agents and the providers of their models.

use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use epitome::session::Landing;
use epitome_proxy::{ManagementToken, Proxy, ProxyError, ProxyOptions, Upstreams};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::args::{ProxyArgs, ServeArgs};
use crate::failure::{Exit, Failure};
use crate::output::{self, Report};
use crate::signals::{Asked, Heed};

/// A host that credentials may be sent to without TLS.
const PLAIN: &str = "EPITOME_PLAIN_HTTP";

/// The dashboard's token.
const TOKEN: &str = "EPITOME_TOKEN";

/// Between two looks at whether somebody asks it to end.
const TICK: Duration = Duration::from_millis(100);

/// Serves until it is ended.
pub(crate) fn run(args: &ServeArgs, report: Report) -> Result<Exit> {
    if !args.listen.ip().is_loopback() && !args.plain {
        let what = format!("{} is open to others, and nothing is encrypted", args.listen);
        bail!(Failure::usage(what).hint(
            "listen on an address of this machine, or --plain where something else encrypts"
        ));
    }
    let token = token(args.token.as_deref())?;
    let management = Some(ManagementToken::new(token.word()));
    let options = ProxyOptions { management, ..options(&args.proxy)? };
    let (proxy, listener, at) = listening(&options, args.listen)?;
    // Before there are threads, which then leave it to this one.
    let asked = Asked::listen(Heed::All);
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let upstreams: Vec<String> = options.upstreams.iter().map(ToString::to_string).collect();
        match report {
            Report::Words => {
                output::tell(&format!("serving http://{at}, before {}", upstreams.join(", ")));
                if let Token::Drawn(word) = &token {
                    output::unmasked_note(&format!("dashboard http://{at}/ui, password {word}"));
                }
            }
            Report::Json => {
                let mut told = json!({ "version": 1, "serving": format!("http://{at}") });
                if let Token::Drawn(word) = &token {
                    told["token"] = json!(word);
                }
                output::unmasked_note(&told.to_string());
            }
        }
        until_asked(proxy, listener, &asked).await
    });
    runtime.shutdown_background();
    ended
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
    Ok(ProxyOptions {
        upstreams,
        window: args.window,
        trigger: args.trigger.clone().unwrap_or(usual.trigger),
        landing: args.target.map_or(usual.landing, Landing::Target),
        ..usual
    })
}

/// A proxy, and where it listens.
pub(super) fn listening(
    options: &ProxyOptions,
    at: SocketAddr,
) -> Result<(Proxy, TcpListener, SocketAddr)> {
    let proxy = Proxy::new(options).map_err(|error| match error {
        ProxyError::NoRoots => Failure::other(error.to_string())
            .hint("install them (ca-certificates), or name a file: export SSL_CERT_FILE=…"),
        error => Failure::usage(error.to_string()),
    })?;
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
async fn until_asked(proxy: Proxy, listener: TcpListener, asked: &Asked) -> Result<Exit> {
    let listener = tokio::net::TcpListener::from_std(listener).context("nothing can be served")?;
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
                bail!(Failure::interrupted("ended before what was under way had finished"));
            }
            output::tell("ending once what is under way has finished; asked again, at once");
        }
    }
}

pub(super) async fn served(
    proxy: Proxy,
    listener: tokio::net::TcpListener,
    ended: impl Future<Output = ()>,
) -> Result<()> {
    proxy.serve(listener, ended).await.map_err(|error| Failure::other(error.to_string()).into())
}
