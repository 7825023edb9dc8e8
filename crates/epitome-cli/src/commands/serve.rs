//! `serve`: a proxy between agents and the providers of their models.

use std::future::Future;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use epitome::session::Landing;
use epitome_proxy::{Proxy, ProxyError, ProxyOptions, Upstreams};
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::args::{AroundArgs, ProxyArgs, ServeArgs};
use crate::config::Settings;
use crate::failure::{Exit, Failure};
use crate::kept;
use crate::output::{self, Report};
use crate::signals::{Asked, Heed};
use crate::summarizers::helpers;

/// A host that credentials may be sent to without TLS.
const PLAIN: &str = "EPITOME_PLAIN_HTTP";

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
    let options = options(&args.proxy)?;
    let (proxy, listener, at) = listening(&options, args.listen)?;
    // Before there are threads, which then leave it to this one.
    let asked = Asked::listen(Heed::All);
    let runtime = runtime()?;
    let ended = runtime.block_on(async {
        let upstreams: Vec<String> = options.upstreams.iter().map(ToString::to_string).collect();
        match report {
            Report::Words => {
                output::tell(&format!("serving http://{at}, before {}", upstreams.join(", ")));
            }
            Report::Json => {
                let told = serde_json::json!({ "version": 1, "serving": format!("http://{at}") });
                output::note(&told.to_string());
            }
        }
        until_asked(proxy, listener, &asked).await
    });
    runtime.shutdown_background();
    ended
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
        bail!(Failure::usage("--for and --spend-session are of one session, and a proxy has many"));
    }
    let helpers = helpers(&args.summary, &AroundArgs::default(), &Settings::default())?;
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
        state: args.store.as_deref().map(kept::state).transpose()?,
        limits: usual.limits,
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
