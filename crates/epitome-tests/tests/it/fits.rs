//! Whether requests suit models.

use epitome::count::Count;
use epitome::model::capability::{MisfitKind, Sure, misfits};
use epitome::model::{Model, Registry};
use epitome::wire::parse;
use expect_test::expect_file;
use testkit::page;

fn find(name: &str) -> &'static Model {
    Registry::built_in().find(name).expect("in the table")
}

/// What doesn't suit, a line each.
#[test]
fn what_suits_is_as_the_page_says() {
    page::check(&expect_file!["fits.txt"], |case| {
        let (format, settings) = case.format();
        let [model, size] = &settings[..] else { panic!("a model and a size") };
        let (tokens, upper): (u64, u64) = serde_json::from_value(size.clone()).expect("a size");
        let exact = Count::exact(tokens);
        let size = if upper == tokens { exact } else { Count::estimated(tokens, upper) };
        let request = parse(format, case.given.clone()).expect("a body");
        let model = find(model.as_str().expect("a name"));
        let told = misfits(&request, model, size).into_iter().map(|one| {
            let at = one.entry.map_or_else(String::new, |at| format!(" at {at}"));
            let sure = if one.sure == Sure::Yes { "" } else { " maybe" };
            format!("{}{at}{sure}: {}\n", one.subject.name(), one.detail)
        });
        told.collect()
    });
}

#[test]
fn every_subject_has_its_name() {
    assert_eq!(MisfitKind::Window.name(), "model/window");
    assert_eq!(
        serde_json::to_string(&MisfitKind::ForcedTool).expect("a string"),
        "\"forced-tool\""
    );
}
