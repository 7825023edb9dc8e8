//! Rows joined into API messages: one assistant message of many rows, its results in one message.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};

use epitome::transcript::Origin;
use epitome::wire::json::{JsonError, Scanner, Span, unquote};

use super::fields::{Content, Pairs};
use super::local;
use super::row::{Rows, What};
use crate::body::{ASSISTANT, Body, USER, moment, text_block};
use crate::notes::{About, Notes};
use crate::recording::Why;
use crate::usage::{Names, Usage};

/// Writes the rows in `order` as messages.
pub(super) fn join(rows: &Rows<'_>, order: &[usize], notes: &mut Notes) -> Body {
    let mut newest = order.iter().rev().filter(|row| rows.all[**row].what == What::Assistant);
    let side = order.first().is_some_and(|row| rows.all[*row].is_sidechain);
    // A view may show no reply of the model's; those before it tell which it is.
    let before = || {
        let mut all = rows.all.iter().rev();
        all.find(|row| row.what == What::Assistant && row.is_sidechain == side)?.model
    };
    let model = newest.find_map(|row| rows.all[*row].model).or_else(before);
    let mut messages: HashMap<&str, Vec<usize>> = HashMap::new();
    for &row in order {
        if let (true, Some(id)) = (rows.all[row].what.is_assistant(), rows.all[row].message_id) {
            messages.entry(id).or_default().push(row);
        }
    }
    let mut join = Join {
        rows,
        notes,
        local: local::commands(rows, order),
        results: Results::default(),
        body: Body::new(model),
    };
    join.results.assign(rows, order, join.notes);
    for &row in order {
        match rows.all[row].what {
            What::Assistant | What::Synthetic => match rows.all[row].message_id {
                None => join.assistant(&[row]),
                Some(id) => {
                    if let Some(pieces) = messages.remove(id) {
                        join.assistant(&pieces);
                    }
                }
            },
            _ => join.user(row),
        }
    }
    join.body
}

struct Join<'r, 'a, 's> {
    rows: &'r Rows<'a>,
    notes: &'s mut Notes,
    /// Rows of commands that weren't said to the model.
    local: HashSet<usize>,
    results: Results<'a>,
    body: Body,
}

/// A block's address: its row, and its place there.
type Place = (usize, usize);

/// Which results answer which calls.
#[derive(Default)]
struct Results<'a> {
    /// For each call id, the results in the order that they came.
    answers: HashMap<&'a str, VecDeque<Place>>,
    /// Blocks that aren't written where they stand.
    moved: HashSet<Place>,
    /// Rows that go with the results in them.
    carried: HashSet<usize>,
}

impl<'a> Results<'a> {
    fn assign(&mut self, rows: &Rows<'a>, order: &[usize], notes: &mut Notes) {
        let mut calls: HashMap<&str, HashSet<Option<&str>>> = HashMap::new();
        for &row in order {
            for block in rows.blocks(row) {
                if let (Pairs::Call(id), true) = (block.pairs, rows.all[row].what.is_assistant()) {
                    calls.entry(id).or_default().insert(rows.all[row].message_id);
                }
            }
        }
        for &row in order {
            for (index, block) in rows.blocks(row).iter().enumerate() {
                let Pairs::Result(id) = block.pairs else { continue };
                // A result without its call stays where it is.
                let Some(called) = calls.get(id) else { continue };
                let answers = self.answers.entry(id).or_default();
                self.moved.insert((row, index));
                if answers.len() < called.len() {
                    answers.push_back((row, index));
                    self.carried.insert(row);
                } else {
                    notes.skip(rows.all[row].line, Why::AnsweredAgain);
                }
            }
        }
    }
}

