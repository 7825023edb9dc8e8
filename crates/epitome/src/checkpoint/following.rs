//! Which messages stand behind a checkpoint, where their places don't tell: some that it stands for came after them, or
//! several became one.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// What stands before the numbers, and before the number that all others go on from.
const MESSAGES: &str = "The messages that follow are ";
const THEN: &str = "those from ";
/// What stands between these where there are both.
const AND: &str = ", and ";
const ON: &str = " on.";
/// What is said of more than this.
const OTHERS: &str = " others";
/// So many numbers, or runs of them, are told.
const MOST: usize = 24;
/// So many numbers are read of one run.
const MOST_IN_A_ROW: usize = 1 << 20;

/// The messages behind a checkpoint by their numbers in the whole conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Following {
    /// The first ones, each as the messages that it is made of.
    first: Vec<Vec<usize>>,
    /// All others go on from this number.
    then: usize,
}

impl Following {
    /// These messages, and then one of the number `next`.
    pub(crate) fn of(mut messages: Vec<Vec<usize>>, next: usize) -> Self {
        let mut then = next;
        while messages.last().is_some_and(|last| last[..] == [then.wrapping_sub(1)]) {
            messages.pop();
            then -= 1;
        }
        Following { first: messages, then }
    }

    /// Whether places tell the same: all go on from the number `then`.
    pub(crate) fn goes_on_from(&self, then: usize) -> bool {
        self.first.is_empty() && self.then == then
    }

    /// The first ones, and what all others go on from.
    pub(super) fn numbers(self) -> (Vec<Vec<usize>>, usize) {
        (self.first, self.then)
    }

    /// The sentence that says so.
    pub(super) fn line(&self) -> String {
        let mut all: Vec<String> = Vec::new();
        let mut run: Option<RangeInclusive<usize>> = None;
        let written = |run: RangeInclusive<usize>| match (*run.start(), *run.end()) {
            (one, other) if one == other => one.to_string(),
            (from, to) => format!("{from}-{to}"),
        };
        for message in &self.first {
            run = match (message.as_slice(), run.take()) {
                ([one], Some(known)) if known.end() + 1 == *one => Some(*known.start()..=*one),
                ([one], known) => {
                    all.extend(known.map(written));
                    Some(*one..=*one)
                }
                (several, known) => {
                    all.extend(known.map(written));
                    let several: Vec<String> = several.iter().map(usize::to_string).collect();
                    all.push(several.join("+"));
                    None
                }
            };
        }
        all.extend(run.map(written));
        let mut line = MESSAGES.to_owned();
        if all.len() > MOST {
            let _ = write!(line, "{}{OTHERS}{AND}", self.first.len());
        } else if !all.is_empty() {
            let _ = write!(line, "{}{AND}", all.join(", "));
        }
        let _ = writeln!(line, "{THEN}{}{ON}", self.then);
        line
    }

    /// Reads the sentence, if it stands in a checkpoint's head.
    pub(super) fn read(head: &str) -> Option<Self> {
        let line = head.lines().find_map(|line| line.strip_prefix(MESSAGES)?.strip_suffix(ON))?;
        let (first, then) = line.rsplit_once(THEN)?;
        let number = |text: &str| Some(text.parse::<u32>().ok()? as usize);
        let then = number(then)?;
        let Some(first) = first.strip_suffix(AND) else {
            return first.is_empty().then(|| Following { first: Vec::new(), then });
        };
        if let Some(others) = first.strip_suffix(OTHERS) {
            let others = number(others).filter(|others| *others <= then)?;
            // Which, nobody knows; they came before.
            return Some(Following::of(Vec::new(), then - others));
        }
        let mut all = Vec::new();
        for part in first.split(", ") {
            if let Some((from, to)) = part.split_once('-') {
                let (from, to) = (number(from)?, number(to)?);
                if from > to || to >= then || to - from > MOST_IN_A_ROW {
                    return None;
                }
                all.extend((from..=to).map(|number| vec![number]));
            } else {
                all.push(part.split('+').map(number).collect::<Option<_>>()?);
            }
        }
        Some(Following { first: all, then })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let one = |numbers: &[usize]| numbers.iter().map(|number| vec![*number]).collect();
        let mixed = vec![vec![2], vec![4, 6], vec![9], vec![10], vec![11], vec![24], vec![25]];
        for (messages, next, line) in [
            (one(&[24, 25]), 26, "The messages that follow are those from 24 on.\n"),
            (one(&[]), 26, "The messages that follow are those from 26 on.\n"),
            (one(&[2, 4]), 9, "The messages that follow are 2, 4, and those from 9 on.\n"),
            (mixed, 26, "The messages that follow are 2, 4+6, 9-11, and those from 24 on.\n"),
        ] {
            let following = Following::of(messages, next);
            assert_eq!(following.line(), line);
            assert_eq!(Following::read(&format!("Some are not shown.\n{line}")), Some(following));
        }
        let many = Following::of((0..60).step_by(2).map(|number| vec![number]).collect(), 70);
        assert_eq!(many.line(), "The messages that follow are 30 others, and those from 70 on.\n");
        assert!(Following::read(&many.line()).is_some_and(|read| read.goes_on_from(40)));
        for broken in [
            "5-3, and those from 9",
            "1-99999999999, and those from 9",
            "x, and those from 9",
            "2, those from 9",
        ] {
            assert_eq!(Following::read(&format!("{MESSAGES}{broken}{ON}\n")), None, "{broken}");
        }
    }
}
