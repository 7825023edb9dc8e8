//! Pipelines of any strategies in any order, over generated transcripts, held to the laws.

use epitome::engine::Stop;
use epitome::strategy::{
    ArgumentsOptions, Emptied, ExcerptsOptions, HeadOptions, HeadRoom, IntakeOptions, NAMES, Named,
    OutputsOptions, Pipeline, ReasoningOptions, RecentOptions, Setting,
};
use epitome::{Compactor, Options, Pin, Tail, Target};
use proptest::prelude::*;
use testkit::generate;
use testkit::laws::check_all;

/// A strategy as it usually is, or with options at their edges.
fn strategies() -> impl Strategy<Value = Named> {
    let usual = proptest::sample::select(NAMES)
        .prop_map(|name| name.parse::<Named>().expect("its own name"));
    let keep = prop_oneof![
        (0usize..12).prop_map(Tail::Items),
        (0usize..5).prop_map(Tail::Units),
        (1usize..4).prop_map(Tail::Steps),
        (1usize..3).prop_map(Tail::Turns),
        (0u64..400).prop_map(Tail::Tokens),
    ];
    let recent = keep.prop_map(|keep| Named::Recent(Setting::On(RecentOptions { keep })));
    let edges = proptest::sample::select(vec![
        Named::Intake(Setting::On(IntakeOptions { max_tokens: 48 })),
        Named::Reasoning(Setting::On(ReasoningOptions { emptied: Emptied::Drop })),
        Named::Failed(Setting::default()),
        Named::Outputs(Setting::On(OutputsOptions { min_gain: 1, max_tokens: 0 })),
        Named::Arguments(Setting::On(ArgumentsOptions { max_tokens: 48, min_gain: 1 })),
        Named::Excerpts(Setting::On(ExcerptsOptions {
            old_divisor: 1_000,
            any_divisor: 1_000,
            max_tokens: Some(48),
        })),
        Named::Head(Setting::On(HeadOptions { room: HeadRoom::Characters(500) })),
        Named::Head(Setting::On(HeadOptions { room: HeadRoom::Tokens(1) })),
        Named::Fold(Setting::Off),
    ]);
    prop_oneof![2 => usual, 1 => recent, 1 => edges]
}

fn pipelines() -> impl Strategy<Value = (Vec<Named>, Stop)> {
    let stop = prop_oneof![Just(Stop::AtTarget), Just(Stop::AtEnd)];
    (proptest::collection::vec(strategies(), 0..5), stop)
}

fn compactor(list: &[Named], stop: Stop, target: u8, pins: Vec<Pin>) -> Compactor {
    let options = Options {
        target: Target::Percent(target.clamp(1, 100)),
        strategies: Pipeline::List(list.to_vec()),
        stop,
        pins,
        ..Options::default()
    };
    testkit::compactor(options, "o200k")
}

#[test]
fn any_pipeline_keeps_the_laws() {
    proptest!(generate::cases(300), |(case in generate::valid(), (list, stop) in pipelines())| {
        let pins = case.pin.map(Pin::Entry).into_iter().collect();
        let compactor = compactor(&list, stop, case.target, pins);
        check_all(&case.request(), &compactor).map_err(TestCaseError::fail)?;
    });
}

#[test]
fn any_pipeline_keeps_the_laws_of_broken_input() {
    proptest!(generate::cases(300), |(case in generate::broken(), (list, stop) in pipelines())| {
        let compactor = compactor(&list, stop, case.target, Vec::new());
        check_all(&case.request(), &compactor).map_err(TestCaseError::fail)?;
    });
}

#[test]
fn an_empty_pipeline_is_the_identity() {
    proptest!(generate::cases(200), |(case in generate::valid())| {
        for stop in [Stop::AtTarget, Stop::AtEnd] {
            let outcome = compactor(&[], stop, 100, Vec::new()).compact(&case.request());
            let outcome = outcome.expect("a view");
            prop_assert!(outcome.view.is_whole());
            prop_assert_eq!(outcome.rendered(), outcome.base.source().as_str());
        }
    });
}
