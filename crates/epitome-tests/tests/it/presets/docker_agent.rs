//! docker agent's `compactor`.

use epitome::archive::{Archive, MemoryArchive};
use epitome::strategy::{Named, Setting};
use epitome::transcript::ContentId;
use epitome::trigger::{Asker, Cause, Demand, Measurements, OverflowReport};
use epitome::view::Fate;
use epitome::{Options, Tail};

use super::{
    Beside, Row, again, checkpoint, compacted, compactor, exchanges, fires, letters, preset,
    request, talk,
};

pub(super) const ROWS: &[Row] = &[
    Row {
        theirs: "acts above 0.9 of the window, not at it, and counts newer tool results",
        ours: "acts at the same counts",
        beside: Beside::Same,
        shown: acts_above_nine_tenths,
    },
    Row {
        theirs: "a window of 0 is unlimited: it never acts",
        ours: "an unknown window never fires",
        beside: Beside::Same,
        shown: needs_a_window,
    },
    Row {
        theirs: "acts after a provider's overflow, and on demand with a focus",
        ours: "the same; the receipt names the cause",
        beside: Beside::Same,
        shown: acts_when_asked_or_refused,
    },
    Row {
        theirs: "a threshold outside 0 to 1 is the default, 0.9",
        ours: "it is an error",
        beside: Beside::OnPurpose,
        shown: refuses_what_is_out_of_range,
    },
    Row {
        theirs: "keeps min(20,000, window / 5) tokens of the newest messages",
        ours: "the same tail",
        beside: Beside::Same,
        shown: keeps_a_fifth,
    },
    Row {
        theirs: "where everything fits in the tail, all of it is summarised",
        ours: "nothing is done, because nothing would be gained",
        beside: Beside::OnPurpose,
        shown: leaves_what_fits,
    },
    Row {
        theirs: "the index of the first kept message is stored with the summary",
        ours: "the view shows it: the checkpoint stands right before it",
        beside: Beside::Same,
        shown: knows_what_is_kept_first,
    },
    Row {
        theirs: "a tight budget drops the earlier summary silently",
        ours: "it is carried on; rules stay longest, and the receipt counts what is left out",
        beside: Beside::Better,
        shown: carries_the_prior_summary_on,
    },
    Row {
        theirs: "removed content has no pointer",
        ours: "every entry can be restored byte for byte",
        beside: Beside::Better,
        shown: gives_everything_back,
    },
];

fn acts_above_nine_tenths() {
    let trigger = preset("docker-agent", 100_000).trigger;
    let at = |tokens: u64| {
        let mut gauge = Measurements { window: Some(100_000), ..Measurements::default() };
        gauge.tokens.tokens = tokens;
        gauge.tokens.upper = tokens;
        fires(&trigger, &gauge).is_some()
    };
    assert!(!at(0) && !at(7_000) && !at(90_000) && at(90_001) && at(95_000));
}

fn needs_a_window() {
    let mut gauge = Measurements::default();
    gauge.tokens.tokens = 999_999;
    gauge.tokens.upper = 999_999;
    assert_eq!(fires(&preset("docker-agent", 100_000).trigger, &gauge), None);
}

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

fn refuses_what_is_out_of_range() {
    for share in [-0.5, 1.5, f64::NAN] {
        assert!(epitome::trigger::When::ShareAbove(share).build().is_err(), "{share}");
    }
    // What is in range means what it says, as there.
    assert!(epitome::trigger::When::ShareAbove(1.0).build().is_ok());
}

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

fn leaves_what_fits() {
    let outcome = compacted(preset("docker-agent", 100_000).options, &exchanges(10, 60));
    assert!(outcome.view.is_whole());
}

fn knows_what_is_kept_first() {
    let outcome = compacted(preset("docker-agent", 5_000).options, &exchanges(10, 60));
    let before = outcome.view.checkpoint().expect("one").before;
    let fates: Vec<&Fate> = outcome.view.fates().collect();
    assert!(matches!(fates[before - 1], Fate::Fold(_)));
    assert!(fates[before..].iter().all(|fate| fate.is_shown()));
}

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
