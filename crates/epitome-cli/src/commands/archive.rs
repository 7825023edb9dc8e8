//! `restore`, `recall`, `undo`, `redo`, `forget`, `pin`: what an archive is for.

mod pins;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use epitome::Request;
use epitome::archive::recall::{Hit, hits};
use epitome::archive::{Archive as _, FoundOriginal, Original, before, redone, undone};
use epitome::checkpoint::looks_like_one;
use epitome::count::counter;
use epitome::text::figure::counted;
use epitome::transcript::{ContentId, Marks, Part, PartKind};
use epitome_recordings as recordings;
use epitome_store::{Access, Forgotten, Session, Store, StoreError};
use serde_json::json;

use crate::archive::{Meant, located, located_all, went_on_from};
use crate::args::{ArchiveArg, ForgetArgs, GoArgs, ReadingArgs, RecallArgs};
use crate::failure::{Exit, Failure};
use crate::identity::Identity;
use crate::in_place::InPlace;
use crate::input;
use crate::lookup;
use crate::output::{self, Parcel, Place, Report};
use crate::quoting::{name, operand};
use crate::terminal::{self, FAINT, STRONG, line, paint, put, size};
use crate::whole::{Secrets, Whole};

pub(crate) use pins::pin;

/// Writes what a compaction was made from.
pub(crate) fn restore(args: &GoArgs, _: Report) -> Result<Exit> {
    let place = Place::output(args.output.output.as_deref())?;
    place.spare_archive("-o", &args.archive.store)?;
    let in_place = match &place {
        // Whatever is replaced may be a recording that somebody writes to.
        Place::File(file) if Identity::of_file(file).is_some() && is_text(file)? => {
            Some(InPlace::read("-o", Some(file))?)
        }
        _ => None,
    };
    if let Some(recording) = &in_place {
        keep_what_follows(recording, args)?;
    }
    let store = args.archive.open(Access::Read)?;
    let (session, meant) = located(&args.what, &args.archive, &store)?;
    let failed = args.archive.failed();
    let (bytes, what) = match meant {
        Meant::View(0) | Meant::Shown(0) | Meant::InForce(0) => {
            (session.newest_input(), "view 0".to_owned())
        }
        Meant::View(view) | Meant::Shown(view) | Meant::InForce(view) => {
            (session.input_of(view), format!("view {view}"))
        }
        Meant::Input(raw) => (store.input(raw), format!("input {raw}")),
    };
    // What is named by a number or a digest is meant itself.
    let is_all = match meant {
        Meant::View(_) => false,
        Meant::Shown(_) | Meant::InForce(_) => true,
        Meant::Input(_) => args.what.exists(),
    };
    let Some(bytes) = bytes.map_err(failed)? else {
        let what = format!("the session {} has no {what}", session.name());
        let hint = format!("epitome sessions --archive {}", operand(&args.archive.store));
        bail!(Failure::usage(what).hint(hint));
    };
    let (bytes, request) = if is_all {
        first(bytes, &session, &store).map_err(args.archive.failed())?
    } else {
        (bytes, None)
    };
    if let Some(request) = request {
        warn_of_hidden(&request, &store, &args.archive)?;
    }
    if in_place.as_ref().is_some_and(|there| there.text().as_bytes() == &bytes[..]) {
        output::tell("it has these bytes already; nothing was written");
        return Ok(Exit::Ok);
    }
    match &in_place {
        Some(recording) => {
            recording.replace(&bytes, &[])?;
            follow(recording, &bytes, &args.archive);
        }
        None => output::deliver(&[Parcel { place: &place, text: &bytes }])?,
    }
    if store.is_redacted(ContentId::of_bytes(&bytes)).map_err(args.archive.failed())? {
        output::warn(
            "these aren't the original bytes: secrets were masked before they were archived (--redact-archive)",
        );
    }
    Ok(Exit::Ok)
}

/// Warns that restored messages are checkpoints themselves: the messages that these stand for aren't restored.
fn warn_of_hidden(request: &Request, store: &Store, archive: &ArchiveArg) -> Result<()> {
    for entry in request.transcript.entries() {
        let is_one = |part: &Part<'_>| {
            let is_text = part.kind() == PartKind::Text && !part.is(Marks::NESTED);
            is_text && looks_like_one(&part.text())
        };
        for part in entry.parts().filter(is_one) {
            output::warn(&format!(
                "messages[{}] is a checkpoint: the messages that it stands for aren't restored",
                entry.index
            ));
            let id = ContentId::of_text(&part.text());
            let known = store.shown_as(id).map_err(archive.failed())?;
            output::note(&match known {
                Some((session, view)) => {
                    let folder = operand(&archive.store);
                    format!("hint: epitome restore {}.{view} --archive {folder}", session.name())
                }
                None => "it isn't in this archive".to_owned(),
            });
        }
    }
    Ok(())
}

