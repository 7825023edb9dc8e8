//! Finding originals: by their id, by words.

use std::collections::{BTreeMap, HashSet};

use epitome::archive::{FoundOriginal, searchable_in};
use epitome::text::rank::{MOST_WEIGHT, rarity, weight};
use epitome::transcript::ContentId;

use crate::blob;
use crate::database::{Connection, Row, Value, values};
use crate::error::StoreError;
use crate::index::{self, Scope, Within};
use crate::session::{Session, about_of, id_of};
use crate::store::Store;
use crate::terms::{self, Counts, Terms, Word};

/// Of the entries that have a word, the newest so many are ranked: a word that more have tells little.
const MOST: usize = 1000;

/// Entries whose words are in memory at the same time while they are indexed again.
const AT_A_TIME: usize = 1000;

/// The most entries that are ranked for one question.
const MOST_RANKED: usize = 4 * MOST;

/// Among how many entries is looked, and how long they are on the average.
#[derive(Clone, Copy, Debug)]
struct Population {
    entries: f64,
    mean: f64,
}

/// A word that is asked for.
#[derive(Clone, Debug)]
struct Asked {
    word: Word,
    /// The newest entries that have it.
    newest: Vec<i64>,
    /// How much it tells.
    rarity: f64,
}

/// An entry that has a word of a question.
#[derive(Clone, Copy, Debug)]
struct Ranked {
    entry: i64,
    blob: i64,
    score: f64,
}

/// The entries that answer best, each content once, best first.
///
/// Rare words are looked up before common ones. Those are left out as soon as nothing that has only them
/// could be among the best any more; all words count in what is found.
fn ranked(
    connection: &Connection,
    tenant: i64,
    words: &[Word],
    within: Within<'_>,
    population: Population,
    limit: usize,
) -> Result<Vec<Ranked>, StoreError> {
    let most = MOST.max(limit.min(MOST_RANKED));
    let mut asked = Vec::new();
    for word in words {
        let newest = index::newest(connection, tenant, &[*word], within, most)?;
        let mut holders = newest.len() as f64;
        if let Some(oldest) = newest.last().filter(|_| newest.len() == most) {
            // They are as dense among the older ones.
            let share = (within.last - within.first + 1) as f64 / (within.last - oldest + 1) as f64;
            holders = (holders * share).min(population.entries);
        }
        asked.push(Asked { word: *word, newest, rarity: rarity(holders, population.entries) });
    }
    asked.retain(|one| !one.newest.is_empty());
    asked.sort_by(|a, b| b.rarity.total_cmp(&a.rarity).then(a.word.cmp(&b.word)));
    let mut all = BTreeMap::new();
    let rank = |entries: &[i64], all: &mut BTreeMap<i64, Ranked>| -> Result<(), StoreError> {
        let new: Vec<_> =
            entries.iter().filter(|n| !all.contains_key(*n)).map(|n| [Value::Int(*n)]).collect();
        let sql = "SELECT n, blob, words, counts FROM entry WHERE n = ?1";
        for mut row in connection.each(sql, &new)?.into_iter().flatten() {
            let (entry, blob) = (row.take(0)?, row.take(1)?);
            let length = row.take::<i64>(2)? as f64 / population.mean;
            let counts: Vec<u8> = row.take(3)?;
            let counts = Counts::new(&counts);
            let worth = |one: &Asked| match counts.of(one.word) {
                0 => 0.0,
                count => one.rarity * weight(f64::from(count), length),
            };
            let score = asked.iter().map(worth).sum();
            all.insert(entry, Ranked { entry, blob, score });
        }
        Ok(())
    };
    if asked.len() > 1 && asked.iter().any(|one| one.newest.len() == most) {
        // Where a word is too common for all that have it to be ranked, those that have all words come first.
        let words: Vec<Word> = asked.iter().map(|one| one.word).collect();
        rank(&index::newest(connection, tenant, &words, within, most)?, &mut all)?;
    }
    for (at, one) in asked.iter().enumerate() {
        let possible: f64 = asked[at..].iter().map(|one| one.rarity * MOST_WEIGHT).sum();
        if all.len() >= MOST_RANKED || best(&all, limit).is_some_and(|least| least >= possible) {
            break;
        }
        rank(&one.newest, &mut all)?;
    }
    let mut all: Vec<Ranked> = all.into_values().filter(|one| one.score > 0.0).collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.entry.cmp(&b.entry)));
    // Forks say much of the same, which is told once.
    let mut told = HashSet::new();
    all.retain(|one| told.insert(one.blob));
    all.truncate(limit);
    Ok(all)
}

/// The score that the `limit`-th best content has; `None` if there are fewer.
fn best(all: &BTreeMap<i64, Ranked>, limit: usize) -> Option<f64> {
    let mut scores: BTreeMap<i64, f64> = BTreeMap::new();
    for one in all.values() {
        scores.insert(one.blob, one.score);
    }
    let mut scores: Vec<f64> = scores.into_values().collect();
    let at = limit.checked_sub(1).filter(|at| *at < scores.len())?;
    let (_, least, _) = scores.select_nth_unstable_by(at, |a, b| b.total_cmp(a));
    Some(*least)
}

