//! How the tests of a command went, by the totals that it prints.

use std::fmt::Write as _;

/// How many tests went well, and how many didn't.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tests {
    pub(crate) passed: u32,
    pub(crate) failed: u32,
}

/// What stands before a total, or nothing does.
const LEADS: [&str; 13] = [
    "test result: ok.",
    "test result: FAILED.",
    "Tests run:",
    "tests run:",
    "Tests:",
    "Tests ",
    "ok |",
    "FAILED |",
    "OK (",
    "FAILED (",
    "Ran ",
    "Failed!  - ",
    "Passed!  - ",
];
/// Bytes of a line that are looked at.
const MAX_SEEN: usize = 160;

/// What is counted in an output.
#[derive(Clone, Copy, Default)]
struct Counts {
    /// Only where somebody says so.
    passed: Option<u32>,
    failed: u32,
    /// Of anything, not of tests alone.
    errors: u32,
    skipped: u32,
    /// All tests.
    tests: u32,
    /// Files of tests that failed, which may have run none.
    suites: u32,
    /// Whether any count is of how tests went, be it none.
    says_how: bool,
}

impl Tests {
    /// The totals of an output, added up; `None` if it names none.
    pub(crate) fn of(output: &str) -> Option<Self> {
        let bytes = output.as_bytes();
        // Most that is read counts neither.
        let named = ["pass", "ail", "ests", "examples,", "runs,"];
        if named.iter().all(|word| memchr::memmem::find(bytes, word.as_bytes()).is_none()) {
            return None;
        }
        let mut all = Counts::default();
        output.lines().for_each(|line| all.add_line(line));
        all.tests()
    }

