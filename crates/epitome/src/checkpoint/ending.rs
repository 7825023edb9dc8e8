//! The end of a command's long output, if no line states the outcome.
//!
//! Most commands end with their result. Some print one line for each of many things, with the failed one in the middle. Where
//! most lines are alike, one of each kind is shown, the rarest first.

use super::target::{MOST_RESULT, is_ruler, one_line, settled, whole_ends, whole_words};
use super::told_kinds::{OR, told};
use crate::text::cut;
use crate::text::figure::counted;
use crate::text::kinds::{Kind, Row, are_most_alike, kinds, words};
use crate::text::outcome::exit_code;

/// Bytes of the end of an output in which lines are compared.
const MOST_COMPARED: usize = 64 * 1024;

/// The lines of an output that fit. The very last line may be the same after every output.
pub(super) struct Ending {
    pub(super) text: String,
    /// Lines of the whole output.
    lines: usize,
    /// What the text is of them; empty if it stands for all.
    which: &'static str,
    /// Whether the text is all of them as they are, of equal neighbours one.
    pub(super) is_all: bool,
}

impl Ending {
    /// The end of an output in about `most` bytes; where most lines are alike, as `kinds` tells, one of each.
    pub(super) fn of(output: &str, kinds: Option<&LineKinds<'_>>, most: usize) -> Option<Self> {
        if let Some((kinds, (text, is_all))) =
            kinds.and_then(|kinds| Some((kinds, kinds.told(most, |_| true)?)))
        {
            let lines = if kinds.is_all { kinds.lines.len() } else { lines(output).count() };
            let which = if is_all { "" } else { ", among them" };
            return Some(Ending { text, lines, which, is_all: false });
        }
        let mut said: Vec<&str> = lines(output).collect();
        let lines = said.len();
        said.dedup();
        if let Some(text) = joined(&said, most) {
            return Some(Ending { text, lines, which: "", is_all: true });
        }
        if let [line] = &said[..] {
            return Some(Ending { text: whole_ends(line, most), lines, which: "", is_all: false });
        }
        let mut text = whole_words(said.last()?, MOST_RESULT).into_owned();
        for line in said.iter().rev().skip(1) {
            if line.len() + OR.len() + text.len() > most {
                break;
            }
            text.insert_str(0, &format!("{}{OR}", whole_words(line, most)));
        }
        Some(Ending { text, lines, which: ", last", is_all: false })
    }

    pub(super) fn told(&self) -> String {
        format!("{} of output{}: {}", counted(self.lines, "line"), self.which, self.text)
    }
}

/// Lines joined into one; `None` if there are none, or if they don't fit in `most` bytes.
fn joined(lines: &[&str], most: usize) -> Option<String> {
    let bytes = |line: &&str| line.len() + OR.len();
    let fits = !lines.is_empty() && lines.iter().map(bytes).sum::<usize>() <= most + OR.len();
    fits.then(|| one_line(&lines.join(OR)).into_owned())
}

/// The lines that say something.
fn lines(output: &str) -> impl Iterator<Item = &str> {
    // A shell that waits for the next command says nothing of this one.
    let is_prompt = |line: &str| line.ends_with(['$', '#']) && !line.contains(' ');
    let says = move |line: &&str| {
        let is_code = line.len() <= MOST_RESULT && exit_code(line).is_some();
        !is_ruler(line) && !is_code && !is_prompt(line)
    };
    output.lines().map(settled).filter(says)
}

/// An output most of whose lines are alike.
pub(super) struct LineKinds<'o> {
    lines: Vec<&'o str>,
    kinds: Vec<Kind>,
    /// Whether these are all of its lines.
    is_all: bool,
}

