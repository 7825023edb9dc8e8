//! The registry: what is in it, how it is found, and what users put over it.

use epitome::count::NAMES;
use epitome::model::overflow::{AnswerKind, classify};
use epitome::model::{
    Bound, Learnt, Mode, Model, Price, Rate, Registry, RegistryError, Scheme, Tokenizer,
    Unsupported,
};

fn find(name: &str) -> &'static Model {
    Registry::built_in().find(name).unwrap_or_else(|error| panic!("{error}"))
}

/// One row of the table of prices in PROVIDERS.md B.6, in dollars for a million tokens: in, out, write,
/// long write, read; where it is dearer, and by how many times in and out.
type Row = (&'static str, [f64; 5], Option<(u64, f64, f64)>, Option<u64>);

const NO: f64 = -1.0;
const CLIFF: Option<(u64, f64, f64)> = Some((272_000, 2.0, 1.5));
const MILLION: Option<u64> = Some(1_000_000);

/// PROVIDERS.md B.6, restated: the last figure is the window, or the most input where that is told.
const B6: [Row; 23] = [
    ("claude-fable-5-1", [10.0, 50.0, 12.5, 20.0, 0.25], None, MILLION),
    ("claude-opus-5-5", [4.0, 20.0, 5.0, 8.0, 0.20], None, MILLION),
    ("claude-opus-5", [5.0, 25.0, 6.25, 10.0, 0.5], None, MILLION),
    ("claude-opus-4-8", [5.0, 25.0, 6.25, 10.0, 0.5], None, MILLION),
    ("claude-opus-4-7", [5.0, 25.0, 6.25, 10.0, 0.5], None, MILLION),
    ("claude-opus-4-6", [5.0, 25.0, 6.25, 10.0, 0.5], None, MILLION),
    ("claude-opus-4-5", [5.0, 25.0, 6.25, 10.0, 0.5], None, Some(200_000)),
    ("claude-sonnet-5-5", [2.0, 10.0, 2.5, 4.0, 0.10], None, MILLION),
    ("claude-sonnet-5", [2.0, 10.0, 2.5, 4.0, 0.2], None, MILLION),
    ("claude-haiku-5-5", [0.1, 0.5, 0.125, 0.2, 0.01], Some((100_000, 5.0, 5.0)), MILLION),
    ("gpt-6-astra", [10.0, 50.0, 12.5, 25.0, 1.0], CLIFF, Some(922_000)),
    ("gpt-6-sol", [2.0, 10.0, 2.5, 5.0, 0.2], CLIFF, Some(922_000)),
    ("gpt-6.1-sol", [2.0, 10.0, 2.5, 5.0, 0.1], CLIFF, Some(922_000)),
    ("gpt-6.1-terra", [1.0, 5.0, 1.25, 2.5, 0.05], CLIFF, Some(922_000)),
    ("gpt-6-luna", [0.1, 0.5, 0.125, 0.25, 0.01], CLIFF, Some(922_000)),
    ("gpt-5.5", [5.0, 30.0, NO, NO, 0.5], CLIFF, Some(1_050_000)),
    ("gpt-5.4", [2.5, 15.0, NO, NO, 0.25], CLIFF, Some(1_050_000)),
    ("gemini-3.1-pro", [2.0, 12.0, NO, NO, 0.2], Some((200_000, 2.0, 1.5)), Some(1_048_576)),
    ("gemini-3.8-flash", [0.75, 3.75, NO, NO, 0.075], None, None),
    ("deepseek-chat", [0.28, 0.42, NO, NO, 0.028], None, Some(131_072)),
    // B.1.6: half of the usual factor, or a quarter.
    ("claude-mythos-5-1", [10.0, 50.0, 12.5, 20.0, 0.25], None, MILLION),
    ("claude-fable-5", [10.0, 50.0, 12.5, 20.0, 1.0], None, MILLION),
    ("claude-haiku-4-5", [1.0, 5.0, 1.25, 2.0, 0.1], None, Some(200_000)),
];

fn rate(dollars: f64) -> Rate {
    Rate { micro: (dollars * 1e6).round() as u64 }
}

fn price(name: &str) -> &'static Price {
    find(name).price.as_ref().unwrap_or_else(|| panic!("{name} has no price"))
}

