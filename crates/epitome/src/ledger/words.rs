//! A sentence taken apart: its words, lower-cased, and what each one is by its form.

use std::ops::Range;

use super::language::{Id, Known, english};
use super::lists::List;
use super::stem::Term;

/// What a word is by its form alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Form {
    /// A word of the language.
    Plain,
    /// A capitalised word that doesn't begin its sentence.
    Name,
    /// `snake_case`, `camelCase`, `a::b`, or anything in backticks.
    Identifier,
    /// A path, an address, a host, an e-mail address.
    Place,
    /// Letters and digits mixed: a hash, a ticket, a version.
    Code,
    /// A number, with or without a sign, a currency or a unit; a time; a date.
    Number,
}

impl Form {
    /// Whether it can be somebody's exact value.
    pub(super) fn is_value(self) -> bool {
        self != Self::Plain
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Where it stands in the sentence.
    pub(super) raw: Range<usize>,
    low: Range<usize>,
    id: Id,
    pub(super) form: Form,
    /// Between quotation marks or backticks: it is mentioned, not said.
    pub(super) quoted: bool,
    /// What follows it: `:`, `,`, `;`, `.` and the like at once, a dash or `|` at last; a space otherwise.
    pub(super) after: char,
}

/// A gap in a phrase is so many words at most.
const GAP: usize = 6;

/// A sentence and its words.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    lower: String,
    all: Vec<Word>,
    /// A bit for each byte that a word begins with.
    firsts: u64,
}

/// What stands around words and is no part of them.
fn is_around(c: char) -> bool {
    matches!(
        c,
        '"' | '\''
            | '('
            | ')'
            | '['
            | ']'
            | '{'
            | '}'
            | ','
            | '.'
            | ';'
            | ':'
            | '!'
            | '?'
            | '*'
            | '<'
            | '>'
            | '“'
            | '”'
            | '‘'
            | '’'
            | '«'
            | '»'
            | '`'
            | '…'
            | '—'
            | '–'
            | '|'
    )
}

/// The same of ASCII. Most of what stands around words is.
const AROUND: [bool; 128] = {
    let mut all = [false; 128];
    let marks = b"\"'()[]{},.;:!?*<>`|";
    let mut at = 0;
    while at < marks.len() {
        all[marks[at] as usize] = true;
        at += 1;
    }
    all
};

