//! Who can be asked for summaries, by the names that flags give them.

mod command;

use std::fs;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::Result;
use epitome::summarize::{Brief, Summaries, Summarizer};

use crate::args::SummaryArgs;
use crate::failure::Failure;
use crate::quoting::name;

use command::Command;

/// A summarizer, as a flag says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Spec {
    /// The program's own code.
    Extractive,
    /// A command: the program and its arguments.
    Command(Vec<String>),
}

impl FromStr for Spec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "extractive" {
            return Ok(Spec::Extractive);
        }
        if let Some(line) = text.strip_prefix("cmd:") {
            let words = shlex::split(line).ok_or("a quote isn't closed")?;
            return if words.is_empty() {
                Err("no program is named".to_owned())
            } else {
                Ok(Spec::Command(words))
            };
        }
        Err("not `extractive` or `cmd:PROG`".to_owned())
    }
}

/// What the arguments ask for.
///
/// # Errors
/// A prompt that can't be read or says nothing.
pub(crate) fn summaries(args: &SummaryArgs) -> Result<Summaries> {
    let mut chain: Vec<Arc<dyn Summarizer>> = Vec::new();
    for spec in args.summarizer.iter().chain(&args.then) {
        match spec {
            // Code never fails: nobody behind it is asked.
            Spec::Extractive => break,
            Spec::Command(words) => {
                chain.push(Arc::new(Command { words: words.clone(), timeout: args.timeout }));
            }
        }
    }
    let prompt = args.prompt.as_deref().map(|path| {
        let text = fs::read_to_string(path)
            .map_err(|error| Failure::input(format!("--prompt {}: {error}", name(path))))?;
        if text.trim().is_empty() {
            return Err(Failure::input(format!("--prompt {} says nothing", name(path))));
        }
        Ok(text.trim_end().to_owned())
    });
    let brief =
        Brief { focus: args.focus.clone(), prompt: prompt.transpose()?, ..Brief::default() };
    Ok(Summaries { chain, brief, on_failure: args.on_failure.unwrap_or_default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_name_summarizers_or_are_refused() {
        assert_eq!("extractive".parse(), Ok(Spec::Extractive));
        let words = ["python3", "my script.py", "-v"].map(str::to_owned).to_vec();
        assert_eq!("cmd:python3 'my script.py' -v".parse(), Ok(Spec::Command(words)));
        for bad in ["", "cmd:", "cmd:  ", "cmd:'x", "magic", "extractive "] {
            assert!(bad.parse::<Spec>().is_err(), "{bad}");
        }
    }
}
