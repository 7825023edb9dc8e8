//! The user's words: earlier human messages, copied, never written.
//!
//! Of each message, from the newest back, at least a short quote is wanted: what people type by hand is whole
//! then. Longer ones are lengthened while there is room; what is left out of one is declared. Each
//! label tells how many bytes follow, so that a later compaction reads the lane back, whatever the words
//! say.

use crate::count::TokenCounter;
use crate::ledger::{Whence, is_terse};
use crate::text::cut;
use crate::transcript::Numbering;

/// One human message that is folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its number in the whole conversation, see [`Numbering`](crate::transcript::Numbering).
    pub at: usize,
    /// The entry of what is compacted that it is; none where a checkpoint quotes it.
    pub entry: Option<usize>,
    /// The words, verbatim; with a declared gap if an earlier checkpoint had no room for all.
    pub text: String,
    /// Bytes of the whole message.
    pub whole: usize,
    /// How much of it `text` is.
    pub quote: Quote,
}

/// How much of a message a quote is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// All of it, and nothing else.
    Whole,
    /// Head and tail, the gap declared.
    Part,
    /// What is left of it beside notes of what is newer.
    Noted,
}

/// How a lane's words came out.
#[derive(Clone, Debug, Default)]
pub(super) struct Lane {
    pub(super) text: String,
    /// What is quoted of each message.
    pub(super) quoted: Vec<Word>,
    /// Messages quoted in full.
    pub(super) whole: usize,
    /// Messages of which head and tail are quoted.
    pub(super) in_part: usize,
    /// Messages of which nothing is quoted.
    pub(super) missing: usize,
}

/// A part of a message shorter than this isn't worth its label.
const LEAST_PART: usize = 160;
/// What stands around the size of what is left out.
const GAP: &str = "[… ";
const END: &str = " …]";
/// What stands in a label before the length of a quote with notes.
const NOTED: &str = ", with notes ";
/// What stands in a note for a sentence that something newer replaces.
const REPLACED: &str = "replaced by message ";
/// What stands in one behind a sentence that something newer may change.
const SEE: &str = "newer: message ";
/// Of a longer message so many bytes are quoted before anything else is.
const LEAST_QUOTE: usize = 400;

impl Word {
    /// A message in full, of that number.
    pub fn new(at: usize, text: String) -> Self {
        Word { at, entry: None, whole: text.len(), text, quote: Quote::Whole }
    }

    /// An entry in full.
    pub(super) fn of(entry: usize, numbering: &Numbering, text: String) -> Self {
        Word { entry: Some(entry), ..Word::new(numbering.of(entry), text) }
    }

    /// Where it was said.
    pub(super) fn whence(&self) -> Whence {
        self.entry.map_or(Whence::Before(self.at as u32), |entry| Whence::Here(entry as u32))
    }

    /// The stretches of it that were said, without notes of what is left out.
    pub(super) fn stretches(&self) -> impl Iterator<Item = &str> {
        let is_whole = self.is_whole();
        let mut rest = Some(self.text.as_str());
        std::iter::from_fn(move || {
            let text = rest.take()?;
            let gap = text.find(GAP).filter(|_| !is_whole);
            let Some((at, end)) = gap.and_then(|at| Some((at, at + text[at..].find(END)?))) else {
                return Some(text);
            };
            rest = Some(&text[end + END.len()..]);
            Some(&text[..at])
        })
    }

    /// The least that is worth quoting of it.
    pub(super) fn least(&self) -> Word {
        let is_short = self.text.len() <= LEAST_QUOTE;
        let part = if is_short { None } else { self.part(LEAST_QUOTE) };
        part.unwrap_or_else(|| self.clone())
    }

    /// Tokens of its lines.
    pub(super) fn tokens(&self, counter: &dyn TokenCounter) -> u64 {
        counter.text(&self.lines()).tokens
    }

    fn is_whole(&self) -> bool {
        self.quote == Quote::Whole
    }

