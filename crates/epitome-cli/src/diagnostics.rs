//! Telling a failure, or a misuse of the command line, to whoever called.

use std::io::{self, Write as _};
use std::process::ExitCode;

use epitome::text::secrets::masked;
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::output::{self, Report};
use crate::terminal::{self, paint};
use crate::unseen::is_unseen;

/// Tells what was asked wrongly, or the help that was asked for.
pub(crate) fn misuse(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && std::env::args_os().nth(1).is_some_and(|word| word == "hook") {
        // An agent takes a failing hook for a veto.
        output::note(terminal::lines(&without_secrets(&error.to_string())).trim_end());
        return Exit::Ok.into();
    }
    if !error.use_stderr() {
        let told = output::settled(error.print().and_then(|()| io::stdout().flush()), "stdout");
        return told.map_or_else(|error| tell(&error, Report::Words), |()| Exit::Ok).into();
    }
    let said = error.to_string();
    let text = masked(&without_secrets(&said)).into_owned();
    if std::env::args_os().all(|word| word != "--json") {
        // Words may come from elsewhere: `epitome stats *` takes whatever files are called.
        let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
        let is_odd = words.flat_map(|word| word.chars().collect::<Vec<_>>()).any(is_unseen);
        if is_odd || text != said {
            output::note(terminal::lines(&text).trim_end());
            return Exit::Usage.into();
        }
        error.exit();
    }
    let what = text.split("\n\nUsage:").next().unwrap_or(&text);
    let what = what.strip_prefix("error: ").unwrap_or(what);
    let failure = Failure::usage(what.trim_end()).hint("epitome --help");
    tell(&failure.into(), Report::Json).into()
}

/// `text` without what stands for a password or a key in an address among the arguments.
fn without_secrets(text: &str) -> String {
    let words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    words.fold(text.to_owned(), |text, word| {
        let value = word.strip_prefix("--").and_then(|flag| flag.split_once('='));
        let value = value.map_or(word.as_str(), |(_, value)| value);
        text.replace(value, &without_secret(value))
    })
}

fn without_secret(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else { return value.to_owned() };
    let rest = rest.rsplit_once('@').map_or(rest.to_owned(), |(_, rest)| format!("…@{rest}"));
    let query = rest.split_once('?').map(|(place, query)| {
        let name = query.rsplit_once('#').map(|(_, name)| format!("#{name}"));
        format!("{place}?…{}", name.unwrap_or_default())
    });
    format!("{scheme}://{}", query.unwrap_or(rest))
}

/// Tells the failure on stderr; how to end.
pub(crate) fn tell(error: &anyhow::Error, report: Report) -> Exit {
    let failure = error.downcast_ref::<Failure>();
    let exit = failure.map_or(Exit::Failure, |failure| failure.exit);
    let hint = failure.and_then(Failure::what_to_do);
    let what = format!("{error:#}");
    match report {
        Report::Json => {
            let error = json!({ "message": what, "hint": hint, "exit": exit as u8 });
            output::note(&terminal::json(&json!({ "version": 1, "error": error })));
        }
        Report::Words => {
            output::tell(&format!("{} {}", paint(terminal::BAD, "error:"), terminal::lines(&what)));
            if let Some(hint) = hint {
                let hint = terminal::one(hint);
                output::note(&format!("{} {hint}", paint(terminal::STRONG, "hint:")));
            }
        }
    }
    exit
}
