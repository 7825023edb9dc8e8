//! The stretches of a tool's output that may be somebody's words, line by line.
//!
//! Every line of every output comes by here, and most say nothing: what is looked for first is told by single bytes.

use std::vec;

use memchr::{memchr, memmem};

use super::output::{
    Ends, MIN_LONG, Mix, Standing, comment, field, is_prose, is_starred, is_worded, message, row,
    strings, trimmed, without_number,
};
use super::record;
use super::stamp::unstamped;

/// Longer lines before a list speak of more than its items.
const MAX_LEAD: usize = 80;

/// The stretches of `output` that read as prose, in order, and how each stands there.
pub(super) fn prose(output: &str) -> Stretches<'_> {
    Stretches {
        output,
        at: 0,
        lists: false,
        has_comments: None,
        next: None,
        strings: Vec::new().into_iter(),
    }
}

/// See [`prose`].
pub(super) struct Stretches<'t> {
    output: &'t str,
    at: usize,
    /// Items of a list need not begin like a sentence.
    lists: bool,
    has_comments: Option<bool>,
    /// What the last line gives besides: a remark is one by itself, and may stand before a list.
    next: Option<&'t str>,
    strings: vec::IntoIter<&'t str>,
}

impl<'t> Iterator for Stretches<'t> {
    type Item = (&'t str, Standing);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(lead) = self.next.take() {
            return Some((lead, Standing::Lead));
        }
        loop {
            if let Some(text) = self.strings.next() {
                return Some((text, Standing::Free));
            }
            if self.at >= self.output.len() {
                return None;
            }
            let rest = &self.output[self.at..];
            if let Some(length) = record::length(rest) {
                self.at += length;
                // What stands behind it on its line is read by itself.
                let bytes = self.output.as_bytes();
                while matches!(bytes.get(self.at), Some(b',' | b' ' | b'}' | b']')) {
                    self.at += 1;
                }
                return Some((&rest[..length], Standing::Record));
            }
            let end = memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            self.at += end + 1;
            let line = &rest[..end];
            let found = self.read(line.strip_suffix('\r').unwrap_or(line));
            if found.is_some() {
                return found;
            }
        }
    }
}

impl<'t> Stretches<'t> {
    /// What the line gives first.
    fn read(&mut self, whole: &'t str) -> Option<(&'t str, Standing)> {
        let line = trimmed(whole, Ends::Both);
        if line.is_empty() {
            self.lists = false;
            return None;
        }
        let said = unstamped(line);
        let line = if said.len() < line.len() { message(said) } else { without_number(line) };
        let (bare, standing) = match comment(line) {
            None if self.is_in_block(whole) => (line, Standing::Comment),
            Some(inside) if line.starts_with(['#', '<']) => (inside, Standing::Remark),
            Some(inside) => (inside, Standing::Comment),
            None => (line, Standing::Free),
        };
        let is_lead = (line.starts_with("# ") || bare.ends_with(':')) && bare.len() < MAX_LEAD;
        let is_item = bare.starts_with(['-', '*', '•']);
        let signs = Mix::of(bare);
        let row = if signs.signs() > 0 { row(bare) } else { None };
        let row = row.or_else(|| field(bare));
        let mix = signs.without_operators(bare);
        let reads = || match standing {
            Standing::Remark => is_prose(bare, mix) || mix.reads_on() && bare.len() >= MIN_LONG,
            _ if is_lead => false,
            _ => is_prose(bare, mix) || self.lists && is_item && mix.reads_on(),
        };
        let found = match row {
            Some(row) => Some((row, Standing::Row)),
            None => reads().then_some((bare, standing)),
        };
        self.lists = is_lead || self.lists && is_item;
        if found.is_some() {
            self.next = is_lead.then_some(bare);
            return found;
        }
        if is_lead {
            return Some((bare, Standing::Lead));
        }
        if matches!(line.as_bytes().first(), Some(b'"' | b'{' | b'[')) {
            self.strings = strings(line).collect::<Vec<_>>().into_iter();
            if !self.strings.as_slice().is_empty() {
                return None;
            }
        }
        is_worded(bare, mix).then_some((bare, Standing::Worded))
    }

    /// Whether it is a line of a block of comment.
    fn is_in_block(&mut self, line: &str) -> bool {
        let has = |mark: &str| memmem::find(self.output.as_bytes(), mark.as_bytes()).is_some();
        let known = &mut self.has_comments;
        is_starred(line, || *known.get_or_insert_with(|| ["/*", "*/"].into_iter().any(has)))
    }
}
