//! Models over HTTP: where they are asked, and with which key. Both are said by the variables that the
//! providers' own SDKs read.

use std::collections::HashMap;
use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, bail};
use epitome::model::Registry;
use epitome::wire::Format;
use epitome_llm::{BadEndpoint, Endpoint, Limits, Model, Purse, Secret, plain_host};

use crate::failure::Failure;
use crate::input;
use crate::quoting::name;
use crate::values::{Host, Named};

/// The key for servers that are named by their address. No provider's key is ever sent there.
const OWN_KEY: &str = "EPITOME_API_KEY";

/// A host that may be sent a key without TLS.
const PLAIN: &str = "EPITOME_PLAIN_HTTP";

/// Where a provider is asked if its variable says nothing else.
struct Provider {
    format: Format,
    base: &'static str,
    base_variable: &'static str,
    /// The first one that is set holds.
    keys: &'static [&'static str],
}

fn provider(host: &Host) -> Option<Provider> {
    let openai = |format| Provider {
        format,
        base: "https://api.openai.com/v1",
        base_variable: "OPENAI_BASE_URL",
        keys: &["OPENAI_API_KEY"],
    };
    Some(match host {
        Host::Openai => openai(Format::OpenaiChat),
        Host::OpenaiResponses => openai(Format::OpenaiResponses),
        Host::Anthropic => Provider {
            format: Format::Anthropic,
            base: "https://api.anthropic.com",
            base_variable: "ANTHROPIC_BASE_URL",
            keys: &["ANTHROPIC_API_KEY"],
        },
        Host::Gemini => Provider {
            format: Format::Gemini,
            base: "https://generativelanguage.googleapis.com",
            base_variable: "GOOGLE_GEMINI_BASE_URL",
            keys: &["GOOGLE_API_KEY", "GEMINI_API_KEY"],
        },
        Host::Url(_) => return None,
    })
}

/// An endpoint, and what said its address and its key.
pub(crate) struct Found {
    pub(crate) endpoint: Endpoint,
    /// The variable that says the address, if one does.
    pub(crate) base_from: Option<&'static str>,
    /// The variable that says the key, or that would.
    pub(crate) key_from: String,
}

/// Where `named` is asked, and with which key.
///
/// # Errors
/// There is no key where one is needed, or it can't be read.
pub(crate) fn find(named: &Named, keys: &mut Keys) -> Result<Found> {
    let model = named.model.clone();
    let Some(provider) = provider(&named.host) else {
        let Host::Url(base) = &named.host else { unreachable!("the others have a provider") };
        let key = keys.read(OWN_KEY)?;
        let key_from = key.as_ref().map_or_else(|| OWN_KEY.to_owned(), |(_, from)| from.clone());
        let key = key.map(|(key, _)| key);
        let endpoint = Endpoint { format: Format::OpenaiChat, base: base.clone(), model, key };
        return Ok(Found { endpoint, base_from: None, key_from });
    };
    let said = said(provider.base_variable);
    let base_from = said.as_ref().map(|_| provider.base_variable);
    for variable in provider.keys {
        if let Some((key, key_from)) = keys.read(variable)? {
            let base = said.unwrap_or_else(|| provider.base.to_owned());
            let endpoint = Endpoint { format: provider.format, base, model, key: Some(key) };
            return Ok(Found { endpoint, base_from, key_from });
        }
    }
    let variables = provider.keys.join(" nor ");
    let verb = if provider.keys.len() > 1 { "neither" } else { "no" };
    let first = provider.keys[0];
    Err(Failure::usage(format!("{named} needs a key, and {verb} {variables} is set"))
        .hint(format!("export {first}=…, or {first}_FILE=… for a file that holds it"))
        .into())
}

/// The model that `named` means, where it was found, paid from `purse`.
///
/// # Errors
/// A key or an address that is none.
pub(crate) fn model(
    named: &Named,
    found: Found,
    longest: Duration,
    purse: Option<Arc<Purse>>,
    registry: &Registry,
) -> Result<Model> {
    // Whoever waits for long expects a slow server, of which nothing is heard while it reads.
    let usual = Limits::default();
    let first_byte = usual.first_byte.max(longest / 2);
    let limits = Limits { total: longest, first_byte, silence: first_byte, ..usual };
    let host = plain_host(&found.endpoint.base).filter(|_| found.endpoint.key.is_some());
    let model = Model::new(found.endpoint, limits, purse).map_err(|error| match error {
        BadEndpoint::Key => Failure::usage(format!("{named}: {error}"))
            .hint(format!("look at what is in {}", found.key_from)),
        error => {
            let from = found.base_from.map(|from| format!(" ({from})")).unwrap_or_default();
            // The error shows only the harmless part of an address.
            let who = match &named.host {
                Host::Url(_) => named.model.clone(),
                _ => named.to_string(),
            };
            Failure::usage(format!("{who}{from}: {error}"))
                .hint("a server of your own is named like this: http://localhost:11434/v1#MODEL")
        }
    })?;
    if let Some(host) = host.filter(|host| said(PLAIN).as_deref() != Some(host.as_str())) {
        let what = format!("the key isn't sent to {host}, which isn't this machine, without TLS");
        return Err(Failure::usage(what)
            .hint(format!("name it by https://…, or allow it: export {PLAIN}={host}"))
            .into());
    }
    Ok(model.known_by(registry))
}

/// Whether there is a key for servers that are named by their address.
pub(crate) fn has_own_key() -> bool {
    said(OWN_KEY).is_some() || file_of(OWN_KEY).is_some()
}

/// The value of a variable; an empty one counts as unset.
fn said(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.trim().is_empty())
}

/// The file that the variable with `_FILE` names.
fn file_of(variable: &str) -> Option<PathBuf> {
    env::var_os(format!("{variable}_FILE")).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// The keys that were read: a pipe gives its own only once.
#[derive(Default)]
pub(crate) struct Keys(HashMap<&'static str, Option<(Secret, String)>>);

impl Keys {
    /// The key that a variable holds, or that the file holds that the variable with `_FILE` names; and which
    /// of them.
    fn read(&mut self, variable: &'static str) -> Result<Option<(Secret, String)>> {
        if let Some(known) = self.0.get(variable) {
            return Ok(known.clone());
        }
        let key = key(variable)?;
        self.0.insert(variable, key.clone());
        Ok(key)
    }
}

fn key(variable: &str) -> Result<Option<(Secret, String)>> {
    Ok(hidden(variable)?.map(|(key, from)| (Secret::new(key), from)))
}

/// What a variable holds, or the file that the variable with `_FILE` names; and which of them.
pub(crate) fn hidden(variable: &str) -> Result<Option<(String, String)>> {
    if let Some(key) = said(variable) {
        return Ok(Some((key, variable.to_owned())));
    }
    let Some(path) = file_of(variable) else { return Ok(None) };
    let variable = format!("{variable}_FILE");
    let key = input::by_hand(&path)
        .map_err(|error| Failure::usage(format!("{variable}, {}: {error}", name(&path))))?;
    if key.trim().is_empty() {
        bail!(Failure::usage(format!("{variable}: the file {} is empty", name(&path))));
    }
    Ok(Some((key, variable)))
}
