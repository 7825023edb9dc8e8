//! Which calls become one line, where not each has room for its own.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::targets::{self, detailed, flags, handles, inner, targets, tool, with_arguments};
use super::{BETWEEN, CUT, Deed, MOST_BRIEF, TargetCache};
use crate::checkpoint::outcome::{brief as brief_outcome, is_bad};
use crate::checkpoint::target::{MOST_COMMAND, MOST_ERROR, is_target};
use crate::text::keys::{self, Key};

/// How a call went: calls that went otherwise are no one line.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Went {
    Well,
    Badly,
    Unanswered,
}

impl Went {
    fn of(deed: &Deed) -> Self {
        if deed.went.is_empty() {
            Went::Unanswered
        } else if is_bad(&deed.went) {
            Went::Badly
        } else {
            Went::Well
        }
    }
}

/// Equal for outcomes that differ only in names and numbers; 0 for commands, edits and failures.
pub(super) fn shape(deed: &Deed) -> Key {
    if Went::of(deed) != Went::Well || deed.names_files || targets::is_line(deed) {
        return 0;
    }
    let is_sign = |c: char| !c.is_alphanumeric() && !"-_.".contains(c);
    let own: HashSet<&str> = deed.what.split(is_sign).collect();
    // That nothing was done is another outcome.
    let is_number = |word: &str| word.contains(|c: char| c.is_ascii_digit()) && word != "0";
    let words = deed.went.split(is_sign);
    let words = words.filter(|word| !word.is_empty() && !is_number(word) && !own.contains(word));
    keys::key(&words.collect::<Vec<_>>().join(" "))
}

/// The shapes of the outcomes of each tool's calls that went well.
fn shapes<'a>(deeds: &[&'a Deed]) -> HashMap<&'a str, HashSet<Key>> {
    let mut shapes: HashMap<&str, HashSet<Key>> = HashMap::new();
    for deed in deeds.iter().filter(|deed| Went::of(deed) == Went::Well) {
        shapes.entry(tool(&deed.what)).or_default().insert(deed.shape);
    }
    shapes
}

/// Calls that become one line.
pub(super) struct Group<'a> {
    /// What they have in common.
    pub(super) deed: Deed,
    targets: Vec<Target<'a>>,
    /// The only one of them, if there is one.
    alone: Option<&'a Deed>,
    /// Whether an earlier checkpoint names only some.
    is_cut: bool,
    /// Where each stands among these.
    places: HashMap<Cow<'a, str>, usize>,
    /// How they went, each once, the last one last.
    outcomes: Vec<Outcome<'a>>,
    /// Whether these are the outcomes of all.
    is_known: bool,
    /// The shapes of these.
    shapes: HashSet<Key>,
    /// Which kind they are of.
    kind: usize,
    /// Where what the last of them was done to stands among these.
    newest: Vec<usize>,
    /// Handles that another group had since, and which: what these did there may not stand any more.
    overtaken: HashMap<Key, usize>,
}

/// How calls went.
struct Outcome<'a> {
    went: &'a str,
    in_full: &'a str,
    /// How many of them.
    times: u32,
}

/// Up to so many kinds of outcome have a line each; more share one.
const MOST_SHAPES: usize = 3;
/// What stands between outcomes.
const OR: &str = " / ";
/// What stands between the newest outcome of one call and those before.
const BEFORE: &str = " / before: ";
/// Bytes of a call with its first arguments.
const MOST_SHORT: usize = 96;
/// More outcomes than this never fit a line.
const MOST_OUTCOMES: usize = MOST_COMMAND / OR.len() + 1;

/// What calls were done to.
struct Target<'a> {
    text: Cow<'a, str>,
    /// How many of the calls.
    calls: usize,
    /// Where it stands in the first of them.
    at: usize,
    /// The last of them, counted from the group's first.
    last: u32,
}

/// A call, and which calls it may share a line with.
struct Member<'a> {
    deed: &'a Deed,
    /// What the line of these says it is.
    what: Cow<'a, str>,
    /// Equal for these.
    kind: usize,
    targets: Vec<Cow<'a, str>>,
    handles: Vec<Key>,
}

