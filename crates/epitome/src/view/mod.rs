//! What the model is shown of a transcript: one fate for every entry, and at most one checkpoint.

mod label;

use std::sync::Arc;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::transcript::{Marks, Part, PartKind, Slot};

pub use label::{BadLabel, Label};

/// Why an entry or slot isn't shown as it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// A giant result was excerpted when it arrived.
    Arrived,
    /// The same is said again later: a pointer to it.
    Repeated,
    /// Read or run again later, or overwritten since: the newest counts.
    Superseded,
    /// A failed call: it left with its result, or the result became a stub.
    FailedCall,
    /// An old tool output became a one-line stub.
    OldOutput,
    /// Bulky arguments of an old call were cut to their beginnings.
    LongArguments,
    /// Reasoning that the model no longer needs.
    OldReasoning,
    /// Reasoning that is bound to a prefix which this compaction changes.
    BoundReasoning,
    /// A long text was cut to its telling lines.
    LongText,
    /// An old image or document.
    OldMedia,
    /// The slot alone is larger than its share of the target.
    TooLarge,
    /// Stood for by the checkpoint.
    OlderStep,
    /// Older than what was to be kept.
    NotRecent,
    /// Dropped as a last resort: nothing smaller reaches the target.
    LastResort,
    /// Nothing was left of it once its parts were gone.
    Emptied,
    /// A client's note for one request, among what was compacted.
    OneRequest,
    /// As somebody else decided who was asked for the whole compaction.
    Delegated,
    /// A reason of a caller's own strategy. A label that is one of the names above is read back as that one.
    #[serde(untagged)]
    Custom(Label),
}

impl Reason {
    /// Whether a line that names the content replaces it.
    pub(crate) fn leaves_stub(self) -> bool {
        matches!(
            self,
            Reason::OldOutput | Reason::Repeated | Reason::Superseded | Reason::FailedCall
        )
    }

    /// The reason in words.
    pub fn words(&self) -> &str {
        match self {
            Reason::Arrived => "giant when it arrived, excerpted",
            Reason::Repeated => "said again later, replaced by a pointer",
            Reason::Superseded => "superseded by what came later",
            Reason::FailedCall => "failed call, stubbed",
            Reason::LongArguments => "bulky arguments of an old call, shortened",
            Reason::OldOutput => "old tool output, stubbed",
            Reason::OldReasoning => "old reasoning, dropped",
            Reason::BoundReasoning => "reasoning bound to the old prefix, dropped",
            Reason::LongText => "long text, cut to its telling lines",
            Reason::OldMedia => "old image or document, replaced by a note",
            Reason::TooLarge => "larger than its share of the target, excerpted",
            Reason::OlderStep => "folded into the checkpoint",
            Reason::NotRecent => "older than what is kept, folded",
            Reason::LastResort => "folded as a last resort",
            Reason::Emptied => "empty once its parts were gone",
            Reason::Delegated => "as another compactor decided",
            Reason::OneRequest => "a client's note for one request",
            Reason::Custom(label) => label.as_str(),
        }
    }
}

/// What is put in place of a slot's payload. The format closes the hole legally.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Put {
    /// Words: a text, a result's whole content, or a note where a medium was.
    Text(Arc<str>),
    /// A JSON object, for a call's arguments.
    Arguments(Arc<str>),
    /// Nothing: the part leaves.
    Nothing,
}

impl Put {
    /// Whether it can stand where the payload of `part` stands. A call has arguments, which are one JSON object; only a
    /// tool that is given plain words is given others.
    pub fn suits(&self, part: &Part<'_>) -> bool {
        match (self, part.kind()) {
            (Put::Arguments(text), PartKind::Call) => {
                is_object(text) || part.is(Marks::LITERAL) && !is_object(&part.text())
            }
            (Put::Arguments(_), _) | (Put::Text(_), PartKind::Call) => false,
            (Put::Text(_) | Put::Nothing, _) => true,
        }
    }
}

fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// One slot replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartEdit {
    /// Which part.
    pub at: Slot,
    /// What stands there now.
    pub put: Put,
    /// Why.
    pub reason: Reason,
}

/// What becomes of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// Shown byte for byte.
    Keep,
    /// Shown with slots replaced, in slot order.
    Edit(Box<[PartEdit]>),
    /// Not shown; the checkpoint stands for it.
    Fold(Reason),
    /// Not shown.
    Drop(Reason),
}

impl Fate {
    /// Whether the model sees the entry.
    pub fn is_shown(&self) -> bool {
        matches!(self, Fate::Keep | Fate::Edit(_))
    }
}

/// A checkpoint and the entry before which it stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// Index of the entry (or the transcript's length) before which it is rendered.
    pub before: usize,
    /// The whole message.
    pub text: Arc<str>,
}

