//! What a transcript has in common with another one, or with a text that may go on from it.

use std::sync::Arc;

use super::{PartRow, Span, Transcript};

/// How many bytes both begin with.
fn common_bytes(one: &[u8], other: &[u8]) -> usize {
    // Compared in pieces, which the system does many bytes at a time.
    const PIECE: usize = 1 << 12;
    let pieces = one.chunks(PIECE).zip(other.chunks(PIECE));
    let same = pieces.take_while(|(one, other)| one == other).count() * PIECE;
    let rest = one[same.min(one.len())..].iter().zip(&other[same.min(other.len())..]);
    same.min(one.len()).min(other.len()) + rest.take_while(|(one, other)| one == other).count()
}

impl Transcript {
    /// Begins with the first `entries` entries of another transcript, whose source begins with the same bytes.
    pub(crate) fn begin_with(&mut self, other: &Transcript, entries: usize) {
        let parts =
            other.entries.get(entries).map_or(other.parts.len(), |row| row.first_part as usize);
        self.entries = Arc::new(other.entries[..entries].to_vec());
        self.parts = Arc::new(other.parts[..parts].to_vec());
        self.owners = other.owners.of_first(parts);
    }

    /// Makes room for `entries` entries of another transcript, and one besides.
    pub(crate) fn reserve_for(&mut self, other: &Transcript, entries: usize) {
        Arc::make_mut(&mut self.entries).reserve_exact(entries + 1);
        let parts = if entries < other.entries.len() { entries } else { other.parts.len() };
        Arc::make_mut(&mut self.parts).reserve_exact(parts + 1);
    }

    /// Appends entry `index` of another transcript, whose bytes stand at `start` here, as if it were read; returns its
    /// end. An entry with a set speaker has to be read.
    pub(crate) fn take_over(
        &mut self,
        other: &Transcript,
        index: usize,
        start: u32,
    ) -> Option<u32> {
        if other.told.get(index).is_some_and(|is_told| *is_told) {
            return None;
        }
        let row = &other.entries[index];
        let here = |span: Span| {
            if span.is_empty() { span } else { span.relative_to(row.span.start).shifted_by(start) }
        };
        let parts = other.parts[other.part_range(index)].iter().map(|part| PartRow {
            span: here(part.span),
            body: here(part.body),
            id: here(part.id),
            name: here(part.name),
            ..*part
        });
        let span = here(row.span);
        self.push_all(span, row.role, parts);
        Some(span.end)
    }

    /// Whether its first `entries` entries are those of `other`, at the same place.
    pub(crate) fn begins_with(&self, other: &Transcript, entries: usize) -> bool {
        let spans = |of: &Transcript| {
            of.entries
                .get(..entries)
                .map(|rows| rows.first().map(|row| row.span).zip(rows.last().map(|row| row.span)))
        };
        spans(self).is_some_and(|mine| Some(mine) == spans(other))
    }

    /// How many of its first entries stand in `source`, too: at the same place and in the same bytes, and end there.
    pub(crate) fn shared_with(&self, source: &str) -> usize {
        let common = if std::ptr::eq(self.source.as_str(), source) {
            source.len()
        } else {
            common_bytes(self.source.as_bytes(), source.as_bytes())
        };
        self.entries.partition_point(|row| (row.span.end as usize) < common)
    }

    /// Whether `source` may begin with all of it but the last entry, which may have grown: where the one before that
    /// ends, it reads alike. A quick look, which most others don't stand.
    pub(crate) fn may_go_on_in(&self, source: &str) -> bool {
        const LOOK: usize = 64;
        let known =
            self.entries.len().checked_sub(2).map_or(0, |at| self.entries[at].span.end as usize);
        let look = known.saturating_sub(LOOK)..known;
        let there = source.as_bytes().get(look.clone());
        known > 0 && there == self.source.as_bytes().get(look)
    }
}
