//! `doctor`: whether the program's surroundings are as it needs them, and what to do if not.

mod agents;
mod archive;
mod repair;
mod summarizers;

use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use epitome::count::{Basis, NAMES, counter};
use epitome::text::figure::counted;
use serde::Serialize;

use crate::agents::places;
use crate::args::{DoctorArgs, FilesArgs};
use crate::config::{Layers, Settings, models_file, project_file, user_file};
use crate::failure::{Exit, Failure};
use crate::output::{self, Report};
use crate::quoting::{name, operand};
use crate::reader;
use crate::summarizers::books;
use crate::terminal::{self, BAD, FAINT, GOOD, WARN, left, paint, put};
use repair::{Mended, Repair};

/// A visit, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Visit {
    version: u32,
    program: &'static str,
    /// What was mended, or would be.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mended: Vec<Mended>,
    checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Check {
    subject: &'static str,
    state: State,
    found: String,
    /// What to do about it.
    remedy: Option<String>,
    /// What `--fix` does about it.
    #[serde(skip)]
    repair: Option<Repair>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Good,
    /// It works, but may not be what is wanted.
    Warning,
    Bad,
}

/// A registry older than this may have other prices than the providers.
const OLD_DAYS: i64 = 90;

/// Looks at everything.
pub(crate) fn run(args: &DoctorArgs, report: Report) -> Result<Exit> {
    let mut checks = looked_at(args);
    let mut mended = Vec::new();
    if args.fix {
        let mut repairs: Vec<Repair> =
            checks.iter().filter_map(|check| check.repair.clone()).collect();
        repairs.dedup();
        mended = repairs.iter().map(|repair| repair.mended(args.dry_run)).collect();
        if !args.dry_run {
            checks = looked_at(args);
        }
    }
    let visit = Visit { version: 1, program: env!("CARGO_PKG_VERSION"), mended, checks };
    match report {
        Report::Json => output::json(&visit)?,
        Report::Words => output::words(&words(&visit))?,
    }
    let is_bad = visit.checks.iter().any(|check| check.state == State::Bad);
    Ok(if is_bad { Exit::Found } else { Exit::Ok })
}

fn looked_at(args: &DoctorArgs) -> Vec<Check> {
    let mut checks = Vec::new();
    let settings = settings(&args.files, &mut checks);
    models(&settings, &mut checks);
    checks.extend(summarizers::checks(args, &settings));
    checks.extend(summarizers::hooks(&settings));
    checks.extend(spending(&settings));
    counters(&mut checks);
    surroundings(&mut checks);
    checks.extend(agents::checks());
    checks.extend(archive::checks(&args.archive));
    recordings(&mut checks);
    checks
}

fn good(subject: &'static str, found: String) -> Check {
    Check { subject, state: State::Good, found, remedy: None, repair: None }
}

/// What works, and may not be what is wanted.
fn doubtful(subject: &'static str, found: String, remedy: impl Into<String>) -> Check {
    Check { subject, state: State::Warning, found, remedy: Some(remedy.into()), repair: None }
}

fn bad(subject: &'static str, found: String, remedy: impl Into<String>) -> Check {
    Check { subject, state: State::Bad, found, remedy: Some(remedy.into()), repair: None }
}

/// What is wrong, with the remedy that the failure names.
fn wrong(subject: &'static str, error: &anyhow::Error) -> Check {
    let remedy = error.downcast_ref::<Failure>().and_then(Failure::what_to_do);
    Check {
        subject,
        state: State::Bad,
        found: format!("{error:#}"),
        remedy: remedy.map(str::to_owned),
        repair: None,
    }
}

impl Check {
    /// The same, with what `--fix` does about it.
    fn mended_by(self, repair: Repair) -> Self {
        Check { repair: Some(repair), ..self }
    }
}

fn settings(args: &FilesArgs, checks: &mut Vec<Check>) -> Settings {
    let project = args.config.clone().or_else(project_file);
    let user = user_file().filter(|file| file.is_file());
    let mut is_good = true;
    for file in [&project, &user].into_iter().flatten() {
        match Settings::file(file) {
            Ok(_) => checks.push(good("settings", name(file))),
            Err(error) => {
                is_good = false;
                checks.push(wrong("settings", &error));
            }
        }
    }
    if project.is_none() && user.is_none() {
        checks.push(good("settings", "no files: the defaults hold".to_owned()));
    }
    if !is_good {
        return Settings { models: args.models.clone(), ..Settings::default() };
    }
    match Layers::read(&args.how()) {
        Ok(layers) => layers.merged(),
        Err(error) => {
            checks.push(wrong("settings", &error));
            Settings { models: args.models.clone(), ..Settings::default() }
        }
    }
}

fn models(settings: &Settings, checks: &mut Vec<Check>) {
    let registry = match reader::registry(settings) {
        Ok(registry) => registry,
        Err(error) => return checks.push(wrong("models", &error)),
    };
    let own = settings.models.clone().or_else(models_file).filter(|file| file.is_file());
    let over = own.map(|file| format!(", with {} over it", name(&file))).unwrap_or_default();
    let known = counted(registry.models().len(), "model");
    let found = format!("{known}, as of {}{over}", registry.made());
    let age = day(registry.made()).zip(today()).map(|(made, today)| today - made);
    checks.push(match age {
        Some(days @ OLD_DAYS..) => doubtful(
            "models",
            format!("{found}: {days} days old"),
            "take a newer epitome, or put prices and windows that changed into your own file: \
                 epitome models --help",
        ),
        _ => good("models", found),
    });
    if let Some(model) = &settings.model
        && let Err(unknown) = registry.find(model)
    {
        let failure = reader::unknown(&unknown).hint("epitome models lists what is known");
        checks.push(Check { state: State::Warning, ..wrong("models", &failure.into()) });
    }
}