/// What stands before a word, the word with what stands behind it, and the word.
fn parted(raw: &str) -> (&str, &str, &str) {
    let is_around = |byte: u8| byte < 128 && AROUND[usize::from(byte)];
    let bytes = raw.as_bytes();
    let (mut from, mut to) = (0, bytes.len());
    while from < to && is_around(bytes[from]) {
        from += 1;
    }
    while from < to && is_around(bytes[to - 1]) {
        to -= 1;
    }
    let is_wide = |at: usize| bytes.get(at).is_some_and(|byte| !byte.is_ascii());
    if is_wide(from) || to > from && is_wide(to - 1) {
        let rest = raw.trim_start_matches(self::is_around);
        return (&raw[..raw.len() - rest.len()], rest, rest.trim_end_matches(self::is_around));
    }
    (&raw[..from], &raw[from..], &raw[from..to])
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut words = Self::default();
        words.read(text);
        words
    }

    /// Takes another sentence, in the same memory.
    pub(super) fn read(&mut self, text: &str) {
        self.lower.clear();
        self.all.clear();
        self.firsts = 0;
        let mut quotes = Quotes::default();
        let mut start = 0;
        let (bytes, mut at) = (text.as_bytes(), 0);
        while at < bytes.len() {
            // Bytes that nothing between words begins with needn't be decoded.
            if matches!(bytes[at], b'!'..=0x7f) {
                at += 1;
                continue;
            }
            if bytes[at] == b' ' {
                self.push(text, start..at, &mut quotes);
                at += 1;
                start = at;
                continue;
            }
            let c = text[at..].chars().next().unwrap_or(' ');
            let next = at + c.len_utf8();
            if c.is_whitespace() || matches!(c, '—' | '–') {
                self.push(text, start..at, &mut quotes);
                start = next;
            }
            if matches!(c, '—' | '–') {
                self.part('—');
            }
            at = next;
        }
        self.push(text, start..text.len(), &mut quotes);
    }

    fn push(&mut self, text: &str, chunk: Range<usize>, marks: &mut Quotes) {
        let raw = &text[chunk.clone()];
        if raw.is_empty() {
            return;
        }
        // Most words are nothing but small letters.
        if raw.bytes().all(|byte| byte.is_ascii_lowercase()) {
            let from = self.lower.len();
            self.lower.push_str(raw);
            let form = if marks.backtick { Form::Identifier } else { Form::Plain };
            let quoted = marks.double || marks.backtick;
            let (low, id) = (from..self.lower.len(), english().id(raw));
            self.firsts |= first_bit(raw);
            self.all.push(Word { raw: chunk, low, id, form, quoted, after: ' ' });
            return;
        }
        let (lead, rest, inner) = parted(raw);
        let has_marks = raw.bytes().any(|byte| matches!(byte, b'"' | b'`' | 0x80..));
        let quoted = if has_marks { marks.open(lead) } else { marks.double || marks.backtick };
        let is_code = raw.starts_with('`') || marks.backtick;
        if has_marks {
            marks.close(raw, rest);
        }
        if inner.is_empty() {
            if raw.contains('|') {
                self.part('|');
            } else if raw.len() > 2 && raw.bytes().all(|byte| byte == b'.') {
                // `Retries ........ 3`
                self.part(':');
            }
            return;
        }
        let inner = if matches!(raw, "->" | "=>" | "-->" | "==>") { "→" } else { inner };
        let after = rest.get(inner.len()..).and_then(|rest| rest.chars().find(|c| *c != '"'));
        let after = after.unwrap_or(' ');
        let from = self.lower.len();
        if inner.is_ascii() {
            self.lower.push_str(inner);
            self.lower[from..].make_ascii_lowercase();
        } else {
            for c in inner.chars() {
                if matches!(c, '’' | '‘') {
                    self.lower.push('\'');
                } else {
                    self.lower.extend(c.to_lowercase());
                }
            }
        }
        let form = if is_code {
            Form::Identifier
        } else if inner.bytes().all(|b| b.is_ascii_lowercase() || b == b'\'') {
            Form::Plain
        } else {
            let ends = |before: &Word| matches!(before.after, '.' | '!' | '?' | ':' | '|' | '—');
            form(inner, self.all.last().is_none_or(ends))
        };
        let (at, low) = (chunk.start + lead.len(), from..self.lower.len());
        let id = english().id(&self.lower[low.clone()]);
        self.firsts |= first_bit(&self.lower[low.clone()]);
        let end = (at + inner.len()).min(chunk.end);
        self.all.push(Word { raw: at..end, low, id, form, quoted, after });
    }

    /// A dash or the border of a cell stands behind the last word.
    fn part(&mut self, mark: char) {
        if let Some(last) = self.all.last_mut().filter(|last| last.after == ' ') {
            last.after = mark;
        }
    }

    /// Takes the first word for a name: what stands behind it says so.
    pub(super) fn name_first(&mut self) {
        if let Some(word) = self.all.first_mut().filter(|word| word.form == Form::Plain) {
            word.form = Form::Name;
        }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The word, lower-cased; empty behind the last one.
    pub(super) fn low(&self, at: usize) -> &str {
        self.all.get(at).map_or("", |word| &self.lower[word.low.clone()])
    }

    pub(super) fn get(&self, at: usize) -> Option<&Word> {
        self.all.get(at)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &Word, &str)> {
        self.all.iter().enumerate().map(|(at, word)| (at, word, &self.lower[word.low.clone()]))
    }

    /// What the language knows of the word at `at`; nothing behind the last one.
    pub(super) fn known(&self, at: usize) -> &'static Known {
        english().known(self.id(at))
    }

    /// The language's number of the word at `at`; of none behind the last one.
    pub(super) fn id(&self, at: usize) -> Id {
        self.all.get(at).map_or(Id::default(), |word| word.id)
    }

    /// What the word at `at` says of a subject, if it says anything.
    pub(super) fn term(&self, at: usize) -> Option<Term> {
        Term::of(self.low(at), self.all.get(at)?.id)
    }

    /// Whether a list has the word at `at`.
    pub(super) fn is(&self, at: usize, list: List) -> bool {
        self.known(at).is(list)
    }

    /// Whether a list has one of the words.
    pub(super) fn any(&self, list: List) -> bool {
        (0..self.len()).any(|at| self.is(at, list))
    }

    /// Whether exactly these words stand at `at`, and where they end.
    pub(super) fn follows(&self, at: usize, phrase: &[Id]) -> Option<usize> {
        // Of the many that a word begins hardly one goes on with the next.
        if let [_, second, ..] = phrase
            && !second.is_gap()
            && !self.all.get(at + 1).is_some_and(|word| second.means(word.id))
        {
            return None;
        }
        self.goes_on(at, phrase)
    }

    fn goes_on(&self, at: usize, phrase: &[Id]) -> Option<usize> {
        let mut end = at;
        for (nth, part) in phrase.iter().enumerate() {
            if part.is_gap() {
                let rest = &phrase[nth + 1..];
                return (end + 1..=end + GAP).find_map(|next| self.goes_on(next, rest));
            }
            let word = self.all.get(end)?;
            if word.quoted || !part.means(word.id) {
                return None;
            }
            end += 1;
        }
        Some(end)
    }

    /// Whether these words stand at `at`, and where they end.
    pub(super) fn matches(&self, at: usize, phrase: &str) -> Option<usize> {
        let mut end = at;
        for part in phrase.split(' ') {
            let word = self.all.get(end)?;
            if word.quoted || self.lower[word.low.clone()] != *part {
                return None;
            }
            end += 1;
        }
        Some(end)
    }

    /// Where `phrase` stands first.
    pub(super) fn find(&self, phrase: &str) -> Option<Range<usize>> {
        if self.firsts & first_bit(phrase) == 0 {
            return None;
        }
        let (first, lower) = (phrase.as_bytes().first(), self.lower.as_bytes());
        let begins = |at: &usize| lower.get(self.all[*at].low.start) == first;
        (0..self.all.len()).filter(begins).find_map(|at| Some(at..self.matches(at, phrase)?))
    }
}

