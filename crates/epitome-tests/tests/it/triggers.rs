//! Every trigger at its boundary: one below, on it, one above.

use std::time::Duration;

use epitome::count::{Basis, Count, Tally, counter};
use epitome::trigger::{
    All, Any, Asker, Cause, Condition, Demand, Measurements, OverflowReport, ReportedPrompt,
    RoundCount, Switch, Trigger, TriggerError, When,
};
use epitome::wire::Format;
use epitome::{Options, Pin, Target};

/// Whether `when` fires for each of `gauges`.
fn fires<const N: usize>(when: &When, gauges: [Measurements; N]) -> [bool; N] {
    let condition = when.clone().build().expect("in range");
    gauges.map(|measurements| condition.fires(&measurements).is_some())
}

/// `n − 1`, `n`, `n + 1`.
fn around<T>(n: u64, of: impl Fn(u64) -> T) -> [T; 3] {
    [n - 1, n, n + 1].map(of)
}

fn tokens(tokens: u64, window: u64) -> Measurements {
    Measurements { tokens: Count::exact(tokens), window: Some(window), ..Measurements::default() }
}

const ABOVE: [bool; 3] = [false, false, true];
const FROM: [bool; 3] = [false, true, true];

#[test]
fn items_steps_and_turns_fire_above() {
    let items = |n| Measurements { items: n as usize, ..Measurements::default() };
    let rounds =
        |count: RoundCount| Measurements { rounds: count.into(), ..Measurements::default() };
    let steps = |n| rounds(RoundCount { steps: n as usize, ..RoundCount::default() });
    let turns = |n| rounds(RoundCount { turns: n as usize, ..RoundCount::default() });
    assert_eq!(fires(&When::Items(100), around(100, items)), ABOVE);
    assert_eq!(fires(&When::Steps(8), around(8, steps)), ABOVE);
    assert_eq!(fires(&When::Turns(4), around(4, turns)), ABOVE);
    assert_eq!(fires(&When::Items(0), [items(0), items(1)]), [false, true]);
}

#[test]
fn tokens_characters_and_bytes_fire_from() {
    let characters = |n: u64| Measurements { characters: n.into(), ..Measurements::default() };
    let bytes = |n| Measurements { bytes: n, ..Measurements::default() };
    assert_eq!(fires(&When::Tokens(12_000), around(12_000, |n| tokens(n, 1))), FROM);
    assert_eq!(fires(&When::Characters(5_000), around(5_000, characters)), FROM);
    assert_eq!(fires(&When::Bytes(5_000), around(5_000, bytes)), FROM);
}

#[test]
fn thresholds_act_on_the_estimate_and_the_window_on_its_upper_edge() {
    let measurements = |tokens, upper| Measurements {
        tokens: Count::estimated(tokens, upper),
        window: Some(1_000),
        ..Measurements::default()
    };
    let estimate = |tokens| measurements(tokens, 5_000);
    assert_eq!(fires(&When::Tokens(900), around(900, estimate)), FROM);
    assert_eq!(fires(&When::Share(0.8), around(800, estimate)), FROM);
    let upper = |upper| measurements(500, upper);
    assert_eq!(fires(&When::Full, around(1_000, upper)), ABOVE);
    assert_eq!(fires(&When::Reserve(100), around(900, upper)), ABOVE);
    // What a sample finds too small isn't counted again.
    let sampled = |upper| Measurements {
        tokens: Count { basis: Basis::Sampled, ..Count::estimated(500, upper) },
        ..Measurements::default()
    };
    assert_eq!(fires(&When::Tokens(900), around(900, sampled)), FROM);
}