/// Calls in the groups that `merging` makes of them.
///
/// One line of several calls stands where the last of them was made. Where something else was done since to what an earlier one was
/// done to, it would stand behind that and seem to hold: such calls have several lines.
pub(super) fn grouped<'a>(
    deeds: impl Iterator<Item = &'a Deed>,
    merging: Merging,
) -> Vec<Group<'a>> {
    let members = members(deeds.collect(), merging);
    let kinds = members.iter().map(|member| member.kind + 1).max().unwrap_or_default();
    // Kinds whose calls have another line behind what overtook them.
    let mut apart = vec![false; kinds];
    for round in 0..MOST_ROUNDS {
        let groups = arranged(&members, merging, &apart);
        let misplaced = groups.iter().filter(|group| !group.overtaken.is_empty());
        let misplaced: Vec<usize> = misplaced.map(|group| group.kind).collect();
        if !merging.keeps_order() || misplaced.is_empty() {
            return groups;
        }
        if round + 2 == MOST_ROUNDS {
            apart.fill(true);
        }
        for kind in misplaced {
            apart[kind] = true;
        }
    }
    arranged(&members, merging, &apart)
}

/// So often it is tried to give only those calls several lines that need them.
const MOST_ROUNDS: usize = 4;

fn members(deeds: Vec<&Deed>, merging: Merging) -> Vec<Member<'_>> {
    let shapes = if merging == Merging::Same { HashMap::new() } else { shapes(&deeds) };
    let mut kinds: HashMap<(Cow<'_, str>, Key, Went), usize> = HashMap::new();
    let member = |deed| {
        let went = Went::of(deed);
        let few =
            || shapes.get(tool(&deed.what)).filter(|all| (2..=MOST_SHAPES).contains(&all.len()));
        let apart = match merging {
            // Failed edits of one file are one line only if they ask for the same.
            Merging::Same if went == Went::Badly && deed.names_files => deed.given,
            Merging::Same => deed.asks,
            _ if went == Went::Well && few().is_some() => deed.shape ^ flags(deed),
            _ => flags(deed),
        };
        let what = merging.of(deed);
        let next = kinds.len();
        let kind = *kinds.entry((what.clone(), apart, went)).or_insert(next);
        let is_named = merging.keeps_order() || merging == Merging::Newest;
        let targets = if is_named { targets(deed) } else { Vec::new() };
        let handles = if merging.keeps_order() { handles(deed, &targets) } else { Vec::new() };
        let targets = match merging {
            Merging::Made => detailed(deed, &targets),
            // What several have in common says less than what they don't.
            Merging::Newest if !deed.names_files => {
                targets.into_iter().flat_map(targets::apart).collect()
            }
            _ => targets,
        };
        Member { deed, what, kind, targets, handles }
    };
    deeds.into_iter().map(member).collect()
}

/// These calls in their groups; those of the kinds that are `apart` begin another one behind what overtook some of theirs.
fn arranged<'a>(members: &[Member<'a>], merging: Merging, apart: &[bool]) -> Vec<Group<'a>> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    // The newest group that something was done to in.
    let mut newest: HashMap<Key, usize> = HashMap::new();
    for Member { deed, what, kind, targets, handles } in members {
        let place = places.entry(*kind).or_insert(groups.len());
        // What it was given there doesn't hold again, where that is said.
        let holds = |it: &Key| merging != Merging::Made && handles.contains(it);
        let is_past = |group: &Group<'_>| group.overtaken.keys().any(|it| !holds(it));
        if apart[*kind] && groups.get(*place).is_some_and(is_past) {
            *place = groups.len();
        }
        let at = *place;
        for handle in handles {
            let before = newest.insert(*handle, at).filter(|before| *before != at);
            if let Some(before) = before.and_then(|before| groups.get_mut(before)) {
                before.overtaken.insert(*handle, at);
            }
        }
        if at == groups.len() {
            groups.push(Group::of(deed, what, *kind));
        }
        groups[at].overtaken.retain(|it, _| !holds(it));
        groups[at].add(deed, targets.clone());
    }
    let lasts: Vec<(u32, u32)> = groups.iter().map(|group| group.deed.order()).collect();
    for (group, own) in groups.iter_mut().zip(&lasts) {
        // Behind a line that stands above its own nothing seems undone.
        group.overtaken.retain(|_, by| lasts[*by] < *own);
    }
    groups
}

