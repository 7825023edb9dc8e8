//! The study: streams × seeds × sizes × compactions.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use epitome::count::{Tally as Tokens, TokenCounter};

use super::book::{Book, Set, Shape};
use super::contender::Contender;
use super::judge::{Block, Claim, Place, blocks, rank};
use super::plot::{Current, Ground, Item, planted, plot};
use super::report::{BUDGETS, Report, StreamRow, Tally, When};
use super::stream::Stream;

/// What stopped the study.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken(pub String);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: Error> From<E> for Broken {
    fn from(error: E) -> Self {
        Broken(error.to_string())
    }
}

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Study {
    /// Sessions.
    pub streams: Vec<Stream>,
    /// Phrasings.
    pub books: Vec<(Set, Cow<'static, Book>)>,
    /// How often each session is planted anew.
    pub seeds: u64,
    /// What counts tokens.
    pub counter: Arc<dyn TokenCounter>,
}

/// An item that isn't there, for whoever improves on that.
#[derive(Clone, Debug)]
pub struct Miss<'a> {
    /// When.
    pub when: When,
    /// The item.
    pub item: &'a Item,
    /// Whether it was changed by then.
    pub is_changed: bool,
    /// What became of it.
    pub what: &'static str,
    /// Where lanes say what held before without what holds, or another's value of it: lane and line.
    pub former: &'a [String],
}

/// The item, and what there is in its place.
impl fmt::Display for Miss<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = &self.item.first;
        let saying = match &self.item.update {
            Some((_, update)) if self.is_changed => update,
            _ => first,
        };
        let When { budget, round, .. } = self.when;
        write!(
            f,
            "{budget} % after {round}, {}: {} by {}: ",
            self.what, saying.id, saying.speaker
        )?;
        f.write_str(&saying.text)?;
        if self.is_changed {
            write!(f, "\n    after {} by {}: {}", first.id, first.speaker, first.text)?;
            self.former.iter().try_for_each(|line| write!(f, "\n    → {line}"))?;
        }
        Ok(())
    }
}

/// Measures what `contender` makes, a new one for each conversation; `missing` is told what is lost, but of
/// the held-out phrasings.
///
/// # Errors
/// A stream that is no request or has no place for items, or a compaction that failed.
pub fn run<C: Contender>(
    study: &Study,
    mut contender: impl FnMut() -> C,
    mut missing: impl FnMut(Miss<'_>),
) -> Result<Report, Broken> {
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    for (number, stream) in study.streams.iter().enumerate() {
        let request = stream.request()?;
        let ground = Ground::of(&request);
        let segments = stream.segments(&request);
        let tokens = |entries: &[String]| -> Result<u64, Broken> {
            let request = stream.with(entries.to_vec()).request()?;
            Ok(Tokens::of(&request, study.counter.as_ref()).total().tokens)
        };
        rows.push(StreamRow {
            name: stream.name.clone(),
            format: stream.format.name().to_owned(),
            entries: stream.entries.len(),
            tokens: tokens(&stream.entries)?,
            first: tokens(&stream.entries[segments[0].clone()])?,
        });
        for (set, book) in &study.books {
            for seed in 0..study.seeds {
                let seed = seed * 1000 + number as u64;
                let items = plot(book, stream, &ground, seed);
                if items.is_empty() {
                    let why = "no place to plant anything: a session needs calls of a model";
                    return Err(Broken(format!("{}: {why}", stream.name)));
                }
                let said = planted(book, stream, &request, &items, seed)?;
                let first = tokens(&said[segments[0].clone()].concat())?;
                for budget in BUDGETS {
                    let mut contender = contender();
                    let mut entries: Vec<String> = Vec::new();
                    for (round, segment) in segments.iter().enumerate() {
                        let when = When { set: *set, budget, round: round + 1 };
                        entries.extend(said[segment.clone()].concat());
                        let target = first * u64::from(budget) / 100;
                        let compacted = contender.compact(
                            &stream.with(std::mem::take(&mut entries)).request()?,
                            target,
                        )?;
                        let after = Tokens::of(&compacted, study.counter.as_ref()).total().tokens;
                        let landing = tally.landings.entry(when).or_default();
                        landing.0 += 1;
                        landing.1 += u64::from(after <= target);
                        let verdicts = judge(&items, segment.end, &blocks(&compacted));
                        tally.add(when, &items, &verdicts, &mut missing);
                        entries = Stream::of("", &compacted).entries;
                    }
                }
            }
        }
    }
    Ok(tally.report(study.seeds, rows))
}

/// What became of a pair that was mixed up.
const MIXED: &str = "taken for another one";

/// What became of an item that was said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Where what holds stands, if it does.
    place: Option<String>,
    /// Of a change: whether a lane states what held before.
    stated: bool,
    /// Of a change: whether only what held before is there.
    alone: bool,
    /// Of a change: whether nothing connected the two.
    missed: bool,
    /// Of a change: where lanes say what held before without what holds.
    former: Vec<String>,
    /// Of a pair that was mixed up: where.
    mixed: Vec<String>,
    /// Of a pair, at its first one: whether the other is present too, and whether they were mixed up.
    pair: Option<(bool, bool)>,
    /// How it was changed.
    shape: Option<Shape>,
}

