//! The checks that a summary must pass.

use serde::{Deserialize, Serialize};

use std::fmt;

use super::calls::calls_tool;
use super::language::{Language, language};
use super::source::SummarySource;
use super::specifics::Known;
use crate::count::TokenCounter;
use crate::text::cut;
use crate::word_list::words;

/// Why a summary isn't admitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Fault {
    /// There is nothing in it.
    Empty,
    /// It is longer than the text that it replaces.
    Longer {
        /// Its tokens.
        tokens: u64,
        /// The tokens that it would replace.
        replaced: u64,
    },
    /// It is so long that most of it would have to be cut.
    TooLong {
        /// Its tokens.
        tokens: u64,
        /// What there is room for.
        most: u64,
    },
    /// It answers or continues the transcript instead of summarising it.
    Reply,
    /// It refuses.
    Refusal,
    /// It calls a tool.
    ToolCall,
    /// Sections are missing.
    Sections(Vec<String>),
    /// It states paths, ids or numbers that the source doesn't.
    Invented(Vec<String>),
    /// It is in another language than the conversation.
    Language,
    /// It says the same over and over.
    Repeats,
}

impl Fault {
    /// Its kind, without the quoted text.
    pub fn name(&self) -> &'static str {
        match self {
            Fault::Empty => "empty",
            Fault::Longer { .. } => "longer",
            Fault::TooLong { .. } => "too-long",
            Fault::Reply => "reply",
            Fault::Refusal => "refusal",
            Fault::ToolCall => "tool-call",
            Fault::Sections(_) => "sections",
            Fault::Invented(_) => "invented",
            Fault::Language => "language",
            Fault::Repeats => "repeats",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Empty => f.write_str("it is empty"),
            Fault::Longer { tokens, replaced } => {
                write!(
                    f,
                    "its {tokens} tokens are no fewer than the {replaced} that it would replace"
                )
            }
            Fault::TooLong { tokens, most } => {
                write!(f, "it has {tokens} tokens, and there is room for {most}")
            }
            Fault::Reply => f.write_str("it answers the transcript instead of summarising it"),
            Fault::Refusal => f.write_str("it refuses instead of summarising"),
            Fault::ToolCall => f.write_str("it calls a tool"),
            Fault::Sections(missing) => {
                write!(f, "it lacks the sections {}", missing.join(", "))
            }
            Fault::Invented(invented) => {
                write!(f, "it states what the transcript doesn't: {}", invented.join(", "))
            }
            Fault::Language => f.write_str("it isn't in the language of the conversation"),
            Fault::Repeats => f.write_str("it repeats itself"),
        }
    }
}

/// How often a summary may exceed its room before it isn't worth cutting.
const LENIENCE: u64 = 2;
/// The most inventions that are named.
const NAMED: usize = 5;

/// What summaries are held against.
#[derive(Clone, Debug)]
pub struct Door {
    known: Known,
    language: Option<Language>,
    sections: Vec<String>,
    /// Tokens of what would be replaced.
    replaced: u64,
    /// Tokens that there is room for.
    most: u64,
}

impl Door {
    /// For summaries of `source`, which replace `replaced` tokens and have room for `most`.
    pub fn new(source: &SummarySource, sections: Vec<String>, replaced: u64, most: u64) -> Self {
        let language = language(source.human());
        Door { known: source.known(), language, sections, replaced, most }
    }

    /// The same, for a summarizer that was told more.
    pub(super) fn knowing(self, known: Known) -> Self {
        Door { known, ..self }
    }

    /// The text as it may be shown, or why it mayn't.
    ///
    /// # Errors
    /// The first fault that is found.
    pub fn admit(&self, text: &str, counter: &dyn TokenCounter) -> Result<String, Fault> {
        // A reader of the request sees what the model does.
        let text = cut::visible(text);
        let text = unwrapped(&text);
        if text.chars().filter(|c| c.is_alphanumeric()).count() < 3 {
            return Err(Fault::Empty);
        }
        if calls_tool(text) {
            return Err(Fault::ToolCall);
        }
        let text = self.without_preamble(text);
        if text.lines().all(|line| is_nothing(line) || heading(line).is_some()) {
            return Err(Fault::Empty);
        }
        let missing: Vec<String> = self.missing(text);
        let is_foreign = !missing.is_empty() || self.sections.is_empty();
        if is_foreign && refuses(text) {
            return Err(Fault::Refusal);
        }
        if is_foreign
            && (replies(text) || !self.sections.is_empty() && missing.len() == self.sections.len())
        {
            return Err(Fault::Reply);
        }
        if !missing.is_empty() {
            return Err(Fault::Sections(missing));
        }
        let tokens = counter.text(text).tokens;
        if tokens >= self.replaced {
            return Err(Fault::Longer { tokens, replaced: self.replaced });
        }
        if tokens > self.most.saturating_mul(LENIENCE) {
            return Err(Fault::TooLong { tokens, most: self.most });
        }
        if repeats(text) {
            return Err(Fault::Repeats);
        }
        let invented = self.known.lacks(text);
        if !invented.is_empty() {
            let named = invented.into_iter().take(NAMED);
            return Err(Fault::Invented(named.map(|word| cut::one_line(&word, 80)).collect()));
        }
        let prose: String =
            text.lines().filter(|line| heading(line).is_none()).collect::<Vec<_>>().join("\n");
        if let (Some(spoken), Some(written)) = (self.language, language(&prose))
            && spoken != written
        {
            return Err(Fault::Language);
        }
        Ok(text.to_owned())
    }

