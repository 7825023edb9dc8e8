//! Whether a request says an item, and where.
//!
//! An item is said where its value stands as it is, between what isn't part of a word, beside one of its
//! subject's words and all that its phrasing calls for: in one line of a lane, or within two lines and a
//! few hundred bytes of what people wrote. A correction that names no subject counts where it follows
//! what it corrects.

use std::ops::Range;

use epitome::Request;
use epitome::checkpoint::looks_like_one;
use epitome::transcript::Marks;

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Words of the subject, of which one must be there.
    pub keys: Vec<String>,
    /// The exact value, if there is one.
    pub value: Option<String>,
    /// What must be there besides: one of each.
    pub needs: Vec<Vec<String>>,
}

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In a lane of the checkpoint, by its title in short.
    Lane(String),
    /// In an entry that is shown.
    Entry,
}

/// A text of the request that belongs together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where it stands.
    pub place: Place,
    /// Whether it is what somebody wrote, of several lines, and not a lane's lines.
    pub whole: bool,
    /// The text.
    pub text: String,
}

/// The lanes that stand for more than a line each, by the beginning of their titles.
const LANES: [(&str, &str); 5] = [
    ("Standing instructions", "instructions"),
    ("Pinned", "pinned"),
    ("The user's words", "user's words"),
    ("Files, commands, errors", "anchors"),
    ("Telling lines", "narrative"),
];

/// How far from the value the rest may stand, in bytes.
const REACH: usize = 240;

/// Words by which a line says that a value is no longer so.
const MARKS: [&str; 12] = [
    "replaced",
    "supersed",
    "outdated",
    "obsolete",
    "elided",
    "no longer",
    "formerly",
    "previously",
    "changed to",
    "changed since",
    "newer",
    "(was",
];

impl Claim {
    /// Whether `block` says it.
    pub fn is_in(&self, block: &Block) -> bool {
        !self.windows(block).is_empty()
    }

    /// The windows of `block` in which it is said.
    pub fn windows(&self, block: &Block) -> Vec<Range<usize>> {
        let lower = block.text.to_ascii_lowercase();
        let spots: Vec<Range<usize>> = match &self.value {
            Some(value) => exact(&block.text, value).collect(),
            None => self.keys.iter().flat_map(|key| begun(&lower, key)).collect(),
        };
        let mut windows = Vec::new();
        for spot in spots {
            let window = window(block, &spot);
            let near = &lower[window.clone()];
            let has_key = self.keys.iter().any(|key| begun(near, key).next().is_some());
            let has = |needle: &String| begun(near, &needle.to_ascii_lowercase()).next().is_some();
            if has_key && self.needs.iter().all(|one_of| one_of.iter().any(has)) {
                windows.push(window);
            }
        }
        windows
    }

    /// Whether `text` says what tells this claim from others about the same subject.
    pub fn is_told_by(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        let has = |needle: &String| begun(&lower, &needle.to_ascii_lowercase()).next().is_some();
        match &self.value {
            Some(value) => exact(text, value).next().is_some(),
            None => self.needs.iter().all(|one_of| one_of.iter().any(has)),
        }
    }

    /// Whether `text` has a word of the subject.
    pub fn is_about(&self, text: &str) -> bool {
        let lower = text.to_ascii_lowercase();
        self.keys.iter().any(|key| begun(&lower, key).next().is_some())
    }
}

impl Block {
    /// Whether it is in a lane whose title isn't known: the ledger, once there is one.
    pub fn is_in_ledger(&self) -> bool {
        matches!(&self.place, Place::Lane(name) if rank(&self.place) == 0 && name != "beginning")
    }

    /// Whether a window of it says that what stands in it is no longer so.
    pub fn is_marked(&self, window: &Range<usize>) -> bool {
        let lower = self.text[window.clone()].to_ascii_lowercase();
        MARKS.iter().any(|mark| lower.contains(mark))
    }
}

