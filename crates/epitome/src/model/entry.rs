//! What the registry knows of a model.

use serde::{Deserialize, Serialize};

use super::money::{Money, Rate};

/// One model. What isn't known is `None` or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// The vendor's id, without a date.
    #[serde(skip)]
    pub id: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Who makes it.
    pub vendor: String,
    /// Other ids that it is asked for by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    /// Tokens of prompt and reply together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Most tokens of a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<u64>,
    /// Most tokens of a reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<u64>,
    /// The family of its tokenizer.
    pub tokenizer: Tokenizer,
    /// Whether it sees images.
    pub images: bool,
    /// Whether it reads PDF documents.
    pub documents: bool,
    /// What tokens cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// How its prompt cache works; `None` where nothing is known of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// How it reasons; `None` if it doesn't, or if that isn't known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Reasoning>,
    /// Features that its provider accepts for other models and not for this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refuses: Vec<Unsupported>,
    /// The day of its retirement (`2027-01-31`), where one is announced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retires: Option<String>,
    /// Where this is from.
    pub source: String,
    /// The page that the source names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The day of the source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// Where sources differ, and what else should be known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Model {
    /// The maximum tokens of a prompt: the input limit, else the window.
    pub fn most_input(&self) -> Option<u64> {
        match (self.input, self.window) {
            (Some(input), Some(window)) => Some(input.min(window)),
            (input, window) => input.or(window),
        }
    }

    /// What becomes of its reasoning when the prefix is edited.
    pub fn bound(&self) -> Bound {
        self.thinking.as_ref().map(|thinking| thinking.binding).unwrap_or_default()
    }
}

/// A family of tokenizers; decides which counter counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tokenizer {
    /// OpenAI's since GPT-4o.
    O200k,
    /// OpenAI's before.
    Cl100k,
    /// Anthropic's; not public.
    Claude,
    /// Google's.
    Gemini,
    /// DeepSeek's.
    Deepseek,
    /// Alibaba's.
    Qwen,
    /// Mistral's.
    Mistral,
    /// Meta's.
    Llama,
    /// Moonshot's.
    Kimi,
    /// Z.ai's.
    Glm,
    /// xAI's; not public.
    Grok,
    /// MiniMax's.
    Minimax,
    /// A model without any known facts.
    #[default]
    Other,
}

impl Tokenizer {
    /// The name of the counter ([`crate::count::counter`]) that comes nearest.
    pub fn counter(self) -> &'static str {
        match self {
            Tokenizer::O200k => "o200k",
            Tokenizer::Cl100k => "cl100k",
            Tokenizer::Claude => "claude",
            Tokenizer::Gemini => "gemini",
            Tokenizer::Deepseek => "deepseek",
            Tokenizer::Qwen => "qwen",
            Tokenizer::Mistral => "mistral",
            Tokenizer::Llama => "llama",
            Tokenizer::Kimi
            | Tokenizer::Glm
            | Tokenizer::Grok
            | Tokenizer::Minimax
            | Tokenizer::Other => "other",
        }
    }
}

/// What tokens cost, in dollars for a million.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Of the prompt.
    pub input: Rate,
    /// Of the reply.
    pub output: Rate,
    /// Prompt tokens read from the cache; as input if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Rate>,
    /// Prompt tokens written to the cache for the shorter time; as input if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Rate>,
    /// Prompt tokens written to the cache for the longer time; as for the shorter if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_long: Option<Rate>,
    /// Cliffs, the lowest first: what all of a request costs whose prompt is longer than that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Cliff>,
}

/// The prices of requests whose prompt has more than `tokens` tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cliff {
    /// The longest prompt that it doesn't apply to.
    pub tokens: u64,
    /// As in [`Price`].
    pub input: Rate,
    /// As in [`Price`].
    pub output: Rate,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read: Option<Rate>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write: Option<Rate>,
    /// As in [`Price`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_long: Option<Rate>,
}

/// The prices of one request, none of them left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Of the prompt.
    pub input: Rate,
    /// Of the reply.
    pub output: Rate,
    /// Of the prompt, read from the cache.
    pub read: Rate,
    /// Of the prompt, written for the shorter time.
    pub write: Rate,
    /// Of the prompt, written for the longer time.
    pub write_long: Rate,
}