#[test]
fn a_share_of_the_window_is_cut_to_a_whole_token() {
    // 0.8 × 200,000, and the 2,457.6 of 0.6 × 4,096.
    for (share, window, limit) in [(0.8, 200_000, 160_000), (0.6, 4_096, 2_457), (1.0, 10, 10)] {
        let gauges = || around(limit, |n| tokens(n, window));
        assert_eq!(fires(&When::Share(share), gauges()), FROM, "{share} of {window}");
        assert_eq!(fires(&When::ShareAbove(share), gauges()), ABOVE, "{share} of {window}");
    }
    assert_eq!(fires(&When::default(), around(800, |n| tokens(n, 1_000))), FROM);
    assert_eq!(fires(&When::Share(0.0), [tokens(0, 1_000)]), [true]);
    // Without a window nobody can tell; whoever builds a session asks first.
    assert!(When::Share(0.8).needs_window() && !When::Tokens(5).needs_window());
    assert_eq!(fires(&When::Share(0.8), [Measurements { window: None, ..tokens(9, 1) }]), [false]);
}

#[test]
fn the_reply_needs_room_in_the_window() {
    assert_eq!(fires(&When::Reserve(200), around(800, |n| tokens(n, 1_000))), ABOVE);
    let asking = |n| Measurements { output_reserve: 300, ..tokens(n, 1_000) };
    assert_eq!(fires(&When::Full, around(700, asking)), ABOVE);
    // Nothing fits beside a reply as large as the window.
    assert_eq!(fires(&When::Reserve(1_000), [tokens(0, 1_000)]), [true]);
    assert_eq!(fires(&When::Reserve(999), [tokens(1, 1_000)]), [false]);
}

#[test]
fn what_was_asked_for_waits_for_a_safe_point() {
    let by = |by, open_calls| {
        let demands = vec![Demand::new(by, "the plan is settled")];
        let rounds = RoundCount { open_calls, ..RoundCount::default() }.into();
        Measurements { demands, rounds, ..Measurements::default() }
    };
    for asker in [Asker::Host, Asker::Model] {
        assert_eq!(fires(&When::Asked, [by(asker, 1), by(asker, 0)]), [false, true]);
    }
    let both = [by(Asker::Host, 0), by(Asker::Model, 0)];
    assert_eq!(fires(&When::AskedByHost, both.clone()), [true, false]);
    assert_eq!(fires(&When::AskedByModel, both), [false, true]);
    assert_eq!(fires(&When::Asked, [Measurements::default()]), [false]);
}

#[test]
fn a_demand_brings_its_reason_and_wishes_along() {
    let demand = Demand {
        focus: Some("the parser".into()),
        pins: vec![Pin::Text("never push".into())],
        target: Some(Target::Percent(20)),
        ..Demand::new(Asker::Model, "the search is over")
    };
    let measurements = Measurements { demands: vec![demand.clone()], ..Measurements::default() };
    let cause = When::AskedByModel.build().expect("in range").fires(&measurements).expect("asked");
    assert_eq!(cause.demands(), [&demand]);
    assert_eq!(cause.to_string(), "the model asked for it: the search is over");
    let written = serde_json::to_string(&cause).expect("serializable");
    assert_eq!(serde_json::from_str::<Cause>(&written).expect("its own form"), cause);
}

#[test]
fn a_switch_fires_where_the_new_window_is_smaller_and_would_be_full() {
    let switching =
        |n, from, to| Measurements { switch: Some(Switch { from, to }), ..tokens(n, from) };
    let when = When::ModelSwitch(0.8);
    assert_eq!(fires(&when, around(800, |n| switching(n, 2_000, 1_000))), FROM);
    // The window's size, one smaller, one larger.
    let sizes = [1_999, 2_000, 2_001].map(|to| switching(1_900, 2_000, to));
    assert_eq!(fires(&when, sizes), [true, false, false]);
    assert_eq!(fires(&when, [tokens(1_900, 2_000)]), [false]);
}

#[test]
fn an_overflow_fires() {
    let told = Some(OverflowReport { window: Some(200_000), tokens: None });
    let over = Measurements { overflow: told, ..Measurements::default() };
    assert_eq!(fires(&When::Overflow, [Measurements::default(), over.clone()]), [false, true]);
    let cause = When::Overflow.build().expect("in range").fires(&over);
    assert_eq!(cause, Some(Cause::Overflow { window: Some(200_000) }));
}

