//! What the server knows of each model: windows, binding, caching, prices (PROVIDERS.md B.1.3 to B.6).

use super::Api;
use epitome::word_list::words;

/// What a model does with reasoning whose prefix isn't the one that it was made behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binding {
    /// It doesn't look.
    None,
    /// It notes what doesn't fit, and refuses nothing (Mythos 5.1).
    Records,
    /// It looks (B.1.4).
    Checks,
    /// It leaves the reasoning out and says nothing (GPT-6.2 and later, B.2.5).
    DropsSilently,
}

/// What happens when prompt and `max_tokens` together exceed the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverWindow {
    /// 400 (Claude before 4.5, OpenAI).
    Refuses,
    /// The answer ends when the window does (Claude since 4.5).
    StopsShort,
}

/// What some models do and others don't.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// A request may end with the assistant's words (B.1.1).
    Prefill,
    /// `role: system` may stand between messages (B.1.1).
    MidSystem,
    /// A tool may not be forced (B.1.4, last line).
    Unforced,
    /// Reasoning of earlier turns is shown (B.1.3); else the API leaves it out.
    KeepsThinking,
    /// A thinking object needs a `type` (B.1.4).
    TypedThinking,
    /// Writing to the prompt cache is charged for (B.2.4).
    WriteFee,
    /// It reasons unless it is told not to (OpenAI).
    Reasons,
    /// Steps must carry thought signatures (B.4), or reasoning must come back (B.3).
    WantsReasoning,
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    /// Prompt, neither read from the cache nor written to it.
    pub input: f64,
    /// Answer.
    pub output: f64,
    /// Written to the cache for the short time to live, as a multiple of `input`.
    pub write: f64,
    /// Written for the long one.
    pub write_long: f64,
    /// Read from the cache.
    pub read: f64,
    /// Prompts longer than this cost more, all of them: how many times in, and out.
    pub cliff: Option<(u64, f64, f64)>,
}

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name, or what its name begins with.
    pub name: String,
    /// Most tokens of a prompt.
    pub window: u64,
    /// Most tokens of an answer.
    pub max_output: u64,
    /// Shorter prefixes aren't cached.
    pub min_cached: u64,
    /// Binding of reasoning to its prefix.
    pub binding: Binding,
    /// Its generation: a model reads the reasoning of its own and of earlier ones (B.1.4, B.2.5).
    pub rank: u8,
    /// Prompt and answer over the window.
    pub over_window: OverWindow,
    /// What else sets it apart.
    pub traits: Vec<Trait>,
    /// Its price.
    pub price: Price,
}

/// The row of one family or model.
struct Row {
    api: Api,
    begins: &'static str,
    window: u64,
    max_output: u64,
    min_cached: u64,
    price: (f64, f64, f64),
}

const fn row(
    api: Api,
    begins: &'static str,
    window: u64,
    max_output: u64,
    min_cached: u64,
    price: (f64, f64, f64),
) -> Row {
    Row { api, begins, window, max_output, min_cached, price }
}

const A: Api = Api::Anthropic;
const O: Api = Api::Responses;
const G: Api = Api::Gemini;
const C: Api = Api::Chat;
const B: Api = Api::Converse;