/// Judges all items of which the first `entries` entries speak; `None` for the others.
pub(super) fn judge(items: &[Item], entries: usize, blocks: &[Block]) -> Vec<Option<Verdict>> {
    let current: Vec<Option<Current<'_>>> = items.iter().map(|item| item.after(entries)).collect();
    let place = |current: &Current<'_>| {
        let found = places(current, blocks).into_iter().min_by_key(rank);
        found.map(|place| match place {
            Place::Lane(name) => name,
            Place::Entry => "entry".to_owned(),
        })
    };
    let judged = items.iter().zip(&current).enumerate().map(|(at, (item, now))| {
        let now = now.as_ref()?;
        let mut verdict = Verdict { place: place(now), ..Verdict::default() };
        if let Some((shape, former)) = now.former {
            let (new, old) = (&now.saying.claim, &former.claim);
            verdict.shape = Some(shape);
            verdict.stated = states(old, new, shape, blocks);
            let is_there = blocks.iter().any(|block| old.is_in(block));
            verdict.alone = verdict.place.is_none() && is_there;
            let unlinked = |block: &Block| {
                let windows = old.windows(block);
                block.is_in_ledger() && windows.into_iter().any(|w| !new.is_told_by(&block.text[w]))
            };
            verdict.former = without(old, new, blocks);
            verdict.missed = verdict.stated || verdict.alone || blocks.iter().any(unlinked);
        }
        if let Some(rival) = item.rival.filter(|rival| at < *rival)
            && let Some(other) = &current[rival]
        {
            let (a, b) = (&now.saying.claim, &other.saying.claim);
            verdict.mixed = mixed(a, b, blocks).into_iter().chain(mixed(b, a, blocks)).collect();
            verdict.pair = Some((place(other).is_some(), !verdict.mixed.is_empty()));
        }
        Some(verdict)
    });
    judged.collect()
}

/// The places at which what holds stands.
fn places(current: &Current<'_>, blocks: &[Block]) -> Vec<Place> {
    let claim = &current.saying.claim;
    let mut places: Vec<Place> =
        blocks.iter().filter(|block| claim.is_in(block)).map(|block| block.place.clone()).collect();
    if let Some((Shape::Anaphoric, former)) = current.former {
        places.extend(following(&former.claim, claim, blocks).map(|block| block.place.clone()));
    }
    places
}

