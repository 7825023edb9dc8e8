//! What a correction means that names nothing but another value: `Actually, make that 40`.

use std::cmp::Reverse;

use super::behind::JUST;
use super::update::{LOOK_BACK, MOST_BRIEF, Newer, Update, may_replace, says_when};
use super::value::{Sort, Value};
use super::{Change, Kind, Ledger, Line, Speaker};

/// Lines of what is read here that are passed over: tools say much.
const MOST_PASSED: usize = 1 << 10;

impl Ledger {
    /// The last lines of what is read here, the newest first. What an earlier checkpoint remembers, which may stand between
    /// them, was counted elsewhere.
    pub(super) fn said_here(&self) -> impl Iterator<Item = (usize, &Line)> {
        let newest = self.lines.iter().enumerate().rev();
        let is_here = |(at, line): &(usize, &Line)| match self.resuming {
            Some(from) => *at >= from,
            None => !line.carried,
        };
        newest.filter(is_here).take(MOST_PASSED)
    }

    /// What a correction without a topic of its own means.
    pub(super) fn just_said(&self, newer: &Newer<'_>) -> Option<Update> {
        let line = newer.line;
        if line.change != Change::OfLast || line.who < Speaker::Model || line.text.ends_with(':') {
            return None;
        }
        if says_when(&line.text) {
            return None;
        }
        let is_brief = line.text.split(' ').count() <= MOST_BRIEF;
        let lines = self
            .said_here()
            .take_while(|(_, old)| self.is_recent((line.at, line.who), old.at))
            .filter(|(_, old)| old.who >= Speaker::Model)
            .take(LOOK_BACK);
        // What a tool printed in between nobody takes back so.
        let near = lines.filter(|(_, old)| {
            old.replaced.is_none()
                && old.who != Speaker::System
                && (line.who == Speaker::Human || old.at != line.at)
                && !matches!(old.kind, Kind::Done | Kind::Question)
                && may_replace(line, old)
                && !line.spares(old)
                && (old.who < Speaker::System || !self.is_of_another(newer, old))
        });
        let near: Vec<(usize, &Line)> = near.collect();
        let near = || near.iter().copied();
        let gone = |old: &Line| old.subject.says_gone_of(&line.subject);
        if let Some((at, _)) = near().find(|(_, old)| gone(old)) {
            return Some(Update::Replaces(vec![at]));
        }
        // What has a topic of its own isn't what was said just now, unless it is a mere `X is better`.
        let subject = &line.subject;
        let unknown = subject.topic.iter().all(|word| !self.about.contains_key(&word));
        if (subject.has_topic && !(unknown && subject.bag.len() <= 6)) || subject.bag.len() > 6 {
            return None;
        }
        // A name may be any other one, but of what was said last.
        let fits = |old: &Line| {
            let is_last = line.at - old.at <= JUST;
            // `3 tests` stands for no `7 pm`.
            let counts_same = |own: &Value| {
                let unit = subject.unit(own).filter(|_| own.sort == Sort::Number(""));
                unit.is_none_or(|unit| old.subject.bag.has(unit) || old.subject.is_unit(unit))
            };
            let is_one = |own: &Value, value: &Value| {
                let is_same = own.is_one_with(value) && counts_same(own);
                own.is_like(value) && (is_same || own.is_literal() && is_last)
            };
            let values =
                |value: &Value| subject.values.iter().any(|own| is_one(own, value) && own != value);
            old.subject.values.iter().any(values)
        };
        // A value stands for one of its sort and shape, in a sentence that shares its words; best in what was said last,
        // and by the speaker himself.
        let sort = |line: &Line| line.subject.values.first().map(|value| value.sort);
        let shape = |old: &Line| {
            let alike = |value: &Value| subject.values.iter().any(|own| own.has_shape_of(value));
            old.subject.values.iter().any(alike)
        };
        let fitting = near().filter(|(_, old)| fits(old)).max_by_key(|(at, old)| {
            let shared = subject.bag.shared(&old.subject.bag).min(2);
            let (is_alike, gap) = (shape(old), line.at - old.at);
            (shared, is_alike, Reverse(gap), old.who == line.who, sort(old) == sort(line), *at)
        });
        let fitting = fitting.filter(|(_, old)| {
            is_brief || line.who == Speaker::Human || subject.values.len() < 3 && shape(old)
        });
        if let Some((at, meant)) = fitting {
            // Of several that say different things nobody knows which; what says the same is meant, too.
            let (mut same, mut is_only) = (Vec::new(), true);
            for (at, old) in near().filter(|(_, old)| fits(old)) {
                let is_told = |value: &Value| meant.subject.values.contains(value);
                if old.subject.values.iter().any(is_told) {
                    same.insert(0, at);
                } else {
                    is_only &= shape(meant) && !shape(old);
                }
            }
            return Some(if is_only { Update::Replaces(same) } else { Update::Differs(at) });
        }
        let is_number = subject.values.iter().any(|value| matches!(value.sort, Sort::Number(_)));
        // Words for words: of what the speaker himself said just before.
        let own = near().next().filter(|(_, old)| {
            let is_own = line.who == old.who && old.at != line.at && !line.subject.is_field;
            // A rule is taken back in so many words, not by `No wait, run the tests`.
            let is_rule = old.who >= Speaker::Human && old.kind == Kind::Constraint;
            !is_number && is_brief && is_own && !old.kind.is_task() && !is_rule
        });
        own.map(|(at, _)| Update::Replaces(vec![at]))
    }
}
