//! What requests cost and when a rewrite pays, by hand for each provider.

use epitome::model::{Billed, Cost, Model, Money, Registry, Rewrite};

fn model(name: &str) -> &'static Model {
    Registry::built_in().find(name).expect("in the table")
}

fn cost(name: &str, rewrite: &Rewrite) -> Cost {
    model(name).cost(rewrite).expect("it has a price")
}

/// Micro-dollars.
fn micro(money: Money) -> f64 {
    money.pico as f64 / 1e6
}

#[test]
fn anthropic_reads_writes_and_replies_have_their_prices() {
    let price = model("claude-opus-5-5").price.as_ref().expect("a price");
    // 1,000 × $4 + 20,000 × $0.20 + 3,000 × $5 + 500 × $8 + 700 × $20, for a million each.
    let billed =
        Billed { fresh: 1000, read: 20_000, written: 3000, written_long: 500, output: 700 };
    assert_eq!(price.of(&billed), Money::micro(4000 + 4000 + 15_000 + 4000 + 14_000));
    // 0.1 of the input price: $0.01 for a million, exactly.
    let price = model("claude-haiku-5-5").price.as_ref().expect("a price");
    assert_eq!(price.of(&Billed { read: 1, ..Billed::default() }), Money { pico: 10_000 });
}

#[test]
fn above_a_cliff_all_of_a_request_is_dearer() {
    let price = model("gpt-6-sol").price.as_ref().expect("a price");
    let at = |read, fresh| price.of(&Billed { read, fresh, output: 1000, ..Billed::default() });
    // 272,000 at $0.20, and the reply at $10.
    assert_eq!(at(272_000, 0), Money::micro(54_400 + 10_000));
    // One token more: $0.40, the last one at $4, the reply at $15.
    assert_eq!(at(272_000, 1), Money::micro(108_800 + 4 + 15_000));
    // Haiku 5.5: five times the price above 100,000.
    let haiku = model("claude-haiku-5-5");
    assert_eq!(haiku.prompt_cost(100_000, 0), Some(Money::micro(12_500)));
    assert_eq!(haiku.prompt_cost(100_001, 0), Some(Money { pico: 100_001 * 625_000 }));
}

#[test]
fn each_provider_bills_a_cold_and_a_warm_prompt_its_own_way() {
    // Tokens of the prompt, of them known to the cache, micro-dollars.
    for (name, prompt, known, want) in [
        // Anthropic: all of it is written at $5; read at $0.20.
        ("claude-opus-5-5", 150_000, 0, 750_000.0),
        ("claude-opus-5-5", 150_000, 150_000, 30_000.0),
        ("claude-opus-5-5", 150_000, 100_000, 20_000.0 + 250_000.0),
        // Under the minimum of 512 nothing is cached: $4.
        ("claude-opus-5-5", 511, 511, 2044.0),
        ("claude-opus-5-5", 512, 512, 102.4),
        // What is known is too short to have been cached: everything is written.
        ("claude-opus-4-6", 10_000, 4000, 62_500.0),
        // OpenAI since 5.6 charges for writing, before it didn't.
        ("gpt-6-sol", 100_000, 0, 250_000.0),
        ("gpt-6-sol", 100_000, 60_000, 12_000.0 + 100_000.0),
        ("gpt-5.4", 100_000, 0, 250_000.0),
        ("gpt-5.4", 100_000, 60_000, 15_000.0 + 100_000.0),
        ("gpt-5.4", 1000, 1000, 2500.0),
        // Gemini's implicit cache: no fee, 4,096 tokens at least.
        ("gemini-3.1-pro", 100_000, 0, 200_000.0),
        ("gemini-3.1-pro", 100_000, 100_000, 20_000.0),
        ("gemini-3.1-pro", 4095, 4095, 8190.0),
        ("gemini-3.1-pro", 200_001, 0, 800_004.0),
        ("deepseek-chat", 100_000, 100_000, 2800.0),
        // Nothing is known of a cache: it makes no difference.
        ("gpt-5.5-pro", 1000, 1000, 30_000.0),
    ] {
        let got = model(name).prompt_cost(prompt, known).map(micro);
        assert_eq!(got, Some(want), "{name}: {prompt} tokens, {known} known");
    }
}

