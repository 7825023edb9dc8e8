//! Contents, once each and compressed; and texts as lists of them.

use std::collections::HashMap;
use std::io::Read as _;

use epitome::transcript::ContentId;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::StoreError;

/// Quick, and most of what stronger levels save.
const LEVEL: i32 = 3;

/// Contents smaller than this only grow.
const LEAST: usize = 64;

/// Puts contents, and remembers which of them are there.
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

    /// Puts a content; its row.
    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<i64, StoreError> {
        let id = ContentId::of_bytes(bytes);
        self.put_as(id, bytes)
    }

    /// Puts the content of that id.
    pub(crate) fn put_as(&mut self, id: ContentId, bytes: &[u8]) -> Result<i64, StoreError> {
        if let Some(row) = self.known.get(&id) {
            return Ok(*row);
        }
        let row = match row_of(self.connection, self.tenant, id)? {
            Some(row) => row,
            None => self.insert(id, bytes)?,
        };
        self.known.insert(id, row);
        Ok(row)
    }

    fn insert(&mut self, id: ContentId, bytes: &[u8]) -> Result<i64, StoreError> {
        let packed = (bytes.len() >= LEAST).then(|| self.packer.compress(bytes).ok()).flatten();
        let packed = packed.filter(|packed| packed.len() < bytes.len());
        let mut insert = self.connection.prepare_cached(
            "INSERT INTO blob (tenant, id, size, packed, bytes) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        let kept = packed.as_deref().unwrap_or(bytes);
        let size = bytes.len() as i64;
        insert.execute(params![self.tenant, id.as_bytes(), size, packed.is_some(), kept])?;
        Ok(self.connection.last_insert_rowid())
    }

    /// Puts each piece; the list of them.
    pub(crate) fn list<'p>(
        &mut self,
        pieces: impl IntoIterator<Item = &'p [u8]>,
    ) -> Result<Vec<u8>, StoreError> {
        let rows = pieces.into_iter().map(|piece| self.put(piece));
        Ok(packed_list(&rows.collect::<Result<Vec<_>, _>>()?))
    }
}

/// The row of a content.
pub(crate) fn row_of(
    connection: &Connection,
    tenant: i64,
    id: ContentId,
) -> Result<Option<i64>, StoreError> {
    let mut find = connection.prepare_cached("SELECT n FROM blob WHERE tenant = ?1 AND id = ?2")?;
    Ok(find.query_row(params![tenant, id.as_bytes()], |row| row.get(0)).optional()?)
}

/// The content in a row, if it is what was put.
pub(crate) fn read(connection: &Connection, row: i64) -> Result<Vec<u8>, StoreError> {
    let mut find =
        connection.prepare_cached("SELECT id, size, packed, bytes FROM blob WHERE n = ?1")?;
    let found = find.query_row([row], |row| {
        let id: Vec<u8> = row.get(0)?;
        let bytes: Vec<u8> = row.get(3)?;
        Ok((id, row.get::<_, i64>(1)?, row.get::<_, bool>(2)?, bytes))
    });
    let lost = || StoreError::damaged(format!("content {row} is missing"));
    let (id, size, packed, bytes) = found.optional()?.ok_or_else(lost)?;
    let wrong = |why: &str| StoreError::damaged(format!("content {row} {why}"));
    let bytes = if packed {
        let size = usize::try_from(size).map_err(|_| wrong("has no size"))?;
        unpacked(&bytes, size).ok_or_else(|| wrong("can't be decompressed"))?
    } else {
        bytes
    };
    if ContentId::of_bytes(&bytes).as_bytes()[..] != id[..] {
        return Err(wrong("isn't what its id says"));
    }
    Ok(bytes)
}

/// All that a list says, as one.
pub(crate) fn joined(connection: &Connection, list: &[u8]) -> Result<Vec<u8>, StoreError> {
    let mut out = Vec::new();
    // The same separator stands between most pieces.
    let mut short: HashMap<i64, Vec<u8>> = HashMap::new();
    for row in rows(list)? {
        if let Some(bytes) = short.get(&row) {
            out.extend_from_slice(bytes);
            continue;
        }
        let bytes = read(connection, row)?;
        out.extend_from_slice(&bytes);
        if bytes.len() <= LEAST {
            short.insert(row, bytes);
        }
    }
    Ok(out)
}

/// All that a list says, as text.
pub(crate) fn text(connection: &Connection, list: &[u8]) -> Result<String, StoreError> {
    let bytes = joined(connection, list)?;
    String::from_utf8(bytes).map_err(|_| StoreError::damaged("a text isn't UTF-8"))
}

/// So many bytes again. What a damaged file says of their number is no reason to reserve it.
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
