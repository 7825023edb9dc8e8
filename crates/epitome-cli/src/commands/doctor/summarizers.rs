//! Who would be asked for summaries, in order: whether there is a key, a program, and, if it may be asked, a
//! server that knows the model.

use std::env;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use epitome::summarize::{FailureKind, SummarizeError};
use epitome::text::figure::counted;
use epitome_llm::Model;

use super::{Check, bad, doubtful, good, wrong};
use crate::args::DoctorArgs;
use crate::config::Settings;
use crate::quoting::name;
use crate::reader;
use crate::summarizers::model::{self, Keys};
#[cfg(feature = "grpc")]
use crate::summarizers::remote;
use crate::terminal::{count, line};
use crate::values::{Address, Line, Named, Spec};

const SUBJECT: &str = "summarizer";

/// The longest that a server may take to list its models.
const PATIENCE: Duration = Duration::from_secs(20);

/// One for each summarizer, in the order in which they are asked.
pub(super) fn checks(args: &DoctorArgs, settings: &Settings) -> Vec<Check> {
    let flags = args.summarizer.iter().chain(&args.then).cloned().collect::<Vec<_>>();
    let said = Some(flags).filter(|flags| !flags.is_empty()).or(settings.summarizer.clone());
    let mut checks = Vec::new();
    let mut keys = Keys::default();
    for spec in said.unwrap_or_default() {
        checks.push(match &spec {
            Spec::Extractive => break,
            Spec::Command(line) => command(SUBJECT, "cmd:", &line.0[0]),
            Spec::Model(named) => served(named, &mut keys, args, settings),
            Spec::Remote(address) => whole(address, args),
            Spec::Client(_) => good(SUBJECT, format!("{spec}: each client's own key, in a proxy")),
        });
    }
    let last = if checks.is_empty() { "extractive: no model" } else { "then extractive" };
    checks.push(good(SUBJECT, last.to_owned()));
    checks
}

fn served(named: &Named, keys: &mut Keys, args: &DoctorArgs, settings: &Settings) -> Check {
    match look(named, keys, settings) {
        Ok((found, model)) if args.online => asked(named, &found, &model),
        Ok((found, model)) if model.facts().is_none() => unknown(&found),
        Ok((found, _)) => good(SUBJECT, found),
        Err(error) => wrong(SUBJECT, &error),
    }
}

/// Where it would be asked and with which key; nothing is sent.
fn look(named: &Named, keys: &mut Keys, settings: &Settings) -> Result<(String, Model)> {
    let found = model::find(named, keys)?;
    let registry = reader::price_list(settings)?;
    let key = match &found.endpoint.key {
        Some(_) => format!("key in {}", found.key_from),
        None => format!("no key ({} isn't set)", found.key_from),
    };
    let base = line(&found.endpoint.base, 120);
    let from = found.base_from.map(|from| format!(" ({from})")).unwrap_or_default();
    let told = format!("{named} at {base}{from}, {key}");
    Ok((told, model::model(named, found, PATIENCE, None, &registry)?))
}

fn unknown(found: &str) -> Check {
    doubtful(
        SUBJECT,
        format!("{found}; its window and price aren't known"),
        format!(
            "it is given at most {} tokens at a time, and nothing under --spend: put what it takes and costs \
             into your own file, epitome models --help",
            count(epitome_llm::UNKNOWN_WINDOW)
        ),
    )
}