/// What the first compaction was made from, where these bytes went on from another: a checkpoint in them says so. With the
/// request that it is, unless it is a recording.
fn first(
    bytes: Vec<u8>,
    session: &Session,
    store: &Store,
) -> Result<(Vec<u8>, Option<Request>), StoreError> {
    let mut bytes = bytes;
    let mut passed = HashSet::new();
    let request = loop {
        // A recording holds all that was said itself.
        let opened = recordings::open(bytes.clone(), None, recordings::Options::default());
        let Ok(recordings::Input::Request(request)) = opened else { break None };
        let Some((before, view)) = went_on_from(&request, store)? else { break Some(request) };
        let is_new = passed.insert((before.name().to_owned(), view));
        let Some(earlier) = before.input_of(view)?.filter(|earlier| is_new && *earlier != bytes)
        else {
            break Some(request);
        };
        bytes = earlier;
    };
    if !passed.is_empty() {
        output::tell(&format!(
            "{} continued an earlier compaction: this is the input of the first one",
            session.name()
        ));
    }
    Ok((bytes, request))
}

/// Has the archive say that what a recording shows now is in force, where what it showed before was.
fn follow(recording: &InPlace, bytes: &[u8], archive: &ArchiveArg) {
    let Some((was, _)) = recordings::applied(recording.text()) else { return };
    let now = std::str::from_utf8(bytes).ok().and_then(recordings::applied);
    let now = now.filter(|(now, _)| now.session == was.session).map_or(0, |(now, _)| now.view);
    if let Err(error) = archive.give_way(&was.session, was.view, now) {
        output::warn(&format!(
            "the file is restored, but the archive still says that {}.{} is in force: {error:#}",
            was.session, was.view
        ));
    }
}

fn is_text(file: &Path) -> Result<bool> {
    Ok(std::str::from_utf8(&input::bytes(Some(file))?).is_ok())
}

/// The file that is meant, where a session of an agent is named by its id, and none of the archive.
fn recording(what: &Path, store: &Store) -> Result<PathBuf> {
    if store.session(&what.to_string_lossy()).is_ok() {
        return Ok(what.to_owned());
    }
    let found = lookup::found(what).map_err(|error| Failure::usage(error.to_string()))?;
    Ok(found.unwrap_or_else(|| what.to_owned()))
}

/// Whether a file is a recording that was compacted in place.
fn is_applied(file: &Path) -> Result<bool> {
    let bytes = input::bytes(Some(file))?;
    Ok(std::str::from_utf8(&bytes).is_ok_and(|text| recordings::applied(text).is_some()))
}

/// Archives the newer messages of a recording that was compacted in place: the restored bytes don't have them.
fn keep_what_follows(recording: &InPlace, args: &GoArgs) -> Result<()> {
    let text = recording.text();
    let Some((_, end)) = recordings::applied(text) else { return Ok(()) };
    if text[end..].trim().is_empty() {
        return Ok(());
    }
    let bytes = text.as_bytes().to_vec();
    let file = args.output.output.as_deref();
    let whole = Whole::read(&bytes, file, &ReadingArgs::default())?;
    let store = args.archive.open(Access::Existing)?;
    let source = file.map(|file| file.to_string_lossy()).unwrap_or_default();
    let session = whole.keep(&bytes, &source, (&args.archive, &store), Secrets::Kept)?;
    let said = Original::of(&whole.request, |_| true);
    whole
        .placed(session, Secrets::Kept, HashSet::new())
        .put(&said)
        .map_err(args.archive.refused())?;
    output::tell(&format!(
        "newer messages are archived too: epitome restore {} --archive {}",
        ContentId::of_bytes(text.as_bytes()),
        operand(&args.archive.store)
    ));
    Ok(())
}

/// The most bytes of a hit that is one of several.
const STRETCH: usize = 700;

/// Whether it is a word, a port or a year rather than the beginning of an id, which it may be too.
fn is_word(text: &str) -> bool {
    let has = |is: fn(&u8) -> bool| text.as_bytes().iter().any(is);
    text.len() < 8 && !(has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic))
}