    /// Its label, and the words.
    fn lines(&self) -> String {
        let Word { at, text, whole, .. } = self;
        let len = text.len();
        match self.quote {
            Quote::Whole => format!("[message {at}, {whole} bytes]\n{text}\n"),
            Quote::Part => format!("[message {at}, {len} bytes of {whole}]\n{text}\n"),
            Quote::Noted => format!("[message {at}, {whole} bytes{NOTED}{len}]\n{text}\n"),
        }
    }

    /// Leaves out a sentence that message `newer` replaces, and says so; it is looked for from `from` on first, and where the
    /// next one may be looked for is returned.
    pub(super) fn withdraw(&mut self, sentence: &str, newer: usize, from: usize) -> usize {
        let Some(at) = alone_from(&self.text, sentence, from) else { return from };
        let note = format!("{GAP}{REPLACED}{newer}{END}");
        self.text.replace_range(at..at + sentence.len(), &note);
        self.quote = Quote::Noted;
        at + note.len()
    }

    /// Says behind a sentence that message `newer` may change it; looked for as by [`Word::withdraw`].
    pub(super) fn point(&mut self, sentence: &str, newer: usize, from: usize) -> usize {
        let Some(end) = behind(&self.text, sentence, from) else { return from };
        if !points(&self.text[end..]) {
            self.text.insert_str(end, &format!("{GAP}{SEE}{newer}{END}"));
            self.quote = Quote::Noted;
        }
        end
    }

    /// Whether it says behind a sentence that something is newer.
    pub(super) fn points(&self, sentence: &str) -> bool {
        behind(&self.text, sentence, 0).is_some_and(|end| points(&self.text[end..]))
    }

    /// Head and tail in at most `bytes`, the gap declared; `None` if too little would be left.
    fn part(&self, bytes: usize) -> Option<Word> {
        const NOTE: usize = 48;
        let room = bytes.checked_sub(NOTE).filter(|room| *room >= LEAST_PART)?;
        let head = cut::head(&self.text, room - self.tail_room(room));
        let tail = cut::tail(&self.text[head.len()..], room - head.len());
        // Half a sentence may say what the whole doesn't.
        let head = whole_sentences(head);
        let is_begun = !self.text[..self.text.len() - tail.len()].ends_with('\n');
        let tail = if is_begun { from_a_sentence(tail) } else { tail };
        // A note is whole or not there.
        let head = match head.rfind(GAP) {
            Some(at) if !head[at..].contains(END) => &head[..at],
            _ => head,
        };
        let tail = match tail.find(END) {
            Some(at) if !tail[..at].contains(GAP) => &tail[at + END.len()..],
            _ => tail,
        };
        let gap = self.text.len() - head.len() - tail.len();
        let text = format!("{head}\n{GAP}{gap} bytes not quoted{END}\n{tail}");
        let quote = if self.quote == Quote::Noted { Quote::Noted } else { Quote::Part };
        (text.len() <= bytes).then_some(Word { text, quote, ..*self })
    }

    /// What the end has of `room`: a third, or more where that makes the last paragraph whole. Behind what
    /// somebody pasted stands what is asked of it.
    fn tail_room(&self, room: usize) -> usize {
        let text = self.text.trim_end();
        let last = text.rfind("\n\n").map_or(0, |at| self.text.len() - at - 2);
        if last <= room * 3 / 4 { last.max(room / 3) } else { room / 3 }
    }

    /// The longest quote found of at most `most` tokens, if it is longer than `quote`.
    fn lengthened(&self, quote: &Word, most: u64, counter: &dyn TokenCounter) -> Option<Word> {
        let tokens = self.tokens(counter);
        if tokens <= most {
            return Some(self.clone());
        }
        let mut bytes = self.text.len() as u64 * most / tokens;
        for _ in 0..3 {
            let part = self.part(bytes as usize)?;
            if part.text.len() <= quote.text.len() {
                return None;
            }
            if part.tokens(counter) <= most {
                return Some(part);
            }
            bytes = bytes * 9 / 10;
        }
        None
    }
}

/// Where `sentence` stands in `text`, not as a part of longer words.
fn alone(text: &str, sentence: &str) -> Option<usize> {
    let goes_on = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(sentence).map(|(at, _)| at).find(|at| {
        let (before, behind) = (&text[..*at], &text[at + sentence.len()..]);
        let is_begun = goes_on(before.chars().next_back()) && goes_on(sentence.chars().next());
        let is_cut = goes_on(sentence.chars().next_back()) && goes_on(behind.chars().next());
        !is_begun && !is_cut
    })
}

