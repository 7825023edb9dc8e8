//! docker agent's `compactor`.

use epitome::archive::{Archive, MemoryArchive};
use epitome::strategy::{Named, Setting};
use epitome::transcript::ContentId;
use epitome::trigger::{Asker, Cause, Demand, Measurements, OverflowReport};
use epitome::view::Fate;
use epitome::{Options, Tail};

use super::{
    again, checkpoint, compacted, compactor, exchanges, fires, letters, preset, request, talk,
};

#[test]
fn acts_above_nine_tenths() {
    let trigger = preset("docker-agent", 100_000).trigger;
    let at = |tokens: u64| {
        let mut measurements = Measurements { window: Some(100_000), ..Measurements::default() };
        measurements.tokens.tokens = tokens;
        measurements.tokens.upper = tokens;
        fires(&trigger, &measurements).is_some()
    };
    assert!(!at(0) && !at(7_000) && !at(90_000) && at(90_001) && at(95_000));
}

#[test]
fn needs_a_window() {
    let mut measurements = Measurements::default();
    measurements.tokens.tokens = 999_999;
    measurements.tokens.upper = 999_999;
    assert_eq!(fires(&preset("docker-agent", 100_000).trigger, &measurements), None);
}

#[test]
fn acts_when_asked_or_refused() {
    let preset = preset("docker-agent", 100_000);
    let overflow = Some(OverflowReport { window: Some(100_000), tokens: Some(100_500) });
    let refused = Measurements { overflow, ..Measurements::default() };
    assert!(matches!(fires(&preset.trigger, &refused), Some(Cause::Overflow { .. })));
    let mut demand = Demand::new(Asker::Host, "before the release");
    demand.focus = Some("the release notes".to_owned());
    let asked = Measurements { demands: vec![demand], ..Measurements::default() };
    let cause = fires(&preset.trigger, &asked).expect("it was asked for");
    let outcome = compactor(Options { target: epitome::Target::Percent(50), ..preset.options })
        .with_cause(cause.clone())
        .compact(&request(&exchanges(10, 60)))
        .expect("a view");
    assert_eq!(outcome.receipt.cause, Some(cause));
}

#[test]
fn refuses_what_is_out_of_range() {
    for share in [-0.5, 1.5, f64::NAN] {
        assert!(epitome::trigger::When::ShareAbove(share).build().is_err(), "{share}");
    }
    // What is in range means what it says, as there.
    assert!(epitome::trigger::When::ShareAbove(1.0).build().is_ok());
}

#[test]
fn keeps_a_fifth() {
    for (window, tail) in [(200_000, 20_000), (100_000, 20_000), (99_999, 19_999), (1_000, 200)] {
        let strategies = preset("docker-agent", window).options.strategies;
        let epitome::strategy::Pipeline::List(list) = strategies else { panic!("a list") };
        let Named::Recent(Setting::On(recent)) = list[0] else { panic!("recent first") };
        assert_eq!(recent.keep, Tail::Tokens(tail));
    }
    let outcome = compacted(preset("docker-agent", 5_000).options, &exchanges(10, 60));
    let kept: String = letters(&outcome).trim_start_matches('k').trim_start_matches('f').into();
    assert!((6..=10).contains(&kept.len()), "{}", letters(&outcome));
}

#[test]
fn leaves_what_fits() {
    let outcome = compacted(preset("docker-agent", 100_000).options, &exchanges(10, 60));
    assert!(outcome.view.is_whole());
}

#[test]
fn knows_what_is_kept_first() {
    let outcome = compacted(preset("docker-agent", 5_000).options, &exchanges(10, 60));
    let before = outcome.view.checkpoint().expect("one").before;
    let fates: Vec<&Fate> = outcome.view.fates().collect();
    assert!(matches!(fates[before - 1], Fate::Fold(_)));
    assert!(fates[before..].iter().all(|fate| fate.is_shown()));
}

#[test]
fn carries_the_prior_summary_on() {
    let options = preset("docker-agent", 5_000).options;
    let first = compacted(options.clone(), &talk(10, 200).replace("Ask 2.", "Never push."));
    assert!(checkpoint(&first).contains("Never push."), "{}", checkpoint(&first));
    let second = again(&first, options, &talk(3, 200).replace("Ask", "Later ask"));
    assert!(checkpoint(&second).contains("Never push."), "{}", checkpoint(&second));
    let tight = preset("docker-agent", 1_500).options;
    let third = again(&first, tight, &exchanges(10, 60).replace("Ask", "Topic"));
    let words = checkpoint(&third);
    assert!(words.contains("Never push."), "{words}");
    assert!(third.receipt.human_messages.lost > 0, "{:?}: {words}", third.receipt.human_messages);
}

#[test]
fn gives_everything_back() {
    let archive = MemoryArchive::default();
    let said = request(&exchanges(10, 60));
    let compactor = compactor(preset("docker-agent", 5_000).options);
    let outcome = compactor.compact_into(&said, &archive).expect("a view");
    let mut hidden = 0;
    for (entry, fate) in outcome.base.transcript.entries().zip(outcome.view.fates()) {
        if !fate.is_shown() {
            hidden += 1;
            assert_eq!(
                archive.get(ContentId::of_text(entry.raw())),
                Ok(Some(entry.raw().to_owned()))
            );
        }
    }
    assert!(hidden > 5);
}
