//! Arguments of commands about models, settings and the program itself.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueHint};

use crate::schemas::SCHEMAS;
use crate::values::Spec;

use super::{ArchiveArg, CountingArgs, HowArgs};

#[derive(Debug, Args)]
pub(crate) struct ModelsArgs {
    /// A model, or a part of its name [default: all models].
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,

    #[command(flatten)]
    pub(crate) files: FilesArgs,
}

/// Files of settings and models.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Settings")]
pub(crate) struct FilesArgs {
    /// Read settings from this file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,

    /// Read facts about models from this file; they override the built-in ones.
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

pub(super) const DOCTOR: &str = "\
Examples:
  epitome doctor
  epitome doctor --fix --dry-run
  epitome doctor --fix

Nothing is sent anywhere without --online, and nothing is changed without --fix. Exits with 3 if it finds a problem.";

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Repair what can be repaired: permissions of the archive, and missing parts of `install`.
    #[arg(long)]
    pub(crate) fix: bool,

    /// With --fix, show what would be repaired, and change nothing.
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) archive: ArchiveArg,

    #[command(flatten)]
    pub(crate) files: FilesArgs,

    /// Check this summarizer instead of those in the settings.
    #[arg(long, value_name = "WHO", help_heading = "Summary")]
    pub(crate) summarizer: Option<Spec>,

    /// Also check this fallback summarizer (may be repeated).
    #[arg(long, value_name = "WHO", requires = "summarizer", help_heading = "Summary")]
    pub(crate) then: Vec<Spec>,

    /// Ask each model server for its list of models, and ping each whole compactor. They receive the key, and
    /// nothing of any transcript.
    #[arg(long, help_heading = "Summary")]
    pub(crate) online: bool,
}

pub(super) const SCHEMA: &str = "\
Examples:
  epitome schema
  epitome schema compact > receipt.schema.json
  epitome schema compact | jq '.\"$defs\".receipt.properties | map_values(.description)'

Schemas use draft 2020-12, name every member, and are self-contained.";

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The report; without it, lists all reports and the commands that print them.
    #[arg(value_parser = PossibleValuesParser::new(SCHEMAS.iter().map(|schema| schema.name)))]
    #[arg(hide_possible_values = true)]
    pub(crate) report: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Show every setting, its value and its source.
    ///
    /// Flags override the environment, which overrides the project's file, which overrides your own, which
    /// overrides the default.
    Show(Box<HowArgs>),

    /// Show the paths of the settings files.
    Path,
}
