//! Which rows of a conversation count, and in what order: branches, parallel calls, compactions.
//!
//! Rows form a tree: each names its parent. The conversation is the way from the newest row back to
//! the root, but for three things. Calls made in parallel are siblings, so that way passes one of
//! them only. A compaction starts a new root. And rows may name a parent that isn't there, or none
//! at all; then the row before them in the file has to do.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::fields::Pairs;
use super::row::{Row, Rows, What};
use crate::notes::Notes;
use crate::recording::{Reach, Why};

/// The rows of one conversation.
pub(super) struct Path {
    /// Rows that carry messages, in the order of what was said.
    pub(super) order: Vec<usize>,
    /// The lines of compactions.
    pub(super) compactions: Vec<usize>,
}

/// Finds the way through `members`, rows of one conversation in file order.
pub(super) fn follow(rows: &Rows<'_>, members: &[usize], reach: Reach, notes: &mut Notes) -> Path {
    let compactions = compactions(rows, members);
    let members = match reach {
        Reach::SinceLastCompaction => since_nameless_cut(rows, members),
        Reach::Whole => members,
    };
    let mut tree = Tree::new(rows, members, reach);
    match reach {
        Reach::SinceLastCompaction => tree.hang_kept_rows(),
        Reach::Whole => tree.hang_summaries(),
    }
    let walk = tree.walk(reach);
    let mut counts = vec![false; members.len()];
    for at in &walk.way {
        counts[*at] = true;
    }
    tree.add_batches(&walk.way, &mut counts);
    tree.add_adrift(&walk, &mut counts);
    tree.left_out(&walk, &counts, notes);
    Path { order: tree.order(&walk.way, &counts), compactions }
}

/// Positions are places in `members`.
struct Tree<'r, 'a> {
    rows: &'r Rows<'a>,
    members: &'r [usize],
    by_uuid: HashMap<&'a str, usize>,
    /// For a row whose uuid another one bears too, that other one.
    repeats: HashMap<usize, usize>,
    parents: Vec<Option<usize>>,
    last_boundary: Option<usize>,
}

/// The way from the root (or the newest compaction) to the newest row.
struct Walk {
    way: Vec<usize>,
    /// Where a compaction ended it.
    cut: Option<usize>,
}

impl<'r, 'a> Tree<'r, 'a> {
    fn new(rows: &'r Rows<'a>, members: &'r [usize], reach: Reach) -> Self {
        let what = |at: usize| rows.all[members[at]].what;
        let last_boundary = (0..members.len()).rfind(|at| what(*at) == What::Boundary);
        let mut tree = Tree {
            rows,
            members,
            by_uuid: HashMap::with_capacity(members.len()),
            repeats: HashMap::new(),
            parents: Vec::new(),
            last_boundary,
        };
        for at in 0..members.len() {
            let Some(uuid) = tree.row(at).uuid else { continue };
            let Some(&first) = tree.by_uuid.get(uuid) else {
                tree.by_uuid.insert(uuid, at);
                continue;
            };
            // Kept rows may be written again behind the boundary. A copy without a parent has no known place, unless
            // the boundary names it.
            let is_kept = reach == Reach::SinceLastCompaction
                && last_boundary.is_some_and(|boundary| {
                    let kept = &tree.row(boundary).kept;
                    let is_named = kept.all.contains(&uuid) || kept.head == Some(uuid);
                    first < boundary && boundary < at && (is_named || tree.row(at).parent.is_some())
                });
            let is_better = what(first) == What::Link && what(at) != What::Link;
            // A row that was rewritten at its place counts as last written.
            let is_newer = tree.row(at).parent.is_some()
                && tree.row(at).parent == tree.row(first).parent
                && what(at) == what(first)
                && rows.says(members[at]) != rows.says(members[first]);
            if is_kept || is_better || is_newer {
                tree.by_uuid.insert(uuid, at);
                tree.repeats.insert(first, at);
            } else {
                tree.repeats.insert(at, first);
            }
        }
        tree.parents = (0..members.len()).map(|at| tree.find(tree.row(at).parent)).collect();
        tree
    }

    fn places(&self) -> Range<usize> {
        0..self.members.len()
    }

    fn row(&self, at: usize) -> &'r Row<'a> {
        &self.rows.all[self.members[at]]
    }

    fn find(&self, uuid: Option<&str>) -> Option<usize> {
        uuid.and_then(|uuid| self.by_uuid.get(uuid)).copied()
    }

    /// Whether other rows may name it, and none repeats it.
    fn is_anchored(&self, at: usize) -> bool {
        self.row(at).uuid.is_some() && !self.repeats.contains_key(&at)
    }