/// The blocks that say `old` and are soon followed by one that says `new`.
fn following<'a>(
    old: &'a Claim,
    new: &'a Claim,
    blocks: &'a [Block],
) -> impl Iterator<Item = &'a Block> {
    // A step may hold several calls with their results between.
    const SOON: usize = 12;
    blocks.iter().enumerate().filter(|(_, block)| block.whole && old.is_in(block)).filter_map(
        move |(at, block)| {
            let next = blocks[at..].iter().take(SOON).filter(|next| next.place == block.place);
            next.skip(1).any(|next| new.is_told_by(&next.text)).then_some(block)
        },
    )
}

/// Whether a lane says the former value as if it held.
fn states(old: &Claim, new: &Claim, shape: Shape, blocks: &[Block]) -> bool {
    let corrected: Vec<&Block> = match shape {
        Shape::Anaphoric => following(old, new, blocks).collect(),
        _ => Vec::new(),
    };
    let is_stated = |block: &&Block| {
        let windows = old.windows(block);
        windows
            .into_iter()
            .any(|window| !new.is_told_by(&block.text[window.clone()]) && !block.is_marked(&window))
    };
    let in_lanes = blocks.iter().filter(|block| block.place != Place::Entry);
    let unfollowed = |block: &&Block| !corrected.iter().any(|other| std::ptr::eq(*other, *block));
    in_lanes.filter(unfollowed).any(|block| is_stated(&block))
}

/// The lines of lanes that say `old` without `new`, each behind its lane's name.
fn without(old: &Claim, new: &Claim, blocks: &[Block]) -> Vec<String> {
    let lines = blocks.iter().flat_map(|block| {
        let Place::Lane(lane) = &block.place else { return Vec::new() };
        let windows = old.windows(block).into_iter().map(|window| &block.text[window]);
        windows.filter(|text| !new.is_told_by(text)).map(|text| format!("{lane}: {text}")).collect()
    });
    lines.collect()
}

/// The lines of lanes that give `b`'s value to `a`.
fn mixed(a: &Claim, b: &Claim, blocks: &[Block]) -> Vec<String> {
    let mixed = Claim { keys: a.keys.clone(), value: b.value.clone(), needs: Vec::new() };
    let in_lines = blocks.iter().filter(|block| block.place != Place::Entry && !block.whole);
    let lines = in_lines.flat_map(|block| {
        let windows = mixed.windows(block).into_iter().map(|window| &block.text[window]);
        windows.filter(|text| !b.is_about(text)).map(str::to_owned)
    });
    lines.collect()
}