/// The longest beginning that fits is taken. Prices: input, output, read multiplier (B.6).
const ROWS: [Row; 54] = [
    row(A, "claude-", 200_000, 64_000, 1_024, (3.0, 15.0, 0.1)),
    row(A, "claude-fable-5", 1_000_000, 128_000, 512, (10.0, 50.0, 0.1)),
    row(A, "claude-fable-5-1", 1_000_000, 128_000, 512, (10.0, 50.0, 0.025)),
    row(A, "claude-fable-5-2", 1_000_000, 128_000, 512, (10.0, 50.0, 0.025)),
    row(A, "claude-mythos-5", 1_000_000, 128_000, 512, (10.0, 50.0, 0.1)),
    row(A, "claude-mythos-5-1", 1_000_000, 128_000, 512, (10.0, 50.0, 0.025)),
    row(A, "claude-mythos-5-2", 1_000_000, 128_000, 512, (10.0, 50.0, 0.025)),
    row(A, "claude-mythos-preview", 1_000_000, 128_000, 2_048, (10.0, 50.0, 0.1)),
    row(A, "claude-opus-5", 1_000_000, 128_000, 512, (5.0, 25.0, 0.1)),
    row(A, "claude-opus-5-5", 1_000_000, 128_000, 512, (4.0, 20.0, 0.05)),
    row(A, "claude-opus-4", 200_000, 32_000, 1_024, (15.0, 75.0, 0.1)),
    row(A, "claude-opus-4-5", 200_000, 64_000, 4_096, (5.0, 25.0, 0.1)),
    row(A, "claude-opus-4-6", 1_000_000, 128_000, 4_096, (5.0, 25.0, 0.1)),
    row(A, "claude-opus-4-7", 1_000_000, 128_000, 2_048, (5.0, 25.0, 0.1)),
    row(A, "claude-opus-4-8", 1_000_000, 128_000, 1_024, (5.0, 25.0, 0.1)),
    row(A, "claude-sonnet-5", 1_000_000, 128_000, 1_024, (2.0, 10.0, 0.1)),
    row(A, "claude-sonnet-5-5", 1_000_000, 128_000, 1_024, (2.0, 10.0, 0.05)),
    row(A, "claude-sonnet-4", 200_000, 64_000, 1_024, (3.0, 15.0, 0.1)),
    row(A, "claude-sonnet-4-5", 200_000, 64_000, 1_024, (3.0, 15.0, 0.1)),
    row(A, "claude-sonnet-4-6", 1_000_000, 128_000, 2_048, (3.0, 15.0, 0.1)),
    row(A, "claude-haiku-4-5", 200_000, 64_000, 4_096, (1.0, 5.0, 0.1)),
    row(A, "claude-haiku-5-5", 1_000_000, 64_000, 1_024, (0.1, 0.5, 0.1)),
    row(A, "claude-3-7-sonnet", 200_000, 64_000, 1_024, (3.0, 15.0, 0.1)),
    row(A, "claude-3-5-haiku", 200_000, 8_192, 2_048, (0.8, 4.0, 0.1)),
    row(O, "gpt-", 128_000, 16_384, 1_024, (2.5, 10.0, 0.5)),
    row(O, "gpt-4o", 128_000, 16_384, 1_024, (2.5, 10.0, 0.5)),
    row(O, "gpt-4.1", 1_047_576, 32_768, 1_024, (2.0, 8.0, 0.25)),
    row(O, "gpt-5", 272_000, 128_000, 1_024, (1.25, 10.0, 0.1)),
    row(O, "gpt-5.4", 922_000, 128_000, 1_024, (2.5, 15.0, 0.1)),
    row(O, "gpt-5.5", 922_000, 128_000, 1_024, (5.0, 30.0, 0.1)),
    row(O, "gpt-5.6", 922_000, 128_000, 1_024, (5.0, 30.0, 0.1)),
    row(O, "gpt-6", 922_000, 128_000, 1_024, (2.0, 10.0, 0.1)),
    row(O, "gpt-6-astra", 922_000, 128_000, 1_024, (10.0, 50.0, 0.1)),
    row(O, "gpt-6-sol", 922_000, 128_000, 1_024, (2.0, 10.0, 0.1)),
    row(O, "gpt-6-luna", 922_000, 128_000, 1_024, (0.1, 0.5, 0.1)),
    row(O, "gpt-6.1", 922_000, 128_000, 1_024, (2.0, 10.0, 0.05)),
    row(O, "gpt-6.1-terra", 922_000, 128_000, 1_024, (1.0, 5.0, 0.05)),
    row(O, "gpt-6.2", 922_000, 128_000, 1_024, (2.0, 10.0, 0.05)),
    row(O, "o1", 200_000, 100_000, 1_024, (15.0, 60.0, 0.5)),
    row(O, "o3", 200_000, 100_000, 1_024, (2.0, 8.0, 0.25)),
    row(O, "o4", 200_000, 100_000, 1_024, (1.1, 4.4, 0.25)),
    row(O, "codex-", 272_000, 128_000, 1_024, (1.5, 6.0, 0.25)),
    row(G, "gemini-", 1_048_576, 65_536, 4_096, (2.0, 12.0, 0.1)),
    row(G, "gemini-2.5", 1_048_576, 65_536, 2_048, (1.25, 10.0, 0.1)),
    row(G, "gemini-3", 1_048_576, 65_536, 4_096, (2.0, 12.0, 0.1)),
    row(G, "gemini-3.1-pro", 1_048_576, 65_536, 4_096, (2.0, 12.0, 0.1)),
    row(G, "gemini-3.8-flash", 1_048_576, 65_536, 4_096, (0.75, 3.75, 0.1)),
    row(G, "gemini-4", 1_048_576, 65_536, 4_096, (2.0, 12.0, 0.1)),
    row(C, "deepseek", 131_072, 8_192, 64, (0.28, 0.42, 0.1)),
    row(C, "kimi", 262_144, 32_768, 64, (0.6, 2.5, 0.25)),
    row(C, "mistral", 131_072, 8_192, 1_024, (0.4, 2.0, 1.0)),
    row(C, "grok", 262_144, 32_768, 64, (3.0, 15.0, 0.25)),
    row(B, "amazon.nova", 300_000, 10_000, 1_024, (0.8, 3.2, 0.25)),
    row(C, "local", 32_768, 8_192, u64::MAX, (0.0, 0.0, 1.0)),
];

