//! What is planted is found again, or isn't.

use epitome::count::counter;
use epitome::{Format, Request, wire};
use epitome_bench::Broken;
use epitome_bench::rounds::{Compact, Figures, Kept, Library, Study, run};

use crate::chat::{Chat, working};

fn study() -> Study {
    let sessions = vec![("working".to_owned(), working(60))];
    let counter = counter("chars4").expect("it is built in");
    Study { sessions, budgets: vec![20], seed: 1, times: 2, counter }
}

fn measured(contender: &impl Compact) -> Figures {
    run(&study(), contender, || {}).expect("a session")
}

fn totals(figures: &Figures) -> Vec<Kept> {
    (1..=5).map(|round| figures.total(20, round)).collect()
}

#[test]
fn what_keeps_everything_loses_nothing() {
    let figures = measured(&|request: &Request, _: u64| Ok::<_, Broken>(request.clone()));
    assert_eq!(figures.rows.len(), 10);
    for (kept, replaced) in totals(&figures).iter().zip([4, 6, 8, 8, 8]) {
        let rules = [kept.bare_rules, kept.labelled_rules];
        let values = [kept.bare_values, kept.labelled_values];
        assert!(rules.iter().all(|share| share.of == share.all && share.all == 10), "{kept:?}");
        assert!(values.iter().all(|share| share.of == share.all), "{kept:?}");
        assert_eq!(values.iter().map(|share| share.all).sum::<u64>(), 20 - replaced);
        assert_eq!((kept.replaced.of, kept.replaced.all), (replaced, replaced));
        assert_eq!(kept.old_last.of, 0);
    }
}

#[test]
fn what_keeps_nothing_has_nothing() {
    let nothing = |_: &Request, _: u64| {
        let body = r#"{"messages":[{"role":"user","content":"Go on."}]}"#;
        wire::parse(Format::OpenaiChat, body.to_owned()).map_err(Broken::from)
    };
    let figures = measured(&nothing);
    let first = figures.total(20, 1);
    assert_eq!((first.bare_rules.of, first.labelled_values.of, first.replaced.of), (0, 0, 0));
}

#[test]
fn the_library_is_measured_and_always_the_same() {
    let library = Library(study().counter);
    let figures = measured(&library);
    assert_eq!(measured(&library), figures);
    assert!(figures.total(20, 1).bare_rules.of > 0);
}

#[test]
fn a_session_in_which_the_model_hardly_speaks_is_named() {
    let mut chat = Chat::default();
    chat.says("user", "Hello.");
    let sessions = vec![("short".to_owned(), chat.request())];
    let figures = run(&Study { sessions, ..study() }, &Library(study().counter), || {});
    let figures = figures.expect("nothing to fail");
    assert!(figures.rows.is_empty() && figures.skipped.len() == 1, "{figures:?}");
}
