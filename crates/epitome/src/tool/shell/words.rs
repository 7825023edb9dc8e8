//! The simple commands of a shell line, in words.

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

/// The simple commands of a line, in words without their quotes, and the lines whose output stands in these words.
pub(super) fn segments(line: &str) -> (Vec<Vec<Word>>, Vec<String>) {
    let mut segments = vec![Vec::new()];
    let mut substituted = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    // The marks that end the here documents begun on this line.
    let mut marks: Vec<String> = Vec::new();
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '`') => {
                substituted.push(chars.by_ref().take_while(|&c| c != '`').collect());
            }
            (Some('"'), '$') if chars.next_if_eq(&'(').is_some() => {
                substituted.push(parenthesized(&mut chars));
            }
            // Arithmetic: its `<<` begins no document.
            (None, '(') if chars.next_if_eq(&'(').is_some() => {
                parenthesized(&mut chars);
                chars.next_if_eq(&')');
            }
            (Some('"') | None, '\\') => word.get_or_insert_default().extend(chars.next()),
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => while chars.next_if(|&c| c != '\n').is_some() {},
            (None, '<') if chars.next_if_eq(&'<').is_some() => {
                let last = segments.last_mut().expect("there is always one");
                last.extend(word.take().map(Word::Text));
                if chars.next_if_eq(&'<').is_some() {
                    // What follows is a text, and no file.
                    last.push(Word::Into(None));
                } else {
                    marks.push(mark(&mut chars));
                }
            }
            (None, ' ' | '\t' | '|' | '&' | ';' | '\n' | '(' | ')' | '>') => {
                let last = segments.last_mut().expect("there is always one");
                // `2>` and `>` go to a file alike.
                word.take_if(|word| c == '>' && word.bytes().all(|b| b.is_ascii_digit()));
                last.extend(word.take().map(Word::Text));
                if c == '>' {
                    let mut deed = Deed::Write;
                    while chars.next_if_eq(&'>').is_some() {
                        deed = Deed::Edit;
                    }
                    let is_joined = chars.next_if_eq(&'&').is_some();
                    if is_joined && chars.next_if(|c| c.is_ascii_digit() || *c == '-').is_some() {
                        while chars.next_if(char::is_ascii_digit).is_some() {}
                    } else {
                        chars.next_if_eq(&'|');
                        last.push(Word::Into(Some(deed)));
                    }
                } else if !matches!(c, ' ' | '\t') {
                    segments.push(Vec::new());
                }
                if c == '\n' {
                    marks.drain(..).for_each(|mark| pass_document(&mark, &mut chars));
                }
            }
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    let last = segments.last_mut().expect("there is always one");
    last.extend(word.map(Word::Text));
    (segments, substituted)
}

/// What stands before the parenthesis that closes one that was opened.
fn parenthesized(chars: &mut Chars<'_>) -> String {
    let mut depth = 1;
    let inner = chars.take_while(|c| {
        depth += i32::from(*c == '(') - i32::from(*c == ')');
        depth > 0
    });
    inner.collect()
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// The mark behind `<<`.
fn mark(chars: &mut Chars<'_>) -> String {
    chars.next_if_eq(&'-');
    while chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
    let mut mark = String::new();
    while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !"|&;()<>".contains(*c)) {
        mark.extend(Some(c).filter(|c| !matches!(c, '"' | '\'' | '\\')));
    }
    mark
}

/// Goes past a here document, which is data.
fn pass_document(mark: &str, chars: &mut Chars<'_>) {
    let mut line = String::new();
    for c in chars {
        if c != '\n' {
            line.push(c);
        } else if line.trim() == mark {
            return;
        } else {
            line.clear();
        }
    }
}