    fn missing(&self, text: &str) -> Vec<String> {
        let headings: Vec<String> =
            text.lines().filter_map(heading).map(str::to_lowercase).collect();
        let is_missing = |section: &&String| !headings.contains(&section.to_lowercase());
        self.sections.iter().filter(is_missing).cloned().collect()
    }

    /// A short line before the first section says that a summary follows.
    fn without_preamble<'a>(&self, text: &'a str) -> &'a str {
        const SHORT: usize = 200;
        let Some(first) = self.sections.first() else { return text };
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            if heading(line).is_some_and(|title| title.eq_ignore_ascii_case(first)) {
                return if at <= SHORT { &text[at..] } else { text };
            }
            at += line.len();
        }
        text
    }
}

/// Without a code block around it, and without a model's thoughts before it.
fn unwrapped(text: &str) -> &str {
    let mut text = text.trim();
    if let Some(rest) = text.strip_prefix("<think>") {
        text = rest.split_once("</think>").map_or("", |(_, rest)| rest).trim();
    }
    let Some(inner) = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return text;
    };
    match inner.split_once('\n') {
        Some((language, body)) if !language.contains(' ') && !body.contains("```") => body.trim(),
        _ => text,
    }
}

/// The title that a line is: `## Goal`, `**Goal**`, `Goal:`.
pub(crate) fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let title = if line.starts_with('#') {
        line.trim_start_matches('#')
    } else if let Some(bold) = line
        .strip_prefix("**")
        .and_then(|rest| rest.strip_suffix("**").or(rest.strip_suffix("**:")))
    {
        bold
    } else {
        line.strip_suffix(':')
            .filter(|title| title.len() <= 40 && !title.starts_with(['-', '*']))?
    };
    let title = title.trim().trim_matches('*').trim_end_matches(':').trim();
    let title =
        title.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ')')).trim();
    (!title.is_empty()).then_some(title)
}

/// Whether a line says that there is nothing to say: `none`, `N/A`, `nothing noted so far`.
pub(crate) fn is_nothing(line: &str) -> bool {
    const SAY: [&str; 24] = words!(
        "none nothing n no not tbd unknown unspecified empty blank unchanged keine keiner keines \
         nichts aucun aucune rien ninguno ninguna nada nessuno なし 无"
    );
    const WITH: [&str; 55] = words!(
        "a all and any anything applicable are as at available been by data else entry far for \
         found further given has have here in info information is it known listed mentioned more \
         moment noted now of on or present provided recorded reported section short so specified \
         stated still that the there this to was yet"
    );
    let low = line.to_lowercase();
    let mut words =
        low.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).peekable();
    if words.peek().is_none() {
        return true;
    }
    let mut says = false;
    let is_empty = words.all(|word| {
        says |= SAY.contains(&word);
        SAY.contains(&word) || WITH.contains(&word)
    });
    is_empty && says
}

fn begins(text: &str, with: &[&str]) -> bool {
    let begin: String = text.chars().take(80).collect::<String>().to_lowercase().replace('’', "'");
    with.iter().any(|phrase| begin.starts_with(phrase))
}

fn refuses(text: &str) -> bool {
    begins(
        text,
        &[
            "i'm sorry",
            "i am sorry",
            "sorry,",
            "i can't",
            "i cannot",
            "i can not",
            "i'm unable",
            "i am unable",
            "i'm not able",
            "i am not able",
            "i won't",
            "i will not",
            "as an ai",
            "unfortunately, i",
            "i must decline",
            "es tut mir leid",
            "ich kann nicht",
            "je suis désolé",
            "lo siento",
        ],
    )
}

fn replies(text: &str) -> bool {
    begins(
        text,
        &[
            "sure",
            "okay",
            "ok,",
            "ok.",
            "certainly",
            "of course",
            "let me",
            "let's",
            "i'll",
            "i will",
            "i've",
            "i have",
            "thanks",
            "thank you",
            "you're welcome",
            "great",
            "got it",
            "understood",
            "yes,",
            "no,",
            "done.",
            "now i",
            "now let",
            "next, i",
            "first, i",
            "how can i",
            "what would you",
            "would you like",
        ],
    )
}

/// Most lines, or most of one line's words, have been said before.
fn repeats(text: &str) -> bool {
    let is_few = |all: usize, different: usize| all >= 12 && different * 5 < all * 2;
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| line.len() > 8 && heading(line).is_none() && !is_nothing(line))
        .collect();
    let different: std::collections::HashSet<&str> = lines.iter().copied().collect();
    // One and the same in every section.
    if lines.len() >= 4 && different.len() == 1 {
        return true;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let triples: std::collections::HashSet<&[&str]> = words.windows(3).collect();
    is_few(lines.len(), different.len())
        || words.len() >= 60 && is_few(words.len() - 2, triples.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_is_seen() {
        for line in [
            "none",
            "- None.",
            "N/A",
            "**none so far here**",
            "Nothing has been noted yet.",
            "none in short",
            "Keine.",
            "(not applicable)",
            "No information is available.",
            "…",
            "unknown",
        ] {
            assert!(is_nothing(line), "{line}");
        }
        for line in [
            "To go on.",
            "Not started.",
            "None of the tests fail.",
            "No deploys on Friday.",
            "Nothing is deployed.",
            "All of it.",
            "It is here.",
            "done",
            "5020",
        ] {
            assert!(!is_nothing(line), "{line}");
        }
    }
}
