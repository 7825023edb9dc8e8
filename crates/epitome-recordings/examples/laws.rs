//! Holds compactions of a request or a recording to the laws.
//!
//! ```sh
//! cargo run --release -p epitome-recordings --example laws -- [OPTION…] FILE…
//! ```
//!
//! What each breaks is printed, one compaction a line, and the exit code is 1 if there is any. `--sizes 5,20..40` says to
//! which parts of it, in percent (1 to 100 without it), `--tokens 300,900` to how many tokens; `--as FORMAT` converts it first,
//! `--as each` to every format; `--format FORMAT` says what a request is in; `--pin TEXT` pins words, `--pins` each entry,
//! one after the other; `--tail N` keeps that many tokens, `--fold-task` lets the task go. `--smallest OUT` takes messages and
//! letters away as long as some law is broken, and writes what is left.

use std::error::Error;
use std::fs;
use std::process::ExitCode;

use epitome::count::counter;
use epitome::{Compactor, Format, Options, Pin, Request, Tail, Target, Task, wire};
use epitome_recordings::{Options as Opening, open};
use serde_json::Value;
use testkit::conversion::converted;
use testkit::laws::check_all;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What was asked for.
#[derive(Default)]
struct Asked {
    targets: Vec<Target>,
    formats: Vec<Format>,
    format: Option<Format>,
    pin: Option<String>,
    pins_each: Option<()>,
    tail: Option<u64>,
    folds_task: Option<()>,
    smallest: Option<String>,
    files: Vec<String>,
}

fn main() -> Result<ExitCode> {
    let asked = Asked::of(std::env::args().skip(1))?;
    let mut broken = 0;
    for file in &asked.files {
        for request in asked.requests(file)? {
            let mut first = None;
            for (what, compactor) in asked.compactors(&request)? {
                if let Err(why) = check_all(&request, &compactor) {
                    println!("{file} as {} {what}: {why}", request.format);
                    broken += 1;
                    first.get_or_insert(compactor);
                }
            }
            if let (Some(compactor), Some(out)) = (first, &asked.smallest) {
                fs::write(out, smallest(&request, &compactor))?;
            }
        }
    }
    Ok(if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Asked {
    fn of(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut asked = Self::default();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} without a value"));
            match argument.as_str() {
                "--sizes" => {
                    for part in value()?.split(',') {
                        let (from, to) = part.split_once("..").unwrap_or((part, part));
                        asked.targets.extend((from.parse()?..=to.parse()?).map(Target::Percent));
                    }
                }
                "--tokens" => {
                    for part in value()?.split(',') {
                        asked.targets.push(Target::Tokens(part.parse()?));
                    }
                }
                "--as" => match value()?.as_str() {
                    "each" => asked.formats.extend(Format::ALL),
                    name => asked.formats.push(format(name)?),
                },
                "--format" => asked.format = Some(format(&value()?)?),
                "--pin" => asked.pin = Some(value()?),
                "--pins" => asked.pins_each = Some(()),
                "--tail" => asked.tail = Some(value()?.parse()?),
                "--fold-task" => asked.folds_task = Some(()),
                "--smallest" => asked.smallest = Some(value()?),
                _ if argument.starts_with("--") => return Err(format!("{argument}?").into()),
                _ => asked.files.push(argument),
            }
        }
        if asked.targets.is_empty() {
            asked.targets.extend((1..=100).map(Target::Percent));
        }
        Ok(asked)
    }

    /// The file's request in each format that was asked for.
    fn requests(&self, file: &str) -> Result<Vec<Request>> {
        let bytes = fs::read(file)?;
        let request = match self.format {
            Some(format) => wire::parse(format, String::from_utf8(bytes)?)?,
            None => open(bytes, None, Opening::default())?.request().clone(),
        };
        if self.formats.is_empty() {
            return Ok(vec![request]);
        }
        let mended = wire::repair(&request).request;
        let each = self.formats.iter().map(|to| {
            let is_own = *to == request.format;
            Ok(if is_own { request.clone() } else { converted(&mended, *to)?.1 })
        });
        each.collect()
    }

    /// Each compactor that the request is put to, and in words what it does.
    fn compactors(&self, request: &Request) -> Result<Vec<(String, Compactor)>> {
        let mut pins: Vec<Option<Pin>> = vec![self.pin.clone().map(Pin::Text)];
        if self.pins_each.is_some() {
            pins.extend((0..request.transcript.len()).map(|at| Some(Pin::Entry(at))));
        }
        let mut compactors = Vec::new();
        for pin in pins {
            for target in &self.targets {
                let options = Options {
                    target: *target,
                    tail: self.tail.map_or(Tail::Fitting, Tail::Tokens),
                    task: if self.folds_task.is_some() { Task::Fold } else { Task::Keep },
                    pins: pin.iter().cloned().collect(),
                    ..Options::default()
                };
                let what = format!("{target:?} {pin:?}");
                compactors.push((what, Compactor::new(options, counter("o200k")?)?));
            }
        }
        Ok(compactors)
    }
}

