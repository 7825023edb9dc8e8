//! `diff`: what becomes of each entry, or how two transcripts differ.

use std::path::Path;

use anstyle::Style;
use anyhow::{Result, bail};
use epitome::Outcome;
use epitome::count::Tally;
use epitome::engine::plan::Reached;
use epitome::transcript::{Entry, Marks, Part};
use epitome::view::{Fate, Put, Reason};
use epitome::wire::{self, Piece};
use serde::Serialize;
use unicode_width::UnicodeWidthStr as _;

use super::shape::{Done, Shape};
use crate::align::{Row, align};
use crate::args::{DiffArgs, ReadingArgs, ShapeArgs};
use crate::failure::{Exit, Failure};
use crate::input::{self, Opened, Source};
use crate::output::{self, Report};
use crate::reader::Need;
use crate::receipt::unheld;
use crate::said::{says, speaker};
use crate::terminal::{self, FAINT, STRONG, colour, count, left, line, paint, put, right};

/// A difference, as `--json` prints it.
#[derive(Debug, Serialize)]
struct Diff {
    version: u32,
    source: Source,
    counter: String,
    tokens_before: u64,
    tokens_after: u64,
    entries: Vec<Change>,
}

/// What became of one entry.
#[derive(Debug, Serialize)]
struct Change {
    fate: Became,
    /// Position before, if it was there.
    before: Option<usize>,
    /// Position after, if it is there.
    after: Option<usize>,
    tokens_before: u64,
    tokens_after: u64,
    reasons: Vec<Reason>,
    speaker: &'static str,
    says: String,
}

/// What an entry became.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Became {
    Keep,
    Edit,
    Fold,
    Drop,
    /// Not there any more; two files don't say why.
    Gone,
    New,
}

impl Became {
    fn sign(self) -> (&'static str, Style) {
        match self {
            Became::Keep => ("  keep", FAINT),
            Became::Edit => ("~ edit", colour(178)),
            Became::Fold => ("− fold", colour(69)),
            Became::Drop => ("− drop", colour(167)),
            Became::Gone => ("− gone", colour(167)),
            Became::New => ("+ new ", colour(71)),
        }
    }
}

/// Widest first words in JSON.
const JSON_WORDS: usize = 160;

/// Shows what becomes of A, or how it became B.
pub(crate) fn run(args: &DiffArgs, report: Report) -> Result<Exit> {
    if args.compacted.is_some() && args.how.shape != ShapeArgs::default() {
        let what =
            "two files are compared without a compaction, so compaction flags have no effect";
        bail!(Failure::usage(what).hint("epitome diff A B, or epitome diff A --target 25%"));
    }
    let shape = Shape::new(&args.how)?.counting_again();
    let both_stdin = [&args.file, &args.compacted]
        .iter()
        .all(|file| file.as_deref().is_some_and(|file| file == Path::new("-")));
    if both_stdin {
        bail!(Failure::usage("A and B can't both be stdin").hint("epitome diff A - < B"));
    }
    let opened = input::read(args.file.as_deref(), &args.reading, report)?;
    let (diff, exit) = match &args.compacted {
        None => {
            let done = shape.compact(&opened, report)?;
            if report == Report::Words {
                warn_of(&done);
            }
            let exit = done.target.exit(&done.outcome.receipt);
            (compaction(opened.source, &done), exit)
        }
        Some(file) => (two(opened, file, &shape, report)?, Exit::Ok),
    };
    match report {
        Report::Json => output::json(&diff)?,
        Report::Words => output::words(&words(&diff))?,
    }
    Ok(exit)
}

fn warn_of(done: &Done) {
    let receipt = &done.outcome.receipt;
    let is_missed = !done.target.is_settled(receipt);
    if let (true, Reached::Unreachable { .. }) = (is_missed, &receipt.reached) {
        let (target, floor) = (count(receipt.target), count(receipt.floor));
        output::warn(&format!("the target of {target} can't be reached (floor {floor})"));
    }
    if is_missed && receipt.reached == Reached::Short {
        let target = count(receipt.target);
        output::warn(&format!("these strategies don't reach the target of {target}"));
    }
    for pin in &receipt.unmatched_pins {
        output::warn(&format!("no message matches the pin {:?}", line(pin, 60)));
    }
    for pin in &receipt.unheld_pins {
        output::warn(&unheld(pin));
    }
}

