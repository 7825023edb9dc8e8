//! Contents, once each and compressed; and texts as lists of them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read as _;

use epitome::Request;
use epitome::transcript::ContentId;

use crate::database::{Connection, Row, Value, values};
use crate::error::StoreError;

/// Quick, and most of what stronger levels save.
const LEVEL: i32 = 3;

/// Contents smaller than this only grow.
const LEAST: usize = 64;

/// Contents that are compressed before any of them is written.
const AT_ONCE: usize = 256;

/// Puts contents, and remembers which of them are there. What is there already is read back: whoever is told that
/// something is kept relies on it, and a disk may have lost it since.
pub(crate) struct Blobs<'a> {
    connection: &'a Connection,
    tenant: i64,
    packer: zstd::bulk::Compressor<'static>,
    known: HashMap<ContentId, i64>,
}

impl<'a> Blobs<'a> {
    pub(crate) fn new(connection: &'a Connection, tenant: i64) -> Result<Self, StoreError> {
        let packer = zstd::bulk::Compressor::new(LEVEL)
            .map_err(|error| StoreError::damaged(format!("zstd can't be used: {error}")))?;
        Ok(Blobs { connection, tenant, packer, known: HashMap::new() })
    }

    /// Puts contents under their ids; their rows.
    pub(crate) fn put(&mut self, all: &[(ContentId, &[u8])]) -> Result<Vec<i64>, StoreError> {
        let mut new: HashMap<ContentId, &[u8]> = HashMap::new();
        let new: Vec<(ContentId, &[u8])> = all
            .iter()
            .filter(|(id, bytes)| !self.known.contains_key(id) && new.insert(*id, bytes).is_none())
            .copied()
            .collect();
        for some in new.chunks(AT_ONCE) {
            self.find_or_insert(some)?;
        }
        let row = |id| self.known.get(id).copied();
        let rows = all.iter().map(|(id, _)| row(id)).collect::<Option<_>>();
        rows.ok_or_else(|| StoreError::damaged("a content wasn't kept"))
    }

    fn find_or_insert(&mut self, some: &[(ContentId, &[u8])]) -> Result<(), StoreError> {
        let ids: Vec<_> = some
            .iter()
            .map(|(id, _)| [self.tenant.into(), id.as_bytes().as_slice().into()])
            .collect();
        let found = self.connection.each(FIND_WHOLE, &ids)?;
        let mut new = Vec::new();
        for ((id, bytes), rows) in some.iter().zip(found) {
            match rows.into_iter().next() {
                Some(mut found) => {
                    let row = found.take(0)?;
                    if unpacked_row(row, &mut found)? != *bytes {
                        return Err(StoreError::damaged(format!("content {row} {OTHER}")));
                    }
                    self.known.insert(*id, row);
                }
                None => new.push((*id, *bytes, compressed(&mut self.packer, bytes))),
            }
        }
        let rows: Vec<_> = new
            .iter()
            .map(|(id, bytes, packed)| {
                let is_packed = matches!(packed, Cow::Owned(_));
                [
                    self.tenant.into(),
                    id.as_bytes().as_slice().into(),
                    bytes.len().into(),
                    i64::from(is_packed).into(),
                    Value::Bytes(packed),
                ]
            })
            .collect();
        let made = self.connection.each(
            "INSERT INTO blob (tenant, id, size, packed, bytes) VALUES (?1, ?2, ?3, ?4, ?5) RETURNING n",
            &rows,
        )?;
        for ((id, ..), rows) in new.iter().zip(made) {
            for mut row in rows {
                self.known.insert(*id, row.take(0)?);
            }
        }
        Ok(())
    }

    /// Puts each piece; the list of them.
    pub(crate) fn list<'p>(
        &mut self,
        pieces: impl IntoIterator<Item = &'p [u8]>,
    ) -> Result<Vec<u8>, StoreError> {
        let pieces = pieces.into_iter().map(|piece| (ContentId::of_bytes(piece), piece));
        Ok(packed_list(&self.put(&pieces.collect::<Vec<_>>())?))
    }
}

