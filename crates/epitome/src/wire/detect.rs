//! Which format a text is in, by its content.
//!
//! One pass over the members: each that only some format has is evidence for it. A fact that no other
//! format can show ends the search; hints add up. What shows nothing is read as OpenAI Chat, the most
//! permissive reading.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{Format, WireError, parse};
use crate::json::{JsonError, Scanner, Span, unquote};
use crate::request::Request;

/// Reads `source` in the format that its content shows, plain messages as OpenAI Chat.
///
/// # Errors
/// What was wrong with it, read as the format that it shows.
pub fn detect(source: impl Into<Arc<String>>) -> Result<Request, WireError> {
    let source = source.into();
    parse(shown_format(&source), source)
}

/// The format that the content of `source` shows; [`detect`] reads it so.
pub fn shown_format(source: &str) -> Format {
    Evidence::of(source).verdict()
}

/// Where in a request a member stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In a whole body; an object at the top may be one.
    Body,
    /// In an element of the tool definitions.
    Tool,
    /// In a message or item.
    Entry,
    /// In the first of them.
    First,
    /// In an element of a message's content.
    Block,
    /// In a message whose content is a string.
    Words,
}

/// How much a member says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EvidenceKind {
    /// No other format has it.
    Proof,
    /// Few formats have it; hints tell them apart.
    Share,
    /// Compatibles of other formats have it too.
    Hint,
    /// This format hasn't got it.
    Against,
    /// No request of this format may have it.
    Never,
}

use EvidenceKind::{Against, Hint, Never, Proof, Share};
use Place::{Block, Body, Entry, First, Tool, Words};

/// More hints than there can be.
const NEVER: i32 = 1 << 30;

/// More than any format gets that has no such member.
const SHARE: i32 = 1 << 20;

