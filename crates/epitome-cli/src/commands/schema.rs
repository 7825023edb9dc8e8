//! `schema`: the form of each report.

use anyhow::Result;
use serde_json::json;

use crate::args::SchemaArgs;
use crate::failure::Exit;
use crate::output::{self, Report};
use crate::schemas::SCHEMAS;
use crate::terminal::{FAINT, STRONG, left, paint, put};

/// Columns of the longest name and the longest title.
const NAME: usize = 18;
const ABOUT: usize = 62;

/// Prints a schema, or which there are.
pub(crate) fn run(args: &SchemaArgs, report: Report) -> Result<Exit> {
    let named = SCHEMAS.iter().find(|schema| args.report.as_deref() == Some(schema.name));
    match (named, report) {
        (Some(schema), _) => output::json(&schema.whole())?,
        (None, Report::Json) => {
            let described = SCHEMAS.iter().map(|schema| {
                let (name, command) = (schema.name, schema.command);
                json!({ "name": name, "about": schema.about(), "command": command })
            });
            let reports: Vec<_> = described.collect();
            output::json(&json!({ "version": 1, "reports": reports }))?;
        }
        (None, Report::Words) => {
            let mut out = String::new();
            for schema in SCHEMAS {
                let name = paint(STRONG, left(schema.name, NAME));
                let about = left(&schema.about(), ABOUT);
                put!(out, "{name} {about} {}", paint(FAINT, schema.command));
            }
            output::words(&out)?;
        }
    }
    Ok(Exit::Ok)
}