/// A request in pieces: entries, which are shared with other versions of it, and what is between.
pub(crate) fn pieces(request: &Request) -> impl Iterator<Item = &[u8]> {
    let source = request.source().as_bytes();
    let mut at = 0;
    let mut entries = request.transcript.entries();
    let mut waiting: Option<&[u8]> = None;
    let mut is_over = false;
    std::iter::from_fn(move || {
        if let Some(piece) = waiting.take() {
            return Some(piece);
        }
        if is_over {
            return None;
        }
        let Some(entry) = entries.next() else {
            is_over = true;
            return Some(&source[at..]);
        };
        let span = entry.span().range();
        let between = &source[at..span.start];
        at = span.end;
        waiting = Some(&source[span]);
        Some(between)
    })
}

/// As it is kept: compressed where that makes it smaller.
fn compressed<'b>(by: &mut zstd::bulk::Compressor<'_>, bytes: &'b [u8]) -> Cow<'b, [u8]> {
    let smaller = (bytes.len() >= LEAST).then(|| by.compress(bytes).ok()).flatten();
    let smaller = smaller.filter(|smaller| smaller.len() < bytes.len());
    smaller.map_or(Cow::Borrowed(bytes), Cow::Owned)
}

const FIND: &str = "SELECT n FROM blob WHERE tenant = ?1 AND id = ?2";
const FIND_WHOLE: &str = "SELECT n, size, packed, bytes FROM blob WHERE tenant = ?1 AND id = ?2";

/// The row of a content.
pub(crate) fn row_of(
    connection: &Connection,
    tenant: i64,
    id: ContentId,
) -> Result<Option<i64>, StoreError> {
    connection.one(FIND, values![tenant, id.as_bytes().as_slice()])
}

/// The content in a row, if it is what was put.
pub(crate) fn read(connection: &Connection, row: i64) -> Result<Vec<u8>, StoreError> {
    let found = connection.row(READ, values![row])?;
    let lost = || StoreError::damaged(format!("content {row} is missing"));
    checked(row, found.ok_or_else(lost)?)
}

const READ: &str = "SELECT id, size, packed, bytes FROM blob WHERE n = ?1";

/// The content that stands in a row, if it is what was put.
fn checked(row: i64, mut found: Row) -> Result<Vec<u8>, StoreError> {
    let id: Vec<u8> = found.take(0)?;
    let bytes = unpacked_row(row, &mut found)?;
    if ContentId::of_bytes(&bytes).as_bytes()[..] != id[..] {
        return Err(StoreError::damaged(format!("content {row} {OTHER}")));
    }
    Ok(bytes)
}

const OTHER: &str = "isn't what its id says";

/// The bytes that a row's size, form and bytes give, which stand behind its first column.
fn unpacked_row(row: i64, found: &mut Row) -> Result<Vec<u8>, StoreError> {
    let wrong = |why: &str| StoreError::damaged(format!("content {row} {why}"));
    let bytes: Vec<u8> = found.take(3)?;
    if found.take::<i64>(2)? == 0 {
        return Ok(bytes);
    }
    let size = found.take(1).map_err(|_| wrong("has no size"))?;
    unpacked(&bytes, size).ok_or_else(|| wrong("can't be decompressed"))
}

/// All that a list says, as one.
pub(crate) fn joined(connection: &Connection, list: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut out = Vec::new();
    // The same separator stands between most pieces.
    let mut short: HashMap<i64, Vec<u8>> = HashMap::new();
    for rows in rows(list)?.chunks(AT_ONCE) {
        let new: Vec<i64> = rows.iter().copied().filter(|row| !short.contains_key(row)).collect();
        let wanted: Vec<_> = new.iter().map(|row| [Value::Int(*row)]).collect();
        let mut found = new.iter().zip(connection.each(READ, &wanted)?);
        for row in rows {
            if let Some(bytes) = short.get(row) {
                out.extend_from_slice(bytes);
                continue;
            }
            let missing = || StoreError::damaged(format!("content {row} is missing"));
            let (_, found) = found.find(|(new, _)| *new == row).ok_or_else(missing)?;
            let bytes = checked(*row, found.into_iter().next().ok_or_else(missing)?)?;
            out.extend_from_slice(&bytes);
            if bytes.len() <= LEAST {
                short.insert(*row, bytes);
            }
        }
    }
    Ok(out)
}