/// Whether it can hardly be anything but an id.
fn is_id(text: &str) -> bool {
    text.len() >= ContentId::SHORT && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Prints what was removed and answers, or is meant.
pub(crate) fn recall(args: &RecallArgs, report: Report) -> Result<Exit> {
    let words = args.words.join(" ");
    if words.trim().is_empty() {
        let what = "there is nothing to find: WORDS|ID is blank";
        bail!(Failure::usage(what).hint("epitome recall 'which port' --archive STORE"));
    }
    let found = match recalled(args, &words, &args.archive.open(Access::Read)?) {
        // Where the archive can be written, its index is made again.
        Err(StoreError::DamagedIndex { .. }) => {
            recalled(args, &words, &args.archive.open(Access::Existing)?)
        }
        found => found,
    };
    let (found, stretch) = found.map_err(args.archive.failed())?;
    let all = found.len();
    let counter = counter("o200k")?;
    let hits = hits(found, &words, stretch, args.tokens, counter.as_ref());
    let left_off = all - hits.len();
    match report {
        Report::Json => output::json(&json!({ "version": 1, "hits": hits }))?,
        Report::Words => output::words(&shown(&hits))?,
    }
    if hits.is_empty() {
        let archive = line(&args.archive.store.to_string_lossy(), 80);
        output::tell(&format!("nothing was found in {archive} for {:?}", line(&words, 80)));
        return Ok(Exit::Nothing);
    }
    if left_off > 0 && report == Report::Words {
        let hits = counted(left_off, "hit");
        output::note(&format!("{hits} left off: more than {} tokens (--tokens)", args.tokens));
    }
    Ok(Exit::Ok)
}

/// What has this id or answers, each with its session, and how long a stretch of it is shown.
fn recalled(
    args: &RecallArgs,
    words: &str,
    store: &Store,
) -> Result<(Vec<(String, FoundOriginal)>, usize), StoreError> {
    let only = args.session.as_deref().map(|name| store.session(name)).transpose()?;
    let by_id = || match &only {
        None => store.recall(words, args.limit),
        Some(session) => session.recall(words, args.limit),
    };
    if !is_word(words) {
        let found = by_id()?;
        if !found.is_empty() {
            return Ok((found, usize::MAX));
        }
    }
    let found = match &only {
        None => store.search(words, args.limit),
        Some(session) => session.search_words(words, args.limit),
    }?;
    if found.is_empty() {
        return Ok((by_id()?, usize::MAX));
    }
    if is_id(words) {
        output::tell("no message has this id; these say it:");
    }
    Ok((found, STRETCH))
}

fn shown(hits: &[Hit]) -> String {
    let mut out = String::new();
    for hit in hits {
        let tool = hit.tool.as_deref().map(|tool| format!(", {}", line(tool, 40)));
        let time = hit.time.as_deref().map(|time| format!(", {time}"));
        let place = format!(
            "{}{}, turn {}, messages[{}] of {}{}",
            hit.by(),
            tool.unwrap_or_default(),
            hit.turn,
            hit.entry,
            line(&hit.session, 40),
            time.unwrap_or_default()
        );
        // Marked, so that it isn't found again where an agent read it.
        let id = paint(STRONG, &hit.recalled);
        put!(out, "{id} {}", paint(FAINT, place));
        for text in hit.text.lines() {
            put!(out, "  {}", terminal::one(text));
        }
    }
    out
}

/// Which way to go in the history of views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Back,
    Forth,
}

impl Way {
    /// The view to go to from `head`: the one that is named, or the next one of the session.
    fn to(self, meant: Meant, history: &[(u64, u64)], head: u64) -> Result<u64, String> {
        let past = before(history, head);
        let is_there = |view: u64| view == 0 || history.iter().any(|(number, _)| *number == view);
        let (none_undone, none_redone) =
            ("there is no compaction to undo", "there is no undone compaction to redo");
        match (self, meant) {
            (_, Meant::View(view)) if !is_there(view) => Err(format!("there is no view {view}")),
            (_, Meant::View(view)) if view == head => {
                Err(format!("view {view} is in force already"))
            }
            (Way::Back, Meant::View(view)) if past.contains(&view) => Ok(view),
            (Way::Back, Meant::View(view)) => Err(format!(
                "view {view} doesn't come before view {head}, which is in force; `redo` goes there"
            )),
            (Way::Forth, Meant::View(view)) if past.contains(&view) => Err(format!(
                "view {view} comes before view {head}, which is in force; `undo` goes there"
            )),
            (Way::Forth, Meant::View(view)) => Ok(view),
            // Whatever else names a session.
            (Way::Back, _) => undone(history, head).ok_or_else(|| none_undone.to_owned()),
            (Way::Forth, _) => redone(history, head).ok_or_else(|| none_redone.to_owned()),
        }
    }
}

/// A step in the history of a session.
struct Step {
    session: Session,
    /// How many there are.
    views: usize,
    from: u64,
    to: u64,
}

