//! Bad input: nothing gains a person's authority, nothing that a person said is lost.

use std::collections::BTreeSet;

use epitome::Format;
use epitome::count::counter;
use testkit::survival::bad_input::cases;

/// Bedrock has no place for a checkpoint.
const FORMATS: [Format; 4] =
    [Format::OpenaiChat, Format::Anthropic, Format::OpenaiResponses, Format::Gemini];

#[test]
fn bad_input_gains_nothing_and_loses_nothing() {
    let counter = counter("o200k").expect("it is built in");
    let check = |case: &testkit::survival::bad_input::Case| {
        FORMATS.iter().filter_map(|format| case.check(*format, &counter).err()).collect::<Vec<_>>()
    };
    let broken: Vec<_> = cases().iter().flat_map(check).collect();
    let shown: Vec<String> = broken.iter().map(ToString::to_string).collect();
    assert!(broken.is_empty(), "{} of {}:\n{}", broken.len(), cases().len(), shown.join("\n\n"));
}

#[test]
fn there_are_enough_cases_of_every_group() {
    let ids: BTreeSet<&str> = cases().iter().map(|case| case.id.as_str()).collect();
    assert_eq!(ids.len(), cases().len(), "names are unique");
    assert!(ids.len() >= 60, "{} cases", ids.len());
    let groups: BTreeSet<&str> = cases().iter().map(|case| case.group.as_str()).collect();
    assert!(groups.len() >= 9, "{groups:?}");
    for case in cases() {
        let holds = [&case.kept, &case.not_users, &case.no_line, &case.never_joined];
        assert!(holds.iter().any(|list| !list.is_empty()), "{} says nothing", case.id);
        let said = |text: &String| case.said.iter().any(|(_, said)| said.contains(text.as_str()));
        assert!(case.kept.iter().chain(&case.not_users).all(said), "{}", case.id);
    }
}