#[test]
fn idle_fires_shortly_before_the_cache_forgets() {
    let idle = |seconds| Measurements {
        idle: Some(Duration::from_secs(seconds)),
        cache_ttl: Some(Duration::from_mins(5)),
        ..Measurements::default()
    };
    let when = When::Idle(30);
    assert_eq!(fires(&when, around(270, idle)), FROM);
    // Once it has forgotten, waiting costs nothing more.
    assert_eq!(fires(&when, around(300, idle)), [true, false, false]);
    assert_eq!(fires(&When::Idle(900), [idle(0)]), [true], "a lead longer than the cache lives");
    let never =
        [Measurements { idle: None, ..idle(290) }, Measurements { cache_ttl: None, ..idle(290) }];
    assert_eq!(fires(&when, never), [false, false]);
}

#[test]
fn any_and_all_compose_and_nest() {
    let rounds = RoundCount { steps: 3, ..RoundCount::default() }.into();
    let measurements = Measurements { items: 11, rounds, ..Measurements::default() };
    let (items, steps, many) = (When::Items(10), When::Steps(2), When::Items(1_000));
    let any = |list: &[&When]| When::Any(list.iter().map(|w| (*w).clone()).collect());
    let all = |list: &[&When]| When::All(list.iter().map(|w| (*w).clone()).collect());
    let cause = |when: When| when.build().expect("in range").fires(&measurements);
    let (by_items, by_steps) =
        (Cause::Items { items: 11, most: 10 }, Cause::Steps { steps: 3, most: 2 });
    assert_eq!(cause(any(&[&many, &steps, &items])), Some(by_steps.clone()));
    assert_eq!(cause(all(&[&many, &steps])), None);
    let both = Some(Cause::All(vec![by_items, by_steps]));
    assert_eq!(cause(all(&[&items, &steps])), both);
    assert_eq!(cause(any(&[&many, &all(&[&items, &steps])])), both);
}

#[test]
fn closures_are_triggers_and_bring_their_own_cause() {
    let nightly = |measurements: &Measurements| {
        (measurements.items > 5).then(|| Cause::Custom("nightly".into()))
    };
    let measurements = Measurements { items: 6, ..Measurements::default() };
    let steps = || When::Steps(99).build().expect("in range").boxed();
    assert_eq!(
        Any::of([steps(), nightly.boxed()]).fires(&measurements),
        nightly.fires(&measurements)
    );
    assert_eq!(All::of([steps(), nightly.boxed()]).fires(&measurements), None);
    assert_eq!(
        All::of([nightly.boxed()]).fires(&measurements),
        Some(Cause::Custom("nightly".into()))
    );
    assert_eq!(Any::default().fires(&measurements).or(All::default().fires(&measurements)), None);
}

#[test]
fn out_of_range_is_an_error_that_names_the_option() {
    for share in [-0.1, 1.01, f64::NAN, f64::INFINITY, 80.0] {
        for (when, option) in [
            (When::Share(share), "share"),
            (When::ShareAbove(share), "share-above"),
            (When::ModelSwitch(share), "model-switch"),
            (When::Any(vec![When::All(vec![When::Share(share)])]), "share"),
        ] {
            let error = when.build().expect_err("out of range");
            assert!(error.to_string().contains(&format!("`{option}`")), "{error}");
        }
    }
    for when in [When::Any(vec![]), When::All(vec![When::Any(vec![])])] {
        assert!(matches!(when.build(), Err(TriggerError::Empty { .. })));
    }
    for share in [0.0, 1.0] {
        assert!(When::Share(share).build().is_ok());
    }
}

