//! `sidecar`: the built-in engine as a whole compactor for others, over gRPC.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use epitome::engine::delegate::{Decision, Job, ProposedView, Skip, from_fn};
use epitome::model::Registry;
use epitome::strategy::{Ladder, Pipeline, Setting};
use epitome::summarize::{FailureKind, SummarizeError};
use epitome::view::{Fate, Reason};
use epitome::{Compactor, Options, Pin, Target};
use epitome_rpc::{BadIdentity, Identity, Served, Serving, serve};
use tokio::net::TcpListener;

use crate::args::SidecarArgs;
use crate::counters::named;
use crate::failure::{Exit, Failure};
use crate::output::{self, Report};
use crate::quoting::name;
use crate::reader::of_format;
use crate::summarizers::remote::{TOKEN, token};

/// The name that callers put behind the `#`.
const NAME: &str = "epitome";

/// Serves until it is ended.
pub(crate) fn run(args: &SidecarArgs, report: Report) -> Result<Exit> {
    let token = token()?;
    if token.is_none() && !args.listen.ip().is_loopback() {
        let what =
            format!("{} can be reached from other machines, and no token is required", args.listen);
        bail!(
            Failure::usage(what)
                .hint(format!("set {TOKEN}, or listen on an address of this machine"))
        );
    }
    let identity = identity(args)?;
    if identity.is_none() && !args.plain && !args.listen.ip().is_loopback() {
        let what =
            format!("{} can be reached from other machines, and nothing is encrypted", args.listen);
        bail!(
            Failure::usage(what)
                .hint("--tls-cert and --tls-key, or --plain where something else encrypts")
        );
    }
    let scheme = if identity.is_some() { "https" } else { "http" };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("nothing can be served")?;
    runtime.block_on(async {
        let listener = TcpListener::bind(args.listen).await.map_err(|error| {
            Failure::other(format!("can't listen on {}: {error}", args.listen))
                .hint("--listen 127.0.0.1:0 takes a free port")
        })?;
        let at = listener.local_addr().context("where it listens")?;
        match report {
            Report::Words => output::tell(&format!("serving grpc:{scheme}://{at}#{NAME}")),
            Report::Json => {
                let told = serde_json::json!({ "version": 1, "serving": at });
                output::note(&told.to_string());
            }
        }
        let engine = from_fn(NAME, |job: Arc<Job>| async move {
            let planned = tokio::task::spawn_blocking(move || plan(&job)).await;
            planned.unwrap_or_else(|error| Err(failed(error.to_string())))
        });
        let served = Served::new(engine, "the ladder of the epitome binary, without a model");
        let message = usize::from(args.message) << 20;
        let serving = Serving { token, message, identity, ..Serving::new(vec![served]) };
        let ended = serve(listener, serving, std::future::pending()).await;
        ended.map_err(|error| Failure::other(format!("serving stopped: {error}")))?;
        Ok(Exit::Ok)
    })
}

/// Who it proves to be, if it is to speak TLS.
fn identity(args: &SidecarArgs) -> Result<Option<Identity>> {
    let (Some(certificates), Some(key)) = (&args.tls_cert, &args.tls_key) else { return Ok(None) };
    let read = |flag: &str, path: &Path| {
        std::fs::read(path)
            .map_err(|error| Failure::usage(format!("{flag} {}: {error}", name(path))))
    };
    let certificates_pem = read("--tls-cert", certificates)?;
    let key_pem = read("--tls-key", key)?;
    let identity = Identity::from_pem(certificates_pem, key_pem).map_err(|error| {
        let what = match error {
            BadIdentity::NoCertificate => format!("--tls-cert {}", name(certificates)),
            BadIdentity::NoKey => format!("--tls-key {}", name(key)),
            _ => format!("--tls-cert {}, --tls-key {}", name(certificates), name(key)),
        };
        Failure::usage(format!("{what}: {error}"))
    })?;
    Ok(Some(identity))
}

fn failed(why: impl Into<String>) -> SummarizeError {
    SummarizeError::new(FailureKind::Upstream, why)
}

/// What the ladder makes of it, as far as callers let others edit.
fn plan(job: &Job) -> Result<Decision, SummarizeError> {
    if job.tokens <= job.target {
        return Ok(Decision::Skip(Skip::new("it is at the target")));
    }
    // What belongs together stays together: the caller may see other units than this side.
    let held: BTreeSet<usize> =
        job.entries.iter().filter(|known| !known.may_leave).map(|known| known.unit).collect();
    let pins = job.entries.iter().enumerate().filter(|(_, known)| held.contains(&known.unit));
    let options = Options {
        target: Target::Tokens(job.target),
        pins: pins.map(|(at, _)| Pin::Entry(at)).collect(),
        // A call leaves with its unit alone.
        strategies: Pipeline::Ladder(Ladder { failed: Setting::Off, ..Ladder::default() }),
        ..Options::default()
    };
    let model = job.request.model();
    let tokenizer = model.as_deref().and_then(|name| Registry::built_in().tokenizer(name));
    let counter = tokenizer.map_or_else(|| of_format(job.request.format), |known| known.counter());
    let counter = named(counter).map_err(|error| failed(error.to_string()))?;
    let compactor = Compactor::new(options, counter).map_err(|error| failed(error.to_string()))?;
    let outcome = compactor.compact(&job.request).map_err(|error| failed(error.to_string()))?;
    if outcome.view.is_whole() {
        return Err(failed("it is at the target by the count of this side"));
    }
    if outcome.base.source() != job.request.source() {
        return Err(failed("the request breaks a rule of its format"));
    }
    let transcript = &job.request.transcript;
    let fates = outcome.view.fates().enumerate().map(|(at, fate)| match fate {
        Fate::Edit(edits) => {
            let first = transcript.entry(at).slots().start;
            let may_edit = |slot: u32| job.entries[at].may_edit[(slot - first) as usize];
            let left: Box<[_]> = edits.iter().filter(|edit| may_edit(edit.at.0)).cloned().collect();
            if left.is_empty() { Fate::Keep } else { Fate::Edit(left) }
        }
        fate => fate.clone(),
    });
    let mut fates: Vec<Fate> = fates.collect();
    let gone = fates.iter().zip(&job.entries).filter(|(fate, _)| !fate.is_shown());
    let gone: BTreeSet<usize> = gone.map(|(_, known)| known.unit).collect();
    for (fate, known) in fates.iter_mut().zip(&job.entries) {
        if fate.is_shown() && gone.contains(&known.unit) {
            *fate = Fate::Fold(Reason::OlderStep);
        }
    }
    Ok(Decision::Compacted(ProposedView { fates, ..ProposedView::default() }))
}