/// All that a list says, as text.
pub(crate) fn text(connection: &Connection, list: &[u8]) -> Result<String, StoreError> {
    let bytes = joined(connection, list)?;
    String::from_utf8(bytes).map_err(|_| StoreError::damaged("a text isn't UTF-8"))
}

/// The content, of `size` bytes. A damaged file may claim any size, so it isn't reserved in advance.
fn unpacked(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let reader = zstd::Decoder::with_buffer(packed).ok()?;
    reader.take(size as u64).read_to_end(&mut out).ok()?;
    (out.len() == size).then_some(out)
}

/// A short text of its own, compressed.
pub(crate) fn packed_text(text: &str) -> Vec<u8> {
    let mut out = (text.len() as u64).to_le_bytes().to_vec();
    out.extend(zstd::bulk::compress(text.as_bytes(), LEVEL).expect("memory takes all"));
    out
}

/// The text again.
pub(crate) fn unpacked_text(bytes: &[u8]) -> Result<String, StoreError> {
    let wrong = || StoreError::damaged("a text can't be decompressed");
    let (size, packed) = bytes.split_first_chunk::<8>().ok_or_else(wrong)?;
    let size = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| wrong())?;
    let bytes = unpacked(packed, size).ok_or_else(wrong)?;
    String::from_utf8(bytes).map_err(|_| wrong())
}

/// Rows that were put one after the other differ by one, so that most of a list is one byte repeated.
fn packed_list(rows: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rows.len() * 2);
    let mut before = 0;
    for row in rows {
        let step = row - before;
        before = *row;
        // Zigzag, then seven bits a byte.
        let mut rest = ((step << 1) ^ (step >> 63)) as u64;
        while rest >= 0x80 {
            bytes.push((rest as u8 & 0x7f) | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    let mut out = (bytes.len() as u64).to_le_bytes().to_vec();
    out.extend(zstd::bulk::compress(&bytes, LEVEL).expect("memory takes all"));
    out
}

/// The rows of a list.
pub(crate) fn rows(list: &[u8]) -> Result<Vec<i64>, StoreError> {
    let wrong = || StoreError::damaged("a list of contents can't be read");
    let (size, packed) = list.split_first_chunk::<8>().ok_or_else(wrong)?;
    let size = usize::try_from(u64::from_le_bytes(*size)).map_err(|_| wrong())?;
    let bytes = unpacked(packed, size).ok_or_else(wrong)?;
    let mut rows = Vec::new();
    let (mut at, mut shift, mut value) = (0_i64, 0, 0_u64);
    for byte in bytes {
        value |= u64::from(byte & 0x7f).checked_shl(shift).ok_or_else(wrong)?;
        shift += 7;
        if byte & 0x80 == 0 {
            at = at.wrapping_add((value >> 1) as i64 ^ -((value & 1) as i64));
            rows.push(at);
            (shift, value) = (0, 0);
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn damage_is_told() {
        assert!(rows(b"").is_err());
        assert!(rows(&[1, 0, 0, 0, 0, 0, 0, 0, 9]).is_err());
        assert!(unpacked_text(&[0xff; 16]).is_err());
    }

    #[test]
    fn a_list_of_neighbours_is_short() {
        let list: Vec<i64> = (1000..11_000).collect();
        assert!(packed_list(&list).len() < 64);
    }

    proptest! {
        #[test]
        fn lists_come_back(list: Vec<i64>) {
            let list: Vec<i64> = list.into_iter().map(|row| row >> 1).collect();
            prop_assert_eq!(rows(&packed_list(&list)).expect("its own form"), list);
        }

        #[test]
        fn texts_come_back(text: String) {
            prop_assert_eq!(unpacked_text(&packed_text(&text)).expect("its own form"), text);
        }
    }
}
