//! What a generated case has in it, and how often that occurred: a law that was never put to the
//! test by a feature isn't tested for it.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

use epitome::wire::Format;

macro_rules! features {
    ($($name:ident $words:literal,)*) => {
        /// Something about a transcript that has broken compactions before.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Feature {
            $(#[doc = $words] $name,)*
        }

        impl Feature {
            /// All of them.
            pub const ALL: &[Feature] = &[$(Feature::$name),*];

            /// The feature in words.
            pub fn words(self) -> &'static str {
                match self { $(Feature::$name => $words,)* }
            }
        }
    };
}

features! {
    OpenaiChat "OpenAI chat",
    Anthropic "Anthropic",
    Gemini "Gemini",
    OpenaiResponses "OpenAI Responses",
    Bedrock "Bedrock Converse",
    Interactions "Gemini Interactions",
    Body "whole body",
    Array "bare array",
    Lines "JSON lines",
    Batch "tool call",
    ParallelBatch "parallel batch",
    AssistantRun "assistant entries in a row",
    SplitResults "results in several user entries",
    ReversedResults "results in another order than their calls",
    MixedUserEntry "mixed user entry",
    MediaInResult "media in a result",
    MediaInUser "media of the user",
    ErrorResult "failed result",
    EmptyResult "result without words",
    DanglingEnd "open call at the end",
    PlainReasoning "reasoning in the clear",
    SignedReasoning "signed reasoning",
    RedactedReasoning "redacted reasoning",
    ManualThinking "manual thinking mode",
    BoundModel "model that binds reasoning to the prefix",
    BoundByHand "the same with thinking enabled by hand",
    SignedCall "signature beside a call",
    DemandedSignatures "model that demands signatures",
    NoRole "entry without a role",
    SnakeCase "members in snake case",
    Elsewhere "earlier history that is elsewhere",
    Continued "response or conversation that goes on",
    WordsForInput "plain words for the list of items",
    OwnIds "items with ids of their own",
    TiedToThought "items tied to a thought by their ids",
    ItemBetween "items between a call and its output",
    CustomCall "custom tool",
    ShellCall "shell or patch",
    FixedOutput "output that no words can replace",
    Program "program of the provider's",
    StatefulItem "settings or tools in mid-conversation",
    Approval "approval",
    Reference "reference to an item",
    Trigger "compaction trigger",
    ServerTool "server tool",
    MiddleSystem "mid-conversation instructions",
    Compaction "provider's compaction block",
    OpaquePart "opaque part",
    InjectedText "injected text",
    LegacyFunction "call without id",
    ReusedIds "ids used again in a later batch",
    CacheControl "cache marker",
    NullMember "null member",
    StringContent "content as a string",
    ListContent "content as a list",
    LongText "long text",
    OddText "texts that look like structure",
    RandomSpace "unusual white space",
    KeyOrder "unusual key order",
    UnknownField "unknown field",
    OddNumber "unusual number",
    EscapedUnicode "escaped Unicode",
    RawUnicode "raw Unicode",
    DuplicateKey "duplicate key",
    MiddlePin "pin in the middle",
    LargeEntry "an entry larger than the target",
}

/// The features of one case.
pub type Features = BTreeSet<Feature>;

/// How often each feature occurred.
///
/// Takes cases through a shared reference, since property tests are closures.
#[derive(Debug, Default)]
pub struct Histogram {
    tally: Mutex<Tally>,
}

#[derive(Clone, Debug, Default)]
struct Tally {
    cases: usize,
    counts: Vec<usize>,
}

impl Histogram {
    /// Counts a case.
    pub fn count(&self, features: &Features) {
        let mut tally = self.tally.lock().expect("no test panics while it counts");
        tally.cases += 1;
        tally.counts.resize(Feature::ALL.len(), 0);
        for feature in features {
            tally.counts[*feature as usize] += 1;
        }
    }

    /// Number of cases so far.
    pub fn cases(&self) -> usize {
        self.snapshot().cases
    }

    /// In how many percent of the cases `feature` occurred.
    pub fn percent(&self, feature: Feature) -> f64 {
        let tally = self.snapshot();
        let count = tally.counts.get(feature as usize).copied().unwrap_or(0);
        100.0 * count as f64 / tally.cases.max(1) as f64
    }

    /// Fails, with the whole histogram, if a feature occurred in under `percent` of the cases.
    ///
    /// # Panics
    /// That is how it fails.
    pub fn assert_each_over(&self, percent: f64) {
        // One format has not the features of all.
        if only_format().is_some() {
            return;
        }
        let rare: Vec<_> = Feature::ALL.iter().filter(|f| self.percent(**f) < percent).collect();
        assert!(rare.is_empty(), "under {percent} % of the cases: {rare:?}\n{self}");
    }

    fn snapshot(&self) -> Tally {
        self.tally.lock().expect("no test panics while it counts").clone()
    }
}

/// The format that alone is looked at, if one is named.
pub(crate) fn only_format() -> Option<Format> {
    std::env::var("EPITOME_FORMAT").ok().and_then(|name| name.parse().ok())
}

impl fmt::Display for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "features over {} cases", self.cases())?;
        for feature in Feature::ALL {
            let percent = self.percent(*feature);
            let bar = "#".repeat((percent / 2.5).round() as usize);
            writeln!(f, "{:>6.1} %  {:<42} {bar}", percent, feature.words())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_complains() {
        let histogram = Histogram::default();
        histogram.count(&Feature::ALL.iter().copied().collect());
        histogram.assert_each_over(100.0);
        histogram.count(&Features::new());
        assert!(histogram.to_string().contains("50.0 %  parallel batch"));
        let complaint = std::panic::catch_unwind(|| histogram.assert_each_over(51.0));
        assert!(complaint.is_err());
    }
}
