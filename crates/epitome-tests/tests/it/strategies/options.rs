//! Options: the same from `Default`, `new()` and files; pipelines as files and flags say them.

use std::sync::Arc;

use epitome::count::counter;
use epitome::engine::OptionsError;
use epitome::strategy::guard::Predicate;
use epitome::strategy::{
    ArgumentsOptions, BadOption, Excerpts, ExcerptsOptions, Failed, Fold, Head, HeadOptions,
    HeadRoom, Intake, IntakeOptions, Ladder, NAMES, Named, OldArguments, OldMedia, OldOutputs,
    OldReasoning, OutputsOptions, Pipeline, Recent, RecentOptions, Repeats, RepeatsOptions,
    Setting, Strategy, ladder,
};
use epitome::transcript::{Origin, Role};
use epitome::view::Fate;
use epitome::wire::Format;
use epitome::{Compactor, Options, Tail};

use super::BUILD;
use epitome::word_list::words;
use testkit::to;

fn pipeline(json: &str) -> Result<Pipeline, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

fn names(strategies: &[Arc<dyn Strategy>]) -> Vec<&'static str> {
    strategies.iter().map(|strategy| strategy.name()).collect()
}

fn built(json: &str) -> Vec<&'static str> {
    names(&pipeline(json).expect("a pipeline").build().expect("in range"))
}

#[test]
fn every_name_is_read_built_and_said_again() {
    for name in NAMES {
        let named: Named = name.parse().expect("its own name");
        assert_eq!(named.name(), *name);
        let strategy = named.build().expect("defaults are in range").expect("it is on");
        assert_eq!(strategy.name(), *name, "receipts spell it as options do");
        for json in [
            format!("[\"{name}\"]"),
            format!("[{{\"{name}\":true}}]"),
            format!("[{{\"{name}\":{{}}}}]"),
        ] {
            assert_eq!(pipeline(&json), Ok(Pipeline::List(vec![named.clone()])), "{json}");
            assert_eq!(built(&json), [*name]);
        }
        assert_eq!(built(&format!("[{{\"{name}\":false}}]")), [""; 0]);
        let ladder = format!("{{\"{name}\":true}}");
        assert!(built(&ladder).contains(name), "{ladder}");
        assert!(!built(&format!("{{\"{name}\":false}}")).contains(name));
        let unknown = pipeline(&format!("{{\"{name}\":{{\"no-such-option\":1}}}}"));
        let error = unknown.expect_err("an unknown option");
        assert!(error.contains("`no-such-option`"), "{error}");
    }
}

#[test]
fn defaults_are_the_same_wherever_they_come_from() {
    let read = |json: &str| {
        format!("{:?}", pipeline(json).expect("a pipeline").build().expect("in range"))
    };
    let new: Vec<(Arc<dyn Strategy>, &str)> = vec![
        (Arc::new(Intake::default()), "intake"),
        (Arc::new(Repeats::default()), "repeats"),
        (Arc::new(OldReasoning::default()), "reasoning"),
        (Arc::new(Failed), "failed"),
        (Arc::new(OldOutputs::default()), "outputs"),
        (Arc::new(OldArguments::default()), "arguments"),
        (Arc::new(OldMedia::default()), "media"),
        (Arc::new(Excerpts::default()), "excerpts"),
        (Arc::new(Recent::default()), "recent"),
        (Arc::new(Fold), "fold"),
        (Arc::new(Head::default()), "head"),
    ];
    assert_eq!(new.len(), NAMES.len());
    for (strategy, name) in new {
        assert_eq!(read(&format!("[\"{name}\"]")), format!("{:?}", [strategy]));
    }
}