impl Price {
    /// The prices of a request whose prompt has `prompt` tokens, cached ones included.
    pub fn rates(&self, prompt: u64) -> Rates {
        let base = Cliff {
            tokens: 0,
            input: self.input,
            output: self.output,
            read: self.read,
            write: self.write,
            write_long: self.write_long,
        };
        let at = self.above.iter().filter(|cliff| prompt > cliff.tokens).max_by_key(|c| c.tokens);
        let at = at.copied().unwrap_or(base);
        let write = at.write.unwrap_or(at.input);
        Rates {
            input: at.input,
            output: at.output,
            read: at.read.unwrap_or(at.input),
            write,
            write_long: at.write_long.unwrap_or(write),
        }
    }

    /// The cost of a request with these billed tokens.
    pub fn of(&self, billed: &Billed) -> Money {
        let rates = self.rates(billed.prompt());
        rates.input.of(billed.fresh)
            + rates.read.of(billed.read)
            + rates.write.of(billed.written)
            + rates.write_long.of(billed.written_long)
            + rates.output.of(billed.output)
    }
}

/// The tokens of a request, by what each is billed as; no token is in two of them.
///
/// Anthropic's `usage` has it so. OpenAI's and Gemini's count cached tokens as part of the input:
/// there `fresh` is the input less the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Billed {
    /// Prompt tokens neither read nor written.
    pub fresh: u64,
    /// Of the prompt, read from the cache.
    pub read: u64,
    /// Of the prompt, written to it for the shorter time.
    pub written: u64,
    /// Of the prompt, written to it for the longer time.
    pub written_long: u64,
    /// Of the reply, reasoning included.
    pub output: u64,
}

impl Billed {
    /// Tokens of the prompt.
    pub fn prompt(&self) -> u64 {
        // What others counted may be any numbers.
        let cached = self.read.saturating_add(self.written).saturating_add(self.written_long);
        self.fresh.saturating_add(cached)
    }
}

/// How a provider's prompt cache works for a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// What gets into it.
    pub scheme: Scheme,
    /// Shorter prompts aren't cached; 0 where no minimum is known.
    #[serde(default)]
    pub minimum: u64,
    /// Seconds that an entry lives after its last use; `None` where nothing is promised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
    /// The same, where the longer time was paid for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl_long: Option<u64>,
    /// Most places that a request may mark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub breakpoints: Option<u32>,
    /// Blocks before a mark, itself included, at whose end an earlier entry is found; `None`: anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookback: Option<u32>,
}

/// What gets into a prompt cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// What stands before a mark of the client's (Anthropic).
    Marked,
    /// Everything, or the marked part; writing may have its own price (OpenAI since GPT-5.6).
    Open,
    /// Everything, without a fee (OpenAI before, Gemini's implicit caching, DeepSeek).
    Automatic,
}

/// How a model reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasoning {
    /// How it is asked to.
    #[serde(default)]
    pub modes: Vec<Mode>,
    /// What becomes of reasoning of earlier turns that is sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<EarlierReasoning>,
    /// What becomes of reasoning whose prefix was edited.
    #[serde(default, skip_serializing_if = "Bound::is_free")]
    pub binding: Bound,
}

/// A way to ask for reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Anthropic's `"type": "adaptive"`.
    Adaptive,
    /// Anthropic's `"type": "enabled"` with a budget.
    Manual,
    /// None at all; where it isn't listed, the model always reasons.
    Off,
    /// By effort or level, as the others do.
    Effort,
}

/// What becomes of reasoning of earlier turns that is sent back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EarlierReasoning {
    /// It is read, and counts as input.
    All,
    /// The provider leaves out all but the last turn's.
    LastTurn,
}

/// What becomes of reasoning whose prefix was edited (PROVIDERS.md B.1.4, B.2.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bound {
    /// It stays good.
    #[default]
    Free,
    /// The provider notes it, and does nothing.
    Recorded,
    /// The request is refused.
    Refused,
    /// The reasoning is dropped without a word.
    Dropped,
}

impl Bound {
    /// Whether such reasoning is no use.
    pub fn is_bound(self) -> bool {
        matches!(self, Bound::Refused | Bound::Dropped)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    fn is_free(&self) -> bool {
        *self == Bound::Free
    }
}

/// Features that a provider accepts for other models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unsupported {
    /// A tool choice that forces a call.
    ForcedTool,
    /// System text in mid-conversation.
    MidSystem,
    /// A request that ends with the assistant's words.
    Prefill,
}