impl Store {
    /// The bytes under an id, whatever session they are of.
    pub fn get(&self, id: ContentId) -> Result<Option<String>, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        let reading = self.reading()?;
        let Some(row) = blob::row_of(&reading, tenant, id)? else { return Ok(None) };
        let bytes = blob::read(&reading, row)?;
        let text = String::from_utf8(bytes).map_err(|_| StoreError::damaged("it isn't UTF-8"))?;
        Ok(Some(text))
    }

    /// Originals of all sessions that share a word with `words`, best first, each with its session.
    pub fn search(
        &self,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(String, FoundOriginal)>, StoreError> {
        self.search_in(Scope::All, words, limit)
    }

    /// The same of sessions that are about this folder.
    pub fn search_project(
        &self,
        project: &str,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(String, FoundOriginal)>, StoreError> {
        self.search_in(Scope::Project(project), words, limit)
    }

    /// Originals whose id begins like that, oldest first and each once, with the first session that says it.
    pub fn recall(
        &self,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<(String, FoundOriginal)>, StoreError> {
        self.recall_in(None, prefix, limit)
    }

    pub(crate) fn recall_in(
        &self,
        session: Option<i64>,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<(String, FoundOriginal)>, StoreError> {
        let is_hex = prefix.len() <= 64 && prefix.bytes().all(|b| b.is_ascii_hexdigit());
        let Some(tenant) = self.tenant.filter(|_| is_hex && prefix.len() >= LEAST_PREFIX) else {
            return Ok(Vec::new());
        };
        let reading = self.reading()?;
        let end = |fill: &str| bytes_of(&format!("{prefix}{}", fill.repeat(64 - prefix.len())));
        let (from, to) = (end("0"), end("f"));
        let first = reading.rows(
            "SELECT min(entry.n) FROM blob JOIN entry ON entry.blob = blob.n
             WHERE blob.tenant = ?1 AND blob.id >= ?2 AND blob.id <= ?3
                AND (CAST(?5 AS BIGINT) IS NULL OR entry.session = ?5)
             GROUP BY blob.n ORDER BY 1 LIMIT ?4",
            values![tenant, &from[..], &to[..], limit, session],
        )?;
        let first = first.into_iter().map(|mut row| Ok((row.take(0)?, 0.0)));
        found(&reading, &first.collect::<Result<Vec<_>, StoreError>>()?)
    }

    pub(crate) fn search_in(
        &self,
        scope: Scope<'_>,
        words: &str,
        limit: usize,
    ) -> Result<Vec<(String, FoundOriginal)>, StoreError> {
        let asked = terms::of_question(words);
        let Some(tenant) = self.tenant.filter(|_| !asked.is_empty()) else { return Ok(Vec::new()) };
        self.with_index(|| {
            let reading = self.reading()?;
            let (within, population) = looked_among(&reading, tenant, scope)?;
            let best = ranked(&reading, tenant, &asked, within, population, limit)?;
            let best: Vec<_> = best.into_iter().map(|one| (one.entry, one.score)).collect();
            found(&reading, &best)
        })
    }

    /// Does what needs the index of words. If that is damaged, and may be written, it is made again from the entries, once.
    pub(crate) fn with_index<T>(
        &self,
        work: impl Fn() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match work() {
            Err(damaged @ StoreError::DamagedIndex { .. }) => match self.index_again() {
                Ok(()) => work(),
                Err(StoreError::ReadOnly) => Err(damaged),
                Err(error) => Err(error),
            },
            done => done,
        }
    }

    fn index_again(&self) -> Result<(), StoreError> {
        let tenant = self.owner()?;
        self.write(|transaction| {
            index::make_anew(transaction, tenant)?;
            let entries = transaction.rows(
                "SELECT entry.n FROM entry JOIN session ON session.n = entry.session
                 WHERE session.tenant = ?1 ORDER BY entry.n",
                values![tenant],
            )?;
            let entries = entries.into_iter().map(|mut row| row.take(0));
            let entries: Vec<i64> = entries.collect::<Result<_, StoreError>>()?;
            for some in entries.chunks(AT_A_TIME) {
                let mut terms = Vec::new();
                for n in some {
                    let told = found(transaction, &[(*n, 0.0)])?;
                    terms.extend(told.iter().map(|(_, told)| (*n, Terms::of(&told.words))));
                }
                let rows: Vec<_> = terms.iter().map(|(n, terms)| (*n, terms)).collect();
                index::insert(transaction, tenant, &rows)?;
            }
            Ok(())
        })
    }

    /// The session in which an entry, or a text, was shown by a view: by the whole text, or by its checkpoint.
    pub fn shown_as(&self, id: ContentId) -> Result<Option<(Session, u64)>, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        let reading = self.reading()?;
        let found = reading.row(
            "SELECT view.session, view.number FROM view JOIN session ON session.n = view.session
             WHERE session.tenant = ?1 AND (view.text_id = ?2 OR view.checkpoint = ?2)
             ORDER BY view.made DESC, view.number DESC LIMIT 1",
            values![tenant, id.as_bytes().as_slice()],
        )?;
        let Some(mut row) = found else { return Ok(None) };
        Ok(Some((Session::at(self, row.take(0)?)?, row.take(1)?)))
    }

    /// The session into which these bytes came.
    pub fn taken_in(&self, raw: ContentId) -> Result<Option<Session>, StoreError> {
        let Some(tenant) = self.tenant else { return Ok(None) };
        let reading = self.reading()?;
        let found = reading.one(
            "SELECT session.n FROM input JOIN session ON session.n = input.session
             WHERE session.tenant = ?1 AND input.raw_id = ?2 ORDER BY input.made DESC LIMIT 1",
            values![tenant, raw.as_bytes().as_slice()],
        )?;
        found.map(|session| Session::at(self, session)).transpose()
    }

    /// A session by its name or the beginning of it.
    pub fn session(&self, name: &str) -> Result<Session, StoreError> {
        let none = || StoreError::NoSuchSession { name: name.to_owned() };
        let tenant = self.tenant.ok_or_else(none)?;
        let reading = self.reading()?;
        let rows = reading.rows(
            "SELECT n FROM session WHERE tenant = ?1 AND substr(name, 1, CAST(?3 AS INTEGER)) = ?2
             LIMIT 100",
            values![tenant, name, name.chars().count()],
        )?;
        let rows = rows.into_iter().map(|mut row| row.take(0));
        match rows.collect::<Result<Vec<i64>, _>>()?[..] {
            [] => Err(none()),
            _ if name.len() < LEAST_PREFIX => Err(none()),
            [row] => Session::at(self, row),
            ref several => {
                Err(StoreError::Ambiguous { name: name.to_owned(), count: several.len() })
            }
        }
    }
}

/// Ids and names shorter than this mean anything.
const LEAST_PREFIX: usize = 4;

fn bytes_of(hex: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16);
    (0..hex.len()).step_by(2).map(|at| digit(at).expect("only such digits come here")).collect()
}

/// Where is looked, and among what.
fn looked_among<'a>(
    connection: &Connection,
    tenant: i64,
    scope: Scope<'a>,
) -> Result<(Within<'a>, Population), StoreError> {
    let totals =
        connection.row("SELECT entries, words FROM tenant WHERE n = ?1", values![tenant])?;
    let mut totals = totals.ok_or_else(|| StoreError::damaged("the tenant is missing"))?;
    let (entries, words): (i64, i64) = (totals.take(0)?, totals.take(1)?);
    let mean = (words as f64 / entries.max(1) as f64).max(1.0);
    let counted = |row: Option<Row>| -> Result<(i64, i64, i64), StoreError> {
        let mut row = row.ok_or_else(|| StoreError::damaged("a count is missing"))?;
        Ok((row.take(0)?, row.take(1)?, row.take(2)?))
    };
    let (session, project, (first, last, entries)) = match scope {
        Scope::All => {
            let (first, last) = index::bounds(connection, tenant)?;
            (None, None, (first, last, entries))
        }
        Scope::Session(session) => {
            let sql = "SELECT coalesce(min(n), 0), coalesce(max(n), 0), count(*) FROM entry WHERE session = ?1";
            (Some(session), None, counted(connection.row(sql, values![session])?)?)
        }
        Scope::Project(project) => {
            let sql = "SELECT coalesce(min(entry.n), 0), coalesce(max(entry.n), 0), count(*)
                FROM entry JOIN session ON session.n = entry.session
                WHERE session.tenant = ?1 AND session.project = ?2";
            (None, Some(project), counted(connection.row(sql, values![tenant, project])?)?)
        }
    };
    let population = Population { entries: entries as f64, mean };
    Ok((Within { session, project, first, last }, population))
}