/// Whether `text` says something besides `sentences`, which come in the order they were said.
pub(crate) fn says_besides<'a>(text: &str, sentences: impl Iterator<Item = &'a str>) -> bool {
    let says = |text: &str| text.contains(char::is_alphanumeric);
    let mut rest = text;
    for sentence in sentences {
        let Some(at) = alone(rest, sentence) else { continue };
        if says(&rest[..at]) {
            return true;
        }
        rest = &rest[at + sentence.len()..];
    }
    says(rest)
}

/// Where it does from `from` on, or else at all: what is looked for in the order it was said is found in one pass.
fn alone_from(text: &str, sentence: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..).and_then(|rest| alone(rest, sentence)).map(|at| from + at);
    // At `from` a sentence ended.
    rest.or_else(|| alone(text, sentence).filter(|_| from > 0))
}

/// Whether what stands behind a sentence says that something is newer.
fn points(behind: &str) -> bool {
    behind.strip_prefix(GAP).is_some_and(|note| note.starts_with(SEE))
}

/// Where `sentence` ends in `text`, its mark with it; looked for as by [`alone_from`].
fn behind(text: &str, sentence: &str, from: usize) -> Option<usize> {
    let end = alone_from(text, sentence, from)? + sentence.len();
    let rest = &text[end..];
    Some(end + rest.len() - rest.trim_start_matches(['.', '!']).len())
}

/// Up to where a sentence ends, unless that is less than half.
fn whole_sentences(head: &str) -> &str {
    let ends = [". ", "! ", "? ", "\n"].iter().filter_map(|end| Some(head.rfind(end)? + 1));
    ends.max().filter(|at| *at * 2 > head.len()).map_or(head, |at| &head[..at])
}

/// From where a sentence begins, unless that is less than half.
fn from_a_sentence(tail: &str) -> &str {
    let starts =
        [". ", "! ", "? ", "\n"].iter().filter_map(|end| Some(tail.find(end)? + end.len()));
    starts.min().filter(|at| *at * 2 < tail.len()).map_or(tail, |at| &tail[at..])
}

/// The lane within `most` tokens, in the order the words were said; quotes are lengthened as long as
/// all of it takes less than `long`. What says something that `holds` is quoted before the rest.
pub(super) fn lane(
    title: &str,
    words: &[Word],
    (most, long): (u64, u64),
    holds: &dyn Fn(&Word) -> bool,
    counter: &dyn TokenCounter,
) -> Lane {
    if words.is_empty() {
        return Lane::default();
    }
    let room = most.saturating_sub(counter.text(title).tokens);
    let mut picked = chosen(words, (room, long), holds, counter);
    if picked.iter().any(Option::is_none) {
        let note = counter.text(&note(words.len())).tokens;
        picked = chosen(words, (room.saturating_sub(note), long), holds, counter);
    }
    let quoted: Vec<Word> = picked.into_iter().flatten().collect();
    let missing = words.len() - quoted.len();
    // How many aren't quoted needs no title.
    let mut text = if quoted.is_empty() { String::new() } else { title.to_owned() };
    text.push_str(&lane_of(&quoted));
    if missing > 0 {
        text.push_str(&note(missing));
    }
    let whole = quoted.iter().filter(|word| word.is_whole()).count();
    Lane { text, whole, in_part: quoted.len() - whole, missing, quoted }
}

/// What is said of messages that have no room.
pub(super) fn note(missing: usize) -> String {
    let are = if missing == 1 { "is" } else { "are" };
    format!("({missing} of the user's messages {are} not quoted here.)\n")
}

