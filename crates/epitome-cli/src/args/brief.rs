//! Help on one screen: what `-h` leaves to `--help`.

use clap::builder::{Resettable, StyledStr};
use clap::{Arg, Command, CommandFactory as _};
use epitome::word_list::words;

use super::Cli;

/// Options that `-h` shows; the others are rarely used.
const USUAL: [&str; 21] = words!(
    "archive fix from html json limit listen model online output pin recall repair store suited \
     summarizer target to trigger upstream window"
);

/// Bytes of a help text that fit in a line beside an option.
const LINE: usize = 60;

/// The fewest bytes of a beginning.
const WORDS: usize = 12;

/// Commands that `epitome -h` doesn't show.
const SELDOM: [&str; 14] = words!(
    "bench completions config forget hook man mcp models pin redo schema sidecar simulate \
     uninstall"
);

/// The command line, with a `-h` that fits on a screen.
pub(crate) fn command() -> Command {
    let is_short = std::env::args_os().any(|word| word == "-h");
    shaped(if is_short { Help::Short } else { Help::Long })
}

fn shaped(help: Help) -> Command {
    let command = Cli::command().mut_subcommands(|command| {
        let is_seldom = SELDOM.contains(&command.get_name());
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let command = brief(command, help, "epitome");
        match help {
            Help::Long => command,
            Help::Short => command.about(beginning(&about).to_owned()).hide(is_seldom),
        }
    });
    with_long_end(command, "`epitome --help` shows all commands and the exit codes.")
}

/// Which help is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Help {
    Short,
    Long,
}

fn brief(command: Command, help: Help, under: &str) -> Command {
    let name = format!("{under} {}", command.get_name());
    let is_hidden = |arg: &Arg| !arg.is_positional() && !USUAL.contains(&arg.get_id().as_str());
    let hides = command.get_arguments().any(is_hidden);
    let command = command.mut_args(|arg| {
        let hides = is_hidden(&arg);
        let arg = beginning_of(arg).hide_short_help(hides);
        // A heading for one option says little.
        if help == Help::Short { arg.help_heading(Resettable::Reset) } else { arg }
    });
    let command = command.mut_subcommands(|command| brief(command, help, &name));
    let end = format!("`{name} --help` shows all options, and examples.");
    if hides { with_long_end(command, &end) } else { command }
}

/// `--help` keeps its end; `-h` ends with `short`.
fn with_long_end(command: Command, short: &str) -> Command {
    let long = command.get_after_long_help().or(command.get_after_help()).cloned();
    let command = command.after_help(short.to_owned());
    match long {
        Some(long) => command.after_long_help(long),
        None => command.after_long_help(StyledStr::new()),
    }
}

/// `-h` shows how an option's help begins, `--help` all of it.
fn beginning_of(arg: Arg) -> Arg {
    let Some(help) = arg.get_help().cloned() else { return arg };
    let long = arg.get_long_help().cloned().unwrap_or_else(|| help.clone());
    arg.help(beginning(&help.to_string()).to_owned()).long_help(long)
}

/// The first sentence, or as much of it as fits in a line.
fn beginning(text: &str) -> &str {
    let end = |text: &str, ends: &[&str]| ends.iter().filter_map(|end| text.find(end)).min();
    let first = &text[..end(text, &[". ", "; "]).unwrap_or(text.len())];
    let first = match end(first, &[": ", ", ", " ("]) {
        Some(at) if first.len() > LINE && at >= WORDS => &first[..at],
        _ => first,
    };
    first.trim_end_matches(['.', ':'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_begins_with_its_first_sentence_or_less() {
        assert_eq!(beginning("Where to land. It is large."), "Where to land");
        assert_eq!(beginning("Read this, too"), "Read this, too");
        let long = "Who sums up what is folded: code, a model, a command, or another program that does all";
        assert_eq!(beginning(long), "Who sums up what is folded");
    }

    #[test]
    fn short_help_fits_on_a_screen() {
        let mut all = shaped(Help::Short);
        all.build();
        let lines = all.render_help().to_string().lines().count();
        assert!(lines <= 30, "epitome: {lines} lines");
        for command in all.get_subcommands_mut() {
            let lines = command.render_help().to_string().lines().count();
            assert!(lines <= 30, "{}: {lines} lines", command.get_name());
        }
    }
}
