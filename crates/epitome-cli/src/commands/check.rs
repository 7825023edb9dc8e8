//! `check`: what a provider would refuse, and mending it.

use anyhow::{Result, bail};
use epitome::Request;
use epitome::model;
use epitome::text::figure::{counted, size};
use epitome::transcript::{Marks, Part, PartKind};
use epitome::wire::{self, Finding, Format, Mend, Mended, RULES, Rule, RuleId};
use serde::Serialize;

use crate::args::CheckArgs;
use crate::carried::Carried;
use crate::failure::{Exit, Failure};
use crate::formats;
use crate::in_place;
use crate::input::{self, Opened, Source};
use crate::output::{self, Parcel, Place, Report};
use crate::suited::Suited;
use crate::terminal::{self, BAD, FAINT, GOOD, STRONG, WARN, count, line, paint, put};
use crate::values::Destination;

/// A check, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Checked<'a> {
    version: u32,
    source: &'a Source,
    format: &'static str,
    entries: usize,
    findings: Vec<Found<'a>>,
    /// Calls at the end that wait for their results.
    open: Vec<String>,
    /// What it was checked for besides.
    #[serde(rename = "for")]
    suited: Option<&'a Suited>,
    /// What became of it where it was converted for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    converted: Option<&'a Carried>,
}

/// A finding beside its rule.
#[derive(Debug, Serialize)]
struct Found<'a> {
    rule: RuleId,
    entry: usize,
    member: Option<&'a str>,
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
    /// What the model that the mended request names doesn't take.
    suited: Option<&'a Suited>,
    /// Bytes of the request as it came, and mended.
    bytes: u64,
    mended_bytes: u64,
}

/// Checks the input, or mends it.
pub(crate) fn run(args: &CheckArgs, report: Report) -> Result<Exit> {
    if args.repair {
        return repair(args, report);
    }
    if args.output.output.is_some() {
        bail!(
            Failure::usage("-o writes the repaired request, so it needs --repair")
                .hint("epitome check --repair -o OUT FILE")
        );
    }
    let mut opened = input::open(&args.input, report)?;
    let mut carried = None;
    let own = opened.request.format;
    let other = args.purpose.as_ref().and_then(|purpose| purpose.format);
    if let Some(format) = other.filter(|format| *format != own) {
        let model = args.purpose.as_ref().and_then(|purpose| purpose.model.clone());
        (opened.request, carried) = Destination { format, model }.bound()?.reach(opened.request)?;
    }
    let suited = match &args.purpose {
        Some(purpose) => Some(Suited::new(purpose, args, &opened, carried.as_ref(), report)?),
        None => Suited::own(Suited::models(args)?.as_ref(), &opened.request),
    };
    if let Some(model) = addressee(args) {
        opened.request = opened.request.addressed_to(model);
    }
    let findings = wire::inspect(&opened.request, &args.except);
    match report {
        Report::Json => output::json(&Checked {
            version: 1,
            source: &opened.source,
            format: opened.request.format.name(),
            entries: opened.request.transcript.len(),
            findings: findings.iter().map(found).collect(),
            open: open_calls(&opened.request),
            suited: suited.as_ref(),
            converted: carried.as_ref(),
        })?,
        Report::Words => {
            let words_of = |suited: &Suited| match args.purpose {
                Some(_) => suited.words(),
                None => suited.misfit_words(),
            };
            let suits = suited.as_ref().map(words_of).unwrap_or_default();
            let carried = carried.as_ref().map(Carried::words).unwrap_or_default();
            let words = words(&opened, &findings, own);
            output::words(&(carried + &words + &open_words(&opened.request) + &suits))?;
        }
    }
    let is_found = !findings.is_empty() || suited.is_some_and(|suited| suited.is_refused());
    Ok(if is_found { Exit::Found } else { Exit::Ok })
}

/// The model that the request is for, where the caller says it.
fn addressee(args: &CheckArgs) -> Option<&str> {
    let asked = args.purpose.as_ref().and_then(|purpose| purpose.model.as_deref());
    asked.or(args.counting.model.as_deref())
}

fn rule(id: RuleId) -> &'static Rule {
    RULES.iter().find(|rule| rule.id == id).expect("findings are of rules in the table")
}

fn found(finding: &Finding) -> Found<'_> {
    let rule = rule(finding.rule);
    Found {
        rule: finding.rule,
        entry: finding.entry,
        member: finding.member.as_deref(),
        detail: &finding.detail,
        demand: rule.demand,
        error: rule.error,
        repair: rule.repair,
        mendable: finding.mend != Mend::Nothing,
    }
}

