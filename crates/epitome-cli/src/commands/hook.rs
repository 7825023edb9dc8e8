//! `hook`: what an agent runs around its own compactions. Nothing in here fails the agent.

use std::collections::HashSet;
use std::io::{self, IsTerminal, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use epitome::Request;
use epitome::archive::{Archive as _, Original};
use epitome::text::figure::counted;
use epitome::text::secrets::masked;
use epitome::transcript::ContentId;
use epitome_store::{Access, Store};
use serde::Deserialize;

use crate::archive;
use crate::args::{ArchiveArg, HookArgs, HookEvent, ReadingArgs};
use crate::failure::{Exit, Failure};
use crate::input;
use crate::output::{self, Report};
use crate::quoting::operand;
use crate::survey::{By, Rule};
use crate::terminal::{count, line, put};
use crate::whole::{Secrets, Whole};

/// The most bytes of the user's rules: they are read by a model that is short of room.
const RULES: usize = 4000;
/// The most characters of one of them.
const LONGEST: usize = 400;
/// Human messages that are named by their ids, the newest.
const NAMED: usize = 12;

/// The members of an agent's event that are used.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HookInput {
    transcript_path: Option<PathBuf>,
    /// What a session was started by.
    source: Option<String>,
}

/// Does what belongs to the event. An agent takes some exit codes for a veto, so that there is one only.
pub(crate) fn run(args: &HookArgs) -> Exit {
    match catch_unwind(AssertUnwindSafe(|| heard(args))) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => note(&format!("{error:#}")),
        Err(_) => note("epitome hook panicked"),
    }
    Exit::Ok
}

fn note(why: &str) {
    output::note(&format!("epitome hook: {}", line(why, 400)));
}

fn heard(args: &HookArgs) -> Result<()> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        let failure = Failure::usage("agents run this, and describe the event on stdin");
        return Err(failure.hint("epitome install claude-code").into());
    }
    let mut text = String::new();
    stdin.read_to_string(&mut text)?;
    let said: HookInput = serde_json::from_str(&text)?;
    let Some(transcript) = &said.transcript_path else {
        bail!(Failure::input("the event doesn't name the transcript"));
    };
    // A pipe or a device may never end.
    if !transcript.is_file() {
        let what = format!("{} isn't a file", transcript.display());
        bail!(Failure::input(what));
    }
    let folder = archive::named_or_usual(args.archive.as_deref())?;
    match args.event {
        HookEvent::PreCompact => before(transcript, &folder),
        HookEvent::SessionStart if said.source.as_deref().is_some_and(|it| it != "compact") => {
            Ok(())
        }
        HookEvent::SessionStart => after(transcript, &folder),
        HookEvent::StatusLine => status(transcript),
    }
}

/// Archives the transcript, and says what a summary is to keep.
fn before(transcript: &Path, folder: &Path) -> Result<()> {
    let kept = keep(transcript, folder);
    let pins = kept.as_ref().map_or_else(|_| pins(folder), pinned);
    let whole = read(transcript, Reading::Whole)?;
    let mut out = String::new();
    if !pins.is_empty() {
        out.push_str("Say each of these in the summary, verbatim:\n");
        list(&mut out, &pins);
    }
    let rules = rules(&whole);
    if !rules.is_empty() {
        out.push_str(
            "The user said this; later lines hold over earlier ones. Keep it in the summary:\n",
        );
        list(&mut out, &rules);
    }
    out.push_str(
        "Write names of files, commands, errors, ids and numbers exactly as they stand in the conversation.\n",
    );
    output::data(&masked(&out))?;
    kept.map(drop)
}

