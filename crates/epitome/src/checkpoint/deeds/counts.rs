//! How many calls one line is, and how they went, as the line says it.

/// Follow the count of a line's calls if all or some of them failed, or their output reports errors.
const ALL_FAILED: &str = " (all failed)";
const FAILED: &str = " failed";
const WARNED: &str = " report errors";
const DIFFERS: &str = "outcomes differ";

/// How many calls share a line, how many of them failed, how many only report a failure in their output, and whether the
/// outcomes of the others differ.
#[derive(Clone, Copy, Default)]
pub(super) struct CallCounts {
    pub(super) times: u32,
    pub(super) failed: u32,
    pub(super) warned: u32,
    pub(super) differs: bool,
}

impl CallCounts {
    /// What a line says of that: `×5 (4 failed)`, `×9 (2 failed, 3 report errors)`.
    pub(super) fn told(self) -> String {
        let CallCounts { times, failed, warned, differs } = self;
        if failed == times {
            return format!("×{times}{ALL_FAILED}");
        }
        let counts =
            [(failed, FAILED), (warned, WARNED)].into_iter().filter(|(count, _)| *count > 0);
        let mut counts: Vec<String> =
            counts.map(|(count, what)| format!("{count}{what}")).collect();
        counts.extend(differs.then(|| DIFFERS.to_owned()));
        if counts.is_empty() {
            format!("×{times}")
        } else {
            format!("×{times} ({})", counts.join(", "))
        }
    }

    /// Reads back what [`told`](Self::told) wrote, behind its sign.
    pub(super) fn read(text: &str) -> Option<Self> {
        let counted = |text: &str| text.parse().ok().filter(|times| *times > 0);
        if let Some(all) = text.strip_suffix(ALL_FAILED) {
            return counted(all).map(|all| CallCounts {
                times: all,
                failed: all,
                ..CallCounts::default()
            });
        }
        let Some((times, counts)) = text.strip_suffix(')').and_then(|text| text.split_once(" ("))
        else {
            return Some(CallCounts { times: counted(text)?, ..CallCounts::default() });
        };
        let mut read = CallCounts { times: counted(times)?, ..CallCounts::default() };
        for count in counts.split(", ") {
            match count.strip_suffix(FAILED) {
                Some(count) => read.failed = counted(count)?,
                None if count == DIFFERS => read.differs = true,
                None => read.warned = counted(count.strip_suffix(WARNED)?)?,
            }
        }
        Some(read)
    }
}
