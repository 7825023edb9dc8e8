//! `completions` and `man`: the command line, described for shells and for `man`.

use anyhow::{Context, Result};
use clap::CommandFactory;
use serde_json::json;

use crate::args::Cli;
use crate::failure::{Exit, Failure};
use crate::output::{self, Report};

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: clap_complete::Shell, report: Report) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "epitome", &mut script);
    let script = String::from_utf8(script).context("completion scripts are text")?;
    match report {
        Report::Words => output::data(&script)?,
        Report::Json => {
            let shell = shell.to_string();
            output::json(&json!({ "version": 1, "shell": shell, "script": script }))?;
        }
    }
    Ok(Exit::Ok)
}

/// Prints a manual page.
pub(crate) fn manual(command: Option<&str>, report: Report) -> Result<Exit> {
    let mut all = Cli::command().version(env!("CARGO_PKG_VERSION"));
    all.build();
    let page = match command {
        None => all,
        Some(name) => {
            let found =
                name.split_whitespace().try_fold(&all, |held, name| held.find_subcommand(name));
            found.cloned().ok_or_else(|| {
                Failure::usage(format!("there is no command {name:?}")).hint("epitome --help")
            })?
        }
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).context("the page can't be written")?;
    let text = String::from_utf8(text).context("manual pages are text")?;
    match report {
        Report::Words => output::data(&text)?,
        Report::Json => output::json(&json!({ "version": 1, "page": text }))?,
    }
    Ok(Exit::Ok)
}
