//! The figures as a page.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::book::{Kind, Set, Shape, Speaker};
use super::report::{BUDGETS, ItemRow, Pairs, ROUNDS, Report, Share, Updates, When};

/// The tables of a report, under headings of the third level.
pub fn tables(report: &Report) -> String {
    let sets: BTreeSet<Set> = report.items.iter().map(|row| row.when.set).collect();
    let page = Page { report, sets: sets.into_iter().collect() };
    let mut out = String::new();
    page.summary(&mut out);
    page.split(&mut out, "Kind", &Kind::ALL.map(|kind| (kind.name().to_owned(), kind)), |row| {
        row.kind
    });
    let speakers = Speaker::ALL.map(|speaker| (speaker.to_string(), speaker));
    page.split(&mut out, "Said by", &speakers, |row| row.speaker);
    let rounds: Vec<(String, usize)> =
        (1..=ROUNDS).map(|round| (round.to_string(), round)).collect();
    page.split(&mut out, "After compaction", &rounds, |row| row.when.round);
    page.places(&mut out);
    page.updates(&mut out);
    page.pairs(&mut out);
    page.streams(&mut out);
    out
}

/// Percent of what was said in held-out phrasings that is to be present at each size, and of corrections that may be missed.
const PRESENT: [u64; 3] = [95, 99, 100];
const MOST_MISSED: u64 = 10;

/// What is asked of held-out phrasings, beside what was measured; empty if none were planted.
pub fn goals(report: &Report) -> String {
    let page = Page { report, sets: vec![Set::HeldOut] };
    if !report.items.iter().any(|row| row.when.set == Set::HeldOut) {
        return String::new();
    }
    let mut out = String::from(
        "| held-out phrasings, after five compactions | size | goal | measured | met |\n|---|--:|--:|--:|---|\n",
    );
    for (budget, least) in BUDGETS.into_iter().zip(PRESENT) {
        let is_here = |when: &When| when.set == Set::HeldOut && when.budget == budget;
        let updates = page.updates_of(|when, _| is_here(when));
        let pairs = page.pairs_of(is_here);
        let of = |of: u64| Share { of, all: updates.plants };
        let present = page.present(is_here, Rounds::Last);
        let merged = Share { of: pairs.merged, all: pairs.plants };
        for (what, goal, share, is_met) in [
            ("present", format!("{least} %"), present, present.of * 100 >= present.all * least),
            ("former value stated", "0".to_owned(), of(updates.stated), updates.stated == 0),
            (
                "supersession missed",
                format!("at most {MOST_MISSED} %"),
                of(updates.missed),
                updates.missed * 100 <= updates.plants * MOST_MISSED,
            ),
            ("mixed up", "0".to_owned(), merged, merged.of == 0),
        ] {
            let met = if is_met { "yes" } else { "**no**" };
            let _ = writeln!(out, "| {what} | {budget} % | {goal} | {} | {met} |", percent(share));
        }
    }
    out.push('\n');
    out
}

/// After which compactions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rounds {
    Last,
    All,
}

struct Page<'a> {
    report: &'a Report,
    sets: Vec<Set>,
}

