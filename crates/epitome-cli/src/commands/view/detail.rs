//! What a line of the list is about, as lines of text.

use std::borrow::Cow;

use epitome::text::cut;
use epitome::text::figure::counted;
use epitome::text::secrets::masked;
use epitome::transcript::{Entry, Marks, PartKind};

use super::session::{Block, Item, Session, Turn, number, recall_id};
use crate::commands::report::{Compaction, Epoch};
use crate::said::{says, speaker};
use crate::terminal::{count, line, one, percent, size};

/// A text that is scrolled through.
#[derive(Debug, Default)]
pub(super) struct Detail {
    /// The head, which stays.
    pub(super) title: String,
    /// The lines, as long as they are.
    lines: Vec<String>,
    /// The same, broken for so many columns.
    rows: Vec<String>,
    columns: usize,
    /// The first row that is drawn.
    top: usize,
}

/// The most bytes of a part that are shown: what is longer is looked at elsewhere.
const MOST: usize = 200_000;

/// Columns of a message in a list.
const WORDS: usize = 200;

/// Tools that a turn names.
const STEPS: usize = 2000;

impl Detail {
    /// What an item is about, from its beginning.
    pub(super) fn show(&mut self, session: &Session, item: Item) {
        let columns = self.columns;
        *self = match (&session.blocks[item.block], session.entry(item)) {
            (_, Some((epoch, entry))) => message(epoch, &entry),
            (Block::Turn(turn), None) => of_turn(session.epoch(turn), turn),
            (Block::Compaction(at), _) => {
                of_compaction(session.compaction(*at), &session.lived.epochs[*at])
            }
        };
        self.wrap(columns);
    }

    /// A text of our own.
    pub(super) fn say(&mut self, title: &str, text: &str) {
        let columns = self.columns;
        let lines = text.lines().map(str::to_owned).collect();
        *self = Detail { title: title.to_owned(), lines, ..Detail::default() };
        self.wrap(columns);
    }

    /// Breaks its lines for so many columns.
    pub(super) fn wrap(&mut self, columns: usize) {
        if columns == self.columns {
            return;
        }
        self.columns = columns;
        let options =
            textwrap::Options::new(columns).wrap_algorithm(textwrap::WrapAlgorithm::FirstFit);
        let rows = self.lines.iter().flat_map(|line| textwrap::wrap(line, &options));
        self.rows = rows.map(Cow::into_owned).collect();
        self.scroll(0);
    }

    /// The text below the head, from the scroll position on.
    pub(super) fn rows(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().skip(self.top).map(String::as_str)
    }

    /// Moves by so many rows; the last one stays on the screen.
    pub(super) fn scroll(&mut self, by: isize) {
        self.top = self.top.saturating_add_signed(by).min(self.rows.len().saturating_sub(1));
    }

    /// Moves to the first row that says `words`.
    pub(super) fn scroll_to(&mut self, words: &str) {
        let words = words.to_lowercase();
        let found = self.rows.iter().position(|row| row.to_lowercase().contains(&words));
        // With a row or two before it.
        self.top = found.unwrap_or(0).saturating_sub(2);
    }
}

/// All that a message says.
fn message(epoch: &Epoch, entry: &Entry<'_>) -> Detail {
    let tokens = count(epoch.tally.entry(entry.index));
    let id = recall_id(entry);
    let number = place(epoch, entry.index);
    let title = format!("message {number} · {} · {tokens} tokens · {id}", speaker(entry));
    let mut lines = Vec::new();
    for part in entry.parts() {
        // Its parts are parts of the message, too.
        if part.kind() == PartKind::Link
            || part.kind() == PartKind::Result && !part.is(Marks::LITERAL)
        {
            continue;
        }
        if !lines.is_empty() {
            lines.push(String::new());
        }
        match part.kind() {
            PartKind::Call => lines.push(format!("→ {}", line(&part.name(), WORDS))),
            PartKind::Reasoning => lines.push("(reasoning)".to_owned()),
            PartKind::Media | PartKind::Opaque => {
                let bytes = size(part.raw().len());
                lines.push(format!("({}, {bytes})", line(&part.name(), WORDS)));
                continue;
            }
            _ => {}
        }
        put(&mut lines, &part.text());
    }
    Detail { title, lines, ..Detail::default() }
}