    /// A compaction may keep rows that lie before its boundary; they still name their old parents.
    /// Now the first one hangs on the anchor, and what hung on the anchor hangs on the last one.
    fn hang_kept_rows(&mut self) {
        let Some(boundary) = self.last_boundary else { return };
        let kept = &self.row(boundary).kept;
        let Some(anchor) = self.find(kept.anchor) else { return };
        let mut run: Vec<usize> =
            kept.all.iter().filter_map(|uuid| self.find(Some(uuid))).collect();
        if run.is_empty() {
            run = self.run(self.find(kept.head), self.find(kept.tail));
        }
        let (Some(&head), Some(&tail)) = (run.first(), run.last()) else { return };
        let is_kept: HashSet<usize> = run.iter().copied().collect();
        for (at, parent) in self.parents.iter_mut().enumerate() {
            if *parent == Some(anchor) && !is_kept.contains(&at) && at != anchor {
                *parent = Some(tail);
            }
        }
        self.parents[head] = Some(anchor);
        for pair in run.windows(2) {
            self.parents[pair[1]] = Some(pair[0]);
        }
    }

    /// The rows from `head` down to `tail`; none if they aren't connected.
    fn run(&self, head: Option<usize>, tail: Option<usize>) -> Vec<usize> {
        let (Some(head), Some(mut at)) = (head, tail) else { return Vec::new() };
        let mut run = vec![at];
        while at != head {
            match self.parents[at] {
                Some(parent) if run.len() <= self.members.len() => at = parent,
                _ => return Vec::new(),
            }
            run.push(at);
        }
        run.reverse();
        run
    }

    /// Read as a whole, a session has its kept rows where they were first; what follows a
    /// compaction then hangs on the summary.
    fn hang_summaries(&mut self) {
        let mut summaries: HashMap<usize, Vec<(usize, usize)>> = HashMap::new();
        for at in self.places() {
            let kept = &self.row(at).kept;
            if let (What::Boundary, Some(anchor), Some(tail)) = (
                self.row(at).what,
                self.find(kept.anchor),
                self.find(kept.tail.or(kept.all.last().copied())),
            ) && anchor > at
            {
                summaries.entry(tail).or_default().push((at, anchor));
            }
        }
        for at in self.places() {
            let Some(behind) = self.parents[at].and_then(|parent| summaries.get(&parent)) else {
                continue;
            };
            let nearest = behind.iter().rfind(|(boundary, anchor)| *boundary < at && *anchor != at);
            if let Some((_, anchor)) = nearest {
                self.parents[at] = Some(*anchor);
            }
        }
    }

    fn walk(&self, reach: Reach) -> Walk {
        let mut walk = Walk { way: Vec::new(), cut: None };
        let is_leaf = |at: &usize| self.is_anchored(*at) && self.row(*at).what.is_message();
        let Some(mut at) = self.places().rfind(is_leaf) else { return walk };
        // What was applied is linked in sessions whose own rows aren't.
        let is_linked =
            self.places().any(|at| self.parents[at].is_some() && !self.row(at).is_again);
        let mut seen = vec![false; self.members.len()];
        let missing = self.missing();
        // Goes down only, so that looking for the row before costs no more than one pass.
        let mut behind = self.members.len();
        loop {
            seen[at] = true;
            walk.way.push(at);
            if reach == Reach::SinceLastCompaction && self.is_cut(at) {
                walk.cut = Some(at);
                break;
            }
            let parent = self.parents[at].or_else(|| self.find(self.row(at).logical_parent));
            if let Some(parent) = parent.filter(|parent| !seen[*parent]) {
                at = parent;
                continue;
            }
            // What hangs on the same missing row was rewound, but for the results of its calls.
            let is_sibling = |of: &usize| {
                let on = missing[at].filter(|_| is_linked);
                on.is_some() && missing[*of] == on && !self.is_result(*of)
            };
            let is_before = |of: &usize| self.is_anchored(*of) && !seen[*of] && !is_sibling(of);
            match (0..behind.min(at)).rfind(is_before) {
                Some(before) if !(is_linked && self.is_root(at, before)) => at = before,
                _ => break,
            }
            behind = at;
        }
        walk.way.reverse();
        walk
    }