impl Page<'_> {
    /// All in one, after the last compaction and after all.
    fn summary(&self, out: &mut String) {
        out.push_str(
            "### In short\n\n\
             | phrasings | size | present after the last compaction | present after any | former value stated in a lane | \
             former value alone | supersession missed | pairs: one lost | pairs: mixed up | landed |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for (set, budget) in self.rows() {
            let is_here = |when: &When| when.set == set && when.budget == budget;
            let updates = self.updates_of(|when, _| is_here(when));
            let pairs = self.pairs_of(is_here);
            let landings = self.report.landings.iter().filter(|row| is_here(&row.when));
            let landed: Share = landings.map(|row| Share { of: row.reached, all: row.runs }).sum();
            let of = |of: u64| shown(Share { of, all: updates.plants });
            let _ = writeln!(
                out,
                "| {} | {budget} % | {} | {} | {} | {} | {} | {} | {} | {} of {} |",
                set.name(),
                shown(self.present(is_here, Rounds::Last)),
                shown(self.present(is_here, Rounds::All)),
                of(updates.stated),
                of(updates.alone),
                of(updates.missed),
                shown(Share { of: pairs.one, all: pairs.plants }),
                shown(Share { of: pairs.merged, all: pairs.plants }),
                landed.of,
                landed.all,
            );
        }
        out.push('\n');
    }

    /// Items that are present.
    fn present(&self, is_here: impl Fn(&When) -> bool, rounds: Rounds) -> Share {
        let rows = self.report.items.iter().filter(|row| is_here(&row.when));
        rows.filter(|row| rounds == Rounds::All || row.when.round == ROUNDS)
            .map(ItemRow::share)
            .sum()
    }

    /// Items that are present, by something of theirs, for each size.
    fn split<T: PartialEq>(
        &self,
        out: &mut String,
        title: &str,
        rows: &[(String, T)],
        of: impl Fn(&ItemRow) -> T,
    ) {
        let _ = write!(out, "### {title}\n\n| {} |", title.to_lowercase());
        for (set, budget) in self.rows() {
            let _ = write!(out, " {}, {budget} % |", set.name());
        }
        let _ = writeln!(out, "\n|---|{}", "--:|".repeat(self.rows().len()));
        for (name, value) in rows {
            let _ = write!(out, "| {name} |");
            for (set, budget) in self.rows() {
                let is_here = |row: &&ItemRow| {
                    (row.when.set, row.when.budget) == (set, budget) && of(row) == *value
                };
                let share: Share =
                    self.report.items.iter().filter(is_here).map(ItemRow::share).sum();
                let _ = write!(out, " {} |", shown(share));
            }
            out.push('\n');
        }
        out.push('\n');
    }

    /// Where what is present stands.
    fn places(&self, out: &mut String) {
        let names: BTreeSet<&String> =
            self.report.items.iter().flat_map(|row| row.places.keys()).collect();
        out.push_str(
            "### Where it stands\n\nOf all items that hold; one that stands in several places counts for the first of: \
             ledger, pinned, user's words, an entry that is still shown, anchors, narrative.\n\n| place |",
        );
        for (set, budget) in self.rows() {
            let _ = write!(out, " {}, {budget} % |", set.name());
        }
        let _ = writeln!(out, "\n|---|{}", "--:|".repeat(self.rows().len()));
        for name in names.into_iter().map(Some).chain([None]) {
            let _ = write!(out, "| {} |", name.map_or("nowhere", String::as_str));
            for (set, budget) in self.rows() {
                let is_here = |row: &&ItemRow| (row.when.set, row.when.budget) == (set, budget);
                let share = |row: &ItemRow| {
                    let of = match name {
                        Some(name) => row.places.get(name).copied().unwrap_or(0),
                        None => row.plants - row.present,
                    };
                    Share { of, all: row.plants }
                };
                let share: Share = self.report.items.iter().filter(is_here).map(share).sum();
                let _ = write!(out, " {} |", percent(share));
            }
            out.push('\n');
        }
        out.push('\n');
    }

    fn updates(&self, out: &mut String) {
        out.push_str(
            "### Corrections\n\n| correction | phrasings | size | plants | former value stated in a lane | former value alone | missed |\n\
             |---|---|--:|--:|--:|--:|--:|\n",
        );
        for shape in Shape::ALL {
            for (set, budget) in self.rows() {
                let found =
                    self.updates_of(|when, of| (when.set, when.budget, of) == (set, budget, shape));
                let of = |of: u64| shown(Share { of, all: found.plants });
                let _ = writeln!(
                    out,
                    "| {} | {} | {budget} % | {} | {} | {} | {} |",
                    shape.words(),
                    set.name(),
                    found.plants,
                    of(found.stated),
                    of(found.alone),
                    of(found.missed),
                );
            }
        }
        out.push('\n');
    }

    fn pairs(&self, out: &mut String) {
        out.push_str(
            "### Pairs of the same shape\n\n| phrasings | size | pairs | both present | one lost | mixed up |\n\
             |---|--:|--:|--:|--:|--:|\n",
        );
        for (set, budget) in self.rows() {
            let found = self.pairs_of(|when| (when.set, when.budget) == (set, budget));
            let of = |of: u64| shown(Share { of, all: found.plants });
            let _ = writeln!(
                out,
                "| {} | {budget} % | {} | {} | {} | {} |",
                set.name(),
                found.plants,
                of(found.both),
                of(found.one),
                of(found.merged),
            );
        }
        out.push('\n');
    }

    fn streams(&self, out: &mut String) {
        out.push_str(
            "### Sessions\n\n| session | format | entries | tokens | before the first compaction |\n|---|---|--:|--:|--:|\n",
        );
        for row in &self.report.streams {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                row.name, row.format, row.entries, row.tokens, row.first
            );
        }
    }

    fn rows(&self) -> Vec<(Set, u8)> {
        self.sets.iter().flat_map(|set| BUDGETS.map(|budget| (*set, budget))).collect()
    }

    fn updates_of(&self, is_here: impl Fn(&When, Shape) -> bool) -> Updates {
        let rows = self.report.updates.iter().filter(|row| is_here(&row.when, row.shape));
        rows.fold(Updates::default(), |sum, row| Updates {
            plants: sum.plants + row.found.plants,
            stated: sum.stated + row.found.stated,
            alone: sum.alone + row.found.alone,
            missed: sum.missed + row.found.missed,
        })
    }

    fn pairs_of(&self, is_here: impl Fn(&When) -> bool) -> Pairs {
        let rows = self.report.pairs.iter().filter(|row| is_here(&row.when));
        rows.fold(Pairs::default(), |sum, row| Pairs {
            plants: sum.plants + row.found.plants,
            both: sum.both + row.found.both,
            one: sum.one + row.found.one,
            merged: sum.merged + row.found.merged,
        })
    }
}

impl ItemRow {
    /// Those that are present.
    pub fn share(&self) -> Share {
        Share { of: self.present, all: self.plants }
    }
}

impl Report {
    /// All items of a set at a size, after the last compaction.
    pub fn present(&self, set: Set, budget: u8) -> Share {
        let last = When { set, budget, round: ROUNDS };
        self.items.iter().filter(|row| row.when == last).map(ItemRow::share).sum()
    }

    /// All changes of a set, of all shapes, sizes and compactions.
    pub fn changes(&self, set: Set) -> BTreeMap<Shape, Updates> {
        let page = Page { report: self, sets: vec![set] };
        let of = |shape| (shape, page.updates_of(|when, of| when.set == set && of == shape));
        Shape::ALL.into_iter().map(of).collect()
    }
}

/// `81.5 % (78.2–84.4) of 602`.
fn shown(share: Share) -> String {
    if share.all == 0 {
        return "–".to_owned();
    }
    let (low, high) = share.interval();
    format!("{} ({:.1}–{:.1}) of {}", percent(share), low * 100.0, high * 100.0, share.all)
}

fn percent(share: Share) -> String {
    if share.all == 0 {
        return "–".to_owned();
    }
    format!("{:.1} %", share.of as f64 * 100.0 / share.all as f64)
}