/// What the model is shown of a transcript.
///
/// Fates are run-length coded: a session compacted fifty times costs its entries plus fifty small
/// views.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    runs: Vec<(usize, Fate)>,
    checkpoint: Option<Placed>,
}

impl View {
    /// The view that shows all of `len` entries.
    pub fn whole(len: usize) -> Self {
        let runs = if len == 0 { Vec::new() } else { vec![(len, Fate::Keep)] };
        View { runs, checkpoint: None }
    }

    /// Appends the fate of the next entry.
    pub fn push(&mut self, fate: Fate) {
        match self.runs.last_mut() {
            Some((len, last)) if *last == fate && !matches!(fate, Fate::Edit(_)) => *len += 1,
            _ => self.runs.push((1, fate)),
        }
    }

    /// Puts the checkpoint.
    pub fn place(&mut self, checkpoint: Placed) {
        self.checkpoint = Some(checkpoint);
    }

    /// Number of entries that the view speaks of.
    pub fn len(&self) -> usize {
        self.runs.iter().map(|(len, _)| len).sum()
    }

    /// Whether it speaks of no entry.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The fate of each entry, in order.
    pub fn fates(&self) -> impl Iterator<Item = &Fate> {
        self.runs.iter().flat_map(|(len, fate)| std::iter::repeat_n(fate, *len))
    }

    /// The checkpoint, if there is one.
    pub fn checkpoint(&self) -> Option<&Placed> {
        self.checkpoint.as_ref()
    }

    /// Whether everything is shown as it was said.
    pub fn is_whole(&self) -> bool {
        self.checkpoint.is_none() && self.runs.iter().all(|(_, fate)| *fate == Fate::Keep)
    }

    /// The first entry of the tail that is shown without a gap.
    pub fn first_kept(&self) -> usize {
        let mut first = 0;
        let mut at = 0;
        for (len, fate) in &self.runs {
            at += len;
            if !fate.is_shown() {
                first = at;
            }
        }
        first
    }

    /// Number of newest entries that are shown byte for byte.
    pub fn kept_suffix(&self) -> usize {
        let runs = self.runs.iter().rev().take_while(|(_, fate)| *fate == Fate::Keep);
        runs.map(|(len, _)| len).sum()
    }

    /// Number of leading entries that are shown byte for byte, checkpoint apart: what a prompt
    /// cache can keep.
    pub fn kept_prefix(&self) -> usize {
        let kept = self.fates().take_while(|fate| **fate == Fate::Keep).count();
        self.checkpoint.as_ref().map_or(kept, |placed| kept.min(placed.before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_merged_and_cover() {
        let mut view = View::whole(2);
        view.push(Fate::Fold(Reason::OlderStep));
        view.push(Fate::Fold(Reason::OlderStep));
        view.push(Fate::Keep);
        assert_eq!(view.runs.len(), 3);
        assert_eq!(view.len(), 5);
        assert_eq!(view.kept_prefix(), 2);
        assert!(!view.is_whole());
        view.place(Placed { before: 1, text: "c".into() });
        assert_eq!(view.kept_prefix(), 1);
    }

    #[test]
    fn only_a_view_of_nothing_is_empty() {
        assert!(View::default().is_empty() && View::whole(0).is_empty());
        assert!(!View::whole(1).is_empty());
    }

    #[test]
    fn a_calls_arguments_are_one_object_or_the_words_that_its_tool_takes() {
        let body = r#"[{"role":"assistant","tool_calls":[
            {"id":"a","type":"function","function":{"name":"f","arguments":"{\"k\":1}"}},
            {"id":"b","type":"custom","custom":{"name":"g","input":"some words"}}]},{"role":"user","content":"x"}]"#;
        let request = crate::wire::parse(crate::wire::Format::OpenaiChat, body.to_owned());
        let transcript = request.expect("it is JSON").transcript;
        let parts: Vec<_> = transcript.entries().flat_map(|entry| entry.parts()).collect();
        let [function, custom, text] = &parts[..] else { panic!("{parts:?}") };
        for (json, fits) in [
            ("{}", true),
            (r#" {"k": [1]} "#, true),
            ("[1, 2]", false),
            (r#"{"k":1"#, false),
            (r#"{"k":1},"name":"rm_rf""#, false),
            ("", false),
        ] {
            let put = Put::Arguments(json.into());
            assert_eq!(put.suits(function), fits, "{json}");
            assert!(put.suits(custom) && !put.suits(text), "{json}");
        }
        let words = Put::Text("x".into());
        assert!(!words.suits(function) && words.suits(text) && Put::Nothing.suits(function));
    }

    #[test]
    fn only_what_a_line_stands_for_leaves_one() {
        assert!(Reason::OldOutput.leaves_stub() && Reason::FailedCall.leaves_stub());
        assert!(!Reason::LongText.leaves_stub() && !Reason::OlderStep.leaves_stub());
    }
}
