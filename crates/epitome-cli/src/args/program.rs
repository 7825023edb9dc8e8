//! What can be asked about models, settings and the program itself.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand, ValueHint};
use epitome::wire::Format;

use crate::formats;
use crate::summarizers::Spec;

use super::{CountingArgs, HowArgs};

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// The model; without it, all of them, and with a part of a name, those that have it.
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) files: FilesArgs,
}

/// Where settings and models are from.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct FilesArgs {
    /// Read settings from this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// Read facts about models from this file, over those that are built in.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) models: Option<PathBuf>,
}

impl FilesArgs {
    /// As the settings take them.
    pub(crate) fn how(&self) -> HowArgs {
        let (config, models) = (self.config.clone(), self.models.clone());
        HowArgs::counting(&CountingArgs { model: None, config, models }, None)
    }
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) files: FilesArgs,

    /// Look at this summarizer instead of those that the settings name.
    #[arg(long, value_name = "WHO", help_heading = "Summary")]
    pub(crate) summarizer: Option<Spec>,

    /// And at this one, which is asked next (may be repeated).
    #[arg(long, value_name = "WHO", requires = "summarizer", help_heading = "Summary")]
    pub(crate) then: Vec<Spec>,

    /// Ask each model's server for its list of models, and each whole compactor whether it is there: they are told
    /// the key, and nothing of any transcript.
    #[arg(long, help_heading = "Summary")]
    pub(crate) online: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SidecarArgs {
    /// Where to listen; port 0 takes a free one. Without a token only an address of this machine.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:50051")]
    pub(crate) listen: SocketAddr,

    /// The most megabytes of one message.
    #[arg(long, value_name = "MB", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=2047))]
    pub(crate) message: u16,

    /// Speak TLS, with the certificates in this file (PEM).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// The key of the first of them (PEM).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting, its value and where that is from.
    ///
    /// A flag goes before the environment, that before the project's file, that before your own, and
    /// that before the default.
    Show(Box<HowArgs>),

    /// Show the files that settings are read from.
    Path,
}

/// What a request is checked for: `FORMAT`, `FORMAT:MODEL` or `:MODEL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Purpose {
    /// The format; the request's own where none is said.
    pub(crate) format: Option<Format>,
    /// The model; the request's own where none is said.
    pub(crate) model: Option<String>,
}

impl FromStr for Purpose {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (format, model) = match text.split_once(':') {
            Some((_, "")) => return Err(format!("no model is named behind `{text}`")),
            Some((format, model)) => (format, Some(model.to_owned())),
            None => (text, None),
        };
        let format = match format {
            "" if model.is_some() => None,
            name if formats::names().any(|known| known == name)
                && name.parse::<Format>().is_err() =>
            {
                return Err(format!("{name} is what an agent writes, not what a provider is sent"));
            }
            name => Some(name.parse::<Format>().map_err(|_| {
                let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
                format!("not FORMAT, FORMAT:MODEL or :MODEL; formats are {}", names.join(", "))
            })?),
        };
        Ok(Purpose { format, model })
    }
}