/// The models of a server: what [`Model::named`] knows, and what was put over it.
#[derive(Clone, Debug, Default)]
pub struct Models {
    over: Vec<Model>,
}

impl Models {
    /// Puts `model` over what is known by its name.
    pub fn put(&mut self, model: Model) {
        self.over.retain(|other| other.name != model.name);
        self.over.push(model);
    }

    /// The model of this name.
    pub fn get(&self, name: &str) -> Option<Model> {
        let bare = bare(name);
        let over = self.over.iter().find(|model| model.name == name || model.name == bare);
        over.cloned().or_else(|| Model::named(name))
    }
}

impl Model {
    /// Whether it does this.
    pub fn has(&self, which: Trait) -> bool {
        self.traits.contains(&which)
    }

    /// A model of the table; a name of a known family that isn't in it is an average member.
    pub fn named(name: &str) -> Option<Model> {
        let name = bare(name);
        let fits = ROWS.iter().filter(|row| begins(name, row.begins));
        let row = fits.max_by_key(|row| row.begins.len())?;
        let is = |starts: &[&str]| starts.iter().any(|start| begins(name, start));
        let version = version(name);
        let (input, output, read) = row.price;
        let newer_gpt = row.api == O && version >= (5, 6);
        let binding = if is(&words!(
            "claude-fable-5-1 claude-fable-5-2 claude-mythos-5-2 claude-opus-5-5 claude-sonnet-5-5 \
             claude-haiku-5-5"
        )) {
            Binding::Checks
        } else if is(&["claude-mythos-5-1"]) {
            Binding::Records
        } else if row.api == O && version >= (6, 2) {
            Binding::DropsSilently
        } else {
            Binding::None
        };
        // Claude before 4.5, by its row: `claude-opus-4-1-20250805` is in that of `claude-opus-4`.
        let old_claude = row.begins.starts_with("claude-3")
            || ["claude-", "claude-opus-4", "claude-sonnet-4"].contains(&row.begins);
        let cliff = match row.api {
            Api::Anthropic if is(&["claude-haiku-5-5"]) => Some((100_000, 5.0, 5.0)),
            Api::Responses if version >= (5, 4) => Some((272_000, 2.0, 1.5)),
            Api::Gemini if is(&["gemini-3.1-pro"]) => Some((200_000, 2.0, 1.5)),
            _ => None,
        };
        let (write, write_long) = match row.api {
            Api::Anthropic => (1.25, 2.0),
            Api::Responses if newer_gpt => (1.25, 2.5),
            _ => (1.0, 1.0),
        };
        let third = row.api == G && version >= (3, 0) && !name.contains("image");
        let traits = [
            (
                Trait::Prefill,
                old_claude || is(&["claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"]),
            ),
            (
                Trait::MidSystem,
                is(&["claude-opus-4-8", "claude-opus-5", "claude-fable-5", "claude-mythos-5"]),
            ),
            (
                Trait::Unforced,
                is(&words!(
                    "claude-fable-5-1 claude-fable-5-2 claude-mythos-5-1 claude-mythos-5-2 \
                     claude-opus-5-5 claude-sonnet-5-5"
                )),
            ),
            (
                Trait::KeepsThinking,
                row.api == A && !old_claude && !is(&["claude-sonnet-4-5", "claude-haiku-4-5"]),
            ),
            (Trait::TypedThinking, is(&["claude-sonnet-5-5", "claude-haiku-5-5"])),
            (Trait::WriteFee, newer_gpt),
            (Trait::Reasons, row.api == O && (version >= (5, 0) || name.starts_with(['o', 'c']))),
            (Trait::WantsReasoning, third || is(&["deepseek", "kimi"])),
        ];
        Some(Model {
            name: name.to_owned(),
            window: row.window,
            max_output: row.max_output,
            min_cached: row.min_cached,
            binding,
            rank: rank(row.api, name, version),
            over_window: if row.api == A && !old_claude {
                OverWindow::StopsShort
            } else {
                OverWindow::Refuses
            },
            traits: traits.into_iter().filter_map(|(which, has)| has.then_some(which)).collect(),
            price: Price { input, output, write, write_long, read, cliff },
        })
    }
}

