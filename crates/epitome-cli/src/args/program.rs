//! What can be asked about models, settings and the program itself.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueHint};

use crate::schemas::SCHEMAS;
use crate::values::Spec;

use super::{ArchiveArg, CountingArgs, HowArgs};

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

pub(super) const DOCTOR: &str = "\
Examples:
  epitome doctor
  epitome doctor --fix --dry-run
  epitome doctor --fix

Nothing is sent anywhere without --online, and nothing is changed without --fix. Exits with 3 if something is wrong.";

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Mend what can be mended: rights of the archive, and what `install` put in and is gone.
    #[arg(long)]
    pub(crate) fix: bool,

    /// With --fix, say what would be mended, and change nothing.
    #[arg(long, requires = "fix")]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) archive: ArchiveArg,

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

pub(super) const SCHEMA: &str = "\
Examples:
  epitome schema
  epitome schema compact > receipt.schema.json
  epitome schema compact | jq '.\"$defs\".receipt.properties | map_values(.description)'

A schema is of draft 2020-12, names every member, and refers to nothing outside.";

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The report; without it, all of them: what each is, and which command prints it.
    #[arg(value_parser = PossibleValuesParser::new(SCHEMAS.iter().map(|schema| schema.name)))]
    #[arg(hide_possible_values = true)]
    pub(crate) report: Option<String>,
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