    /// Whether a line is one of those that [`Tests::of`] adds up.
    pub(crate) fn is_total(line: &str) -> bool {
        let mut counts = Counts::default();
        counts.add_line(line);
        counts.are_of_tests() || counts.says_how && counts.errors == 0
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

impl Counts {
    /// Adds a line that is a total: `=== 2 failed, 12 passed in 3.1s ===`, `Tests run: 3, Failures: 1`, `# pass 11`.
    fn add_line(&mut self, line: &str) {
        // Of one class among others, which the last line counts again.
        if line.len() > MAX_SEEN || line.contains("Time elapsed") {
            return;
        }
        let line = line.trim_matches(['=', ' ', '\t', '\r']);
        let tags = ["[INFO] ", "[WARNING] ", "[ERROR] "];
        let line = tags.iter().find_map(|tag| line.strip_prefix(tag)).unwrap_or(line);
        // The summary of a protocol has one count in a line.
        let summary = ["# ", "\u{2139} "].iter().find_map(|tag| line.strip_prefix(tag));
        let line = summary.unwrap_or(line);
        // `Summary [0.5s] 12 tests run: 11 passed`.
        let line = match line.find("tests run:") {
            Some(at) if line.starts_with("Summary [") => &line[at..],
            _ => line,
        };
        let suites =
            ["Test Suites:", "Test Files "].iter().find_map(|lead| line.strip_prefix(lead));
        if let Some(counted) = suites {
            let mut words = counted.split_whitespace();
            let failed = words.next().and_then(|count| count.parse::<u32>().ok());
            if words.next().is_some_and(|what| what.trim_end_matches(',') == "failed") {
                self.suites = self.suites.saturating_add(failed.unwrap_or(0));
            }
            return;
        }
        let lead = LEADS.into_iter().find(|lead| line.starts_with(lead));
        let total = line[lead.map_or(0, str::len)..].trim_start();
        // `1,024` is one number, and nobody knows what else is.
        let parts_digits =
            |part: &[u8]| part[1] == b',' && part[0].is_ascii_digit() && part[2].is_ascii_digit();
        if total.as_bytes().windows(3).any(parts_digits) {
            return;
        }
        let is_count = total.starts_with(|c: char| c.is_ascii_digit());
        let is_pair = summary.is_some() && total.split_whitespace().count() == 2;
        if !(is_count || lead.is_some() || is_pair) {
            return;
        }
        let mut counts = Counts::default();
        for part in total.split([',', ';', '|', '(', ')']) {
            let mut words = part.split([' ', '\t', ':', '=']).filter(|word| !word.is_empty());
            let (Some(first), second) = (words.next(), words.next()) else { continue };
            let (count, what) = match (first.parse::<u32>(), second) {
                (Ok(count), what) => (count, what.unwrap_or("tests")),
                (_, second) => match second.map(|it| it.trim_end_matches('.').parse()) {
                    Some(Ok(count)) => (count, first),
                    // How long it took; words alone make it a sentence: `1 failed, retrying`.
                    _ if part.contains(|c: char| c.is_ascii_digit()) => break,
                    _ => return,
                },
            };
            let what = what.trim_end_matches('.');
            let is_counted = counts.count(count, what);
            // `3 failed attempts` is none, nor is `3 failures in 10 days`; `in 3.1s` is.
            let is_whole = match words.next() {
                None | Some("completed" | "total") => true,
                Some("in") => words.next().is_some_and(|time| {
                    time.starts_with(|c: char| c.is_ascii_digit()) && time.parse::<u32>().is_err()
                }),
                Some(_) => false,
            };
            if is_counted && !is_whole {
                return;
            }
        }
        // A list has so many tests, too.
        let is_run = is_pair || matches!(lead, Some("OK (" | "Ran ")) || counts.says_how;
        if is_run {
            self.add(counts);
        }
    }

    /// Takes in so many of what a runner names; whether it is known.
    fn count(&mut self, count: u32, what: &str) -> bool {
        let counted = match &*what.to_ascii_lowercase() {
            "passed" | "passing" | "pass" => self.passed.get_or_insert_default(),
            "failed" | "failing" | "fail" | "failure" | "failures" => &mut self.failed,
            "error" | "errors" => &mut self.errors,
            "skipped" | "skips" | "skip" | "pending" | "ignored" => &mut self.skipped,
            // Said twice, it is one number.
            "test" | "tests" | "example" | "examples" | "runs" => {
                self.tests = self.tests.max(count);
                return true;
            }
            _ => return false,
        };
        *counted = counted.saturating_add(count);
        self.says_how = true;
        true
    }

    fn add(&mut self, next: Self) {
        let sum = |one: u32, other: u32| one.saturating_add(other);
        self.passed = match (self.passed, next.passed) {
            (Some(one), Some(other)) => Some(sum(one, other)),
            (one, other) => one.or(other),
        };
        self.failed = sum(self.failed, next.failed);
        self.errors = sum(self.errors, next.errors);
        self.skipped = sum(self.skipped, next.skipped);
        self.tests = sum(self.tests, next.tests);
    }

    /// Whether tests were counted: errors alone may be of anything.
    fn are_of_tests(self) -> bool {
        self.passed.is_some() || self.failed.max(self.tests) > 0
    }

    /// What all of them say; `None` where no test was counted.
    fn tests(self) -> Option<Tests> {
        if !self.are_of_tests() {
            return None;
        }
        let failed = self.failed.saturating_add(self.errors).max(self.suites);
        let others = failed.saturating_add(self.skipped);
        let passed = self.passed.unwrap_or(self.tests.saturating_sub(others));
        Some(Tests { passed, failed }).filter(|tests| tests.passed.max(tests.failed) > 0)
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
            ("1 passed, 2 errors in 0.1s", Some((1, 2))),
            ("1 error in 0.1s", None),
            ("Ran 4 tests in 0.001s\n\nFAILED (failures=1, errors=1)", Some((2, 2))),
            ("Ran 4 tests in 0.001s\n\nOK (skipped=1)", Some((3, 0))),
            ("FAILURES!\nTests: 3, Assertions: 9, Failures: 1.", Some((2, 1))),
            ("OK (3 tests, 9 assertions)", Some((3, 0))),
            ("3 examples, 1 failure", Some((2, 1))),
            ("3 runs, 9 assertions, 1 failures, 1 errors, 0 skips", Some((1, 2))),
            (
                "[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.03 s\n\
                 [ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0",
                Some((2, 1)),
            ),
            ("3 tests completed, 1 failed", Some((2, 1))),
            ("Failed!  - Failed:     1, Passed:     2, Skipped:     0, Total:     3", Some((2, 1))),
            ("# tests 3\n# pass 2\n# fail 1", Some((2, 1))),
            ("\u{2139} tests 3\n\u{2139} pass 2\n\u{2139} fail 1", Some((2, 1))),
            ("pass the salt\nfail 5 times\ntests: 12\n12 tests, 0 benchmarks\n", None),
            ("Tests: see below", None),
            ("Tests run: 4294967295, Failures: 4294967295, Errors: 1", Some((0, u32::MAX))),
            ("Found 1 error.", None),
            (
                "Test Suites: 1 failed, 1 passed, 2 total\nTests:       3 passed, 3 total",
                Some((3, 1)),
            ),
            ("1,024 passed, 2 failed", None),
            ("2 passed in setup phase\n3 failures in 10 days of uptime", None),
            ("\u{2716} 1 problem (1 error, 0 warnings)", None),
            ("3 failed attempts, 2 passed", None),
            ("we had 3 failed, as ever", None),
            ("1 failed, retrying", None),
            ("test result: ok. 0 passed; 0 failed", None),
            ("fail pass", None),
        ] {
            let tests = expected.map(|(passed, failed)| Tests { passed, failed });
            assert_eq!(Tests::of(output), tests, "{output}");
        }
    }
}
