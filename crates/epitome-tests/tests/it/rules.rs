//! Every rule of the table has a body that breaks it, and if it says how it is mended, it is.

use epitome::wire::{self, Format, RULES};
use testkit::accepted;
use testkit::breaches::failing;

#[test]
fn every_rule_is_broken_found_and_mended() {
    for rule in RULES {
        let body = failing(rule.id.0);
        let request = wire::parse(rule.format, body).expect("well-formed");
        let found = wire::check(&request);
        assert!(found.iter().any(|finding| finding.rule == rule.id), "{}: {found:?}", rule.id);
        let repaired = wire::repair(&request);
        let is_left = repaired.left.iter().any(|finding| finding.rule == rule.id);
        assert_eq!(is_left, rule.repair.is_empty(), "{}: {}", rule.id, repaired.request.source());
        let said = repaired.mended.iter().any(|mended| mended.rule == rule.id);
        assert_eq!(said, !rule.repair.is_empty(), "{}: {:?}", rule.id, repaired.mended);
        // The breach is the only one, so the scripted provider refuses it too.
        assert!(accepted(&request).is_err(), "{}", rule.id);
        if repaired.left.is_empty() {
            assert_eq!(accepted(&repaired.request), Ok(()), "{}", rule.id);
        }
    }
}

#[test]
fn rules_say_what_they_are() {
    for rule in RULES {
        let prefix = match rule.format {
            Format::OpenaiChat => "chat/".to_owned(),
            Format::OpenaiResponses => "responses/".to_owned(),
            Format::GeminiInteractions => "interactions/".to_owned(),
            other => format!("{other}/"),
        };
        assert!(rule.id.0.starts_with(&prefix), "{}", rule.id);
        assert_eq!(rule.id.to_string(), rule.id.0);
        assert!(!rule.demand.is_empty() && !rule.error.is_empty(), "{}", rule.id);
        assert!(
            rule.source.contains("PROVIDERS")
                || rule.source.contains("SDK")
                || rule.source.contains("[BK]")
        );
    }
}