impl Step {
    fn of(way: Way, (session, meant): (Session, Meant), archive: &ArchiveArg) -> Result<Self> {
        let refused = archive.refused();
        let from = session.head().map_err(&refused)?;
        let history = session.history().map_err(&refused)?;
        let to = way.to(meant, &history, from).map_err(|why| {
            let (id, store) = (session.name(), operand(&archive.store));
            let hint = format!("epitome sessions {id} --archive {store}");
            let what = format!("{id}: {why}");
            match meant {
                Meant::View(_) => Failure::usage(what).hint(hint),
                _ => Failure::other(what).hint(hint),
            }
        })?;
        Ok(Step { session, views: history.len(), from, to })
    }
}

/// Puts the view before the last compaction in force again.
pub(crate) fn undo(args: &GoArgs, report: Report) -> Result<Exit> {
    go(args, Way::Back, report)
}

/// Puts the view in force that was undone last.
pub(crate) fn redo(args: &GoArgs, report: Report) -> Result<Exit> {
    go(args, Way::Forth, report)
}

fn go(args: &GoArgs, way: Way, report: Report) -> Result<Exit> {
    let place = Place::output(args.output.output.as_deref())?;
    place.spare_archive("-o", &args.archive.store)?;
    let store = args.archive.open(Access::Existing)?;
    let file = recording(&args.what, &store)?;
    if file.is_file() && is_applied(&file)? {
        let what = format!("{} is an agent's recording, not a request", name(&file));
        let file = operand(&file);
        let hint = format!("back as it was: epitome restore {file} -o {file}");
        bail!(Failure::usage(what).hint(hint));
    }
    let found = located_all(&args.what, &args.archive, &store)?;
    let mut steps = found.into_iter().map(|found| Step::of(way, found, &args.archive));
    let first = steps.next().expect("at least one is found");
    // There may be something to do in another session of the same bytes.
    let step = first.or_else(|why| steps.find_map(Result::ok).ok_or(why))?;
    let Step { session, views, from, to } = step;
    let refused = args.archive.refused();
    let request = session.shown_with(to).map_err(args.archive.failed())?;
    session.go(from, to).map_err(&refused)?;
    let text = request.source().as_bytes();
    if let Err(error) = output::deliver(&[Parcel { place: &place, text }]) {
        // Nobody was shown it, so that the view before stays in force; if another came meanwhile, that does.
        let _come_meanwhile = session.go(to, from);
        return Err(error);
    }
    let what = match to {
        0 => "all is shown as it was said".to_owned(),
        view => format!("view {view} of {views} is in force"),
    };
    match report {
        Report::Words => output::tell(&format!("{}: {what}", session.name())),
        Report::Json => {
            let told = json!({ "version": 1, "session": session.name(), "from": from, "view": to });
            if place.leaves_stdout() {
                output::json(&told)?;
            } else {
                output::note(&terminal::json(&told));
            }
        }
    }
    Ok(Exit::Ok)
}

/// Erases sessions.
pub(crate) fn forget(args: &ForgetArgs, report: Report) -> Result<Exit> {
    let failed = args.archive.failed();
    let store = args.archive.open(Access::Existing)?;
    let gone: Forgotten = match (&args.what, args.older_than, args.over) {
        (Some(what), _, _) => {
            let (session, _) = located(what, &args.archive, &store)?;
            store.forget(&session).map_err(failed)?
        }
        (None, Some(age), _) => store.forget_older(age).map_err(failed)?,
        (None, None, Some(most)) => store.forget_over(most).map_err(failed)?,
        (None, None, None) => unreachable!("one of them is required"),
    };
    match report {
        Report::Json => {
            let Forgotten { sessions, contents, bytes, is_held } = &gone;
            let told = json!({
                "version": 1, "sessions": sessions, "contents": contents, "bytes": bytes,
                "held": is_held,
            });
            output::json(&told)?;
        }
        Report::Words => {
            let sessions = counted(gone.sessions.len(), "session");
            let contents = counted(usize::try_from(gone.contents)?, "content");
            let bytes = size(usize::try_from(gone.bytes)?);
            output::words(&format!("{sessions} forgotten: {contents}, {bytes}\n"))?;
        }
    }
    if gone.is_held {
        let what = "another process still reads forgotten content, and its bytes stay until that process ends";
        let hint =
            format!("end it, then: epitome sessions --archive {}", operand(&args.archive.store));
        bail!(Failure::again(what).hint(hint));
    }
    Ok(Exit::Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_ids() {
        assert!(["5433", "2026", "cafe", "decade", "1", "port"].into_iter().all(is_word));
        assert!(!["862f", "3f2a9c1b7d20", "12345678"].into_iter().any(is_word));
    }
}