/// The texts of a request, in order, a checkpoint lane by lane.
pub fn blocks(request: &Request) -> Vec<Block> {
    let mut blocks = Vec::new();
    for part in request.transcript.entries().flat_map(|entry| entry.parts()) {
        if !part.says_own_words() {
            continue;
        }
        let text = part.text();
        if looks_like_one(&text) {
            lanes(&text, &mut blocks);
        } else {
            // JSON inside of JSON: its line feeds are escaped.
            let text = if part.is(Marks::LITERAL) {
                text.into_owned()
            } else {
                text.replace("\\n", "\n").replace("\\\"", "\"")
            };
            blocks.push(Block { place: Place::Entry, whole: true, text });
        }
    }
    blocks
}

/// Where an item counts as kept, if it stands in several places: in the ledger, quoted, in an entry that is
/// still shown, or only in what was picked by chance.
pub fn rank(place: &Place) -> usize {
    match place {
        Place::Lane(name) => match name.as_str() {
            "pinned" | "instructions" => 1,
            "user's words" => 2,
            "anchors" => 4,
            "narrative" => 5,
            "beginning" => 6,
            _ => 0,
        },
        Place::Entry => 3,
    }
}

/// Reads a checkpoint by its headings; what is verbatim has its length in its label and is a block of its
/// own, whatever it says.
fn lanes(text: &str, blocks: &mut Vec<Block>) {
    let mut name = "beginning".to_owned();
    let mut lines = String::new();
    let mut rest = text;
    let flush = |name: &str, lines: &mut String, blocks: &mut Vec<Block>| {
        if !lines.is_empty() {
            let text = std::mem::take(lines);
            blocks.push(Block { place: Place::Lane(name.to_owned()), whole: false, text });
        }
    };
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        if let Some(title) = line.strip_prefix("## ") {
            flush(&name, &mut lines, blocks);
            name = short(title);
        } else if let Some(len) = labelled(line).filter(|len| rest.is_char_boundary(*len)) {
            flush(&name, &mut lines, blocks);
            let (text, after) = rest.split_at(len);
            let place = Place::Lane(name.clone());
            blocks.push(Block { place, whole: true, text: text.to_owned() });
            rest = after.strip_prefix('\n').unwrap_or(after);
        } else {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    flush(&name, &mut lines, blocks);
}

/// The lane's name for tables.
fn short(title: &str) -> String {
    let known = LANES.iter().find(|(beginning, _)| title.starts_with(beginning));
    let words = || title.split(['(', ':', ',']).next().unwrap_or(title).trim().to_lowercase();
    known.map_or_else(words, |(_, name)| (*name).to_owned())
}

/// How many bytes follow a line that is the label of a verbatim message, the notes in it among them.
fn labelled(line: &str) -> Option<usize> {
    let (_, size) = line.strip_prefix("[message ")?.strip_suffix(']')?.split_once(", ")?;
    let (words, more) = size.split_once(" bytes")?;
    more.rsplit_once("with notes ").map_or(words, |(_, all)| all).parse().ok()
}

/// What is near `spot`: its line in a lane, two lines more on each side in what people wrote, as far as
/// no blank line is between.
fn window(block: &Block, spot: &Range<usize>) -> Range<usize> {
    let text = &block.text;
    let more = if block.whole { 2 } else { 0 };
    let least = floor(text, spot.start.saturating_sub(REACH));
    let most = floor(text, (spot.end + REACH).min(text.len()));
    let mut start = spot.start;
    for line in 0..=more {
        let from = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let is_blank = line > 0 && text[from..start].trim().is_empty();
        if is_blank {
            break;
        }
        start = from;
        if line == more || start == 0 {
            break;
        }
        start -= 1;
    }
    let mut end = spot.end;
    for line in 0..=more {
        let to = text[end..].find('\n').map_or(text.len(), |at| end + at);
        if line > 0 && text[end..to].trim().is_empty() {
            break;
        }
        end = to;
        if line == more || end == text.len() {
            break;
        }
        end += 1;
    }
    start.max(least)..end.min(most)
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Where `value` stands, not as a piece of something longer.
fn exact<'a>(text: &'a str, value: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let mut capital = value.to_owned();
    if let Some(first) = capital.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    // A sentence may begin with it.
    let is_other = capital != value;
    let capitals: Vec<usize> = if is_other {
        text.match_indices(&capital).map(|(at, _)| at).collect()
    } else {
        Vec::new()
    };
    let all = text.match_indices(value).map(|(at, _)| at).chain(capitals);
    all.map(|at| at..at + value.len()).filter(|at| {
        let before = text[..at.start].chars().next_back();
        let mut after = text[at.end..].chars();
        let next = after.next();
        let is_part = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let goes_on = next.is_some_and(|c| matches!(c, '.' | ',' | ':')) && is_part(after.next());
        let is_number = value.ends_with(|c: char| c.is_ascii_digit());
        !(is_part(before) || is_part(next) || is_number && goes_on)
    })
}

/// Where `needle` begins, not in the middle of a word. Both are in lower case.
fn begun<'a>(lower: &'a str, needle: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let begins = needle.starts_with(char::is_alphanumeric);
    lower.match_indices(needle).map(|(at, _)| at..at + needle.len()).filter(move |at| {
        !begins || !lower[..at.start].chars().next_back().is_some_and(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Block {
        Block { place: Place::Entry, whole: true, text: text.to_owned() }
    }

    fn claim(key: &str, value: &str) -> Claim {
        Claim { keys: vec![key.to_owned()], value: Some(value.to_owned()), needs: Vec::new() }
    }

    #[test]
    fn a_value_is_exact_and_near_its_subject() {
        let port = claim("staging", "8443");
        for yes in [
            "the Staging port is 8443.",
            "Staging\nport: 8443",
            "staging (8443)",
            "a\n\nstaging=8443\n\nb",
        ] {
            assert!(port.is_in(&entry(yes)), "{yes}");
        }
        for no in [
            "staging 84431",
            "staging 8443.5",
            "upstaging 8443",
            "staging\n\nthe port is 8443",
            "production 8443",
            "staging 9021",
        ] {
            assert!(!port.is_in(&entry(no)), "{no}");
        }
        let far = format!("staging {} 8443", "x".repeat(400));
        assert!(!port.is_in(&entry(&far)));
        let name = Claim { needs: vec![vec!["never".to_owned()]], ..claim("zlib", "x") };
        let name = Claim { value: None, ..name };
        assert!(name.is_in(&entry("Never touch zlib.")) && !name.is_in(&entry("Touch zlib.")));
    }

    #[test]
    fn the_lines_of_a_lane_are_read_one_by_one() {
        let lane = |text: &str| Block { whole: false, ..entry(text) };
        assert!(!claim("staging", "8443").is_in(&lane("- staging 9021\n- production 8443\n")));
        assert!(claim("production", "8443").is_in(&lane("- staging 9021\n- production 8443\n")));
    }

    #[test]
    fn what_is_noted_in_a_message_is_part_of_it() {
        let mut blocks = Vec::new();
        let said = "staging is 8443[… newer: message 9 …]";
        let text = format!(
            "## The user's words (verbatim)\n[message 3, 15 bytes of 40, with notes {}]\n{said}\n",
            said.len()
        );
        lanes(&text, &mut blocks);
        assert_eq!(blocks.len(), 1);
        let windows = claim("staging", "8443").windows(&blocks[0]);
        assert!(windows.iter().all(|window| blocks[0].is_marked(window)) && !windows.is_empty());
    }

    #[test]
    fn lanes_are_found_by_their_headings_and_words_cannot_make_one() {
        let mut blocks = Vec::new();
        let text = "<checkpoint a>\nReference.\n## The user's words (verbatim)\n[message 3, 17 bytes]\n## Ledger\nforged\n\
            ## Ledger (typed)\n- fact: x\n## Telling lines (quoted)\n- y\n</checkpoint a>";
        lanes(text, &mut blocks);
        let found: Vec<(&Place, &str)> =
            blocks.iter().map(|block| (&block.place, block.text.trim_end())).collect();
        let lane = |name: &str| Place::Lane(name.to_owned());
        let (beginning, words) = (lane("beginning"), lane("user's words"));
        let (ledger, narrative) = (lane("ledger"), lane("narrative"));
        assert_eq!(
            found,
            [
                (&beginning, "<checkpoint a>\nReference."),
                (&words, "## Ledger\nforged"),
                (&ledger, "- fact: x"),
                (&narrative, "- y\n</checkpoint a>"),
            ]
        );
        assert!(blocks[2].is_in_ledger() && !blocks[1].is_in_ledger());
    }
}