#[test]
fn the_figures_of_providers_b6_are_in_it() {
    for (name, [input, output, write, long, read], cliff, window) in B6 {
        let rates = price(name).rates(1000);
        // What isn't said costs as input does.
        let write = if write < 0.0 { input } else { write };
        let long = if long < 0.0 { write } else { long };
        let got = [rates.input, rates.output, rates.write, rates.write_long, rates.read];
        assert_eq!(got, [input, output, write, long, read].map(rate), "{name}");
        if let Some((tokens, ins, outs)) = cliff {
            assert_eq!(price(name).rates(tokens), rates, "{name} at the edge");
            let above = price(name).rates(tokens + 1);
            let got = [above.input, above.output, above.read, above.write, above.write_long];
            let want = [input * ins, output * outs, read * ins, write * ins, long * ins];
            assert_eq!(got, want.map(rate), "{name} above {tokens}");
        } else {
            assert!(price(name).above.is_empty(), "{name} has a cliff that isn't listed");
        }
        let model = find(name);
        assert!(
            window.is_none() || model.window == window || model.input == window,
            "{name}: {model:?}"
        );
    }
}

#[test]
fn cache_minimums_are_those_of_b1_6_and_b4() {
    for (minimum, names) in [
        (512, "claude-fable-5 claude-fable-5-1 claude-mythos-5 claude-opus-5 claude-opus-5-5"),
        (1024, "claude-opus-4-8 claude-sonnet-5 claude-sonnet-4-5 claude-opus-4-1"),
        (2048, "claude-opus-4-7 claude-sonnet-4-6 claude-3-5-haiku gemini-2.5-pro"),
        (4096, "claude-opus-4-6 claude-opus-4-5 claude-haiku-4-5 gemini-3.1-pro gemini-4-argon"),
        (1024, "gpt-6-sol gpt-5.6 gpt-5.5 gpt-4o"),
    ] {
        for name in names.split(' ') {
            assert_eq!(find(name).cache.expect("it has one").minimum, minimum, "{name}");
        }
    }
    let scheme = |name| find(name).cache.map(|cache| cache.scheme);
    assert_eq!(scheme("claude-opus-5"), Some(Scheme::Marked));
    assert_eq!(
        (scheme("gpt-5.6"), scheme("gpt-5.5")),
        (Some(Scheme::Open), Some(Scheme::Automatic))
    );
    assert_eq!(find("gpt-6-sol").cache.and_then(|cache| cache.ttl_long), Some(12 * 3600));
}

#[test]
fn reasoning_is_bound_as_b1_4_says() {
    let refused = "fable-5-1 fable-5-2 mythos-5-2 opus-5-5 sonnet-5-5 haiku-5-5";
    for model in Registry::built_in().models().iter().filter(|model| model.vendor == "anthropic") {
        let short = model.id.trim_start_matches("claude-");
        let is_bound = refused.split(' ').any(|name| name == short);
        let want = match short {
            _ if is_bound => Bound::Refused,
            "mythos-5-1" => Bound::Recorded,
            _ => Bound::Free,
        };
        assert_eq!(model.bound(), want, "{}", model.id);
    }
    let modes = |name| find(name).thinking.clone().expect("it reasons").modes;
    assert_eq!(modes("claude-opus-5-5"), [Mode::Adaptive], "always");
    assert_eq!(modes("claude-opus-4-6"), [Mode::Adaptive, Mode::Manual, Mode::Off]);
    assert_eq!(modes("claude-haiku-4-5"), [Mode::Manual, Mode::Off]);
    assert!(find("claude-sonnet-5").refuses.contains(&Unsupported::MidSystem));
    assert!(find("claude-opus-5-5").refuses.contains(&Unsupported::ForcedTool));
}

#[test]
fn every_entry_makes_sense() {
    let registry = Registry::built_in();
    assert!(registry.models().len() > 150, "{}", registry.models().len());
    let sources: Vec<&str> = registry.sources().iter().map(|source| source.name.as_str()).collect();
    for model in registry.models() {
        let id = &model.id;
        assert!(model.most_input().is_some_and(|most| most >= 8_000), "{id}: no window");
        assert!(model.window >= model.input, "{id}: more input than window");
        assert!(registry.vendor(&model.vendor) != model.vendor, "{id}: unknown vendor");
        assert!(NAMES.contains(&model.tokenizer.counter()), "{id}: no counter");
        assert!(model.date.is_some() && !model.source.is_empty(), "{id}: from nowhere");
        for name in model.source.split(", ") {
            assert!(sources.contains(&name.split(" B.").next().unwrap_or(name)), "{id}: {name}");
        }
        if let Some(price) = &model.price {
            let base = price.rates(0);
            assert!(base.output >= base.input && base.read <= base.input, "{id}: {price:?}");
            assert!(base.write >= base.input && base.write_long >= base.write, "{id}: {price:?}");
            assert!(price.above.is_sorted_by_key(|cliff| cliff.tokens), "{id}: {price:?}");
            assert_eq!(
                model.cache.is_some(),
                price.read.is_some(),
                "{id}: a cache is priced or isn't there"
            );
        }
    }
    assert!(
        sources.len() == 3
            && registry.sources()[1..].iter().all(|s| s.licence.as_deref() == Some("MIT"))
    );
}