/// The fates of a compaction's view.
fn compaction(source: Source, done: &Done) -> Diff {
    let outcome = &done.outcome;
    let before = Tally::of(&outcome.base, done.reader.counter.as_ref());
    let after = Tally::of(&outcome.request, done.reader.counter.as_ref());
    let mut shown = Shown::new(outcome, &after).into_iter().peekable();
    let mut entries = Vec::new();
    let checkpoint = |shown: Shown| Change {
        tokens_after: shown.tokens,
        ..added(&outcome.request.transcript.entry(shown.message), &after)
    };
    for (entry, fate) in outcome.base.transcript.entries().zip(outcome.view.fates()) {
        let is_here = outcome.view.checkpoint().is_some_and(|placed| placed.before == entry.index);
        entries.extend(shown.next_if(|_| is_here).map(checkpoint));
        let (became, reasons) = match fate {
            Fate::Keep => (Became::Keep, Vec::new()),
            Fate::Edit(edits) => {
                let mut reasons: Vec<Reason> = edits.iter().map(|edit| edit.reason).collect();
                reasons.dedup();
                (Became::Edit, reasons)
            }
            Fate::Fold(reason) => (Became::Fold, vec![*reason]),
            Fate::Drop(reason) => (Became::Drop, vec![*reason]),
        };
        let now = shown.next_if(|_| fate.is_shown());
        entries.push(Change {
            before: outcome.came_from.get(entry.index).copied().flatten(),
            after: now.map(|now| now.message),
            tokens_after: now.map_or(0, |now| now.tokens),
            reasons,
            ..change(&entry, became, &before)
        });
    }
    entries.extend(shown.map(checkpoint));
    Diff {
        version: 1,
        source,
        counter: done.reader.counter.name().to_owned(),
        tokens_before: before.total().tokens,
        tokens_after: after.total().tokens,
        entries,
    }
}

/// Where something shown stands in the rendered request, and what it weighs there.
#[derive(Clone, Copy)]
struct Shown {
    message: usize,
    tokens: u64,
}

impl Shown {
    /// Everything that is shown, in order.
    fn new(outcome: &Outcome, after: &Tally) -> Vec<Shown> {
        let (base, view) = (&outcome.base.transcript, &outcome.view);
        let fates: Vec<&Fate> = view.fates().collect();
        // Elements that a piece has in its message; those of a result are in it.
        let elements = |piece: Piece| match piece {
            Piece::Checkpoint => 1,
            Piece::Entry(at) => {
                let is_gone = |part: &Part<'_>| match fates[at] {
                    Fate::Edit(edits) => {
                        edits.iter().any(|edit| edit.at == part.slot && edit.put == Put::Nothing)
                    }
                    _ => false,
                };
                let parts = base.entry(at).parts();
                parts.filter(|part| !part.is(Marks::NESTED) && !is_gone(part)).count()
            }
        };
        let laid = wire::layout(&outcome.base, view);
        let mut all = Vec::with_capacity(laid.len());
        for pieces in laid.chunk_by(|a, b| a.message == b.message) {
            let message = pieces[0].message;
            let mut left = after.entry(message);
            let mut parts = outcome.request.transcript.entry(message).parts().peekable();
            for laid in &pieces[..pieces.len() - 1] {
                let mut tokens = 0;
                for _ in 0..elements(laid.piece) {
                    tokens += parts.next().map_or(0, |part| after.part(part.slot));
                    while let Some(inner) = parts.next_if(|part| part.is(Marks::NESTED)) {
                        tokens += after.part(inner.slot);
                    }
                }
                left -= tokens;
                all.push(Shown { message, tokens });
            }
            // What is around the message goes to what it ends with.
            all.push(Shown { message, tokens: left });
        }
        all
    }
}