fn rank(api: Api, name: &str, (major, minor): (u32, u32)) -> u8 {
    let is = |part: &str| name.contains(part);
    match api {
        O => u8::try_from(major * 16 + minor).unwrap_or_default(),
        A if is("fable-5-2") || is("mythos-5-2") => 3,
        A if is("fable-5-1") || is("mythos-5-1") => 2,
        A if is("-5-5") => 1,
        _ => 0,
    }
}

/// Without what clouds and resellers put around a name: `us.anthropic.claude-…-v1:0`, `models/gemini-…`.
fn bare(name: &str) -> &str {
    let name = name.rsplit('/').next().unwrap_or(name);
    let name = name.rsplit_once("anthropic.").map_or(name, |(_, bare)| bare);
    let name = name.split(['@', ':']).next().unwrap_or(name);
    name.strip_suffix("-v1").unwrap_or(name)
}

/// Whether `name` begins with `start` and doesn't go on with a number of another version.
fn begins(name: &str, start: &str) -> bool {
    let Some(rest) = name.strip_prefix(start) else { return false };
    let mut next = rest.chars();
    match next.next() {
        Some('.') => !start.ends_with(|c: char| c.is_ascii_digit()) || !start.contains('.'),
        Some(c) if c.is_ascii_digit() => !start.ends_with(|c: char| c.is_ascii_digit()),
        _ => true,
    }
}

/// The first number of a name and the one behind its point: `gpt-6.2-sol` is (6, 2).
fn version(name: &str) -> (u32, u32) {
    let Some(at) = name.find(|c: char| c.is_ascii_digit()) else { return (0, 0) };
    let mut numbers = name[at..].split(|c: char| !c.is_ascii_digit() && c != '.');
    let number = numbers.next().unwrap_or_default();
    let (major, minor) = number.split_once('.').unwrap_or((number, ""));
    (major.parse().unwrap_or(0), minor.parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_to_their_row() {
        let window = |name: &str| Model::named(name).map(|model| model.window);
        assert_eq!(window("claude-opus-4-5-20251101"), Some(200_000));
        assert_eq!(window("us.anthropic.claude-opus-5-5-v1:0"), Some(1_000_000));
        assert_eq!(window("claude-opus-4-20250514"), Some(200_000));
        assert_eq!(window("gpt-6.2-sol"), Some(922_000));
        assert_eq!(window("gpt-5.2-codex"), Some(272_000));
        assert_eq!(window("models/gemini-3.8-flash"), Some(1_048_576));
        assert_eq!(window("elsewhere"), None);
    }

    #[test]
    fn generations_differ_in_what_they_bind() {
        let binding = |name: &str| Model::named(name).expect("in the table").binding;
        assert_eq!(binding("claude-opus-5"), Binding::None);
        assert_eq!(binding("claude-opus-5-5"), Binding::Checks);
        assert_eq!(binding("claude-mythos-5-1"), Binding::Records);
        assert_eq!(binding("claude-fable-5-2"), Binding::Checks);
        assert_eq!(binding("gpt-6.1-sol"), Binding::None);
        assert_eq!(binding("gpt-6.2"), Binding::DropsSilently);
    }

    #[test]
    fn what_is_put_over_a_model_is_what_it_is() {
        let mut models = Models::default();
        models.put(Model { window: 5_000, ..Model::named("gpt-4o").expect("in the table") });
        assert_eq!(models.get("gpt-4o").map(|model| model.window), Some(5_000));
        assert_eq!(models.get("gpt-4o-mini").map(|model| model.window), Some(128_000));
    }
}