impl<'o> LineKinds<'o> {
    /// Compares the lines of an output; `None` where most are like no others.
    pub(super) fn of(output: &'o str) -> Option<Self> {
        let is_all = output.len() <= MOST_COMPARED;
        // Half a line is like no other.
        let tail = cut::tail(output, MOST_COMPARED);
        let tail = if is_all { tail } else { tail.split_once('\n').map_or("", |(_, whole)| whole) };
        let lines: Vec<&str> = lines(tail).collect();
        let rows: Vec<Row> = lines.iter().map(|line| words(line)).collect();
        let kinds = kinds(&rows);
        are_most_alike(&kinds).then_some(LineKinds { lines, kinds, is_all })
    }

    /// One line of each kind that is `told`, the rarest first, in at most `most` bytes; and whether that stands for all of them.
    pub(super) fn told(
        &self,
        most: usize,
        is_told: impl Fn(&str) -> bool,
    ) -> Option<(String, bool)> {
        let qualifier = if self.is_all { "" } else { "at least " };
        let (told, is_whole) = told(&self.kinds, most, |kind| {
            let line = Some(self.lines[kind.last()]).filter(|line| is_told(line))?;
            // If the lines of a kind differ, only the last one is shown.
            let is_same = kind.rows.iter().all(|row| self.lines[*row] == line);
            let one = if is_same { "" } else { "last of " };
            Some((line.to_owned(), format!("{one}{qualifier}")))
        });
        (!told.is_empty()).then_some((told, is_whole && self.is_all))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::checkpoint::target::MOST_COMMAND;

    fn ending(output: &str, most: usize) -> String {
        let kinds = LineKinds::of(output);
        Ending::of(output, kinds.as_ref(), most).expect("it says something").told()
    }

    #[test]
    fn where_most_lines_are_alike_the_others_are_told() {
        let mut release = "pushing tag v4.2\nremote: Permission to acme/api.git denied to bot.\npublish skipped\n".to_owned();
        let mut cleaned = String::new();
        for n in 0..40 {
            let _ = writeln!(cleaned, "cleanup: removed tmp/{n}");
        }
        release.push_str(&cleaned);
        let expected = "43 lines of output: pushing tag v4.2 / remote: Permission to acme/api.git denied to bot. / \
                        publish skipped / cleanup: removed tmp/39 (last of 40 such)";
        assert_eq!(ending(&release, MOST_COMMAND), expected);
        let brief = "43 lines of output, among them: pushing tag v4.2 / remote: Permission to acme/api.git denied to bot. / \
                     publish skipped";
        assert_eq!(ending(&release, 120), brief);
        let failed = format!("error: no right to push\n{cleaned}done: gone\n");
        let kinds = LineKinds::of(&failed).expect("most are alike");
        let beside = kinds.told(MOST_COMMAND, |line| !line.starts_with("error"));
        let expected = "cleanup: removed tmp/39 (last of 40 such) / done: gone".to_owned();
        assert_eq!(beside, Some((expected, false)));
    }

    #[test]
    fn a_word_of_few_tells_kinds_apart() {
        let mut pods = "NAME READY STATUS AGE\n".to_owned();
        for n in 0..20 {
            let state = if n == 7 { "0/1 CrashLoopBackOff" } else { "1/1 Running" };
            let _ = writeln!(pods, "api-{n}f{n} {state} {}d", 3 * n);
        }
        let expected = "21 lines of output: NAME READY STATUS AGE / api-7f7 0/1 CrashLoopBackOff 21d / \
                        api-19f19 1/1 Running 57d (last of 19 such)";
        assert_eq!(ending(&pods, MOST_COMMAND), expected);
    }

    #[test]
    fn of_lines_like_no_others_the_last_are_told() {
        let log = "Fetched all of it\nmoved the old one away\nlinked\nwarmed up\nall is done now";
        assert_eq!(ending(log, 30), "5 lines of output, last: warmed up / all is done now");
        assert_eq!(ending("a\na", 30), "2 lines of output: a");
        assert_eq!(ending("a\na\na", 30), "3 lines of output: a (3 such)");
    }
}
