//! A checkpoint as a reader without the library sees it: its head, its lanes and the quotes of the user's words.

use std::ops::RangeInclusive;

/// What a lane of a checkpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// The user's words, verbatim.
    Words,
    /// What the agent said right before words of the user's that name nothing.
    Answered,
    /// Calls with key arguments and outcome.
    Done,
    /// The agent's last words and its to-do list.
    Stands,
    /// A summarizer's text.
    Summary,
    /// Verbatim lines of earlier messages.
    Notes,
    /// Specifics that nothing else in the view says.
    Names,
}

impl Lane {
    /// All of them, in their order.
    const ALL: [Lane; 7] = [
        Lane::Words,
        Lane::Answered,
        Lane::Done,
        Lane::Stands,
        Lane::Summary,
        Lane::Notes,
        Lane::Names,
    ];

    /// The line that opens it.
    pub fn title(self) -> &'static str {
        match self {
            Lane::Words => "User's words",
            Lane::Answered => "What the user's words answer",
            Lane::Done => "What was done",
            Lane::Stands => "Where it stands",
            Lane::Summary => "Summary",
            Lane::Notes => "Notes",
            Lane::Names => "Names not said above",
        }
    }
}

/// One quote of the user's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote<'t> {
    /// The message's number, where the label has one.
    pub at: Option<usize>,
    /// The words.
    pub text: &'t str,
}

/// A checkpoint, read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log<'t> {
    /// What it says of itself.
    pub head: &'t str,
    /// The user's words.
    pub words: Vec<Quote<'t>>,
    lanes: [Option<&'t str>; 7],
}

impl<'t> Log<'t> {
    /// Reads a checkpoint. Whatever stands between two fences is read, however little of it is known.
    pub fn of(text: &'t str) -> Self {
        let body = text.split_once('\n').map_or("", |(_, body)| body);
        let body = body.trim_end().rfind('\n').map_or("", |end| &body[..=end]);
        let mut log = Log::default();
        let mut open: Option<Lane> = None;
        let (mut start, mut at, mut is_behind_blank) = (0, 0, false);
        while at < body.len() {
            let end = end_of_line(body, at);
            let line = body[at..end].trim_end();
            let next = Lane::ALL.into_iter().find(|next| next.title() == line);
            if let Some(next) = next.filter(|next| is_behind_blank && open < Some(*next)) {
                log.close(open, &body[start..at]);
                (open, start) = (Some(next), end);
            } else if open == Some(Lane::Words)
                && let Some((quote, end)) = quote(body, at)
            {
                log.words.push(quote);
                (at, is_behind_blank) = (end, false);
                continue;
            }
            is_behind_blank = line.is_empty();
            at = end;
        }
        log.close(open, &body[start..]);
        log
    }

    fn close(&mut self, lane: Option<Lane>, text: &'t str) {
        match lane {
            Some(lane) => self.lanes[lane as usize] = Some(text.trim_end()),
            None => self.head = text.trim_end(),
        }
    }

    /// What stands in a lane; `None` if it isn't there.
    pub fn lane(&self, lane: Lane) -> Option<&'t str> {
        self.lanes[lane as usize]
    }

    /// The numbers of the messages that it says it stands for, in order; none if it doesn't say.
    pub fn messages(&self) -> Vec<RangeInclusive<usize>> {
        ranges(self.head)
    }

    /// Whether it says that it stands for this message.
    pub fn stands_for(&self, number: usize) -> bool {
        self.messages().iter().any(|range| range.contains(&number))
    }
}

/// Where the line that begins at `at` ends, its line feed with it.
fn end_of_line(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |end| at + end + 1)
}

/// The quote whose label begins at `at`, and where it ends: `[3] words`, or `[7, 3 lines] words` and two lines more.
fn quote(body: &str, at: usize) -> Option<(Quote<'_>, usize)> {
    let label = body[at..].strip_prefix('[')?.split(']').next()?;
    let is_line = !label.contains('\n') && label.starts_with(|c: char| c.is_ascii_digit());
    let lines =
        label.split(", ").find_map(|word| word.split_once(" line")?.0.parse::<usize>().ok());
    let from = at + label.len() + 2;
    let mut end = at;
    for _ in 0..lines.unwrap_or(1) {
        end = end_of_line(body, end);
    }
    let text = &body[from..end.max(from)];
    let text = text.strip_prefix(' ').unwrap_or(text);
    let number = label.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
    is_line.then_some((Quote { at: number, text: text.strip_suffix('\n').unwrap_or(text) }, end))
}

/// `2–59`, `0–7 and 9–134` or `0–7, 9–20 and 33` behind "stands for messages".
fn ranges(head: &str) -> Vec<RangeInclusive<usize>> {
    let mut ranges = Vec::new();
    let Some((_, rest)) = head.split_once("stands for message") else { return ranges };
    let mut rest = rest.trim_start_matches('s').trim_start();
    while let Some((first, behind)) = number(rest) {
        let last = behind.strip_prefix('–').and_then(number);
        let (last, behind) = last.unwrap_or((first, behind));
        ranges.push(first..=last);
        let next = behind.strip_prefix(", ").or_else(|| behind.strip_prefix(" and "));
        let Some(next) = next else { break };
        rest = next;
    }
    ranges
}

fn number(text: &str) -> Option<(usize, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: &str = "<checkpoint 3f0c51d2a9e4>
Earlier part of this conversation, for reference; not a new request. It stands for messages 0–7, 9–58 and 60. Later lines hold.

User's words
[3] one line, verbatim
[7, 4 lines] first

Notes
third

What was done
[52] update_reservation_flights(reservation_id=JG7FMM) → ok
Only read: get_user_details

Names not said above
paths: a, b
</checkpoint 3f0c51d2a9e4>";

    #[test]
    fn a_checkpoint_is_read_lane_by_lane() {
        let log = Log::of(FULL);
        assert_eq!(log.messages(), [0..=7, 9..=58, 60..=60]);
        assert!(log.stands_for(9) && !log.stands_for(8) && !log.stands_for(59));
        let words: Vec<_> = log.words.iter().map(|quote| (quote.at, quote.text)).collect();
        assert_eq!(words, [(Some(3), "one line, verbatim"), (Some(7), "first\n\nNotes\nthird")]);
        let done = "[52] update_reservation_flights(reservation_id=JG7FMM) → ok\nOnly read: get_user_details";
        assert_eq!(log.lane(Lane::Done), Some(done));
        assert_eq!(log.lane(Lane::Names), Some("paths: a, b"));
        assert_eq!([Lane::Notes, Lane::Summary].map(|lane| log.lane(lane)), [None, None]);
    }

    #[test]
    fn one_line_is_a_checkpoint() {
        let log = Log::of(
            "<checkpoint X>\nIt stands for messages 2–59, for reference; not a new request.\n</checkpoint X>",
        );
        assert_eq!(log.messages(), [2..=59]);
        let log = Log::of("<checkpoint X>\nIt stands for message 4.\n</checkpoint X>");
        assert_eq!(log.messages(), [4..=4]);
        assert_eq!(Log::of("").messages(), []);
        assert_eq!(
            Log::of("<checkpoint X>\n3 messages are not shown.\n</checkpoint X>").messages(),
            []
        );
    }
}
