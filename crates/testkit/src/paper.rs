//! A page of `docs` that a command makes, and how that command is called: `NAME [--check] FILE`.

use std::error::Error;
use std::fs;
use std::process::ExitCode;

/// Writes the page to the file that the arguments name; with `--check` compares the two instead, and says the
/// first line that differs. `sum` says what an up-to-date page holds.
///
/// # Errors
/// The page's own, and those of the file.
pub fn keep<E: Into<Box<dyn Error>>>(
    name: &str,
    sum: &str,
    page: impl FnOnce() -> Result<String, E>,
) -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["--check", file] => {
            let (old, new) = (fs::read_to_string(file)?, page().map_err(Into::into)?);
            if old == new {
                println!("{file} is up to date: {sum}");
                return Ok(ExitCode::SUCCESS);
            }
            let differs = old.lines().zip(new.lines()).enumerate().find(|(_, (a, b))| a != b);
            if let Some((at, (old, new))) = differs {
                eprintln!("line {}:\n  in the file: {old}\n  by the code: {new}", at + 1);
            }
            eprintln!("{file} is out of date; the command in it makes it anew");
            Ok(ExitCode::FAILURE)
        }
        [file] if !file.starts_with('-') => {
            fs::write(file, page().map_err(Into::into)?)?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            eprintln!("usage: {name} [--check] FILE");
            Ok(ExitCode::from(2))
        }
    }
}