fn words(opened: &Opened, findings: &[Finding], from: Format) -> String {
    let mut out = String::new();
    let request = &opened.request;
    let messages = counted(request.transcript.len(), "message");
    let is_converted = request.format != from;
    let from = if is_converted { format!(", converted from {from}") } else { String::new() };
    let what = format!("{messages} by the rules of {}{from}", request.format);
    if findings.is_empty() {
        put!(out, "{} {what}", paint(GOOD, "nothing found in"));
        return out;
    }
    for finding in findings {
        let rule = rule(finding.rule);
        let at = paint(STRONG, finding.place());
        let repair = match finding.mend {
            Mend::Nothing => "only its author can mend it",
            _ => rule.repair,
        };
        put!(
            out,
            "{at} {}{}\n  {} {}\n  {} {}\n  {} {repair}",
            paint(WARN, finding.rule),
            detail(&finding.detail),
            paint(FAINT, "rule:  "),
            rule.demand,
            paint(FAINT, "error: "),
            rule.error,
            paint(FAINT, "repair:"),
        );
    }
    let found = match findings.len() {
        1 => "1 breach".to_owned(),
        many => format!("{} breaches", count(many)),
    };
    put!(out, "\n{} in {what}", paint(BAD, found));
    if !is_converted && findings.iter().any(|finding| finding.mend != Mend::Nothing) {
        let hint = paint(STRONG, "hint:");
        let file = opened.source.operand();
        put!(out, "{hint} epitome check --repair {file} -o mended.json");
    }
    out
}

/// The detail behind a colon, if there is one.
fn detail(found: &str) -> String {
    if found.is_empty() { String::new() } else { format!(": {}", line(found, 100)) }
}

/// Calls in the newest message that wait for their results: a client's next request brings them.
fn open_calls(request: &Request) -> Vec<String> {
    let last = request.transcript.entries().next_back();
    let parts = last.into_iter().flat_map(|last| last.parts());
    let is_open = |part: &Part<'_>| part.kind() == PartKind::Call && !part.is(Marks::SERVER);
    let name = |part: Part<'_>| match part.id() {
        id if id.is_empty() => part.name().into_owned(),
        id => id.into_owned(),
    };
    parts.filter(is_open).map(name).collect()
}

fn open_words(request: &Request) -> String {
    let open = open_calls(request);
    let mut out = String::new();
    if let Some(first) = open.first() {
        let (label, calls) = (paint(FAINT, "open:"), counted(open.len(), "call"));
        let first = line(first, 60);
        put!(
            out,
            "{label} {calls} at the end without a result (`{first}`): as a request it is refused until the results are there"
        );
    }
    out
}

fn repair(args: &CheckArgs, report: Report) -> Result<Exit> {
    let place = Place::output(args.output.output.as_deref())?;
    let mut opened = input::open(&args.input, report)?;
    in_place::spare_recording(&place, args.input.file.as_deref(), &opened.source)?;
    if let Some(model) = addressee(args) {
        opened.request = opened.request.addressed_to(model);
    }
    let request = &opened.request;
    let repaired = model::repair_inspected(request, model::Binding::of(request), &args.except);
    let suited = Suited::own(Suited::models(args)?.as_ref(), &repaired.request);
    let left = repaired.left.len() + suited.as_ref().map_or(0, Suited::refused);
    output::deliver(&[Parcel { place: &place, text: repaired.request.source().as_bytes() }])?;
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
                suited: suited.as_ref(),
                bytes: request.source().len() as u64,
                mended_bytes: repaired.request.source().len() as u64,
            };
            if place.leaves_stdout() {
                output::json(&repair)?;
            } else {
                output::note(&terminal::json(&repair));
            }
        }
        Report::Words => {
            let sizes = [request, &repaired.request].map(|of| of.source().len());
            tell(&repaired.mended, &repaired.left);
            let more = open_words(&repaired.request)
                + &suited.as_ref().map(Suited::misfit_words).unwrap_or_default();
            more.lines().for_each(output::note);
            // What a mend took out is gone.
            let lost = match sizes[0].saturating_sub(sizes[1]) {
                0 => String::new(),
                lost => format!("; {} less than it was", size(lost)),
            };
            let mended = count(repaired.mended.len());
            output::note(&format!("{mended} mended, {} left{lost}", count(left)));
            formats::tell_hidden(&repaired.request);
        }
    }
    Ok(if left > 0 { Exit::Found } else { Exit::Ok })
}

fn tell(mended: &[Mended], left: &[Finding]) {
    for one in mended {
        let at = one.place().unwrap_or_else(|| "(made up)".to_owned());
        let found = detail(&one.detail);
        output::tell(&format!("{} {}{found}: {}", paint(STRONG, at), one.rule, one.mend));
    }
    for one in left {
        let at = paint(STRONG, one.place());
        let (rule, found) = (paint(WARN, one.rule), detail(&one.detail));
        output::tell(&format!("{at} {rule}{found}: left; only its author can mend it"));
    }
}