/// Counts a failed command or edit in the line of the same one that went well later. Other failed calls stay by themselves: they may
/// have done something.
pub(super) fn mended(same: Vec<Deed>, all: &[&Deed]) -> Vec<Deed> {
    let (bad, mut well): (Vec<Deed>, Vec<Deed>) =
        same.into_iter().partition(|deed| deed.failed == deed.times);
    let is_well = |deed: &Deed| Went::of(deed) == Went::Well;
    let mut places: HashMap<(Box<str>, Key), Vec<usize>> = HashMap::new();
    for (at, deed) in well.iter().enumerate().filter(|(_, deed)| is_well(deed)) {
        places.entry((deed.what.clone(), deed.asks)).or_default().push(at);
    }
    let again: HashMap<(&str, Key), u32> = all
        .iter()
        .filter(|deed| deed.given != 0 && is_well(deed))
        .map(|deed| ((&*deed.what, deed.given), deed.last))
        .collect();
    for deed in bad {
        let is_mended = if deed.names_files {
            again.get(&(&*deed.what, deed.given)).is_some_and(|last| *last > deed.last)
        } else {
            targets::is_line(&deed)
        };
        let same = places.get(&(deed.what.clone(), deed.asks)).filter(|_| is_mended);
        let next = same.into_iter().flatten().find(|at| well[**at].last > deed.last);
        match next {
            Some(at) => well[*at].count(&deed),
            None => well.push(deed),
        }
    }
    well
}

impl<'a> Group<'a> {
    /// A group to which `deed` will be added first.
    fn of(deed: &'a Deed, what: &str, kind: usize) -> Self {
        Group {
            deed: Deed {
                what: what.into(),
                times: 0,
                failed: 0,
                warned: 0,
                targets: TargetCache::default(),
                ..deed.clone()
            },
            targets: Vec::new(),
            alone: Some(deed),
            is_cut: false,
            places: HashMap::new(),
            outcomes: Vec::new(),
            is_known: true,
            shapes: HashSet::new(),
            kind,
            newest: Vec::new(),
            overtaken: HashMap::new(),
        }
    }

    fn add(&mut self, deed: &'a Deed, targets: Vec<Cow<'a, str>>) {
        let known = &mut self.deed;
        self.alone = self.alone.filter(|_| known.times == 0);
        known.count(deed);
        known.last = known.last.max(deed.last);
        known.place = known.place.max(deed.place);
        known.went = deed.went.clone();
        known.in_full = deed.in_full.clone();
        known.differs |= deed.differs;
        self.is_known &= deed.is_one;
        let times = deed.times.saturating_sub(deed.failed).saturating_sub(deed.warned);
        let mut outcome = Outcome { went: &deed.went, in_full: &deed.in_full, times };
        let is_same = |it: &Outcome<'_>| it.went == outcome.went && it.in_full == outcome.in_full;
        if let Some(at) = self.outcomes.iter().position(is_same) {
            outcome.times = outcome.times.saturating_add(self.outcomes.remove(at).times);
        }
        if self.outcomes.len() < MOST_OUTCOMES {
            self.outcomes.push(outcome);
        }
        self.shapes.insert(deed.shape);
        self.is_cut |= inner(&deed.what).starts_with(CUT);
        self.newest.clear();
        for (at, text) in targets.into_iter().enumerate() {
            let place = *self.places.entry(text.clone()).or_insert(self.targets.len());
            if place == self.targets.len() {
                self.targets.push(Target { text, calls: 0, at, last: 0 });
            }
            self.targets[place].calls += 1;
            self.targets[place].last = self.deed.times;
            self.newest.push(place);
        }
    }