/// Which marks are open.
#[derive(Default)]
struct Quotes {
    double: bool,
    backtick: bool,
}

impl Quotes {
    /// Whether a chunk stands between marks, at least with its first letter; `lead` is what is around it before.
    fn open(&mut self, lead: &str) -> bool {
        lead.chars().for_each(|c| self.turn(c));
        self.double || self.backtick
    }

    /// Turns what stands in the chunk and behind it; `rest` is the chunk without its lead.
    fn close(&mut self, raw: &str, rest: &str) {
        if raw.len() == rest.len() || !rest.is_empty() {
            rest.chars().for_each(|c| self.turn(c));
        }
    }

    fn turn(&mut self, c: char) {
        match c {
            '"' => self.double = !self.double,
            '“' => self.double = true,
            '”' => self.double = false,
            '`' => self.backtick = !self.backtick,
            _ => {}
        }
    }
}

fn first_bit(word: &str) -> u64 {
    word.bytes().next().map_or(0, |first| 1 << (first & 63))
}

/// How many letters it has. Hardly a word has others than ASCII.
fn letters(word: &str) -> usize {
    if word.is_ascii() {
        return word.bytes().filter(u8::is_ascii_alphabetic).count();
    }
    word.chars().filter(|c| c.is_alphabetic()).count()
}

/// Whether a capital follows a small letter.
fn has_humps(word: &str) -> bool {
    if word.is_ascii() {
        let mut pairs = word.as_bytes().windows(2);
        return pairs.any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    }
    let mut pairs = word.chars().zip(word.chars().skip(1));
    pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase())
}

fn form(word: &str, first: bool) -> Form {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'\'';
    if let Some(form) = (!word.bytes().all(is_letter)).then(|| form_by_signs(word)).flatten() {
        return form;
    }
    if has_humps(word) {
        return Form::Identifier;
    }
    let letters = letters(word);
    let capital = word.starts_with(char::is_uppercase);
    let loud = capital && letters > 1 && word.chars().all(|c| !c.is_lowercase());
    match capital {
        true if loud && letters > 5 && first => Form::Plain,
        true if !first && word != "I" && !word.starts_with("I'") => Form::Name,
        true if loud && letters < 6 => Form::Name,
        _ => Form::Plain,
    }
}