fn format(name: &str) -> Result<Format> {
    let named = Format::ALL.into_iter().find(|format| format.to_string() == name);
    named.ok_or_else(|| format!("no format is called {name}").into())
}

/// The request with as little as breaks some law: without messages first, then with shorter strings.
fn smallest(request: &Request, compactor: &Compactor) -> String {
    let breaks = |body: &Value| {
        let parsed = wire::parse(request.format, body.to_string());
        parsed.is_ok_and(|request| check_all(&request, compactor).is_err())
    };
    let mut body: Value = serde_json::from_str(request.source()).expect("it parsed");
    if !breaks(&body) {
        return request.source().as_str().to_owned();
    }
    loop {
        let before = body.to_string().len();
        let mut at = 0;
        // Every place of it, counted anew each time: what was taken away moves the others.
        while let Some(tries) = shorter(&body, at) {
            match tries.into_iter().find(|less| breaks(less)) {
                Some(less) => body = less,
                None => at += 1,
            }
        }
        if body.to_string().len() == before {
            return serde_json::to_string_pretty(&body).expect("it is JSON");
        }
    }
}

/// The body with less at its place of that number, the least first; `None` behind the last place.
fn shorter(body: &Value, number: usize) -> Option<Vec<Value>> {
    let mut pointers = Vec::new();
    places(body, &mut String::new(), &mut pointers);
    let pointer = pointers.get(number)?;
    let (parent, key) = pointer.rsplit_once('/')?;
    let mut tries = Vec::new();
    // A call alone takes its answer's sense away: several leave at once, too.
    for many in [16, 4, 2, 1] {
        let mut without = body.clone();
        match without.pointer_mut(parent)? {
            Value::Array(list) => {
                let from: usize = key.parse().ok()?;
                if from + many > list.len() {
                    continue;
                }
                drop(list.drain(from..from + many));
            }
            Value::Object(object) if many == 1 => {
                object.remove(&key.replace("~1", "/").replace("~0", "~"));
            }
            _ => continue,
        }
        tries.push(without);
    }
    if let Value::String(text) = body.pointer(pointer)? {
        let letters = text.chars().count();
        for part in [0, letters / 4, letters / 2, letters * 3 / 4, letters.saturating_sub(1)] {
            for skip in [0, letters - part] {
                let less: String = text.chars().skip(skip).take(part).collect();
                if less.len() < text.len() {
                    let mut with = body.clone();
                    *with.pointer_mut(pointer)? = less.into();
                    tries.push(with);
                }
            }
        }
    }
    Some(tries)
}

/// The pointers to all that `value` holds, what holds others before them.
fn places(value: &Value, at: &mut String, pointers: &mut Vec<String>) {
    let mut go = |key: &str, inner: &Value| {
        let length = at.len();
        at.push('/');
        at.push_str(&key.replace('~', "~0").replace('/', "~1"));
        pointers.push(at.clone());
        places(inner, at, pointers);
        at.truncate(length);
    };
    match value {
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, inner)| go(&at.to_string(), inner));
        }
        Value::Object(object) => object.iter().for_each(|(key, inner)| go(key, inner)),
        _ => {}
    }
}
