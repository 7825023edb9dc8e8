//! A call's line, which reads back what it says.

use std::fmt::Write as _;

use super::counts::CallCounts;
use super::merge::shape;
use super::{Deed, TargetCache, WENT, names_files, targets};
use crate::checkpoint::outcome::{has_failed, has_warned, is_bad};
use crate::checkpoint::target::{MOST_ERROR, whole_ends};
use crate::text::keys;

impl Deed {
    pub(in crate::checkpoint) fn line(&self) -> String {
        self.line_that(&self.what, &self.went)
    }

    /// The same with as many of a lone call's arguments as a short line has room for.
    pub(in crate::checkpoint) fn line_with_arguments(&self) -> String {
        let what = targets::with_arguments(&self.alone, MOST_ERROR);
        self.line_that(what.as_deref().unwrap_or(&self.what), &self.went)
    }

    /// The same with all that is known of the outcome.
    pub(in crate::checkpoint) fn line_with_outcome(&self) -> String {
        self.line_that(&self.what, self.outcome())
    }

    /// The same with all that is known of the call and its outcome.
    pub(in crate::checkpoint) fn line_in_full(&self) -> String {
        let what = if self.alone.is_empty() { &self.what } else { &self.alone };
        self.line_that(what, self.outcome())
    }

    fn outcome(&self) -> &str {
        if self.in_full.is_empty() { &self.went } else { &self.in_full }
    }

    fn line_that(&self, what: &str, went: &str) -> String {
        let Deed { first, last, times, failed, warned, differs, .. } = self;
        let mut line = format!("[{first}] {what}");
        if *times > 1 {
            let _ = write!(
                line,
                " {}, last [{last}]",
                CallCounts { times: *times, failed: *failed, warned: *warned, differs: *differs }
                    .told()
            );
        }
        if !went.is_empty() {
            let _ = write!(line, "{WENT}{went}");
        }
        line
    }

    pub(super) fn read(line: &str) -> Option<Self> {
        let (first, rest) = line.strip_prefix('[')?.split_once("] ")?;
        let first = first.parse().ok()?;
        let (what, went) = rest.rsplit_once(WENT).unwrap_or((rest, ""));
        let again = || {
            let (what, again) = what.rsplit_once(" ×")?;
            let (times, last) = again.strip_suffix(']')?.split_once(", last [")?;
            Some((what, CallCounts::read(times)?, last.parse().ok()?))
        };
        let (failed, warned) = (u32::from(has_failed(went)), u32::from(has_warned(went)));
        let once = CallCounts { times: 1, failed, warned, differs: false };
        let (what, CallCounts { times, failed, warned, differs }, last) =
            again().unwrap_or((what, once, first));
        // One that was told in full; where one was quoted its mark stands first.
        let is_long = times == 1 && went.len() > MOST_ERROR && !is_bad(went);
        // Of a call without its arguments nobody knows what it asked for.
        let is_cut = !what.contains('(') || what.contains('…');
        let mut deed = Deed {
            first,
            last,
            place: 0,
            times,
            failed,
            warned,
            names_files: names_files(what),
            what: what.into(),
            asks: if is_cut { keys::key(line) } else { 0 },
            given: 0,
            went: if is_long { whole_ends(went, MOST_ERROR).into() } else { went.into() },
            in_full: if is_long { went.into() } else { "".into() },
            alone: "".into(),
            shape: 0,
            is_one: times == 1,
            differs,
            targets: TargetCache::default(),
        };
        deed.shape = shape(&deed);
        Some(deed)
    }
}