impl<'a> Join<'_, 'a, '_> {
    /// Writes an assistant message, and the results of its calls right behind it.
    fn assistant(&mut self, pieces: &[usize]) {
        let first = &self.rows.all[pieces[0]];
        self.body.now(moment(first.timestamp));
        let mut calls = Vec::new();
        if let ([_], Content::Text(literal)) = (pieces, &first.content) {
            self.body.literal("assistant", literal);
        } else {
            let mut blocks: Vec<Cow<'a, str>> = Vec::new();
            let mut made: HashMap<&str, usize> = HashMap::new();
            for &piece in pieces {
                let row = &self.rows.all[piece];
                if let Content::Text(literal) = row.content {
                    blocks.push(Cow::Owned(text_block(literal)));
                }
                for block in self.rows.blocks(piece) {
                    if let Pairs::Call(id) = block.pairs {
                        if let Some(&line) = made.get(id) {
                            self.notes.skip(row.line, Why::Repeats { row: line });
                            continue;
                        }
                        made.insert(id, row.line);
                        calls.push(id);
                    }
                    blocks.push(Cow::Borrowed(block.raw));
                }
            }
            self.body.listed(ASSISTANT, &blocks);
        }
        if first.what == What::Synthetic {
            self.body.spoken_by(Origin::Injected);
        }
        // Each row has the counts as they were then; the last one's are whole.
        let reported = pieces.iter().rev().find_map(|piece| self.rows.all[*piece].usage);
        let usage = reported.and_then(|raw| Usage::read(raw, Names::ANTHROPIC));
        self.body.reported(1, usage.map(|usage| usage.by(first.model)));
        self.answers(&calls);
    }

    /// Writes the results of a batch as one message, in the order of the calls, and behind them
    /// whatever stood in the same rows.
    fn answers(&mut self, calls: &[&'a str]) {
        let mut blocks = Vec::new();
        let mut from = Vec::new();
        for id in calls {
            let Some((row, index)) = self.results.answers.get_mut(id).and_then(VecDeque::pop_front)
            else {
                continue;
            };
            blocks.push(self.seen(id, row, self.rows.blocks(row)[index].raw));
            from.push(row);
        }
        let first = from.first().and_then(|row| self.rows.all[*row].timestamp);
        self.body.now(moment(first));
        let mut written = HashSet::new();
        for row in from.into_iter().filter(|row| written.insert(*row)) {
            blocks.extend(self.rest(row).into_iter().map(Cow::Borrowed));
        }
        if !blocks.is_empty() {
            self.body.listed(USER, &blocks);
        }
    }

    /// A result as the model saw it.
    fn seen(&mut self, id: &str, row: usize, raw: &'a str) -> Cow<'a, str> {
        match self.rows.replacements.get(id).and_then(|text| with_content(raw, text)) {
            Some(shortened) => {
                self.notes.take(self.rows.all[row].line, About::ShortenedResult);
                Cow::Owned(shortened)
            }
            None => Cow::Borrowed(raw),
        }
    }

    /// The blocks of a row that stay together with it, results first.
    fn rest(&self, row: usize) -> Vec<&'a str> {
        let all = self.rows.blocks(row).iter().enumerate();
        let stay = all.filter(|(index, _)| !self.results.moved.contains(&(row, *index)));
        let (results, others): (Vec<_>, Vec<_>) =
            stay.partition(|(_, block)| matches!(block.pairs, Pairs::Result(_)));
        results.iter().chain(&others).map(|(_, block)| block.raw).collect()
    }

    fn user(&mut self, at: usize) {
        let row = &self.rows.all[at];
        if self.results.carried.contains(&at) {
            return;
        }
        self.body.now(moment(row.timestamp));
        match &row.content {
            Content::Text(literal) => self.body.literal("user", literal),
            Content::Blocks(_) => {
                let blocks = self.rest(at);
                if blocks.is_empty() {
                    return;
                }
                self.body.listed(USER, &blocks);
            }
        }
        if matches!(row.what, What::Injected | What::Summary) || self.local.contains(&at) {
            self.body.spoken_by(Origin::Injected);
        }
    }
}

/// The block with another content; `None` if it has none.
fn with_content(block: &str, literal: &str) -> Option<String> {
    let mut content = Span::NONE;
    let walked = Scanner::new(block).object(|scanner, key| {
        let value = scanner.value()?;
        if unquote(key.of(block)) == "content" {
            content = value;
        }
        Ok::<_, JsonError>(())
    });
    let range = content.range();
    (walked.is_ok() && !content.is_empty())
        .then(|| format!("{}{literal}{}", &block[..range.start], &block[range.end..]))
}