/// What entries say, each with its score.
fn found(
    connection: &Connection,
    entries: &[(i64, f64)],
) -> Result<Vec<(String, FoundOriginal)>, StoreError> {
    let wanted: Vec<_> = entries.iter().map(|(n, _)| [Value::Int(*n)]).collect();
    let rows = connection.each(
        "SELECT session.name, session.format, entry.entry, entry.about, entry.blob, blob.id
         FROM entry JOIN session ON session.n = entry.session JOIN blob ON blob.n = entry.blob
         WHERE entry.n = ?1",
        &wanted,
    )?;
    let all = entries.iter().zip(rows).filter_map(|((_, score), rows)| {
        // It may be forgotten by now.
        rows.into_iter().next().map(|row| told(connection, row, *score))
    });
    all.collect()
}

fn told(
    connection: &Connection,
    mut row: Row,
    score: f64,
) -> Result<(String, FoundOriginal), StoreError> {
    let format = row.take(1)?;
    let bytes = blob::read(connection, row.take(4)?)?;
    let about = about_of(&row.take::<String>(3)?)?;
    let words = searchable_in(format, &String::from_utf8_lossy(&bytes), &about.recalled);
    let id = id_of(&row.take::<Vec<u8>>(5)?)?;
    let found = FoundOriginal { id, entry: row.take(2)?, about, score, words };
    Ok((row.take(0)?, found))
}