/// Says after a compaction what a summary may have lost, and how to have the rest.
fn after(transcript: &Path, folder: &Path) -> Result<()> {
    let whole = read(transcript, Reading::Whole)?;
    let pins = pins(folder);
    let mut out = String::from(
        "Kept beside the summary of this conversation: reference, quoted verbatim, not a request.\n",
    );
    if !pins.is_empty() {
        out.push_str("Pinned, and still in force:\n");
        list(&mut out, &pins);
    }
    let rules = rules(&whole);
    if !rules.is_empty() {
        out.push_str("The user said this (later lines hold over earlier ones):\n");
        list(&mut out, &rules);
    }
    let people = Original::of(&whole, |entry| whole.transcript.entry(entry).is_human());
    let newest = &people[people.len().saturating_sub(NAMED)..];
    // What isn't there can't be had back.
    let Ok(kept) = archive::open(folder, Access::Read) else {
        return output::data(&masked(&out));
    };
    let is_kept = |id: ContentId| kept.get(id).is_ok_and(|it| it.is_some());
    let newest: Vec<&Original> = newest.iter().filter(|it| is_kept(it.id)).collect();
    if !newest.is_empty() {
        out.push_str("What the user said, by ids:\n");
        for original in newest {
            let id = original.id.short();
            // Masked before it is cut: half a secret has no shape.
            let words = line(&masked(&original.words), 100);
            put!(out, "- {id} {words}");
        }
    }
    let shown = read(transcript, Reading::Last)?;
    let shown: HashSet<ContentId> =
        Original::of(&shown, |_| true).into_iter().map(|original| original.id).collect();
    let said = Original::of(&whole, |_| true).into_iter().map(|original| original.id);
    let (hidden, still): (Vec<ContentId>, Vec<ContentId>) =
        said.partition(|id| !shown.contains(id));
    // An agent may call before it has written down that it compacted.
    let hidden = if hidden.is_empty() { still } else { hidden };
    let archived = hidden.iter().filter(|id| is_kept(**id)).count();
    if archived == 0 {
        return output::data(&masked(&out));
    }
    let what = if archived == hidden.len() {
        "All that was said before is archived".to_owned()
    } else {
        format!("{archived} of the {} messages that were said before are archived", hidden.len())
    };
    let store = operand(folder);
    put!(
        out,
        "{what}. To have it back: the tools recall_search and recall_get of the MCP server \
         epitome, or in a shell `epitome recall 'WORDS' --archive {store}` and `epitome recall ID --archive {store}`."
    );
    output::data(&masked(&out))
}

/// One line on what fills the context.
fn status(transcript: &Path) -> Result<()> {
    let bytes = input::bytes(Some(transcript))?;
    let opened = input::understood(bytes, Some(transcript), &ReadingArgs::default(), Report::Json)?;
    let mut words = Vec::new();
    if let Some(prompt) = opened.source.reported {
        words.push(format!("{} tokens", count(prompt.tokens)));
    }
    words.push(counted(opened.request.transcript.len(), "message"));
    words.push(counted(opened.source.compactions, "compaction"));
    output::data(&format!("{}\n", words.join(" · ")))
}

/// Keeps all of a transcript, so that it can be had back whole and searched.
fn keep(transcript: &Path, folder: &Path) -> Result<Store> {
    let raw = input::bytes(Some(transcript))?;
    let whole = Whole::read(&raw, Some(transcript), &ReadingArgs::default())?;
    archive::make(folder)?;
    let store = archive::open(folder, Access::Write)?;
    let source = transcript.to_string_lossy();
    let archive = ArchiveArg { store: folder.to_owned() };
    let session = whole.keep(&raw, &source, (&archive, &store), Secrets::Kept)?;
    let said = Original::of(&whole.request, |_| true);
    whole.placed(session, Secrets::Kept, HashSet::new()).put(&said)?;
    Ok(store)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// What the model sees.
    Last,
    /// Across earlier compactions.
    Whole,
}

fn read(transcript: &Path, reading: Reading) -> Result<Request> {
    let how = ReadingArgs { whole: reading == Reading::Whole, ..ReadingArgs::default() };
    // What an agent reads is said in few words.
    Ok(input::read(Some(transcript), &how, Report::Json)?.request)
}

fn pins(folder: &Path) -> Vec<String> {
    archive::open(folder, Access::Read).map(|store| pinned(&store)).unwrap_or_default()
}

fn pinned(store: &Store) -> Vec<String> {
    store.pins().unwrap_or_default().into_iter().map(|pin| pin.text).collect()
}

fn list(out: &mut String, texts: &[String]) {
    for text in texts {
        put!(out, "- {}", text.replace('\n', "\n  "));
    }
}

/// Sentences in which people command or forbid, the newest that fit. Rule files are left out: the agent injects them
/// again by itself.
fn rules(request: &Request) -> Vec<String> {
    let mut room = RULES;
    let said = Rule::all(request, By::People).into_iter().rev();
    let mut rules: Vec<String> = said
        .map(|rule| line(&rule.text, LONGEST))
        .take_while(|rule| {
            let left = room.checked_sub(rule.len() + 3);
            room = left.unwrap_or_default();
            left.is_some()
        })
        .collect();
    rules.reverse();
    rules
}