#[test]
fn files_say_triggers_and_unknown_ones_are_named() {
    let read = |json: &str| serde_json::from_str::<Condition>(json).map_err(|e| e.to_string());
    let when = |json| read(json).expect("a trigger").when().clone();
    assert_eq!(when(r#"{"share":0.9}"#), When::Share(0.9));
    assert_eq!(when(r#""80%""#), When::Share(0.8));
    assert_eq!(when(r#""overflow""#), When::Overflow);
    let nested = r#"{"any":["80%",{"all":[{"items":100},"idle"]},"asked-by-model"]}"#;
    let all = When::All(vec![When::Items(100), When::Idle(When::DEFAULT_LEAD)]);
    assert_eq!(when(nested), When::Any(vec![When::Share(0.8), all, When::AskedByModel]));
    let written = serde_json::to_string(&read(nested).expect("a trigger")).expect("serializable");
    assert_eq!(when(&written), when(nested), "{written}");
    for (bad, names) in [
        (r#"{"itmes":5}"#, "itmes"),
        (r#"{"items":5,"steps":3}"#, "`steps`"),
        (r#""sometimes""#, "sometimes"),
        (r#"{"share":1.5}"#, "`share`"),
        (r#"{"any":[{"share-above":-1.0}]}"#, "`share-above`"),
        (r#"{"any":[]}"#, "`any`"),
    ] {
        let error = read(bad).expect_err(bad);
        assert!(error.contains(names), "{bad}: {error}");
    }
}

#[test]
fn flags_say_triggers_in_short() {
    for (text, when) in [
        ("80%", When::Share(0.8)),
        (">90%", When::ShareAbove(0.9)),
        ("100items", When::Items(100)),
        ("8 steps", When::Steps(8)),
        ("4turns", When::Turns(4)),
        ("120k", When::Tokens(120_000)),
        ("12_000 tokens", When::Tokens(12_000)),
        ("500kchars", When::Characters(500_000)),
        ("1000000bytes", When::Bytes(1_000_000)),
        ("window-16k", When::Reserve(16_000)),
        ("full", When::Full),
        ("asked", When::Asked),
        ("model-switch", When::ModelSwitch(0.8)),
        ("idle", When::Idle(30)),
        ("80%,overflow", When::Any(vec![When::Share(0.8), When::Overflow])),
        ("50%+8steps", When::All(vec![When::Share(0.5), When::Steps(8)])),
    ] {
        assert_eq!(text.parse(), Ok(when.clone()), "{text}");
        assert_eq!(when.to_string().parse(), Ok(when), "{text}");
    }
    assert_eq!(".8".parse(), Ok(When::Share(0.8)));
    assert_eq!("0.8,> 0.9".parse(), Ok(When::Any(vec![When::Share(0.8), When::ShareAbove(0.9)])));
    assert!("1.5".parse::<Condition>().is_err());
    for text in ["80%", ">7.25%", "100items", "80%,120000tokens,50%+8steps", "window-16000", "full"]
    {
        assert_eq!(text.parse::<When>().expect(text).to_string(), text);
    }
    for bad in
        ["", "%", "items", "-5items", "8 moons", "share", "any", "80%,", "k", "window-", ">8", "."]
    {
        let error = bad.parse::<When>().expect_err(bad);
        assert!(matches!(error, TriggerError::Unknown { .. }), "{bad}: {error}");
    }
    assert!("180%".parse::<Condition>().is_err());
}

#[test]
fn a_request_is_gauged() {
    let text = "
sys  Be brief.
user Fix ä.
asst think hm | call a Read {\"file_path\":\"x\"}
res  a = one two
asst Done.
user Thanks. {img 640x480}
asst call b Read {\"file_path\":\"y\"}
";
    let request = testkit::parse(Format::OpenaiChat, text);
    let tally = Tally::of(&request, counter("chars4").expect("a known name").as_ref());
    let measurements = Measurements::of(&request, tally.total());
    assert_eq!(measurements.rounds.count(), RoundCount { steps: 3, turns: 2, open_calls: 1 });
    assert_eq!(measurements.items, 7);
    assert_eq!(
        (measurements.tokens, measurements.bytes),
        (tally.total(), request.source().len() as u64)
    );
    let said: usize = [
        "Be brief.",
        "Fix ä.",
        "hm",
        "{\"file_path\":\"x\"}",
        "one two",
        "Done.",
        "Thanks.",
        "{\"file_path\":\"y\"}",
    ]
    .iter()
    .map(|words| words.chars().count())
    .sum();
    assert_eq!(measurements.characters.count(), said as u64);
    assert_eq!(
        (measurements.window, measurements.idle, measurements.output_reserve),
        (None, None, 0)
    );
}

#[test]
fn what_was_reported_takes_the_place_of_the_estimate() {
    let request = testkit::parse(Format::OpenaiChat, "user Go.\nasst Done.\nuser Thanks.\n");
    let tally = Tally::of(&request, counter("o200k").expect("built in").as_ref());
    let whole = tally.total().tokens;
    let newest = tally.entry(2);
    let reported = |entries| Measurements {
        reported: Some(ReportedPrompt { entries, tokens: 5_000 }),
        ..Measurements::default()
    };
    assert_eq!(reported(3).corrected(&tally).tokens, 5_000);
    assert_eq!(reported(2).corrected(&tally).tokens, 5_000 + newest);
    // A report of a longer prompt is of another one.
    assert_eq!(reported(4).corrected(&tally).tokens, whole);
    assert_eq!(Measurements::default().corrected(&tally).tokens, whole);
    // The compactor's trigger acts on it.
    let compactor = |entries| {
        let compactor = testkit::compactor(Options::default(), "o200k");
        let trigger = When::Tokens(5_000).build().expect("in range").boxed();
        compactor.with_trigger(trigger, reported(entries)).compact(&request).expect("a view")
    };
    assert!(compactor(2).receipt.cause.is_some() && compactor(4).receipt.cause.is_none());
}

#[test]
fn without_other_compactors_what_else_is_asked_for_holds() {
    let remote = || When::Remote.build().expect("in range").boxed();
    let above = |tokens| When::Tokens(tokens).build().expect("in range").boxed();
    let measurements = tokens(50, 1_000);
    let alone = |trigger: &dyn Trigger| trigger.fires_alone(&measurements).is_some();
    assert!(alone(&Any::of([remote(), above(50)])) && !alone(&Any::of([remote(), above(51)])));
    assert!(alone(&All::of([remote(), above(50)])) && !alone(&All::of([remote(), above(51)])));
    assert!(alone(&When::All(vec![When::Remote, When::Tokens(50)]).build().expect("in range")));
    // Nothing else is: the usual share of the window.
    assert!(!alone(&remote()) && remote().fires_alone(&tokens(800, 1_000)).is_some());
}

/// A trigger that only asks a remote compactor leaves it to its siblings when to compact without one, nested or not.
#[test]
fn remote_trigger_defers_to_siblings() {
    let built = |when: When| when.build().expect("in range").boxed();
    let measurements = |items: usize| Measurements { items, ..tokens(9_000, 10_000) };
    let (few, many) = (measurements(3), measurements(30));
    let any = Any::of([built(When::Remote), built(When::Items(20))]);
    assert_eq!(any.fires(&few), Some(Cause::Remote));
    assert_eq!(any.fires_alone(&few), None, "not at the default share");
    assert_eq!(any.fires_alone(&many), Some(Cause::Items { items: 30, most: 20 }));
    let nested = Any::of([any.boxed(), built(When::Items(10))]);
    assert_eq!(nested.fires_alone(&few), None);
    let all = All::of([built(When::Remote), built(When::Items(20))]);
    assert_eq!(all.fires_alone(&many), Some(Cause::Items { items: 30, most: 20 }));
    assert!(nested.decides_alone() && all.decides_alone());
    // Where nothing else says when, the default does.
    let alone = Any::of([built(When::Remote)]);
    assert!(!alone.decides_alone());
    let full = alone.fires_alone(&few).map(|cause| cause.name());
    assert_eq!(full, Some("window"));
}