/// A text, line by line, harmless and with its secrets masked.
fn put(lines: &mut Vec<String>, text: &str) {
    let shown = cut::head(text, MOST);
    let clean = masked(shown);
    lines.extend(clean.split('\n').map(|line| one(&line.replace('\t', "    ")).into_owned()));
    if shown.len() < text.len() {
        lines.push(format!("… and {} more", size(text.len() - shown.len())));
    }
}

/// A turn: what it consists of, message by message.
fn of_turn(epoch: &Epoch, turn: &Turn) -> Detail {
    let transcript = &epoch.request.transcript;
    let (first, last) = (number(epoch, turn.entries.start), number(epoch, turn.entries.end - 1));
    let places = if first == last {
        format!("message {}", count(first))
    } else {
        format!("messages {}–{}", count(first), count(last))
    };
    let title = format!("{places} · {} tokens", count(turn.tokens));
    let mut lines = Vec::new();
    let opening = transcript.entry(turn.entries.start);
    if opening.is_human() {
        put(&mut lines, &opening.human_text());
        lines.push(String::new());
    }
    for at in turn.entries.clone().take(STEPS) {
        let entry = transcript.entry(at);
        lines.push(row(epoch, &entry));
    }
    if turn.entries.len() > STEPS {
        lines.push(format!("and {}", counted(turn.entries.len() - STEPS, "more message")));
    }
    Detail { title, lines, ..Detail::default() }
}

/// The number of a message; of one that a compaction left it isn't known.
fn place(epoch: &Epoch, entry: usize) -> String {
    if entry < epoch.carried { "–".to_owned() } else { count(number(epoch, entry)) }
}

/// A message in a list.
fn row(epoch: &Epoch, entry: &Entry<'_>) -> String {
    format!(
        "{:>6} {:>8}  {:<10} {}",
        place(epoch, entry.index),
        count(epoch.tally.entry(entry.index)),
        speaker(entry),
        says(entry, WORDS)
    )
}

/// What a compaction did, and what it hid.
fn of_compaction(done: &Compaction, before: &Epoch) -> Detail {
    let by = if done.by_epitome { "Epitome" } else { "the agent" };
    let title = format!("compaction {} · by {by} · after message {}", done.number, count(done.at));
    let (was, is) = (done.before.tokens, done.after.tokens);
    let sum =
        |entries, tokens| format!("{}, {} tokens", counted(entries, "message"), count(tokens));
    let mut lines = vec![
        format!("{} → {} tokens ({} is left)", count(was), count(is), percent(is, was)),
        format!("kept       {}", sum(done.kept.entries, done.kept.tokens)),
    ];
    if done.shortened.entries > 0 {
        let shortened = sum(done.shortened.entries, done.shortened.tokens);
        lines.push(format!("shortened  {shortened} → {}", count(done.shortened_to)));
    }
    lines.push(format!("hidden     {}", sum(done.gone.entries, done.gone.tokens)));
    if done.summary.entries > 0 {
        lines.push(format!("instead    {} tokens that stand for them", count(done.summary.tokens)));
    }
    let human = &done.human;
    if human.entries > 0 {
        lines.push(format!(
            "user said  {}: {} kept, {} quoted word for word, {} lost",
            counted(human.entries, "message"),
            count(human.kept),
            count(human.quoted),
            count(human.lost.len())
        ));
    }
    let lost = [("The user's words that nothing says any more", &human.lost)]
        .into_iter()
        .chain([("Rules of the user's that nothing says any more", &done.rules_lost)]);
    for (what, all) in lost.filter(|(_, all)| !all.is_empty()) {
        lines.push(String::new());
        lines.push(format!("{what}:"));
        lines.extend(
            all.iter()
                .map(|lost| format!("{:>6} {}", count(number(before, lost.entry)), lost.says)),
        );
    }
    if !done.hidden.is_empty() {
        lines.push(String::new());
        lines.push("Hidden:".to_owned());
        let transcript = &before.request.transcript;
        lines.extend(done.hidden.iter().map(|at| row(before, &transcript.entry(*at))));
    }
    Detail { title, lines, ..Detail::default() }
}