    /// For each row the missing row on which it hangs, if it hangs on one.
    fn missing(&self) -> Vec<Option<&'a str>> {
        let mut missing: Vec<Option<&str>> = Vec::with_capacity(self.members.len());
        for at in self.places() {
            missing.push(match self.parents[at] {
                Some(parent) => missing.get(parent).copied().flatten(),
                None => self.row(at).parent,
            });
        }
        missing
    }

    /// Whether what lies before was compacted away. Older versions wrote a summary and no boundary.
    fn is_cut(&self, at: usize) -> bool {
        match self.row(at).what {
            What::Boundary => true,
            What::Summary => self.last_boundary.is_none() || self.parents[at].is_none(),
            _ => false,
        }
    }

    /// Whether the conversation begins here although `before` lies before it in the file: it names
    /// no parent where others do, and could be the first. (Files of several sessions may be joined.)
    fn is_root(&self, at: usize, before: usize) -> bool {
        let row = self.row(at);
        let could_be = match row.what {
            What::User | What::Injected | What::Queued | What::Link => !self.is_result(at),
            _ => false,
        };
        could_be && row.parent.is_none() && row.session == self.row(before).session
    }

    fn is_result(&self, at: usize) -> bool {
        self.pairs(at).any(|pairs| matches!(pairs, Pairs::Result(_)))
    }

    /// Adds what the way misses of its messages: blocks of the same message, results of its calls.
    fn add_batches(&self, way: &[usize], counts: &mut [bool]) {
        let wanted: HashSet<&str> = way.iter().filter_map(|at| self.row(*at).message_id).collect();
        let mut open: HashSet<&str> = HashSet::new();
        for at in self.places() {
            let row = self.row(at);
            let belongs = row.what.is_assistant()
                && !self.repeats.contains_key(&at)
                && row.message_id.is_some_and(|id| wanted.contains(id));
            counts[at] |= belongs;
            if counts[at] {
                open.extend(self.pairs(at).filter_map(|pairs| match pairs {
                    Pairs::Call(id) => Some(id),
                    _ => None,
                }));
            }
        }
        let results = |at: usize| {
            self.pairs(at).filter_map(|pairs| match pairs {
                Pairs::Result(id) => Some(id),
                _ => None,
            })
        };
        for at in self.places().filter(|at| counts[*at]) {
            for id in results(at) {
                open.remove(id);
            }
        }
        for at in self.places() {
            if !counts[at]
                && !self.repeats.contains_key(&at)
                && results(at).any(|id| open.contains(id))
            {
                counts[at] = true;
                for id in results(at) {
                    open.remove(id);
                }
            }
        }
    }

    fn pairs(&self, at: usize) -> impl Iterator<Item = Pairs<'a>> {
        self.rows.blocks(self.members[at]).iter().map(|block| block.pairs)
    }

    /// Adds rows without a uuid, which no other row can name: they go with the row before them.
    fn add_adrift(&self, walk: &Walk, counts: &mut [bool]) {
        let first = self.places().find(|at| self.is_anchored(*at));
        let is_from_start = walk.cut.is_none() && walk.way.first().copied() == first;
        let mut before = is_from_start;
        for at in self.places() {
            if self.row(at).uuid.is_none() {
                counts[at] |= before;
            } else if self.row(at).what != What::Link && !self.repeats.contains_key(&at) {
                before = counts[at];
            }
        }
    }

    /// The rows that count: those on the way in its order, each followed by the others behind it.
    fn order(&self, way: &[usize], counts: &[bool]) -> Vec<usize> {
        let on_way: HashSet<usize> = way.iter().copied().collect();
        let mut followers: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        let mut newest = None;
        for at in self.places().filter(|at| counts[*at]) {
            if on_way.contains(&at) {
                newest = Some(at);
            } else {
                followers.entry(newest).or_default().push(at);
            }
        }
        let mut order = followers.remove(&None).unwrap_or_default();
        for at in way {
            order.push(*at);
            order.extend(followers.remove(&Some(*at)).into_iter().flatten());
        }
        order.retain(|at| self.row(*at).what.is_message());
        order.into_iter().map(|at| self.members[at]).collect()
    }

    /// Says of messages why they don't count, unless a compaction is the reason.
    fn left_out(&self, walk: &Walk, counts: &[bool], notes: &mut Notes) {
        let start = walk.cut.unwrap_or(0);
        for at in
            (start..self.members.len()).filter(|at| !counts[*at] && self.row(*at).what.is_message())
        {
            let why = match self.repeats.get(&at) {
                Some(other) => Why::Repeats { row: self.row(*other).line },
                None => Why::OtherBranch,
            };
            notes.skip(self.row(at).line, why);
        }
    }
}

fn compactions(rows: &Rows<'_>, members: &[usize]) -> Vec<usize> {
    let lines = |what| {
        let rows = members.iter().map(|row| &rows.all[*row]).filter(move |row| row.what == what);
        rows.map(|row| row.line).collect::<Vec<usize>>()
    };
    let boundaries = lines(What::Boundary);
    // Older versions wrote a summary and no boundary.
    if boundaries.is_empty() { lines(What::Summary) } else { boundaries }
}

/// A compaction that no row can name is found by its place alone.
fn since_nameless_cut<'m>(rows: &Rows<'_>, members: &'m [usize]) -> &'m [usize] {
    let is_cut = |row: &usize| {
        let row = &rows.all[*row];
        row.uuid.is_none() && matches!(row.what, What::Boundary | What::Summary)
    };
    let Some(newest) = members.iter().rposition(is_cut) else { return members };
    let boundary = |row: &usize| rows.all[*row].what == What::Boundary;
    // A summary follows its boundary at once, if it has one.
    let first = if newest > 0 && boundary(&members[newest - 1]) { newest - 1 } else { newest };
    &members[first..]
}
