//! Whatever a run of these tests prints as JSON obeys the schema of its command.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::process::Command;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use serde_json::Value;

/// A report, as `epitome schema` lists it.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) name: String,
    /// The words that call the command that prints it; none where no command does.
    path: Vec<String>,
}

/// What `epitome schema` prints.
pub(crate) fn printed(words: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_epitome"));
    let output = command.arg("schema").args(words).output().expect("the binary runs");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// All that it lists.
pub(crate) static LIST: LazyLock<Vec<Listed>> = LazyLock::new(|| {
    let list = printed(&["--json"]);
    let listed = |report: &Value| {
        let text = |key: &str| report[key].as_str().expect("a text").to_owned();
        let command = text("command");
        let words = command.strip_prefix("epitome ").map(|words| words.split(' '));
        let is_name = |word: &&str| word.bytes().all(|b| b.is_ascii_lowercase());
        let path = words.map(|words| words.take_while(is_name).map(str::to_owned).collect());
        Listed { name: text("name"), path: path.unwrap_or_default() }
    };
    list["reports"].as_array().expect("a list").iter().map(listed).collect()
});

/// What judges reports of a name.
pub(crate) fn judge(name: &str) -> Arc<Validator> {
    static JUDGES: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut judges = JUDGES.lock().expect("no test panics here");
    let made = judges.entry(name.to_owned()).or_insert_with(|| {
        let judge = jsonschema::validator_for(&printed(&[name]));
        Arc::new(judge.unwrap_or_else(|error| panic!("the schema of {name}: {error}")))
    });
    Arc::clone(made)
}

/// Why a report is none of those that have these names.
pub(crate) fn faults<'n>(
    report: &Value,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    let mut all = String::new();
    for name in names {
        let judge = judge(name);
        let mut errors = judge.iter_errors(report).peekable();
        errors.peek()?;
        for error in errors {
            let at = error.instance_path();
            write!(all, "\n  `epitome schema {name}`: {at}: {error}").expect("a string takes all");
        }
    }
    Some(all)
}

/// The first JSON object that begins a line of `text`.
fn object(text: &str) -> Option<Value> {
    let start = if text.starts_with('{') { 0 } else { text.find("\n{")? + 1 };
    let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    values.next()?.ok().filter(Value::is_object)
}

/// The words of a line that calls the binary and nothing else.
fn plain(line: &str) -> Option<Vec<&str>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_shell = line.contains(['|', '>', ';', '\'']) || words.first() == Some(&"epitome");
    (!is_shell && !words.is_empty()).then_some(words)
}

/// The schemas of what a command prints.
fn names_for(words: &[&str]) -> Vec<&'static str> {
    let words: Vec<&str> = words.iter().copied().filter(|word| *word != "--json").collect();
    let words = if words.is_empty() { vec!["sessions"] } else { words };
    let is_of = |listed: &&Listed| {
        !listed.path.is_empty() && words.iter().take(listed.path.len()).eq(&listed.path)
    };
    LIST.iter().filter(is_of).map(|listed| listed.name.as_str()).collect()
}

/// That what a run printed as JSON has the form that `epitome schema` says; where it isn't known how the binary was
/// called, the form of any report.
#[track_caller]
pub(crate) fn obeyed(line: &str, out: &str, err: &str) {
    let words = plain(line);
    let names = match &words {
        // Schemas themselves have a test of their own.
        Some(words) if words[0] == "schema" || !words.contains(&"--json") => return,
        Some(words) => names_for(words),
        None => LIST.iter().map(|listed| listed.name.as_str()).collect(),
    };
    let check = |report: &Value, names: &[&str]| {
        let faults = faults(report, names.iter().copied());
        if let Some(faults) = faults.filter(|_| !names.is_empty()) {
            panic!("`epitome {line}` printed what has no schema:{faults}\n{report:#}");
        }
    };
    let is_versioned = |value: &Value| value["version"].is_u64();
    let is_failure = |told: &Value| words.is_some() && told["error"].is_object();
    let told = object(err).filter(|told| is_versioned(told) || is_failure(told));
    if let Some(told) = &told {
        check(told, if told["error"].is_object() { &["error"] } else { &names });
    }
    // A report on stderr leaves stdout to what was made; else it is on stdout, even if it lost its version.
    let is_there = words.is_some() && told.is_none();
    let shown = serde_json::from_str::<Value>(out).ok().filter(Value::is_object);
    if let Some(shown) = shown.filter(|shown| is_there || is_versioned(shown)) {
        check(&shown, &names);
    }
}