#[test]
fn out_of_range_is_the_same_error_from_code_and_from_files() {
    let of = |json: &str| pipeline(json).expect("it is well-formed").build().map(drop);
    let cases: Vec<(Result<(), BadOption>, &str, &str)> = vec![
        (
            Intake::new(IntakeOptions { max_tokens: 47 }).map(drop),
            r#"{"intake":{"max-tokens":47}}"#,
            "intake.max-tokens",
        ),
        (
            Repeats::new(RepeatsOptions { min_tokens: 0, ..RepeatsOptions::default() }).map(drop),
            r#"{"repeats":{"min-tokens":0}}"#,
            "repeats.min-tokens",
        ),
        (
            OldOutputs::new(OutputsOptions { min_gain: 0, ..OutputsOptions::default() }).map(drop),
            r#"{"outputs":{"min-gain":0}}"#,
            "outputs.min-gain",
        ),
        (
            OldArguments::new(ArgumentsOptions { max_tokens: 5, ..ArgumentsOptions::default() })
                .map(drop),
            r#"{"arguments":{"max-tokens":5}}"#,
            "arguments.max-tokens",
        ),
        (
            Excerpts::new(ExcerptsOptions { old_divisor: 0, ..ExcerptsOptions::default() })
                .map(drop),
            r#"{"excerpts":{"old-divisor":0}}"#,
            "excerpts.old-divisor",
        ),
        (
            Excerpts::new(ExcerptsOptions { max_tokens: Some(1), ..ExcerptsOptions::default() })
                .map(drop),
            r#"{"excerpts":{"max-tokens":1}}"#,
            "excerpts.max-tokens",
        ),
        (
            Recent::new(RecentOptions { keep: Tail::Fitting }).map(drop),
            r#"{"recent":{"keep":"fitting"}}"#,
            "recent.keep",
        ),
        (
            Head::new(HeadOptions { room: HeadRoom::Characters(0) }).map(drop),
            r#"{"head":{"room":{"characters":0}}}"#,
            "head.room",
        ),
    ];
    for (code, json, option) in cases {
        let error = code.clone().expect_err(json);
        assert_eq!(error.option, option);
        assert_eq!(of(json), code, "{json}");
        let strategies = pipeline(json).expect("it is well-formed");
        let options = Options { strategies, ..Options::default() };
        let refused = Compactor::new(options, counter("chars4").expect("a known name"));
        assert_eq!(refused.map(drop), Err(OptionsError::Strategy(error)));
    }
    // 0 is a number of things to keep, but no step or turn would be less than what always stays.
    assert!(of(r#"{"recent":{"keep":0}}"#).is_ok());
    for keep in ["0steps", "0turns"] {
        let error = of(&format!(r#"{{"recent":{{"keep":"{keep}"}}}}"#)).expect_err("too few");
        assert!(error.to_string().contains("`recent.keep` is 0"), "{error}");
    }
}

#[test]
fn the_ladder_is_in_its_order_with_rungs_set_otherwise() {
    let whole = words!(
        "repeats reasoning failed fold outputs arguments media excerpts outputs excerpts fold head"
    );
    assert_eq!(names(&ladder()), whole);
    for json in ["true", "{}", "\"ladder\""] {
        assert_eq!(built(json), whole);
    }
    assert_eq!(
        built(
            r#"{"head":{"room":{"tokens":5000}},"intake":true,"outputs":false,"excerpts":false}"#
        ),
        ["intake", "repeats", "reasoning", "failed", "fold", "arguments", "media", "fold", "head"]
    );
    let arguments = ArgumentsOptions { max_tokens: 200, ..ArgumentsOptions::default() };
    assert_eq!(
        pipeline(r#"{"arguments":{"max-tokens":200}}"#),
        Ok(Pipeline::Ladder(Ladder { arguments: Setting::On(arguments), ..Ladder::default() }))
    );
}

#[test]
fn a_list_is_in_its_own_order() {
    let list =
        r#"["fold",{"outputs":{"min-gain":500}},{"recent":{"keep":"3steps"}},{"media":false}]"#;
    assert_eq!(built(list), ["fold", "outputs", "recent"]);
    assert_eq!(built("\"fold, outputs ,repeats\""), ["fold", "outputs", "repeats"]);
    let nested = r#"["repeats",["outputs",[{"recent":{"keep":3}},[]]],"fold"]"#;
    assert_eq!(built(nested), ["repeats", "outputs", "recent", "fold"]);
    assert!(pipeline(r#"[["fold",["outptus"]]]"#).expect_err("misspelt").contains("outptus"));
    for nothing in ["false", "[]", "\"none\"", "[[]]"] {
        assert_eq!(built(nothing), [""; 0]);
    }
    for json in [list, "{\"failed\":false}", "[]"] {
        let read = pipeline(json).expect("a pipeline");
        let written = serde_json::to_string(&read).expect("serializable");
        assert_eq!(pipeline(&written), Ok(read), "{written}");
    }
}

#[test]
fn what_is_unknown_is_named() {
    for (json, named) in [
        (r#"{"outptus":true}"#, "outptus"),
        (r#"["outptus"]"#, "outptus"),
        (r#""outputs,outptus""#, "outptus"),
        (r#"[{"outptus":{}}]"#, "outptus"),
        (r#"[{"outputs":true,"fold":true}]"#, "fold"),
        (r#"{"failed":{"calls":"maybe"}}"#, "calls"),
        (r#"{"failed":3}"#, "false, true or a table"),
        (r#"{"recent":{"keep":"3moons"}}"#, "3moons"),
    ] {
        let error = pipeline(json).expect_err(json);
        assert!(error.contains(named), "{json}: {error}");
    }
    let error = serde_json::from_str::<Options>(r#"{"strategies":{"outputs":{"min-gian":5}}}"#);
    let error = error.expect_err("an unknown option").to_string();
    assert!(error.contains("min-gian") && error.contains("min-gain"), "{error}");
}

/// One letter an entry: kept, edited, folded, dropped.
fn letters(compactor: &Compactor) -> String {
    let outcome = compactor.compact(&testkit::parse(Format::OpenaiChat, BUILD)).expect("a view");
    let letter = |fate: &Fate| match fate {
        Fate::Keep => 'k',
        Fate::Edit(_) => 'e',
        Fate::Fold(_) => 'f',
        Fate::Drop(_) => 'd',
    };
    outcome.view.fates().map(letter).collect()
}

fn compactor(options: Options, strategies: &str) -> Compactor {
    let strategies = strategies.parse().expect("names");
    testkit::compactor(Options { strategies, ..options }, "chars4")
}

#[test]
fn kinds_and_chosen_entries_stay() {
    // sys, user, calls a b, a, b, call c, c, user, call d, d
    assert_eq!(letters(&compactor(to(10), "head")), "kkfffffkke");
    let kinds = |preserved_origins, preserved_roles| {
        let options = Options { preserved_origins, preserved_roles, ..to(10) };
        letters(&compactor(options, "head"))
    };
    // With the calls of a result that stays, all of its batch.
    assert_eq!(kinds(vec![Origin::Tool], vec![]), "kkkkkkkkkk");
    assert_eq!(kinds(vec![], vec![Role::System]), "kkfffffkke");
    let chosen = Predicate::new(|entry| entry.raw().contains("src/x.rs\\\",\\\"edit"));
    let none = compactor(to(10), "head").with_preserved(chosen);
    assert_eq!(letters(&none), "kkfffffkke");
    let chosen = Predicate::new(|entry| entry.raw().contains("\"Edit\""));
    assert_eq!(letters(&compactor(to(10), "head").with_preserved(chosen)), "kkfffkkkke");
}