/// Whether what was spent can be kept, where a cap by day or session is set.
fn spending(settings: &Settings) -> Option<Check> {
    const SUBJECT: &str = "spending";
    let caps = [("a day", settings.spend_day), ("a session", settings.spend_session)];
    let caps: Vec<String> =
        caps.iter().filter_map(|(what, cap)| Some(format!("{} {what}", (*cap)?))).collect();
    if caps.is_empty() {
        return None;
    }
    Some(match books::looked_at() {
        Ok(told) => good(SUBJECT, format!("at most {}; {told}", caps.join(", "))),
        Err(error) => wrong(SUBJECT, &error.into()),
    })
}

fn counters(checks: &mut Vec<Check>) {
    let text = "Hello, world";
    let mut exact = Vec::new();
    for name in NAMES {
        let Ok(counter) = counter(name) else { continue };
        let count = counter.text(text);
        // Both of OpenAI's encodings take 3 tokens for it.
        let is_right =
            if count.basis == Basis::Exact { count.tokens == 3 } else { count.tokens > 0 };
        if !is_right {
            checks.push(bad(
                "counters",
                format!("{name} counts {} tokens in {text:?}", count.tokens),
                "this build is broken: build it anew, and report it",
            ));
        }
        if count.basis == Basis::Exact {
            exact.push(*name);
        }
    }
    let found = format!("{}; exact: {}", counted(NAMES.len(), "counter"), exact.join(", "));
    checks.push(good("counters", found));
}

fn surroundings(checks: &mut Vec<Check>) {
    let said = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(said).unwrap_or_default();
    let is_unicode = locale.to_ascii_lowercase().replace('-', "").contains("utf8");
    let colours = match (said("NO_COLOR"), said("TERM").as_deref()) {
        (Some(_), _) => "no colours (NO_COLOR)",
        (None, Some("dumb")) => "no colours (TERM=dumb)",
        _ => "colours",
    };
    let found = if std::io::stdout().is_terminal() {
        format!("{} columns, {colours}", terminal::width())
    } else {
        format!("stdout is no terminal; {colours} where it is one")
    };
    checks.push(if is_unicode || cfg!(windows) {
        good("terminal", found)
    } else {
        let locale =
            if locale.is_empty() { "isn't set".to_owned() } else { format!("is {locale:?}") };
        doubtful(
            "terminal",
            format!("{found}; the locale {locale}, so bars and dashes may look odd"),
            "export LC_ALL=C.UTF-8",
        )
    });
}

fn recordings(checks: &mut Vec<Check>) {
    let mut found = Vec::new();
    for place in places() {
        let files = place.files();
        let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.path.parent()).collect();
        for left in folders.into_iter().flat_map(output::leftovers) {
            checks.push(doubtful(
                "recordings",
                format!("{} is left of a run that was killed", name(&left)),
                format!(
                    "check whether it holds more than the recordings beside it, then: rm {}",
                    operand(&left)
                ),
            ));
        }
        let files = files.len();
        if files > 0 {
            let (agent, folder) = (place.agent, name(&place.folder));
            found.push(format!("{agent}: {} in {folder}", counted(files, "file")));
        }
    }
    if found.is_empty() {
        checks.push(good("recordings", "none where agents keep theirs".to_owned()));
    }
    checks.extend(found.into_iter().map(|found| good("recordings", found)));
}

/// Days from 1970 to today.
fn today() -> Option<i64> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs();
    i64::try_from(seconds / 86_400).ok()
}

/// Days from 1970 to a day like `2026-11-22` (Gregorian; years begin in March, so that leap days end them).
fn day(text: &str) -> Option<i64> {
    let mut parts = text.split('-').map(str::parse::<i64>);
    let (year, month, day) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(1970..=9999).contains(&year) {
        return None;
    }
    let year = if month <= 2 { year - 1 } else { year };
    let in_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + in_year - 719_468)
}

fn words(visit: &Visit) -> String {
    let mut out = format!("epitome {}\n", visit.program);
    for mended in &visit.mended {
        let (state, what) = match &mended.error {
            Some(error) => (paint(BAD, "bad "), format!("{}: {error}", mended.what)),
            None => (paint(GOOD, "fix "), mended.what.clone()),
        };
        put!(out, "{state} {}", terminal::lines(&what));
    }
    for check in &visit.checks {
        let state = match check.state {
            State::Good => paint(GOOD, "ok  "),
            State::Warning => paint(WARN, "warn"),
            State::Bad => paint(BAD, "bad "),
        };
        let found = terminal::lines(&check.found);
        put!(out, "{state} {} {found}", left(check.subject, 10));
        if let Some(remedy) = &check.remedy {
            let remedy = terminal::lines(remedy);
            put!(out, "     {} {remedy}", paint(FAINT, left("", 10)));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted() {
        assert_eq!(day("1970-01-01"), Some(0));
        assert_eq!(day("2000-03-01"), Some(11_017));
        assert_eq!(day("2024-02-29"), Some(19_782));
        assert_eq!(day("2026-11-22"), Some(20_779));
        for bad in ["", "2026", "2026-13-01", "2026-11-xx"] {
            assert_eq!(day(bad), None, "{bad}");
        }
    }
}