/// Evidence for a format: a member's place, its key, its value if it must be one of these, and the weight. Null is no
/// evidence.
pub(crate) type Sign = (Place, &'static str, &'static [&'static str], EvidenceKind);

/// Why the walk over the members ends early.
enum Stop {
    /// There is proof.
    Proven(Format),
    /// The text isn't JSON from here on.
    Broken,
}

impl From<JsonError> for Stop {
    fn from(_: JsonError) -> Self {
        Stop::Broken
    }
}

/// What the members say so far.
struct Evidence {
    proven: Option<Format>,
    hints: Vec<(Format, i32)>,
    /// The member of a body that has its entries: nothing in it is of a format that has them in another.
    list: Option<&'static str>,
}

impl Evidence {
    fn of(source: &str) -> Self {
        let mut evidence = Evidence { proven: None, hints: Vec::new(), list: None };
        let mut scanner = Scanner::new(source.strip_prefix('\u{feff}').unwrap_or(source));
        if let Err(Stop::Proven(format)) = evidence.top(&mut scanner) {
            evidence.proven = Some(format);
        }
        evidence
    }

    fn verdict(&self) -> Format {
        // Of formats with as many hints the first one, as they are listed.
        let rank = |(format, hints): &&(Format, i32)| (*hints, Reverse(*format as usize));
        let may_be = |hint: &&(Format, i32)| hint.1 > 0 && self.may_be(hint.0);
        let hinted = self.hints.iter().filter(may_be).max_by_key(rank);
        self.proven.or(hinted.map(|(format, _)| *format)).unwrap_or(Format::PLAIN)
    }

    fn may_be(&self, format: Format) -> bool {
        self.list.is_none_or(|list| format.list() == list)
    }

    /// A body, a list of entries, or entries one after the other.
    fn top(&mut self, scanner: &mut Scanner<'_>) -> Result<(), Stop> {
        let mut places: &[Place] = &[Body, Entry, First];
        while let Some(byte) = scanner.peek() {
            match byte {
                b'[' => self.each(scanner, &[Entry])?,
                _ => self.members(scanner, places)?,
            }
            places = &[Body, Entry];
        }
        Ok(())
    }

    /// The elements of a list.
    fn each(&mut self, scanner: &mut Scanner<'_>, places: &[Place]) -> Result<(), Stop> {
        let mut first = if places == [Entry] { Some(&[Entry, First]) } else { None };
        scanner.array(|scanner| {
            let places = first.take().map_or(places, |first| first.as_slice());
            self.members(scanner, places)
        })?;
        Ok(())
    }

    /// The members of an object; anything else says nothing.
    fn members(&mut self, scanner: &mut Scanner<'_>, places: &[Place]) -> Result<(), Stop> {
        if scanner.peek() != Some(b'{') {
            scanner.value()?;
            return Ok(());
        }
        let text = scanner.text();
        scanner.object(|scanner, key| {
            let name = unquote(key.of(text));
            let is = |place| places.contains(&place);
            let inner = match name.as_ref() {
                list if is(Body) && list_called(list).is_some() => Some(Entry),
                "tools" if is(Body) => Some(Tool),
                // Bedrock's has blocks without a type, as its messages have.
                "system" if is(Body) => Some(Block),
                "content" | "output" if is(Entry) => Some(Block),
                _ => None,
            };
            if inner == Some(Entry) && scanner.peek() == Some(b'[') && self.list.is_none() {
                self.list = list_called(&name);
            }
            let start = scanner.position();
            match inner {
                Some(place) if scanner.peek() == Some(b'[') => self.each(scanner, &[place])?,
                _ => {
                    scanner.value()?;
                }
            }
            let value = Span::new(start..scanner.position()).of(text).trim();
            if inner == Some(Block) && value.starts_with('"') {
                self.weigh(&[Words], &name, value)?;
            }
            self.weigh(places, &name, value)
        })?;
        Ok(())
    }

    /// What one member says.
    fn weigh(&mut self, places: &[Place], name: &str, value: &str) -> Result<(), Stop> {
        if value == "null" {
            return Ok(());
        }
        let word =
            if value.starts_with('"') && value.len() <= 64 { unquote(value) } else { "".into() };
        for format in Format::ALL {
            let terms = format.dialect().terms();
            for (place, key, words, weight) in terms.evidence {
                // An item of Responses may have an `input` too; there it says the same.
                let is_it = *key == name && places.contains(place);
                if is_it && (words.is_empty() || words.contains(&word.as_ref())) {
                    self.note(format, *weight)?;
                }
            }
            let ends = |end: &&str| word.ends_with(*end) && !is_listed(&word);
            if name == "type" && places.contains(&Entry) && terms.item_types.iter().any(ends) {
                self.note(format, Proof)?;
            }
            let names = |part: &&str| word.contains(*part);
            if name == "model" && places.contains(&Body) && terms.models.iter().any(names) {
                self.note(format, Hint)?;
            }
        }
        Ok(())
    }

    fn note(&mut self, format: Format, weight: EvidenceKind) -> Result<(), Stop> {
        if !self.may_be(format) {
            return Ok(());
        }
        let hint = match weight {
            Proof => return Err(Stop::Proven(format)),
            Share => SHARE,
            Hint => 1,
            Against => -1,
            Never => -NEVER,
        };
        match self.hints.iter_mut().find(|(noted, _)| *noted == format) {
            Some((_, hints)) => *hints = hints.saturating_add(hint),
            None => self.hints.push((format, hint)),
        }
        Ok(())
    }
}

/// Whether some format names entries of this type, which tells more than how it ends.
fn is_listed(kind: &str) -> bool {
    let signs = Format::ALL.iter().flat_map(|format| format.dialect().terms().evidence);
    let mut kinds = signs.filter(|(place, key, ..)| (*place, *key) == (Entry, "type"));
    kinds.any(|(_, _, kinds, _)| kinds.contains(&kind))
}

/// The member in which some format has its entries.
fn list_called(key: &str) -> Option<&'static str> {
    let mut lists = Format::ALL.iter().map(|format| format.list());
    lists.find(|list| *list == key)
}

#[cfg(test)]
mod tests {
    use Format::{Anthropic, Bedrock, Gemini, GeminiInteractions, OpenaiChat, OpenaiResponses};

    use super::*;

    fn check(text: &str, format: Format) {
        for text in [text.to_owned(), format!("\u{feff}\n {text}\r\n")] {
            assert_eq!(Evidence::of(&text).verdict(), format, "{text}");
        }
    }

    #[test]
    fn formats_show_in_their_members() {
        for (text, format) in [
            (r#"{"messages":[]}"#, OpenaiChat),
            (r#"[{"role":"user","content":"x"}]"#, OpenaiChat),
            (r#"{"model":"m","input":"x"}"#, OpenaiResponses),
            (r#"{"input":[{"role":"user","content":"x"}],"model":"claude-x"}"#, OpenaiResponses),
            (r#"[{"type":"message","role":"user","content":"x"}]"#, OpenaiResponses),
            (r#"{"role":"user","content":[{"text":"x","type":"input_text"}]}"#, OpenaiResponses),
            ("{\"type\":\"reasoning\",\"summary\":[]}\n{\"type\":\"x_call\"}", OpenaiResponses),
            (r#"[{"content":"x","role":"user"},{"call_id":"c","output":""}]"#, OpenaiResponses),
            (r#"{"type":"message","role":"user","content":[{"type":"text"}]}"#, OpenaiChat),
            (r#"{"type":"message","role":"user","content":[],"model":"claude-x"}"#, Anthropic),
            (r#"{"messages":[{"role":"user","content":"x"}],"system":"y"}"#, Anthropic),
            (r#"{"messages":[{"role":"user","content":"x"}],"model":"claude-x"}"#, Anthropic),
            (r#"[{"role":"user","content":[{"type":"tool_result"}]}]"#, Anthropic),
            (
                r#"[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"x"}}]}]"#,
                Anthropic,
            ),
            (
                r#"{"input":[{"content":[{"data":"AAAA","type":"image"}],"type":"user_input"}],"model":"m"}"#,
                GeminiInteractions,
            ),
            // A text without its type is no proof of Converse.
            (r#"{"model":"m","messages":[{"role":"user","content":[{"text":"x"}]}]}"#, OpenaiChat),
            (
                r#"[{"role":"user","content":"x"},{"role":"user","content":[{"text":"x"}]}]"#,
                OpenaiChat,
            ),
            // What has the entries decides, whatever is in them.
            (r#"{"messages":[{"role":"user","content":[{"type":"input_text"}]}]}"#, OpenaiChat),
            (r#"{"messages":[{"role":"user","parts":[{"text":"x"}]}]}"#, OpenaiChat),
            (
                r#"{"model":"m","input":[{"role":"user","content":[{"type":"text"},{"type":"text"}]}]}"#,
                OpenaiResponses,
            ),
            (r#"{"input":[{"role":"user","content":[{"type":"tool_result"}]}]}"#, OpenaiResponses),
            (r#"{"contents":[{"parts":[{"text":"x"}]}]}"#, Gemini),
            (r#"[{"role":"model","parts":[{"text":"x"}]}]"#, Gemini),
            ("{\"parts\":[],\"role\":\"user\"}\n", Gemini),
            (r#"{"messages":[{"role":"user","content":[{"text":"x"}]}]}"#, Bedrock),
            (
                r#"{"system":[{"text":"x"}],"messages":[{"role":"user","content":[{"text":"x"}]}],"inferenceConfig":{}}"#,
                Bedrock,
            ),
            (
                r#"{"system":[{"text":"x"}],"messages":[{"role":"user","content":[{"text":"x"}]}]}"#,
                Bedrock,
            ),
            (
                r#"{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}],"system":[{"type":"text","text":"x"}]}"#,
                Anthropic,
            ),
            (
                r#"{"model":"claude-x","messages":[{"role":"user","content":"x"}],"response_format":{},"n":2}"#,
                OpenaiChat,
            ),
            (
                r#"[{"role":"user","content":[{"toolResult":{"toolUseId":"a","content":[]}}]}]"#,
                Bedrock,
            ),
            (
                r#"{"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}"#,
                OpenaiChat,
            ),
            (
                r#"{"model":"x/claude-y","messages":[{"role":"system","content":"x"},{"role":"user","content":"y"}]}"#,
                OpenaiChat,
            ),
            ("{\"role\":\"system\"}\n{\"role\":\"user\",\"model\":\"claude-x\"}", OpenaiChat),
            (r#"{"model":"claude-x","messages":[{"role":"user"},{"role":"system"}]}"#, Anthropic),
            (r#"{"input":[{"role":"system","content":"x"}]}"#, OpenaiResponses),
            // Compatibles take markers and modes of other formats along.
            (
                r#"{"messages":[{"role":"user","content":[{"type":"text","cache_control":{}}]},{"role":"tool"}],"thinking":{}}"#,
                OpenaiChat,
            ),
            (r#"{"messages":[{"role":"assistant","content":null,"tool_calls":null}]}"#, OpenaiChat),
            (
                r#"{"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":[]}],"tool_calls":[]}]}"#,
                OpenaiChat,
            ),
            (r#"[{"role":"assistant","content":[{"type":"thinking","thinking":"x"}]}]"#, Anthropic),
        ] {
            check(text, format);
        }
    }

    #[test]
    fn what_is_cut_off_is_still_told() {
        check(r#"{"model":"m","input":[{"type":"message","role":"us"#, OpenaiResponses);
        check("", OpenaiChat);
        check("{\"a", OpenaiChat);
    }
}
