//! What conversion keeps of what can be said, as a page:
//! `cargo run -p testkit --example conversion -- [--check] docs/conversion.md`
//!
//! Writes the page, or, with `--check`, fails where it says something else than the code does. What it calls
//! kept is held to that: it is said there, and again on the way back.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

use epitome::Format;
use epitome::convert::{Extent, Loss, Lost};
use epitome::wire;
use serde_json::value::RawValue;
use testkit::conversion::{Tongue, converted, said};
use testkit::paper;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A thing that can be said, and the smallest body that says it, by the name of its format.
type Thing = (String, HashMap<String, Box<RawValue>>);

fn things() -> Result<Vec<Thing>> {
    Ok(serde_json::from_str(include_str!("things.json"))?)
}

const HEAD: &str = "\
# Conversion

What `epitome convert --to FORMAT` carries from each format to each other, tested with the smallest body for each thing. This page is written by

```sh
cargo run -p testkit --example conversion -- docs/conversion.md
```

and `./test` fails if it is out of date. The result of every conversion obeyed the rules, and the scripted model server accepted it.

- **kept**: the target has it, nothing is listed as lost, and converting back restores it.
- one way: the target has it, but converting back loses it.
- *changed*: the target has it in another form.
- dropped: the target does not have it.

`convert` lists what is changed or dropped on stderr, or with `--json`, each with its place and reason. A thing that a format cannot express has no row in its
table. Ids stay where they are legal; others become legal and unique. Broken pairs are repaired first. Property tests over generated transcripts and real
captures check the same: [conversion.rs](../crates/epitome-tests/tests/it/conversion.rs).
";

fn main() -> Result<ExitCode> {
    paper::keep("conversion", &format!("{} things", things()?.len()), page)
}

fn page() -> Result<String> {
    let mut out = HEAD.to_owned();
    let things = things()?;
    for from in Format::ALL {
        let targets: Vec<Format> = Format::ALL.into_iter().filter(|to| *to != from).collect();
        let names: Vec<&str> = targets.iter().map(|to| to.name()).collect();
        writeln!(out, "\n## From {from}\n\n| | {} |", names.join(" | "))?;
        writeln!(out, "|---|{}", "---|".repeat(targets.len()))?;
        for (thing, bodies) in &things {
            let Some(body) = bodies.get(from.name()) else { continue };
            write!(out, "| {thing} |")?;
            for to in &targets {
                let cell = cell(from, *to, body.get())
                    .map_err(|error| format!("{thing}, {from} to {to}: {error}"))?;
                write!(out, " {cell} |")?;
            }
            writeln!(out)?;
        }
    }
    writeln!(out, "\n## Why\n\n| `what` | | | why |\n|---|---|---|---|")?;
    for loss in Loss::ALL {
        let name = serde_json::to_value(loss)?;
        let extent = match loss.extent() {
            Extent::Dropped => "dropped",
            Extent::Changed => "changed",
        };
        let name = name.as_str().unwrap_or_default();
        writeln!(out, "| `{name}` | {} | {extent} | {} |", loss.words(), loss.why())?;
    }
    Ok(out)
}

/// What becomes of the one thing that `body` says.
fn cell(from: Format, to: Format, body: &str) -> Result<&'static str> {
    let request = wire::parse(from, body.to_owned())?;
    let found = wire::check(&request);
    if !found.is_empty() {
        return Err(format!("{found:?}\n{body}").into());
    }
    let (there, written) = converted(&request, to)?;
    let counts = |lost: &&Lost| lost.what != Loss::Model;
    let lost: Vec<&Lost> = there.lost.iter().filter(counts).collect();
    if lost.iter().any(|lost| lost.extent == Extent::Dropped) {
        return Ok("dropped");
    }
    if !lost.is_empty() {
        return Ok("*changed*");
    }
    let (back, again) = converted(&written, from)?;
    let tongue = Tongue::of([from, to]);
    if said(&request, tongue) != said(&written, tongue) {
        return Err(format!("not said: {body}\n{}", there.text).into());
    }
    let is_back = said(&written, tongue) == said(&again, tongue);
    if !is_back || back.lost.iter().any(|lost| counts(&lost)) {
        return Ok("one way");
    }
    Ok("**kept**")
}
