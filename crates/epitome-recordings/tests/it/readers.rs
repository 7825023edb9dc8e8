//! Rows in short, and what is read of them: branches, compactions, sub-agents, what was broken off, words in mid-turn.

use epitome::transcript::{Entry, Marks};
use epitome::wire::check;
use epitome_recordings::Recording;
use expect_test::expect_file;
use serde_json::Value;
use testkit::page;

use crate::{LAST, WHOLE, codex, gemini_cli, notation, opencode, openhands, pi, recording};

type Rows = fn(&[&str]) -> String;

#[test]
fn rows_are_read_as_the_pages_say() {
    for (reader, file, rows) in [
        ("claude-code", expect_file!["readers/claude_code.txt"], notation::file as Rows),
        ("codex", expect_file!["readers/codex.txt"], codex::file),
        ("gemini-cli", expect_file!["readers/gemini_cli.txt"], gemini_cli::log),
        ("opencode", expect_file!["readers/opencode.txt"], opencode::file),
        ("openhands", expect_file!["readers/openhands.txt"], openhands::file),
        ("pi", expect_file!["readers/pi.txt"], pi::file),
    ] {
        page::check(&file, |case| {
            let options = if case.settings == "whole" { WHOLE } else { LAST };
            let source = rows(&case.given.lines().collect::<Vec<_>>());
            told(&recording(reader, source, options)).join("\n")
        });
    }
}

/// A frame, a line for each entry, and what is told besides.
fn told(read: &Recording) -> Vec<String> {
    let mut body: Value = serde_json::from_str(read.request.source()).expect("a body");
    let members = body.as_object_mut().expect("an object");
    members.retain(|name, _| !["messages", "input", "contents"].contains(&name.as_str()));
    let mut told = vec![format!("{} {body}", read.request.format)];
    told.extend(read.request.transcript.entries().map(said));
    for side in &read.sidechains {
        told.push(format!("beside, {}:", side.id));
        told.extend(side.request.transcript.entries().map(said));
    }
    if read.compactions > 0 {
        told.push(format!("compactions: {}", read.compactions));
    }
    let breaches = check(&read.request);
    told.extend(
        breaches.iter().map(|breach| format!("breaks {} in {}", breach.rule, breach.entry)),
    );
    told.extend(read.skipped.iter().map(|row| format!("left out {}: {}", row.row, row.why)));
    told.extend(read.notes.iter().map(|note| format!("note: {note}")));
    told.extend(read.usage.iter().map(|one| {
        let of = &one.usage;
        let (input, output) = (of.input, of.output);
        format!(
            "used {:?}: {input} in, {} read, {} written, {output} out",
            one.reply, of.cache_read, of.cache_write
        )
    }));
    told
}

/// Who speaks, and each part that another speaks.
fn said(entry: Entry<'_>) -> String {
    let parts = entry.parts().filter(|part| !part.is(Marks::NESTED));
    let parts = parts.map(|part| match part.origin() {
        origin if origin == entry.origin() => notation::of(&part),
        origin => format!("({}) {}", format!("{origin:?}").to_lowercase(), notation::of(&part)),
    });
    let parts: Vec<String> = parts.collect();
    let origin = format!("{:?}", entry.origin()).to_lowercase();
    format!("{origin}: {}", parts.join(" | ")).replace('\n', "\\n")
}
