//! A proxy's knowledge of conversations, for the process that continues them.

use std::time::Duration;

use crate::blob::{packed_text, unpacked_text};
use crate::database::{Connection, Row, Value, values};
use crate::error::StoreError;
use crate::store::{Store, now};

/// What is known of one conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its place: a digest.
    pub place: [u8; 16],
    /// Of two at one place the one with the larger number holds.
    pub number: u32,
    /// What is known.
    pub text: String,
}

/// Use is noted once within so long.
const DAY: i64 = 24 * 60 * 60 * 1000;

impl Store {
    /// The state at the last of some places that has one with a larger number than the one beside it.
    ///
    /// # Errors
    /// The database can't be read.
    pub fn newest_state(
        &self,
        places: &[([u8; 16], Option<u32>)],
    ) -> Result<Option<State>, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        let least = |known: Option<u32>| known.map_or(0, |known| i64::from(known) + 1);
        let asked: Vec<[Value<'_>; 3]> = places
            .iter()
            .map(|(place, known)| [tenant.into(), place[..].into(), least(*known).into()])
            .collect();
        let reading = self.reading()?;
        let found = reading.each(
            "SELECT number, bytes, used FROM state WHERE tenant = ?1 AND place = ?2 AND number >= ?3",
            &asked,
        )?;
        drop(reading);
        let newest = found
            .into_iter()
            .zip(places)
            .rev()
            .find_map(|(rows, (place, _))| rows.into_iter().next().map(|row| (*place, row)));
        let Some((place, mut row)) = newest else { return Ok(None) };
        let used: i64 = row.take(2)?;
        let state = State::read(place, row)?;
        if used < now() - DAY {
            self.write(|transaction| {
                let set = "UPDATE state SET used = ?3 WHERE tenant = ?1 AND place = ?2";
                transaction.run(set, values![tenant, &place[..], now()])
            })?;
        }
        Ok(Some(state))
    }

    /// Keeps a state, unless its place has one with the same number or a larger one: then that is given.
    ///
    /// # Errors
    /// The database can't be written.
    pub fn keep_state(&self, state: &State) -> Result<Option<State>, StoreError> {
        let tenant = self.owner()?;
        let (place, packed) = (&state.place[..], packed_text(&state.text));
        self.write(|transaction| {
            let put = "INSERT INTO state (tenant, place, number, bytes, used) VALUES (?1, ?2, ?3, ?4, ?5)
                ON CONFLICT (tenant, place) DO UPDATE SET number = excluded.number, bytes = excluded.bytes, used = excluded.used
                WHERE state.number < excluded.number";
            let number = i64::from(state.number);
            if transaction.run(put, values![tenant, place, number, &packed[..], now()])? > 0 {
                return Ok(None);
            }
            let find = "SELECT number, bytes FROM state WHERE tenant = ?1 AND place = ?2";
            let found = transaction.row(find, values![tenant, place])?;
            found.map(|row| State::read(state.place, row)).transpose()
        })
    }

    /// Forgets the states that nobody asked for or kept for so long; how many that were.
    ///
    /// # Errors
    /// The database can't be written.
    pub fn forget_states(&self, than: Duration) -> Result<u64, StoreError> {
        let tenant = self.owner()?;
        let age = i64::try_from(than.as_millis()).unwrap_or(i64::MAX);
        let since = now().saturating_sub(age);
        self.erase(|transaction| forget_unused(transaction, tenant, since))
    }

    /// The secret of a name: the one that is kept, or else `drawn`, which is kept from now on.
    ///
    /// # Errors
    /// The database can't be written.
    pub fn secret(&self, name: &str, drawn: [u8; 32]) -> Result<[u8; 32], StoreError> {
        let tenant = self.owner()?;
        let kept: Option<Vec<u8>> = self.write(|transaction| {
            let put = "INSERT INTO secret (tenant, name, bytes) VALUES (?1, ?2, ?3) ON CONFLICT (tenant, name) DO NOTHING";
            transaction.run(put, values![tenant, name, &drawn[..]])?;
            let find = "SELECT bytes FROM secret WHERE tenant = ?1 AND name = ?2";
            transaction.one(find, values![tenant, name])
        })?;
        let kept = kept.and_then(|kept| kept.try_into().ok());
        kept.ok_or_else(|| StoreError::damaged("a secret isn't 32 bytes"))
    }
}

/// Forgets the states that weren't used since then; how many that were.
pub(crate) fn forget_unused(
    transaction: &Connection,
    tenant: i64,
    since: i64,
) -> Result<u64, StoreError> {
    let old = "DELETE FROM state WHERE tenant = ?1 AND used < ?2";
    transaction.run(old, values![tenant, since])
}

impl State {
    /// The first columns of a row: the number and the bytes.
    fn read(place: [u8; 16], mut row: Row) -> Result<Self, StoreError> {
        let number: u64 = row.take(0)?;
        let number = u32::try_from(number)
            .map_err(|_| StoreError::damaged("a state's number is too large"))?;
        let bytes: Vec<u8> = row.take(1)?;
        Ok(State { place, number, text: unpacked_text(&bytes)? })
    }
}
