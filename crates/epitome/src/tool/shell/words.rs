//! A command line as its simple commands and their words.

use std::ops::Range;

use super::Deed;

/// A piece of a command.
#[derive(Debug)]
pub(super) enum Word {
    Text(String),
    /// `>` or `>>` into the file that follows, with what that does to it where it is worth a name.
    Into(Option<Deed>),
}

impl Word {
    pub(super) fn text(self) -> Option<String> {
        match self {
            Word::Text(text) => Some(text),
            Word::Into(_) => None,
        }
    }
}

/// A simple command.
#[derive(Debug, Default)]
pub(super) struct Segment {
    /// Its words, without their quotes.
    pub(super) words: Vec<Word>,
    /// Where it stands in the line.
    pub(super) span: Range<usize>,
}

/// A command line in parts.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) segments: Vec<Segment>,
    /// The lines whose output stands in these words.
    pub(super) substituted: Vec<String>,
    /// Whether it isn't understood: it ends in a quote or a document.
    pub(super) is_odd: bool,
}

impl Line {
    pub(super) fn read(line: &str) -> Self {
        let mut parts = Line { segments: vec![Segment::default()], ..Line::default() };
        let mut word: Option<String> = None;
        let mut quote: Option<char> = None;
        // The marks that end the here documents begun on this line.
        let mut marks: Vec<Mark> = Vec::new();
        let mut chars = Chars(line.chars());
        while let Some(c) = chars.next() {
            let behind = line.len() - chars.0.as_str().len();
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (Some('"') | None, '`') => {
                    parts.substituted.push(chars.by_ref().take_while(|&c| c != '`').collect());
                }
                (Some('"') | None, '$') if chars.begins_substitution() => {
                    chars.next();
                    // No path: what stands here isn't known.
                    word.get_or_insert_default().push('$');
                    parts.substituted.push(parenthesized(&mut chars));
                }
                // Arithmetic: its `<<` begins no document. Else it is a subshell in one.
                (None, '(') if chars.next_if_eq('(').is_some() => {
                    let inner = parenthesized(&mut chars);
                    if chars.next_if_eq(')').is_none() || runs_something(&inner) {
                        parts.substituted.push(inner);
                    }
                }
                (Some('"') | None, '\\') => word.get_or_insert_default().extend(chars.next()),
                (Some(_), c) => word.get_or_insert_default().push(c),
                (None, '"' | '\'') => {
                    quote = Some(c);
                    word.get_or_insert_default();
                }
                (None, '#') if word.is_none() => while chars.next_if(|&c| c != '\n').is_some() {},
                (None, '<') if chars.next_if_eq('<').is_some() => {
                    parts.end(&mut word);
                    if chars.next_if_eq('<').is_some() {
                        // What follows is a text, and no file.
                        parts.last().push(Word::Into(None));
                    } else {
                        marks.push(Mark::read(&mut chars));
                    }
                }
                (None, ' ' | '\t' | '|' | '&' | ';' | '\n' | '(' | ')' | '>') => {
                    // `2>` and `>` go to a file alike.
                    word.take_if(|word| c == '>' && word.bytes().all(|b| b.is_ascii_digit()));
                    parts.end(&mut word);
                    if c == '>' {
                        parts.redirect(&mut chars);
                    } else if !matches!(c, ' ' | '\t') {
                        parts.begin(behind - 1, behind);
                    }
                    if c == '\n' && !marks.is_empty() {
                        parts.is_odd |= marks.drain(..).any(|mark| !mark.is_passed(&mut chars));
                        let behind = line.len() - chars.0.as_str().len();
                        parts.begin(behind, behind);
                    }
                }
                (None, c) => word.get_or_insert_default().push(c),
            }
        }
        parts.end(&mut word);
        parts.begin(line.len(), line.len());
        parts.is_odd |= quote.is_some() || !marks.is_empty();
        parts
    }

    fn last(&mut self) -> &mut Vec<Word> {
        &mut self.segments.last_mut().expect("there is always one").words
    }

    /// The command so far ends at `end`, and the next one begins at `start`.
    fn begin(&mut self, end: usize, start: usize) {
        self.segments.last_mut().expect("there is always one").span.end = end;
        self.segments.push(Segment { words: Vec::new(), span: start..start });
    }

    fn end(&mut self, word: &mut Option<String>) {
        let word = word.take().map(Word::Text);
        self.last().extend(word);
    }

    /// What stands behind a `>`.
    fn redirect(&mut self, chars: &mut Chars<'_>) {
        let mut deed = Deed::Write;
        while chars.next_if_eq('>').is_some() {
            deed = Deed::Edit;
        }
        let is_joined = chars.next_if_eq('&').is_some();
        if is_joined && chars.next_if(|c| c.is_ascii_digit() || *c == '-').is_some() {
            while chars.next_if(char::is_ascii_digit).is_some() {}
        } else {
            chars.next_if_eq('|');
            self.last().push(Word::Into(Some(deed)));
        }
    }
}

/// The characters that are left of a line.
struct Chars<'a>(std::str::Chars<'a>);

impl Iterator for Chars<'_> {
    type Item = char;

    fn next(&mut self) -> Option<char> {
        self.0.next()
    }
}

impl Chars<'_> {
    fn next_if(&mut self, is: impl Fn(&char) -> bool) -> Option<char> {
        let next = self.0.clone().next().filter(is)?;
        self.0.next();
        Some(next)
    }

    /// Whether these are behind the `$` of `$(…)`. `$((…))` calculates.
    fn begins_substitution(&self) -> bool {
        let rest = self.0.as_str();
        rest.starts_with('(') && !rest.starts_with("((")
    }

    fn next_if_eq(&mut self, one: char) -> Option<char> {
        self.next_if(|next| *next == one)
    }
}

/// Whether a text in which the shell puts values runs a command for one.
fn runs_something(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

/// The text before the parenthesis that closes an opened one; parentheses in quotes don't count.
fn parenthesized(chars: &mut Chars<'_>) -> String {
    let mut depth = 1;
    let mut quote = None;
    let mut is_escaped = false;
    let inner = chars.take_while(|&c| {
        match (quote, c) {
            _ if is_escaped => is_escaped = false,
            (Some('"') | None, '\\') => is_escaped = true,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            (None, _) => {}
        }
        depth > 0
    });
    inner.collect()
}

/// What ends a here document.
struct Mark {
    text: String,
    /// Whether the document is data only, and nothing is put into it.
    is_quoted: bool,
}

impl Mark {
    /// The mark behind `<<`.
    fn read(chars: &mut Chars<'_>) -> Self {
        chars.next_if_eq('-');
        while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        let mut mark = Mark { text: String::new(), is_quoted: false };
        while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !"|&;()<>".contains(*c)) {
            if matches!(c, '"' | '\'' | '\\') {
                mark.is_quoted = true;
            } else {
                mark.text.push(c);
            }
        }
        mark
    }

    /// Goes past a here document; and whether it is data that ends there.
    fn is_passed(&self, chars: &mut Chars<'_>) -> bool {
        let mut line = String::new();
        let mut is_data = true;
        for c in chars {
            if c != '\n' {
                line.push(c);
            } else if line.trim() == self.text {
                return is_data;
            } else {
                is_data &= self.is_quoted || !runs_something(&line);
                line.clear();
            }
        }
        is_data && line.trim() == self.text
    }
}
