//! `check`: what a provider would refuse, and mending it.

use std::fmt::Write as _;

use anyhow::Result;
use epitome::wire::{self, Finding, Mend, Mended, RULES, Rule, RuleId};
use serde::Serialize;

use crate::args::CheckArgs;
use crate::failure::{Exit, Failure};
use crate::input::{self, Opened, Source};
use crate::output::{self, Place, Report};
use crate::terminal::{self, BAD, FAINT, GOOD, STRONG, WARN, count, line, paint, shell};

/// A check, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Checked<'a> {
    version: u32,
    source: &'a Source,
    format: &'static str,
    entries: usize,
    findings: Vec<Found<'a>>,
}

/// A finding beside its rule.
#[derive(Debug, Serialize)]
struct Found<'a> {
    rule: RuleId,
    entry: usize,
    detail: &'a str,
    demand: &'static str,
    error: &'static str,
    repair: &'static str,
    mendable: bool,
}

/// A repair, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Repair<'a> {
    version: u32,
    source: &'a Source,
    format: &'static str,
    mended: &'a [Mended],
    left: &'a [Finding],
}

/// Checks the input, or mends it.
pub(crate) fn run(args: &CheckArgs, report: Report) -> Result<Exit> {
    if args.repair {
        return repair(args, report);
    }
    if args.output.output.is_some() {
        return Err(Failure::usage("-o is for the mended request, so it needs --repair")
            .hint("epitome check --repair -o OUT FILE")
            .into());
    }
    let opened = input::open(&args.input, report)?;
    let findings = wire::check(&opened.request);
    match report {
        Report::Json => output::json(&Checked {
            version: 1,
            source: &opened.source,
            format: opened.request.format.name(),
            entries: opened.request.transcript.len(),
            findings: findings.iter().map(found).collect(),
        })?,
        Report::Words => output::words(&words(&opened, &findings))?,
    }
    Ok(if findings.is_empty() { Exit::Ok } else { Exit::Found })
}

fn rule(id: RuleId) -> &'static Rule {
    RULES.iter().find(|rule| rule.id == id).expect("findings are of rules in the table")
}

fn found(finding: &Finding) -> Found<'_> {
    let rule = rule(finding.rule);
    Found {
        rule: finding.rule,
        entry: finding.entry,
        detail: &finding.detail,
        demand: rule.demand,
        error: rule.error,
        repair: rule.repair,
        mendable: finding.mend != Mend::Nothing,
    }
}

fn words(opened: &Opened, findings: &[Finding]) -> String {
    let mut out = String::new();
    let request = &opened.request;
    let entries = count(request.transcript.len());
    let what = format!("{entries} messages by the rules of {}", request.format);
    if findings.is_empty() {
        writeln!(out, "{} {what}", paint(GOOD, "nothing found in")).expect("a string takes all");
        return out;
    }
    for finding in findings {
        let rule = rule(finding.rule);
        let at = paint(STRONG, format!("messages[{}]", finding.entry));
        let repair = match finding.mend {
            Mend::Nothing => "only its author can mend it",
            _ => rule.repair,
        };
        writeln!(
            out,
            "{at} {}: {}\n  {} {}\n  {} {}\n  {} {repair}",
            paint(WARN, finding.rule),
            line(&finding.detail, 100),
            paint(FAINT, "rule:  "),
            rule.demand,
            paint(FAINT, "error: "),
            rule.error,
            paint(FAINT, "repair:"),
        )
        .expect("a string takes all");
    }
    let found = match findings.len() {
        1 => "1 breach".to_owned(),
        many => format!("{} breaches", count(many)),
    };
    writeln!(out, "\n{} in {what}", paint(BAD, found)).expect("a string takes all");
    if findings.iter().any(|finding| finding.mend != Mend::Nothing) && opened.source.file != "-" {
        let file = terminal::lines(&opened.source.file).into_owned();
        let hint = paint(STRONG, "hint:");
        writeln!(out, "{hint} epitome check --repair {} -o mended.json", shell(&file))
            .expect("a string takes all");
    }
    out
}

fn repair(args: &CheckArgs, report: Report) -> Result<Exit> {
    let place = Place::at(args.output.output.as_deref())?;
    let opened = input::open(&args.input, report)?;
    let repaired = wire::repair(&opened.request);
    place.write(repaired.request.source())?;
    if place.is_screen() {
        output::note("");
    }
    match report {
        Report::Json => {
            let repair = Repair {
                version: 1,
                source: &opened.source,
                format: opened.request.format.name(),
                mended: &repaired.mended,
                left: &repaired.left,
            };
            if place.leaves_stdout() {
                output::json(&repair)?;
            } else {
                output::note(&terminal::json(&repair));
            }
        }
        Report::Words => tell(&repaired.mended, &repaired.left),
    }
    Ok(if repaired.left.is_empty() { Exit::Ok } else { Exit::Found })
}

fn tell(mended: &[Mended], left: &[Finding]) {
    for one in mended {
        let at = one.entry.map_or_else(|| "(made up)".to_owned(), |at| format!("messages[{at}]"));
        let detail = line(&one.detail, 100);
        output::note(&format!("{} {}: {detail}: {}", paint(STRONG, at), one.rule, one.mend));
    }
    for one in left {
        let at = paint(STRONG, format!("messages[{}]", one.entry));
        let detail = line(&one.detail, 100);
        let rule = paint(WARN, one.rule);
        output::note(&format!("{at} {rule}: {detail}: left; only its author can mend it"));
    }
    output::note(&format!("{} mended, {} left", count(mended.len()), count(left.len())));
}