    /// How all of them went, as `said` says it, in at most `most` bytes; `None` where that isn't all. Of the same call the last
    /// outcome comes first, behind the number of its message.
    fn told(
        &self,
        said: impl Fn(&Outcome<'a>) -> &'a str,
        most: usize,
        merging: Merging,
    ) -> Option<String> {
        let mut told: Vec<(&str, u32)> = Vec::new();
        // Words of failures and others read otherwise side by side.
        let are_bad = self.outcomes.iter().all(|outcome| is_bad(outcome.went));
        for outcome in &self.outcomes {
            let went = said(outcome);
            if is_bad(went) != are_bad || went.contains(OR) {
                return None;
            }
            match told.iter_mut().find(|(known, _)| *known == went) {
                Some((_, times)) => *times = times.saturating_add(outcome.times),
                None => told.push((went, outcome.times)),
            }
        }
        let is_same = matches!(merging, Merging::Same | Merging::Short);
        if is_same {
            told.reverse();
        }
        let is_whole = self.is_known && told.len() == self.outcomes.len();
        let told: Vec<String> = told
            .iter()
            .map(|(went, times)| match times {
                0 | 1 => (*went).to_owned(),
                times => format!("{went} ({times} times)"),
            })
            .collect();
        let told = match told.split_first() {
            Some((newest, before @ [_, ..])) if is_same => {
                format!("{newest}{BEFORE}{}", before.join(OR))
            }
            _ => told.join(OR),
        };
        (is_whole && told.len() <= most).then_some(told)
    }

    /// The line of all of them.
    pub(super) fn merged(&self, merging: Merging) -> Deed {
        let mut deed = self.deed.clone();
        deed.is_one = self.is_known && self.outcomes.len() == 1;
        let is_brief = matches!(merging, Merging::Named | Merging::Newest | Merging::Least);
        if self.outcomes.len() > 1 && is_brief {
            deed.differs |= self.shapes.len() > 1;
        } else if self.outcomes.len() > 1 {
            let told = self.told(|outcome| outcome.went, MOST_ERROR, merging);
            let in_full =
                |it: &Outcome<'a>| if it.in_full.is_empty() { it.went } else { it.in_full };
            // Where they have no room together, the last one's own words have.
            if let Some(in_full) = self.told(in_full, MOST_COMMAND, merging) {
                deed.in_full = in_full.into();
            } else if told.is_some() {
                deed.in_full = "".into();
            }
            deed.differs |= told.is_none() && self.shapes.len() > 1;
            deed.went = told.map_or(deed.went, Into::into);
        }
        if is_brief {
            let newest = deed.went.split_once(BEFORE).map_or(&*deed.went, |(newest, _)| newest);
            let brief = brief_outcome(newest, MOST_BRIEF).into_owned();
            if deed.in_full.is_empty() && *brief != *newest {
                deed.in_full = newest.into();
            }
            deed.went = brief.into();
        }
        let told: Vec<usize> = match merging {
            // Of a lone call what it was given belongs together.
            Merging::Newest if self.alone.is_some() => (0..self.targets.len()).collect(),
            Merging::Made | Merging::Ordered | Merging::Named => {
                let mut told: Vec<usize> = (0..self.targets.len()).collect();
                told.sort_by_key(|at| self.targets[*at].last);
                told
            }
            // What tells it from the others says most, then what stands first.
            Merging::Newest => {
                let of = |place: &usize| {
                    let Target { text, calls, at, .. } = &self.targets[*place];
                    (!is_target(text), *calls, *at)
                };
                self.newest.iter().copied().min_by_key(of).into_iter().collect()
            }
            Merging::Same | Merging::Short | Merging::Least => Vec::new(),
        };
        if !told.is_empty() {
            let is_cut = self.is_cut || told.len() < self.targets.len();
            let before = if is_cut { CUT } else { "" };
            let told: Vec<&str> = told.iter().map(|at| &*self.targets[*at].text).collect();
            let is_one = merging == Merging::Newest && !deed.names_files;
            let between = if is_one { ", " } else { BETWEEN };
            deed.what = format!("{}({before}{})", deed.what, told.join(between)).into();
            deed.targets = TargetCache::default();
        }
        let alone = self.alone.filter(|alone| alone.what != deed.what);
        deed.alone = alone.map(|alone| alone.what.clone()).unwrap_or_default();
        deed
    }
}

/// Which calls become one line. Where the others don't fit, the next one may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::checkpoint) enum Merging {
    /// Those that say the same.
    Same,
    /// Those of one tool whose first arguments are the same.
    Short,
    /// Those of one tool, with what each call was given and what it made.
    Made,
    /// Those of one tool, which names all its targets, unless something else was done to one of them in between.
    Ordered,
    /// The same, which says in a few words how the last one went.
    Named,
    /// Those of one tool, which names what the last of them was done to, an exact string if there is one, and says in a few words how that went.
    Newest,
    /// The same without a name.
    Least,
}

impl Merging {
    /// Whether what was done to something keeps its order.
    fn keeps_order(self) -> bool {
        matches!(self, Merging::Short | Merging::Made | Merging::Ordered | Merging::Named)
    }

    /// What stands for a call.
    fn of(self, deed: &Deed) -> Cow<'_, str> {
        let what = &*deed.what;
        let Some((tool, _)) = what.split_once('(') else { return what.into() };
        match self {
            Merging::Same => what.into(),
            Merging::Short if deed.names_files => what.into(),
            Merging::Short => {
                with_arguments(what, MOST_SHORT).map_or(Cow::Borrowed(what), Cow::Owned)
            }
            Merging::Made
            | Merging::Ordered
            | Merging::Named
            | Merging::Newest
            | Merging::Least => tool.into(),
        }
    }
}