fn chosen(
    words: &[Word],
    (room, long): (u64, u64),
    holds: &dyn Fn(&Word) -> bool,
    counter: &dyn TokenCounter,
) -> Vec<Option<Word>> {
    let mut left = room;
    let mut quotes: Vec<Option<Word>> = vec![None; words.len()];
    // What says next to nothing comes last.
    let turn = |word: &Word| match () {
        () if holds(word) => 0,
        () if is_terse(&word.text) => 2,
        () => 1,
    };
    let turns: Vec<u8> = words.iter().map(turn).collect();
    for now in 0..3 {
        let slots = quotes.iter_mut().zip(words).zip(&turns).rev();
        for ((slot, word), _) in slots.filter(|(_, turn)| **turn == now) {
            let least = word.least();
            if let Some(rest) = left.checked_sub(least.tokens(counter)) {
                left = rest;
                *slot = Some(least);
            }
        }
    }
    let mut spare = left.min(long.saturating_sub(room - left));
    for (slot, word) in quotes.iter_mut().zip(words).rev() {
        let Some(quote) = slot.as_ref().filter(|quote| quote.text.len() < word.text.len()) else {
            continue;
        };
        let before = quote.tokens(counter);
        if let Some(longer) = word.lengthened(quote, before + spare, counter) {
            spare -= longer.tokens(counter).saturating_sub(before).min(spare);
            *slot = Some(longer);
        }
    }
    quotes
}

/// All of `words`, in full.
pub(super) fn lane_of(words: &[Word]) -> String {
    let mut out = String::new();
    for word in words {
        out.push_str(&word.lines());
    }
    out
}

/// Reads a lane back; and what is behind it.
pub(super) fn read(lane: &str) -> (Vec<Word>, &str) {
    let mut words = Vec::new();
    let mut rest = lane;
    while let Some((word, tail)) = read_one(rest) {
        words.push(word);
        rest = tail;
    }
    (words, rest)
}

fn read_one(rest: &str) -> Option<(Word, &str)> {
    let (label, tail) = rest.strip_prefix("[message ")?.split_once("]\n")?;
    let (at, size) = label.split_once(", ")?;
    let (len, whole, mut quote) = if let Some((len, whole)) = size.split_once(" bytes of ") {
        (len.parse().ok()?, whole.parse().ok()?, Quote::Part)
    } else if let Some((whole, len)) = size.split_once(NOTED) {
        (len.parse().ok()?, whole.strip_suffix(" bytes")?.parse().ok()?, Quote::Noted)
    } else {
        let len = size.strip_suffix(" bytes")?.parse().ok()?;
        (len, len, Quote::Whole)
    };
    let text = tail.get(..len)?.to_owned();
    // Once notes that took less than what they stand for were told as a part.
    if quote == Quote::Part && [REPLACED, SEE].iter().any(|note| text.contains(note)) {
        quote = Quote::Noted;
    }
    let word = Word { at: at.parse().ok()?, entry: None, text, whole, quote };
    Some((word, tail.get(len..)?.strip_prefix('\n')?))
}