/// The compaction of PROVIDERS.md B.6: 150,000 to 30,000 tokens, by a summary of 3,000 whose call reads the
/// cached prompt.
fn summarised(name: &str, before: u64) -> Cost {
    let summary = model(name).summary_cost(before, before, 3000).expect("it has a price");
    cost(name, &Rewrite { before, after: 30_000, kept: 0, summary })
}

#[test]
fn breaks_even_as_the_list_in_b6_says() {
    for (name, exact, said) in [
        ("claude-opus-5-5", 10.0, 10.0),
        ("claude-fable-5-1", 18.75, 19.0),
        ("claude-sonnet-5", 5.63, 5.6),
        ("gpt-6-sol", 5.63, 5.6),
        ("gpt-6.1-sol", 10.0, 10.0),
        ("claude-opus-5", 5.63, 5.6),
        // "About 6": 5.25, so the sixth request earns it.
        ("gpt-5.4", 5.25, 6.0),
        ("gpt-5.5", 5.25, 6.0),
    ] {
        let requests = summarised(name, 150_000).break_even.expect("it pays some day");
        assert!((requests - exact).abs() < 1e-9, "{name}: {requests}");
        assert!((requests - said).abs() < 0.8, "{name}: {requests}, not about {said}");
    }
    // Above the cliff: about 2.
    let above = summarised("gpt-6-sol", 300_000);
    assert_eq!((above.break_even, above.cliff), (Some(2.11), Some(272_000)));
}

#[test]
fn at_a_cold_cache_a_compaction_without_a_model_pays_at_once() {
    let opus =
        cost("claude-opus-5-5", &Rewrite { before: 150_000, after: 30_000, ..Rewrite::default() });
    assert_eq!((opus.before.cold, opus.after.cold), (Money::micro(750_000), Money::micro(150_000)));
    assert!(opus.pays_at_once());
    assert_eq!(opus.break_even, Some(6.25), "from a warm cache");

    // A summary must read all of it first: $0.75, and $0.06 for its 3,000 tokens.
    let summary = model("claude-opus-5-5").summary_cost(150_000, 0, 3000).expect("a price");
    assert_eq!(summary, Money::micro(810_000));
    let summed =
        cost("claude-opus-5-5", &Rewrite { before: 150_000, after: 30_000, kept: 0, summary });
    assert!(!summed.pays_at_once());
}

#[test]
fn a_rewrite_at_an_entry_keeps_what_stands_before_it() {
    let at = |kept| {
        cost(
            "claude-opus-5-5",
            &Rewrite { before: 150_000, after: 30_000, kept, summary: Money::ZERO },
        )
    };
    // 10,000 are read at $0.20, 20,000 written at $5.
    assert_eq!(at(10_000).rewrite, Money::micro(2000 + 100_000));
    assert_eq!(at(30_000).rewrite, at(30_000).after.warm, "nothing but the end left");
    assert_eq!(at(500).rewrite, at(0).rewrite, "too short to have been cached");
    let even: Vec<_> = [0, 10_000, 20_000].map(at).iter().map(|cost| cost.break_even).collect();
    assert_eq!(even, [Some(6.25), Some(4.25), Some(2.25)]);
}

#[test]
fn what_saves_nothing_never_pays() {
    let same = cost("gpt-6-sol", &Rewrite { before: 30_000, after: 30_000, ..Rewrite::default() });
    assert_eq!((same.break_even, same.saved), (None, Money::ZERO));
    assert!(!same.pays_at_once());
    let priceless = Model { id: "x".to_owned(), ..Model::default() };
    assert_eq!(priceless.cost(&Rewrite::default()), None);
}

#[test]
fn a_cost_can_be_kept() {
    let cost = summarised("gpt-6.1-terra", 300_000);
    let text = serde_json::to_string(&cost).expect("serialises");
    assert_eq!(serde_json::from_str::<Cost>(&text).expect("reads"), cost);
    assert!(text.contains("\"version\":1") && text.contains("\"break_even\":"), "{text}");
}