/// What its digits and signs make of a word, if they make it anything.
fn form_by_signs(word: &str) -> Option<Form> {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = letters(word);
    // Of most the first byte tells that none of them stands there.
    let lead = match word.as_bytes().first() {
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'_') => word,
        _ => word
            .trim_start_matches(['$', '€', '£', '~', '+', '-', '<', '>', '=', '#', '≤', '≥', '@']),
    };
    let has = |sign: u8| word.as_bytes().contains(&sign);
    if has(b':') && word.contains("://")
        || word.starts_with('/') && letters > 0 && word.len() > 2
        || word.starts_with("~/")
    {
        return Some(Form::Place);
    }
    if lead.starts_with(|c: char| c.is_ascii_digit())
        && (letters <= 5 || lead.ends_with('%'))
        && !is_mixed(lead)
    {
        return Some(Form::Number);
    }
    let inner_dot =
        word.bytes().enumerate().any(|(at, b)| b == b'.' && at > 0 && at + 1 < word.len());
    if has(b'@') && inner_dot || has(b'/') && letters > 3 && is_pathlike(word) {
        return Some(Form::Place);
    }
    if digits > 0 && letters > 0 {
        let is_place = inner_dot && !word.starts_with(['v', 'V']);
        return Some(if is_place { Form::Place } else { Form::Code });
    }
    if inner_dot && letters > 2 && !word.contains("..") {
        return Some(Form::Place);
    }
    let is_identifier = has(b'_') && letters > 1
        || has(b':') && word.contains("::")
        || word.starts_with("--")
        || word.ends_with("()");
    is_identifier.then_some(Form::Identifier)
}

/// Whether letters and digits alternate, as in a hash.
fn is_mixed(word: &str) -> bool {
    let kinds = word.bytes().filter(u8::is_ascii_alphanumeric).map(|b| b.is_ascii_digit());
    let mut turns = 0;
    let mut before = None;
    for kind in kinds {
        turns += usize::from(before.is_some_and(|before| before != kind));
        before = Some(kind);
    }
    turns > 2 || (turns == 2 && word.len() > 6 && !word.contains([':', '-', '.']))
}

/// `src/main.rs`; not `and/or`, `read/write`.
fn is_pathlike(word: &str) -> bool {
    word.matches('/').count() > 1 || word.contains(['.', '_']) || word.ends_with('/')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn letters_of_ascii_are_letters(word in "[a-zA-Z0-9_.é😀É]{0,12}") {
            prop_assert_eq!(letters(&word), word.chars().filter(|c| c.is_alphabetic()).count());
            let mut pairs = word.chars().zip(word.chars().skip(1));
            let humps = pairs.any(|(a, b)| a.is_lowercase() && b.is_uppercase());
            prop_assert_eq!(has_humps(&word), humps);
        }
    }

    fn check(text: &str, expected: &str) {
        let words = Words::of(text);
        let shown: Vec<String> = words
            .iter()
            .map(|(_, word, low)| match word.form {
                Form::Plain => low.to_owned(),
                form => format!("{low}/{}", &format!("{form:?}")[..2]),
            })
            .collect();
        assert_eq!(shown.join(" "), expected);
    }

    #[test]
    fn words_have_forms() {
        check("Don’t push to main.", "don't push to main");
        check("The limit is 250 MB, owner Dana.", "the limit is 250/Nu mb/Na owner dana/Na");
        check(
            "See src/main.rs and db-1.internal:5432",
            "see src/main.rs/Pl and db-1.internal:5432/Pl",
        );
        check("use `npm test` or max_retries", "use npm/Id test/Id or max_retries/Id");
        check(
            "ticket OPS-142, v2.3.1, 14:30, 2026-11-03, 90s",
            "ticket ops-142/Co v2.3.1/Co 14:30/Nu 2026-11-03/Nu 90s/Nu",
        );
        assert_eq!(
            Words::of("retries of uploads ........ 3").get(2).map(|word| word.after),
            Some(':')
        );
        check("commit 4f2a9c1d and/or nothing", "commit 4f2a9c1d/Co and/or nothing");
    }

    #[test]
    fn quoted_words_are_mentioned() {
        let words = Words::of("He said \"never push\" but we \"do\" it");
        let quoted: Vec<&str> =
            words.iter().filter(|(_, word, _)| word.quoted).map(|(_, _, low)| low).collect();
        assert_eq!(quoted, ["never", "push", "do"]);
        assert_eq!(words.find("never push"), None);
        assert_eq!(words.find("he said"), Some(0..2));
    }
}