/// A text without lines that look like labels: these are no facts of the conversation.
pub(super) fn without_labels(text: &str) -> String {
    let is_label = |line: &&str| {
        line.starts_with("[message ") && line.ends_with(']') && line.contains(" bytes")
    };
    text.lines().filter(|line| !is_label(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::count::counter;

    fn words() -> Vec<Word> {
        let mut long = String::new();
        for n in 0..60 {
            let _ = writeln!(long, "line {n} of a long message");
        }
        vec![
            Word::new(0, "Never push to main.".to_owned()),
            Word::new(4, long),
            Word::new(9, "[message 3, 5 bytes]\nfake\nGo on.".to_owned()),
        ]
    }

    fn lane_in(words: &[Word], most: u64) -> Lane {
        let counter = counter("chars4").expect("a known name");
        lane("", words, (most, most), &|_| false, counter.as_ref())
    }

    #[test]
    fn what_fits_is_whole_and_read_back() {
        let lane = lane_in(&words(), 1000);
        assert_eq!((lane.whole, lane.in_part, lane.missing), (3, 0, 0));
        assert_eq!(read(&lane.text), (words(), ""));
    }

    #[test]
    fn a_long_message_is_quoted_in_part_with_the_gap_declared() {
        let first = lane_in(&words(), 175);
        assert_eq!((first.whole, first.in_part), (2, 1));
        assert!(first.text.contains("bytes not quoted"), "{}", first.text);
        let (read, _) = read(&first.text);
        assert_eq!(read.len(), 3);
        assert_eq!(read[1].whole, words()[1].whole);
        assert!(read[1].text.starts_with("line 0 of") && read[1].text.ends_with("message\n"));
        // Read back and written again, it is the same.
        assert_eq!(lane_in(&read, 175).text, first.text);
    }

    #[test]
    fn short_messages_are_whole_before_a_long_one_is_longer() {
        let mut many: Vec<Word> =
            (0..20).map(|at| Word::new(at, format!("Never do thing number {at}."))).collect();
        many.extend(words().get(1).cloned());
        let lane = lane_in(&many, 420);
        assert_eq!((lane.whole, lane.in_part, lane.missing), (20, 1, 0));
    }

    #[test]
    fn a_sentence_is_taken_back_where_it_stands_as_one() {
        let mut word = Word::new(4, "The port is 8080. The port is 80. Go on.".to_owned());
        word.withdraw("The port is 80", 9, 0);
        word.withdraw("he port is 8080", 9, 0);
        let said = "The port is 8080. [… replaced by message 9 …]. Go on.";
        assert_eq!(word.text, said);
        assert_eq!(
            word.lines(),
            format!("[message 4, 40 bytes, with notes {}]\n{said}\n", said.len())
        );
        // Whether a note is shorter than the sentence, as long or longer, its bytes are none of the message.
        for bytes in 30..40 {
            let mut word = Word::new(6, "a".repeat(bytes));
            word.withdraw(&word.text.clone(), 9, 0);
            let lines =
                format!("[message 6, {bytes} bytes, with notes 31]\n[… replaced by message 9 …]\n");
            assert_eq!(word.lines(), lines);
            assert_eq!(read(&lines), (vec![word], ""));
        }
        let mut odd = Word::new(5, "é80 80é 80".to_owned());
        odd.withdraw("80", 9, 0);
        assert_eq!(odd.text, "é80 80é [… replaced by message 9 …]");
    }

    #[test]
    fn what_was_told_as_a_part_once_is_read_and_told_as_what_it_is() {
        let note = "[…  replaced by message 9 …]";
        for told in
            [format!("{} bytes of 40", note.len()), format!("40 bytes, with notes {}", note.len())]
        {
            let (words, _) = read(&format!("[message 6, {told}]\n{note}\n"));
            let lines = format!("[message 6, 40 bytes, with notes {}]\n{note}\n", note.len());
            assert_eq!(lane_of(&words), lines, "{told}");
        }
        let part = "[message 6, 33 bytes of 40]\nAbc [… 33 bytes not quoted …]\n";
        assert_eq!(lane_of(&read(part).0), part);
    }

    #[test]
    fn what_is_left_of_a_message_may_say_something() {
        let taken_back = ["The port is 8080", "The user is bob."];
        for (text, says) in [
            ("The port is 8080. The user is bob.", false),
            ("- The port is 8080\n- The user is bob.", false),
            ("Yes. The port is 8080. The user is bob.", true),
            ("The port is 8080. Not so fast. The user is bob.", true),
            ("The port is 8080. The user is bob. Go to staging.", true),
            ("The port is 80801. The user is bob.", true),
            ("", false),
        ] {
            assert_eq!(says_besides(text, taken_back.into_iter()), says, "{text}");
        }
    }

    #[test]
    fn what_may_be_changed_says_where_and_stays() {
        let mut word = Word::new(4, "The port is 8080. Go on.".to_owned());
        word.point("The port is 8080", 9, 0);
        word.point("The port is 8080", 12, 0);
        assert_eq!(word.text, "The port is 8080.[… newer: message 9 …] Go on.");
        assert!(word.points("The port is 8080") && !word.points("Go on"));
        assert_eq!(word.stretches().collect::<String>(), "The port is 8080. Go on.");
        assert_eq!(read(&word.lines()).0, [word]);
    }

    #[test]
    fn without_room_the_number_is_told() {
        let none = lane_in(&words(), 2);
        assert_eq!(none.text, "(3 of the user's messages are not quoted here.)\n");
        assert_eq!(none.missing, 3);
    }
}
