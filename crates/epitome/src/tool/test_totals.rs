//! How the tests of a command went, by the totals that it prints.

use std::fmt::Write as _;

/// How many tests went well, and how many didn't.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tests {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
}

/// What stands before a total, or nothing does.
const LEADS: [&str; 7] = [
    "test result: ok.",
    "test result: FAILED.",
    "Tests:",
    "Tests ",
    "ok |",
    "FAILED |",
    "tests run:",
];
/// Bytes of a line that are looked at.
const MAX_SEEN: usize = 160;

impl Tests {
    /// The totals of an output, added up; `None` if it names none.
    pub(crate) fn of(output: &str) -> Option<Self> {
        let bytes = output.as_bytes();
        let named = ["pass", "fail"].iter().any(|word| {
            // Each word has a digit before it somewhere, ` 0 failed`: most that is read has neither.
            memchr::memmem::find_iter(bytes, word.as_bytes())
                .any(|at| at > 1 && bytes[at - 1] == b' ' && bytes[at - 2].is_ascii_digit())
        });
        if !named {
            return None;
        }
        let all = output.lines().filter_map(Self::of_line);
        all.reduce(|all, next| Self {
            passed: all.passed.saturating_add(next.passed),
            failed: all.failed.saturating_add(next.failed),
        })
    }

    /// A line that is a total: `=== 2 failed, 12 passed in 3.1s ===`.
    fn of_line(line: &str) -> Option<Self> {
        if line.len() > MAX_SEEN {
            return None;
        }
        let line = line.trim_matches(['=', ' ', '\t', '\r']);
        // `Summary [0.5s] 12 tests run: 11 passed`.
        let line =
            if line.starts_with("Summary [") { &line[line.find("tests run:")?..] } else { line };
        let lead = LEADS.iter().find_map(|lead| line.strip_prefix(lead));
        let total = lead.unwrap_or(line).trim_start();
        if !total.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let mut tests: Option<Self> = None;
        for part in total.split([',', ';', '|']) {
            let mut words = part.split_whitespace();
            let Some(count) = words.next().and_then(|count| count.parse::<u32>().ok()) else {
                break;
            };
            let what = words.next()?;
            let tests = match what.trim_end_matches('.') {
                "passed" | "passing" | "pass" => &mut tests.get_or_insert_default().passed,
                "failed" | "failing" | "fail" => &mut tests.get_or_insert_default().failed,
                _ => continue,
            };
            *tests = tests.saturating_add(count);
            // `3 failed attempts` is none.
            if words.next().is_some_and(|next| next != "in" && !next.starts_with('(')) {
                return None;
            }
        }
        tests.filter(|tests| tests.passed.max(tests.failed) > 0)
    }

    /// Whether all went well.
    pub(crate) fn are_well(self) -> bool {
        self.failed == 0
    }

    /// `, 12 passed, 2 failed`.
    pub(crate) fn note(self) -> String {
        let mut out = String::new();
        for (count, word) in [(self.passed, PASSED), (self.failed, FAILED)] {
            if count > 0 {
                let _ = write!(out, ", {count}{word}");
            }
        }
        out
    }
}

const PASSED: &str = " passed";
const FAILED: &str = " failed";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_of_known_runners_are_read() {
        for (output, expected) in [
            ("test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured", Some((1, 1))),
            (
                "test result: ok. 3 passed; 0 failed\n\ntest result: ok. 9 passed; 0 failed",
                Some((12, 0)),
            ),
            ("12 passed, 2 failed in 3.1s", Some((12, 2))),
            ("x\n===== 1 failed, 4 passed, 2 skipped in 0.31s =====\r\n", Some((4, 1))),
            (
                "Test Suites: 1 failed, 5 passed, 6 total\nTests:       1 failed, 41 passed, 42 total",
                Some((41, 1)),
            ),
            (" Test Files  1 failed (1)\n      Tests  1 failed | 41 passed (42)", Some((41, 1))),
            ("1 failed, 41 passed", Some((41, 1))),
            ("  41 passing (2s)\n  1 failing\n", Some((41, 1))),
            ("     Summary [   0.5s] 12 tests run: 11 passed, 1 failed, 0 skipped", Some((11, 1))),
            ("ok | 12 passed | 0 failed (3s)", Some((12, 0))),
            ("3 failed attempts, 2 passed", None),
            ("we had 3 failed, as ever", None),
            ("test result: ok. 0 passed; 0 failed", None),
            ("fail pass", None),
        ] {
            let tests = expected.map(|(passed, failed)| Tests { passed, failed });
            assert_eq!(Tests::of(output), tests, "{output}");
        }
    }
}