#[test]
fn the_table_of_models_stays_small() {
    let size = include_str!("../../../epitome/data/models.json").len();
    assert!(size < 400_000, "data/models.json has {size} bytes");
}

#[test]
fn a_model_is_found_by_any_of_its_names() {
    for (name, id) in [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("vertex_ai/claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("claude-sonnet-4-6[1m]", "claude-sonnet-4-6"),
        ("claude-4-opus-20250514", "claude-opus-4"),
        ("gpt-5.4-2026-03-05", "gpt-5.4"),
        ("azure/eu/gpt-6-astra", "gpt-6-astra"),
        ("openrouter/openai/gpt-5.5", "gpt-5.5"),
        ("gpt-4o-2024-11-20", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("models/gemini-3-pro", "gemini-3-pro-preview"),
        ("deepseek-ai/DeepSeek-V3.2", "deepseek-v3.2"),
        ("together_ai/zai-org/GLM-5.2", "glm-5.2"),
        ("meta-llama/Llama-3.3-70B-Instruct-Turbo", "llama-3.3-70b-instruct"),
        ("us.meta.llama3-3-70b-instruct-v1:0", "llama-3.3-70b-instruct"),
        ("qwen.qwen3-coder-480b-a35b-v1:0", "qwen3-coder-480b-a35b-instruct"),
        ("MiniMaxAI/MiniMax-M2.7", "minimax-m2.7"),
        ("mistral-large-latest", "mistral-large-2512"),
    ] {
        assert_eq!(find(name).id, id, "{name}");
    }
    for model in Registry::built_in().models() {
        for name in std::iter::once(&model.id).chain(&model.aliases) {
            assert_eq!(find(name).id, model.id);
        }
    }
}

#[test]
fn what_isnt_known_is_an_error_that_names_the_nearest() {
    let error = Registry::built_in().find("claude-opsu-5-5").expect_err("misspelt");
    assert_eq!(error.nearest[0], "claude-opus-5-5");
    assert!(
        error.to_string().contains("claude-opsu-5-5") && error.to_string().contains("nearest: ")
    );
    let error = Registry::built_in().find("zzz").expect_err("nothing");
    assert_eq!(error.to_string(), "the model \"zzz\" isn't known");
    // A fine-tuned model has other prices, and one that isn't out yet none.
    assert!(Registry::built_in().get("ft:gpt-4o:acme::x").is_none());
}

#[test]
fn families_know_the_tokenizer_of_what_isnt_listed() {
    let registry = Registry::built_in();
    for (name, counter) in [
        ("gpt-7-nova", Some("o200k")),
        ("gpt-4-32k", Some("cl100k")),
        ("gpt-4-0314", Some("cl100k")),
        ("gpt-3.5-turbo-instruct", Some("cl100k")),
        ("ft:gpt-4o:acme::x", Some("o200k")),
        ("o5-mini", Some("o200k")),
        ("claude-sonnet-9", Some("claude")),
        ("us.anthropic.claude-opus-7-v1:0", Some("claude")),
        ("gemini-9-pro", Some("gemini")),
        ("llama-9-8b", Some("llama")),
        ("moonshot-v1-auto", Some("other")),
        ("gpt-2", None),
        ("opus", None),
        ("", None),
    ] {
        assert_eq!(registry.tokenizer(name).map(Tokenizer::counter), counter, "{name}");
    }
    assert_eq!(registry.bound("gpt-6.2-sol"), Bound::Dropped);
    assert_eq!(registry.bound("gpt-6-20261001"), Bound::Free, "a date is no version");
    assert_eq!(registry.bound("gpt-6.1-sol"), Bound::Free);
    assert_eq!(registry.bound("claude-opus-6-1"), Bound::Refused);
    assert_eq!(registry.bound("gpt-5-x"), Bound::Free);
}

const OWN: &str = r#"{
    "models": {
        "claude-opus-5-5": {"input": 200000, "price": {"read": 0.4}, "retires": null},
        "house-model": {"vendor": "house", "window": 32768, "tokenizer": "llama", "aliases": ["hm"]}
    },
    "vendors": {"house": "Our own"},
    "families": [{"starts": ["claude-house"], "vendor": "house", "tokenizer": "qwen"}]
}"#;

#[test]
fn users_put_their_own_over_it() {
    let registry = Registry::built_in().overlaid(OWN, "my.json").expect("a good file");
    let opus = registry.find("claude-opus-5-5").expect("there");
    assert_eq!((opus.input, opus.window), (Some(200_000), Some(1_000_000)), "the rest stays");
    let rates = opus.price.as_ref().expect("a price").rates(1);
    assert_eq!((rates.read, rates.input), (rate(0.4), rate(4.0)));
    assert!(opus.source.starts_with("my.json over PROVIDERS.md"), "{}", opus.source);
    let house = registry.find("HM").expect("by its alias");
    assert_eq!((house.id.as_str(), house.source.as_str()), ("house-model", "my.json"));
    assert_eq!(registry.tokenizer("claude-house-2").map(Tokenizer::counter), Some("qwen"));
    assert!(Registry::built_in().get("house-model").is_none(), "the table itself stays");
}

#[test]
fn a_mistake_in_a_users_file_is_named() {
    for (text, named) in [
        (r#"{"modles": {}}"#, "modles"),
        (
            r#"{"models": {"claude-opus-5-5": {"windw": 5}}}"#,
            "model claude-opus-5-5: unknown field `windw`",
        ),
        (r#"{"models": {"x": {"window": "big"}}}"#, "model x: "),
        (r#"{"models": {"x": {"tokenizer": "bpe"}}}"#, "unknown variant `bpe`"),
        (r#"{"models": {"x": {"price": {"input": -1, "output": 1}}}}"#, "-1"),
        (r#"{"models": {"x": {"price": {"input": 1}}}}"#, "output"),
        (r#"{"models": {"x": {"cache": {"scheme": "marked", "ttls": 1}}}}"#, "ttls"),
        (r#"{"schema": 2}"#, "the schema is 2"),
        ("3", "expected struct"),
        (r#"{"models": {"x": {"aliases": ["gpt-5"]}}}"#, "gpt-5 is an alias of both gpt-5 and x"),
    ] {
        let error = Registry::built_in().overlaid(text, "my.json").expect_err(text);
        assert!(error.to_string().contains(named), "{text}: {error}");
    }
    let whole = Registry::parse(r#"{"schema": 9, "made": "", "models": {}}"#);
    assert!(matches!(whole, Err(RegistryError::Schema { found: 9 })));
}

#[test]
fn windows_are_learnt_from_errors_and_from_use() {
    let overflow = |message: &str| match classify(400, message) {
        AnswerKind::Overflow(overflow) => overflow,
        other => panic!("{message}: {other:?}"),
    };
    let most = |learnt: &Learnt, name: &str| {
        let known = Registry::built_in().get(name).and_then(Model::most_input);
        learnt.models.get(name).map_or(known, |window| window.most(known))
    };
    let mut learnt = Learnt::default();
    assert_eq!(most(&learnt, "claude-opus-5-5"), Some(1_000_000));

    // The error names the limit.
    learnt.refused(
        "claude-opus-5-5",
        &overflow("prompt is too long: 207791 tokens > 200000 maximum"),
        None,
    );
    assert_eq!(most(&learnt, "claude-opus-5-5"), Some(200_000));
    // More was taken after all.
    learnt.accepted("claude-opus-5-5", 250_000);
    assert_eq!(most(&learnt, "claude-opus-5-5"), Some(1_000_000));

    // The error names no figure: our own count bounds it, what was accepted from below.
    let mute = overflow("Your input exceeds the context window of this model.");
    learnt.accepted("new-model", 90_000);
    learnt.refused("new-model", &mute, Some(120_000));
    assert_eq!(most(&learnt, "new-model"), Some(119_999));
    learnt.refused("new-model", &mute, Some(100_000));
    assert_eq!(most(&learnt, "new-model"), Some(99_999));
    learnt.accepted("new-model", 99_000);
    assert_eq!(most(&learnt, "new-model"), Some(99_999));
    // Something else was too long: more was accepted.
    learnt.refused("new-model", &mute, Some(600));
    assert_eq!(most(&learnt, "new-model"), Some(99_999));

    // Where the reply's room counted, the prompt's size says nothing.
    learnt.refused(
        "claude-sonnet-4",
        &overflow("input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease …"),
        None,
    );
    assert_eq!(most(&learnt, "claude-sonnet-4"), Some(200_000));
    // A limit that the prompt isn't above, or that is below what was accepted, is none.
    let limited = overflow("prompt is too long: 5000 tokens > 4000 maximum");
    learnt.refused("gpt-5", &limited, Some(3_999));
    learnt.refused("new-model", &limited, Some(5_000));
    assert_eq!((most(&learnt, "gpt-5"), most(&learnt, "new-model")), (Some(272_000), Some(99_999)));
    // Bytes say nothing of tokens.
    learnt.refused("gpt-5", &overflow("too many total text bytes"), Some(5));
    assert_eq!(most(&learnt, "gpt-5"), Some(272_000));

    let kept = serde_json::to_string(&learnt).expect("serialises");
    assert_eq!(serde_json::from_str::<Learnt>(&kept).expect("reads"), learnt);
}