/// Whether its server answers, takes the key and knows the model.
fn asked(named: &Named, found: &str, model: &Model) -> Check {
    let wanted = &named.model;
    let listed = match list(model) {
        Ok(Ok(listed)) => listed,
        Ok(Err(error)) => {
            let remedy = match error.kind {
                FailureKind::Unauthorized => {
                    "look at the key, and whether it is one of that provider"
                }
                FailureKind::Unreachable => {
                    "look at the address, at HTTPS_PROXY and NO_PROXY, and whether a server runs there"
                }
                _ => {
                    "look at the address: it ends before /chat/completions, /responses, /v1/messages or /v1beta"
                }
            };
            return bad(SUBJECT, format!("{found}: {error}"), remedy);
        }
        Err(error) => return wrong(SUBJECT, &error),
    };
    let answers = format!("{found}; it answers, with {}", counted(listed.len(), "model"));
    if listed.iter().any(|name| name == wanted) {
        return match model.facts() {
            Some(_) => good(SUBJECT, format!("{answers}, this one among them")),
            None => unknown(&format!("{answers}, this one among them")),
        };
    }
    let some: Vec<_> = listed.iter().take(5).map(|name| line(name, 60)).collect();
    let remedy = match &some[..] {
        [] => "the server lists no models, which may be normal".to_owned(),
        some => {
            format!("not every server lists aliases; its list begins with {}", some.join(", "))
        }
    };
    doubtful(SUBJECT, format!("{answers}, {wanted} not among them"), remedy)
}

fn list(model: &Model) -> Result<Result<Vec<String>, SummarizeError>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    Ok(runtime.context("nobody can be asked")?.block_on(model.listed()))
}

#[cfg(not(feature = "grpc"))]
fn whole(address: &Address, _args: &DoctorArgs) -> Check {
    match *address {}
}

/// Whether a whole compactor of that name is there, if it may be asked.
#[cfg(feature = "grpc")]
fn whole(address: &Address, args: &DoctorArgs) -> Check {
    let told = format!("grpc:{address}");
    let (token, remote) = match (remote::token(), remote::remote(address, None)) {
        (Ok(token), Ok(remote)) => (token, remote),
        (Err(error), _) | (_, Err(error)) => return wrong(SUBJECT, &error),
    };
    let token = match token {
        Some(_) => format!("token in {}", remote::TOKEN),
        None => format!("no token ({} isn't set)", remote::TOKEN),
    };
    let told = format!("{told}, {token}");
    if !args.online {
        return good(SUBJECT, told);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let offers = match runtime.context("nobody can be asked") {
        Ok(runtime) => runtime.block_on(remote.offers()),
        Err(error) => return wrong(SUBJECT, &error),
    };
    let offers = match offers {
        Ok(offers) => offers,
        Err(error) => {
            let remedy = "look at the address and the token, and whether a server runs there";
            return bad(SUBJECT, format!("{told}: {error}"), remedy);
        }
    };
    if let Some(offer) = offers.iter().find(|offer| offer.name == address.name()) {
        let longest = offer.timeout.as_secs_f64();
        return good(SUBJECT, format!("{told}; it is there, and may take {longest} s"));
    }
    let names: Vec<_> = offers.iter().map(|offer| line(&offer.name, 60)).collect();
    let remedy = format!("name one of those there: {}", names.join(", "));
    bad(SUBJECT, format!("{told}; it answers, and knows no compactor of that name"), remedy)
}

/// One for each hook, in the order in which they run.
pub(super) fn hooks(settings: &Settings) -> Vec<Check> {
    let of = |label: &'static str, lines: &Option<Vec<Line>>| -> Vec<Check> {
        lines.iter().flatten().map(|line| command("hook", label, &line.0[0])).collect()
    };
    let mut checks = of("before: ", &settings.hook_before);
    checks.extend(of("after: ", &settings.hook_after));
    checks
}

/// The file of a program, if there is one that may be run.
pub(super) fn program(said: &str) -> Option<PathBuf> {
    let path = Path::new(said);
    if path.components().count() > 1 {
        return Some(path.to_owned()).filter(|path| is_program(path));
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&folders).map(|folder| folder.join(said));
    places.find(|path: &PathBuf| is_program(path))
}

fn command(subject: &'static str, label: &str, program: &str) -> Check {
    match self::program(program) {
        Some(path) => good(subject, format!("{label}{}: {}", line(program, 60), name(&path))),
        None => bad(
            subject,
            format!("{label}{}: there is no such program", line(program, 60)),
            "name its full path, or put its folder into PATH",
        ),
    }
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && may_run(&file))
}

#[cfg(unix)]
fn may_run(file: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn may_run(_: &Metadata) -> bool {
    true
}