/// How A became B.
fn two(a: Opened, b: &Path, shape: &Shape, report: Report) -> Result<Diff> {
    // What forces A's format doesn't speak of B, which may be the request that came of a recording.
    let how = ReadingArgs { from: None, whole: false, sidechain: None, run: None };
    let b = input::read(Some(b), &how, report)?.request;
    let b = if b.format == a.request.format {
        b
    } else {
        wire::parse(a.request.format, b.source().clone()).unwrap_or(b)
    };
    let counter = shape.reader(&a.request, Need::Counter)?.counter;
    let before = Tally::of(&a.request, counter.as_ref());
    let after = Tally::of(&b, counter.as_ref());
    let (old, new) = (&a.request.transcript, &b.transcript);
    let entries = align(old, new).into_iter().map(|row| match row {
        Row::Kept(at, now) | Row::Edited(at, now) => Change {
            after: Some(now),
            tokens_after: after.entry(now),
            ..change(
                &old.entry(at),
                if matches!(row, Row::Kept(..)) { Became::Keep } else { Became::Edit },
                &before,
            )
        },
        Row::Gone(at) => change(&old.entry(at), Became::Gone, &before),
        Row::New(now) => added(&new.entry(now), &after),
    });
    Ok(Diff {
        version: 1,
        counter: counter.name().to_owned(),
        tokens_before: before.total().tokens,
        tokens_after: after.total().tokens,
        entries: entries.collect(),
        source: a.source,
    })
}

fn change(entry: &Entry<'_>, fate: Became, before: &Tally) -> Change {
    Change {
        fate,
        before: Some(entry.index),
        after: None,
        tokens_before: before.entry(entry.index),
        tokens_after: 0,
        reasons: Vec::new(),
        speaker: speaker(entry),
        says: says(entry, JSON_WORDS),
    }
}

fn added(entry: &Entry<'_>, after: &Tally) -> Change {
    Change {
        before: None,
        after: Some(entry.index),
        tokens_before: 0,
        tokens_after: after.entry(entry.index),
        ..change(entry, Became::New, after)
    }
}

fn words(diff: &Diff) -> String {
    let width = terminal::width();
    let mut out = String::new();
    // In little room, only the kind and the new tokens are shown.
    let is_wide = width >= 70;
    let row = |was: &str, is: &str, fate: &str, before: &str, after: &str| {
        if !is_wide {
            return format!("{} {fate} {} ", right(was, 5), right(after, 7));
        }
        let tokens = format!("{} {}", right(before, 9), right(after, 9));
        format!("{} {}  {fate}  {tokens}  ", right(was, 5), right(is, 5))
    };
    let head = row("was", "is", &left("fate", 6), "before", "after");
    let room = width.saturating_sub(head.width() + if is_wide { 12 } else { 1 }).max(8);
    put!(out, "{}", paint(FAINT, format!("{head}what")));
    for change in &diff.entries {
        let at = |at: Option<usize>| at.map_or_else(String::new, |at| at.to_string());
        let (sign, style) = change.fate.sign();
        let tokens = |of: u64, there: bool| if there { count(of) } else { "–".to_owned() };
        let cells = row(
            &at(change.before),
            &at(change.after),
            &paint(style, left(sign, 6)),
            &tokens(change.tokens_before, change.fate != Became::New),
            &tokens(change.tokens_after, change.after.is_some()),
        );
        let speaker = if is_wide { left(change.speaker, 11) } else { String::new() };
        let says = line(&change.says, room);
        put!(out, "{cells}{}{says}", paint(FAINT, speaker));
        let reasons: Vec<&str> = change.reasons.iter().map(Reason::words).collect();
        if change.fate == Became::Edit && !reasons.is_empty() {
            let indent = " ".repeat(if is_wide { head.width() } else { 6 });
            put!(out, "{indent}{}", paint(style, reasons.join("; ")));
        }
    }
    foot(&mut out, diff);
    out
}

/// Sums by fate, with the reasons for it.
fn foot(out: &mut String, diff: &Diff) {
    let of = |fate: Became| diff.entries.iter().filter(|change| change.fate == fate).count();
    let fates = [
        (Became::Keep, "kept"),
        (Became::Edit, "edited"),
        (Became::Fold, "folded"),
        (Became::Drop, "dropped"),
        (Became::Gone, "gone"),
        (Became::New, "new"),
    ];
    put!(out);
    for (fate, word) in fates.into_iter().filter(|(fate, _)| of(*fate) > 0) {
        let changes = diff.entries.iter().filter(|change| change.fate == fate);
        let mut reasons: Vec<&str> =
            changes.flat_map(|change| &change.reasons).map(Reason::words).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let reasons = paint(FAINT, reasons.join("; "));
        put!(out, "{} {} {reasons}", right(&count(of(fate)), 9), left(word, 8));
    }
    let tokens = format!("{} → {} tokens", count(diff.tokens_before), count(diff.tokens_after));
    let by = paint(FAINT, format!("counted by {}", diff.counter));
    put!(out, "{} {by}", paint(STRONG, tokens));
}