impl Tally {
    fn add(
        &mut self,
        when: When,
        items: &[Item],
        verdicts: &[Option<Verdict>],
        missing: &mut impl FnMut(Miss<'_>),
    ) {
        for (item, verdict) in items.iter().zip(verdicts) {
            let Some(verdict) = verdict else { continue };
            let mut miss = |what: &'static str| {
                if when.set != Set::HeldOut {
                    let is_changed = verdict.shape.is_some();
                    let former = if what == MIXED { &verdict.mixed } else { &verdict.former };
                    missing(Miss { when, item, is_changed, what, former });
                }
            };
            let saying = match (verdict.shape, &item.update) {
                (Some(_), Some((_, update))) => update,
                _ => &item.first,
            };
            let row = self.items.entry((when, item.kind, saying.speaker)).or_default();
            row.plants += 1;
            match &verdict.place {
                Some(place) => *row.places.entry(place.clone()).or_default() += 1,
                None => miss("absent"),
            }
            if let Some(shape) = verdict.shape {
                let row = self.updates.entry((when, shape)).or_default();
                row.plants += 1;
                row.stated += u64::from(verdict.stated);
                row.alone += u64::from(verdict.alone);
                row.missed += u64::from(verdict.missed);
                if verdict.stated {
                    miss("the former value is stated");
                } else if verdict.missed {
                    miss("the former value isn't connected with the new one");
                }
            }
            if let Some((other, merged)) = verdict.pair {
                let row = self.pairs.entry(when).or_default();
                row.plants += 1;
                row.both += u64::from(verdict.place.is_some() && other);
                row.one += u64::from(verdict.place.is_some() != other);
                row.merged += u64::from(merged);
                if merged {
                    miss(MIXED);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survival::book::{Kind, Speaker};
    use crate::survival::plot::Saying;

    fn saying(text: &str, key: &str, value: &str, at: usize) -> Saying {
        let claim =
            Claim { keys: vec![key.to_owned()], value: Some(value.to_owned()), needs: vec![] };
        let (id, text) = (String::new(), text.to_owned());
        Saying { id, speaker: Speaker::Human, text, claim, at }
    }

    fn corrected(shape: Shape, text: &str) -> Item {
        Item {
            kind: Kind::Fact,
            first: saying("The staging port is 8443.", "staging", "8443", 1),
            update: Some((shape, saying(text, "staging", "9021", 3))),
            rival: None,
        }
    }

    fn lane(name: &str, text: &str) -> Block {
        let whole = name == "user's words";
        Block { place: Place::Lane(name.to_owned()), whole, text: text.to_owned() }
    }

    fn one(item: &Item, blocks: &[Block]) -> Verdict {
        judge(std::slice::from_ref(item), 9, blocks).remove(0).expect("it was said")
    }

    #[test]
    fn an_old_value_in_a_lane_is_stated_unless_the_line_says_otherwise() {
        let item = corrected(Shape::Explicit, "The staging port is 9021 now.");
        let now = "- staging port 9021";
        for (old, stated, missed) in [
            ("- staging port 8443", true, true),
            ("- staging port 8443 (replaced)", false, true),
            ("- staging port 8443 → 9021", false, false),
            ("- production port 8443", false, false),
        ] {
            let verdict = one(&item, &[lane("ledger", &format!("{now}\n{old}\n"))]);
            let place = Some("ledger".to_owned());
            assert_eq!((verdict.place, verdict.stated, verdict.missed), (place, stated, missed));
        }
        let verdict = one(&item, &[lane("user's words", "The staging port is 8443.")]);
        assert_eq!((verdict.place, verdict.stated, verdict.alone), (None, true, true));
        // A conversation that is shown in its order says by itself what came later.
        let entry = |text: &str| Block { place: Place::Entry, whole: true, text: text.to_owned() };
        let both = [entry("The staging port is 8443."), entry("The staging port is 9021 now.")];
        let verdict = one(&item, &both);
        assert_eq!((verdict.stated, verdict.alone, verdict.missed), (false, false, false));
    }

    #[test]
    fn what_follows_counts_for_what_it_corrects() {
        let item = corrected(Shape::Anaphoric, "Actually, make that 9021.");
        let said = [
            lane("user's words", "The staging port is 8443."),
            lane("user's words", "Actually, make that 9021."),
        ];
        let verdict = one(&item, &said);
        assert_eq!(verdict.place.as_deref(), Some("user's words"));
        assert!(!verdict.stated && !verdict.missed);
        let verdict = one(&item, &said[..1]);
        assert!(verdict.place.is_none() && verdict.stated && verdict.alone);
        let verdict = one(&item, &said[1..]);
        assert!(verdict.place.is_none() && !verdict.stated && !verdict.alone);
    }

    #[test]
    fn anothers_value_is_a_wrong_merge() {
        let pair = |at: usize, key: &str, value: &str| Item {
            kind: Kind::Fact,
            first: saying("", key, value, 1),
            update: None,
            rival: Some(1 - at),
        };
        let items = [pair(0, "staging", "8443"), pair(1, "production", "9021")];
        for (text, both, merged) in [
            ("- staging 8443\n- production 9021\n", true, false),
            ("- staging 8443, production 9021\n", true, false),
            ("- staging 8443\n", false, false),
            ("- staging 9021 (was 8443)\n", false, true),
        ] {
            let verdicts = judge(&items, 9, &[lane("ledger", text)]);
            let first = verdicts[0].clone().expect("it was said");
            assert_eq!(first.pair, Some((both, merged)), "{text}");
        }
    }
}
